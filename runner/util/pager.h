// SPDX-License-Identifier: MIT
// Output longer than the screen goes through a pager: the program of $LATPUT_PAGER, else of $PAGER,
// else less -FRX; none if that is empty or cat.
#pragma once

#include <stdio.h>

void pager_forbid(void); // everything is printed at once from now on

// Prints a whole output to standard output: through the pager if that is a terminal that knows how
// to page and the text has more lines than it, else at once. Returns after the pager's end, which
// changes no exit status. Where the pager cannot be started the text is printed all the same.
void pager_put(const char *text);

// pager_open() returns a stream that collects an output; pager_close() prints that as pager_put()
// does. One may be open at a time.
FILE *pager_open(void);
void pager_close(FILE *stream);

// Returns the lines that the text takes on a terminal of `columns` columns, styles left out.
int pager_lines(const char *text, int columns);
