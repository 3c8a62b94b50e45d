#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput stat where perf has no counters and the registers themselves can be programmed: a file
# stands for the device, and a preloaded library has its counters count. That auto takes the msr
# backend, keeps the program on one CPU, and leaves the registers as they were, also when it is
# killed.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "${BASH_SOURCE[0]}")/cli.sh"
# shellcheck source=tests/cli/machine.sh
. "$TREE/tests/cli/machine.sh"
if ! command -v gcc >/dev/null; then
    echo "there is no gcc to build the counters' stand-in with"
    exit 77
fi
if nm "$LATPUT" 2>/dev/null | grep -q __asan_init; then
    echo "a sanitizer does not go with a preloaded library"
    exit 77
fi
if [ -e /sys/bus/event_source/devices/cpu ] || [ -e /sys/bus/event_source/devices/cpu_core ]; then
    echo "perf has counters here, which auto takes"
    exit 77
fi
needs_cpu
# Counters that are switched off, by their own register or by the global one, have counted 1000.
cat >counters.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>
static ssize_t (*next)(int, const void *, size_t, off_t);
static void advance(int fd, uint32_t msr)
{
    uint64_t value = 0;
    if (pread(fd, &value, 8, (off_t)msr * 8) != 8)
        return;
    value += 1000;
    next(fd, &value, 8, (off_t)msr * 8);
}
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    uint32_t msr = (uint32_t)(offset / 8);
    uint64_t before = 0, after = *(const uint64_t *)bytes;
    next = (ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
    if (size != 8 || offset % 8 || pread(fd, &before, 8, offset) != 8)
        return next(fd, bytes, size, offset);
    uint64_t off = before & ~after;
    for (uint32_t i = 0; i < 8 && (msr == 0x38f || msr == 0xc0000301); i++) {
        if (off >> i & 1)
            advance(fd, msr == 0x38f ? 0xc1 + i : 0xc0010201 + 2 * i);
        if (msr == 0x38f && off >> (32 + i) & 1)
            advance(fd, 0x309 + i);
    }
    if (off >> 22 & 1 && msr >= 0xc0010000 && msr <= 0xc0010003)
        advance(fd, msr + 4);
    if (off >> 22 & 1 && msr >= 0xc0010200 && msr <= 0xc001020a && msr % 2 == 0)
        advance(fd, msr + 1);
    return next(fd, bytes, size, offset);
}
C
gcc -shared -fPIC -O1 -o counters.so counters.c -ldl || exit 99
allowed=$(awk '/^Cpus_allowed_list/ { print $2 }' /proc/self/status)
cpu=${allowed##*[-,]} # the last one, as latput takes it
export LATPUT_MACHINE=$PWD/machine
# Counters are tried on the CPU that latput happens to run on, so all have a device.
for ((other = 0; other <= cpu; other++)); do
    machine_device "$other"
done
machine_registers "$cpu" >before
# counted ARGUMENTS...: like run(), with the counters in latput alone.
counted() {
    LD_PRELOAD=$PWD/counters.so "$LATPUT" "$@" >"$OUT" 2>"$ERR" </dev/null
    STATUS=$? CLI_COMMAND="latput $*, counted"
}

# By the backend's own answer: what auto says where both refuse is perf's.
counted stat -r 1 --backend msr --cpu "$cpu" -e core_clk -- env -u LD_PRELOAD true
if [ "$STATUS" = 3 ] && grep -qE 'not known|announces no counters' "$ERR"; then
    echo "on this CPU it is not known what to program: $(cat "$ERR")"
    exit 77
fi
counted stat -r 2 -e core_clk,instructions,task-clock --format json -o report.json -- \
    env -u LD_PRELOAD sh -c 'grep Cpus_allowed_list /proc/self/status; exit 4'
expect_status 4
expect "on CPU $cpu alone" test "$(sort -u "$OUT")" = "Cpus_allowed_list:	$cpu"
expect "everything is as it was" cmp before <(machine_registers "$cpu")
if has python3; then
    expect "counted by the registers" python3 - report.json "$cpu" <<'PYTHON'
import json, sys
[report] = json.load(open(sys.argv[1]))
rows = {row["event"]: row for row in report["events"]}
assert report["backend"] == "msr" and report["cpu"] == int(sys.argv[2]), report["cpu"]
assert rows["core_clk"]["source"] == rows["instructions"]["source"] == "msr"
assert rows["core_clk"]["values"] == [1000, 1000], rows["core_clk"]
assert rows["task-clock"]["source"] != "msr" and rows["task-clock"]["outcome"] == "ok"
PYTHON
fi
counted stat -r 1 --backend msr --cpu "$cpu" -e core_clk -- env -u LD_PRELOAD true
expect_status 0
expect "said in the report" grep -q 'of all that ran there' <(tr '\n' ' ' <"$ERR" | tr -s ' ')

# Killed while the program runs: the program ends, too, and the registers are put right.
LD_PRELOAD=$PWD/counters.so "$LATPUT" stat -r 1 --warm 0 --backend msr -e core_clk -- \
    env -u LD_PRELOAD sh -c 'echo $$ >pid; exec sleep 100' >"$OUT" 2>"$ERR" </dev/null &
latput=$! CLI_COMMAND='latput stat, killed'
await test -s pid
expect "the counters are programmed" test "$(machine_registers "$cpu" | cmp -s - before; \
    echo $?)" = 1
kill -KILL "$latput"
wait "$latput" 2>/dev/null
put_right() { machine_registers "$cpu" | cmp -s - before; }
await put_right
expect "the program has ended" test ! -e "/proc/$(cat pid)/exe"
finish
