#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes docs/PORTS_FIGURES.md from docs/figures/ports.csv: a table for each kind of figures, with
# the columns that any of its rows fills. Prints the page; `make figures` puts it in its place. A
# row that does not fit the header ends it, with the number of its line. Usage: tools/figures.sh
# FIGURES.csv
set -eu
export LC_ALL=C.UTF-8
[ $# = 1 ] || { echo "Usage: tools/figures.sh FIGURES.csv" >&2; exit 2; }

awk -F, -v file="$1" '
function fail(text) {
    print file ":" NR ": " text >"/dev/stderr"
    failed = 1
    exit 1
}
# A number as the page shows it: a comma between thousands, and the unit of a share.
function shown(column, value,    tail) {
    if (value != "" && names[column] ~ /_percent$/)
        return value " %"
    if (names[column] !~ /^(forms|mixes)$/)
        return value
    for (; length(value) > 3; value = substr(value, 1, length(value) - 3))
        tail = "," substr(value, length(value) - 2) tail
    return value tail
}
function row(kind, r,    column, text, line) {
    for (column = 1; column <= columns; column++) {
        text = r ? shown(column, cell[r, column]) : titles[names[column]]
        if (used[kind, column])
            line = line (text == "" ? "" : " " text) " |"
    }
    print "|" line
}
function table(kind,    column, r, rule) {
    print "\n## " headings[kind] "\n\n" texts[kind] "\n"
    row(kind, 0)
    for (column = 1; column <= columns; column++)
        if (used[kind, column])
            rule = rule "---|"
    print "|" rule
    for (r = 2; r <= NR; r++)
        if (cell[r, kind_column] == kind)
            row(kind, r)
}
BEGIN {
    header = "cpu,forms,ambiguous_percent,mixes,mape_percent,kendall_tau,within_10_percent,kind," \
        "concept_left_out,note"
    columns = split(header, names, ",")
    titles["cpu"] = "CPU"
    titles["forms"] = "forms"
    titles["ambiguous_percent"] = "ambiguous"
    titles["mixes"] = "mixes"
    titles["mape_percent"] = "error"
    titles["kendall_tau"] = "τ"
    titles["within_10_percent"] = "within 10 %"
    titles["concept_left_out"] = "left out"
    titles["note"] = "note"
    kinds = split("random,ratios,recorded,pairs,without,simulated", order, ",")
    headings["random"] = "Random mixes"
    texts["random"] = "Mixes of 2 to 8 forms, drawn after the table was made " \
        "(`latput validate`)."
    headings["ratios"] = "Ratio mixes"
    texts["ratios"] = "One instance of a form beside 3 to 12 of another on the same ports " \
        "(`latput validate --ratios`)."
    headings["recorded"] = "Recorded mixes"
    texts["recorded"] = "Mixes in `tests/fixtures/recorded/`, which `build/tests/test_recorded` " \
        "predicts on any machine."
    headings["pairs"] = "Recorded pairs"
    texts["pairs"] = "Pairs of forms from the same recordings."
    headings["without"] = "What each concept is worth"
    texts["without"] = "Random mixes (Zen 3) and recorded ones, predicted without one concept " \
        "(`latput validate --without`,\n`build/tests/test_recorded`)."
    headings["simulated"] = "Simulated cores"
    texts["simulated"] = "Random mixes on cores that LLVM'\''s scheduling models describe " \
        "(`tests/whole/test_ports_llvm.c`)."
}
NR == 1 {
    if ($0 != header)
        fail("the first line must be " header)
    for (kind_column = 1; names[kind_column] != "kind"; )
        kind_column++
    next
}
NF != columns { fail(NF " fields where the header has " columns) }
!($kind_column in headings) { fail("\"" $kind_column "\" is no kind of figures") }
{
    for (column = 1; column <= columns; column++) {
        cell[NR, column] = $column
        if ($column != "" && column != kind_column)
            used[$kind_column, column] = 1
        if (names[column] ~ /^(forms|mixes|.*_percent|kendall_tau)$/ && $column !~ /^[0-9.]*$/)
            fail("\"" $column "\" is no number: " names[column])
    }
    rows[$kind_column]++
}
END {
    if (failed)
        exit 1
    print "# Figures of the ports, by CPU"
    print ""
    print "How well the ports that latput finds without counters predict mixes; for people who change"
    print "the method. [PORTS.md](PORTS.md#how-to-judge-it) says what is measured and how. `make figures`"
    print "makes this page from [figures/ports.csv](figures/ports.csv), which is for programs."
    print ""
    print "All CPUs are virtual machines without counters. Forms are those that have ports; ambiguous is"
    print "the share of forms with up to three µops whose ports may be others. The error is the mean of"
    print "|predicted - measured| / measured; τ is Kendall'\''s, of predicted and measured cycles."
    for (k = 1; k <= kinds; k++)
        if (rows[order[k]])
            table(order[k])
}' "$1"
