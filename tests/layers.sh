#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks the order of the folders, which is that of the pipeline: a file may include files of its
# own folder and of folders above it in the list below. Files may not go round in a circle: neither
# headers that include each other, nor, if BUILD is given and built, files that call each other.
# Prints what is wrong, and fails if anything is. Usage: tests/layers.sh [ROOT [BUILD]]; BUILD is a
# path below ROOT, or absolute. runner/main.c, which holds everything together, and tests may
# include anything.
set -eu
cd "${1:-$(dirname "$0")/..}"
build=${2:-}

# The folders, described in runner/README.md.
layers='runner/util
runner/output
cpuinfo
kernel
runner/core
runner/counters
runner/list
runner/plan
runner/assemble
runner/execute
runner/derive
runner/conclude
runner/ports
runner/port_names
runner/columns
runner/store
runner/rederive
runner/merge
runner/expr
runner/plot
runner/sheet
runner/report
runner/diff
runner/pack
runner/measure
runner/portrun
runner/validate
runner/run
runner/property
runner/bench
runner/stat
runner/check
runner/known
runner/foreign
runner/site
runner/llvm
runner/export
runner/compare
runner/explain
runner/cli
include
library
runner/commands'

sources=$(find runner cpuinfo kernel library include -name '*.[ch]' ! -path runner/main.c | sort)

# Prints lines of "file included-file", and a complaint about each that cannot be found or lies
# later.
# shellcheck disable=SC2016 # the program is awk's
includes='
BEGIN {
    n = split(layers, line, "\n")
    for (i = 1; i <= n; i++) level[line[i]] = i
    n = split(sources, line, "\n")
    for (i = 1; i <= n; i++) {
        there[line[i]] = 1
        name = line[i]
        sub(/.*\//, "", name)
        if (name in first) complain(line[i] ":1: there is " first[name] " of the same name")
        first[name] = line[i]
    }
}
function complain(text) {
    print text >"/dev/stderr"
    bad = 1
}
function folder(path) {
    sub(/\/[^\/]*$/, "", path)
    return path
}
function found(text, own,    i, n, roots, path) {
    n = split(own "/ runner/  include/", roots, " ")
    roots[++n] = ""
    for (i = 1; i <= n; i++) {
        path = roots[i] text
        if (path in there) return path
    }
    return ""
}
FNR == 1 {
    own = folder(FILENAME)
    if (!(own in level)) complain(FILENAME ":1: the folder " own " is not in tests/layers.sh")
}
/^#include "/ {
    split($0, quoted, "\"")
    text = quoted[2]
    if (text == "version.h") next # made by the Makefile
    other = found(text, own)
    if (other == "")
        complain(FILENAME ":" FNR ": there is no " text ", neither beside the file nor by its path below runner/")
    else if (level[folder(other)] > level[own])
        complain(FILENAME ":" FNR ": includes " text ", a later stage")
    else
        print FILENAME, other
}
END { exit bad }'

# Reads lines "from to" and keeps the edges that lie on a circle: those whose ends reach each other.
# Prints each circle as a line of its members, in alphabetical order.
# shellcheck disable=SC2016
find_circles='
$1 != $2 && !(($1, $2) in edge) {
    edge[$1, $2] = 1
    to[$1] = to[$1] " " $2
    node[$1] = node[$2] = 1
}
# Marks in seen[start, ...] everything that can be reached.
function reach(start,    stack, n, at, i, m, next_ones) {
    stack[n = 1] = start
    while (n) {
        at = stack[n--]
        m = split(to[at], next_ones, " ")
        for (i = 1; i <= m; i++)
            if (!((start, next_ones[i]) in seen)) {
                seen[start, next_ones[i]] = 1
                stack[++n] = next_ones[i]
            }
    }
}
END {
    for (a in node) reach(a)
    for (a in node) {
        if (a in done || !((a, a) in seen)) continue
        n = 0
        for (b in node)
            if (((a, b) in seen) && ((b, a) in seen)) {
                done[b] = 1
                for (i = ++n; i > 1 && member[i - 1] > b; i--) member[i] = member[i - 1]
                member[i] = b
            }
        text = member[1]
        for (i = 2; i <= n; i++) text = text " " member[i]
        print text
    }
}'

# Prints lines of "file file-with-the-symbol" for the objects named on standard input.
# shellcheck disable=SC2016
calls='
{
    object = $1
    sub(/:.*/, "", object)
    sub(/.*\//, "", object)
    sub(/\.o$/, "", object)
    name = $NF
    if ($(NF - 1) == "U") {
        n++
        from[n] = object
        wants[n] = name
    } else if ($(NF - 1) ~ /^[A-Z]$/)
        defined_in[name] = object
}
END {
    for (i = 1; i <= n; i++)
        if (wants[i] in defined_in) print from[i], defined_in[wants[i]]
}'

failed=0
edges=$(echo "$sources" | xargs awk -v layers="$layers" -v sources="$sources" "$includes") ||
    failed=1
headers=$(echo "$edges" | awk '$1 ~ /\.h$/ && $2 ~ /\.h$/ { print }' | awk "$find_circles")
if [ -n "$headers" ]; then
    echo "headers include each other in a circle: $headers" >&2
    failed=1
fi

if [ -n "$build" ]; then
    objects=
    while read -r file; do
        case $build in /*) object=$build/${file%.*}.o ;; *) object=./$build/${file%.*}.o ;; esac
        [ -r "$object" ] || { echo "$object is not there; make all" >&2 && exit 1; }
        objects+=$object$'\n'
    done < <(echo "$sources" | grep '\.c$' | grep -v '^kernel/' &&
        find runner -name 'core_*.asm' ! -name '*32.asm')
    # The measuring process is a program of its own.
    found=$(for part in '-v' '-e'; do
        echo "$objects" | grep -v '^$' | grep "$part" /core_ | xargs -r nm -A | awk "$calls" |
            awk "$find_circles"
    done | sort)
    while read -r circle; do
        [ -z "$circle" ] && continue
        echo "files call each other in a circle: $circle" >&2
        failed=1
    done <<<"$found"
fi
exit "$failed"
