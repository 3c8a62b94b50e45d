#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput explain on the tables of a published pack, without measuring: what it predicts, how it
# prints that, and what it refuses.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "${BASH_SOURCE[0]}")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"

run merge --db t.db "$TREE/tests/fixtures/quick_run.zip"
expect_status 0
explain() { run explain --db t.db --uarch 'sapphirerapids?' "$@"; }

# A chain through a register.
explain --asm 'imul rax, rax; add rax, rbx'
cp "$OUT" option
explain 'imul rax, rax; add rax, rbx'
expect_status 0
expect "code needs no option" cmp option "$OUT"
expect_out '^  predicted +4\.0[0-9] clk a copy$'
expect_out '^chain +4\.0[0-9]  2 instructions, from rax to rax of the next copy$'
expect_out '^Without it the next limit is the ports, at 1\.0[0-9] clk\.$'
expect_out '^   1  imul rax, rax +3\.0[0-9]  rax -> rax$'
expect "it fits a terminal" test "$(wc -L <"$OUT")" -le 80
# Operands are never cut: where a column for each port does not fit, one is folded.
long='vfmadd231pd ymm0, ymm1, \[rsi\+rbx\*8\+0x10000\]'
explain --asm 'vfmadd231pd ymm0, ymm1, [rsi+rbx*8+0x10000]; add rax, [rsi]; mov [rdi], rax; nop'
expect_status 0
expect "it fits a pipe, too" test "$(wc -L <"$OUT")" -le 80
expect_out "^1  $long +[0-9.]+$"
expect_out '^2  add rax, \[rsi\] +1\.0  p0:0\.2 p1:0\.2 '
if on_terminal explain --db t.db --uarch 'sapphirerapids?' \
    --asm 'times 40 nop; vaddps ymm1, ymm2, [rsi+rbx*8+0x10000]; vpermd ymm4, ymm5, ymm6'; then
    expect "it fits a terminal" test "$(sed $'s/\033[^m]*m//g' "$OUT" | wc -L)" -le 80
fi
# Ports, and nothing that waits.
code=
for i in 0 2 3 4 5 6 7 8; do code="$code addps xmm$i, xmm1;"; done
explain --asm "$code"
expect_status 0
expect_out '^ports +4\.00  8 uops that only p15 can do$'
expect_out '^front end +1\.3[0-9]  8\.?[0-9]* slots, 6 per cycle$'
expect_out '^    all +8\.[0-9] +4\.0 +4\.0$'
# Facts missing from the database are named: packs have no property of that kind.
expect_out 'bypass_delay measures what that costs on this CPU\.$'
# On a terminal headings stand out, unless colour is not wanted.
unset NO_COLOR
if on_terminal explain --db t.db --uarch 'sapphirerapids?' --asm 'imul rax, rax'; then
    expect_out $'^\033\\[1mlimit .*\033\\[0m$'
    expect_out $'^\033\\[1m  # instruction .*\033\\[0m$'
    NO_COLOR=1 on_terminal explain --db t.db --uarch 'sapphirerapids?' --asm 'imul rax, rax'
    expect "no colour" test -z "$(grep $'\033' "$OUT")"
    expect_out '^limit '
    on_terminal cpu --load "$TREE/tests/fixtures/cpu/zen5.cpuid"
    expect_out $'^\033\\[1mFeatures\033\\[0m$'
    on_terminal property --list
    expect_out $'^\033\\[1mmemory\033\\[0m$'
fi
# A chain whose links follow one another takes what the dense one took, others what the filled one
# did. (This core shows no difference, so one is written into a copy.)
cp t.db dense.db
sqlite3 dense.db "UPDATE result SET dense_clk = 2 * value_clk WHERE bound = 'exact'"
nops='nop; nop; nop; nop; nop'
for chain in '6\.0[0-9] imul rax, rax' "3\.0[0-9] imul rax, rax; $nops"; do
    run explain --db dense.db --uarch 'sapphirerapids?' --predict --asm "${chain#* }"
    expect_status 0
    expect_out "^  predicted +${chain%% *} clk"
