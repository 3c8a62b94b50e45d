#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A real run under false tables: cpus.csv gives the signature of this CPU another name and another
# width, or has no line for it. The same values come out, and the false family is not believed.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/../cli/cli.sh"

# tree NAME SED-SCRIPT: data files with a cpus.csv changed by the script.
tree() {
    mkdir -p "$SCRATCH/$1"
    ln -s "$TREE"/lists "$TREE"/macros "$TREE"/db "$SCRATCH/$1"/
    ln -s "$BUILD" "$SCRATCH/$1/build"
    cp -r "$TREE/cpuinfo" "$SCRATCH/$1/cpuinfo"
    sed -E "$2" "$TREE/cpuinfo/cpus.csv" >"$SCRATCH/$1/cpuinfo/cpus.csv"
}

quiet_with_true_tables() {
    rm -f quiet.db
    LATPUT_ROOT=$SCRATCH/true "$LATPUT" bench --db quiet.db --give-up 5 --asm 'imul rax, rax' \
        >/dev/null 2>&1
}

# measure NAME: a quick run with the tree of that name, into NAME.db.
measure() {
    local start=$SECONDS
    LATPUT_ROOT=$SCRATCH/$1 run run --quick --tests LT --db "$1.db" --quiet --give-up 20
    local loud='never seen undisturbed|core is too disturbed'
    if [ "$STATUS" -gt 1 ] && ! grep -qE "$loud" "$ERR"; then
        cli_fail "expected status 0 or 1"
        exit 1
    fi
    # Under the true tables that is the host's doing; under others it is what must not happen.
    if [ "$STATUS" -gt 1 ] || [ "$(sqlite3 "$1.db" "SELECT count(*) FROM run_warning
        WHERE text LIKE '%never seen undisturbed%'")" != 0 ]; then
        if [ "$1" != true ] && quiet_with_true_tables; then
            cli_fail "a floor is found"
            exit 1
        fi
        echo "the core is too disturbed to compare two runs"
        exit 77
    fi
    echo "$1: $((SECONDS - start)) s, $(sqlite3 "$1.db" "SELECT uarch, count(*), issue_width
        FROM instruction_table JOIN run USING (run_id) WHERE outcome = 'ok'")"
}

# compare NAME: its values are those of the true tables. A disturbed core may cost a form or two.
compare() {
    local all off
    all=$(sqlite3 true.db "SELECT count(*) FROM instruction_table WHERE outcome = 'ok'")
    off=$(sqlite3 true.db "ATTACH '$1.db' AS other" "
        SELECT t.mnemonic, t.operands, t.outcome, o.outcome, t.latency_min_clk, o.latency_min_clk,
            t.rthroughput_clk, o.rthroughput_clk
        FROM main.instruction_table t JOIN other.instruction_table o USING (form, enc, bits)
        WHERE t.outcome = 'ok' AND (o.outcome <> 'ok'
            OR abs(t.latency_min_clk - o.latency_min_clk) > 0.02 + 0.01 * t.latency_min_clk
            OR abs(t.rthroughput_clk - o.rthroughput_clk) > 0.02 + 0.01 * t.rthroughput_clk)")
    echo "$off"
    expect "$1: most forms are measured" test "$all" -gt 40
    expect "$1: the same values" test "$(grep -c . <<<"$off")" -le $((all / 20))
    expect "$1: nothing is filed under the false name" test "$(sqlite3 "$1.db" \
        "SELECT count(*) FROM instruction_table WHERE uarch = 'falsecore'")" = 0
}

run cpu --format json
claim=$(sed -nE 's/^ *"claimed_uarch": *"([a-z0-9_]+)".*/\1/p' "$OUT" | head -n 1)
if [ "${claim:-unknown}" = unknown ]; then
    echo "cpus.csv has no line for this CPU's signature"
    exit 77
fi
tree true ''
measure true
width=$(sqlite3 true.db 'SELECT measured_width FROM run')
expect "the width is measured" test "${width:-0}" -ge 2
head='^(([^,]*,){5})'"$claim"',("[^"]*"|[^,]*),[0-9]*,'
tree narrow "s/$head/\\1falsecore,\\3,$((width - 1)),/"
tree wide "s/$head/\\1falsecore,\\3,$((width + 1)),/"
tree missing "/$head/d"
# Nor are there sizes of a core without a line.
sizes=$SCRATCH/missing/cpuinfo/core_sizes.csv
grep -v '^[# ]' "$sizes" | cut -d, -f1 | sort -u | while read -r core; do
    grep -q ",$core," "$SCRATCH/missing/cpuinfo/cpus.csv" || sed -i "/^$core,/d" "$sizes"
done
for name in narrow wide missing; do
    measure "$name"
    compare "$name"
    expect "$name: the width is measured" test \
        "$(sqlite3 "$name.db" 'SELECT measured_width FROM run')" = "$width"
done
for name in narrow wide; do
    CLI_COMMAND="evidence in $name.db" expect "$name: the width refutes it" test "$(sqlite3 \
        "$name.db" \
        "SELECT evidence LIKE '%dispatches $width%' FROM run")" = 1
done

# All tables say that such a core is twice as wide: what is measured looks like a core whose other
# thread is always busy. No number comes out of it, and it is said what was seen, and for how long.
seen='never seen undisturbed.*in [0-9.]+ s at best [0-9.]+ instructions a cycle'
tree halved "s/^(([^,]*,){6}(\"[^\"]*\"|[^,]*),)[0-9]+,/\\1$((2 * width)),/"
LATPUT_ROOT=$SCRATCH/halved run bench --asm 'imul rax, rax' --repeat 3 --db halved.db
expect_status 1
expect_err "unstable: .*$seen"
expect_out '^no steady value$'
expect "no number is stored, and no floor" test "$(sqlite3 halved.db "SELECT count(*) FROM bench
    WHERE outcome = 'ok'") $(sqlite3 halved.db \
    'SELECT count(*) FROM canary_floor')" = '0 0'
finish
