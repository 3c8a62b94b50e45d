#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput bench and what only a CPU can do: code that crashes or does not return, C functions,
# threads in step, code and data that are in no cache, and events.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/../cli/cli.sh"
DB=$SCRATCH/bench.db

# bench ARGS...: with a database of the test's own, so that the floor is found once.
bench() { run bench --db "$DB" --give-up 5 "$@"; }
# value: prints what an instance takes. expect_value LEAST MOST: that lies there.
value() { sed -nE 's/^([0-9.]+) core clk per instance.*/\1/p' "$OUT"; }
expect_value() {
    local clk
    clk=$(value)
    expect_status 0
    awk -v clk="$clk" -v least="$1" -v most="$2" 'BEGIN { exit !(clk >= least && clk <= most) }' ||
        cli_fail "the value '$clk' is not between $1 and $2"
}

# The latency of imul r64, r64 is what core cycles are calibrated with: an integer, 3 on most CPUs.
bench --asm 'imul rax, rax'
expect_value 2.98 5.02
# shellcheck disable=SC2016 # of awk
expect "a whole number" awk '/core clk per instance/ { d = $1 - int($1 + 0.5) }
    END { exit !(d < 0.021 && d > -0.021) }' "$OUT"
bench --asm 'mov rax, [rax]' --init 'mov rax, r14; mov [rax], rax' --repeat 4
expect_value 2 12
# Code of programs: a latency in bytes and in AT&T's text, r15 that is the code's, a push that moves
# the stack pointer on.
bench --hex 480fafc3
expect_value 2.98 5.02
bench 'imul %rax, %rax'
expect_value 2.98 5.02
bench --hex 4c0fafff
expect_value 2.98 5.2
bench --hex 490fafff50
expect_value 2.98 5.2
# The first of a width powers up the lanes, which the core remembers: no damage of a body.
bench --asm 'addps xmm0, xmm1' --repeat 4
expect_value 1 6
bench --asm 'addps xmm0, xmm1' --repeat 4 --cold
expect_status 0

# A body may speak for the core, by the core's own function: numbers that it makes up for its
# repetitions stay such as a database takes.
send=$(nm "$BUILD/linked64" | sed -n 's/ T send_record$//p')
expect "the core sends records" test -n "$send"
for tried in 0x7fffffff 0xffffffff; do
    bench --store --init "mov dword [r14], 8; mov dword [r14+32], 1; mov dword [r14+36], $tried
        mov dword [r14+40], 1; mov dword [r14+44], 1; mov dword [r14+72], 5000
        mov dword [r14+76], 1000; mov dword [r14+80], 1000" \
        --asm "push rbx; inc dword [r14+24]; lea rdi, [r14]; mov rax, 0x$send; call rax; pop rbx"
    expect_out ' of 1000000000 repetitions accepted'
    expect_err '^latput bench: stored as run'
done

# The first touch of memory is no part of the value: a short loop has that of a long one.
bench --asm 'imul rax, [r14]' --loop 400
long=$(value)
bench --asm 'imul rax, [r14]' --loop 7
short=$(value)
expect "7 rounds take $short, 400 take $long" awk -v a="$short" -v b="$long" \
    'BEGIN { exit !(a > 0 && b > 0 && a / b < 1.01 && a / b > 0.99) }'

# Two threads in step, where there are two CPUs.
if [ "$(nproc)" -ge 2 ]; then
    bench --asm 'imul rax, rax' --threads 2 --repeat 4
    expect_out 'all threads started within [0-9]{1,2} ns'
    expect "a line a thread and repetition" test \
        "$(grep -cE '^ +(cold|[0-9]+)? +[0-9]+ ' "$OUT")" = 10
    # On two CPUs none is left for latput itself, which disturbs one of both.
    if [ "$STATUS" = 1 ] && [ "$(nproc)" = 2 ]; then
        expect_err unstable
    else
        expect_status 0
        expect_out '^CPU [0-9]+: [3-5]\.[0-9]+ core clk per instance'
    fi
    bench --asm ud2 --threads 2
    expect_status 1
    expect_err 'unsupported: SIGILL'
    # shellcheck disable=SC2016 # NASM's $
    bench --asm 'cmp byte [r14+4096], 5; jne .on; jmp $; .on: inc byte [r14+4096]' --loop 1 --unroll 1 --threads 2
    expect_status 1
    expect_err 'timed_out: '
