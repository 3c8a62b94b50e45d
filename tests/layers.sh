#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The include graph is the pipeline: a module may include earlier stages only. Lists every #include of
# a later one and fails if there is any. Usage: tests/layers.sh [ROOT]. A module is a file of runner/
# without extension, or the part of its name before the first underscore (plan_bridge.c is of plan);
# tests, and main.c, which holds everything together, may include anything.
set -eu
cd "${1:-$(dirname "$0")/..}"

# One line a layer; modules in one line may include each other.
layers='util
outcome core cpuinfo command help options
count
list select
render
plan
gen
build
derive
exec
ports
store
report check validate
batch floor session measure run bench pack stat
latput
cmd commands main'

# shellcheck disable=SC2016 # the program is awk's
find runner cpuinfo library include -name '*.[ch]' | sort | xargs awk -v layers="$layers" '
function module_of(path,    name) {
    if (path ~ /(^|\/)util\//) return "util"
    if (path ~ /(^|\/)cpuinfo\//) return "cpuinfo"
    if (path ~ /(^|\/)core\//) return "core"
    name = path
    sub(/.*\//, "", name)
    sub(/\.[a-z]+$/, "", name)
    if (!(name in level)) sub(/_.*/, "", name)
    return name
}
BEGIN {
    n = split(layers, line, "\n")
    for (i = 1; i <= n; i++) {
        m = split(line[i], names, " ")
        for (j = 1; j <= m; j++) level[names[j]] = i
    }
}
FNR == 1 {
    own = module_of(FILENAME)
    if (!(own in level)) {
        print FILENAME ":1: module \"" own "\" has no layer; add it to tests/layers.sh"
        bad = 1
        level[own] = n
    }
}
/^#include "/ {
    split($0, quoted, "\"")
    path = quoted[2]
    if (path == "version.h") next
    if (path !~ /\//) { # beside the file that includes it
        dir = FILENAME
        sub(/[^\/]*$/, "", dir)
        path = dir path
    }
    other = module_of(path)
    if (level[other] > level[own]) {
        print FILENAME ":" FNR ": includes " quoted[2] ", a later stage"
        bad = 1
    }
}
END { exit bad }'
