#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `latput diff` explains differences: a second run is made of a published one, with a
# difference planted for each group, and each must fall into its group, in both directions.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
needs python3
fixture published.db
cp published.db planted.db
cat >plant.py <<'PYTHON'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("PRAGMA foreign_keys = ON")
run = db.execute("SELECT run_id FROM instruction_table WHERE uarch = 'zen5'").fetchone()[0]
MNEMONICS = ["imul", "popcnt", "vmovd", "pxor", "vpaddd", "rcl", "adc", "add", "vaddps", "pand"]
MORE = 10000000 # ids of the copy
forms = f"""SELECT run_form_id FROM run_form JOIN form USING (form_id)
    WHERE run_id = {run} AND mnemonic IN ({','.join('?' * len(MNEMONICS))})"""
ids = [i for (i,) in db.execute(forms, MNEMONICS)]
db.execute("CREATE TEMP TABLE chosen (run_form_id INTEGER PRIMARY KEY)")
db.executemany("INSERT INTO chosen VALUES (?)", [(i,) for i in ids])

pand = db.execute(f"""SELECT run_form_id FROM run_form JOIN form USING (form_id)
    WHERE run_id = {run} AND form = 'pand x x'""").fetchone()[0]
masks = {"ports_mask": f"CASE run_form_id WHEN {pand} THEN 3 ELSE ports_mask END",
         "name": f"CASE run_form_id WHEN {pand} THEN 'FP03' ELSE name END"} # of port_use

def copy(table, where, **changes):
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    values = [changes.get(name, name) for name in columns]
    db.execute(f"INSERT INTO {table} SELECT {','.join(values)} FROM {table} WHERE {where}")

def copy_run(of, to, uuid, **planted):
    shift = {"run_id": str(to), "run_form_id": f"run_form_id + {MORE * to}",
             "test_id": f"test_id + {MORE * to}", "kernel_id": "NULL"}
    copy("run", f"run_id = {of}", run_id=str(to), uuid=f"'{uuid:0>32}'")
    chosen = f"run_form_id IN (SELECT run_form_id FROM chosen)"
    for table in ("run_list", "port_model", "port_class", "port_name", "port_unit"):
        copy(table, f"run_id = {of}", **shift)
    for table in ("run_form", "operand_role", "test"):
        copy(table, chosen, **shift)
    copy("port_result", chosen, **shift, **planted)
    copy("port_use", chosen, **shift, **(masks if planted else {}))
    copy("result", f"test_id IN (SELECT test_id FROM test WHERE {chosen})", **shift)

copy_run(run, 901, "901")
copy_run(run, 902, "902", ports=f"CASE run_form_id WHEN {pand} THEN '1*FP03' ELSE ports END")

def clk(form, kind, src="", dst="", run=901, column="value_clk"):
    return db.execute(f"""SELECT {column} FROM result JOIN test USING (test_id)
        JOIN run_form USING (run_form_id) JOIN form USING (form_id)
        WHERE run_id = ? AND form = ? AND kind = ? AND src = ? AND dst = ? AND enc =
            (SELECT max(enc) FROM form AS f WHERE f.form = form.form AND bits = 64)
            AND variant IN ('', 'fast')""", (run, form, kind, src, dst)).fetchone()[0]

def plant(form, kind, value, src="", dst="", bound="exact", run=902):
    changed = db.execute("""UPDATE result SET value_clk = ?, dense_clk = NULL, filled_clk = NULL,
        spread_clk = 0, least_clk = NULL, most_clk = NULL, bound = ? WHERE test_id IN
        (SELECT test_id FROM test JOIN run_form USING (run_form_id) JOIN form USING (form_id)
            WHERE run_id = ? AND form = ? AND kind = ? AND src = ? AND dst = ?
            AND variant IN ('', 'fast'))""", (value, bound, run, form, kind, src, dst)).rowcount
    assert changed, (form, kind, src, dst)

