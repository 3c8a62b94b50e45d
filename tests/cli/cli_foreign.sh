#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Databases whose tables are something else, which may take for ever: refused by the commands that
# open them, by the name of the table, in no time.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
fixture known.db
limit=$((SECONDS + 60))

# made NAME SQL: known.db with triggers dropped, and that.
made() {
    cp known.db "$1"
    sqlite3 "$1" "$(sqlite3 "$1" "SELECT 'DROP TRIGGER ' || name || ';' FROM sqlite_schema
        WHERE type = 'trigger'") PRAGMA foreign_keys = OFF; $2" || exit 99
}
endless='WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n'
made view.db "ALTER TABLE run_warning RENAME TO old; CREATE VIEW run_warning AS
    SELECT ($endless) AS run_id, '' AS text, '' AS advice;"
made virtual.db "DROP TABLE run_warning;
    CREATE VIRTUAL TABLE run_warning USING fts4(run_id, text);"
made column.db "DROP TABLE run_warning; CREATE TABLE run_warning (run_id, position,
    advice TEXT, text AS (hex(zeroblob(100000000))));"
made missing.db "DROP TABLE run_warning;"
for db in view virtual column missing; do
    for words in 'query --runs' 'report --output tables' 'site --output site' \
        'pack --output x.zip' rederive; do
        # shellcheck disable=SC2086 # words
        run $words --db "$db.db"
        expect_status 2
        expect_err "^latput [a-z]+: $db\.db: its table run_warning is (not that of|missing, .* of)"
    done
done
# Tables of others, and statistics, are left alone.
made more.db "CREATE TABLE bookmarks (url); ANALYZE;"
run query --runs --db more.db
expect_status 0

# Readers leave a database of an older latput as it is, and name the command that migrates it.
cp known.db old.db
sqlite3 old.db 'PRAGMA user_version = 34'
sum=$(sha256sum old.db)
for words in 'query --runs' 'report --output tables' 'site --output site' 'pack --output x.zip' \
    'export --format csv' ports; do
    # shellcheck disable=SC2086 # words
    run $words --db old.db
    expect_status 3
    expect_err 'old\.db: was written by an older latput .*: latput rederive --db old\.db$'
done
expect "it is as it was" test "$(sha256sum old.db)" = "$sum"
expect "none of them took long" test "$SECONDS" -lt "$limit"
finish
