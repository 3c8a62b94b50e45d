#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Neighbours, interrupts, clocks that drift and instructions with several speeds, on a core made of
# text: the same values come out as on a quiet one, or none.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
. "$TREE/tests/cli/text.sh"

text_forms forms.csv
measure() {
    text_machine "$1" <<<"$2"
    rm -f run.db
    run run forms.csv --db run.db --results none --quiet --tests LT
    CLI_COMMAND="$2"
}
values() {
    sqlite3 run.db "select group_concat(text, ', ') from (select printf('%s %.2f/%.2f', mnemonic,
        latency_clk, rthroughput_clk) as text from latency_table join instruction_table
        using (run_id, form, mnemonic) where src = 'op1' and dst = 'op1' or mnemonic = 'mov' and
        src = 'op2.base' order by mnemonic)"
}
share() { sqlite3 run.db 'select 100 * sum(accepted) / sum(tried) from timing'; }
true_values='add 1.00/0.25, imul 3.00/1.00, mov 4.00/0.50, mulss 3.00/0.50'

for script in '' 'drift 2.4 3.8 60' 'interrupt 2 30' 'neighbour 1 2' 'noise 0.002' \
    'neighbour 4 5' 'jump 3 3.6 0.1' 'overhead 2000'; do
    measure noisy "$script"
    expect_status 0
    expect "the same values" test "$(values)" = "$true_values"
    case $script in
    neighbour* | jump*) expect "what is disturbed is refused" test "$(share)" -lt 90 ;;
    drift* | '') expect "nothing is refused" test "$(share)" -ge 90 ;;
    esac
done

# Never quiet: nothing is believed.
measure busy 'neighbour 20 20'
expect_status 3
expect_err 'warning: the core was never seen undisturbed \(in 24\.0 s at best 4\.00 instructions'
expect_err 'results: 25 unstable'

# The faster of two speeds counts, even if it is rare; one that comes once in fifty is not waited
# for.
measure states 'state "mulss *" 1.25 0.5'
expect_status 0
expect "the fast state" test "$(values)" = "$true_values"
measure states 'state "mulss *" 1.28 0.98'
expect_status 0
expect "the usual state" test "$(values)" = "${true_values/3.00\/0.50/3.84\/0.64}"

# One timing in ten too long, by different times: those that agree are the value. All of them
# different: no value.
measure wild 'noise 0.2'
expect_status 3
expect_err 'results: 25 unstable'
finish
