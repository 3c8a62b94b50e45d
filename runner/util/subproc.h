// SPDX-License-Identifier: MIT
// Starts processes; nothing else does. Commands are argv arrays; only a user's script without an
// interpreter line is read by a shell (subproc_hold()). Safe to call from any thread.
#pragma once

#include "err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

// The message for a 32-bit program that the kernel refuses, as many kernels do.
extern const char subproc_no_32[];

struct subproc_options {
    const char *stdin_path;  // NULL: /dev/null
    const char *cwd;         // NULL: inherit
    int timeout_ms;          // 0: no limit; on expiry the whole process group is killed
    size_t max_output_bytes; // limit for stdout and for stderr; 0: 16 MiB; the rest is dropped
    // The program's work must not depend on the user's environment: it sees PATH, TMPDIR and
    // LD_LIBRARY_PATH only, and its messages are in the language C.
    bool tool;
    // Directories (to NULL) below which alone the tool may read; it may read and write below cwd.
    // The system must support that (confine.h). NULL: no restriction.
    const char *const *readable;
};

struct subproc_result {
    int exit_status; // valid unless `signal` or timed_out is set
    int signal;      // the signal that ended it, or 0
    bool timed_out;
    char *out, *err; // NUL-terminated captured output, owned by the caller: subproc_result_free()
    size_t out_len, err_len;
};

// Runs argv (argv[0] looked up in PATH) to its end. Returns 0 if the process was started, whatever
// became of it; -1 with a message if it could not be started (program not found, ...), or was ended
// by subproc_stop() or by a SIGKILL of others, which tells nothing of its input.
int subproc_run(const char *const argv[], const struct subproc_options *options,
                struct subproc_result *result, struct err *err);
void subproc_result_free(struct subproc_result *result);
// Ends current and later calls of subproc_run() within a tenth of a second. Safe in signal
// handlers.
void subproc_stop(void);

// A child that runs beside this process. Its stdin is /dev/null; its fd 3 is a socket that the
// configuration is written to (the other end, non-blocking: child->to_fd); its fd 4 is the write
// end of a pipe read at child->from_fd (non-blocking, close-on-exec). stderr is inherited unless
// quiet.
struct subproc_inputs {
    const void *config;
    size_t config_bytes;
    bool quiet;
    bool shares; // the child inherits shared_fd as its fd 5
    int shared_fd;
    bool placed; // its memory lies at the same addresses each time, where the system allows that
};
struct subproc_child {
    pid_t pid;
    int to_fd, from_fd;
};
int subproc_start(const char *const argv[], const struct subproc_inputs *inputs,
                  struct subproc_child *child, struct err *err);
struct subproc_end {
    int exit_status; // valid if signal is 0
    int signal;      // the signal that ended it, or 0
    struct rusage usage;
};
// Reads what the kernel says about a process (/proc/PID/stat), from the letter of its state on (the
// name before it may hold anything). Returns NULL if the process is not visible.
enum { SUBPROC_STATE_MAX = 1024 };
const char *subproc_state(pid_t pid, char text[SUBPROC_STATE_MAX]);
// Time that a process (0: the calling thread) ran, and that it was ready to run while others did.
struct subproc_ran {
    int64_t ran_ns, waited_ns;
};
// Returns what the kernel says (/proc/PID/schedstat); zeros if it does not.
struct subproc_ran subproc_ran(pid_t pid);
// Returns the part that it ran of the time between the two in which it was ready; 1: not known.
double subproc_ran_share(const struct subproc_ran *from, const struct subproc_ran *to);
// Waits for the end of the child; kills its process group first with kill_first.
void subproc_finish(struct subproc_child *child, bool kill_first, struct subproc_end *end);

// The user's own program, run in place of latput as far as possible: it inherits standard input,
// output and error, the process group (so that the terminal reaches it) and the ignored signals. It
// is held right before exec until subproc_release(), so that counters can be attached to its pid.
struct subproc_program {
    pid_t pid;
    int hold_fd; // closed by release, await and abandon
};
int subproc_hold(const char *const argv[], struct subproc_program *program, struct err *err);
// Lets the program exec. Returns 0, or the errno of the exec that failed (ENOENT, EACCES, ...).
int subproc_release(struct subproc_program *program);
// Waits for the end of the program. Signals are passed on from hold to the end (subproc_forward()).
void subproc_await(struct subproc_program *program, struct subproc_end *end);
// Ends a program that was not released.
void subproc_abandon(struct subproc_program *program);

// Passes signals on to the program of subproc_hold() instead of ending latput: SIGINT, SIGQUIT,
// SIGTERM, SIGHUP, SIGALRM, SIGUSR1 and SIGUSR2, unless ignored or sent by the terminal, which
// reaches the program itself. SIGTSTP, which stops latput besides, and SIGCONT are passed on, too.
void subproc_forward(void);
// Returns the last signal received that ends programs (SIGINT to SIGALRM), or 0.
int subproc_interrupted(void);

// Has each started command printed to standard error.
void subproc_show_commands(bool on);
