#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput property: what it lists and refuses; and, with lists of its own on a core made of text:
# curves that are known beforehand, stopping, resuming, rederiving, a pack and its merge.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"
# shellcheck source=tests/cli/property.sh
. "$TREE/tests/cli/property.sh"

run property --list
expect_status 0
expect_out '^core$'
expect_out '^  reorder_buffer +Reorder buffer$'
run property --list handover
expect_status 0
expect_out '^  bypass_delay +Bypass delay$'
run property reorder_bufer --db none.db
expect_status 2
expect_err "no property 'reorder_bufer'; .* them; did you mean 'reorder_buffer'\?$"
expect "a wrong name leaves no database" [ ! -e none.db ]
run property --points
expect_status 2
expect_err 'points wants --format csv'
run property --show --db none.db
expect_status 3
run property --diff 1
expect_status 2

# Chains by their number of links, chases by their bytes, and one that cannot be measured.
property_tree <<'END'
%macro chain_body 3-*
%rep %2
%ifidn %1, add
    add eax, 1
%else
    imul eax, eax
%endif
%endrep
%endmacro
%macro crash_body 3-*
    ud2
%endmacro
%macro long_body 3-*
    times %2 nop
%endmacro
END
text_machine levels <<'END'
memory 8192 4
memory 65536 14
memory 1048576 50
fault ud2 signal ILL
END
chase='chase.inc:chase,chase 0 bytes=x,8'
property_list Own <<END
chain,Chains,How long are chains?,links,clk,add imul,linear 8..40 step 4,,own.inc:chain,,1,slope,,
edge,Edge,Where does it end?,bytes,clk,,linear 2048..16384 step 1024,,$chase,knee,,
chase,Chase,Is it one?,bytes,clk,,geometric 4K..512K per 2,,$chase,plateaus geometric,,
crash,Crash,What if it does?,times,clk,,values 1 2,,own.inc:crash,,1,knee,,
END
run check "$SCRATCH/root/lists/properties/own.csv"
expect_status 0
expect_err '^4 properties, 0 problems$'
sed 's/own.inc:crash/own.inc:crush/; s/geometric 4K/geometry 4K/' root/lists/properties/own.csv \
    >root/lists/properties/bad.csv
run check "$SCRATCH/root/lists/properties/bad.csv"
expect_status 2
expect_err "bad\.csv:5: 'geometry' is none of linear"
expect_err "bad\.csv:6: at the point .* macros/own.inc has no macro crush_body"
run property --list
expect_status 2
rm root/lists/properties/bad.csv

run property --db one.db --format csv
expect_status 0
expect_out '^own,chain,add,slope,(1\.00|0\.99)[0-9]*,.*,ok,1,'
expect_out '^own,chain,imul,slope,(3\.00|2\.99)[0-9]*,.*,ok,1,'
expect_out '^own,edge,,knee,8192,'
expect_out ',ok,1,"4 clk up to 8 KiB, 14 clk up to 64 KiB, 50 clk"$'
expect_out '^own,crash,.*,unsupported,,SIGILL'
expect_err '^latput property: 4 measured, run 1, '
expect_err '^latput property: time: [0-9.]+ s [(]measuring [0-9.]+ s, waiting for programs '
expect "its time" test "$(sqlite3 one.db 'select measuring_s > 0 and programs_s > 0 and
    inferring_s > 0 and measuring_s + programs_s + inferring_s <= total_s and refused_share = 0
    and repeats >= (select sum(tried) from sweep_timing) from run_table')" = 1
