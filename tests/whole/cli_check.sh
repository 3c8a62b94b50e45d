#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput check: the lists of the tree have no problems, and bad input of every kind ends with
# file, line, caret and status 2.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/../cli/cli.sh"
lists=$TREE/tests/fixtures/lists

run check
expect_status 0
expect_no_out
expect_err '^[0-9]+ lists, [0-9]{5,} rows, [0-9]+ properties, 0 problems$'

run check "$lists/good.csv"
expect_status 0
expect_err '^1 list, 2 rows, 0 problems$'

# NAME PATTERN: the list gives one problem; stderr has a line that matches.
expect_bad() {
    run check "$1"
    expect_status 2
    expect_no_out
    expect_err "$2"
    expect_err ', 1 problem$'
}
expect_bad "$lists/empty.csv" 'empty\.csv: no header row; it must name the columns: mnemonic,'
expect_bad "$lists/header_only.csv" 'header_only\.csv: no rows'
expect_bad "$lists/unknown_column.csv" \
    "unknown_column\.csv:2: unknown column 'mode'; the columns are"
expect_err '^ {33}\^$'
expect_bad "$lists/unknown_class.csv" \
    "unknown_class\.csv:4: unknown operand class 'z4'; did you mean 'z'"
expect_err '^ {12}\^$'
expect_bad "$lists/unknown_isa.csv" "unknown_isa\.csv:3: unknown isa 'AVX3'; did you mean 'AVX"
expect_bad "$lists/unterminated_quote.csv" 'unterminated_quote\.csv:3: .*no closing quote'
expect_bad "$lists/refused_form.csv" \
    "refused_form\.csv:3: NASM refuses 'mov dword \[rsi\], dword \[rsi\]'"
expect_bad "$lists/label_mnemonic.csv" \
    "label_mnemonic\.csv:3: NASM does not know the mnemonic 'seamcall': it would take it for a label"
printf '%s\n' mnemonic,operands,implicit,isa,tests,options \
    mov,=r64\ r64,,X86_64,,opcode=legacy.np.00.w1.89 >swapped.csv
run check swapped.csv
expect_status 2
expect_err 'swapped\.csv:2: this operand is encoded as another register, rcx .* \[op1\]$'

run check "$SCRATCH/absent.csv"
expect_status 2
expect_err "there is no list '.*/absent\.csv': neither a file nor a name below lists/"
run check integer_aritmetic
expect_status 2
expect_err "there is no list 'integer_aritmetic'.*; did you mean 'integer_arithmetic'\?$"
run check quik:3
expect_status 2
expect_err "did you mean 'quick'\?$"
run run sse_pf --db none.db
expect_status 2
expect_err "did you mean 'sse_fp'\?$"
expect_bad "$SCRATCH" 'is a directory; name the CSV files in it'
head -c 100000 "$LATPUT" >binary.csv
expect_bad binary.csv 'binary\.csv:1: holds a NUL byte: this is not a text file'
truncate -s 65M gigantic.csv
expect_bad gigantic.csv 'gigantic\.csv: larger than 64 MiB'
if [ "$(id -u)" != 0 ]; then
    cp "$lists/good.csv" secret.csv
    chmod 0 secret.csv
    expect_bad secret.csv 'secret\.csv: cannot be read: Permission denied'
fi

# Every problem of every list is reported, in order.
run check "$lists/several.csv" "$lists/header_only.csv"
expect_status 2
expect_err '^2 lists, 4 rows, 6 problems$'
lines=$(grep -oE '^[^ ]*\.csv:[0-9]*' "$ERR" | sed 's:.*/::' | tr '\n' ' ')
expect "problems come in the order of lists and lines: $lines" \
    test "$lines" = \
    "several.csv:3 several.csv:4 several.csv:5 several.csv:6 several.csv:7 header_only.csv: "
run check "$lists/good.csv" "$lists/several.csv"
expect_err "several\.csv:3: 'add r32 r32' is already in .*good\.csv:3; remove one"

# So is every fault of one row, and every macro that a contract names and nobody defines.
printf '# T\nmnemonic,operands,implicit,isa,tests,options\nadd,+r31 r32,,NONE,Q,colour\n' \
    >faults.csv
