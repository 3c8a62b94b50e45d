; SPDX-License-Identifier: MIT
; Bodies for test_core: well-known instructions whose latency is an integer, and hostile ones that must
; cost one outcome each and nothing else. The order is that of the table in test_core.c. For both modes:
; NASM's -DBITS=32 or -DBITS=64 tells which.

%if BITS == 32
bits 32
%define ax_ eax
%define bx_ ebx
%define data_ ebp
%define break_counter mov dword [core_state + 48], 5
%define enter_kernel sysenter
%else
bits 64
default abs
%define ax_ rax
%define bx_ rbx
%define data_ r14
%define break_counter mov r15d, 5
%define enter_kernel syscall
%endif

; kernel INSTANCES, INSTRS, FLAGS, VECBITS, 'init', 'body'
%assign kernels 0
%macro kernel 6+
section .text
kernel_%[kernels]_init:
    %5
kernel_%[kernels]_body:
    %6
kernel_%[kernels]_end:
section .rodata
%if BITS == 32                  ; 32-bit objects have no relocations of 64 bits
    dd kernel_%[kernels]_body, 0, kernel_%[kernels]_init, 0
%else
    dq kernel_%[kernels]_body, kernel_%[kernels]_init
%endif
    dd kernel_%[kernels]_end - kernel_%[kernels]_body, kernel_%[kernels]_body - kernel_%[kernels]_init
    dd kernels, %1, %2, %3, %4, 1
    dq 0x3f8000003f800000, 0, 1, -1
%assign kernels kernels+1
%endmacro

global latput_kernels, latput_kernel_count
extern core_state
section .rodata align=8
latput_kernels:

%macro stray_write 0            ; over the core's own data, by way of a symbol it exports
    mov byte [core_state - 4096], 0x5a
    mov byte [core_state + 4096], 0x5a
%endmacro
%macro drop_segments 0          ; what libc finds its thread by in 32-bit mode, and more
    xor eax, eax
    mov es, eax
    mov gs, eax
%endmacro
%macro stack_write 0            ; over the core's stack
    mov ax_, [core_state]
%assign i 0
%rep 64
    mov [ax_ + i*8], ax_
%assign i i+1
%endrep
%endmacro

; Code that speaks for the last kernel: "it takes no time", by the core's own function or by its own
; call. Then it opens the sealed memory, with single step on or off, and does so and forges; and it
; changes what libc knows of its thread.
extern guard_send, core_call
%ifdef WALL
extern core_seal_open, core_seal_start
%endif
section .data
align 8
forged:                         ; struct core_record: hello was said; begin and timing, as each is wanted
    dd 3, kernels_last          ; CORE_REC_TIMING
    dd 1, 0, 0, 8, 8, 1000, 384, 1
%if BITS == 64
    dd 0, 0
%else
    dd 0, 0
%endif
    dq 10.0, 10000.0
%rep 8
    dd 20, 4000, 4000, 4000
%endrep
    times 472 - ($ - forged) db 0
%macro forge 0
%if BITS == 64
    mov edi, forged
    mov eax, guard_send
    call rax
%else
    push forged
    mov eax, guard_send
    call eax
    pop eax
%endif
%endmacro
%macro open_seal 1
%ifdef WALL
    pushf
    or dword [sp_], %1
    popf
    mov eax, core_seal_open
    jmp ax_
%else
    nop
%endif
%endmacro
; By a system call of its own that has the core's arguments, from another address.
%macro open_and_forge 0
%if BITS == 64
    mov eax, 10
    mov edi, 0x50000000
    mov esi, 2 << 20
    mov edx, 3
    syscall
%else
    mov eax, 125
    mov ebx, 0x50000000
    mov ecx, 2 << 20
    mov edx, 3
    int 0x80
%endif
    forge
%endmacro
%macro change_thread 0
%if BITS == 64
    mov rax, [fs:0]
    mov byte [rax - 8], 0x5a
    mov byte [rax + 64], 0x5a
%else
    mov eax, [gs:0]
    mov byte [eax - 8], 0x5a
    mov byte [eax + 64], 0x5a
%endif
%endmacro

; State that is changed, and a body that looks whether the one before it left some: int3 if so.
ODD_PKRU equ 0x5555555c         ; as Linux sets it, but for a key that nothing uses
%macro set_pkru 1
    xor ecx, ecx
    xor edx, edx
    mov eax, %1
    db 0x0f, 0x01, 0xef         ; wrpkru, which NASM refuses in 32-bit mode
