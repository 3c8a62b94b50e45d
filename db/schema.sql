-- SPDX-License-Identifier: MIT
-- The current schema of a latput database: the result of all migrations, in one readable file. New
-- databases are created from it; older ones become equal to it through db/migrations/. Facts are
-- append-only (triggers at the end); `estimate`, `result` and `form_summary` follow from them and
-- can be rebuilt (`latput rederive`). Names carry units: _clk core cycles, _tsc TSC ticks, _hz,
-- _utc ISO 8601 in UTC.
PRAGMA application_id = 1818326128; -- "latp"
PRAGMA user_version = 37;

-- Remarks about the file itself, not about any measurement.
CREATE TABLE meta (
    name TEXT PRIMARY KEY NOT NULL, -- 'views_sha256': hash of the views.sql that made the views
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A kind of CPU as programs see it: another microcode, hypervisor or feature set makes another row.
CREATE TABLE cpu (
    cpu_id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE CHECK (length(identity) = 64), -- sha256 over the columns below
    vendor TEXT NOT NULL CHECK (length(vendor) BETWEEN 1 AND 15), -- e.g. 'GenuineIntel'
    brand TEXT NOT NULL CHECK (length(brand) <= 63), -- brand string, '' if the CPU has none
    signature INTEGER NOT NULL CHECK (signature BETWEEN 0 AND 4294967295), -- CPUID 1 EAX
    family INTEGER NOT NULL CHECK (family BETWEEN 0 AND 4095), -- display family
    model INTEGER NOT NULL CHECK (model BETWEEN 0 AND 4095), -- display model
    stepping INTEGER NOT NULL CHECK (stepping BETWEEN 0 AND 15),
    core_type INTEGER NOT NULL CHECK (core_type BETWEEN 0 AND 255), -- 0: none
        -- CPUID 1AH EAX[31:24]; AMD: 0x10 + 80000026H EBX[31:28], where there are several types
    native_model INTEGER NOT NULL CHECK (native_model BETWEEN 0 AND 16777215),
        -- CPUID 1AH EAX[23:0]
    uarch TEXT NOT NULL CHECK (uarch GLOB '[a-z0-9]*' AND uarch NOT GLOB '*[^a-z0-9_-]*'
        AND length(uarch) <= 31), -- key of the CPU family; 'unknown' if cpus.csv has no row
    uarch_name TEXT NOT NULL CHECK (length(uarch_name) <= 95), -- e.g. 'Zen 5'
    microcode INTEGER NOT NULL CHECK (microcode BETWEEN 0 AND 4294967295), -- revision, 0 if unknown
    hypervisor TEXT NOT NULL CHECK (length(hypervisor) <= 63), -- '' if none is visible
    tsc_invariant INTEGER NOT NULL CHECK (tsc_invariant IN (0, 1)),
    features TEXT NOT NULL CHECK (length(features) <= 16384), -- names of features.csv, by blanks
    inferred INTEGER NOT NULL DEFAULT 0 CHECK (inferred IN (0, 1))
        -- 1: the family differs from the one that the signature claims; views show uarch with '?'
) STRICT;

-- CPUID leaves as read when the CPU was first seen; a processor serial number is left out.
CREATE TABLE cpuid_leaf (
    cpu_id INTEGER NOT NULL REFERENCES cpu,
    leaf INTEGER NOT NULL CHECK (leaf BETWEEN 0 AND 4294967295),
    subleaf INTEGER NOT NULL CHECK (subleaf BETWEEN 0 AND 4294967295),
    eax INTEGER NOT NULL CHECK (eax BETWEEN 0 AND 4294967295),
    ebx INTEGER NOT NULL CHECK (ebx BETWEEN 0 AND 4294967295),
    ecx INTEGER NOT NULL CHECK (ecx BETWEEN 0 AND 4294967295),
    edx INTEGER NOT NULL CHECK (edx BETWEEN 0 AND 4294967295),
    PRIMARY KEY (cpu_id, leaf, subleaf)
) STRICT, WITHOUT ROWID;

CREATE TABLE cpu_cache (
    cpu_id INTEGER NOT NULL REFERENCES cpu,
    level INTEGER NOT NULL CHECK (level BETWEEN 1 AND 9),
    type TEXT NOT NULL CHECK (type IN ('d', 'i', 'u')), -- data, instruction, unified
    size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0), -- 0 if unknown
    ways INTEGER NOT NULL CHECK (ways >= -1), -- 0 if unknown, -1 fully associative
    line_bytes INTEGER NOT NULL CHECK (line_bytes >= 0), -- 0 if unknown
    sharing INTEGER NOT NULL CHECK (sharing >= 0), -- logical processors that share it, 0 if unknown
    PRIMARY KEY (cpu_id, level, type)
) STRICT, WITHOUT ROWID;

-- Speed of the canary on an undisturbed core; the newest row of a CPU counts.
CREATE TABLE canary_floor (
    canary_floor_id INTEGER PRIMARY KEY,
    cpu_id INTEGER NOT NULL REFERENCES cpu,
    canary INTEGER NOT NULL CHECK (canary BETWEEN 1 AND 15),
        -- 1 to 9: nops of that many bytes, else a mixture
    instr_clk REAL NOT NULL CHECK (instr_clk > 0 AND instr_clk < 1000),
        -- core cycles per instruction
    method TEXT NOT NULL CHECK (method IN ('issue-width', 'mode')), -- 'mode' since schema 9
    recorded_utc TEXT NOT NULL CHECK (recorded_utc GLOB '????-??-??T??:??:??Z'),
    issue_width INTEGER CHECK (issue_width BETWEEN 1 AND 64)
        -- measured instructions per cycle; NULL before schema 9: such a floor is not used
) STRICT;

-- One invocation that measures (and its resumptions), with its provenance. The CPU's family and
-- width (cpu_id, issue_width, claimed_uarch, decided, evidence, measured_width) are decided when it
-- ends; until then they are those known at its start.
CREATE TABLE run (
    run_id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE
        CHECK (length(uuid) = 32 AND uuid NOT GLOB '*[^0-9a-f]*'), -- random: identity across files
    cpu_id INTEGER NOT NULL REFERENCES cpu,
    version TEXT NOT NULL CHECK (length(version) <= 200), -- of latput
    nasm_version TEXT NOT NULL CHECK (length(nasm_version) <= 200),
    os_kernel TEXT NOT NULL CHECK (length(os_kernel) <= 200),
        -- release of the operating system's kernel
    backend TEXT NOT NULL CHECK (length(backend) <= 200),
        -- 'tsc', 'perf', 'msr'; 'text': simulated, nothing was measured
    lists TEXT NOT NULL CHECK (length(lists) <= 65536), -- 'name:sha256 ...' of the lists asked for
    tables TEXT NOT NULL CHECK (length(tables) <= 65536), -- versions of the CPU tables used
    frequency TEXT NOT NULL CHECK (length(frequency) <= 2000), -- governor, boost, or what is known
    selection TEXT NOT NULL CHECK (length(selection) <= 65536),
        -- filters and tests, '' for everything
    tsc_hz REAL CHECK (tsc_hz >= 0), -- frequency of the TSC
    core_hz REAL CHECK (core_hz >= 0), -- frequency of the core at the start, estimated
    overhead_tsc REAL, -- of one timing without work
    issue_width INTEGER NOT NULL CHECK (issue_width BETWEEN 0 AND 64), -- µops per cycle, as used
    calib_link_clk INTEGER NOT NULL CHECK (calib_link_clk BETWEEN 0 AND 1000),
        -- latency of the calibration's link
    measuring_cpu INTEGER NOT NULL CHECK (measuring_cpu BETWEEN -1 AND 1048576),
        -- number of the logical CPU
    started_utc TEXT NOT NULL CHECK (started_utc GLOB '????-??-??T??:??:??Z'),
    finished_utc TEXT CHECK (finished_utc GLOB '????-??-??T??:??:??Z'), -- NULL: not finished
    kernels INTEGER CHECK (kernels >= 0), -- timed by the invocation that finished the run
    seconds REAL CHECK (seconds >= 0), -- duration of this invocation
    claimed_uarch TEXT NOT NULL DEFAULT 'unknown'
        CHECK (length(claimed_uarch) BETWEEN 1 AND 31), -- family claimed by the CPU's signature
    decided TEXT NOT NULL DEFAULT 'unknown'
        CHECK (decided IN ('claim', 'inferred', 'override', 'unknown')),
        -- basis on which cpu.uarch was found
    evidence TEXT NOT NULL DEFAULT '' CHECK (length(evidence) <= 4000),
        -- contradictions to the claim, and reasons for another family
    measured_width INTEGER CHECK (measured_width BETWEEN 1 AND 64),
        -- µops dispatched per cycle; NULL: not measured
    label TEXT NOT NULL DEFAULT '' CHECK (label NOT GLOB '*[^a-z0-9_-]*' AND length(label) <= 20),
        -- the owner's name for the machine, '' for none; views show it after the uarch: 'zen5@desk'
    completes TEXT NOT NULL DEFAULT ''
        CHECK (completes NOT GLOB '*[^0-9a-f]*' AND length(completes) IN (0, 32))
        -- uuid of the run whose tests without a value it asks, which need not be in the file; '':
        -- it stands for itself
) STRICT;
CREATE INDEX run_by_cpu ON run (cpu_id);

