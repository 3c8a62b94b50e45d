#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# --format spreadsheet: the CSV of a command, in which no text of a stranger is a formula.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
fixture known.db
{
    sqlite3 known.db "SELECT 'DROP TRIGGER ' || name || ';' FROM sqlite_schema
        WHERE type = 'trigger'"
    cat <<'SQL'
PRAGMA ignore_check_constraints = ON;
UPDATE cpu SET brand = '=1+1,"x"';
UPDATE run SET seconds = -1.5;
UPDATE run_form SET isa = iif(run_id = 1, '@SUM(A1)', '-1+1');
SQL
} >hostile.sql
sqlite3 -bail known.db <hostile.sql || exit 99
columns=brand,seconds,signature
run query --db known.db --runs --columns $columns --format csv
expect_out '^"=1\+1,""x""",-1\.5,11538209$'
run query --db known.db --runs --columns $columns --format spreadsheet
expect_status 0
expect_out "^\"'=1\\+1,\"\"x\"\"\",-1\\.5,11538209\$"

run query --db known.db --uarch testa --columns isa --format spreadsheet
expect_out "^'@SUM"
run query --db known.db --side-by-side --columns isa --format spreadsheet
expect_out ",'@SUM\\(A1\\),'-1\\+1\$"
run export --db known.db --uarch testb --format spreadsheet
expect_out "^testb,div r64,div,r64,legacy,64,'-1\\+1,"
run export --db known.db --uarch testb --format csv
expect_out '^testb,div r64,div,r64,legacy,64,-1\+1,'

# Only what is printed next is meant, whatever the configuration says.
mkdir -p .config/latput && echo 'query.format = spreadsheet' >.config/latput/config
run query --db known.db --uarch testa --columns isa
expect_out "^'@SUM"
run query --db known.db --uarch testa --columns isa --format csv
expect_out '^@SUM'
expect "no other value differs" cmp <(sed 's/^@/'"'@/" "$OUT") \
    <("$LATPUT" query --db known.db --uarch testa --columns isa)

# A command without CSV has none for spreadsheets; shells know the word.
run validate --format spreadsheet
expect_status 2
expect_err "unknown format 'spreadsheet'; there are table and json"
run help --completion bash
expect_out "--format\\) words='table csv spreadsheet json markdown html latex'"
run help --man
expect_out 'spreadsheet is csv'
finish
