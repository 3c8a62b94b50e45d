; SPDX-License-Identifier: MIT
; Enters a kernel and comes back from it. Everything that a body may have changed (stack pointer,
; flags, segment registers and their bases, PKRU, MXCSR, x87, vector and tile state) is put right in
; core_leave, which is also where the signal handler continues after a fault. The stubs between a
; label and the label with _end (core_start, core_step, core_stop) are copied into each kernel; they
; use only absolute 32-bit addresses, so the copies work anywhere. core_enter32.asm is the same for
; 32-bit mode.

%include "core_layout.inc"

bits 64
default abs

extern core_state, core_own, core_features, core_secret, core_seal_sp, core_opening_stack
extern seal_remember, seal_verify
core_exports

; The registers that a function keeps.
%macro core_push_kept 0
    push rbx
    push rbp
    push r12
    push r13
    push r14
    push r15
%endmacro
%macro core_pop_and_return 0
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbp
    pop rbx
    ret
%endmacro

section .text

; void core_enter(const struct core_setup *setup)
core_enter:
    core_push_kept
    mov [core_state + state.saved_rsp], rsp
    mov eax, [rdi + setup.features]
    core_fill rdi, 16, 32
    mov dword [core_state + state.in_kernel], 1
    mov rsp, [rdi + setup.stack]
    mov r14, [rdi + setup.data]
    push qword [rdi + setup.code]
    mov rax, [rdi + setup.gpr_fill]
    mov rbx, rax
    mov rcx, rax
    mov rdx, rax
    mov rsi, rax
    mov rbp, rax
    mov r8, rax
    mov r9, rax
    mov r10, rax
    mov r11, rax
    mov r12, rax
    mov r13, rax
    mov r15, rax
    mov rdi, rax
    ret                         ; to the kernel's init

; Copied behind the init of a kernel that starts at an agreed time: waits for it.
core_wait:
    mov [core_state + state.saved_rax], rax
    mov [core_state + state.saved_rdx], rdx
.again:
    rdtsc
    shl rdx, 32
    or rax, rdx
    cmp rax, [core_state + state.start_tsc]
    jb .again
    mov rax, [core_state + state.saved_rax]
    mov rdx, [core_state + state.saved_rdx]
core_wait_end:

; Copied behind a kernel's init: starts the clock and loads the loop counter.
core_start:
    mov [core_state + state.begin_rsp], rsp
    mov [core_state + state.saved_rax], rax
    mov [core_state + state.saved_rdx], rdx
    lfence
    rdtsc
    shl rdx, 32
    or rax, rdx
    mov [core_state + state.tsc_begin], rax
    mov rax, [core_state + state.saved_rax]
    mov rdx, [core_state + state.saved_rdx]
    mov r15d, [core_state + state.iterations]
    lfence
core_start_end:

; Copied behind the bodies of a loop, in front of jnz: counts.
core_step:
    dec r15d
core_step_end:

core_stop_stubs rsp

; Copied behind the init of a kernel that is counted, around the reading of the counters, in front
; of core_start: keeps what they change, and waits for the init to be done.
core_spare:
    mov [core_state + state.saved_rax], rax
    mov [core_state + state.saved_rdx], rdx
    mov [core_state + state.saved_rcx], rcx
    lfence
core_spare_end:
core_unspare:
    mov rax, [core_state + state.saved_rax]
    mov rdx, [core_state + state.saved_rdx]
    mov rcx, [core_state + state.saved_rcx]
core_unspare_end:

core_counting_stubs

; Puts the base of a segment register right. Changes rax.
%macro core_restore_base 1
    rd%1base rax
    cmp rax, [core_own + own.%1_base]
    je %%done
    mov rax, [core_own + own.%1_base]
    wr%1base rax
%%done:
%endmacro

; Segment registers and their bases. Changes rax.
%macro core_restore_segments 0
    core_restore_selector ds
    core_restore_selector es
    core_restore_selector fs    ; may change the bases
    core_restore_selector gs
    test dword [core_features], FEATURE_FSGSBASE
    jz %%done                   ; without it own_restore asks the system
    core_restore_base fs
    core_restore_base gs
%%done:
%endmacro

; Reached by the stop stub, or from the signal handler.
core_leave:
    core_restore_pkru
    mov rsp, [core_state + state.saved_rsp]
    mov dword [core_state + state.in_kernel], 0
    push qword 0x202            ; interrupts on, everything else off: direction, alignment check
    popfq
    core_restore_segments
    test dword [core_features], FEATURE_TILES
    jz .no_tiles
    mov ecx, 1
    xgetbv                      ; which state is not the initial one
    test eax, 3 << 17
    jz .no_tiles
    tilerelease
.no_tiles:
    fninit
    ldmxcsr [mxcsr_default]
    test dword [core_features], 1
    jz .no_avx
    vzeroupper
    test dword [core_features], 2
    jz .no_avx
%assign i 16
%rep 16
    vpxord zmm%[i], zmm%[i], zmm%[i]
%assign i i+1
%endrep
.no_avx:
    core_pop_and_return

; void core_sealed(void (*work)(void)): shuts the seal, calls the function, in which bodies run, and
; opens it; core_seal.c says why. Whatever the bodies did, and wherever they jumped: the secrets are
; there only behind core_seal_opened, and from there nothing is relied on that bodies can write,
; until seal_verify has found it as it was.
core_sealed:
    core_push_kept
    push rdi
    mov [core_seal_sp], rsp
    call seal_remember
    lea rdi, [rsp - DEAD_STACK_BYTES]
    mov ecx, DEAD_STACK_BYTES / 8
    xor eax, eax
    rep stosq
    core_forget_vectors 16
    call [rsp]
core_seal_open:
    mov edi, SECRET_FD
    mov esi, core_secret
    mov edx, SECRET_BYTES
    xor eax, eax                ; read
    syscall
core_seal_opened:
    mov dword [core_state + state.in_kernel], STATE_OPENING
    mov esp, core_opening_stack + OPENING_STACK_BYTES
    push qword 0x202
    popfq
    mov rbx, rax
    core_restore_pkru
    core_restore_segments
    test dword [core_features], FEATURE_FSGSBASE
    jnz core_own_found
core_own_probe:
    mov rax, [fs:0]             ; libc's thread begins with its address; a fault leads to the next
    cmp rax, [core_own + own.fs_base]
    je core_own_found
core_own_lost:
    mov edi, ARCH_SET_FS
    mov rsi, [core_own + own.fs_base]
    mov eax, 158                ; arch_prctl
    syscall
core_own_found:
    mov rdi, rbx
    call seal_verify
    mov rsp, [core_seal_sp]
    pop rdi
    core_pop_and_return
section .note.GNU-stack noalloc noexec nowrite progbits
