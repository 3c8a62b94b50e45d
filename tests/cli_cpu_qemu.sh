#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput cpu on CPUs that are not here: user-mode emulation gives it the CPUID of each model, so that
# reading the leaves is tested on other vendors, and not only decoding what a dump holds.
# shellcheck source=tests/cli.sh
. "$(dirname "${BASH_SOURCE[0]}")/cli.sh"
command -v qemu-x86_64 >/dev/null || {
    echo "qemu-x86_64 is missing (Debian package qemu-user)"
    exit 77
}
qemu-x86_64 "$LATPUT" --version >/dev/null 2>&1 || {
    echo "the program does not run under qemu-x86_64 (sanitizers?)"
    exit 77
}

while read -r model uarch cache; do
    qemu-x86_64 -cpu "$model" "$LATPUT" cpu >"$OUT" 2>"$ERR" </dev/null
    STATUS=$? CLI_COMMAND="latput cpu on $model"
    expect_status 0
    expect_out "^  uarch +$uarch:"
    expect_out "$cache"
    expect_out '^  hypervisor +QEMU TCG'
    expect_out '^  no +latency, throughput'
    expect_out 'this CPU is emulated'
    qemu-x86_64 -cpu "$model" "$LATPUT" counters >"$OUT" 2>"$ERR" </dev/null
    STATUS=$? CLI_COMMAND="latput counters on $model"
    expect_status 0
    expect_out "^$uarch \("
    expect_out '^clock +core_clk '
    expect_err 'nothing of this can be counted on this machine'
    qemu-x86_64 -cpu "$model" "$LATPUT" cpu --save "$model.cpuid" 2>"$ERR" </dev/null
    run cpu --load "$model.cpuid"
    expect_status 0
    expect_out "^  uarch +$uarch:"
done <<'LIST'
Nehalem nehalem L1d.*32 KiB, 8 ways
Skylake-Client skylake L2.*4 MiB
Denverton goldmont L1d.*32 KiB
core2duo core2 L1i.*32 KiB
EPYC zen1 L1i.*64 KiB, 4 ways
EPYC-Rome zen2 L1d.*32 KiB, 8 ways
Opteron_G5 piledriver L1d
phenom k10 L1d.*64 KiB, 2 ways
LIST
finish
