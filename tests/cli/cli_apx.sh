#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The template of the property apx_prefixes writes the additions that its variants name, and the
# macro of jmpabs its jumps, as bytes: no CPU at hand executes them. Where LLVM 22 is installed, it
# reads them, too.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

# code VARIANT: the machine code of twelve additions, in hexadecimal digits.
code() {
    printf '%s\n' 'bits 64' '%include "property.inc"' '%include "front_end.inc"' \
        "apx_body $1, 12, 12" >code.asm
    nasm -I"$TREE/macros/" -f bin -o code.bin code.asm && od -An -v -tx1 code.bin | tr -d ' \n'
}

# reads_as DIGITS: prints what LLVM reads in the bytes.
reads_as() {
    printf '%s' "$1" | sed 's/../0x& /g' |
        llvm-mc-22 --disassemble --triple=x86_64 --output-asm-variant=1 |
        awk '/^\t/ && !/^\t[.]/ { $1 = $1; print }'
}

# adds VARIANT DIGITS TEXT: the second and the last of the additions, each as it should be.
adds() {
    local digits
    digits=$(code "$1")
    CLI_COMMAND=$1
    expect "bytes" test "${digits:${#2}:${#2}} ${digits: -${#2}}" = "$2 $3"
    command -v llvm-mc-22 >llvm || return 0
    reads_as "$digits" >text
    expect "LLVM's reading" test "$(sed -n '2p;$p' text | paste -sd ';')" = "$4"
}
adds rex 4801d9 4901dd 'add rcx, rbx;add r13, rbx'
adds rex2 d50801d9 d50901dd 'add rcx, rbx;add r13, rbx'
adds rex2_high d51801d9 d51901dd 'add r17, rbx;add r29, rbx'
adds evex 62f4fc0801d9 62d4fc0801dd '{evex} add rcx, rbx;{evex} add r13, rbx'
adds evex_no_flags 62f4fc0c01d9 62d4fc0c01dd '{nf} add rcx, rbx;{nf} add r13, rbx'
adds evex_destination 62f4f41801d9 62d4941801dd 'add rcx, rcx, rbx;add r13, r13, rbx'

# The core makes an address of the word: its own, and 29 bytes more, which are after 21 nops.
printf '%s\n' 'bits 64' '%include "branch.inc"' branch_absolute_32 >jump.asm
nasm -I"$TREE/macros/" -f bin -o jump.bin jump.asm
jumps=$(od -An -v -tx1 jump.bin | tr -d ' \n')
nops=909090909090909090909090909090909090909090
one=d500a11d0074757074616c$nops
CLI_COMMAND=branch_absolute_32
expect "bytes" test "$jumps" = "$one$one$one$one$one$one$one$one"
command -v llvm-mc-22 >llvm || finish
expect "LLVM's reading" test "$(reads_as "$jumps" | grep -c "^jmpabs $((0x6c6174707574001d))")" = 8
finish
