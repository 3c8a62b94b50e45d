#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The whole suite, unattended: installs what is missing, builds, measures every list and every
# property of the pipeline and writes tables, data sheet, pictures, a web page and a pack to
# results/. Options are those of `latput run`, e.g. --quick, --db FILE, --cpu N; those that choose
# forms (lists, --filter) leave the properties out. Of several kinds of cores (P and E cores) each
# is measured, unless --cpu or --kind chooses one, and has a directory below results/ and a pack. A
# second call goes on where an interrupted one ended; after a finished one it only measures the
# properties anew. Where a run ends with status 1, what it has no value for is measured once more.
# It survives the end of the terminal or connection that started it. Exit status as `latput run`: 0
# all done (a few unstable tests are a warning), 1 the results as a whole are in doubt, tests failed
# that should not have, or it was stopped (the log says which), 2 wrong usage, 3 the environment
# lacks something or nothing could be measured.
set -u
cd "$(dirname "$0")" || exit 3
trap '' HUP PIPE # a lost terminal or connection; inherited by all that follows
stopped=
trap stopped=1 INT TERM

latput=build/latput results=results db=() property=() chosen='' one=
arguments=("$@")
while [ $# -gt 0 ]; do # the options that concern the other commands, too
    case $1 in
    -h | --help)
        echo "Usage: ./alltests.sh [OPTIONS OF latput run]"
        sed -n '3,/^set /s/^# //p' "${0##*/}"
        exit
        ;;
    --db) db=(--db "${2-}") && shift ;;
    --db=*) db=("$1") ;;
    --results) results=${2-} && shift ;;
    --results=*) results=${1#*=} ;;
    --cpu | --kind) one=1 && property+=("$1" "${2-}") && shift ;;
    --cpu=* | --kind=*) one=1 && property+=("$1") ;;
    --quick) property+=("$1") ;;
    --give-up) shift ;;
    --give-up=* | -q | --quiet) ;;
    *) chosen=1 ;;
    esac
    [ $# -gt 0 ] && shift
done
mkdir -p "$results" || exit 3
log=$results/alltests.log

note() {
    echo "$@"
    echo "$@" >>"$log"
}
stop() {
    note "alltests.sh: stopped; the same command goes on from here"
    exit 1
}
# step COMMAND...: its output goes to the log, and to the terminal as well if it fails.
step() {
    note "== $*"
    local from=$(($(wc -l <"$log") + 1))
    "$@" >>"$log" 2>&1 </dev/null
    local status=$?
    [ -z "$stopped" ] || stop
    [ "$status" != 0 ] || return 0
    tail -n "+$from" "$log" >&2
    note "alltests.sh: '$*' failed with status $status; see $log" >&2
    return "$status"
}

note "== alltests.sh ${arguments[*]}: $(date -u '+%Y-%m-%d %H:%M:%S') UTC"
step ./install-deps.sh || exit
step make || exit 3
step "$latput" cpu --save "$results/cpu.cpuid" || exit
"$latput" cpu >"$results/cpu.txt" 2>>"$log" || exit
step "$latput" check || exit

# run OPTION: measures; sets status.
run() {
    note "== $latput run $1 ${arguments[*]}"
    from=$(($(wc -l <"$log") + 1))
    if [ -t 2 ]; then # the progress bar belongs to the terminal
        "$latput" run "$1" "${arguments[@]}" </dev/null
    else
        "$latput" run "$1" "${arguments[@]}" >>"$log" 2>&1 </dev/null
    fi
    status=$?
    note "== latput run ended with status $status"
    [ -z "$stopped" ] || stop
}
run --resume
if [ "$status" -gt 1 ]; then
    [ -t 2 ] || tail -n "+$from" "$log" >&2
    note "alltests.sh: nothing was measured; see $log" >&2
    exit "$status"
fi
if [ "$status" = 1 ]; then
    run --again
    [ "$status" = 0 ] || status=1 # what the first has stays
fi

if [ -z "$chosen" ]; then # tables without them are worth having
    step "$latput" property --resume "${property[@]}" "${db[@]}" --results "$results" ||
        note "The properties are incomplete or in doubt."
fi
# Kinds of cores that were measured, where there are several; their directories have their names.
kinds=()
if [ -z "$one" ] && grep -qs '^cpus ' "$results/cpu.cpuid"; then
    for kind in $("$latput" cpu --kinds 2>>"$log" | awk 'NR > 1 { print $1 }'); do
        [ ! -d "$results/$kind" ] || kinds+=("$kind")
    done
fi
for kind in "${kinds[@]}"; do
    step "$latput" report "${db[@]}" --kind "$kind" --output "$results/$kind" || exit
done
[ "${#kinds[@]}" != 0 ] || step "$latput" report "${db[@]}" --output "$results" || exit
step "$latput" site "${db[@]}" --output "$results/site" --no-database || exit
step "$latput" pack "${db[@]}" --output "$results" || exit
[ "$status" = 0 ] || note \
    "The results are not to be relied on as they are, see 'ends with status' in $log or above."
there() { # FILE WHAT: prints what is there to be read
    compgen -G "$results/$1" >/dev/null && echo "$2, "
}
note "Results are in $results/: tables (*.txt), the machine (info.txt)," \
    "$(there properties.txt 'the pipeline (properties.txt)')$(there 'plots/*.svg' \
        'its curves (plots/*.svg)')a web page (site/index.html), the pack (*.tar.xz), this log."
for kind in "${kinds[@]}"; do
    note "Tables, machine and pipeline of the kind of core $kind are in $results/$kind/."
done
note "Ask the database with: $latput query${db[*]:+ ${db[*]}} 'add*'"
exit "$status"
