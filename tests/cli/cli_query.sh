#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput query and report on a database of known content.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
fixture known.db

run query --db known.db
expect_status 0
expect_out '^testa +add r64 r64 +legacy +1\.00 +1\.00 +0\.25 +1$'
expect_out '^testb +hlt r64 +legacy +2\.00 +2\.00 +signalled +2$'
run query --db known.db --uarch testb --format csv 'DIV*'
expect_status 0
expect_out \
    '^uarch,mnemonic,operands,enc,isa,bits,latency_min_clk,latency_max_clk,rthroughput_clk,uops,ports,outcome,run_id'
expect_out '^testb,div,r64,legacy,BASE,64,20,36,10,,,ok,2,14'
expect "header and one row" test "$(wc -l <"$OUT")" = 2
run query --db known.db --format json --latency --run 1 'add r64, r64'
expect_status 0
expect_out '"src": "op1", "dst": "op1", "latency_clk": 1, "bound": "exact"'
expect_out '"src": "flags", "dst": "op1", "latency_clk": null'
expect_json "$OUT"
expect "three rows" test "$(sqlite3 :memory: "SELECT json_array_length(readfile('$OUT'))")" = 3
run query --db known.db --latency --uarch testa 'add*'
expect_out '^uarch.* from +role +to '
expect_out ' op2 +index +flags '
run query --db known.db --failures
expect_status 0
expect_out 'hlt r64 +throughput +signalled +SIGFPE'
run query --db known.db --runs
expect_out '^ *2 +testb +Test CPU'

fixture ports.db
run query --db ports.db
expect_status 0
expect_out '^testa +add r64 m64 +legacy +1 +1\*ALU\+1\*LOAD +3/1$'
expect_out '^testa +div r64 +legacy .* ≤2 +2\*ALU\? +DIV +3$'
expect_out '^testa +hlt r64 +legacy +1\.00 +1\.00 +signalled +no ports, serialises +3$'
expect_out '^testa +nop +legacy +none +3$'
expect "lines of at most 135 characters" test "$(wc -L <"$OUT")" -le 135
run query --db ports.db --ports
expect_status 0
expect_out '^testa +div r64 +legacy +2\*ALU\? +≤2 +≤2\.04 +DIV +5\.00 +0\.30 +3$'
expect_out \
    '^testa +add r64 m64 +legacy +1\*ALU\+1\*LOAD +2 +1\.02 +path1 0\.25, path2 1\.00 +0\.050 +1$'
expect_out '^testa +hlt r64 +legacy +not_measurable +3$'
expect "lines of at most 135 characters" test "$(wc -L <"$OUT")" -le 135
run query --db ports.db --ports --format csv --run 1 'add r64 r64'
expect_out '^uarch,mnemonic,operands,enc,ports,uops,method,residual,run_id,slots,ambiguous,unit,'
expect_out '^testa,add,r64 r64,legacy,1\*ALU,1,throughput,0,1,0\.98,0,,,64,ok,'
run query --db ports.db --ports --format json nop
expect_out '"ports": "", "uops": 0, .*"slots": null'
for options in --evidence '--ports --evidence' '--evidence --ports'; do
    # shellcheck disable=SC2086 # several words
    run query --db ports.db $options 'add r64 *'
    expect_status 0
    expect_out '^testa +add r64 r64 +4 +ALU +lea r64 agen +24 +7\.02 +0\.020 +1\.02 +3$'
    expect_out '^testa +add r64 r64 +4 +LOAD +mov r64 m64 +12 +unstable +3$'
    expect "lines of at most 100 characters" test "$(wc -L <"$OUT")" -le 100
