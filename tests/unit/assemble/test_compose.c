// SPDX-License-Identifier: MIT
// Kernels composed of the code of their lines: which kernels are composed, and that all have the
// bytes that NASM makes of their whole text.
#include "assemble/assemble.h"
#include "core/core_abi.h"
#include "list/select.h"
#include "property/property_measure.h"
#include "util/paths.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/latput-test-compose-XXXXXX";

static int setup(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    return rmdir(directory);
}

struct kernels {
    struct gen_kernel *items;
    int n;
    struct arena arena;
    struct program program;
};

// An executable in memory, of either class.
struct image {
    uint8_t *bytes;
    const struct core_kernel *table;
    uint32_t count;
    uint64_t code; // address of latput_code
};

static bool image_is_64(const struct image *image)
{
    return image->bytes[EI_CLASS] == ELFCLASS64;
}

static const void *image_at(const struct image *image, uint64_t address)
{
    const Elf64_Ehdr *wide = (const void *)image->bytes;
    const Elf32_Ehdr *narrow = (const void *)image->bytes;
    int n = image_is_64(image) ? wide->e_phnum : narrow->e_phnum;
    for (int i = 0; i < n; i++) {
        const Elf64_Phdr *a = (const Elf64_Phdr *)(const void *)(image->bytes + wide->e_phoff) + i;
        const Elf32_Phdr *b =
            (const Elf32_Phdr *)(const void *)(image->bytes + narrow->e_phoff) + i;
        uint64_t from = image_is_64(image) ? a->p_vaddr : b->p_vaddr,
                 bytes = image_is_64(image) ? a->p_filesz : b->p_filesz,
                 offset = image_is_64(image) ? a->p_offset : b->p_offset;
        if ((image_is_64(image) ? a->p_type : b->p_type) == PT_LOAD && address >= from &&
            address < from + bytes)
            return image->bytes + offset + (address - from);
    }
    fail_msg("no bytes at 0x%lx", (unsigned long)address);
    return NULL;
}

static void image_symbol(struct image *image, const char *name, uint64_t value)
{
    if (strcmp(name, "latput_kernels") == 0)
        image->table = image_at(image, value);
    if (strcmp(name, "latput_kernel_count") == 0)
        image->count = *(const uint32_t *)image_at(image, value);
    if (strcmp(name, "latput_code") == 0)
        image->code = value;
}

static void image_symbols_64(struct image *image)
{
    const Elf64_Ehdr *head = (const void *)image->bytes;
    const Elf64_Shdr *sections = (const void *)(image->bytes + head->e_shoff);
    for (int i = 0; i < head->e_shnum; i++) {
        const Elf64_Sym *symbols = (const void *)(image->bytes + sections[i].sh_offset);
        if (sections[i].sh_type != SHT_SYMTAB)
            continue;
        const char *names = (const char *)image->bytes + sections[sections[i].sh_link].sh_offset;
        for (uint64_t s = 0; s < sections[i].sh_size / sizeof *symbols; s++)
            image_symbol(image, names + symbols[s].st_name, symbols[s].st_value);
    }
}

static void image_symbols_32(struct image *image)
{
    const Elf32_Ehdr *head = (const void *)image->bytes;
    const Elf32_Shdr *sections = (const void *)(image->bytes + head->e_shoff);
    for (int i = 0; i < head->e_shnum; i++) {
        const Elf32_Sym *symbols = (const void *)(image->bytes + sections[i].sh_offset);
        if (sections[i].sh_type != SHT_SYMTAB)
            continue;
        const char *names = (const char *)image->bytes + sections[sections[i].sh_link].sh_offset;
        for (uint64_t s = 0; s < sections[i].sh_size / sizeof *symbols; s++)
            image_symbol(image, names + symbols[s].st_name, symbols[s].st_value);
    }
}

static struct image image_read(const char *path)
{
    struct image image = {0};
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    image.bytes = xmalloc(size);
    assert_int_equal(fread(image.bytes, 1, size, file), size);
    fclose(file);
    if (image_is_64(&image))
        image_symbols_64(&image);
    else
        image_symbols_32(&image);
    assert_non_null(image.table);
    return image;
}

static void build(struct kernels *kernels, int bits, bool compose)
{
    const struct assemble_options options = {
        .directory = directory, .stem = "compose", .bits = bits, .compose = compose};
    struct err err = {0};
    for (int i = 0; i < kernels->n; i++) {
        kernels->items[i].left_out = false;
        kernels->items[i].composed = NULL;
    }
    if (assemble_program(kernels->items, kernels->n, &options, &kernels->arena, &kernels->program,
                         &err) != 0)
        fail_msg("%s", err.text);
}

