#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The packs in results/published/ are what its README and docs/PUBLISHING.md promise: small, without
# samples, finished, of a version without local changes, named in the README; and they merge.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
published=$TREE/results/published
for pack in "$published"/*.zip "$published"/*.tar.xz; do
    [ -e "$pack" ] || continue
    name=$(basename "$pack")
    expect "$name is at most 2 MB" test "$(stat -c %s "$pack")" -le 2000000
    expect "$name is named in the README" grep -qF "$name" "$published/README.md"
    run merge --db all.db "$pack"
    expect_status 0
    expect_out ': added as run '
done
ask() { sqlite3 -batch all.db "$1"; }
expect "no samples" test "$(ask 'SELECT count(*) FROM sample')" = 0
expect "results" test "$(ask "SELECT count(*) FROM instruction_table WHERE outcome = 'ok'")" -gt 50
expect "ports" test "$(ask 'SELECT count(*) FROM port_result')" -gt 50
expect "finished runs of committed versions" test \
    "$(ask "SELECT count(*) FROM run WHERE finished_utc IS NULL OR version GLOB '*dirty*'")" = 0
# A CPU that is not what it claims to be says so.
expect "a disguise has a mark" test "$(ask "SELECT count(*) FROM run_table
    WHERE uarch NOT LIKE '%?' AND claimed_uarch <> uarch AND decided = 'inferred'")" = 0
formats='csv uops-xml osaca'
for format in $formats; do
    run export --db all.db --format "$format" --output "$format"
    expect_status 0
done

# What a form's numbers are is the same in all of them, to the digits that a format has.
command -v python3 >/dev/null || { finish && exit 0; }
"$LATPUT" query --db all.db --format csv >query.csv
expect "the numbers of exports are those of query" python3 - <<'PYTHON'
import csv, math, re, sys, xml.etree.ElementTree as tree

def number(text):
    return float(text) if text else None

def same(a, b, digits):
    if a is None or b is None:
        return a is b
    return math.isclose(a, b, rel_tol=1e-5, abs_tol=0.5001 * 10 ** -digits if digits else 0)

query = {}  # form -> [(throughput, least latency)]
for row in csv.DictReader(open("query.csv")):
    query.setdefault(row["form"], []).append(
        (number(row["rthroughput_clk"]), number(row["latency_min_clk"])))

def compare(format, values, digits, least):
    seen = wrong = 0
    for form, throughput, latency in values:
        seen += 1
        if not any((throughput is None or same(q[0], throughput, digits)) and
                   (latency is None or same(q[1], latency, digits)) for q in query[form]):
            wrong += 1
            print(f"{format}: {form}: {throughput} {latency}; query has {query[form]}")
    print(f"{format}: {seen} forms")
    return wrong == 0 and seen >= least

def of_csv():
    for row in csv.DictReader(open("csv")):
        yield row["form"], number(row["rthroughput_clk"]), number(row["latency_min_clk"])

def of_xml():
    for instruction in tree.parse("uops-xml").iter("instruction"):
        for measurement in instruction.iter("measurement"):
            yield instruction.get("latput"), number(measurement.get("TP_unrolled")), None

def of_osaca():
    form = None
    for line in open("osaca"):
        if found := re.match(r'- name: .* # (.+)$', line):
            form = found[1]
        elif form and (found := re.match(r"  throughput: ([0-9.]+)$", line)):
            yield form, float(found[1]), None

# The formats of programs leave out what their programs do not know.
good = [compare("csv", of_csv(), 0, 1000), compare("uops-xml", of_xml(), 2, 1000),
        compare("osaca", of_osaca(), 0, 1000)]
sys.exit(0 if all(good) else 1)
PYTHON
finish