done
run query --db ports.db --failures
expect_out 'hlt r64 +ports +not_measurable +serialises'
run query --db ports.db --ports --latency
expect_status 2
run diff --db ports.db 1 3
expect_status 0
expect_out '^1 → 3 '
expect_out '^add r64 r64 +legacy +ports +1\.00 +1\.00 +0\.25 +1 → 2 +1\*ALU → 2\*ALU +not explained$'
expect_err '1 of 5 common forms' # not add r64 m64, which is ambiguous in one of them
run diff --db ports.db 1 2
expect_out '^div r64 +legacy +slower( +10\.00 / 18\.00 → 20\.00 / 36\.00){2} +5\.00 → 10\.00 +7\.00 → 14\.00 +2\.00 +not explained'
run report --db ports.db --run 3 --output ports_tables
expect_status 0
expect "ports in tables" grep -q '^add r64 m64 .* 1  1\*ALU+1\*LOAD?$' ports_tables/int.txt
expect "sets in info" grep -q '^SHIFT  *2 .*##  *## .* 14  shlx r64 r64 r64$' ports_tables/info.txt
expect "diagram" grep -q '>SHIFT</text>' ports_tables/ports.svg
expect "ports in info" grep -q '^set  *size  *ALU0  *ALU2  *ALU10  *u2 ' ports_tables/info.txt
expect "ports in the diagram" grep -q '>ALU10</text>' ports_tables/ports.svg
expect "validation in info" grep -q "^mean error 3.1 %, Kendall's tau 0.930" ports_tables/info.txt

run query --db known.db nothing
expect_status 0
expect_no_out
expect_err 'no rows match'
run query --db known.db --uarch zen99
expect_status 2
expect_err "no results of the uarch 'zen99'"
run query --db known.db --run 99
expect_status 2
run query --db known.db --run x
expect_status 2
# Beside each number what tables show, at the end.
run query --db known.db --uarch testb --format csv 'div r64' --columns form,max,uops,tput
cp "$OUT" stored.csv
run query --db known.db --uarch testb --format csv 'div r64' --columns form,max,uops,tput --shown
expect_status 0
expect_out '^form,result_latency_max_clk,uops,rthroughput_clk,result_latency_max_clk_shown,uops_shown,rth.*_shown$'
expect_out '^div r64,20,,10,20\.00 / 36\.00,,10\.00$'
expect "the others are the same" cmp stored.csv <(cut -d , -f 1-4 "$OUT")
run query --db known.db --latency --run 1 --format csv --shown
expect_out '^uarch,.*,latency_clk_shown,.*spread_clk_shown'
run query --db known.db --shown
expect_status 2
expect_err 'shown is for --format csv'
run query --db known.db --side-by-side --format csv --shown
expect_status 2
run query --db known.db --format xml
expect_status 2
expect_err 'table, csv, spreadsheet, json, markdown, html and latex'
# SQL on one form looks up that form, and reads no table of tests as a whole.
for view in instruction_table latency_table port_table false_dependency_table port_evidence; do
    sqlite3 known.db "EXPLAIN QUERY PLAN SELECT * FROM $view WHERE form = 'add r64 r64'" >plan.txt
    expect "$view finds its form" grep -q 'SEARCH form USING INDEX.*(form=?)' plan.txt
    expect "$view reads no others" test -z \
        "$(grep -E 'SCAN (run_form|form|test|port_result|port_trial)\b' plan.txt)"
done
# The lists that it has forms of, each once.
run query --db known.db --list --format csv
expect_status 0
expect_out '^run_id,list,title,forms$'
expect "each once" test -z "$(cut -d, -f2 "$OUT" | sort | uniq -d)"
expect "those of its forms" cmp <(cut -d, -f2 "$OUT" | sed 1d) \
    <(sqlite3 known.db 'SELECT DISTINCT name FROM list JOIN run_form USING (list_id) ORDER BY name')