run property --db one.db --show --format csv --points chase
expect_status 0
expect_out '^chase,,65536,bytes,,,(14\.00|13\.99)'
expect_out '^chase,,131072,bytes,,,(50\.00|49\.99)'
run property --db one.db --show --format markdown --points chase
expect_status 0
expect_out '^\| chase \| 65536 \| bytes \| (14\.00|13\.99) \|'
run property --db one.db --show --format html edge
expect_out '<td>edge</td><td>.*</td><td style="text-align:right">8192</td>'
run property --db one.db --show --diff 1 --format markdown
expect_status 0
expect_out '^\| group \| property \| variant \| verdict \|'
run property --db one.db --show --format json chain
expect_out '"property": "chain"'
expect_schema property "$OUT"
run rederive --db one.db
expect_status 0
expect_out ', 0 of them differ'
run pack --db one.db --with-samples --output one.zip
expect_status 0
run merge --db two.db one.zip
expect_status 0
run property --db two.db --show
expect_status 0
expect_out '^Zen 5 \(zen5\), .*; run 1, 20'
expect_out '^Chains '
run property --db two.db --show --uarch zen5
expect_out '^Zen 5 \(zen5\), .*; run 1, '
run property --db two.db --show --uarch zen4
expect_status 2
expect_err "has no results of the uarch 'zen4'"
# A second run says the same.
run property --db one.db --quiet
expect_status 0
run property --db one.db --show --diff 1
expect_status 0
expect_out '^first: Zen 5 \(zen5\), .*; run 1,'
expect_out '^second: Zen 5 \(zen5\), .*; run 2,'
expect_out ', 0 differ, 0 in doubt; 0 only in the'
# A later run of one property does not hide those of all; asked for by name, it is the newest.
cp one.db again.db
run property --db again.db --quiet chain
expect_status 0
run property --db again.db --show
expect_status 0
expect_out '; run 2, '
run cpu --sheet --db again.db
expect_out '; run 2, '
run property --db again.db --show chain
expect_out '; run 3, '
# In a database of schema 29 a run may have a property under its older name: it is the same.
sqlite3 one.db "DROP TRIGGER property_no_update;
    UPDATE property SET name = iif(run_id = 1, 'handover', 'bypass_delay') WHERE name = 'chain';
    CREATE TRIGGER property_no_update BEFORE UPDATE ON property
        BEGIN SELECT raise(ABORT, 'facts are append-only: property'); END" || exit 99
version=$(sqlite3 one.db "PRAGMA user_version")
sqlite3 one.db <"$TREE/db/migrations/0030_property_names.sql" || exit 99
sqlite3 one.db "PRAGMA user_version = $version"
run rederive --db one.db
expect_status 0
run property --db one.db --show --diff 1 --format csv
expect_status 0
expect_out '^own,bypass_delay,add,same,'
expect "no older name" [ "$(grep -c handover "$OUT")" = 0 ]
# The newest run is the one with the latest date, whatever its number.
sqlite3 one.db "DROP TRIGGER run_no_update; DROP TRIGGER run_finish_once;
    UPDATE run SET started_utc = '2020-01-02T03:04:05Z' WHERE run_id = 2" || exit 99
run query --db one.db --runs --columns run --format csv
expect "the newest comes first" [ "$(tr '\n' ' ' <"$OUT")" = "run_id 1 2 " ]
expect "its properties count" [ "$(sqlite3 -readonly one.db \
    'SELECT DISTINCT run_id FROM property_table')" = 1 ]

# Stopped by a signal, or killed, when one of four is done: that stays whole, and --resume continues
# with it. A record takes a while here.
rm root/lists/properties/*.csv
text_machine slow <<<'pace 2'
property_list Long < <(for i in 1 2 3 4; do
    echo "long$i,Long,How long?,links,clk,add,linear 8..40 step 4,,own.inc:chain,,1,slope,,"
done)
stored() {
    [ -s stop.db ] && sqlite3 stop.db "SELECT count(*) FROM property" 2>/dev/null || echo 0
}
stop_by() {
    env --default-signal=INT "$LATPUT" property --db stop.db -q --resume >"$OUT" 2>"$ERR" &
    pid=$!
    local before
    before=$(stored)
    while [ "$(stored)" = "$before" ] && kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
    kill "-$1" "$pid" 2>/dev/null
    STATUS=0
    wait "$pid" 2>/dev/null || STATUS=$?
    CLI_COMMAND="latput property, after SIG$1"
}
stop_by INT
expect_status 1
expect_err 'stopped by SIGINT .*--resume continues'
stop_by KILL
expect_status 137
expect "the database is whole" [ "$(sqlite3 stop.db 'PRAGMA integrity_check')" = ok ]
expect "no property has lost its points" [ "$(sqlite3 stop.db \
    "SELECT count(*) FROM property WHERE property_id NOT IN
        (SELECT property_id FROM property_variant)")" = 0 ]
run property --db stop.db -q --resume
expect_status 0
expect_err '4? ?measured \([1-3] from before\), run 1,'
expect "all of them, in one run" [ "$(sqlite3 stop.db \
    'SELECT count(*), count(DISTINCT run_id) FROM property')" = "4|1" ]

# Long code pushes that of the gate out of the caches, which is no neighbour.
text_machine evicting <<<'evicts 8192 3000'
sweep='linear 9216..65536 step 4096'
property_list Long <<END
long,Long code,How long is it?,bytes,clk,,$sweep,,own.inc:long,,x,level,,copies=1
END
run property --db long.db --format csv long
expect_status 0
expect "nearly all repeats count" test "$(sqlite3 long.db 'select refused_share < 0.1 and
    repeats > 100 from run_table')" = 1

finish
