// SPDX-License-Identifier: MIT
// Assembles one instance of each form, as `latput check` does.
#include "known_internal.h"

#include "check/check.h"

#include <stdlib.h>
#include <string.h>

static int code_assemble(struct known_cpu *data, int bits, struct err *err)
{
    struct check_code *codes = xcalloc((size_t)data->nforms + 1, sizeof *codes);
    int *forms = xmalloc(((size_t)data->nforms + 1) * sizeof *forms);
    int n = 0;
    for (int i = 0; i < data->nforms; i++)
        if (data->forms[i].row && data->forms[i].id.bits == bits) {
            forms[n] = i;
            codes[n++].row = data->forms[i].row;
        }
    struct check check = {.lists = NULL};
    const unsigned char *bytes = NULL;
    int status = n > 0 ? check_assemble(&check, codes, n, bits, &bytes, err) : 0;
    for (int i = 0; status == 0 && i < n; i++) {
        if (codes[i].refused || codes[i].len == 0)
            continue;
        unsigned char *code = arena_alloc(&data->arena, codes[i].len);
        memcpy(code, bytes + codes[i].offset, codes[i].len);
        data->forms[forms[i]].code = code;
        data->forms[forms[i]].code_len = codes[i].len;
    }
    check_free(&check);
    free(forms);
    free(codes);
    return status;
}

int known_assemble(struct known_cpu *data, struct err *err)
{
    return code_assemble(data, 64, err) != 0 || code_assemble(data, 32, err) != 0 ? -1 : 0;
}
