-- SPDX-License-Identifier: MIT
-- Version 1: the first schema. Never edited again; what comes later is a migration of its own.
PRAGMA application_id = 1818326128; -- "latp"
PRAGMA user_version = 1;

-- Remarks about the file itself, not about any measurement.
CREATE TABLE meta (
    name TEXT PRIMARY KEY NOT NULL, -- 'views_sha256': hash of the views.sql that made the views
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A kind of CPU as a program sees it: another microcode, hypervisor or feature set is another row.
CREATE TABLE cpu (
    cpu_id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE CHECK (length(identity) = 64), -- sha256 over the columns below
    vendor TEXT NOT NULL CHECK (length(vendor) BETWEEN 1 AND 15), -- e.g. 'GenuineIntel'
    brand TEXT NOT NULL CHECK (length(brand) <= 63), -- brand string, '' if the CPU has none
    signature INTEGER NOT NULL CHECK (signature BETWEEN 0 AND 4294967295), -- CPUID 1 EAX
    family INTEGER NOT NULL CHECK (family BETWEEN 0 AND 4095), -- display family
    model INTEGER NOT NULL CHECK (model BETWEEN 0 AND 4095), -- display model
    stepping INTEGER NOT NULL CHECK (stepping BETWEEN 0 AND 15),
    core_type INTEGER NOT NULL CHECK (core_type BETWEEN 0 AND 255), -- CPUID 1AH EAX[31:24], 0: none
    native_model INTEGER NOT NULL CHECK (native_model BETWEEN 0 AND 16777215),
        -- CPUID 1AH EAX[23:0]
    uarch TEXT NOT NULL CHECK (uarch GLOB '[a-z0-9]*' AND uarch NOT GLOB '*[^a-z0-9_-]*'
        AND length(uarch) <= 31), -- key of the CPU family; 'unknown' where cpus.csv has no row
    uarch_name TEXT NOT NULL CHECK (length(uarch_name) <= 95), -- e.g. 'Zen 5'
    microcode INTEGER NOT NULL CHECK (microcode BETWEEN 0 AND 4294967295), -- revision, 0 if unknown
    hypervisor TEXT NOT NULL CHECK (length(hypervisor) <= 63), -- '' if none is visible
    tsc_invariant INTEGER NOT NULL CHECK (tsc_invariant IN (0, 1)),
    features TEXT NOT NULL CHECK (length(features) <= 16384) -- names of features.csv, by one blank
) STRICT;

-- CPUID as it was answered when the CPU was first seen; a processor serial number is left out.
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

-- How fast the canary runs on an undisturbed core; the newest row of a CPU counts.
CREATE TABLE canary_floor (
    canary_floor_id INTEGER PRIMARY KEY,
    cpu_id INTEGER NOT NULL REFERENCES cpu,
    nop_bytes INTEGER NOT NULL CHECK (nop_bytes BETWEEN 1 AND 15),
        -- length of one nop of the canary
    nop_clk REAL NOT NULL CHECK (nop_clk > 0 AND nop_clk < 1000), -- core cycles a nop
    method TEXT NOT NULL CHECK (method IN ('issue-width', 'mode')), -- where the floor comes from
    recorded_utc TEXT NOT NULL CHECK (recorded_utc GLOB '????-??-??T??:??:??Z')
) STRICT;

-- One invocation that measures (and its resumptions), with its provenance.
CREATE TABLE run (
    run_id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE
        CHECK (length(uuid) = 32 AND uuid NOT GLOB '*[^0-9a-f]*'), -- random: identity across files
    cpu_id INTEGER NOT NULL REFERENCES cpu,
    version TEXT NOT NULL CHECK (length(version) <= 200), -- of latput
    nasm_version TEXT NOT NULL CHECK (length(nasm_version) <= 200),
    os_kernel TEXT NOT NULL CHECK (length(os_kernel) <= 200),
        -- release of the operating system's kernel
    backend TEXT NOT NULL CHECK (length(backend) <= 200), -- 'tsc', 'perf', 'msr'
    lists TEXT NOT NULL CHECK (length(lists) <= 65536), -- 'name:sha256 ...' of what was asked for
    tables TEXT NOT NULL CHECK (length(tables) <= 65536), -- versions of the CPU tables used
    frequency TEXT NOT NULL CHECK (length(frequency) <= 2000), -- governor, boost, or what is known
    selection TEXT NOT NULL CHECK (length(selection) <= 65536),
        -- filters and tests, '' for everything
    tsc_hz REAL CHECK (tsc_hz >= 0), -- frequency of the TSC
    core_hz REAL CHECK (core_hz >= 0), -- frequency of the core at the start, estimated
    overhead_tsc REAL, -- of one timing without work
    issue_width INTEGER NOT NULL CHECK (issue_width BETWEEN 0 AND 64), -- µops a cycle, as used
    calib_link_clk INTEGER NOT NULL CHECK (calib_link_clk BETWEEN 0 AND 1000),
        -- latency of the calibration's link
    measuring_cpu INTEGER NOT NULL CHECK (measuring_cpu BETWEEN -1 AND 1048576),
        -- number of the logical CPU
    started_utc TEXT NOT NULL CHECK (started_utc GLOB '????-??-??T??:??:??Z'),
    finished_utc TEXT CHECK (finished_utc GLOB '????-??-??T??:??:??Z'), -- NULL: not finished
    kernels INTEGER CHECK (kernels >= 0), -- timed by the invocation that finished the run
    seconds REAL CHECK (seconds >= 0) -- that this invocation took
) STRICT;
CREATE INDEX run_by_cpu ON run (cpu_id);

CREATE TABLE run_warning (
    run_id INTEGER NOT NULL REFERENCES run,
    text TEXT NOT NULL CHECK (length(text) <= 4000), -- what may make the results worse
    remedy TEXT NOT NULL CHECK (length(remedy) <= 4000), -- what to do about it
    PRIMARY KEY (run_id, text)
) STRICT, WITHOUT ROWID;

CREATE TABLE list (
    list_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200) -- file name without .csv
) STRICT;

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
        -- what else identifies it: 'same data=slow'
    UNIQUE (form, enc, bits)
) STRICT;