%endmacro
%macro see_pkru 0
    xor ecx, ecx
    db 0x0f, 0x01, 0xee         ; rdpkru
    cmp eax, ODD_PKRU
    jne %%as_it_was
    int3
%%as_it_was:
%endmacro
%macro set_flag 1
    pushf
    or dword [sp_], %1
    popf
    nop
%endmacro
%if BITS == 32                  ; where only selectors can be changed, and there are no tiles
%define sp_ esp
%macro change_bases 0
    mov eax, ds
    mov fs, eax
%endmacro
%macro see_bases 0
    mov eax, fs
    test eax, eax
    jz %%as_it_was
    int3
%%as_it_was:
%endmacro
%macro configure_tiles 0
    nop
%endmacro
%macro see_tiles 0
    nop
%endmacro
%else
%define sp_ rsp
%macro change_bases 0
    mov eax, ss
    mov fs, eax
    mov gs, eax
    mov eax, 1
    wrfsbase rax
    wrgsbase rax
%endmacro
%macro see_bases 0
    mov eax, fs
    mov ecx, gs
    rdgsbase rdx
    or eax, ecx
    or eax, edx
    jz %%as_it_was
    int3
%%as_it_was:
%endmacro
%macro configure_tiles 0
    mov byte [r14], 1           ; palette
    mov byte [r14 + 48], 8      ; rows of tile 0
    mov word [r14 + 16], 32     ; bytes of a row
    ldtilecfg [r14]
    tilezero tmm0
    mov byte [r14], 0
%endmacro
%macro see_tiles 0
    mov ecx, 1
    xgetbv
    test eax, 3 << 17
    jz %%as_it_was
    ud2
%%as_it_was:
%endmacro
%endif

kernel 1, 1, 0, 0, {nop}, {imul bx_, bx_}
kernel 1, 1, 0, 0, {nop}, {ud2}
kernel 1, 1, 0, 0, {nop}, {jmp $}
kernel 1, 1, 0, 0, {nop}, {mov [0], eax}
kernel 1, 1, 0, 0, {nop}, {stray_write}
kernel 1, 1, 0, 0, {nop}, {stack_write}
kernel 1, 1, 0, 0, {nop}, {enter_kernel}
kernel 1, 1, 0, 0, {xor ecx, ecx}, {div ecx}
kernel 1, 1, 0, 0, {nop}, {hlt}
kernel 1, 1, 0, 0, {nop}, {xor esp, esp}
kernel 1, 2, 0, 0, {nop}, {std}
kernel 1, 1, 0, 0, {mov dword [data_], 0x7f80}, {ldmxcsr [data_]}
kernel 1, 1, 0, 256, {nop}, {vaddps ymm1, ymm1, ymm2}
kernel 1, 1, 2, 128, {nop}, {mulps xmm1, xmm2}
kernel 1, 1, 0, 0, {mov [data_], data_}, {mov data_, [data_]}
kernel 1, 1, 0, 0, {nop}, {push ax_}
kernel 1, 1, 0, 0, {break_counter}, {break_counter}
kernel 1, 3, 0, 0, {nop}, {drop_segments}
kernel 1, 1, 0, 0, {nop}, {int3}
kernel 1, 1, 0, 0, {nop}, {int 0x80}
kernel 1, 1, 0, 128, {nop}, {vmulps xmm1, xmm1, xmm2}
kernel 1, 1, 0, 0, {nop}, {cpuid}
kernel 1, 1, 0, 0, {nop}, {change_bases}
kernel 1, 1, 0, 0, {nop}, {see_bases}
kernel 1, 1, 0, 0, {nop}, {set_pkru ODD_PKRU}
kernel 1, 1, 0, 0, {nop}, {see_pkru}
kernel 1, 1, 0, 0, {nop}, {set_pkru 1}
kernel 1, 1, 0, 0, {nop}, {set_flag 1 << 18}
kernel 1, 1, 0, 0, {nop}, {set_flag 1 << 8}
kernel 1, 1, 0, 0, {nop}, {configure_tiles}
kernel 1, 1, 0, 0, {nop}, {see_tiles}
kernel 1, 1, 0, 0, {nop}, {forge}
kernel 1, 1, 0, 0, {nop}, {open_seal 0}
kernel 1, 1, 0, 0, {nop}, {open_seal 1 << 8}
kernel 1, 1, 0, 0, {nop}, {open_and_forge}
kernel 1, 1, 0, 0, {nop}, {change_thread}
kernel 1, 1, 0, 0, {nop}, {imul bx_, bx_}
section .rodata
latput_kernel_count: dd kernels
kernels_last equ kernels - 1
section .note.GNU-stack noalloc noexec nowrite progbits
