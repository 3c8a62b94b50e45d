#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput plan and latput asm: selection of rows, tests and shapes, and what they say to wrong input.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
export LATPUT_DB=$SCRATCH/width.db

# The width is the one that was measured on this CPU; without one it is said what is assumed.
run plan "add r64 r64"
expect_status 0
expect_err 'the width of this CPU is not measured yet; for [0-9]+ µops per cycle, '
"$BUILD/tests/test_store" width "$LATPUT_DB" 5 || exit 99
for command in plan asm; do
    run $command "add r64 r64"
    expect_status 0
    expect "nothing is assumed" test ! -s "$ERR"
done
expect_out '^ +times 4 nop$'
run plan "add r64 r64"
expect_out 'filled\(1/5\)'
run plan --issue-width 6 "add r64 r64"
expect_out 'filled\(1/6\)'
run plan --db none.db "add r64 r64"
expect_status 3
expect_err 'none.db'

# Operands as in code. What an address means is no set of characters, which a glob may have, too.
means() { # CODE FORM...: exactly these forms
    run plan --issue-width 6 "$1"
    expect_status 0
    shift
    local found
    found=$(sed -n 's/^\([^ ].*\)  (.*/\1/p' "$OUT" | sort)
    expect "the forms of $CLI_COMMAND" test "$found" = "$(printf '%s\n' "$@" | sort)"
}
means 'ADD rax, [rbx]' 'add r64 m64'
means '_mm256_permutevar8x32_epi32(a, b)' '{evex} vpermd y y y' 'vpermd y y y'
means 'shl rax, 1' 'shl r64 1' 'shl r64 i8' # not those that APX adds, unless they are meant
means '{nf} shl rax, 1' '{nf} shl r64 1 opcode=evex.np.map4.w1.d1./4.nf' \
    '{nf} shl r64 i8 opcode=evex.np.map4.w1.c1./4.nf'
means '{nf} imul rax, rbx' '{nf} imul r64 r64 opcode=evex.np.map4.w1.af.nf'
means 'CMOVE rax, rbx' 'cmovz r64 r64'
means 'add [rbx + 8*rcx], rax' 'add m64 r64'
means 'paddd xmm0, xmm1' 'paddd x x'
means 'vfmadd231ps zmm0{k1}, zmm1, [rax]' 'vfmadd231ps z{k} z m512'
means 'mov dword ptr [r8], 1' 'mov m32 i32'
means 'mov r9b, byte [rel table]' 'mov r8 m8'
means 'movzx r10d, sil' 'movzx r32 r8'
means 'sub rsp, 8' 'sub r64 i32' 'sub r64 i8'
means 'prefetcht0 [rax]' 'prefetcht0 m'
# Addresses that are computed, and those of many.
means 'lea rax, [rbx]' 'lea r64 agen:b'
means 'lea rax, [rbx+rcx*4+8]' 'lea r64 agen:b+i*4+d8'
means 'lea rax, [8 + 2*rcx + rsp]' 'lea r64 agen:b+i*4+d8'
means 'lea r8d, [r8+r9-0x81]' 'lea r32 agen:b+i+d32'
means 'lea rax, [rbx - 128]' 'lea r64 agen:b+d8'
means 'lea rax, [rcx*8]' 'lea r64 agen:i*4+d32'
means 'lea rax, [rbx + table]' 'lea r64 agen:b+d32'
means 'lea rax, [rip + table]' 'lea r64 agen:rip+d32'
means 'lea rax, [rel table]' 'lea r64 agen:rip+d32'
means 'vgatherqps xmm0, [rax+ymm1*4], xmm2' 'vgatherqps x vm64y x'
means 'vpscatterqd dword ptr [ymm1*4 + rax]{k1}, xmm0' 'vpscatterqd vm64y{k} x'
means 'sh[lx] rax, 1' 'shl r64 1' 'shl r64 i8'
means 'shl rax, 0x10' 'shl r64 i8'
means '[k-l]ea r64 *:b' 'lea r64 agen:b'
run plan 'add rax, [nothing]'
expect_status 2
expect_err "no form matches 'add rax, \[nothing\]'"