-- A form in a run.
CREATE TABLE run_form (
    run_form_id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run,
    form_id INTEGER NOT NULL REFERENCES form,
    list_id INTEGER NOT NULL REFERENCES list,
    position INTEGER NOT NULL CHECK (position >= 0), -- of the row in the list
    isa TEXT NOT NULL CHECK (length(isa) <= 500),
        -- features that the list asks for: 'AVX512F+AVX512VL'
    UNIQUE (run_id, form_id)
) STRICT;
CREATE INDEX run_form_by_form ON run_form (form_id);

-- One question about a form.
CREATE TABLE test (
    test_id INTEGER PRIMARY KEY,
    run_form_id INTEGER NOT NULL REFERENCES run_form,
    position INTEGER NOT NULL CHECK (position >= 0), -- in the plan of the form
    kind TEXT NOT NULL CHECK (kind IN ('latency', 'throughput', 'ports')),
    src TEXT NOT NULL CHECK (length(src) <= 60), -- latency: operand read, 'op2.base'; else ''
    dst TEXT NOT NULL CHECK (length(dst) <= 60), -- latency: operand written, 'flags'; else ''
    variant TEXT NOT NULL CHECK (length(variant) <= 60), -- data variant, 'fast' or 'slow', else ''
    bound TEXT NOT NULL CHECK (bound IN ('exact', 'upper')), -- what the plan can promise at best
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'unsupported', 'asm_failed', 'link_failed',
        'signalled', 'timed_out', 'unstable', 'not_measurable', 'skipped')), -- 'ok': it has kernels
    detail TEXT NOT NULL CHECK (length(detail) <= 4000), -- why it has none
    UNIQUE (run_form_id, position)
) STRICT;

