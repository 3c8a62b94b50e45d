#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput stat on real programs: what it counts without hardware, how the program's files, signals
# and exit status pass through, and what it refuses.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "${BASH_SOURCE[0]}")/../cli/cli.sh"

# Mean of a row of the CSV report, without decimals.
mean_of() { awk -F, -v event="$1" '$1 == event { printf "%.0f", $6 }' report.csv; }
at_least() { [ "$1" -ge "$2" ]; }
at_most() { [ "$1" -le "$2" ]; }

# Times and the report in all formats.
run stat --repeat 2 --output report.csv --format csv --events task-clock,page-faults -- sleep 0.2
expect_status 0
expect_no_out
expect "nothing on standard error" test ! -s "$ERR"
expect "header" grep -q \
    '^event,source,code,rings,unit,mean,min,max,spread,runs,outcome,detail,uarch,table_version$' \
    report.csv
expect "slept" at_least "$(mean_of wall)" 200000000
expect "slept, not worked" at_most "$(mean_of user)" 100000000
expect "two runs" grep -qE '^wall,clock,,,ns,([0-9.]+,){4}2,ok,,,$' report.csv
expect "page faults" at_least "$(mean_of page-faults)" 10
# shellcheck disable=SC2016 # the program is another shell's
run stat --repeat 2 -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'
expect_status 0
expect_no_out
expect_err '^event +mean +min +spread % +runs$'
expect_err '^wall \(ms\) +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9]+$'
expect_err '^max_rss \(KiB\) '
expect "the report fits a terminal" test "$(wc -L <"$ERR")" -le 80
run stat --format json --output report.json --events task-clock --repeat 2 -- true 'a "word"'
expect_status 0
if command -v python3 >/dev/null; then
    expect "valid JSON" python3 - report.json <<'PYTHON'
import json, sys
[report] = json.load(open(sys.argv[1]))
assert report["program"] == ["true", 'a "word"'], report["program"]
assert report["counted_runs"] == 2 and report["warm_runs"] == 1 and report["exit_status"] == 0
rows = {row["event"]: row for row in report["events"]}
assert len(rows["wall"]["values"]) == 2 and rows["wall"]["mean"] > 0
assert rows["task-clock"]["outcome"] == "ok"
PYTHON
fi

# Every software event, and what is known of some.
events=task-clock,cpu-clock,page-faults,minor-faults,major-faults,context-switches,cpu-migrations
run stat --repeat 1 --events "$events,alignment-faults,emulation-faults" --format csv \
    -o report.csv -- \
    sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.001; done'
expect_status 0
if [ "$(grep -c ',perf,,both,[a-z]*,.*,1,ok,' report.csv)" = 9 ]; then
    expect "each sleep gives the CPU away" at_least "$(mean_of context-switches)" 10
    expect "faults are minor or major" test "$(mean_of page-faults)" = \
        $(($(mean_of minor-faults) + $(mean_of major-faults)))
    expect "it ran" at_least "$(mean_of task-clock)" 1000000
else
    echo "perf refuses some software events here: $(grep -v ',ok,' report.csv | cut -d, -f1,11 |
        tr '\n' ' ')"
fi

# Programs started by the program are counted, too.
faults() {
    run stat --repeat 1 --events page-faults --format csv -o report.csv -- "$@"
    expect_status 0
    mean_of page-faults
}
alone=$(faults true)
family=$(faults sh -c 'true | cat | cat | cat')
expect "children are counted: $family, alone $alone" at_least "$family" $((3 * alone))

# The program's own files: all of its output, its input in every run, and its own options.
run stat --repeat 2 --warm 0 --output report.txt -- printf '%s\n' --format
expect_status 0
expect "printed in each run" test "$(grep -c '^--format$' "$OUT")" -ge 2
run stat --repeat 2 --warm 0 --output report.txt printf '%s\n' --repeat
expect_status 0
expect_out '^--repeat$'
printf 'one\ntwo\n' >input
CLI_COMMAND='stat <file'
"$LATPUT" stat --repeat 2 --warm 1 --events task-clock -o report.txt -- cat <input >"$OUT" 2>"$ERR"
STATUS=$?
expect_status 0
expect "each run reads the file from its start" test "$(grep -c '^one$' "$OUT")" = 3
CLI_COMMAND='stat <pipe'
"$LATPUT" stat --events task-clock -o report.txt -- cat < <(cat input) >"$OUT" 2>"$ERR"
expect_err 'standard input is a pipe'

