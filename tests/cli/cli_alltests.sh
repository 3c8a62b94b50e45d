#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# alltests.sh around a program that only notes how it was called: which commands run in which order,
# what is passed on, what ends it, and that a lost terminal does not.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "${BASH_SOURCE[0]}")/cli.sh"

cp "$TREE/alltests.sh" .
cat >install-deps.sh <<'END'
#!/bin/sh
echo "deps" >>calls
exit "${DEPS_STATUS:-0}"
END
cat >program <<'END'
#!/bin/sh
echo "$*" >>calls
echo "this is $1"
if [ "$1" = "$SLOW" ]; then
    while [ ! -e go_on ]; do sleep 0.05; done
fi
[ "$1" = "$FAILING" ] && [ "$2" != "${WORKING:-none}" ] && exit "$STATUS_WANTED"
exit 0
END
printf 'all:\n\t@echo make >>calls; mkdir -p build; cp program build/latput\n' >Makefile
chmod +x install-deps.sh program

# all ARGS...: runs alltests.sh as `run` runs latput; the calls are in the file calls.
all() {
    rm -f calls
    ./alltests.sh "$@" >"$OUT" 2>"$ERR" </dev/null
    STATUS=$?
    CLI_COMMAND="alltests.sh $*"
}
# expect_calls TEXT: one call a line.
expect_calls() {
    [ "$(cat calls)" = "$1" ] || cli_fail "calls are: $(tr '\n' '|' <calls)"
}

all
expect_status 0
expect_calls 'deps
make
cpu --save results/cpu.cpuid
cpu
check
run --resume
property --resume --results results
report --output results
site --output results/site --no-database
pack --output results'
expect_out '^Results are in results/'
expect "nothing is named that is not there" test "$(grep -c 'plots/' "$OUT")" = 0
mkdir results/plots && touch results/plots/one.svg results/properties.txt
all
expect_out 'the pipeline \(properties\.txt\), its curves \(plots/\*\.svg\), a web page'
expect "log of the run" grep -q '^this is run' results/alltests.log
expect "CPU text" grep -q '^this is cpu' results/cpu.txt

all --quick --db my.db --results=elsewhere --filter 'add *'
expect_status 0
expect "options reach run" grep -qx \
    'run --resume --quick --db my.db --results=elsewhere --filter add \*' calls
expect "report" grep -qx 'report --db my.db --output elsewhere' calls
expect "database reaches pack" grep -qx 'pack --db my.db --output elsewhere' calls
expect "log elsewhere" grep -q '^this is run' elsewhere/alltests.log
expect "no properties where forms are chosen" test -z "$(grep '^property' calls)"
all --quick --cpu 1 --db=my.db -q --results elsewhere
expect "options reach property" \
    grep -qx 'property --resume --quick --cpu 1 --db=my.db --results elsewhere' calls

# A run in which tests failed is complete; anything worse ends it there.
export FAILING=run STATUS_WANTED=1
all
expect_status 1
expect "pack after failed tests" grep -q '^pack' calls
expect_out '^The results are not to be relied on as they are'
expect "what has no value is asked again, once" test "$(grep -c '^run --again$' calls)" = 1
WORKING=--again all --quick
expect_status 0
expect "of the same forms" grep -qx 'run --again --quick' calls
for STATUS_WANTED in 2 3; do
    all
    expect_status "$STATUS_WANTED"
    expect "no pack without results" test -z "$(grep '^pack' calls)"
done
FAILING=property STATUS_WANTED=3
all
expect_status 0
expect "pack without properties" grep -q '^pack' calls
expect_out '^The properties are incomplete or in doubt'
FAILING=check STATUS_WANTED=2
all
expect_status 2
expect_err '^this is check$'
expect_err "^alltests.sh: 'build/latput check' failed with status 2"
expect "no run with broken lists" test -z "$(grep '^run' calls)"
FAILING=
DEPS_STATUS=3 all
expect_status 3
expect_calls 'deps'
printf 'all:\n\t@echo "broken tree" >&2; false\n' >Makefile
all
expect_status 3
expect_err '^broken tree'
expect "nothing after a failed build" test "$(cat calls)" = deps

# signalled SIGNAL [COMMAND]: sends a signal while that command (default: run) is under way, which
# goes on only then.
signalled() {
    SLOW=${2:-run} ./alltests.sh >"$OUT" 2>"$ERR" </dev/null &
    pid=$!
    for ((i = 0; i < 200; i++)); do
        grep -q "^${2:-run}" calls 2>/dev/null && break
        sleep 0.05
    done
    kill -"$1" "$pid"
    touch go_on
    wait "$pid"
    STATUS=$?
}

# Hang-up of the terminal, and a reader of its output that goes away.
printf 'all:\n\t@mkdir -p build; cp program build/latput\n' >Makefile
rm -f calls
CLI_COMMAND='alltests.sh, hung up'
signalled HUP
expect_status 0
expect "pack after hang-up" grep -q '^pack' calls

# Interrupted (the run ends by itself then, with what it has): nothing is packed.
rm -f calls go_on
CLI_COMMAND='alltests.sh, interrupted'
signalled TERM
expect_status 1
expect_out 'goes on from here'
expect "no pack of half a run" test -z "$(grep '^pack' calls)"
rm -f calls go_on
CLI_COMMAND='alltests.sh, interrupted before the run'
signalled TERM check
expect_status 1
expect_out 'goes on from here'
expect "nothing is measured then" test -z "$(grep '^run' calls)"
expect "no step is said to have failed" test ! -s "$ERR"
rm -f calls
CLI_COMMAND='alltests.sh, reader gone'
./alltests.sh 2>&1 </dev/null | true
STATUS=${PIPESTATUS[0]}
expect_status 0
expect "pack without a reader" grep -q '^pack' calls
finish
