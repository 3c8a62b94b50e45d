# SPDX-License-Identifier: MIT
# Sourced by tests/cli/cli_*.sh that let files stand for the devices of a machine ($LATPUT_MACHINE).
# shellcheck shell=bash

# machine_device CPU: makes the file of its registers, as large as the highest one wants (it is
# sparse).
machine_device() {
    mkdir -p "$LATPUT_MACHINE/dev/cpu/$1"
    printf '\x5a' | dd of="$LATPUT_MACHINE/dev/cpu/$1/msr" bs=1 seek=$((0xc00103ff * 8)) \
        conv=notrunc status=none
}

# machine_registers CPU: the registers of counters that any scheme has, less Intel's and AMD's
# commands: what was written to those had its effect.
machine_registers() {
    local device=$LATPUT_MACHINE/dev/cpu/$1/msr
    od -v -A n -t x8 -w8 -N $((0x1000 * 8)) "$device" | sed "$((0x390 + 1))d"
    od -v -A n -t x8 -w8 -j $((0xc0000300 * 8)) -N 32 "$device" | sed 3d
    od -v -A n -t x8 -w8 -j $((0xc0010000 * 8)) -N 8192 "$device"
}
