#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Machines that refuse perf_event_open: tests/without.c makes this kernel answer as a container, a
# strict kernel.perf_event_paranoid or a kernel without perf does. The message must name the cause
# and the remedy, and what needs no counters must go on.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "${BASH_SOURCE[0]}")/cli.sh"
without=$BUILD/tests/without
"$without" perf -- true || {
    echo "seccomp filters are not allowed here"
    exit 77
}
EPERM=1 EACCES=13 ENOSYS=38 ENOENT=2

# under ERRNO COMMAND...: latput with the filter.
under() {
    local error=$1
    shift
    "$without" "perf=$error" -- "$LATPUT" "$@" >"$OUT" 2>"$ERR" </dev/null
    STATUS=$? CLI_COMMAND="latput $*, perf_event_open gives $error"
}
# The machine's files: this value of kernel.perf_event_paranoid, and a PMU or none.
machine() { # PARANOID, [PMU]
    rm -rf machine
    mkdir -p machine/proc/sys/kernel
    echo "$1" >machine/proc/sys/kernel/perf_event_paranoid
    if [ -n "${2-}" ]; then
        mkdir -p machine/sys/bus/event_source/devices/cpu
        echo 4 >machine/sys/bus/event_source/devices/cpu/type
    fi
}
# A report without wrapping.
text() { tr '\n' ' ' <"$1" | tr -s ' '; }
says() { # FILE, PATTERN
    expect "'$2' in $(text "$1")" grep -qE -- "$2" <(text "$1")
}
export LATPUT_MACHINE=$PWD/machine

while IFS='|' read -r error paranoid pmu words; do
    machine "$paranoid" "$pmu"
    under "$error" cpu
    expect_status 0
    says "$OUT" "no µops, cache and branch events .*$words"
    under "$error" counters list --uarch zen5
    expect_status 0
    # The program is run all the same, and timed; the kernel's account stands in for its own events.
    under "$error" stat --repeat 2 -- sh -c 'exit 5'
    expect_status 5
    says "$ERR" "wall \\(ms\\)"
    says "$ERR" "Not counted: (cpu-migrations, )?the [0-9]+ hardware events of [a-z0-9_]+: .*$words"
    says "$ERR" \
        "From the kernel's account of the process, exec included: task-clock, page-faults, context-switches\\."
    expect_err '^page-faults +[1-9]'
    expect "a short report" test "$(wc -l <"$ERR")" -le 25
    # If nothing else was asked for, it is not run.
    under "$error" stat -e event=0x3c -- touch ran
    expect_status 3
    says "$ERR" "the program was not run.*$words"
    expect "it was not run" test ! -e ran
    under "$error" stat --backend perf -- touch ran
    expect_status 3
    says "$ERR" "the backend perf cannot be used: .*$words"
    expect "it was not run" test ! -e ran
    # Commands that measure want a CPU before they want counters.
    keeps_cpu || continue
    for command in 'run --db none.db' 'ports --discover'; do
        # shellcheck disable=SC2086
        under "$error" $command --backend perf
        expect_status 3
        expect_no_out
        says "$ERR" "latput ${command%% *}: the backend perf cannot be used: .*$words"
    done
done <<LIST
$EACCES|4|pmu|kernel.perf_event_paranoid is 4.*sysctl -w kernel.perf_event_paranoid=[12]
$EACCES|3|pmu|kernel.perf_event_paranoid is 3
$EPERM|2|pmu|seccomp profile
$ENOSYS|2|pmu|CONFIG_PERF_EVENTS
$ENOENT|2||(does not expose a PMU|newer than the CPU)
LIST

# A machine with two types of cores, on a CPU that does not say which type it is.
machine 2
for pmu in cpu_core cpu_atom; do
    mkdir -p "machine/sys/bus/event_source/devices/$pmu"
    echo 10 >"machine/sys/bus/event_source/devices/$pmu/type"
    echo 0 >"machine/sys/bus/event_source/devices/$pmu/cpus"
done
run cpu --format json
if grep -q '"core_type": null' "$OUT"; then
    under "$ENOENT" stat -e event=0x3c -- true
    expect_status 3
    says "$ERR" 'cores of several types \(cpu_core, cpu_atom\).*CPUID leaf 1AH'
fi

# Without libpfm4 its names are not known, which is said.
echo 'void *dlopen(const char *path, int how) { (void)path; (void)how; return 0; }' >nothing.c
if gcc -shared -fPIC -o nothing.so nothing.c && ! nm "$LATPUT" 2>/dev/null | grep -q __asan_init; \
    then
    LD_PRELOAD=$PWD/nothing.so "$LATPUT" stat --backend tsc -e NO_SUCH:EVENT -- true >"$OUT" \
        2>"$ERR"
    STATUS=$? CLI_COMMAND='latput stat without libpfm4'
    expect_status 2
    run counters
    if [ "$STATUS" = 0 ] && grep -q '^# libpfm4: .' \
        "$TREE/cpuinfo/counters/$(awk '{ print $1; exit }' "$OUT").csv"; then
        LD_PRELOAD=$PWD/nothing.so "$LATPUT" stat -e NO_SUCH:EVENT -- true 2>"$ERR"
        says "$ERR" "'NO_SUCH' is no event of .* install it \(Debian package libpfm4\)"
        run stat -e NO_SUCH:EVENT -- true
        says "$ERR" "'NO_SUCH' is no event of .*umask=0x01( \$|\. libpfm4 knows more)"
    fi
fi

# The library in a program that is refused counters measures time, and says why.
machine 4 pmu
if gcc -O2 -I "$TREE/include" "$TREE/tests/fixtures/examples/measure.c" "$BUILD/liblatput.a" -lcsv \
    -lm -pthread -o measure 2>"$ERR"; then
    LATPUT_ROOT=$TREE "$without" "perf=$EACCES" -- ./measure instructions >"$OUT" 2>"$ERR"
    STATUS=$? CLI_COMMAND='measure, refused'
    says "$ERR" 'measured without counters: .*kernel.perf_event_paranoid is 4'
    expect_out '^tsc |^0 repetitions'
elif ! nm "$BUILD/liblatput.a" 2>/dev/null | grep -q __asan_init; then
    cli_fail "a program with liblatput cannot be linked"
fi
finish
