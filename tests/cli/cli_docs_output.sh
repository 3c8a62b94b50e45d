#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Promises of docs/OUTPUT.md about keys, types and digits, on databases of known content.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
command -v sqlite3 >/dev/null || { echo "sqlite3 is missing: the views cannot be asked"; exit 77; }
fixture known.db
fixture ports.db
# Throughputs that cannot be true beside a latency of their form: doubts.
sqlite3 known.db "UPDATE result SET value_clk = 9 WHERE test_id IN (SELECT test_id FROM run_test
    JOIN form USING (form_id) WHERE form = 'add r64 r64' AND kind = 'throughput');
    INSERT OR REPLACE INTO form_summary SELECT * FROM run_form_result"

# The keys of the page's table.
# shellcheck disable=SC2016 # the backquotes are the page's
{
keys=0
while IFS='|' read -r _ views key _; do
    for view in $(grep -oE '`[a-z]+_table`' <<<"$views" | tr -d '`'); do
        rows=0
        columns=$(grep -oE '`[^`]*`' <<<"$key" | head -n 1 | tr -d '`')
        for db in known.db ports.db; do
            CLI_COMMAND="$view, $db: $columns"
            twice=$(sqlite3 -readonly "$db" "SELECT count(*) FROM (SELECT 1 FROM $view
                GROUP BY $columns HAVING count(*) > 1)")
            expect "the key of $view" test "$twice" = 0
            rows=$((rows + $(sqlite3 -readonly "$db" "SELECT count(*) FROM $view")))
        done
        # Views that only measuring fills are empty here.
        [ "$view" = bench_table ] || expect "$view has rows" test "$rows" -gt 1
        keys=$((keys + 1))
    done
done < <(sed -n '/^| view | key |/,/^$/p' "$TREE/docs/OUTPUT.md" | sed 1,2d)
}
expect "keys were looked at ($keys)" test "$keys" -ge 5

# The schema, on what needs no measuring. Other tests look at what they measure.
checked=()
shape() { # NAME ARGS...
    local name=$1
    shift
    run "$@" --format json
    expect_status 0
    cp "$OUT" "${#checked[@]}.json"
    checked+=("$name" "${#checked[@]}.json")
}
for db in known.db ports.db; do
    shape query_instruction query --db "$db"
    shape query_latency query --db "$db" --latency
    shape query_port query --db "$db" --ports
    shape query_failure query --db "$db" --failures
    shape query_run query --db "$db" --runs
done
shape query query --db known.db --side-by-side
shape ports ports --db ports.db --run 1
shape cpu cpu --load "$TREE/tests/fixtures/cpu/zen5.cpuid"
shape counters counters list --uarch zen5 'uops*'
shape counters_sets counters list --uarch zen5 --sets
shape export export --db ports.db
shape diff diff --db known.db testa testb
run stat --repeat 2 --events task-clock --format json --output stat.json -- true
expect_schema "${checked[@]}" stat stat.json
if has_python jsonschema; then
    run ports --db ports.db --run 1 --format json
    sed 's/"port_count": 6/"port_count": "6"/' "$OUT" >wrong.json
    expect "another type is noticed" test "$(CLI_FAILED=0; expect_schema ports wrong.json >/dev/null
        echo "$CLI_FAILED")" = 1
fi

# JSON: an array of rows with the same members, of one type each, and the numbers of the database.
for options in '' --latency --ports --failures --runs --doubts --false-dependencies; do
    # shellcheck disable=SC2086 # one word or none
    run query --db ports.db --format json $options
    expect_status 0
    sqlite3 :memory: "CREATE TABLE cell AS SELECT r.key AS place, c.key AS name, c.type AS type
        FROM json_each(readfile('$OUT')) AS r, json_each(r.value) AS c;
        SELECT 'types of ' || name FROM cell WHERE type <> 'null' GROUP BY name
            HAVING count(DISTINCT replace(type, 'integer', 'real')) > 1;
        SELECT 'members' WHERE (SELECT count(DISTINCT n) FROM (
            SELECT count(*) AS n FROM cell GROUP BY place)) > 1" >bad
    expect "one shape of JSON ($options): $(cat bad)" test ! -s bad
done
"$LATPUT" query --db known.db --format json --columns form,uarch,tput >known.json
differ=$(sqlite3 -readonly known.db "SELECT count(*) FROM json_each(readfile('known.json')) AS r
    JOIN instruction_table AS t ON t.form = r.value ->> 'form' AND t.uarch = r.value ->> 'uarch'
    WHERE (r.value ->> 'rthroughput_clk') IS NOT t.rthroughput_clk")
expect "the numbers are the database's, digit for digit" test "$differ" = 0
finish