done
# JSON says the same.
explain --format json --asm 'imul rax, rax; add rax, rbx'
expect_status 0
if has python3; then
    expect "valid JSON" python3 - "$OUT" <<'PYTHON'
import json, sys
told = json.load(open(sys.argv[1]))[0]
assert told["uarch"] == "sapphirerapids?" and told["assumed"] == 0, told
assert abs(told["predicted_clk"] - 4) < 0.1 and told["measured_clk"] is None, told
assert told["limits"][0]["limit"] == "chain"
assert [step["position"] for step in told["chain"]] == [1, 2]
assert [row["form"] for row in told["instructions"]] == ["imul r64 r64", "add r64 r64"]
assert abs(sum(port["clk"] for port in told["instructions"][1]["ports"]) - 1) < 0.01
PYTHON
fi
expect_schema explain "$OUT"
# Unknown forms are named: not in the database, not in the lists.
explain --asm 'sbb rax, rbx; ud0 eax, ebx'
expect_status 0
expect_out '^1, sbb rax, rbx: not measured on this CPU: numbers are assumed \(sbb r64 r64\)$'
expect_out '^2, ud0 eax, ebx: not in the lists: numbers are assumed$'
explain vmfunc
expect_status 0
expect_out '^sapphirerapids\?: 1 instruction, 64-bit$'
expect_out '^  predicted: nothing, for the database knows none of it$'
expect_out '^1, vmfunc: not in the lists: numbers are assumed$'
expect "nothing is said of ports" test "$(grep -c "no ports of this CPU" "$OUT")" = 0
explain --asm 'fld qword [r14]; fxch st1; fstp st0' --init 'fninit; fld1'
expect_status 0
expect_out '^The x87 stack is followed as one value: '
explain 'imul rax, rbx'
expect "nothing is said of the x87 stack" test "$(grep -c x87 "$OUT")" = 0
# Several blocks.
printf '%s\n' '# comment' 'imul rax, rax' 'xor eax, eax | add rax, rbx' 'call rax' >blocks.txt
explain --blocks blocks.txt
expect_status 1
expect_err '^latput explain: blocks\.txt: 1 of 3 blocks refused$'
expect_out '^     2       1       3\.0[0-9] .* chain$'
expect_out '^     3       1       1\.00 .* chain$'
expect_out "^     4  refused: instruction 1, 'call rax', calls"
explain --blocks blocks.txt --format json
expect_status 1
expect_schema explain_blocks "$OUT"
printf '%s\n' 'again:' 'again: imul rax, rax' >labels.txt
explain --blocks labels.txt
expect_status 1
expect_out '^     1  refused: there is no instruction in the block$'
expect_out '^     2       1       3\.0[0-9] .* chain$'
sed -i 1d labels.txt
explain --blocks labels.txt
expect_status 0

# Any number of them takes the memory of a few: it is let go after each.
many() { # NUMBER [OPTION...]
    yes 'imul rax, rbx; mov rcx, [r14]; add rcx, rax; lea rdx, [rcx+rax*4]' | head -n "$1" >many.txt
    "$LATPUT" explain --db t.db --blocks many.txt "${@:2}" >"$OUT" 2>"$ERR" </dev/null &
}
# peak: what the last of the processes takes at most, in MB.
peak() {
    local kb=0 now
    while now=$(awk '/^VmHWM/ { print $2 }' "/proc/$!/status" 2>/dev/null) && [ -n "$now" ]; do
        kb=$now
        sleep 0.02
    done
    echo $((kb / 1024))
}
many 40 --predict
few=$(peak)
wait $!
many 240 --predict
expect "200 blocks more, not 2 MB each ($few MB)" test "$(peak)" -lt $((few + 150))
wait $!
expect "all are there" test "$(grep -c chain "$OUT")" = 240
# A signal ends it at once: while they are assembled, and while they are measured.
stopped() {
    local begin=$EPOCHSECONDS
    kill -TERM $!
    wait $!
    STATUS=$?
    CLI_COMMAND="latput explain --blocks, SIGTERM while they are $1"
    expect_status 3
    expect_err '^latput explain: stopped by SIGTERM before'
    expect "at once" test $((EPOCHSECONDS - begin)) -le 3
}
many 3000 --predict
sleep 0.5
stopped assembled
text_machine slow <<<'pace 50'
many 20
sleep 2
stopped measured
unset LATPUT_MACHINE

