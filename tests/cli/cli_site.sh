#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput site: the command line, the files, and what may not be in them. cli_site_browser.sh looks
# at the page in a browser.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
not_in() { ! grep -nE "$@"; }
"$BUILD/tests/test_site" make known.db || exit 99

run site --db known.db --output one
expect_status 0
expect_out '^one/index\.html$'
expect_err '^latput site: 3 forms of 2 CPUs, [0-9]+ files, [0-9.]+ MB$'
expect "all forms, from one to the next" grep -q '"step":\[0,1,1\]' one/data/cpu_testb.js
expect "the bytes of a form, without its kernels" grep -qF '"4801CB add rbx, rcx"' one/data/code.js
expect "what it is for" grep -qF '"Addition"' one/data/code.js
mkdir bin
printf '#!/bin/sh\necho no such assembler >&2; exit 9\n' >bin/nasm
chmod +x bin/nasm
PATH=$PWD/bin:$PATH run site --db known.db --output bare
expect_status 0
expect_err '^latput site: without the bytes of instructions: nasm failed: no such assembler'
expect "a page all the same" grep -qF '"Addition"' bare/data/code.js
expect "without the bytes" not_in '4801CB' bare/data/code.js
run site --db known.db --output two --title 'latput'
expect_status 0
expect "same bytes" diff -r one two
expect "a database that can be asked" test \
    "$(sqlite3 one/latput.db 'SELECT count(*) FROM instruction_table')" = 6

# Every file of the page's own is there, and none is missing from the list of those that are copied.
page=$(cd "$TREE/site" && find . -type f | sort)
for file in $page; do
    expect "$file is as in the source" cmp "$TREE/site/$file" "one/$file"
done
there=$(cd one && find . -type f ! -path './data/*' ! -name latput.db | sort)
expect "nothing else" test "$there" = "$page"
run site --db known.db --output three --no-database --no-samples
expect_status 0
expect "no database" test ! -e three/latput.db
expect "says so" grep -q '"database":null' three/data/index.js
expect "smaller" test "$(cat three/data/*.js | wc -c)" -lt "$(cat one/data/*.js | wc -c)"

# Only one of the CPUs, in the data and in the database.
run site --db known.db --output only --uarch testb
expect_status 0
expect_err '^latput site: [0-9]+ forms of 1 CPU, '
expect "no file of the other" test ! -e only/data/cpu_testa.js
expect "its name is nowhere" bash -c '! grep -q testa only/data/*'
expect "one run" test "$(sqlite3 only/latput.db 'SELECT group_concat(uarch) FROM run_table')" = testb
run site --db known.db --output only --uarch testb,testa
expect_status 0
expect_err '^latput site: 3 forms of 2 CPUs, '
run site --db known.db --output no_such --uarch test
expect_status 2
expect_err "no results of the uarch 'test', only of testa, testb"
expect "nothing is made" test ! -e no_such

# Words stand for the options that lists have for the assembler.
cp known.db words.db
sqlite3 words.db "DROP TRIGGER form_no_update; UPDATE form SET
    options = 'opcode=legacy.np.00.w0.13', form = form || ' opcode=legacy.np.00.w0.13'
    WHERE mnemonic = 'div'" || exit 99
run site --db words.db --output words
expect_status 0
expect "in words" grep -q '"opcode 13"' words/data/forms.js

# Numbers in them are in order, as latput query has them.
cp known.db order.db
sqlite3 order.db "DROP TRIGGER form_no_update;
    UPDATE form SET mnemonic = 'rep movsb', operands = '', enc = 'legacy',
    form = 'rep movsb macro=string.inc:string_rep:rep:movsb:' || CASE mnemonic
    WHEN 'add' THEN 1024 WHEN 'div' THEN 16 ELSE 1 END || ':0:0'" || exit 99
run query --db order.db --uarch testa --columns form
expect "in order" test "$(grep -o '[0-9]* bytes*' "$OUT" | tr '\n' ,)" = \
    '1 byte,16 bytes,1024 bytes,'
run site --db order.db --output order
expect "on the page" grep -q '"1 byte".*"16 bytes".*"1024 bytes"' order/data/forms.js

