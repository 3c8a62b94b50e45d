/* SPDX-License-Identifier: GPL-2.0 */
/* Kernels for the test of the module alone: an exception each, in the body or in the init; a stack
 * that is not balanced; a body that does not end. tests/kernel/run puts their numbers for N1, ... */
.macro init_N1
.endm
.macro body_N1
	instruction 0x0f, 0x0b /* ud2 */
.endm
kernel N1, "test ud2"

.macro init_N2
	instruction 0x31, 0xc9 /* xor ecx, ecx */
.endm
.macro body_N2
	instruction 0xf7, 0xf1 /* div ecx */
.endm
kernel N2, "test div"

.macro init_N3
	instruction 0x48, 0xb9, 0, 0, 0, 0, 0, 0, 0, 0x80 /* mov rcx, 1 << 63 */
.endm
.macro body_N3
	instruction 0x8b, 0x01 /* mov eax, [rcx] */
.endm
kernel N3, "test not canonical"

.macro init_N4
.endm
.macro body_N4
	instruction 0x41, 0x8b, 0x86, 0x00, 0x00, 0x02, 0x00 /* mov eax, [r14+0x20000] */
.endm
kernel N4, "test no page"

.macro init_N5
	instruction 0x0f, 0x0b
.endm
.macro body_N5
	instruction 0x90
.endm
kernel N5, "test init"

.macro init_N6
.endm
.macro body_N6
	instruction 0x50 /* push rax */
.endm
kernel N6, "test stack"

.macro init_N7
.endm
.macro body_N7
	instruction 0xeb, 0xfe /* jmp to itself */
.endm
kernel N7, "test hang"

