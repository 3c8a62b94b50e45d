#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The commands that README.md and docs/ show: each is one of latput's, its options are in its help,
# and what needs no other machine, no file and no counters runs. cli_docs_queries.sh has
# docs/QUERIES.md and the outputs of README.md.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"
fixture published.db

# Prints the commands of a document, without comments and without what commands answer.
commands_of() {
    awk '/^```/ { code = !code; next }
        code || /^    / {
            sub(/^ *(\$ )?(\.\/)?(build\/)?/, "")
            if ($1 == "latput" && $2 !~ /:$|^[0-9]/)
                print
        }' "$1" | sed 's/  *#.*//'
}
n=0
for document in "$TREE"/README.md "$TREE"/docs/*.md; do
    while IFS= read -r line; do
        n=$((n + 1))
        read -r _ name words <<<"$line"
        run "$name" --help
        expect_status 0
        # Options of programs that are measured, and of compilers, are no options of latput.
        words=$(sed "s/'[^']*'//g; s/ -- .*//" <<<"$words")
        for option in $(grep -oE '(^|[[ ])(--[a-z][a-z0-9-]*|-[a-z]( |$))' <<<"$words" |
            tr -d ' ['); do
            grep -qE -- "(^|[ ,[|])$option([], =|]|$)" "$OUT" ||
                cli_fail "${document##*/}: '$line': the help of $name has no $option"
        done
    done < <(commands_of "$document")
done
expect "there are commands" test "$n" -gt 50

text_machine machine </dev/null
export LATPUT_DB=$SCRATCH/published.db
ran=0
while IFS= read -r line; do
    # Files, programs and LLVM, which may not be here, and processors of others.
    [[ ! $line =~ chase|(sum|hash)\.c|/usr/bin|--threads|--events|\[-|zen4|--run|exegesis|llvm ]] ||
        continue
    ran=$((ran + 1))
    line=${line/--label/--repeat 1 --label}
    eval "run ${line#latput }" || cli_fail "'$line' cannot be read"
    CLI_COMMAND=$line
    expect_status 0
    expect "says something" test -s "$OUT"
done < <(for name in BENCH COUNTERS EXPLAIN EXPORTS PROPERTIES SITE; do
    commands_of "$TREE/docs/$name.md"
done | grep -E '^latput (bench|explain|export|cpu|counters list|site) ')
expect "many of them run" test "$ran" -ge 12
finish
