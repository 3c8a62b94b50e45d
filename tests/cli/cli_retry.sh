#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A run without some values, on a core made of text: a batch is measured once more by another
# process, what is still missing at the end once again, and `latput run --again` completes a
# finished run. Bounds, kills, both orders of merge, and what --resume does after a finished run.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"

text_forms forms.csv
sql() { sqlite3 -batch "$1" "$2"; }
# measure DB ARGS...
measure() {
    local db=$1
    shift
    run run forms.csv --db "$db" --results none --quiet --give-up 1 --tests LT "$@"
}
values() { # DB: of all forms
    sql "$1" "select group_concat(mnemonic || printf(' %.2f/%.2f', latency_max_clk,
        rthroughput_clk), ', ') from (select * from instruction_table order by mnemonic)"
}
# The rows of form_summary are those that follow.
fits() {
    expect "$1 has the rows that follow from its results" test "$(sql "$1" "
        SELECT count(*) FROM (SELECT * FROM run_form_result EXCEPT SELECT * FROM form_summary);
        SELECT count(*) FROM (SELECT * FROM form_summary EXCEPT SELECT * FROM run_form_result);" |
        tr '\n' ' ')" = '0 0 '
}
text_machine quiet <<<''
measure quiet.db
expect_status 0
expect "nothing is retried on a quiet core" test "$(grep -c retried "$ERR")" = 0
right=$(values quiet.db)

# A batch whose processes, one and the two that take its place (exec.h), give nothing: the next one
# measures all of it, if it may on another CPU.
text_machine one <<<'loud 3 5'
measure one.db
expect_status 0
expect_err '^latput run: retried: [1-9][0-9]* kernels without a value, of which [1-9][0-9]* have one now'
expect "all of them" test "$(sed -nE 's/.*retried: ([0-9]+) k.*/\1/p' "$ERR")" = \
    "$(sed -nE 's/.*retried: .*which ([0-9]+) .*/\1/p' "$ERR")"
expect "the right values" test "$(values one.db)" = "$right"
text_machine one_cpu <<<'loud 3 5'
cpu=$(nproc --all)
cpu=$((cpu - 1))
measure cpu.db --cpu $cpu
expect_status 0
expect "the right values on the CPU that was asked for" test "$(values cpu.db)" = "$right"

# The same of those that measure it once more: the end of the run brings it.
text_machine two <<<'loud 6 5'
measure two.db
expect_status 0
expect "the right values at the end" test "$(values two.db)" = "$right"
expect "in one run" test "$(sql two.db 'select count(*) from run')" = 1

# Always: as without, and not for much longer.
text_machine always <<<'loud 99 5'
begin=$SECONDS
measure always.db
expect_status 3
expect_err 'results: 25 unstable'
expect_err 'retried: [0-9]+ kernels without a value, of which 0 have one now'
expect "processes: three for the batch, once more, at the end" test \
    "$(find "$LATPUT_MACHINE" -name 'once.*' | wc -l)" -le 9
expect "soon" test $((SECONDS - begin)) -lt 30

# A form that never settles is left; everything else is there, and completed later.
text_machine wild <<<'state "mulss *" 3 1 wild'
measure base.db
expect_status 1
expect_err '^latput run: ends with status 1: .* have no steady value'
expect "three of four" test "$(sql base.db "select group_concat(mnemonic, ' ') from
    (select * from instruction_table where outcome = 'ok' order by mnemonic)")" = 'add imul mov'
measure base.db --resume # its verdict stays
expect_status 1
expect_err '^latput run: run 1 of these lists is finished'
cp base.db killed.db
cp base.db still.db
mkdir before after
run pack --db base.db --with-samples --run 1 --output before
expect_status 0
facts() {
    sql "$1" "select count(*), total(kernel_tsc) from sample join timing using (timing_id)
        join kernel using (kernel_id) join test using (test_id) join run_form using (run_form_id)
        where run_id = 1; select group_concat(result.outcome) from result join test using (test_id)
        join run_form using (run_form_id) where run_id = 1"
}
first=$(facts base.db)
again() { # DB ARGS...
    local db=$1
    shift
    run run --again forms.csv --db "$db" --results none --quiet --give-up 1 "$@"
}
again still.db
expect_status 1
expect_err '^latput run: completes run 1: 1 forms had no value for something, 1 still have none'
expect "nothing else was asked" test "$(sql still.db 'select count(*) from run_form where run_id = 2')" = 1