# Files: testcode of NASM, loops of a function.
cat >loop.nasm <<'NASM'
%macro testdata 0
table: dq 1, 2, 3, 4
%endmacro
%macro testinit 0
    lea rsi, [table]
%endmacro
%macro testcode 0
    imul rax, rbx ; a chain; of two
    add rax, [rsi]
%endmacro
NASM
explain --file loop.nasm
expect_status 0
expect_out '^loop\.nasm: testcode$'
expect_out '^sapphirerapids\?: 2 instructions, 64-bit$'
expect_out '^chain +4\.0[0-9]  2 instructions'
cat >loops.asm <<'NASM'
global loops:function (loops.end - loops)
loops:
    xor eax, eax
.product:
    imul rdx, rdx
    add rax, 8
    cmp rax, rsi
    jb .product
.sum:
    add rax, [rdi]
    dec esi
    jnz .sum
    ret
.end:
global none:function (none.end - none)
none:
    ret
.end:
NASM
nasm -f elf64 -o loops.o loops.asm || cli_fail "NASM refuses loops.asm"
loops() { explain --file loops.o --symbol loops "$@"; }
loops
expect_status 0
expect_out '^loops\.o, loops: loop 1 of 2, at \+0x[0-9a-f]+$'
expect_out '^chain +3\.0[0-9]  1 instruction'
expect_out ': a jump: its slot is counted, no port$'
expect_out '^Whether the jump is fused with what is before it is not known'
loops --loop 2 --format json
expect_status 0
expect_out '"source": "loops\.o, loops: loop 2 of 2'
expect_out '"call_clk": null'
expect_schema explain "$OUT"

# The rounds of a call are counted, after what the user has run before, and wherever the loop finds
# its data. (A core made of text takes a cycle for a call.)
cat >rounds.asm <<'NASM'
global remote:function (remote.end - remote)
remote:
    mov ecx, 100
.next:
    add rax, [rel one]
    sub rcx, [rel one]
    jnz near .next
    ret
.end:
global shrinks:function (shrinks.end - shrinks)
shrinks:
    mov rcx, [left]
.next:
    add rax, 1
    sub rcx, 1
    jnz .next
    dec qword [left]
    ret
.end:
global asks:function (asks.end - asks)
asks:
    mov ecx, 10
.next:
    mov eax, 39
    dec rcx
    jnz .next
    syscall
    ret
.end:
global tiny:function (tiny.end - tiny)
tiny:
.next:
    dec esi
    jnz .next
    ret
.end:
global by_rcx:function (by_rcx.end - by_rcx)
by_rcx:
.next:
    add rax, [rdi]
    loop .next
    ret
.end:
global filled:function (filled.end - filled)
filled:
.next:
    mov eax, [rdi]
    add rdi, 4
    test eax, eax
    jnz .next
    ret
.end:
global moves:function (moves.end - moves)
moves:
    mov edx, 10
.next:
    rep movsb
    dec edx
    jnz .next
    ret
.end:
global leaves:function (leaves.end - leaves)
leaves:
    xor eax, eax
    test rsi, rsi
    jz .out
.next:
    cmp byte [rdi+rax], 0
    jnz .out
    inc rax
    cmp rax, rsi
    jb .next
