-- SPDX-License-Identifier: MIT
-- All views. Dropped and made again whenever this file has changed, so that they need no migration.
-- The public ones, whose columns stay (new ones may be added at the end), are: instruction_table,
-- latency_table, port_table, false_dependency_table, doubt_table, property_table, property_point,
-- failure_table, bench_table, bench_repetition_table. The first four have a run_ twin with all
-- runs, doubt_table has one with what does not differ; the others serve these.

-- Names of a run's CPU and its key in the public views: the family, '?' if it is inferred, and
-- '@label' if the machine has one. CPUs that the tables do not know share the uarch 'unknown';
-- uarch_key keeps them apart.
CREATE VIEW run_key AS
SELECT run.run_id, run.uuid, cpu.cpu_id,
    cpu.uarch || iif(cpu.inferred, '?', '') || coalesce('@' || nullif(run.label, ''), '') AS uarch,
    CASE cpu.uarch WHEN 'unknown' THEN 'unknown ' || cpu.vendor || printf(' %08X', cpu.signature)
        ELSE cpu.uarch || iif(cpu.inferred, '?', '') END
        || coalesce('@' || nullif(run.label, ''), '') AS uarch_key,
    run.started_utc, run.finished_utc
FROM run JOIN cpu USING (cpu_id);

-- Tests with the kinds of place that their pairs lead from and to. `bits`: single flags; whoever
-- writes the others without the zero flag leaves them undefined. `cleared`: the mask of a gather.
CREATE VIEW placed_test AS
SELECT *,
    CASE WHEN src IN ('flags', 'cf', 'of', 'zf', 'sf', 'pf', 'af', 'df', 'fpsw') THEN 'flags'
        WHEN src GLOB '*.data' THEN 'memory' WHEN src GLOB '*.rest' THEN 'rest'
        ELSE 'register' END AS src_place,
    CASE WHEN dst GLOB 'flags*' OR dst IN ('cf', 'zf', 'fpsw') THEN 'flags'
        WHEN dst IN ('of', 'sf', 'pf', 'af') THEN 'bits' WHEN dst GLOB '*.data' THEN 'memory'
        WHEN dst GLOB '*.mask' THEN 'cleared' ELSE 'register' END AS dst_place
FROM test;

-- Every test with its result.
CREATE VIEW run_test AS
SELECT run_form.run_id, run_form.run_form_id, run_form.form_id, test.test_id, test.position,
    -- A false dependency is a latency of its own kind, and so is each test that was asked again in
    -- another arrangement; the time with another immediate than the usual one is neither latency
    -- nor throughput of the form.
    CASE WHEN test.variant = '' THEN test.kind WHEN test.variant = 'false' THEN 'false'
        WHEN test.variant GLOB '*again *' THEN 'again'
        WHEN test.variant GLOB 'i8=*' OR test.variant = 'upper=0' THEN 'immediate'
        ELSE test.kind END AS kind, test.src, test.dst, test.variant,
    coalesce(result.outcome, 'skipped') AS outcome,
    coalesce(result.detail, 'no result stored; latput rederive makes it') AS detail,
    -- An operation at rename has no latency; the time of a chain of it is its throughput at rename.
    iif(test.kind = 'latency' AND result.bound = 'exact' AND result.value_clk < 0.75
        AND test.src NOT IN ('flags', 'cf', 'of', 'zf', 'sf', 'pf', 'af', 'df'),
        0.0, result.value_clk) AS value_clk,
    result.dense_clk, result.filled_clk, result.spread_clk,
    coalesce(result.accepted, 0) AS accepted, coalesce(result.tried, 0) AS tried,
    iif(result.average AND result.bound = 'exact', 'average', coalesce(result.bound, test.bound))
        AS bound, result.kernel_id,
    -- Tests that do not make their form fail: pairs without a possible chain, pairs whose upper
    -- bound through memory is below nothing, false dependencies, repeated questions and other
    -- immediates.
    test.variant GLOB '*again *' OR test.variant GLOB 'i8=*' OR test.variant = 'upper=0' OR
        test.kind = 'latency' AND (test.variant = 'false' OR
        coalesce(result.outcome, test.outcome) = 'not_measurable' OR
        (result.outcome = 'unstable' AND test.bound = 'upper'
            AND test.src || ' ' || test.dst GLOB '*.data*')) AS outside,
    result.average, result.least_clk, result.most_clk, result.states,
    -- Marks of latencies in tables: '~' the mean of executions that differ, '*' one steady state of
    -- several.
    CASE WHEN test.kind = 'latency'
        THEN iif(result.average, '~', '') || iif(result.states > 1, '*', '') END AS mark,
    -- The plan's remark beside a number; its form is that of runner/plan/plan_note.c.
    CASE WHEN result.outcome = 'ok' AND test.outcome = 'ok' THEN CASE
        WHEN test.detail GLOB '[0-9]* bytes each, *' AND value_clk > 0
            THEN test.detail || printf(', %.2f per cycle', CAST(test.detail AS INTEGER) / value_clk)
        ELSE nullif(test.detail, '') END END AS note,
    -- Another immediate differs if its time is not that of the usual one in the same kernel, by
    -- more than two measurements of one time differ; by half a cycle if one of them is no whole
    -- number.
    CASE WHEN (test.variant GLOB 'i8=*' OR test.variant = 'upper=0') AND result.outcome = 'ok'
        THEN EXISTS (
        SELECT 1 FROM test AS usual JOIN result AS its USING (test_id) JOIN kernel USING (test_id)
            JOIN estimate ON estimate.kernel_id = kernel.kernel_id
            JOIN kernel AS own ON own.kernel_id = result.kernel_id AND own.shape = kernel.shape
            JOIN estimate AS got ON got.kernel_id = own.kernel_id
        WHERE usual.run_form_id = test.run_form_id AND usual.kind = test.kind
            AND usual.src = test.src AND usual.dst = test.dst AND usual.variant IN ('', 'fast')
            AND abs(got.instance_clk - estimate.instance_clk) > max(0.03 * estimate.instance_clk,
                CASE WHEN test.kind = 'throughput' THEN 0.03
                    WHEN its.average OR its.states > 1 OR result.average OR result.states > 1
                        THEN 0.5 ELSE 0.1 END)) END AS differs,
    -- Distance of a pair from what the latency of a form means: the least is to registers (from
    -- flags only if none leads from a register), then to memory, then to flags.
    CASE WHEN test.kind = 'latency' THEN CASE dst_place
        WHEN 'register' THEN iif(src_place = 'register', 0, 1)
        WHEN 'memory' THEN iif(src_place = 'flags', 3, 2)
        WHEN 'flags' THEN iif(src_place = 'register', 4, 5) ELSE 6 END END AS result_rank,
    -- 0: data that were stored just before, unless memory is the result, and the rest of a register
    -- that is written in part.
    src_place IN ('register', 'flags') OR src_place = 'memory' AND dst_place = 'memory'
        AS result_counts
FROM run_form JOIN placed_test AS test USING (run_form_id) LEFT JOIN result USING (test_id);

-- Tests with their latencies as numbers that sort by rank, then by value: *_key for the least of a
-- form, *_last_key for its most; those without a value are passed by. latency_most_clk: the upper
-- end where a latency is a range: where the steady states of an exact pair differ. `low` and `high`
-- are the ends of those that count for the result.
CREATE VIEW run_pair AS
SELECT *, 1e8 * result_rank + coalesce(low, 99999999) AS low_key,
    1e8 * result_rank + coalesce(high, 99999999) AS high_key,
    1e8 * (9 - result_rank) + coalesce(low, -1) AS low_last_key,
    1e8 * (9 - result_rank) + coalesce(high, -1) AS high_last_key
FROM (SELECT *, iif(result_counts, value_clk, NULL) AS low,
        iif(result_counts, coalesce(latency_most_clk, value_clk), NULL) AS high
    FROM (SELECT *, iif(bound = 'exact' AND value_clk > 0 AND most_clk > 1.02 * value_clk + 0.2,
            most_clk, NULL) AS latency_most_clk
        FROM run_test));

-- Forms with tests in a run that completes another one of the same CPU (run.completes), if that is
-- here, too; base_row: their row in the completed run.
CREATE VIEW completing_form AS
SELECT own.run_form_id, own.form_id, run.completes, base.run_form_id AS base_row, run.started_utc
FROM run_form AS own JOIN run USING (run_id) JOIN run AS completed ON completed.uuid = run.completes
    JOIN run_form AS base ON base.run_id = completed.run_id AND base.form_id = own.form_id
