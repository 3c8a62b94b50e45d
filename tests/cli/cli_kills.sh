#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Commands that write, killed at any moment, on a core made of text: the database stays whole, what
# was there stays, the same command comes to its end afterwards and leaves no file of a killed one.
# KILLS: how many, in turn over the commands (default 16); SEED: of the moments.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"
RANDOM=${SEED:-1}

cat >forms.csv <<'LIST'
mnemonic,operands,implicit,isa,tests,options
add,+r64 r64,=flags,X86_64,LT,
imul,+r64 r64,=flags,X86_64,LT,
LIST
text_machine theirs <<<'form "imul *" p3 4'
run run forms.csv --db theirs.db --results none --quiet
run pack --db theirs.db --output theirs.zip
expect_status 0
text_machine ours <<<''
run run forms.csv --db calm.db --results none --quiet
expect_status 0
sed 's/^imul,.*/mulss,+x x,,SSE,LT,/' forms.csv >lacking.csv
text_machine ours <<<'state "mulss *" 3 1 wild'
run run lacking.csv --db lacking.db --results none --quiet
expect_status 1
text_machine ours <<<''
export TMPDIR=$SCRATCH/tmp
mkdir tmp

# All files of a command are in the directory `out`; its database is a copy of the calm one.
commands=(
    "merge --db out/all.db theirs.zip"
    "run forms.csv --db out/all.db --results out/tables --quiet"
    "run --again lacking.csv --db out/lacking.db --results none --quiet"
    "property --db out/all.db --quiet --results none return_stack"
    "pack --db out/all.db --output out/ours.zip"
    "report --db out/all.db --output out/report"
    "site --db out/all.db --output out/site"
    "bench --db out/all.db --store --asm nop"
    "export --db out/all.db --format json --output out/export.json"
)
begin() { rm -rf out && mkdir out && cp calm.db out/all.db && cp lacking.db out/; }
# To be called in a process of its own, which becomes the command.
latput() {
    local words
    read -ra words <<<"$1"
    exec "$BUILD/latput" "${words[@]}" >"$OUT" 2>"$ERR"
}

for i in "${!commands[@]}"; do # how long each takes
    begin
    from=${EPOCHREALTIME/[.,]/}
    (latput "${commands[i]}")
    statuses[i]=$?
    took[i]=$((${EPOCHREALTIME/[.,]/} - from))
    CLI_COMMAND="latput ${commands[i]}"
    expect "undisturbed it ends well: $(cat "$ERR")" test "${statuses[i]}" -le 1
done

killed=0
for ((k = 0; k < ${KILLS:-16}; k++)); do
    i=$((k % ${#commands[@]}))
    CLI_COMMAND="latput ${commands[i]}, killed"
    begin
    (latput "${commands[i]}") &
    moment=$((took[i] * (RANDOM % 1000) / 1000))
    sleep "$(printf '%d.%06d' $((moment / 1000000)) $((moment % 1000000)))"
    kill -KILL $! 2>/dev/null && killed=$((killed + 1))
    wait $! 2>/dev/null
    expect "whole" test "$(sqlite3 out/all.db 'PRAGMA integrity_check; PRAGMA foreign_key_check')" = ok
    expect "whole" test "$(sqlite3 out/lacking.db 'PRAGMA integrity_check')" = ok
    expect "what was there" test "$(sqlite3 out/all.db "SELECT count(*) FROM result JOIN test
        USING (test_id) JOIN run_form USING (run_form_id) WHERE run_id = 1")" = \
        "$(sqlite3 calm.db 'SELECT count(*) FROM result')"
    (latput "${commands[i]}")
    status=$?
    CLI_COMMAND="latput ${commands[i]}, after a kill"
    expect "it ends as it did undisturbed: $(cat "$ERR")" test "$status" = "${statuses[i]}"
    [[ ${commands[i]} != *--again* ]] || expect "all is there, in one run more" test "$(sqlite3 \
        out/lacking.db "SELECT count(*), sum(outcome = 'ok'), (SELECT count(*) FROM run)
        FROM instruction_table")" = '2|2|2'
    expect "nothing left: $(find out tmp -name '*.tmp*' -o -name '.latput*' -o -name 'latput-*')" \
        test -z "$(find out tmp -name '*.tmp*' -o -name '.latput*' -o -name 'latput-*')"
done
expect "some were killed while they worked: $killed" test "$killed" -ge $((${KILLS:-16} / 4))
finish
