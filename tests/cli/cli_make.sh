#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make prints one short line per step, with V=1 its commands, with -s nothing.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "${BASH_SOURCE[0]}")/cli.sh"
unset MAKEFLAGS MFLAGS

# built ARGS...: builds one object anew.
built() {
    rm -rf objects
    make -C "$TREE" --no-print-directory BUILD="$SCRATCH/objects" "$@" \
        "$SCRATCH/objects/runner/util/err.o" >"$OUT" 2>"$ERR"
    STATUS=$?
    CLI_COMMAND="make $*"
    expect_status 0
    expect "the object is there" test -s objects/runner/util/err.o
}

built
expect "one short line" test "$(cat "$OUT")" = '  CC runner/util/err.c'
built -s -j 2
expect_no_out
built V=1
expect_out ' -c -o .*/err\.o runner/util/err\.c$'
finish
