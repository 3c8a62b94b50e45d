// SPDX-License-Identifier: MIT
#include "llvm_registers.h"

#include "llvm_run.h"
#include "util/file_write.h"
#include "util/mem.h"
#include "util/strbuf.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Registers with numbers in their names, and an instruction in which each @ is one of them, its
// operand number `operand` in LLVM's order.
struct register_series {
    const char *prefix, *suffix; // "%st(", ")"
    const char *name;            // LLVM's name before the number
    int first, count;
    const char *instruction;
    int operand;
};
static const struct register_series series[] = {
    {"%r",   "",  "R",   8, 8,  "push @",       0},
    {"%r",   "d", "R",   8, 8,  "bswap @",      0},
    {"%r",   "w", "R",   8, 8,  "incw @",       0},
    {"%r",   "b", "R",   8, 8,  "incb @",       0},
    {"%xmm", "",  "XMM", 0, 32, "vmovaps @, @", 0},
    {"%ymm", "",  "YMM", 0, 32, "vmovaps @, @", 0},
    {"%zmm", "",  "ZMM", 0, 32, "vmovaps @, @", 0},
    {"%k",   "",  "K",   0, 8,  "kmovw @, @",   0},
    {"%mm",  "",  "MM",  0, 8,  "paddb @, @",   0},
    {"%st(", ")", "ST",  0, 8,  "fld @",        0},
    {"%tmm", "",  "TMM", 0, 8,  "tilezero @",   0},
};
static const struct {
    const char *names; // separated by blanks
    const char *instruction;
    int operand;
} singles[] = {
    {"rax rbx rcx rdx rsi rdi rbp rsp",         "push @",          0},
    {"eax ebx ecx edx esi edi ebp esp",         "bswap @",         0},
    {"ax bx cx dx si di bp sp",                 "incw @",          0},
    {"al bl cl dl ah bh ch dh sil dil bpl spl", "incb @",          0},
    {"cs ds es fs gs ss",                       "movl @, %eax",    1},
    {"rip eip",                                 "leaq 0(@), %rax", 1},
};

struct register_entry {
    char *name;
    int operand;
};
struct register_entries {
    struct register_entry *items;
    size_t n, capacity;
    struct strbuf source;
};

// Adds an instruction with the register `text`, which LLVM calls `name` (freed with the entries).
static void entries_add(struct register_entries *entries, const char *instruction, const char *text,
                        char *name, int operand)
{
    for (; *instruction; instruction++)
        if (*instruction == '@')
            strbuf_puts(&entries->source, text);
        else
            strbuf_put(&entries->source, instruction, 1);
    strbuf_puts(&entries->source, "\n");
    for (char *c = name; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    entries->items =
        xgrow(entries->items, &entries->capacity, entries->n + 1, sizeof *entries->items);
    entries->items[entries->n++] = (struct register_entry){name, operand};
}

static void entries_add_series(struct register_entries *entries, const struct register_series *one)
{
    const char *letter = *one->suffix == ')' ? "" : one->suffix; // R8D, but ST1
    for (int i = one->first; i < one->first + one->count; i++) {
        char text[32];
        snprintf(text, sizeof text, "%s%d%s", one->prefix, i, one->suffix);
        entries_add(entries, one->instruction, text, xasprintf("%s%d%s", one->name, i, letter),
                    one->operand);
    }
}

static void entries_add_singles(struct register_entries *entries)
{
    for (size_t i = 0; i < ARRAY_LEN(singles); i++) {
        char names[128], text[32];
        snprintf(names, sizeof names, "%s", singles[i].names);
        for (char *name = strtok(names, " "); name; name = strtok(NULL, " ")) {
            snprintf(text, sizeof text, "%%%s", name);
            entries_add(entries, singles[i].instruction, text, xstrdup(name), singles[i].operand);
        }
    }
}

// Takes the number of each entry's register from the output of llvm-mc, one instruction per entry.
static size_t entries_take(struct register_entries *entries, char *text,
                           struct llvm_registers *registers)
{
    size_t n = 0;
    int operand = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (strstr(line, "<MCInst #")) {
            n++;
            operand = 0;
            continue;
        }
        const char *found = strstr(line, "<MCOperand ");
        if (!found || n == 0 || n > entries->n)
            continue;
        struct register_entry *entry = &entries->items[n - 1];
        found += strlen("<MCOperand ");
        if (operand++ != entry->operand || strncmp(found, "Reg:", 4) != 0)
            continue;
        int number = atoi(found + 4);
        if (number > 0 && number < LLVM_REGISTERS_MAX && !registers->names[number])
            registers->names[number] = xstrdup(entry->name);
    }
    return n;
}

static int entries_run(struct register_entries *entries, const char *directory,
                       struct llvm_registers *registers, struct err *err)
{
    static const char *const arguments[] = {"--show-inst", "--triple=x86_64-linux",
                                            "--mcpu=sapphirerapids", NULL};
    char *path = xasprintf("%s/registers.s", directory);
    struct subproc_result result;
    int status = file_write(path, strbuf_text(&entries->source), entries->source.len, err);
    free(path);
    if (status == 0)
        status = llvm_run("llvm-mc", arguments, directory, "registers.s", &result, err);
    if (status != 0)
        return -1;
    size_t n = entries_take(entries, result.out, registers);
    if (n != entries->n || result.exit_status != 0)
        status =
            err_set(err, "llvm-mc knows %zu of %zu registers: %.200s", n, entries->n, result.err);
    subproc_result_free(&result);
    return status;
}

int llvm_registers_read(const char *directory, struct llvm_registers *registers, struct err *err)
{
    struct register_entries entries = {.items = NULL};
    for (size_t i = 0; i < ARRAY_LEN(series); i++)
        entries_add_series(&entries, &series[i]);
    entries_add_singles(&entries);
    int status = entries_run(&entries, directory, registers, err);
    for (size_t i = 0; i < entries.n; i++)
        free(entries.items[i].name);
    free(entries.items);
    strbuf_free(&entries.source);
    return status;
}

void llvm_registers_free(struct llvm_registers *registers)
{
    for (int i = 0; i < LLVM_REGISTERS_MAX; i++)
        free(registers->names[i]);
}

const char *llvm_register_name(const struct llvm_registers *registers, int number)
{
    if (number == 0)
        return "%noreg";
    return number > 0 && number < LLVM_REGISTERS_MAX ? registers->names[number] : NULL;
}
