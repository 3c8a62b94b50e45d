#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput compare llvm on a recorded database, against the expected output; what it says where LLVM
# is not there. `make golden` rewrites the expected output.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
golden=$TREE/tests/fixtures/golden
cat "$TREE/db/schema.sql" "$TREE/db/views.sql" "$golden/ports_run.sql" >all.sql
sqlite3 -batch -bail real.db <all.sql >/dev/null || exit 99

run compare --db real.db
expect_status 2
run compare --db real.db gcc
expect_status 2
run compare llvm --db real.db --mcpu '-x; y'
expect_status 2
expect_err 'give one with --mcpu'

# A directory of programs without LLVM's.
mkdir bin
for tool in nasm sh; do ln -s "$(command -v $tool)" bin/; done
PATH=$SCRATCH/bin run compare llvm --db real.db
expect_status 3
expect_err 'llvm-mc-19 cannot be run; this needs LLVM 19 or newer: apt-get install llvm-19'

# Nor is another version taken for it.
printf '#!/bin/sh\necho LLVM version 14.0.6\n' >bin/llvm-mc
chmod +x bin/llvm-mc
PATH=$SCRATCH/bin run compare llvm --db real.db
expect_status 3
expect_err 'llvm-mc-19 cannot be run; this needs LLVM 19 or newer: apt-get install llvm-19'

llvm_19 llvm-exegesis >/dev/null || {
    echo "LLVM 19 is not installed"
    exit $((CLI_FAILED ? 1 : 77))
}
run compare llvm --llvm 19 --db real.db nosuch
expect_status 2
expect_err 'no forms of .* match$'
run compare llvm --llvm 19 --db real.db
expect_status 0
expect "lines fit a terminal" test "$(LC_ALL=C.UTF-8 wc -L <"$OUT")" -le 80
# By hand: setcc stands in Golden Cove's model with two µops.
expect_out 'SETCCr: throughput, µops'
if [ "${LATPUT_GOLDEN:-}" = rewrite ]; then
    cp "$OUT" "$golden/compare.txt"
else
    expect "output as in compare.txt (make golden rewrites it)" diff -u "$golden/compare.txt" "$OUT"
fi
# docs/COMPARISON.md shows what its commands print, asked of the published runs. (With sanitizers
# there is no database of them.)
[ ! -e "$BUILD/published.db" ] || awk '/^```/ { on = !on; next } on && /^\$ / { print substr($0, 3) > (++n ".command"); next }
    on && !/^\.\.\.$/ { print > (n ".shown") }' "$TREE/docs/COMPARISON.md"
for command in [0-9].command; do
    [ -e "$command" ] || continue
    read -ra words <"$command"
    LATPUT_DB=$BUILD/published.db run "${words[@]:1}"
    if [ "${LATPUT_GOLDEN:-}" = rewrite ]; then # as many lines of it as there are
        LC_ALL=C.UTF-8 awk -v out="$OUT" -v command="$ ${words[*]}" '
            on && /^\.\.\.$/ { on = 0 }
            on { if ((getline line <out) > 0) $0 = line }
            { print }
            $0 == command { on = 1 }' "$TREE/docs/COMPARISON.md" >document
        cat document >"$TREE/docs/COMPARISON.md"
        continue
    fi
    expect "as COMPARISON.md shows it" \
        diff "${command%.*}.shown" <(head -n "$(wc -l <"${command%.*}.shown")" "$OUT")
done
run compare llvm --llvm 19 --db real.db --format json --entries 2
expect_status 0
expect_out '"mcpu": "sapphirerapids", "compared": 1[0-9],'
has python3 && expect "two entries of valid JSON" python3 -c 'import json,sys
found = json.load(open(sys.argv[1]))[0]
assert len(found["entries"]) == 2
assert all(e["members"] and e["model_resources"] for e in found["entries"])
counts = [e["per_million"] for e in found["entries"]]
assert counts == sorted(counts, reverse=True), counts' "$OUT"
expect_schema compare "$OUT"
# Facts for a patch: LLVM's opcodes, and its names of the ports.
expect_out '"opcode": "SETCCr".*"ports_llvm": "1\*SPRPort00_06"'
run compare llvm --llvm 19 --db real.db --format html --entries 3
expect_status 0
expect_out '<h2>1\. SETCCr</h2>'
expect_out '1/tput 0\.51, 1\*p06, to LLVM 1\*SPRPort00_06<td class=p>setz r8<td class=p>SETCCr'
expect_out '2 more: --entries 0'
expect "an entry each" test "$(grep -c '^<section' "$OUT")" = 3
if [ "${LATPUT_GOLDEN:-}" = rewrite ]; then
    cp "$OUT" "$golden/compare.html"
else
    expect "output as in compare.html (make golden rewrites it)" diff -u "$golden/compare.html" \
        "$OUT"
fi
run compare llvm --llvm 19 --db real.db --format yaml
expect_status 2
run compare llvm --llvm 19 --db real.db --mcpu znver4 'imul*'
expect_status 0
expect_out 'scheduling model of znver4: 1 forms'
run compare llvm --llvm 19 --db real.db --mcpu nocpu
expect_status 3
run compare llvm --llvm 19 --db real.db --format csv
expect_status 0
expect_out '^llvm,[0-9]+,SETCCr,setz r8,legacy,64,.*,uops,,,2,2,0,1,1,,,,not explained,$'
expect_out '^llvm,[0-9]+,IMUL64rr,imul r64 r64,legacy,64,.*,latency,,,3,3,0,.*,agrees,$'
run compare llvm --llvm 58 --db real.db
expect_status 3
expect_err 'llvm-mc-58 cannot be run; this needs LLVM 58: apt-get install llvm-58'
run compare llvm --db real.db --format json --entries 0
expect_status 0
expect_out '"opcode": "SETCCr"' # of the newest
finish
