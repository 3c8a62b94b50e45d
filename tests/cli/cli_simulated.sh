#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Results of a machine of files ($LATPUT_MACHINE) never pass for those of a CPU, whichever files
# stood for the machine: it is told by its name, its packs by theirs, and merge refuses them.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"

# A core made of text, a dump alone, and no file at all: each is told.
text_machine files <<<''
run cpu
expect_out '^  brand +simulated: a core made of text$'
echo 'add,+r64 r64,=flags,X86_64,T,' | cat <(echo mnemonic,operands,implicit,isa,tests,options) - \
    >forms.csv
run run forms.csv --db text.db --results none --quiet
expect_status 0
# A core that reaches another machine, which has a name, is that machine's.
echo 'Windows 10.0.19045' >"$LATPUT_MACHINE/system"
run run forms.csv --db far.db --results none --quiet
run pack --db far.db --output far.tar.xz
LATPUT_MACHINE='' run merge --db own.db far.tar.xz
expect_status 0
far=$(sqlite3 own.db "SELECT brand || backend || os_kernel FROM run JOIN cpu USING (cpu_id)")
case $far in
AMD*'tscWindows 10.0.19045') ;;
*) cli_fail "it is not filed as that machine's: $far" ;;
esac
expect "it has a warning" test -n "$(sqlite3 own.db \
    "SELECT 1 FROM run_warning WHERE text GLOB '*experimental*'")"
rm "$LATPUT_MACHINE/core"
run cpu
expect_status 0
expect_out '^  brand +simulated: AMD '
mkdir none
LATPUT_MACHINE=$SCRATCH/none run cpu
expect_out '^  brand +simulated: '
LATPUT_MACHINE='' run cpu
expect "no mark without it" test "$(grep -c simulated "$OUT")" = 0

# refused DB: its pack is marked, and refused where results of CPUs are kept.
refused() {
    local packs=packs-${1%.db}
    mkdir "$packs"
    run pack --db "$1" --output "$packs"
    expect_status 0
    expect_out "^$packs/simulated-AuthenticAMD-00B00F21-zen5-"
    LATPUT_MACHINE='' run merge --db other.db "$packs"/*
    expect_status 2
    expect_err "^latput merge: $packs/simulated-.*: a run in it is not of a machine, .*, 'simulated: "
    expect "nothing was added" test -z "$(sqlite3 other.db 'SELECT 1 FROM run' 2>/dev/null)"
}
refused text.db
# A dump alone leaves this: measured by the CPU at hand, filed as another.
facts="FROM sqlite_schema WHERE type = 'trigger' AND tbl_name IN ('run', 'cpu')"
sqlite3 text.db "$(sqlite3 text.db "SELECT 'DROP TRIGGER ' || name || ';' $facts")
    UPDATE run SET backend = 'tsc'; UPDATE cpu SET brand = 'simulated: AMD Ryzen';
    $(sqlite3 text.db "SELECT sql || ';' $facts") VACUUM INTO 'dump.db'"
refused dump.db
finish
