#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput bench as a user meets it: a value, formats, code that is refused, that crashes, that does not
# return, 32-bit mode, and wrong arguments. A disturbed machine may leave a value unstable, never
# wrong.
# shellcheck source=tests/cli.sh
. "$(dirname "$0")/cli.sh"
DB=$SCRATCH/bench.db

# bench ARGS...: with a database of the test's own, so that the floor is found once.
bench() { run bench --db "$DB" "$@"; }
# The summary's value, "" if there is none.
value() { sed -nE 's/^([0-9.]+) core clk an instance.*/\1/p' "$OUT"; }
# expect_integer: the value is near an integer, or the core was too disturbed to tell.
expect_value() {
    local clk
    clk=$(value)
    if [ "$STATUS" = 1 ] && grep -q unstable "$ERR"; then
        echo "note: $CLI_COMMAND: unstable"
        return
    fi
    expect_status 0
    awk -v clk="$clk" -v least="$1" -v most="$2" 'BEGIN { exit !(clk >= least && clk <= most) }' ||
        cli_fail "the value '$clk' is not between $1 and $2"
}

# The latency of imul r64, r64 is what core cycles are calibrated with: an integer, 3 on most CPUs.
bench --asm 'imul rax, rax'
expect_value 2.98 5.02
clk=$(value)
awk -v clk="${clk:-3}" 'BEGIN { d = clk - int(clk + 0.5); exit !(d < 0.021 && d > -0.021) }' ||
    cli_fail "imul takes no whole number of cycles: $clk"
expect_out '^ +cold '
expect_out '^ +8 '
expect "the table fits 80 columns" test "$(awk '{ print length }' "$OUT" | sort -n | tail -n 1)" -le 100

bench --asm 'imul rax, rax; imul rax, rax' --instances 2 --repeat 3
expect_value 2.98 5.02
bench --asm 'mov rax, [rax]' --init 'mov rax, r14; mov [rax], rax' --repeat 4
expect_value 2 12
bench --asm 'imul eax, eax' --bits 32 --repeat 4
if [ "$STATUS" = 3 ]; then
    echo "note: no 32-bit programs here: $(cat "$ERR")"
else
    expect_value 2.98 5.02
fi

# Loop and unrolling as asked for.
bench --asm 'imul rax, rax' --unroll 50 --loop 200 --repeat 2
expect_out '50 copies x 200 iterations = 10000 instances'

# Formats.
bench --asm 'add rax, rbx' --repeat 3 --format csv
expect_out '^pass,repetition,cold,accepted,tried,tsc,core_clk,clk_per_instance$'
expect_out '^1,0,1,'
expect_out '^2,3,0,'
bench --asm 'add rax, rbx' --repeat 3 --format json
expect "JSON that sqlite takes" test "$(sqlite3 :memory: "select json_valid(readfile('$OUT'))")" = 1

# What is refused, with its place.
bench --asm 'nop; bogus rax'
expect_status 2
expect_no_out
expect_err '^latput bench: --asm:2: parser: instruction expected$'
expect_err '^       \^$'
bench --asm nop --init 'mov rax, [rbx'
expect_status 2
expect_err '^latput bench: --init:1: '
bench --asm 'nosuchinstruction'
expect_status 2

# What crashes, and what does not return.
bench --asm ud2
expect_status 1
expect_err 'unsupported: SIGILL'
bench --asm 'xor eax, eax; mov [rax], eax'
expect_status 1
expect_err 'signalled: SIGSEGV'
bench --asm 'syscall'
expect_status 1
expect_err 'signalled: SIGSYS'
# shellcheck disable=SC2016 # NASM's $
bench --asm 'jmp $'
expect_status 1
expect_err 'timed_out: the code did not return within 2000 ms'

# Usage.
run bench
expect_status 2
expect_err 'what to measure'
run bench --asm ''
expect_status 2
run bench --asm nop --bits 16
expect_status 2
expect_err "cannot be '16'"
run bench --asm nop --format xml
expect_status 2
run bench --asm nop --cpu 8000
expect_status 3
run bench nop
expect_status 2
run bench --help
expect_status 0
expect_out 'cold'
finish
