#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# --format markdown, html and latex: the table for people, to be pasted, of every command that has
# CSV. test_text_table has the escapes.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
fixture known.db

# shaped FORMAT: the output is one or more tables of that format, and nothing else.
shaped() {
    expect_status 0
    case $1 in
    markdown) expect "tables of Markdown" awk '!/^$/ && !/^\|.*\|$/ { exit 1 }
        /^$/ { was = 0; next }
        { n = gsub(/[^\\]\|/, "&"); if (was && n != was) exit 1; was = n }
        END { exit !NR }' "$OUT" ;;
    html)
        expect_out '^<table>$'
        expect "balanced elements" awk '{ begun += gsub(/<t[rhd][ >]/, "&") }
            { ended += gsub(/<\/t[rhd]>/, "&") }
            END { exit !(begun && begun == ended) }' "$OUT"
        expect "ASCII" test -z "$(LC_ALL=C tr -d '\000-\177' <"$OUT")"
        ;;
    latex)
        expect_out '^\\begin\{tabular\}\{[lr]+\}$'
        expect "cells between &, rows before \\\\" awk '/^\\|^$/ && !/^\\ensuremath/ { next }
            !/ \\\\$/ { exit 1 }' "$OUT"
        expect_out '^\\end\{tabular\}$'
        ;;
    esac
}

for format in markdown html latex; do
    for words in '' '--latency' '--ports' '--runs' '--failures' '--side-by-side' \
        '--columns form,latency,note' "--side-by-side --latency div*"; do
        # shellcheck disable=SC2086 # several words
        run query --db known.db --format $format $words
        shaped $format
    done
    run diff --db known.db --format $format 1 2
    shaped $format
    run counters list 'BRANCH*' --uarch skylake --format $format
    shaped $format
    run counters --sets --uarch zen5 --format $format
    shaped $format
done

# People's columns, numbers and marks; without rows the headings alone.
run query --db known.db --format markdown --uarch testb 'div r64'
expect_out '^\| uarch \| instruction \| .*latency \| max \| 1/tput \|'
expect_out '^\| testb \| div r64 \|'
run query --db known.db --format markdown nothing
expect_out '^\| uarch \| instruction \|'
expect_err 'no rows match'
run query --db known.db --side-by-side --format html --columns latency 'div*'
expect_out '<th style="text-align:right">testb latency</th>'
run diff --db known.db --format markdown 1 2
expect_out '^\| 1 → 2 \|'
expect_out '^\| class \| forms \|'

# A configured format holds, and others know which there are.
mkdir -p .config/latput && echo 'query.format = latex' >.config/latput/config
run query --db known.db add
shaped latex
run ports --format latex
expect_status 2
expect_err "unknown format 'latex'; there are table and json"
run help --completion bash
expect_out "words='table csv spreadsheet json markdown html latex'"
finish
