#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The family that a run is filed under, on cores made of text: by the whole run, not its first
# seconds. Noise takes no name away, and gives none; a core that is another one loses its name.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"

cat >forms.csv <<'LIST'
mnemonic,operands,implicit,isa,tests,options
add,+r64 r64,=flags,X86_64,T,
nop,,,X86_64,T,
imul,+r64 r64,=flags,X86_64,T,
LIST
filed() { sqlite3 "$1.db" "SELECT uarch || iif(inferred, '?', ''), decided, ifnull(measured_width,
    'none') FROM run JOIN cpu USING (cpu_id) ORDER BY run_id DESC LIMIT 1"; }
# measures NAME STATUS [OPTION...]: a run of the forms, into NAME.db.
measures() {
    local name=$1 status=$2
    shift 2
    run run forms.csv --db "$name.db" --results none --quiet --tests T "$@"
    expect_status "$status"
}

# The first N measuring processes are of another core: of the script in the directory `first`.
begins_as() {
    mkdir -p "$LATPUT_MACHINE/first"
    cat "$TREE/tests/text/zen5.text" - >"$LATPUT_MACHINE/first/core.text"
    rm "$LATPUT_MACHINE/core"
    cat >"$LATPUT_MACHINE/core" <<SCRIPT
#!/bin/sh
echo x >>"$LATPUT_MACHINE/count"
[ "\$(wc -l <"$LATPUT_MACHINE/count")" -gt $1 ] || export LATPUT_MACHINE="$LATPUT_MACHINE/first"
exec "$BUILD/tests/core_text" "\$@"
SCRIPT
    chmod +x "$LATPUT_MACHINE/core"
}

# Something takes a quarter of the core for all of the six seconds in which its floor is found.
text_machine disturbed <<<''
begins_as 40 <<<'width 6'
measures disturbed 0
expect "it keeps its name, and has its width" test "$(filed disturbed)" = 'zen5|claim|8'
expect "no warning" test "$(sqlite3 disturbed.db 'SELECT count(*) FROM run_warning')" = 0
expect "the values of a quiet core" test "$(sqlite3 disturbed.db "SELECT group_concat(mnemonic ||
    ' ' || round(rthroughput_clk + 0.003, 2), ', ') FROM (SELECT * FROM instruction_table
    ORDER BY mnemonic)" | tr -s '\n ' ' ' | sed 's/ $//')" = 'add 0.25, imul 1.0, nop 0.13'

run cpu --db disturbed.db
expect_out '^  rests on +its signature, which nothing contradicts; measured: 8 µops per$'
run cpu --db disturbed.db --format json
expect_out '^  "measured_width": 8,$'

# For all of the run: it is said, and no more.
text_machine busy <<<'width 7'
measures busy 0
expect "it keeps its name" test "$(filed busy)" = 'zen5|claim|7'
expect_err 'not seen at its full width: at best 7 of the 8 µops per cycle that zen5 dispatches'
expect "no floor to keep" test "$(sqlite3 busy.db 'SELECT count(*) FROM canary_floor')" = 0

# The canaries that nothing fuses do not reach the width, for want of idioms; a nop does.
text_machine slow <<<''
sed -i '/^idiom "xor r/d' "$LATPUT_MACHINE/core.text"
measures slow 0
expect "a throughput shows the width" test "$(filed slow)" = 'zen5|claim|8'
measures narrow 0 --filter imul
expect "the floor did not" test "$(filed narrow)" = 'zen5|claim|6'

# Some calibrations are slow by chance if every timing spreads, and make kernels look fast: as on a
# core of a width that no such core has.
for share in 0.05 0.1 0.2; do
    text_machine spread <<<"noise $share"
    rm -f spread.db
    run run forms.csv --db spread.db --results none --quiet --tests T
    CLI_COMMAND="noise $share"
    expect "noise gives no name" test "$(filed spread)" = 'zen5|claim|8'
done

# Cores that are others: wider than what they claim, or slower at what the table is sure of.
text_machine wide zen5 cascadelake <<<''
measures wide 0
expect "not a cascadelake" test "$(filed wide)" = 'zen5?|inferred|8'
expect_err 'claims to be a cascadelake and is filed under .zen5[?].: measured, the core dispatches 8 µops'
text_machine slower <<<'form "imul *" p3 4'
measures slower 0
expect "not a zen5" test "$(filed slower)" = 'unknown|unknown|8'
expect_err 'measured, imul r64,r64 takes 4\.00 cycles; on zen5 it takes 3'

# A run that began as another core and was stopped is found again by its machine, and is filed under
# what it is at its end.
text_machine resumed <<<$'width 9\npace 50'
begins_as 41 <<<'width 9'
"$BUILD/latput" run forms.csv --db resumed.db --results none --quiet --tests LT >"$OUT" 2>"$ERR" &
run=$!
has_run() { [ "$(sqlite3 resumed.db 'SELECT count(*) FROM run')" = 1 ]; }
await has_run
kill -TERM "$run"
wait "$run"
STATUS=$?
CLI_COMMAND='latput run, stopped'
expect_status 3
expect "it is stopped" test "$(sqlite3 resumed.db 'SELECT count(*) FROM run WHERE
    finished_utc IS NULL')" = 1
expect "it began as unknown" test "$(filed resumed)" = 'unknown|unknown|9'
text_machine resumed <<<''
measures resumed 0 --tests LT --resume
expect "one run" test "$(sqlite3 resumed.db 'SELECT count(*) FROM run WHERE finished_utc NOT NULL')
    $(sqlite3 resumed.db 'SELECT count(*) FROM run')" = $'1\n    1'
expect "it is filed under what it is" test "$(filed resumed)" = 'zen5|claim|8'
expect "nothing says otherwise" test "$(sqlite3 resumed.db 'SELECT count(*) FROM run_warning')" = 0
run query --db resumed.db --uarch zen5
expect_status 0
expect_out '^zen5 +add r64 r64 .* 0\.25 '
# A family named by the user makes another run.
measures resumed 0 --resume --uarch zen4
expect "two runs" test "$(sqlite3 resumed.db 'SELECT count(*) FROM run')" = 2
finish
