#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Immediates that change the work: a value that takes another time than the usual one is told beside
# it, one that does not is not, and the form's own values are of the usual one.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"

cat >forms.csv <<'LIST'
# forms
mnemonic,operands,implicit,isa,tests,options
vextractf128,=x y i8,,AVX,LT,
pshufd,=x x i8,,SSE2,LT,
shl,+r64 i8,=flags,X86_64,LT,note=wide
ror,+r64 i8,=cf =of,X86_64,LT,
imul,=r64 r64 i8,=flags,X86_64,LT,
LIST
text_machine immediate <<'SCRIPT'
form "vextractf128 *" 8*p5 8
form "vextractf128 x y i=0" p4567 2
form "shl r64 i=1" p0123 1
form "ror r64 i=0" p0 4
form "ror r64 i=1" p0 1.04
fault "imul r64 r64 i=0" signal ILL
SCRIPT
run run forms.csv --db run.db --results none
expect_status 0
expect_err '5 ok +0 not ok'

# asked SQL: what the database says of each form, a line each.
asked() { sqlite3 run.db "$1" >asked; }
asked "select form, printf('%.2f', latency_min_clk), printf('%.2f', latency_max_clk),
    printf('%.2f', rthroughput_clk), note, outcome from instruction_table order by form"
expect "the usual value is the form's, others are notes" diff - asked <<'ROWS'
imul r64 r64 i8|3.00|3.00|1.00||ok
pshufd x x i8|1.00|1.00|0.25||ok
ror r64 i8|1.00|1.00|1.00|i8=0: latency 4.00|ok
shl r64 i8|1.00|1.00|1.00|wide; i8=1: 1/tput 0.25|ok
vextractf128 x y i8|8.00|8.00|8.00|i8=0: latency 2.00, 1/tput 0.25|ok
ROWS
run query --db run.db --latency --format csv --columns form,variant,latency_clk
expect_status 0
awk -F, 'NR > 1 && $2 != "" { printf "%s,%s,%.2f\n", $1, $2, $3 }' "$OUT" >asked
expect "their latencies are rows" diff - asked <<'ROWS'
ror r64 i8,i8=0,4.00
vextractf128 x y i8,i8=0,2.00
ROWS
expect "the others stay in the database" test "$(sqlite3 run.db "select count(*) from test
    where variant glob 'i8=*'")" = 28
# An immediate that is slow beside its usual throughput is no false dependency.
run query --db run.db --false-dependencies --format csv
expect_status 0
expect "no false dependency" test "$(wc -l <"$OUT")" = 1
expect "a value that faults fails alone" test "$(sqlite3 run.db "select group_concat(test, ', ')
    from (select test from failure_table order by test)")" = \
    "latency op2 -> op1 (i8=0), throughput (i8=0)"
# Whoever predicts takes the usual value.
run export --db run.db --format json
expect_status 0
expect "none of it is exported" test "$(grep -c 'i8=' "$OUT")" = 0
cp run.db again.db
run rederive --db again.db
expect_status 0
expect_out ' 0 of them differ'
finish