static struct image build_image(struct kernels *kernels, int bits, bool compose)
{
    build(kernels, bits, compose);
    struct image image = image_read(kernels->program.path);
    unlink(kernels->program.path);
    return image;
}

// Returns true if the bytes depend on the address.
static bool relative(const struct kernel_spec *spec)
{
    return strstr(spec->body, "rel ") || strstr(spec->body, "call 0x") ||
           strstr(spec->body, "jmp 5");
}

static void expect_same_part(const struct image *whole, const struct image *composed, uint64_t a,
                             uint64_t b, uint64_t bytes)
{
    assert_int_equal(a != 0, b != 0);
    if (bytes)
        assert_memory_equal(image_at(whole, a), image_at(composed, b), bytes);
}

// Parts and data that only kernels of properties have.
static void expect_same_extras(const struct image *whole, const struct image *composed,
                               const struct core_kernel *a, const struct core_kernel *b)
{
    assert_int_equal(a->fini_bytes, b->fini_bytes);
    assert_int_equal(a->corunner_bytes, b->corunner_bytes);
    assert_int_equal(a->corunner_init_bytes, b->corunner_init_bytes);
    expect_same_part(whole, composed, a->fini_bytes ? a->fini : 0, b->fini, a->fini_bytes);
    expect_same_part(whole, composed, a->corunner, b->corunner, a->corunner_bytes);
    expect_same_part(whole, composed, a->corunner_init, b->corunner_init, a->corunner_init_bytes);
    expect_same_part(whole, composed, a->fills, b->fills, a->nfills * sizeof(struct core_fill));
}

static void expect_same(const struct image *whole, const struct image *composed,
                        const struct gen_kernel *kernels)
{
    assert_int_equal(whole->count, composed->count);
    for (uint32_t i = 0; i < whole->count; i++) {
        struct core_kernel a = whole->table[i], b = composed->table[i];
        uint64_t base = b.flags & CORE_COMPOSED ? composed->code : 0;
        assert_int_equal(a.body_bytes, b.body_bytes);
        assert_int_equal(a.init_bytes, b.init_bytes);
        if (a.body_bytes && !relative(kernels[a.id].spec))
            assert_memory_equal(image_at(whole, a.body), image_at(composed, base + b.body),
                                a.body_bytes);
        if (a.init_bytes)
            assert_memory_equal(image_at(whole, a.init), image_at(composed, base + b.init),
                                a.init_bytes);
        expect_same_extras(whole, composed, &a, &b);
        a.body = b.body;
        a.init = b.init;
        a.fini = b.fini;
        a.fills = b.fills;
        a.corunner = b.corunner;
        a.corunner_init = b.corunner_init;
        b.flags &= ~(uint32_t)CORE_COMPOSED;
        assert_memory_equal(&a, &b, sizeof a);
    }
}

static void kernels_add(struct kernels *kernels, const struct list_row *row,
                        const struct test *test, const struct kernel_spec *spec)
{
    kernels->items = realloc(kernels->items, ((size_t)kernels->n + 1) * sizeof *kernels->items);
    assert_non_null(kernels->items);
    kernels->items[kernels->n++] = (struct gen_kernel){.row = row, .test = test, .spec = spec};
}

static void kernels_free(struct kernels *kernels)
{
    free(kernels->items);
    arena_free(&kernels->arena);
}

// Every so many rows of all lists.
static void kernels_of_lists(struct kernels *kernels, const struct selection *selection, int bits,
                             int every)
{
    const struct plan_params params = {.issue_width = 8, .tests = TESTS_LATENCY | TESTS_THROUGHPUT};
    for (int r = 0; r < selection->nrows; r += every) {
        struct plan plan;
        struct err err = {0};
        if (selection->rows[r].row->bits != bits)
            continue;
        assert_int_equal(plan_row(selection->rows[r].row, &params, &kernels->arena, &plan, &err),
                         0);
        for (int t = 0; t < plan.ntests; t++)
            for (int k = 0; k < plan.tests[t].nkernels; k++)
                kernels_add(kernels, plan.row, &plan.tests[t], &plan.tests[t].kernels[k]);
    }
}

