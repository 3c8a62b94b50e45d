; SPDX-License-Identifier: MIT
; The lowest part of the core: the places of its areas, and system calls. For both modes.

%include "core_layout.inc"

global core_data_start, core_corunner_start, core_call

section .rodata
core_data_start: dd DATA_START
core_corunner_start: dd CORUNNER_START

section .text

; long core_call(long number, long a, long b, long c, long d): a system call, without libc.
core_call:
%ifidn __OUTPUT_FORMAT__, elf64
    mov rax, rdi
    mov rdi, rsi
    mov rsi, rdx
    mov rdx, rcx
    mov r10, r8
    syscall
    ret
%else
    push ebx
    push esi
    mov eax, [esp + 12]
    mov ebx, [esp + 16]
    mov ecx, [esp + 20]
    mov edx, [esp + 24]
    mov esi, [esp + 28]
    int 0x80
    pop esi
    pop ebx
    ret
%endif

; No page has variables of two of the kinds that core_internal.h tells apart.
section core_kept progbits alloc noexec write align=4096
section core_open progbits alloc noexec write align=4096
section .note.GNU-stack noalloc noexec nowrite progbits
