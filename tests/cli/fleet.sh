# SPDX-License-Identifier: MIT
# Sourced by tests of fleets, after tests/cli/kit.sh; they define fleet(): what their hosts run, and
# a call that is killed in the middle.
# shellcheck shell=bash

# fleet_stand: makes `kit`, a stand-in for one, whose pack is known.zip in its home. Its home tells
# what became of it: started (a line a start), pid, steps, all_steps; with a file `broken` there it
# fails.
fleet_stand() {
    kit_fixture real_kit
    sed "s,REAL_KIT,$SCRATCH/real_kit," >kit <<'END'
#!/bin/sh
[ "$1" = --once ] || HOME=$HOME/${SLURMD_NODENAME-} # nodes of Slurm share a home
# Takes three steps of a second to "measure"; what is done is not done again.
case $1 in
--once) exec REAL_KIT "$@" ;;
run)
    echo "$@" >>"$HOME/started"
    echo $$ >"$HOME/pid"
    steps=$(cat "$HOME/steps" 2>/dev/null || echo 0)
    while [ "$steps" -lt 3 ]; do
        sleep 1
        steps=$((steps + 1))
        echo $steps >"$HOME/steps"
        echo step >>"$HOME/all_steps"
    done
    [ ! -e "$HOME/broken" ] || { echo "the assembler is missing"; exit 3; }
    ;;
pack)
    while [ "$1" != --output ]; do shift; done
    cp "$HOME/known.zip" "$2"
    ;;
esac
exit
END
    fleet_kit kit
}
# fleet_kit FILE: makes the script a stand-in for a kit.
fleet_kit() {
    printf '#LATPUTK1' >>"$1"
    chmod +x "$1"
}

FLEET_JOB=(--quick "it's one")

# descendants PID: prints it, and the processes that it has started, and theirs.
descendants() {
    local child
    echo "$1"
    for child in $(pgrep -P "$1"); do
        descendants "$child"
    done
}

# fleet_killed HOME1 HOME2: a call that is killed with all that it has started here when both hosts
# have begun.
fleet_killed() {
    local call
    (fleet -- "${FLEET_JOB[@]}" >/dev/null 2>&1) &
    call=$!
    for _ in $(seq 600); do # a busy machine takes its time
        [ -s "$1/pid" ] && [ -s "$2/pid" ] && break
        sleep 0.1
    done
    mapfile -t call < <(descendants "$call")
    kill -KILL "${call[@]}" 2>/dev/null # some have ended meanwhile
    wait "${call[0]}" 2>/dev/null
    expect "both had begun" test -s "$1/pid" -a -s "$2/pid"
}

# fleet_went_on HOME1 HOME2: what the next call made of it, when the second had lost its run, too.
fleet_went_on() {
    expect "nothing was started twice" test "$(wc -l <"$1/started")" = 1
    expect "what was lost was started again" test "$(wc -l <"$2/started")" = 2
    expect "and went on where it was" test "$(wc -l <"$2/all_steps")" = 3
    expect "with its arguments" grep -qE \
        "^run --resume --db .*/latput.db --results none ${FLEET_JOB[*]}$" "$1/started"
    expect "both packs are merged" test \
        "$(sqlite3 -readonly out/latput.db 'SELECT count(*) FROM run')" = 2
    expect "a page" test -s out/site/index.html
}
