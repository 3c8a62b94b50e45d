#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput pack, merge and rederive on databases of known content.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/../cli/cli.sh"
needs xz # for packs that are none
fixture known.db

run pack --db known.db --with-samples
expect_status 0
expect_out '^results/AuthenticAMD-00B00F21-testb-20[0-9-]+-1\.0-test\.zip$'
pack2=$(cat "$OUT")
run pack --db known.db --with-samples --run 1 --output one.zip
expect_status 0
expect_out '^one\.zip$'
# The description names what is given away.
expect "lines fit a terminal, and a log" test "$(wc -L <"$ERR")" -le 80
tr -s '\n ' ' ' <"$ERR" >told
expect "what is in it" grep -q \
    "CPU 'Test CPU', which claims to be unknown and is filed under testa" told
expect "how much" grep -qE 'by latput 1\.0-test, with all samples; [0-9.]+ MB\. ' told
expect "what it does not tell" grep -q 'no names of hosts, users or directories' told
if command -v script >/dev/null; then
    script -qec "stty cols 80; '$LATPUT' pack --db known.db --run 1 --output fit.zip" /dev/null \
        </dev/null | tr -d '\r' >fit
    expect "lines fit a terminal" test "$(grep -c . fit)" -gt 3 -a "$(wc -L <fit)" -le 80
fi
run pack --db known.db --with-samples --run 1 --output again.zip
expect "same bytes" cmp one.zip again.zip
run pack --db known.db --run 7
expect_status 2
expect_err 'has no run 7'
: >target.zip
ln -s target.zip link.zip
run pack --db known.db --with-samples --run 1 --output link.zip
expect_status 0
expect "the link is one still" test -L link.zip
expect "the pack is behind it" cmp target.zip one.zip
run pack --db known.db --output /nonexistent/x.zip
expect_status 3
expect_err '/nonexistent/x\.zip: cannot be written: No such file or directory$'
run report --db known.db --output /nonexistent/x
expect_status 3
expect_err '/nonexistent/x: cannot be made: No such file or directory$'

run merge --db both.db one.zip "$pack2"
expect_status 0
expect_out '^one\.zip: added as run 1$'
expect_out ': added as run 2$'
run merge --db both.db one.zip
expect_status 0
expect_out '^one\.zip: is there already as run 1$'
run query --db both.db --format csv
cp "$OUT" both.csv
run query --db known.db --format csv
expect "same views" cmp both.csv "$OUT"

# Only packs need libarchive.
mkdir none && touch none/libarchive.so none/libarchive.so.13
export LD_LIBRARY_PATH=$SCRATCH/none
run query --db both.db
expect_status 0
run merge --db none.db one.zip
expect_status 3
expect_err 'packs need libarchive, which cannot be loaded: .*libarchive\.so: file too short$'
run pack --db known.db --output none.zip
expect_status 3
expect_err 'packs need libarchive'
expect "no file" test ! -e none.zip -a ! -e none.db
unset LD_LIBRARY_PATH

# One bad pack: nothing of the others is merged either.
head -c 300 one.zip >cut.zip
run merge --db none.db one.zip cut.zip
expect_status 2
expect_no_out
expect_err 'cut\.zip: '
expect "no new database" test ! -e none.db -a ! -e none.db-wal -a ! -e none.db-shm
cp known.db kept.db
run merge --db kept.db cut.zip
expect_status 2
expect "what was there stays" test -s kept.db
run merge --db none.db missing.zip
expect_status 2
expect_err 'missing\.zip: No such file or directory'
# A file that is no pack is named before the database is opened, which migrates an old one.
cp known.db old.db
sqlite3 old.db 'PRAGMA user_version = 34'
before=$(sha256sum old.db)
echo text >text.zip
for file in missing.zip text.zip cut.zip; do
    run merge --db old.db one.zip "$file"
    expect_status 2
    expect_err "^latput merge: $file: "
    expect "it is as it was" test "$(sha256sum old.db)" = "$before"
done
# Bytes around a pack could be another, which no reader of archives sees.
{ cat one.zip && echo; } >after.zip
{ echo && cat one.zip; } >before.zip
cat one.zip one.zip >twice.zip
for file in after before twice; do
    run merge --db none.db "$file.zip"
    expect_status 2
    expect_err "$file\\.zip: has bytes before, between or after its members"
done
expect "no new database" test ! -e none.db
run merge --db /nonexistent/x.db one.zip
expect_status 3
expect_err '/nonexistent/x\.db: cannot be opened: No such file or directory; check'

# A file that is something else is wrong input, whatever the command.
echo \
    'this is a text, of more than the hundred bytes that the head of a database has, and so no database at all' >text.db
for words in query report pack 'diff 1 2' rederive 'merge one.zip' 'run --quick'; do
    # shellcheck disable=SC2086
    run $words --db text.db
    expect_status 2
    expect_err 'text\.db: is not a latput database'
