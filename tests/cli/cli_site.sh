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
finish
