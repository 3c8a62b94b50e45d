#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput property: what it lists and refuses; and, with lists of its own, measuring: a curve that is
# known beforehand, resuming, rederiving, a pack and its merge.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/../cli/cli.sh"

run property --list
expect_status 0
expect_out '^core$'
expect_out '^  reorder_buffer +Reorder buffer$'
run property reorder_bufer --db none.db
expect_status 2
expect_err "no property 'reorder_bufer'; did you mean 'reorder_buffer'"
expect "a wrong name leaves no database" [ ! -e none.db ]
run property --points
expect_status 2
expect_err 'points wants --format csv'
run property --show --db none.db
expect_status 3

# A tree of its own, whose properties are known: nops by number, and one that cannot be measured.
mkdir -p root/lists/properties root/build
for part in cpuinfo db; do ln -s "$TREE/$part" "root/$part"; done
cp -r "$TREE/macros" root/macros
cp "$TREE/lists/exceptions.csv" root/lists/
ln -s "${BUILD:-$TREE/build}"/core*.o root/build/
export LATPUT_ROOT=$SCRATCH/root
columns=name,title,question,x_unit,y_unit,variants,sweep,by,template,data,count,reading,compare
columns+=,options
cat >root/macros/own.inc <<'EOF'
%ifndef OWN_INC
%define OWN_INC
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
; The timed one asks, the company answers.
%macro ask_init 3-*
    mov rbx, area_at(0)
%endmacro
%macro ask_body 3-*
    mov dword [rbx], 1
%ifnidn %1, crashes
%%wait:
    cmp dword [rbx], 2
    jne %%wait
%endif
%endmacro
%macro ask_company_init 3-*
    mov rbx, area_at(0)
%endmacro
%macro ask_company 3-*
%ifidn %1, crashes
    ud2
%endif
    mov eax, 1
    mov ecx, 2
    lock cmpxchg [rbx], ecx
%endmacro
%macro call_body 3-*
    mov eax, 110 ; getppid
    syscall
%endmacro
%endif
EOF
chase_data='chase.inc:chase,chase 0 bytes=x' ask_data='own.inc:ask,zero 0 bytes=4K shared; chase 1 bytes=64K'
cat >root/lists/properties/own.csv <<EOF
# Own
$columns
chain,Chains,How long are chains?,links,clk,add imul,linear 8..40 step 4,,own.inc:chain,,1,slope,,
chase,Chase,Is it one?,bytes,ns,,values 4096 8192 16384,,$chase_data,8,plateaus,,
crash,Crash,What if it does?,times,clk,,values 1 2,,own.inc:crash,,1,knee,,
EOF

# With company on another CPU; and system calls, which the core lets through where the row says so.
cat >root/lists/properties/wider.csv <<EOF
# Wider
$columns
ask,Ask,Does it answer?,times,ns,answers,values 1 2,,$ask_data,1,level,,company=core
fails,Fails,What if company crashes?,times,ns,crashes,values 1,,$ask_data,1,level,,company=core
call,Call,What is a call?,times,ns,,values 1,,own.inc:call,,1,level,,permit=call
refused,Refused,What if it is not allowed?,times,ns,,values 1,,own.inc:call,,1,level,,
EOF
run check "$SCRATCH/root/lists/properties/wider.csv"
expect_status 0
mv root/lists/properties/wider.csv .

run check "$SCRATCH/root/lists/properties/own.csv"
expect_status 0
expect_err '^3 properties, 0 problems$'
sed 's/own.inc:crash/own.inc:crush/; s/values 4096/value 4096/' root/lists/properties/own.csv \
    >root/lists/properties/bad.csv
run check "$SCRATCH/root/lists/properties/bad.csv"
expect_status 2
expect_err "bad\.csv:4: 'value' is none of linear"
expect_err "bad\.csv:5: at the point .* macros/own.inc has no macro crush_body"
run property --list
expect_status 2
rm root/lists/properties/bad.csv

run property --db one.db --format csv
expect_status 0
expect_out '^own,chain,add,slope,(1|0\.99|1\.0[0-9])[0-9.]*,.*,ok,'
expect_out '^own,chain,imul,slope,(3|2\.9|3\.0)[0-9.]*,.*,ok,'
expect_out '^own,crash,.*SIGILL'
expect_err '^latput property: 3 measured, run 1, '
run property --db one.db --show --format csv --points chase
expect_status 0
expect "three points of the chase" [ "$(grep -c '^chase,,' "$OUT")" = 3 ]
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
expect_out '^Chains '

# Of hosts that are never quiet nothing more is wanted than that.
mv wider.csv root/lists/properties/
run property --db wider.db --format csv call refused
expect_status 0
expect_out '^wider,call,.*(ok|unstable),'
expect_out '^wider,refused,.*SIGSYS'
run property --db wider.db --format csv ask fails
expect_status 0
if ! grep -q 'two CPUs\|one core' "$OUT"; then
    expect_out '^wider,ask,.*(ok|unstable),'
    expect_out '^wider,fails,.*SIGILL'
fi

# Stopped by a signal, or killed: what was measured by then stays whole, and --resume goes on with
# it.
rm root/lists/properties/*.csv
{
    printf '# Long\n%s\n' "$columns"
    for i in 1 2 3 4; do
        echo "long$i,Long,How long?,links,clk,add,linear 8..40 step 2,,own.inc:chain,,1,slope,,"
    done
} >root/lists/properties/long.csv
stored() {
    [ -s stop.db ] && sqlite3 stop.db "SELECT count(*) FROM property" 2>/dev/null || echo 0
}
stop_by() {
    env --default-signal=INT "$LATPUT" property --db stop.db -q --resume >"$OUT" 2>"$ERR" &
    pid=$!
    local before
    before=$(stored)
    for _ in $(seq 1200); do
        [ "$(stored)" -gt "$before" ] || ! kill -0 "$pid" 2>/dev/null && break
        sleep 0.1
    done
    kill "-$1" "$pid" 2>/dev/null
    STATUS=0
    wait "$pid" 2>/dev/null || STATUS=$?
}
stop_by INT
CLI_COMMAND="latput property, stopped by SIGINT"
expect "it says that results are missing ($STATUS)" [ "$STATUS" = 1 ]
expect_err 'stopped by SIGINT .*--resume goes on'
stop_by KILL
CLI_COMMAND="latput property, killed"
expect "the database is whole" [ "$(sqlite3 stop.db 'PRAGMA integrity_check')" = ok ]
expect "no property has lost its points" [ "$(sqlite3 stop.db \
    "SELECT count(*) FROM property WHERE property_id NOT IN
        (SELECT property_id FROM property_variant)")" = 0 ]
run property --db stop.db -q --resume
expect_status 0
expect_err '4? ?measured \([1-3] from before\), run 1,'
expect "all of them, in one run" [ "$(sqlite3 stop.db \
    'SELECT count(*), count(DISTINCT run_id) FROM property')" = "4|1" ]
run property --db one.db --show --diff 1
expect_status 0
expect_out ', 0 within their intervals, 0 differ, 0 in doubt; 0 only in the'
run property --diff 1
expect_status 2
finish