.out:
    ret
.end:
global picks:function (picks.end - picks)
picks:
    xor ecx, ecx
.next:
    test ecx, 3
    jz .fourth
    imul rax, rdx
    jmp .join
.fourth:
    add rax, 1
.join:
    inc ecx
    cmp ecx, 100
    jb .next
    ret
.end:
global twice:function (twice.end - twice)
twice:
    xor ecx, ecx
.next:
    inc ecx
    test ecx, 3
    jnz .next
    cmp ecx, 100
    jb .next
    ret
.end:
global stops:function (stops.end - stops)
stops:
    mov ecx, 10
.next:
    dec ecx
    jnz .next
    int3
    ret
.end:
global forever:function (forever.end - forever)
forever:
    mul rdx
.next:
    add rax, 1
    jmp .next
.end:
section .data
align 8
one: dq 1
left: dq 40
NASM
nasm -f elf64 -o rounds.o rounds.asm || cli_fail "NASM refuses rounds.asm"
text_machine rounds <<<''
# counts LINE STATUS OPTION...: what is said of the measurement.
counts() {
    local line=$1 status=$2
    shift 2
    run explain --db t.db --run 1 --file "$@"
    expect_status "$status"
    expect_out "$line"
}
if "$BUILD/tests/without" perf -- true; then # there are filters of system calls
    counts '^  a call takes 1\.0 clk, for 8192 rounds of the loop$' 0 loops.o --symbol loops
    counts '^  a call takes 1\.0 clk, for 65536 rounds of the loop$' 0 loops.o --symbol loops --loop 2
    counts '^  a call takes 1\.0 clk, for 100 rounds of the loop$' 0 rounds.o --symbol remote
    counts '^  a call takes 1\.0 clk, for 100 rounds of the loop$' 0 rounds.o --symbol remote --instances 100
    counts '^  a call takes 1\.0 clk, for 3 rounds of the loop$' 0 rounds.o --symbol filled \
        --init 'mov rax, -1; mov [r14], rax'
    counts '^  measured: --instances 1000 is wrong: a call makes 65536 rounds$' 1 loops.o \
        --symbol loops --loop 2 --instances 1000
    counts 'its rounds cannot be counted: two calls have 40 and 39;' 0 rounds.o --symbol shrinks
    counts 'its rounds cannot be counted: the function calls the' 0 rounds.o --symbol asks
    counts '^  a call takes 1\.0 clk, for 65536 rounds of the loop$' 0 rounds.o --symbol tiny
    counts '^  a call takes 1\.0 clk, for 7 rounds of the loop$' 0 rounds.o --symbol by_rcx \
        --init 'mov ecx, 7'
    counts '^  a call takes [0-9.]+ clk, for 5 rounds of the loop$' 0 rounds.o --symbol by_rcx \
        --init 'mov ecx, 7' --args 'data, 0, 0, 5'
    counts 'its rounds cannot be counted: a call ends with SIGSEGV;' 0 rounds.o --symbol filled \
        --init 'mov edi, 1'
    counts 'its rounds cannot be counted: the function has' 0 rounds.o \
        --symbol stops
    counts 'its rounds cannot be counted: it begins with a repeated' 0 rounds.o --symbol moves
    counts 'its rounds cannot be counted: the call does not reach$' 0 rounds.o --symbol leaves \
        --args 'data, 0'
    # Exits and branches: the loop is counted whichever way it goes, and what that means is said.
    counts '^  a call takes 1\.0 clk, for 9 rounds of the loop$' 0 rounds.o --symbol leaves \
        --args 'data, 20' --init 'mov byte [r14+8], 1'
    run explain --db t.db --run 1 --file rounds.o --symbol picks
    expect_status 2
    expect_err "'picks' has no loop that is one block, only such with branches.*: --path"
    counts '^  a call takes 1\.0 clk, for 100 rounds of the loop$' 0 rounds.o --symbol picks \
        --path none
    counts '^  at most 75 of 100 rounds go the way that is explained: ' 0 rounds.o \
        --symbol picks --path none
    counts '^  at most 25 of 100 rounds go the way that is explained: ' 0 rounds.o \
        --symbol picks --path +8
    counts '"call_rounds_this_way": 25,' 0 rounds.o --symbol picks --path +8 --format json
    expect_schema explain "$OUT"
    # A listing of the function: its loops in two lines each, then its instructions.
    counts '^loop 1, \+0x2\.\.\+0x1b: 7 instructions, 100 rounds in a call, of which at most 75 ' 0 \
        rounds.o --symbol picks --path none --listing
    expect_out '^  predicted [0-9.]+, measured [0-9.]+ clk a round; chain: '
    expect_out '^\+0xa +480fafc2 +imul rax, rdx +1 .* \*$'
    expect_out '^\+0x10 +4883c001 +add rax, 0x01 +[0-9.]+$'
    expect_out '^\+0x1[0-9a-f] +c3 +ret$'
    expect_out '^  a call takes [0-9.]+ clk, its loops [0-9.]+, as predicted$'
    # Loops that begin with the same instruction; one whose addresses the linker has not set.
    counts '^loop 1, .*: 3 instructions, 100 rounds in a call' 0 rounds.o \
        --symbol twice --path none --listing
    expect_out '^loop 2, .*: 5 instructions, 100 rounds in a call, of which at most 25 '
    expect_out '^  a call takes 1\.0 clk; its loops share instructions, so they have no sum$'
    counts 'its addresses are not known before it is linked' 0 rounds.o --symbol remote --listing
    expect_out '^loop 1, .*, 100 rounds in a call'
    # Rounds that cannot be counted are the user's word, unless the core would exceed its width.
    counts '^  measured +1\.00 clk a copy' 0 rounds.o --symbol shrinks --instances 1
    counts '^  measured: --instances 1000 would be [0-9.]+ slots per cycle, of which there' 1 \
        rounds.o --symbol shrinks --instances 1000
    run explain --db t.db --run 1 --file loops.o --symbol loops --instances 1000 --format json
    expect_status 1
    expect_out '"failure": "--instances 1000 is wrong: a call makes 8192 rounds"'
    expect_out '"call_rounds": 8192'
    expect_schema explain "$OUT"
