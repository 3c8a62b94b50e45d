#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# No test opens, copies or writes the database and the results of the clone, or of the user: without
# --db commands take one in the scratch directory, and no script names the others. (.ci/run looks
# whether the files are touched.)
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
for command in query pack report property\ --show ports; do
    # shellcheck disable=SC2086 # with an option
    run $command
    expect_status 3
    expect_err "^latput [a-z]+: $SCRATCH/\.latput\.db: there is no such database"
done

# scripts: those that run beside others, without comments.
scripts() {
    awk '!/^ *#/ { print FILENAME ": " $0 }' "$TREE"/tests/{cli,whole,hardware}/*.sh |
        sed "s|^$TREE/||" | grep -v '^tests/cli/cli_own_database\.sh'
}
# none WHAT PATTERN [BUT]: no line has it, but those that have this as well.
none() {
    scripts | grep -E -- "$2" | grep -vE -- "${3-^$}" >found
    expect "$1: $(cat found)" test ! -s found
}
none 'a directory with a database in it' 'TREE"?/(\{[^}]*)?\<db\>("| |,|\}|\)|;|$)'
none 'one of several parts' '\<for [a-z_]+ in ([^;]* )?(db|results)( |;|$)'
none 'results of the clone' 'TREE"?/(\{[^}]*)?\<results\>' 'results"?/published'
none 'the database itself' 'TREE"?/db/(latput|\*|["'\'']?\*)' 'cli_help.sh: expect'
# shellcheck disable=SC2016 # as it stands there
none 'the default, of a root that is not its own' '(unset|env -u)[^#]*LATPUT_DB|LATPUT_DB=.. ' \
    'cli_help.sh: unset LATPUT_DB # the file|cli_asks_published.sh|cli_kit(_roots)?.sh|LATPUT_ROOT=\$PWD/root '
finish
