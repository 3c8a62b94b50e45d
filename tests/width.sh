#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# No line of a source file is wider than 100 characters, tables of rows included. What must stand on
# one line does not count: a text in quotes in a script, from 50 characters on, and the contract of
# a macro (`;@ ...`). Prints those that are wider, and fails if there is one.
# Usage: tests/width.sh FILE...
set -eu
export LC_ALL=C.UTF-8
! grep -nHE '^.{101,}' "$@" | grep -vE '^[^:]*\.inc:[0-9]*:;@ ' | while IFS= read -r found; do
    file=${found%%:*} line=${found#*:}
    number=${line%%:*} text=${line#*:}
    case $file in
    *.sh | */run) text=$(sed -E "s/\"[^\"]{50,}\"//g; s/'[^']{50,}'//g" <<<"$text") ;;
    esac
    [ ${#text} -le 100 ] || echo "$file:$number: wider than 100 columns"
done | grep .
