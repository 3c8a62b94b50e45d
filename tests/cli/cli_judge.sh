#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The judge of the tests (tests/judge.c): beside a program on its CPU it says that the host is loud,
# and how much of the time was left.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
needs_cpu
cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//')
judge() {
    CLI_COMMAND="judge ($*)"
    "$@" "$BUILD/tests/judge" >"$OUT" 2>"$ERR"
    STATUS=$?
}
taskset -c "$cpu" sh -c 'while :; do :; done' &
spinner=$!
judge env
expect_status 1
expect_out "^loud: CPU $cpu was undisturbed for ([1-7]?[0-9]) % of a second, and did [0-9.]+ add"
kill "$spinner"
wait "$spinner" 2>/dev/null

# The words agree with the exit status, whatever this host is like.
judge taskset -c "$cpu"
case $STATUS in
0) expect_out '^quiet: CPU [0-9]+ was undisturbed for (9[0-9]|100) % ' ;;
*) expect_status 1 && expect_out '^loud: ' ;;
esac
finish
