#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A core made of text: that it is told as one, scripts that are wrong, and a machine of files
# without a script.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"

text_machine quiet <<<''
run cpu
expect_status 0
expect_out '^  brand +simulated: a core made of text$'
run bench --db a.db --asm 'imul rax, rax'
expect_status 0
expect_out '^3\.00 core clk per instance \(median 3\.000, spread 0\.000\)$'
run bench --db a.db --threads 2 --asm 'imul rax, rax'
expect_status 3
expect_err 'a core made of text is alone|cannot make memory for the threads' # without memfd

# Each with what is wrong in its line, after those of the script.
lines=$(wc -l <"$TREE/tests/text/zen5.text")
while IFS='|' read -r line wrong; do
    text_machine wrong <<<"$line"
    run bench --db a.db --asm 'imul rax, rax'
    expect_status 3
    expect_err "core\.text:$((lines + 1)): $wrong"
done <<'LINES'
widht 8|no line of a script begins with widht
width|the width is missing
width eight|the width is no number: eight
width -8|the width is no number: -8
width 8 9|nothing is expected here, but there is 9
clock 0|the frequency is 0
drift 4 3 10|the clock goes from a frequency to a higher one
form "add *" p01|the latency is missing
form "add * p01 1|the quotation mark is not closed
form add 2*q01 1|µops are written as 2\*p01\+p5: 2\*q01
form add p01+ 1 from 9 2|operands are 1 to 5
form add p01 1 beside 2|a form has slots and from, not beside
fault add explode|the fault is not known: explode
fault add signal KILL|no body raises the signal KILL
fault add kill twice|only `once` may follow here, not twice
record 1 lost|what befalls it is not known: lost
neighbour 30 20|the time is longer than its period
LINES
rm "$LATPUT_MACHINE/core.text"
run bench --db a.db --asm 'imul rax, rax'
expect_status 3
expect_err 'core\.text:0: the script cannot be read'
finish
