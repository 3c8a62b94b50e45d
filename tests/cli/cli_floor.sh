#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The floor of the canary on a core made of text: one that is refuted is found again, by bench and
# by run; one that holds is used. Behind a neighbour that never leaves, none is found.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"
text_machine quiet <<<''

newest() { sqlite3 floor.db "SELECT $1 FROM canary_floor ORDER BY canary_floor_id DESC LIMIT 1"; }
floors() { sqlite3 floor.db 'SELECT count(*) FROM canary_floor'; }
bench() { run bench --db floor.db --asm 'imul rax, rax'; }

# found WHAT COMMAND...: one of a bad time, found later than all others, is found again as it was.
found() {
    local what=$1 before
    shift
    sqlite3 floor.db "INSERT INTO canary_floor
        (cpu_id, canary, instr_clk, method, recorded_utc, issue_width)
        SELECT cpu_id, canary, instr_clk * 1.035, method, '2038-01-01T00:00:00Z', issue_width
        FROM canary_floor ORDER BY canary_floor_id LIMIT 1"
    before=$(floors)
    run "$@"
    expect_status 0
    expect "$what: the floor is found again" test "$(floors)" = $((before + 1))
    expect "$what: it is the first one" test "$(newest "canary,
        abs(instr_clk / $first - 1) < 0.001")" = "$canary|1"
}

bench
expect_status 0
expect_out '^16 of 16 repetitions accepted'
first=$(newest instr_clk)
canary=$(newest canary)
expect "eight per cycle" test "$(newest 'round(instr_clk, 3), issue_width')" = '0.125|8'
bench
expect "a floor that holds is used" test "$(floors)" = 1
found bench bench --db floor.db --asm 'imul rax, rax'
found run run --tests L --db floor.db --results none --quiet --filter 'add r64 r64' \
    integer_arithmetic

text_machine loud <<<'neighbour 10 10'
run bench --db loud.db --give-up 1 --asm 'imul rax, rax'
expect_status 1
expect_err 'unstable: .*never seen undisturbed.*at best 4\.00 instructions per cycle'
expect "no floor" test "$(sqlite3 loud.db 'SELECT count(*) FROM canary_floor')" = 0
finish
