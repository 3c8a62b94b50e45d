; SPDX-License-Identifier: MIT
; Enters a kernel and comes back from it. Everything that a body may have damaged (stack pointer,
; direction flag, MXCSR, x87 and vector state) is put right in core_leave, which is also where the
; signal handler continues after a fault. The stubs between the labels core_start..core_start_end and
; core_stop..core_stop_end are copied into each kernel; they use only absolute 32-bit addresses, so the
; copies work anywhere. Mirror of the structures: core_internal.h.

struc setup                     ; struct core_setup
    .code       resq 1
    .stack      resq 1
    .data       resq 1
    .gpr_fill   resq 1
    .mask_fill  resq 1
    .vec_bits   resd 1          ; 0, 128, 256, 512
    .features   resd 1          ; bit 0 AVX, 1 AVX-512F, 2 AVX-512BW, 3 MMX and x87 wanted
    .vec_fill   resq 2
endstruc

struc state                     ; struct core_state
    .saved_rsp  resq 1
    .saved_rax  resq 1
    .saved_rdx  resq 1
    .tsc_begin  resq 1
    .tsc_end    resq 1
    .leave      resq 1
    .iterations resd 1
    .in_kernel  resd 1
endstruc

bits 64
default abs

extern core_state
global core_enter, core_leave, core_start, core_start_end, core_stop, core_stop_end

section .rodata
mxcsr_default: dd 0x1f80

section .text

; void core_enter(const struct core_setup *setup)
core_enter:
    push rbx
    push rbp
    push r12
    push r13
    push r14
    push r15
    mov [core_state + state.saved_rsp], rsp
    mov eax, [rdi + setup.features]
    test eax, 1
    jz .no_avx
    vzeroall
.no_avx:
    test eax, 8
    jz .no_mmx
    fninit
%assign i 0
%rep 8
    movq mm%[i], [rdi + setup.vec_fill]
%assign i i+1
%endrep
.no_mmx:
    mov ecx, [rdi + setup.vec_bits]
    cmp ecx, 128
    jb .no_vectors
    je .fill_128
    cmp ecx, 256
    je .fill_256
%assign i 0
%rep 32
    vpbroadcastq zmm%[i], [rdi + setup.vec_fill]
%assign i i+1
%endrep
    jmp .vectors_done
.fill_256:
%assign i 0
%rep 16
    vbroadcastsd ymm%[i], [rdi + setup.vec_fill]
%assign i i+1
%endrep
    jmp .vectors_done
.fill_128:
%assign i 0
%rep 16
    movups xmm%[i], [rdi + setup.vec_fill]
%assign i i+1
%endrep
.vectors_done:
.no_vectors:
    test eax, 4
    jz .no_wide_masks
%assign i 0
%rep 8
    kmovq k%[i], [rdi + setup.mask_fill]
%assign i i+1
%endrep
    jmp .masks_done
.no_wide_masks:
    test eax, 2
    jz .masks_done
%assign i 0
%rep 8
    kmovw k%[i], [rdi + setup.mask_fill]
%assign i i+1
%endrep
.masks_done:
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

; Copied behind a kernel's init: starts the clock and loads the loop counter.
core_start:
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

; Copied behind a kernel's loop: stops the clock.
core_stop:
    lfence
    rdtsc
    lfence
    mov [core_state + state.tsc_end], eax
    mov [core_state + state.tsc_end + 4], edx
    jmp [core_state + state.leave]
core_stop_end:

; Reached by the stop stub, or from the signal handler.
core_leave:
    mov rsp, [core_state + state.saved_rsp]
    mov dword [core_state + state.in_kernel], 0
    push qword 0x202            ; interrupts on, everything else off: direction, alignment check
    popfq
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
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbp
    pop rbx
    ret

extern core_features
section .note.GNU-stack noalloc noexec nowrite progbits
