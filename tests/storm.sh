#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A storm over a run: SIGKILL and SIGSTOP of the measuring process and of latput itself at random
# moments; a run that was killed goes on with --resume. Afterwards: the database is whole, every form
# is in the run once, and no test has the outcome of a fault that it does not have in an undisturbed
# run. Values are compared, and the share that differs by more than 5 % is told. Usage:
# tests/storm.sh BUILD-DIRECTORY [EVENTS [SEED [LIST...]]]; default: 10 events over integer_arithmetic.
set -u
build=$(cd "${1:?build directory}" && pwd)
events=${2:-10} seed=${3:-$RANDOM}
shift $(($# > 3 ? 3 : $#))
[ $# -gt 0 ] || set -- integer_arithmetic
echo "storm: $events events, seed $seed, lists $*"
RANDOM=$seed
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
latput() { exec "$build/latput" run --quiet --results none --give-up 5 --tests LT "$@" 2>>"$scratch/log"; }

(latput --db "$scratch/calm.db" "$@")
(latput --db "$scratch/storm.db" "$@") &
pid=$! done=0
for ((i = 0; i < events; i++)); do
    sleep "$((RANDOM % 2)).$((RANDOM % 9))"
    if ! kill -0 "$pid" 2>/dev/null; then
        wait "$pid"
        [ $? -lt 2 ] && done=1 && break
        (latput --db "$scratch/storm.db" --resume "$@") &
        pid=$!
        continue
    fi
    target=$(pgrep -n -P "$pid")
    case $((RANDOM % 4)) in
    0) kill -KILL "$pid" ;;
    1) kill -STOP "$pid" && sleep 0.3 && kill -CONT "$pid" ;;
    2) [ -n "$target" ] && kill -KILL "$target" ;;
    3) [ -n "$target" ] && kill -STOP "$target" && sleep 0.5 && kill -CONT "$target" ;;
    esac 2>/dev/null
done
for ((i = 0; i < 20 && !done; i++)); do
    wait "$pid"
    [ $? -lt 2 ] && break
    (latput --db "$scratch/storm.db" --resume "$@") &
    pid=$!
done
sql() { sqlite3 "$scratch/storm.db" "ATTACH '$scratch/calm.db' AS calm; $1"; }
results="SELECT f.form, f.enc, f.bits, t.position, r.outcome, r.value_clk FROM %s.result r
    JOIN %s.test t USING (test_id) JOIN %s.run_form rf USING (run_form_id) JOIN %s.form f USING (form_id)"
pairs="WITH a AS (${results//%s/calm}), b AS (${results//%s/main})
    SELECT count(*) FROM a JOIN b USING (form, enc, bits, position)"
failed=0
expect() { [ "$2" = "$3" ] || { echo "FAILED: $1: $2, expected $3" && failed=1; }; }
expect integrity "$(sql 'PRAGMA main.integrity_check')" ok
expect "dangling keys" "$(sql 'PRAGMA main.foreign_key_check')" ""
expect "forms twice" "$(sql 'SELECT count(*) - count(DISTINCT form_id) FROM main.run_form')" 0
expect runs "$(sql 'SELECT count(*) FROM main.run')" 1
expect forms "$(sql 'SELECT count(*) FROM main.run_form')" "$(sql 'SELECT count(*) FROM calm.run_form')"
expect "faults that are none" "$(sql "$pairs WHERE a.outcome = 'ok' AND b.outcome NOT IN ('ok', 'unstable')")" 0
both=$(sql "$pairs WHERE a.outcome = 'ok' AND b.outcome = 'ok'")
differ=$(sql "$pairs WHERE abs(a.value_clk - b.value_clk) > 0.05 + 0.05 * a.value_clk")
echo "$both values compared, $differ differ by more than 5 % and 0.05 cycles"
[ "$both" -gt 0 ] && [ $((differ * 20)) -le "$both" ] || failed=1
[ "$failed" = 0 ] || tail -n 20 "$scratch/log"
exit "$failed"
