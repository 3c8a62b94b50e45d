#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs/SECURITY.md: each wall names files that there are, and tests that there are.
# shellcheck disable=SC2016 # grave accents are of Markdown
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

walls=$TREE/docs/SECURITY.md
count=0
while IFS='|' read -r _ wall where tests _; do
    case $wall in *'**'*) ;; *) continue ;; esac
    count=$((count + 1))
    for name in $(grep -oE '`[^`]+(\.c|/)`' <<<"$where" | tr -d '`'); do
        compgen -G "$TREE/runner/$name" >/dev/null
        expect "$name, where a wall is said to stand" [ $? = 0 ]
    done
    named=$(grep -oE '`(test|cli)_[a-z0-9_]+`' <<<"$tests" | tr -d '`')
    [ -n "$named" ]
    expect "a test is named for:$wall" [ $? = 0 ]
    for name in $named; do
        [ -n "$(find "$TREE/tests" -name "$name.*")" ]
        expect "$name, named as the test of a wall" [ $? = 0 ]
    done
done <"$walls"
expect "walls are found in the table" [ "$count" -gt 10 ]
finish
