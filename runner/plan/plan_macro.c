// SPDX-License-Identifier: MIT
// Hand-written kernels: the option macro=FILE:NAME takes them from macros/FILE. A contract line at
// a macro's head states its properties (macros/README.md); the plan only passes them on.
#include "plan_internal.h"

#include "util/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MACRO_WORDS_MAX = 16, MACRO_LINE_MAX = 512 };

// One contract line: `;@ NAME KEY=VALUE ...`.
struct contract {
    const char *file;
    int line;
    const char *words[MACRO_WORDS_MAX];
    int nwords;
};

static const char *macro_value(const struct contract *contract, const char *key, const char *unset)
{
    size_t len = strlen(key);
    for (int i = 1; i < contract->nwords; i++)
        if (strncmp(contract->words[i], key, len) == 0 && contract->words[i][len] == '=')
            return contract->words[i] + len + 1;
    return unset;
}

static int macro_number(const struct contract *contract, const char *key, int *number,
                        struct err *err)
{
    const char *text = macro_value(contract, key, "");
    char *end;
    long value = strtol(text, &end, 10);
    if (end == text || *end || value < 1 || value > 100000)
        return err_set(err, "%s:%d: contract of macro %s needs %s=NUMBER (1 to 100000)",
                       contract->file, contract->line, contract->words[0], key);
    *number = (int)value;
    return 0;
}

static int macro_check_keys(const struct contract *contract, struct err *err)
{
    static const char *const keys[] = {"kind",  "variant",   "src",       "dst",
                                       "shape", "instances", "instrs",    "init",
                                       "body",  "bound",     "extra_clk", "unrolled"};
    for (int i = 1; i < contract->nwords; i++) {
        size_t len = strcspn(contract->words[i], "=");
        bool known = false;
        for (size_t k = 0; k < ARRAY_LEN(keys); k++)
            known |= strlen(keys[k]) == len && strncmp(keys[k], contract->words[i], len) == 0;
        if (!known || contract->words[i][len] != '=')
            return err_set(
                err,
                "%s:%d: '%s' in the contract of macro %s is unknown; known are kind, variant, src, "
                "dst, shape, instances, instrs, init, body, bound, extra_clk, unrolled, each "
                "followed by =VALUE",
                contract->file, contract->line, contract->words[i], contract->words[0]);
    }
    return 0;
}

// Returns the test that the contract adds a kernel to: the last one, if it asks the same; else a
// new one.
static struct test *macro_test(struct row_plan *rp, const struct contract *contract,
                               enum test_kind kind)
{
    const char *src = macro_value(contract, "src", ""), *dst = macro_value(contract, "dst", "");
    const char *variant = macro_value(contract, "variant", "");
    if (rp->plan->ntests) {
        struct test *test = &rp->plan->tests[rp->plan->ntests - 1];
        if (test->kind == kind && strcmp(test->src, src) == 0 && strcmp(test->dst, dst) == 0 &&
            strcmp(test->variant, variant) == 0)
            return test;
    }
    struct test *test = plan_add_test(rp, kind, variant);
    test->src = src;
    test->dst = dst;
    if (kind == TEST_THROUGHPUT && !*variant)
        test->note = plan_note(rp, "");
    return test;
}

// Returns NAME with its arguments: `macro=FILE:NAME:a:b` becomes `NAME a, b`.
static const char *macro_call(struct row_plan *rp, const char *name, const char *args)
{
    const char *call = name, *between = " ";
    while (*args == ':') {
        size_t len = strcspn(args + 1, ":");
        call = arena_printf(rp->arena, "%s%s%.*s", call, between, (int)len, args + 1);
        between = ", ";
        args += 1 + len;
    }
    return arena_printf(rp->arena, "%s\n", call);
}

static int macro_add(struct row_plan *rp, const struct contract *contract, const char *args,
                     struct err *err)
{
    struct kernel_spec spec = {.gpr_fill = rp->gpr_fill,
                               .mask_fill = rp->mask_fill,
                               .vec_fill = rp->vec_fill,
                               .mem_fill = rp->mem_fill,
                               .vec_bits = rp->vec_bits,
                               .clear_upper = rp->row->enc == ENC_LEGACY && rp->vec_bits};
    if (macro_check_keys(contract, err) != 0 ||
        macro_number(contract, "instances", &spec.instances, err) != 0 ||
        macro_number(contract, "instrs", &spec.instrs, err) != 0)
        return -1;
    const char *kind = macro_value(contract, "kind", "");
    bool latency = strcmp(kind, "latency") == 0;
    if (!latency && strcmp(kind, "throughput") != 0)
        return err_set(err, "%s:%d: contract of macro %s needs kind=latency or kind=throughput",
                       contract->file, contract->line, contract->words[0]);
    unsigned wanted = latency ? TESTS_LATENCY : TESTS_THROUGHPUT;
    if (!(rp->row->tests & rp->params->tests & wanted))
        return 0;
    spec.shape = macro_value(contract, "shape", latency ? "dense" : "n1");
    spec.extra_clk = strtod(macro_value(contract, "extra_clk", "0"), NULL);
    const char *init = macro_value(contract, "init", NULL);
    spec.init = arena_printf(rp->arena, "%%include \"%s\"\n%s", strrchr(contract->file, '/') + 1,
                             init ? macro_call(rp, init, args) : "");
    const char *body = macro_value(contract, "body", contract->words[0]);
    spec.body = macro_call(rp, body, args);
    spec.unrolled = strcmp(macro_value(contract, "unrolled", "no"), "yes") == 0;
    struct test *test = macro_test(rp, contract, latency ? TEST_LATENCY : TEST_THROUGHPUT);
    if (strcmp(macro_value(contract, "bound", "exact"), "upper") == 0)
        test->bound = BOUND_UPPER;
    plan_add_kernel(rp, test, spec);
    return 0;
}

static void macro_split(struct row_plan *rp, const char *text, struct contract *contract)
{
    contract->nwords = 0;
    while (contract->nwords < MACRO_WORDS_MAX) {
        text += strspn(text, " \t\r\n");
        size_t len = strcspn(text, " \t\r\n");
        if (!len)
            break;
        contract->words[contract->nwords++] = arena_strndup(rp->arena, text, len);
        text += len;
    }
}

static int macro_read(struct row_plan *rp, FILE *file, const char *path, struct err *err)
{
    const char *name = rp->row->macro.name;
    char text[MACRO_LINE_MAX];
    int found = 0;
    for (int line = 1; fgets(text, sizeof text, file); line++) {
        if (strncmp(text, ";@ ", 3) != 0)
            continue;
        struct contract contract = {.file = path, .line = line};
        macro_split(rp, text + 3, &contract);
        if (contract.nwords == 0 || strcmp(contract.words[0], name) != 0)
            continue;
        if (macro_add(rp, &contract, rp->row->macro.arguments, err) != 0)
            return -1;
        found++;
    }
    if (!found)
        return list_row_error(rp->row, name, err, "%s has no contract line ';@ %s ...'", path,
                              name);
    return 0;
}

int macro_plan(struct row_plan *rp, struct err *err)
{
    const char *name = rp->row->macro.file;
    points_collect(rp);
    data_set(rp, 0);
    const char *path = path_data(arena_printf(rp->arena, "macros/%s", name));
    FILE *file = fopen(path, "r");
    if (!file)
        return list_row_error(rp->row, name, err, "cannot read %s: %s", path, strerror(errno));
    int status = macro_read(rp, file, path, err);
    fclose(file);
    return status;
}
