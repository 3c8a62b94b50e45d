#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# System calls of the measuring process once foreign code may run: writing records, reading secrets,
# sleeping, and nothing that protects memory; at most four calls per timing, none per repeat; if
# something else uses the core, two more per attempt, which is up to 120 repeats.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/../cli/cli.sh"
command -v strace >/dev/null || { echo "no strace" && exit 77; }
CLI_COMMAND="latput run, under strace"
strace -ff -o calls "$LATPUT" run --quiet --db run.db --tests LT --filter 'add r*' \
    integer_arithmetic >"$OUT" 2>"$ERR" </dev/null
STATUS=$?
grep -q . calls.* || { echo "strace cannot trace here" && exit 77; }
measured
# The calls of each core after its filter; the process with most calls is that of the batch.
for trace in calls.*; do
    sed -n '/^seccomp(SECCOMP_SET_MODE_FILTER/,$s/(.*//p' "$trace" | tail -n +2 >"$trace.after"
done
after=$(find . -name 'calls.*.after' -size +0 -printf '%s %p\n' | sort -n | tail -n 1 |
    cut -d ' ' -f 2)
expect "only these calls" test -z "$(grep -hvxE 'write|read|clock_nanosleep|exit_group|[+-]{3}.*' \
    "$after")"
calls=$(grep -cxE 'write|read' "$after")
timings=$(sqlite3 run.db 'SELECT count(*) FROM timing')
tried=$(sqlite3 run.db 'SELECT sum(tried) FROM timing')
echo "$calls calls, $timings timings, $tried repeats"
expect "at most four calls per timing" test "$calls" -le $((4 * timings + tried / 60))
finish
