# SPDX-License-Identifier: MIT
# Sourced by tests/cli/cli_*.sh that measure on a core made of text (tests/text/README.md).
# shellcheck shell=bash

# text_forms FILE: a list of four forms of different chains.
text_forms() {
    cat >"$1" <<'LIST'
mnemonic,operands,implicit,isa,tests,options
add,+r64 r64,=flags,X86_64,,
mulss,+x x,,SSE,,
imul,+r64 r64,=flags,X86_64,,
mov,=r64 m64,,X86_64,,
LIST
}

# text_machine NAME [SCRIPT [CPUID]]: makes $SCRATCH/NAME the machine that is measured: a core of
# the script tests/text/SCRIPT.text (zen5), with the lines of standard input after it, that says it
# is tests/fixtures/cpu/CPUID.cpuid (zen5), with a time stamp of 2.4 GHz.
text_machine() {
    export LATPUT_MACHINE=$SCRATCH/$1
    mkdir -p "$LATPUT_MACHINE"
    ln -sf "$BUILD/tests/core_text" "$LATPUT_MACHINE/core"
    awk '$1 == "end" {
        print "ffffff02 00 8f0d1800 00000000 00000000 00000000"
        $2++
    } { print }' "$TREE/tests/fixtures/cpu/${3-zen5}.cpuid" >"$LATPUT_MACHINE/cpuid"
    cat "$TREE/tests/text/${2-zen5}.text" - >"$LATPUT_MACHINE/core.text"
}
