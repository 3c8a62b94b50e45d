#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tools/fleet and hosts that mean it no good: a stand-in for ssh plays them by their names. None of
# them takes the results of the others away, and none has a word that reaches a terminal as it is.
# Skipped where GNU parallel is missing.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
command -v parallel >/dev/null || { echo "parallel is missing" && exit 77; }

# shellcheck disable=SC2016 # the stand-in's own
cat >ssh <<'END'
#!/bin/sh
# HOST COMMAND, as tools/fleet calls ssh.
cd "${0%/*}" || exit 255
case $2 in
*'if [ -f status ]'*) asked=state ;;
*'cat pack'*) asked=pack ;;
*'tail -n 20'*) asked=log ;;
*) asked=nothing ;;
esac
echo "$1 $asked" >>asked
case $1-$asked in
endless-state) echo running ;;
slow_pack-pack) exec cat first.pack ;;
silent-state) sleep 1000 & wait ;; # a child holds the pipe, too
slow_once-state) # as one whose machine, or ours, stands still for a while
    [ "$(grep -c '^slow_once state' asked)" != 1 ] || sleep 1000
    echo 'done 3'
    ;;
slow_once-log)
    [ "$(grep -c '^slow_once log' asked)" != 1 ] || sleep 1000
    echo 'the log of the second try'
    ;;
silent_pack-pack) echo part; sleep 1000; exit ;;
large_pack-pack) exec cat /dev/zero ;;
empty_pack-pack) exit ;;
large_state-state) exec yes 'done 0' ;;
bare-state) echo bare ;;
bare-nothing) exec cat ;; # says all that it is sent
idle-state) echo idle ;;
idle-log) exec yes 'no reason' ;;
steering-state) printf 'done 7\nfleet: last: gone\033[2J\033]0;steered\007\302\233\342\200\256' ;;
steering-log) printf 'the log \033[31m\r\237m\177 of it\n' ;;
loud-*) printf '\033]0;steered\007 %s' 'closed' >&2; yes loud >&2; exit 255 ;;
complaining-*) printf 'first\n\033]0;steered\007 closed\n' >&2; exit 255 ;;
*-state) echo 'done 0' ;;
*-pack) exec cat "$1.pack" ;;
*) cat >/dev/null ;;
esac
END
chmod +x ssh
printf '#LATPUTK1' >kit # nobody runs it
fixture known.db
run pack --db known.db --run 1 --output first.pack
expect_status 0
run pack --db known.db --run 2 --output last.pack
expect_status 0
printf 'PK\003\004 \033[2J and nothing more' >bad_pack.pack
head -c 1000 first.pack >torn_pack.pack
# A pack that holds merge for ever: merge is stopped, and does not end by a mild signal.
# shellcheck disable=SC2016 # the stand-in's own
printf '#!/bin/sh\ncase "$*" in *slow_pack.pack) trap "" TERM; while :; do sleep 1; done ;; esac
exec %q "$@"\n' "$LATPUT" >latput
chmod +x latput
export LATPUT=$SCRATCH/latput
printf '%s\n' slow_pack first bad_pack torn_pack silent silent_pack large_pack empty_pack \
    large_state bare slow_once idle steering loud complaining last >hosts
fleet() {
    CLI_COMMAND="fleet $*"
    "$TREE/tools/fleet" --hosts hosts --kit kit --output out --poll 1 --patience 20 \
        --merge 30 --ssh "$SCRATCH/ssh" "$@" >"$OUT" 2>"$ERR" </dev/null
    STATUS=$?
}
fails() { expect_err "^tools/fleet: $1: $2"; }