run check faults.csv
expect_status 2
expect_err '^1 list, 0 rows, 4 problems$'
mkdir -p root
cp -r "$TREE/cpuinfo" "$TREE/lists" root/
mkdir -p root/macros
printf \
    ';@ m kind=throughput body=m_a init=m_b\n;@ m kind=throughput body=m_c init=m_b\n%%macro m_c 0\n%%endmacro\n' >root/macros/m.inc
printf \
    '# T\nmnemonic,operands,implicit,isa,tests,options\njmp,rel8,,I386,T,macro=m.inc:m\ncall,rel32,+rsp,I386,T,macro=m.inc:n\n' >macro.csv
LATPUT_ROOT=$SCRATCH/root run check macro.csv
expect_status 2
expect_err "does not define '%macro m_a'"
expect_err "does not define '%macro m_b'"
expect_err "m\.inc has no contract line ';@ n \.\.\.'"
expect_err '^1 list, 2 rows, 3 problems$'

# So are names of CPUs and words for forms, with any list.
mkdir -p names/lists/words names/cpuinfo
ln -s "$TREE"/macros names
ln -s "$TREE"/cpuinfo/* names/cpuinfo
ln -s "$TREE"/lists/*.csv names/lists
ln -s "$TREE"/lists/words/{intrinsics,no_form}.csv names/lists/words
printf 'word,globs\njcc,jb*,ja*\n' >names/lists/words/categories.csv
LATPUT_ROOT=$PWD/names run check integer_logic
expect_status 2
expect_err 'lists/words/categories\.csv:2: '
cp "$TREE"/lists/words/categories.csv names/lists/words
rm names/cpuinfo/other_names.csv
sed 's/^zen5,/zen99,/' "$TREE"/cpuinfo/other_names.csv >names/cpuinfo/other_names.csv
LATPUT_ROOT=$PWD/names run check integer_logic
expect_status 2
expect_err "cpuinfo/other_names\.csv:[0-9]+: 'zen99' is no uarch"

# The tables of counters are checked with all lists of a tree. Without these faults it is the first.
mkdir -p tree/cpuinfo/counters
ln -s "$TREE"/lists "$TREE"/macros tree
cp "$TREE"/cpuinfo/*.csv tree/cpuinfo
cp "$TREE"/cpuinfo/counters/*.csv tree/cpuinfo/counters
cp -r "$TREE"/cpuinfo/ports tree/cpuinfo
sed -i 's/^p0,\([^,]*\),\([^,]*\),0xa1,0x01/p0,\1,\2,0x1a1,0x01/' tree/cpuinfo/counters/skylake.csv
sed -i 's/^branches,core_clk/branches,core_clock/' tree/cpuinfo/counter_sets.csv
rm tree/cpuinfo/counters/p5.csv
sed -i "s/,shlx r32 r32 r32\$/,shlx r32 r99/" tree/cpuinfo/ports/zen4.csv
ports=tree/cpuinfo/ports
mv "$ports"/zen3.csv "$ports"/zen6.csv
sed -i 's/^# applies: .*/& zen5 zen7/' "$ports"/jaguar.csv
sed -i 's/^# applies: .*/& skylake/' "$ports"/haswell.csv
sed -i '/^# source/d' "$ports"/nehalem.csv
sed -i 's/^p05,p0 p5/p50,p5 p1/' "$ports"/sandybridge.csv
LATPUT_ROOT=$PWD/tree run check
expect_status 2
expect_err \
    'counters/skylake\.csv:[0-9]+: event 0x1a1 is larger than 0xff, all that counters of the scheme arch take'
