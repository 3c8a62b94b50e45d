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

# Without a name of their owner's they have one of their brand, as far as there are several.
fixture known.db
cp known.db apart.db
sqlite3 apart.db "$(sqlite3 apart.db "SELECT 'DROP TRIGGER ' || name || ';' FROM sqlite_schema
    WHERE type = 'trigger' AND tbl_name = 'cpu'")
    UPDATE cpu SET uarch = 'zen5', brand = iif(cpu_id = 1, 'AMD EPYC 9B45 128-Core Processor',
        'AMD Ryzen 9 9950X 16-Core Processor')"
export LATPUT_DB=$PWD/apart.db
run query --format csv --columns uarch,run_id,latency_max_clk 'add *'
expect "a row for each" test "$(tail -n +2 "$OUT" | sort | xargs)" = \
    'zen5@epyc-9b45,1,2 zen5@ryzen-9-9950x,2,4'
run query --format csv --columns uarch --together 'add *'
expect "one row of both" test "$(xargs <"$OUT")" = 'uarch zen5'
run query --uarch zen5 --side-by-side 'add *'
expect_out 'zen5@epyc-9b45 .*zen5@ryzen-9-9950x'
run query --uarch @ryzen-9-9950x --format csv --columns uarch 'add *'
expect_out '^zen5@ryzen-9-9950x$'
run query --uarch zen5@epyc-9b46
expect_status 2
expect_err 'only of zen5@epyc-9b45, zen5@ryzen-9-9950x; did you mean .*zen5@epyc-9b45'
run diff zen5@epyc-9b45 zen5@ryzen-9-9950x --format csv add
expect_out '^add r64 r64,legacy,1\.00,2\.00,'
run diff zen5@epyc-9b45 zen5 --format csv add
expect_status 0
expect_err "'zen5' is several machines, zen5@epyc-9b45,zen5@ryzen-9-9950x: takes zen5@ryzen-9-9950x"
run diff zen5 zen5 --together
expect_no_out
run export --uarch zen5@epyc-9b45 --format csv
expect_out '^zen5@epyc-9b45,'
run pack --run 1 --output one.tar.xz
expect_status 0
expect "a pack has the family's name" test -z "$(tar -xOJf one.tar.xz README.txt | grep @epyc)"
run site --output apart
expect "the page has the same names" grep -q '"key":"zen5@epyc-9b45"' apart/data/index.js
run help --completion bash
expect_out 'zen5@epyc-9b45'
finish
