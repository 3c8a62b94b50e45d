# SPDX-License-Identifier: MIT
# Sourced by tests/cli/cli_fleet*.sh: what their hosts run.
# shellcheck shell=bash

# fleet_stand: makes archive.tar.gz of a stand-in for latput, whose pack is known.zip in its home.
# Its home tells what became of it: started (a line a start), pid, steps, all_steps; with a file
# `broken` there it fails.
fleet_stand() {
    mkdir -p stand/latput
    cat >stand/latput/latput <<'END'
#!/bin/sh
HOME=$HOME/${SLURMD_NODENAME-} # nodes of Slurm share a home
# Takes three steps of a second to "measure"; what is done is not done again.
case $1 in
run)
    echo "$@" >>"$HOME/started"
    echo $$ >"$HOME/pid"
    steps=$(cat "$HOME/steps" 2>/dev/null || echo 0)
    while [ "$steps" -lt 3 ]; do
        sleep 1
        steps=$((steps + 1))
        echo $steps >"$HOME/steps"
        echo step >>"$HOME/all_steps"
    done
    [ ! -e "$HOME/broken" ] || { echo "the assembler is missing"; exit 3; }
    ;;
pack)
    while [ "$1" != --output ]; do shift; done
    cp "$HOME/known.zip" "$2"
    ;;
esac
END
    chmod +x stand/latput/latput
    tar czf archive.tar.gz -C stand latput
}
