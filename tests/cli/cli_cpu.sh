#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput cpu: reports of this machine and of dumps, saving and loading, and wrong usage.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "${BASH_SOURCE[0]}")/cli.sh"
dumps=$TREE/tests/fixtures/cpu

run cpu
expect_status 0
expect_out '^  vendor +[A-Za-z]'
expect_out '^  TSC +[0-9]+\.[0-9]+ MHz'
expect_out '^What can be measured here$'
expect_out '^  (yes|no) +latency, throughput$'
expect "no line is wider than a terminal" test "$(wc -L <"$OUT")" -le 80

run cpu --format json
expect_schema cpu "$OUT"
expect_status 0
expect_out '"verdicts": \['
if command -v python3 >/dev/null; then
    expect "valid JSON of this machine" python3 -m json.tool "$OUT" /dev/null
fi

# Every dump is reported on, without what only a live machine has.
for dump in "$dumps"/*.cpuid; do
    run cpu --load "$dump"
    expect_status 0
    expect_out '^  uarch +[a-z]'
    expect "no line is wider than a terminal" test "$(wc -L <"$OUT")" -le 80
    grep -q 'What can be measured' "$OUT" && cli_fail "a dump says nothing about this machine"
    run cpu --load "$dump" --format json
    expect_status 0
    if command -v python3 >/dev/null; then
        expect "valid JSON of $dump" python3 -m json.tool "$OUT" /dev/null
    fi
done
run cpu --load "$dumps/zen5.cpuid"
expect_out '^  uarch +zen5: Zen 5$'
run cpu --load "$dumps/alderlake_e.cpuid"
expect_out '^  core type +0x20 \(Atom\)'
run cpu --load "$dumps/unknown_model.cpuid"
expect_out '^  uarch +unknown: no line of cpuinfo/cpus.csv'

# A CPU that is not what its signature claims: what it claims, what contradicts that, and what is
# believed instead, in words and as data.
run cpu --load "$dumps/graniterapids_renamed_kvm.cpuid"
expect_out '^  uarch +graniterapids\?: Granite Rapids \(Redwood Cove\), inferred$'
expect_out '^  claim +rocketlake, by its signature; not believed:$'
expect_out '^  against it +CPUID announces .*AVX512_FP16'
expect_out '^ +L1i is shown with 64 KiB; rocketlake has 32$'
expect_out '^  believed +graniterapids\?: graniterapids is the family that fits best$'
expect_out '^  issue width +6 '
run cpu --load "$dumps/graniterapids_renamed_kvm.cpuid" --format json
expect_out '^  "uarch": "graniterapids\?",$'
expect_out '^  "claimed_uarch": "rocketlake",$'
expect_out '^  "decided": "inferred",$'
expect_out '^    \{"witness": "features", "text": "CPUID announces '
expect_out '^    \{"witness": "caches", "text": "L1i is shown with 64 KiB; rocketlake has 32"\}'
run cpu --load "$dumps/zen5.cpuid" --format json
expect_out '^  "claimed_uarch": "zen5",$'
expect_out '^  "decided": "claim",$'
expect_out '^  "contradictions": \[\],$'
# Counters are those of the believed family.
run counters --load "$dumps/graniterapids_renamed_kvm.cpuid"
expect_status 0
expect_out '^graniterapids \('
expect_err \
    '^latput counters: the events are those of graniterapids, which fits .* claims to be rocketlake'

# The user knows better.
run cpu --load "$dumps/graniterapids_renamed_kvm.cpuid" --uarch zen4
expect_status 0
expect_out '^  uarch +zen4: Zen 4$'
expect_out '^  claim +rocketlake, by its signature; --uarch overrides it$'
run cpu --uarch zen4 --format json
expect_out '^  "decided": "override",$'
run cpu --uarch unknown
expect_status 0
expect_out '^  uarch +unknown: by --uarch$'
run cpu --uarch zen99
expect_status 2
expect_err "^latput cpu: --uarch: there is no uarch 'zen99' in cpus.csv"
for command in run bench validate 'ports --discover'; do
    # shellcheck disable=SC2086 # a command with its option
    run $command --uarch zen99
    expect_status 2
    expect_err "there is no uarch 'zen99' in cpus.csv"
done

# Save, load, save: the same bytes, and the same report.
run cpu --save this.cpuid
expect_status 0
expect_no_out
run cpu --load this.cpuid --save again.cpuid
expect_status 0
expect "round trip" cmp this.cpuid again.cpuid
run cpu --load this.cpuid --save -
expect "dump on standard output" cmp "$OUT" this.cpuid
run cpu --save /nonexistent/x
expect_status 3
expect_err '^latput cpu: /nonexistent/x: cannot be written'
run cpu --load this.cpuid --save /dev/full
expect_status 3

# Bad input and wrong usage.
head -n 7 this.cpuid >cut.cpuid
run cpu --load cut.cpuid
expect_status 2
expect_no_out
expect_err '^latput cpu: cut.cpuid:7: the dump is cut short'
sed 's/^00000001 00 [0-9a-f]*/00000001 00 garbled/' this.cpuid >bad.cpuid
run cpu --load bad.cpuid
expect_status 2
expect_err '^latput cpu: bad.cpuid:5: EAX .garbled. is no hexadecimal number'
head -c 4096 /dev/urandom >random.cpuid
run cpu --load random.cpuid
expect_status 2
expect_err '^latput cpu: random.cpuid:1: '
run cpu --load .
expect_status 2
run cpu --load missing.cpuid
expect_status 2
expect_err 'missing.cpuid: cannot be read: No such file'
run cpu --format xml
expect_status 2
expect_err "no format 'xml'"
run cpu --cpu 4000
expect_status 2
run cpu --cpu zero
expect_status 2
run cpu --load this.cpuid --cpu 0
expect_status 2
run cpu extra
expect_status 2
expect_err "unexpected argument 'extra'"
run cpu --nonsense
expect_status 2
run cpu --help
expect_status 0
expect_out '--save FILE'

# A broken table is an error, not an unknown CPU.
mkdir -p root/cpuinfo
cp "$TREE/cpuinfo/features.csv" root/cpuinfo
sed 's/,zen5,/,Zen 5,/' "$TREE/cpuinfo/cpus.csv" >root/cpuinfo/cpus.csv
LATPUT_ROOT=$PWD/root run cpu
expect_status 2
expect_err "cpus.csv:[0-9]+: 'Zen 5' is no uarch"
finish
