#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput counters: lists events and sets of any family in three formats, whether or not this machine
# can count, and says so.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

run counters --uarch skylake
expect_status 0
expect "nothing on standard error" test ! -s "$ERR"
expect_out '^skylake \(Skylake client'
expect_out '^[0-9]+ events, 4 general and 3 fixed counters; table version [0-9]+, scheme arch$'
expect_out '^group +event +code +counters +meaning$'
expect_out '^clock  +core_clk  +event=0x3c,umask=0x00 +any, fixed 1 +core clock cycles'
expect_out '^  +p7  +event=0xa1,umask=0x80 +any +µops on port 7'
run counters --uarch skylake --wide
expect_out '^group +event +code +counters +name +meaning$'
expect_out \
    '^clock  +core_clk  +event=0x3c,umask=0x00 +any, fixed 1 +CPU_CLK_UNHALTED.THREAD_P +core clock cycles'
expect_out '^  +p7  +event=0xa1,umask=0x80 +any +UOPS_DISPATCHED_PORT.PORT_7 +µops on port 7'

# On a terminal no line of a table is wider, and what that costs is said; on a wide one, with
# --wide, and in a pipe there is one line an event.
if command -v script >/dev/null; then
    terminal() { # COLUMNS, arguments
        local columns=$1
        shift
        CLI_COMMAND="latput counters $*, $columns columns"
        NO_COLOR=1 script -qec "stty cols $columns; $LATPUT counters $*" /dev/null </dev/null 2>&1 |
            tr -d '\r' >"$OUT"
    }
    widest() { wc -L <"$OUT"; }
    for uarch in skylake zen4 netburst lunarlake_p zhaoxin_zxc; do
        terminal 80 list --uarch $uarch
        expect "no line is wider than the terminal" test "$(widest)" -le 80
        terminal 120 list --uarch $uarch
        expect "no line is wider than the terminal" test "$(widest)" -le 120
        terminal 80 --sets --uarch $uarch
        expect "no line is wider than the terminal" test "$(widest)" -le 80
    done
    terminal 80 list --uarch skylake
    expect_out '^p7 +µops on port 7$'
    expect_out \
        '^latput counters: fitted to the terminal: without name, counters, code, group;$'
    terminal 120 list --uarch skylake
    expect_out '^  +p7  +event=0xa1,umask=0x80 +µops on port 7$'
    expect_out '^ +machine_clears +event=0xc3,umask=0x01,cmask=1, +pipeline restarts of any kind$'
    expect_out '^ {40,}edge$'
    terminal 80 list --uarch skylake --wide
    expect_out '^  +p7  +event=0xa1,umask=0x80 +any +UOPS_DISPATCHED_PORT.PORT_7 +µops on port 7'
    expect "nothing is left out" test "$(grep -c fitted "$OUT")" = 0
    terminal 80 list
    expect "what is said of this machine fits, too" test "$(widest)" -le 80
    terminal 300 list --uarch skylake
    expect_out '^  +p7  +event=0xa1,umask=0x80 +any +UOPS_DISPATCHED_PORT.PORT_7 +µops on port 7'
fi

run counters list 'BRANCH*' '*PORT_0' --uarch skylake --format csv
expect_status 0
expect_out '^uarch,group,event,code,counters,name,pfm,meaning,note$'
expect_out \
    '^skylake,ports,p0,"event=0xa1,umask=0x01",any,UOPS_DISPATCHED_PORT.PORT_0,UOPS_DISPATCHED_PORT:PORT_0,µops on port 0,$'
expect_out '^skylake,branches,branch_misses,'
expect "nothing else is listed" test "$(grep -cv ',branches,\|,p0,' "$OUT")" = 1

run counters list --uarch netburst --format json uops_retired
expect_status 0
expect_out '"code": "event=0x01,umask=0x01,select=4", "counters": "12-17"'
expect "the JSON is valid" test "$(sqlite3 :memory: "SELECT json_valid(readfile('$OUT'))")" = 1
run counters --sets --uarch zen5 --format json
expect "the JSON of sets is valid" test "$(sqlite3 :memory: \
    "SELECT json_extract(readfile('$OUT'), '\$[0].sets[1].set')")" = branches
run counters --sets --uarch p5
expect_out '^branches +core_clk instructions branches '
run counters --sets --uarch p5 --format csv
expect_out '^p5,caches,core_clk instructions l1d_miss l1i_miss$'
run counters list no_such_event --uarch p5 --format csv
expect_status 0
expect "only the header" test "$(wc -l <"$OUT")" = 1

