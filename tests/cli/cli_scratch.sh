#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Scratch directories: a signal leaves none behind, and who removed one, or filled the disk, is told
# so.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"
export TMPDIR=$SCRATCH/tmp
mkdir "$TMPDIR"
left() { find "$TMPDIR" -maxdepth 1 -name 'latput-*' | grep -q .; }

# Assembling all lists takes seconds.
for signal in TERM HUP; do
    env --default-signal="$signal" "$LATPUT" check >"$OUT" 2>"$ERR" </dev/null &
    pid=$!
    for ((i = 0; i < 400; i++)); do
        ! left || break
        sleep 0.02
    done
    CLI_COMMAND="latput check, SIG$signal"
    left || cli_fail "it has a scratch directory"
    sleep 0.1
    kill -"$signal" "$pid"
    wait "$pid" 2>/dev/null
    STATUS=$?
    expect_status $((128 + $(kill -l "$signal")))
    ! left || cli_fail "nothing is left behind"
done

# stopped_after MS ARGS...: runs latput, which a signal ends after so long. Not by the shell: one of
# its children that a signal ends before it is another program does what the shell does at its end.
stopped_after() {
    timeout --preserve-status -s TERM "$(printf '0.%03d' "$1")" \
        env --default-signal=TERM "$LATPUT" "${@:2}" >"$OUT" 2>"$ERR" </dev/null
    STATUS=$?
}

# Files on the way to their names are removed, too, whenever the signal comes.
cat "$TREE/db/schema.sql" "$TREE/db/views.sql" "$TREE/tests/fixtures/golden/ports_run.sql" |
    sqlite3 -batch -bail real.db >/dev/null || exit 99
for command in pack site; do
    for tenths in 2 3 4 5 6 8 10 12 16 20 30; do
        rm -rf out
        stopped_after $((tenths * 5)) "$command" --db real.db --output out
        CLI_COMMAND="latput $command, SIGTERM after $((tenths * 5)) ms"
        ! left || cli_fail "no scratch directory is left behind"
        [ -z "$(find . -name '*.tmp*')" ] || cli_fail "no half of a file is left: $(find . -name '*.tmp*')"
        [ "$STATUS" = 143 ] || [ "$STATUS" = 0 ] || cli_fail "it ends by the signal, or was done"
        [ "$STATUS" = 143 ] || break
    done
done

# Directories that commands make for what they write: none is left empty, whether a signal ends it
# or an error.
for command in report site; do
    stopped=0
    for ms in 1 2 3 4 6 8 10 15 20 30 40 60 80 120 180 260; do
        rm -rf out
        stopped_after "$ms" "$command" --db real.db --output out
        CLI_COMMAND="latput $command, SIGTERM after $ms ms"
        [ "$STATUS" = 0 ] || stopped=$((stopped + 1))
        [ ! -d out ] || [ -z "$(find out -type d -empty)" ] ||
            cli_fail "no empty directory is left: $(find out -type d -empty)"
        # One that was done before a late signal says nothing of later ones.
        [ "$STATUS" != 0 ] || [ "$stopped" = 0 ] || break
    done
    CLI_COMMAND="latput $command"
    expect "it was stopped at times" test "$stopped" -gt 0
done
# Files may not grow: writing the archive fails.
CLI_COMMAND='latput pack, files may not grow'
(
    trap '' XFSZ
    ulimit -f 8
    "$LATPUT" pack --db real.db >"$OUT" 2>"$ERR" </dev/null
)
STATUS=$?
expect_status 3
expect "no results are left" test ! -e results
mkdir root
LATPUT_DB='' LATPUT_ROOT=$PWD/root XDG_DATA_HOME=$PWD/home run query
expect_status 3
expect "asking makes no directories" test ! -e home

# An assembler that meets a full disk, and one whose directory goes away.
text_machine quiet </dev/null
mkdir bin
real=$(command -v nasm)
# shellcheck disable=SC2016 # what is quoted is the fake's own
fake() {
    printf '#!/bin/sh\n[ "$1" = -v ] && exec %s -v\n%s\n' "$real" "$1" >bin/nasm
    chmod +x bin/nasm
}
fake 'echo "nasm: error: unable to write: No space left on device" >&2; exit 1'
PATH=$PWD/bin:$PATH run bench --asm nop
expect_status 3
expect_err 'No space left on device'
expect_err 'the disk that this is on is full; set TMPDIR to a directory of another$'
expect "no advice to install" test -z "$(grep install "$ERR")"
# shellcheck disable=SC2016
fake 'rm -rf "$PWD"; exit 1'
PATH=$PWD/bin:$PATH run bench --asm nop
expect_status 3
expect_err 'latput-scratch-.*: the scratch directory was removed while it was in use'
fake 'echo "nasm: error: something else" >&2; exit 1'
PATH=$PWD/bin:$PATH run bench --asm nop
expect_status 3
expect_err 'install the packages nasm'
finish