-- Runs that came by `latput merge`, which do not describe this machine. Packs do not carry this
-- table; runs merged before schema 27 are not in it.
CREATE TABLE merged_run (
    run_id INTEGER PRIMARY KEY REFERENCES run
) STRICT;

CREATE TABLE run_warning (
    run_id INTEGER NOT NULL REFERENCES run,
    text TEXT NOT NULL CHECK (length(text) <= 4000), -- possible harm to the results
    remedy TEXT NOT NULL CHECK (length(remedy) <= 4000), -- its remedy
    PRIMARY KEY (run_id, text)
) STRICT, WITHOUT ROWID;

-- Time of a run by activity, for each of its invocations, since it may be resumed. No rows before
-- schema 24.
CREATE TABLE run_time (
    run_id INTEGER NOT NULL REFERENCES run,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000000), -- number of the invocation
    total_s REAL NOT NULL CHECK (total_s BETWEEN 0 AND 1e9), -- its duration
    measuring_s REAL NOT NULL CHECK (measuring_s BETWEEN 0 AND 1e9),
        -- while a measuring process ran
    programs_s REAL NOT NULL CHECK (programs_s BETWEEN 0 AND 1e9),
        -- waiting for a program to measure
    inferring_s REAL NOT NULL CHECK (inferring_s BETWEEN 0 AND 1e9), -- ports, conclusions
    writing_s REAL NOT NULL CHECK (writing_s BETWEEN 0 AND 1e9),
        -- storing; for latency and throughput while others were measured
    assembling_s REAL NOT NULL CHECK (assembling_s BETWEEN 0 AND 1e9), -- NASM, while measuring
    linking_s REAL NOT NULL CHECK (linking_s BETWEEN 0 AND 1e9), -- ld, likewise
    quiet_s REAL NOT NULL CHECK (quiet_s BETWEEN 0 AND 1e9), -- of measuring_s: waiting for quiet
    gaps_s REAL NOT NULL CHECK (gaps_s BETWEEN 0 AND 1e9),
        -- of measuring_s: waiting until the next pass was due
    user_cpu_s REAL NOT NULL CHECK (user_cpu_s BETWEEN 0 AND 1e9),
        -- CPU time of the measuring processes in user mode
    kernel_cpu_s REAL NOT NULL CHECK (kernel_cpu_s BETWEEN 0 AND 1e9), -- and in the kernel
    repeats_accepted INTEGER NOT NULL CHECK (repeats_accepted BETWEEN 0 AND 1000000000000000),
    repeats_disturbed INTEGER NOT NULL CHECK (repeats_disturbed BETWEEN 0 AND 1000000000000000),
        -- refused: by the canary, something else used the core
    repeats_disagreeing INTEGER NOT NULL
        CHECK (repeats_disagreeing BETWEEN 0 AND 1000000000000000),
        -- refused: the calibrations before and after them differ
    repeats_uncounted INTEGER NOT NULL CHECK (repeats_uncounted BETWEEN 0 AND 1000000000000000),
        -- refused: a counter was not running
    repeats_too_few INTEGER NOT NULL CHECK (repeats_too_few BETWEEN 0 AND 1000000000000000),
        -- accepted, but too few in an attempt: measured again
    moves INTEGER NOT NULL DEFAULT 0 CHECK (moves BETWEEN 0 AND 1000000), -- to another CPU
    PRIMARY KEY (run_id, position)
) STRICT, WITHOUT ROWID;

-- Events that a run counted, with backend, code and table.
CREATE TABLE run_event (
    run_id INTEGER NOT NULL REFERENCES run,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000),
    event TEXT NOT NULL CHECK (length(event) BETWEEN 1 AND 255),
        -- id in the table: 'core_clk', 'p0'
    code TEXT NOT NULL CHECK (length(code) <= 255), -- 'event=0xa1,umask=0x01'
    backend TEXT NOT NULL CHECK (length(backend) BETWEEN 1 AND 200), -- 'perf', 'msr'
    counter_table TEXT NOT NULL CHECK (length(counter_table) <= 200),
        -- the uarch of cpuinfo/counters/UARCH.csv
    table_version TEXT NOT NULL CHECK (length(table_version) <= 200),
    PRIMARY KEY (run_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE list (
    list_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200) -- file name without .csv
) STRICT;

-- A list in a run. Titles belong to the run: the next version of a list may have another one.
CREATE TABLE run_list (
    run_id INTEGER NOT NULL REFERENCES run,
    list_id INTEGER NOT NULL REFERENCES list,
    title TEXT NOT NULL CHECK (length(title) <= 200),
        -- first comment of the file, or its name
    PRIMARY KEY (run_id, list_id)
) STRICT, WITHOUT ROWID;

-- A form: one mnemonic with operand classes in one encoding.
CREATE TABLE form (
    form_id INTEGER PRIMARY KEY,
    form TEXT NOT NULL CHECK (length(form) BETWEEN 1 AND 1000), -- identity as in the lists
    mnemonic TEXT NOT NULL CHECK (length(mnemonic) BETWEEN 1 AND 200),
        -- with lock/rep, without {vex}
    operands TEXT NOT NULL CHECK (length(operands) <= 500), -- classes by blanks, no access prefixes
    enc TEXT NOT NULL CHECK (enc IN ('legacy', 'vex', 'evex', 'xop')),
    bits INTEGER NOT NULL CHECK (bits IN (16, 32, 64)), -- mode
    options TEXT NOT NULL CHECK (length(options) <= 1000),
        -- other parts of its identity: 'same data=slow'
    UNIQUE (form, enc, bits)
) STRICT;

-- A form in a run.
CREATE TABLE run_form (
    run_form_id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run,
    form_id INTEGER NOT NULL REFERENCES form,
    list_id INTEGER NOT NULL REFERENCES list,
    position INTEGER NOT NULL CHECK (position >= 0), -- number of the row in the list
    isa TEXT NOT NULL CHECK (length(isa) <= 500),
        -- features that the list asks for: 'AVX512F+AVX512VL'
    UNIQUE (run_id, form_id)
) STRICT;
CREATE INDEX run_form_by_form ON run_form (form_id);

-- Roles of operands in the instruction, if the list gives them.
CREATE TABLE operand_role (
    run_form_id INTEGER NOT NULL REFERENCES run_form,
    operand TEXT NOT NULL CHECK (length(operand) BETWEEN 1 AND 60), -- 'op2', 'xmm0'
    role TEXT NOT NULL CHECK (length(role) BETWEEN 1 AND 60), -- 'index', 'table', 'data', 'mask'
    PRIMARY KEY (run_form_id, operand)
) STRICT, WITHOUT ROWID;