begun=$SECONDS
fleet
expect "it ends, whoever is silent" test $((SECONDS - begun)) -lt 600
CLI_COMMAND=fleet
expect_status 1
expect_err '^tools/fleet: 2 of 16 hosts are done$' # in spite of the others
fails slow_pack 'failed: merge of its pack takes longer than 30 s, and was ended$'
expect "bash has no word in it" test "$(cat "$OUT" "$ERR" out/hosts/*.error | grep -c Killed)" = 0
expect "its pack is set aside" cmp first.pack out/hosts/slow_pack.refused
fails bad_pack 'failed: merge ended with status 2, .*cannot be read as a pack'
fails torn_pack 'failed: merge ended with status 2, .*torn_pack\.pack'
fails silent 'vanished: no answer within 20 s$'
fails silent_pack "vanished: it answers 'done 0', then: no answer within 20 s$"
fails slow_once 'failed: latput run ended with status 3, the log of the second try$'
fails large_pack 'failed: its pack has more than 67108864 bytes'
fails empty_pack 'failed: its pack is empty'
fails large_state 'failed: it answers with more than 64 bytes where its state is due$'
fails bare 'failed: what is copied to it is not there$'
fails idle 'failed: it ends without a result, no r'
fails steering 'failed: latput run ended with status 7\?fleet: last: gone\?\[2J\?\]0;steered\?+, the log \?\[31m'
fails loud 'vanished: lo'
fails complaining 'vanished: \?\]0;steered\? closed$'
expect "the others are merged" test \
    "$(sqlite3 -readonly out/latput.db 'SELECT count(*) FROM run')" = 2
expect "and shown" test -s out/site/index.html
expect "a pack that is refused is kept" cmp torn_pack.pack out/hosts/torn_pack.refused
# Texts from hosts, except packs, have no control characters.
for file in "$OUT" "$ERR" out/hosts/*.state out/hosts/*.log out/hosts/*.error; do
    CLI_COMMAND="control characters of ${file##*/}"
    [ "$(LC_ALL=C tr -d '\t\n\040-\176' <"$file" | wc -c)" = 0 ] ||
        cli_fail "it has none"
done
expect "what hosts send fills no disk" test "$(du -sk out/hosts | cut -f 1)" -lt 4096
expect "what is copied in vain has an end" test "$(grep -c '^bare nothing' asked)" = 3

# The next call asks again those that failed, and no other.
cp first.pack torn_pack.pack
: >asked
fleet --only torn_pack --only bad_pack
expect_status 1
expect_err '^tools/fleet: 3 of 16 hosts are done$'
fails bad_pack 'failed: merge ended with status 2, .*cannot be read as a pack'
expect "nobody else was asked" test "$(cut -d ' ' -f 1 asked | sort -u | xargs)" = \
    'bad_pack torn_pack'

# Packs of several kinds of cores come together. Links and other names in that file are not read,
# and of a member without end as much as a pack may have.
mkdir kinds && cp first.pack kinds/1 && cp last.pack kinds/2 && ln -s 1 kinds/last
tar -cf kinds.pack -C kinds 1 2 last
ln -sf ../first.pack kinds/1 && tar -cf linked.pack -C kinds 1
rm kinds/1 && truncate -s 1T kinds/1 && tar -S -cf endless_pack.pack -C kinds 1
printf '%s\n' kinds linked endless_pack >several
fleet --hosts several --output kinds_out
expect_status 1
expect_err '^tools/fleet: 1 of 3 hosts are done$'
fails linked 'failed: merge ended with status 2, .*linked[.]pack'
fails endless_pack 'failed: merge ended with status 2, .*[.]kind[.]1'
expect "a run of each kind is merged" test \
    "$(sqlite3 -readonly kinds_out/latput.db 'SELECT count(*) FROM run')" = 2
expect "and no part is left" test "$(find kinds_out/hosts -name '*.kind.*' | wc -l)" = 0

# A deadline ends the wait for one that runs for ever.
echo endless >>hosts
fleet --only endless --deadline 3
expect_status 1
fails endless 'overdue: it was not done by the deadline; '

# No pack is blamed if nothing can be merged.
rm -r out/latput.db out/site
mkdir out/latput.db
printf '%s\n' first last >hosts
fleet
expect_status 1
expect_err 'out/latput.db: is no regular file'
expect_err '^tools/fleet: 2 of 2 hosts are done$'
expect "packs stay" test -s out/hosts/first.pack -a -s out/hosts/last.pack
finish
