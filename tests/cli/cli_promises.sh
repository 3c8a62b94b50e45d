#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Names, order and types of today's CSV and JSON are those of tests/promises/, which no target
# rewrites: 1.0 has promised them (docs/STABILITY.md).
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"
command -v python3 >/dev/null || { echo "python3 is missing"; exit 77; }
promises=$TREE/tests/promises
text_machine quiet <<<''
for db in known.db ports.db published.db; do fixture $db; done
ln -s "$TREE/tests" tests

# The shape of an output: for each column or member, in order, the types that it has anywhere.
cat >shape.py <<'PYTHON'
import csv, json, sys

EARLY = {"completes"}  # columns that 1.1 put among those of 1.0

def kind(value):
    return {bool: "bool", int: "number", float: "number", str: "text"}[type(value)]

def shape(values):
    """Types of values in the same place; members of all objects among them."""
    types, members, elements = set(), {}, []
    for value in values:
        if isinstance(value, dict):
            types.add("object")
            for name, of in value.items():
                members.setdefault(name, []).append(of)
        elif isinstance(value, list):
            types.add("array")
            elements += value
        elif value is not None:
            types.add(kind(value))
    return (types, {name: shape(of) for name, of in members.items()},
            shape(elements) if elements else None)

def cell(text):
    try:
        return float(text) if text else None
    except ValueError:
        return text

def read(path):
    if path.endswith(".json"):
        return shape([json.load(open(path))])
    rows = list(csv.reader(open(path, newline="")))
    return shape([[dict(zip(rows[0], map(cell, row))) for row in rows[1:]] or
                  [dict.fromkeys(rows[0])]])

def compare(place, old, new):
    """Further columns of CSV come last; further members of JSON anywhere."""
    wrong = []
    if old[0] and new[0] and not new[0] <= old[0]:
        wrong.append(f"{place}: {sorted(new[0])}, not {sorted(old[0])}")
    names = [name for name in new[1] if name in old[1] or ".csv" in place and name not in EARLY]
    for shown in (False, True):  # columns as tables show them come after all others
        had = [name for name in old[1] if name.endswith("_shown") == shown]
        has = [name for name in names if name.endswith("_shown") == shown][:len(had)]
        if new[1] and has != had:
            wrong.append(f"{place}: the members are {has}, not {had}")
    for name in old[1]:
        if name in new[1]:
            wrong += compare(f"{place}.{name}", old[1][name], new[1][name])
    if old[2] and new[2]:
        wrong += compare(place + "[]", old[2], new[2])
    return wrong

wrong = compare(sys.argv[1].rsplit("/")[-1], read(sys.argv[1]), read(sys.argv[2]))
print("\n".join(wrong[:10]))
sys.exit(bool(wrong))
PYTHON

while read -r file line; do
    # shellcheck disable=SC2162 # a backslash keeps a blank
    read -a arguments <<<"$line"
    run "${arguments[@]}"
    [ -n "${PROMISES_KEEP-}" ] && cp "$OUT" "$PROMISES_KEEP/$file" && continue
    expect_status 0
    cp "$OUT" "$file"
    [ -s "$promises/$file" ] || cli_fail "there is no $promises/$file"
    said=$(python3 shape.py "$promises/$file" "$file" 2>&1) || cli_fail "$said"
done <"$promises/commands"
[ -z "${PROMISES_KEEP-}" ] || exit 0

# It notices a lost member, another order, and another type.
sed 's/"width"/"wide"/' ports.json >lost.json
sed 's/"width": \([0-9]*\)/"width": "\1"/' ports.json >text.json
awk -F , -v OFS=, '{ swap = $1; $1 = $2; $2 = swap } 1' counters.csv >order.csv
for made in ports.json:lost.json ports.json:text.json counters.csv:order.csv; do
    expect "${made#*:} is noticed" test -n \
        "$(python3 shape.py "$promises/${made%:*}" "${made#*:}")"
done
finish
