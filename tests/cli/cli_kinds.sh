#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A machine with P and E cores, on cores made of text: each kind is measured in a run of its own,
# resumed and completed by itself, and named wherever one of them is meant.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"

text_machine hybrid zen5 alderlake <<<'width 6'
{
    cat "$TREE/tests/text/zen5.text"
    printf '%s\n' 'width 5' 'form "imul *" p3 5'
} >"$LATPUT_MACHINE/core.23.text"
mkdir -p "$LATPUT_MACHINE/sys/devices/system/cpu/cpu"{2,20}
echo 1024 >"$LATPUT_MACHINE/sys/devices/system/cpu/cpu2/cpu_capacity"
echo 620 >"$LATPUT_MACHINE/sys/devices/system/cpu/cpu20/cpu_capacity"
cat >forms.csv <<'LIST'
mnemonic,operands,implicit,isa,tests,options
add,+r64 r64,=flags,X86_64,LT,
imul,+r64 r64,=flags,X86_64,LT,
LIST
values() { sqlite3 run.db "SELECT uarch || ' ' || mnemonic || ' ' || round(latency_min_clk, 2) FROM
    instruction_table ORDER BY uarch, mnemonic" | paste -sd,; }
runs() { sqlite3 run.db "SELECT uarch, count(*) FROM run JOIN cpu USING (cpu_id) GROUP BY uarch" |
    paste -sd,; }

run cpu --kinds
expect_status 0
expect_out '^alderlake_p +0-15 +0x40 +1 +48 +1280 +30720 +1024 '
expect_out '^alderlake_e +16-23 +0x20 +1 +32 +2048 +30720 +620 '
run cpu --kinds --format json
expect_out '"kind": "alderlake_e", "cpus": "16-23", "core_type": "0x20", "native_model": 1,'
run cpu
expect_out '^  core type +0x20 [(]Atom[)]'
expect_out '^Kinds of cores'
run cpu --cpu 3
expect_out '^  core type +0x40 [(]Core[)]'
run cpu --kind 'Golden Cove'
expect_out '^  core type +0x40 [(]Core[)]'
run cpu --save both.cpuid
run cpu --load both.cpuid --kinds
expect_out '^alderlake_e +16-23 '
run cpu --kind alderlake_e --save one.cpuid
expect "one kind is an old dump" grep -qx 'latput-cpuid 1' one.cpuid
run cpu --kind zen5
expect_status 2
expect_err "no kind of core 'zen5' that may be used; it has alderlake_p, alderlake_e"

# One kind by its name, then the other by a CPU: no directory of its own for the tables.
run run forms.csv --db run.db --results one --quiet --kind gracemont
expect_status 0
expect "the E core alone" test "$(runs)" = 'alderlake_e|1'
expect "a table" test -s one/forms.txt
run run forms.csv --db run.db --results none --quiet --cpu 40
expect_status 3
expect_err 'CPU 40 is not one that this process may use'
run run forms.csv --db run.db --results none --quiet --cpu 3 --kind alderlake_e
expect_err 'CPU 3 is of the kind alderlake_p, not alderlake_e'
run run forms.csv --db run.db --results none --quiet --uarch zen5
expect_status 2
expect_err 'has 2 kinds of cores .*--uarch is about one: name it with --kind'

# Both; the one that is finished is not measured again.
run run forms.csv --db run.db --results all --quiet --resume
expect_status 0
expect_err '^latput run: kind 1 of 2: alderlake_p, CPUs 0-15$'
expect_err '^latput run: kind 2 of 2: alderlake_e, CPUs 16-23$'
expect_err 'run 1 of these lists is finished'
expect "a run each" test "$(runs)" = 'alderlake_e|1,alderlake_p|1'
expect "the values of each" test "$(values)" = "alderlake_e add 1.0,alderlake_e imul 5.0,$(:
)alderlake_p add 1.0,alderlake_p imul 3.0"
run run forms.csv --db run.db --results all --quiet
expect_status 0
expect "each again" test "$(runs)" = 'alderlake_e|2,alderlake_p|2'
expect "tables of each" test -s all/alderlake_p/forms.txt -a -s all/alderlake_e/forms.txt -a \
    ! -e all/forms.txt
