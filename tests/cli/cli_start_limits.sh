#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs that cannot be started for a limit of this process: the message names the limit.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
printf '%s\n' mnemonic,operands,implicit,isa,tests,options 'add,+r64 r64,=flags,X86_64,T,' \
    >forms.csv
run check forms.csv
expect_status 0
# Each number of files up to one that suffices.
for ((files = 8, starved = 0; files < 40; files++)); do
    (ulimit -n $files && exec "$LATPUT" check forms.csv) >"$OUT" 2>"$ERR" </dev/null
    STATUS=$? CLI_COMMAND="latput check, $files open files"
    [ "$STATUS" != 0 ] || break
    starved=$((starved + 1))
    [ ! -s "$ERR" ] || ! grep -q 'cannot start' "$ERR" ||
        expect_err 'cannot start nasm: .*; the limit of open files is too low: raise it'
done
expect_status 0
expect "some are too few" test "$starved" -gt 0
finish