WHERE run.completes <> '' AND (SELECT uarch_key FROM run_key WHERE run_key.run_id = run.run_id) =
        (SELECT uarch_key FROM run_key WHERE run_key.run_id = completed.run_id)
    AND EXISTS (SELECT 1 FROM test WHERE test.run_form_id = own.run_form_id);

-- The rank of an answer to a test: 2 by a value, 1 by a throughput without a steady state, which
-- has a bound, 0 by neither.
CREATE VIEW answer AS
SELECT test.test_id, CASE WHEN result.outcome <> 'ok' THEN 0 WHEN test.kind = 'throughput'
    AND result.bound = 'upper' AND coalesce(result.states, 1) = 0 THEN 1 ELSE 2 END AS grade
FROM test JOIN result USING (test_id);

-- The tests that the row of a form in a run is made of: its own; in a completing run those of the
-- completed one, where each that has no value gives its place to the newest one that has, or else
-- has a bound. (Without UNION, so that SQLite finds the tests of a row at once.)
CREATE VIEW run_form_test AS
SELECT its.run_form_id, coalesce(CASE WHEN asked.run_form_id <> its.run_form_id THEN (
        SELECT other.test_id FROM completing_form AS it JOIN test AS other
            ON other.run_form_id = it.run_form_id JOIN answer ON answer.test_id = other.test_id
        WHERE it.form_id = its.form_id AND it.base_row = asked.run_form_id
            AND other.kind = asked.kind AND other.src = asked.src AND other.dst = asked.dst
            AND other.variant = asked.variant AND answer.grade > coalesce(
                (SELECT grade FROM answer AS had WHERE had.test_id = asked.test_id), 0)
        ORDER BY answer.grade DESC, it.started_utc DESC, it.run_form_id DESC LIMIT 1) END,
    asked.test_id) AS test_id
FROM run_form AS its JOIN test AS asked ON asked.run_form_id = coalesce((SELECT base_row
    FROM completing_form AS it WHERE it.run_form_id = its.run_form_id), its.run_form_id);

-- The tests of a form, condensed to one row per form and run.
CREATE VIEW run_form_condensed AS
SELECT its.run_form_id,
    min(CASE kind WHEN 'latency' THEN value_clk END) AS latency_min_clk,
    max(CASE kind WHEN 'latency' THEN value_clk END) AS latency_max_clk,
    -- The bounds of the least and of the largest value: that of the pair which has it, or the
    -- better one if another pair is as close as two measurements of one time are. So equal values
    -- have one bound.
    CASE WHEN min(CASE WHEN kind = 'latency' AND bound = 'exact' THEN value_clk END)
            <= 1.005 * min(CASE kind WHEN 'latency' THEN value_clk END) + 0.02 THEN 'exact'
        WHEN min(CASE WHEN kind = 'latency' AND bound = 'average' THEN value_clk END)
            <= 1.005 * min(CASE kind WHEN 'latency' THEN value_clk END) + 0.02 THEN 'average'
        WHEN max(kind = 'latency' AND outcome = 'ok') THEN 'upper' END AS latency_bound,
    CASE WHEN 1.005 * max(CASE WHEN kind = 'latency' AND bound = 'exact' THEN value_clk END) + 0.02
            >= max(CASE kind WHEN 'latency' THEN value_clk END) THEN 'exact'
        WHEN 1.005 * max(CASE WHEN kind = 'latency' AND bound = 'average' THEN value_clk END) + 0.02
            >= max(CASE kind WHEN 'latency' THEN value_clk END) THEN 'average'
        WHEN max(kind = 'latency' AND outcome = 'ok') THEN 'upper' END AS latency_max_bound,
    substr(min(CASE WHEN kind = 'latency' AND outcome = 'ok'
        THEN printf('%016.6f', value_clk) || mark END), 17) AS latency_min_mark,
    substr(max(CASE WHEN kind = 'latency' AND outcome = 'ok'
        THEN printf('%016.6f', value_clk) || mark END), 17) AS latency_max_mark,
    min(CASE WHEN kind = 'throughput' AND variant IN ('', 'fast') THEN value_clk END) AS fast_clk,
    max(CASE WHEN kind = 'throughput' AND variant GLOB 'slow*' THEN value_clk END) AS slow_clk,
    sum(kind = 'throughput' AND variant IN ('', 'fast')) AS fast_tests,
    max(CASE WHEN kind = 'throughput' AND variant <> 'setting' THEN spread_clk END)
        AS rthroughput_spread_clk,
    -- A register-to-register pair (also from an address: lea) without latency: done at rename, or
    -- no dependency at all.
    max(CASE WHEN kind = 'latency' AND outcome = 'ok' AND bound = 'exact'
        AND (src GLOB 'op[0-9]' OR src GLOB 'op[0-9].base' AND value_clk < 0.75)
        AND dst GLOB 'op[0-9]' THEN value_clk < 0.75 END) AS without_latency,
    sum(accepted) AS accepted, sum(tried) AS tried,
    max(kind = 'latency' AND outcome = 'ok') + max(kind = 'throughput' AND outcome = 'ok')
        AS kinds_ok,
    max(kind = 'latency') AS latency_asked, max(kind = 'throughput') AS rthroughput_asked,
    min(CASE WHEN outcome <> 'ok' AND NOT outside
        THEN (kind = 'latency') || printf('%06d ', position) || outcome END) AS trouble,
    max(CASE WHEN kind = 'throughput' AND variant <> 'setting' AND outcome = 'ok' THEN bound END)
        AS rthroughput_bound,
    max(CASE WHEN kind = 'throughput' AND variant IN ('', 'fast') AND outcome = 'ok' THEN bound END)
        AS fast_bound,
    max(CASE WHEN kind = 'throughput' AND variant GLOB 'slow*' AND outcome = 'ok' THEN bound END)
        AS slow_bound,
    min(CASE WHEN kind = 'throughput' AND variant = 'setting' THEN value_clk END) AS setting_clk,
    -- Values that differ from those of the usual immediate, after the plan's remark.
    nullif(coalesce(group_concat(note, '; '), '') || CASE WHEN max(differs) THEN
        iif(max(note) IS NULL, '', '; ') || (SELECT group_concat(text, '; ') FROM (
            SELECT other.variant || ': ' || group_concat(iif(other.src = '', '1/tput', 'latency')
                || printf(' %.2f', other.value_clk), ', ') AS text
            FROM run_form_test AS also JOIN run_test AS other USING (test_id)
            WHERE also.run_form_id = its.run_form_id AND other.differs
            GROUP BY other.variant ORDER BY min(other.position))) ELSE '' END, '') AS note,
    min(CASE WHEN variant IN ('', 'fast') THEN low_key END) AS least_key,
    min(CASE WHEN variant IN ('', 'fast') AND bound = 'exact' THEN low_key END) AS least_exact_key,
    min(CASE WHEN variant IN ('', 'fast') AND bound = 'exact' THEN high_key END)
        AS least_exact_high_key,
    min(CASE WHEN variant IN ('', 'fast') AND bound = 'average' THEN low_key END)
        AS least_average_key,
    max(CASE WHEN variant IN ('', 'fast') THEN high_last_key END) AS most_key,
    max(CASE WHEN variant IN ('', 'fast') AND bound = 'exact' THEN low_last_key END)
        AS most_exact_key,
    max(CASE WHEN variant IN ('', 'fast') AND bound = 'exact' THEN high_last_key END)
        AS most_exact_high_key,
    max(CASE WHEN variant IN ('', 'fast') AND bound = 'average' THEN low_last_key END)
        AS most_average_key,
    min(CASE WHEN variant GLOB 'slow*' THEN low_key END) AS slow_least_key,
    min(CASE WHEN variant GLOB 'slow*' AND bound = 'exact' THEN low_key END)
        AS slow_least_exact_key,
    min(CASE WHEN variant GLOB 'slow*' AND bound = 'average' THEN low_key END)
        AS slow_least_average_key,
    max(CASE WHEN variant GLOB 'slow*' THEN low_last_key END) AS slow_most_key,
    max(CASE WHEN variant GLOB 'slow*' AND bound = 'exact' THEN low_last_key END)
        AS slow_most_exact_key,
    max(CASE WHEN variant GLOB 'slow*' AND bound = 'average' THEN low_last_key END)
        AS slow_most_average_key
