#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A kit in a root that has nothing but its file: it assembles, measures and keeps its results there,
# removes what it unpacked however it ends, and refuses to start when it is damaged.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/kit.sh
. "$TREE/tests/cli/kit.sh"
needs unshare chroot
alone=(unshare --map-root-user --mount)
[ "$(id -u)" != 0 ] || alone=(unshare --mount)
"${alone[@]}" chroot / true 2>/dev/null || { echo "no root may be changed here" && exit 77; }
root=$SCRATCH/root
mkdir -p "$root" "$SCRATCH/tmp"
kit_fixture "$root/kit"

# in_root ARGS...: runs the kit in the root.
in_root() {
    # shellcheck disable=SC2016 # those of the inner shell
    env -u LATPUT_DB -u TMPDIR PATH="$PATH" "${alone[@]}" chroot "$root" /kit "$@" >"$OUT" \
        2>"$ERR" </dev/null
    STATUS=$?
    CLI_COMMAND="kit $*"
}
left() { find "$root" -name 'latput-*' ! -name latput.db; }
expect_clean() { [ -z "$(left)" ] || cli_fail "it left $(left)"; }

in_root --version
expect_status 0
expect "the same version" [ "$(cat "$OUT")" = "$("$LATPUT" --version)" ]
expect_clean

# NASM assembles and Zydis decodes a list of one's own.
head -n 12 "$TREE/lists/integer_logic.csv" >"$root/own.csv"
in_root check /own.csv
expect_status 0

# A core starts with code that was linked there.
in_root bench --asm 'imul rax, rax; mov rcx, [latput_absolute]'
[ "$STATUS" -le 1 ] || cli_fail "a core measures"
expect_out '64-bit;' # the line is folded after it where the CPU's name is long
expect_out '[0-9] copies x '
expect "results stay" [ -s "$root/latput.db" ]
expect_clean

# A process that is stopped, and one that is killed.
TMPDIR=$SCRATCH/tmp "$root/kit" stat -- sleep 86.25 >"$OUT" 2>"$ERR" </dev/null &
await started 86.25 >/dev/null
kill -TERM $!
wait $!
STATUS=$?
CLI_COMMAND="kit stat, stopped"
[ "$STATUS" != 0 ] || cli_fail "it was stopped"
expect "nothing is left" [ -z "$(ls "$SCRATCH/tmp")" ]

# A file that was altered, or cut short. What a killed process has left goes before it is read.
cp "$root/kit" "$root/kit.whole"
printf xxxx | dd of="$root/kit" bs=1 seek=3000000 conv=notrunc 2>"$ERR"
mkdir -p "$SCRATCH/tmp/latput-kit-abcdef/bin"
touch "$SCRATCH/tmp/latput-kit-abcdef/bin/left"
CLI_COMMAND="kit --version, damaged"
TMPDIR=$SCRATCH/tmp "$root/kit" --version >"$OUT" 2>"$ERR"
STATUS=$?
expect_status 3
expect_err 'damaged'
expect "what a killed one has left is removed" [ -z "$(ls "$SCRATCH/tmp")" ]
head -c 3000000 "$root/kit.whole" >"$root/kit"
in_root --version
expect_status 3
expect_err 'cut short'
expect_clean
finish
