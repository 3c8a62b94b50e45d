#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Kernels that lack something (tests/without.c): what can be measured is, and right; else a sentence
# says what is missing, with status 3. Nothing is said by sh, nothing crashes or hangs.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "${BASH_SOURCE[0]}")/../cli/cli.sh"
without=$BUILD/tests/without
"$without" 32bit -- true >"$OUT" || {
    tail -n 1 "$OUT"
    exit 77
}
echo 'mnemonic,operands,implicit,isa,tests,options
add,+r64 r64,=flags,X86_64,L,
salc,,=al cf,I386,L,bits=32' >both.csv
sql() { sqlite3 run.db "$1"; }

# lacking WHAT ARGS...: latput without it.
lacking() {
    "$without" "$1" -- "$LATPUT" "${@:2}" >"$OUT" 2>"$ERR" </dev/null
    STATUS=$? CLI_COMMAND="latput ${*:2}, without $1"
}

# refuses WHAT SENTENCE [OPTION...]: bench measures nothing, and says why.
refuses() {
    local what=$1 sentence=$2
    shift 2
    lacking "$what" bench --db bench.db --asm 'imul eax, eax' --give-up 2 "$@"
    expect_status 3
    expect_err "$sentence"
    expect_no_out
    expect "that is all it says" test "$(wc -l <"$ERR")" = 1
}

# measures WHAT: as if nothing were missing. Other guests may leave a test without a steady value.
measures() {
    lacking "$1" bench --db bench.db --asm 'imul rax, rax' --give-up 2 --repeat 4
    measured
    [ "$STATUS" = 1 ] || expect_out '^([345]\.0[0-2]|[234]\.9[89]) core clk per instance'
}

for what in perf perf=13 hugepages fsgsbase landlock memfd; do
    lacking "$what" cpu
    expect_status 0
    measures "$what"
done
refuses affinity 'cannot stay on CPU [0-9]+: Operation not permitted; .*sched_setaffinity'
refuses seccomp 'cannot load the system-call filter: .*must allow seccomp filters'
refuses no_new_privs 'cannot load the system-call filter: .*must allow seccomp filters'
refuses memfd 'cannot make memory for the threads to share' --threads 2
for what in affinity seccomp; do
    lacking "$what" run both.csv --db run.db --results none --quiet
    expect_status 3
    expect "no database is made" test ! -e run.db
done

runs_32 && refuses 32bit 'latput bench: this kernel runs no 32-bit programs$' --bits 32
lacking 32bit run both.csv --db run.db --results none --quiet --give-up 2
measured
expect "the row of 32-bit mode alone is skipped" test "$(sql "SELECT
    group_concat(bits) FROM instruction_table WHERE outcome = 'skipped'")" = 32
expect "the other is measured" test "$(sql "SELECT count(*) FROM instruction_table
    WHERE bits = 64 AND outcome IN ('ok', 'unstable')")" = 1
! runs_32 || {
    expect "with the reason" test "$(sql "SELECT DISTINCT detail FROM failure_table
        WHERE bits = 32")" = 'this kernel runs no 32-bit programs'
    expect "which is said once" test "$(grep -c 'no 32-bit programs' "$ERR")" = 1
}
# The user's own program: refused as it is, with no shell to read it.
if runs_32; then
    lacking 32bit stat -- "$BUILD/probe32"
    expect_status 126
    expect_err 'probe32'
    expect "no words of sh" test "$(grep -c 'Syntax error' "$ERR")" = 0
fi
finish