text_machine quiet <<<''
again base.db
expect_status 0
expect_err '^latput run: completes run 1: 1 forms had no value for something, 0 still have none'
expect "the right values" test "$(values base.db)" = "$right"
expect "each of its run" test "$(sql base.db "select group_concat(mnemonic || run_id, ' ') from
    (select * from instruction_table order by mnemonic)")" = 'add1 imul1 mov1 mulss2'
expect "it names the run" test "$(sql base.db 'select completes = (select uuid from run where
    run_id = 1) from run where run_id = 2')" = 1
expect "nothing stored is changed" test "$(facts base.db)" = "$first"
fits base.db
run pack --db base.db --with-samples --run 1 --output after
expect_status 0
expect "its pack is the same" cmp before/*.zip after/*.zip
again base.db
expect_status 0
expect_err '^latput run: run 1 has a value for all that has one; nothing was measured'
expect "no third run" test "$(sql base.db 'select count(*) from run')" = 2

# A value that did not come is asked again for the same run.
again still.db
expect_status 0
expect_err '^latput run: completes run 1: 1 forms had no value for something, 0 still have none'
expect "the right values" test "$(values still.db)" = "$right"
expect "three runs, two for the first" test "$(sql still.db "select count(*), sum(completes =
    (select uuid from run where run_id = 1)) from run")" = '3|2'
fits still.db

# Packs merge in either order, each alone or both at once.
mkdir packs
run pack --db base.db --with-samples --run 2 --output packs/second.zip
expect_status 0
cp before/*.zip packs/first.zip
table() {
    sql "$1" "select mnemonic, operands, latency_min_clk, latency_max_clk, rthroughput_clk, outcome,
        tests, accepted from instruction_table order by 1, 2"
    sql "$1" "select mnemonic, src, dst, latency_clk, outcome from latency_table order by 1, 2, 3"
    sql "$1" "select count(*) from kernel_table"
}
for order in 'first second' 'second first'; do
    rm -f merged.db
    for pack in $order; do
        run merge --db merged.db "packs/$pack.zip"
        expect_status 0
        fits merged.db
    done
    expect "the same table, $order" test "$(table merged.db)" = "$(table base.db)"
done
rm -f merged.db
run merge --db merged.db packs/second.zip
expect "the second alone has what it asked" test "$(sql merged.db \
    "select group_concat(mnemonic || ' ' || outcome) from instruction_table")" = 'mulss ok'
run merge --db merged.db packs/second.zip packs/first.zip
expect "the same table, at once" test "$(table merged.db)" = "$(table base.db)"
# The usual pack of a machine has both.
mkdir packs/both
run pack --db base.db --output packs/both
expect_status 0
rm -f both.db
run merge --db both.db packs/both/*
expect "runs in it" test "$(sql both.db 'select count(*) from run')" = 2
expect "the table of the usual pack" test "$(sql both.db "select group_concat(outcome) from
    instruction_table")" = 'ok,ok,ok,ok'

# Killed on the way, it is gone on with.
text_machine slow <<<'pace 30'
"$LATPUT" run --again forms.csv --db killed.db --results none --quiet >/dev/null 2>&1 </dev/null &
pid=$!
begun() { [ "$(sql killed.db 'select count(*) from run')" = 2 ]; }
await begun
kill -KILL $pid
wait $pid 2>/dev/null
expect "unfinished" test "$(sql killed.db 'select count(*) from run where finished_utc is null')" = 1
expect "whole" test "$(sql killed.db 'pragma integrity_check')" = ok
text_machine quiet <<<''
again killed.db
expect_status 0
expect "the right values" test "$(values killed.db)" = "$right"
expect "the same run" test "$(sql killed.db 'select count(*), count(finished_utc) from run')" = '2|2'

# Killed after its last row, it has nothing to measure, and is finished.
cp base.db last.db
sqlite3 last.db "DROP TRIGGER run_no_update; DROP TRIGGER run_finish_once;
    UPDATE run SET finished_utc = NULL WHERE run_id = 2"
again last.db
expect_status 0
expect "the same run, finished" test "$(sql last.db \
    'select count(*), count(finished_utc) from run')" = '2|2'
expect "nothing was measured again" test "$(sql last.db \
    'select kernels from run where run_id = 2')" = 0
again last.db
expect_err '^latput run: run 1 has a value for all that has one; nothing was measured'

# --resume begins a run where there is none, and measures nothing after a finished one.
measure resume.db --resume
expect_status 0
measure resume.db --resume
expect_status 0
expect_err '^latput run: run 1 of these lists is finished .* so nothing was measured; .latput run --again. .*, .latput run. without'
expect "one run" test "$(sql resume.db 'select count(*) from run')" = 1
run run forms.csv --db resume.db --results none --quiet --tests T --resume
expect "another selection is another run" test "$(sql resume.db 'select count(*) from run')" = 2
measure resume.db
expect "without it all is measured anew" test "$(sql resume.db 'select count(*) from run')" = 3
measure base.db --resume
expect_err '^latput run: run 1 of these lists is finished'

# Mixes, by which ports are found: the first batch of them gives nothing, and is measured once more
# when the others are done.
ports() { # DB: of all forms
    sql "$1" "select group_concat(mnemonic || ' ' || ports, ', ') from
        (select * from port_table order by mnemonic)"
}
known='add 1*B4, imul 1*B1, mov 1*C2, mulss 1*A2b'
text_machine mixes <<<'loud 3 50'
run run forms.csv --db mixes.db --results none --quiet --give-up 1
expect_status 0
expect_err '^latput run: retried: [1-9][0-9]* kernels without a value, of which [1-9][0-9]* have one now'
expect "all of them" test "$(sed -nE 's/.*retried: ([0-9]+) k.*/\1/p' "$ERR")" = \
    "$(sed -nE 's/.*retried: .*which ([0-9]+) .*/\1/p' "$ERR")"
