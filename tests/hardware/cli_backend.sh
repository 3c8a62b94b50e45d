#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# --backend of the commands that measure in core cycles, run, ports --discover and validate: what
# was asked for and cannot be used is refused alike, before anything is measured. Registers are
# files that stand for them, where core cycles are ticks of the time stamp: these are recognised as
# none, and the registers get back what was in them.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/../cli/cli.sh"
# shellcheck source=tests/cli/machine.sh
. "$TREE/tests/cli/machine.sh"
"$BUILD/tests/test_store_ports" make ports.db || exit 99
uarch=$("$LATPUT" cpu --format json | grep -o '"uarch": *"[^"]*"' | head -n 1 | cut -d '"' -f 4)
sqlite3 ports.db "DROP TRIGGER cpu_no_update; UPDATE cpu SET uarch = rtrim('$uarch', '?'),
    inferred = '$uarch' LIKE '%?'"
cpu=$(awk '/^Cpus_allowed_list/ { print $2 }' /proc/$$/status)
cpu=${cpu##*[-,]} # the last one, as the commands take it

# COMMAND, ARGS...: the command where it would measure little.
measure() {
    local command=$1
    shift
    case $command in
    run) run run --filter 'nop' --tests T --db run.db --results none --quiet --give-up 5 "$@" ;;
    ports) run ports --discover "$@" ;;
    validate) run validate --mixes 2 --db ports.db "$@" ;;
    esac
}

run ports --db ports.db --backend tsc
expect_status 2
expect_err 'backend is for measuring: --discover'
for command in run ports validate; do
    measure "$command" --backend nonsense
    expect_status 2
    expect_err "unknown backend 'nonsense'; auto, perf, msr or tsc"
done

# The real perf, where it counts nothing.
run stat --backend perf -e core_clk -- true
if [ "$STATUS" = 3 ]; then
    for command in run ports validate; do
        measure "$command" --backend perf
        expect_status 3
        expect_no_out
        expect_err "latput $command: the backend perf cannot be used: .+"
    done
else
    echo "note: perf counts here, so that it is not refused"
fi

export LATPUT_MACHINE=$SCRATCH/machine
pmu=$LATPUT_MACHINE/sys/bus/event_source/devices/cpu
mkdir -p "$pmu"
for command in run ports validate; do
    measure "$command" --backend msr
    expect_status 3
    expect_err \
        "latput $command: the backend msr cannot be used: RDPMC would fault: the kernel has no driver"
done
echo 1 >"$pmu/rdpmc"
machine_device "$cpu"
machine_registers "$cpu" >before
counted=0
for command in run ports validate; do
    measure "$command" --backend msr
    if grep -qE 'no counters|not known' "$ERR"; then
        echo "on this CPU it is not known what to program: $(cat "$ERR")"
        exit 77
    fi
    # Where the time stamp has the frequency of the core, they are core cycles.
    if [ "$STATUS" -le 1 ]; then
        counted=1
        continue
    fi
    expect_status 3
    expect_err \
        "latput $command: the backend msr cannot be used: a multiplication .* these are no core cycles"
    machine_registers "$cpu" | cmp -s - before || cli_fail "the registers are not as they were"
    [ "$(cat "$pmu/rdpmc")" = 1 ] || cli_fail "RDPMC is still allowed"
    # Of all that may be used none is left: the calibration.
    [ "$command" = ports ] && continue # measures for half a minute
    measure "$command" --backend auto
    [ "$STATUS" -le 1 ] || expect_err 'disturb|unstable|no form has a port usage'
    ! grep -q 'cycles are counted' "$ERR" || cli_fail "counters of no use are used"
    machine_registers "$cpu" | cmp -s - before || cli_fail "the registers are not as they were"
done
[ "$counted" = 1 ] || expect "nothing says that it was counted" test \
    "$(sqlite3 run.db 'SELECT group_concat(DISTINCT backend) FROM run')" = tsc
finish