fi
# A C function, with data of its own; what of libc is refused; an object.
cat >user.c <<'C'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int counter = 5;
static char bytes[1 << 20];
int count(char *data, long n) { bytes[++counter & 1023]++; return data[n - 1]; }
void copy(char *data) { memcpy(data, data + 4096, 1024); }
double value = 2;
void root(void) { value = sqrt(value); }
void print(void) { puts("no"); }
void *allocate(void) { return malloc(100); }
int main(void) { return 0; }
C
for function in count copy root main; do
    bench user.c --symbol $function --repeat 4
    expect_value 1 2000
done
bench user.c --symbol print
expect_status 1
expect_err 'belongs to the measurement core or to libc; of libc only'
bench user.c --symbol allocate
expect_status 1
expect_err 'of libc only'
bench user.c --symbol nosuch
expect_status 2
expect_err "user.c: there is no function 'nosuch' in it"
bench user.c
expect_status 2
expect_err 'Name it with --symbol'
bench user.c --symbol count --cflags '-Dcount=('
expect_status 2
expect_err 'user.c: the compiler refuses it'
gcc -O2 -c user.c
bench user.o --symbol count --repeat 4
expect_value 1 2000
if runs_32; then
    bench user.c --symbol count --bits 32 --repeat 4
    expect_value 1 2000
fi
bench user.cc
expect_status 2

# Cold: every repetition is, and a load from memory takes longer than one from a cache.
bench --asm 'mov rax, [r14+2048]' --unroll 1 --loop 1 --cold --repeat 5
expect_value 60 20000
expect "six cold rows" test "$(grep -c '^ *cold' "$OUT")" = 6

# Events: software ones need no hardware; hardware ones are counted or refused with a remedy.
bench --asm 'imul rax, rax' --events task-clock,page-faults --repeat 3 --format csv \
    --column 'ratio=core_clk/tsc' --column 'ns_per_tick=task_clock/tsc'
if [ "$STATUS" = 3 ]; then
    expect_err 'perf'
    echo "note: no software events: $(cat "$ERR")"
else
    expect_out ',task-clock,page-faults,ratio,ns_per_tick$'
    # The kernel's clock and the time stamp agree: reading the counts costs nothing that shows.
    ratio=$(awk -F, 'NR > 1 && $5 == 1 { n++; s += $14 / 1 } END { print n ? s / n : "none" }' "$OUT")
    case $ratio in
    none) echo "note: every repetition was disturbed" ;;
    *) awk -v r="$ratio" 'BEGIN { exit !(r > 0.1 && r < 2) }' || cli_fail "task-clock is off: $ratio ns a tick" ;;
    esac
fi
bench --asm 'imul rax, rax' --events instructions --column 'per=instructions/instances' --repeat 3
if [ "$STATUS" = 3 ]; then
    expect_err '[Cc]ounter|perf'
else
    expect_out '^per: 1\.0'
fi

# Code that crashes, and code that does not return.
bench --asm ud2
expect_status 1
expect_err 'unsupported: SIGILL'
bench --asm 'xor eax, eax; mov [rax], eax'
expect_status 1
expect_err 'signalled: SIGSEGV: no access to memory at 0x0; r14 holds the address'
bench --asm 'mov rax, [r14 + 70000]'
expect_err "70000 from the data area's address"
bench --asm 'hlt'
expect_err 'SIGSEGV: a privileged instruction'
bench --asm nop --init ud2
expect_err 'unsupported: SIGILL: .* \(in init\)$'
bench --asm nop --init 'xor eax, eax; mov [rax], eax'
expect_err 'signalled: SIGSEGV: .* at 0x0 \(in init\); r14 holds the address'
bench --asm 'push rax'
expect_err 'the stack pointer must come back'
bench --asm 'xor r14, r14; mov rax, [r14]'
expect_err 'writes r14, which has the address of the data area'
bench --asm 'imul rax, rax' --loop 2000000000
expect_status 1
expect_err 'choose a smaller loop'
bench --asm 'mov r15, 1'
expect_status 1
expect_err 'not_measurable: the loop ended before its last .*writes r15, which is the loop.s counter'
bench --asm 'mov r15, 5'
expect_status 1
expect_err 'writes r15, which is the loop.s counter'
bench --asm 'syscall'
expect_status 1
expect_err 'signalled: SIGSYS'
# shellcheck disable=SC2016 # NASM's $
bench --asm 'jmp $'
expect_status 1
expect_err 'timed_out: the code did not return within 2000 ms'

finish
