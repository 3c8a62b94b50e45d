// SPDX-License-Identifier: MIT
// Absolute addresses in copies of a body: each copy has its own. The code that is built runs, as a
// function: with stubs that do nothing, and a loop that goes round once. CPUs without jmpabs run
// another jump to the same address.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/core_internal.h"

// The core is a program of its own; this file of it needs the stubs alone.
#include "core/core_code.c"

#include <stdlib.h>

// clang-format off
#define EMPTY(name) #name ":\n" #name "_end:\n"
#define STUB(name, code) #name ":\n" code "\n" #name "_end:\n"
__asm__(".section .rodata\n"
    EMPTY(core_wait) EMPTY(core_start) EMPTY(core_watch) EMPTY(core_stop) EMPTY(core_spare)
    EMPTY(core_unspare) EMPTY(core_count_begin) EMPTY(core_count_stop) EMPTY(core_ticks_begin)
    EMPTY(core_ticks_stop) STUB(core_step, "cmp %eax, %eax") STUB(core_exit, "mov %ecx, %eax; ret")
    ".previous\n");
// clang-format on
const uint8_t latput_code[1];

void send_fatal(const char *format, ...)
{
    fail_msg("%s", format);
    abort();
}

#define JMPABS 0xd5, 0x00, 0xa1
// Words with the mark: to the address so many bytes after each.
#define MARKED(distance) (distance), 0, 0x74, 0x75, 0x70, 0x74, 0x61, 0x6c

// Puts mov rax, address; jmp rax in the place of each jmpabs and the nop after it.
static void replace_jumps(uint8_t *at, const uint8_t *end)
{
    static const uint8_t jmpabs[] = {JMPABS}, mov[] = {0x48, 0xb8}, jmp[] = {0xff, 0xe0};
    for (; at + 12 <= end; at++) {
        uint64_t address;
        if (memcmp(at, jmpabs, sizeof jmpabs) != 0)
            continue;
        memcpy(&address, at + sizeof jmpabs, sizeof address);
        memcpy(at, mov, sizeof mov);
        memcpy(at + 2, &address, sizeof address);
        memcpy(at + 10, jmp, sizeof jmp);
    }
}

static struct code build(const uint8_t *init, size_t init_bytes, const uint8_t *body,
                         size_t body_bytes, bool replaces)
{
    const struct core_kernel kernel = {.body = (uintptr_t)body,
                                       .init = (uintptr_t)init,
                                       .fini = (uintptr_t)body, // no bytes of it
                                       .body_bytes = (uint32_t)body_bytes,
                                       .init_bytes = (uint32_t)init_bytes,
                                       .instrs = 4};
    code_begin(code_bytes(&kernel, (struct code_options){0}));
    uint8_t *begin = code_at;
    struct code code = code_add(&kernel, (struct code_options){0});
    if (replaces)
        replace_jumps(begin, code_at);
    code_end();
    return code;
}

static void each_copy_jumps_to_itself(void **state)
{
    (void)state;
    static const uint8_t init[] = {0x31, 0xc9}; // xor ecx, ecx
    static const uint8_t body[] = {
        JMPABS, MARKED(11), 0x90, // to the next but one
        0x0f,   0x0b,             // ud2
        JMPABS, MARKED(9),  0x90, // to the next
        0xff,   0xc1,             // inc ecx
    };
    struct code code = build(init, sizeof init, body, sizeof body, true);
    assert_int_equal(code.nvariants, VARIANTS_MAX);
    for (int i = 0; i < code.nvariants; i++) {
        uint32_t (*enter)(void) = (uint32_t(*)(void))(uintptr_t)code.variants[i].entry;
        assert_int_equal(enter(), code.variants[i].copies);
    }
}

static void other_bytes_stay(void **state)
{
    (void)state;
    static const uint8_t body[] = {
        JMPABS, MARKED(8), 0x90,                              // as macros/branch.inc writes it
        0x48,   0xb8,      MARKED(8),                         // no jump
        JMPABS, 0x75,      0x74,      0x70, 0x74, 0x61, 0x6c, // nearly the mark, and cut short
    };
    struct code code = build(body, 0, body, sizeof body, false);
    const uint8_t *last = code.variants[code.nvariants - 1].entry; // one copy
    uint64_t target;
    memcpy(&target, last + 3, sizeof target);
    assert_int_equal(target, (uintptr_t)last + 11);
    assert_memory_equal(last, body, 3);
    assert_memory_equal(last + 11, body + 11, sizeof body - 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_copy_jumps_to_itself),
        cmocka_unit_test(other_bytes_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
