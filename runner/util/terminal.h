// SPDX-License-Identifier: MIT
// Properties of the terminal that a program writes to.
#ifndef LATPUT_TERMINAL_H
#define LATPUT_TERMINAL_H

#include <stdbool.h>

// Returns the characters per line of the terminal at a descriptor; 0: no terminal, or unknown.
int terminal_columns(int fd);

// Returns true if the terminal moves its cursor and knows colours, by TERM.
bool terminal_can_draw(int fd);
// Returns true if colour is wanted: the terminal has it, and NO_COLOR is not set.
bool terminal_has_colour(int fd);

// Writes a message to standard error with characters that are not plain (text.h) escaped. On a
// terminal long lines are folded between words.
void terminal_say(const char *text);

#endif
