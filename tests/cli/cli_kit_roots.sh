#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A kit in roots that lack this and that: busybox alone, without /proc/sys, for a user that nobody
# knows; read-only; with places where no programs may run, that are full, or that somebody else
# owns; in a user namespace; on a kernel that says it is old. What a killed kit leaves goes, and a
# second one in the same directory takes nothing from the first.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"
# shellcheck source=tests/cli/kit.sh
. "$TREE/tests/cli/kit.sh"
needs unshare chroot setarch
alone=(unshare --map-root-user --mount)
[ "$(id -u)" != 0 ] || alone=(unshare --mount)
"${alone[@]}" sh -c 'mount -t tmpfs x /mnt && chroot / true' 2>/dev/null ||
    { echo "no root may be made here: neither root nor user namespaces" && exit 77; }
chmod 755 "$SCRATCH"
kit_fixture kit
head -n 12 "$TREE/lists/integer_logic.csv" >own.csv

# root_make NAME DIRECTORY...: a root with nothing but the kit, a list, and these directories.
root_make() {
    local directory
    root=$SCRATCH/$1
    mkdir "$root"
    for directory in "${@:2}"; do mkdir -p "$root/$directory"; done
    find "$root" -type d -exec chmod 1777 {} +
    ln kit own.csv "$root/"
}
# inside MOUNTS ARGS...: runs the kit in the root, after these commands there; as $user, with $place
# as TMPDIR.
user='' place=''
inside() {
    # shellcheck disable=SC2016 # those of the inner shell
    env -u LATPUT_DB -u TMPDIR ${place:+"TMPDIR=$place"} "${alone[@]}" sh -c '
        mount --bind "$0" "$0" && cd "$0" && eval "$1" && shift && exec chroot "$@"' "$root" "$1" \
        ${user:+"--userspec=$user"} "$root" /kit "${@:2}" >"$OUT" 2>"$ERR" </dev/null
    STATUS=$?
    CLI_COMMAND="kit ${*:2} (in ${root##*/}: $1)"
    [ -z "$(find "$root" -name 'latput-*' ! -path '*-abcdef*')" ] || cli_fail "it left something"
}
expect_no_err() { [ ! -s "$ERR" ] || cli_fail "stderr should be empty"; }
read_only='mount -o remount,bind,ro .'

# Busybox, and a library for its own loader.
if has busybox; then
    root_make busybox bin etc lib tmp proc
    cp "$(command -v busybox)" "$root/bin/"
    ln -s busybox "$root/bin/sh"
    [ ! -e /lib/ld-musl-x86_64.so.1 ] || cp /lib/ld-musl-x86_64.so.1 "$root/lib/"
    echo /lib/of_the_host.so >"$root/etc/ld.so.preload"
    [ "$(id -u)" != 0 ] || user=12345:12345
    inside 'mount --rbind /proc proc && mount -t tmpfs x proc/sys' bench --asm 'imul rax, rax'
    [ "$STATUS" -le 1 ] || cli_fail "a core measures"
    expect "nothing of the host's was loaded" [ "$(grep -c preload "$ERR")" = 0 ]
    expect "results stay" [ -s "$root/latput.db" ]
    user=
fi

# Read-only, with and without a directory that memory can be mounted over.
root_make empty_directory mnt
inside "$read_only" check /own.csv
expect_status 0
root_make nothing
inside "$read_only" check /own.csv
expect_status 3
expect_err '^latput: the kit cannot start: there is no place .*Read-only file system.*mount'
# Places where no programs may run.
root_make noexec tmp
inside "mount -t tmpfs -o noexec x tmp && $read_only" check /own.csv
expect_status 0
root_make noexec_first tmp var/tmp
inside 'mount -t tmpfs -o noexec x tmp' --version
expect_status 0
expect_no_err
# A full one.
inside 'mount -t tmpfs -o size=1m x tmp' --version
expect_status 0
expect_no_err

# Places, and directories of kits, that are somebody else's.
if [ "$(id -u)" = 0 ]; then
    root_make others foreign tmp/latput-kit-abcdef/foreign
    chown -R 54321 "$root/foreign" "$root/tmp"/*
    ln -s ../foreign "$root/tmp/foreign"
    user=12345:12345 place=/foreign
    inside 'chmod 755 . tmp' --version
    expect_status 3
    expect_err '/foreign: somebody else could replace what is there'
    inside 'chmod 1777 tmp' --version
    expect_status 0
    expect "what is somebody else's stays" [ -d "$root/tmp/latput-kit-abcdef/foreign" ]
    rm -rf "$root/tmp/latput-kit-abcdef"
    user='' place=''
fi

# A user namespace, without /proc of its own.
if unshare --user --map-root-user --mount true 2>/dev/null; then
    root_make namespace
    (
        alone=(unshare --user --map-root-user --mount --pid --fork)
        inside : check /own.csv
        expect_status 0
        exit "$CLI_FAILED"
    ) || CLI_FAILED=$((CLI_FAILED + 1))
fi

CLI_COMMAND="kit on Linux 2.6"
setarch x86_64 --uname-2.6 ./kit --version >"$OUT" 2>"$ERR"
STATUS=$?
expect_status 3
expect_err '^latput: the kit cannot start: this kernel is 2[.].*, and 3[.]2 is the oldest'

# A lock for what fleets start.
./kit --once lock sleep 86.5 &
await started 86.5 >/dev/null
./kit --once lock
expect "it is held" [ $? = 75 ]
kill -HUP $!
kill -TERM $!
wait $! 2>/dev/null
expect "a hang-up was not heard" [ $? = 143 ]
expect "it is free" ./kit --once lock

# A second one in the same directory; then the first is killed, and a third goes on.
text_machine slow <<<'pace 20'
mkdir tmp
export TMPDIR=$SCRATCH/tmp LATPUT_DB=$SCRATCH/one.db
LATPUT=$SCRATCH/kit
"$LATPUT" run --quiet --results none --tests LT integer_multiply_divide >"$OUT" 2>"$ERR" &
first=$!
has_begun() { [ "$(sqlite3 -readonly one.db 'SELECT count(*) FROM run')" -gt 0 ]; }
await has_begun
run run --quiet --resume --results none --tests LT integer_multiply_divide
expect_status 2
expect_err 'another process is measuring run'
kill -KILL $first
wait $first 2>/dev/null
expect "a killed one leaves something" [ -n "$(ls tmp)" ]
text_machine slow <<<''
sleep 1
finishes() {
    run run --quiet --resume --results none --tests LT integer_multiply_divide
    [ "$STATUS" -le 1 ]
}
await finishes # what the killed one had started ends soon
expect "it has gone on" [ "$(sqlite3 -readonly one.db 'SELECT count(*) FROM run')" = 1 ]
expect "and what was left is gone" [ -z "$(ls tmp)" ]
finish
