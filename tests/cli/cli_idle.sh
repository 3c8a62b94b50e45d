#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Options that would do nothing are refused before anything is read or measured; what the
# configuration file gives is not, as it is there for many command lines.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

while IFS='|' read -r words message; do
    # shellcheck disable=SC2086 # a command with its options
    run $words
    expect_status 2
    expect_no_out
    expect_err "^latput ${words%% *}: $message\$"
done <<'LIST'
ports --cpu 1|--cpu does nothing without --discover
ports --discover --run 1|--run does nothing beside --discover
ports --discover --db none.db|--db does nothing beside --discover
property --run 1|--run does nothing without --show
property --show --cpu 0|--cpu does nothing beside --show
property --show --quick|--quick does nothing beside --show
property --show --diff 1 --format csv --points|--points does nothing beside --diff
property --list --label x|--label does nothing beside --list
run --list --cpu 1|--cpu does nothing beside --list
run --quick sse_fp|--quick is a list of its own: leave 'sse_fp' out
cpu --kinds --uarch zen4|--uarch does nothing beside --kinds
cpu --save - --format json|--format does nothing beside --save
check --expand --coverage x|--coverage does nothing beside --expand
report --run 1 --kind zen5|--kind does nothing beside --run
pack --run 1 --kind zen5|--kind does nothing beside --run
bench nop --cpu 0 --cpus 1|--cpu does nothing beside --cpus
explain nop --uarch zen5 --cpu 1|--cpu does nothing beside --uarch
explain --blocks x --to y --format csv|--format does nothing beside --to
validate --blocks x --seed 1|--seed does nothing beside --blocks
validate --again x --cpu 1|--cpu does nothing beside --again
validate --to x|--to does nothing without --blocks
stat --invert 1 -- true|--invert does nothing without --compare
diff --summary --limit 3 1 2|--limit does nothing beside --summary
query --runs add|--runs has no forms: leave 'add' out, or select by an expression, as after --where
query --list add|--list has no forms: leave 'add' out, or select by an expression, as after --where
counters status --sets|--sets is of list, not of status
LIST

run run --list --quick
expect_status 0
expect "the one list" test "$(tail -n +2 "$OUT" | awk '{ print $1 }')" = quick
mkdir -p "$XDG_CONFIG_HOME/latput"
echo 'run.jobs = 1' >"$XDG_CONFIG_HOME/latput/config"
run run --list quick
expect_status 0
finish
