#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# No line of a source file is wider than 100 characters, tables of rows included. What must stand on
# one line does not count: a text in quotes in a script or the web page, from 50 characters on, and
# the contract of a macro (`;@ ...`); nor what is minified. Prints those that are wider, and fails
# if there is one.
# Usage: tests/width.sh FILE...
set -eu
export LC_ALL=C.UTF-8
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
done < <(grep -nHE '^.{101,}' "$@" | grep -vE '^[^:]*(\.inc:[0-9]*:;@ |\.min\.)')
exit $wide
