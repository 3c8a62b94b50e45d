// SPDX-License-Identifier: MIT
// The grammar of the columns of a property list. Each function takes the text of a column and fills
// its part of *property. Returns 0, or -1 with the fault and its place in parse->at (a pointer into
// the text).
#pragma once

#include "property.h"

struct property_parse {
    struct arena *arena;
    struct err *err;
    const char *at;
};

// Parses NAME of a property, a variant or a group: letters, digits and _; begins with a letter.
int parse_name(struct property_parse *parse, const char *text);
int parse_variants(struct property_parse *parse, const char *text, struct property *property);
int parse_sweep(struct property_parse *parse, const char *text, struct property_sweep *sweep);
int parse_template(struct property_parse *parse, const char *text, struct property *property);
int parse_data(struct property_parse *parse, const char *text, struct property *property);
int parse_number(struct property_parse *parse, const char *text, struct property_number *number);
int parse_options(struct property_parse *parse, const char *text, struct property *property);