-- One question about a form.
CREATE TABLE test (
    test_id INTEGER PRIMARY KEY,
    run_form_id INTEGER NOT NULL REFERENCES run_form,
    position INTEGER NOT NULL CHECK (position >= 0), -- in the plan of the form
    kind TEXT NOT NULL CHECK (kind IN ('latency', 'throughput', 'ports')),
    src TEXT NOT NULL CHECK (length(src) <= 60), -- latency: operand read, 'op2.base'; else ''
    dst TEXT NOT NULL CHECK (length(dst) <= 60), -- latency: operand written, 'flags'; else ''
    variant TEXT NOT NULL CHECK (length(variant) <= 60),
        -- data variant, 'fast' or 'slow'; another immediate, 'i8=0', or rest, 'upper=0'; 'setting',
        -- 'false', 'again lines'; else ''
    bound TEXT NOT NULL CHECK (bound IN ('exact', 'upper')), -- best bound that the plan can promise
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'unsupported', 'asm_failed', 'link_failed',
        'signalled', 'timed_out', 'unstable', 'not_measurable', 'skipped')), -- 'ok': it has kernels
    detail TEXT NOT NULL CHECK (length(detail) <= 4000), -- reason if it has none
    UNIQUE (run_form_id, position)
) STRICT;

-- Machine code that was timed for a test.
CREATE TABLE kernel (
    kernel_id INTEGER PRIMARY KEY,
    test_id INTEGER NOT NULL REFERENCES test,
    position INTEGER NOT NULL CHECK (position >= 0), -- in the plan of the test
    shape TEXT NOT NULL CHECK (length(shape) <= 100), -- 'dense', 'filled', 'n8', 'n12+break', ...
    instances INTEGER NOT NULL CHECK (instances BETWEEN 0 AND 1000000),
        -- tested instructions per body
    instrs INTEGER NOT NULL CHECK (instrs BETWEEN 0 AND 1000000), -- all instructions per body
    extra_clk REAL NOT NULL, -- latency of the bridges per link, to be subtracted
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'unsupported', 'asm_failed', 'link_failed',
        'signalled', 'timed_out', 'unstable', 'not_measurable', 'skipped')),
    detail TEXT NOT NULL CHECK (length(detail) <= 4000), -- reason if not 'ok'
    code_bytes INTEGER CHECK (code_bytes BETWEEN 0 AND 16777216), -- length of the body
    code BLOB CHECK (length(code) <= 64), -- its machine code, the first 64 bytes at most
    UNIQUE (test_id, position)
) STRICT;

-- One pass over a kernel.
CREATE TABLE timing (
    timing_id INTEGER PRIMARY KEY,
    kernel_id INTEGER NOT NULL REFERENCES kernel,
    pass INTEGER NOT NULL CHECK (pass BETWEEN 0 AND 1000), -- 1, 2, 3
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'unsupported', 'asm_failed', 'link_failed',
        'signalled', 'timed_out', 'unstable', 'not_measurable', 'skipped')),
    detail TEXT NOT NULL CHECK (length(detail) <= 4000),
    iterations INTEGER NOT NULL CHECK (iterations BETWEEN 0 AND 4294967295), -- of the loop
    copies INTEGER NOT NULL CHECK (copies BETWEEN 0 AND 4294967295), -- of the body in the loop
    calib_clk REAL, -- core cycles of the calibration chain
    overhead_tsc REAL, -- of a timing without work, not yet subtracted from the samples
    accepted INTEGER NOT NULL CHECK (accepted BETWEEN 0 AND 1000000),
        -- repeats that passed the gate
    tried INTEGER NOT NULL CHECK (tried BETWEEN 0 AND 1000000), -- all repeats
    overhead_counted_clk REAL,
        -- like overhead_tsc, in core cycles of a counter; NULL: not counted
    cpu INTEGER CHECK (cpu BETWEEN 0 AND 1000000) -- that it is from; NULL: not known
) STRICT;
CREATE INDEX timing_by_kernel ON timing (kernel_id);

-- One accepted repeat: raw counts.
CREATE TABLE sample (
    timing_id INTEGER NOT NULL REFERENCES timing,
    seq INTEGER NOT NULL CHECK (seq BETWEEN 0 AND 1000000), -- order in the pass
    kernel_tsc INTEGER NOT NULL CHECK (kernel_tsc BETWEEN 0 AND 4294967295), -- the kernel
    before_tsc INTEGER NOT NULL CHECK (before_tsc BETWEEN 0 AND 4294967295),
        -- calibration before it
    after_tsc INTEGER NOT NULL CHECK (after_tsc BETWEEN 0 AND 4294967295), -- calibration after it
    canary_tsc INTEGER NOT NULL CHECK (canary_tsc BETWEEN 0 AND 4294967295),
        -- the worse of the two canaries
    counted_clk INTEGER CHECK (counted_clk BETWEEN 0 AND 4294967295),
        -- core cycles of the kernel by a counter
    PRIMARY KEY (timing_id, seq)
) STRICT, WITHOUT ROWID;

-- Derived: the estimate from the passes over one kernel.
CREATE TABLE estimate (
    kernel_id INTEGER PRIMARY KEY REFERENCES kernel,
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'unsupported', 'asm_failed', 'link_failed',
        'signalled', 'timed_out', 'unstable', 'not_measurable', 'skipped')),
    instance_clk REAL, -- core cycles per instance, bridges not subtracted; NULL unless 'ok'
    spread_clk REAL, -- interquartile range of the samples of the chosen pass
    accepted INTEGER NOT NULL, -- repeats that passed the gate, over all passes
    tried INTEGER NOT NULL, -- all repeats
    pass INTEGER NOT NULL, -- the chosen pass
    state_share REAL, -- share of the samples in the steady state that gives the value
    calibrated_clk REAL, -- instance_clk by the calibration, if that is by a counter; else NULL
    CHECK (outcome = 'ok' OR instance_clk IS NULL)
) STRICT;

-- Derived: the steady states of a kernel that has several, ascending. If no samples of a chain
-- agree, the estimate is an average, and there are no states.
CREATE TABLE estimate_state (
    kernel_id INTEGER NOT NULL REFERENCES kernel,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 100),
    instance_clk REAL NOT NULL, -- like estimate.instance_clk
    share REAL NOT NULL CHECK (share BETWEEN 0 AND 1), -- share of the samples
    passes INTEGER NOT NULL CHECK (passes BETWEEN 1 AND 1000), -- number of passes with this state
    PRIMARY KEY (kernel_id, position)
) STRICT, WITHOUT ROWID;

-- Derived: the answer to a test.
CREATE TABLE result (
    test_id INTEGER PRIMARY KEY REFERENCES test,
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'unsupported', 'asm_failed', 'link_failed',
        'signalled', 'timed_out', 'unstable', 'not_measurable', 'skipped')),
    detail TEXT NOT NULL, -- reason if not 'ok'
    value_clk REAL, -- latency or reciprocal throughput; NULL unless 'ok'
    dense_clk REAL, -- latency: in the dense chain
    filled_clk REAL, -- latency: in the chain with independent fillers
    spread_clk REAL, -- interquartile range of the deciding kernel's samples
    accepted INTEGER NOT NULL, -- repeats that passed the gate
    tried INTEGER NOT NULL, -- all repeats
    bound TEXT NOT NULL CHECK (bound IN ('exact', 'upper')),
    kernel_id INTEGER REFERENCES kernel, -- the deciding kernel
    average INTEGER NOT NULL DEFAULT 0 CHECK (average IN (0, 1)),
        -- 1: mean of executions that differ
    least_clk REAL,
        -- latency: range of the steady states of all kernels; NULL if there is one value only
    most_clk REAL,
    states INTEGER CHECK (states BETWEEN 0 AND 100),
        -- steady states of the deciding kernel; NULL: unknown
    CHECK (outcome = 'ok' OR (value_clk IS NULL AND dense_clk IS NULL AND filled_clk IS NULL
        AND spread_clk IS NULL))
) STRICT;
CREATE INDEX result_by_kernel ON result (kernel_id);

