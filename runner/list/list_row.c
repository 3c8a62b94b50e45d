// SPDX-License-Identifier: MIT
// Sets a row's fields from its options. The values have passed list_option_parse(), so they are
// well-formed.
#include "list_option.h"

#include <stdlib.h>
#include <string.h>

const char *list_row_option(const struct list_row *row, const char *key)
{
    for (int i = 0; i < row->noptions; i++)
        if (strcmp(row->options[i].key, key) == 0)
            return row->options[i].value;
    return NULL;
}

int tests_parse(const char *letters, unsigned *tests, const char **wrong)
{
    static const char known[] = "LTP"; // in the order of the TESTS_ bits
    *tests = 0;
    for (*wrong = letters; **wrong; ++*wrong) {
        const char *letter = strchr(known, **wrong);
        if (!letter)
            return -1;
        *tests |= 1u << (letter - known);
    }
    return 0;
}

// Returns the index of the value among `names`; `otherwise` if the row does not have the option.
static int option_index(const struct list_row *row, const char *key, const char *const *names,
                        int count, int otherwise)
{
    const char *value = list_row_option(row, key);
    for (int i = 0; value && i < count; i++)
        if (strcmp(value, names[i]) == 0)
            return i;
    return otherwise;
}

static bool option_bits(const struct list_row *row, const char *key, uint64_t *bits)
{
    const char *value = list_row_option(row, key);
    if (value)
        *bits = strtoull(value, NULL, 0);
    return value != NULL;
}

// Reads "TOP", "TOP/OTHERS", or several of these with ':' between.
static void set_x87_values(struct list_row *row, struct arena *arena)
{
    const char *at = list_row_option(row, "st");
    for (; at && row->nst < X87_SETS_MAX; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
        size_t len = strcspn(at, ":"), top = strcspn(at, "/:");
        struct x87_values *values = &row->st[row->nst++];
        values->top_text = arena_strndup(arena, at, top);
        values->top = values->others = strtod(values->top_text, NULL);
        if (top == len)
            continue;
        values->others_text = arena_strndup(arena, at + top + 1, len - top - 1);
        values->others = strtod(values->others_text, NULL);
    }
}

static void set_x87_moves(struct list_row *row)
{
    static const char *const names[] = {"pop2", "pop", "", "push"};
    row->x87_moves = option_index(row, "x87", names, ARRAY_LEN(names), 2) - 2;
}

// Sets the note, with blanks for underscores: a blank would end the option.
static void set_note(struct list_row *row, struct arena *arena)
{
    const char *text = list_row_option(row, "note");
    if (!text)
        return;
    char *note = arena_strdup(arena, text);
    for (char *at = strchr(note, '_'); at; at = strchr(at, '_'))
        *at = ' ';
    row->note = note;
}

static void set_macro(struct list_row *row, struct arena *arena)
{
    const char *text = list_row_option(row, "macro");
    if (!text)
        return;
    size_t file = strcspn(text, ":");
    const char *name = text + file + 1;
    size_t len = strcspn(name, ":");
    row->macro = (struct row_macro){arena_strndup(arena, text, file),
                                    arena_strndup(arena, name, len), name + len};
}

static struct operand *row_operand(struct list_row *row, const char *name, size_t len)
{
    for (int i = 0; i < row->nops + row->nimplicit; i++) {
        struct operand *op = i < row->nops ? &row->ops[i] : &row->implicit[i - row->nops];
        if (op->name && strlen(op->name) == len && memcmp(op->name, name, len) == 0)
            return op;
    }
    return NULL;
}

const char *list_row_set_roles(struct list_row *row, struct arena *arena)
{
    const char *text = list_row_option(row, "roles");
    while (text && *text) {
        size_t name = strcspn(text, ":"), len = strcspn(text, "+");
        struct operand *op = row_operand(row, text, name);
        if (!op || op->role)
            return text;
        op->role = arena_strndup(arena, text + name + 1, len - name - 1);
        text += len + (text[len] == '+');
    }
    return NULL;
}

void list_row_set_options(struct list_row *row, struct arena *arena)
{
    static const char *const data[] = {"", "div", "sqrt", "idiv", "function"};
    static const char *const indices[] = {"adjacent", "same", "overlap", "line", "random"};
    const char *stack = list_row_option(row, "stack");
    row->same = list_row_option(row, "same") != NULL;
    row->nontemporal = list_row_option(row, "nontemporal") != NULL;
    row->permission = list_row_option(row, "permission") != NULL;
    row->ring0 = list_row_option(row, "ring") != NULL;
    row->data = (enum data_kind)option_index(row, "data", data, ARRAY_LEN(data), DATA_ORDINARY);
    row->index =
        (enum index_pattern)option_index(row, "index", indices, ARRAY_LEN(indices), INDEX_ADJACENT);
    row->stack = stack ? atoi(stack) : 0;
    row->has_mask = option_bits(row, "mask", &row->mask);
    row->has_fill = option_bits(row, "fill", &row->fill);
    row->pointer = list_row_option(row, "pointer");
    row->small = list_row_option(row, "small");
    row->signs = list_row_option(row, "signs");
    row->unrelated = list_row_option(row, "unrelated");
    set_x87_values(row, arena);
    set_x87_moves(row);
    set_note(row, arena);
    set_macro(row, arena);
}