run run forms.csv --again --db run.db --results none --quiet
expect_status 0
expect_err 'run 3 has a value for all'
expect_err 'run 4 has a value for all'

# Commands on the database show all kinds, or say which they take.
run query --db run.db imul
expect_out '^alderlake_e +imul r64 r64 '
expect_out '^alderlake_p +imul r64 r64 '
run pack --db run.db --kind alderlake_p --output p.tar.xz
expect_status 0
expect_err 'filed under alderlake_p:'
run report --db run.db --kind alderlake_p --output p
expect_err '^latput report: tables of run 3'
run bench "add rax, rax"
expect_err 'on a core of the kind alderlake_e .CPUs 16-23., one of 2 of this machine'
run bench "add rax, rax" --cpu 3
expect_err 'on a core of the kind alderlake_p .CPUs 0-15., one of 2 of this machine'
run bench "add rax, rax" --cpus 3,20
expect_status 2
expect_err 'CPU 20 has another type of core [(]alderlake_e[)] than CPU 3 [(]alderlake_p[)]'

# A pack for each, which merge into one database; a file has one.
mkdir packs
run pack --db run.db --output packs
expect_status 0
expect "two packs" test "$(find packs -name '*-alderlake_[ep]-*.tar.xz' | wc -l)" = 2
run pack --db run.db --output one.tar.xz
expect_status 0
expect_err 'one.tar.xz has one of 2 kinds of cores of this machine, that of the newest run;'
run merge --db merged.db packs/*
expect_status 0
run query --db merged.db imul
expect_out '^alderlake_e +imul r64 r64 +.* 5[.]00'
expect_out '^alderlake_p +imul r64 r64 +.* 3[.]00'

# A run from before, when AMD's type of core was not read, stays as it was filed; nobody knows of
# which kind it is.
text_machine before zen5 zen5_dense <<<'width 8'
run cpu --kind zen5 --save before.cpuid
grep -v '^80000026' before.cpuid | awk '$1 == "end" { $2 = n } /^[0-9a-f]+ [0-9a-f]+ / { n++ } 1' \
    >"$LATPUT_MACHINE/cpuid"
run run forms.csv --db before.db --results none --quiet
expect_status 0
text_machine dense zen5 zen5_dense <<<'width 8'
run run forms.csv --db before.db --results none --quiet --resume
expect_status 0
expect_err 'kind 2 of 2: zen5c, CPUs 4-11,16-23$'
expect "it is none of these kinds" test "$(sqlite3 before.db 'SELECT uarch, core_type, count(*)
    FROM run JOIN cpu USING (cpu_id) GROUP BY 1, 2 ORDER BY 1, 2' | paste -sd,)" = \
    'zen5|0|1,zen5|16|1,zen5c|17|1'
run query --db before.db imul
expect_out '^zen5 '
expect_out '^zen5c '
run pack --db before.db --kind zen4
expect_status 2
expect_err "no kind of core 'zen4' that may be used; it has zen5, zen5c"

# Kinds that are filed under one name, since no core is the one that it claims, have packs of
# different names.
text_machine doubted zen5 alderlake <<<'width 8'
run run forms.csv --db doubted.db --results none --quiet
expect_status 0
mkdir doubted.packs
run pack --db doubted.db --output doubted.packs
expect_status 0
expect_out '/kind2-simulated-GenuineIntel-.*-unknown-'
expect "a pack of each" test "$(find doubted.packs -type f | wc -l)" = 2

# CPUs that may not be used are of no kind here.
unset LATPUT_MACHINE
if keeps_cpu; then
    cpu=$(taskset -cp $$ | grep -oE '[0-9]+$')
    CLI_COMMAND='cpu --kinds with one CPU'
    taskset -c "$cpu" "$LATPUT" cpu --kinds >"$OUT" 2>"$ERR"
    expect "one kind with that CPU" test "$(awk 'NR > 1 { print $2 }' "$OUT")" = "$cpu"
fi
finish
