#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# --backend of the commands that measure in core cycles, run, ports --discover and validate: what
# was asked for and cannot be used is refused alike, before anything is measured. On a core made of
# text, with files that stand for registers, where core cycles are ticks of the time stamp: these
# are recognised as none, and the registers get back what was in them.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/machine.sh
. "$TREE/tests/cli/machine.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"
text_machine text <<<'clock 7' # no time stamp is as fast
"$BUILD/tests/test_store_ports" make ports.db || exit 99
sqlite3 ports.db "DROP TRIGGER cpu_no_update; UPDATE cpu SET uarch = 'zen5', inferred = 0"
cpu=$(awk '/^Cpus_allowed_list/ { print $2 }' /proc/$$/status)
cpu=${cpu##*[-,]} # the last one, as the commands take it

# COMMAND, ARGS...: the command where it would measure little.
measure() {
    local command=$1
    shift
    case $command in
    run) run run --filter 'nop' --tests T --db run.db --results none --quiet "$@" ;;
    ports) run ports --discover "$@" ;;
    validate) run validate --mixes 2 --db ports.db "$@" ;;
    esac
}

run ports --db ports.db --backend tsc
expect_status 2
expect_err '^latput ports: --backend does nothing without --discover$'
pmu=$LATPUT_MACHINE/sys/bus/event_source/devices/cpu
mkdir -p "$pmu"
for command in run ports validate; do
    measure "$command" --backend nonsense
    expect_status 2
    expect_err "unknown backend 'nonsense'; auto, perf, msr or tsc"
    measure "$command" --backend msr
    expect_status 3
    expect_err \
        "latput $command: the backend msr cannot be used: RDPMC would fault: the kernel has no driver"
done
echo 1 >"$pmu/rdpmc"
machine_device "$cpu"
machine_registers "$cpu" >before
as_before() {
    machine_registers "$cpu" | cmp -s - before || cli_fail "the registers are not as they were"
    [ "$(cat "$pmu/rdpmc")" = 1 ] || cli_fail "RDPMC is still allowed"
}
for command in run ports validate; do
    measure "$command" --backend msr
    expect_status 3
    expect_err \
        "latput $command: the backend msr cannot be used: a multiplication .* these are no core cycles"
    as_before
done
# No usable counter is left: the calibration is used.
measure run --backend auto
expect_status 0
as_before
expect "nothing says that it was counted" test \
    "$(sqlite3 run.db 'SELECT group_concat(DISTINCT backend) FROM run')" = text
finish
