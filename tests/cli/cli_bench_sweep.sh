#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput bench --sweep on a core made of text: a chain of N multiplications takes N times as long as
# one.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"
text_machine quiet <<<''

run bench --sweep N=0..1000000 --asm 'times {N} nop'
expect_status 2
expect_no_out
expect_err 'has 1000001 points.* 1000 at most'
run bench --sweep N=0..3 --asm nop
expect_status 2
expect_no_out
expect_err 'there is no \{N\} in the code'
run bench --plot x.svg --asm nop
expect_status 2
expect_err '^latput bench: --plot does nothing without --sweep$'

sweep() { run bench --db sweep.db --give-up 5 "$@"; }
sweep --sweep N=1..4:3 --format csv --asm 'times {N} imul rax, rax'
expect_status 0
expect_out '^N,instance_clk,spread_clk,outcome,detail,cpu$'
expect_out '^1,(3\.00|2\.99)[0-9]*,0(\.00[0-9]*)?,ok,,[0-9]+$'
expect_out '^4,(12\.00|11\.99)[0-9]*,0(\.00[0-9]*)?,ok,,[0-9]+$'
sweep --sweep N=1..1 --format json --asm 'times {N} nop'
expect_status 0
expect_schema sweep "$OUT"
# Counted and computed values have a column each.
sweep --sweep N=1..2 --column 'half=core_clk/core_clk/2' --format csv \
    --asm 'times {N} imul rax, rax'
expect_status 0
expect_out '^N,instance_clk,spread_clk,outcome,detail,cpu,half$'
expect_out '^2,(6\.00|5\.99)[0-9]*,[0-9.e-]+,ok,,[0-9]+,0\.5$'
sweep --sweep N=1..2 --column 'half=core_clk/core_clk/2' --format markdown \
    --asm 'times {N} imul rax, rax'
expect_status 0
expect_out '^\| N \| instance\\_clk \| spread\\_clk \| half \|$'
expect_out '^\| 2 \| (6\.00|5\.99) \| 0[0-9.]* \| 0\.50 \|$'
sweep --sweep N=1..2 --threads 2 --asm 'times {N} nop'
expect_status 3
expect_err 'a core made of text is alone|cannot make memory for the threads' # without memfd
# A body that reads where nothing is.
text_machine faults <<<'fault "mov r64 m64" signal SEGV'
sweep --asm 'mov rax, [rdi]'
expect_status 1
expect_err 'r14 holds the address of memory that code may use'
finish
