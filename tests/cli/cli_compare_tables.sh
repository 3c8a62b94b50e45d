#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput compare FILE: tables of others in each format, made here from the published runs with
# differences planted in them, of which each must fall into its group; and what is no table.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
needs python3
fixture published.db
db=published.db
export LATPUT_DB=$PWD/$db

# The values that are asked for below, read once: of FORM COLUMN, pair FORM SRC DST.
declare -A value
while IFS='|' read -r key number; do value[$key]=$number; done < <(sqlite3 -readonly "$db" "
    WITH best AS MATERIALIZED (SELECT * FROM instruction_table WHERE uarch = 'zen5')
    SELECT form || ' latency_max_clk', round(latency_max_clk, 2) FROM best
    UNION ALL SELECT form || ' rthroughput_clk', round(rthroughput_clk, 2) FROM best
    UNION ALL SELECT form || ' 2 * rthroughput_clk', round(2 * rthroughput_clk, 2) FROM best
    UNION ALL SELECT format('%s %s %s', form, src, dst), round(latency_clk, 2) FROM latency_table
        WHERE uarch = 'zen5' AND form IN ('add r32 m32', 'adc r64 r64', 'rcl r32 i8')")
of() { echo "${value[$1 $2]}"; }
pair() { echo "${value[$*]}"; }
# expect_group ROW QUANTITY GROUP: what explains the value in the CSV of all files; "": it is not
# there. They are judged together by groups_check.
expect_group() { printf '%s\t%s\t%s\n' "$@" >>groups.tsv; }
groups_check() {
    CLI_COMMAND="groups"
    python3 - "$OUT" groups.tsv >.groups <<'PYTHON' || cli_fail "$(cat .groups)"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
bad = 0
for line in open(sys.argv[2]):
    row, quantity, group = line.rstrip("\n").split("\t")
    found = [r for r in rows if r["row"] == row and r["quantity"] == quantity]
    if sorted({r["explained"] for r in found}) != ([group] if group else []):
        bad = 1
        print(line, "found", [(r["theirs_clk"], r["ours_clk"], r["theirs_ports"], r["explained"],
                               r["evidence"]) for r in found])
sys.exit(bad)
PYTHON
}

# --- a plain CSV ---

{
    printf '\357\273\277# a comment\r\n'
    echo 'Mnemonic,operands,latency,throughput,remark,ports'
    both() { echo "$(of "$1" latency_max_clk),$(of "$1" rthroughput_clk)"; }
    echo "imul,r64 r64,$(both 'imul r64 r64'),,1*p1"
    echo "xor,\"r32, r32\",0,$(of 'xor r32 r32' rthroughput_clk),idiom,"
    echo "vpaddd,x x x,1.5,$(of 'vpaddd x x x' rthroughput_clk),two,1*fp0123"
    echo "rcl,r32 1,$(of 'rcl r32 i8' latency_max_clk),$(of 'rcl r32 1' rthroughput_clk),immediate,"
    echo "adc,r64 r64,$(of 'adc r64 r64' latency_max_clk),1,cut,"
    echo "add,r32 m32,1,$(of 'add r32 m32' rthroughput_clk),pair,"
    echo "vmovd,x r32,0.6,$(of 'vmovd x r32' rthroughput_clk),bound,"
    echo "vaddps,x x x,$(both 'vaddps x x x'),,1*FP23"
    twice=$(of 'vaddps z z z' '2 * rthroughput_clk')
    echo "vaddps,z z z,$(of 'vaddps z z z' latency_max_clk),$twice,width,1*FP0123"
    imul=$(of 'imul r32 r32' latency_max_clk) popcnt=$(of 'popcnt r32 r32' latency_max_clk)
    echo "imul,r32 r32,$popcnt,$(of 'imul r32 r32' rthroughput_clk),exchanged,"
    echo "popcnt,r32 r32,$imul,$(of 'popcnt r32 r32' rthroughput_clk),,"
    echo "pmuludq,x x,0.5,0.5,no chain,on FP0"
    echo "imul,r16 r16,17,23,unexplained,"
    echo 'sub,r32 r32,-1,9223372036854775808,none,'
    echo 'or,r32 r32,,≤ x,none,'
    echo "vaddps,y y y,$(both 'vaddps y y y'),other ports,1*FP01"
    echo 'frobnicate,r32,1,1,unknown,'
    echo 'add,qwerty r32,1,1,unknown,'
} >planted.csv

# --- InstLatX64 ---

ns() { awk "BEGIN { printf \"%.2f\", $1 / 4 }"; }
row() { # NAME LATENCY THROUGHPUT
    printf '%4d %-20s:%-38sL:%7sns=%5.1fc  T:%7sns=%6.2fc\r\n' $((number++)) "${4-X86}" "$1" \
        "$(ns "$2")" "$2" "$(ns "$3")" "$3"
}
number=0
{
    printf 'InstLatX64\r\nArch:X64 CPUCount:12 NUMA:0 Freq: 4000.00MHz Priority:020\r\n'
    printf 'CPU#000 Vendor: AuthenticAMD Family: 1A Model: 44 Stepping: 0 CoreType:0x0\r\n'
    printf 'CPU#000 Type: "A Zen 5"\r\n'
    row 'IMUL r64, r64' "$(of 'imul r64 r64' latency_max_clk)" \
        "$(of 'imul r64 r64' rthroughput_clk)"
    row 'XOR r32, r32' "$(of 'xor r32 r32 same' rthroughput_clk)" \
        "$(of 'xor r32 r32 same' rthroughput_clk)"
    row 'XOR r1_32, r2_32' 0.13 "$(of 'xor r32 r32' rthroughput_clk)"
    row 'VPADDD xmm, xmm, xmm' 1.6 "$(of 'vpaddd x x x' rthroughput_clk)" AVX
    row 'ADD r32, [m32]' "$(pair 'add r32 m32' op2.base op1)" "$(of 'add r32 m32' rthroughput_clk)"
    row 'ADC r64, r64' "$(pair 'adc r64 r64' op1 op1)" 1
    row 'RCL r32, 1' "$(pair 'rcl r32 i8' op1 op1)" "$(of 'rcl r32 1' rthroughput_clk)"
    row 'VADDPS xmm, xmm, xmm' "$(of 'vaddps x x x' latency_max_clk)" \
        "$(of 'vaddps x x x' rthroughput_clk)" AVX
    row 'VADDPS zmm, zmm, zmm' "$(of 'vaddps z z z' latency_max_clk)" \
        "$(of 'vaddps z z z' '2 * rthroughput_clk')" AVX512F
    row 'IMUL r32, r32' "$(of 'popcnt r32 r32' latency_max_clk)" \
        "$(of 'imul r32 r32' rthroughput_clk)"
    row 'POPCNT r32, r32' "$(of 'imul r32 r32' latency_max_clk)" \
        "$(of 'popcnt r32 r32' rthroughput_clk)"
    row 'IMUL r16, r16' 17 23
    row 'MOV r32,[m32]+MOV [m32],r32' 4 1
    printf '  98 X86                 :MOV [m32], r32       L: [memory dep.]    T:   0.29ns=  1.00c\r\n'
    printf '  99 X86                 :CMP r32, r32         L: [no true dep.]   T:   %sns=  %sc\r\n' \
        "$(ns "$(of 'cmp r32 r32' rthroughput_clk)")" "$(of 'cmp r32 r32' rthroughput_clk)"
    printf ' 100 X86                 :AND r32, r32         L:   -1.00ns=  -1.0c  T:\r\n'
    printf ' 101 X86                 :OR r32, r3\r\n'
} >dump.txt

# --- uops.info's XML ---

form() { # ASM STRING OPERANDS MEASUREMENT [ATTRIBUTES]: an instruction of two architectures
    printf '<instruction asm="%s" string="%s" iform="X" %s>\n%s' "$1" "$2" "${5-}" "$3"
    printf '<architecture name="OTHER"><measurement uops="9" TP_loop="9"/></architecture>\n'
    printf '<architecture name="ZEN5">%s</architecture></instruction>\n' "$4"
}
two='<operand idx="1" name="REG0" type="reg" r="1" w="1" width="64">RAX,RBX</operand>
<operand idx="2" name="REG1" type="reg" r="1" width="64">RAX,RBX</operand>
<operand idx="3" name="REG2" type="flags" suppressed="1" flag_CF="w" w="1"/>'
{
    printf '<?xml version="1.0"?>\n<root>\n<extension name="BASE">\n'
    form IMUL 'IMUL (R64, R64)' "$two" '<measurement uops="1" TP_loop="1.00" TP_unrolled="1.01">
        <latency start_op="1" target_op="1" cycles="3"/>
        <latency start_op="2" target_op="1" min_cycles="3" max_cycles="4"/>
        <latency start_op="2" target_op="3" cycles="9" cycles_is_upper_bound="1"/></measurement>'
    form '{load} ADC' 'ADC (R64, R64)' "$two" '<measurement uops="1" TP_loop="1.00">
        <latency start_op="1" target_op="1" cycles="7"/>
        <latency start_op="2" target_op="1" cycles="-1"/>
        <latency start_op="2" target_op="3" cycles="9223372036854775808"/>
        <latency start_op="5" target_op="1" cycles="1"/></measurement>'
    form ADD 'ADD (R64, M64)' '<operand idx="1" name="REG0" type="reg" r="1" w="1">RAX,RBX</operand>
<operand idx="2" name="MEM0" type="mem" r="1" width="64"/>' '<measurement uops="1" TP_loop="≤0.5">
        <latency start_op="2" target_op="1" cycles_addr="5" cycles_mem="5"
            cycles_mem_is_upper_bound="1"/></measurement>'
    form VADDPS 'VADDPS_Z (ZMM, K, ZMM, M32_1to16)' '<operand idx="1" name="REG0" type="reg" w="1"/>
<operand idx="2" name="REG1" type="reg" r="1"/><operand idx="3" name="REG2" type="reg" r="1"/>
<operand idx="4" name="MEM0" type="mem" r="1"/>' '<measurement uops="1" TP_loop="">
        <latency start_op="3" target_op="1" cycles="2"/></measurement>' \
        'extension="AVX512EVEX" mask="1" zeroing="1" bcast="1"'
    form FROB 'FROB (R64, R64)' "$two" '<measurement uops="1" TP_loop="1.00"/>'
    printf '</extension>\n</root>\n'
} >made.xml
run compare made.xml --uarch spr
expect_status 2
expect_err 'made.xml: has nothing of sapphirerapids.*, but of OTHER, ZEN5; say of which'
# A billion laughs, a file of the system, a pit, a cut, something else.
printf '<!DOCTYPE r [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><root>&b;</root>' >laughs.xml
run compare laughs.xml --uarch zen5
expect_status 2
expect_err 'laughs.xml:1: a document type'
printf '<!DOCTYPE r SYSTEM "/etc/passwd"><root/>' >system.xml
run compare system.xml --uarch zen5
expect_status 2
expect_err 'system.xml:1: a document type'
{ for ((i = 0; i < 40; i++)); do printf '<e>'; done; } >deep.xml
run compare deep.xml --uarch zen5
expect_status 2
expect_err 'deep.xml:1: elements are deeper'
head -c 900 made.xml >cut.xml
run compare cut.xml --uarch zen5
expect_status 2
expect_err 'cut.xml:[0-9]+: '
{ printf '<root a="'; head -c 9000000 /dev/zero | tr '\0' x; } >wide.xml
run compare wide.xml --uarch zen5
expect_status 2
expect_err 'wide.xml:1: an element longer'
printf '<html><body/></html>' >page.xml
run compare page.xml --uarch zen5
expect_status 2
expect_err 'page.xml: has nothing of zen5, but of no architecture'

# --- llvm-exegesis ---

document() { # MODE INSTRUCTION SNIPPET VALUE [ERROR]
    printf -- "---\nmode:            %s\nkey:\n" "$1"
    printf "  instructions:\n    - '%s'\n  config: ''\n" "$2"
    printf "cpu_name: znver5\nllvm_triple: x86_64-unknown-linux-gnu\nmin_instructions: 10000\n"
    printf "measurements:\n  - { key: %s, value: %s, per_snippet_value: 9 }\n" "$1" "$4"
    printf "error: '%s'\ninfo: ''\nassembled_snippet: %s\n...\n" "${5-}" "$3"
}
{
    document latency 'IMUL64rr RAX RAX RBX' 480FAFC3480FAFC3C3 3.0012
    document latency 'IMUL64rr RCX RCX RBX' 48B90100000000000000480FAFCBC3 5 # set up before
    document inverse_throughput 'VADDPSYrr YMM1 YMM2 YMM3' C5EC58CBC3 0.5
    document latency 'ADD64rr RAX RAX RBX' 4801D8C3 -1
    document latency 'ADD64rr RAX RAX RBX' C3 1
    document latency 'DIV64r RCX' 48F7F1C3 1 'snippet crashed'
} >made.yaml
printf 'mnemonic,latency\nimul\033[31m,3\n' >escape.csv
# By machine code: 48 0F AF C3 is imul rax, rbx.
printf 'hex,latency\n48 0f af c3,%s\n90 90,1\n' "$(of 'imul r64 r64' latency_max_clk)" >code.csv

# Clocks: cycles of another clock than the core's, and ns without one.
clocked() { # FACTOR: general instructions of one cycle, and one of three, in its cycles
    printf 'CPU#000 Vendor: AuthenticAMD Family: 1A Model: 44 Stepping: 0\r\n'
    for name in ADD SUB AND OR XOR CMP TEST ADC SBB; do
        printf '1 X86 :%s r1_64, r2_64  L: %sc T: %sc\r\n' $name "$1" "$1"
    done
    for name in INC DEC NEG NOT; do
        printf '1 X86 :%s r64  L: %sc T: %sc\r\n' $name "$1" "$1"
    done
    printf '1 X86 :IMUL r1_64, r2_64  L: %sc T: %sc\r\n' "$(awk "BEGIN { print 3 * $1 }")" "$1"
}
clocked 0.8 >tsc.txt
{
    printf 'Freq: infMHz\r\n'
    clocked 0.25 | sed 's/\([0-9.]*\)c/\1ns/g'
} >ns.txt
{
    echo 'mnemonic,operands,latency_ns,throughput_ns'
    printf '%s,r64 r64,0.3,\n' add sub and or xor
    printf '%s,r32 r32,0.3,\n' add sub and or xor
    printf '%s,r64,0.3,\n' inc dec neg not
    echo 'imul,r64 r64,0.9,0.3'
} >ns.csv
sed '/ADD\|SUB\|AND\|OR\|NEG\|NOT/d' ns.txt >few.txt

# A small database of another CPU, and a pack of it.
cat "$TREE/db/schema.sql" "$TREE/db/views.sql" "$TREE/tests/fixtures/golden/ports_run.sql" |
    sqlite3 -batch -bail real.db >/dev/null || exit 99
run pack --db real.db --output packed.tar.xz
expect_status 0

# --- all files at once ---

run compare planted.csv code.csv dump.txt made.xml made.yaml tsc.txt --uarch zen5 --format csv
expect_status 0
expect_group 'imul r64 r64' latency agrees
expect_group 'imul r64 r64' throughput agrees
expect_group 'xor r32, r32' latency idiom
expect_group 'vpaddd x x x' latency 'one or two cycles'
expect_group 'rcl r32 1' latency 'other immediate'
expect_group 'add r32 m32' latency 'other operand pair'
expect_group 'adc r64 r64' throughput 'cut flags'
expect_group 'vmovd x r32' latency bound
expect_group 'vaddps z z z' throughput 'other vector width'
expect_group 'imul r32 r32' latency exchanged
expect_group 'popcnt r32 r32' latency exchanged
expect_group 'pmuludq x x' latency 'no chain'
expect_group 'imul r16 r16' latency 'not explained'
expect_group 'imul r16 r16' throughput 'not explained'
expect_group 'frobnicate r32' '' 'not matched'
expect_group 'add qwerty r32' '' 'not matched'
expect_group 'vaddps x x x' ports agrees
expect_group 'vpaddd x x x' ports agrees
expect_group 'vaddps z z z' ports ports
expect_group 'vaddps y y y' ports 'not explained'
expect_group 'imul r64 r64' ports '' # no port of ours is called so
expect_group 'pmuludq x x' ports ''
expect_out '^code.csv,2,48 0f af c3,imul r64 r64,legacy,.*,agrees,'
expect_out '^code.csv,3,90 90,,,.*not matched,bytes that are no single instruction$'
expect_group 'IMUL r64, r64' latency agrees
expect_group 'XOR r32, r32' latency agrees # one register: the form of an idiom is what they have
expect_group 'XOR r1_32, r2_32' latency idiom
expect_group 'VPADDD xmm, xmm, xmm' latency 'one or two cycles'
expect_group 'ADD r32, [m32]' latency agrees # its address is what was loaded
expect_group 'ADC r64, r64' throughput 'cut flags'
expect_group 'RCL r32, 1' latency 'other immediate'
expect_group 'VADDPS zmm, zmm, zmm' throughput 'other vector width'
expect_group 'IMUL r32, r32' latency exchanged
expect_group 'IMUL r16, r16' latency 'not explained'
expect_group 'MOV r32,[m32]+MOV [m32],r32' '' 'not matched'
expect_group 'CMP r32, r32' throughput agrees
expect_group 'OR r32, r3' '' 'not matched'
expect_group 'ADD r1_64, r2_64' latency agrees
expect_group 'IMUL r1_64, r2_64' latency agrees
expect_out 'XOR r32, r32",xor r32 r32 same,'
expect_out '"IMUL \(R64. R64\) op1→op1",imul r64 r64,legacy,.*,latency,op1,op1,3,3,0,.*,agrees,'
expect_out '"IMUL \(R64. R64\) op2→op1",imul r64 r64,legacy,.*,latency,op2,op1,3,4,0,.*,agrees,'
expect_out '"IMUL \(R64. R64\) op2→flags",imul r64 r64,legacy,.*,bound,theirs ≤9'
expect_out '"ADC \(R64. R64\) op1→op1",adc r64 r64,legacy,.*,7,7,0,.*not explained'
expect_out '"ADC \(R64. R64\)",adc r64 r64,legacy,.*,throughput,.*,cut flags,'
expect_out '"ADD \(R64. M64\) op2.base→op1",add r64 m64,legacy,.*,5,5,0,.*,agrees,'
expect_out '"ADD \(R64. M64\) op2.data→op1",add r64 m64,legacy,.*,5,5,1,'
expect_out '"VADDPS_Z .*op2→op1",vaddps z\{k\}\{z\} z m32\{1to16\},evex,.*,agrees,'
expect_out '"FROB \(R64. R64\)",,,.*,not matched,no form of the lists'
expect "nothing of the other architecture" test -z "$(grep ',9,9,' "$OUT" | grep -v flags)"
expect_out '^made.yaml,1,IMUL64rr RAX RAX RBX,imul r64 r64,legacy,.*,3.0012,3.0012,0,.*,agrees,'
expect_out ',IMUL64rr RCX RCX RBX,imul r64 r64,legacy,.*,5,5,0,.*,not explained,'
expect_out ',VADDPSYrr YMM1 YMM2 YMM3,vaddps y y y,vex,.*,throughput,.*,agrees,'
expect_out ',ADD64rr RAX RAX RBX,,.*not matched,a document without its snippet of code'
expect_out ',DIV64r RCX,,.*not matched,a document with an error'
groups_check

run compare planted.csv dump.txt made.xml made.yaml escape.csv tsc.txt ns.txt ns.csv few.txt \
    real.db packed.tar.xz --uarch zen5 --left-out left --fail-above 5
expect_status 1
expect_err 'planted\.csv: [0-9.]+ % of the values differ and nothing explains it'
expect "rows that are no forms" grep -q '^planted.csv:19: no form of the lists: frobnicate r32$' left
expect_out 'planted\.csv, a CSV: 16 of its 18 rows are forms of ours'
expect_out '^a negative value, which stands for none +1 +16$'
expect_out '^a value beyond any time, such as 2\^63, which stands for none +1 +16$'
expect_out '^an empty value +1 +17$'
expect_out '^a value that is no number +1 +17$'
expect_out '^exchanged +2 +theirs'
expect_out '^no form of the lists +1 +frobnicate r32'
expect_out '^ports that are no sum of sets such as 1\*p06\+2\*p5 +1 +14$'
expect_out '^ports +1 +either'
expect_out 'an InstLatX64 dump of A Zen 5,'
expect_out '^cycles that are not the ns by the clock of the dump +1 +18$'
expect_out '^a negative value, which stands for none +1 +20$'
expect_out '^a latency between operands that are not named +1 '
expect_out 'YAML of llvm-exegesis of znver5, zen5: 4 of its 6 rows'
expect "no control characters" test -z "$(LC_ALL=C tr -d '\12\40-\377' <"$OUT")"
tr '\n' ' ' <"$OUT" >line
expect "the clock of cycles" grep -q 'one core cycle take 0.8 cycles there' line
expect "the clock of ns" grep -q 'one core cycle take 0.25 ns there' line
expect "the clock of a CSV in ns" grep -q 'one core cycle take 0.3 ns there' line
expect "no clock at all" grep -q 'too few of its rows show one: 14 times in ns are not used' line
expect_out '^a clock that no CPU has +1 +1$'
expect_err 'real.db is of sapphirerapids, and is compared with zen5'
expect_out 'real.db, a database of latput'
expect_out 'a pack of latput'

# And a whole dump, where there is one: each row is a form or is named.
whole=${LATPUT_REFERENCE:-}/instlatx64_skylake_x.txt
[ -e "$whole" ] || whole=
TIMEFORMAT='%U %S'
{ time run compare planted.csv dump.txt tsc.txt ${whole:+"$whole"} --uarch spr --format json \
    --fail-above 100; } 2>spent
expect_status 0
expect_err 'dump.txt is of zen5, and is compared with sapphirerapids'
expect_schema compare_tables "$OUT"
expect_out '"reason": "no form of the lists", "rows": 1, "example": "frobnicate r32"'
expect_out '"clock_factor": 0.8,'
if [ "$whole" ]; then
    # shellcheck disable=SC2016 # the program is awk's
    expect "less than 5 s of CPU time" awk '{ exit !($1 + $2 < 5) }' spent
    expect "each row once" python3 -c 'import json, re, sys
found = json.load(open(sys.argv[1]))[-1]
rows = [l for l in open(sys.argv[2]) if re.match(r" *\d+ +\S+ +:", l)]
assert found["rows"] == len(rows) > 4000, (found["rows"], len(rows))
assert found["matched"] > 3000
assert found["matched"] + len(found["rows_not_matched"]) == found["rows"]
assert all(r["reason"] for r in found["rows_not_matched"])' "$OUT" "$whole"
fi

# --- what is like its origin: an export, a database ---

run export --format uops-xml --uarch zen5 --output export.xml
expect_status 0
run compare export.xml --uarch zen5 --fail-above 0.1 --format json
expect_status 0
expect "an export is like its origin" python3 -c 'import json, sys
found = json.load(open(sys.argv[1]))[0]
assert found["format"].startswith("XML") and found["cpu"] == "ZEN5", found["cpu"]
assert found["matched"] > 0.95 * found["rows"] > 10000
assert all(q["agree"] > 0.99 * q["compared"] > 10000 for q in found["quantities"])' "$OUT"
run compare real.db --db real.db --fail-above 0 --format json
expect_status 0
expect "a database is like itself" python3 -c 'import json, sys
found = json.load(open(sys.argv[1]))[0]
assert found["format"] == "a database of latput" and found["differences"] == [], found["groups"]
assert found["rows"] == found["ours_forms"] + len(found["rows_not_matched"]) > 10
assert [q["quantity"] for q in found["quantities"]] == ["latency", "throughput", "uops", "ports"]
assert all(q["agree"] == q["compared"] > 10 for q in found["quantities"])' "$OUT"
run compare "$db" --uarch zen5 --theirs zen2
expect_status 2
expect_err 'has no results of zen2, but of '
run compare export.xml --uarch zen5 --theirs zen5 --format csv
expect_status 0
run compare export.xml --uarch zen5 --theirs zen2
expect_status 2
expect_err 'export.xml: has one CPU, zen5, so --theirs zen2 does nothing; --uarch is the CPU of ours'
run compare planted.csv --uarch zen5 --theirs zen5
expect_status 2
expect_err 'planted.csv: does not name its CPU, so --theirs zen5 does nothing'
run compare planted.csv export.xml --uarch zen5 --theirs zen5 --format csv
expect_status 0

# --- what is none ---

run compare planted.csv --fail-above 101
expect_status 2
head -n 4 dump.txt >cut.txt
run compare cut.txt --uarch zen5
expect_status 2
expect_err 'cut.txt: an InstLatX64 dump without a row of an instruction'

printf 'some text\n' >text
run compare text --uarch zen5
expect_status 2
expect_err 'text: no table that compare knows'
run compare missing --uarch zen5
expect_status 2
expect_err 'missing: No such file'
run compare . --uarch zen5
expect_status 2
mkfifo pipe
run compare pipe --uarch zen5 # a pipe gives its content once
expect_status 2
expect_err 'pipe: is no file: write what comes from it into one'
: >empty
run compare empty --uarch zen5
expect_status 2
printf 'mnemonic,latency\n"imul,3\n' >quote.csv
run compare quote.csv --uarch zen5
expect_status 2
expect_err 'quote.csv:2: a quote does not end'
printf 'mnemonic,latency\nimul,3,4\n' >fields.csv
run compare fields.csv --uarch zen5
expect_status 2
expect_err 'fields.csv:2: 3 fields, where the header has 2'
printf 'operands,latency\nr32,3\n' >header.csv
run compare header.csv --uarch zen5
expect_status 2
{ echo mnemonic,latency; yes nop,1 | head -n 500001; } >rows.csv
run compare rows.csv --uarch zen5
expect_status 2
expect_err 'rows.csv:500002: more than 500000 rows'
{ echo mnemonic,latency; head -c 70000 /dev/zero | tr '\0' x; } >long.csv
run compare long.csv --uarch zen5
expect_status 2
expect_err 'long.csv:2: the line is longer'
run compare planted.csv --uarch zen5 --format html
expect_status 2
run compare llvm --uarch zen5 --theirs zen4
expect_status 2
finish
