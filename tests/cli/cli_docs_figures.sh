#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs/PORTS_FIGURES.md is what tools/figures.sh makes of docs/figures/ports.csv, which refuses what
# is no row of figures. docs/figures/properties.csv is of properties that there are.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
figures() { # FILE: as run() does
    "$TREE/tools/figures.sh" "$@" >"$OUT" 2>"$ERR"
    STATUS=$?
    CLI_COMMAND="tools/figures.sh $*"
}
csv=$TREE/docs/figures/ports.csv
figures "$csv"
expect_status 0
expect "the page is that of the figures: make figures" cmp "$OUT" "$TREE/docs/PORTS_FIGURES.md"
rows=$(($(wc -l <"$csv") - 1))
expect "each of $rows rows is in a table" test "$(grep -c '^| [^C]' "$OUT")" = "$rows"

# A kind without rows has no table, a column that nobody fills is in none.
header=$(head -n 1 "$csv")
printf '%s\n' "$header" 'Zen 9,1234567,,12,1.5,,90.0,ratios,,' >one.csv
figures one.csv
expect_status 0
expect_out '^\| CPU \| forms \| mixes \| error \| within 10 % \|$'
expect_out '^\| Zen 9 \| 1,234,567 \| 12 \| 1.5 % \| 90.0 % \|$'
expect "one table" test "$(grep -c '^## ' "$OUT")" = 1

refused() { # ROW REGEX
    printf '%s\n' "$header" "$1" >bad.csv
    figures bad.csv
    expect_status 1
    expect_err "^bad.csv:2: $2"
}
refused 'Zen 9,1,,12,1.5,,90.0,ratios,' '9 fields where the header has 10'
refused 'Zen 9,1,,12,1.5,,90.0,rations,,' '"rations" is no kind of figures'
refused 'Zen 9,1,,12,1.5 %,,90.0,ratios,,' '"1.5 %" is no number: mape_percent'
printf 'cpu,forms\n' >bad.csv
figures bad.csv
expect_status 1
expect_err '^bad.csv:1: the first line must be cpu,'
figures
expect_status 2

csv=$TREE/docs/figures/properties.csv
grep -hv '^#' "$TREE"/lists/properties/*.csv | cut -d, -f1 | sort -u >properties
CLI_COMMAND=$csv
grep -v '^#' "$csv" | sed 1d | cut -d, -f2 >named
expect "it has rows" test "$(wc -l <named)" -ge 50
expect "its properties are there: $(sort -u named | comm -23 - properties | xargs)" \
    test -z "$(sort -u named | comm -23 - properties)"
finish
