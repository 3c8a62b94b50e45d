#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Several cores at once (run --parallel), on cores made of text: the values are those of one core,
# in less time; where a core says otherwise than the first does alone, one core goes on.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"
mapfile -t cpus < <(taskset -cp $$ | sed 's/.*: //' | tr , '\n' |
    awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }')
[ ${#cpus[@]} -ge 2 ] || { echo "it takes two CPUs, and there is one" && exit 77; }

# measure NAME OPTION...: a run into NAME.db, and its values into NAME.values.
measure() {
    local name=$1
    shift
    rm -f "$name.db"
    run run --db "$name.db" --results none --quiet "$@" --filter 'add *' integer_arithmetic
    sqlite3 "$name.db" 'SELECT mnemonic, operands, round(latency_min_clk, 2),
        round(rthroughput_clk, 2), ports FROM instruction_table ORDER BY 1, 2' >"$name.values"
}
sql() { sqlite3 "$1.db" "$2"; }

text_machine even <<<'pace 4'
measure one --tests LT
measure two --tests LT --parallel 2
expect_err 'several cores measured at once: of [1-9][0-9]* kernels .* alone, too, 0 came out'
expect "two cores measure what one does" cmp one.values two.values
expect "both cores measured" test "$(sql two 'SELECT count(DISTINCT cpu) FROM timing')" = 2
expect "one core measured" test "$(sql one 'SELECT count(DISTINCT cpu) FROM timing')" = 1
took() { sql "$1" 'SELECT CAST(1000 * sum(measuring_s) AS INTEGER) FROM run_time'; }
echo "measuring took $(took one) ms on one core, $(took two) ms on two"
expect "two cores take less time" test "$(took two)" -lt $(($(took one) * 4 / 5))

# The other core is another: its additions take two cycles.
first=$(sql one 'SELECT DISTINCT cpu FROM timing')
for cpu in "${cpus[@]}"; do
    [ "$cpu" = "$first" ] || {
        cat "$TREE/tests/text/zen5.text"
        printf '%s\n' 'form "ad* *" p01 2'
    } >"$LATPUT_MACHINE/core.$cpu.text"
done
measure uneven --tests LT --parallel 2
expect_err 'at once, and one alone from then on: of [0-9]* kernels'
expect "values are those of the first core" cmp one.values uneven.values

text_machine ports <<<''
measure ports --tests LTP --parallel 2
expect "two cores find ports" grep -q '^add|r64 r64|1.0|0.25|1[*]' ports.values

run run --db none.db --results none --quiet --parallel 32 integer_arithmetic
expect_status 3
expect_err '\-\-parallel 32: this process may use [0-9]* cores? of this kind'
run run --db none.db --parallel 0 integer_arithmetic
expect_status 2
finish
