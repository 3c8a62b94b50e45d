; SPDX-License-Identifier: MIT
; The sections of the linked core that a batch is put into: the number of its kernels, their table
; and data, their code, and data of a snippet that it may write. Mirror: runner/assemble/load.h.
section latput_table progbits alloc noexec nowrite align=4096
global latput_kernel_count, latput_kernels
latput_kernel_count:
    dd 0, 0, 0, 0
latput_kernels:
    dd 0
section latput_code progbits alloc noexec nowrite align=4096
global latput_code
latput_code:
    dd 0
section latput_room progbits alloc noexec write align=4096
    dd 0
section .note.GNU-stack noalloc noexec nowrite progbits
