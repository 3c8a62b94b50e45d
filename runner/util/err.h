// SPDX-License-Identifier: MIT
// An error message on its way up to the user. Functions that can fail because of the environment or
// of user input return 0 or -1 and take a `struct err *` as their last parameter; the message says
// what is wrong, where, and what to do about it. Programmer errors are assert()ed instead, and a
// test that fails is no error at all but a result with an outcome (see outcome.h).
#pragma once

struct err {
    char text[2048];  // complete message without trailing newline; "" if no error was set
    int line, column; // place in the file that the message names first, from 1; 0: none
};

// Writes the formatted message into `err` (ignored if err is NULL), control characters in it as
// \xNN (text_put_escaped()). Always returns -1, so that `return err_set(err, ...)` reads well.
int err_set(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Adds the place of the fault to the message that `err` holds already (ignored if err is NULL).
void err_locate(struct err *err, int line, int column);

// Puts the formatted text in front of the message that `err` holds already. Always returns -1.
int err_prefix(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
