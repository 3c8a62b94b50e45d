#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Databases that a stranger may have made, opened where they lie: texts with what steers a terminal,
# and NULL where the file's own schema has lost its NOT NULL. Nothing of them is shown as it is, and
# nothing of them ends a command by a signal, or takes all memory.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
fixture ports.db base.db
run merge --db base.db "$TREE/tests/fixtures/quick_run.zip"
expect_status 0
sqlite3 base.db <<'SQL' || exit 99
INSERT INTO bench SELECT 1, max(run_id), 0, 'label', 'text', 'imul eax, eax', '', '', '', '', '',
    '', 'latency', '', 64, 1, 1, 1, 0, 1, 'ok', 'why', 3, x'0fafc0' FROM run;
INSERT INTO bench_thread VALUES (1, 0, 0, 3, 3, 0.1, 1, 1, 1);
INSERT INTO bench_metric VALUES (1, 0, 'event', 'cycles', 'code', 'perf', '1');
INSERT INTO bench_repetition VALUES (1, 0, 0, 1, 0, 0, 1, 1, 0, 100, 100);
INSERT INTO bench_value VALUES (1, 0, 0, 3);
INSERT INTO property SELECT 1, max(run_id), 0, 'core', 'rob', 'Reorder buffer', 'How many?',
    'entries', 'by', 'clk', 'knee least=0.2', '', 'rob,...', 2e9, 0, 0, 1, 'ok', 'why', '' FROM run;
INSERT INTO property_variant VALUES (1, 1, 0, 'nop', 'ok', ''), (2, 1, 1, 'y', 'skipped', 'why');
INSERT INTO sweep_point SELECT value, 1, value, value, 1, 1, 'ok', '' FROM generate_series(1, 6);
INSERT INTO sweep_point VALUES (7, 1, 7, 7, 1, 1, 'signalled', 'why');
INSERT INTO sweep_value SELECT value, value, 5 FROM generate_series(1, 6);
INSERT INTO conclusion VALUES (1, 1, 0, 'nop', 'ok', 1, 'a knee at 4');
INSERT INTO conclusion_value VALUES (1, 0, 'knee', 4, 3, 5, 'entries');
SQL

# hostile NAME CONDITION VALUE: the database NAME, in which the columns that fit have that value.
# The conditions of the file's own schema do not hold any more.
hostile() {
    cp base.db "$1"
    {
        echo 'PRAGMA ignore_check_constraints = ON;'
        sqlite3 "$1" "SELECT 'DROP TRIGGER ' || name || ';' FROM sqlite_schema
            WHERE type = 'trigger'"
        echo "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET
            sql = replace(sql, ' NOT NULL', '') WHERE type = 'table';
            PRAGMA writable_schema = RESET;"
        sqlite3 "$1" "SELECT 'UPDATE OR IGNORE ' || t.name || ' SET ' ||
            group_concat(c.name || ' = ' || replace('$3', 'COLUMN', c.name)) || ';'
            FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
            WHERE t.type = 'table' AND c.pk = 0 AND c.name NOT GLOB '*_id' AND $2 GROUP BY t.name"
    } >hostile.sql
    sqlite3 -cmd '.dbconfig defensive off' "$1" <hostile.sql >/dev/null || exit 99
}
# reads DATABASE COMMAND...: it ends by itself, and shows nothing that steers.
shown=0
reads() {
    run "${@:2}" --db "$1"
    [ "$STATUS" -lt 128 ] || cli_fail "ended by a signal, $hurt"
    [ ! -s "$OUT" ] || shown=$((shown + 1))
    [ -e written ] || mkdir written
    ! LC_ALL=C grep -qrP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]' \
        "$OUT" "$ERR" written || cli_fail "this steers, $hurt"
    rm -rf written
}
# Commands that read each table, in every format that it has.
all() { # DATABASE
    local format view
    for format in table csv json; do
        for view in '' --latency --ports --evidence --doubts --failures --runs --bench; do
            # shellcheck disable=SC2086 # none or one
            reads "$1" query $view --format "$format"
        done
        reads "$1" property --show --run 4 --format "$format"
        reads "$1" diff 2 1 --format "$format"
    done
    for format in csv spreadsheet json uops-xml osaca asmdude; do
        reads "$1" export --run 4 --format "$format" --left-out written
    done
    reads "$1" property --show --run 4 --results written
    reads "$1" explain --run 4 --predict --asm 'add rax, rbx; imul rcx, rax'
    some "$1"
}
# Commands that read into structures, once each.
some() { # DATABASE
    reads "$1" property --show --run 4 --plot
    reads "$1" property --show --run 4 --diff 4
    reads "$1" property --show --run 4 --points --format csv
    reads "$1" ports --run 1 --svg written
    reads "$1" report --run 1 --output written
    reads "$1" export --run 1 --format json
}

