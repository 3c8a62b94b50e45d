// SPDX-License-Identifier: MIT
// The one place that starts processes. Commands are argv arrays; no shell ever sees them.
// Safe to call from any thread.
#ifndef LATPUT_SUBPROC_H
#define LATPUT_SUBPROC_H

#include "err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

// The message where the kernel refuses a program made for 32-bit mode, as many do.
extern const char subproc_no_32[];

struct subproc_options {
    const char *stdin_path;  // NULL: /dev/null
    const char *cwd;         // NULL: inherit
    int timeout_ms;          // 0: none; on expiry the whole process group is killed
    size_t max_output_bytes; // of stdout and of stderr each; 0: 16 MiB; what exceeds it is dropped
    // A tool whose work must not depend on the user's environment: of that it sees PATH, TMPDIR and
    // LD_LIBRARY_PATH only, and it speaks the language C.
    bool tool;
    // The tool may read files below these directories only (to NULL), and read and write below cwd,
    // where the system can see to that (confine.h). NULL: as we may.
    const char *const *readable;
};

struct subproc_result {
    int exit_status; // valid if signal is 0 and not timed_out
    int signal;      // the signal that ended it, or 0
    bool timed_out;
    char *out, *err; // NUL-terminated captured output, owned by the caller: subproc_result_free()
    size_t out_len, err_len;
};

// Runs argv (argv[0] looked up in PATH) to its end. Returns 0 when the process was started,
// whatever became of it; -1 with a message when it could not be started (program not found, ...),
// or was ended because of subproc_stop().
int subproc_run(const char *const argv[], const struct subproc_options *options,
                struct subproc_result *result, struct err *err);
void subproc_result_free(struct subproc_result *result);
// Ends what subproc_run() runs and will run, within a tenth of a second. For handlers of signals.
void subproc_stop(void);

// A child that runs beside us: stdin is /dev/null, the configuration is written to its fd 3 (a
// socket, whose other end is child->to_fd, non-blocking), its fd 4 is the write end of a pipe that
// we read at child->from_fd (non-blocking, close-on-exec). stderr is inherited unless quiet.
struct subproc_inputs {
    const void *config;
    size_t config_bytes;
    bool quiet;
    bool shares; // it inherits shared_fd as its fd 5
    int shared_fd;
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
// What the kernel says of a process (/proc/PID/stat), from the letter of its state on; NULL where
// it is not visible. (Before it stands a name that may hold anything.)
enum { SUBPROC_STATE_MAX = 1024 };
const char *subproc_state(pid_t pid, char text[SUBPROC_STATE_MAX]);
// Waits for the end (kills the process group first if `kill_first`).
void subproc_finish(struct subproc_child *child, bool kill_first, struct subproc_end *end);

// The user's own program, run in our place as far as possible: it inherits standard input, output
// and error, the process group (so that the terminal reaches it) and the ignored signals. It is
// held right before exec until subproc_release(), so that counters can be attached to its pid.
struct subproc_program {
    pid_t pid;
    int hold_fd; // closed by release, await and abandon
};
int subproc_hold(const char *const argv[], struct subproc_program *program, struct err *err);
// Lets it exec. Returns 0, or the errno of the exec that failed (ENOENT, EACCES, ...).
int subproc_release(struct subproc_program *program);
// Waits for its end. Between hold and the end, signals are passed on (subproc_forward()).
void subproc_await(struct subproc_program *program, struct subproc_end *end);
// Ends a program that was not released.
void subproc_abandon(struct subproc_program *program);

// From now on, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGALRM, SIGUSR1 and SIGUSR2 (those that are not
// ignored) no longer end us but are passed on to the program of subproc_hold(), unless they come
// from the terminal, which sends them to the program, too. So are SIGTSTP, which stops us besides,
// and SIGCONT.
void subproc_forward(void);
// The last signal of these that ends programs (SIGINT to SIGALRM); 0: none came.
int subproc_interrupted(void);

// With show-commands on, each started command is printed to standard error.
void subproc_show_commands(bool on);

#endif