-- Derived: the tests of a form in a run, condensed to one row by the view run_form_result. It is
-- written with the results that it follows from, and made anew with the views. Packs have no rows.
CREATE TABLE form_summary (
    run_form_id INTEGER PRIMARY KEY REFERENCES run_form,
    latency_min_clk REAL,
    latency_max_clk REAL,
    latency_bound TEXT, -- of the least and of the largest value: 'exact', 'average', 'upper'
    latency_max_bound TEXT,
    latency_min_mark TEXT, -- '~' the mean of executions that differ, '*' one of several states
    latency_max_mark TEXT,
    fast_clk REAL, -- reciprocal throughput with fast data, and with slow ones
    slow_clk REAL,
    fast_tests INTEGER NOT NULL, -- that asked for the former
    rthroughput_spread_clk REAL,
    without_latency INTEGER, -- 1: it takes no cycle from register to register
    accepted INTEGER NOT NULL, -- repeats that passed the gate
    tried INTEGER NOT NULL, -- repeats in all
    kinds_ok INTEGER NOT NULL, -- of latency and throughput, those with a value
    latency_asked INTEGER NOT NULL,
    rthroughput_asked INTEGER NOT NULL,
    trouble TEXT, -- outcome of the most important test that is not ok, behind a key that sorts it:
        -- throughput before latency, then the order of the plan
    rthroughput_bound TEXT,
    setting_clk REAL, -- of setting operands anew, alone
    note TEXT,
    result_latency_clk REAL, -- to the result, of the pairs of result_rank: the least, the largest,
    result_latency_max_clk REAL,
    result_latency_slow_clk REAL, -- and both with slow data
    result_latency_slow_max_clk REAL,
    result_latency_most_clk REAL, -- where they are ranges, the upper ends of the first two
    result_latency_max_most_clk REAL,
    result_latency_bound TEXT, -- 'exact', 'average', 'upper'
    result_latency_max_bound TEXT,
    result_rank INTEGER, -- of run_test: the least of the form's pairs
    result_latency_slow_bound TEXT, -- of the same with slow data
    result_latency_slow_max_bound TEXT,
    rthroughput_fast_bound TEXT, -- of fast_clk, or of slow_clk if nothing asked for the former
    rthroughput_slow_bound TEXT
) STRICT;

-- The structure of the ports that a run worked with: facts of the CPU, found by experiment.
CREATE TABLE port_model (
    run_id INTEGER PRIMARY KEY REFERENCES run,
    width INTEGER NOT NULL CHECK (width BETWEEN 1 AND 64), -- slots of dispatch per cycle
    nports INTEGER NOT NULL CHECK (nports BETWEEN 0 AND 32), -- in all classes
    filler TEXT NOT NULL CHECK (length(filler) <= 1000), -- form that takes a slot and no port, ''
    residual REAL CHECK (residual >= 0), -- largest relative deviation over the pairs of classes
    unexplained INTEGER NOT NULL CHECK (unexplained BETWEEN 0 AND 1000000),
        -- forms of one µop in no class
    teller INTEGER CHECK (teller BETWEEN 0 AND 1000),
        -- position of a port_class whose blocker is slower while vectors of 512 bits are about;
        -- NULL: ports do not depend on the width of vectors
    teller_clk REAL CHECK (teller_clk > 0), -- its reciprocal throughput then
    drawn_seed INTEGER CHECK (drawn_seed BETWEEN 1 AND 4294967295),
        -- of the forms that are searched although they are as their siblings; NULL: none was drawn
    fast INTEGER CHECK (fast BETWEEN 0 AND 1000000)
        -- forms as fast as dispatch that may need ports, then more of them than can be seen; NULL:
        -- not known
) STRICT;

-- A set of ports that forms of one µop can choose from. Bit numbers have no meaning beyond the run:
-- ports that no form tells apart are symmetric.
CREATE TABLE port_class (
    run_id INTEGER NOT NULL REFERENCES port_model,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000), -- smallest sets first
    ports_mask INTEGER NOT NULL CHECK (ports_mask BETWEEN 1 AND 4294967295), -- one bit per port
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 100), -- 'ALU', or systematic: 'A4'
    blocker TEXT NOT NULL CHECK (length(blocker) <= 1000), -- form that occupies it
    blocker_clk REAL CHECK (blocker_clk >= 0), -- its reciprocal throughput
    members INTEGER NOT NULL CHECK (members BETWEEN 0 AND 1000000), -- forms of one µop that use it
    holds TEXT NOT NULL DEFAULT 'always'
        CHECK (holds IN ('always', 'narrow', 'wide', 'wide forms')),
        -- narrow: only where no vectors of 512 bits are about; wide: only where some are, for
        -- vectors of any width; wide forms: only these have the set
    PRIMARY KEY (run_id, position)
) STRICT, WITHOUT ROWID;

-- Published names of single ports (one bit), and of sets that no blocker occupies. Ports and sets
-- without a row have none: those of classes stand in port_class.
CREATE TABLE port_name (
    run_id INTEGER NOT NULL REFERENCES port_model,
    ports_mask INTEGER NOT NULL CHECK (ports_mask BETWEEN 1 AND 4294967295), -- as in port_class
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    PRIMARY KEY (run_id, ports_mask)
) STRICT, WITHOUT ROWID;

-- Resources that a form may wait for although its ports are free: units that are not pipelined, the
-- sequencer of microcode ('MS'), and paths that several ports share ('path1', ...). Each form needs
-- it for some cycles.
CREATE TABLE port_unit (
    run_id INTEGER NOT NULL REFERENCES port_model,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    blocker TEXT NOT NULL CHECK (length(blocker) <= 1000), -- form that occupies it
    blocker_clk REAL CHECK (blocker_clk >= 0), -- for how long
    whole_blocker TEXT NOT NULL DEFAULT ''
        CHECK (length(whole_blocker) <= 1000), -- form that needs all parts of the unit, ''
    whole_clk REAL CHECK (whole_clk >= 0), -- for how long
    PRIMARY KEY (run_id, position)
) STRICT, WITHOUT ROWID;

-- Forms beside which others are timed to see whether they need a path, with their own needs.
CREATE TABLE port_probe (
    run_id INTEGER NOT NULL REFERENCES port_model,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000), -- of the probe: one row per path
    unit TEXT NOT NULL CHECK (length(unit) BETWEEN 1 AND 100), -- port_unit, a path
    form TEXT NOT NULL CHECK (length(form) BETWEEN 1 AND 1000),
    share_clk REAL NOT NULL CHECK (share_clk > 0), -- time for which an instance needs the path
    PRIMARY KEY (run_id, position, unit)
) STRICT, WITHOUT ROWID;

-- Ports used by one instance of a form, by the model of its run. Numbers only if 'ok'.
CREATE TABLE port_result (
    run_form_id INTEGER PRIMARY KEY REFERENCES run_form,
    method TEXT NOT NULL CHECK (method IN ('throughput', 'counter')),
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'unsupported', 'asm_failed', 'link_failed',
        'signalled', 'timed_out', 'unstable', 'not_measurable', 'skipped')),
    detail TEXT NOT NULL CHECK (length(detail) <= 4000), -- reason if not 'ok'
    ambiguous INTEGER NOT NULL CHECK (ambiguous IN (0, 1)), -- 1: another usage explains it as well
    ports TEXT CHECK (length(ports) <= 1000), -- '1*FP01+1*LOAD', largest sets first; '' for no port
    uops INTEGER CHECK (uops BETWEEN 0 AND 100000), -- that need a port: sum over port_use
    slots REAL CHECK (slots >= 0), -- of dispatch, fused-domain µops; NULL if unknown
    unit TEXT NOT NULL CHECK (length(unit) <= 100), -- port_unit that it keeps busy, '' for none
    busy_clk REAL CHECK (busy_clk >= 0), -- for how long; without a unit: what no port explains
    residual REAL CHECK (residual >= 0), -- largest deviation from the trials, in µops
    whole INTEGER NOT NULL DEFAULT 0 CHECK (whole IN (0, 1)), -- 1: it needs all parts of the unit
    beside_clk REAL CHECK (beside_clk >= 0),
        -- how long it keeps the unit busy where others need all
    slots_mixed REAL CHECK (slots_mixed >= 0), -- of dispatch that others in a mix lose by it: of
        -- what begins a group of dispatch a part of the group before as well; known of some forms
        -- whose ports are not measurable
    wide INTEGER NOT NULL DEFAULT 0 CHECK (wide IN (0, 1)),
        -- 1: while it is about, other vectors use their port_use_wide
    way TEXT NOT NULL DEFAULT 'search'
        CHECK (way IN ('search', 'sibling', 'refuted', 'agrees', 'differs')), -- how it was found:
        -- by search; as a sibling's, by the trials that would have refuted that; by search, since
        -- it is not as any sibling's; by both ways, since it was drawn, which agree or differ
    decode_clk REAL CHECK (decode_clk >= 0), -- more that an instance takes where it is decoded than
        -- out of the cache of decoded instructions, for a prefix that changes its length; NULL: not
        -- tried, as no other form is
    stall_clk REAL CHECK (stall_clk >= 0), -- cycles beside its slots in which the front end
        -- delivers nothing to anybody, unless many others are about; NULL: none
    CHECK (outcome = 'ok' OR (ports IS NULL AND uops IS NULL AND slots IS NULL AND busy_clk IS NULL
        AND residual IS NULL))
) STRICT;

