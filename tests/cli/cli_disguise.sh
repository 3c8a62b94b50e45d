#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs under false tables on a core made of text: cpus.csv gives the signature of its CPU another
# name and another width, or has no line for it. The same values come out. A family that is narrower
# than the core is not believed; of one that is wider it is said that so much was never seen.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"
text_machine quiet <<<''

# tree NAME SED-SCRIPT: data files with a cpus.csv changed by the script.
tree() {
    mkdir -p "$SCRATCH/$1"
    ln -s "$TREE"/lists "$TREE"/macros "$SCRATCH/$1"/
    own_db "$SCRATCH/$1"
    ln -s "$BUILD" "$SCRATCH/$1/build"
    cp -r "$TREE/cpuinfo" "$SCRATCH/$1/cpuinfo"
    sed -E "$2" "$TREE/cpuinfo/cpus.csv" >"$SCRATCH/$1/cpuinfo/cpus.csv"
    # A family without a line has no other names.
    [ -z "$2" ] || sed -i '/^zen5,/d' "$SCRATCH/$1/cpuinfo/other_names.csv"
}

# measure NAME: a quick run with the tree of that name, into NAME.db.
measure() {
    LATPUT_ROOT=$SCRATCH/$1 run run --quick --tests LT --db "$1.db" --results none --quiet
    expect_status 0
    expect "$1: the width is measured" test \
        "$(sqlite3 "$1.db" 'SELECT measured_width FROM run')" = 8
}

# values NAME: those of all forms, to the second decimal of what the script says, multiples of 1/8.
values() {
    sqlite3 "$1.db" "SELECT form, enc, outcome, round(latency_max_clk + 0.003, 2),
        round(rthroughput_clk + 0.003, 2) FROM instruction_table ORDER BY 1, 2"
}

tree true ''
measure true
values true >true.txt
expect "most forms are measured" test "$(grep -c '|ok|' true.txt)" -gt 60
expect "as the script says" test "$(grep -cE \
    '^(add r64 r64\|legacy\|ok\|1\.0\|0\.25|imul r64 r64\|legacy\|ok\|3\.0\|1\.0)$' true.txt)" = 2
head='^(([^,]*,){5})zen5,("[^"]*"|[^,]*),[0-9]*,'
tree narrow "s/$head/\\1falsecore,\\3,7,/"
tree wide "s/$head/\\1falsecore,\\3,9,/"
tree missing "/$head/d"
# Nor are there sizes of a core without a line.
sed -i '/^zen5,/d' missing/cpuinfo/core_sizes.csv
for name in narrow wide missing; do
    measure "$name"
    values "$name" | diff true.txt - >differ ||
        CLI_COMMAND="values in $name.db" cli_fail "differ: $(cat differ)"
    family=$(sqlite3 "$name.db" 'SELECT DISTINCT uarch FROM instruction_table')
    evidence=$(sqlite3 "$name.db" 'SELECT evidence FROM run')
    case $name in
    narrow)
        expect "the false family is not believed" test "$family" != falsecore
        expect "the width refutes it" grep -q 'dispatches 8 .* falsecore dispatches 7' \
            <<<"$evidence"
        ;;
    wide)
        expect "less than the width refutes nothing" test "$family:$evidence" = falsecore:
        expect_err 'not seen at its full width: at best 8 of the 9 µops'
        ;;
    missing) expect "no family" test "$family" = unknown ;;
    esac
done

# All tables say that such a core is twice as wide: what is measured looks like a core whose other
# thread is always busy. No number comes out of it, and it is said what was seen, and for how long.
tree halved "s/^(([^,]*,){6}(\"[^\"]*\"|[^,]*),)[0-9]+,/\\116,/"
LATPUT_ROOT=$SCRATCH/halved run bench --asm 'imul rax, rax' --repeat 3 --give-up 1 --db halved.db
expect_status 1
expect_err \
    'unstable: .*never seen undisturbed.*in [0-9.]+ s at best 8\.[0-9]+ instructions per cycle'
expect_out '^no steady value$'
expect "no number is stored, and no floor" test "$(sqlite3 halved.db "SELECT count(*) FROM bench
    WHERE outcome = 'ok'") $(sqlite3 halved.db \
    'SELECT count(*) FROM canary_floor')" = '0 0'
finish
