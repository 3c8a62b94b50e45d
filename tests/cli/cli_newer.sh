#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The lists have the variants of a table of instructions that no CPU at hand executes: APX, AVX10.2,
# newer AMX. Skipped without such a table (LATPUT_REFERENCE: x86_new_variants.tsv).
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

table=${LATPUT_REFERENCE:-/nowhere}/x86_new_variants.tsv
[ -e "$table" ] || { echo "LATPUT_REFERENCE has no x86_new_variants.tsv"; exit 77; }
run check --coverage "$table"
expect_status 0
CLI_COMMAND="at least 99 % of the variants are in the lists"
# shellcheck disable=SC2016 # the program is awk's
expect "$CLI_COMMAND" awk '$1 == "all" { enough = $2 >= 0.99 * $4 } END { exit !enough }' "$OUT"
finish
