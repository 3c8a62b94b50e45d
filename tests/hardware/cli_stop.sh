#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput run, stopped from outside: by a signal while it calibrates, and by a reader of its output
# that goes away. It says so, and leaves nothing behind; what a killed one leaves, the next removes.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/../cli/cli.sh"
export TMPDIR=$SCRATCH/tmp
mkdir "$TMPDIR"

# The run is calibrating when its scratch directory is there.
start() {
    # A shell starts what is in the background with SIGINT ignored.
    env --default-signal=INT "$LATPUT" run --quick --db stop.db --results none --quiet --new-floor \
        >"$OUT" 2>"$ERR" </dev/null &
    pid=$!
    for ((i = 0; i < 200; i++)); do
        [ -z "$(ls "$TMPDIR"/*/ 2>/dev/null)" ] || break
        sleep 0.05
    done
}

start
kill -INT "$pid"
wait "$pid"
STATUS=$?
CLI_COMMAND="latput run, SIGINT"
expect_err '^latput run: stopped by SIGINT \(Ctrl-C\)'
expect "nothing of ours left in TMPDIR" test -z "$(ls -d "$TMPDIR"/latput-* 2>/dev/null)"
if [ "$STATUS" = 3 ]; then # else the calibration was over
    expect "no database" test -z "$(ls stop.db* 2>/dev/null)"
fi

# However far it is: it says what it was, not that its core could not be timed.
for seconds in 0.2 0.4 0.7 1; do
    env --default-signal=TERM "$LATPUT" run --quick --db stop.db --results none --quiet \
        --new-floor >"$OUT" 2>"$ERR" </dev/null &
    pid=$!
    sleep "$seconds"
    kill -TERM "$pid"
    wait "$pid"
    STATUS=$?
    CLI_COMMAND="latput run, SIGTERM after $seconds s"
    # Before it listens to signals there is nothing to say or to leave.
    [ "$STATUS" = 143 ] || expect_err '^latput run: stopped by SIGTERM'
    expect "nothing of a core that was killed" \
        test -z "$(grep -E 'could not be timed|signal 9' "$ERR")"
    expect "nothing of ours left in TMPDIR" test -z "$(ls -d "$TMPDIR"/latput-* 2>/dev/null)"
    rm -f stop.db*
done

# What is not measured yet leaves no directory behind.
cat "$TREE/db/schema.sql" "$TREE/db/views.sql" "$TREE/tests/fixtures/golden/ports_run.sql" |
    sqlite3 -batch -bail real.db >/dev/null || exit 99
for seconds in 0.02 0.1 0.3; do
    env --default-signal=TERM "$LATPUT" record --db real.db --output recorded >"$OUT" 2>"$ERR" \
        </dev/null &
    pid=$!
    sleep "$seconds"
    kill -TERM "$pid"
    wait "$pid"
    STATUS=$?
    CLI_COMMAND="latput record, SIGTERM after $seconds s"
    [ "$STATUS" = 143 ] || expect_status 3
    expect "no empty directory" test -z "$(find recorded -type d -empty 2>/dev/null)"
    rm -rf recorded
done

start
kill -KILL "$pid"
wait "$pid" 2>/dev/null
expect "a killed run leaves its scratch" test -n "$(ls -d "$TMPDIR"/latput-*)"
run check integer_arithmetic
expect "the next command removes it" test -z "$(ls -d "$TMPDIR"/latput-* 2>/dev/null)"

printf 'mnemonic,operands,implicit,isa,tests,options\nimul,+r64 r64,=flags,X86_64,T,\n' >one.csv
"$LATPUT" run one.csv --db pipe.db --results none --give-up 5 2>&1 </dev/null | true
STATUS=${PIPESTATUS[0]}
CLI_COMMAND="latput run, reader gone"
expect "it ends in order, with a status of its own ($STATUS)" test "$STATUS" -le 3
expect "nothing of ours left in TMPDIR" test -z "$(ls -d "$TMPDIR"/latput-* 2>/dev/null)"
finish
