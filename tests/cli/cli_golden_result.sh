#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# From stored samples to results, and from the database to text, against the expected output in
# tests/fixtures/golden/. `make golden` rewrites it.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
golden=$TREE/tests/fixtures/golden
cat "$TREE/db/schema.sql" "$TREE/db/views.sql" "$golden/run.sql" >all.sql
sqlite3 -batch -bail samples.db <all.sql >/dev/null || exit 99

# expected FILE: what was printed since it was last asked.
expected() {
    if [ "${LATPUT_GOLDEN:-}" = rewrite ]; then
        cp text "$golden/$1"
    else
        expect "output as in $1 (make golden rewrites it)" diff -u "$golden/$1" text
    fi
    rm text
}
# show ARGS...: the command and what it prints.
show() {
    run "$@"
    expect_status 0
    { echo "\$ latput $*" && cat "$OUT" && echo; } >>text
}

run rederive --db samples.db
expect_status 0
show query --db samples.db --latency --wide
show query --db samples.db --format csv
expected result.txt
show query --db samples.db --wide
show query --db samples.db --failures
show query --db samples.db --format json 'imul*'
run report --db samples.db --output report
expect_status 0
for file in report/*; do
    { echo "== $file" && cat "$file" && echo; } >>text
done
expected report.txt
finish