FROM run_form_test AS its JOIN run_pair USING (test_id) GROUP BY its.run_form_id;

-- Their keys as values, for fast and for slow data (slow_*).
CREATE VIEW run_form_unpacked AS
SELECT *,
    round(nullif(least_key - 1e8 * CAST(least_key / 1e8 AS INTEGER), 99999999), 6) AS least_clk,
    round(nullif(least_exact_key - 1e8 * CAST(least_exact_key / 1e8 AS INTEGER), 99999999), 6)
        AS least_exact_clk,
    round(nullif(least_exact_high_key - 1e8 * CAST(least_exact_high_key / 1e8 AS INTEGER),
        99999999), 6) AS least_exact_high_clk,
    round(nullif(most_key - 1e8 * CAST((most_key + 1) / 1e8 AS INTEGER), -1), 6) AS most_clk,
    round(nullif(most_exact_key - 1e8 * CAST((most_exact_key + 1) / 1e8 AS INTEGER), -1), 6)
        AS most_exact_clk,
    round(nullif(slow_least_key - 1e8 * CAST(slow_least_key / 1e8 AS INTEGER), 99999999), 6)
        AS slow_least_clk,
    round(nullif(slow_most_key - 1e8 * CAST((slow_most_key + 1) / 1e8 AS INTEGER), -1), 6)
        AS slow_most_clk,
    CAST(coalesce(least_key, slow_least_key) / 1e8 AS INTEGER) AS result_rank
FROM run_form_condensed;

-- And with their bounds: that of the pair which decides, or the better one of another pair that is
-- as close as measuring again would be. assist: what takes hundreds of cycles in a chain of a form
-- that is much faster beside others is microcode that helps with a denormal or a masked exception,
-- which the chain brings about.
CREATE VIEW run_form_bounded AS
SELECT *,
    CASE WHEN least_clk IS NULL THEN NULL
        WHEN least_exact_key - least_key <= 0.005 * least_clk + 0.02 THEN 'exact'
        WHEN least_average_key - least_key <= 0.005 * least_clk + 0.02 THEN 'average'
        ELSE 'upper' END AS least_bound,
    CASE WHEN most_clk IS NULL THEN NULL
        WHEN most_key - most_exact_high_key <= 0.005 * most_clk + 0.02 THEN 'exact'
        WHEN most_key - most_average_key <= 0.005 * most_clk + 0.02 THEN 'average'
        ELSE 'upper' END AS most_bound,
    CASE WHEN slow_least_clk IS NULL THEN NULL
        WHEN slow_least_exact_key - slow_least_key <= 0.005 * slow_least_clk + 0.02 THEN 'exact'
        WHEN slow_least_average_key - slow_least_key <= 0.005 * slow_least_clk + 0.02
            THEN 'average'
        ELSE 'upper' END AS slow_least_bound,
    CASE WHEN slow_most_clk IS NULL THEN NULL
        WHEN slow_most_key - slow_most_exact_key <= 0.005 * slow_most_clk + 0.02 THEN 'exact'
        WHEN slow_most_key - slow_most_average_key <= 0.005 * slow_most_clk + 0.02 THEN 'average'
        ELSE 'upper' END AS slow_most_bound,
    iif(latency_max_clk > 100
        AND latency_max_clk > 8 * max(coalesce(fast_clk, slow_clk), coalesce(slow_clk, fast_clk)),
        printf('assists in a chain of %.0f cycles', latency_max_clk), NULL) AS assist
FROM run_form_unpacked;

-- The same as form_summary keeps it. Where the exact pairs decide, a latency of the result is a
-- range if theirs are (*_most_clk): of the least from the least of the lower ends to the least of
-- the upper ones. Bounds and averages have no range, and where they lie within one they add nothing
-- to the most.
CREATE VIEW run_form_result AS
SELECT run_form_id, latency_min_clk, latency_max_clk, latency_bound, latency_max_bound,
    latency_min_mark, latency_max_mark, fast_clk, slow_clk, fast_tests, rthroughput_spread_clk,
    without_latency, accepted, tried, kinds_ok, latency_asked, rthroughput_asked, trouble,
    rthroughput_bound, setting_clk, coalesce(note || '; ' || assist, note, assist) AS note,
    iif(least_bound = 'exact', least_exact_clk, least_clk) AS result_latency_clk,
    iif(most_bound = 'exact', most_exact_clk, most_clk) AS result_latency_max_clk,
    slow_least_clk AS result_latency_slow_clk, slow_most_clk AS result_latency_slow_max_clk,
    iif(least_bound = 'exact' AND least_exact_high_clk > 1.02 * least_exact_clk + 0.2,
        least_exact_high_clk, NULL) AS result_latency_most_clk,
    iif(most_bound = 'exact' AND most_clk > 1.02 * most_exact_clk + 0.2, most_clk, NULL)
        AS result_latency_max_most_clk,
    least_bound AS result_latency_bound, most_bound AS result_latency_max_bound, result_rank,
    slow_least_bound AS result_latency_slow_bound, slow_most_bound AS result_latency_slow_max_bound,
    iif(fast_tests > 0, fast_bound, slow_bound) AS rthroughput_fast_bound,
    slow_bound AS rthroughput_slow_bound
FROM run_form_bounded;

-- The same rows as they are kept. Packs keep none and have run_form_result here
-- (store_summary.c).
CREATE VIEW summary AS
SELECT *, iif(fast_tests > 0, fast_clk, slow_clk) AS rthroughput_clk,
    CASE WHEN trouble IS NOT NULL THEN substr(trouble, 9) WHEN kinds_ok > 0 THEN 'ok'
        ELSE 'not_measurable' END AS outcome,
    iif(latency_asked, 'L', '') || iif(rthroughput_asked, 'T', '') AS tests,
    -- #GP is the system's refusal of the instruction; a hypervisor may hide a feature.
    CASE WHEN trouble GLOB '*unsupported' THEN (
        SELECT CASE WHEN result.detail GLOB '#GP*' THEN 'system'
            WHEN cpu.hypervisor <> '' THEN 'hypervisor?' ELSE 'CPU' END
        FROM test JOIN result USING (test_id) JOIN run_form USING (run_form_id)
            JOIN run USING (run_id) JOIN cpu USING (cpu_id)
        WHERE test.run_form_id = form_summary.run_form_id AND result.outcome = 'unsupported'
        ORDER BY test.position LIMIT 1) END AS refused_by
FROM form_summary;

-- Port results with bounds: slots, and µops derived from them, may be too many. Slots of microcode
-- that were not counted are those that others lose: its groups are cut, and nobody else gets the
-- rest of them. More than four slots may always be microcode, and what
-- takes a slot takes one. Of a form whose ports do not show,
-- those that others lose are known at most. crowded: its ports are taken for more than two µops a
-- slot. With memory a µop may repeat, as one slot of a gather has several loads; else it keeps its
-- port for longer, or others lose something else there: what the ports are is not sure (doubtful).
-- remark: that, or why it has no ports (the reason up to a colon).
CREATE VIEW bounded_port_result AS
SELECT *, CASE WHEN known_slots IS NULL THEN NULL
    WHEN outcome <> 'ok' THEN 'upper'
    WHEN method <> 'counter' AND known_slots > 1.5
        AND (unit = 'MS' OR stall_clk > 0 OR known_slots > 4.5) THEN 'upper'
    ELSE 'exact' END AS uops_bound,
    CASE WHEN outcome IN ('not_measurable', 'unstable') THEN
        iif(slots_mixed IS NULL, 'no ports, ', 'slots beside nops, no ports, ')
        || substr(detail, 1, instr(detail || ':', ':') - 1)
    WHEN crowded THEN printf('%d µops on ports, over two a slot: some repeat, or keep their port',
        uops) END AS remark,
    ambiguous OR doubtful AS unsure
FROM (SELECT *, crowded AND (uops > 16 + 3 * slots OR NOT EXISTS (
            SELECT 1 FROM run_form JOIN form USING (form_id)
            WHERE run_form.run_form_id = got.run_form_id
            AND ' ' || operands || ' ' GLOB '*[ v]m[0-9 ]*')) AS doubtful
    FROM (SELECT *, iif(outcome = 'ok', slots, slots_mixed) AS known_slots,
            coalesce(outcome = 'ok' AND slots > 1.5 AND uops > 2 * round(slots), 0) AS crowded
        FROM port_result) AS got);

