#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The list of deliberate faults fits the tree: each has its file, its line once, and tests. A list
# that does not is refused, and so is a name of a test that there is not (tests/run).
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

# mutate LIST: looks at it.
mutate() {
    MUTATIONS=$1 "$TREE/tests/mutate" --check >"$OUT" 2>"$ERR" </dev/null
    STATUS=$?
    CLI_COMMAND="tests/mutate --check, $1"
}
mutate "$TREE/tests/mutations.txt"
expect_status 0
expect_out '^[0-9]{2,} faults fit the tree$'

cat >faults <<'LIST'
good
db/README.md
# The database
# the database
unit/util cli_mutations

gone
runner/none.c
a
b
unit/util

twice
tests/cli/cli.sh
SCRATCH
TREE
unit/util

nowhere
tests/cli/cli.sh
this line is not there
b
unit/utility unit/util

the_same
db/README.md
# The database
# The database
LIST
echo cli_mutations >>faults # its last line
mutate "$PWD/faults"
expect_status 99
expect_out '^tests/mutate: gone: there is no runner/none\.c$'
expect_out '^tests/mutate: twice: in [0-9]+ lines of tests/cli/cli\.sh: SCRATCH$'
expect_out '^tests/mutate: nowhere: in 0 lines of tests/cli/cli\.sh: '
expect_out "^tests/mutate: nowhere: no test has 'unit/utility' in its path$"
expect_out '^tests/mutate: the_same: it changes nothing$'
expect_out '^1 faults fit the tree, 4 do not$'
expect "nothing is said of a good one" test "$(grep -c -e ': good' -e "'unit/util'" "$OUT")" = 0

# tests/run, by the same names; here it runs none.
for part in cli_none -cli_none unit/ports/none.c; do
    "$TREE/tests/run" "${BUILD#"$TREE"/}" "$part" cli_headless >"$OUT" 2>"$ERR" </dev/null
    STATUS=$?
    CLI_COMMAND="tests/run $part"
    expect_status 2
    expect_no_out
    expect_err "^tests/run: no test in .* has '${part#-}' in its path$"
done

"$TREE/tests/mutate" --check no_such_fault >"$OUT" 2>"$ERR" </dev/null
STATUS=$?
CLI_COMMAND="tests/mutate --check no_such_fault"
expect_status 99
expect_err '^no fault has such a name: no_such_fault$'
finish
