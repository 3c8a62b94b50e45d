#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# False dependencies: an instruction that waits for what it overwrites is told as such, with the
# latency from the old content; one that is only slow is not.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"

cat >forms.csv <<'LIST'
# forms
mnemonic,operands,implicit,isa,tests,options
popcnt,=r64 r64,=flags,POPCNT,LT,
lzcnt,=r64 r64,=flags,LZCNT,LT,
tzcnt,=r64 r64,=flags,BMI1,LT,enc=legacy
add,+r64 r64,=flags,X86_64,LT,
vpmuludq,=y y y,,AVX2,LT,
vpaddd,=y y y,,AVX2,LT,
LIST
text_machine false <<'SCRIPT'
form "popcnt *" p0 3 from 1 4
form "tzcnt *" 8*p0 3
form "vpmuludq *" p4567 3 from 1 2
form "vpmullw *" p4567 3
SCRIPT
run run forms.csv --db run.db --results none --quiet
expect_status 0
# asked ARGS...: what the query says, to the second decimal.
asked() {
    run query --db run.db --false-dependencies --format csv \
        --columns form,operand,latency_clk,bound "$@"
    expect_status 0
    awk -F, 'NR > 1 { printf "%s,%s,%.2f,%s\n", $1, $2, $3, $4 }' "$OUT" >asked
}
asked
expect "those that there are" diff - asked <<'CSV'
popcnt r64 r64,op1,4.00,upper
vpmuludq y y y,op1,2.00,upper
CSV
asked '*'
expect "those that there are not" diff - asked <<'CSV'
lzcnt r64 r64,op1,0.00,exact
popcnt r64 r64,op1,4.00,upper
tzcnt r64 r64,op1,0.00,exact
vpaddd y y y,op1,0.00,exact
vpmuludq y y y,op1,2.00,upper
CSV
expect "no pair of a table has them" test "$(sqlite3 run.db "select group_concat(printf('%.2f',
    latency_max_clk)) from (select * from instruction_table where mnemonic in ('popcnt', 'vpaddd')
    order by mnemonic)")" = 3.00,1.00
expect "none of them is a latency" test \
    "$(sqlite3 run.db "select count(*) from latency_table where variant = 'false'")" = 0
cp run.db again.db
run rederive --db again.db
expect_status 0
expect_out ' 0 of them differ'
run query --db run.db --false-dependencies --format json
expect_schema query_false "$OUT"
# A prediction of explain treats them as a chain.
run explain --db run.db --predict --asm 'popcnt rbx, rsi; lzcnt rcx, rsi'
expect_status 0
expect_out 'predicted.* 4\.0'
run explain --db run.db --predict --asm 'lzcnt rcx, rsi'
expect_status 0
run query --db run.db --latency --false-dependencies
expect_status 2

# A pack has them, with those that there are not, and so has the database that it is merged into.
run query --db run.db --false-dependencies '*' --format csv
cp "$OUT" all.csv
run pack --db run.db --output run.zip
expect_status 0
expect "a file" grep -qa 'false_dependency_table\.csv' run.zip
unpack run.zip false_dependency_table.csv packed.csv
expect "the rows" cmp all.csv packed.csv
unpack run.zip false_dependency_table.json packed.json
expect_schema query_false packed.json
unpack run.zip README.txt README.txt
expect "README.txt names it" grep -q '^  false_dependency_table\.csv  ' README.txt
expect "lines fit" test "$(wc -L <README.txt)" -le 80
run pack --db run.db --slim --output slim.tar.xz
expect_status 0
for pack in run.zip slim.tar.xz; do
    run merge --db "$pack.db" "$pack"
    expect_status 0
    run query --db "$pack.db" --false-dependencies --columns form,operand --format csv
    expect "$pack has those that there are" test "$(sed 1d "$OUT" | xargs)" = \
        'popcnt r64 r64,op1 vpmuludq y y y,op1'
done
# A run of which none was asked packs none.
fixture known.db
run pack --db known.db --run 1 --output none.zip
expect_status 0
expect "no file" test "$(grep -ca false_dependency none.zip)" = 0
# Tables as text, of the CPU and of the run: those that there are.
for of in '' '--run 1'; do
    # shellcheck disable=SC2086
    run report --db run.db $of --output "report$of"
    expect_status 0
    sed -n '/^False dep/,/^$/p' "report$of/forms.txt" >told
    expect "those that there are ($of)" diff - told <<'TEXT'
False dependencies: cycles from the old content of an operand to the new one:
  popcnt r64 r64: op1: ≤4.00
  vpmuludq y y y: op1: ≤2.00
TEXT
done
finish
