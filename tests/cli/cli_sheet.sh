#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput cpu --sheet: the fact sheets of the published packs, alone and side by side, as table,
# Markdown and JSON; properties.txt of `latput report`; and wrong usage.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

run cpu --sheet --db none.db
expect_status 3
fixture published.db packs.db
zen5=$(sqlite3 packs.db "SELECT run_id FROM property JOIN run_table USING (run_id)
    WHERE uarch = 'zen5' GROUP BY run_id ORDER BY count(*) DESC LIMIT 1")
golden=$(sqlite3 packs.db "SELECT max(run_id) FROM property JOIN run_table USING (run_id)
    WHERE uarch = 'sapphirerapids?'")

# Without a CPU it is the newest by its date, whatever came last into the database.
run cpu --sheet --db packs.db
expect_status 0
expect_out '^Zen 5 \(zen5\), Oxide Virtual Turin-like Processor, on bhyve; run '"$zen5"', 20'
expect_err "run [0-9]+, of .* came by merge"
run cpu --sheet --db packs.db --uarch zen5
expect_status 0
expect_out '^Zen 5 \(zen5\), Oxide Virtual Turin-like Processor, on bhyve; run '"$zen5"', 20'
expect_out '^  Core clock +3\.64 GHz$'
expect_out '^  Width: vector mov +5\.99 IPC +5\.98 to 6\.03 +high$'
expect_out '^  Reorder buffer +446 µops +443 to 449 +high +448 to 896$'
expect_out '^  L1D size +48 KiB +48 to 52 KiB +high +48 KiB$'
expect_out '^  L1D latency +4 clk, 1\.1 ns +4 to 4\.01 +high$'
expect_out '^  L1D read +123 B/clk, 447 GB/s +122 to 123 +high$'
expect_out '^  L1D write +unstable$'
# A fact that is not of its first choice says so, is less sure, and names who contradicts it.
expect_out '^  L2 latency +14 clk, 3\.84 ns .* fair$'
expect_out '^  L2 latency +l1_ways in place of latency_by_footprint \(in doubt\);$'
expect_out '^ +latency_by_page says 10\.9 clk$'
expect_out 'place of another, a value is a level less sure\.'
expect_out '^  Macro-fusion +122 of 144 pairs: cmp, cmp imm, '
expect "no line is wider than 80 columns" test "$(wc -L <"$OUT")" -le 80
cp "$OUT" one.txt

# It is one screen where two facts share a line.
wide() { NO_COLOR=1 script -qec "stty cols $1; '$LATPUT' cpu --sheet --no-pager --db packs.db \
    --run $2" /dev/null </dev/null | tr -d '\r'; }
awk -F '  +' '/^  [A-Za-z0-9]/ { print $2 }' one.txt >names
for width in 100 120; do
    for run in "$zen5" "$golden"; do
        wide $width "$run" >"wide.$run.txt"
        lines=$(awk '/^Sources$/ { below = 1 } /^$/ { below = 0 } !below' "wide.$run.txt" | wc -l)
        expect "$width columns: 50 lines at most, and the sources" test "$lines" -le 50
        expect "$width columns: none is wider" test "$(wc -L <"wide.$run.txt")" -le $width
    done
    while read -r name; do
        expect "$name at $width columns" grep -qF " $name " "wide.$zen5.txt"
    done <names
done
expect "facts" test "$(wc -l <names)" -gt 60
cp "wide.$zen5.txt" "$OUT"
expect_out '^ Reorder buffer +446 µops \(443–449\) \[448–896\]  '
expect_out '  L2 latency +14 clk, 3\.84 ns fair *$'
expect_out '^ Branch history +132 branches \(122–146\) '

# --uarch and --run name the same.
run cpu --sheet --db packs.db --run "$zen5"
expect_status 0
expect "the same by its run" cmp -s one.txt "$OUT"

run cpu --sheet --db packs.db --uarch 'zen5,sapphirerapids?'
expect_status 0
expect_out '^fact +zen5 +sapphirerapids\?$'
expect_out '^  Load queue +212 entries \(208 to 240\) \[202\] +190 entries \(188 to 191\) \[192\]$'
expect_out '^  Misprediction +22\.4 clk, 6\.16 ns \(22\.4 to 22\.5\) +unstable$'
expect_out '^ +sapphirerapids\?: 68 of 144 pairs: cmp, cmp imm, '
cp "$OUT" two.txt
run cpu --sheet --db packs.db --run "$zen5" --run "$golden"
expect_status 0
expect "the same by their runs" cmp -s two.txt "$OUT"

run cpu --sheet --db packs.db --run "$zen5" --run "$golden" --format markdown
expect_status 0
expect_out '^\| fact \| zen5 \| sapphirerapids\? \|$'
expect_out '^\|---\|---\|---\|$'
expect_out '^\| Store queue \| 104 entries \(104 to 105\) \\\[104\\\] \| 112 entries .*\\\[112 to 114\\\] \|$'
expect_out '^\| L2 latency \| 14 clk, 3\.84 ns.* \| .*fair; l1.?_ways in place of '
expect_out '^\| Macro-fusion \| 122 of 144 pairs: .* never bt, shl \| 68 of 144 pairs: '
run cpu --sheet --db packs.db --run "$zen5" --run "$golden" --format json
expect_status 0
expect_schema cpu_sheet "$OUT"
expect_out '"fact": "L2 size", "text": "unstable", "interval": "", "published": "CPUID 2 MiB"'
expect_out '"fact": "L2 read", "text": "47\.1 B/clk, 172 GB/s", "interval": "46\.3 to 48\.2"'
expect_out '"property": "l1_ways", "variant": "", "conclusion": "level 2", "instead_of": "latency_by_footprint"'
expect_out '"instead_of": "latency_by_footprint", "source": "l1_ways in place of latency_by_footprint \(unstable\)", "outcome": "ok", "confidence": 0\.'

# The text file of a run's results begins with it, and has all conclusions below.
run report --db packs.db --run "$golden" --output golden
expect_status 0
expect "of the run that is named" grep -q "; run $golden, 2026-11-22, " golden/properties.txt
expect "properties.txt begins with the sheet" grep -q '^  L1D latency  *5.01 clk, 2.01 ns ' \
    golden/properties.txt
expect "all conclusions are below" grep -q '^Properties of the pipeline$' golden/properties.txt
fixture known.db
run report --db known.db --output forms
expect_status 0
expect "a run without properties has no such file" \
    test ! -e forms/properties.txt -a -e forms/info.txt

fixture known.db
run cpu --sheet --db known.db --uarch testa
expect_status 3
expect_err 'no properties of testa; latput property measures them'
run cpu --sheet --db packs.db --uarch zen6
expect_status 2
expect_err "no results of the uarch 'zen6', only of emeraldrapids, sapphirerapids\?, zen5; did you mean 'zen5'\?"
run cpu --sheet --db packs.db --uarch spr,znver5
expect_status 0
expect_out 'sapphirerapids\? .* zen5'
run cpu --sheet --db packs.db --run 99
expect_status 2
run cpu --sheet --db packs.db --format xml
expect_status 2
expect_err "unknown format 'xml'; there are table, json, markdown, html and latex"
run cpu --sheet --db packs.db --load "$TREE/tests/fixtures/cpu/zen5.cpuid"
expect_status 2
expect_err 'load does nothing beside --sheet'
run cpu --format markdown
expect_status 2
expect_err 'want --sheet'
run cpu --run 1
expect_status 2
expect_err 'run does nothing without --sheet'
finish
