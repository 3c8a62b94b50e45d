// SPDX-License-Identifier: MIT
// latput-windows, the program on Linux that leads to latput-windows.exe. For the files of this
// folder.
#pragma once

#include "channel.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/un.h>

enum { FAR_TEXT = 128, FAR_TMPDIR_MAX = 40 };
#define FAR_SOCKET "socket"

extern const int far_ignored[]; // signals, to 0: the terminal means latput, which ends by itself

// far_channel.c. Receives a message: *payload is allocated, ends with a 0 that is not counted, and
// is freed by the caller. Returns false at the end of the channel, or where something else came;
// then *payload is NULL.
bool far_receive(int from, struct channel_head *head, void **payload);
// Sends a message; false: the other side is gone.
bool far_send(int to, enum channel_type type, const void *payload, size_t bytes);
bool far_read(int from, void *to, size_t bytes); // all of it
bool far_write(int to, const void *from, size_t bytes);
// Reads a file: allocated, freed by the caller; NULL: it cannot be read.
void *far_read_file(const char *path, size_t *bytes);
void far_socket_name(const char *directory, struct sockaddr_un *address);

// far_core.c: stands for a measuring process: takes its configuration from descriptor 3, and writes
// the records of the one on Windows to descriptor 4. `self` lies in the directory of the socket.
// Returns its status.
int far_core(const char *self, const char *program);
