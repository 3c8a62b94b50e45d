#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput export: each format on a recorded database against the expected output in
# tests/fixtures/golden/export/, numbers against those of query, the programs that read them where
# they are installed, and names that want to be markup. `make golden` rewrites the expected output.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
golden=$TREE/tests/fixtures/golden
cat "$TREE/db/schema.sql" "$TREE/db/views.sql" "$golden/ports_run.sql" >all.sql
sqlite3 -batch -bail real.db <all.sql >/dev/null || exit 99

formats='csv spreadsheet json uops-xml osaca intrinsics asmdude'
if llvm_newest llvm-mc >/dev/null; then
    formats+=' exegesis exegesis-throughput exegesis-uops llvm-json llvm-sched'
else
    run export --db real.db --format llvm-json
    expect_status 3
    expect_err 'apt-get install llvm-19'
fi
for format in $formats; do
    run export --db real.db --format "$format" --output "$format" --left-out "$format.left"
    expect_status 0
    expect_err "latput export: $format: [0-9]+ of 20 forms of sapphirerapids\?"
    if [ "${LATPUT_GOLDEN:-}" = rewrite ]; then
        sed 's/KANDWkk/KANDWrr/' "$format" >"$golden/export/$format"
        cp "$format.left" "$golden/export/$format.left"
    else
        # The expected output has the opcodes of LLVM 19; newer ones call those of masks otherwise.
        sed 's/KANDWkk/KANDWrr/' "$format" >"$format.19"
        expect "output as in export/$format (make golden rewrites it)" \
            diff -u "$golden/export/$format" "$format.19"
        expect "output as in export/$format.left (make golden rewrites it)" \
            diff -u "$golden/export/$format.left" "$format.left"
    fi
    n=$(grep -oE '[0-9]+ of 20' "$ERR" | cut -d' ' -f1)
    expect "no form of $format is lost without a word" \
        test "$((n + $(wc -l <"$format.left")))" = 20
done

run export --db real.db --format csv 'imul*'
expect_out '^sapphirerapids\?,imul r64 r64,imul,r64 r64,legacy,64,X86_64,,ok,'
expect_err 'csv: 1 of 1 forms'
run export --db real.db --format nothing
expect_status 2
expect_err "unknown format 'nothing'; there are csv, spreadsheet, json, "
run export --db real.db
expect_status 2
run export --db real.db --format csv --uarch zen4
expect_status 2

# Numbers are those of query, with all digits.
"$LATPUT" query --db real.db --format csv >query.csv
"$LATPUT" export --db real.db --format csv 2>/dev/null >export.csv
sqlite3 -csv :memory: '.import query.csv q' '.import export.csv e' \
    "SELECT count(*) FROM q JOIN e USING (form, enc, bits) WHERE q.uops = e.uops
    AND q.latency_min_clk = e.latency_min_clk AND q.latency_max_clk = e.latency_max_clk
    AND q.rthroughput_clk = e.rthroughput_clk
    AND (q.ports = e.ports OR q.ports || 'none' = e.ports)" >same
expect "all numbers are those of query: $(cat same) of 20" grep -qx 20 same

# The programs that read them, and parsers, where they are there.
has xmllint && expect "well-formed XML" xmllint --noout uops-xml
if has python3; then
    expect "valid JSON" python3 -c 'import json
for name in ("json", "llvm-json", "intrinsics"):
    try: text = open(name).read()
    except FileNotFoundError: continue
    json.loads(text.removeprefix("perf2_js = ").removesuffix(";\n"))'
    has_python yaml && expect "a machine file" python3 -c '# As OSACA reads it.
import yaml
model = yaml.safe_load(open("osaca"))
for key in ("osaca_version", "micro_architecture", "arch_code", "isa", "hidden_loads",
            "dispatched_uops_per_cycle", "load_throughput", "store_throughput"):
    assert key in model, key
assert set(model["load_latency"]) == {"gpr", "mm", "xmm", "ymm", "zmm"}, model["load_latency"]
ports = set(model["ports"])
def pressure(of):
    return all(cycles > 0 and set(on) <= ports for cycles, on in of)
assert pressure(model["load_throughput_default"]) and pressure(model["store_throughput_default"])
assert len(model["instruction_forms"]) > 5, model
keys = {"register": {"class", "name", "mask", "zeroing"}, "immediate": {"class", "imd"},
        "memory": {"class", "base", "offset", "index", "scale", "mask", "zeroing"}}
