#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput diff: what it calls faster and slower, how sure it says that it is, and its three formats,
# on databases of known content.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
fixture known.db

run diff --db known.db testa testb
expect_status 0
expect_out '^class +forms +slower +median of latency ratios +median of 1/tput ratios$'
expect_out '^all +3 +3 +2\.00 +2\.00$'
expect_out \
    '^div r64 +legacy +slower( +10\.00 / 18\.00 → 20\.00 / 36\.00){2} +5\.00 → 10\.00 +7\.00 → 14\.00 +2\.00 +not explained$'
expect_err '3 of 3 common forms differ by more than 2 %, 0 of them in doubt'
expect_out '^A: Test testa \(testa\), Test CPU; run 1, 20[0-9-]+, latput 1\.0-test$'
expect_out '^B: Test testb \(testb\), Test CPU; run 2, '
expect "then the summary" test "$(sed -n '4s/ .*//p' "$OUT")" = class
run diff --db known.db testb testa
expect_out '^div r64 +legacy +faster +20\.00 / 36\.00 → 10\.00 / 18\.00 '
run diff --db known.db 1 1
expect_status 0
expect_no_out
expect_err '0 of 3 common forms differ'
run diff --db known.db --format csv --filter add 1 2
expect_out '^add r64 r64,legacy,1\.00,2\.00,2\.00,4\.00,0\.25,0\.50,,,,,,,,,64,int,slower,sure,2,result_latency_clk,,,1\.00,2\.00,1\.00,2\.00,,,,,,,,,not explained,$'
expect_out '^form,enc,.*,bits,list,change,certainty,ratio,ratio_of,1\.limited_by,2\.limited_by,1\.result_latency_clk,2\.result_latency_clk,'
cp "$OUT" filtered
run diff --db known.db --format csv 1 2 'ADD rax, *'
expect "a glob is a filter" cmp "$OUT" filtered
run diff --db known.db --format csv --filter 'div*' testa testb 'nothing*' add
expect "each of the globs" test "$(cut -d, -f1 "$OUT" | tr '\n' ,)" = "form,add r64 r64,div r64,"
run diff --db known.db testa
expect_status 2
expect_err 'name two CPU families'
run diff --db known.db --tolerance 60 1 2
expect_no_out
for format in table csv json; do
    run diff --db known.db --summary --format "$format" 1 2
    expect_status 0
    expect "no forms ($format)" test "$(grep -c 'div' "$OUT")" = 0
    expect_out 'int'
done
run diff --db known.db --format csv --sort abs --limit 1 1 2
expect_out '^div r64,.*,slower,sure,2,'
expect "the largest only" test "$(wc -l <"$OUT")" = 2
expect_err '^latput diff: --limit: 1 of 3 forms$'
run diff --db known.db --only faster 1 2
expect "none is faster" test "$(grep -c '→' "$OUT")" = 0
run diff --db known.db --only slower --format csv 1 2
expect "all are slower" test "$(wc -l <"$OUT")" = 4

# A measured value against an upper bound: the bound may be far from the truth, unless it lies below
# what the other side measured. One steady state of several, and a mean, prove nothing.
of_b() {
    cp known.db changed.db
    sqlite3 changed.db \
        "UPDATE result SET $1 WHERE outcome = 'ok' AND test_id IN (SELECT test_id FROM test
        JOIN run_form USING (run_form_id) WHERE run_id = 2 AND kind = '$2')"
}
of_b "bound = 'upper'" latency
run diff --db changed.db --filter add --format csv 1 2
expect_out ',slower,sure,2,rthroughput_clk,,,' # by its throughput
of_b "bound = 'upper'" latency
sqlite3 changed.db "UPDATE result SET value_clk = value_clk / 2 WHERE test_id IN
    (SELECT test_id FROM test JOIN run_form USING (run_form_id)
    WHERE run_id = 2 AND kind = 'throughput')"
run diff --db changed.db --filter add 1 2
expect_out '^add r64 r64 +legacy +slower\? +1\.00 → ≤2\.00'
run diff --db changed.db --filter add --format csv 1 2
expect_out ',slower,in doubt,2,result_latency_clk,,,'
run diff --db changed.db --filter add --sure --format csv 1 2
expect "the same, where only what is sure counts" test "$(wc -l <"$OUT")" = 1
run diff --db changed.db --filter add --format csv 2 1
expect_out ',faster,in doubt,0.5,result_latency_clk,,,'
of_b "bound = 'upper', value_clk = value_clk / 8" latency
run diff --db changed.db --filter add --only faster --format csv 1 2
expect "a bound below what was measured is none, but other values are more" \
    test "$(wc -l <"$OUT")" = 1
run diff --db changed.db --filter add --format csv 1 2
expect_out ',mixed,sure,0.25,result_latency_clk,,,'
of_b "spread_clk = 0.4" throughput
run diff --db changed.db --filter add --format json 1 2
expect_out '"change": "slower", "sure": true,' # by its latency

