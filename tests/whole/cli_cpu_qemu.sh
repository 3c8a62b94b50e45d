#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput cpu on CPUs that are not here: user-mode emulation gives it the CPUID of each model, so
# that reading the leaves is tested on other vendors, and not only decoding what a dump holds.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "${BASH_SOURCE[0]}")/../cli/cli.sh"
command -v qemu-x86_64 >/dev/null || {
    echo "qemu-x86_64 is missing (Debian package qemu-user)"
    exit 77
}
qemu-x86_64 "$LATPUT" --version >/dev/null 2>&1 || {
    echo "the program does not run under qemu-x86_64 (sanitizers?)"
    exit 77
}

emulated() { # MODEL, COMMAND...
    local model=$1
    shift
    qemu-x86_64 -cpu "$model" "$LATPUT" "$@" >"$OUT" 2>"$ERR" </dev/null
    STATUS=$? CLI_COMMAND="latput $1 on $model"
}

# Model, what must be found, how its counters are programmed, and a cache.
while read -r model uarch scheme general fixed cache; do
    emulated "$model" cpu
    expect_status 0
    expect_out "^  uarch +$uarch:"
    # Caches and masked features of a model that QEMU shows are no evidence against it.
    grep -q '^  claim' "$OUT" && cli_fail "the claim is refuted: $(grep -A9 '^  claim' "$OUT")"
    expect_out "$cache"
    expect_out '^  hypervisor +QEMU TCG'
    expect_out '^  no +latency, throughput'
    expect_out 'this CPU is emulated'
    emulated "$model" counters list
    expect_status 0
    expect_out "^$uarch \("
    expect_out "^[0-9]+ events, $general general and $fixed fixed counters; .*, scheme $scheme\$"
    expect_out '^(clock)? +core_clk '
    expect_err 'nothing of this can be counted on this machine'
    qemu-x86_64 -cpu "$model" "$LATPUT" cpu --save "$model.cpuid" 2>"$ERR" </dev/null
    run cpu --load "$model.cpuid"
    expect_status 0
    expect_out "^  uarch +$uarch:"
done <<'LIST'
core2duo core2 arch 2 3 L1i.*32 KiB
Conroe core2 arch 2 3 L1d.*32 KiB
Penryn core2 arch 2 3 L1d.*32 KiB
Nehalem nehalem arch 4 3 L1d.*32 KiB, 8 ways
Westmere westmere arch 4 3 L1d.*32 KiB, 8 ways
SandyBridge sandybridge arch 4 3 L1d.*32 KiB, 8 ways
IvyBridge ivybridge arch 4 3 L1d.*32 KiB, 8 ways
Haswell haswell arch 4 3 L1d.*32 KiB, 8 ways
Broadwell broadwell arch 4 3 L1d.*32 KiB, 8 ways
Skylake-Client skylake arch 4 3 L2.*4 MiB
Skylake-Server skylakex arch 4 3 L1d.*32 KiB, 8 ways
Cascadelake-Server cascadelake arch 4 3 L1d.*32 KiB, 8 ways
Cooperlake cascadelake arch 4 3 L1d.*32 KiB, 8 ways
Icelake-Server-v4 icelakex arch 8 4 L1d.*32 KiB, 8 ways
Snowridge tremont arch 4 3 L1d.*32 KiB
Denverton goldmont arch 4 3 L1d.*32 KiB
KnightsMill knl arch 2 3 L1d.*32 KiB
Opteron_G1 k8 k7 4 0 L1d.*64 KiB, 2 ways
Opteron_G2 k8 k7 4 0 L1d.*64 KiB, 2 ways
Opteron_G3 k10 k7 4 0 L1d.*64 KiB, 2 ways
phenom k10 k7 4 0 L1d.*64 KiB, 2 ways
Opteron_G4 bulldozer amd15h 6 0 L1d
Opteron_G5 piledriver amd15h 6 0 L1d
EPYC zen1 amd15h 6 0 L1i.*64 KiB, 4 ways
Dhyana zen1 amd15h 6 0 L1i.*64 KiB, 4 ways
EPYC-Rome zen2 amd15h 6 0 L1d.*32 KiB, 8 ways
EPYC-Milan zen3 amd15h 6 0 L1d.*32 KiB, 8 ways
LIST

# CPUs that only QEMU has. Their signatures are those of a Pentium 4, a K8 and a Tremont: not
# believed.
for model in kvm64 qemu64 max Icelake-Server; do
    emulated "$model" cpu
    expect_status 0
    expect_out '^  uarch +unknown: the hypervisor shows a CPU that does not exist'
    emulated "$model" counters list
    expect_status 3
    expect_err 'not known: the hypervisor shows a CPU that does not exist'
done
finish