-- Names for forms whose chains take no cycle (without_latency), by whether both operands are one
-- register (same) and whether µops need ports all the same (ported).
CREATE VIEW form_rename (without_latency, same, ported, idiom, eliminated, at_rename) AS VALUES
    (0, 0, 0, NULL, 0, NULL), (0, 0, 1, NULL, 0, NULL),
    (0, 1, 0, 0, NULL, NULL), (0, 1, 1, 0, NULL, NULL),
    (1, 0, 0, NULL, 1, 'eliminated'), (1, 0, 1, NULL, 1, 'partly'),
    (1, 1, 0, 1, NULL, 'idiom'), (1, 1, 1, 1, NULL, 'idiom');

-- One row per form and run.
CREATE VIEW run_instruction_table AS
SELECT run_key.uarch, form.mnemonic, form.operands, form.enc, run_form.isa, form.bits,
    got.latency_min_clk, got.latency_max_clk,
    got.rthroughput_clk, CAST(round(port_result.known_slots) AS INTEGER) AS uops,
    port_result.ports || iif(port_result.unsure, '?', '') AS ports,
    coalesce(got.outcome, port_result.outcome, 'skipped') AS outcome,
    run_form.run_id,
    got.slow_clk AS rthroughput_slow_clk,
    got.latency_bound, got.rthroughput_spread_clk, got.accepted, got.tried,
    form.options, form.form, list.name AS list, run_form.position,
    run_form.run_form_id, run_form.form_id, run_key.uarch_key, run_key.started_utc,
    coalesce(got.kinds_ok, 0) AS kinds_ok, rename.idiom, rename.eliminated, rename.at_rename,
    got.latency_max_bound,
    iif(port_result.run_form_id IS NULL, NULL, run_form.run_id) AS ports_run_id,
    got.latency_min_mark, got.latency_max_mark,
    coalesce(got.tests, '') || iif(port_result.run_form_id IS NULL, '', 'P') AS tests,
    got.rthroughput_bound, got.setting_clk,
    coalesce(got.note || '; ' || port_result.remark, got.note, port_result.remark) AS note,
    port_result.uops_bound,
    (SELECT limited_by FROM form_limit WHERE form_limit.run_form_id = run_form.run_form_id)
        AS limited_by,
    got.result_latency_clk, got.result_latency_max_clk, got.result_latency_slow_clk,
    got.result_latency_slow_max_clk, got.result_latency_most_clk, got.result_latency_max_most_clk,
    got.result_latency_bound, got.result_latency_max_bound, got.result_latency_slow_bound,
    got.result_latency_slow_max_bound, got.rthroughput_fast_bound, got.rthroughput_slow_bound,
    got.refused_by
FROM run_form JOIN form USING (form_id) JOIN list USING (list_id) JOIN run_key USING (run_id)
    LEFT JOIN summary AS got USING (run_form_id)
    LEFT JOIN bounded_port_result AS port_result USING (run_form_id)
    LEFT JOIN form_rename AS rename ON rename.without_latency = got.without_latency
        AND rename.same = (instr(' ' || form.options || ' ', ' same ') > 0)
        AND rename.ported = (coalesce(port_result.ports, '') <> '');

-- The limit of a form's throughput where ports are none: the resource that it needs for longest, if
-- that is as long as was measured; 'chain', if it takes as long as a flag or a register that it
-- always reads and writes. NULL: ports are the limit, or nothing is known. (Resources stand side by
-- side rather than in a view of their own, so that SQLite looks at one form only.)
CREATE VIEW form_limit AS
SELECT run_form_id, CASE
    WHEN abs(clk - rthroughput_clk) <= 0.05 * rthroughput_clk + 0.02
        THEN nullif(substr(longest, 18), '')
    WHEN rthroughput_clk > clk AND rthroughput_fast_bound = 'exact' AND EXISTS (
        SELECT 1 FROM test JOIN result USING (test_id)
        WHERE test.run_form_id = got.run_form_id AND test.kind = 'latency' AND test.src = test.dst
            AND test.src NOT GLOB 'op[0-9]*' AND test.variant IN ('', 'fast')
            AND result.outcome = 'ok' AND result.bound = 'exact'
            AND abs(result.value_clk - rthroughput_clk) <= 0.02 * rthroughput_clk + 0.02)
        THEN 'chain' END AS limited_by
FROM (SELECT *, CAST(substr(longest, 1, 16) AS REAL) AS clk FROM (
    SELECT port.run_form_id, rthroughput_clk, rthroughput_fast_bound, max(
        -- Ports: the µops that have no choice but some of them, over how many these are, with the
        -- tolerance within which that explains a time. Unions of three sets are enough.
        coalesce((SELECT printf('%016.6f ', max(1.02 * uops / ports + 0.02)) FROM (
            SELECT (SELECT sum(own.uops) FROM port_use AS own
                    WHERE own.run_form_id = port.run_form_id AND own.ports_mask & ~mask = 0)
                    AS uops,
                (nibbles + (nibbles >> 4) & 0x0f0f0f0f) * 0x01010101 >> 24 & 0xff AS ports
            FROM (SELECT mask, (pairs & 0x33333333) + (pairs >> 2 & 0x33333333) AS nibbles FROM (
                SELECT mask, mask - (mask >> 1 & 0x55555555) AS pairs FROM (
                    SELECT one.ports_mask | two.ports_mask | three.ports_mask AS mask
                    FROM port_use AS one JOIN port_use AS two ON two.run_form_id = one.run_form_id
                            AND two.position >= one.position
                        JOIN port_use AS three ON three.run_form_id = one.run_form_id
                            AND three.position >= two.position
                    WHERE one.run_form_id = port.run_form_id)))) HAVING count(*) > 0), ''),
        iif(slots IS NULL, '',
            printf('%016.6f front end', slots / width + coalesce(stall_clk, 0))),
        iif(decode_clk > 0, printf('%016.6f decoder', slots / width + decode_clk), ''),
        iif(unit <> '' AND busy_clk > 0, printf('%016.6f %s', busy_clk, unit), ''),
        coalesce((SELECT max(printf('%016.6f %s', share_clk, unit)) FROM port_share
            WHERE port_share.run_form_id = port.run_form_id), '')) AS longest
    FROM port_result AS port JOIN summary USING (run_form_id) JOIN run_form USING (run_form_id)
        LEFT JOIN port_model USING (run_id)
    WHERE port.outcome = 'ok')) AS got;

-- One row per form and run with ports.
CREATE VIEW run_port_table AS
SELECT run_key.uarch, form.mnemonic, form.operands, form.enc,
    port_result.ports || iif(port_result.unsure, '?', '') AS ports, port_result.uops,
    port_result.method, port_result.residual, run_form.run_id,
    port_result.slots, port_result.unsure AS ambiguous, nullif(port_result.unit, '') AS unit,
    nullif(port_result.busy_clk, 0) AS busy_clk, form.bits, port_result.outcome, port_result.detail,
    form.options, form.form, list.name AS list, run_form.position, run_form.run_form_id,
    port_result.slots_mixed, port_result.beside_clk, port_result.whole,
    (SELECT group_concat(unit || printf(' %.2f', share_clk), ', ') FROM port_share
        WHERE port_share.run_form_id = port_result.run_form_id) AS paths,
    nullif(port_result.decode_clk, 0) AS decode_clk,
    port_result.stall_clk, port_result.uops_bound, form.form_id
FROM bounded_port_result AS port_result JOIN run_form USING (run_form_id) JOIN form USING (form_id)
    JOIN list USING (list_id) JOIN run_key USING (run_id);

-- Runs in the order of their dates: the newest has the largest place. (A window is computed once,
-- where names would be looked up for each row of a form.)
CREATE VIEW run_place AS
SELECT run_id, uarch_key, row_number() OVER (ORDER BY started_utc, run_id) AS place FROM run_key;

-- Each form on each uarch, whether or not it was measured there.
CREATE VIEW form_on_uarch AS
SELECT form.*, uarch, uarch_key FROM form
    JOIN (SELECT DISTINCT uarch, uarch_key FROM run_key);