done
run merge --db none.db
expect_status 2
# Files beside packs are skipped, whatever the shell expands to; a name promises a pack.
mkdir -p beside/plots
echo 'The packs here' | tee beside/README.md >beside/b.txt
cp one.zip beside/pack
run merge --db beside.db beside/*
expect_status 0
expect_out '^beside/pack: added as run 1$'
expect_err 'no packs \(zip, tar\.xz\), left out: beside/README\.md, beside/b\.txt, beside/plots$'
run merge --db none.db beside/README.md beside/plots
expect_status 2
expect_err 'there is no pack \(zip, tar\.xz\) to merge among beside/README\.md, beside/plots$'
for name in a.zip a.tar.xz a.pack; do
    cp beside/README.md "beside/$name"
    run merge --db none.db beside/*
    expect_status 2
    expect_no_out
    expect_err "beside/$name: cannot be read as a pack .*; if it is one, copy it again$"
    rm "beside/$name"
done
head -c 300 one.zip >beside/cut
run merge --db none.db beside/*
expect_status 2
expect_err 'beside/cut: '
expect "no new database" test ! -e none.db

run diff --db both.db testa testb
expect_status 0
expect_err '3 of 3 common forms differ'

run rederive --db both.db
expect_status 0
expect_out '^20 results made from stored samples, 0 of them differ'
run rederive --db both.db --run 1
expect_out '^10 results'
# Without samples: small, the same tables, and its results stay what they are.
run pack --db known.db --run 1 --output slim.zip
expect_status 0
run merge --db slim.db slim.zip
expect_out '^slim\.zip: added as run 1$'
run rederive --db slim.db
expect_out '^0 results made'
expect_err '1 runs have no samples; their results stay'
run query --db slim.db --format csv
cp "$OUT" slim.csv
run query --db known.db --run 1 --format csv
expect "the same results" cmp <(sort slim.csv) <(sort "$OUT")
run merge --db slim.db one.zip
expect_out '^one\.zip: is there already as run 1$'
unpack slim.zip README.txt slim_readme.txt
expect "words" grep -q 'latput 1\.0-test measured them' slim_readme.txt
expect "lines of 80 columns" test "$(wc -L <slim_readme.txt)" -le 80
unpack slim.zip info.txt slim_info.txt
expect "said" grep -q 'kept without samples' slim_info.txt

# Slim: without kernels as well; results stand as they are, to thousandths.
run pack --db known.db --run 1 --slim
expect_status 0
expect_out '^results/.*-testa-.*\.tar\.xz$'
mv "$(cat "$OUT")" slimmer.tar.xz
tr -s '\n ' ' ' <"$ERR" >told
expect "what is left out" grep -q 'without samples, kernels and the timings behind its ports; [0-9.]* MB' told
run pack --db known.db --run 1 --slim --output slimmer2.tar.xz
expect "the same bytes" cmp slimmer.tar.xz slimmer2.tar.xz
# A pack is slim; the others are asked for, the larger ones by an older word, too.
run pack --db known.db --run 1 --output usual.tar.xz
expect "the same bytes" cmp slimmer.tar.xz usual.tar.xz
run pack --db known.db --run 1 --full --output full.zip
expect "the same bytes" cmp one.zip full.zip
run pack --db known.db --run 1 --tables --output tables
expect "a name in .zip means tables" cmp slim.zip tables
for more in --with-samples --full --tables; do
    run pack --db known.db --slim $more
    expect_status 2
    expect_err 'give one of them'
done
run merge --db slimmer.db slimmer.tar.xz
expect_out '^slimmer\.tar\.xz: added as run 1$'
expect "no kernels" test "$(sqlite3 -readonly slimmer.db 'SELECT count(*) FROM kernel')" = 0
run rederive --db slimmer.db
expect_out '^0 results made'
expect_err '1 runs have no samples; their results stay'
values="SELECT form, enc, bits, src, dst, variant, outcome, bound, round(latency_clk, 3),
    round(spread_clk, 3) FROM latency_table UNION ALL SELECT form, enc, bits, uops, ports, tests,
    outcome, rthroughput_bound, round(rthroughput_clk, 3), round(rthroughput_slow_clk, 3)
    FROM instruction_table ORDER BY 1, 2, 3, 4, 5, 6"
sqlite3 -readonly slim.db "$values" >kept.txt
expect "some values" test "$(wc -l <kept.txt)" -gt 5
expect "the same results" cmp kept.txt <(sqlite3 -readonly slimmer.db "$values")
run diff --db slimmer.db 1 1
expect_err '0 of 3 common forms differ'
run site --db slimmer.db --output slim_site
expect_status 0
expect "the page says what is missing" \
    grep -q 'kept without samples, kernels' slim_site/data/index.js
# A slim pack that is packed again is one still.
run pack --db slimmer.db --output again.tar.xz --slim
run merge --db slimmer3.db again.tar.xz
expect "the same results" cmp kept.txt <(sqlite3 -readonly slimmer3.db "$values")
# Files that are no pack, cut, or packed far too well are refused.
head -c 2000 slimmer.tar.xz >cut.tar.xz
run merge --db slimmer.db cut.tar.xz
expect_status 2
for more in slimmer.tar.xz one.zip README.txt; do
    [ -e "$more" ] || echo more >"$more"
    cat slimmer.tar.xz "$more" >after.tar.xz
    run merge --db after.db after.tar.xz
    expect_status 2
    expect_err 'after\.tar\.xz: (cannot be read as a pack|has two members of one name)'
    expect "no new database" test ! -e after.db
done
xz -dc slimmer.tar.xz >tar.pack && cat tar.pack tar.pack >twice.pack && xz twice.pack
run merge --db after.db twice.pack.xz
expect_status 2
expect_err 'has two members of one name'
head -c 40000000 /dev/zero >run.db
tar cJf bomb.tar.xz run.db
rm run.db
run merge --db slimmer.db bomb.tar.xz
expect_status 2
expect_err 'bomb\.tar\.xz: unpacks to far more than results would'
mkdir x && : >x/passwd
tar cJPf path.tar.xz x/../x/passwd
run merge --db slimmer.db path.tar.xz
expect_status 2
expect_err 'has a member of a name that no pack has'

run rederive --db missing.db
expect_status 3
expect_err 'missing.db: there is no such database'
expect "not made by rederive" test ! -e missing.db
finish
