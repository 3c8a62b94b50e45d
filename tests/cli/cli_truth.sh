#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Random mixes that a run measures at its end and that packs carry: on a core made of text, where
# predictions are exact. And the guard: what today's ports predict of the mixes of each published
# pack is within a percentage point of docs/figures/truth.csv.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"
command -v sqlite3 >/dev/null || { echo "sqlite3 is missing"; exit 77; }
text_machine quiet <<<''

# stored DB [ARGS...]: what is predicted of the mixes of its runs, as lines of truth.csv.
stored() {
    run validate --stored --format json --db "$@"
    expect_status 0
    sqlite3 :memory: "SELECT printf('%s,%s,%d,', value ->> 'uarch', value ->> 'version',
        value ->> 'mixes') || CASE value ->> 'mixes' WHEN 0 THEN ',,' ELSE
        printf('%.2f,%.3f,%.1f', value ->> 'mape_percent', value ->> 'kendall_tau',
        value ->> 'within_10_percent') END FROM json_each(readfile('$OUT'))"
}
mixes_of() { # DB [RUN]
    sqlite3 "$1" "SELECT mix, measured_clk FROM validation_mix JOIN validation USING (validation_id)
        WHERE run_id = ${2-1} ORDER BY mix, measured_clk"
}

# --- a run measures its mixes ---

run run --quick --db t.db --results none --quiet
expect_status 0
expect_err '^latput run: [0-9]+ random mixes: the ports predict 100\.0 % of them within 10 %, mean '
expect "one validation, with its seed and all its mixes" test "$(sqlite3 t.db "SELECT count(*),
    seed, layouts >= 2, mixes >= 50, mixes = (SELECT count(*) FROM validation_mix),
    within_10_percent FROM validation")" = '1|1|1|1|1|100.0'
expect "of different mixes" test "$(mixes_of t.db | cut -d '|' -f 1 | sort -u | wc -l)" -ge 45
row=$(stored t.db)
expect_schema validate_stored "$OUT"
expect "what it says" test "$(cut -d , -f 1,3,6 <<<"$row")" = \
    "zen5,$(mixes_of t.db | wc -l),100.0"
run validate --stored --db t.db --run 1
expect_status 0
expect_out '^run +CPU +version +mixes +within 10 % +error % +tau$'
expect_out '^ +1 +zen5 .* 100\.0 +0\.'
run validate --stored --db t.db --without ports,norm
expect_status 0
expect "they are predicted anew" test "$(sed -nE '2s/.* ([0-9.]+) +[0-9.]+ +[0-9.]+$/\1/p' \
    "$OUT")" != 100.0

# Predictions follow the tables of the run: with a slot more for each form they are off.
cp t.db worse.db
sqlite3 worse.db "DROP TRIGGER port_result_no_update; UPDATE port_result SET slots = 3 * slots"
expect "other tables, other predictions" test "$(stored worse.db | cut -d , -f 6)" != 100.0

# A further validation of few mixes, or of a version before the layouts, does not stand for them.
cp t.db more.db
run validate --db more.db --mixes 10
expect_status 0
expect "ten more" test "$(sqlite3 more.db 'SELECT count(*) FROM validation')" = 2
expect "the row stays" test "$(stored more.db)" = "$row"
sqlite3 more.db "DROP TRIGGER validation_no_update; UPDATE validation SET layouts = NULL"
expect "none of an older version" test "$(stored more.db | cut -d , -f 3-)" = '0,,,'
run validate --stored --db more.db
expect_out '^ +1 +zen5 .* 0$'

# An interrupted run measures them when it goes on, and a finished one has them once.
cp t.db half.db
sqlite3 half.db "$(for table in validation validation_class validation_mix; do
    echo "DROP TRIGGER ${table}_no_delete;"; done)
    DELETE FROM validation_mix; DELETE FROM validation_class; DELETE FROM validation;
    DROP TRIGGER run_no_update; DROP TRIGGER IF EXISTS run_finish_once;
    UPDATE run SET finished_utc = NULL"
