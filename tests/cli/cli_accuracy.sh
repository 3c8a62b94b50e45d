#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `make bench` says what it found, with a status of its own: on databases that stand for two runs.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
mkdir build
cat >build/latput <<'SH'
#!/bin/sh
while [ "$1" != --db ]; do shift; done
[ -s "$2" ] || sqlite3 "$2" <tables.sql
exit "${RUN_STATUS:-0}"
SH
mkdir build/tests
cat >build/tests/bench_batches <<'SH'
#!/bin/sh
echo '  nothing to build'
exit "${BUILD_STATUS:-0}"
SH
chmod +x build/latput build/tests/bench_batches

# tables ADD-CLK [STATEMENT]: what both runs have measured.
tables() {
    cat >tables.sql <<SQL
CREATE TABLE bench (bench_id INTEGER);
CREATE TABLE run (run_id INTEGER, calib_link_clk REAL);
CREATE TABLE run_table (run_id, forms, kernels, seconds);
CREATE TABLE run_instruction_table (run_id, form, rthroughput_clk, accepted, tried);
CREATE TABLE run_latency_table (run_id, form, mnemonic, operands, options, src, dst, variant,
    outcome, latency_clk);
INSERT INTO run VALUES (1, 3.0), (2, 3.0);
INSERT INTO run_table VALUES (1, 1, 9, 2.5), (2, 1, 9, 2.5);
INSERT INTO run_instruction_table VALUES (1, 'add r64 r64', 0.25, 3, 4),
    (2, 'add r64 r64', 0.26, 4, 4);
INSERT INTO run_latency_table VALUES
    (1, 'add r64 r64', 'add', 'r64 r64', '', 'op1', 'op1', '', 'ok', 1.001),
    (2, 'add r64 r64', 'add', 'r64 r64', '', 'op1', 'op1', '', 'ok', $1);
${2-}
SQL
}
# accuracy: runs it on them.
accuracy() {
    CLI_COMMAND="tests/bench.sh"
    "$TREE/tests/bench.sh" "$SCRATCH/build" list >"$OUT" 2>"$ERR" </dev/null
    STATUS=$?
}
# The script works from the root of the tree; the tables are here.
sed -i "s|<tables.sql|<'$SCRATCH/tables.sql'|" build/latput

tables 1.002
accuracy
expect_status 0
expect_out '^  add r64 r64 +op1 -> op1  known 1.00  measured 1.0010  error \+0.10 %$'
expect_out '^  2 values: median 0.100, '
expect_out '^ +4.000  add r64 r64: throughput  0.250 0.260$'
expect_out '^  run 1: 1 forms, 9 kernels in 2.5 s, 75.0 % of the repeats accepted$'
expect_out '^  nothing to build$'
tables 1.02
accuracy
expect_status 1
tables 1.002 'DELETE FROM run_latency_table;'
accuracy
expect_status 3
expect_err 'no known latency was measured'
tables 1.002 'DROP TABLE run_table;'
accuracy
expect_status 99
expect_err 'no such table: run_table'
tables 1.002
RUN_STATUS=3 accuracy
expect_status 3
tables 1.002
BUILD_STATUS=1 accuracy
expect_status 99
finish
