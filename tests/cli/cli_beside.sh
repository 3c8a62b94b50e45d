#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput query --beside, latput site --beside: the values of a table of others as columns, which no
# database keeps.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
cat "$TREE/db/schema.sql" "$TREE/db/views.sql" "$TREE/tests/fixtures/golden/ports_run.sql" |
    sqlite3 -batch -bail real.db >/dev/null || exit 99
export LATPUT_DB=$PWD/real.db
cp real.db before.db
{
    echo 'mnemonic,operands,latency,throughput,ports'
    echo 'imul,r64 r64,3.12,1.5,1*p1'
    echo 'imul,r64 r64,9,9,1*p5' # the first of several rows counts
    echo 'addps,x x,≤4.5,,'
    echo 'setz,r8,,≤0.75,'
    echo 'frob,r8,7,7,1*p0'
} >others.csv

run query --beside others.csv --uarch spr --format csv 'imul r64 r64' 'addps x x' 'setz r8'
expect_status 0
expect_err 'others.csv, a CSV: 3 forms of sapphirerapids\? have values of it'
expect_out '^uarch,.*,their_latency_clk,their_latency_bound,their_rthroughput_clk,their_ports,their_rthroughput_bound$'
expect_out '^sapphirerapids\?,imul,.*,3\.12,exact,1\.5,1\*p1,exact$'
expect_out '^sapphirerapids\?,addps,.*,4\.5,upper,,,$'
expect_out '^sapphirerapids\?,setz,.*,,,0\.75,,upper$'
run query --beside others.csv:spr 'imul r64 r64' # the CPU beside the file
expect_status 0
expect_out 'latency +max +their latency .*their 1/tput'
expect_out ' 3\.12 .* 1\.50 .*1\*p1'
run query --beside others.csv:spr 'their_latency > 3' --format json
expect_status 0
expect_out '"their_latency_clk": 3\.12'
expect_schema query "$OUT"
run query --beside others.csv --run 1 --uarch spr --sort=-their_throughput --limit 1 --columns \
    form,their_rthroughput_clk --format csv
expect_status 0
expect_out '^imul r64 r64,1\.5$'

# Times in ns with their clock; and a second table of the CPU has no place.
{
    echo 'mnemonic,operands,latency,latency_ns,mhz'
    echo 'imul,r64 r64,,0.78,4000'
    echo 'addps,x x,4.25,1,4000' # cycles are what it says
    echo 'setz,r8,,1,-3'
} >ns.csv
run query --beside ns.csv:spr --format csv --columns form,their_latency_clk 'imul r64 r64' \
    'addps x x' 'setz r8'
expect_status 0
expect "cycles" test "$(tail -n +2 "$OUT" | sort | xargs)" = \
    'addps x x,4.25 imul r64 r64,3.12 setz r8,'
run query --beside others.csv:spr --beside ns.csv:spr
expect_status 2
expect_err 'others.csv and ns.csv are both of sapphirerapids\?: one table can stand beside a CPU'

# Differences of two CPUs have them, too.
fixture known.db
printf 'mnemonic,operands,latency,throughput\nadd,r64 r64,≤3,0.3\n' >add.csv
run diff --db known.db --beside add.csv:testb --format csv testa testb add
expect_status 0
expect_out '^form,.*,testa\.their_latency_clk,testb\.their_latency_clk,'
expect_out '^add r64 r64,.*,slower,sure,2,result_latency_clk,.*,,3\.00,,0\.30,,,not explained,$'
run diff --db known.db --beside add.csv:testb --format json testa testb add
expect_out '"their_latency_clk": 3, "their_latency_clk_mark": "≤"'
expect_schema diff "$OUT"
run diff --db known.db --beside add.csv:testb testa testb add
expect_out 'their latency'
expect_out ' - → ≤3\.00 '

# Without it there is no such column; not every view has one.
run query --format csv 'imul r64 r64'
expect "no column of theirs" test -z "$(grep their_ "$OUT")"
run query 'their_latency > 3'
expect_status 2
run query --latency --beside others.csv:spr
expect_status 2
expect_err '^latput query: --beside is for the instruction table'
run query --beside others.csv
expect_status 2
expect_err 'others.csv does not say of which CPU it is: --beside others.csv:CPU, or --uarch'
run query --beside others.csv:zen2
expect_status 2
expect_err 'zen2'
run query --beside missing.csv --uarch spr
expect_status 2
expect_err 'missing.csv: No such file'

# The page has them as data, and its table and details show them.
run site --beside others.csv:spr --output page
expect_status 0
expect "columns of the page" grep -q '"name":"their_latency_clk"' page/data/columns.js
expect "values of the page" \
    grep -qE '"their_latency_clk":\[(\[[0-9]+\]|[^]])*3120' page/data/cpu_*[!0-9].js
run site --output alone
expect_status 0
expect "no columns of theirs" test -z "$(grep -l their_ alone/data/*.js)"
if has chromium; then
    timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" \
        --virtual-time-budget=5000 --dump-dom \
        "file://$PWD/page/index.html?search=imul&form=imul+r64+r64" >shown 2>/dev/null
    expect "cells have both" grep -q '>3\.00 (3\.12)<' shown
    expect "details have theirs" grep -q 'their latency</dt><dd>3\.12<' shown
fi
expect "nothing is stored" cmp real.db before.db
finish
