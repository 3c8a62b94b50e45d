#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Forty common forms on each published CPU: `latput query` agrees with an independent source
# (tests/fixtures/common_forms.csv), or the difference has its reason.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
command -v python3 >/dev/null || { echo "python3 is missing"; exit 77; }
forms=$TREE/tests/fixtures/common_forms.csv
fixture published.db
run query --db published.db --format csv
expect_status 0
cp "$OUT" query.csv
: >"$OUT"
said() { python3 "$TREE/tests/common_forms.py" "$@"; }
expect "the table" said "$forms" query.csv

# The first line of a query for a form is one of these rows.
run query --db published.db --format csv --uarch zen5 'vpermd y y y' --limit 1
expect "the first line" grep -qxF "$(sed -n 2p "$OUT")" query.csv

# Each form that was asked for its ports and has no µops says why.
run query --db published.db --format csv --columns form,note \
    "uops is null and outcome = 'ok' and tests like '%P' and (note is null or note not like '%ports%')"
expect_status 0
expect "no row without a reason" test "$(wc -l <"$OUT")" = 1

# It notices another number, a reason without a difference, a difference without one, a form that
# is missing, and a CPU without rows.
wrong() { # WHAT SED
    sed "$2" "$forms" >wrong.csv
    expect "$1 is noticed" test -z "$(cmp -s "$forms" wrong.csv && echo same)"
    expect "$1 is an error" eval '! said wrong.csv query.csv >/dev/null'
}
wrong "another latency" 's/^zen5,vpmulld y y y,3,/zen5,vpmulld y y y,4,/'
wrong "other ports" 's/,1\*p015,/,1*p01,/'
wrong "a reason without a difference" 's/^\(zen5,vpmulld.*\),,$/\1,,because/'
wrong "a difference without a reason" 's/^\(zen5,vpermd.*,latency throughput uops\),.*/\1,/'
wrong "an unknown form" 's/^zen5,vpmulld y y y/zen5,vpmulld y y/'
wrong "a CPU with few forms" '/^zen5,v/d'
finish