CREATE TABLE port_use (
    run_form_id INTEGER NOT NULL REFERENCES port_result,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000), -- largest sets first
    ports_mask INTEGER NOT NULL CHECK (ports_mask BETWEEN 1 AND 4294967295), -- as in port_class
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 200), -- of the set
    uops INTEGER NOT NULL CHECK (uops BETWEEN 1 AND 100000),
    PRIMARY KEY (run_form_id, position)
) STRICT, WITHOUT ROWID;

-- Ports that a form uses instead of port_use while wide forms are in flight; no row: the same.
CREATE TABLE port_use_wide (
    run_form_id INTEGER NOT NULL REFERENCES port_result,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000), -- largest sets first
    ports_mask INTEGER NOT NULL CHECK (ports_mask BETWEEN 1 AND 4294967295), -- as in port_class
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 200), -- of the set
    uops INTEGER NOT NULL CHECK (uops BETWEEN 1 AND 100000),
    PRIMARY KEY (run_form_id, position)
) STRICT, WITHOUT ROWID;

-- The paths that a form needs.
CREATE TABLE port_share (
    run_form_id INTEGER NOT NULL REFERENCES port_result,
    unit TEXT NOT NULL CHECK (length(unit) BETWEEN 1 AND 100), -- port_unit, a path
    share_clk REAL NOT NULL CHECK (share_clk > 0), -- time for which an instance needs it
    PRIMARY KEY (run_form_id, unit)
) STRICT, WITHOUT ROWID;

-- The evidence of a port_result: one mix of the form and blockers, timed.
CREATE TABLE port_trial (
    run_form_id INTEGER NOT NULL REFERENCES port_result,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 100000),
    blocker TEXT NOT NULL CHECK (length(blocker) BETWEEN 1 AND 1000),
        -- name of the class or unit, 'front end'; or the form that is a probe for paths
    instances INTEGER NOT NULL CHECK (instances BETWEEN 0 AND 1000000), -- of the form in the mix
    blockers INTEGER NOT NULL CHECK (blockers BETWEEN 0 AND 1000000), -- beside them
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'unsupported', 'asm_failed', 'link_failed',
        'signalled', 'timed_out', 'unstable', 'not_measurable', 'skipped')),
    clk REAL CHECK (clk >= 0), -- core cycles of the whole mix, the least over its arrangements
    spread_clk REAL CHECK (spread_clk >= 0),
    CHECK (outcome = 'ok' OR (clk IS NULL AND spread_clk IS NULL)),
    PRIMARY KEY (run_form_id, position)
) STRICT, WITHOUT ROWID;

-- Counts of a mix that was timed: µops by port, and dispatch slots.
CREATE TABLE port_trial_count (
    run_form_id INTEGER NOT NULL,
    position INTEGER NOT NULL, -- number of the port_trial
    event TEXT NOT NULL CHECK (length(event) BETWEEN 1 AND 255), -- as in run_event
    uops REAL NOT NULL, -- for the whole mix, without the loop's own
    PRIMARY KEY (run_form_id, position, event),
    FOREIGN KEY (run_form_id, position) REFERENCES port_trial
) STRICT, WITHOUT ROWID;

-- Accuracy of a run's table in predicting random mixes of forms: at the end of `latput run`, or by
-- `latput validate`. Reproducible by its seed.
CREATE TABLE validation (
    validation_id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run, -- run of the tested port results
    seed INTEGER NOT NULL,
    mixes INTEGER NOT NULL CHECK (mixes BETWEEN 0 AND 100000000), -- number measured and compared
    mape_percent REAL CHECK (mape_percent >= 0), -- mean of |predicted - measured| / measured
    kendall_tau REAL CHECK (kendall_tau BETWEEN -1 AND 1), -- of predicted and measured
    within_10_percent REAL CHECK (within_10_percent BETWEEN 0 AND 100),
        -- share of mixes, in percent
    recorded_utc TEXT NOT NULL CHECK (recorded_utc GLOB '????-??-??T??:??:??Z'),
    layouts INTEGER CHECK (layouts BETWEEN 1 AND 100)
        -- ways in which what a mix rewrites in memory lay, each timed, of which the least counts;
        -- NULL: of a version that did not say, in which neighbouring operands disturbed each other
) STRICT;
CREATE INDEX validation_by_run ON validation (run_id);

CREATE TABLE validation_class (
    validation_id INTEGER NOT NULL REFERENCES validation,
    class TEXT NOT NULL CHECK (length(class) BETWEEN 1 AND 200),
        -- a common property of the mixes
    mixes INTEGER NOT NULL CHECK (mixes BETWEEN 0 AND 100000000),
    mape_percent REAL CHECK (mape_percent >= 0),
    within_10_percent REAL CHECK (within_10_percent BETWEEN 0 AND 100),
    PRIMARY KEY (validation_id, class)
) STRICT, WITHOUT ROWID;

-- The mixes with the largest relative error, worst first; all mixes of a run's own validation, by
-- which later versions can predict them again.
CREATE TABLE validation_mix (
    validation_id INTEGER NOT NULL REFERENCES validation,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000000),
    mix TEXT NOT NULL CHECK (length(mix) BETWEEN 1 AND 4000), -- '2*add r64 r64; 1*mulps x x'
    measured_clk REAL NOT NULL CHECK (measured_clk >= 0), -- core cycles of the whole mix
    predicted_clk REAL NOT NULL CHECK (predicted_clk >= 0),
    PRIMARY KEY (validation_id, position)
) STRICT, WITHOUT ROWID;

-- A piece of code measured by `latput bench --store`. Its run has the circumstances.
CREATE TABLE bench (
    bench_id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000000), -- in the run
    label TEXT NOT NULL CHECK (length(label) <= 200), -- the user's name for it, or ''
    source TEXT NOT NULL CHECK (source IN ('text', 'nasm', 'c', 'object')),
    code TEXT NOT NULL CHECK (length(code) <= 1000000), -- as given, or of the file; '' of an object
    file TEXT NOT NULL CHECK (length(file) <= 255 AND file NOT GLOB '*/*'), -- '' for text
    file_sha256 TEXT NOT NULL CHECK (length(file_sha256) IN (0, 64)),
    symbol TEXT NOT NULL CHECK (length(symbol) <= 1000), -- the function of a C file or an object
    cflags TEXT NOT NULL CHECK (length(cflags) <= 4000), -- options for the compiler of a C file
    compiler TEXT NOT NULL CHECK (length(compiler) <= 200), -- its version
    init TEXT NOT NULL CHECK (length(init) <= 1000000), -- run before the clock of each repetition
    mode TEXT NOT NULL CHECK (mode IN ('latency', 'throughput')), -- as it is; or chains are broken
    breakers TEXT NOT NULL CHECK (length(breakers) <= 4000),
        -- instructions before each copy that break them
    bits INTEGER NOT NULL CHECK (bits IN (32, 64)), -- mode of the processor
    instances INTEGER NOT NULL CHECK (instances BETWEEN 0 AND 1000000000),
        -- number that one copy counts as
    copies INTEGER NOT NULL CHECK (copies BETWEEN 0 AND 4294967295), -- of the code in the loop
    iterations INTEGER NOT NULL CHECK (iterations BETWEEN 0 AND 4294967295), -- of the loop
    cold INTEGER NOT NULL CHECK (cold IN (0, 1)), -- 1: all repetitions were cold
    pass INTEGER NOT NULL CHECK (pass BETWEEN 0 AND 1000), -- pass that decides the result; 0: none
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'unsupported', 'asm_failed', 'link_failed',
        'signalled', 'timed_out', 'unstable', 'not_measurable', 'skipped')),
    detail TEXT NOT NULL CHECK (length(detail) <= 4000), -- reason if not 'ok'
    code_bytes INTEGER CHECK (code_bytes BETWEEN 0 AND 16777216),
        -- length of the machine code of a copy
    machine_code BLOB CHECK (length(machine_code) <= 64), -- its first 64 bytes at most
    UNIQUE (run_id, position)
) STRICT;