run query --db known.db --list --runs
expect_status 2
# Several globs, registers as people write them, expressions.
run query --db known.db --format csv --columns form,bits 'nothing*' 'ADD rax, rbx' 'add r9,r10'
expect "header and a row a CPU" test "$(wc -l <"$OUT")" = 3
expect_out '^form,bits$'
expect_out '^add r64 r64,64$'
# One that begins with an operand has the forms with it; none has no stars of its own.
run query --db known.db --format csv --columns form,uarch rbx
cp "$OUT" operand.csv
run query --db known.db --format csv --columns form,uarch '* r64*'
expect "an operand alone is sought among operands" cmp operand.csv "$OUT"
expect "there are such" test "$(wc -l <"$OUT")" -gt 2
run query --db known.db --format csv --columns form 'r64 r64'
expect_out '^add r64 r64$'
expect "both of them" test -z "$(grep -v -e ' r64 r64' -e '^form$' "$OUT")"
run query --db known.db 'r*'
expect_err 'no rows match$'
run query --db known.db dd
expect_status 0
expect_err "^latput query: no rows match; [1-9][0-9]* match '\*dd\*'$"
run query --db known.db nothing
expect_err "no rows match: no form is called 'nothing'$"
run query --db known.db 'addd rax, rbx'
expect_err "no rows match: no form is called 'addd'; did you mean 'add'\?$"
# Each heading of a table names its column.
headings() { sed -n 1p "$1" | sed 's/^ *//; s/  */ /g; s/ *$//'; }
for options in '' --latency --ports --failures --runs --list; do
    # shellcheck disable=SC2086 # several words
    run query --db ports.db --wide $options
    cp "$OUT" table.txt
    names=$(sed -n 1p table.txt | sed 's/^ *//; s/   */,/g; s/, *$//')
    # shellcheck disable=SC2086 # several words
    run query --db ports.db --wide $options --columns "$names"
    expect_status 0
    expect "the headings of $options" test "$(headings "$OUT")" = "$(headings table.txt)"
done
# Words that lists and people have for forms, where no form is called so.
run query --db known.db --format csv --columns form 'Integer addition'
expect_status 0
expect_out '^add r64 r64$'
expect_err "^latput query: no form is called so; lists describe these with 'Integer addition'$"
cp "$OUT" described.csv
run query --db known.db --format csv --columns form 'add*'
expect "the forms under that heading" cmp described.csv "$OUT"
run query --db known.db --bench 'integer addition'
expect_no_out
run query --db known.db addd
expect_no_out
expect_err "no form is called 'addd'; did you mean 'add'\?$"
run query --db known.db 'whole addition'
expect_no_out
run query --db known.db 'conditional jmp'
expect_no_out
expect_err 'no rows match$'
run query --db known.db 'populaton count'
expect_err "no form is called 'populaton count'; did you mean 'population count'\?$"
run plan --issue-width 8 checksum
expect_status 0
expect_out '^crc32 r32 r32 '
run query --db known.db 'add x x'
expect_err "no rows match; [1-9][0-9]* match 'add'$"
run query --db known.db '(('
expect_err "^latput query: no rows match$"

# Words that mean forms.
run query --db known.db --format csv --columns form,uarch division
expect "division" test "$(sed 1d "$OUT" | sort | xargs)" = 'div r64,testa div r64,testb'
run query --db known.db --format csv --columns form,uarch shufle
expect_err "^latput query: no rows match: no form is called 'shufle'; did you mean 'shuffle'\?$"
run query --db known.db --format csv --columns uarch,form,max,slow 'max > 10 and uarch = "TESTB"' \
    --sort -slow,form
expect_status 0
expect_out '^uarch,form,result_latency_max_clk,rthroughput_slow_clk$'
expect_out '^testb,div r64,20,14$'
expect_err '^latput query: --where: max is result_latency_max_clk, to the result \(latency_max_clk: of all pairs\)$'
expect "one row" test "$(wc -l <"$OUT")" = 2
run query --db known.db --format csv --columns form --sort -form,uarch --limit 1
expect_out '^hlt r64$'
expect "one row" test "$(wc -l <"$OUT")" = 2
# Each sign; div has 14.
for sign in '= 14' '== 14' '<= 14' '>= 14' '< 15' '> 13' '!= 13' '<> 15' \
    'in (13, 14)' 'not in (15)' 'between 14 and 15' 'not between 1 and 13' '= 13' '== 15' '<= 13' \
    '>= 15' '< 14' '> 14' '!= 14' '<> 14' 'between 15 and 20' 'not between 1 and 14'; do
    run query --db known.db --uarch testb --format csv --columns form \
        --where "form = 'div r64' and slow $sign"
    [ "$sign" != '= 13' ] || holds=1
    expect "slow $sign" test "$(wc -l <"$OUT")" = "${holds-2}"
