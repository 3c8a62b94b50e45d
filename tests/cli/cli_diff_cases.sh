#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The page calls the same forms different as `latput diff` does (test_diff): both by the cases of
# tests/fixtures/diff_cases.csv.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
needs node
fixture known.db
run site --db known.db --output page
expect_status 0
expect "the cases" node "$TREE/tests/browser/diff_cases.mjs" page \
    "$TREE/tests/fixtures/diff_cases.csv"
finish