else
    counts 'its rounds cannot be counted: this kernel allows no$' 0 loops.o --symbol loops
fi
# A call that does not return: that is told, and its rounds are not counted, which would not end.
text_machine endless <<<'fault "call r64" hang'
begin=$SECONDS
counts '^  measured: timed_out: the code did not return within 2000 ms$' 1 rounds.o --symbol forever
counts '^  a call was not measured: timed_out: the code did not return within' 0 rounds.o \
    --symbol forever --listing
expect "within seconds" test $((SECONDS - begin)) -lt 19
unset LATPUT_MACHINE

loops --listing --format json
expect_status 0
expect_schema explain_listing "$OUT"
expect_out '"address": "\+0x[0-9a-f]+", .*"instruction": "imul rdx, rdx", "loop": 1, .*"on_chain": true'
loops --listing --format html
expect_status 0
expect "two tables" test "$(grep -c '<table>' "$OUT")" = 2
expect_out '<td>imul rdx, rdx</td>'
explain --file loops.o --symbol none --listing
expect_status 0
expect_out '^loops\.o, none: 1 instruction, 0 loops, 64-bit'

if command -v cc >/dev/null; then
    printf '%s\n' 'long sum(const long *data, long bytes)' '{' '    long sum = 0;' \
        '    for (long i = 0; i < bytes / 8; i++)' '        sum += data[i];' \
        '    return sum;' '}' >sum.c
    explain --file sum.c --symbol sum --cflags -fno-tree-vectorize
    expect_status 0
    expect_out '^sum\.c, sum: loop 1 of 1, at '
