#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Times the page of latput site: makes one with all forms of CPUS CPUs (default: 8) and made-up
# values, or of a DATABASE, and prints how long making it takes, what a CPU's table costs to
# transfer, and how long a first view and a search take in headless Chromium, by the clock. Usage:
# tests/bench_site.sh BUILD-DIRECTORY [CPUS|DATABASE]. Exit status 77 with a reason if there is no
# browser, 1 if a first view takes longer than a second or a search longer than 50 ms.
set -u
shopt -s extglob
cd "$(dirname "$0")/.." || exit 99
build=$(realpath "${1:?build directory}")
cpus=${2:-8}
SCRATCH=$(mktemp -d) || exit 99
trap 'rm -rf "$SCRATCH"' EXIT
# shellcheck source=tests/browser/browser.sh
. tests/browser/browser.sh
browser_begin || exit

if [ -e "$cpus" ]; then
    ln -s "$(realpath "$cpus")" "$SCRATCH/many.db"
else
    "$build/tests/test_site" many "$SCRATCH/many.db" "$cpus" || exit 99
fi
start=$EPOCHREALTIME
"$build/latput" site --db "$SCRATCH/many.db" --output "$SCRATCH/page" --no-database \
    >/dev/null 2>&1 || exit
echo "The page:"
echo "$start $EPOCHREALTIME" | awk '{ printf "  made in %.1f s\n", $2 - $1 }'
tables=("$SCRATCH"/page/data/cpu_+([^.]).js)
cat "$SCRATCH"/page/data/{index,forms}.js "${tables[0]}" | gzip -9 | wc -c |
    awk '{ printf "  %.2f MB compressed for a CPU with all forms\n", $1 / 1e6 }'
node tests/browser/bench.mjs "$SCRATCH" "$SCRATCH/page"