-- The best run of each form on each uarch: all ok first, then the one that answered more kinds of
-- tests (so that a run of throughput alone does not hide a full one), then the newest. If it did
-- not ask one kind of questions, latency_row or rthroughput_row is the run_form_id of the best run
-- that did; else NULL. port_row: the run_form_id of the best ports: ok first, then unambiguous,
-- then the newest. Their run may differ from that of the other numbers of the form.
CREATE VIEW best_run_form AS
SELECT best.run_form_id, form.form_id, form.uarch_key, best.run_id,
    CASE WHEN coalesce(got.latency_asked, 0) = 0 THEN (
        SELECT run_form_id FROM run_form JOIN run_place USING (run_id)
            JOIN summary USING (run_form_id)
        WHERE run_form.form_id = form.form_id AND run_place.uarch_key = form.uarch_key
            AND latency_min_clk IS NOT NULL
        ORDER BY outcome = 'ok' DESC, place DESC LIMIT 1) END
        AS latency_row,
    CASE WHEN coalesce(got.rthroughput_asked, 0) = 0 THEN (
        SELECT run_form_id FROM run_form JOIN run_place USING (run_id)
            JOIN summary USING (run_form_id)
        WHERE run_form.form_id = form.form_id AND run_place.uarch_key = form.uarch_key
            AND rthroughput_clk IS NOT NULL
        ORDER BY outcome = 'ok' DESC, place DESC LIMIT 1) END
        AS rthroughput_row,
    form.uarch,
    (SELECT run_form_id FROM run_form JOIN run_place USING (run_id)
            JOIN port_result USING (run_form_id)
        WHERE run_form.form_id = form.form_id AND run_place.uarch_key = form.uarch_key
        ORDER BY outcome = 'ok' DESC, ambiguous, place DESC LIMIT 1) AS port_row
FROM form_on_uarch AS form JOIN run_form AS best ON best.run_form_id = (
    SELECT run_form_id FROM run_form JOIN run_place USING (run_id)
        LEFT JOIN summary USING (run_form_id)
    WHERE run_form.form_id = form.form_id AND run_place.uarch_key = form.uarch_key
    ORDER BY coalesce(outcome = 'ok', 0) DESC, coalesce(kinds_ok, 0) DESC, place DESC
    LIMIT 1)
    LEFT JOIN summary AS got ON got.run_form_id = best.run_form_id;

-- The rows of runs with the best ports. (Packs have views of these names, and views of other names
-- are refused.)
CREATE VIEW best_port_result AS
SELECT port_row AS run_form_id, form_id, uarch_key FROM best_run_form WHERE port_row IS NOT NULL;

-- One row a form and uarch: what the best runs say.
CREATE VIEW best_instruction AS
SELECT best.uarch, form.mnemonic, form.operands, form.enc, run_form.isa, form.bits,
    coalesce(got.latency_min_clk, lat.latency_min_clk) AS latency_min_clk,
    coalesce(got.latency_max_clk, lat.latency_max_clk) AS latency_max_clk,
    coalesce(got.rthroughput_clk, thr.rthroughput_clk) AS rthroughput_clk,
    CAST(round(port.known_slots) AS INTEGER) AS uops,
    port.ports || iif(port.unsure, '?', '') AS ports,
    coalesce(got.outcome, (SELECT outcome FROM port_result AS own
        WHERE own.run_form_id = best.run_form_id), 'skipped') AS outcome, best.run_id,
    coalesce(got.slow_clk, thr.slow_clk) AS rthroughput_slow_clk,
    coalesce(got.latency_bound, lat.latency_bound) AS latency_bound,
    coalesce(got.rthroughput_spread_clk, thr.rthroughput_spread_clk) AS rthroughput_spread_clk,
    coalesce(got.accepted, lat.accepted, thr.accepted) AS accepted,
    coalesce(got.tried, lat.tried, thr.tried) AS tried, form.options, form.form,
    list.name AS list, rename.idiom, rename.eliminated, rename.at_rename,
    coalesce(got.latency_max_bound, lat.latency_max_bound) AS latency_max_bound,
    (SELECT run_id FROM run_form AS own WHERE own.run_form_id = port.run_form_id) AS ports_run_id,
    coalesce(got.latency_min_mark, lat.latency_min_mark) AS latency_min_mark,
    coalesce(got.latency_max_mark, lat.latency_max_mark) AS latency_max_mark,
    iif(instr(coalesce(got.tests, '') || coalesce(lat.tests, ''), 'L'), 'L', '')
        || iif(instr(coalesce(got.tests, '') || coalesce(thr.tests, ''), 'T'), 'T', '')
        || iif(port.run_form_id IS NULL, '', 'P') AS tests,
    coalesce(got.rthroughput_bound, thr.rthroughput_bound) AS rthroughput_bound,
    coalesce(got.setting_clk, thr.setting_clk) AS setting_clk,
    coalesce(coalesce(got.note, thr.note) || '; ' || port.remark, got.note, thr.note, port.remark)
        AS note, port.uops_bound,
    (SELECT limited_by FROM form_limit WHERE form_limit.run_form_id = port.run_form_id)
        AS limited_by,
    coalesce(got.result_latency_clk, lat.result_latency_clk) AS result_latency_clk,
    coalesce(got.result_latency_max_clk, lat.result_latency_max_clk) AS result_latency_max_clk,
    coalesce(got.result_latency_slow_clk, lat.result_latency_slow_clk) AS result_latency_slow_clk,
    coalesce(got.result_latency_slow_max_clk, lat.result_latency_slow_max_clk)
        AS result_latency_slow_max_clk,
    coalesce(got.result_latency_most_clk, lat.result_latency_most_clk) AS result_latency_most_clk,
    coalesce(got.result_latency_max_most_clk, lat.result_latency_max_most_clk)
        AS result_latency_max_most_clk,
    coalesce(got.result_latency_bound, lat.result_latency_bound) AS result_latency_bound,
    coalesce(got.result_latency_max_bound, lat.result_latency_max_bound)
        AS result_latency_max_bound,
    coalesce(got.result_latency_slow_bound, lat.result_latency_slow_bound)
        AS result_latency_slow_bound,
    coalesce(got.result_latency_slow_max_bound, lat.result_latency_slow_max_bound)
        AS result_latency_slow_max_bound,
    coalesce(got.rthroughput_fast_bound, thr.rthroughput_fast_bound) AS rthroughput_fast_bound,
    coalesce(got.rthroughput_slow_bound, thr.rthroughput_slow_bound) AS rthroughput_slow_bound,
    got.refused_by,
    best.form_id, best.uarch_key, best.run_form_id, best.latency_row, best.rthroughput_row
FROM form JOIN best_run_form AS best USING (form_id) JOIN run_form USING (run_form_id)
    JOIN list USING (list_id)
    LEFT JOIN summary AS got ON got.run_form_id = best.run_form_id
    LEFT JOIN summary AS lat ON lat.run_form_id = best.latency_row
    LEFT JOIN summary AS thr ON thr.run_form_id = best.rthroughput_row
    LEFT JOIN bounded_port_result AS port ON port.run_form_id = best.port_row
    LEFT JOIN form_rename AS rename
        ON rename.without_latency = coalesce(got.without_latency, lat.without_latency)
        AND rename.same = (instr(' ' || form.options || ' ', ' same ') > 0)
        AND rename.ported = (coalesce(port.ports, '') <> '');

-- Public: one row per form and uarch. uops are dispatch slots (µops in the fused domain),
-- uops_bound is 'upper' if they may be too many (microcode), else 'exact'; ports ends with '?' if
-- they are ambiguous, and is '' if the form needs no port. tests: the kinds of questions asked in
-- the runs that the row is made of. refused_by: of unsupported forms.
CREATE VIEW instruction_table AS
SELECT uarch, mnemonic, operands, enc, isa, bits, latency_min_clk, latency_max_clk, rthroughput_clk,
    uops, ports, outcome, run_id, rthroughput_slow_clk, latency_bound, rthroughput_spread_clk,
    accepted,
    tried, options, form, list, idiom, eliminated, at_rename, latency_max_bound, ports_run_id,
    latency_min_mark, latency_max_mark, tests, rthroughput_bound, setting_clk, note, uops_bound,
    limited_by, result_latency_clk, result_latency_max_clk, result_latency_slow_clk,
    result_latency_slow_max_clk, result_latency_most_clk, result_latency_max_most_clk,
    result_latency_bound, result_latency_max_bound, result_latency_slow_bound,
    result_latency_slow_max_bound, rthroughput_fast_bound, rthroughput_slow_bound, refused_by
FROM best_instruction;

