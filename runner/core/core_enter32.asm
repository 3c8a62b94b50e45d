; SPDX-License-Identifier: MIT
; core_enter.asm for 32-bit mode; what it does and why is said there. Different are: the loop
; counter lies in memory, because popa would overwrite any register and the eight are few; ebp holds
; the data area; and segment registers are put right, because lds, les, lfs and lgs can be measured
; in this mode.

%include "core_layout.inc"

bits 32

extern core_state, core_own, core_features, core_secret, core_seal_sp, core_opening_stack
extern seal_remember, seal_verify
core_exports

%macro core_push_kept 0
    push ebx
    push ebp
    push esi
    push edi
%endmacro
%macro core_pop_and_return 0
    pop edi
    pop esi
    pop ebp
    pop ebx
    ret
%endmacro

section .text

; void core_enter(const struct core_setup *setup)
core_enter:
    core_push_kept
    mov edi, [esp + 20]
    mov [core_state + state.saved_rsp], esp
    mov eax, [edi + setup.features]
    core_fill edi, 8, 8
    mov dword [core_state + state.in_kernel], 1
    mov esp, [edi + setup.stack]
    mov ebp, [edi + setup.data]
    push dword [edi + setup.code]
    mov eax, [edi + setup.gpr_fill]
    mov ebx, eax
    mov ecx, eax
    mov edx, eax
    mov esi, eax
    mov edi, eax
    ret                         ; to the kernel's init

; Copied behind the init of a kernel that starts at an agreed time: waits for it.
core_wait:
    mov [core_state + state.saved_rax], eax
    mov [core_state + state.saved_rdx], edx
.again:
    rdtsc
    sub eax, [core_state + state.start_tsc]
    sbb edx, [core_state + state.start_tsc + 4]
    jb .again
    mov eax, [core_state + state.saved_rax]
    mov edx, [core_state + state.saved_rdx]
core_wait_end:

; Copied behind a kernel's init: starts the clock. The loop counter lies where C put it.
core_start:
    mov [core_state + state.begin_rsp], esp
    mov [core_state + state.saved_rax], eax
    mov [core_state + state.saved_rdx], edx
    lfence
    rdtsc
    mov [core_state + state.tsc_begin], eax
    mov [core_state + state.tsc_begin + 4], edx
    mov eax, [core_state + state.saved_rax]
    mov edx, [core_state + state.saved_rdx]
    lfence
core_start_end:

; Copied behind the bodies of a loop, in front of jnz: counts.
core_step:
    dec dword [core_state + state.iterations]
core_step_end:

core_stop_stubs esp

; Copied behind the init of a kernel that is counted, around the reading of the counters, in front
; of core_start: keeps what they change, and waits for the init to be done.
core_spare:
    mov [core_state + state.saved_rax], eax
    mov [core_state + state.saved_rdx], edx
    mov [core_state + state.saved_rcx], ecx
    lfence
core_spare_end:
core_unspare:
    mov eax, [core_state + state.saved_rax]
    mov edx, [core_state + state.saved_rdx]
    mov ecx, [core_state + state.saved_rcx]
core_unspare_end:

core_counting_stubs

; All segments that C uses are the stack's; nothing here can change ss. Changes eax.
%macro core_restore_data_segments 0
    mov eax, ss
    mov ds, eax
    mov es, eax
%endmacro

; Reached by the stop stub, or from the signal handler.
core_leave:
    core_restore_data_segments
    core_restore_pkru
    core_restore_selector fs
    core_restore_selector gs    ; libc's thread pointer
    mov esp, [core_state + state.saved_rsp]
    mov dword [core_state + state.in_kernel], 0
    push dword 0x202            ; interrupts on, everything else off: direction, alignment check
    popfd
    fninit
    ldmxcsr [mxcsr_default]
    test dword [core_features], 1
    jz .no_avx
    vzeroupper
.no_avx:
    core_pop_and_return

; void core_sealed(void (*work)(void)), as in core_enter.asm; the stack is aligned for the calls.
core_sealed:
    mov eax, [esp + 4]
    core_push_kept
    mov ecx, esp
    and esp, -16
    sub esp, 16
    mov [esp], eax
    mov [esp + 4], ecx
    mov [core_seal_sp], esp
    call seal_remember
    lea edi, [esp - DEAD_STACK_BYTES]
    mov ecx, DEAD_STACK_BYTES / 4
    xor eax, eax
    rep stosd
    core_forget_vectors 8
    call [esp]
core_seal_open:
    mov ebx, SECRET_FD
    mov ecx, core_secret
    mov edx, SECRET_BYTES
    mov eax, 3                  ; read
    int 0x80
core_seal_opened:
    mov edx, eax
    core_restore_data_segments
    mov dword [core_state + state.in_kernel], STATE_OPENING
    mov esp, core_opening_stack + OPENING_STACK_BYTES
    push dword 0x202
    popfd
    mov ebx, edx
    core_restore_pkru
    core_restore_selector fs
    core_restore_selector gs
core_own_probe:                 ; of 64-bit mode
core_own_lost:
    sub esp, 16
    mov [esp], ebx
    call seal_verify
    mov esp, [core_seal_sp]
    mov esp, [esp + 4]
    core_pop_and_return
section .note.GNU-stack noalloc noexec nowrite progbits