static void compare_lists(int bits, int every, const char *core)
{
    if (access(path_library(core), R_OK) != 0)
        skip();
    struct selection selection = {0};
    struct kernels kernels = {0};
    struct err err = {0};
    assert_int_equal(select_rows(NULL, 0, NULL, &selection, &err), 0);
    kernels_of_lists(&kernels, &selection, bits, every);
    struct image whole = build_image(&kernels, bits, false);
    struct image composed = build_image(&kernels, bits, true);
    assert_int_equal(kernels.program.nfailures, 0);
    assert_int_equal(whole.count, kernels.n);
    expect_same(&whole, &composed, kernels.items);
    int n = 0;
    for (int i = 0; i < kernels.n; i++)
        n += kernels.items[i].composed != NULL;
    if (n < kernels.n * 9 / 10) // all but those of macros
        fail_msg("only %d of %d kernels were composed", n, kernels.n);
    free(whole.bytes);
    free(composed.bytes);
    kernels_free(&kernels);
    selection_free(&selection);
}

static void test_lists_64(void **state)
{
    (void)state;
    compare_lists(64, 61, "linked64");
}

static void test_lists_32(void **state)
{
    (void)state;
    compare_lists(32, 1, "linked32");
}

static const struct list_row any_row = {.form = "form"};
static const struct test any_test = {.kind = TEST_THROUGHPUT};

// Lines that depend on their place, or are refused, are left to NASM with the rest of their kernel;
// other kernels are composed as if these were not there.
static void test_what_is_composed(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        bool composed;
    } cases[] = {
        {"add rax, rbx\n",                              true },
        {"add rax, rbx\nadd rcx, rbx",                  true },
        {"times 3 nop\nlock add [r14], eax\n",          true },
        {"{evex} vpaddb xmm1, xmm2, xmm3\n",            true },
        {"db 0x90, 0x66, 0x90\n",                       true },
        {"jz .l0\n.l0:\n",                              false},
        {"L0: nop\n",                                   false},
        {"mov eax, L1-L0\n",                            false},
        {"jmp short $+2\n",                             false},
        {"mov al, [latput_absolute]\n",                 false},
        {"call 0x1234\n",                               false},
        {"times 2 jmp 5\n",                             false},
        {"mov rax, [rel 0x1234]\n",                     false},
        {"%define nop add eax, ebx\nnop\n%undef nop\n", false},
        {"bits 32\n",                                   false},
        {"section .text\n",                             false},
        {"frobnicate\n",                                false},
        {"add rax, xmm0\n",                             false},
        {"add rax, rbx\nmov rax, [r14+nowhere]\n",      false},
        {"nop ; a comment\n",                           false},
    };
    if (access(path_library("linked64"), R_OK) != 0)
        skip();
    struct kernels kernels = {0};
    struct kernel_spec specs[ARRAY_LEN(cases)];
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        specs[i] = (struct kernel_spec){
            .shape = "n1", .body = cases[i].body, .init = "nop\n", .instances = 1, .instrs = 1};
        kernels_add(&kernels, &any_row, &any_test, &specs[i]);
    }
    struct image whole = build_image(&kernels, 64, false);
    int failures = kernels.program.nfailures;
    struct image composed = build_image(&kernels, 64, true);
    assert_int_equal(kernels.program.nfailures, failures);
    expect_same(&whole, &composed, kernels.items);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if ((kernels.items[i].composed != NULL) != cases[i].composed)
            fail_msg("%s: %scomposed", cases[i].body, cases[i].composed ? "not " : "");
    free(whole.bytes);
    free(composed.bytes);
    kernels_free(&kernels);
}

// Bounds of sweeps.
// clang-format off
static const struct property_machine machine = {
    .cache_bytes =
        {[BASE_L1D] = 48 << 10, [BASE_L1I] = 32 << 10, [BASE_L2] = 1 << 20, [BASE_L3] = 32 << 20},
    .memory_bytes = 2147483648.0,
    .cpus = {{0, 0, -1}, {1, 0, -1}, {2, 2, -1}},
    .ncpus = 3,
};
// clang-format on

// Every so many points of a property, as in its first round.
static void kernels_of_property(struct kernels *kernels, struct property *property, int every)
{
    static struct cpu_info cpu;
    struct swept_property result;
    struct list_row *row = arena_alloc(&kernels->arena, sizeof *row);
    row->form = row->mnemonic = property->name;
    for (int v = 0; v < property->nvariants; v++)
        property->variants[v].isa = "";
    int n = property_begin(property, &machine, &cpu, &kernels->arena, &result);
    for (int i = 0; i < n; i += every) {
        const struct swept_point *point = &result.points[i];
        struct kernel_spec *spec = arena_alloc(&kernels->arena, sizeof *spec);
        *spec = property_kernel(property, &property->variants[point->variant], &machine, point->x,
                                point->by, &kernels->arena);
        kernels_add(kernels, row, &any_test, spec);
    }
}

