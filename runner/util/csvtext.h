// SPDX-License-Identifier: MIT
// Writes fields of CSV, quoted only where needed. libcsv, which reads them (csvfile.h), would quote
// every field.
#pragma once

#include "strbuf.h"

#include <stdbool.h>

// Has CSV written for spreadsheets from now on: an apostrophe precedes each text that they would
// take for a formula, since it begins with one of = + - @, a tab or a carriage return. Numbers have
// none.
void csv_for_spreadsheets(bool yes);

void csv_put_text(struct strbuf *out, const char *text); // one field, quoted where needed
