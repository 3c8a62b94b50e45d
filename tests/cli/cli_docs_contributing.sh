#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# CONTRIBUTING.md and docs/HOWTO_*.md: the files, targets and commands that they name are there, and
# the example of style is code of this tree.
# shellcheck disable=SC2016 # grave accents are of Markdown
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
cd "$TREE" || exit 99
scratch=$SCRATCH

# Lists the texts between grave accents in lines of the pages, with the page's name before them.
grep -oE '`[^`]+`' CONTRIBUTING.md docs/HOWTO_*.md | tr -d '`' >"$scratch/named"
checked=0
while IFS=: read -r page name; do
    case $name in
    'make '*)
        target=$(tr ' ' '\n' <<<"${name#make }" | grep -m 1 -xE '[a-z-]+' || echo all)
        expect "$page: the Makefile has the target $target" grep -qE "^$target:" Makefile
        ;;
    'build/latput '* | 'latput '*)
        command=${name#*latput } command=${command%% *}
        "$LATPUT" help "$command" >/dev/null 2>&1
        expect "$page: there is a command $command" [ $? = 0 ]
        ;;
    # Not files, names to be filled in, what is made, and the system's.
    *[A-Z*\<\ =:,]* | [!a-z.]* | build/* | results/*) continue ;;
    */*)
        [ -n "$(find . -path ./build -prune -o -path "*/${name%/}" -print -quit)" ]
        expect "$page: there is $name" [ $? = 0 ]
        ;;
    *) continue ;;
    esac
    checked=$((checked + 1))
done <"$scratch/named"
expect "names were looked at ($checked)" test "$checked" -ge 60

CLI_COMMAND='the example of style'
sed -n '/^```c$/,/^```$/p' CONTRIBUTING.md | sed '/^```/d' >"$scratch/example.c"
expect "it is there" test "$(wc -l <"$scratch/example.c")" -ge 8
# Its comment stands in the header.
code=$(sed 1d "$scratch/example.c") comment=$(head -n 1 "$scratch/example.c")
[[ $(cat runner/util/quantile.c) == *"$code"* ]]
expect "it is the code" [ $? = 0 ]
expect "its comment is that of the header" grep -qxF "$comment" runner/util/quantile.h
finish
