#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Facts that a measuring process finds at its start are wrong, on a core made of text: they are
# found again, or the process is put aside and another one measures; or nothing has a value. Never a
# wrong one.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
. "$TREE/tests/cli/text.sh"

text_forms forms.csv
# measure SCRIPT: `fill`, as on cores whose canary takes longer to begin than to go on.
measure() {
    text_machine start <<<"fill 240
$1"
    rm -f run.db "$LATPUT_MACHINE"/once.*
    run run forms.csv --db run.db --results none --quiet --tests LT
    CLI_COMMAND="$1"
}
values() {
    sqlite3 run.db "select group_concat(text, ', ') from (select printf('%s %.2f', mnemonic,
        latency_clk) as text from latency_table join instruction_table
        using (run_id, form, mnemonic) where src = 'op1' and dst = 'op1' or mnemonic = 'mov' and
        src = 'op2.base' order by mnemonic)"
}
refused() { awk '/repeats:/ { sub(".*repeats: ", ""); print int($1) }' "$ERR"; }

# The ratio of imul to add, the canary, the clock, the overhead; for so long that all looks at the
# start are wrong, or for good in one process.
for script in '' \
    'state "add r64 r64" 1.5 1 early 2' \
    'state "add r64 r64" 1.5 1 early 60' \
    'state "imul r64 r64" 0.6666667 1 early 1e9 once' \
    'state "nop*" 2 1 early 2' \
    'state "nop*" 2 1 early 2000' \
    'state "nop*" 1.1 1 early 1e9 once' \
    'state "imul r64 r64" 8 1 early 1' \
    'state "imul r64 r64" 0.2 1 early 1' \
    'state "*" 3 1 early 3000' \
    'neighbour 5000 60000 600'; do
    measure "$script"
    expect_status 0
    expect "the same values" test "$(values)" = 'add 1.00, imul 3.00, mov 4.00, mulss 3.00'
    expect_err 'results: 25 ok'
    case $script in
    *'early 2' | *'early 1' | '') expect "the gate is open" test "$(refused)" -lt 10 ;;
    esac
done

# All processes that measure are alike: no value, and the reason.
measure 'state "imul r64 r64" 0.6666667 1 early 1e9'
expect_status 3
expect_err 'results: 25 unstable'
expect "the reason" test "$(sqlite3 run.db 'select distinct detail from timing')" = "3 measuring\
 processes were put aside: imul takes 2 cycles by its ratio to add, in the run's other processes 3"
measure 'state "nop*" 1.1 1 early 1e9'
expect_status 3
expect_err 'results: 25 unstable'
finish
