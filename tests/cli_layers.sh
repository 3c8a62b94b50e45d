#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/layers.sh finds an include that goes against the flow, and accepts the tree.
# shellcheck source=tests/cli.sh
. "$(dirname "${BASH_SOURCE[0]}")/cli.sh"
layers() {
    "$TREE/tests/layers.sh" "$1" >"$OUT" 2>"$ERR"
    STATUS=$?
    CLI_COMMAND="tests/layers.sh $1"
}

layers "$TREE"
expect_status 0
expect_no_out

mkdir -p toy/runner/util toy/cpuinfo
echo '#include "list.h"' >toy/runner/plan_bridge.c
echo '#include "util/mem.h"' >toy/runner/list.h
echo '#include "err.h"' >toy/runner/util/mem.h
layers toy
expect_status 0
echo '#include "../list.h"' >toy/runner/util/err.h
echo '#include "store.h"' >>toy/runner/list.h
layers toy
[ "$STATUS" != 0 ] || cli_fail "should fail"
expect_out '^runner/util/err.h:1: includes ../list.h, a later stage$'
expect_out '^runner/list.h:2: includes store.h, a later stage$'
rm toy/runner/*.h toy/runner/util/*
echo >toy/runner/novelty.c
layers toy
[ "$STATUS" != 0 ] || cli_fail "should fail"
expect_out 'module "novelty" has no layer'
finish
