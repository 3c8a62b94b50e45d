#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput run as a user meets it: a small list, a run that is killed and resumed, two runs on one
# database, tools that are missing, and wrong arguments.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/../cli/cli.sh"
DB=$SCRATCH/run.db

sql() { sqlite3 -batch "$DB" "$1"; }

cat >small.csv <<'LIST'
# A few well-known forms
mnemonic,operands,implicit,isa,tests,options
imul,+r64 r64,=flags,X86_64,,
add,+r64 r64,=flags,X86_64,,
mov,=r64 m64,,X86_64,,
ud2,,,X86_64,T,
LIST

# What is missing in the environment.
mkdir empty old
printf '#!/bin/sh\necho NASM version 2.05.01\n' >old/nasm
chmod +x old/nasm
PATH=$SCRATCH/empty run run small.csv --db "$SCRATCH/x.db" --results none
expect_status 3
expect_err 'nasm'
expect_err 'install-deps.sh'
PATH=$SCRATCH/old:$PATH run run small.csv --db "$SCRATCH/x.db" --results none
expect_status 3
expect_err '2\.05'

# Wrong arguments and input.
run run no_such_list --db "$SCRATCH/none.db"
expect_status 2
expect "no database left behind" test ! -e "$SCRATCH/none.db"
expect_err "there is no list 'no_such_list'"
run run --filter 'nosuchmnemonic*' --db "$SCRATCH/x.db"
expect_status 2
expect_err 'no form matches'
run run --tests X --db "$SCRATCH/x.db"
expect_status 2
run run --cpu 9999 --db "$SCRATCH/x.db"
expect_status 2
expect_err "\-\-cpu wants a number from 0 to 8191, not '9999'"
run run --backend nonsense
expect_status 2
expect_err "unknown backend 'nonsense'"
printf 'mnemonic,operands,implicit,isa,tests,options\nadd,+r64 r99,,X86_64,,\n' >bad.csv
run run bad.csv --db "$SCRATCH/x.db"
expect_status 2
expect_err 'bad.csv:2:'
expect_err 'r99'

# Results that cannot be written are refused before anything is measured.
: >taken
for command in run property; do
    operand=return_stack
    [ $command = run ] && operand=small.csv
    run $command $operand --db "$SCRATCH/none.db" --results taken
    expect_status 3
    expect_err "latput $command: --results: taken: no files can be written there: Not a directory"
    expect "no database left behind" test ! -e "$SCRATCH/none.db"
done

# Real measurement. A disturbed machine may leave tests unstable (status 1), never wrong.
run run small.csv --db "$DB" --results "$SCRATCH/results" --quiet --give-up 5 --tests LT
measured
expect_err 'latput run: 4 forms, results: .* [0-9.]+ s, [0-9]+ kernels/s'
expect_no_out
expect "four forms in the table" test "$(sql 'select count(*) from instruction_table')" = 4
expect "ud2 is unsupported" test \
    "$(sql "select outcome from instruction_table where mnemonic='ud2'")" = unsupported
# It is what cycles are calibrated with, and so has that many through the whole pipeline.
imul=$(sql "select iif(got.outcome = 'ok', printf('%.1f of %d', latency_clk, calib_link_clk),
        got.outcome)
    from latency_table as got join run using (run_id)
    where mnemonic = 'imul' and src = 'op1' and dst = 'op1'")
link=$(sql 'select calib_link_clk from run')
case $imul in
unstable) echo "note: imul is unstable" ;;
*) expect "the latency of imul" test "$imul" = "$link.0 of $link" ;;
esac
expect "samples are kept" test "$(sql 'select count(*) > 20 from sample')" = 1
expect "a text table with its title" grep -q '^Latency and throughput: A few well-known forms on ' \
    "$SCRATCH/results/small.txt"
expect "the title in the database" test "$(sql 'select list, title, forms from list_table')" = \
    'small|A few well-known forms|4'

# A second run is a run of its own; a resumed one that was finished begins afresh.
run run small.csv --db "$DB" --results none --quiet --give-up 5 --tests T
measured
expect "two runs" test "$(sql 'select count(*) from run')" = 2
expect "samples of the first run are still there" test "$(sql 'select count(distinct run_id) from run_form')" = 2

# Killed at a random moment, five times, then resumed: complete, and nothing twice.
KILLDB=$SCRATCH/kill.db
killed=(run integer_arithmetic --filter 'a*' --db "$KILLDB" --results none --quiet --give-up 5
    --tests LT --resume)
