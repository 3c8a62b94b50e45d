#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Measures forms on this CPU by the core for Windows under wine, by the kit for Windows there, and
# by Linux, one after the other: latencies and throughputs must be equal but for noise. Most must
# have a value, unless the core was disturbed. Usage: as outcomes.sh.
# shellcheck source=tests/windows/wine.sh
. "$(dirname "$0")/wine.sh"
kit_needed

cat >"$SCRATCH/forms.csv" <<'LIST'
mnemonic,operands,implicit,isa,tests,options
add,+r64 r64,=flags,X86_64,,
imul,+r64 r64,=flags,X86_64,,
mov,=r64 m64,,X86_64,,
mov,=m64 r64,,X86_64,,
popcnt,=r64 r64,=flags,POPCNT,,
shld,+r64 r64 i8,=flags,X86_64,,
bsf,+r64 r64,=flags,X86_64,,
mulss,+x x,,SSE,,
addps,+x x,,SSE,,
pshufb,+x x,,SSSE3,,
sqrtsd,+x x,,SSE2,,
vfmadd132ps,+y y y,,FMA,,
vpaddd,=y y y,,AVX2,,
LIST
measure() { "$1" run --quiet --db "$SCRATCH/$1.db" --results "$SCRATCH/$1" --tests LT --give-up 10 \
    "$SCRATCH/forms.csv"; }
table() { "$LATPUT" query --db "$SCRATCH/$1.db" --format csv; }
for by in windows kit run; do
    measure "$by"
    [ "$STATUS" = 0 ] || expect_status 1 # some were unstable
    table "$by" >"$SCRATCH/$by.csv" 2>/dev/null
done
# beside NAME: compares its values with those of Linux.
beside() {
    CLI_COMMAND="$1 beside Linux"
    awk -F, '
FNR == 1 {
    for (i = 1; i <= NF; i++) column[$i] = i
    next
}
{ form = $column["mnemonic"] " " $column["operands"] }
FILENAME ~ /run.csv$/ {
    high[form] = $column["latency_max_clk"]
    low[form] = $column["rthroughput_clk"]
}
FILENAME !~ /run.csv$/ {
    differs(form ", latency", $column["latency_max_clk"], high[form])
    differs(form ", throughput", $column["rthroughput_clk"], low[form])
}
function differs(what, windows, linux) {
    forms++
    if (windows == "" || linux == "") return
    both++
    off = windows / linux - 1
    printf "%-28s %8.3f %8.3f %+7.2f %%\n", what, windows, linux, 100 * off
    if (off > 0.02 || off < -0.02) bad = 1
}
END { exit bad || both < 0.7 * forms }' "$SCRATCH/run.csv" "$SCRATCH/$1.csv" ||
        cli_fail "values differ by more than 2 %, or are missing"
}
beside windows
beside kit
finish
