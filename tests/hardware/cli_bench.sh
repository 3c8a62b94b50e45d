#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput bench as a user meets it: a value, formats, code that is refused, that crashes, that does
# not return, 32-bit mode, and wrong arguments. A disturbed machine may leave a value unstable,
# never wrong.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/../cli/cli.sh"
DB=$SCRATCH/bench.db

# bench ARGS...: with a database of the test's own, so that the floor is found once. Of some sixty,
# each may wait for quiet, on a core that perhaps never is.
bench() { run bench --db "$DB" --give-up 1 "$@"; }
# The summary's value, "" if there is none.
value() { sed -nE 's/^([0-9.]+) core clk an instance.*/\1/p' "$OUT"; }
# expect_value LEAST MOST: the value lies there, or the core was too disturbed to tell.
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
expect "the table fits 80 columns" awk 'length > 80 { exit 1 }' "$OUT"

bench --asm 'imul rax, rax; imul rax, rax' --instances 2 --repeat 3
expect_value 2.98 5.02
bench --asm 'mov rax, [rax]' --init 'mov rax, r14; mov [rax], rax' --repeat 4
expect_value 2 12
bench --asm 'imul eax, eax' --bits 32 --repeat 4
if [ -e "$BUILD/core32.o" ]; then
    expect_value 2.98 5.02
else
    expect_status 3
    expect_err 'gcc-multilib'
fi

# A chain that is broken; one that cannot be; a file, in which nothing is.
bench --asm 'imul rax, rax' --mode throughput --repeat 4
expect_value 0.19 2.2 # a Zen 5 has three units for it
[ "$STATUS" = 1 ] || expect_out '^before each copy, to break its chains: mov rax, rcx$'
bench --asm 'imul rax, rax' --mode throughput --repeat 4 --format json
expect "mode and breakers in the JSON" test "$(sqlite3 :memory: \
    "SELECT json_extract(readfile('$OUT'), '\$[0].mode') ||
    json_extract(readfile('$OUT'), '\$[0].breakers')")" = 'throughputmov rax, rcx'
bench --asm 'fadd st0, st1' --mode throughput
expect_status 1
expect_err 'not_measurable: chains through the x87 stack'
bench --asm 'imul rax, rax; bogus rax' --mode throughput
expect_status 2
expect_err '^latput bench: --asm:2: '
run bench code.nasm --mode throughput
expect_status 2
expect_err 'code given as text only'
run bench --asm nop --mode both
expect_status 2

# Loop and unrolling as asked for.
bench --asm 'imul rax, rax' --unroll 50 --loop 200 --repeat 2
expect_out '50 copies x 200 iterations = 10000 instances'

# Two threads in step, where there are two CPUs.
if [ "$(nproc)" -ge 2 ]; then
    bench --asm 'imul rax, rax' --threads 2 --repeat 4
    if [ "$STATUS" = 0 ]; then
        expect_out '^CPU [0-9]+: [3-5]\.[0-9]+ core clk an instance'
        expect_out 'all threads started within [0-9]{1,2} ns'
        expect "a line a thread and repetition" test \
            "$(grep -cE '^ +(cold|[0-9]+)? +[0-9]+ ' "$OUT")" = 10
    else
        expect_status 1
        expect_err unstable
    fi
    bench --asm ud2 --threads 2
    expect_status 1
    expect_err 'unsupported: SIGILL'
    # shellcheck disable=SC2016 # NASM's $
    bench --asm 'cmp byte [r14+4096], 5; jne .on; jmp $; .on: inc byte [r14+4096]' --loop 1 --unroll 1 --threads 2
    expect_status 1
    expect_err 'timed_out: '
fi
run bench --asm nop --threads 60
expect_status 2
expect_err 'this process may use'
run bench --asm nop --cpus 0,0
expect_status 2
expect_err 'named twice'
run bench --asm nop --cpus 0,
expect_status 2