done
run query --db known.db --format csv --columns form --where "form ~ 'DIV*'"
expect_out '^div r64$'
# Words make an expression, too, if they come after a column.
words() { # EXPRESSION FORM...
    run query --db known.db --uarch testb --format csv --columns form --sort form "$1"
    expect_status 0
    expect "$1" cmp - "$OUT" < <(printf '%s\n' form "${@:2}")
}
words 'slow is null' 'add r64 r64' 'hlt r64'
words 'form in ("DIV r64", "nop")' 'div r64'
words 'not form in ("div r64") and (max)is not null' 'add r64 r64' 'hlt r64'
words "form like 'D_V%'" 'div r64'
words "form not like 'd%'" 'add r64 r64' 'hlt r64'
words 'max between 15 and 25' 'div r64'
words 'in al, dx'
words '*is'
run query --db known.db 'slow is not null' --where 'tput > 1'
expect_status 2
expect_err "one expression, please: join 'tput > 1' and 'slow is not null' with and, or"
run query --db known.db 'tput > 1' 'max > 1'
expect_status 2
expect_err "one expression, please: join 'tput > 1' and 'max > 1' with and, or"
wrong() { # EXPRESSION MESSAGE COLUMN-OF-THE-CARET
    run query --db known.db --where "$1"
    expect_status 2
    expect_no_out
    expect_err "^latput query: --where: $2"
    expect "a caret at $3" grep -qx " \{$(($3 + 1))\}^" "$ERR"
}
wrong 'latancy > 20' "there is no column 'latancy'; did you mean 'latency'\?" 1
wrong 'max > 20 and' 'the expression ends too early' 13
wrong 'enc = evex' "there is no column 'evex'" 7
wrong 'max > "a" + 1' 'a number belongs here' 7
wrong 'max > 1 tput < 2' 'the expression should end here' 9
wrong '(max > 1' 'a \) is missing here' 9
wrong 'form = "add' 'this text has no end' 8
wrong 'max' 'a comparison is missing' 1
wrong 'max > 1 and (bits)' 'a comparison is missing' 13
wrong 'max > (tput > 1)' 'a value belongs here' 7
wrong 'max in 1' 'a \( belongs here' 8
wrong 'max not 1' 'in, like or between belongs here' 9
wrong 'form like 1' "a text in quotes belongs here: form like 'vpadd%'" 11
wrong 'max between 1, 2' 'the word and belongs here' 14
wrong 'max > 12abc' "'12abc' is no number" 7
wrong "1) OR 1=1; DROP TABLE run; --" 'a comparison is missing' 1
run query --db known.db --where "$(printf '(%.0s' {1..60})1"
expect_status 2
expect_err 'nested too deeply'
# The largest allowed number of terms is read; SQLite's own limits of depth are reported as
# latput's.
run query --db known.db --where "max > 1$(printf ' + 0 - 0%.0s' {1..140})" --format csv
expect_status 0
mv "$OUT" many.csv
run query --db known.db --where 'max > 1' --format csv
expect "a sum of 280 terms" cmp many.csv "$OUT"
run query --db known.db --where "max > 0$(printf ' and max * 2 / 4 > 0%.0s' {1..70})"
expect_status 0
run query --db known.db \
    --where "$(printf 'max + max * (%.0s' {1..40})1$(printf ')%.0s' {1..40}) > 1"
expect_status 2
expect_err 'nested too deeply; take fewer parentheses'
run query --db known.db --where "max > 1$(printf ' + 1%.0s' {1..400})"
expect_status 2
expect_err '300 columns and values at most'
run query --db known.db --sort nothing
expect_status 2
expect_err "^latput query: --sort: there is no column 'nothing'"
run query --db known.db --columns form,latncy
expect_status 2
expect_err "^latput query: --columns: there is no column 'latncy'; did you mean 'latency'\?"
run query --db known.db --limit 0
expect_status 2

