#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Lists that a stranger may have written against the machine that measures them: what they say to
# the assembler, to the database and to the terminal. All is refused when it is read, with status 2,
# and nothing of it is shown as it is.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

header=mnemonic,operands,implicit,isa,tests,options
# No byte of a message steers a terminal.
expect_plain() {
    if LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$ERR" "$OUT"; then
        cli_fail "control characters are shown"
    fi
}
# refused COMMAND PATTERN: the list hostile.csv, with this message.
refused() {
    run "$1" hostile.csv
    expect_status 2
    expect_err "hostile\.csv:[0-9]+: $2"
    expect_plain
}

# Each row by itself, in front of one that would be measured; whatever reads lists refuses it.
while IFS='|' read -r row pattern; do
    printf '%s\n%b\nadd,+r64 r64,=flags,X86_64,,\n' "$header" "$row" >hostile.csv
    refused check "$pattern"
    run run hostile.csv --db "$SCRATCH/x.db" --results none --quiet
    expect_status 2
    expect_err "hostile\.csv:2: $pattern"
    expect_plain
    expect "no database" test ! -e "$SCRATCH/x.db"
done <<'LIST'
tilerelease,,,I386,T,macro=amx.inc:amx_release:incbin`\\x2fetc\\x2fpasswd`:1:1|.*cannot be given
tilerelease,,,I386,T,macro=amx.inc:amx_release:{%error%!HOME}:1:1|.*cannot be given to a macro
tilerelease,,,I386,T,macro=amx.inc:amx_release:db`\\x90\\x90`:1:1|.*cannot be given to a macro
tilerelease,,,I386,T,macro=amx.inc:amx_release:times:1:1|'times' cannot be given
use32,,,I386,T,|there is no instruction 'use32'
cpu,i32:386,,I386,T,|there is no instruction 'cpu'
absolute,i8:16,,I386,T,|there is no instruction 'absolute'
align,i32:0x7fffffff,,I386,T,|there is no instruction 'align'
incbin,,,I386,T,|there is no instruction 'incbin'
nop,,,I386,T,mask=all|'all' is not a number
nop,,,I386,T,mask=Oxffff|'Oxffff' is not a number
nop,,,I386,T,fill=|the value is missing
push,r64,+rsp,X86_64,T,stack=-2147483648|stack=-BYTES or
vpaddd,=x x x,,AVX2,,data=idiv|data=idiv is for
nop,,,I386,T,mask=\033[31m1|a control character
nop,,,I386,T,mask=\0302\02331m|a control character
LIST

# A million rows, of which the first 100,000 are read: what is wrong after them is not seen, and
# memory is enough that does not hold as many.
{
    echo "$header"
    yes 'add,+r64 r64,=flags,X86_64,,' | head -n 1000000
} >hostile.csv
few() { # ARGS...
    ( # with sanitizers nothing begins in so little
        ulimit -S -v 150000
        "$LATPUT" --version >/dev/null 2>&1 || ulimit -S -v unlimited
        exec "$LATPUT" "$@" >"$OUT" 2>"$ERR" </dev/null
    )
    STATUS=$?
    CLI_COMMAND="latput $* in 150 MB"
    expect_status 2
    expect_err 'hostile\.csv:100002: more than 100000 rows; divide the file into several'
    expect "that is all that is told" test "$(wc -l <"$ERR")" -le 4
}
few check hostile.csv
few run hostile.csv --db "$SCRATCH/x.db" --results none --quiet
# Each of as many faults as rows is reported once.
{
    echo "$header"
    yes 'ad,r6,,NONE,Q,' | head -n 20000
} >hostile.csv
run check hostile.csv
expect_status 2
expect_err '^1 list, 0 rows, 80000 problems$'

# Titles and names.
printf '# A \033]0;title\a\n%s\nnop,,,I386,,\n' "$header" >hostile.csv
refused check 'a control character'
printf '# A title\rwith a return\n%s\nnop,,,I386,,\n' "$header" >hostile.csv
refused check 'a control character'
mv hostile.csv $'esc\033[31m.csv'
printf '%s\nnop,,,I386,,\n' "$header" >$'esc\033[31m.csv'
run run $'esc\033[31m.csv' --db "$SCRATCH/x.db" --results none
expect_status 2
expect_err 'esc\\x1b\[31m\.csv: control characters in the name'
expect_plain
run run $'absent\033[31m' --db "$SCRATCH/x.db" --results none
expect_status 2
expect_plain
# A pattern is stored with the run.
run run integer_arithmetic --filter $'a\033[1m*' --db "$SCRATCH/x.db" --results none
expect_status 2
expect_err 'the pattern .a\\x1b\[1m\*. has control characters'
expect_plain

# Faults that would show after the measurement are found before it: nothing is measured, there is no
# database. The list is good otherwise.
refused_run() { # PATTERN, ARGUMENTS...
    local pattern=$1
    shift
    run run "$@" --db "$SCRATCH/x.db" --results none --quiet
    expect_status 2
    expect_err "$pattern"
    expect "no database" test ! -e "$SCRATCH/x.db"
}
printf '%s\nadd,+r64 r64,=flags,X86_64,T,\n' "$header" >good.csv
cp good.csv other.csv
printf '%s\nadd,+r64 r64,=flags,X86_64,T,\nadd,+r64 r64,=flags,X86_64,T,\n' "$header" >twice.csv
refused_run "'add r64 r64' is selected twice" twice.csv
refused_run "'add r64 r64' is selected twice" good.csv good.csv
refused_run "'add r64 r64' is selected twice" good.csv other.csv
refused_run "'add r64 r64' is selected twice" good.csv:2 good.csv:2
mkdir elsewhere
printf '%s\nsub,+r64 r64,=flags,X86_64,T,\n' "$header" >elsewhere/good.csv
refused_run 'two lists of one name' good.csv elsewhere/good.csv
printf '%s\nnop,,,I386,T,macro=amx.inc:amx_relaese:nop:1:1\n' "$header" >typo.csv
refused_run "no contract line ';@ amx_relaese" typo.csv
printf '%s\nnop,,,I386,T,macro=amy.inc:amx_release:nop:1:1\n' "$header" >typo.csv
refused_run 'there is no file' typo.csv
cp good.csv "$(printf '%0201d' 1).csv"
refused_run 'more than 200 characters' "$(printf '%0201d' 1).csv"
{ printf '%s\nnop,,,I386,T,macro=a.inc:b' "$header"; printf ':%.0s1' {1..600}; echo; } >long.csv
refused_run 'the form has more than 1000 characters' long.csv

# Rows that check refuses are refused by run: those with a wrong description of their instruction.
printf '%s\nadd,=r64 r64,=flags,X86_64,T,\n' "$header" >wrong.csv
refused_run 'this operand is written here; for the decoder it is read and written' wrong.csv
expect_err '1 problem in the lists; nothing was measured'
printf '%s\nmov,=m32 m32,,I386,T,\n' "$header" >wrong.csv
refused_run "NASM refuses 'mov dword" wrong.csv

# A list that was found good is not assembled again; one that has changed since is.
# Ends before it measures: there is no such CPU.
assembled() { # TIMES, LIST
    run --show-commands run "$2" --cpu 8191 --db "$SCRATCH/x.db" --results none --quiet
    expect "assembled '$1' times: $2" test "$1" = "$(grep -c '^+ nasm .*check\.asm' "$ERR")"
}
assembled 1 other.csv
assembled 0 other.csv
sed -i 's/^add/sub/' other.csv
assembled 1 other.csv
assembled 0 other.csv
# Not what has a problem (two rounds of NASM: with the refused row, and without); nor where anybody
# could have put the mark.
assembled 2 wrong.csv
assembled 2 wrong.csv
chmod 777 "$XDG_CACHE_HOME/latput/checked"
assembled 1 other.csv
HOME=$SCRATCH XDG_CACHE_HOME=relative assembled 1 other.csv
finish
