#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Help, version, the man page, and what happens to unknown commands and options.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "${BASH_SOURCE[0]}")/cli.sh"

run --version
expect_status 0
expect_out '^latput [^ ]+$'
run --help
expect_status 0
expect_out '^Usage: latput '
expect_out '^Commands:$'
commands=$(sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' "$OUT")
expect "lines of --help fit a terminal" test "$(wc -L <"$OUT")" -le 80
expect_out '^  3  the environment lacks something'
expect "commands are listed" test -n "$commands"
run help
expect_status 0
expect_out '^Commands:$'
run
expect_status 2
expect_no_out
expect_err '^Usage: latput '

for command in $commands; do
    run "$command" --help
    expect_status 0
    expect_out "^Usage: latput $command "
    expect_out '^      --help '
    expect "lines of $command --help fit a terminal" test "$(wc -L <"$OUT")" -le 80
    cp "$OUT" first
    run help "$command"
    expect_status 0
    expect "help $command is $command --help" cmp -s "$OUT" first
    run "$command" --no-such-option
    expect_status 2
    expect_no_out
    expect_err "latput $command: unrecognized option '--no-such-option'"
done

# What bench confines, and what not.
run bench --help
expect "bench says that its files are trusted" grep -q 'a *FILE is trusted' <(tr -s '\n ' ' ' <"$OUT")
expect "constructors and ifuncs" grep -q 'constructors and ifuncs run as you' <(tr -s '\n ' ' ' <"$OUT")

run nonsense
expect_status 2
expect_no_out
expect_err "^latput: .*'nonsense'"
run qury
expect_status 2
expect_err "there is no command 'qury'; did you mean 'query'\?$"
run --nonsense
expect_status 2
expect_no_out
run help nonsense
expect_status 2
expect_err "no command 'nonsense'; latput --help lists them$"

run help --man
expect_status 0
cp "$OUT" latput.1
for command in $commands; do
    expect_out "^\\.SS latput $command"
done
if command -v man >/dev/null; then
    man --warnings -E UTF-8 -l latput.1 >"$OUT" 2>"$ERR"
    STATUS=$? CLI_COMMAND='man -l'
    expect_status 0
    expect "no warnings of troff" test ! -s "$ERR"
    expect_out 'latput'
else
    echo "man is missing: the man page was not rendered"
fi
finish
