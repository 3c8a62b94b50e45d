#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Machines of one CPU family that their owner gave names, on cores made of text.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"

cat >forms.csv <<'LIST'
mnemonic,operands,implicit,isa,tests,options
add,+r64 r64,=flags,X86_64,T,
imul,+r64 r64,=flags,X86_64,T,
LIST
# measures NAME [OPTION...]: a run of the forms, into NAME.db.
measures() {
    local name=$1
    shift
    run run forms.csv --db "$name.db" --results none --quiet --tests T "$@"
    expect_status 0
}
labels() { sqlite3 "$1.db" "SELECT group_concat(label) FROM (SELECT label FROM run ORDER BY run_id)"; }

text_machine desk <<<''
measures desk --label desk
measures desk
expect "a label stays" test "$(labels desk)" = desk,desk
run explain --db desk.db --predict 'imul rax, rbx'
expect_out '^zen5@desk: 1 instruction'
run bench --db desk.db --store 'add rax, rbx'
expect_status 0
run query --db desk.db --bench --format csv --columns uarch
expect_out '^zen5@desk$'
# Completion offers it, but where an option says what this CPU is.
LATPUT_DB=desk.db run help --completion bash
expect_status 0
(
    # shellcheck source=/dev/null
    . "$OUT"
    for words in 'query --uarch zen5@' 'query --uarch @' 'run --uarch zen5@'; do
        # shellcheck disable=SC2206 # several words
        COMP_WORDS=(latput $words) COMP_CWORD=3 COMPREPLY=()
        _latput
        printf '%s\n' "${COMPREPLY[@]}"
    done
) >offered
expect "labels are completed" test "$(xargs <offered)" = 'zen5@desk @desk'
text_machine lap <<<''
LATPUT_CONFIG=$PWD/config
export LATPUT_CONFIG
echo 'run.label = lap-2' >config
measures lap
expect "the configuration gives one" test "$(labels lap)" = lap-2
measures lap --label ''
echo >config
measures lap
expect "an empty one takes it off" test "$(labels lap)" = lap-2,,

run run --label 'My Host'
expect_status 2
expect_err "--label cannot be 'My Host'; it takes at most 20 lower-case letters, digits, - and _$"
run run --label abcdefghijklmnopqrstu
expect_status 2
cp desk.db other.db
expect "a database takes no other" grep -q 'CHECK constraint failed: label' <(sqlite3 other.db "
    DROP TRIGGER run_no_update; DROP TRIGGER run_finish_once;
    UPDATE run SET label = 'My Host'" 2>&1)

# Packs carry it and say so.
for name in desk lap; do
    run pack --db $name.db --run 1 --output $name.tar.xz
    expect_status 0
done
expect_err "gave it \('lap-2'\)"
tar -xOJf desk.tar.xz README.txt >readme
expect "the words of the pack" grep -q '@desk is the name that its owner gave' \
    <(tr '\n' ' ' <readme)
run merge desk.tar.xz lap.tar.xz --db both.db
expect_status 0

# Commands find and show it.
run query --db both.db --format csv --columns uarch,form 'add *'
expect_out '^zen5@desk,'
expect_out '^zen5@lap-2,'
for name in zen5@desk znver5@desk 'Zen 5@desk' @desk; do
    run query --db both.db --format csv --columns uarch --uarch "$name" 'add *'
    expect "$name" test "$(tr '\n' ' ' <"$OUT")" = 'uarch zen5@desk '
done
run query --db both.db --uarch zen5 --side-by-side 'add *'
expect_out 'zen5@desk .*zen5@lap-2'
run query --db both.db --uarch zen5@des
expect_status 2
expect_err "has no results of the uarch 'zen5@des', only of zen5@desk, zen5@lap-2; did you mean"
run query --db both.db --runs
expect_out 'zen5@lap-2'
run diff --db both.db zen5@desk zen5@lap-2 --summary
expect_status 0
run diff --db both.db zen5 zen5@lap-2
expect_status 2
expect_err "'zen5' means several uarchs, zen5@desk,zen5@lap-2: name one of them"
run export --db both.db --uarch zen5@lap-2 --format csv
expect_out '^zen5@lap-2,'
run site --db both.db --output site
expect_status 0
expect "a page has both" grep -rq 'zen5@lap-2' site
run query --db desk.db --uarch zen5 'add *'
expect_status 0
finish