# CPUs side by side.
run query --db known.db --side-by-side 'div*'
expect_status 0
expect_out \
    '^instruction +enc +bits +testa latency +testa max +testa 1/tput +testb latency +testb max +testb 1/tput$'
expect_out '^div r64 +legacy +64( +10\.00 / 18\.00){2} +5\.00( +20\.00 / 36\.00){2} +10\.00$'
run query --db known.db --side-by-side --latency --format csv 'div*' --limit 1
expect_out '^form,enc,bits,src,dst,variant,testa\.latency_clk,testb\.latency_clk$'
expect "one row" test "$(wc -l <"$OUT")" = 2
run query --db known.db --side-by-side --uarch testb --format json 'div*' --columns tput
expect_out '^  \{"form": "div r64", "enc": "legacy", "bits": 64, "testb\.rthroughput_clk": 10\}$'
run query --db known.db --side-by-side --uarch testb,zen99
expect_status 2
expect_err "uarch 'zen99'"
run query --db known.db --side-by-side --runs
expect_status 2
run query --db known.db --latency --failures
expect_status 2
run query --no-such-option
expect_status 2
run query --db missing.db
expect_status 3
expect_err 'missing.db: there is no such database'
echo 'no database' >text.db
run query --db text.db
expect_status 2
expect_err 'text.db: is not a latput database'
expect "no sidecar files" test ! -e known.db-wal

# On a terminal of 60 columns; elsewhere, and with --wide, lines are as long as they need.
narrow() { script -qec "stty cols ${COLUMNS_OF-60}; '$LATPUT' query --db known.db ${1:-}" /dev/null </dev/null |
    tr -d '\r' >narrow.txt; }
if command -v script >/dev/null; then
    # Colour where it is wanted: the heading and what has gone wrong.
    coloured() {
        env "$@" script -qec "stty cols 200; '$LATPUT' query --db known.db" /dev/null </dev/null |
            tr -d '\r' >colour.txt
    }
    coloured -u NO_COLOR TERM=xterm
    expect "a bold heading" grep -qP '^\x1b\[1muarch .*\x1b\[0m$' colour.txt
    expect "failures in red, and nothing else in colour" test \
        "$(grep -cP '\x1b\[31msignalled\x1b\[0m' colour.txt) $(grep -c $'\033\[[^20]' colour.txt)" = '2 3'
    expect "whose they are, faint" grep -qP '^\x1b\[2m' colour.txt
    env -u NO_COLOR TERM=xterm script -qec "stty cols 200; '$LATPUT' diff --db known.db testa testb" \
        /dev/null </dev/null >colour.txt
    expect "what is slower, in red" grep -qP '\x1b\[31mslower\x1b\[0m' colour.txt
    for env in NO_COLOR=1\ TERM=xterm TERM=dumb; do
        # shellcheck disable=SC2086 # one or two words
        coloured $env
        expect "no colour with $env" test "$(grep -c $'\033' colour.txt)" = 0
    done
    export NO_COLOR=1
    run query --db known.db
    narrow
    expect "fitted" grep -qx 'uarch  instruction  latency    max         1/tput  outcome' narrow.txt
    expect "said" grep -qx 'legacy; without run, slow; --wide prints all columns' narrow.txt
    expect "no line is wider" test "$(wc -L <narrow.txt)" -le 60
    COLUMNS_OF=88 narrow --side-by-side
    expect "headings in several lines" test "$(head -n 2 narrow.txt | tr -s ' ')" = \
        $'instruction testa latency testa max testa testb latency testb max testb\n 1/tput 1/tput'
    expect "no line is wider" test "$(wc -L <narrow.txt)" -le 88
    expect "slow data are explained" grep -qx '1 / 2 with fast and with slow data' narrow.txt
    narrow
    expect "whose the rows are, folded" grep -qx '  1\.0-test' narrow.txt
    narrow --wide
    expect "the same, without marks" cmp <(head -n 7 "$OUT") <(head -n 7 narrow.txt)
    fixture ports.db
    run query --db ports.db --columns form,limit 'limit is not null'
    expect_out '^div r64 +DIV$'
    script -qec "stty cols 60; '$LATPUT' query --db ports.db --ports" /dev/null </dev/null |
        tr -d '\r' >narrow.txt
    expect "marks are explained" grep -qx '≤ upper bound; ports? others fit as well' narrow.txt
    script -qec "stty cols 60; '$LATPUT' diff --db known.db testa testb" /dev/null </dev/null |
        tr -d '\r' >narrow.txt
    expect "diff fitted" grep -qx 'testa →      latency     max         1/tput      slow' \
        narrow.txt
    expect "diff folded" grep -qx 'div r64      10.00 /     10.00 /     5.00 →      7.00 →' \
        narrow.txt
    run query --db known.db --format csv
    narrow '--format csv'
    expect "the same CSV" cmp "$OUT" narrow.txt