# Every family has a list whose events are all of its file.
for file in "$TREE"/cpuinfo/counters/*.csv; do
    uarch=$(basename "$file" .csv)
    "$LATPUT" counters --uarch "$uarch" --format csv >out.csv || break
    [ $(($(wc -l <out.csv) - 1)) = $(($(grep -cv '^#' "$file") - 1)) ] || break
    uarch=
done
expect "all events of $uarch are listed" test -z "$uarch"

# Every family has the four sets, and they count what they are called after. VIA Nano's and ZX-C's
# few events are not enough for that; an unknown CPU has those that CPUID announces.
for file in "$TREE"/cpuinfo/counters/*.csv; do
    uarch=$(basename "$file" .csv)
    case $uarch in via_nano | zhaoxin_zxc | unknown) continue ;; esac
    run counters --sets --uarch "$uarch" --format csv
    expect_out "^$uarch,instructions,core_clk instructions"
    expect_out "^$uarch,branches,core_clk instructions .*branch"
    expect_out "^$uarch,loops,core_clk instructions "
    expect_out "^$uarch,caches,core_clk instructions .*(miss|fill|refill)"
done

# A dump: what CPUID announces goes before the table; unknown CPUs have architectural events.
run counters --load "$TREE/tests/fixtures/cpu/zen5.cpuid"
expect_status 0
expect "nothing on standard error" test ! -s "$ERR"
expect_out '^zen5 '
# One CPU of each way to program counters: the numbers are those of the dump, where it has them.
while read -r dump general fixed scheme event; do
    run counters --load "$TREE/tests/fixtures/cpu/$dump.cpuid"
    expect_status 0
    expect_out "^[0-9]+ events, $general general and $fixed fixed counters; .*, scheme $scheme\$"
    expect_out "^([a-z]+)? +$event +event="
done <<'LIST'
p6 2 0 p6 uops_retired
via_nano 2 0 via instructions
k10 4 0 k7 uops_retired
zen2 6 0 amd15h fp_flops_retired
zen5 6 0 amdv2 uops_dispatched
skylake 4 3 arch p7
alderlake_p 6 4 arch p23a
alderlake_e 6 3 arch topdown_retiring
zhaoxin_zxe 4 3 arch instructions
LIST
# Version 3, four general and three fixed counters, seven events of which one is denied.
sed 's/^0000000a .*/0000000a 00 07300403 00000010 00000000 00000603/' \
    "$TREE/tests/fixtures/cpu/unknown_model.cpuid" >announced.cpuid
run counters --load announced.cpuid --format csv
expect_status 0
expect_out '^unknown,clock,ref_clk,"event=0x00,umask=0x03",fixed 2,'
expect_out '^unknown,branches,branch_misses,'
expect "what CPUID denies is not listed" test "$(grep -c llc_misses "$OUT")" = 0
run counters --load announced.cpuid
expect_out '^7 events, 4 general and 3 fixed counters;'
# A hypervisor may show two counters of four.
sed 's/^0000000a .*/0000000a 00 07300202 00000000 00000000 00000603/' \
    "$TREE/tests/fixtures/cpu/skylake.cpuid" >two.cpuid
run counters --load two.cpuid
expect_out '^[0-9]+ events, 2 general and 3 fixed counters;'
# Or none but the fixed ones.
sed 's/^0000000a .*/0000000a 00 07300002 00000000 00000000 00000603/' \
    "$TREE/tests/fixtures/cpu/skylake.cpuid" >fixed.cpuid
run counters --load fixed.cpuid
expect_out '^[0-9]+ events, 0 general and 3 fixed counters;'
expect_out ' core_clk +event=0x3c,umask=0x00 +any, fixed 1 +core clock'
expect_out ' p0 +event=0xa1,umask=0x01 +any \(not here\)'
run counters --load "$TREE/tests/fixtures/cpu/unknown_model.cpuid"
expect_status 3
expect_err 'the counters of this CPU are not known'
run counters --load "$TREE/tests/fixtures/cpu/unknown_vendor.cpuid"
expect_status 3
expect_err 'the counters of this CPU are not known: cpus.csv does not have it'

run counters --uarch no_such
expect_status 2
expect_err "there is no uarch 'no_such' in cpus.csv"
run counters --format xml
expect_status 2
expect_err "unknown format 'xml'; there are table, csv, spreadsheet, json, markdown, html and latex"
run counters p0
expect_status 2
expect_err "there is no action 'p0'; events are found by latput counters list 'p0'"
run counters --uarch zen5 --cpu 0
expect_status 2
expect_err 'exclude each other'
run counters --cpu x
expect_status 2

# This machine: a list, or a clear word; where no one can count, the remedy.
run counters
case $STATUS in
0) expect_out 'table version' ;;
*) expect_err 'the counters of this CPU are not known' ;;
esac
run counters list 'zzz*'
expect_status 0
expect_err '^latput counters: no events of [a-z_0-9]+ match$'
finish