-- Machine code that was timed for a test.
CREATE TABLE kernel (
    kernel_id INTEGER PRIMARY KEY,
    test_id INTEGER NOT NULL REFERENCES test,
    position INTEGER NOT NULL CHECK (position >= 0), -- in the plan of the test
    shape TEXT NOT NULL CHECK (length(shape) <= 100), -- 'dense', 'filled', 'n8', 'n12+break', ...
    instances INTEGER NOT NULL CHECK (instances BETWEEN 0 AND 1000000),
        -- tested instructions in a body
    instrs INTEGER NOT NULL CHECK (instrs BETWEEN 0 AND 1000000), -- all instructions in a body
    extra_clk REAL NOT NULL, -- latency of the bridges in one link, to be subtracted
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'unsupported', 'asm_failed', 'link_failed',
        'signalled', 'timed_out', 'unstable', 'not_measurable', 'skipped')),
    detail TEXT NOT NULL CHECK (length(detail) <= 4000), -- reason where it is not 'ok'
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
    tried INTEGER NOT NULL CHECK (tried BETWEEN 0 AND 1000000) -- repeats in all
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
    PRIMARY KEY (timing_id, seq)
) STRICT, WITHOUT ROWID;

-- Derived: what the passes over one kernel say.
CREATE TABLE estimate (
    kernel_id INTEGER PRIMARY KEY REFERENCES kernel,
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'unsupported', 'asm_failed', 'link_failed',
        'signalled', 'timed_out', 'unstable', 'not_measurable', 'skipped')),
    instance_clk REAL, -- core cycles an instance, bridges not subtracted; NULL unless 'ok'
    spread_clk REAL, -- interquartile range of the samples of the chosen pass
    accepted INTEGER NOT NULL, -- repeats that passed the gate, over all passes
    tried INTEGER NOT NULL, -- repeats in all
    pass INTEGER NOT NULL, -- the chosen pass
    state_share REAL, -- share of the samples in the steady state that gives the value
    CHECK (outcome = 'ok' OR instance_clk IS NULL)
) STRICT;

-- Derived: the answer to a test.
CREATE TABLE result (
    test_id INTEGER PRIMARY KEY REFERENCES test,
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'unsupported', 'asm_failed', 'link_failed',
        'signalled', 'timed_out', 'unstable', 'not_measurable', 'skipped')),
    detail TEXT NOT NULL, -- reason where it is not 'ok'
    value_clk REAL, -- latency or reciprocal throughput; NULL unless 'ok'
    dense_clk REAL, -- latency: in the dense chain
    filled_clk REAL, -- latency: in the chain with independent fillers
    spread_clk REAL, -- interquartile range of the deciding kernel's samples
    accepted INTEGER NOT NULL, -- repeats that passed the gate
    tried INTEGER NOT NULL, -- repeats in all
    bound TEXT NOT NULL CHECK (bound IN ('exact', 'upper')),
    kernel_id INTEGER REFERENCES kernel, -- the deciding kernel
    CHECK (outcome = 'ok' OR (value_clk IS NULL AND dense_clk IS NULL AND filled_clk IS NULL
        AND spread_clk IS NULL))
) STRICT;
CREATE INDEX result_by_kernel ON result (kernel_id);

-- Facts are never changed and never deleted. The one exception: a run may be finished, once.
CREATE TRIGGER run_no_delete BEFORE DELETE ON run
BEGIN SELECT raise(ABORT, 'facts are append-only: run'); END;
CREATE TRIGGER run_finish_once BEFORE UPDATE ON run WHEN old.finished_utc IS NOT NULL
BEGIN SELECT raise(ABORT, 'facts are append-only: the run is finished'); END;
CREATE TRIGGER run_no_update BEFORE UPDATE OF run_id, uuid, cpu_id, version, nasm_version,
    os_kernel, backend, lists, tables, frequency, selection, tsc_hz, core_hz, overhead_tsc,
    issue_width, calib_link_clk, measuring_cpu, started_utc ON run
BEGIN SELECT raise(ABORT, 'facts are append-only: run'); END;
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
CREATE TRIGGER list_no_update BEFORE UPDATE ON list
BEGIN SELECT raise(ABORT, 'facts are append-only: list'); END;
CREATE TRIGGER list_no_delete BEFORE DELETE ON list
BEGIN SELECT raise(ABORT, 'facts are append-only: list'); END;
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
