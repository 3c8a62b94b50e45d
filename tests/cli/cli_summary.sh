#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The rows of form_summary, which tables are made of: each command that writes leaves those that
# follow from the results, and where a file has none, or has those of other views, what is printed
# is the same.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"

cat >forms.csv <<'LIST'
mnemonic,operands,implicit,isa,tests,options
add,+r64 r64,=flags,X86_64,LT,
imul,+r64 r64,=flags,X86_64,LT,
LIST
fits() { # DB FORMS: its rows are those that follow, for so many forms
    expect "$1 has the rows that follow from its results" test "$(sqlite3 "$1" "
        SELECT count(*) FROM form_summary;
        SELECT count(*) FROM (SELECT * FROM run_form_result EXCEPT SELECT * FROM form_summary);
        SELECT count(*) FROM (SELECT * FROM form_summary EXCEPT SELECT * FROM run_form_result);" |
        tr '\n' ' ')" = "$2 0 0 "
}
asks() { # DB: all that it says of forms
    local view
    for view in '' --latency --ports --failures --run=1; do
        # shellcheck disable=SC2086 # none
        "$LATPUT" query --db "$1" $view --format csv || cli_fail "query $view"
    done
}

text_machine one <<<''
run run forms.csv --db one.db --results none --quiet
expect_status 0
fits one.db 2
run pack --with-samples --db one.db --output one.zip
expect_status 0
unpack one.zip '*.db' packed.db
expect "packs have no rows" test "$(sqlite3 packed.db 'SELECT count(*) FROM form_summary')" = 0
sql="SELECT form, latency_max_clk, rthroughput_clk, tests FROM instruction_table"
expect "and say the same" test "$(sqlite3 packed.db "$sql")" = "$(sqlite3 one.db "$sql")"
expect "of values" grep -q '^imul[^|]*|3\.0.*|LT$' <(sqlite3 packed.db "$sql")

# Another machine's runs, by a merge that adds those of both.
text_machine two <<<'form "imul *" p3 4'
run run forms.csv --db two.db --results none --quiet
expect_status 0
run merge --db two.db one.zip
expect_status 0
fits two.db 4

# A summary that does not follow from the rest is not believed: rows of other views, and a file
# without rows.
fixture known.db
cp known.db other.db
asks known.db >known.txt
expect "it says something" grep -q '^testa,add,' known.txt
fits known.db "$(sqlite3 known.db 'SELECT count(DISTINCT run_form_id) FROM test')"
sqlite3 other.db "UPDATE form_summary SET latency_min_clk = 77, kinds_ok = 0;
    UPDATE meta SET value = 'of another version' WHERE name = 'views_sha256'"
asks other.db >other.txt
expect "the same" cmp known.txt other.txt
expect "reading changes nothing" test "$(sqlite3 other.db \
    'SELECT count(*) FROM form_summary WHERE latency_min_clk <> 77')" = 0
run rederive --db other.db --run 1
expect_status 0
fits other.db "$(sqlite3 known.db 'SELECT count(DISTINCT run_form_id) FROM test')"
sqlite3 other.db 'UPDATE result SET value_clk = 2 * value_clk WHERE value_clk > 0'
expect "a result that is changed leaves none" test "$(sqlite3 other.db \
    'SELECT count(*) FROM form_summary')" = 0
asks other.db >other.txt
expect "other values" grep -q '^testb,add,r64 r64,legacy,BASE,64,4,8,1,' other.txt
sqlite3 other.db 'UPDATE result SET value_clk = value_clk / 2 WHERE value_clk > 0'
asks other.db >other.txt
expect "the same" cmp known.txt other.txt

finish
