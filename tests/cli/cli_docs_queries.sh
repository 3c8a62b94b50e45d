#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The examples of docs/QUERIES.md: each command runs, each SQL statement runs, and where one follows
# the other they give the same rows.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
command -v sqlite3 >/dev/null || { echo "sqlite3 is missing: the SQL cannot be run"; exit 77; }
fixture known.db
fixture ports.db

# Blocks of the page, one a file, in their order: NN.sh and NN.sql.
awk '/^```/ { if (open) { open = 0; close(file) } else { open = 1; n++
    kind = $0 == "```sql" ? "sql" : "sh"; file = sprintf("%02d.%s", n, kind) }; next }
    open { print > file }' "$TREE/docs/QUERIES.md"
commands=0 statements=0 pairs=0 rows=0
for block in [0-9]*.s*; do
    if [ "${block##*.}" = sh ]; then
        grep -q '^latput ' "$block" || continue # the grammar
        command=$block
        commands=$((commands + 1))
        continue
    fi
    statements=$((statements + 1))
    n=$((10#${block%.*} - 1))
    [ "${command:-}" = "$(printf '%02d.sh' "$n")" ] || command=
    for db in known.db ports.db; do
        CLI_COMMAND="$block of docs/QUERIES.md, $db"
        sqlite3 -readonly -header -csv "$db" <"$block" >"$block.csv" 2>"$ERR"
        expect "SQL runs: $(cat "$ERR")" test ! -s "$ERR"
        [ -n "$command" ] || continue
        pairs=$((pairs + 1))
        # shellcheck disable=SC2016 # the argument is the page's own command
        bash -c "$(sed "s|^latput query|'$LATPUT' query --db $db --format csv|" "$command")" \
            >"$OUT" 2>"$ERR"
        STATUS=$?
        CLI_COMMAND="$command of docs/QUERIES.md, $db"
        # Not each of the databases has the family that the page asks for.
        [ "$STATUS" = 0 ] || expect_err 'has no results of the uarch'
        # sqlite3 writes 5.0, and quotes more.
        tr -d '\r"' <"$block.csv" | sed -E '1d; s/\.0(,|$)/\1/g' >sql.rows
        tr -d '"' <"$OUT" | sed 1d >latput.rows
        expect "the same rows: $(diff sql.rows latput.rows)" cmp -s sql.rows latput.rows
        rows=$((rows + $(wc -l <sql.rows)))
    done
done
expect "commands ($commands), statements ($statements), pairs ($pairs)" \
    test "$commands" -ge 7 -a "$statements" -ge 9 -a "$pairs" -ge 14
expect "there were rows ($rows)" test "$rows" -ge 20
finish
