// SPDX-License-Identifier: MIT
// What is known of the terminal that a program writes to.
#ifndef LATPUT_TERMINAL_H
#define LATPUT_TERMINAL_H

// Characters in a line of the terminal behind a file descriptor; 0: it is none, or does not say.
int terminal_columns(int fd);

#endif