expect "the right ports" test "$(ports mixes.db)" = "$known"
# A form whose trials never settle is asked for its ports once more at the end of the run.
text_machine never <<<'state "mulss *" 3 1 wild'
run run forms.csv:3 --db mixes.db --results none --quiet --give-up 1 --tests P
expect_status 3
expect_err '^latput run: retried: the ports of 1 forms, of which 0 are known now'
expect "no ports in this run" test "$(sql mixes.db "select outcome from run_form join port_result
    using (run_form_id) where run_id = 2")" = unstable
# A form beside whose blockers nothing has a value has no ports, and not none.
text_machine lost <<<'loud 99 5'
cp mixes.db lost.db
run run forms.csv:3 --db lost.db --results none --quiet --give-up 1 --tests P
expect_status 3
expect "its throughput alone says nothing of ports" test "$(sql lost.db "select outcome, ports,
    detail from run_form join port_result using (run_form_id) where run_id = 3")" = \
    'unstable||unstable: trials beside all blockers of some ports, or beside fillers, have no value'
# A run that completes it brings them.
text_machine quiet <<<''
again mixes.db
expect_status 0
expect_err '^latput run: completes run 2: 1 forms had no value for something, 0 still have none'
expect "ports of the run that completes it" test "$(sql mixes.db "select outcome || ' ' || ports
    from run_form join port_result using (run_form_id) where run_id = 3")" = 'ok 1*A2b'

# Nothing to be completed: status 2, and what to do.
refused() { # DB TEXT
    again "$1"
    expect_status 2
    expect_err "$2"
    [ ! -e "$1" ] || expect "nothing new" test "$(sql "$1" 'select count(*) from run')" = "$3"
}
refused none.db 'there is no run to be completed; .latput run. measures one'
expect "no database was made" test ! -e none.db
refused merged.db 'all finished runs here came by a merge.*.latput run.' 2
cp killed.db version.db
sqlite3 version.db "DROP TRIGGER run_no_update; DROP TRIGGER run_finish_once;
    UPDATE run SET version = '0.0.1'"
refused version.db 'run 1 is of latput 0\.0\.1, .*.latput run. measures all anew' 2
# A doubt about all values of the completed run is not cured by completing it.
cp killed.db off.db
sqlite3 off.db "DROP TRIGGER run_no_update; DROP TRIGGER run_finish_once;
    UPDATE run SET calib_link_clk = 4"
again off.db
expect_status 1
expect_err 'the calibration contradicts what is known of this CPU'

text_machine other zen5 zen2 <<<''
refused base.db 'no finished run here is of this CPU.*.latput run.' 2
finish
