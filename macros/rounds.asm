; SPDX-License-Identifier: MIT
; Counts how often instructions of latput_function begin in each of two calls, and writes for each
; call as many numbers of 64 bits. A breakpoint stands at each; what it stands for is done in one
; step. After the setup only write, exit and the return from a signal are allowed; where the kernel
; has no filter for that, it ends with status 2; at a breakpoint of the function's own with 3; after
; too much CPU time with SIGPROF. Registers and memory are those of a measured call.
; For ld -N, by which code may be changed; the file that includes this one defines
;   FUNCTION_LEN: bytes of the function
;   CPU_SECONDS: that both calls may take
;   user_places: macro of `dd OFFSET` for each instruction, from the function's first byte
;   user_init: macro of the user's code before the calls
;   user_call: macro of the call; r14 has the address of the data
bits 64
default abs
extern latput_function
global _start
STACK_BYTES equ 1 << 16 ; for signals: the frame has all registers
CONTEXT_RIP equ 168     ; in a struct ucontext
CONTEXT_FLAGS equ 176
TRAP_FLAG equ 0x100
BREAKPOINT equ 0xcc

section .bss
alignb 4096
resb 4096
area: resb 65536
signal_stack: resb STACK_BYTES
counts: resq FUNCTION_LEN ; by offset
bytes: resb FUNCTION_LEN  ; of the function without breakpoints
stepped: resq 1           ; address of the instruction that is done in one step; 0: none

section .data
align 8
places: user_places
places_end:
PLACES equ (places_end - places) / 4
align 8
filter: ; of struct sock_filter: code, jumps if true and if false, operand
    dd 0x20, 4                   ; the architecture
    dd 0x04000015, 0xc000003e    ; if not AUDIT_ARCH_X86_64, to the kill
    dd 0x20, 0                   ; the number of the call
    dd 0x00030015, 1             ; if write, to the end
    dd 0x00020015, 15            ; if rt_sigreturn, to the end
    dd 0x00010015, 60            ; if exit, to the end
    dd 0x06, 0x80000000          ; SECCOMP_RET_KILL_PROCESS
    dd 0x06, 0x7fff0000          ; SECCOMP_RET_ALLOW
program: ; struct sock_fprog
    dq 8, filter
limit: ; struct itimerval
    dq 0, 0, CPU_SECONDS, 0
stack: ; stack_t
    dq signal_stack, 0, STACK_BYTES
action: ; struct sigaction of the kernel: SA_RESTORER, SA_ONSTACK and SA_SIGINFO
    dq trapped, 0x0c000004, restore, 0

section .bss
results: resq 2 * PLACES

section .text
; system NUMBER, FIRST, SECOND, THIRD, FOURTH: ends with status 2 if it fails.
%macro system 5
    mov edi, %2
    mov esi, %3
    mov edx, %4
    mov r10d, %5
    xor r8d, r8d
    mov eax, %1
    syscall
    test eax, eax
    jnz refused
%endmacro
_start:
    system 131, stack, 0, 0, 0    ; sigaltstack
    system 13, 5, action, 0, 8    ; rt_sigaction of SIGTRAP
    system 38, 2, limit, 0, 0     ; setitimer of ITIMER_PROF
    system 157, 38, 1, 0, 0       ; PR_SET_NO_NEW_PRIVS
    system 157, 22, 2, program, 0 ; PR_SET_SECCOMP, SECCOMP_MODE_FILTER
    mov esi, latput_function
    mov edi, bytes
    mov ecx, FUNCTION_LEN
    rep movsb
    mov ebx, PLACES
.place:
    mov eax, [places + rbx * 4 - 4]
    mov byte [latput_function + rax], BREAKPOINT
    dec ebx
    jnz .place
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
    mov ebx, results
    call call_once
    mov ebx, results + 8 * PLACES
    call call_once
    mov edi, 1
    mov esi, results
    mov edx, 16 * PLACES
    mov eax, 1 ; write
    syscall
    cmp eax, 16 * PLACES
    setne dil
    movzx edi, dil
leave_with: ; edi
    mov eax, 60 ; exit
    syscall
refused:
    mov edi, 2
    jmp leave_with
own_breakpoint:
    mov edi, 3
    jmp leave_with

call_once: ; rbx: where the numbers of this call go
    push rbx
    mov ebx, 1
    mov r14d, area
    user_call
    pop rbx
    xor esi, esi
.place:
    mov eax, [places + rsi * 4]
    mov rdx, [counts + rax * 8]
    mov [rbx + rsi * 8], rdx
    inc esi
    cmp esi, PLACES
    jb .place
    xor eax, eax ; for the next call: loops may share a place
    mov edi, counts
    mov ecx, FUNCTION_LEN
    cld
    rep stosq
    ret

trapped: ; rdx: a struct ucontext
    mov rcx, [stepped]
    test rcx, rcx
    jnz .done
    mov rax, [rdx + CONTEXT_RIP]
    dec rax
    mov [rdx + CONTEXT_RIP], rax
    mov rcx, rax
    sub rcx, latput_function
    cmp rcx, FUNCTION_LEN
    jae own_breakpoint
    cmp byte [rax], BREAKPOINT ; else it is one of two bytes
    jne own_breakpoint
    cmp byte [bytes + rcx], BREAKPOINT
    je own_breakpoint
    inc qword [counts + rcx * 8]
    mov cl, [bytes + rcx]
    mov [rax], cl
    mov [stepped], rax
    or dword [rdx + CONTEXT_FLAGS], TRAP_FLAG
    ret
.done:
    mov byte [rcx], BREAKPOINT
    mov qword [stepped], 0
    and dword [rdx + CONTEXT_FLAGS], ~TRAP_FLAG
    ret
restore:
    mov eax, 15 ; rt_sigreturn
    syscall
