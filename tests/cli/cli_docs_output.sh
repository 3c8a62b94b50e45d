#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What docs/OUTPUT.md promises of keys, types and digits, on databases of known content.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
command -v sqlite3 >/dev/null || { echo "sqlite3 is missing: the views cannot be asked"; exit 77; }
"$BUILD/tests/test_report" make known.db || exit 99
"$BUILD/tests/test_store_ports" make ports.db || exit 99

# The keys of the page's table.
# shellcheck disable=SC2016 # the backquotes are the page's
{
keys=0
while IFS='|' read -r _ views key _; do
    for view in $(grep -oE '`[a-z]+_table`' <<<"$views" | tr -d '`'); do
        columns=$(grep -oE '`[^`]*`' <<<"$key" | head -n 1 | tr -d '`')
        for db in known.db ports.db; do
            CLI_COMMAND="$view, $db: $columns"
            twice=$(sqlite3 -readonly "$db" "SELECT count(*) FROM (SELECT 1 FROM $view
                GROUP BY $columns HAVING count(*) > 1)")
            expect "the key of $view" test "$twice" = 0
        done
        keys=$((keys + 1))
    done
done < <(sed -n '/^| view | key |/,/^$/p' "$TREE/docs/OUTPUT.md" | sed 1,2d)
}
expect "keys were looked at ($keys)" test "$keys" -ge 5

# JSON: an array of rows with the same members, of one type each, and the numbers of the database.
for options in '' --latency --ports --failures --runs; do
    # shellcheck disable=SC2086 # one word or none
    run query --db ports.db --format json $options
    expect_status 0
    sqlite3 :memory: "CREATE TABLE cell AS SELECT r.key AS place, c.key AS name, c.type AS type
        FROM json_each(readfile('$OUT')) AS r, json_each(r.value) AS c;
        SELECT 'types of ' || name FROM cell WHERE type <> 'null' GROUP BY name
            HAVING count(DISTINCT replace(type, 'integer', 'real')) > 1;
        SELECT 'members' FROM (SELECT count(*) AS n FROM cell GROUP BY place)
            HAVING count(DISTINCT n) <> 1" >bad
    expect "one shape of JSON ($options): $(cat bad)" test ! -s bad
done
"$LATPUT" query --db known.db --format json --columns form,uarch,tput >known.json
differ=$(sqlite3 -readonly known.db "SELECT count(*) FROM json_each(readfile('known.json')) AS r
    JOIN instruction_table AS t ON t.form = r.value ->> 'form' AND t.uarch = r.value ->> 'uarch'
    WHERE (r.value ->> 'rthroughput_clk') IS NOT t.rthroughput_clk")
expect "the numbers are the database's, digit for digit" test "$differ" = 0
finish