-- The result on each of the CPUs that ran it in step.
CREATE TABLE bench_thread (
    bench_id INTEGER NOT NULL REFERENCES bench,
    thread INTEGER NOT NULL CHECK (thread BETWEEN 0 AND 1000),
    cpu INTEGER NOT NULL CHECK (cpu BETWEEN 0 AND 1048576), -- number of the logical CPU
    instance_clk REAL, -- core cycles per instance: the result; NULL unless 'ok'
    median_clk REAL, -- over all accepted repetitions
    spread_clk REAL, -- their interquartile range
    accepted INTEGER NOT NULL CHECK (accepted BETWEEN 0 AND 1000000000),
        -- repetitions that passed the gate
    tried INTEGER NOT NULL CHECK (tried BETWEEN 0 AND 1000000000),
    passes INTEGER NOT NULL CHECK (passes BETWEEN 0 AND 1000),
    PRIMARY KEY (bench_id, thread)
) STRICT, WITHOUT ROWID;

-- Values of repetitions beside their times.
CREATE TABLE bench_metric (
    bench_id INTEGER NOT NULL REFERENCES bench,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000),
    kind TEXT NOT NULL CHECK (kind IN ('event', 'column')),
        -- counted, or computed from counts and times
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 1000),
    code TEXT NOT NULL CHECK (length(code) <= 1000), -- setting of the counter, or the expression
    backend TEXT NOT NULL CHECK (length(backend) <= 200),
        -- 'perf', 'msr'; '' for a column
    table_version TEXT NOT NULL CHECK (length(table_version) <= 200), -- of the table of events
    PRIMARY KEY (bench_id, position)
) STRICT, WITHOUT ROWID;

-- One repetition on one CPU.
CREATE TABLE bench_repetition (
    bench_id INTEGER NOT NULL REFERENCES bench,
    seq INTEGER NOT NULL CHECK (seq BETWEEN 0 AND 1000000000), -- by pass, repetition, thread
    thread INTEGER NOT NULL CHECK (thread BETWEEN 0 AND 1000),
    pass INTEGER NOT NULL CHECK (pass BETWEEN 0 AND 1000), -- a process of its own
    repetition INTEGER NOT NULL CHECK (repetition BETWEEN 0 AND 1000000), -- from 0
    cold INTEGER NOT NULL CHECK (cold IN (0, 1)), -- code and data were in no cache
    accepted INTEGER NOT NULL CHECK (accepted IN (0, 1)), -- nothing else used the core
    tried INTEGER NOT NULL CHECK (tried BETWEEN 0 AND 1000000000), -- attempts until it was accepted
    late_ns REAL, -- delay after the start that the threads had agreed on
    elapsed_tsc REAL, -- the whole repetition
    elapsed_clk REAL, -- the same in core cycles
    PRIMARY KEY (bench_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE bench_value (
    bench_id INTEGER NOT NULL REFERENCES bench,
    seq INTEGER NOT NULL CHECK (seq BETWEEN 0 AND 1000000000), -- of the repetition
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000), -- of the metric
    value REAL, -- event: count of the whole repetition
    PRIMARY KEY (bench_id, seq, position)
) STRICT, WITHOUT ROWID;

-- A question about the pipeline, asked in a run, as lists/properties/ defined it then.
CREATE TABLE property (
    property_id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000000), -- order in the run
    grp TEXT NOT NULL CHECK (length(grp) BETWEEN 1 AND 100), -- 'core': file name without .csv
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 100), -- 'reorder_buffer'
    title TEXT NOT NULL CHECK (length(title) <= 200),
    question TEXT NOT NULL CHECK (length(question) <= 1000), -- in one sentence
    x_unit TEXT NOT NULL CHECK (length(x_unit) <= 60), -- of the swept variable: 'entries', 'bytes'
    by_unit TEXT NOT NULL CHECK (length(by_unit) <= 60), -- of the second variable; '' if none
    y_unit TEXT NOT NULL CHECK (y_unit IN ('clk', 'ns')),
    reading TEXT NOT NULL CHECK (length(reading) BETWEEN 1 AND 500),
        -- reading: 'knee least=0.2'
    compare TEXT NOT NULL CHECK (length(compare) <= 500),
        -- value that the conclusion is compared with, or ''
    definition TEXT NOT NULL CHECK (length(definition) <= 4000), -- the line of the list
    tsc_hz REAL NOT NULL CHECK (tsc_hz > 0), -- of the samples
    area_bytes INTEGER NOT NULL CHECK (area_bytes >= 0), -- memory besides the data area
    area_huge_bytes INTEGER NOT NULL CHECK (area_huge_bytes >= 0), -- part of it in huge pages
    seconds REAL NOT NULL CHECK (seconds >= 0), -- duration of measuring
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'unsupported', 'asm_failed', 'link_failed',
        'signalled', 'timed_out', 'unstable', 'not_measurable', 'skipped')), -- 'ok': it was swept
    detail TEXT NOT NULL CHECK (length(detail) <= 4000), -- reason if not; or its reduction
    vm TEXT NOT NULL DEFAULT '' CHECK (vm IN ('', 'paging', 'placement', 'trap', 'clock')),
        -- reason why it means little on a virtual machine: nested paging, the host places CPUs,
        -- traps to the hypervisor, the host's clock
    UNIQUE (run_id, name)
) STRICT;

CREATE TABLE property_variant (
    variant_id INTEGER PRIMARY KEY,
    property_id INTEGER NOT NULL REFERENCES property,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000000),
    name TEXT NOT NULL CHECK (length(name) <= 100), -- '' if there is only one
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'unsupported', 'asm_failed', 'link_failed',
        'signalled', 'timed_out', 'unstable', 'not_measurable', 'skipped')),
    detail TEXT NOT NULL CHECK (length(detail) <= 4000), -- reason if it was not swept
    UNIQUE (property_id, position)
) STRICT;

-- A point of a sweep.
CREATE TABLE sweep_point (
    point_id INTEGER PRIMARY KEY,
    variant_id INTEGER NOT NULL REFERENCES property_variant,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 10000000), -- in the order of measuring
    x REAL NOT NULL, -- swept variable
    by_x REAL, -- second swept variable; NULL: none
    instances INTEGER NOT NULL CHECK (instances BETWEEN 1 AND 2000000000),
        -- number that one body counts as
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'unsupported', 'asm_failed', 'link_failed',
        'signalled', 'timed_out', 'unstable', 'not_measurable', 'skipped')),
    detail TEXT NOT NULL CHECK (length(detail) <= 4000) -- reason if not 'ok'
) STRICT;
CREATE INDEX sweep_point_by_variant ON sweep_point (variant_id);

-- One pass over a point, and its accepted repeats; like timing and sample.
CREATE TABLE sweep_timing (
    timing_id INTEGER PRIMARY KEY,
    point_id INTEGER NOT NULL REFERENCES sweep_point,
    pass INTEGER NOT NULL CHECK (pass BETWEEN 0 AND 1000),
    iterations INTEGER NOT NULL CHECK (iterations BETWEEN 1 AND 4294967295), -- of the loop
    copies INTEGER NOT NULL CHECK (copies BETWEEN 1 AND 4294967295), -- of the body in the loop
    calib_clk REAL NOT NULL, -- core cycles of the calibration chain
    overhead_tsc REAL NOT NULL, -- of a timing without work, not yet subtracted from the samples
    accepted INTEGER NOT NULL CHECK (accepted BETWEEN 0 AND 1000000),
        -- repeats that passed the gate
    tried INTEGER NOT NULL CHECK (tried BETWEEN 0 AND 1000000) -- all repeats
) STRICT;
CREATE INDEX sweep_timing_by_point ON sweep_timing (point_id);
CREATE TABLE sweep_sample (
    timing_id INTEGER NOT NULL REFERENCES sweep_timing,
    seq INTEGER NOT NULL CHECK (seq BETWEEN 0 AND 1000000), -- order in the pass
    kernel_tsc INTEGER NOT NULL CHECK (kernel_tsc BETWEEN 0 AND 4294967295), -- the kernel
    before_tsc INTEGER NOT NULL CHECK (before_tsc BETWEEN 1 AND 4294967295),
        -- calibration before it
    after_tsc INTEGER NOT NULL CHECK (after_tsc BETWEEN 1 AND 4294967295), -- calibration after it
    canary_tsc INTEGER NOT NULL CHECK (canary_tsc BETWEEN 0 AND 4294967295),
        -- the worse of the two canaries
    PRIMARY KEY (timing_id, seq)
) STRICT, WITHOUT ROWID;

