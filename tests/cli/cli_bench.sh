#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput bench as a user meets it, on a core made of text: values, formats, 32-bit mode, what is
# kept, code that is refused, and wrong arguments. What only a CPU can do: hardware/cli_bench_code.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
. "$TREE/tests/cli/text.sh"
DB=$SCRATCH/bench.db
text_machine quiet <<<'fault ud2 signal ILL'

bench() { run bench --db "$DB" "$@"; }
# expect_value CLK: what an instance takes.
expect_value() {
    expect_status 0
    expect_out "^$1 core clk per instance "
}

bench --asm 'imul rax, rax'
expect_value 3.00
expect_out '^ +cold '
expect_out '^ +8 '
expect "the table fits 80 columns" awk 'length > 80 { exit 1 }' "$OUT"
# Code needs no option, unless it looks like a file.
bench 'imul rax, rax' --repeat 3
expect_value 3.00
bench nop
expect_value 0.125
# Signs of life to the runner are no damage by the body.
bench 'imul rax, rax' --repeat 30000 --format json
expect_status 0
bench 'my code.nasm' --repeat 3
expect_status 2
expect_err '^latput bench: my code.nasm: cannot read: No such file'
bench nop.x
expect_status 2
expect_err '^latput bench: nop.x: cannot read: No such file'
bench nopp
expect_status 2
expect_err '^latput bench: code:1: NASM knows no such instruction$'
echo >nop
bench nop
expect_status 2
expect_err '^latput bench: nop: is no listing .* and its name does not end in .nasm, .asm, .s, .c or .o'
bench --asm nop --repeat 3
expect_value 0.125
rm nop
bench imul rax, rax
expect_status 2
expect_err "'rax,' is too many: code of several words stands in quotes, 'imul rax, rbx'$"
bench nop --asm 'imul rax, rax'
expect_status 2
expect_err "either 'imul rax, rax' or 'nop', not both"
bench --asm 'imul rax, rax; imul rax, rax' --instances 2 --repeat 3
expect_value 3.00
bench --asm 'mov rax, [rax]' --init 'mov rax, r14; mov [rax], rax' --repeat 4
expect_value 4.00
bench --asm 'imul eax, eax' --bits 32 --repeat 4
if [ -e "$BUILD/core32.o" ]; then
    expect_value 3.00
else
    expect_status 3
    expect_err 'gcc-multilib'
fi

# A neighbour half of the time, on the core's own clock: what it disturbs is not taken, and tried
# again, always as often.
text_machine loud <<<'neighbour 0.05 0.1'
bench --asm nop
expect_value 0.125
expect_out '^16 of 26 repetitions accepted '
text_machine quiet <<<'fault ud2 signal ILL'

# The kernels of two values below take 9,700 and 10,000 ticks, so one tick more or less moves them
# by 0.0001: 1, which is printed with two digits, and from below with three; and 87.511 by 0.009.
one='(1\.00|1\.000)'

# Code that ends its process; what ends it from outside, once, costs nothing. A clock that cannot be
# told: of a CPU without a table, whose imul takes no whole number of cycles.
text_machine ends <<<$'fault ud2 exit 3\nfault "bswap *" kill once'
bench --asm ud2
expect_status 1
expect_err 'signalled: the code ended the measuring process \(exit status 3\)$'
bench --asm 'bswap rax'
expect_value "$one"
text_machine odd zen5 unknown_vendor <<<'form "imul r64 r64" p3 3.5'
bench --asm nop
expect_status 3
expect_err 'its ratio to that of add, 3\.5[0-9]*, is no integer: core cycles cannot be calibrated'
text_machine quiet <<<'fault ud2 signal ILL'

# A chain that is broken; one that cannot be; a file, in which nothing is.
bench --asm 'imul rax, rax' --mode throughput --repeat 4
expect_value "$one"
expect_out '^before each copy, to break its chains: mov rax, rcx$'
bench --asm 'imul rax, rax' --mode throughput --repeat 4 --format json
expect "mode and breakers in the JSON" test "$(sqlite3 :memory: \
    "SELECT json_extract(readfile('$OUT'), '\$[0].mode') ||
    json_extract(readfile('$OUT'), '\$[0].breakers')")" = 'throughputmov rax, rcx'
bench --asm 'fadd st0, st1' --mode throughput
expect_status 1
expect_err 'not_measurable: chains through the x87 stack'
bench --asm 'imul rax, rax; bogus rax' --mode throughput
expect_status 2
expect_err '^latput bench: code:2: '
run bench code.nasm --mode throughput
expect_status 2
expect_err 'code given as text only'
run bench --asm nop --mode both
expect_status 2

# The first touch of memory is no part of the value, however short the loop is; cold it is.
text_machine touches <<<'touch 130'
bench --asm 'imul rax, [r14]' --loop 7 --repeat 4
expect_value 3.00
bench --asm 'imul rax, [r14]' --loop 7 --repeat 4 --cold
expect_value 3.05
text_machine quiet <<<'fault ud2 signal ILL'

# A loop has its own jump, which the measured one stands for: its slot is one of the code.
bench --hex "$(printf '90%.0s' {1..15})ebef"
expect_value 2.00

# Loop and unrolling as asked for.
bench --asm 'imul rax, rax' --unroll 50 --loop 200 --repeat 2
expect_out '50 copies x 200 iterations = 10000 instances'

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
expect_value 4.00
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
expect_value 3.15 # the loop has one of its own
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
bench --asm 'imul rax, rax' --label 'a chain' --repeat 2 --column 'ghz=core_clk/ns'
expect_out '^ghz: 3\.70'
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

# Refusals, with their place.
bench --asm 'nop; bogus rax'
expect_status 2
expect_no_out
expect_err '^latput bench: code:2: NASM knows no such instruction$'
expect_err '^       \^$'
bench --asm nop --init 'mov rax, [rbx'
expect_status 2
expect_err '^latput bench: --init:1: '
bench --asm 'nosuchinstruction'
expect_status 2

bench --asm $'nop ; a comment\nnop'
expect_status 2
expect_err '^latput bench: code:2: NASM knows no such instruction .*begins with .;;.'
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
expect_value 3.00

# Code that assembles to nothing is never measured.
bench --asm '%define x'
expect_status 2
bench --asm 'times 0 nop'
expect_status 1
expect_err 'not_measurable: the code has no instruction'
bench --asm 'times 0 nop' --loop 5
expect_status 1
bench --asm 'times 700 nop' --repeat 2
expect_value '87\.5[12]' # one tick, as above

# Usage.
run bench
expect_status 2
expect_err 'what to measure'
run bench --asm ''
expect_status 2
run bench --asm nop --bits 16
expect_status 2
expect_err '16-bit code cannot be measured here'
run bench --asm nop --format xml
expect_status 2
expect_err "unknown format 'xml'; there are table, csv, spreadsheet, json, markdown, html and latex"
run bench --asm nop --repeat 0
expect_status 2
expect_err "\-\-repeat needs a number from 1 to [0-9]+, not '0'"
run bench --asm nop --cpu 8000
expect_status 2
run bench --asm nop --give-up 0
expect_status 2
expect_err '\-\-give-up needs a number from 1 to 3600'
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
expect_status 3
expect_err 'the backend msr cannot be used: '
run bench --asm nop --backend per
expect_status 2
expect_err "unknown backend 'per'"
finish