run plan --issue-width 8 "add r64 r64"
expect_status 0
expect_out '^add r64 r64  \(legacy, X86_64\)$'
expect_out '^  latency +op2 -> op1 +exact +dense\(2/4\) filled\(2/18\) dense\+load\(2/4\) dense\+constant\(2/4\)$'
expect_out '^  throughput +exact +n3\(3/3\) n8\(8/8\) n12\(12/12\)$'

run plan --tests T --issue-width 4 "add r64 r64"
expect_status 0
expect "only throughput" sh -c "! grep -q latency '$OUT'"

run plan --issue-width 4 "add r64 r64"
expect_out 'dense\(1/1\) filled\(1/4\)'

cat >rows.csv <<'CSV'
# Rows of this test
mnemonic,operands,implicit,isa,tests,options
imul,+r64 r64,=flags,X86_64,,
seamcall,=r64 r64,,X86_64,,
call,rel32,+rsp,I386,T,macro=branch.inc:branch_call_ret
CSV
run plan rows.csv:3
expect_status 0
expect_out '^imul'
expect "one row" sh -c "! grep -q seamcall '$OUT'"
run plan rows.csv:5
expect_out 'n8\(8/17\)'

run asm --issue-width 8 --test 'latency op1->op1' --shape filled rows.csv:3
expect_status 0
expect_out '^ +imul rbx, rsi$'
expect_out '^ +times 7 nop$'
expect "one kernel" sh -c "[ \$(grep -c '^.body:' '$OUT') = 1 ]"

# Wrong input
run plan
expect_status 2
expect_err 'which rows'
run plan "nosuchform*"
expect_status 2
expect_err "no form matches 'nosuchform\*'"
run plan rows.csv:2
expect_status 2
expect_err 'rows.csv:2: no instruction on this line'
run plan --issue-width 0 "add r64 r64"
expect_status 2
expect_err "'0' is no width from 1 to 16"
run plan --tests X "add r64 r64"
expect_status 2
expect_err "unknown test 'X'"
run asm --shape n99 "add r64 r64"
expect_status 2
expect_err 'no kernel matches'
for macro in nosuch.inc:x branch.inc:nosuch branch.inc ../README:x; do
    printf '# T\nmnemonic,operands,implicit,isa,tests,options\ncall,rel32,+rsp,I386,T,macro=%s\n' \
        "$macro" >macro.csv
    run plan macro.csv
    expect_status 2
    expect_err '^latput plan: (.*macro.csv:3: )'
done

# A bridge table with faults: where and what, not a crash.
mkdir -p root/macros
cp -r "$TREE/cpuinfo" root/
head='from,to,text,isa,min_clk,certain,clobbers,note'
for fault in 'gpr,nowhere,"mov {to}, {from}",SSE,1,no,,|unknown place .nowhere.' \
    'gpr,vec,"movq {to}, {from}",SSE2,-1,no,,|min_clk' \
    'gpr,vec,"movq {to}, {from}",SSE2,1,maybe,,|certain' \
    'gpr,vec,"movq {to}, {from}",SSE2,1,no,rbx,|clobbers'; do
    printf '# T\n%s\n%s\n' "$head" "${fault%|*}" >root/macros/bridges.csv
    LATPUT_ROOT=$SCRATCH/root run plan rows.csv:3
    expect_status 2
    expect_err "macros/bridges.csv:3: .*${fault#*|}"
done
rm root/macros/bridges.csv
LATPUT_ROOT=$SCRATCH/root run plan rows.csv:3
expect_status 2
expect_err 'macros/bridges.csv'
# So of the table of immediates.
cp "$TREE/macros/bridges.csv" root/macros/
for fault in '256' '-129' '0  1' '0 x' '0 1 2 3 4' '0x'; do
    printf '# T\nforms,values,note\n*,%s,\n' "$fault" >root/macros/immediates.csv
    LATPUT_ROOT=$SCRATCH/root run plan rows.csv:3
    expect_status 2
    expect_err 'macros/immediates.csv:3: values must be at most 4 numbers that fit into a byte'
done
finish