fi

# The same code in other forms: digits, AT&T's and Intel's text, what objdump prints.
explain --asm 'imul rax, rbx; add rax, rcx'
cp "$OUT" option
explain --hex '480fafc3 4801c8'
expect "the same block" cmp option "$OUT"
explain 'imul %rbx, %rax; add %rcx, %rax'
expect "the same block" cmp option "$OUT"
explain --syntax intel --asm $'imul rax, rbx # a comment\nadd rax, rcx'
expect "the same block" cmp option "$OUT"
printf '0 <f>:\n   0:\t48 0f af c3    \timul   %%rbx,%%rax\n   4:\t48 01 c8 \tadd %%rcx,%%rax\n' >f.txt
explain f.txt
sed 1d "$OUT" >listed
expect "the same block" cmp option listed
explain --asm "$(cat f.txt)"
expect "the same block" cmp option "$OUT"
printf '    0.00 :   0:   imul   rax,rbx\n    1.00 :   4:   add    rax,rcx\n' >f.txt
explain f.txt
sed 1d "$OUT" >listed
expect "the same block" cmp option listed
# A file of blocks in digits; what is wrong with a line costs that line.
{
    printf 'hex,weight\n480fafc3,10\n4889,1\n480fafc3,x\n75fe,1\n'
    head -c 1000000 /dev/zero | tr '\0' 9
    printf '\n480fafc34801c8\n'
} >hex.csv
explain --blocks hex.csv
expect_status 1
expect_out '^ +2 +1 +3\.0'
expect_out '^ +3  refused: instruction 1: the bytes 48 89 are no instruction'
expect_out "^ +4  refused: 'x' is no weight"
expect_out '^ +5  refused: there is nothing but a jump'
expect_out '^ +6  refused: '
expect_out '^ +7 +2 +4\.0'
# Columns by name, in any order; others are passed over.
printf 'addr,weight,hex\n1,2.5,480fafc3\n2,0,90\n3,1\n4,-1,90\n' >columns.csv
explain --blocks columns.csv --format csv
expect_status 1
expect_out '^line,refused,instructions,assumed,predicted_clk,limit,measured_clk,failure,spread_clk,weight,code,settings,clk_if_pointers_meet$'
expect_out '^2,,1,0,3\.0[0-9]*,chain,,,,2\.5,480fafc3,"latput .*, run 1, 64-bit, predicted",$'
expect_out '^3,,1,0,[0-9.]+,front end,,,,0,90,'
expect_out '^4,there is nothing in the column hex,'
expect_out "^5,'-1' is no weight: a number that is not negative,"
# Both times are told if pointers of the block may lead to one place.
printf '4889024883c208488b064883c608\n' >pointers.csv
explain --blocks pointers.csv --format csv
expect_status 0
expect_out '^1,,4,[0-9],1(\.[0-9]+)?,.*,[4-9]\.[0-9]+$'
explain --blocks pointers.csv
expect_out '^ +1 +4 +1\.[0-9]+ .* \([4-9]\.[0-9]+ if pointers meet\)$'
printf 'addr,bytes\n1,90\n' >other.csv
explain --blocks other.csv
expect_status 2
# shellcheck disable=SC2016 # no command
expect_err 'other\.csv:1: no column `hex`'
printf '480fafc3,1,2,3\n\0\0\n4\n' >odd.csv
explain --blocks odd.csv
expect_status 1
expect_out '^ +1  refused: 4 columns: a first line names them'
expect_out '^ +2  refused: the line has a NUL byte$'
expect_out '^ +3  refused: '
# Rows in a file, which goes on where it was ended, and is no other.
explain --blocks columns.csv --to rows.csv
expect_status 1
cp rows.csv whole.csv
head -c -20 whole.csv >rows.csv
explain --blocks columns.csv --to rows.csv
expect_status 1
expect_err '^latput explain: columns\.csv: 2 of 4 blocks refused$'
expect "the file is whole again" cmp rows.csv whole.csv
explain --blocks hex.csv --to rows.csv
expect_status 2
expect_err 'rows\.csv:2: a row of another block than hex\.csv has here'
explain --blocks columns.csv --to columns.csv
expect_status 2
expect_err 'columns\.csv: no file of rows of blocks'
explain --blocks columns.csv --to rows.csv --init 'mov eax, 1'
expect_status 2
expect_err 'rows\.csv:2: its numbers were made by other settings than these'
expect "both are as they were" test "$(cat rows.csv columns.csv | wc -l)" = 10
explain --asm nop --to rows.csv
expect_status 2
expect_err '--to does nothing without --blocks'
explain --asm nop --format csv
expect_status 2
expect_err '--format csv is for rows'
# A hundred thousand lines are read, and cost what they are.
yes 4889 | head -n 100000 >bulk.csv
explain --blocks bulk.csv --to bulk_rows.csv
expect_status 1
# An executable lists its loops; one of them, or code between two addresses, is a block.
if has cc; then
    cat >main.c <<'CODE'
