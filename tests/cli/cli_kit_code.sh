#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The programs that a kit measures are those of this build, byte by byte, in both modes: rows
# and points of a property. They are hashed before a core made of text runs them. TEST_TIMES
# takes all lists.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"
# shellcheck source=tests/cli/kit.sh
. "$TREE/tests/cli/kit.sh"
kit_fixture kit

text_machine hashing <<<''
rm hashing/core
cat >hashing/core <<END
#!/bin/sh
sha256sum <"\$1" >>"\$HASHES"
exec "$BUILD/tests/core_text" "\$@"
END
chmod +x hashing/core
mkdir bin # the kit's NASM is the only one that it finds
for tool in sh sha256sum; do ln -s "$(command -v $tool)" bin/; done

# hashed NAME PROGRAM: what it makes of the same commands, as NAME.hashes.
hashed() {
    export HASHES=$SCRATCH/$1.hashes
    local lists=(integer_multiply_divide legacy_32bit)
    [ -z "${TEST_TIMES-}" ] || lists=()
    : >"$HASHES"
    LATPUT=$2
    run run --quiet --db "$1.db" --results none --tests LT "${lists[@]}"
    [ "$STATUS" -le 1 ] || cli_fail "it runs"
    run property --db "$1.db" jump_crossing
    [ "$STATUS" -le 1 ] || cli_fail "it measures a property"
}
hashed build "$LATPUT"
PATH=$SCRATCH/bin hashed kit "$SCRATCH/kit"
CLI_COMMAND="kit and build"
expect "programs were hashed" [ "$(wc -l <build.hashes)" -gt 4 ]
expect "all programs are the same" cmp build.hashes kit.hashes
finish
