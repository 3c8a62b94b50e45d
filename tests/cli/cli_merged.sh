#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A pack of another machine that says of itself what this one says, on cores made of text: its runs
# do not decide what this machine is, and are not taken for this machine's.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"

cat >forms.csv <<'LIST'
mnemonic,operands,implicit,isa,tests,options
add,+r64 r64,=flags,X86_64,LT,
imul,+r64 r64,=flags,X86_64,LT,
LIST
measures() { # DB
    run run forms.csv --db "$1" --results none --quiet
    expect_status 0
}
came="^latput [a-z]+: run 1, of 'simulated: a core made of text' \\(unknown\\), came by merge: no"

# Ours first, so that theirs is the newest.
text_machine ours <<<''
measures ours.db
text_machine theirs <<<'form "imul *" p3 4'
measures theirs.db
mkdir packs
run pack --db theirs.db --output packs
expect_status 0
expect "theirs is filed under another uarch" test "$(sqlite3 theirs.db \
    'SELECT uarch FROM run JOIN cpu USING (cpu_id)')" = unknown
export LATPUT_MACHINE=$SCRATCH/ours
run merge --db ours.db packs/*
expect_status 0
expect_out ': added as run 2$'

# This machine's family, by the message of a command that asks for it.
run ports --db ours.db
expect_err "no run of 'zen5' has found its ports"
run report --db ours.db --output tables
expect_status 0
expect_err 'tables of run 1, with the best answers'
expect "nothing came by merge" test "$(grep -c 'came by' "$ERR")" = 0
run pack --db ours.db --output own.zip
expect_status 0
unpack own.zip '*.db' own.db
expect "our run alone is packed" test "$(sqlite3 own.db 'SELECT uuid FROM run')" = \
    "$(sqlite3 ours.db 'SELECT uuid FROM run WHERE run_id = 1')"
run explain --db ours.db --predict --asm 'imul rax, rbx'
expect_status 0
expect_out ' 3\.00 '
expect "nothing came by merge" test "$(grep -c 'came by' "$ERR")" = 0

# Without a run of its own a database shows what there is, and says whose it is.
run merge --db merged.db packs/*
for words in 'report --output tables' 'pack --output merged.zip' 'export --format csv'; do
    # shellcheck disable=SC2086 # words
    run $words --db merged.db
    expect_status 0
    expect_err "$came"
done
run merge --db back.db own.zip
run explain --db back.db --predict --asm 'imul rax, rbx'
expect_status 0
expect_err "${came/unknown/zen5}"
# A named run needs no note.
run report --db merged.db --run 1 --output tables
expect_status 0
expect "no word of it" test "$(grep -c 'came by' "$ERR")" = 0

# A run goes on beside a merge of seconds, and both are complete.
text_machine beside <<<'pace 30'
"$LATPUT" run forms.csv --db beside.db --results none --quiet >run.out 2>run.err </dev/null &
while kill -0 $! && ! [ "$(sqlite3 beside.db 'SELECT count(*) FROM run' 2>/dev/null)" = 1 ]; do
    sleep 0.1
done
set -- "$TREE"/results/published/AuthenticAMD-*.tar.xz
run merge --db beside.db "$1"
expect_status 0
wait $!
STATUS=$?
CLI_COMMAND='latput run, beside a merge'
expect_status 0
expect "all of it is there" test "$(sqlite3 beside.db "SELECT count(*), sum(outcome = 'ok')
    FROM run_instruction_table WHERE run_id = 1")" = '2|2'
expect "nothing is torn" test "$(sqlite3 beside.db 'PRAGMA foreign_key_check;
    PRAGMA integrity_check')" = ok
# Results made again from samples may take minutes: a terminal shows how far that is, a file is not
# told.
fixture known.db
run pack --db known.db --with-samples --output samples.zip
expect_status 0
if has script; then
    for words in 'merge --db shown.db samples.zip' 'rederive --db shown.db'; do
        TERM=xterm script -qec "'$LATPUT' $words" /dev/null </dev/null >"$OUT" 2>"$ERR"
        CLI_COMMAND="latput $words, in a terminal"
        expect_out '0/[0-9]+ kernels'
    done
fi
run merge --db silent.db samples.zip
expect_status 0
expect "no bar in a file" test "$(grep -c kernels "$ERR")" = 0
# A library that the machine lacks is no fault of the pack.
mkdir -p none
touch none/libarchive.so none/libarchive.so.13
LD_LIBRARY_PATH=$PWD/none run merge --db none.db "$TREE"/results/published/Authentic*.tar.xz
expect_status 3
expect_err 'packs need libarchive, which cannot be loaded'
expect "nothing is made" test ! -e none.db
finish
