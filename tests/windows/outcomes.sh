#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Measuring on Windows (windows/README.md), under wine: exceptions, hangs and ends of the process
# become outcomes, in the words of Linux; what it cannot do it refuses; its packs are those of the
# CPU. Times mean nothing here; compare.sh is about those.
# Usage: LATPUT=$PWD/build/latput BUILD=$PWD/build tests/windows/outcomes.sh
# shellcheck source=tests/windows/wine.sh
. "$(dirname "$0")/wine.sh"

# said REGEX CODE [OPTIONS...]: what bench says about code that has no time.
said() {
    local regex=$1 code=$2
    shift 2
    windows bench --db none --repeat 2 --give-up 3 "$@" "$code"
    expect_status 1
    expect_err "$regex"
}
said 'unsupported: SIGILL: the CPU refuses' 'ud2'
said 'signalled: SIGSEGV: a privileged instruction.* canonical$' 'hlt'
said 'signalled: SIGSEGV: no access to memory at 0x10;' 'mov rax, [abs 0x10]'
said 'signalled: SIGSEGV: no access to memory at 0x600ff000, -8192 from the data' 'mov rax, [r14-8192]'
said 'signalled: SIGSEGV: .* canonical$' 'movaps xmm0, [r14+1]'
said 'a register has 0x8000000000000000' 'mov rax, [rbx]' --init 'mov rbx, 0x8000000000000000'
said 'signalled: SIGFPE: division error' 'xor ecx, ecx; div ecx'
said 'signalled: SIGTRAP: breakpoint' 'int3'
said 'signalled: SIGTRAP: .*single step' 'pushfq; or qword [rsp], 256; popfq; nop'
said 'not_measurable: the loop leaves the stack pointer -16 bytes' 'push rax'
said 'signalled: the code ended the measuring process' 'mov rsp, 16; push rax'
said 'timed_out: the code did not return within 2000 ms' 'again: jmp again'

# refused REGEX OPTIONS...: what the core cannot do ends the command.
refused() {
    local regex=$1
    shift
    windows bench --db none "$@" nop
    expect_status 3
    expect_err "the measurement core cannot work: $regex"
}
refused 'rows of 32-bit mode are not for Windows' --bits 32
refused 'cannot map what the threads share' --threads 2

# A fault costs its own row: those beside it have their values. The system's thread is found by gs,
# which a body changes and the core puts right.
cat >"$SCRATCH/forms.csv" <<'LIST'
mnemonic,operands,implicit,isa,tests,options
ud2,,,X86_64,T,
hlt,,,X86_64,T,
add,+r64 r64,=flags,X86_64,,
LIST
windows run --quiet --db "$SCRATCH/db" --results "$SCRATCH/results" --tests LT --give-up 5 \
    "$SCRATCH/forms.csv"
windows query --db "$SCRATCH/db" --format csv --where "mnemonic in ('ud2','hlt')"
expect_out '^[^,]*,ud2,.*unsupported'
expect_out '^[^,]*,hlt,.*signalled'
windows bench --db none --repeat 2 --give-up 5 --init 'mov ebx, gs' 'mov gs, ebx'
[ "$STATUS" = 0 ] || expect_err 'no steady value|undisturbed'

# Its pack is one of this CPU, which says where it was measured.
run pack --db "$SCRATCH/db" --output "$SCRATCH/run.tar.xz"
expect_status 0
run merge --db "$SCRATCH/own" "$SCRATCH/run.tar.xz"
expect_status 0
sqlite3 "$SCRATCH/own" 'SELECT backend, os_kernel, brand FROM run JOIN cpu USING (cpu_id)' >"$OUT"
expect_out '^tsc.Windows [0-9.]+ as wine has it, [0-9]'
expect "no mark" [ "$(grep -c simulated "$OUT")" = 0 ]

# The other way round, as from a machine with Windows that reaches one with Linux: standard files
# are the channel. wine gives no pipes to programs of Linux, so a second host is what this one
# starts, and both refuse what the other says.
mkfifo "$SCRATCH/there" "$SCRATCH/back"
wine "$HOST" <"$SCRATCH/there" >"$SCRATCH/back" 2>/dev/null &
"$FAR" - -- bench --db none --repeat 2 ud2 >"$SCRATCH/there" <"$SCRATCH/back" 2>"$ERR"
STATUS=$? CLI_COMMAND="latput-windows - by standard files"
: >"$OUT"
expect_status 1
expect_err 'unsupported: SIGILL'
wait $!
wine "$HOST" "$HOST" >"$OUT" 2>"$ERR" </dev/null
STATUS=$? CLI_COMMAND="latput-windows.exe latput-windows.exe"
expect_status 3

# No answer, another version, and a connection that is lost: each is said, and nothing hangs.
far true -- run
expect_status 3
expect_err 'no latput-windows.exe answers there'
far printf 'WTPW????????' -- run
expect_status 3
expect_err 'no latput-windows.exe answers there'
cat >"$SCRATCH/cut" <<SH
exec stdbuf -o0 head -c 40000 <(wine "$HOST")
SH
far bash "$SCRATCH/cut" -- bench --db none --repeat 5000 nop
expect_err 'the connection to the Windows machine is lost'
finish
