#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# alltests.sh from end to end on a core made of text: a run with ports, properties (a few of our
# own), tables, a page and a pack, which say what the script of that core says. Nothing is installed
# or built.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"
# shellcheck source=tests/cli/property.sh
. "$TREE/tests/cli/property.sh"

text_machine quiet <<'END'
memory 32768 4
memory 1048576 14
memory 16777216 50
END
property_tree </dev/null
data='chase.inc:chase,chase 0 bytes=x,8'
property_list Memory <<END
chase,Chase,How long?,bytes,clk,,geometric 4K..4M per 2,,$data,plateaus geometric,,quick
END
rm -r root/build
ln -s "$BUILD" root/build
ln -sf "$TREE"/lists/*.csv "$TREE/lists/selection" root/lists/
ln -s "$TREE/site" root/
cp "$TREE/alltests.sh" root/
printf '#!/bin/sh\n' >root/install-deps.sh
printf 'all:\n' >root/Makefile
chmod +x root/install-deps.sh

# Help is no run.
CLI_COMMAND='alltests.sh --help'
root/alltests.sh --help >"$OUT" 2>"$ERR"
STATUS=$?
expect_status 0
expect_out '^Usage: ./alltests.sh .OPTIONS OF latput run.$'
expect_out 'Exit status as .latput run.: 0$'
expect "nothing is begun" [ ! -e root/results ]

CLI_COMMAND='alltests.sh --quick'
root/alltests.sh --quick --db "$SCRATCH/all.db" --results "$SCRATCH/results" >"$OUT" 2>"$ERR" \
    </dev/null
STATUS=$?
expect_status 0
expect_out "^Results are in $SCRATCH/results/: tables"
cd results || exit 99
expect "the table of the script" test "$(grep -cE -e '^add r64 r64 +legacy +1\.00 +1\.00 +0\.25 ' \
    -e '^imul r64 r64 +legacy +3\.00 +3\.00 +1\.00 ' -e '^div r64 .* 8\*B1\??( |$)' \
    -e '^add m64 r64 .* 1\*B4\+1\*C2\+1\*D1$' quick.txt)" = 4
expect "who was measured" grep -q '^CPU +simulated: a core made of text$' -E info.txt
expect "the levels of memory" test "$(grep -cE -e ' 4 clk up to 32 KiB ' -e ' 14 clk up to 1 MiB ' \
    -e ' 50 clk beyond$' properties.txt)" = 3
expect "pictures" grep -q '</svg>' ports.svg
if has gnuplot; then
    expect "curves" grep -q '</svg>' plots/chase.svg
    grep -q 'plots/' "$OUT" || cli_fail "it names them"
fi
expect "a page" test -s site/index.html -a -s site/data/cpu_zen5.js -a -s site/data/properties.js
expect "the fact sheet for the page" \
    grep -q '"sheets":\[{"run_id":[0-9]*,"uarch":"zen5",' site/data/properties.js
run merge --db merged.db ./*.tar.xz
expect_status 0
for table in run_form result port_class property; do
    expect "the pack has each $table" test "$(sqlite3 merged.db "SELECT count(*) FROM $table")" = \
        "$(sqlite3 ../all.db "SELECT count(*) FROM $table")"
done
cd .. || exit 99

# A machine with two kinds of cores gives tables and a pack for each, and one page.
text_machine hybrid zen5 alderlake <<<'width 6'
{
    cat "$TREE/tests/text/zen5.text"
    printf '%s\n' 'width 5' 'form "imul *" p3 5'
} >"$LATPUT_MACHINE/core.23.text"
CLI_COMMAND='alltests.sh on two kinds of cores'
root/alltests.sh --filter 'imul r64 r64' --tests LT --db "$SCRATCH/hybrid.db" \
    --results "$SCRATCH/kinds" >"$OUT" 2>"$ERR" </dev/null
STATUS=$?
expect_status 0
expect_out 'of the kind of core alderlake_e are in .*/kinds/alderlake_e/[.]$'
for kind in alderlake_p:3 alderlake_e:5; do
    clk=${kind#*:} kind=${kind%:*}
    expect "the tables of $kind" grep -qE "^imul r64 r64 +legacy +$clk\.00 +$clk\.00 +1\.00" \
        "kinds/$kind/integer_multiply_divide.txt"
    expect "its machine" grep -q "$kind" "kinds/$kind/info.txt"
    expect "its pack" test "$(find kinds -maxdepth 1 -name "*-$kind-*.tar.xz" | wc -l)" = 1
    expect "its part of the page" test -s "kinds/site/data/cpu_$kind.js"
done
finish
