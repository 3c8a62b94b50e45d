/* SPDX-License-Identifier: GPL-2.0 */
/* What a kernel of the list is made of: init, start of the clock, a loop over copies of the body,
 * stop of the clock. The clock is read as in the stubs of runner/core/core_enter.asm, so that a
 * timing without work takes as long. Each instruction has an entry in the exception table. */
#ifndef LATPUT_BODY_H
#define LATPUT_BODY_H

/* Offsets in struct latput_state, which latput_main.c asserts. */
#define STATE_SAVED_RSP 0
#define STATE_SAVED_RAX 8
#define STATE_SAVED_RDX 16
#define STATE_TSC_BEGIN 24
#define STATE_TSC_END 32
#define STATE_BEGIN_RSP 40
#define STATE_END_RSP 48
#define STATE_ITERATIONS 56
#define STATE_VECTOR 60
#define STATE_FAULTED 64

/* Copies of the body in the variants. */
#define COPIES_MOST 16
#define COPIES_SOME 4

/* clang-format off */
#ifdef __ASSEMBLY__
#include <linux/linkage.h>
#include <asm/asm.h>

#define STATE(member) latput_state+member(%rip)

.macro instruction bytes:vararg
.Lat\@:
	.byte \bytes
	_ASM_EXTABLE_FAULT(.Lat\@, latput_fault)
.endm

.macro clock_start
	movq %rsp, STATE(STATE_BEGIN_RSP)
	movq %rax, STATE(STATE_SAVED_RAX)
	movq %rdx, STATE(STATE_SAVED_RDX)
	lfence
	rdtsc
	shlq $32, %rdx
	orq %rdx, %rax
	movq %rax, STATE(STATE_TSC_BEGIN)
	movq STATE(STATE_SAVED_RAX), %rax
	movq STATE(STATE_SAVED_RDX), %rdx
	movl STATE(STATE_ITERATIONS), %r15d
	lfence
.endm

.macro clock_stop
	lfence
	rdtsc
	lfence
	movl %eax, STATE(STATE_TSC_END)
	movl %edx, STATE(STATE_TSC_END + 4)
	movq %rsp, STATE(STATE_END_RSP)
	jmp latput_leave
.endm

.macro loop n, copies
	.p2align 6
.Lbody_\n\()_\copies:
	.rept \copies
	body_\n
	.endr
.Lbody_end_\n\()_\copies:
	decl %r15d
	jnz .Lbody_\n\()_\copies
	clock_stop
.endm

.macro variant n, copies
	.p2align 6
.Lentry_\n\()_\copies:
#ifdef ENDBR
	ENDBR
#endif
.Linit_\n\()_\copies:
	init_\n
.Linit_end_\n\()_\copies:
	clock_start
	loop \n, \copies
.endm

/* An entry of the table: struct latput_body in latput_main.c. */
.macro kernel n, name
	.text
	variant \n, COPIES_MOST
	variant \n, COPIES_SOME
	variant \n, 1
	.pushsection .rodata.str, "a"
.Lname_\n:
	.asciz "\name"
	.popsection
	.pushsection .rodata, "a"
	.if \n == 0
	.p2align 3
	.globl latput_bodies
latput_bodies:
	.endif
	.quad .Lname_\n, .Linit_\n\()_1, .Lbody_\n\()_1
	.quad .Lentry_\n\()_16, .Lentry_\n\()_4, .Lentry_\n\()_1
	.long .Linit_end_\n\()_1 - .Linit_\n\()_1, .Lbody_end_\n\()_1 - .Lbody_\n\()_1
	.set latput_last, \n
	.popsection
.endm

.macro kernels_end
	.pushsection .rodata, "a"
	.globl latput_nbodies
latput_nbodies:
	.long latput_last + 1
	.popsection
.endm
#endif

#endif