-- One row per operand pair (and data variant) and run; another immediate is a variant if its time
-- differs.
CREATE VIEW run_latency_table AS
SELECT run_key.uarch, form.mnemonic, form.operands, form.enc, got.src, got.dst,
    got.value_clk AS latency_clk, got.bound, got.spread_clk, got.accepted, got.tried, got.run_id,
    got.variant, got.dense_clk, got.filled_clk, got.outcome, got.detail, form.bits, form.options,
    form.form, list.name AS list, run_form.position, got.position AS test_position, got.run_form_id,
    got.average, got.least_clk, got.most_clk, got.states, got.mark,
    (SELECT group_concat(printf('%.3f %.2f', instance_clk, share), ', ') FROM (
        SELECT instance_clk, share FROM estimate_state WHERE kernel_id = got.kernel_id
        ORDER BY position)) AS states_seen,
    (SELECT role FROM operand_role WHERE operand_role.run_form_id = got.run_form_id
        AND got.src IN (operand, operand || '.data')) AS src_role, form.form_id, got.test_id,
    got.kind = 'latency' AND got.result_counts AND got.result_rank = (SELECT result_rank
        FROM summary WHERE summary.run_form_id = got.run_form_id) AS in_result,
    got.latency_most_clk
FROM run_pair AS got JOIN run_form USING (run_form_id) JOIN form ON form.form_id = run_form.form_id
    JOIN list USING (list_id) JOIN run_key ON run_key.run_id = run_form.run_id
WHERE got.kind = 'latency' OR got.kind = 'immediate' AND got.src <> '' AND got.differs;

-- Public: the operand pairs of the best run of each form. (The best run is looked up for each form:
-- a question about one form is answered at once.) latency_clk is NULL unless outcome is
-- 'ok'. bound: 'exact'; 'average', the mean of executions that differ, which no single one need
-- have; 'upper'. least_clk, most_clk: range of all steady states seen, if there are several.
-- states_seen: those of the kernel that gives the value, if it has several: '7.300 0.15, 8.050
-- 0.40', cycles (bridges not subtracted) and share of the samples. src_role: the role of the
-- operand src in the instruction, 'index' of a table, if the list gives it.
CREATE VIEW latency_table AS
SELECT uarch, mnemonic, operands, enc, src, dst, latency_clk, bound, spread_clk, accepted, tried,
    run_id,
    variant, dense_clk, filled_clk, outcome, detail, bits, options, form, list, test_position,
    average, least_clk, most_clk, states, mark, states_seen, src_role, in_result,
    latency_most_clk
FROM run_latency_table AS got
WHERE test_id IN (SELECT test_id FROM best_run_form AS best JOIN run_form_test AS its
        ON its.run_form_id = coalesce(best.latency_row, best.run_form_id)
    WHERE best.form_id = got.form_id);

-- One row per run and register that a form overwrites without reading it: whether the form waits
-- for its old content. latency_clk: from the old content to the new one, an upper bound; 0: it does
-- not wait; NULL unless outcome is 'ok'.
CREATE VIEW run_false_table AS
SELECT run_key.uarch, form.mnemonic, form.operands, form.enc, got.dst AS operand,
    got.value_clk AS latency_clk, got.bound, got.spread_clk, got.outcome, got.detail, run_form.isa,
    form.bits, form.options, form.form, got.mark, got.run_id, list.name AS list, run_form.position,
    got.position AS test_position, got.run_form_id, form.form_id, got.test_id
FROM run_test AS got JOIN run_form USING (run_form_id) JOIN form ON form.form_id = run_form.form_id
    JOIN list USING (list_id) JOIN run_key ON run_key.run_id = run_form.run_id
WHERE got.kind = 'false';

-- Public: the same of the best run of each form.
CREATE VIEW false_dependency_table AS
SELECT uarch, mnemonic, operands, enc, operand, latency_clk, bound, spread_clk, outcome, detail,
    isa, bits, options, form, mark, run_id, list, test_position
FROM run_false_table AS got
WHERE test_id IN (SELECT test_id FROM best_run_form AS best JOIN run_form_test AS its
        ON its.run_form_id = coalesce(best.latency_row, best.run_form_id)
    WHERE best.form_id = got.form_id);

-- Doubts: two ways of asking for one thing, in every run. clk is the value in tables, other_clk
-- that of the other way, in cycles per instance; differs: 1 if one of them is outside of the states
-- of the other one (by more than 2 %; by 10 % if one is an average). other_way: another arrangement
-- of the same kernels ('registers', 'lines', 'fillers', 'copies'), for a share of all forms; or a
-- contradiction: 'chain', a throughput and a chain with less time per instance; 'cycle', a latency
-- below one cycle that is not done at rename.
CREATE VIEW run_doubt_table AS
WITH other AS (
    SELECT *, rtrim(substr(variant, 1, instr(variant, 'again ') - 1)) AS base,
        substr(variant, instr(variant, 'again ') + 6) AS other_way
    FROM run_test WHERE kind = 'again'),
both_ways AS (
    SELECT usual.run_form_id, usual.form_id, usual.run_id, usual.kind, usual.src, usual.dst,
        usual.variant, other.other_way, usual.value_clk AS clk, other.value_clk AS other_clk,
        min(usual.value_clk, coalesce(usual.least_clk, usual.value_clk)) AS least_clk,
        max(usual.value_clk, coalesce(usual.most_clk, usual.value_clk)) AS most_clk,
        min(other.value_clk, coalesce(other.least_clk, other.value_clk)) AS other_least_clk,
        max(other.value_clk, coalesce(other.most_clk, other.value_clk)) AS other_most_clk,
        iif(usual.average OR other.average, 1.1, 1.02) AS near,
        usual.kernel_id, other.kernel_id AS other_kernel_id, usual.position
    FROM other JOIN run_test AS usual ON usual.run_form_id = other.run_form_id
        AND usual.kind = iif(other.src = '', 'throughput', 'latency') AND usual.src = other.src
        AND usual.dst = other.dst AND usual.variant = other.base
    WHERE usual.outcome = 'ok' AND other.outcome = 'ok'),
pair AS (
    SELECT run_form_id, form_id, run_id, kind, src, dst, variant, other_way, clk, other_clk,
        clk * near + 0.02 < other_least_clk OR clk > other_most_clk * near + 0.02 OR
            other_clk * near + 0.02 < least_clk OR other_clk > most_clk * near + 0.02 AS differs,
        kernel_id, other_kernel_id, position
    FROM both_ways
    UNION ALL
    SELECT usual.run_form_id, usual.form_id, usual.run_id, 'throughput', '', '', usual.variant,
        'chain', usual.value_clk, min(estimate.instance_clk), 1, usual.kernel_id,
        estimate.kernel_id, usual.position
    FROM run_test AS usual JOIN run_test AS chain ON chain.run_form_id = usual.run_form_id
        AND chain.kind = 'latency' AND chain.variant = usual.variant
        JOIN kernel ON kernel.test_id = chain.test_id
        JOIN estimate ON estimate.kernel_id = kernel.kernel_id
    WHERE usual.kind = 'throughput' AND usual.outcome = 'ok' AND usual.bound = 'exact'
        AND kernel.outcome = 'ok'
        AND estimate.instance_clk * 1.02 + 0.02 < usual.value_clk
    GROUP BY usual.test_id
    UNION ALL
    SELECT run_form_id, form_id, run_id, kind, src, dst, variant, 'cycle', value_clk, NULL, 1,
        kernel_id, NULL, position
    FROM run_test WHERE kind = 'latency' AND outcome = 'ok' AND bound = 'exact'
        AND value_clk > 0 AND value_clk < 0.95)
SELECT run_key.uarch, form.mnemonic, form.operands, form.enc, pair.kind, pair.src, pair.dst,
    pair.variant, pair.other_way, pair.clk, pair.other_clk, pair.differs, usual.shape,
    other.shape AS other_shape, hex(usual.code) AS machine_code,
    hex(other.code) AS other_machine_code, form.bits, form.options, form.form, pair.run_id,
    list.name AS list, run_form.position, pair.position AS test_position, pair.run_form_id
FROM pair JOIN run_form USING (run_form_id) JOIN form ON form.form_id = run_form.form_id
    JOIN list USING (list_id) JOIN run_key ON run_key.run_id = run_form.run_id
    LEFT JOIN kernel AS usual ON usual.kernel_id = pair.kernel_id
    LEFT JOIN kernel AS other ON other.kernel_id = pair.other_kernel_id;

-- Public: the doubts that differ, in all runs.
CREATE VIEW doubt_table AS
SELECT uarch, mnemonic, operands, enc, kind, src, dst, variant, other_way, clk, other_clk, shape,
    other_shape, machine_code, other_machine_code, bits, options, form, run_id, list, position,
    test_position
