#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The examples of docs/QUERIES.md: each command runs, each SQL statement runs, where one follows the
# other they give the same rows, and these are the true ones of a database of known content. The
# examples of README.md are what they print.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"
command -v sqlite3 >/dev/null || { echo "sqlite3 is missing: the SQL cannot be run"; exit 77; }
fixture known.db
fixture ports.db
# A form of 512 bits that waits for a divider.
fixture ports.db units.db
sqlite3 units.db "DROP TRIGGER form_no_update; UPDATE form SET form = 'vdivpd z z z',
    mnemonic = 'vdivpd', operands = 'z z z', enc = 'evex' WHERE form = 'div r64'"
# A core on which each example has an answer, and something near it that is none.
cat >forms.csv <<'LIST'
# forms
mnemonic,operands,implicit,isa,tests,options
add,+r64 r64,=flags,X86_64,,
bswap,+r64,,X86_64,,
popcnt,=r64 r64,=flags,POPCNT,,
lzcnt,=r64 r64,=flags,LZCNT,,
sqrtsd,+x x,,SSE2,,
divsd,+x x,,SSE2,,
pshufb,+x x,,SSSE3,,roles=op1:table+op2:index
vpaddd,=y y y/m256,,AVX2,,
vpaddd,=z z z/m512,,AVX512F,,
vpsubd,=y y y,,AVX2,,
vpsubd,=y y y,,AVX2,,same
vpsubd,=z z z,,AVX512F,,
vpsubd,=z z z,,AVX512F,,same
vdivps,=z z z,,AVX512F,,
LIST
text_machine asked <<'SCRIPT'
fault "bswap *" signal SEGV
form "popcnt *" p0 3 from 1 4
form "sqrtsd *" p4 8
form "divsd *" p4 12
form "pshufb *" p67 1 from 2 3
form "vpaddd z * z" 2*p4 1
form "vpaddd z * m*" 3*p4 1
form "vpsubd z *" p45 1
idiom "vpsubd *"
form "vdivps z *" 8*p5 24
SCRIPT
run run forms.csv --db told.db --results none --quiet
expect_status 1 # bswap
# A value that cannot be true beside another one of its form.
cp told.db doubt.db
sqlite3 doubt.db "UPDATE result SET value_clk = 9 WHERE test_id = (SELECT test_id FROM run_test
    JOIN form USING (form_id) WHERE form = 'vpaddd y y y' AND kind = 'throughput');
    INSERT OR REPLACE INTO form_summary SELECT * FROM run_form_result"
# The true rows of each statement, numbers to three digits: "# DATABASE, N HEADING".
cat >answers <<'ANSWERS'
# told.db, 1 What takes long?
vdivps z z z,24,8
divsd x x,12,1
# known.db, 1 What slows down most with other operands?
div r64,5,7
div r64,10,14
# known.db, 1 Which pair of operands has the latency?
testa,flags,op1,
testa,op1,op1,1
testa,op2,flags,2
testb,flags,op1,
testb,op1,op1,2
testb,op2,flags,4
# told.db, 1 Which instructions wait for what they overwrite?
zen5,popcnt r64 r64,op1,4
# doubt.db, 1 Which values hang on how they were asked?
zen5,vpaddd y y y,,,9,chain,1
# told.db, 1 Is the index of a shuffle slower than its table?
zen5,pshufb x x,op1,table,1
zen5,pshufb x x,op2,index,3
# told.db, 1 What was measured, and has no number?
zen5,bswap r64,signalled
# told.db, 1 Which instructions have one µop for the ports, and which none?
zen5,add r64 r64,1*B4,1
zen5,divsd x x,1*A1,1
zen5,lzcnt r64 r64,1*B4,1
zen5,popcnt r64 r64,1*B1b,1
zen5,pshufb x x,1*A2,1
zen5,sqrtsd x x,1*A1,1
zen5,vpaddd y y y,1*A4,1
zen5,vpsubd y y y,1*A4,1
zen5,vpsubd y y y same,,0
zen5,vpsubd z z z,1*A2b,1
zen5,vpsubd z z z same,1*A2b,1
# known.db, 1 Two CPUs side by side
add r64 r64,legacy,64,0.25,0.5
div r64,legacy,64,5,10
hlt r64,legacy,64,,
# told.db, 1 AVX-512 forms slower than their AVX2 counterparts
vpaddd z z z,2,vpaddd y y y,0.25
vpaddd z z m512,3,vpaddd y y m256,0.5
vpsubd z z z same,0.5,vpsubd y y y same,0.125
# units.db, 2 AVX-512 forms slower than their AVX2 counterparts
vdivpd z z z,DIV,5
# told.db, 2 AVX-512 forms slower than their AVX2 counterparts
# told.db, 1 The key of a form
16,16,14
ANSWERS

# Blocks of the page, one a file, in their order: NN.sh and NN.sql. NN.is: which of which heading.
awk '/^## / { heading = substr($0, 4); nth = 0 }
    /^```/ { if (open) { open = 0; close(file) } else { open = 1; n++
    kind = $0 == "```sql" ? "sql" : "sh"; file = sprintf("%02d.%s", n, kind)
    if (kind == "sql") print ++nth, heading > sprintf("%02d.is", n) }; next }
    open { print > file }' "$TREE/docs/QUERIES.md"
