#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The packs in results/published/ are what its README and docs/PUBLISHING.md promise: small, without
# samples, finished, of a version without local changes, named in the README; and they merge.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
published=$TREE/results/published
for pack in "$published"/*.zip "$published"/*.tar.xz; do
    [ -e "$pack" ] || continue
    name=$(basename "$pack")
    expect "$name is at most 2 MB" test "$(stat -c %s "$pack")" -le 2000000
    expect "$name is named in the README" grep -qF "$name" "$published/README.md"
    run merge --db all.db "$pack"
    expect_status 0
    expect_out ': added as run '
done
ask() { sqlite3 -batch all.db "$1"; }
expect "no samples" test "$(ask 'SELECT count(*) FROM sample')" = 0
expect "results" test "$(ask "SELECT count(*) FROM instruction_table WHERE outcome = 'ok'")" -gt 50
expect "ports" test "$(ask 'SELECT count(*) FROM port_result')" -gt 50
expect "finished runs of committed versions" test \
    "$(ask "SELECT count(*) FROM run WHERE finished_utc IS NULL OR version GLOB '*dirty*'")" = 0
# A CPU that is not what it claims to be says so.
expect "a disguise has a mark" test "$(ask "SELECT count(*) FROM run_table
    WHERE uarch NOT LIKE '%?' AND claimed_uarch <> uarch AND decided = 'inferred'")" = 0
for format in csv json asmdude osaca; do
    run export --db all.db --format "$format"
    expect_status 0
done
finish
