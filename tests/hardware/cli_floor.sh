#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A stored floor that a quiet core refutes is found again, by bench and by run; one that holds is
# used.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/../cli/cli.sh"

newest() { sqlite3 floor.db "SELECT $1 FROM canary_floor ORDER BY canary_floor_id DESC LIMIT 1"; }
floors() { sqlite3 floor.db 'SELECT count(*) FROM canary_floor'; }

# quiet DB: whether the core is, by the floor there. Only a quiet core refutes anything.
quiet() {
    run bench --db "$1" --asm 'imul rax, rax'
    [ "$STATUS" = 0 ] && grep -qE '^([0-9]+) of ([0-9]+) repetitions accepted' "$OUT" &&
        awk '/repetitions accepted/ { exit $1 < $3 / 2 }' "$OUT"
}

# A floor of a bad time, found later than all others.
spoil() {
    sqlite3 floor.db "INSERT INTO canary_floor
        (cpu_id, canary, instr_clk, method, recorded_utc, issue_width)
        SELECT cpu_id, canary, instr_clk * 1.035, method, '2038-01-01T00:00:00Z', issue_width
        FROM canary_floor ORDER BY canary_floor_id LIMIT 1"
}

# found WHAT COMMAND...: the command finds a floor again that is within the gate of the first.
found() {
    local what=$1 before
    shift
    spoil
    before=$(floors)
    run "$@"
    if [ "$(floors)" = "$before" ] && ! quiet other.db; then
        echo "the core is too disturbed to refute a floor"
        exit 77
    fi
    expect "$what: the floor is found again" test "$(floors)" -gt "$before"
    expect "$what: it is the first one" test "$(newest "abs(instr_clk / $first - 1) < 0.02
        OR canary <> $canary")" = 1
}

if ! quiet floor.db; then
    echo "the core is too disturbed to have a floor"
    exit 77
fi
first=$(newest instr_clk)
canary=$(newest canary)
before=$(floors)
quiet floor.db
expect "a floor that holds is used" test "$(floors)" -le $((before + 1))
found bench bench --db floor.db --asm 'imul rax, rax'
found run run --tests L --db floor.db --results none --quiet --filter 'add r64 r64' \
    integer_arithmetic
finish
