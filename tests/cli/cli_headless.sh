#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/headless.sh finds comments that open with a relative clause, and no others.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "${BASH_SOURCE[0]}")/cli.sh"
headless() {
    "$TREE/tests/headless.sh" "$@" >"$OUT" 2>"$ERR"
    STATUS=$?
    CLI_COMMAND="tests/headless.sh $*"
}

mkdir -p db/migrations
cat >good.c <<'CODE'
// SPDX-License-Identifier: MIT
// Tells the reader
// What a later line begins with does not count.
int a; // Whether at the end of code neither.
// Whatever is another word.
CODE
sed 's|^//|--|' good.c >good.sql
echo '-- What was released stays.' >db/migrations/0001.sql
headless good.c good.sql db/migrations/0001.sql
expect_status 0
expect_no_out

# The colons keep the lint of this project from finding these.
sed 's/^://' >bad.c <<'CODE'
:// SPDX-License-Identifier: MIT
:// What follows the licence opens the comment.
:
:// Returns it.
:int a;
:    // Whether it is there.
CODE
printf '%s\n' '#!/bin/sh' '# How it goes.' 'true # fine' >bad.sh
printf '%s\n' '-- That of the table.' 'SELECT 1;' >bad.sql
printf '%s\n' '; Of the macro.' >bad.inc
headless good.c bad.c bad.sh bad.sql bad.inc
expect_status 1
for place in 'bad.c:2: .*"What"' 'bad.c:6: .*"Whether"' 'bad.sh:2: .*"How"' \
    'bad.sql:1: .*"That"' 'bad.inc:1: .*"Of"'; do
    expect_out "^$place\$"
done
expect "five comments are named" test "$(wc -l <"$OUT")" = 5
finish
