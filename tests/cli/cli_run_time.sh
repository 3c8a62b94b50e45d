#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The time of a run by activity, on a core made of text: the share of refused repeats is that of the
# script, with the reasons; activities in sequence take no longer than the whole; resumed runs add
# up; info.txt, JSON and merged packs have the same.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"
text_forms forms.csv
time_of() { sqlite3 -batch "${2:-run.db}" "select $1 from run_table order by run_id desc limit 1"; }
# holds CONDITION [DB]: of the newest run.
holds() { expect "$1" test "$(time_of "$1" "${2-}")" = 1; }
measure() {
    text_machine noisy <<<"$1"
    run run forms.csv --db run.db --results none --quiet --tests LT
    CLI_COMMAND="$1"
    expect_status 0
}
# The parts of the thread that measures, and those of measuring.
plausible() {
    holds 'measuring_s > 0 and measuring_s + programs_s + inferring_s <= total_s' "${1-}"
    holds 'quiet_s + gaps_s <= measuring_s' "${1-}"
    holds 'assembling_s > 0 and linking_s > 0 and writing_s > 0' "${1-}"
    holds 'user_cpu_s + kernel_cpu_s > 0 and user_cpu_s + kernel_cpu_s <= measuring_s' "${1-}"
}
said='latput run: time: [0-9.]+ s [(]measuring [0-9.]+ s, waiting for programs [0-9.]+ s, '
said+='inferring 0.0 s, writing [0-9.]+ s; meanwhile assembling [0-9.]+ s, linking [0-9.]+ s[)]$'

measure ''
expect_err "$said"
expect_err '^latput run: repeats: 0\.0 % of [0-9]+ refused; waited 0\.0 s for quiet, [0-9.]+ s for'
expect_err '^latput run: CPU time: of the measuring processes [0-9.]+ s in user mode, [0-9.]+ s \('
plausible
holds 'refused_share = 0 and repeats >= (select sum(tried) from timing)'
holds 'quiet_s = 0 and gaps_s > 0'

# A neighbour in half of the time, or in a tenth: about so many are refused, for its sake.
measure 'neighbour 0.5 1'
plausible
holds 'refused_share between 0.35 and 0.65 and repeats_disturbed > 0.9 * refused_share * repeats'
expect_err '^latput run: repeats: [3-6][0-9]\.[0-9] % of [0-9]+ refused \([0-9.]+ % something else'
measure 'neighbour 0.1 1'
holds 'refused_share between 0.03 and 0.2'
# Four fifths of the time: it is waited for the rest.
measure 'neighbour 40 50'
plausible
holds 'quiet_s > 0'
# A clock that jumps: the calibrations around a timing disagree.
measure 'jump 3 3.6 0.1'
holds 'repeats_disagreeing > 0.02 * repeats and repeats_uncounted = 0'
expect_err 'refused \(.*[0-9.]+ % calibrations before and after disagree'

# The same in info.txt, in JSON, and of a run that comes out of a pack.
run report --db run.db --output tables
expect_status 0
expect "info" grep -qE '^repeats +[0-9.]+ % of [0-9]+ refused \(' tables/info.txt
expect "info" grep -qE '^time +[0-9.]+ s [(]measuring ' tables/info.txt
expect "info" grep -qE '^CPU time +of the measuring processes ' tables/info.txt
run query --runs --db run.db --format json
expect_status 0
expect_schema query_run "$OUT"
expect_out '"refused_share": 0\.[0-9]+'
run query --runs --db run.db --columns run,total_s,refused_share "refused_share > 0.35"
expect_status 0
# (Whether the fourth, which waits, is among them, nobody said.)
expect "the one with a loud neighbour" test "$(awk '/^ *[0-9]/ && $1 != 4 { print $1 }' "$OUT")" = 2
mkdir packs
run pack --db run.db --output packs
run merge --db merged.db packs/*
expect_status 0
all='total_s, measuring_s, programs_s, inferring_s, writing_s, assembling_s, linking_s, quiet_s,
    gaps_s, user_cpu_s, kernel_cpu_s, repeats, refused_share, repeats_disagreeing'
expect "kept by a pack" test "$(time_of "$all" merged.db)" = "$(time_of "$all")"

# Stopped and resumed: two invocations, of which the later knows the sum.
text_machine slow <<<'pace 2'
resumed=(run integer_arithmetic --filter 'a*' --db resumed.db --results none --quiet --tests LT)
"$LATPUT" "${resumed[@]}" >"$OUT" 2>"$ERR" </dev/null &
pid=$!
has_forms() { [ "$(sqlite3 resumed.db 'select count(*) > 0 from run_form')" = 1 ]; }
await has_forms
kill -TERM "$pid"
wait "$pid"
STATUS=$?
CLI_COMMAND='latput run, SIGTERM'
expect_status 1
expect_err '^latput run: repeats: '
first=$(time_of 'total_s' resumed.db) repeats=$(time_of 'repeats' resumed.db)
holds "repeats > 0 and status = 'unfinished'" resumed.db
text_machine quiet <<<''
run "${resumed[@]}" --resume
expect_err '\([1-9][0-9]* from before\)'
plausible resumed.db
holds "total_s > $first and repeats > $repeats and abs(total_s - $first - seconds) < 0.001" resumed.db
expect "two invocations of one run" test "$(sqlite3 resumed.db \
    'select count(*), count(distinct run_id) from run_time')" = '2|1'
expect_err "^latput run: time: $(time_of "printf('%.1f', total_s)" resumed.db | sed 's/\./\\./') s "
finish