static void compare_property(struct property *property, int every)
{
    struct kernels kernels = {0};
    kernels_of_property(&kernels, property, every);
    struct image whole = build_image(&kernels, 64, false);
    struct image composed = build_image(&kernels, 64, true);
    assert_int_equal(kernels.program.nfailures, 0);
    if (whole.count != (uint32_t)kernels.n || kernels.n == 0)
        fail_msg("%s: %u of %d kernels", property->name, whole.count, kernels.n);
    for (int i = 0; i < kernels.n; i++)
        if (!kernels.items[i].composed)
            fail_msg("%s: %s is not composed", property->name, kernels.items[i].spec->shape);
    expect_same(&whole, &composed, kernels.items);
    free(whole.bytes);
    free(composed.bytes);
    kernels_free(&kernels);
}

// All kernels of all properties are composed.
static void test_properties(void **state)
{
    (void)state;
    enum { EVERY = 7 };
    if (access(path_library("linked64"), R_OK) != 0)
        skip();
    struct properties properties;
    struct err err;
    if (properties_load(&properties, &err) != 0)
        fail_msg("%s", err.text);
    for (int i = 0; i < properties.n; i++)
        compare_property(&properties.rows[i], getenv("TEST_TIMES") ? 1 : EVERY);
    properties_free(&properties);
}

// Kernels with faults are left out with NASM's message, whichever way they take; the others are
// built.
static void test_property_faults(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "nop\n",
        "frobnicate\n",
        "%error there is no such variant\n",
        "jmp near nowhere\n",
        "a: jmp a\nmov rax, [rbx\n",
        "times 5 - 7 nop\n",
        "align 64\n%%rep\n",
    };
    if (access(path_library("linked64"), R_OK) != 0)
        skip();
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        struct kernels kernels = {0};
        struct kernel_spec specs[2];
        for (size_t k = 0; k < 2; k++) {
            specs[k] = (struct kernel_spec){.shape = "n1",
                                            .body = k == 1 ? bodies[i] : "nop\n",
                                            .init = "",
                                            .fini = "",
                                            .instances = 1};
            kernels_add(&kernels, &any_row, &any_test, &specs[k]);
        }
        struct image image = build_image(&kernels, 64, true);
        assert_int_equal(kernels.program.nfailures, i > 0);
        assert_int_equal(image.count, i > 0 ? 1 : 2);
        if (i > 0 && (kernels.program.failures[0].kernel != 1 ||
                      kernels.program.failures[0].outcome != OUTCOME_ASM_FAILED))
            fail_msg("%s", kernels.program.failures[0].detail);
        free(image.bytes);
        kernels_free(&kernels);
    }
}

// Code that a kernel has from an earlier program stays as it is when it is built again with others.
static void test_kept_code(void **state)
{
    (void)state;
    if (access(path_library("linked64"), R_OK) != 0)
        skip();
    struct kernels kernels = {0};
    struct kernel_spec specs[2] = {
        {.shape = "a", .body = "times 3000 dq 0x9090\n", .fini = "cmc\n"},
        {.shape = "b", .body = "align 64\na: jmp a\n",   .fini = ""     },
    };
    specs[0].init = "nop\n";
    specs[1].init = "";
    specs[1].align = 4096;
    for (size_t i = 0; i < ARRAY_LEN(specs); i++)
        kernels_add(&kernels, &any_row, &any_test, &specs[i]);
    struct image whole = build_image(&kernels, 64, false);
    kernels.n = 1;
    struct image first = build_image(&kernels, 64, true);
    const struct gen_code *kept = kernels.items[0].composed;
    assert_non_null(kept);
    kernels.n = 2;
    kernels.items[1].composed = NULL;
    const struct assemble_options options = {
        .directory = directory, .stem = "compose", .bits = 64, .compose = true};
    struct err err = {0};
    specs[0].body = "of no account\n";
    assert_int_equal(assemble_program(kernels.items, kernels.n, &options, &kernels.arena,
                                      &kernels.program, &err),
                     0);
    struct image both = image_read(kernels.program.path);
    unlink(kernels.program.path);
    assert_ptr_equal(kernels.items[0].composed, kept);
    expect_same(&whole, &both, kernels.items);
    free(whole.bytes);
    free(first.bytes);
    free(both.bytes);
    kernels_free(&kernels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_property_faults),  cmocka_unit_test(test_kept_code),
        cmocka_unit_test(test_what_is_composed), cmocka_unit_test(test_properties),
        cmocka_unit_test(test_lists_64),         cmocka_unit_test(test_lists_32),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
