#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput stat, latput cpu and liblatput with hardware counters, from end to end: a preloaded library
# stands for the kernel, with four counters that count a model (1457, 3285, 2410 and 2847 cycles
# with 0, 1, 2 and 3 events, in 500 stretches), refuses a fifth event in a group, and keeps RDPMC to
# itself.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "${BASH_SOURCE[0]}")/../cli/cli.sh"
if ! command -v gcc >/dev/null; then
    echo "there is no gcc to build the kernel's stand-in with"
    exit 77
fi
if nm "$LATPUT" 2>/dev/null | grep -q __asan_init; then
    echo "a sanitizer does not go with a preloaded library"
    exit 77
fi
cat >kernel.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>
enum { FIRST = 100000, MOST = 4096, COUNTERS = 4 };
static struct { struct perf_event_attr attr; int leader; } events[MOST];
static int nevents;

static int perf_open(const struct perf_event_attr *attr, int group)
{
    int members = 1;
    if (attr->type == PERF_TYPE_SOFTWARE || nevents == MOST)
        return errno = EACCES, -1;
    for (int i = 0; i < nevents && group >= 0; i++)
        members += events[i].leader == group;
    if (members > COUNTERS)
        return errno = EINVAL, -1;
    events[nevents].attr = *attr;
    events[nevents].leader = group >= 0 ? group : FIRST + nevents;
    return FIRST + nevents++;
}

static uint64_t model(const struct perf_event_attr *attr)
{
    static const uint64_t clk[] = {1457, 3285, 2410, 2847};
    uint64_t cmask = attr->config >> 24 & 0xff, inv = attr->config >> 23 & 1, sum = 0;
    if (attr->type == PERF_TYPE_HARDWARE) // core cycles, by the time stamp
        return (uint64_t)((double)__rdtsc() * atof(getenv("CLK_PER_TSC")));
    if ((attr->config & 0xff) != 0xc2)
        return 9999;
    if (attr->config >> 18 & 1)
        return 500;
    for (uint64_t k = 0; k < 4; k++)
        sum += !cmask ? k * clk[k] : (k >= cmask) != inv ? clk[k] : 0;
    return sum;
}

