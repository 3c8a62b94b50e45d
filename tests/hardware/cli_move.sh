#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A run whose CPU is taken by another program moves to one that is not. It is stopped then: a run
# that ends before it has looked at other CPUs does not move.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/../cli/cli.sh"
needs pgrep
mapfile -t cpus < <(taskset -cp $$ | sed 's/.*: //' | tr , '\n' |
    awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }')
[ ${#cpus[@]} -ge 2 ] || { echo "it takes two CPUs, and there is one" && exit 77; }

# measuring_cpu PID: the CPU that the measuring process of that run is on.
measuring_cpu() {
    local pid
    for pid in $(pgrep -P "$1" batch); do
        taskset -cp "$pid" 2>/dev/null | sed 's/.*: //'
    done
}

"$LATPUT" run --db move.db --results none --quiet --tests LT --filter '[a-u]*' >moved 2>&1 &
runs=$!
for ((tries = 0; tries < 600; tries++)); do
    first=$(measuring_cpu "$runs")
    [ -z "$first" ] || break
    sleep 0.05
done
expect "it measures" test -n "$first"
timeout 60 taskset -c "$first" sh -c 'while :; do :; done' &
spins=$!
for ((tries = 0; tries < 1200; tries++)); do
    now=$(measuring_cpu "$runs")
    [ -z "$now" ] || [ "$now" = "$first" ] || break
    sleep 0.05
done
for ((tries = 0; tries < 1200; tries++)); do
    both=$(sqlite3 move.db 'SELECT count(DISTINCT cpu) > 1 FROM timing' 2>/dev/null)
    if [ "$both" = 1 ] || ! kill -0 "$runs" 2>/dev/null; then break; fi
    sleep 0.05
done
kill "$spins" "$runs" 2>/dev/null
wait "$runs"
cat moved
expect "it says so" grep -q 'moved to another CPU' moved
expect "timings say which they are from" test \
    "$(sqlite3 move.db 'SELECT count(DISTINCT cpu) > 1 AND count(*) = count(cpu) FROM timing')" = 1
expect "it has moved from $first" test -n "$now" -a "$now" != "$first"
finish
