#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The pager, and when there is colour.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
needs_memfd
fixture known.db
unset NO_COLOR PAGER LATPUT_PAGER LESS COLUMNS LINES
list() { on_terminal "$@" query --db known.db --columns uarch,form; }
lines() { [ "$(grep -c 'test[ab]' "$OUT")" = "$1" ]; }

ROWS=6 PAGER=cat list || { echo "script(1) is missing" && exit 77; }
export ROWS
expect_status 0
all=$(grep -c 'test[ab]' "$OUT")
expect "the fixture is longer than the screen" test "$all" -ge 6

# A pager gets the whole text, and may end when it likes; its status is not latput's.
ROWS=6 PAGER='tail -n  3' list
expect_status 0
expect "the last of all" lines 2
ROWS=6 PAGER='head -n 3' list
expect_status 0
expect "the first alone" lines 2
ROWS=6 PAGER=false list
expect_status 0
expect "nothing is printed besides" lines 0
ROWS=6 PAGER=env list
expect_out '^LESS=FRX$'
LESS=i ROWS=6 PAGER=env list
expect_out '^LESS=i$'
ROWS=6 PAGER=false LATPUT_PAGER='head -n 2' list
expect "latput's own" lines 1
# Help is paged, too.
ROWS=20 PAGER='head -n 1' on_terminal query --help
expect_status 0
expect_out '^Usage: latput query'
expect "the first line" test "$(wc -l <"$OUT")" = 1

# No pager: none wanted, none found, nothing to page.
for none in '' cat /no/such/pager no_such_pager '  '; do
    ROWS=6 PAGER=$none list
    expect_status 0
    expect "everything without '$none'" lines "$all"
done
ROWS=6 PAGER=false list --no-pager
expect "everything with --no-pager" lines "$all"
ROWS=6 PAGER=false on_terminal query --no-pager --db known.db --columns uarch,form
expect "everything with --no-pager behind it" lines "$all"
ROWS=60 PAGER=false list
expect "everything on a longer screen" lines "$all"
PAGER=false run query --db known.db --columns uarch,form
expect "everything in a pipe" lines "$all"
mkdir -p .config/latput && echo 'no-pager = yes' >.config/latput/config
ROWS=6 PAGER=false list
expect "everything where the configuration says so" lines "$all"

# Colour.
coloured() { grep -q $'\033' "$OUT"; }
plain() { ! coloured; }
echo 'no-pager = yes' >.config/latput/config
ROWS=0 list
expect "auto: on a terminal" coloured
NO_COLOR=1 list
expect "auto: not with NO_COLOR" plain
list --color never
expect "never" plain
list --color=never
expect "never" plain
run query --db known.db
expect "auto: not in a pipe" plain
run query --db known.db --color always
expect "always" coloured
NO_COLOR=1 run --color=always query --db known.db
expect "always, whatever NO_COLOR says" coloured
run query --db known.db --color always --format csv
expect "a format for programs has none" plain
run query --db known.db --color always --format markdown
expect "nor has one to be pasted" plain
echo 'color = always' >.config/latput/config
run diff --db known.db 1 2
expect "always, as configured" coloured
run query --color green
expect_status 2
expect_err "^latput query: --color cannot be 'green': auto, always or never$"
run --color green query
expect_status 2
expect_err "^latput: --color cannot be 'green': auto, always or never$"
run --color
expect_status 2
run help --completion bash
expect_out "--color\\) words='auto always never' ;;"
run help --man
expect_out '^.B LATPUT_PAGER, PAGER$'
finish
