; SPDX-License-Identifier: MIT
; The bases of segment registers, which not every system lets user code read, and the places of the
; core's areas.

%include "core_layout.inc"

bits 64
default rel

global bases_read, bases_probe, bases_lost, core_data_start, core_corunner_start

section .rdata
core_data_start: dd DATA_START
core_corunner_start: dd CORUNNER_START

section .text

; int bases_read(uint64_t *fs, uint64_t *gs), by the convention of Linux
bases_read:
bases_probe:
    rdfsbase rax
    mov [rdi], rax
    rdgsbase rax
    mov [rsi], rax
    mov eax, 1
    ret
bases_lost:
    xor eax, eax
    ret
