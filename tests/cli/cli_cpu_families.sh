#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Signatures lead to a family and a table of counters: a CPUID dump is made of each line of
# tests/fixtures/cpu/signatures.csv, and latput cpu and latput counters must say what the line says.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "${BASH_SOURCE[0]}")/cli.sh"
signatures=$TREE/tests/fixtures/cpu/signatures.csv

# Four letters of a vendor as CPUID has them; a short name is padded with blanks on both sides.
word() { printf ' %02x%02x%02x%02x' "'${1:3:1}" "'${1:2:1}" "'${1:1:1}" "'${1:0:1}"; }
dump_make() { # VENDOR, SIGNATURE, CORE
    local vendor=$1 core=${3% no-l3} leaves=2
    [ "$vendor" != Shanghai ] || vendor='  Shanghai  '
    echo 'latput-cpuid 1'
    printf '00000000 00 0000001a'
    word "${vendor:0:4}"
    word "${vendor:8:4}"
    word "${vendor:4:4}"
    echo
    echo "00000001 00 ${2#0x} 00000800 00000000 00000011"
    if [ "$3" != "$core" ]; then # L1 and L2, and no L3
        printf '%s\n' '00000004 00 00000121 01c0003f 0000003f 00000000' \
            '00000004 01 0000c143 03c0003f 000007ff 00000000' \
            '00000004 02 00000000 00000000 00000000 00000000'
        leaves=$((leaves + 3))
    fi
    if [ "$vendor" = AuthenticAMD ] && [ -n "$core" ]; then
        printf '80000026 00 40000000 %x%x000000 00000000 00000000\n' $((${core%/*} & 15)) \
            $((${core#*/}))
        leaves=$((leaves + 1))
    elif [ -n "$core" ]; then
        printf '0000001a 00 %02x%06x 00000000 00000000 00000000\n' $((${core%/*})) $((${core#*/}))
        leaves=$((leaves + 1))
    fi
    echo "end $leaves"
}

lines=0
while IFS=, read -r name vendor signature core uarch scheme general fixed; do
    lines=$((lines + 1))
    dump_make "$vendor" "$signature" "$core" >one.cpuid
    run cpu --load one.cpuid
    CLI_COMMAND="latput cpu, $name"
    expect_status 0
    expect_out "^  signature +$signature:"
    expect_out "^  uarch +$uarch:"
    run counters --load one.cpuid
    CLI_COMMAND="latput counters, $name"
    if [ "$uarch" = unknown ]; then
        expect_status 3
        expect_err 'the counters of this CPU are not known'
        continue
    fi
    expect_status 0
    expect_out "^$uarch \\("
    expect_out "^[0-9]+ events.*; table version [0-9]+, scheme $scheme\$"
    [ -z "$general" ] || expect_out "^[0-9]+ events, $general general and $fixed fixed counters;"
done < <(grep -v '^#' "$signatures" | tail -n +2)
expect "lines" test "$lines" -ge 100

# No family is left out, and each line says a family that there is.
uarchs() { # COLUMN of a CSV file whose fields before it have no commas
    grep -v '^#' "$2" | tail -n +2 | cut -d, -f"$1" | grep -v '^unknown$' | sort -u
}
CLI_COMMAND='families'
diff <(uarchs 5 "$signatures") <(uarchs 6 "$TREE/cpuinfo/cpus.csv") >missing
expect "each family has a signature: $(tr '\n' ' ' <missing)" test ! -s missing
expect "each family has a table of counters" test "$(uarchs 6 "$TREE/cpuinfo/cpus.csv" |
    while read -r uarch; do
    [ -e "$TREE/cpuinfo/counters/$uarch.csv" ] || echo "$uarch"
done)" = ''
finish
