#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/layers.sh finds an include that goes against the flow, and files that go round in a circle;
# it accepts the tree.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "${BASH_SOURCE[0]}")/cli.sh"
layers() {
    "$TREE/tests/layers.sh" "$@" >"$OUT" 2>"$ERR"
    STATUS=$?
    CLI_COMMAND="tests/layers.sh $*"
}
refused() {
    layers "$@"
    [ "$STATUS" != 0 ] || cli_fail "should fail"
}

layers "$TREE" "$BUILD"
expect_status 0
expect_no_out

mkdir -p toy/runner/{util,list,plan} toy/{tests,cpuinfo,library,include}
echo '#include "list/list.h"' >toy/runner/plan/plan_bridge.c
echo '#include "util/mem.h"' >toy/runner/list/list.h
echo '#include "err.h"' >toy/runner/util/mem.h
touch toy/runner/util/err.h toy/runner/plan/plan.h
layers toy
expect_status 0
echo '#include "list/list.h"' >toy/runner/util/err.h
echo '#include "plan/plan.h"' >>toy/runner/list/list.h
refused toy
expect_err '^runner/util/err.h:1: includes list/list.h, a later stage$'
expect_err '^runner/list/list.h:2: includes plan/plan.h, a later stage$'
echo '#include "../list/list.h"' >toy/runner/util/err.h
refused toy
expect_err '^runner/util/err.h:1: there is no ../list/list.h'
echo '#include "mem.h"' >toy/runner/util/err.h
refused toy
expect_err '^headers include each other in a circle: runner/util/err.h runner/util/mem.h$'
rm toy/runner/*/*.h toy/runner/plan/plan_bridge.c
mkdir toy/runner/novelty
echo >toy/runner/novelty/novelty.c
refused toy
expect_err 'the folder runner/novelty is not in tests/layers.sh'
rm -r toy/runner/novelty
echo | tee toy/runner/list/err.h >toy/runner/util/err.h
refused toy
expect_err '^runner/util/err.h:1: there is runner/list/err.h of the same name$'
rm toy/runner/*/err.h

# One file calls the other, which calls it back by way of a third.
mkdir -p toy/build/runner/list
caller() { # caller NAME OTHER: the file NAME, whose function of that name calls that of OTHER
    printf 'void %s(void);\nvoid %s(void);\nvoid %s(void)\n{\n    %s();\n}\n' "$2" "$1" "$1" "$2" \
        >"toy/runner/list/$1.c"
    gcc -c -o "toy/build/runner/list/$1.o" "toy/runner/list/$1.c" || exit 99
}
caller list list_option
caller list_option list_isa
touch toy/runner/list/list_isa.c
refused toy build
expect_err '^./build/runner/list/list_isa.o is not there'
caller list_isa list_row
caller list_row list_isa_none
layers toy build
expect_status 0
caller list_isa list
refused toy build
expect_err '^files call each other in a circle: list list_isa list_option$'
finish
