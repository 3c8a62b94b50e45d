#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# CPU families by the names that people use, wherever a command asks for the results of one.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
fixture known.db
fixture ports.db
for db in known ports; do
    sqlite3 $db.db "DROP TRIGGER cpu_no_update; UPDATE cpu SET uarch = 'zen5' WHERE uarch = 'testb';
        UPDATE cpu SET uarch = 'sapphirerapids', inferred = 1 WHERE uarch = 'testa'"
done

for name in sapphirerapids SPR 'Golden Cove' golden_cove 'sapphirerapids?'; do
    run query --db known.db --uarch "$name" --format csv --columns uarch --limit 1
    expect_status 0
    expect_out '^sapphirerapids\?$'
    run ports --db ports.db --uarch "$name"
    expect_status 0
    expect_out '\(sapphirerapids\?\), .*; run'
    run export --db known.db --uarch "$name" --format csv --output "$name.csv"
    expect_status 0
    expect "the same export" cmp "$name.csv" sapphirerapids.csv
done
run query --db known.db --uarch 'znver5,spr' --side-by-side 'div*'
expect_out '^instruction .* zen5 latency .* sapphirerapids\? latency '
run diff --db known.db spr 'Zen 5' --summary
expect_status 0
expect_err 'only in sapphirerapids\?, .* only in zen5'

# A name may mean several families.
sqlite3 known.db "UPDATE cpu SET uarch = 'emeraldrapids' WHERE uarch = 'zen5'"
run query --db known.db --uarch 'golden cove' --format csv --columns uarch --sort uarch
expect "both have that core" test "$(sort -u "$OUT" | tr '\n' ,)" = \
    "emeraldrapids,sapphirerapids?,uarch,"
run diff --db known.db 'golden cove' emr
expect_status 2
expect_err "'golden cove' means several uarchs, emeraldrapids,sapphirerapids\?: name one of them"
run query --db known.db --uarch spr,saphirerapids
expect_status 2
expect_err "known.db: has no results of the uarch 'saphirerapids', only of emeraldrapids, \
sapphirerapids\?; did you mean 'sapphirerapids\?'\?"
run cpu --sheet --db known.db --uarch milan
expect_status 2
expect_err "has no results of the uarch 'milan', only of "
run ports --db ports.db --uarch 'zen5,spr'
expect_status 2
expect_err "has no results of the uarch 'zen5,spr', only of sapphirerapids\?"
run counters list --uarch spr --format csv 'p0'
expect_out '^sapphirerapids,'
run counters list --uarch 'sapphirerapids?' --format csv 'p0'
expect_out '^sapphirerapids,'
run counters list --uarch 'golden cove'
expect_status 2
expect_err 'means several uarchs, alderlake_p, raptorlake_p, sapphirerapids, emeraldrapids: name'
run run --uarch sapphirerapid
expect_status 2
expect_err "run: --uarch: there is no uarch 'sapphirerapid' in cpus.csv; did you mean 'sapphirerapids'"
finish
