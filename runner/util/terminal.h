// SPDX-License-Identifier: MIT
// What is known of the terminal that a program writes to.
#ifndef LATPUT_TERMINAL_H
#define LATPUT_TERMINAL_H

#include <stdbool.h>

// Characters in a line of the terminal behind a file descriptor; 0: it is none, or does not say.
int terminal_columns(int fd);

// Whether it is one that moves its cursor and knows colours, by TERM.
bool terminal_can_draw(int fd);
// Whether colour is wanted on it: it can, and the user has not said NO_COLOR.
bool terminal_has_colour(int fd);

// A message for standard error, what is not plain escaped. On a terminal lines that are longer than
// its own are folded between words.
void terminal_say(const char *text);

#endif
