// SPDX-License-Identifier: MIT
// Declarations that the files of exec share: reading the records of core processes.
#pragma once

#include "exec.h"

#include "util/subproc.h"

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

// Random numbers by which a core process knows its own memory, and the runner its records
// (core_abi.h). They are made here, so many ahead of the process' needs.
enum { EXEC_SECRETS_AHEAD = 1024 };

// Repeats of a pass, accepted or not: more are no core's, and no database takes them.
enum { EXEC_TRIED_MAX = 1000000 };
struct exec_secrets {
    int fd;         // the core's source of them; -1: it needs no more
    uint32_t heard; // number of the last record's
    struct core_secret last;
    uint64_t tokens[EXEC_SECRETS_AHEAD]; // by number
};
void exec_secrets_begin(struct exec_secrets *secrets, struct core_secret *first);
void exec_secrets_feed(struct exec_secrets *secrets); // as far as there is room, without waiting
// Returns true if the record is the core's, and remembers its secret.
bool exec_secrets_accept(struct exec_secrets *secrets, const struct core_record *record);

// One process that writes records.
struct exec_stream {
    int fd; // -1 once it is closed
    pid_t pid;
    struct exec_secrets *secrets; // NULL: one will do
    void (*take)(void *context, const struct core_record *record);
    void *context;
    struct core_record record;  // being read
    size_t have;                // bytes of it
    const char *const *refused; // once this is set, reading ends; NULL: never
};
// Takes the whole records of `bytes`, which begin with those that it has, and keeps the rest.
void exec_stream_take(struct exec_stream *stream, const struct core_record records[], size_t bytes);

enum exec_end {
    EXEC_CLOSED,  // every process closed its end
    EXEC_SILENT,  // nothing came from any of them while one computed for `timeout_ms` (ten times
                  // that at first)
    EXEC_HELD,    // nothing came for minutes, and none of them got to compute
    EXEC_REFUSED, // a record was
    EXEC_STOPPED, // exec_stop()
};
// Tries of a kernel whose process was ended or held from outside, before that is its outcome.
enum { EXEC_OUTSIDE_MAX = 5 };
// Returns true if the body cannot have ended the process so: it can fault, but send no signal.
bool exec_from_outside(enum exec_end how, int signal_number);
// Says who ended or held the process, for a message that goes on with "5 times".
void exec_outside_text(enum exec_end how, int signal_number, char text[CORE_TEXT_MAX]);
// Kernels of a program that one of several threads measures: each `step`th from `first` on. The
// others may be touched by other threads at that time.
struct exec_share {
    int first, step;
};
static inline bool exec_share_has(struct exec_share share, int kernel)
{
    return kernel % share.step == share.first;
}
// exec_run() of a share.
int exec_run_share(const struct exec_job *job, struct exec_share share, struct arena *arena,
                   struct exec_summary *summary, struct err *err);

// Order of the records of a process in CORE_MODE_MEASURE. The runner believes records about a
// kernel only while it is the current one, in order, and if they claim no more time than the
// process has existed. The core seals itself off from its bodies (core_seal.c); this holds if that
// fails.
struct exec_order {
    const struct exec_kernel *kernels;
    int nkernels;
    struct exec_share share; // of them; exec_order_begin() sets all
    const struct core_config *config;
    struct exec_secrets *secrets;
    int current;        // the kernel under way, -1: none yet
    uint32_t pass;      // its pass, 0: the trial
    bool hello, ended;  // came
    double claimed_tsc; // in all samples
    int64_t start_ns;   // start of the process
};
void exec_order_begin(struct exec_order *order, const struct exec_kernel *kernels, int nkernels,
                      const struct core_config *config, struct exec_secrets *secrets);
// Notes that the record has come. Returns NULL, or what is wrong with it if it may not come now.
const char *exec_order_refuses(struct exec_order *order, const struct core_record *record);

// Starts the program, or what stands for the measuring process with the program as its argument
// (exec_is_text()).
int exec_start(const char *program, const struct subproc_inputs *inputs,
               struct subproc_child *child, struct err *err);

extern volatile sig_atomic_t exec_stopped; // by exec_stop()
enum {
    // Factor for the patience before the first record: no body has run then, and a core on a busy
    // machine is slow to build its kernels.
    EXEC_START_PATIENCE = 10,
    EXEC_HELD_MS = 120000, // a process that is stopped, frozen or starved is waited for so long
};
// Reads until one of these. Descriptors are left open.
enum exec_end exec_read(struct exec_stream *streams, int n, int timeout_ms);
