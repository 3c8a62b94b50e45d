// SPDX-License-Identifier: MIT
// An expression as it was parsed, for store_read.c.
#ifndef LATPUT_STORE_WHERE_INTERNAL_H
#define LATPUT_STORE_WHERE_INTERNAL_H

#include "util/strbuf.h"

enum { WHERE_FIRST = 100 }; // the number of its first parameter

struct store_where {
    struct strbuf sql;
    struct where_value {
        char *text; // NULL: a number
        double number;
    } * values;
    int nvalues;
};

#endif
