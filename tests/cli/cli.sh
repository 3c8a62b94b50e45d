# SPDX-License-Identifier: MIT
# Sourced by tests/cli/cli_*.sh: runs $LATPUT and checks exit status and output. Each test works in
# a scratch directory that is removed at the end. `finish` ends the script.
# shellcheck shell=bash
set -u
: "${LATPUT:?path of the program}"
TREE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export TREE
SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT
cd "$SCRATCH" || exit 99
export XDG_CACHE_HOME=$SCRATCH/.cache # what is known of lists
export XDG_CONFIG_HOME=$SCRATCH/.config
: "${FIXTURES:=$SCRATCH/.fixtures}" # those of tests/run are for all its tests
unset LATPUT_CONFIG
# No test asks, or writes to, the database of the clone or the user. One that is about the default
# has a root of its own.
export LATPUT_DB=$SCRATCH/.latput.db
CLI_FAILED=0 CLI_COMMAND=${0##*/}
OUT=$SCRATCH/.out ERR=$SCRATCH/.err STATUS=0
: >"$OUT"
: >"$ERR"

# run ARGS...: runs latput; leaves its output in $OUT and $ERR, its status in $STATUS.
run() {
    "$LATPUT" "$@" >"$OUT" 2>"$ERR" </dev/null
    STATUS=$?
    CLI_COMMAND="latput $*"
}
# Shows output without control characters: it may be anything, and must not steer a terminal.
cli_show() { head -n 20 "$2" | LC_ALL=C tr -d '\000-\010\013-\037\177' | sed "s/^/  $1: /"; }
cli_fail() {
    CLI_FAILED=$((CLI_FAILED + 1))
    echo "FAILED: $CLI_COMMAND: $1"
    echo "  status $STATUS"
    cli_show out "$OUT"
    cli_show err "$ERR"
}
expect_status() { [ "$STATUS" = "$1" ] || cli_fail "expected status $1"; }
# matches REGEX FILE: whether a line does. Programs are dear to start: what the shell does not find,
# grep judges.
matches() {
    local output_lines line
    mapfile -t -n 100 output_lines <"$2"
    for line in ${output_lines[@]+"${output_lines[@]}"}; do
        [[ $line =~ $1 ]] && return
    done 2>/dev/null
    grep -qE -- "$1" "$2"
}
expect_out() { matches "$1" "$OUT" || cli_fail "no line on stdout matches: $1"; }
expect_err() { matches "$1" "$ERR" || cli_fail "no line on stderr matches: $1"; }
expect_no_out() { [ ! -s "$OUT" ] || cli_fail "stdout should be empty"; }
# expect "what" COMMAND...: the command must succeed.
expect() {
    CLI_COMMAND=$1
    shift
    "$@" || cli_fail "not true: $*"
}
# await COMMAND...: waits until it succeeds, for at most a minute.
await() {
    local i
    for ((i = 0; i < 3000; i++)); do
        "$@" 2>/dev/null && return
        sleep 0.02
    done
    cli_fail "it never came: $*"
}
# started WORD: prints the id of a process that has it in its command line; false if there is none.
started() {
    local found
    # The word comes by standard input, lest grep find itself.
    # shellcheck disable=SC2062 # no pattern
    found=$(grep -l -s -z -x -F -f - /proc/[0-9]*/cmdline <<<"$1" | head -n 1)
    [[ $found =~ ^/proc/([0-9]+)/ ]] && echo "${BASH_REMATCH[1]}"
}
# needs PROGRAM...: ends the test as skipped where one of them is missing.
needs() {
    local program
    for program in "$@"; do
        command -v "$program" >/dev/null || { echo "$program is missing" && exit 77; }
    done
}
# has PROGRAM: whether it is there. If not, tests/run prints that the test left something out.
has() { command -v "$1" >/dev/null || { left_out "$1" && false; }; }
left_out() { echo "left out: $1 is missing"; }
# has_python MODULE: the same of Python with that module.
has_python() {
    has python3 || return
    python3 -c "import $1" 2>/dev/null || { left_out "python3-$1" && false; }
}
# runs_32: whether 32-bit programs can be built and run here.
runs_32() { [ -e "$BUILD/core32.o" ] && "$BUILD/probe32" 2>/dev/null; }
# keeps_cpu: whether this process may choose its CPU, if only the ones that it has.
keeps_cpu() { taskset -pc "$(taskset -pc $$ | sed 's/.*: //')" $$ >/dev/null 2>&1; }
# needs_cpu: ends the test as skipped where it may not.
needs_cpu() {
    keeps_cpu && return
    echo "affinity: a process may not choose its CPU here"
    exit 77
}
# needs_memfd: ends the test as skipped where no file in memory can be made.
needs_memfd() {
    "$BUILD/fuzz_replay" cpuid "$TREE/tests/fixtures/cpu/zen5.cpuid" 2>&1 |
        grep -q 'a file in memory' || return 0
    echo "memfd: files in memory are not allowed here"
    exit 77
}
# llvm_19 TOOL: prints its name; false where there is none of that version.
llvm_19() {
    local name
    for name in "$1-19" "$1"; do
        if "$name" --version 2>/dev/null | grep -q 'LLVM version 19\.'; then
            echo "$name"
            return
        fi
    done
    return 1
}
# llvm_newest TOOL: prints that of the newest version, 19 at least; false where there is none.
llvm_newest() {
    local version
    for ((version = 60; version >= 20; version--)); do
        command -v "$1-$version" && return
    done
    llvm_19 "$1"
}
# measured: what was run last has results, of which some may be in doubt. Without them nothing of
# what comes after can be proved, and the test ends as failed; whether by noise tests/run asks.
measured() { [ "$STATUS" -le 1 ] || { cli_fail "expected status 0 or 1" && exit 1; }; }
# own_db ROOT: gives a root of one's own the files of db/, but no database of the clone.
own_db() { mkdir -p "$1/db" && ln -s "$TREE"/db/{migrations,*.sql} "$1/db/"; }
# unpack ZIP NAME FILE: what a pack has of this name, a glob.
unpack() {
    sqlite3 :memory: "SELECT writefile('$3', data) FROM zipfile('$1') WHERE name GLOB '$2'" \
        >/dev/null
}
# fixture NAME [AS]: copies a database that many tests read, which the first of them makes, or that
# the build has.
fixture() {
    local made=$FIXTURES/$1 maker=("$BUILD/tests/test_store_ports" make)
    [ ! -e "$BUILD/$1" ] || { cp "$BUILD/$1" "${2-$1}" && return; }
    case $1 in
    known.db) maker=("$BUILD/tests/test_report" make) ;;
    published.db) maker=("$LATPUT" merge "$TREE"/results/published/*.tar.xz --db) ;;
    esac
    mkdir -p "$FIXTURES"
    (
        flock 9
        [ -e "$made" ] || { "${maker[@]}" "$made.new" && mv "$made.new" "$made"; }
    ) 9>"$made.lock" && cp "$made" "${2-$1}" || exit 99
}
# expect_schema NAME FILE [NAME FILE]...: JSON is what docs/output.schema.json says under that name,
# what it says of every output. Where python3-jsonschema is missing, the files are kept in the
# directory SCHEMA_LATER as TEST.NUMBER.NAME, for tests/schema.py elsewhere, or not looked at.
expect_schema() {
    CLI_COMMAND="$CLI_COMMAND ($* by docs/output.schema.json)"
    if [ -n "${SCHEMA_LATER-}" ]; then
        while [ $# != 0 ]; do
            kept=$((${kept-0} + 1))
            cp "$2" "$SCHEMA_LATER/$(basename "$0" .sh).$kept.$1" || exit 99
            shift 2
        done
    elif has_python jsonschema; then
        python3 "$TREE/tests/schema.py" "$@" >"$SCRATCH/.schema" 2>&1 ||
            cli_fail "$(cat "$SCRATCH/.schema")"
    fi
}
# expect_json FILE...: each is valid JSON.
expect_json() {
    local file
    for file in "$@"; do
        expect "valid JSON in $file" test "$(sqlite3 :memory: \
            "SELECT json_valid(CAST(readfile('$file') AS TEXT))")" = 1
    done
}
# on_terminal ARGS...: runs latput on a terminal of 80 columns, and of $ROWS lines, that knows
# colours; what it shows is in $OUT, its status in $STATUS. False where there is no script(1).
on_terminal() {
    command -v script >/dev/null || return 1
    CLI_COMMAND="latput $* (on a terminal)"
    TERM=xterm script -qec "stty cols 80 rows ${ROWS:-0}; $(printf '%q ' "$LATPUT" "$@")" \
        /dev/null </dev/null >"$OUT.raw"
    STATUS=$?
    tr -d '\r' <"$OUT.raw" >"$OUT"
}
finish() { [ "$CLI_FAILED" = 0 ] && exit 0 || exit 1; }