expect_err "counter_sets\.csv:[0-9]+: zen5 has no event 'core_clock'"
expect "a family without a table is no fault" test -z "$(grep 'cpus.*p5' "$ERR")"
expect_err '^latput check: no counter events are known, and none can be counted, on: p5$'
expect_err "ports/zen4\.csv:[0-9]+: no list has the form 'shlx r32 r99' in 64-bit mode"
# shellcheck disable=SC2016 # the backquotes are in the message
expect_err 'ports/zen6\.csv: `# applies:` begins with zen3, so the file must be zen3\.csv$'
expect_err "ports/jaguar\.csv: \`# applies:\` has 'zen7', which is no uarch of cpus\.csv$"
expect_err 'ports/skylake\.csv: .*ports/haswell\.csv applies to skylake too$'
# shellcheck disable=SC2016
expect_err 'ports/nehalem\.csv: needs the comment lines `# source:` and `# applies:`'
expect_err 'ports/sandybridge\.csv:10: line 9 names this set too'

# Rows of a family, expanded: a list of them is the same list.
printf \
    '# T\nmnemonic,operands,implicit,isa,tests,options\n{evex} vaddps,=v v v/mv/b32,,AVX512F,,type=f32 widths=xyz masks=kz er=z\n' >family.csv
run check --expand family.csv:3
expect_status 0
expect_out '^{evex} vaddps,=y y m256,,AVX512F\+AVX512VL,,type=f32$'
expect_out '^vaddps,=z\{k\}\{z\} z z \{er\},,AVX512F,,type=f32$'
expect "30 forms" test "$(wc -l <"$OUT")" = 31
cp "$OUT" singly.csv
run check --expand singly.csv
expect "the same singly" cmp singly.csv "$OUT"
run check family.csv
expect_status 0
expect_err '^1 list, 30 rows, 0 problems$'
printf \
    '# T\nmnemonic,operands,implicit,isa,tests,options\nvaddps,=v v v/m32,,AVX512F,,type=f32 widths=z\n' >family.csv
run check family.csv
expect_status 2
expect_err "family\.csv:3: in 'vaddps z z m32': "
run check --expand absent
expect_status 2

run check --missing
expect_status 2
expect_err '^latput check: --missing does nothing without --coverage$'
run check --coverage absent.tsv "$lists/good.csv"
expect_status 2
expect_err 'absent\.tsv: cannot be read: No such file'
printf \
    'form\tenc\tisa_set\texec_status\nadd r32,r32\tlegacy\tI86\tok\nsub r32,r32\tlegacy\tI86\tok\n' >variants.tsv
run check --coverage variants.tsv --missing "$lists/good.csv"
expect_status 0
expect_out '^missing	I86	legacy	sub r32,r32$'
expect_out '^all +1 of +2$'
printf '# T\nmnemonic,operands,implicit,isa,tests,options\nfnstsw,=ax,fpsw,X87,,\n' >implied.csv
printf 'form\tenc\tisa_set\texec_status\nfnstsw\tlegacy\tX87\tok\n' >variants.tsv
run check --coverage variants.tsv implied.csv
expect_out '^all +1 of +1$'

TMPDIR=$SCRATCH/absent run check "$lists/good.csv"
expect_status 3
expect_err 'absent/latput-scratch-[A-Za-z0-9]+: cannot make a scratch directory: .*; set TMPDIR'
PATH=$SCRATCH run check "$lists/good.csv"
expect_status 3
expect_err 'nasm'
# Families without a table are named where one is wanted.
rm -rf tree
mkdir tree
cp -r "$TREE"/lists "$TREE"/macros "$TREE"/cpuinfo tree
rm tree/cpuinfo/counters/zen5.csv
LATPUT_ROOT=$PWD/tree run counters list --uarch zen5
expect_status 2
expect_err \
    'no counter events of zen5 are known, so none can be counted: there is no cpuinfo/counters/zen5\.csv'

# One line of a list.
printf \
    'mnemonic,operands,implicit,isa,tests,options\nadd,+r64 r64,=flags,X86_64,,\nsub,+r64 r99,=flags,X86_64,,\n' >lines.csv
run check lines.csv
expect_status 2
run check lines.csv:2
expect_status 0
expect_err '^1 list, 1 row, 0 problems$'
run check lines.csv:3
expect_status 2
expect_err '^lines\.csv:3: '
run check lines.csv:9
expect_status 2
expect_err 'lines\.csv:9: there is no row at that line'
run check integer_arithmetic:1000000
expect_status 2
expect_err 'there is no row at that line'
finish
