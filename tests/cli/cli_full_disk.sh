#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# On a full disk commands that read a database work, since they need to write nothing there; those
# that write say what is wrong, with status 3: what they were given is not at fault. The same where
# no scratch directory can be made. Skipped where no file system can be mounted.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
unshare -rm true 2>/dev/null || { echo "a file system cannot be mounted here" && exit 77; }
fixture known.db

mkdir disk
full() { # ARGS...
    # shellcheck disable=SC2016 # the inner shell's own
    unshare -rm sh -c 'mount -t tmpfs -o size=1m tmpfs disk && cp known.db disk || exit 99
        cat /dev/zero >disk/filler 2>/dev/null
        export TMPDIR=$PWD/disk
        exec "$@"' sh "$LATPUT" "$@" >"$OUT" 2>"$ERR" </dev/null
    STATUS=$?
    CLI_COMMAND="latput $*, on a full disk"
}
full query --db disk/known.db --format csv
expect_status 0
expect_out '^testb,add,r64 r64,'
full export --db disk/known.db --run 1 --format csv
expect_status 0
full rederive --db disk/known.db
expect_status 3
expect_err 'disk/known.db: cannot .*free space'
full explain --db disk/known.db 'add rax, rbx'
expect_status 3
expect_err '^latput explain: .*cannot be written: No space left on device$'
"$LATPUT" pack --db known.db --full --output known.zip >/dev/null 2>&1 || exit 99
printf '%%macro testcode 0\nadd rax, rbx\n%%endmacro\n' >block.nasm
full compare --db disk/known.db known.zip
expect_status 3
expect_err 'the disk is full'
full explain --db disk/known.db block.nasm
expect_status 3
expect_err 'cannot be written: No space left on device$'
# With room for a database and not for what is in the pack.
full merge --db other.db known.zip
expect_status 3
expect_err 'cannot unpack it: No space left on device|the disk is full'
for words in 'merge --db other.db' 'compare --db known.db'; do
    # shellcheck disable=SC2086
    TMPDIR=$SCRATCH/none run $words known.zip
    expect_status 3
    expect_err 'cannot make a scratch directory: No such file or directory; set TMPDIR'
done

# Predicting mixes of a file writes nothing.
fixture ports.db
printf 'mix,measured_clk\n1*ud2,1\n' >mixes.csv
# shellcheck disable=SC2016 # the inner shell's own
unshare -rm sh -c 'mount --bind . . && cd "$PWD" && mount -o remount,ro,bind . || exit 99
    exec "$@"' sh "$LATPUT" validate --db ports.db --run 1 --again mixes.csv \
    >"$OUT" 2>"$ERR" </dev/null
STATUS=$?
CLI_COMMAND="latput validate --again, on a disk that is read-only"
expect_status 2
expect_err 'mixes.csv: fewer than 2 mixes are of forms'

# Nor does a limit of the size of files end a command without a word.
(ulimit -f 1 && exec "$LATPUT" help run >limited 2>"$ERR")
STATUS=$?
CLI_COMMAND="latput help run, where files have a kilobyte"
expect_status 3
expect_err 'cannot write the output'
finish
