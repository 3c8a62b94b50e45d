#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Uses of a run's tables, on a core made of text: random mixes (validate), a recording of the
# machine (record), blocks (explain). That core follows the bottleneck model, so predictions are
# exact.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"
text_machine quiet <<<''
run run --quick --db t.db --results none --quiet
expect_status 0
run ports --db t.db
expect_status 0
expect_out '^11 ports in 9 sets, 8 slots per cycle'
expect "a set for each that the script names" test \
    "$(sed -nE 's/^[A-D][0-9]b? +([0-9]) .*/\1/p' "$OUT" | sort | xargs)" = '1 1 1 1 2 2 2 4 4'

# --- mixes ---

# validate ARGS...: writes mixes as they were measured to all.csv.
validate() { run validate --db t.db --mixes 40 --all all.csv --format json "$@"; }
told() { grep -o "\"$1\": *[0-9.]*" "$OUT" | head -n 1 | grep -o '[0-9.]*$'; }
mixes() { sed 1d all.csv | cut -d , -f 1; }

validate
expect_status 0
expect_schema validate "$OUT"
expect "mixes and seed" test "$(told mixes) $(told seed)" = '40 1'
expect "the error is that of the norm" awk "BEGIN { exit !($(told mape_percent) < 0.5) }"
expect "all within 10 %" test "$(told within_10_percent)" = 100
expect "a line a mix" test "$(mixes | wc -l)" = 40
mixes >first
validate
expect "a seed repeats" test "$(mixes)" = "$(cat first)"
run validate --db t.db --again all.csv
expect_status 0
expect_out '^40 mixes of all\.csv$'
expect_out '^  within 10 % +100\.0 %$'
run validate --db t.db --again all.csv --without norm --format json
expect_status 0
expect "the core of text has no norm" awk "BEGIN { exit !($(told mape_percent) < 0.1) }"
validate --seed 2
expect "another seed does not" test "$(mixes)" != "$(cat first)"
expect "each is kept, after that of the run" test "$(sqlite3 t.db 'SELECT group_concat(seed) FROM validation')" = 1,1,1,2

# --- a recording ---

run record --db t.db --mixes 20 --pairs 10 --output recorded
expect_status 0
expect "mixes and pairs" test "$(sed 1d recorded/mixes.csv | wc -l) \
$(sed 1d recorded/pairs.csv | wc -l)" = '20 10'
# shellcheck disable=SC2016 # the programs are awk's
expect "as predicted, but for the norm" \
    awk -F , 'FNR > 1 && ($2 - $3) ^ 2 > (0.1 * $3) ^ 2 { bad = 1 }
    END { exit bad }' recorded/mixes.csv recorded/pairs.csv
# shellcheck disable=SC2016
expect "the floor of eight instructions per cycle" awk -F , \
    'FNR > 1 && ($2 < 0.125 || $2 > 0.1255 || $3 != 8) { bad = 1 } END { exit bad || FNR < 2 }' \
    recorded/floor.csv
run cpu --load recorded/cpu.txt
expect_out '^  signature +0x00b00f21: family 0x1a'
run merge --db merged.db recorded/run.zip
expect_status 0
for what in 'port_class' 'port_trial' "instruction_table WHERE outcome = 'ok'"; do
    expect "$what is in it" test "$(sqlite3 merged.db "SELECT count(*) FROM $what")" = \
        "$(sqlite3 t.db "SELECT count(*) FROM $what")"
done

# --- blocks ---

# Each kind of bound, and what was measured.
while IFS='|' read -r clk bound code; do
    run explain --db t.db --asm "$code"
    expect_status 0
    expect_out "^  predicted $clk clk a copy$"
    expect_out "^  measured $clk clk a copy, spread 0\.00,"
    expect_out "^$bound"
done <<END
4.00|chain +4\.00  2 instructions, from rax to rax|imul rax, rbx; add rax, rcx
5.00|ports +5\.00  5 uops that only B1b? can do|$(printf 'imul %s, r8;' rax rbx rcx rdx rsi)
2.25|front end +2\.25  18 slots, 8 per cycle|$(printf 'nop;%.0s' {1..18})
END
printf '%s\n' 'imul rax, rbx' 'mov rax, r14 | mov rax, [rax+8]' >blocks
run explain --db t.db --blocks blocks
expect_status 0
expect_out '^ +1 +1 +3\.00 +3\.00 +[+-]0\.0  chain$'
expect_out '^ +2 +1 +4\.00 +4\.00 +[+-]0\.0  chain$'
finish
