#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Plans and NASM text of a few rows of each kind, against the expected output in
# tests/fixtures/golden/. `make golden` rewrites it; git diff then shows what a change did to the
# kernels.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

golden() {
    local file=$TREE/tests/fixtures/golden/$1
    if [ "${LATPUT_GOLDEN:-}" = rewrite ]; then
        cp "$OUT" "$file"
    else
        expect "output as in $1 (make golden rewrites it)" diff -u "$file" "$OUT"
    fi
}

run plan --issue-width 8 "$TREE/tests/fixtures/golden/plan_rows.csv"
expect_status 0
golden plan.txt
run asm --issue-width 8 "$TREE/tests/fixtures/golden/plan_rows.csv"
expect_status 0
awk -f "$TREE/tests/cli/golden_asm.awk" "$OUT" >asm.txt && mv asm.txt "$OUT"
golden asm.txt
finish