plant("popcnt r32 r32", "latency", 4, "op2", "op1", "upper")
plant("pxor x x same", "throughput", 1)
plant("pxor x x same", "latency", 1, "op1", "op1")
for src in ("op2", "op3"): # without the range that 1.1 stores beside dense and filled
    plant("vpaddd x x x", "latency", 1.6, src, "op1")
    db.execute("""UPDATE result SET least_clk = NULL, most_clk = NULL, spread_clk = 0
        WHERE test_id IN (SELECT test_id FROM test JOIN run_form USING (run_form_id)
            JOIN form USING (form_id) WHERE run_id = 901 AND form = 'vpaddd x x x'
            AND src = ?)""", (src,))
plant("rcl r32 1", "throughput", clk("rcl r32 i8", "throughput"))
plant("adc r64 r64", "throughput", clk("adc r64 r64", "latency", "op1", "op1"))
plant("add r32 m32", "latency", clk("add r32 m32", "latency", "op2.base", "op1"), "op1", "op1")
plant("vaddps z z z", "throughput", 2 * clk("vaddps z z z", "throughput"))
plant("imul r32 r32", "throughput", 1.04 * clk("imul r32 r32", "throughput"))
plant("imul r16 r16", "throughput", 17)
db.commit()
PYTHON
python3 plant.py planted.db || exit 99

# as_planted FILE: form, what explains it, and the evidence, of CSV.
as_planted() {
    python3 -c 'import csv, sys
for row in csv.DictReader(sys.stdin):
    print(row["form"], row["explained"], row["evidence"], sep=": ")' <"$1"
}
cat >expected <<'TEXT'
adc r64 r64: cut flags: 901: op1 → op1 1.00
add r32 m32: other operand pair: 901: op2.base → op1 5.00
imul r16 r16: not explained: 
imul r32 r32: small: 0.013 apart
pand x x: ports: 1 µop on each side
popcnt r32 r32: bound: 902 ≤4.00
pxor x x same: idiom: 901: at rename: idiom
rcl r32 1: other immediate: 901: `rcl r32 i8` has 4.00
vaddps z z z: other vector width: `vaddps x x x` agrees: 0.50
vpaddd x x x: one or two cycles: 901: dense 1.99, filled 1.00
TEXT
run diff --db planted.db 901 902 --format csv
expect_status 0
as_planted "$OUT" >found
expect "each difference in its group" diff -u expected found
expect_out '^form,.*,explained,evidence$'
cp "$OUT" there.csv
# Evidence is on either side; of pairs there are many that take one cycle.
run diff --db planted.db 902 901 --format csv
expect "the same groups the other way round" diff <(cut -d: -f1,2 expected) \
    <(as_planted "$OUT" | cut -d: -f1,2)

# Other forms are evidence, whether they were asked for or not.
run diff --db planted.db 901 902 'rcl r32 1' --format csv
as_planted "$OUT" >found
expect "of forms that do not match the glob" diff <(grep '^rcl' expected) found

run diff --db planted.db 901 902
expect_out '^explained by +forms +what it says$'
expect_out '^other immediate +1 +ours with another constant'
expect_out '^imul r16 r16 .* not explained$'
run diff --db planted.db 901 902 --format json
expect_schema diff "$OUT"
expect "groups" python3 -c 'import json, sys
found = json.load(open(sys.argv[1]))[0]
assert [g["forms"] for g in found["groups"]] == [1] * 10, found["groups"]
assert {g["explained"] for g in found["groups"]} == {f["explained"] for f in found["forms"]}' "$OUT"
run diff --db planted.db 901 902 --format csv --summary
expect "no groups in a table of classes" test -z "$(grep explained "$OUT")"

# Forms of two designs have the same names: another constant, pair or register is another thing.
run diff --db planted.db zen5 sapphirerapids 'rc?' 'adc' 'vpaddd' 'div' --format csv
expect "a few forms" test "$(wc -l <"$OUT")" -gt 50
as_planted "$OUT" >found
for group in 'other immediate' 'other operand pair' 'cut flags' exchanged 'no chain'; do
    expect "nothing by $group" test -z "$(grep ": $group:" found)"
done
expect "some by bounds" grep -q ': bound: ' found
finish