# Formats.
bench --asm 'add rax, rbx' --repeat 3 --format csv
expect_out '^pass,repetition,cpu,cold,accepted,tried,late_ns,elapsed_tsc,elapsed_clk,instance_clk$'
expect_out '^1,0,[0-9]+,1,'
expect_out '^2,3,[0-9]+,0,'
bench --asm 'add rax, rbx' --repeat 3 --format json
expect_schema bench "$OUT"
expect "JSON that sqlite takes" test "$(sqlite3 :memory: "select json_valid(readfile('$OUT'))")" = 1

# A NASM file: data, init, contract line; hooks of the loop; refusals by line of the file.
cat >chase.nasm <<'NASM'
; A pointer chase through four places.
;@ bench instances=4 repeat=3
%macro testdata 0
chain: dq chain + 64, 0, 0, 0, 0, 0, 0, 0, chain + 128, 0, 0, 0, 0, 0, 0, 0
       dq chain + 192, 0, 0, 0, 0, 0, 0, 0, chain
%endmacro
%macro testinit 0
    mov eax, chain
%endmacro
%macro testcode 0
    mov rax, [rax]
    mov rax, [rax]
    mov rax, [rax]
    mov rax, [rax]
%endmacro
NASM
bench chase.nasm
expect_value 2 12
expect_out '^ +3 '
cat >loop.nasm <<'NASM'
%macro testloop 0
    imul rax, rax
%endmacro
%macro testcode 0
    imul rax, rax
%endmacro
NASM
bench loop.nasm --unroll 20
expect_value 2.8 5.2
expect_out '1 copy x [0-9]+ iterations = [0-9]+0 instances'
cat >bad.nasm <<'NASM'
%macro inner 0
    mov al, rbx
%endmacro
%macro testcode 0
    nop
    inner
%endmacro
NASM
bench bad.nasm
expect_status 2
expect_err '^latput bench: bad.nasm:2: invalid combination'
printf ';@ bench copies=3\n%%macro testcode 0\nnop\n%%endmacro\n' >contract.nasm
bench contract.nasm
expect_status 2
expect_err "contract.nasm:1: 'copies=3' is none of"
echo nop >nohook.nasm
bench nohook.nasm
expect_status 2
expect_err 'no macro .testcode.'

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
expect_err 'system call refused; of libc only'
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
if [ -e "$BUILD/core32.o" ]; then
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
    expect_out ',"task-clock","page-faults","ratio","ns_per_tick"$'
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
bench --asm nop --events nosuchevent
expect_status 2
expect_err "'nosuchevent' is no event"
bench --asm nop --column 'x=tsc*('
expect_status 2
expect_err '^         \^$'

# Kept in the database, all outcomes but what the assembler refuses; seen again; packed and merged.
cat >store.nasm <<'NASM'
;@ bench instances=2
%macro testcode 0
    imul rax, rax
    imul rax, rax
%endmacro
NASM
bench --asm 'imul rax, rax' --label 'a chain' --repeat 2 --events task-clock \
    --column 'ghz=core_clk/ns'
if [ "$STATUS" = 3 ]; then
    echo "note: no software events: $(cat "$ERR")"
    bench --asm 'imul rax, rax' --label 'a chain' --repeat 2
fi
expect_err 'stored as run 1$'
bench --asm 'ud2' --store
expect_status 1
expect_err 'stored as run 2$'
bench --asm 'bogus rax' --store
expect_status 2
bench store.nasm --store --repeat 2
expect_err 'stored as run 3$'
run query --db "$DB" --bench
expect_status 0
expect_out '^[a-z0-9_]+[?]? +a chain +imul rax, rax +latency +64 '
expect_out ' ud2 .* unsupported +SIGILL'
expect_out ' store\.nasm '
run query --db "$DB" --bench '*IMUL*' --format csv
expect "one piece of code" test "$(wc -l <"$OUT")" = 2
run query --db "$DB" --repetitions --bench --run 3 --format csv
expect "rows of all passes" test "$(wc -l <"$OUT")" -ge 7
run query --db "$DB" --runs
expect_out 'snippets'
run query --db "$DB" --bench --latency
expect_status 2
run pack --db "$DB" --run 1 --output bench.zip
expect_status 0
run merge --db merged.db bench.zip
expect_status 0
run query --db merged.db --bench
expect_out ' a chain +imul rax, rax '
expect "code and init of the file" test "$(sqlite3 -readonly "$DB" \
    "SELECT source || (code LIKE '%testcode%') ||
    length(file_sha256) || instances FROM bench WHERE file = 'store.nasm'")" = nasm1642
