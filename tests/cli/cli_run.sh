#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput run as a user meets it, on a core made of text: a small list, a run that is killed and
# resumed, two runs on one database, tools that are missing, and wrong arguments. What bodies, hosts
# and the measuring process may do to it: cli_run_faults, cli_run_noise.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
. "$TREE/tests/cli/text.sh"
DB=$SCRATCH/run.db
text_machine quiet <<<'fault ud2 signal ILL'

sql() { sqlite3 -batch "$DB" "$1"; }

cat >small.csv <<'LIST'
# A few well-known forms
mnemonic,operands,implicit,isa,tests,options
imul,+r64 r64,=flags,X86_64,,
add,+r64 r64,=flags,X86_64,,
mov,=r64 m64,,X86_64,,
ud2,,,X86_64,T,
LIST

# Faults of the environment.
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

# Lists that can be run.
run run --list small.csv quick --filter 'imul *'
expect_status 0
expect_out '^small +1  A few well-known forms$'
expect_out '^quick +[1-9]'
run run --list
expect_status 0
expect_out '^string_rep +256  String instructions with repeat prefix$'
expect "a line a list" test "$(wc -l <"$OUT")" -gt 60

# Wrong arguments and input.
run run no_such_list --db "$SCRATCH/none.db"
expect_status 2
expect "no database left behind" test ! -e "$SCRATCH/none.db"
expect_err "there is no list 'no_such_list'"
run run 'add r64 r64' --db "$SCRATCH/none.db"
expect_status 2
expect_err "there is no list 'add r64 r64'.*; forms are chosen by latput run --filter$"
run run --filter 'nosuchmnemonic*' --db "$SCRATCH/x.db"
expect_status 2
expect_err 'no form matches'
run run --tests X --db "$SCRATCH/x.db"
expect_status 2
run run --cpu 9999 --db "$SCRATCH/x.db"
expect_status 2
expect_err "\-\-cpu needs a number from 0 to 8191, not '9999'"
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

# run_list LIST ARGS...: all of what it says of itself is on stderr.
run_list() { run run "$@" --results none --quiet; }

run run small.csv --db "$DB" --results "$SCRATCH/results" --quiet --tests LT
expect_status 0
expect_err 'latput run: 4 forms, results: 22 ok 1 unsupported, [0-9.]+ s, [0-9]+ kernels/s'
expect_no_out
expect "outcomes and throughputs" test "$(sql "select group_concat(form || ' ' || outcome ||
    iif(rthroughput_clk is null, '', printf(' %.2f', rthroughput_clk)), ', ') from
    (select * from instruction_table order by form)")" = \
    'add r64 r64 ok 0.25, imul r64 r64 ok 1.00, mov r64 m64 ok 0.50, ud2 unsupported'
expect "latencies" test "$(sql "select group_concat(printf('%s %.2f', mnemonic, latency_clk), ', ')
    from (select * from latency_table where dst = 'op1' and src in ('op1', 'op2', 'op2.base')
        order by mnemonic, src)")" = 'add 1.00, add 1.00, imul 3.00, imul 3.00, mov 4.00'
expect "calibrated by imul" test "$(sql 'select calib_link_clk, backend from run')" = '3|text'
expect "samples are kept" test "$(sql 'select count(*) > 20 from sample')" = 1
expect "a text table with its title" grep -q '^Latency and throughput: A few well-known forms on ' \
    "$SCRATCH/results/small.txt"
expect "the title in the database" test "$(sql 'select list, title, forms from list_table')" = \
    'small|A few well-known forms|4'

# A second run is a run of its own; a resumed one that was finished begins afresh.
run_list small.csv --db "$DB" --tests T --resume
expect_status 0
expect "two runs" test "$(sql 'select count(*) from run')" = 2
expect "samples of the first run are still there" test "$(sql 'select count(distinct run_id) from run_form')" = 2