fi

# A glob has the forms that it matches collected first: what is said of them is what all rows say.
for db in known.db ports.db; do
    for options in '' --latency --ports --evidence --failures '--run 1' '--latency --run 1'; do
        # shellcheck disable=SC2086 # words
        "$LATPUT" query --db "$db" --format csv $options >all.csv
        # shellcheck disable=SC2086
        "$LATPUT" query --db "$db" --format csv $options 'add*' 'div r64' >some.csv
        grep -E '^uarch,|^run_id,|(^|,)(add|div),' all.csv | cmp -s - some.csv ||
            cli_fail "$db, '$options': the rows of globs differ from those of all forms"
    done
    grep -qE '(^|,)(add|div),' some.csv || cli_fail "$db has no such forms"
done

# Forms that a CPU does not have are one line below those that it has.
cp known.db lacks.db
lacks="UPDATE result SET outcome = 'unsupported', detail = '', value_clk = NULL, dense_clk = NULL,
    filled_clk = NULL, spread_clk = NULL WHERE test_id IN (SELECT test_id FROM test
    JOIN run_form USING (run_form_id) JOIN form USING (form_id) WHERE run_id = 1"
sqlite3 lacks.db "$lacks AND mnemonic <> 'add')" || exit 99
run query --db lacks.db
expect_status 0
expect_out '^unsupported on testa: [a-z0-9 ]+, [a-z0-9 ]+$'
expect "no row of them" test "$(grep -c '^testa  ' "$OUT")" = 1
expect "rows of the other CPU" test "$(grep -c '^testb  ' "$OUT")" -gt 1
run query --db lacks.db --format csv
expect "all rows in CSV" test "$(grep -c unsupported "$OUT")" = 2
# Forms of APX are no line either: most CPUs have none, and other forms mean the same.
cp lacks.db apx.db
sqlite3 apx.db "DROP TRIGGER run_form_no_update; UPDATE run_form SET isa = 'APX_F'
    WHERE form_id IN (SELECT form_id FROM form WHERE mnemonic <> 'add')" || exit 99
run query --db apx.db
expect "neither a row nor a line of APX" test "$(grep -c '^testa  \|^unsupported' "$OUT")" = 1
run query --db apx.db --format csv
expect "all rows of APX in CSV" test "$(grep -c unsupported "$OUT")" = 2
run query --db apx.db --uarch testa 'div r64'
expect_out '^testa .* unsupported'
run query --db lacks.db --uarch testa "outcome = 'unsupported'"
expect "rows where there are no others" test "$(grep -c '^testa .* unsupported' "$OUT")" = 2

run report --db known.db --run 1 --output tables
expect_status 0
expect "no diagram without ports" test ! -e tables/ports.svg
expect "title" grep -qx 'Latency and throughput: Integer instructions on Test CPU (Test testa)' \
    tables/int.txt
expect "tables" grep -q '^div r64 .* 5\.00 .* 7\.00$' tables/int.txt
expect "info" grep -q '^uarch  *testa$' tables/info.txt
run report --db known.db --output /proc/nowhere
expect_status 3
expect_err '/proc/nowhere'
finish