run run --quick --db half.db --results none --quiet --resume
expect_status 0
expect "the same run" test "$(sqlite3 half.db 'SELECT count(*) FROM run')" = 1
expect "the same mixes, with the same times" cmp <(mixes_of t.db) <(mixes_of half.db)
sqlite3 half.db "UPDATE run SET finished_utc = NULL"
run run --quick --db half.db --results none --quiet --resume
expect "they are not measured twice" test "$(sqlite3 half.db 'SELECT count(*) FROM validation')" = 1

# A run of a few forms has none, nor one without ports.
run run integer_bit --filter 'bs*' --db few.db --results none --quiet
expect_status 0
run run --quick --tests LT --db few.db --results none --quiet
expect_status 0
expect "no mixes of few forms" test "$(sqlite3 few.db 'SELECT count(*) FROM validation')" = 0

# --- packs carry them ---

run pack --db t.db --output t.zip
expect_status 0
run merge --db merged.db t.zip
expect_status 0
expect "the same prediction from the pack" test "$(stored merged.db)" = "$row"
expect "at most 100 KB a run" test "$(mixes_of merged.db | wc -c)" -le 100000

# --- bad use ---

for option in '--mixes 5' '--seed 1' --ratios '--again x.csv' '--against llvm-mca' '--forms x' \
    '--all x.csv'; do
    # shellcheck disable=SC2086 # an option with its argument
    run validate --db t.db --stored $option
    expect_status 2
    expect_err 'does nothing beside --(stored|again)$'
done
run validate --db few.db --stored --run 2
expect_status 2
expect_err 'few.db: run 2 has not found its ports'
run validate --stored --db missing.db
expect_status 3
sqlite3 more.db "DROP TRIGGER validation_mix_no_update; UPDATE validation SET layouts = 2;
    UPDATE validation_mix SET mix = 'add r64 r64' WHERE position = 3"
run validate --stored --db more.db
expect_status 3
expect_err "run 1: 'add r64 r64' is no mix, or has no time"

# --- the guard ---

# fallen FIGURES DB: names what DB's runs have no row for, or a worse prediction than their row by
# more than a percentage point, or fewer mixes by more than a twentieth.
fallen() {
    stored "$2" >now.csv
    awk -F , 'NR == FNR { within[$1 "," $2] = $6; mixes[$1 "," $2] = $3; next }
        !($1 "," $2 in mixes) { print "no row for: " $0; next }
        $3 < 0.95 * mixes[$1 "," $2] || $6 + 0 < within[$1 "," $2] - 1 - 1e-9 {
            print "worse: " $0
        }' "$1" now.csv
}
of=$(cut -d , -f 1,2 <<<"$row") n=$(cut -d , -f 3 <<<"$row")
guard() { # ROW WHAT: the one row of figures, and what must be said
    printf '%s\n' 'cpu,version,mixes,mape_percent,kendall_tau,within_10_percent' "$1" >figures.csv
    expect "guard $1: $2" test "$(fallen figures.csv worse.db | sed 's/:.*//')" = "$2"
}
within=$(stored worse.db | cut -d , -f 6)
plus() { awk "BEGIN { printf \"%.1f\", $1 + $2 }"; }
guard "$of,$n,1,0.9,$within" ''
guard "$of,$n,1,0.9,$(plus "$within" 1)" ''
guard "$of,$n,1,0.9,$(plus "$within" 1.1)" worse
guard "$of,$((2 * n)),1,0.9,$within" worse
guard "zen9,1,$n,1,0.9,$within" 'no row for'

fixture published.db
now=$(fallen "$TREE/docs/figures/truth.csv" published.db)
CLI_COMMAND="make truth, beside docs/figures/truth.csv"
[ -z "$now" ] || cli_fail "of what ports predict of the published mixes: $now"
# A pack that was taken away leaves no row.
expect "a row for each published run with ports" test \
    "$(sed 1d "$TREE/docs/figures/truth.csv" | cut -d , -f 1,2 | sort)" = \
    "$(cut -d , -f 1,2 now.csv | sort)"
finish