-- Derived: the value of a point, in the property's y_unit per instance.
CREATE TABLE sweep_value (
    point_id INTEGER PRIMARY KEY REFERENCES sweep_point,
    y REAL NOT NULL,
    samples INTEGER NOT NULL CHECK (samples >= 1)
) STRICT;

-- Derived: conclusions from the points of a property, in the words of runner/conclude/conclude.h.
CREATE TABLE conclusion (
    conclusion_id INTEGER PRIMARY KEY,
    property_id INTEGER NOT NULL REFERENCES property,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000000),
    variant TEXT NOT NULL CHECK (length(variant) <= 200), -- variant of the curve; '' for all
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'none', 'unstable', 'ambiguous', 'too_few')),
    confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    sentence TEXT NOT NULL CHECK (length(sentence) <= 4000),
    UNIQUE (property_id, position)
) STRICT;
CREATE TABLE conclusion_value (
    conclusion_id INTEGER NOT NULL REFERENCES conclusion,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000000),
        -- most important first
    label TEXT NOT NULL CHECK (length(label) <= 200), -- 'knee', 'level 1', ...
    value REAL, -- NULL: none
    low REAL, -- with 95 % confidence
    high REAL,
    unit TEXT NOT NULL CHECK (length(unit) <= 60),
    PRIMARY KEY (conclusion_id, position)
) STRICT, WITHOUT ROWID;

-- Facts are never changed and never deleted. The one exception: a run may be finished, once.
CREATE TRIGGER run_no_delete BEFORE DELETE ON run
BEGIN SELECT raise(ABORT, 'facts are append-only: run'); END;
CREATE TRIGGER run_finish_once BEFORE UPDATE ON run WHEN old.finished_utc IS NOT NULL
BEGIN SELECT raise(ABORT, 'facts are append-only: the run is finished'); END;
CREATE TRIGGER run_no_update BEFORE UPDATE OF run_id, uuid, version, nasm_version, os_kernel,
    backend, lists, tables, frequency, selection, tsc_hz, core_hz, overhead_tsc, calib_link_clk,
    measuring_cpu, started_utc, label, completes ON run
