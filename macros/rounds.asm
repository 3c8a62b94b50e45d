; SPDX-License-Identifier: MIT
; Counts how often a loop of latput_function begins in each of two calls, and writes the two numbers
; of 64 bits. The loop jumps to a copy of itself that counts. After the setup only write and exit
; are allowed. Registers and memory are those of a measured call. For ld -N, by which code may be
; changed; the file that includes this one defines
;   LOOP_AT, LOOP_LEN: the loop in the function, in bytes; BODY_LEN: without the branch at its end
;   LOOP_JUMP: the branch, jz or another
;   fix_body: macro that adds eax to each distance in the body that counts from the instruction
;   user_init: macro of the user's code before the call
bits 64
default abs
extern latput_function
global _start
loop_begin equ latput_function + LOOP_AT

section .bss
alignb 4096
resb 4096
area: resb 65536
kept: resq 1
rounds: resq 2

section .text
counted: ; changes no flag
    mov [kept], rax
    mov rax, [rounds]
    lea rax, [rax + 1]
    mov [rounds], rax
    mov rax, [kept]
body:
    times BODY_LEN nop
    LOOP_JUMP near counted
    jmp loop_begin + LOOP_LEN

_start:
    mov edi, 22 ; PR_SET_SECCOMP
    mov esi, 1 ; SECCOMP_MODE_STRICT
    mov eax, 157 ; prctl
    syscall
    test eax, eax
    jnz give_up
    mov esi, loop_begin
    mov edi, body
    mov ecx, BODY_LEN
    rep movsb
    mov eax, loop_begin
    sub eax, body
    fix_body
    mov byte [loop_begin], 0xe9 ; jmp counted
    mov eax, counted - 5
    sub eax, loop_begin
    mov [loop_begin + 1], eax
    emms
    mov eax, 1
%macro set_all 1-*
    %rep %0
    mov %1, rax
    %rotate 1
    %endrep
%endmacro
    set_all rcx, rdx, rbx, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r15
    mov r14d, area
    user_init
    call call_once
    mov [rounds + 8], rax
    call call_once
    xchg [rounds + 8], rax
    mov [rounds], rax
    mov edi, 1
    mov esi, rounds
    mov edx, 16
    mov eax, 1 ; write
    syscall
give_up:
    cmp eax, 16
    setne dil
    movzx edi, dil
    mov eax, 60 ; exit
    syscall

call_once: ; rax: rounds of this call
    sub rsp, 8
    mov qword [rounds], 0
    mov edi, area
    mov esi, 65536
    mov eax, latput_function
    call rax
    mov rax, [rounds]
    add rsp, 8
    ret
