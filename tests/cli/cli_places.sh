#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Instructions that rewrite memory, alone and in mixes, on cores made of text that are fast in some
# arrangements of their places only: what is measured is that of a core that is fast in all.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"

# core [LINE...]: the core has two ports for stores, and the lines say when it is slow.
core() {
    text_machine "places" < <(printf '%s\n' 'store pab 3' 'form "mov* m* *" none 1' "$@")
}
cat >places.csv <<'LIST'
mnemonic,operands,implicit,isa,tests,options
neg,+m8,=flags,I386,,
add,+m16 r16,=flags,I386,,
sub,+m32 r32,=flags,I386,,
xor,+m64 r64,=flags,X86_64,,
mov,=m8 r8,,I386,,
mov,=m64 r64,,X86_64,,
mov,=r32 i32,,I386,,
imul,=r64 r64 i8,=flags,X86_64,,
LIST
table() {
    sqlite3 "$1" "SELECT group_concat(printf('%.2f', rthroughput_clk)) FROM (SELECT *
        FROM run_instruction_table WHERE run_id = (SELECT max(run_id) FROM run) AND operands LIKE
        'm%' ORDER BY operands, mnemonic)"
}
# mixes NAME FORMS: writes mixes and how long they take to NAME.csv.
mixes() {
    run validate --db t.db --mixes 30 --all "$1.csv" --forms "$2"
    expect_status 0
}
# same A.csv B.csv: both have the same mixes and, within 5 %, times.
same() {
    paste -d , <(cut -d , -f 1,2 "$1") <(cut -d , -f 1,2 "$2") | awk -F , '
        $1 != $3 || ($2 - $4) ^ 2 > (0.05 * $2) ^ 2 { bad = 1 }
        END { exit bad || NR < 31 }'
}

core
run run --quick --db t.db --results none --quiet
expect_status 0
run run places.csv --db t.db --results none --quiet
expect_status 0
fast=0.50,0.50,0.50,0.50,0.50,0.50
expect "half a cycle each where places are no matter" test "$(table t.db)" = "$fast"
mixes all '*'
expect_out '^  within 10 % +100\.0 %'
mixes bytes 'neg m8'
expect_out '^  within 10 % +100\.0 %'

# A core that renames double words and stores to one line twice in a cycle (as a Zen 5), one that
# only stores so to half a line, and one that joins stores to one double word: what is measured, the
# forms of mixes that it is fast on, and the table.
while IFS='|' read -r lines name forms clk; do
    IFS=';' read -ra lines <<<"$lines"
    core "${lines[@]}"
    run run places.csv --db "${lines[0]}.db" --results none --quiet --tests T
    expect_status 0
    expect "${lines[0]}: forms alone" test "$(table "${lines[0]}.db")" = "$clk"
    mixes slow "$forms"
    expect "${lines[0]}: mixes as on a core that is fast in all places" same "$name.csv" slow.csv
done <<CORES
leave 64;renames 8 20|all|*|$fast
leave 32|all|*|$fast
leave 8|bytes|neg m8|0.50,0.50,1.00,1.00,0.50,0.50
CORES
finish
