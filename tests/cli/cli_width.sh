#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/width.sh finds lines that are too wide, by characters, and leaves out what may be.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "${BASH_SOURCE[0]}")/cli.sh"
width() {
    "$TREE/tests/width.sh" "$@" >"$OUT" 2>"$ERR"
    STATUS=$?
    CLI_COMMAND="tests/width.sh $*"
}
words() { # COUNT: that many words of ten characters, in one line
    local i
    for ((i = 1; i <= $1; i++)); do
        printf 'µdefghijk '
    done | sed 's/ $//'
}

{ words 10 && echo; } >narrow.c # 99 characters, more bytes
{ words 11 && echo; } >wide.c
width narrow.c
expect_status 0
expect_no_out
width narrow.c wide.c narrow.c
expect_status 1
expect_out '^wide\.c:1: wider than 100 columns$'
expect "one line is named" test "$(wc -l <"$OUT")" = 1
echo "say \"$(words 11)\"" >quoted.sh
width quoted.sh
expect_status 0

# Pages: all of this may be wide.
cat >good.md <<PAGE
# Title

$(words 10)

| column | $(words 11) |
|---|---|

Of [a link](https://example.org/$(words 11 | tr ' ' '_')) only the text counts.
- $(words 11 | tr ' ' ',')

\`\`\`sh
$(words 11)
\`\`\`

    $(words 11)
    $(words 11)
PAGE
width good.md
expect_status 0
expect_no_out
# And none of this; a page that ends in code does not hide the next one.
cat >bad.md <<PAGE
$(words 11)

- item
    $(words 11)

\`\`\`
code
\`\`\`
$(words 11)

[$(words 11)](a.md)
PAGE
printf '%s\n' '```' 'left open' >open.md
width open.md bad.md narrow.c
expect_status 1
for line in 1 4 9 11; do
    expect_out "^bad\\.md:$line: wider than 100 columns\$"
done
expect "four lines are named" test "$(wc -l <"$OUT")" = 4
finish
