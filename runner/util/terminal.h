// SPDX-License-Identifier: MIT
// Properties of the terminal that a program writes to.
#pragma once

#include <stdbool.h>

// Returns the characters per line of the terminal at a descriptor, $COLUMNS if that is set; 0: no
// terminal, or unknown.
int terminal_columns(int fd);
int terminal_rows(int fd); // lines, likewise; $LINES

// Returns true if the terminal moves its cursor and knows colours, by TERM.
bool terminal_can_draw(int fd);
// Returns true if colour is wanted: the terminal has it, and NO_COLOR is not set.
bool terminal_has_colour(int fd);
// Has colour written from now on: "auto" (where it is wanted, as above), "always" to whatever is
// open at the descriptor, or "never". Returns false if it is another word.
bool terminal_set_colour(const char *when);

// Writes a message to standard error with characters that are not plain (text.h) escaped. On a
// terminal long lines are folded between words, and the word "warning:" stands out.
void terminal_say(const char *text);
