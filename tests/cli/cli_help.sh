#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Help, version, the man page, and what happens to unknown commands and options.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "${BASH_SOURCE[0]}")/cli.sh"

run --version
expect_status 0
expect_out "^latput $(sed 's/[.+]/\\&/g' "$TREE/VERSION")([+]g[0-9a-f]+(-dirty)?)?$"
run --help
expect_status 0
expect_out '^Usage: latput '
expect_out '^Commands:$'
commands=$(sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' "$OUT")
expect "lines of --help fit a terminal" test "$(wc -L <"$OUT")" -le 80
expect_out '^  3  the environment lacks something'
expect "commands are listed" test -n "$commands"
run help
expect_status 0
expect_out '^Commands:$'
run
expect_status 2
expect_no_out
expect_err '^Usage: latput '

options=0
for command in $commands; do
    run "$command" --help
    expect_status 0
    expect_out "^Usage: latput $command "
    expect_out '^  -h, --help '
    expect "lines of $command --help fit a terminal" test "$(wc -L <"$OUT")" -le 80
    cp "$OUT" first
    run help "$command"
    expect_status 0
    expect "help $command is $command --help" cmp -s "$OUT" first
    run "$command" -h
    expect_status 0
    expect "$command -h is $command --help" cmp -s "$OUT" first
    run "$command" --hellp
    expect_err "latput $command: unrecognized option '--hellp'; did you mean '--help'\\?$"
    run "$command" --no-such-option
    expect_status 2
    expect_no_out
    expect_err "latput $command: unrecognized option '--no-such-option'"
    # Each option is read before the wrong one after it is seen.
    while read -r option argument; do
        [ "$option" != --help ] || continue
        run "$command" "$option${argument:+=1}" --no-such-option
        expect_status 2
        options=$((options + 1))
    done < <(awk '/^  (-.,|   ) --/ { sub(/^ *(-., )?/, ""); split($0, word, /  +/); print word[1] }' \
        first)
done
expect "options were tried" test "$options" -gt 100

# Help names the database without --db: here, and of an installed program. It makes no directory.
run query --help
expect "the database of the source tree" test "$(tail -n 1 "$OUT")" = "$TREE/db/latput.db"
run check --help
expect "not where there is none" test "$(grep -c LATPUT_DB "$OUT")" = 0
mkdir -p installed/bin installed/share && cp "$LATPUT" installed/bin &&
    ln -s "$TREE" installed/share/latput || exit 99
env -u XDG_DATA_HOME HOME="$SCRATCH/home" installed/bin/latput query --help >"$OUT"
expect "that of the user" test "$(tail -n 1 "$OUT")" = \
    "$SCRATCH/home/.local/share/latput/latput.db"
expect "help makes no directory" test ! -e "$SCRATCH/home"

# Help of bench names what is confined, and what is not.
run bench --help
expect "bench says that its files are trusted" grep -q 'a *FILE is trusted' \
    <(tr -s '\n ' ' ' <"$OUT")
expect "constructors and ifuncs" grep -q 'constructors and ifuncs run as you' \
    <(tr -s '\n ' ' ' <"$OUT")

run nonsense
expect_status 2
expect_no_out
expect_err "^latput: .*'nonsense'"
run qury
expect_status 2
expect_err "there is no command 'qury'; did you mean 'query'\?$"
run --nonsense
expect_status 2
expect_no_out
run query --limitt 3
expect_status 2
expect_err "^latput query: unrecognized option '--limitt'; did you mean '--limit'\\?$"
expect_err '^latput query: see latput query --help$'
run query --limit
expect_status 2
expect_err "option '--limit' needs an argument: N"
run query --wide=3
expect_status 2
expect_err "option '--wide' takes no argument"
run query -y
expect_status 2
expect_err "unrecognized option '-y'"
run query --l
expect_status 2
expect_err "ambiguous option '--l'"
run query "$(printf -- '--fo\033[2J')"
expect_status 2
expect_err "unrecognized option '--fo\\\\x1b\\[2J'"
run help -h
expect_status 0
run run --jobs 7
expect_status 2
expect_err '^latput run: --jobs needs a number from 1 to 2'

# The configuration file and the environment say what the command line does not.
fixture known.db
mkdir -p "$XDG_CONFIG_HOME/latput"
config=$XDG_CONFIG_HOME/latput/config
none=$LATPUT_DB
unset LATPUT_DB # the file names one
printf \
    '# mine\ndb = %s/known.db\nquery.format = csv # for scripts\nquery.limit=1\npack.with-samples = no\n' "$SCRATCH" >"$config"
run query --columns form
expect_status 0
expect_out '^form$'
expect "two lines" test "$(wc -l <"$OUT")" = 2
run query --columns form --format table --limit 2
expect_out '^instruction$'
LATPUT_DB=missing.db run query
expect_status 3
expect_err 'missing\.db: there is no such database'
LATPUT_DB=missing.db run query --db known.db
expect_status 0
wrong_line() {
    printf 'db = known.db\n%s\n' "$1" >"$config"
    run query
    expect_status 2
    expect_err "^latput query: $config:2: $2"
}
wrong_line 'qery.format = csv' 'there is no such command'
wrong_line 'query.fromat = csv' 'there is no such option'
wrong_line 'format csv' 'there is no = in it'
wrong_line 'query.wide = maybe' 'this option is set by yes or no'
LATPUT_CONFIG='' run query --db known.db
expect_status 0
rm -r "$XDG_CONFIG_HOME"
export LATPUT_DB=$none
run help nonsense
expect_status 2
expect_err "no command 'nonsense'; latput --help lists them$"

run help --man
expect_status 0
cp "$OUT" latput.1
for command in $commands; do
    expect_out "^\\.SS latput $command"
done
expect_out '^\.SS latput help '
for option in version help 'show\\-commands'; do
    expect_out "^\.B (.* )?\\\\-\\\\-$option\$"
done
expect_out '^\.SH EXAMPLES$'
expect_out '^\.SH SEE ALSO$'
if has man; then
    man --warnings -E UTF-8 -l latput.1 >"$OUT" 2>"$ERR"
    STATUS=$? CLI_COMMAND='man -l'
    expect_status 0
    expect "no warnings of troff" test ! -s "$ERR"
    expect_out 'latput'
else
    echo "man is missing: the man page was not rendered"
fi

# Completion: of each command all options that its help has, in both shells.
run help --completion fish
expect_status 2
expect_err "bash and zsh, not for 'fish'"
run help --completion bash
expect_status 0
cp "$OUT" completion.bash
# shellcheck source=/dev/null
. ./completion.bash
# completes WORD...: what is offered for the last of them, a line each.
completes() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _latput
    [ ${#COMPREPLY[@]} = 0 ] || printf '%s\n' "${COMPREPLY[@]}"
}
options_of() { "$LATPUT" "$1" --help | sed -nE 's/^ {2,6}(-., )?(--[a-z-]+).*/\2/p' | sort; }
expect "all commands" test "$(completes latput '' | grep -cxF "$commands")" = \
    "$(wc -l <<<"$commands")"
expect "one command" test "$(completes latput re | sort | xargs)" = 'record rederive report'
expect "no command twice" test -z "$(completes latput run re)"
for command in $commands; do
    expect "options of $command" test "$(completes latput "$command" -- |
        sort)" = "$(options_of "$command")"
done
expect "alternatives" test "$(completes latput bench --bits '' | xargs)" = '64 32'
expect "alternatives, not what stands for others" test \
    "$(completes latput explain --loop '' | xargs)" = all
expect "backends" test "$(completes latput run --backend '' | xargs)" = 'auto perf msr tsc'
expect "actions" test "$(completes latput counters st | xargs)" = 'start stop status'
expect "lists" test "$(completes latput run sse_ | xargs)" = \
    'sse_convert sse_fp sse_integer sse_move sse_shuffle'
expect "a selection" test "$(completes latput plan qui)" = quick
expect "no list of exceptions" test -z "$(completes latput check exce)"
expect "properties" test "$(completes latput property bandwidth | sort | xargs)" = \
    'bandwidth bandwidth_beyond bandwidth_together'
for option in 'query --uarch' 'ports -u' 'run --uarch'; do
    # shellcheck disable=SC2086 # a command and its option
    expect "CPUs of $option" test "$(completes latput $option zen | xargs)" = \
        'zen1 zenplus zen2 zen3 zen4 zen4c zen5 zen5c zen6'
done
expect "formats" test "$(completes latput export -f osa)" = osaca
expect "formats of compare" test "$(completes latput compare --format '' | xargs)" = \
    'text csv json html'
expect "nothing of ours behind --" test -z "$(completes latput stat -- --)"
mkdir directory
expect "directories" test "$(completes latput report --output d)" = directory
run help --completion zsh
expect_status 0
cp "$OUT" _latput
for command in $commands; do
    sed -n "/^    $command)/,/;;$/p" _latput | grep -oE "[')]--[a-z-]+" | tr -d "')" | sort >offered
    expect "options of $command for zsh" test "$(cat offered)" = "$(options_of "$command")"
done
expect "lists for zsh" grep -q "^            '\*: :{compadd -- .* sse_fp .*; _files}' ;;$" _latput
expect "CPUs for zsh" grep -q -- "'--uarch=\[.*\]:NAME:(.*zen4 zen4c .*)'" _latput
# Words in documents after the name of a command are options of it.
checked=0
# shellcheck disable=SC2016 # the backquotes are in the documents
while IFS=: read -r document line; do
    command=$(sed -E 's/^`latput ([a-z]+).*/\1/' <<<"$line")
    [[ " ${commands//$'\n'/ } " = *" $command "* ]] || continue
    while read -r option; do
        expect "$document: latput $command has $option" \
            grep -qxF -- "$option" <(options_of "$command")
        checked=$((checked + 1))
    done < <(grep -oE ' --[a-z][a-z-]+' <<<"${line%% -- *}" | tr -d ' ')
done < <(cd "$TREE" && grep -oE '`latput [a-z]+ [^`]*`' README.md ./*/README.md docs/*.md)
expect "options in documents were looked at ($checked)" test "$checked" -ge 30
# A text that cannot be written is no success.
for args in --help --version help 'help --man' 'help --completion bash' 'run --help'; do
    CLI_COMMAND="latput $args >/dev/full"
    # shellcheck disable=SC2086 # words
    "$LATPUT" $args >/dev/full 2>"$ERR"
    STATUS=$?
    expect_status 3
    expect_err '^latput.*: cannot write the output'
done
has zsh && expect "zsh reads it" zsh -n _latput
finish
