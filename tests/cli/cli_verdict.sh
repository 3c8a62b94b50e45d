#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Verdicts of tests/run, and on tests that measure with a judge of this test's own before and after:
# one that fails is run once more; then it has failed if both looks are quiet, else it is loud. And
# the tests that it runs.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
mkdir -p tests/{whole,unit/room,cli,hardware} build/tests
cp "$TREE/tests/run" tests/
# script FILE: a program of what stands on the input.
script() { { echo '#!/bin/sh' && cat; } >"$1" && chmod +x "$1"; }
script build/tests/judge <<<'sed -n 1p says; sed -i 1d says'
script tests/hardware/cli_wrong.sh <<<'exit 1'
script tests/hardware/cli_second.sh <<<'[ -e tried ] || { touch tried && exit 1; }'
script tests/hardware/cli_lacks.sh <<<'echo "no counters" && exit 77'
script tests/cli/cli_wrong_too.sh <<<'exit 1'

# verdict SAYS PART...: with what the judge says, q (quiet) or l (loud), time after time.
verdict() {
    rm -f tried
    echo "$1" | sed 's/./&\n/g; s/q/quiet: q/g; s/l/loud: l/g' >says
    shift
    CLI_COMMAND="tests/run build $*, judged $(tr -s '\n' , <says)"
    tests/run build "$@" >"$OUT" 2>"$ERR"
    STATUS=$?
}
for says in qqq lqq; do
    verdict $says cli_wrong -tests/cli/
    expect_status 1
    expect_out '^again +cli_wrong +status 1, '
    expect_out '^FAIL +cli_wrong +status 1, '
    expect_out '^0 passed, 1 failed, 0 skipped$'
done
for says in lql qll lll; do
    verdict $says cli_wrong -tests/cli/
    expect_status 0
    expect_out '^again +cli_wrong '
    expect_out '^loud +cli_wrong .*; loud: l'
    expect_out '^0 passed, 0 failed, 1 skipped$'
done
verdict ll hardware/ -wrong
expect_status 0
expect_out '^again +cli_second '
expect_out '^ok +cli_second '
expect_out '^skip +cli_lacks +no counters$'
expect_out '^1 passed, 0 failed, 1 skipped$'
# The judge is not asked about tests that do not measure. Of several of these each that fails is run
# once more.
verdict ll tests/cli/
expect_status 1
expect_out '^FAIL +cli_wrong_too '
expect "one test has one try" test -z "$(grep '^again' "$OUT")"
script tests/cli/cli_beside.sh <<<'[ -e tried ] || { touch tried && exit 1; }'
verdict ll tests/cli/
expect_status 1
expect_out '^again +cli_beside '
expect_out '^ok +cli_beside '
expect_out '^again +cli_wrong_too '
expect_out '^FAIL +cli_wrong_too '
expect_out '^1 passed, 1 failed, 0 skipped$'
finish
