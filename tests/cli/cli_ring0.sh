#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Instructions of ring 0: the list that the kernel module was made of is that of lists/kernel/, what
# can end the machine is refused by name, and without the module nothing of it runs. --kernel takes
# latput's own lists, the module, and keeps interrupts out of what is timed.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"

run check "$TREE/lists/kernel/ring0.csv"
expect_status 0
"$TREE/tools/kernel-bodies" "$LATPUT" >list.S
expect "kernel/latput_list.S is up to date (make kernel-bodies)" \
    cmp list.S "$TREE/kernel/latput_list.S"

version=$(sed -n 's/.*LATPUT_KERNEL_VERSION = \([0-9]*\).*/\1/p' "$TREE/kernel/latput_kernel.h")
CLI_COMMAND="DKMS and the module itself have the interface's version"
expect "$CLI_COMMAND" grep -q "^PACKAGE_VERSION=\"$version\"" "$TREE/kernel/dkms.conf"
expect "$CLI_COMMAND" grep -q "^MODULE_VERSION(\"$version\")" "$TREE/kernel/latput_main.c"
expect "$CLI_COMMAND" grep -q "latput-kernel/$version " "$TREE/kernel/README.md"

while IFS='|' read -r row pattern; do
    printf 'mnemonic,operands,implicit,isa,tests,options\n%s\n' "$row" >ring0.csv
    run check ring0.csv
    expect_status 2
    expect_err "ring0\.csv:2: $pattern"
done <<'LIST'
hlt,,,I386,T,ring=0 macro=ring0.inc:ring0_plain:hlt|hlt is not measured
cli,,,I386,T,ring=0 macro=ring0.inc:ring0_plain:hlt|hlt is not measured
ltr,r16,,I386,T,ring=0 macro=ring0.inc:ring0_register:ltr:ax|ltr is not measured
lldt,r16,,I386,T,ring=0 macro=ring0.inc:ring0_register:lldt:ax|lldt is not measured
wrmsr,,ecx eax edx,MSR,T,ring=0 macro=ring0.inc:ring0_wrmsr:0xc0000080|wrmsr does not write EFER
cli,,,I386,T,ring=0|a row with ring=0 has a macro
cli,,,I386,,ring=0 macro=ring0.inc:ring0_plain:cli|a row with ring=0 has a macro
mov,=r64 cr0,,X86_64,T,|a control or debug register takes ring=0
cli,,,I386,T,ring=3 macro=ring0.inc:ring0_plain:cli|option 'ring' needs a value
LIST

text_machine quiet </dev/null
run run "$TREE/lists/kernel/ring0.csv" --db ring0.db --results none --quiet --filter 'cli*'
run query --db ring0.db --format csv 'cli*'
expect_status 0
expect_out 'unsupported'
run query --db ring0.db --format csv --failures 'cli*'
expect_out 'needs the kernel module'

# Interrupts come within a sixth of all timings.
text_machine interrupted <<<'interrupt 0.02 1'
measured=(--filter 'imul r64 r64' --tests LT --results none)
run run "${measured[@]}" --db on.db
expect_err 'repeats: [1-9][0-9.]* % of [0-9]+ refused'
run run "${measured[@]}" --db off.db --kernel
expect_status 3
expect_err '--kernel needs the kernel module, and this machine is made of files'
expect "no database is made" [ ! -e off.db ]
mkdir "$LATPUT_MACHINE/dev" && : >"$LATPUT_MACHINE/dev/latput" # a core made of text needs no more
run run "${measured[@]}" --db off.db --kernel
expect_status 0
expect_err 'repeats: 0\.0 % of [0-9]+ refused'
expect_err 'warning: interrupts were off while something was timed'
run run "${measured[@]}" --db off.db --resume
expect_err 'repeats: [1-9]' # no run with interrupts off is gone on with
run run "${measured[@]}" --db off.db --kernel --resume
expect_err 'run 1 of these lists is finished'
run run --again --db off.db --results none --kernel
expect_status 2
expect_err 'run 2 was measured without --kernel, and what completes it is as well'

run run --filter 'pushf' --tests LT --results none --db both.db --kernel
expect_status 3
expect_err 'forms of 32-bit mode are skipped: interrupts are turned off in 64-bit mode only'

text_forms own.csv
run run own.csv --db foreign.db --results none --kernel
expect_status 2
expect_err "own\.csv: --kernel measures latput's own lists only, those below .*/lists"
ln -s own.csv stack.csv
run run ./stack.csv --db foreign.db --results none --kernel
expect_status 2
run run "$TREE/lists/selection/quick.csv" --filter 'imul r64 r64' --tests L --db off.db \
    --results none --kernel
expect_status 0
expect "a foreign list makes no database" [ ! -e foreign.db ]
finish
