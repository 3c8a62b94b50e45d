// SPDX-License-Identifier: MIT
// The options of a list row and the values that they take. lists/README.md describes them;
// list_row.c turns them into fields of a row.
#include "list_option.h"

#include "list_family.h"
#include "list_value.h"
#include "util/suggest.h"

#include <stdio.h>
#include <string.h>

// Options. `values` are the allowed ones separated by blanks; NULL: `check` decides; "": the option
// has no value. `form`: rows that differ in it are different forms.
// clang-format off
static const struct option_key {
    const char *key, *values;
    bool form;
    list_value_fn *check;
} option_keys[] = {
    {"type", "int f16 bf16 f32 f64 f80", false, NULL}, // type of the elements computed with
    {"enc", "legacy vex evex xop", false, NULL},       // for isa names that leave it open
    {"data", "div sqrt idiv function", false, NULL},   // kind of operand data that the time depends
                                                       // on
    {"st", NULL, false, list_value_x87},               // values of the x87 registers
    {"unrelated", NULL, false, list_value_pairs},      // pairs without a dependency
    {"pointer", NULL, false, list_value_operands},     // registers that must hold an address
    {"small", NULL, false, list_value_operands},       // registers that must hold a small number
    {"fill", NULL, false, list_value_pattern},         // pattern that memory must hold
    {"stack", NULL, false, list_value_stack},          // bytes that the stack pointer moves
    {"x87", "push pop pop2", false, NULL},             // effect on the register stack
    {"nontemporal", "", false, NULL},                  // stores that bypass the caches
    {"permission", "", false, NULL},                   // the system must permit it, or #GP
    {"signs", NULL, false, list_value_operands},       // operand whose sign bits choose
    {"roles", NULL, false, list_value_roles},          // roles of operands in the instruction
    {"note", NULL, false, NULL},                       // for the printed table, _ for blanks
    {"same", "", true, NULL},                          // all register operands are one register
    {"bits", "32 64", true, NULL},                     // mode
    {"index", "same adjacent overlap line random", true, NULL}, // positions of a gather's elements
    {"mask", NULL, true, list_value_pattern},                   // content of the masks
    {"opcode", NULL, true, NULL},                               // encoding that NASM cannot write
    {"macro", NULL, true, list_value_macro}, // file.inc:name, a hand-written kernel
    {"ring", "0", true, NULL},               // the privilege that it takes
};
// clang-format on

static int option_unknown(struct list_fault *fault, const char *text, size_t key_len)
{
    char known[256] = "", meant[64];
    size_t used = 0;
    struct suggestion near = suggest_start(text, key_len);
    for (size_t i = 0; i < ARRAY_LEN(option_keys); i++) {
        suggest_offer(&near, option_keys[i].key);
        used += (size_t)snprintf(known + used, sizeof known - used, " %s", option_keys[i].key);
    }
    for (int i = 0; list_family_option(i); i++) {
        suggest_offer(&near, list_family_option(i));
        used += (size_t)snprintf(known + used, sizeof known - used, " %s", list_family_option(i));
    }
    return list_fault_set(fault, text, "unknown option '%.*s'%s known:%s", (int)key_len, text,
                          near.best ? suggest_text(&near, meant, sizeof meant) : ";", known);
}

// Returns true if `allowed`, words separated by blanks, has the value.
static bool option_allows(const char *allowed, const char *value, size_t len)
{
    while (*allowed) {
        size_t n = strcspn(allowed, " ");
        if (n == len && memcmp(allowed, value, len) == 0)
            return true;
        allowed += n + strspn(allowed + n, " ");
    }
    return false;
}

static int option_check_value(const struct option_key *key, const char *word, const char *value,
                              size_t len, struct list_fault *fault)
{
    bool has_value = value > word + strlen(key->key);
    if (key->values && *key->values == '\0')
        return !has_value ? 0 : list_fault_set(fault, value, "option '%s' has no value", key->key);
    if (key->values ? !option_allows(key->values, value, len) : len == 0)
        return list_fault_set(fault, has_value ? value : word, "option '%s' needs a value: %s=%s",
                              key->key, key->key, key->values ? key->values : "...");
    return key->check ? key->check(value, len, fault) : 0;
}

int list_option_parse(const char *text, size_t len, struct arena *arena, struct list_option *option,
                      struct list_fault *fault)
{
    const char *equals = memchr(text, '=', len);
    size_t key_len = equals ? (size_t)(equals - text) : len;
    const char *value = equals ? equals + 1 : text + len;
    size_t value_len = (size_t)(text + len - value);
    if (equals && value_len == 0)
        return list_fault_set(fault, equals, "the value is missing after '='");
    for (size_t i = 0; i < ARRAY_LEN(option_keys); i++) {
        const struct option_key *key = &option_keys[i];
        if (strlen(key->key) != key_len || memcmp(key->key, text, key_len) != 0)
            continue;
        if (option_check_value(key, text, value, value_len, fault))
            return -1;
        *option = (struct list_option){key->key, arena_strndup(arena, value, value_len)};
        return 0;
    }
    return option_unknown(fault, text, key_len);
}

const char *list_option_form_key(int n)
{
    for (size_t i = 0; i < ARRAY_LEN(option_keys); i++)
        if (option_keys[i].form && n-- == 0)
            return option_keys[i].key;
    return NULL;
}
