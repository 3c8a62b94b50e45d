#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tools/fleet through Slurm: a cluster of this machine, with munge and all of Slurm's daemons in the
# scratch directory, and three nodes, one of which is away. What they run is a stand-in for latput,
# as in cli_fleet.sh. Skipped where Slurm or munge are missing, or for others than root.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/../cli/cli.sh"
# shellcheck source=tests/cli/fleet.sh
. "$TREE/tests/cli/fleet.sh"
# shellcheck source=tests/cli/kit.sh
. "$TREE/tests/cli/kit.sh"
PATH=$PATH:/usr/sbin
for tool in slurmctld slurmd sbatch squeue scontrol munged mungekey; do
    command -v "$tool" >/dev/null || { echo "$tool is missing" && exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "Slurm's daemons want root" && exit 77; }

# --- the cluster ---

# shellcheck disable=SC2154
trap 'for file in *.pid; do [ -s "$file" ] && kill "$(cat "$file")" 2>/dev/null; done
    cd / && sleep 0.3; rm -rf "$SCRATCH"' EXIT
chmod 755 "$SCRATCH" # munge's socket is for everybody
mkdir state munge
mungekey --create --keyfile=munge/key || exit 99
munged --key-file="$SCRATCH/munge/key" --socket="$SCRATCH/munge/socket" \
    --pid-file="$SCRATCH/munged.pid" --log-file="$SCRATCH/munge/log" \
    --seed-file="$SCRATCH/munge/seed" --force 2>munge/error || {
    echo "munged does not start: $(cat munge/error)"
    exit 77
}
name=$(hostname -s) first=$((20000 + RANDOM % 20000))
cat >slurm.conf <<END
ClusterName=fleet
SlurmctldHost=$name(127.0.0.1)
SlurmctldPort=$first
AuthType=auth/munge
AuthInfo=socket=$SCRATCH/munge/socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$SCRATCH/state
SlurmdSpoolDir=$SCRATCH/spool.%n
SlurmctldPidFile=$SCRATCH/slurmctld.pid
SlurmdPidFile=$SCRATCH/slurmd.%n.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/linear
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=5
BatchStartTimeout=5
SchedulerParameters=sched_min_interval=100000,batch_sched_delay=0
NodeName=n1 NodeHostname=$name NodeAddr=127.0.0.1 Port=$((first + 1))
NodeName=n2 NodeHostname=$name NodeAddr=127.0.0.1 Port=$((first + 2))
NodeName=n3 NodeHostname=$name NodeAddr=127.0.0.1 Port=$((first + 3))
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$SCRATCH/slurm.conf
unset SBATCH_PARTITION SQUEUE_FORMAT SINFO_FORMAT
slurmctld -c -L "$SCRATCH/slurmctld.log" || exit 99
node_state() { sinfo -h -n "$1" -o %T 2>/dev/null; }
serve() {
    slurmd -N "$1" -L "$SCRATCH/slurmd.$1.log" || exit 99
    for _ in $(seq 100); do
        [ "$(node_state "$1")" != idle ] || return 0
        sleep 0.1
    done
    echo "no slurmd can be started here: $(tail -n 1 "slurmd.$1.log")"
    exit 77
}
serve n1
serve n2
scontrol update NodeName=n3 State=DOWN Reason=away

# --- what they run ---

export HOME=$SCRATCH/home
mkdir -p home/n1 home/n2 home/n3
fixture known.db
run pack --db known.db --run 1 --output home/n1/known.zip
run pack --db known.db --run 2 --output home/n2/known.zip
cp home/n1/known.zip home/n3/known.zip
fleet_stand
fleet() {
    CLI_COMMAND="fleet $*"
    "$TREE/tools/fleet" --engine slurm --kit kit --output out --poll 1 \
        --patience 2 "$@" >"$OUT" 2>"$ERR" </dev/null
    STATUS=$?
}

# Killed in the middle: what was begun goes on.
fleet_killed home/n1 home/n2
expect "in one array" test "$(squeue -h -r -o %F | sort -u | wc -l)" = 1
# One of the two loses its task as well.
scancel --batch --full --signal=KILL "$(squeue -h -r -w n2 -o %i)"

# The rest of it; the third node is away.
fleet -- "${FLEET_JOB[@]}"
expect_status 1
expect_err '^tools/fleet: n3: vanished: Slurm says of the node: down'
expect_err '^tools/fleet: 2 of 3 hosts are done$'
fleet_went_on home/n1 home/n2
expect "no task is left" test -z "$(squeue -h)"

# Again, alone: first it fails, then it is there.
serve n3
touch home/n3/broken
fleet --only n3 -- "${FLEET_JOB[@]}"
expect_status 1
expect_err '^tools/fleet: n3: failed: latput run ended with status 3, the assembler is missing$'
rm home/n3/broken
fleet --only n3 -- "${FLEET_JOB[@]}"
expect_status 0
expect_err '^tools/fleet: 3 of 3 hosts are done$'
expect "no other was asked" test "$(wc -l <home/n1/started)" = 1
# Once more: nothing is to be done.
before=$(cat home/n?/started)
fleet -- "${FLEET_JOB[@]}"
expect_status 0
expect "nothing was started" test "$(cat home/n?/started)" = "$before"

# Wrong usage, and nodes that are none.
printf 'n1\nnowhere # no such node\n' >hosts
fleet --hosts hosts -- "${FLEET_JOB[@]}"
expect_status 1
expect_err '^tools/fleet: nowhere: vanished: .*none of this name'
fleet --only n9
expect_status 2
fleet --engine pbs
expect_status 2
finish
