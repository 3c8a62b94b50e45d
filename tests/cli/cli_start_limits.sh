#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Limits of this process that are too low are named before anything is begun; those that may be
# raised are.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
printf '%s\n' mnemonic,operands,implicit,isa,tests,options 'add,+r64 r64,=flags,X86_64,T,' \
    >forms.csv

# limited LIMIT VALUE COMMAND...: latput with it.
limited() {
    (ulimit "$1" "$2" && exec "$LATPUT" "${@:3}") >"$OUT" 2>"$ERR" </dev/null
    STATUS=$? CLI_COMMAND="latput ${*:3}, ulimit $1 $2"
}
# Sanitizers want more of the stack before latput begins.
limits=('-n 12 number of open files' '-s 64 size of the stack')
if nm "$LATPUT" 2>/dev/null | grep -q __asan_init; then
    unset 'limits[1]'
fi
for limit in "${limits[@]}"; do
    read -r option value name <<<"$limit"
    for command in 'check forms.csv' 'merge none.tar.xz --db new.db' 'stat -- true' 'bench nop'; do
        # shellcheck disable=SC2086
        limited "$option" "$value" $command
        expect_status 3
        expect_err "^latput: the limit of the $name.* is $value, .*\\(ulimit $option [0-9]+\\)\$"
        expect_no_out
    done
    least=$(sed -nE 's/.* needs ([0-9]+):.*/\1/p' "$ERR")
    # The number in the message suffices, and a limit is raised to it where that is allowed.
    for allowed in "$option $least" "-S${option#-} $value"; do
        # shellcheck disable=SC2086
        limited $allowed check forms.csv
        expect_status 0
    done
done
expect "nothing was made" test ! -e new.db
finish