seed=${CLI_SEED:-$RANDOM}
echo "CLI_SEED=$seed repeats the moments"
RANDOM=$seed
for _ in 1 2 3 4 5; do
    "$LATPUT" "${killed[@]}" >/dev/null 2>&1 </dev/null &
    pid=$!
    sleep "0.$((RANDOM % 9 + 1))"
    kill -KILL "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
done
run "${killed[@]}"
measured
expect "database intact" test "$(sqlite3 "$KILLDB" 'pragma integrity_check')" = ok
expect "each form once a run" test "$(sqlite3 "$KILLDB" \
    'select count(*) from (select run_id, form_id, count(*) c from run_form group by 1, 2 having c > 1)')" = 0
rows=$("$LATPUT" check --expand integer_arithmetic | grep -cE '^(lock )?a')
have=$(sqlite3 "$KILLDB" 'select count(*) from run_form where run_id = (select max(run_id) from run_form)')
expect "all forms ($have of $rows)" test "$have" = "$rows" -a "$rows" -gt 20

# A signal ends it in order. (A shell starts what is in the background with SIGINT ignored.)
fp=(run sse_fp --db "$SCRATCH/int.db" --results none --quiet)
env --default-signal=INT "$LATPUT" "${fp[@]}" --give-up 5 --tests LT >"$OUT" 2>"$ERR" </dev/null &
pid=$!
for _ in {1..200}; do
    [ "$(sqlite3 "$SCRATCH/int.db" 'select count(*) from run' 2>/dev/null)" = 1 ] && break
    sleep 0.05
done
kill -INT "$pid"
wait "$pid"
STATUS=$?
CLI_COMMAND="latput run, SIGINT"
expect_err '^latput run: stopped by SIGINT'
[ "$STATUS" = 1 ] || [ "$STATUS" = 3 ] || cli_fail "expected status 1, or 3 without a result"
expect "the run is not finished" test "$(sqlite3 "$SCRATCH/int.db" 'select count(*) from run where finished_utc is not null')" = 0

# Two that go on with one run: the second one says so at the start. The first is held until then: on
# a host that is never quiet it would soon give up.
"$LATPUT" "${fp[@]}" --tests T >/dev/null 2>&1 </dev/null &
pid=$!
for _ in {1..600}; do
    [ "$(sqlite3 "$SCRATCH/int.db" "select count(*) from run where selection like '%tests=T%'")" = 1 ] && break
    sleep 0.05
done
if kill -STOP "$pid" 2>/dev/null; then
    run "${fp[@]}" --tests T --resume
    expect_status 2
    expect_err 'another process is measuring run [0-9]+'
fi
kill -KILL "$pid" 2>/dev/null
wait "$pid" 2>/dev/null

# Two at once on one database, each on a CPU of its own where there are two. Each does all of its
# work, or found its core too disturbed for any; what neither may have is trouble with the database.
mapfile -t cpus < <(taskset -cp $$ | grep -oE '[0-9,-]+$' | tr , '\n' |
    while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done | tail -n 2)
two=("$SCRATCH/two.db" --results none --quiet --give-up 5 --tests T)
"$LATPUT" run small.csv --cpu "${cpus[0]}" --db "${two[@]}" >"$SCRATCH/first" 2>&1 </dev/null &
pid=$!
run run small.csv --cpu "${cpus[-1]}" --db "${two[@]}"
cat "$OUT" "$ERR" >"$SCRATCH/second"
second=$STATUS
wait "$pid"
first=$?
done_runs=0
for which in "first $first" "second $second"; do
    CLI_COMMAND="two runs at once, the ${which% *}" STATUS=${which#* }
    cp "$SCRATCH/${which% *}" "$ERR"
    if [ "$STATUS" -le 1 ]; then
        expect_err 'latput run: 4 forms, results: '
        done_runs=$((done_runs + 1))
    else
        expect_status 3
        expect_err 'unstable|undisturbed|quiet'
    fi
done
expect "all that was done is there" test "$(sqlite3 "$SCRATCH/two.db" \
    'select count(*) from run where finished_utc is not null and run_id in
        (select run_id from run_form group by 1 having count(*) = 4)')" -ge "$done_runs"
expect "database intact" test "$(sqlite3 "$SCRATCH/two.db" 'pragma integrity_check')" = ok

# Rows for 32-bit mode are measured where such programs can be built, else skipped with the reason.
printf 'mnemonic,operands,implicit,isa,tests,options\nsalc,,=al cf,I386,,bits=32\nadd,+r64 r64,=flags,X86_64,T,\n' >mode32.csv
printf 'mnemonic,operands,implicit,isa,tests,options\nleave,,=esp +ebp,I386,,bits=32 macro=legacy.inc:legacy_leave\nleave,,+rsp +rbp,X86_64,,macro=state.inc:state_leave:o32:rbp\n' >leave.csv
if [ -r "$BUILD/core32.o" ]; then
    run run mode32.csv --db "$SCRATCH/mode32.db" --results none --quiet --give-up 5 --tests LT
    measured
    expect "salc is measured" test "$(sqlite3 "$SCRATCH/mode32.db" \
        "select count(*) from instruction_table where bits = 32 and outcome in ('ok', 'unstable')")" = 1
    run run leave.csv --db "$SCRATCH/leave.db" --results none --quiet --give-up 5 --tests LT
    measured
    expect "a round of frames leaves the stack pointer where it was, in both modes" test "$(
        sqlite3 "$SCRATCH/leave.db" 'select group_concat(distinct outcome) from failure_table
            where outcome <> "unstable"')" = ''
    # None of them can stand in a mix: no structure of ports is looked for, for half a minute.
    run run leave.csv --db "$SCRATCH/leave.db" --results none --quiet --give-up 5 --tests P
    expect_status 3 # there is nothing to measure
    expect "no ports, and no model" test "$(sqlite3 "$SCRATCH/leave.db" \
        'select group_concat(distinct outcome), (select count(*) from port_model) from port_result'
        )" = 'not_measurable|0'