expect "no directory in it" test \
    "$(sqlite3 -readonly "$DB" "SELECT count(*) FROM bench WHERE file LIKE '%/%'")" = 0
# Killed at any time it leaves all of a result or nothing.
for delay in 0.1 0.2 0.3 0.35 0.4 0.5; do
    timeout -s KILL $delay "$LATPUT" bench --db "$DB" --asm 'imul rax, rax' --store \
        --repeat 1000 >/dev/null 2>&1
done
expect "sound after kills" test "$(sqlite3 "$DB" "PRAGMA integrity_check")" = ok
expect "whole after kills" test "$(sqlite3 "$DB" "SELECT count(*)
    FROM run LEFT JOIN bench USING (run_id)
    WHERE bench_id IS NULL OR finished_utc IS NULL")" = 0
stored=$(sqlite3 "$DB" 'SELECT count(*) FROM run')
run bench --asm nop --store --db none
expect_status 2
expect_err 'without a database'
run bench --asm nop --label "$(printf '%0201d' 0)"
expect_status 2
expect_err 'at most 200 characters'
bench --asm nop --label "$(printf '\033[2J')"
expect_status 3
expect_err 'not stored: .* control characters'
expect "nothing of it" test "$(sqlite3 "$DB" 'SELECT count(*) FROM run')" = "$stored"

# What is refused, with its place.
bench --asm 'nop; bogus rax'
expect_status 2
expect_no_out
expect_err '^latput bench: --asm:2: NASM knows no such instruction$'
expect_err '^       \^$'
bench --asm nop --init 'mov rax, [rbx'
expect_status 2
expect_err '^latput bench: --init:1: '
bench --asm 'nosuchinstruction'
expect_status 2

bench --asm $'nop ; a comment\nnop'
expect_status 2
expect_err '^latput bench: --asm:2: NASM knows no such instruction .*begins with .;;.'
bench --asm 'jmp .out'
expect_status 2
expect_err "symbol .\.out' not defined"
bench --asm 'mov rax, [rip + 8]'
expect_status 2
expect_err 'written \[rel label\]'
run bench --asm nop --symbol x
expect_status 2
expect_err 'for a \.c or \.o file'

# Comments, and a value from one repetition a pass.
bench --asm $'imul rax, rax ;; the chain; all of it\nimul rax, rax' --instances 2 --repeat 1
expect_value 2.98 5.02

# What assembles to nothing is never measured.
bench --asm '%define x'
expect_status 2
bench --asm 'times 0 nop'
expect_status 1
expect_err 'not_measurable: the code has no instruction'
bench --asm 'times 0 nop' --loop 5
expect_status 1
bench --asm 'times 700 nop' --repeat 2
[ "$STATUS" -le 1 ] || cli_fail 'expected status 0 or 1'

# What crashes, and what does not return.
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
expect_err "unknown format 'xml'; there are table, csv and json"
run bench --asm nop --repeat 0
expect_status 2
expect_err "\-\-repeat wants a number from 1 to [0-9]+, not '0'"
run bench --asm nop --cpu 8000
expect_status 2
run bench --asm nop --give-up 0
expect_status 2
expect_err '\-\-give-up wants a number from 1 to 3600'
run bench nop
expect_status 2
run bench a.nasm b.nasm
expect_status 2
run bench --asm nop x.nasm
expect_status 2
run bench --help
expect_status 0
expect_out 'cold'
# Backends: what is asked for and cannot be is refused before anything is measured.
run bench --asm nop --backend tsc --events task-clock
expect_status 2
expect_err '--backend tsc counts no events'
run bench --asm nop --backend msr
expect_status 2
expect_err 'name them with --events'
run bench --asm nop --backend msr --events core_clk
if [ "$STATUS" = 3 ]; then
    expect_err 'the backend msr cannot be used: '
else
    expect_out '^core_clk: '
fi
run bench --asm nop --backend per
expect_status 2
expect_err "unknown backend 'per'"
finish
