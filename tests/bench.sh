#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tells how good the measurement on this machine is: measures a list twice, and prints accuracy
# (latencies that are known on every x86-64 CPU, or that the CPU table gives), repeatability
# (differences between the two runs) and speed, of measuring and of planning and building all lists.
# Usage: tests/bench.sh BUILD-DIRECTORY [LIST...]; default: the quick selection. Exit status 1 if a
# known latency is off by more than 1 %, 3 if nothing known could be measured, 99 if a question to
# the database fails or a list cannot be built. Options of latput run may stand among the lists.
set -u
cd "$(dirname "$0")/.." || exit 99
build=${1:?build directory}
shift
lists=("$@")
[ $# -gt 0 ] || lists=(--quick)
db=$(mktemp --suffix .db) || exit 99
trap 'rm -f "$db"*' EXIT
for _ in 1 2; do
    "$build/latput" run "${lists[@]}" --db "$db" --results none
    status=$?
    [ "$status" -le 1 ] || exit "$status"
done

# ask SQL: puts the result into $answer; an error of SQLite ends the script.
ask() {
    answer=$(sqlite3 -batch -bail "$db" "$1") || {
        echo "bench.sh: a question to the database failed" >&2
        exit 99
    }
}

echo "Known latencies:"
# Latencies of one cycle on every x86-64 CPU; imul is the calibration itself, through the whole
# pipeline. Pairs by kernel: dense or filled, whichever is smaller.
ask "
    WITH known(form, src, clk) AS (
        VALUES ('add r64 r64', 'op1', 1.0), ('add r64 r64', 'op2', 1.0),
               ('imul r64 r64', 'op1', (SELECT calib_link_clk FROM run LIMIT 1)),
               ('imul r64 r64', 'op2', (SELECT calib_link_clk FROM run LIMIT 1)))
    SELECT abs(latency_clk / clk - 1) > 0.01,
        printf('  %-14s %s -> op1  known %.2f  measured %.4f  error %+.2f %%', known.form,
            known.src, clk, latency_clk, 100 * (latency_clk / clk - 1))
    FROM known JOIN run_latency_table AS got ON got.mnemonic || ' ' || got.operands = known.form
        AND got.src = known.src AND got.dst = 'op1' AND got.outcome = 'ok' AND got.options = ''
    ORDER BY known.form, known.src, run_id"
known=$answer
cut -d '|' -f 2- <<<"$known"

# All values that both runs have, with the difference in percent.
ask "
    CREATE TABLE repeated AS
    WITH value(run_id, what, clk) AS (
        SELECT run_id, form || ': throughput', rthroughput_clk FROM run_instruction_table
        UNION ALL
        SELECT run_id, form || ': latency ' || src || ' -> ' || dst || ' ' || variant, latency_clk
        FROM run_latency_table)
    SELECT a.what, a.clk AS a_clk, b.clk AS b_clk,
        100 * abs(a.clk - b.clk) / min(a.clk, b.clk) AS percent
    FROM value AS a JOIN value AS b ON a.what = b.what AND a.run_id < b.run_id
    WHERE min(a.clk, b.clk) > 0.05" # percentages mean nothing below

echo "Differences between the two runs, in percent:"
ask "
    WITH ranked AS (
        SELECT percent, row_number() OVER (ORDER BY percent) AS at, count(*) OVER () AS n
        FROM repeated)
    SELECT printf('  %d values: median %.3f, 90 in 100 below %.3f, 99 in 100 below %.3f', n,
        max(percent) FILTER (WHERE at <= max(1, n * 0.5)),
        max(percent) FILTER (WHERE at <= max(1, n * 0.9)),
        max(percent) FILTER (WHERE at <= max(1, n * 0.99)))
    FROM ranked"
echo "$answer"
ask "
    SELECT printf('  %7.3f  %s  %.3f %.3f', percent, what, a_clk, b_clk) FROM repeated
    WHERE percent > 1 ORDER BY percent DESC LIMIT 10"
[ -z "$answer" ] || echo "$answer"

echo "Speed and gate:"
ask "
    SELECT printf('  run %d: %d forms, %d kernels in %.1f s, %.1f %% of the repeats accepted', run_id,
        forms, kernels, seconds,
        (SELECT 100.0 * sum(accepted) / sum(tried) FROM run_instruction_table AS got
            WHERE got.run_id = run_table.run_id))
    FROM run_table ORDER BY run_id"
echo "$answer"
echo "Planning and building, in seconds of CPU time, without measuring:"
"$build/tests/bench_batches" || exit 99
if [ -z "$known" ]; then
    echo "bench.sh: no known latency was measured" >&2
    exit 3
fi
! grep -q '^1' <<<"$known"
