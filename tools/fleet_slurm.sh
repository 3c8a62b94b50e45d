# SPDX-License-Identifier: MIT
# Sourced by tools/fleet: the same job under Slurm. Progress is kept in a directory per node that
# all nodes share; Slurm is asked for the tasks each time. So nothing is lost with the process that
# submitted them. Uses functions of tools/fleet.
# shellcheck shell=bash disable=SC2154 # $files and $host are host_select()'s

slurm_nodes() { sinfo -h -N -o %N | sort -u; }

# Print the array tasks of this job, lines of NODE|TASK|STATE, and the nodes, lines of NODE|STATE. A
# node whose state ends with * does not answer.
slurm_tasks() { squeue -h -r -n "latput-$FLEET_ID" -o '%n|%i|%T'; }
slurm_node_states() { sinfo -h -N -o '%N|%T' | sort -u; }
slurm_field_2() { awk -F'|' -v node="$host" '$1 == node { print $2; exit }'; } # of $host

slurm_copy() {
    mkdir -p "$there" || return 1
    [ -f "$there/kit" ] || {
        cp "$FLEET_KIT" "$there/kit.part" && chmod 700 "$there/kit.part" &&
            mv "$there/kit.part" "$there/kit"
    }
}

slurm_script() {
    # shellcheck disable=SC2016 # Slurm's, over there
    printf '#!/bin/sh\ncd %q/"$SLURMD_NODENAME" && exec ./kit --once lock sh ./job >>log 2>&1\n' \
        "$there"
}

# slurm_submit HOST...: submits an array with a task per node. A task is held until it has its node;
# a task without one is left by a killed call, and is cancelled.
slurm_submit() {
    local id task=0
    slurm_tasks | awk -F'|' '$1 == "" && $3 == "PENDING" { print $2 }' | xargs -r scancel
    for host; do
        mkdir -p "$there/$host" && ln -sfn ../kit "$there/$host/kit" &&
            job >"$there/$host/job.part" && mv "$there/$host/job.part" "$there/$host/job" ||
            return 1
    done
    # shellcheck disable=SC2086 # options are several words
    id=$(slurm_script | sbatch --parsable --hold --job-name="latput-$FLEET_ID" --nodes=1 \
        --array="0-$(($# - 1))" --exclusive --requeue --chdir="$there" --output=/dev/null \
        $FLEET_SBATCH) || return 1
    for host; do
        host_select "$host"
        if scontrol update JobId="${id%%;*}_$task" ReqNodeList="$host" 2>"$files.error" &&
            scontrol release "${id%%;*}_$task" 2>"$files.error"; then
            echo "$host: $(say "submitted as ${id%%;*}_$task")"
        else
            scancel "${id%%;*}_$task"
        fi
        task=$((task + 1))
    done
}

slurm_end() { # of $host, with the words that say what became of it
    unset "open[$host]"
    echo "$host: $(say "$1")"
}

# Collects from a task that has ended: a pack, or the reason why there is none.
slurm_done() {
    local status why
    status=$(in_time head -c "$STATE_BYTES" "$there/$host/status" | clean)
    case $status in
    0 | 1)
        why="failed: its pack cannot be read"
        in_time head -c $((PACK_BYTES + 1)) "$there/$host/pack" >"$files.pack.part"
        pack_keep $? && why="done $status"
        slurm_end "$why"
        [ ! -s "$files.pack" ] || [ -n "$FLEET_UNABLE" ] || host_merge || true
        ;;
    *)
        in_time tail -n 20 "$there/$host/log" 2>/dev/null | keep_log
        rm -f "$there/$host/status" # so that the next call tries again
        slurm_end "failed: latput run ended with status $status, $(last_words)"
        ;;
    esac
}

# Looks at one host: it is finished, to be submitted, or waited for. A task may wait for days for a
# node that is in use, but no longer than --patience for one that is away.
slurm_look() {
    local task node
    task=$(slurm_field_2 <<<"$tasks") node=$(slurm_field_2 <<<"$nodes")
    if [ -f "$there/$host/status" ]; then
        slurm_done
    elif [ -z "$task" ] && [ "${tried[$host]:-0}" -ge 3 ]; then
        in_time tail -q -n 20 "$there/$host/log" "$files.error" 2>/dev/null | keep_log
        slurm_end "failed: it ends without a result, $(last_words)"
    elif [[ ! $node || $node == *\* || $node =~ ^(down|drain|fail|unk|future) ]]; then
        unseen[$host]=$((${unseen[$host]:-0} + FLEET_POLL))
        if [ "${unseen[$host]}" -gt "$FLEET_PATIENCE" ]; then
            [ -z "$task" ] || scancel "$task"
            slurm_end "vanished: Slurm says of the node: ${node:-there is none of this name}"
        fi
    elif [ -z "$task" ]; then
        tried[$host]=$((${tried[$host]:-0} + 1))
        submit+=("$host")
    else
        unseen[$host]=0
    fi
}

# Runs until each host has a pack or a reason. Status 1: nothing can be done here.
slurm_run() {
    local there tasks nodes at submit part=500 # Slurm's default is 1001 tasks at most
    local -A open=() tried=() unseen=()
    local silent=0
    case $FLEET_DIRECTORY in /*) there= ;; *) there=$HOME/ ;; esac
    there=$there$FLEET_DIRECTORY/$FLEET_ID
    slurm_copy || return 1
    exec 8>"$there/submit.lock"
    for host; do
        host_select "$host"
        host_begin || open[$host]=1
    done
    while [ "${#open[@]}" -gt 0 ]; do
        submit=()
        flock 8 # one call at a time looks and submits
        if tasks=$(slurm_tasks) && nodes=$(slurm_node_states); then
            silent=0
            for host in "${!open[@]}"; do
                host_select "$host"
                slurm_look
                fleet_is_over && [ -n "${open[$host]-}" ] && slurm_end "$OVERDUE"
            done
            for ((at = 0; at < ${#submit[@]}; at += part)); do
                slurm_submit "${submit[@]:at:part}" || return 1
            done
        elif [ $((silent += FLEET_POLL)) -gt "$FLEET_PATIENCE" ]; then
            return 1 # squeue or sinfo has printed the reason
        fi
        flock -u 8
        [ "${#open[@]}" = 0 ] || sleep "$FLEET_POLL"
    done
}
