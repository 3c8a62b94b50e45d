#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput bench --sweep: a chain of N multiplications takes N times as long as one.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/../cli/cli.sh"

# On a loud host each point waits as long as this.
bench() { run bench --give-up 1 "$@"; }

run bench --sweep N=0..1000000 --asm 'times {N} nop'
expect_status 2
expect_no_out
expect_err 'has 1000001 points.* 1000 at most'
run bench --sweep N=0..3 --asm nop
expect_status 2
expect_no_out
expect_err 'there is no \{N\} in --asm'
run bench --plot x.svg --asm nop
expect_status 2
expect_err '^latput bench: --plot draws what --sweep measures'

bench --db sweep.db --sweep N=1..4:3 --format csv --asm 'times {N} imul rax, rax'
measured
[ "$STATUS" = 0 ] || grep -q unstable "$OUT" || cli_fail "expected status 0"
if [ "$STATUS" = 0 ]; then
    expect_out '^N,instance_clk,spread_clk,outcome,detail,cpu$'
    # shellcheck disable=SC2016 # the program is awk's
    expect "four take four times as long: $(cat "$OUT")" \
        awk -F, \
        '$1 == 1 { one = $2 } $1 == 4 { four = $2 } END { exit !(four > 3.9 * one && four < 4.1 * one) }' "$OUT"
fi
bench --db sweep.db --sweep N=1..1 --format json --asm 'times {N} nop'
measured
expect_schema sweep "$OUT"
# With what is counted, which the kernel can anywhere, and computed: more columns; a row a thread.
bench --db sweep.db --sweep N=1..2 --events page-faults --column 'twice=2*core_clk' \
    --format csv --asm 'times {N} imul rax, rax'
if [ "$STATUS" = 0 ]; then
    expect_out '^N,instance_clk,spread_clk,outcome,detail,cpu,"?page-faults"?,"?twice"?$'
    expect_out '^2,[0-9.]+,[0-9.]+,ok,,[0-9]+,[0-9.e-]+,[0-9.e-]+$'
fi
if [ "$(nproc)" -ge 2 ]; then
    bench --db sweep.db --sweep N=1..2 --threads 2 --format json --asm 'times {N} nop'
    if [ "$STATUS" = 0 ]; then
        expect_schema sweep "$OUT"
        expect "a row a thread" test "$(grep -c '"N": 2, ' "$OUT")" = 2
    fi
fi
bench --db sweep.db --asm 'mov rax, [rdi]'
measured
expect_status 1
expect_err 'r14 holds the address of memory that code may use'
finish
