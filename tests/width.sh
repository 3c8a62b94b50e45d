#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# No line of a source file is wider than 100 characters, tables of rows included. What must stand on
# one line does not count: a text in quotes in a script or the web page, from 50 characters on, and
# the contract of a macro (`;@ ...`); nor what is minified. Of a page (*.md) only the prose counts:
# not its tables and code, nor the addresses in it, nor a line of one word. Prints those that are
# wider, and fails if there is one.
# Usage: tests/width.sh FILE...
set -eu
export LC_ALL=C.UTF-8

# Lines of "file:line:text" of a page that may be too wide: awk's characters may be bytes.
# shellcheck disable=SC2016 # the program is awk's
prose='
FNR == 1 { fence = code = 0; blank = 1 }
/^ *(```|~~~)/ { fence = !fence; next }
fence { next }
/^ *$/ { blank = 1; next }
{ code = /^    / && (blank || code); blank = 0 }
code || /^ *\|/ { next }
{ gsub(/\]\([^ )]*\)/, "]"); gsub(/https?:[^ )>]*/, "") }
length($0) > 100 {
    words = $0
    sub(/^ *([-*+]|[0-9]+[.)]) +/, "", words)
    if (words ~ /[^ ] +[^ ]/) print FILENAME ":" FNR ":" $0
}'
lines() {
    local file sources=() pages=()
    for file; do
        case $file in *.md) pages+=("$file") ;; *) sources+=("$file") ;; esac
    done
    [ ${#sources[@]} = 0 ] ||
        grep -nHE '^.{101,}' "${sources[@]}" | grep -vE '^[^:]*(\.inc:[0-9]*:;@ |\.min\.)' || true
    [ ${#pages[@]} = 0 ] || awk "$prose" "${pages[@]}"
}
wide=0
while IFS= read -r found; do
    file=${found%%:*} line=${found#*:}
    number=${line%%:*} text=${line#*:}
    # shellcheck disable=SC2016 # the grave accents are JavaScript's
    case $file in
    *.sh | */run) text=$(sed -E "s/\"[^\"]{50,}\"//g; s/'[^']{50,}'//g" <<<"$text") ;;
    *.js | *.mjs) text=$(sed -E 's/"[^"]{50,}"//g; s/`[^`]{50,}`//g' <<<"$text") ;;
    esac
    [ ${#text} -gt 100 ] || continue
    echo "$file:$number: wider than 100 columns"
    wide=1
done < <(lines "$@")
exit $wide
