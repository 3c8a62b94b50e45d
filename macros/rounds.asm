; SPDX-License-Identifier: MIT
; Counts how often a loop of latput_function begins in each of two calls, and writes the two numbers
; of 64 bits. The loop jumps to a copy of itself that counts. After the setup only write and exit
; are allowed; where the kernel has no filter for that, it ends with status 2. Registers and memory
; are those of a measured call. For ld -N, by which code may be changed; the file that includes this
; one defines
;   LOOP_AT, LOOP_LEN: the loop in the function, in bytes; BODY_LEN: without the branch at its end
;   LOOP_JUMP: the branch, jz or another
;   fix_body: macro that adds eax to each distance in the body that counts from the instruction
;   user_init: macro of the user's code before the call
;   user_arguments: macro that sets the arguments of the call; r14 has the address of the data
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

section .data
align 8
filter: ; of struct sock_filter: code, jumps if true and if false, operand
    dd 0x20, 4                   ; the architecture
    dd 0x03000015, 0xc000003e    ; if not AUDIT_ARCH_X86_64, to the kill
    dd 0x20, 0                   ; the number of the call
    dd 0x00020015, 1             ; if write, to the end
    dd 0x00010015, 60            ; if exit, to the end
    dd 0x06, 0x80000000          ; SECCOMP_RET_KILL_PROCESS
    dd 0x06, 0x7fff0000          ; SECCOMP_RET_ALLOW
program: ; struct sock_fprog
    dq 7, filter

section .text
; prctl FIRST, SECOND, THIRD: ends with status 2 if it fails.
%macro prctl 3
    mov edi, %1
    mov esi, %2
    mov edx, %3
    xor r10d, r10d
    xor r8d, r8d
    mov eax, 157
    syscall
    test eax, eax
    jnz refused
%endmacro
_start:
    prctl 38, 1, 0       ; PR_SET_NO_NEW_PRIVS
    prctl 22, 2, program ; PR_SET_SECCOMP, SECCOMP_MODE_FILTER
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
    cmp eax, 16
    setne dil
    movzx edi, dil
leave_with: ; edi
    mov eax, 60 ; exit
    syscall
refused:
    mov edi, 2
    jmp leave_with

call_once: ; rax: rounds of this call
    sub rsp, 8
    mov qword [rounds], 0
    mov r14d, area
    user_arguments
    mov eax, latput_function
    call rax
    mov rax, [rounds]
    add rsp, 8
    ret