fi
mkdir only64
printf '#!/bin/sh\ncase " $* " in *" elf_i386 "*) exit 1 ;; esac\nexec %s "$@"\n' \
    "$(command -v ld)" >only64/ld
chmod +x only64/ld
PATH=$SCRATCH/only64:$PATH run run mode32.csv --db "$SCRATCH/only64.db" --results none --quiet \
    --give-up 5 --tests LT
measured
expect "salc is skipped with a reason" test "$(sqlite3 "$SCRATCH/only64.db" \
    "select count(*) from failure_table where bits = 32 and outcome = 'skipped' and detail like '%gcc-multilib%'")" = 1
expect "the 64-bit row is measured" test "$(sqlite3 "$SCRATCH/only64.db" \
    "select count(*) from instruction_table where bits = 64 and outcome in ('ok', 'unstable')")" = 1

# A run of some forms takes the structure of the ports that one before has found, and how early µops
# are bound as mixes of all forms have shown.
if [ "$(sql 'select count(*) from port_model')" != 0 ]; then
    cp "$DB" reuse.db
    reused() { sqlite3 -batch reuse.db "$1"; }
    reused "insert into port_binding (run_id, mixes, writes, binding, norm)
        select max(run_id), 'all forms', 'any', 0.25, 12 from port_model"
    run run small.csv:4 --db reuse.db --results none --quiet --give-up 5
    measured
    expect "the same structure" test "$(reused 'select count(distinct residual), count(*) > 1
        from port_model')" = '1|1'
    expect "its bindings and norm" test "$(reused "select binding, norm from port_binding
        where run_id = (select max(run_id) from port_model) and mixes = 'all forms'")" = '0.25|12.0'
fi

# Counters that were asked for: every timing has counts, or nothing is measured and nothing stored.
for backend in perf msr; do
    run run --backend $backend --tests T small.csv --db "$SCRATCH/$backend.db" --results none \
        --quiet --give-up 5
    if [ "$STATUS" -le 1 ]; then
        counted() { sqlite3 -batch "$SCRATCH/$backend.db" "$1"; }
        expect "the backend" test "$(counted 'select backend from run')" = $backend
        expect "counts" test "$(counted 'select count(*) > 0 and count(*) = count(counted_clk) from sample')" = 1
        expect "the event" test "$(counted 'select event, backend from run_event')" = \
            "core_clk|$backend"
        continue
    fi
    expect_status 3
    expect_err "the backend $backend cannot be used: .+"
    expect "no database left behind" test ! -e "$SCRATCH/$backend.db"
done
# What explain needs and the database lacks is measured on the spot, once.
cp "$DB" explain.db
for _ in 1 2; do
    run explain --db explain.db --measure --predict --asm 'sbb rax, rbx; andn rax, rbx, rcx'
    if grep -qE 'unstable|undisturbed' "$OUT" "$ERR"; then
        echo "note: explain: unstable"
        finish
    fi
    expect_status 0
    expect "known now" test -z "$(grep 'not measured on this CPU' "$OUT")"
done
explained() { sqlite3 -batch explain.db "$1"; }
expect "one run more" test "$(explained 'select count(*) from run')" = \
    $(($(sql 'select count(*) from run') + 1))
newest='(select max(run_id) from run)'
expect "both forms" test "$(explained "select count(*) from run_form where run_id = $newest")" = 2
finish
