#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput run, explain and record, stopped from outside, on a core made of text that is slow: by a
# signal while it calibrates, or later, and by a reader of its output that goes away. It says so,
# and leaves nothing behind, no tool that it has started either; what a killed one leaves, the next
# removes.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
. "$TREE/tests/cli/text.sh"
export TMPDIR=$SCRATCH/tmp
mkdir "$TMPDIR"
text_machine slow <<<'pace 5'

# scratch: whether there is something of ours in TMPDIR.
scratch() { [ -n "$(ls -d "$TMPDIR"/latput-* 2>/dev/null)" ]; }
calibrates() { started "$LATPUT_MACHINE/core" >/dev/null; }
held() { started "60.$$" >/dev/null; }
has_run() { [ "$(sqlite3 stop.db 'select count(*) from run' 2>/dev/null)" = 1 ]; }
measures() { [ "$(sqlite3 stop.db 'select count(*) > 0 from run_form' 2>/dev/null)" = 1 ]; }
# start ARGS...: in the background. A shell starts what is there with SIGINT ignored.
start() {
    env --default-signal=INT,TERM "$LATPUT" "$@" >"$OUT" 2>"$ERR" </dev/null &
    pid=$!
}
# ended SIGNAL STATUS: by this signal it ends so, in order.
ended() {
    kill "-$1" "$pid"
    wait "$pid"
    STATUS=$?
    CLI_COMMAND="latput, $1"
    expect_status "$2"
    expect "nothing of a core that was killed" \
        test -z "$(grep -E 'could not be timed|signal 9' "$ERR")"
    expect "nothing of ours left in TMPDIR" eval '! scratch'
}
run_quick=(run --quick --db stop.db --results none --quiet)

start "${run_quick[@]}"
await calibrates
ended INT 3
expect_err '^latput run: stopped by SIGINT \(Ctrl-C\)'
expect "no database" test -z "$(ls stop.db* 2>/dev/null)"

# While lists are checked, which is known of none of them yet: NASM, which would take its time, is
# not waited for.
mkdir tools
touch hold
cat >tools/nasm <<SCRIPT
#!/bin/sh
[ "\$1" = -v ] || [ ! -e "$SCRATCH/hold" ] || exec sleep 60.$$
[ "\$2" != elf64 ] || [ ! -e "$SCRATCH/hold_elf" ] || exec sleep 60.$$
exec $(command -v nasm) "\$@"
SCRIPT
chmod +x tools/nasm
printf 'mnemonic,operands,implicit,isa,tests,options\nadd,+r64 r64,=flags,X86_64,T,\n' >new.csv
XDG_CACHE_HOME=$SCRATCH/cache PATH=$SCRATCH/tools:$PATH \
    start run new.csv --db stop.db --results none
await held
expect "nothing is measured yet" eval '! calibrates'
SECONDS=0
ended INT 3
expect "NASM is not waited for" test "$SECONDS" -le 10
expect_err '^latput run: stopped by SIGINT \(Ctrl-C\) before anything was measured'
expect "no database" test -z "$(ls stop.db* 2>/dev/null)"

# While mixes are assembled, of which a run wants to know its ports: results are there already.
rm hold
sed -i 's/,T,$/,TP,/' new.csv
text_machine quick <<<''
PATH=$SCRATCH/tools:$PATH start run new.csv --db stop.db --results none --quiet
await measures
touch hold
await held
SECONDS=0
ended TERM 1
expect "NASM is not waited for" test "$SECONDS" -le 10
expect_err '^latput run: stopped by SIGTERM; the same command with --resume continues'

# While what is to be explained is assembled: NASM makes plain code of it, and later what is
# measured.
cat >tools/gnuplot <<SCRIPT
#!/bin/sh
[ "\$1" != --version ] || exit 0
[ ! -e "$SCRATCH/hold_gnuplot" ] || exec sleep 60.$$
exec $(command -v gnuplot || echo false) "\$@"
SCRIPT
chmod +x tools/gnuplot
printf 'add rax, rbx\n%.0s' {1..3} >blocks
# stops SIGNAL MESSAGE ARGS...: a tool holds it; by this signal both end, and it says this.
stops() {
    PATH=$SCRATCH/tools:$PATH start "${@:3}" --db stop.db
    await held
    SECONDS=0
    ended "$1" 3
    expect "the tool is not waited for" test "$SECONDS" -le 10
    expect "it does not go on either" eval '! held'
    expect_err "$2"
}
stops TERM 'explain: stopped by SIGTERM before anything was' explain --asm 'add rax, rbx'
stops INT 'explain: stopped by SIGINT .* before anything was' explain --blocks blocks --predict
mv hold hold_elf
stops INT 'explain: stopped by SIGINT .* before it was done' explain --asm 'add rax, rbx'
stops TERM 'explain: stopped by SIGTERM before it was done' explain --blocks blocks
# While a curve is drawn.
mv hold_elf hold_gnuplot
stops TERM 'gnuplot was ended, since a signal stops latput' bench \
    --sweep N=1..3 --plot curve.svg --asm 'times {N} add rax, rbx'
rm -f stop.db* hold_gnuplot
text_machine slow <<<'pace 5'

for moment in 'has_run 3' 'measures 1'; do
    start "${run_quick[@]}"
    await "${moment% *}"
    ended TERM "${moment#* }"
    expect_err '^latput run: stopped by SIGTERM'
    rm -f stop.db*
done

# A run that has not measured yet makes no directory.
text_machine quiet <<<''
run run --db stop.db --results none --quiet --filter 'add r64 r64' integer_arithmetic
expect_status 0
text_machine slow <<<'pace 5'
start record --db stop.db --output recorded
await calibrates
ended TERM 3
expect "no empty directory" test -z "$(find recorded -type d -empty 2>/dev/null)"

start "${run_quick[@]}"
await calibrates
kill -KILL "$pid"
wait "$pid" 2>/dev/null
expect "a killed run leaves its scratch" scratch
run check integer_arithmetic
expect "the next command removes it" eval '! scratch'

text_machine quiet <<<''
printf 'mnemonic,operands,implicit,isa,tests,options\nimul,+r64 r64,=flags,X86_64,T,\n' >one.csv
"$LATPUT" run one.csv --db pipe.db --results none 2>&1 </dev/null | true
STATUS=${PIPESTATUS[0]}
CLI_COMMAND="latput run, reader gone"
expect "it ends in order, with a status of its own ($STATUS)" test "$STATUS" -le 3
expect "nothing of ours left in TMPDIR" eval '! scratch'
finish