# All formats count alike, by list and by extension; what is listed is what is counted.
"$BUILD/tests/test_site" many many.db 2 avx_shuffle integer_arithmetic || exit 99
sqlite3 many.db <"$TREE/tests/fixtures/unlike.sql" || exit 99
counts='faster, slower, mixed, ports, new, gone, outcome, in_doubt'
# said FILE COLUMNS: of all classes, as the JSON file has them.
said() {
    sqlite3 -csv :memory: "CREATE TABLE class AS SELECT $(tr -d ' ' <<<"class, forms, $2" |
        sed -E "s/([a-z_]+)/value->>'\\1' AS \"\\1\"/g")
        FROM json_each(readfile('$1'), '\$[0].classes'); SELECT class, forms, $2 FROM class"
}
for by in list isa; do
    run diff --db many.db --by $by --format json many0 many1
    cp "$OUT" all.json
    expect_schema diff all.json
    said all.json "$counts" >said.csv
    sqlite3 -csv :memory: "CREATE TABLE form AS SELECT value->>'$by' AS class, value->>'change' AS
            change, value->>'sure' AS sure FROM json_each(readfile('all.json'), '\$[0].forms');
        INSERT INTO form SELECT 'all', change, sure FROM form;
        SELECT class, sum(change = 'faster'), sum(change = 'slower'), sum(change = 'mixed'),
            sum(change = 'ports'), sum(change = 'new'), sum(change = 'gone'),
            sum(change = 'outcome'), sum(NOT sure)
        FROM form GROUP BY class ORDER BY class <> 'all', class" >listed.csv
    expect "what is counted is listed ($by)" cmp listed.csv \
        <(cut -d, -f1,3- said.csv | grep -v ',0,0,0,0,0,0,0,0')
    run diff --db many.db --by $by --format csv --summary many0 many1
    expect "the same in CSV ($by)" cmp said.csv <(tail -n +2 "$OUT" | cut -d, -f1-10)
done
expect "several classes" test "$(wc -l <said.csv)" -gt 3
expect "some are new, some gone, some in doubt" \
    grep -qE '^all(,[1-9][0-9]*){3},[0-9]+,0(,[1-9][0-9]*){4}$' said.csv
run diff --db many.db --format csv many0 many1
expect "as many rows" test "$(($(wc -l <"$OUT") - 1))" = "$(grep -c '"change"' all.json)"
run diff --db many.db --by isa --format json many1 many0
expect "the other way round" cmp <(said all.json 'faster, slower, new, gone, outcome, in_doubt') \
    <(said "$OUT" 'slower, faster, gone, new, outcome, in_doubt')

# Names of strangers steer no terminal and break no table.
"$BUILD/tests/test_site" hostile hostile.db || exit 99
hostile=$(sqlite3 -readonly hostile.db 'SELECT count(*) FROM run')
for format in table csv json; do
    run diff --db hostile.db --format $format --tolerance 0 1 "$hostile"
    expect_status 0
    expect "no control characters ($format)" test "$(tr -d '\n[:print:]\200-\377' <"$OUT" |
        wc -c)" = 0
done

run diff --db known.db --format xml 1 2
expect_status 2
expect_err "unknown format 'xml'; there are table, csv, spreadsheet, json, markdown, html and latex"
run diff --db known.db --only quicker 1 2
expect_status 2
expect_err "'quicker' is no kind of difference"
run diff --db known.db --by size 1 2
expect_status 2
run diff --db known.db --sort size 1 2
expect_status 2
expect_err "by ratio, abs or form, not by 'size'"
run diff --db known.db --limit 0 1 2
expect_status 2
run diff --db known.db testa
expect_status 2
run diff --db known.db testa zen99
expect_status 2
expect_err "'zen99'"
run diff --db known.db --tolerance x 1 2
expect_status 2

# Forms that neither has.
run diff --db known.db 1 2 nothing
expect_status 0
expect_err '^latput diff: neither 1 nor 2 has a form that matches$'

# A form that no CPU of the two has is no common one.
fixture published.db
common="SELECT count(*) FROM instruction_table AS a JOIN instruction_table AS b
    USING (form, enc, bits) WHERE a.uarch = 'zen5' AND b.uarch = 'sapphirerapids?'"
had=$(sqlite3 published.db "$common AND 'unsupported' NOT IN (a.outcome, b.outcome)")
one=$(sqlite3 published.db "$common AND (a.outcome = 'unsupported') <> (b.outcome = 'unsupported')")
run diff --db published.db --summary zen5 sapphirerapids
expect_status 0
expect_err "of $((had + one)) common forms differ"
expect "some have neither" test "$(sqlite3 published.db "$common")" -gt $((had + one))

# A question that one side did not ask is counted, and is no difference.
TEST_REPORT_PART=1 "$BUILD/tests/test_report" make part.db || exit 99
run diff --db part.db 1 3
expect_status 0
expect_no_out
expect_err '^latput diff: 0 of 1 common forms differ'
expect_err '^latput diff: not measured in 3, and not compared: latency of 1 forms, throughput of 0, ports of 0$'
run diff --db part.db 2 3
expect_out '^add r64 r64 .* 0\.50 → 0\.25 +0\.50 +'
expect_err '2 only in 2, 0 only in 3$'
run diff --db part.db --only a --format csv 2 3
expect "what only one has" test "$(grep -c ',only_a,sure,,,' "$OUT")" = 2
expect_out '^div r64,.*,only_a,sure,'
run diff --db part.db --only b 2 3
expect "which the other has not" test "$(grep -c 'div' "$OUT")" = 0
finish