# While another process reads what was there before, a run cannot put all of it into the file, and
# says where the rest is; later ones can.
mkfifo reading
sqlite3 "$DB" <reading >told &
reader=$!
exec 8>reading
echo 'BEGIN; SELECT count(*) FROM run;' >&8
await test -s told
run_list small.csv --db "$DB" --tests T
expect_status 0
expect_err "run\.db: another process reads it, so the last changes are in .*run\.db-wal; copy or move both"
cp "$DB" alone.db
expect "not in the file" test "$(sqlite3 alone.db 'select count(*) from run')" = 2
exec 8>&-
wait "$reader"
expect "the last to leave folds it" test ! -e "$DB-wal"
run_list small.csv --db "$DB" --tests T
expect_status 0
expect "no word of it" test "$(grep -c 'reads it' "$ERR")" = 0
cp "$DB" alone.db
expect "all in the file" test "$(sqlite3 alone.db 'select count(*) from run')" = 4
# A pack says that nothing was measured.
mkdir packs
run pack --db "$DB" --output packs
expect_status 0
expect_out '^packs/simulated-AuthenticAMD-00B00F21-zen5-'
expect_err "Results of the CPU 'simulated: a core made of text'"
# Latencies are those of the first run.
run merge --db merged.db packs/*
expect_out ': added as run 2$'

# Killed at a random moment, five times, then resumed: complete, and nothing twice.
text_machine slow <<<'pace 1'
KILLDB=$SCRATCH/kill.db
killed=(integer_arithmetic --filter 'a*' --db "$KILLDB" --tests LT --resume)
seed=${CLI_SEED:-$RANDOM}
echo "CLI_SEED=$seed repeats the moments"
RANDOM=$seed
for _ in 1 2 3 4 5; do
    "$LATPUT" run "${killed[@]}" --results none >/dev/null 2>&1 </dev/null &
    pid=$!
    sleep "0.$((RANDOM % 9 + 1))"
    kill -KILL "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
done
# And once when there is something to go on from, which is not measured again.
text_machine slow <<<'pace 0.2'
"$LATPUT" run "${killed[@]}" --results none >/dev/null 2>&1 </dev/null &
pid=$!
has_forms() { [ "$(sqlite3 "$KILLDB" 'select count(*) > 0 from run_form')" = 1 ]; }
await has_forms
kill -KILL "$pid" 2>/dev/null
wait "$pid" 2>/dev/null
text_machine quiet <<<''
run_list "${killed[@]}"
expect_status 0
expect_err '\([1-9][0-9]* from before\)'
expect "database intact" test "$(sqlite3 "$KILLDB" 'pragma integrity_check')" = ok
expect "each form once a run" test "$(sqlite3 "$KILLDB" \
    'select count(*) from (select run_id, form_id, count(*) c from run_form group by 1, 2 having c > 1)')" = 0
rows=$("$LATPUT" check --expand integer_arithmetic | grep -cE '^(lock )?a')
have=$(sqlite3 "$KILLDB" 'select count(*) from run_form where run_id = (select max(run_id) from run_form)')
expect "all forms ($have of $rows)" test "$have" = "$rows" -a "$rows" -gt 20

# A signal ends it in order. (A shell starts what is in the background with SIGINT ignored.)
text_machine slow <<<'pace 20'
fp=(run sse_fp --db "$SCRATCH/int.db" --results none --quiet)
env --default-signal=INT "$LATPUT" "${fp[@]}" --tests LT >"$OUT" 2>"$ERR" </dev/null &
pid=$!
begun() { [ "$(sqlite3 "$SCRATCH/int.db" "select count(*) from run where selection like '%$1%'")" = 1 ]; }
await begun tests=LT
kill -INT "$pid"
wait "$pid"
STATUS=$?
CLI_COMMAND="latput run, SIGINT"
expect_err '^latput run: stopped by SIGINT'
expect_status 3
expect "the run is not finished" test "$(sqlite3 "$SCRATCH/int.db" 'select count(*) from run where finished_utc is not null')" = 0

# Two that go on with one run: the second one says so at the start.
"$LATPUT" "${fp[@]}" --tests T >/dev/null 2>&1 </dev/null &
pid=$!
await begun 'tests=T%'
run "${fp[@]}" --tests T --resume
expect_status 2
expect_err 'another process is measuring run [0-9]+'
kill -KILL "$pid" 2>/dev/null
wait "$pid" 2>/dev/null

# Two at once on one database: each does all of its work.
text_machine quiet <<<'fault ud2 signal ILL'
two=("$SCRATCH/two.db" --results none --quiet --tests T)
"$LATPUT" run small.csv --db "${two[@]}" >/dev/null 2>first </dev/null &
pid=$!
run run small.csv --db "${two[@]}"
expect_status 0
expect_err 'latput run: 4 forms, results: 3 ok 1 unsupported'
wait "$pid"
STATUS=$?
cp first "$ERR"
CLI_COMMAND="two runs at once, the first"
expect_status 0
expect_err 'latput run: 4 forms, results: 3 ok 1 unsupported'
expect "all is there" test "$(sqlite3 "$SCRATCH/two.db" \
    'select count(*) from run where finished_utc is not null and run_id in
        (select run_id from run_form group by 1 having count(*) = 4)')" = 2
expect "database intact" test "$(sqlite3 "$SCRATCH/two.db" 'pragma integrity_check')" = ok

# Rows for 32-bit mode are measured where such programs can be built, else skipped with the reason.
printf 'mnemonic,operands,implicit,isa,tests,options\nsalc,,=al cf,I386,,bits=32\nadd,+r64 r64,=flags,X86_64,T,\n' >mode32.csv
printf 'mnemonic,operands,implicit,isa,tests,options\nleave,,=esp +ebp,I386,,bits=32 macro=legacy.inc:legacy_leave\nleave,,+rsp +rbp,X86_64,,macro=state.inc:state_leave:o32:rbp\n' >leave.csv
if [ -r "$BUILD/core32.o" ]; then
    run_list mode32.csv --db mode32.db --tests LT
    expect_status 0
    expect "salc is measured" test "$(sqlite3 mode32.db \
        "select outcome, printf('%.2f', rthroughput_clk) from instruction_table where bits = 32")" = 'ok|0.25'
    run_list leave.csv --db leave.db --tests LT
    expect_status 0
    # None of them can stand in a mix: no structure of ports is looked for.
    run_list leave.csv --db leave.db --tests P
    expect_status 3 # there is nothing to measure
    expect "no ports, and no model" test "$(sqlite3 leave.db \
        'select group_concat(distinct outcome), (select count(*) from port_model) from port_result'
        )" = 'not_measurable|0'
fi
# Without a compiler for 32 bits latput is built, and installed, without that core.
mkdir -p only64/bin only64/lib/latput
cp "$LATPUT" only64/bin/
cp "$BUILD/core64.o" "$BUILD/linked64" only64/lib/latput/
LATPUT_ROOT=$TREE LATPUT=$SCRATCH/only64/bin/latput run_list mode32.csv --db only64.db --tests LT
expect_status 0
expect_err 'warning: forms of 32-bit mode are skipped: .*gcc-multilib'
expect "salc is skipped with a reason" test "$(sqlite3 only64.db \
    "select count(*) from failure_table where bits = 32 and outcome = 'skipped' and detail like '%gcc-multilib%'")" = 1
expect "the 64-bit row is measured" test "$(sqlite3 only64.db \
    "select outcome from instruction_table where bits = 64")" = ok

# A run of some forms takes the structure of the ports that one before has found, and how early µops
# are bound as mixes of all forms have shown.
# The first one is stopped while it asks for ports, and does not measure its forms anew.
text_machine slow <<<$'pace 5\nfault ud2 signal ILL'
"$LATPUT" run small.csv --db ports.db --results none >/dev/null 2>&1 </dev/null &
pid=$!
stored() { [ "$(sqlite3 ports.db 'select count(*) from run_form')" = 4 ]; }
await stored
kill -TERM "$pid"
wait "$pid" 2>/dev/null
text_machine quiet <<<'fault ud2 signal ILL'
run_list small.csv --db ports.db --resume
expect_status 0
expect_err '^latput run: 4 forms \(4 from before\)'
reused() { sqlite3 -batch ports.db "$1"; }
expect "ports of the script: four, and one of these" test "$(reused "select group_concat(form ||
    ' ' || ports, ', ') from (select * from port_table where form not like 'mov%' and ports <> ''
    order by form)")" = 'add r64 r64 1*B4, imul r64 r64 1*B1'
run_list small.csv:4 --db ports.db
expect_status 0
expect "the same structure" test "$(reused 'select count(distinct residual), count(*) > 1
    from port_model')" = '1|1'

# Forms that explain needs and the database lacks are measured on the spot, once.
cp "$DB" explain.db
for _ in 1 2; do
    run explain --db explain.db --measure --predict --asm 'sbb rax, rbx; andn rax, rbx, rcx'
    expect_status 0
    expect "known now" test -z "$(grep 'not measured on this CPU' "$OUT")"
done
explained() { sqlite3 -batch explain.db "$1"; }
expect "one run more" test "$(explained 'select count(*) from run')" = \
    $(($(sql 'select count(*) from run') + 1))
newest='(select max(run_id) from run)'
expect "both forms" test "$(explained "select count(*) from run_form where run_id = $newest")" = 2
finish
