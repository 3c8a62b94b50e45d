#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput property on this machine: with a corunner on another CPU, and with system calls, which the
# core lets through where the row says so. Of hosts that are never quiet nothing more is wanted.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/../cli/cli.sh"
# shellcheck source=tests/cli/property.sh
. "$TREE/tests/cli/property.sh"

property_tree <<'END'
; The timed one asks, the corunner answers.
%macro ask_init 3-*
    mov rbx, area_at(0)
%endmacro
%macro ask_body 3-*
    mov dword [rbx], 1
%ifnidn %1, crashes
%%wait:
    cmp dword [rbx], 2
    jne %%wait
%endif
%endmacro
%macro ask_corunner_init 3-*
    mov rbx, area_at(0)
%endmacro
%macro ask_corunner 3-*
%ifidn %1, crashes
    ud2
%endif
    mov eax, 1
    mov ecx, 2
    lock cmpxchg [rbx], ecx
%endmacro
%macro call_body 3-*
    mov eax, 110 ; getppid
    syscall
%endmacro
END
ask_data='own.inc:ask,zero 0 bytes=4K shared; chase 1 bytes=64K'
property_list Wider <<END
ask,Ask,Does it answer?,times,ns,answers,values 1 2,,$ask_data,1,level,,corunner=core
fails,Fails,What if a corunner crashes?,times,ns,crashes,values 1,,$ask_data,1,level,,corunner=core
call,Call,What is a call?,times,ns,,values 1,,own.inc:call,,1,level,,permit=call
refused,Refused,What if it is not allowed?,times,ns,,values 1,,own.inc:call,,1,level,,
END
run check "$SCRATCH/root/lists/properties/wider.csv"
expect_status 0

run property --db wider.db --format csv call refused
expect_status 0
expect_out '^wider,call,.*(ok|unstable),'
expect_out '^wider,refused,.*SIGSYS'
run property --db wider.db --format csv ask fails
expect_status 0
if ! grep -q 'two CPUs\|one core' "$OUT"; then
    expect_out '^wider,ask,.*(ok|unstable),'
    expect_out '^wider,fails,.*SIGILL'
fi
finish
