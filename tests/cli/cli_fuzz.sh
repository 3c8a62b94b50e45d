#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The inputs that fuzzing found, and some that are of interest otherwise (tests/fuzz/corpus), given
# to the same targets once more. New ones are looked for by `make fuzz`.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
needs_memfd
fixture known.db
export LATPUT_FUZZ_DB=$SCRATCH/known.db TMPDIR=$SCRATCH
"$LATPUT" pack --db known.db --output known.zip >/dev/null || exit 99

# replay TARGET FILE...
replay() {
    "$BUILD/fuzz_replay" "$@" >"$OUT" 2>"$ERR" </dev/null
    STATUS=$?
    CLI_COMMAND="fuzz_replay $1"
    [ "$STATUS" = 0 ] || cli_fail "crashed with $(tail -n 1 "$OUT")"
}
for directory in "$TREE"/tests/fuzz/corpus/*/; do
    replay "$(basename "$directory")" "$directory"*
done
replay pack known.zip
replay cpuid "$TREE"/tests/fixtures/cpu/*.cpuid
finish
