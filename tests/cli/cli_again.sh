#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A share of the forms is asked again in another arrangement: what hangs on registers, fillers or
# loops is found and told with both kernels; what does not is not. Values that cannot be true beside
# others of their form are doubts, too.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"

# ask DB STATUS [ARGUMENT...]: a run of lists that are long enough for each arrangement to be drawn,
# or of what the arguments say.
ask() {
    local db=$1 status=$2
    shift 2
    [ $# -gt 0 ] || set -- avx_integer sse_integer avx_fp sse_fp integer_arithmetic integer_logic
    run run "$@" --db "$db" --results none --quiet --tests LT
    expect_status "$status"
}
# count DB CONDITION
count() {
    sqlite3 "$1" "SELECT count(*) FROM run_doubt_table WHERE $2"
}

text_machine honest <<<''
ask honest.db 0
expect_err 'asked again in another arrangement: [0-9]+ tests, 0 differ$'
run query --db honest.db --doubts
expect_status 0
expect_no_out
for way in registers lines fillers copies; do
    expect "tests with other $way" test "$(count honest.db "other_way = '$way'")" -ge 4
done
expect 'no value of a form from what is asked again' test "$(sqlite3 honest.db \
    "SELECT count(*) FROM instruction_table WHERE note GLOB '*again*'")" = 0

for way in registers fillers copies; do
    # The faster of two chains counts, and one of them has fillers.
    factor=1.5
    [ "$way" != fillers ] || factor=0.6
    text_machine "$way" <<<"state \"*p* [xy]*\" $factor 1 $way"
    ask "$way.db" 0
    differ=$(count "$way.db" 'differs')
    expect "some differ by $way" test "$differ" -ge 2
    expect "all that differ, differ by $way" test "$(count "$way.db" \
        "differs AND other_way = '$way'")" = "$differ"
    expect_err "warning: $differ of [0-9]+ tests that were asked again came out otherwise"
    run query --db "$way.db" --doubts --format csv
    expect_status 0
    # shellcheck disable=SC2016 # of awk
    expect "each with both kernels" awk -F, -v lines=$((differ + 1)) '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR > 1 { code = $at["machine_code"]; other = $at["other_machine_code"] }
        NR > 1 && (code == "" || other == "" || code == other && $at["other_way"] != "copies") {
            exit 1
        }
        END { exit NR != lines }' "$OUT"
done
run query --db registers.db --doubts --format json
expect_schema query_doubt "$OUT"
run query --db registers.db --doubts
expect_out 'registers '

# With APX operands get r16 to r31, too: here it costs something in additions and subtractions.
text_machine apx <<<'state "[as][du][db]*" 1.5 1 r16-r31'
sed -i '/^00000007 01 / s/[0-9a-f]*$/00200000/; /^ffffff00 / s/ 000002e7 / 000802e7 /' apx/cpuid
ask apx.db 0 integer_arithmetic sse_fp
expect "tests with r16 to r31" test "$(count apx.db "other_way = 'r16-r31'")" -ge 8
expect "most come out the same" test "$(count apx.db "other_way = 'r16-r31' AND NOT differs")" -ge 4
expect "some differ" test "$(count apx.db differs)" -ge 2
expect "all that differ, differ by them" test "$(count apx.db \
    "differs AND other_way = 'r16-r31' AND form GLOB '*[as][du][db]*'")" = "$(count apx.db differs)"
expect "all with a REX2 prefix" test "$(count apx.db \
    "other_way = 'r16-r31' AND other_machine_code NOT LIKE '%D5%'")" = 0
# A system that does not save them.
sed -i '/^ffffff00 / s/ 000802e7 / 000002e7 /' apx/cpuid
ask unsaved.db 0 integer_arithmetic --filter 'add m64 i32'
expect "another way without the system" test "$(count unsaved.db "other_way != 'r16-r31'")" -ge 1
expect "none of them" test "$(count unsaved.db "other_way = 'r16-r31'")" = 0

# A throughput of 4 cycles beside a chain of 1 is told; so is an exact latency of half a cycle that
# is not done at rename. They are put into the database, since no core says that.
cp honest.db false.db
sqlite3 false.db "UPDATE result SET value_clk = 9 WHERE test_id =
    (SELECT test_id FROM run_test JOIN form USING (form_id)
        WHERE form = 'vpaddd x x x' AND kind = 'throughput')"
run query --db false.db --doubts
expect_status 0
expect_out 'vpaddd x x x .* throughput .* 9\.00 .* chain +1\.00'
finish
