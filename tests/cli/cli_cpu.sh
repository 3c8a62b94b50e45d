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

# Every dump is reported on, without what only a live machine has.
for dump in "$dumps"/*.cpuid; do
    run cpu --load "$dump"
    expect_status 0
    expect_out '^  uarch +[a-z]'
    expect "no line is wider than a terminal" test "$(wc -L <"$OUT")" -le 80
    grep -q 'What can be measured' "$OUT" && cli_fail "a dump says nothing about this machine"
    run cpu --load "$dump" --format json
    expect_status 0
    expect_json "$OUT"
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
run cpu --load "$dumps/zen5.cpuid"
expect_out '^  rests on +its signature, which nothing contradicts; nothing is measured$'
run cpu --load "$dumps/zen5.cpuid" --format json
expect_out '^  "measured_width": null,$'
expect_out '^  "claimed_uarch": "zen5",$'
expect_out '^  "decided": "claim",$'
expect_out '^  "contradictions": \[\],$'
# Counters are those of the believed family.
run counters --load "$dumps/graniterapids_renamed_kvm.cpuid"
expect_status 0
expect_out '^graniterapids \('
expect_err \
    '^latput counters: the events are those of graniterapids, which fits .* claims to be rocketlake'

# Properties of this CPU in a database: two of them refute the claim, one does not.
# witnesses PROPERTY:VARIANT:VALUE...: a database where they were measured for the dump's CPU.
dump=$dumps/haswell_baseline_kvm.cpuid
run cpu --load "$dump" --format json
expect_out '^  "uarch": "haswell",$'
expect_out '^  "properties": \[\],$'
field() { sed -nE 's/^ *"'"$1"'": "?([^"]*)"?,$/\1/p' "$OUT"; }
features=$(sed -n '/^  "features": \[/,/^  \]/p' "$OUT" | tr -dc 'A-Z0-9_ \n' | tr -s ' \n' ' ')
features=${features# } features=${features% }
cpu_row="'$(printf '0%.0s' {1..64})', '$(field vendor)', '$(field brand)', $(($(field signature))),
    $(field family), $(field model), $(field stepping), 0, 0, 'haswell', '', 1,
    '$(field hypervisor)', 1, '$features', 0"
witnesses() {
    local property variant value id=0
    rm -f seen.db
    {
        cat "$TREE/db/schema.sql"
        echo "INSERT INTO cpu VALUES (1, $cpu_row);
            INSERT INTO run (run_id, uuid, cpu_id, version, nasm_version, os_kernel, backend, lists,
                tables, frequency, selection, issue_width, calib_link_clk, measuring_cpu,
                started_utc) VALUES (1, '$(printf 'a%.0s' {1..32})', 1, '', '', '', 'tsc', '', '',
                '', '', 4, 3, 0, '2026-01-01T00:00:00Z');"
        for one; do
            IFS=: read -r property variant value <<<"$one"
            id=$((id + 1))
            echo "INSERT INTO property VALUES ($id, 1, $id, 'core', '$property', '', '', '', '',
                    'clk', 'knee', '', '', 2e9, 0, 0, 1, 'ok', '', '');
                INSERT INTO conclusion VALUES ($id, $id, 0, '$variant', 'ok', 1, '');
                INSERT INTO conclusion_value VALUES ($id, 0, 'knee', $value, $value - 2,
                    $value + 2, 'entries');"
        done
    } | sqlite3 seen.db
}
witnesses reorder_buffer:nop:500 memory_queues:load:190 branches_under_way:branch:127
run cpu --load "$dump" --db seen.db
expect_status 0
expect_out '^  uarch +raptorlake_p\?: '
expect_out '^  claim +haswell, by its signature; not believed:$'
expect_out 'reorder_buffer nop: 500 \(498 to 502\); haswell has 192, which is$'
expect "no line is wider than a terminal" test "$(wc -L <"$OUT")" -le 80
run cpu --load "$dump" --db seen.db --format json
expect_schema cpu "$OUT"
expect_out '"witness": "properties", "text": "measured, reorder_buffer \(nop\) is 500; the most'
expect_out '"value": 500, .*"claimed": 192, "against_claimed": "more", "believed": 512, "against_b'
# Not sure of one of the two.
sqlite3 seen.db "UPDATE conclusion SET confidence = 0.8 WHERE variant = 'load'"
run cpu --load "$dump" --db seen.db
expect_out '^  uarch +haswell: '
expect_out 'reorder_buffer nop: 500 \(498 to 502\); haswell has 192, which is$'
run cpu --load "$dumps/skylake.cpuid" --db seen.db
expect_status 0
grep -q reorder_buffer "$OUT" && cli_fail "those of another CPU say nothing"
run cpu --load "$dump" --db "$TREE/README.md"
expect_status 2

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
expect_err "unknown format 'xml'"
run cpu --cpu 1000
expect_status 2
expect_err 'cannot run on CPU 1000: this process may not use it$'
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
