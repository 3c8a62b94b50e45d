#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Times merging packs into a database that has many already: copies of one pack as runs of
# their own, in four equal parts. Merging is linear if the last part takes as long as the first.
# Usage: tests/bench_merge.sh BUILD [PACKS]; status 1 if the last takes twice as long.
set -u
cd "$(dirname "$0")/.." || exit 99
latput=$PWD/$1/latput packs=${2:-1000}
pack=tests/fixtures/quick_run.zip
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
"$latput" merge --db "$scratch/one.db" "$pack" >/dev/null || exit 99
newest=$(sqlite3 "$scratch/one.db" 'SELECT max(run_id) FROM run')
"$latput" pack --db "$scratch/one.db" --run "$newest" --slim --output "$scratch/one.tar.xz" \
    >/dev/null 2>&1 || exit 99
mkdir "$scratch/tree" && tar -xJf "$scratch/one.tar.xz" -C "$scratch/tree" || exit 99
cd "$scratch/tree" || exit 99
# A new identity makes a new run. The triggers that guard it are removed meanwhile, and put back.
guard=$(sqlite3 run.db "SELECT sql FROM sqlite_schema WHERE name = 'run_no_update'")
finished=$(sqlite3 run.db "SELECT sql FROM sqlite_schema WHERE name = 'run_finish_once'")
for ((i = 0; i < packs; i++)); do
    sqlite3 run.db "DROP TRIGGER run_no_update; DROP TRIGGER run_finish_once;
        UPDATE run SET uuid = printf('%032x', $i); $guard; $finished;" || exit 99
    sha256sum README.txt info.txt ports.svg run.db 2>/dev/null >MANIFEST
    sed 's/.*  //' MANIFEST | tar -c MANIFEST -T - | xz -0 >"../$i.tar.xz" || exit 99
done
# Processor time, since other work on the machine costs others.
part=$((packs / 4)) first='' TIMEFORMAT='%U %S'
merge() { xargs "$latput" merge --db all.db >/dev/null 2>&1; }
for ((from = 0; from < 4 * part; from += part)); do
    for ((i = from; i < from + part; i++)); do echo "../$i.tar.xz"; done >part
    took=$({ time merge <part; } 2>&1 | awk '{ printf "%d", ($1 + $2) * 1000 }')
    first=${first:-$took}
    echo "merge: packs $((from + 1)) to $((from + part)): $((took / part)) ms of processor a pack"
done
[ "$(sqlite3 all.db 'SELECT count(*) FROM run')" = $((4 * part)) ] || exit 99
[ "$took" -le $((2 * first + 200)) ]