long syscall(long number, ...)
{
    long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    long a[6];
    va_list ap;
    va_start(ap, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(ap, long);
    va_end(ap);
    if (number == SYS_perf_event_open)
        return perf_open((const struct perf_event_attr *)a[0], (int)a[3]);
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

ssize_t read(int fd, void *bytes, size_t size)
{
    if (fd < FIRST)
        return ((ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read"))(fd, bytes, size);
    uint64_t words[3 + COUNTERS] = {model(&events[fd - FIRST].attr), 1000, 1000}, n = 0;
    if (events[fd - FIRST].attr.read_format & PERF_FORMAT_GROUP) {
        for (int i = 0; i < nevents; i++)
            if (events[i].leader == fd)
                words[3 + n++] = model(&events[i].attr);
        words[0] = n;
    }
    memcpy(bytes, words, size < sizeof words ? size : sizeof words);
    return (ssize_t)(size < sizeof words ? size : sizeof words);
}

int ioctl(int fd, unsigned long request, ...)
{
    (void)request;
    return fd < FIRST ? (errno = ENOTTY, -1) : 0;
}

// The page of an event, which says that user code may not use RDPMC.
void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    void *(*next)(void *, size_t, int, int, int, off_t) =
        (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
    if (fd < FIRST)
        return next(at, size, protection, flags, fd, offset);
    return next(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int close(int fd)
{
    if (fd < FIRST)
        return ((int (*)(int))dlsym(RTLD_NEXT, "close"))(fd);
    events[fd - FIRST].leader = -1;
    return 0;
}
C
gcc -shared -fPIC -O1 -o kernel.so kernel.c -ldl || exit 99
export LATPUT_MACHINE=$PWD/machine CLK_PER_TSC=1
mkdir -p machine/sys/bus/event_source/devices/cpu machine/proc/sys/kernel
echo 4 >machine/sys/bus/event_source/devices/cpu/type
echo 2 >machine/proc/sys/kernel/perf_event_paranoid
# counted ARGUMENTS...: like run(), with the stand-in in latput alone; the counted program has the
# real kernel.
counted() {
    LD_PRELOAD=$PWD/kernel.so "$LATPUT" "$@" >"$OUT" 2>"$ERR" </dev/null
    STATUS=$? CLI_COMMAND="latput $*, counted"
}
program=(env -u LD_PRELOAD true)

# Seven events, four counters: two passes, nothing scaled; then what follows from the counts.
counted stat --repeat 2 --warm 1 -e event=0xc2,umask=0x02 --compare ge1,ge2,ge3,lt1 --durations -- \
    "${program[@]}"
expect_status 0
expect_err ': 4 runs counted after 1 to warm, exit status 0; hardware$'
expect_err '^event=0xc2,umask=0x02 in a cycle, share of the cycles$'
expect_err '^   0   14\.57 %  ######$'
expect_err '^   1   32\.85 %  #############$'
expect_err '^   2   24\.10 %  ##########$'
expect_err '^  ≥3   28\.47 %  ###########$'
expect_err '^mean  1\.665 by these shares, 1\.665 by the count itself$'
expect_err '^event=0xc2,umask=0x02:ge1 +8,542 +500 +17\.08$'

# The same for programs, in user mode or in both, with who counted it by which code of which table.
counted stat --repeat 2 --both --format json -o report.json -e r2c2 --compare gt1,2 --invert 0,1 \
    -- "${program[@]}"
expect_status 0
if command -v python3 >/dev/null; then
    expect "the JSON has the counts" python3 - report.json <<'PYTHON'
import json, sys
[report] = json.load(open(sys.argv[1]))
rows = {row["event"]: row for row in report["events"]}
assert report["backend"] == "perf" and report["table_version"] and report["lost_runs"] == 0
assert rows["r2c2"]["values"] == [16646, 16646], rows["r2c2"]
assert rows["r2c2"]["source"] == "perf" and rows["r2c2"]["rings"] == "both"
assert rows["r2c2:gt1"]["mean"] == 5257 and rows["r2c2:gt1"]["unit"] == "clk"
assert rows["r2c2:lt2"]["mean"] == 4742 and rows["r2c2:lt2"]["code"].endswith("cmask=2,inv")
PYTHON
fi

# All events of the family, four at a time.
counted stat --repeat 1 --format csv -o report.csv -- "${program[@]}"
if ! grep -q '^[^,]*,perf,"event' report.csv; then
    echo "no table for this CPU: all its events are not tried"
else
    expect "each was counted once" test "$(grep '"event=' report.csv | grep -vc ',1,ok,')" = 0
fi

# latput cpu: cycles of the counter beside those of the calibration chain.
counted cpu --format json
ratio=$(sed -n 's/.*"clk_per_chain_clk": \([0-9.]*\).*/\1/p' "$OUT")
if [ -n "$ratio" ]; then
    # A counter that counts as many cycles as the chain has: its speed is what the first says.
    CLK_PER_TSC=$(awk -v ratio="$ratio" 'BEGIN { printf "%.4f", 1 / ratio }')
    counted cpu
    expect_out '^  core cycles +(0\.[89]|1\.[012])[0-9]* counted for each one of the calibration'
    CLK_PER_TSC=9
    counted cpu
    expect_out 'they do not agree'
fi

# A program of one's own, through liblatput: by the system call where RDPMC is forbidden.
cat >own.c <<'C'
#include <latput.h>
#include <stdio.h>
int main(void)
{
    char error[512];
    uint64_t values[2];
    struct latput_counters *counters = latput_counters_open(
        "event=0xc2,umask=0x02,event=0xc2,umask=0x02:c=2", error, sizeof error);
    if (!counters)
        return puts(error), 1;
    if (latput_counters_start(counters) || latput_counters_read(counters, values) ||
        latput_counters_stop(counters))
        return puts("not counted"), 1;
    printf("%s %d %llu %llu\n%s\n", latput_counters_method(counters),
           latput_counters_index(counters, 0), (unsigned long long)values[0],
           (unsigned long long)values[1], latput_counters_obstacle(counters));
    latput_counters_close(counters);
    return 0;
}
C
echo 0 >machine/sys/bus/event_source/devices/cpu/rdpmc
if gcc -O1 -I "$TREE/include" own.c "$BUILD/liblatput.a" -lcsv -lm -pthread -o own 2>"$ERR"; then
    LATPUT_ROOT=$TREE LD_PRELOAD=$PWD/kernel.so ./own >"$OUT" 2>"$ERR"
    STATUS=$? CLI_COMMAND='a program with liblatput'
    expect_status 0
    expect_out '^read -1 16646 5257$'
    expect_out \
        'cannot be read with RDPMC: /sys/bus/event_source/devices/cpu/rdpmc is 0.*As root: echo 1 >'
else
    echo "liblatput.a cannot be linked here: $(cat "$ERR")"
fi
finish