FROM run_doubt_table WHERE differs;

-- One row per kernel of a test of latency or throughput, with the result of the test; a test
-- without kernels has one row, whose columns of kernels are NULL. detail: of the kernel,
-- test_detail: of the test. decides: the value of the test is this kernel's. counted: instance_clk
-- is by a counter. machine_code: the first 64 bytes, in hexadecimal.
CREATE VIEW run_kernel_table AS
SELECT run_key.uarch, form.mnemonic, form.operands, form.enc, got.kind, got.src, got.dst,
    got.variant,
    got.outcome AS test_outcome, got.detail AS test_detail, kernel.shape, kernel.instances,
    kernel.instrs, kernel.extra_clk, kernel.outcome, kernel.detail, estimate.instance_clk,
    estimate.spread_clk, estimate.accepted, estimate.tried,
    kernel.kernel_id IS got.kernel_id AS decides,
    estimate.calibrated_clk IS NOT NULL AS counted, kernel.code_bytes,
    hex(kernel.code) AS machine_code, form.bits, form.form, list.name AS list, run_form.position,
    got.position AS test_position, kernel.position AS kernel_position, kernel.kernel_id, got.run_id,
    got.run_form_id, got.test_id
FROM run_test AS got JOIN run_form USING (run_form_id) JOIN form ON form.form_id = run_form.form_id
    JOIN list USING (list_id) JOIN run_key ON run_key.run_id = run_form.run_id
    LEFT JOIN kernel ON kernel.test_id = got.test_id
    LEFT JOIN estimate ON estimate.kernel_id = kernel.kernel_id
WHERE got.kind IN ('latency', 'throughput');

-- Public: the kernels of the tests whose values are in instruction_table.
CREATE VIEW kernel_table AS
WITH best AS MATERIALIZED (
    SELECT run_form_id, latency_row, rthroughput_row FROM best_run_form)
SELECT * FROM run_kernel_table
WHERE kind = 'latency' AND test_id IN (SELECT test_id FROM run_form_test WHERE run_form_id IN
        (SELECT coalesce(latency_row, run_form_id) FROM best))
    OR kind = 'throughput' AND test_id IN (SELECT test_id FROM run_form_test WHERE run_form_id IN
        (SELECT coalesce(rthroughput_row, run_form_id) FROM best));

-- Public: tests that are not ok, in every run.
CREATE VIEW failure_table AS
SELECT got.run_id, form.mnemonic, form.operands,
    CASE WHEN got.kind = 'latency' OR got.kind = 'immediate' AND got.src <> ''
            THEN 'latency ' || got.src || ' -> ' || got.dst
        ELSE replace(got.kind, 'immediate', 'throughput') END
        || CASE got.variant WHEN '' THEN '' ELSE ' (' || got.variant || ')' END AS test,
    got.outcome, got.detail, form.enc, form.bits, form.form, run_key.uarch, list.name AS list,
    run_form.position, got.position AS test_position
FROM run_test AS got JOIN run_form USING (run_form_id) JOIN form ON form.form_id = run_form.form_id
    JOIN list USING (list_id) JOIN run_key ON run_key.run_id = run_form.run_id
WHERE got.outcome <> 'ok'
UNION ALL
SELECT run_id, mnemonic, operands, 'ports', outcome, detail, enc, bits, form, uarch, list, position,
    NULL
FROM run_port_table WHERE outcome <> 'ok';

-- Public: the ports that each form uses, one row per form and uarch; ports as in instruction_table.
-- Here uops are those that need a port: the sum over ports. Numbers but slots_mixed are NULL unless
-- outcome is 'ok'. slots_mixed: slots that others in a mix lose by it; beside_clk: instead of
-- busy_clk in mixes with forms that need the whole unit (whole: 1). paths: those that it shares
-- with others, and the cycles for which an instance needs them: 'path1 0.50, path2 1.00'.
-- decode_clk: additional time in the decoder, NULL: none. stall_clk: cycles beside the slots in
-- which the front end delivers nothing, unless many others are in flight. uops_bound: for slots and
-- uops, as in instruction_table.
CREATE VIEW port_table AS
SELECT uarch, mnemonic, operands, enc, ports, uops, method, residual, run_id,
    slots, ambiguous, unit, busy_clk, bits, outcome, detail, options, form, list, slots_mixed,
    beside_clk, whole, paths, decode_clk, stall_clk, uops_bound
FROM run_port_table AS got WHERE run_form_id IN (
    SELECT best.run_form_id FROM best_port_result AS best WHERE best.form_id = got.form_id);

-- The evidence: every mix that was timed for a form's ports, one row per mix. `uops`: µops per
-- instance that the mix shows on the blocker's ports: size * clk - blockers, per instance.
-- `counted`: for the whole mix, by event, if the run had counters of ports: 'p0 8.01, p1 4.0'.
CREATE VIEW run_port_evidence AS
SELECT *, (size * clk - blockers) / nullif(instances, 0) AS uops,
    (SELECT group_concat(event || ' ' || round(port_trial_count.uops, 2), ', ')
        FROM port_trial_count
        WHERE port_trial_count.run_form_id = trial.run_form_id
        AND port_trial_count.position = trial.trial_position) AS counted,
    (SELECT way FROM port_result WHERE port_result.run_form_id = trial.run_form_id) AS way FROM (
    SELECT got.uarch, got.mnemonic, got.operands, got.enc, port_trial.blocker,
        CASE port_trial.blocker WHEN 'front end' THEN port_model.filler ELSE coalesce(
            (SELECT class.blocker FROM port_class AS class
                WHERE class.run_id = got.run_id AND class.name = port_trial.blocker),
            (SELECT unit.blocker FROM port_unit AS unit
                WHERE unit.run_id = got.run_id AND unit.name = port_trial.blocker),
            (SELECT probe.form FROM port_probe AS probe
                WHERE probe.run_id = got.run_id AND probe.form = port_trial.blocker)) END
            AS blocker_form,
        CASE port_trial.blocker WHEN 'front end' THEN port_model.width ELSE
            (SELECT round(1 / class.blocker_clk) FROM port_class AS class
                WHERE class.run_id = got.run_id AND class.name = port_trial.blocker) END AS size,
        port_trial.instances, port_trial.blockers, port_trial.clk, port_trial.spread_clk,
        port_trial.outcome, got.run_id, got.bits, got.form, got.list, got.position,
        port_trial.position AS trial_position, got.run_form_id, got.form_id
    FROM port_trial JOIN run_port_table AS got USING (run_form_id)
        LEFT JOIN port_model ON port_model.run_id = got.run_id) AS trial;

-- Public: the evidence for the rows of port_table.
CREATE VIEW port_evidence AS
SELECT * FROM run_port_evidence AS got WHERE run_form_id IN (
    SELECT best.run_form_id FROM best_port_result AS best WHERE best.form_id = got.form_id);

-- Every property of every run with its conclusions, one row per value; without a value or a
-- conclusion, the value is NULL and `sentence` or `detail` gives the reason.
CREATE VIEW run_property_table AS
SELECT run_key.uarch, property.name AS property, coalesce(conclusion.variant, '') AS variant,
    conclusion_value.label AS conclusion, conclusion_value.unit, conclusion_value.value,
    property.run_id, conclusion_value.low, conclusion_value.high, conclusion.confidence,
    coalesce(conclusion.outcome, property.outcome) AS outcome,
    coalesce(conclusion.sentence, property.detail) AS sentence, property.grp, property.title,
    property.detail, property.position, conclusion.position AS conclusion_position,
    conclusion_value.position AS value_position, run_key.uarch_key, property.property_id,
    property.question
FROM property JOIN run_key USING (run_id) LEFT JOIN conclusion USING (property_id)
    LEFT JOIN conclusion_value USING (conclusion_id);

-- Public: the conclusions of the newest run of each uarch that swept the property.
CREATE VIEW property_table AS
SELECT uarch, property, variant, conclusion, unit, value, run_id, low, high, confidence, outcome,
    sentence, grp, title, detail, question
FROM (SELECT got.*, rank() OVER (PARTITION BY got.uarch_key, property
        ORDER BY outcome IN ('skipped', 'unsupported'), place DESC) AS age
    FROM run_property_table AS got JOIN run_place USING (run_id))
WHERE age = 1
ORDER BY uarch, grp, position, conclusion_position, value_position;

