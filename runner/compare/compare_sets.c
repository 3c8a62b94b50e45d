// SPDX-License-Identifier: MIT
// Ports of theirs as sets of ports of our model, by the names that the makers gave them: "p06" is
// p0 and p6, "FP01" is FP0 and FP1. Names that latput made itself mean nothing elsewhere.
#include "compare_tables_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { UOPS_MAX = 64 };

// Returns the port of a published name; 0: none has it.
static uint32_t port_called(const struct port_model *model, const char *name)
{
    for (int p = 0; p < model->nports; p++)
        if (*model->port_names[p] && strcasecmp(model->port_names[p], name) == 0)
            return UINT32_C(1) << p;
    return 0;
}

// Returns the ports of "p23A": a prefix, and a hexadecimal digit for each.
static uint32_t ports_by_digits(const struct port_model *model, const char *name)
{
    size_t prefix = 0;
    uint32_t set = 0;
    while (isalpha((unsigned char)name[prefix]))
        prefix++;
    for (const char *at = name + prefix; *at; at++) {
        char port[2 * PORT_NAME_MAX];
        char digit[2] = {*at, '\0'};
        if (!isxdigit((unsigned char)*at))
            return 0;
        snprintf(port, sizeof port, "%.*s%ld", (int)prefix, name, strtol(digit, NULL, 16));
        uint32_t one = port_called(model, port);
        if (!one || set & one)
            return 0;
        set |= one;
    }
    return set;
}

static bool name_is_ours(const char *name)
{
    return isupper((unsigned char)name[0]) && isdigit((unsigned char)name[1]);
}

// Returns the set of a name; 0: it is none of the model.
static uint32_t set_called(const struct port_model *model, const char *name)
{
    if (name_is_ours(name))
        return 0;
    for (int c = 0; c < model->nclasses; c++)
        if (strcasecmp(model->classes[c].name, name) == 0)
            return model->classes[c].set;
    for (int h = 0; h < model->nhidden; h++)
        if (strcasecmp(model->hidden[h].name, name) == 0)
            return model->hidden[h].set;
    uint32_t one = port_called(model, name);
    return one ? one : ports_by_digits(model, name);
}

// Reads "p1/p5", any of several.
static uint32_t sets_called(const struct port_model *model, const char *names, size_t len)
{
    char text[4 * PORT_NAME_MAX], *rest = text;
    uint32_t all = 0;
    if (len >= sizeof text)
        return 0;
    snprintf(text, sizeof text, "%.*s", (int)len, names);
    for (char *name; (name = strsep(&rest, "/"));) {
        uint32_t set = set_called(model, name);
        if (!set)
            return 0;
        all |= set;
    }
    return all;
}

bool compare_sets_read(const char *text, const struct port_model *model, struct port_uses *uses)
{
    *uses = (struct port_uses){.n = 0};
    for (const char *at = text; *at;) {
        char *end = (char *)at;
        long n = isdigit((unsigned char)*at) ? strtol(at, &end, 10) : 1;
        const char *name = *end == '*' ? end + 1 : at;
        size_t len = strcspn(name, "+");
        uint32_t set = sets_called(model, name, len);
        if (!set || n > UOPS_MAX || !port_uses_add(uses, (struct port_use){set, (int)n}))
            return false;
        at = name + len + (name[len] == '+');
    }
    return true;
}

// Pairs µops on the same sets, or else on sets of which one holds the other.
static void sets_pair(struct port_uses *a, struct port_uses *b, bool same)
{
    for (int i = 0; i < a->n; i++)
        for (int j = 0; j < b->n; j++) {
            struct port_use *x = &a->use[i], *y = &b->use[j];
            uint32_t both = x->set & y->set;
            int n = x->uops < y->uops ? x->uops : y->uops;
            if (same ? x->set != y->set : both != x->set && both != y->set)
                continue;
            x->uops -= n;
            y->uops -= n;
            a->uops -= n;
            b->uops -= n;
        }
}

bool compare_sets_nested(const struct port_uses *a, const struct port_uses *b)
{
    struct port_uses x = *a, y = *b;
    sets_pair(&x, &y, true); // what is the same must not be taken by another
    sets_pair(&x, &y, false);
    return x.uops == 0 && y.uops == 0;
}
