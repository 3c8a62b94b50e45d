; SPDX-License-Identifier: MIT
; Bodies for interrupts.c, in the order of its table: some that see whether interrupts are off, and
; then raise an exception, between honest ones. The layout is that of struct core_kernel
; (runner/core/core_abi.h).
bits 64
default abs

%assign kernels 0
; kernel FLAGS, 'init', 'body'
%macro kernel 3+
section .text
kernel_%[kernels]_init:
    %2
kernel_%[kernels]_body:
    %3
kernel_%[kernels]_end:
section .rodata
    dq kernel_%[kernels]_body, kernel_%[kernels]_init
    dd kernel_%[kernels]_end - kernel_%[kernels]_body
    dd kernel_%[kernels]_body - kernel_%[kernels]_init
    dd kernels, 1, 1, %1, 0, 1
    dq 0, 0, 1, 0
    dq 0, 0                     ; neither fini nor large data
    dd 0, 0, 0, 0
    dq 0, 0                     ; no corunner
    dd 0, 0, 0, 0
%assign kernels kernels+1
%endmacro

; The instruction, if interrupts are off.
%macro where_off 1+
    pushfq
    pop rax
    test eax, 1 << 9
    jnz %%on
    %1
%%on:
%endmacro
%macro long_loop 0
    mov ecx, 2000000
%%again:
    dec ecx
    jnz %%again
    where_off ud2
%endmacro
%macro push_and_pop_flags 0
    pushfq
    popfq
%endmacro

global latput_kernels, latput_kernel_count, latput_code
section .rodata align=8
latput_code:                    ; of no kernel here
latput_kernels:
kernel 0, {nop}, {imul rbx, rbx}
kernel 0, {nop}, {where_off ud2}
kernel 0, {nop}, {imul rbx, rbx}
kernel 0, {xor ecx, ecx}, {where_off div ecx}
kernel 0, {nop}, {where_off hlt}
kernel 0, {nop}, {where_off mov [0], eax}
kernel 0, {nop}, {where_off int3}
kernel 0, {nop}, {where_off syscall}
kernel 0, {nop}, {cli}
kernel 0, {nop}, {sti}
kernel 0, {nop}, {push_and_pop_flags}
kernel 1, {nop}, {long_loop}  ; CORE_UNROLLED: one copy
kernel 0, {nop}, {mov rax, [r14]}
latput_kernel_count: dd kernels
section .note.GNU-stack noalloc noexec nowrite progbits
