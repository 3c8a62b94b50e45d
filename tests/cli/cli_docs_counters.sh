#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The examples of docs/COUNTERS.md: each command is run, and must print what stands below it there,
# but for the numbers. Commands on this machine's counters are compared where it is like that of the
# page: a virtual machine without a PMU.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "${BASH_SOURCE[0]}")/cli.sh"
page=$TREE/docs/COUNTERS.md

# The line of this CPU is its own. Numbers, the names of CPU families and hypervisors, and blanks do
# not matter; nor does where lines are wrapped, which follows from the length of a name.
plain() {
    sed -E '/, latput [0-9]/d; s/[0-9][0-9,.]*/N/g' "$1" | tr -s ' \n' '  ' |
        sed -E 's/events of [a-zA-Z0-9_]+:/events of FAMILY:/g' | tr ' ' '\n'
}
# Prints the text below `$ COMMAND` in the page, up to the next command or the end of the block.
printed() {
    awk -v command="\$ $1" '$0 == command { on = 1; next } /^```/ || /^\$ / { on = 0 } on' "$page"
}
example() { # COMMAND as in the page, and what is to be run
    local command=$1
    shift
    "$@" >"$OUT" 2>"$ERR" </dev/null
    STATUS=$?
    cat "$OUT" "$ERR" >both
    CLI_COMMAND="$command, as in COUNTERS.md"
    printed "$command" >there
    expect "it is in the page" test -s there
    diff <(plain there) <(plain both) >differs || cli_fail "$(cat differs)"
}

# Lists of events are the same everywhere. The words are the shell's.
grep -E '^\$ latput counters list ' "$page" >commands
expect "the page has lists" test "$(wc -l <commands)" -ge 2
while read -r line; do
    eval "words=(${line#$ latput})"
    # shellcheck disable=SC2154 # by eval
    example "${line#$ }" "$LATPUT" "${words[@]}"
done <commands

# On files that stand for the devices of a Skylake.
export LATPUT_MACHINE=$PWD/machine XDG_RUNTIME_DIR=$PWD
pmu=machine/sys/bus/event_source/devices/cpu
mkdir -p "$pmu" machine/dev/cpu/0 machine/dev/cpu/1
echo 1 >"$pmu/rdpmc"
for cpu in 0 1; do
    truncate -s $((8 * 0x4c8)) "machine/dev/cpu/$cpu/msr"
done
example 'latput counters start --cpu 0,1 core_clk p0' "$LATPUT" counters start --cpu 0,1 \
    core_clk p0 --load "$TREE/tests/fixtures/cpu/skylake.cpuid"
example 'latput counters status' "$LATPUT" counters status
"$LATPUT" counters stop || cli_fail "counters stop"
unset LATPUT_MACHINE

"$LATPUT" cpu --format json >cpu.json
if keeps_cpu && grep -q '"hypervisor": "KVM"' cpu.json && grep -q '"perf": "absent"' cpu.json
then
    # All that are refused here.
    grep -E '^\$ latput .*(--backend|counters start core_clk$)' "$page" >commands
    expect "the page has examples" test "$(wc -l <commands)" -ge 1
    while read -ra words; do
        example "${words[*]:1}" "$LATPUT" "${words[@]:2}"
    done <commands
    cd "$TREE" || exit 99
    "$LATPUT" stat -r 5 -- gzip -9 -k -f -c lists/avx512_shuffle.csv 2>"$SCRATCH/both" >"$OUT"
    STATUS=$?
    cd "$SCRATCH" || exit 99
    CLI_COMMAND='latput stat, as in COUNTERS.md'
    printed 'latput stat -r 5 -- gzip -9 -k -f -c lists/avx512_shuffle.csv >/dev/null' >there
    expect "it is in the page" test -s there
    # The numbers decide which of the rows have a spread, and the name of the family where the text
    # below them is wrapped; this CPU has one line or two.
    names_and_text() {
        awk '/^Not counted/ { text = 1 } text { printf "%s ", $0; next } !$0 { table = 1 }
            table || NR <= 2 { print $1, $2 }' "$1" >"$1.folded"
        plain "$1.folded"
    }
    diff <(names_and_text there) <(names_and_text both) >differs || cli_fail "$(cat differs)"
else
    echo "this machine is not like that of the page: its refusals and times are not compared"
fi
finish
