#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Places of data: in the tree of the program or beside it if it is installed, whatever other folders
# are called; and never where the command is started, also on a system without /proc.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
unset LATPUT_ROOT

# A list that is not there: latput says below which folder it was looked for.
root_of() {
    CLI_COMMAND="$* plan none:3"
    "$@" plan none:3 >"$OUT" 2>"$ERR" </dev/null
    STATUS=$?
}

root_of "$LATPUT"
expect_status 2
expect_err "\(ls $TREE/lists shows them\)"

# Installed for one user, with folders of these names: ../lists of the program is not ours.
mkdir -p home/.local/bin home/.local/share home/lists home/cpuinfo home/.local/lists
cp "$LATPUT" home/.local/bin/latput
ln -s "$TREE" home/.local/share/latput
root_of home/.local/bin/latput
expect_status 2
expect_err "\(ls $TREE/lists shows them\)"

# A stranger's folder, in which somebody starts latput.
mkdir -p planted/here planted/share
cp -r "$TREE/cpuinfo" planted/cpuinfo
cp -r "$TREE/lists" planted/lists
ln -s .. planted/share/latput
without=$BUILD/tests/without
cd planted/here || exit 99
root_of "$without" readlink -- "$LATPUT"
[ "$STATUS" != 77 ] || {
    cat "$OUT"
    exit 77
}
[ "$STATUS" -ne 0 ] || cli_fail "a list that is not there is refused"
expect_err 'share/latput'
! grep -q planted "$ERR" || cli_fail "data are not read from where the command is started"

# Without /proc the name that was executed says where the program is.
# shellcheck disable=SC2016 # $@ is that of the inner shell
no_proc=(unshare -rm sh -c 'mount -t tmpfs none /proc && exec "$@"' sh)
if "${no_proc[@]}" "$LATPUT" --version >/dev/null 2>&1; then
    root_of "${no_proc[@]}" "$LATPUT"
    expect_status 2
    expect_err "\(ls $TREE/lists shows them\)"
fi
finish