-- Public: the points of the curves of all runs.
CREATE VIEW property_point AS
SELECT property.run_id, property.name AS property, property_variant.name AS variant,
    sweep_point.x, sweep_value.y, sweep_point.by_x, property.x_unit, property.y_unit,
    sweep_value.samples, sweep_point.outcome, property.by_unit
FROM property JOIN property_variant USING (property_id) JOIN sweep_point USING (variant_id)
    LEFT JOIN sweep_value USING (point_id);

-- The lists of a run with their titles; runs before titles were stored have the names instead.
CREATE VIEW list_table AS
SELECT run_form.run_id, list.name AS list, coalesce(run_list.title, list.name) AS title,
    count(*) AS forms
FROM run_form JOIN list USING (list_id)
    LEFT JOIN run_list ON run_list.run_id = run_form.run_id AND run_list.list_id = run_form.list_id
GROUP BY run_form.run_id, list.name;

-- Names in the form that begins a member of a JSON object. (SQLite does not let views of a file use
-- json_group_object().)
CREATE VIEW bench_metric_name AS
SELECT *, '"' || replace(replace(replace(name, '\', '\\'), '"', '\"'), char(10), ' ') || '":'
    AS json_name
FROM bench_metric;

-- Counts and computed values of the repetitions that matter (accepted ones, warm unless all are
-- cold), condensed to the median per thread; counts of events are per instance.
CREATE VIEW bench_metric_table AS
WITH counted AS (
    SELECT bench.bench_id, one.thread, metric.position, metric.kind, metric.name, metric.code,
        metric.backend,
        metric.table_version, metric.json_name,
        value.value / CASE metric.kind WHEN 'event'
            THEN CAST(bench.copies AS REAL) * bench.iterations * bench.instances ELSE 1 END AS value
    FROM bench JOIN bench_repetition AS one USING (bench_id)
        JOIN bench_value AS value USING (bench_id, seq)
        JOIN bench_metric_name AS metric ON metric.bench_id = value.bench_id
            AND metric.position = value.position
    WHERE one.accepted AND one.cold = bench.cold AND value.value IS NOT NULL),
ranked AS (
    SELECT *, row_number() OVER place AS place,
        count(*) OVER (PARTITION BY bench_id, thread, position) AS repetitions
    FROM counted WINDOW place AS (PARTITION BY bench_id, thread, position ORDER BY value))
SELECT bench_id, thread, kind, name, avg(value) AS value, repetitions, code, backend, table_version,
    position, json_name || printf('%!.15g', avg(value)) AS json
FROM ranked WHERE place IN ((repetitions + 1) / 2, (repetitions + 2) / 2)
GROUP BY bench_id, thread, position;

-- Public: the pieces of code that were measured and stored, one row per piece and CPU. instance_clk
-- is NULL unless outcome is 'ok'. snippet is the code in one line; counts, a JSON object, and
-- counted, a text, come from bench_metric_table.
CREATE VIEW bench_table AS
SELECT run_key.uarch, nullif(bench.label, '') AS label,
    CASE bench.source WHEN 'text' THEN replace(replace(bench.code, char(10), '; '), char(9), ' ')
        ELSE bench.file || iif(bench.symbol = '', '', ' ' || bench.symbol) END AS snippet,
    bench.mode, bench.bits, got.cpu, got.instance_clk, got.median_clk, got.spread_clk,
    (SELECT '{' || group_concat(json, ',') || '}'
        FROM (SELECT json FROM bench_metric_table AS metric
        WHERE metric.bench_id = bench.bench_id AND metric.thread = got.thread ORDER BY position))
        AS counts,
    bench.outcome, bench.detail, got.accepted, got.tried, got.passes, bench.instances, bench.copies,
    bench.iterations, bench.cold, bench.source, bench.code, bench.init, bench.breakers, bench.file,
    bench.file_sha256, bench.symbol, bench.cflags, bench.compiler, got.thread, bench.code_bytes,
    hex(bench.machine_code) AS machine_code, run_key.started_utc, bench.position, bench.bench_id,
    bench.run_id,
    (SELECT group_concat(name || ' ' || printf('%.10g', round(value, 3)), ', ') FROM (
        SELECT name, value FROM bench_metric_table AS metric
        WHERE metric.bench_id = bench.bench_id AND metric.thread = got.thread ORDER BY position))
        AS counted
FROM bench JOIN bench_thread AS got USING (bench_id) JOIN run_key USING (run_id);

-- Public: their repetitions, also cold and disturbed ones. counts is a JSON object for whole
-- repetitions.
CREATE VIEW bench_repetition_table AS
SELECT piece.uarch, piece.label, piece.snippet, piece.cpu, one.pass, one.repetition, one.cold,
    one.accepted, one.tried, one.late_ns, one.elapsed_tsc, one.elapsed_clk,
    one.elapsed_clk / nullif(CAST(piece.copies AS REAL) * piece.iterations * piece.instances, 0)
        AS instance_clk,
    (SELECT '{' ||
        group_concat(json_name || iif(value IS NULL, 'null', printf('%!.15g', value)), ',') || '}'
        FROM (SELECT metric.json_name, value.value
        FROM bench_value AS value JOIN bench_metric_name AS metric USING (bench_id, position)
        WHERE value.bench_id = one.bench_id AND value.seq = one.seq ORDER BY value.position))
            AS counts,
    one.thread, one.seq, piece.position, one.bench_id, piece.run_id,
    (SELECT
        group_concat(name || ' ' || iif(value IS NULL, '-', printf('%.10g', round(value, 3))), ', ')
        FROM (SELECT metric.name, value.value
        FROM bench_value AS value JOIN bench_metric AS metric USING (bench_id, position)
        WHERE value.bench_id = one.bench_id AND value.seq = one.seq ORDER BY value.position))
            AS counted
FROM bench_repetition AS one JOIN bench_table AS piece USING (bench_id, thread);

-- Runs with their CPU, for lists of runs and headings of reports.
CREATE VIEW run_table AS
SELECT run.*, iif(run.finished_utc IS NULL, 'unfinished', 'finished') AS status,
    cpu.vendor, cpu.brand, cpu.signature, cpu.family, cpu.model, cpu.stepping,
    run_key.uarch, cpu.uarch_name, cpu.microcode, cpu.hypervisor,
    cpu.features,
    (SELECT count(*) FROM run_form WHERE run_form.run_id = run.run_id) AS forms,
    (SELECT nullif(count(*), 0) FROM bench WHERE bench.run_id = run.run_id) AS snippets,
    (SELECT group_concat(event || ' (' || code || '; ' || run_event.backend || '; table ' ||
        counter_table || ' ' || table_version || ')', ', ')
        FROM run_event WHERE run_event.run_id = run.run_id) AS counted,
    spent.total_s, spent.measuring_s, spent.programs_s, spent.inferring_s, spent.writing_s,
    spent.assembling_s, spent.linking_s, spent.quiet_s, spent.gaps_s, spent.user_cpu_s,
    spent.kernel_cpu_s, spent.repeats, spent.repeats_disturbed, spent.repeats_disagreeing,
    spent.repeats_uncounted, spent.repeats_too_few, spent.moves,
    (repeats_disturbed + repeats_disagreeing + repeats_uncounted + repeats_too_few) * 1.0 /
        nullif(repeats, 0) AS refused_share
FROM run JOIN cpu USING (cpu_id) JOIN run_key USING (run_id) LEFT JOIN (
    SELECT run_id, sum(total_s) AS total_s, sum(measuring_s) AS measuring_s,
        sum(programs_s) AS programs_s, sum(inferring_s) AS inferring_s,
        sum(writing_s) AS writing_s, sum(assembling_s) AS assembling_s,
        sum(linking_s) AS linking_s, sum(quiet_s) AS quiet_s, sum(gaps_s) AS gaps_s,
        sum(user_cpu_s) AS user_cpu_s, sum(kernel_cpu_s) AS kernel_cpu_s,
        sum(repeats_accepted + repeats_disturbed + repeats_disagreeing + repeats_uncounted +
            repeats_too_few) AS repeats,
        sum(repeats_disturbed) AS repeats_disturbed,
        sum(repeats_disagreeing) AS repeats_disagreeing,
        sum(repeats_uncounted) AS repeats_uncounted, sum(repeats_too_few) AS repeats_too_few,
        sum(moves) AS moves
    FROM run_time GROUP BY run_id) AS spent USING (run_id);
