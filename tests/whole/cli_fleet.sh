#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tools/fleet on three hosts that are this machine: servers of ssh on ports of their own, with keys
# and homes in the scratch directory, that find no programs but the plainest. What they run is a
# stand-in for a kit that takes its time and has a pack of known content; and, once, a kit on a core
# made of text. Skipped where sshd or GNU parallel are missing, or no kit can be made.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/../cli/cli.sh"
# shellcheck source=tests/cli/fleet.sh
. "$TREE/tests/cli/fleet.sh"
# shellcheck source=tests/cli/kit.sh
. "$TREE/tests/cli/kit.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"
sshd=$(command -v sshd || command -v /usr/sbin/sshd)
for tool in "$sshd" ssh ssh-keygen parallel; do
    command -v "${tool:-sshd}" >/dev/null || {
        echo "${tool:-sshd} is missing"
        exit 77
    }
done
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd # sshd wants it of root

# --- hosts ---

servers=()
# shellcheck disable=SC2154
trap 'for pid in "${servers[@]}"; do kill "$pid" 2>/dev/null; done
    cd / && sleep 0.2; rm -rf "$SCRATCH"' EXIT
ssh-keygen -q -t ed25519 -N '' -f key
ssh-keygen -q -t ed25519 -N '' -f host_key
first=$((20000 + RANDOM % 20000))
mkdir bin # all that a host has; `true` and `sleep` are for this test
for tool in sh cat chmod mkdir mv rm tail sleep tar true cp; do
    ln -s "$(command -v $tool)" bin/
done
for n in 1 2 3; do
    mkdir "home$n"
    enter="export HOME=$SCRATCH/home$n PATH=$SCRATCH/bin && cd"
    cat >"sshd$n" <<END
Port $((first + n))
ListenAddress 127.0.0.1
HostKey $SCRATCH/host_key
PidFile $SCRATCH/pid$n
AuthorizedKeysFile $SCRATCH/key.pub
StrictModes no
UsePAM no
PasswordAuthentication no
ForceCommand $enter && exec sh -c "\$SSH_ORIGINAL_COMMAND"
END
    cat >>ssh_config <<END
Host host$n
    HostName 127.0.0.1
    Port $((first + n))
END
done
cat >>ssh_config <<END
Host *
    IdentityFile $SCRATCH/key
    IdentitiesOnly yes
    BatchMode yes
    ConnectTimeout 5
    StrictHostKeyChecking no
    UserKnownHostsFile $SCRATCH/known_hosts
    LogLevel ERROR
END
serve() {
    "$sshd" -D -e -f "sshd$1" 2>"sshd$1.log" &
    servers+=($!)
    for _ in $(seq 50); do
        ssh -F ssh_config "host$1" true 2>/dev/null </dev/null && return
        sleep 0.1
    done
    echo "no sshd can be started here: $(tail -n 1 "sshd$1.log")"
    exit 77
}
serve 1
serve 2

# --- what they run ---

fixture known.db
run pack --db known.db --run 1 --output home1/known.zip
run pack --db known.db --run 2 --output home2/known.zip
cp home1/known.zip home3/known.zip
fleet_stand
printf '%s\n' '# hosts' host1 ' host2 # the second' host3 >hosts
fleet() {
    CLI_COMMAND="fleet $*"
    "$TREE/tools/fleet" --hosts hosts --kit kit --output out --poll 2 \
        --patience 600 --ssh "ssh -F $SCRATCH/ssh_config" "$@" >"$OUT" 2>"$ERR" </dev/null
    STATUS=$?
}

# Killed in the middle: what was begun goes on.
fleet_killed home1 home2
# One of the two loses its run as well, as if it had been started anew.
kill -KILL "$(cat home2/pid)"

# The rest of it. Patience is long for hosts that answer, however busy this machine is.
fleet --only host1 --only host2 -- "${FLEET_JOB[@]}"
expect_status 1
expect_err '^tools/fleet: 2 of 3 hosts are done$'
fleet_went_on home1 home2

# The third host does not answer.
fleet --only host3 --patience 10 --poll 6 -- "${FLEET_JOB[@]}"
expect_status 1
expect_err '^tools/fleet: host3: vanished: .*(refused|closed|reset)'
expect_err '^tools/fleet: 2 of 3 hosts are done$'

# Again, alone: first it fails, then it is there.
serve 3
touch home3/broken
fleet --only host3 -- "${FLEET_JOB[@]}"
expect_status 1
expect_err '^tools/fleet: host3: failed: latput run ended with status 3, the assembler is missing$'
rm home3/broken
fleet --only host3 -- "${FLEET_JOB[@]}"
expect_status 0
expect_err '^tools/fleet: 3 of 3 hosts are done$'
expect "no other was asked" test "$(wc -l <home1/started)" = 1
# Once more: nothing is to be done, which needs no host.
before=$(cat home?/started)
fleet -- "${FLEET_JOB[@]}"
expect_status 0
expect "nothing was started" test "$(cat home?/started)" = "$before"
expect "one pack was there already" test "$(sqlite3 -readonly out/latput.db 'SELECT count(*) FROM run')" = 2

# With latput itself, on two machines of different speed.
# shellcheck disable=SC2016
printf '#!/bin/sh\nLATPUT_MACHINE=%s/speed${HOME##*/} exec %s/real_kit "$@"\nexit\n' "$SCRATCH" \
    "$SCRATCH" >real # the machine by the home
fleet_kit real
text_machine speedhome1 <<<''
text_machine speedhome2 zen5 alderlake <<<'form "imul *" p3 5' # with two kinds of cores
export LATPUT_MACHINE=$SCRATCH # they are merged as what they are
head -n 3 hosts >both
fleet --hosts both --kit real --output measured --directory real -- \
    --tests LT --filter 'imul r64 r64' integer_multiply_divide
expect_status 0
expect "each has its own latency" test "$(sqlite3 -readonly measured/latput.db \
    'SELECT round(latency_max_clk, 2), round(rthroughput_clk, 2) FROM run_instruction_table
    ORDER BY 1')" = $'3.0|1.0\n5.0|1.0\n5.0|1.0'

# A kit that does not work over there, as in a home where no programs may run.
printf '#!/bin/nowhere\n' >unfit
fleet_kit unfit
fleet --only host1 --kit unfit --output unfit_out --poll 1
expect_status 1
expect_err '^tools/fleet: host1: failed: it ends without a result, .*kit'

# Help, and wrong usage.
"$TREE/tools/fleet" --help >"$OUT" 2>"$ERR" || cli_fail "--help should end with 0"
expect_out '^ *--hosts FILE '
echo '-oProxyCommand=touch' >hostile
for words in '--hosts hostile' '--hosts nowhere' '--only host9' '--poll soon' '--directory a;b' \
    '--what x'; do
    # shellcheck disable=SC2086
    fleet $words
    expect_status 2
done
fleet --kit hostile
expect_status 2
expect_err "'hostile' is no kit"
finish