commands=0 statements=0 pairs=0 rows=0
for block in [0-9]*.s*; do
    if [ "${block##*.}" = sh ]; then
        grep -q '^latput ' "$block" || continue # the grammar
        command=$block
        commands=$((commands + 1))
        continue
    fi
    statements=$((statements + 1))
    n=$((10#${block%.*} - 1))
    [ "${command:-}" = "$(printf '%02d.sh' "$n")" ] || command=
    heading=$(cat "${block%.*}.is")
    CLI_COMMAND="$block of docs/QUERIES.md"
    expect "there is an answer" grep -qE "^# [a-z]*\.db, ${heading//[?]/[?]}$" answers
    for db in known.db ports.db units.db told.db doubt.db; do
        CLI_COMMAND="$block of docs/QUERIES.md, $db"
        # The CPU of the first is another one here.
        as() {
            local other=testa
            [[ $db != told.db && $db != doubt.db ]] || other=zen5
            sed "s/\\btesta\\b/$other/g" "$1"
        }
        as "$block" | sqlite3 -readonly -header -csv "$db" >"$block.csv" 2>"$ERR"
        expect "SQL runs: $(cat "$ERR")" test ! -s "$ERR"
        tr -d '\r"' <"$block.csv" | sed 1d >sql.rows
        if grep -qxF "# $db, $heading" answers; then
            awk -v is="# $db, $heading" '/^# / { on = $0 == is; next } on' answers >true.rows
            awk -F, -v OFS=, '{ for (i = 1; i <= NF; i++)
                if ($i ~ /^[0-9]+\.[0-9]+$/) $i = sprintf("%.3g", $i) } 1' sql.rows >rounded.rows
            expect "the true rows: $(diff true.rows rounded.rows)" cmp -s true.rows rounded.rows
        fi
        [ -n "$command" ] || continue
        pairs=$((pairs + 1))
        bash -c "$(as "$command" |
            sed "s|^latput query|'$LATPUT' query --db $db --format csv|")" >"$OUT" 2>"$ERR"
        STATUS=$?
        CLI_COMMAND="$command of docs/QUERIES.md, $db"
        # Not each of the databases has the family that the page asks for.
        [ "$STATUS" = 0 ] || expect_err 'has no results of the uarch'
        # sqlite3 writes 5.0, and rounds to 15 digits.
        digits() { awk -F, -v OFS=, '{ for (i = 1; i <= NF; i++)
            if ($i ~ /^[0-9]+\.[0-9]+$/) $i = sprintf("%.12g", $i) } 1'; }
        digits <sql.rows >sql.same
        tr -d '"' <"$OUT" | sed 1d | digits >latput.same
        expect "the same rows: $(diff sql.same latput.same)" cmp -s sql.same latput.same
        rows=$((rows + $(wc -l <sql.rows)))
    done
done
expect "commands ($commands), statements ($statements), pairs ($pairs)" \
    test "$commands" -ge 10 -a "$statements" -ge 11 -a "$pairs" -ge 40
expect "there were rows ($rows)" test "$rows" -ge 60

# The query in db/README.md; forms with the same throughput come in any order.
CLI_COMMAND='the SQL of db/README.md'
sed -n '/^sqlite3 -readonly db/,/"$/s|db/latput.db|told.db|p; /^    WHERE uarch/p' \
    "$TREE/db/README.md" >example.sh
bash ./example.sh | awk -F'|' '{ printf "%s,%.3g\n", $1, $2 }' | sort >least.rows
expect "the true rows: $(cat least.rows)" diff least.rows - <<'ROWS'
vpaddd y y m256,0.5
vpaddd y y y,0.25
vpsubd y y y same,0.125
vpsubd y y y,0.25
ROWS

# README.md shows what its commands print, asked of the published runs. (With sanitizers there is no
# database of them.)
[ -e "$BUILD/published.db" ] || finish
export LATPUT_DB=$BUILD/published.db
awk '/^## / { here = $0 == "## Ask" } /^```/ { on = here && !on; next }
    on && /^\$ / { print substr($0, 3) > (++n ".command"); next }
    on { print > (n ".shown") }' "$TREE/README.md"
shown=0
for command in [0-9].command; do
    CLI_COMMAND="$(cat "$command") of README.md"
    bash -c "$(sed "s|^build/latput|'$LATPUT'|" "$command")" >"$OUT" 2>"$ERR"
    STATUS=$?
    expect_status 0
    page=${command%.*}.shown
    sed '/^\.\.\.$/,$d' "$page" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' >wanted
    # Lines after "..." are left out, and so is the empty line in front of the next command.
    ! grep -qx '\.\.\.' "$page" || sed -i "$(($(wc -l <wanted) + 1)),\$d" "$OUT"
    expect "what it shows: $(diff wanted "$OUT")" cmp -s wanted "$OUT"
    shown=$((shown + 1))
done
expect "outputs that it shows ($shown)" test "$shown" -ge 3
finish
