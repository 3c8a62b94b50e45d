// SPDX-License-Identifier: MIT
// Forms as words in which lists and files of others agree: the decoder's mnemonic, then classes of
// operands.
#include "foreign.h"

#include "list/list_mnemonic.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void shape_put_mnemonic(struct strbuf *out, const char *mnemonic)
{
    char name[64];
    const char *space = strrchr(mnemonic, ' ');
    if (space)
        strbuf_put(out, mnemonic, (size_t)(space + 1 - mnemonic));
    list_mnemonic_canonical(space ? space + 1 : mnemonic, name, sizeof name);
    strbuf_puts(out, name);
}

static bool shape_is_vector(const char *class)
{
    return strchr("xyz", *class) && *class && (!class[1] || class[1] == '{');
}

// Returns true for the class of a constant: "i8", "1", "0x40".
static bool shape_is_constant(const char *class)
{
    return isdigit((unsigned char)*class) || (*class == 'i' && isdigit((unsigned char)class[1]));
}

static bool shape_is_memory(const char *class)
{
    return *class == 'm' && (!class[1] || isdigit((unsigned char)class[1]) || class[1] == '{');
}

static void shape_put_operand(struct strbuf *out, const char *class, enum foreign_shape shape)
{
    const char *rest = class + strcspn(class, "{");
    strbuf_puts(out, " ");
    if (shape != FOREIGN_EXACT && shape_is_constant(class))
        strbuf_puts(out, "i");
    else if (shape != FOREIGN_EXACT && shape_is_memory(class))
        strbuf_printf(out, "m%s", shape == FOREIGN_WIDTH && strstr(rest, "{1to") ? "{1to}" : rest);
    else if (shape == FOREIGN_WIDTH && shape_is_vector(class))
        strbuf_printf(out, "v%s", rest);
    else if (shape == FOREIGN_WIDTH && strncmp(class, "vm", 2) == 0)
        strbuf_printf(out, "%.4sv%s", class, rest);
    else
        strbuf_puts(out, class);
}

static void shape_put_list_operand(struct strbuf *out, const struct operand *op,
                                   enum foreign_shape shape)
{
    char class[128];
    char broadcast[16] = "";
    if (op->broadcast)
        snprintf(broadcast, sizeof broadcast, "{1to%d}", op->broadcast);
    bool bare = op->kind == OPERAND_IMM && !op->literal; // without its value
    snprintf(class, sizeof class, "%.*s%s%s%s", bare ? (int)strcspn(op->text, ":") : 64, op->text,
             broadcast, op->masked ? "{k}" : "", op->zeroing ? "{z}" : "");
    shape_put_operand(out, class, shape);
}

void foreign_shape_of_row(const struct list_row *row, enum foreign_shape shape, struct strbuf *out)
{
    static const char *const roundings[] = {"", " {er}", " {sae}"};
    shape_put_mnemonic(out, row->mnemonic);
    for (int i = 0; i < row->nops; i++)
        shape_put_list_operand(out, &row->ops[i], shape);
    strbuf_puts(out, roundings[row->rounding]);
}

void foreign_shape_of(const struct foreign_row *row, enum foreign_shape shape, struct strbuf *out)
{
    shape_put_mnemonic(out, row->mnemonic);
    for (int i = 0; i < row->nops; i++)
        shape_put_operand(out, row->ops[i].class, shape);
}
