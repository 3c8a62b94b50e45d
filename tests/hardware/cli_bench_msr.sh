#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput bench --backend msr on files that stand for the devices of a machine: what is programmed
# while it measures, that it is restored in the end, after a kill and after a refusal, and what is
# refused. There event i counts i + 1 ticks of the time stamp, so that counts can be compared with
# it.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/../cli/cli.sh"
# shellcheck source=tests/cli/machine.sh
. "$TREE/tests/cli/machine.sh"
DB=$SCRATCH/bench.db
export LATPUT_MACHINE=$SCRATCH/machine
pmu=$LATPUT_MACHINE/sys/bus/event_source/devices/cpu
allowed() { awk '/^Cpus_allowed_list/ { print $2 }' /proc/$$/status; }
before=$(allowed)
cpu=${before##*[-,]} # the last one, as bench takes it
mkdir -p "$pmu"

bench() { run bench --db "$DB" --give-up 1 --asm 'imul eax, eax' --backend msr "$@"; }
restored() {
    machine_registers "$cpu" | cmp -s - before && [ "$(cat "$pmu/rdpmc")" = 1 ]
}

bench --events core_clk
expect_status 3
expect_err 'msr cannot be used: RDPMC would fault: the kernel has no driver'
echo 1 >"$pmu/rdpmc"
bench --events core_clk
expect_status 3
expect_err 'msr cannot be used: .*(modprobe msr|announces no counters|not known)'
expect "RDPMC is forbidden again" test "$(cat "$pmu/rdpmc")" = 1
machine_device "$cpu"
machine_registers "$cpu" >before
bench --events core_clk
if [ "$STATUS" = 3 ] && grep -qE 'announces no counters|not known' "$ERR"; then
    echo "on this CPU it is not known what to program: $(cat "$ERR")"
    exit 77
fi
bench --events core_clk,instructions --repeat 4 --format csv
if [ "$STATUS" = 1 ]; then
    expect_err unstable
else
    expect_status 0
fi
expect_out ',counted_core_clk,instructions$'
# Counts of all warm repetitions, also disturbed ones, are within the cost of reading.
# shellcheck disable=SC2016 # awk's $
expect "event i counts i + 1 ticks" awk -F, 'NR > 1 && $4 == 0 {
    if (!($11 - $8 < 200 && $8 - $11 < 200 && $12 - 2 * $8 < 400 && 2 * $8 - $12 < 400)) bad = 1
    n++ } END { exit bad || n < 4 }' "$OUT"
expect "everything is as it was" restored

# More events than kernels can read at once, and software events: passes of their own.
events=core_clk,core_clk:k,instructions,instructions:k,core_clk,core_clk,core_clk
bench --events "$events,instructions,page-faults" \
    --repeat 2 --format json --store
expect_schema bench "$OUT"
expect "JSON" test "$(sqlite3 :memory: "SELECT group_concat(json_extract(value, '\$.backend')) FROM
    json_each(readfile('$OUT'), '\$[0].events')")" = msr,msr,msr,msr,msr,msr,msr,msr,perf
expect "backend in the database" test "$(sqlite3 "$DB" "SELECT group_concat(DISTINCT backend) FROM bench_metric")" = msr,perf
expect "all are counted" test "$(sqlite3 "$DB" "SELECT count(*) FROM bench_value WHERE value IS NULL")" = 0
expect "everything is as it was" restored

# While it measures, and after it was killed.
long=("$LATPUT" bench --db "$DB" --asm 'imul rax, rax' --backend msr --events core_clk
    --repeat 100000)
"${long[@]}" >/dev/null 2>&1 &
pid=$!
programmed=0
for _ in $(seq 400); do
    if [ "$(cat "$pmu/rdpmc")" = 2 ] && ! machine_registers "$cpu" | cmp -s - before; then
        programmed=1
        break
    fi
    sleep 0.05
done
expect "counters are programmed" test "$programmed" = 1
sleep 0.5
kill -KILL "$pid"
wait "$pid" 2>/dev/null
for _ in $(seq 100); do
    restored && break
    sleep 0.05
done
expect "everything is as it was, after SIGKILL" restored
"${long[@]}" >/dev/null 2>&1 &
pid=$!
sleep 1.5
kill -TERM "$pid"
wait "$pid"
expect "stopped" test $? = 3
expect "everything is as it was, after SIGTERM" restored

# Code that crashes or hangs changes nothing of that.
run bench --db "$DB" --asm ud2 --backend msr --events core_clk
expect_status 1
expect_err 'unsupported: SIGILL'
expect "everything is as it was, after a crash" restored

bench --events aperf
expect_status 3
expect_err "'aperf' is (not in a counter|no event)"
expect "everything is as it was, after a refusal" restored

# 32-bit mode, and a second CPU: without a device, with one, and with other counters in use there.
bench --events core_clk --repeat 2 --bits 32
! runs_32 || expect_out '^core_clk: [0-9]'
expect "everything is as it was" restored
other=$(echo "$before" | sed -nE 's/^([0-9]+)[-,].*/\1/p')
if [ -n "$other" ]; then
    bench --events core_clk --cpus "$cpu,$other"
    expect_status 3
    expect_err "there is no .*/dev/cpu/$other/msr"
    expect "everything is as it was, after a refusal" restored
    mkdir -p "$LATPUT_MACHINE/dev/cpu/$other"
    : >"$LATPUT_MACHINE/dev/cpu/$other/msr"
    bench --events core_clk --cpus "$cpu,$other" --repeat 2 --format csv
    [ "$STATUS" -le 1 ] || cli_fail 'expected status 0 or 1'
    # shellcheck disable=SC2016 # awk's $
    expect "both count" awk -F, 'NR > 1 && ($11 < $8 - 1000 || $11 > $8 + 1000) { bad = 1 }
        END { exit bad || NR < 13 }' "$OUT"
    expect "everything is as it was" restored
    # Enabled, as perf leaves it: AMD's and Intel's control registers.
    for msr in 0xc0010000 0xc0010200 0x186; do
        printf '\x76\x00\x53' | dd of="$LATPUT_MACHINE/dev/cpu/$other/msr" bs=1 \
            seek=$((msr * 8)) conv=notrunc status=none
    done
    bench --events core_clk:k --cpus "$cpu,$other" --repeat 2
    expect_status 3
    expect_err "on CPU $other other counters are in use than on CPU $cpu"
    expect "everything is as it was, after a refusal" restored
fi
if [ "$(allowed)" != "$before" ]; then
    echo "something has changed meanwhile which CPUs this may use: $before before, $(allowed) now"
    exit 77
fi
finish
