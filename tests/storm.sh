#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Disturbs a run at random moments: SIGKILL and SIGSTOP of latput and of the measuring process; the
# disk with the database and the scratch files full for a while (needs root, for a tmpfs); the time
# of day jumping back and forth by up to weeks. A run that was ended is continued with --resume.
# Afterwards the database must be whole, every form in the run once, and no test may have the
# outcome of a fault that it does not have in an undisturbed run. Values are compared, and the share
# that differs by more than 5 % is printed. Usage: tests/storm.sh BUILD-DIRECTORY [EVENTS [SEED
# [LIST...]]]; default: 10 events over integer_arithmetic.
set -u
command -v pgrep >/dev/null || { echo "pgrep is missing (procps)" >&2 && exit 77; }
build=$(cd "${1:?build directory}" && pwd)
events=${2:-10} seed=${3:-$RANDOM}
shift $(($# > 3 ? 3 : $#))
[ $# -gt 0 ] || set -- integer_arithmetic
lists=("$@")
echo "storm: $events events, seed $seed, lists ${lists[*]}"
RANDOM=$seed
scratch=$(mktemp -d) || exit 99
disk=$scratch/disk
mkdir "$disk"
mounted=0 pid=
# called by the trap
# shellcheck disable=SC2317 # by the trap
clean_up() {
    [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
    [ "$mounted" = 0 ] || umount -l "$disk"
    rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# Without a tmpfs all happens in a plain directory.
mount -t tmpfs -o size=256m latput_storm "$disk" 2>/dev/null && mounted=1
[ "$mounted" = 1 ] || echo "no full disks: a tmpfs cannot be mounted here (needs root)"
mkdir "$disk/tmp"
${CC:-cc} -shared -fPIC -O1 -D_GNU_SOURCE -o "$scratch/clock_jump.so" \
    "$(dirname "$0")/fixtures/clock_jump.c" || exit 99
echo 0 >"$scratch/jump"

latput() { exec "$build/latput" run --quiet --results none --give-up 5 --tests LT "$@" \
    "${lists[@]}" 2>>"$scratch/log"; }
storm() {
    export TMPDIR=$disk/tmp CLOCK_JUMP=$scratch/jump LD_PRELOAD=$scratch/clock_jump.so
    latput --db "$disk/storm.db" "$@"
}
starts=0
start() {
    local resume=()
    [ "$starts" = 0 ] || resume=(--resume)
    starts=$((starts + 1))
    # A run that was killed before it began cannot be resumed.
    [ -s "$disk/storm.db" ] && [ "$(sqlite3 "$disk/storm.db" 'SELECT count(*) FROM run' \
        2>/dev/null)" != 0 ] || resume=()
    (storm "${resume[@]}") &
    pid=$!
}

kinds=("latput killed" "latput stopped" "core killed" "core stopped" "clock jumped" "disk full")
counts=(0 0 0 0 0 0)
# Fills the disk, wholly or but for some pages, for up to three seconds.
fill_disk() {
    head -c "$(($(df --output=avail -B1 "$disk" | tail -n 1) - 4096 * (RANDOM % 64)))" /dev/zero \
        >"$disk/filler"
    sleep "$((RANDOM % 3)).$((RANDOM % 9))"
    rm -f "$disk/filler"
}
event() {
    local kind=$((RANDOM % (5 + mounted))) target
    target=$(pgrep -n -P "$pid")
    case $kind in
    0) kill -KILL "$pid" ;;
    1) kill -STOP "$pid" && sleep 0.3 && kill -CONT "$pid" ;;
    2) [ -n "$target" ] && kill -KILL "$target" ;;
    3) [ -n "$target" ] && kill -STOP "$target" && sleep 0.5 && kill -CONT "$target" ;;
    4) echo "$(((RANDOM - 16384) * 100))" >"$scratch/jump" ;;
    5) fill_disk ;;
    esac 2>/dev/null && counts[kind]=$((counts[kind] + 1))
}

(latput --db "$scratch/calm.db")
[ $? -lt 2 ] || { echo "the undisturbed run failed:" && cat "$scratch/log" && exit 99; }
# Asks whether the run has come to its end, which ends the storm.
done=0
ended() {
    wait "$pid"
    [ $? -lt 2 ] && done=1
}
start
for ((i = 0; i < events && !done; i++)); do
    sleep "$((RANDOM % 2)).$((RANDOM % 9))"
    if kill -0 "$pid" 2>/dev/null; then
        event
    else
        ended || start
    fi
done
for ((i = 0; i < 20 && !done; i++)); do
    ended || start
done
for i in "${!kinds[@]}"; do printf '%s %d times, ' "${kinds[i]}" "${counts[i]}"; done
echo "$starts starts"

sql() { sqlite3 "$disk/storm.db" "ATTACH '$scratch/calm.db' AS calm; $1"; }
results="SELECT f.form, f.enc, f.bits, t.position, r.outcome, r.value_clk FROM %s.result r
    JOIN %s.test t USING (test_id) JOIN %s.run_form rf USING (run_form_id)
    JOIN %s.form f USING (form_id)"
pairs="WITH a AS (${results//%s/calm}), b AS (${results//%s/main})
    SELECT count(*) FROM a JOIN b USING (form, enc, bits, position)"
failed=0
expect() { [ "$2" = "$3" ] || { echo "FAILED: $1: $2, expected $3" && failed=1; }; }
expect "ended by itself" "$done" 1
expect integrity "$(sql 'PRAGMA main.integrity_check')" ok
expect "dangling keys" "$(sql 'PRAGMA main.foreign_key_check')" ""
expect "forms twice" "$(sql 'SELECT count(*) - count(DISTINCT form_id) FROM main.run_form')" 0
expect runs "$(sql 'SELECT count(*) FROM main.run')" 1
expect forms "$(sql 'SELECT count(*) FROM main.run_form')" \
    "$(sql 'SELECT count(*) FROM calm.run_form')"
expect "faults that are none" \
    "$(sql "$pairs WHERE a.outcome = 'ok' AND b.outcome NOT IN ('ok', 'unstable')")" 0
# A killed compiler leaves files of its own, which have other names.
expect "scratch left behind" "$(find "$disk/tmp" -mindepth 1 -maxdepth 1 -name 'latput*')" ""
both=$(sql "$pairs WHERE a.outcome = 'ok' AND b.outcome = 'ok'")
differ=$(sql "$pairs WHERE abs(a.value_clk - b.value_clk) > 0.05 + 0.05 * a.value_clk")
echo "$both values compared, $differ differ by more than 5 % and 0.05 cycles"
if [ "$failed" = 0 ] && [ "$both" = 0 ]; then
    echo "no value was measured in both runs: other work disturbs the core"
    exit 77
fi
[ $((differ * 20)) -le "$both" ] || failed=1
[ "$failed" = 0 ] || tail -n 20 "$scratch/log"
exit "$failed"