seen = set()
for form in model["instruction_forms"]:
    assert set(form) == {"name", "operands", "latency", "port_pressure", "throughput", "uops"}, form
    assert pressure(form["port_pressure"]) and form["uops"] >= 0, form
    assert form["latency"] is None or form["latency"] >= 0, form
    assert all(set(op) <= keys[op["class"]] for op in form["operands"]), form
    name = form["name"], str(form["operands"])
    assert name not in seen, form # the second would never be found
    seen.add(name)'
fi
if exegesis=$(llvm_newest llvm-exegesis); then
    for format in exegesis exegesis-throughput exegesis-uops; do
        "$exegesis" --mode=analysis --benchmarks-file="$format" --analysis-numpoints=1 \
            --analysis-clusters-output-file=clusters.csv \
            --analysis-inconsistencies-output-file="$format.html" >exegesis.log 2>&1
        expect "llvm-exegesis takes all of $format" \
            grep -q "Parsed $(grep -c '^mode:' "$format") benchmark points" exegesis.log
        expect "it writes its report" grep -q 'Analysis Results' "$format.html"
    done
    # A class of the model that is known to be wrong: SETcc has two µops there.
    expect "its report names what is wrong" grep -q SETCCr exegesis-uops.html
fi

# LLVM's TableGen parses the draft of a model beside LLVM's own classes and stubs of the opcodes:
# its syntax, no more.
if tblgen=$(llvm_newest llvm-tblgen); then
    include=$(dirname "$(readlink -f "$(command -v "$tblgen")")")/../include
    [ -e "$include/llvm/Target/Target.td" ] || include=/usr/include/llvm-${tblgen##*-}
    if [ -e "$include/llvm/Target/Target.td" ]; then
        {
            echo 'include "llvm/Target/Target.td"'
            echo 'class Stub : Instruction { let OutOperandList = (outs);'
            echo 'let InOperandList = (ins); }'
            tr '\n' ' ' <llvm-sched | grep -o '(instrs [^)]*)' | sed 's/(instrs//; s/)//' |
                tr -s ', ' '\n' | grep -v '^$' | sort -u | sed 's/.*/def & : Stub;/'
            echo 'include "llvm-sched"'
        } >model.td
        expect "llvm-tblgen parses llvm-sched" "$tblgen" -print-records -I "$include" -I . \
            -o records model.td
        expect "a record for each class" test "$(grep -c '^def .* SchedWriteRes' records)" = \
            "$(grep -c ' : SchedWriteRes<' llvm-sched)"
    else
        left_out "LLVM's Target.td"
    fi
fi

# A table of XED's, where LATPUT_REFERENCE has one: no name is wrong.
table=${LATPUT_REFERENCE:-/nowhere}/x86_variants.tsv
# shellcheck disable=SC2016 # the program is awk's
[ ! -e "$table" ] || expect "names as XED has them" awk -F'\t' '
    NR == FNR { known[$2] = 1; next }
    match($0, /iform="[^"]*"/) {
        name = substr($0, RSTART + 7, RLENGTH - 8)
        if (!(name in known)) {
            print name
            bad = 1
        }
    }
    END { exit bad }' "$table" uops-xml

# Names that a stranger's pack may have.
sqlite3 -batch real.db "SELECT 'DROP TRIGGER ' || name || ';' FROM sqlite_master
    WHERE type = 'trigger'" | sqlite3 -batch real.db
sqlite3 -batch real.db "UPDATE form SET mnemonic = '<i>' || char(10) || '\"',
        form = 'imul \"<b>&''' || char(10) || 'x: [' || char(9) || '--> ]]>'
        WHERE form = 'imul r64 r64';
    UPDATE run SET version = '\"/><x>' || char(10) || '- !!evil';
    UPDATE cpu SET uarch_name = 'a\"b' || char(10) || 'c: d <e>'"
for format in $formats; do
    run export --db real.db --format "$format" --output "hostile.$format"
    expect_status 0
    if LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' \
        "$ERR" "hostile.$format"; then
        cli_fail "control characters in $format"
    fi
    case $format in asmdude | osaca | exegesis* | llvm-json)
        expect "no line of its own" test "$(grep -cE '^(- !!evil|x: )' "hostile.$format")" = 0
        ;;
    esac
done
has xmllint && expect "well-formed XML" xmllint --noout hostile.uops-xml
has python3 &&
    expect "valid JSON" python3 -c 'import json; json.load(open("hostile.json"))'
has_python yaml &&
    expect "valid YAML" python3 -c 'import yaml; yaml.safe_load(open("hostile.osaca"))'
expect "eight columns" awk -F'\t' 'NR > 1 && NF != 8 { exit 1 }' hostile.asmdude
finish