long find(const char *text, int c)
{
    long i = 0;
    while (text[i] && text[i] != c)
        i++;
    return i;
}
long _Z6lookupPKc(const char *text) { return find(text, 1); }
int main(void) { return (int)find("abc", 'c'); }
CODE
    cc -O2 -fno-inline -o main main.c
    explain main --symbol 'names::lookup(char const*)'
    expect_status 2
    expect_err "no function 'names::lookup.*' in it; the file calls one of C\+\+ '_Z6lookupPKc'$"
    explain main --symbol find
    expect_status 0
    expect_out '^ +1 +[0-9]+  0x[0-9a-f]+ +find$'
    address=$(sed -nE 's/^ +1 +[0-9]+  (0x[0-9a-f]+) .*/\1/p' "$OUT")
    explain main --symbol find --loop 1
    expect_status 0
    expect_out "^main, find: loop 1, $address\\.\\."
    range=$(sed -nE 's/^main, find: loop 1, (.*)$/\1/p' "$OUT")
    explain main --symbol find --loop all
    expect_status 0
    explain main --address "$range"
    expect_status 0
    explain main --symbol find --listing
    expect_status 0
    expect_out "^loop 1, $address\\.\\."
    expect_out "^$address +[0-9a-f]+ .* 1 "
    explain main --symbol find --path 1
    expect_status 2
    expect_err '^latput explain: --path: at 0x1 is no branch on a condition$'
    head -c 700 main >damaged
    explain damaged --symbol find --listing
    expect_status 2
    head -c 700 main >damaged
    explain damaged
    expect_status 2
    expect_err '^latput explain: damaged: there is no code in it, or the file is damaged'
    explain main --symbol nothing
    expect_status 2
    expect_err "there is no function 'nothing'"
    explain main --symbol find --loop 99
    expect_status 2
    expect_err 'there is no --loop 99'
fi

# Refusals, with a word each.
refused() {
    explain "${@:2}"
    expect_status 2
    expect_err "$1"
    expect_no_out
}
refused 'there is no instruction in the block' --asm ''
refused 'calls: what runs there is not in the block' --asm 'nop; call rax'
refused 'calls the system' --asm 'syscall'
refused "'mov cr3, rax', is privileged: no program may run it" --asm 'mov cr3, rax'
refused 'returns: leave it out' --asm 'ret'
refused 'branches in the middle' --asm '.a: jz .a; nop'
refused 'more than 1000 instructions' --asm 'times 10000 nop'
refused 'bytes 06 are no instruction' --asm 'db 6'
refused "code: 'bogus rax': NASM knows no such instruction" --asm 'nop; bogus rax; nop'
refused "code: 'bogus': NASM knows no such instruction" --asm 'nop; bogus; nop'
refused "code: 'imul rax, rbx, rcx': NASM says: invalid combination" --asm 'imul rax, rbx, rcx'
refused '16-bit code' --asm nop --bits 16
refused "'bits 16': the processor would run this 16-bit code in 64-bit mode" \
    --asm 'bits 16; mov ax, [bx]'