BEGIN SELECT raise(ABORT, 'facts are append-only: run'); END;
CREATE TRIGGER merged_run_no_update BEFORE UPDATE ON merged_run
BEGIN SELECT raise(ABORT, 'facts are append-only: merged_run'); END;
CREATE TRIGGER merged_run_no_delete BEFORE DELETE ON merged_run
BEGIN SELECT raise(ABORT, 'facts are append-only: merged_run'); END;
CREATE TRIGGER cpu_no_update BEFORE UPDATE ON cpu
BEGIN SELECT raise(ABORT, 'facts are append-only: cpu'); END;
CREATE TRIGGER cpu_no_delete BEFORE DELETE ON cpu
BEGIN SELECT raise(ABORT, 'facts are append-only: cpu'); END;
CREATE TRIGGER cpuid_leaf_no_update BEFORE UPDATE ON cpuid_leaf
BEGIN SELECT raise(ABORT, 'facts are append-only: cpuid_leaf'); END;
CREATE TRIGGER cpuid_leaf_no_delete BEFORE DELETE ON cpuid_leaf
BEGIN SELECT raise(ABORT, 'facts are append-only: cpuid_leaf'); END;
CREATE TRIGGER cpu_cache_no_update BEFORE UPDATE ON cpu_cache
BEGIN SELECT raise(ABORT, 'facts are append-only: cpu_cache'); END;
CREATE TRIGGER cpu_cache_no_delete BEFORE DELETE ON cpu_cache
BEGIN SELECT raise(ABORT, 'facts are append-only: cpu_cache'); END;
CREATE TRIGGER canary_floor_no_update BEFORE UPDATE ON canary_floor
BEGIN SELECT raise(ABORT, 'facts are append-only: canary_floor'); END;
CREATE TRIGGER canary_floor_no_delete BEFORE DELETE ON canary_floor
BEGIN SELECT raise(ABORT, 'facts are append-only: canary_floor'); END;
CREATE TRIGGER run_warning_no_update BEFORE UPDATE ON run_warning
BEGIN SELECT raise(ABORT, 'facts are append-only: run_warning'); END;
CREATE TRIGGER run_warning_no_delete BEFORE DELETE ON run_warning
BEGIN SELECT raise(ABORT, 'facts are append-only: run_warning'); END;
CREATE TRIGGER run_time_no_update BEFORE UPDATE ON run_time
BEGIN SELECT raise(ABORT, 'facts are append-only: run_time'); END;
CREATE TRIGGER run_time_no_delete BEFORE DELETE ON run_time
BEGIN SELECT raise(ABORT, 'facts are append-only: run_time'); END;
CREATE TRIGGER list_no_update BEFORE UPDATE ON list
BEGIN SELECT raise(ABORT, 'facts are append-only: list'); END;
CREATE TRIGGER list_no_delete BEFORE DELETE ON list
BEGIN SELECT raise(ABORT, 'facts are append-only: list'); END;
CREATE TRIGGER run_list_no_update BEFORE UPDATE ON run_list
BEGIN SELECT raise(ABORT, 'facts are append-only: run_list'); END;
CREATE TRIGGER run_list_no_delete BEFORE DELETE ON run_list
BEGIN SELECT raise(ABORT, 'facts are append-only: run_list'); END;
CREATE TRIGGER form_no_update BEFORE UPDATE ON form
BEGIN SELECT raise(ABORT, 'facts are append-only: form'); END;
CREATE TRIGGER form_no_delete BEFORE DELETE ON form
BEGIN SELECT raise(ABORT, 'facts are append-only: form'); END;
CREATE TRIGGER run_form_no_update BEFORE UPDATE ON run_form
BEGIN SELECT raise(ABORT, 'facts are append-only: run_form'); END;
CREATE TRIGGER run_form_no_delete BEFORE DELETE ON run_form
BEGIN SELECT raise(ABORT, 'facts are append-only: run_form'); END;
CREATE TRIGGER test_no_update BEFORE UPDATE ON test
BEGIN SELECT raise(ABORT, 'facts are append-only: test'); END;
CREATE TRIGGER test_no_delete BEFORE DELETE ON test
BEGIN SELECT raise(ABORT, 'facts are append-only: test'); END;
CREATE TRIGGER kernel_no_update BEFORE UPDATE ON kernel
BEGIN SELECT raise(ABORT, 'facts are append-only: kernel'); END;
CREATE TRIGGER kernel_no_delete BEFORE DELETE ON kernel
BEGIN SELECT raise(ABORT, 'facts are append-only: kernel'); END;
CREATE TRIGGER timing_no_update BEFORE UPDATE ON timing
BEGIN SELECT raise(ABORT, 'facts are append-only: timing'); END;
CREATE TRIGGER timing_no_delete BEFORE DELETE ON timing
BEGIN SELECT raise(ABORT, 'facts are append-only: timing'); END;
CREATE TRIGGER sample_no_update BEFORE UPDATE ON sample
BEGIN SELECT raise(ABORT, 'facts are append-only: sample'); END;
CREATE TRIGGER sample_no_delete BEFORE DELETE ON sample
BEGIN SELECT raise(ABORT, 'facts are append-only: sample'); END;
CREATE TRIGGER port_model_no_update BEFORE UPDATE ON port_model
BEGIN SELECT raise(ABORT, 'facts are append-only: port_model'); END;
CREATE TRIGGER port_model_no_delete BEFORE DELETE ON port_model
BEGIN SELECT raise(ABORT, 'facts are append-only: port_model'); END;
CREATE TRIGGER port_class_no_update BEFORE UPDATE ON port_class
BEGIN SELECT raise(ABORT, 'facts are append-only: port_class'); END;
CREATE TRIGGER port_class_no_delete BEFORE DELETE ON port_class
BEGIN SELECT raise(ABORT, 'facts are append-only: port_class'); END;
CREATE TRIGGER port_name_no_update BEFORE UPDATE ON port_name
BEGIN SELECT raise(ABORT, 'facts are append-only: port_name'); END;
CREATE TRIGGER port_name_no_delete BEFORE DELETE ON port_name
BEGIN SELECT raise(ABORT, 'facts are append-only: port_name'); END;
CREATE TRIGGER port_unit_no_update BEFORE UPDATE ON port_unit
BEGIN SELECT raise(ABORT, 'facts are append-only: port_unit'); END;
CREATE TRIGGER port_unit_no_delete BEFORE DELETE ON port_unit
BEGIN SELECT raise(ABORT, 'facts are append-only: port_unit'); END;
CREATE TRIGGER port_probe_no_update BEFORE UPDATE ON port_probe
BEGIN SELECT raise(ABORT, 'facts are append-only: port_probe'); END;
CREATE TRIGGER port_probe_no_delete BEFORE DELETE ON port_probe
BEGIN SELECT raise(ABORT, 'facts are append-only: port_probe'); END;
CREATE TRIGGER port_share_no_update BEFORE UPDATE ON port_share
BEGIN SELECT raise(ABORT, 'facts are append-only: port_share'); END;
CREATE TRIGGER port_share_no_delete BEFORE DELETE ON port_share
BEGIN SELECT raise(ABORT, 'facts are append-only: port_share'); END;
CREATE TRIGGER port_result_no_update BEFORE UPDATE ON port_result
BEGIN SELECT raise(ABORT, 'facts are append-only: port_result'); END;
CREATE TRIGGER port_result_no_delete BEFORE DELETE ON port_result
BEGIN SELECT raise(ABORT, 'facts are append-only: port_result'); END;
CREATE TRIGGER port_use_no_update BEFORE UPDATE ON port_use
BEGIN SELECT raise(ABORT, 'facts are append-only: port_use'); END;
CREATE TRIGGER port_use_wide_no_update BEFORE UPDATE ON port_use_wide
BEGIN SELECT raise(ABORT, 'facts are append-only: port_use_wide'); END;
CREATE TRIGGER port_use_wide_no_delete BEFORE DELETE ON port_use_wide
BEGIN SELECT raise(ABORT, 'facts are append-only: port_use_wide'); END;
CREATE TRIGGER port_use_no_delete BEFORE DELETE ON port_use
BEGIN SELECT raise(ABORT, 'facts are append-only: port_use'); END;
CREATE TRIGGER port_trial_no_update BEFORE UPDATE ON port_trial
BEGIN SELECT raise(ABORT, 'facts are append-only: port_trial'); END;
CREATE TRIGGER port_trial_no_delete BEFORE DELETE ON port_trial
BEGIN SELECT raise(ABORT, 'facts are append-only: port_trial'); END;
CREATE TRIGGER run_event_no_update BEFORE UPDATE ON run_event
BEGIN SELECT raise(ABORT, 'facts are append-only: run_event'); END;
CREATE TRIGGER run_event_no_delete BEFORE DELETE ON run_event
BEGIN SELECT raise(ABORT, 'facts are append-only: run_event'); END;
CREATE TRIGGER port_trial_count_no_update BEFORE UPDATE ON port_trial_count
BEGIN SELECT raise(ABORT, 'facts are append-only: port_trial_count'); END;
CREATE TRIGGER port_trial_count_no_delete BEFORE DELETE ON port_trial_count
BEGIN SELECT raise(ABORT, 'facts are append-only: port_trial_count'); END;
CREATE TRIGGER validation_no_update BEFORE UPDATE ON validation
BEGIN SELECT raise(ABORT, 'facts are append-only: validation'); END;
CREATE TRIGGER validation_no_delete BEFORE DELETE ON validation
BEGIN SELECT raise(ABORT, 'facts are append-only: validation'); END;
CREATE TRIGGER validation_class_no_update BEFORE UPDATE ON validation_class
BEGIN SELECT raise(ABORT, 'facts are append-only: validation_class'); END;
CREATE TRIGGER validation_class_no_delete BEFORE DELETE ON validation_class
BEGIN SELECT raise(ABORT, 'facts are append-only: validation_class'); END;
CREATE TRIGGER validation_mix_no_update BEFORE UPDATE ON validation_mix
BEGIN SELECT raise(ABORT, 'facts are append-only: validation_mix'); END;
CREATE TRIGGER validation_mix_no_delete BEFORE DELETE ON validation_mix
BEGIN SELECT raise(ABORT, 'facts are append-only: validation_mix'); END;
CREATE TRIGGER bench_no_update BEFORE UPDATE ON bench
BEGIN SELECT raise(ABORT, 'facts are append-only: bench'); END;
CREATE TRIGGER bench_no_delete BEFORE DELETE ON bench
BEGIN SELECT raise(ABORT, 'facts are append-only: bench'); END;
CREATE TRIGGER bench_thread_no_update BEFORE UPDATE ON bench_thread
BEGIN SELECT raise(ABORT, 'facts are append-only: bench_thread'); END;
CREATE TRIGGER bench_thread_no_delete BEFORE DELETE ON bench_thread
BEGIN SELECT raise(ABORT, 'facts are append-only: bench_thread'); END;
CREATE TRIGGER bench_metric_no_update BEFORE UPDATE ON bench_metric
BEGIN SELECT raise(ABORT, 'facts are append-only: bench_metric'); END;
CREATE TRIGGER bench_metric_no_delete BEFORE DELETE ON bench_metric
BEGIN SELECT raise(ABORT, 'facts are append-only: bench_metric'); END;
CREATE TRIGGER bench_repetition_no_update BEFORE UPDATE ON bench_repetition
BEGIN SELECT raise(ABORT, 'facts are append-only: bench_repetition'); END;
CREATE TRIGGER bench_repetition_no_delete BEFORE DELETE ON bench_repetition
BEGIN SELECT raise(ABORT, 'facts are append-only: bench_repetition'); END;
CREATE TRIGGER bench_value_no_update BEFORE UPDATE ON bench_value
BEGIN SELECT raise(ABORT, 'facts are append-only: bench_value'); END;
CREATE TRIGGER bench_value_no_delete BEFORE DELETE ON bench_value
BEGIN SELECT raise(ABORT, 'facts are append-only: bench_value'); END;
CREATE TRIGGER property_no_update BEFORE UPDATE ON property
BEGIN SELECT raise(ABORT, 'facts are append-only: property'); END;
CREATE TRIGGER property_no_delete BEFORE DELETE ON property
BEGIN SELECT raise(ABORT, 'facts are append-only: property'); END;
CREATE TRIGGER property_variant_no_update BEFORE UPDATE ON property_variant
BEGIN SELECT raise(ABORT, 'facts are append-only: property_variant'); END;
CREATE TRIGGER property_variant_no_delete BEFORE DELETE ON property_variant
BEGIN SELECT raise(ABORT, 'facts are append-only: property_variant'); END;
CREATE TRIGGER sweep_point_no_update BEFORE UPDATE ON sweep_point
BEGIN SELECT raise(ABORT, 'facts are append-only: sweep_point'); END;
CREATE TRIGGER sweep_point_no_delete BEFORE DELETE ON sweep_point
BEGIN SELECT raise(ABORT, 'facts are append-only: sweep_point'); END;
CREATE TRIGGER sweep_timing_no_update BEFORE UPDATE ON sweep_timing
BEGIN SELECT raise(ABORT, 'facts are append-only: sweep_timing'); END;
CREATE TRIGGER sweep_timing_no_delete BEFORE DELETE ON sweep_timing
BEGIN SELECT raise(ABORT, 'facts are append-only: sweep_timing'); END;
CREATE TRIGGER sweep_sample_no_update BEFORE UPDATE ON sweep_sample
BEGIN SELECT raise(ABORT, 'facts are append-only: sweep_sample'); END;
CREATE TRIGGER sweep_sample_no_delete BEFORE DELETE ON sweep_sample
BEGIN SELECT raise(ABORT, 'facts are append-only: sweep_sample'); END;

-- latput never changes a result in place: whoever does has all rows of form_summary made again.
CREATE TRIGGER result_update_summary AFTER UPDATE ON result
BEGIN DELETE FROM form_summary; END;
