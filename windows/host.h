// SPDX-License-Identifier: MIT
// latput-windows.exe: serves the cores of this machine to latput on Linux. For the files of this
// folder.
#pragma once

#include "channel.h"

#include <stdbool.h>
#include <stddef.h>

#include <windows.h>

// The other side: by our standard input and output, or by those of a command that we start.
struct host_channel {
    HANDLE from, to;
    CRITICAL_SECTION sending;
};
// Receives a message of at most `most` bytes, all others included: *payload is allocated and freed
// by the caller. Returns false at the end of the channel, or where something else came.
bool channel_receive(struct host_channel *channel, struct channel_head *head, void **payload);
bool channel_send(struct host_channel *channel, enum channel_type type, const void *payload,
                  size_t bytes);

// host_child.c: one measuring process at a time, in a job object of its own.
struct host_child {
    struct host_channel *channel;
    HANDLE job, program;
    HANDLE process, measuring, records; // the process, its thread, and what it writes
    HANDLE watch;                       // our thread that sees to it; NULL: there is none
};
// Takes the program that the next cores are for. Returns NULL or what failed.
const char *child_take_program(struct host_child *child, const void *bytes, size_t n);
// Begins a core. All that it writes, and its end, is sent. Returns NULL or what failed.
const char *child_begin(struct host_child *child, const void *config, size_t bytes);
void child_stop(struct host_child *child);

// host_process.c: makes a job object that ends its processes with us; `alone`: they start no
// others. Returns NULL with the system's error if that fails.
HANDLE job_make(bool alone);
// Lets a process run that was created suspended, in the job. If that fails ends it, closes its
// handles, and returns false with the system's error.
bool job_start(HANDLE job, const PROCESS_INFORMATION *held);
// Return the CPU time of a thread. That of a core is its only thread's: wine knows that of no other
// process.
void thread_times_us(HANDLE thread, unsigned long long *user, unsigned long long *kernel);
unsigned long long thread_computed_ms(HANDLE thread);

// host_machine.c: names the system and all CPUs that this process may use, as text of
// CHANNEL_MACHINE: allocated, and freed by the caller. Takes a fifth of a second.
char *machine_describe(size_t *bytes);
// Keeps this process, and another one (NULL: none), off the core that has this CPU, if there are
// others.
void machine_leave_cpu(size_t cpu, HANDLE other);
// Finds the group of processors that has this CPU, and its bit there; returns false if none has.
bool machine_find_cpu(size_t cpu, GROUP_AFFINITY *where);

// host.c: serves until the channel ends. arguments: the command that the channel leads to; none:
// standard input and output.
int host_main(int argc, char **argv);