refused "'USE16': the processor would run this 16-bit code" --bits 32 --asm 'nop; USE16; nop'
refused "'\[bits 32\]': .* --bits chooses the mode" --asm '[bits 32]; nop'
explain --asm 'bits 64; nop'
expect_status 0
run bench --asm 'bits 16; mov ax, [bx]'
expect_status 2
expect_err "'bits 16': the processor would run this 16-bit code in 64-bit mode"
refused 'one of code, a file and --blocks' --asm nop --blocks blocks.txt
refused 'one of code, a file and --blocks, or --hex' --asm nop --hex 90
refused "'zz' at character 3" --hex 90zz
refused "code:1: '.incbin': no directive is taken" --syntax att --asm '.incbin "/etc/passwd"'
refused "code:2: as says: no such instruction" --asm $'nop\nbogus %rax'
refused "--syntax cannot be 'masm'" --syntax masm --asm nop
refused "^latput explain: code: the text names 'foo', which is no register and no label" \
    --syntax intel --asm 'add eax, [foo]'
refused "the text calls, or jumps to, what is not in it" --syntax intel --asm 'jmp 0x1270'
refused "this is the screen of perf annotate: give what perf annotate --stdio prints" \
    --asm ' 40.12 │      mulsd (%rsi,%rax,8),%xmm0'
explain --asm 'add eax, DWORD PTR [rdi]'
expect_status 0
refused "--address cannot be '12'" --file f.txt --address 12
refused '--loop all is for an executable' --file loops.o --symbol loops --loop all
refused "--path cannot be '1,,2'" --file loops.o --symbol loops --path 1,,2
refused 'is no branch on a condition' --file loops.o --symbol loops --path +0
refused '--path, .* are for a function' --asm nop --path none
refused '--listing is of a function' --asm nop --listing
refused '--listing has all loops' --file loops.o --symbol loops --listing --loop 1
refused 'html is for a --listing' --asm nop --format html
refused 'is no file with functions' --file loop.nasm --symbol loops --listing
refused "there is no function 'nothing'" --file loops.o --symbol nothing --listing
refused "either 'loop.nasm' or 'nop', not both" --file loop.nasm nop
refused 'one of code, a file and --blocks' --asm nop --file loop.nasm
refused 'there is no --loop 3' --file loops.o --symbol loops --loop 3
refused "'none' has no loop that is one block" --file loops.o --symbol none
refused "there is no function 'nothing'" --file loops.o --symbol nothing
refused 'Name it with --symbol' --file loops.o
refused 'nothing.c: cannot read' nothing.c --symbol main
refused 'nothing.c: cannot read' --file nothing.c --symbol main
refused 'for a function' --file loop.nasm --loop 2
refused 'FILE --symbol NAME' --asm nop --symbol main
refused "for this machine's tables" --asm nop --measure
refused 'what is to be explained' --predict
refused 'nothing.txt: cannot be read' --blocks nothing.txt
# The code has more than the part before the first semicolon.
run bench --asm 'align 16'
expect_status 2
expect_err 'there is no instruction in the code'
run bench --cpu 8000 --asm 'align 16; nop'
expect_status 2
expect_err 'CPU 8000'
run bench --explain x.nasm
expect_status 2
expect_err '--explain is for code as it is'
run bench --explain --asm nop --format json
expect_status 2
run explain --db t.db --uarch nonesuch --asm nop
expect_status 2
run explain --db none.db --predict --asm nop
expect_status 3
expect_err 'none\.db: there is no such database'
finish
