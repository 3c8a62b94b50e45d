/* SPDX-License-Identifier: GPL-2.0 */
/* Enters a kernel of the list and comes back from it, by its end or by the exception table. */
#include "latput_body.h"

	.text
/* void latput_enter(void *entry, void *data, u64 gpr_fill): with interrupts off. */
SYM_FUNC_START(latput_enter)
	pushq %rbx
	pushq %rbp
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	pushfq
	movq %rsp, STATE(STATE_SAVED_RSP)
	andq $-64, %rsp
	movq %rsi, %r14
	movq %rdi, %r15
	movq %rdx, %rax
	movq %rax, %rbx
	movq %rax, %rcx
	movq %rax, %rsi
	movq %rax, %rdi
	movq %rax, %rbp
	movq %rax, %r8
	movq %rax, %r9
	movq %rax, %r10
	movq %rax, %r11
	movq %rax, %r12
	movq %rax, %r13
	/* One of the module's own entries: nothing that a caller could choose. */
	jmp *%r15

/* The exception table leads here, with the vector in rax. */
SYM_INNER_LABEL(latput_fault, SYM_L_GLOBAL)
	movl %eax, STATE(STATE_VECTOR)
	movl $1, STATE(STATE_FAULTED)
SYM_INNER_LABEL(latput_leave, SYM_L_GLOBAL)
	movq STATE(STATE_SAVED_RSP), %rsp
	popfq /* interrupts are off again, whatever the body did */
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbp
	popq %rbx
	RET
SYM_FUNC_END(latput_enter)
