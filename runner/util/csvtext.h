// SPDX-License-Identifier: MIT
// Writes fields of CSV, quoted only where needed. libcsv, which reads them (csvfile.h), would quote
// every field.
#ifndef LATPUT_CSVTEXT_H
#define LATPUT_CSVTEXT_H

#include "strbuf.h"

void csv_put_text(struct strbuf *out, const char *text);   // one field, quoted where needed
void csv_put_quoted(struct strbuf *out, const char *text); // one field, always quoted

#endif
