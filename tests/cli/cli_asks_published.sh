#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Questions on a machine that has no runs are answered by the published ones, which make builds.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
[ -e "$BUILD/published.db" ] || { echo "no published.db: built with sanitizers"; exit 77; }
needs xz
fixture known.db
mkdir -p root
ln -s "$TREE"/{cpuinfo,lists,macros,site} root/
export LATPUT_ROOT=$PWD/root
unset LATPUT_DB # it is that root's

# The example for a clone in which nothing is built.
(cd "$TREE" && sed -n '/^for pack in/,/^done$/p' README.md) | sed "s|pack\.db|$PWD/pack.db|" >example.sh
expect "the example stands there" [ -s example.sh ]
(cd "$TREE" && bash "$OLDPWD/example.sh") >example.txt
awk -F'|' '$2 == "vpermd y y y" { printf "%s %.0f\n", $1, $3 }' example.txt | sort >answers.txt
expect "it answers for all CPUs" cmp answers.txt - <<<$'emeraldrapids 3\nsapphirerapids? 3\nzen5 4'

# asks_published: what was run last said so, and nothing else.
asks_published() {
    expect_status 0
    expect_err '^latput [a-z]+: asks the published runs of other machines'
    expect "one line says so" test "$(wc -l <"$ERR")" = 1
}
for own in none "without runs"; do
    rm -rf root/db
    own_db root
    if [ "$own" != none ]; then
        cp known.db root/db/latput.db
        sqlite3 root/db/latput.db "DROP TRIGGER run_no_delete; DELETE FROM run" || exit 99
    fi
    run query 'vpermd y y y'
    expect_status 0
    expect_out '^These are the published runs of other machines, since this one has none yet: '
    expect "no note beside" [ ! -s "$ERR" ]
    run query --format csv 'vpermd y y y'
    asks_published
    run query --runs
    asks_published
    run query 'vpermd y y y'
    expect_out '^zen5 +vpermd y y y +vex +4\.00 +4\.00 +0\.50 '
    expect_out '^Zen 5 \(zen5\), Oxide Virtual Turin-like Processor, on bhyve; run [0-9]+, 20'
    tried=0
    # shellcheck disable=SC2016 # as it stands there
    while read -r line; do
        eval "run ${line#latput }"
        expect_status 0
        expect_out '^ *These are the published runs of other machines'
        expect_out '^all +[0-9]+ '
        tried=$((tried + 1))
    done < <(grep -oE '`latput diff [^`]*`' "$TREE/README.md" | tr -d '`')
    expect "README's examples of diff" test "$tried" -ge 2
    run property --show reorder_buffer --uarch zen5
    expect_out '^Reorder buffer +nop: 446 '
    for command in "property --show reorder_buffer --uarch zen5" "cpu --sheet" "ports -u zen5"; do
        # shellcheck disable=SC2086 # words
        run $command
        expect_status 0
        expect "no note beside" [ ! -s "$ERR" ]
        expect_out '^These are the published runs of other machines, since this one has none yet:'
        # shellcheck disable=SC2086
        run $command --format json
        asks_published
    done
    # Rows of this machine are not made of the runs of others.
    run pack
    expect_status 3
    expect_err 'root/db/latput\.db: '
    [ "$own" != none ] || expect "nothing is made" [ ! -e root/db/latput.db ]
done
# A database that is named is meant.
run query --db missing.db
expect_status 3
LATPUT_DB=missing.db run query
expect_status 3
# A machine with runs is asked for them.
cp known.db root/db/latput.db
run query 'add r64 r64'
expect_status 0
expect_out '^testa +add r64 r64 '
expect "no others" [ ! -s "$ERR" ]
# Others may have results of what it has not; but a database that is named is meant.
for words in 'query -u zen5 add' 'diff zen5 sapphirerapids' 'cpu --sheet -u zen5' \
    'ports -u zen5'; do
    # shellcheck disable=SC2086 # words
    run $words
    expect_status 2
    expect_err "no results of the uarch 'zen5', only of testa"
    expect_err "; the published runs have some: --db /.*/published\.db$"
done
run query -u zne5 add
expect_status 2
expect "no word of others" test "$(grep -c published "$ERR")" = 0
run query -u zen5 add --db known.db
expect_status 2
expect "no word of others" test "$(grep -c published "$ERR")" = 0
finish