# The report goes to standard output on request, and never in the place of a link or a pipe.
run stat --repeat 1 -e task-clock --format csv -o - -- true
expect_status 0
expect_out '^wall,clock,'
expect "nothing on standard error" test ! -s "$ERR"
: >target
ln -s target link
run stat --repeat 1 -e task-clock -o link -- true
expect_status 0
expect "the link is one still" test -L link
expect "the report is behind it" grep -q '^wall' target
mkfifo fifo
cat fifo >through &
run stat --repeat 1 -e task-clock -o fifo -- true
wait
expect "the pipe is one still" test -p fifo
expect "the report went through it" grep -q '^wall' through

# Exit status and signals of the program.
run stat -e task-clock -- sh -c 'exit 7'
expect_status 7
expect_err 'exit status 7$'
run stat -e task-clock --repeat 2 -- sh -c 'kill -SEGV $$'
expect_status 139
expect_err 'no run could be counted, ended by SIGSEGV'
run stat -- no-such-program-anywhere
expect_status 127
expect_err "cannot start 'no-such-program-anywhere': not found"
: >plain
run stat -- ./plain
expect_status 126
expect_err 'Permission denied'
rm -f count
# shellcheck disable=SC2016
run stat -e task-clock --repeat 3 --warm 0 -- sh -c 'echo >>count; exit $(wc -l <count)'
expect_status 3
expect_err '^status 3 in the last one, others differ$'

# Signals that latput gets reach the program, and the measurement ends.
interrupt() { # SIGNAL, script
    rm -f started
    set -m # else the shell would have it ignore SIGINT
    "$LATPUT" stat -e task-clock --warm 0 -- sh -c "$2" >"$OUT" 2>"$ERR" </dev/null &
    local pid=$! i
    set +m
    for ((i = 0; i < 100; i++)); do
        [ -e started ] && break
        sleep 0.05
    done
    kill -s "$1" "$pid"
    wait "$pid"
    STATUS=$? CLI_COMMAND="stat, interrupted by $1"
}
# shellcheck disable=SC2016
interrupt TERM \
    'trap "echo got it; exit 5" TERM; : >started; for i in $(seq 100); do sleep 0.05; done'
expect_status 5 # the program's own way to end
expect_out '^got it$'
expect_err 'stopped by SIGTERM'
# shellcheck disable=SC2016
interrupt HUP ': >started; for i in $(seq 100); do sleep 0.05; done'
expect_status 129
expect_err 'by SIGHUP$'
interrupt USR1 \
    'trap "echo usr1; exit 6" USR1; : >started; for i in 1 2 3 4 5 6; do sleep 0.05; done; exit 6'
expect_status 6
expect_out '^usr1$'
# shellcheck disable=SC2016
interrupt INT ': >started; for i in $(seq 100); do sleep 0.05; done'
expect_status 130
expect_err 'by SIGINT$'
# shellcheck disable=SC2016
interrupt ALRM \
    'trap "echo alarm; exit 9" ALRM; : >started; for i in $(seq 100); do sleep 0.05; done'
expect_status 9
expect_out '^alarm$'

# A program that something else kills, or stops and lets go on.
# shellcheck disable=SC2016
run stat -e task-clock --warm 0 -- sh -c 'kill -KILL $$'
expect_status 137
expect_err 'ended by SIGKILL$'
# shellcheck disable=SC2016
run stat -e task-clock --repeat 1 --warm 0 --format csv -o report.csv -- \
    sh -c '(sleep 0.3; kill -CONT $$) & kill -STOP $$; exit 42'
expect_status 42
expect "the stop is in the wall time" at_least "$(mean_of wall)" 300000000

# SIGTSTP to latput stops both, SIGCONT lets both go on.
state_of() { awk '{ print $3 }' "/proc/$1/stat" 2>/dev/null; }
wait_state() { # PID, STATE
    local i
    for ((i = 0; i < 100; i++)); do
        [ "$(state_of "$1")" = "$2" ] && return 0
        sleep 0.05
    done
    return 1
}
rm -f started
# shellcheck disable=SC2016
"$LATPUT" stat -e task-clock --warm 0 --repeat 1 -- \
    sh -c 'echo $$ >started; while [ ! -e finished ]; do sleep 0.02; done; exit 8' >"$OUT" \
    2>"$ERR" </dev/null &