# Names of strangers are texts; nothing is asked of anybody; what would let a text become markup is
# not used.
own=("$TREE"/site/*.html "$TREE"/site/*.js "$TREE"/site/*.css)
known='http://www\.w3\.org/2000/svg|`https://(www\.felixcloutier\.com/x86|uops\.info/table\.html)[/?]'
expect "no address of elsewhere, but two that links lead to" not_in '(https?:)?//[a-z]+\.' \
    <(grep -vE "$known" "${own[@]}")
markup='innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|srcdoc|eval\(|new Function'
requests='fetch\(|XMLHttpRequest|WebSocket|sendBeacon|importScripts|import\('
expect "texts only, and no requests" not_in "$markup|$requests" "${own[@]}"
html=$TREE/site/index.html
expect "no inline script or style" not_in '<script>|<style|style=|[ "]on[a-z]+=|javascript:' "$html"
policy="default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
expect "a policy" grep -q "content=\"$policy" "$html"

run site --db known.db extra
expect_status 2
run site --db known.db --frobnicate
expect_status 2
run site --db missing.db
expect_status 3
run site --db known.db --output /nonexistent/x
expect_status 3
expect_err '/nonexistent/x: cannot be made: No such file or directory$'
: >file
run site --db known.db --output file
expect_status 3
run site --help
expect_status 0
expect_out '\-\-no-samples'

# A page that cannot be finished leaves the one that was there: whole, and nothing beside it.
sums() { (cd "$1" && find . -type f -exec sha256sum {} + | sort -k 2); }
run site --db known.db --output page --title latput
sums page >whole.sums
unfinished() {
    sums page >now.sums
    expect "the page is as it was, $1" cmp whole.sums now.sums
}
(
    trap '' XFSZ
    ulimit -f 300
    "$LATPUT" site --db known.db --output page --title other >"$OUT" 2>"$ERR" </dev/null
)
STATUS=$?
CLI_COMMAND='latput site, files may not grow'
expect_status 3
unfinished "where files may not grow"
# An assembler that waits: the files before data/code.js are written by then.
# It may write no file, so that its argument tells it.
word=60.$$1
printf '#!/bin/sh\nexec sleep %s\n' "$word" >bin/nasm
for signal in TERM KILL; do
    PATH=$PWD/bin:$PATH "$LATPUT" site --db known.db --output page --title other \
        >"$OUT" 2>"$ERR" </dev/null &
    pid=$!
    await started "$word" >/dev/null
    kill -"$signal" "$pid"
    wait "$pid" 2>/dev/null
    ! left=$(started "$word") || kill "$left"
    [ "$signal" = TERM ] || mv page/latput-scratch-* killed || cli_fail "files wait beside the page"
    unfinished "after SIG$signal"
done
# The next one takes away what a killed one leaves. A symbolic link and `.` are places, too.
mv killed page/latput-scratch-abcdef
ln -s page link
run site --db known.db --output link
expect_status 0
unfinished "through a link"
cd page || exit 99
run site --db ../known.db --output .
expect_status 0
cd .. || exit 99
unfinished "made where it is"
full=(unshare -rm sh -c 'mount -t tmpfs -o size=1100k none page && "$@"' sh)
if "${full[@]}" true 2>/dev/null; then
    # shellcheck disable=SC2016 # what is quoted is the inner shell's own
    "${full[@]}" sh -c '"$0" site --db known.db --output page --no-database || exit 98
        (cd page && find . -type f -exec sha256sum {} + | sort -k 2) >before.sums
        head -c 900000 /dev/zero >page/other
        "$0" site --db known.db --output page --no-database --title other
        echo $? >status; rm page/other
        (cd page && find . -type f -exec sha256sum {} + | sort -k 2) >after.sums
        ' "$LATPUT" >"$OUT" 2>"$ERR"
    CLI_COMMAND='latput site, on a full disk'
    expect "it ends with 3" test "$(cat status)" = 3
    expect_err 'No space left on device; what was there before is unchanged$'
    expect "the page is as it was" cmp before.sums after.sums
fi
finish
