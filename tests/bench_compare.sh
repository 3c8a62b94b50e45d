#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Time and memory of comparing with XML of 150 MB, made of an export of the published runs: at most
# 20 s of CPU time and 300 MB. Usage: tests/bench_compare.sh BUILD; `make bench` calls it. Exit
# status 77 without published runs or Python.
set -u
build=${1:?build directory}
cd "$(dirname "$0")/.." || exit 99
command -v python3 >/dev/null && [ -e "$build/published.db" ] || exit 77
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
"$build/latput" export --format uops-xml --db "$build/published.db" --uarch zen5 \
    --output "$scratch/small.xml" 2>/dev/null || exit 99
tests/make_xml 31 <"$scratch/small.xml" >"$scratch/large.xml"
echo "Comparing with XML:"
python3 - "$build/latput" "$build/published.db" "$scratch/large.xml" <<'PYTHON'
import os, resource, subprocess, sys
program, db, xml = sys.argv[1:]
done = subprocess.run([program, "compare", xml, "--uarch", "zen5", "--db", db],
                      stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds, megabytes = used.ru_utime + used.ru_stime, used.ru_maxrss / 1000
print("  %.0f MB in %.1f s of CPU time and %.0f MB of memory"
      % (os.path.getsize(xml) / 1e6, seconds, megabytes))
sys.exit(done.returncode or seconds > 20 or megabytes > 300)
PYTHON