pid=$! CLI_COMMAND='stat, stopped'
for ((i = 0; i < 100; i++)); do
    [ -s started ] && break
    sleep 0.05
done
kill -s TSTP "$pid"
expect "latput stops" wait_state "$pid" T
expect "the program stops" wait_state "$(cat started)" T
kill -s CONT "$pid"
: >finished
wait "$pid"
STATUS=$?
expect_status 8

# A program that closes its output and errors, and one that leaves a process behind that lives on.
run stat -e task-clock --repeat 1 --warm 0 -- sh -c 'exec >&- 2>&-; exit 42'
expect_status 42
expect_err 'exit status 42$'
run stat -e task-clock --repeat 1 --warm 0 --format csv -o report.csv -- sh -c \
    'sleep 1 >/dev/null 2>&1 & exit 0'
expect_status 0
expect "it is not waited for" at_most "$(mean_of wall)" 900000000

# Through a pipe to its end: latput adds nothing to the data, and the exit status of cmp is its own.
printf 'a\0b\377' >bytes
# shellcheck disable=SC2094 # both only read it
"$LATPUT" stat -e task-clock --repeat 1 --warm 0 -o report.txt -- cat <bytes | cmp - bytes
ends=${PIPESTATUS[*]} CLI_COMMAND='stat, bytes'
expect "the data are the program's: $ends" test "$ends" = "0 0"

# Kept on one CPU, whoever counts; the whole CPU's counters only as root and with its device.
allowed=$(awk '/^Cpus_allowed_list/ { print $2 }' /proc/self/status)
first=${allowed%%[-,]*}
run stat -e task-clock --repeat 2 --cpu "$first" -- grep Cpus_allowed_list /proc/self/status
expect_status 0
expect "on CPU $first alone" test "$(sort -u "$OUT")" = "Cpus_allowed_list:	$first"
expect_err "kept on CPU $first\$"
run stat -e task-clock --cpu 1023 -- true
expect_status 3
expect_err 'CPU 1023 is not one that this process may use'
mkdir empty
LATPUT_MACHINE=$PWD/empty run stat --backend msr --cpu "$first" -- touch ran
expect_status 3
expect_err 'the backend msr cannot be used: there is no .*/dev/cpu/[0-9]+/msr'
run stat --backend tsc --repeat 2 -- true
expect_status 0
expect "no hardware event is named" test "$(grep -c 'hardware' "$ERR")" = 0
run stat --backend tsc -e event=0x3c -- touch ran
expect_status 2
expect_err "counts no hardware events such as 'event=0x3c'"
run stat --backend rdtsc -- touch ran
expect_status 2
expect_err "unknown backend 'rdtsc'"
expect "nothing was run" test ! -e ran

# Without hardware counters: named with the reason, refused if they were asked for.
if [ ! -e /sys/bus/event_source/devices/cpu ] && [ ! -e /sys/bus/event_source/devices/cpu_core ]; \
    then
    run stat --repeat 1 -- true
    expect_status 0
    expect_err \
        '^Not counted: the [0-9]+ hardware events of [a-z0-9_]+: no performance counters:( |$)'
    run stat -e event=0x3c -- touch ran
    expect_status 3
    expect_err 'the program was not run, since none of the hardware events can be counted'
    run stat --backend perf -- touch ran
    expect_status 3
    expect_err 'the backend perf cannot be used: no performance counters'
    expect "it was not run" test ! -e ran
else
    echo "this machine has hardware counters: their absence is tested by test_count alone"
fi

# Wrong usage.
refused() { # pattern, arguments
    local pattern=$1
    shift
    run stat "$@"
    expect_status 2
    expect_no_out
    expect_err "$pattern"
}
refused 'no program given'
refused 'no program given' --repeat 2 --
refused 'needs a number from 1' --repeat 0 -- true
refused 'needs a number from 0' --warm x -- true
refused "unknown format 'xml'" --format xml -- true
refused 'no_such_event' --events no_such_event -- true
refused 'choose some with --events' --compare gt1 -- true
refused 'no threshold' --events event=0x3c --compare eq2 -- true
refused 'needs the thresholds' --events event=0x3c --invert 1 -- true
refused 'exclude each other' --events event=0x3c --compare 1 --histogram 4 -- true
run stat --events task-clock --output /no/such/directory/file -- true
expect_status 3
expect_err '/no/such/directory/file'
finish
