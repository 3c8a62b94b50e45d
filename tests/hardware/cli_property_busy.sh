#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Other programs on the other CPUs change no conclusion that is told as sure: some quick properties,
# measured beside an idle machine, beside a program that computes, and beside one that goes through
# memory.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/../cli/cli.sh"
mapfile -t cpus < <(taskset -cp $$ | sed 's/.*: //' | tr , '\n' |
    awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }')
[ ${#cpus[@]} -ge 2 ] || { echo "it takes two CPUs, and there is one" && exit 77; }
properties=(return_stack l1_ways bypass_delay stack_engine)

# sweep NAME [COMMAND...]: a run while the command goes round on all CPUs but the one that measures.
sweep() {
    local name=$1 pids=()
    shift
    for cpu in "${cpus[@]:0:${#cpus[@]}-1}"; do
        [ $# = 0 ] || { taskset -c "$cpu" "$@" >/dev/null 2>&1 & pids+=($!); }
    done
    run property --db busy.db -q --cpu "${cpus[-1]}" --format csv "${properties[@]}"
    [ $# = 0 ] || kill "${pids[@]}" 2>/dev/null
    wait
    measured
    mv "$OUT" "$name.csv"
}

# agree RUN: no conclusion of that run is told otherwise than in the first one. Two that lie within
# 5 % are not: a chain may settle a little apart in every process.
agree() {
    run property --db busy.db --show --run "$1" --diff 1 --format csv
    expect_status 0
    local same
    same=$(grep -c ',same,' "$OUT")
    expect "most are the same" test "$same" -ge 10
    awk -F, '$4 == "differs" {
            gsub(/"/, "")
            if ($5 + 0 == 0 || $6 + 0 == 0 || $6 / $5 > 1.05 || $5 / $6 > 1.05) print
        }' "$OUT" >differs
    expect "nothing is told otherwise: $(cat differs)" test ! -s differs
}

sweep idle
sweep computing sh -c 'while :; do :; done'
sweep streaming dd if=/dev/zero of=/dev/null bs=64M
agree 2
agree 3
finish
