-- SPDX-License-Identifier: MIT
-- Rows of the tables that the run of LATPUT_FUZZ_DB leaves empty, so that fuzz_merge.c changes each
-- table of a sound pack. Run 1 has the forms 1 to 3.
INSERT INTO run_event VALUES (1, 0, 'uops', 'event=0xa1', 'perf', 'zen5', '1');
INSERT INTO run_time VALUES (1, 0, 275.1, 238.1, 26.4, 8.1, 16.6, 28.6, 5.3, 48.7, 8.0, 163.2, 11.1,
    5845279, 1046066, 122363, 0, 2283, 1);
INSERT INTO canary_floor VALUES (1, 1, 1, 0.125, 'issue-width', '2026-01-31T12:34:56Z', 8);
INSERT INTO port_model VALUES (1, 8, 3, 'nop', 0.2, 0, NULL, NULL, 1, 0);
INSERT INTO port_class VALUES (1, 0, 1, 'p0', 'imul r64 r64', 1, 5, 'always'),
    (1, 1, 7, 'ALU', 'add r64 r64', 0.33, 92, 'always');
INSERT INTO port_name VALUES (1, 1, 'p0'), (1, 7, 'ALU');
INSERT INTO port_unit VALUES (1, 0, 'U1', 'div r64', 4, '', 0), (1, 1, 'path1', 'lea', 1, '', 0);
INSERT INTO port_probe VALUES (1, 1, 'path1', 'lea', 0.5);
INSERT INTO port_result VALUES (1, 'throughput', 'ok', '', 0, '1*ALU', 1, 1, '', 0, 0.1, 0, NULL, 1,
    0, 'search', NULL, NULL),
    (2, 'throughput', 'ok', '', 0, '2*ALU+1*p0', 3, 3, 'U1', 4, 0.2, 0, 1, 3, 1, 'sibling', 1, 2);
INSERT INTO port_use VALUES (1, 0, 7, 'ALU', 1), (2, 0, 7, 'ALU', 2), (2, 1, 1, 'p0', 1);
INSERT INTO port_use_wide VALUES (2, 0, 7, 'ALU', 2);
INSERT INTO port_share VALUES (2, 'path1', 0.5);
INSERT INTO port_trial VALUES (1, 0, 'add r64 r64', 4, 8, 'ok', 4, 0.01),
    (2, 0, 'imul r64 r64', 2, 4, 'unstable', NULL, NULL);
INSERT INTO port_trial_count VALUES (1, 0, 'uops', 12.5);
INSERT INTO estimate_state SELECT kernel_id, 0, 3.5, 0.25, 2 FROM estimate LIMIT 1;
INSERT INTO validation VALUES (1, 1, 1, 2, 3.4, 0.9, 90, '2026-01-31T12:34:56Z', 2);
INSERT INTO validation_class VALUES (1, 'integer', 2, 3.4, 90);
INSERT INTO validation_mix VALUES (1, 0, '2*add r64 r64; 1*div r64', 7, 5),
    (1, 1, '3*nop; 1*add r64 m64', 1, 0.5);
INSERT INTO bench VALUES (1, 1, 0, 'mine', 'text', 'add rax, rbx', '', '', '', '', '', '',
    'latency',
    '', 64, 1, 100, 10, 0, 1, 'ok', '', 3, x'4801d8');
INSERT INTO bench_thread VALUES (1, 0, 0, 1.0, 1.0, 0.1, 2, 2, 1);
INSERT INTO bench_metric VALUES (1, 0, 'event', 'uops', 'event=0xa1', 'perf', '1'),
    (1, 1, 'column', 'each', 'uops / 2', '', '');
INSERT INTO bench_repetition VALUES (1, 0, 0, 1, 0, 0, 1, 1, NULL, 2000, 1000),
    (1, 1, 0, 1, 1, 0, 1, 1, NULL, 2000, 1000);
INSERT INTO bench_value VALUES (1, 0, 0, 1000), (1, 1, 0, 1000), (1, 0, 1, 500), (1, 1, 1, 500);
INSERT INTO property VALUES (1, 1, 0, 'core', 'return_stack', 'Return stack', 'How many?', 'calls',
    '', 'clk', 'distribution', '', 'return_stack', 2e9, 0, 0, 1, 'ok', '', ''),
    (2, 1, 1, 'memory', 'load', 'Load', 'How long?', 'bytes', 'stride', 'ns', 'grid', '', 'load',
    2e9, 4096, 0, 1, 'ok', '', 'paging');
INSERT INTO property_variant VALUES (1, 1, 0, 'shallow', 'ok', ''), (2, 1, 1, 'deep', 'ok', ''),
    (3, 2, 0, '', 'ok', '');
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 13)
    INSERT INTO sweep_point SELECT i + 1, i / 6 + 1, i % 6, i % 6 * 4 + 4,
    CASE WHEN i >= 12 THEN 64.0 END, 10, 'ok', '' FROM n;
INSERT INTO sweep_timing SELECT point_id * 2 + pass, point_id, pass, 100, 1, 3000, 40, 3, 4
    FROM sweep_point, (SELECT 0 AS pass UNION ALL SELECT 1);
INSERT INTO sweep_sample SELECT timing_id, seq, 2000 + 50 * (point_id % 6) + seq, 6000, 6000, 100
    FROM sweep_timing, (SELECT 0 AS seq UNION ALL SELECT 1 UNION ALL SELECT 2);
INSERT INTO sweep_value SELECT point_id, 1.0 + point_id % 6 / 4.0, 6 FROM sweep_point;
INSERT INTO conclusion VALUES (1, 1, 0, 'deep', 'ok', 0.9, 'up to 16 calls'),
    (2, 2, 0, '', 'none', 0.5, 'nothing');
INSERT INTO conclusion_value VALUES (1, 0, 'knee', 16, 15, 17, 'calls');
