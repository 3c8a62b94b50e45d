#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The packs in results/published/ are what its README and docs/PUBLISHING.md promise: small, without
# samples, finished, of a version without local changes, named in the README; and they merge, which
# the build has done.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/../cli/cli.sh"
published=$TREE/results/published
for pack in "$published"/*.tar.xz; do
    [ -e "$pack" ] || continue
    name=$(basename "$pack")
    expect "$name is at most 2.5 MB" test "$(stat -c %s "$pack")" -le 2500000
    expect "$name is named in the README" grep -qF "$name" "$published/README.md"
done
fixture published.db all.db
ask() { sqlite3 -batch all.db "$1"; }
expect "no samples" test "$(ask 'SELECT count(*) FROM sample')" = 0
expect "results" test "$(ask "SELECT count(*) FROM instruction_table WHERE outcome = 'ok'")" -gt 50
expect "ports" test "$(ask 'SELECT count(*) FROM port_result')" -gt 50
expect "finished runs of committed versions" test \
    "$(ask "SELECT count(*) FROM run WHERE finished_utc IS NULL OR version GLOB '*dirty*'")" = 0
# Merged with what lies beside them, as their README says; that is no pack.
one=$TREE/tests/fixtures/quick_run.zip
run merge --db one.db "$one" "$published/README.md"
expect_status 0
expect_err 'no packs .* left out: .*/README\.md$'
# No space for a pack that is sound: that is not the pack's fault, and nothing is left.
CLI_COMMAND="latput merge $one, files may not grow"
(
    trap '' XFSZ
    ulimit -f $(($(stat -c %s one.db) / 1024))
    "$LATPUT" merge --db none.db "$one" >"$OUT" 2>"$ERR" </dev/null
)
STATUS=$?
expect_status 3
expect_err 'merge\.db: cannot .*file size limit'
expect "no database and no log are left" test -z "$(find . -name 'none.db*')"
# A CPU that is not what it claims to be says so.
expect "a disguise has a mark" test "$(ask "SELECT count(*) FROM run_table
    WHERE uarch NOT LIKE '%?' AND claimed_uarch <> uarch AND decided = 'inferred'")" = 0
formats='csv json uops-xml osaca asmdude intrinsics'
for format in $formats; do
    run export --db all.db --format "$format" --output "$format"
    expect_status 0
done

# Numbers of a form are the same in all formats, to their digits. An export is of one CPU, the one
# measured last.
has python3 || { finish && exit 0; }
uarch=$(ask 'SELECT uarch FROM run_table ORDER BY started_utc DESC LIMIT 1')
"$LATPUT" query --db all.db --uarch "$uarch" --format csv >query.csv
expect "the numbers of exports are those of query" python3 - <<'PYTHON'
import csv, json, math, re, sys, xml.etree.ElementTree as tree

def number(text):
    return float(text) if text else None

def same(a, b, digits):
    if a is None or b is None:
        return a is b
    return math.isclose(a, b, rel_tol=1e-5, abs_tol=0 if digits is None else 0.5001 * 10 ** -digits)

query = {}  # form -> [(throughput, least latency of all pairs, and to the result)]
named = {}  # mnemonic and operands, or XED's name -> forms
for row in csv.DictReader(open("query.csv")):
    query.setdefault(row["form"], []).append(
        (number(row["rthroughput_clk"]), number(row["latency_min_clk"]),
         number(row["result_latency_clk"])))
    named.setdefault((row["mnemonic"], row["operands"]), set()).add(row["form"])
for instruction in tree.parse("uops-xml").iter("instruction"):
    if instruction.get("iform"):
        named.setdefault(instruction.get("iform"), set()).add(instruction.get("latput"))

EXACT = None, None  # digits of throughput and latency

# Compares forms: a name may mean several, any of which may be the one.
def compare(format, values, least):
    result = 2 if format in ("asmdude", "intrinsics") else 1  # formats of other programs
    seen = wrong = 0
    for forms, throughput, latency, digits in values:
        seen += 1
        if not any((throughput is None or same(q[0], throughput, digits[0])) and
                   (latency is None or same(q[result], latency, digits[1]))
                   for form in forms for q in query[form]):
            wrong += 1
            print(f"{format}: {forms}: {throughput} {latency}")
    print(f"{format}: {seen} forms")
    return wrong == 0 and seen >= least

# A text for people, "≤4.01", "[1.00;≤6.05]": its first number, and how many digits it has.
def shown(text):
    least = re.search(r"\d+\.?(\d*)", text or "")
    return (float(least[0]), len(least[1])) if least else (None, None)

def of_csv():
    for row in csv.DictReader(open("csv")):
        yield [row["form"]], number(row["rthroughput_clk"]), number(row["latency_min_clk"]), EXACT

def of_json():
    for row in json.load(open("json"))[0]["forms"]:
        yield [row["form"]], row["rthroughput_clk"], row["latency_min_clk"], EXACT

def of_xml():
    for instruction in tree.parse("uops-xml").iter("instruction"):
        for measurement in instruction.iter("measurement"):
            throughput = number(measurement.get("TP_unrolled"))
            yield [instruction.get("latput")], throughput, None, (2, None)

def of_osaca():
    form = None
    for line in open("osaca"):
        if found := re.match(r'- name: .* # (.+)$', line):
            form = found[1]
        elif form and (found := re.match(r"  throughput: ([0-9.]+)$", line)):
            yield [form], float(found[1]), None, EXACT

def of_asmdude():
    for line in open("asmdude"):
        if line.startswith(";"):
            continue
        fields = line.rstrip("\n").split("\t")
        throughput, latency = shown(fields[6]), shown(fields[5])
        forms = named[fields[0].lower(), fields[1].replace(",", " ")]
        yield forms, throughput[0], latency[0], (throughput[1], latency[1])

def of_intrinsics():
    text = open("intrinsics").read().removeprefix("perf2_js = ").rstrip().removesuffix(";")
    for iform, entries in json.loads(text).items():
        for entry in entries:
            for values in entry.values():
                throughput, latency = shown(values.get("t")), shown(values.get("l"))
                yield named[iform], throughput[0], latency[0], (throughput[1], latency[1])

# The formats of programs leave out what their programs do not know.
readers = {"csv": of_csv, "json": of_json, "uops-xml": of_xml, "osaca": of_osaca,
           "asmdude": of_asmdude, "intrinsics": of_intrinsics}
good = [compare(format, reader(), 1000) for format, reader in readers.items()]
sys.exit(0 if all(good) else 1)
PYTHON
finish