hurt='texts that steer'
hostile steering.db "c.type = 'TEXT' AND c.name NOT IN ('outcome', 'kind', 'reading', 'y_unit',
    'source', 'mode', 'enc', 'bound')" "COLUMN || char(27) || ''[31m'' || char(0x202e, 0x9b)"
all steering.db
expect "most of it is shown: $shown" test "$shown" -ge 30
# Colours are latput's own: without them the text is that of a file.
for words in query 'query --failures' 'query --runs' 'explain --run 4 --predict --asm nop'; do
    # shellcheck disable=SC2086 # words
    run --color never $words --db steering.db
    cp "$OUT" plain
    # shellcheck disable=SC2086 # words
    run --color always $words --db steering.db
    expect "there are some in $words" grep -q $'\033' "$OUT"
    expect "no others in $words" cmp -s plain <(sed 's/\x1b\[[0-9;]*m//g' "$OUT")
done

for table in $(sqlite3 base.db "SELECT name FROM sqlite_schema WHERE type = 'table'"); do
    [ "$(sqlite3 base.db "SELECT count(*) FROM $table")" != 0 ] || continue
    hurt="NULL in $table"
    hostile null.db "t.name = '$table'" NULL
    some null.db
done

# A form of 30,000 pairs takes the memory of as many, not of their square.
cp base.db pairs.db
{
    sqlite3 pairs.db "SELECT 'DROP TRIGGER ' || name || ';' FROM sqlite_schema
        WHERE type = 'trigger'"
    cat <<'SQL'
CREATE TEMP TABLE pairs AS SELECT value AS n, (SELECT run_form_id FROM run_form JOIN form
    USING (form_id) WHERE form = 'add r64 r64' ORDER BY run_id DESC LIMIT 1) AS run_form_id
    FROM generate_series(1, 30000);
INSERT INTO test SELECT 1000000 + n, run_form_id, 1000 + n, 'latency', 'op1', 's' || n, '', 'exact',
    'ok', '' FROM pairs;
INSERT INTO result (test_id, outcome, detail, value_clk, accepted, tried, bound)
    SELECT 1000000 + n, 'ok', '', 3, 5, 5, 'exact' FROM pairs;
SQL
} >pairs.sql
sqlite3 -bail pairs.db <pairs.sql || exit 99
few() { # ARGS...
    ( # with sanitizers nothing begins in so little
        ulimit -S -v 500000
        "$LATPUT" --version >/dev/null 2>&1 || ulimit -S -v unlimited
        exec "$LATPUT" "$@" >"$OUT" 2>"$ERR" </dev/null
    )
    STATUS=$?
    CLI_COMMAND="latput $* in 500 MB"
    expect_status 0
}
last=$(sqlite3 pairs.db 'SELECT max(run_id) FROM run')
few explain --db pairs.db --run "$last" --predict --asm 'add rax, rbx'
expect_out '^  predicted +'
few export --db pairs.db --run "$last" --format csv 'add r64 r64'
expect_out 'op1>s1=3 .* op1>s30000=3,'

# A block of which nothing is known has no number, and not one that is called so.
hurt='no width'
hostile null.db "t.name IN ('run', 'port_model')" NULL
printf 'nop\nadd rax, rbx\n' >blocks
reads null.db explain --run 1 --predict --blocks blocks
expect_status 0
expect_out '^ +1 +1 *$'
expect_out '^ +2 +1 +1\.00 +chain'
reads null.db explain --run 1 --predict --blocks blocks --format json
expect_out '"predicted_clk": null'
finish
