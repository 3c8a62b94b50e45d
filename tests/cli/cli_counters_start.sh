#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput counters start, status and stop on files that stand for the devices of a machine: what is
# programmed, found again and restored, and when it is refused.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

export LATPUT_MACHINE=$SCRATCH/machine XDG_RUNTIME_DIR=$SCRATCH/runtime
pmu=$LATPUT_MACHINE/sys/bus/event_source/devices/cpu
zen5=$TREE/tests/fixtures/cpu/zen5.cpuid
mkdir -p "$LATPUT_MACHINE/dev/cpu/"{0,1} "$pmu" "$XDG_RUNTIME_DIR"

# put CPU MSR BYTES, get CPU MSR: a register in a file, 8 bytes each, as hexadecimal digits.
put() {
    printf '%b' "$3" | dd of="$LATPUT_MACHINE/dev/cpu/$1/msr" bs=1 seek=$(($2 * 8)) conv=notrunc \
        status=none
}
get() { od -An -tx8 -j $(($2 * 8)) -N 8 "$LATPUT_MACHINE/dev/cpu/$1/msr" | tr -d ' '; }
# All registers that AMD's counters have (the files are sparse and 25 GB long).
dump() {
    od -A x -t x8 -j $((0xc0000300 * 8)) -N 32 "$LATPUT_MACHINE/dev/cpu/$1/msr"
    od -A x -t x8 -j $((0xc0010000 * 8)) -N 8192 "$LATPUT_MACHINE/dev/cpu/$1/msr"
}
holds() { [ "$(get "$1" "$2")" = "$3" ]; }

run counters status
expect_status 0
expect_err 'no counters are started'
run counters stop
expect_status 0
expect_err 'no counters are started'

run counters start
expect_status 2
expect_err 'start needs events'
run counters start core_clk --load "$zen5" --cpu 0-
expect_status 2
expect_err "cannot be '0-'"
run counters start no_such --load "$zen5" --cpu 0
expect_status 2
expect_err "'no_such' is no event"
run counters start aperf --load "$zen5" --cpu 0
expect_status 2
expect_err "'aperf' is not in a counter"
run counters start core_clk --uarch zen5
expect_status 2

# Without the kernel's driver nothing sets CR4.PCE.
run counters start core_clk --load "$zen5" --cpu 0,1
expect_status 3
expect_err 'RDPMC would fault'
echo 1 >"$pmu/rdpmc"
run counters start core_clk --load "$zen5" --cpu 0,1
expect_status 3
expect_err 'perf would stop it .* modprobe msr'
expect "RDPMC is as it was" test "$(cat "$pmu/rdpmc")" = 1

for cpu in 0 1; do
    put $cpu 0xc0010201 '\x11\x22'
    put $cpu 0xc0000301 '\x3f'
    put $cpu 0xc00103ff '\x5a' # the file has all registers that dump shows
    dump $cpu >"before$cpu"
done
run counters start core_clk uops_retired --load "$zen5" --cpu 0,1
expect_status 0
expect_out '^core_clk +0x0 +0xc0010201 +48$'
expect_out '^uops_retired +0x1 +0xc0010203 +48$'
expect_err 'started on 2 CPU'
expect "RDPMC is allowed" test "$(cat "$pmu/rdpmc")" = 2
for cpu in 0 1; do
    expect "core_clk on CPU $cpu" holds $cpu 0xc0010200 0000000000410076
    expect "uops_retired on CPU $cpu" holds $cpu 0xc0010202 00000000004100c1
    expect "CPU $cpu counts from 0" holds $cpu 0xc0010201 0000000000000000
    expect "CPU $cpu counts" holds $cpu 0xc0000301 000000000000003f
done

put 1 0xc0010203 '\x39\x30'
run counters status
expect_out '^ +0 +core_clk +0x0 +0$'
expect_out '^ +1 +uops_retired +0x1 +12345$'
run counters status --format csv
expect_out '^cpu,event,rdpmc,count$'
expect_out '^1,uops_retired,0x1,12345$'
run counters status --format json
expect "the JSON is valid" test "$(sqlite3 :memory: \
    "SELECT json_extract(readfile('$OUT'), '\$[3].count')")" = 12345
run counters start core_clk --load "$zen5" --cpu 0
expect_status 3
expect_err 'started already'
chmod g+w "$XDG_RUNTIME_DIR/latput-counters"
run counters stop
expect_status 3
expect_err 'not trusted'
chmod g-w "$XDG_RUNTIME_DIR/latput-counters"

run counters stop --cpu 0
expect_status 2
run counters stop
expect_status 0
expect "RDPMC is as it was" test "$(cat "$pmu/rdpmc")" = 1
expect "the state is gone" test ! -e "$XDG_RUNTIME_DIR/latput-counters"
for cpu in 0 1; do
    put $cpu 0xc0000302 '\0' # a command; what was written to it had its effect
    dump $cpu >"after$cpu"
    expect "CPU $cpu is as it was" cmp "before$cpu" "after$cpu"
    expect "core_clk on CPU $cpu is gone" holds $cpu 0xc0010200 0000000000000000
done

# Counters in use: another one everywhere, or a refusal where that differs.
put 0 0xc0010200 '\x76\x00\x53'
run counters start core_clk --load "$zen5" --cpu 0,1
expect_status 3
expect_err 'CPU 1 has other counters in use'
put 1 0xc0010200 '\x76\x00\x53'
run counters start core_clk --load "$zen5" --cpu 0,1
expect_status 0
expect_out '^core_clk +0x1 +0xc0010203'
expect "the other's counter is left alone" holds 0 0xc0010200 0000000000530076
run counters stop
expect_status 0
expect "the other's counter is left alone" holds 0 0xc0010200 0000000000530076

echo rubbish >"$XDG_RUNTIME_DIR/latput-counters"
run counters stop
expect_status 3
expect_err 'latput-counters:1: not understood'

# This machine itself: refused in a virtual machine without counters, with the reason.
rm "$XDG_RUNTIME_DIR/latput-counters"
unset LATPUT_MACHINE
if [ "$(id -u)" != 0 ] || [ ! -e /dev/cpu/0/msr ]; then
    run counters start core_clk
    expect_status 3
    expect_err 'RDPMC would fault|modprobe msr|Run as root|cannot be set|hides them|not known|cannot run on CPU .* not permitted'
fi
finish
