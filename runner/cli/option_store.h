// SPDX-License-Identifier: MIT
// Options that the commands on a database share, with their messages.
#ifndef LATPUT_OPTION_STORE_H
#define LATPUT_OPTION_STORE_H

#include "command.h"
#include "store/store.h"
#include "store/store_ports.h"
#include "store/store_read.h"

// Opens the database of the option --db (NULL: the default one). EXIT_DONE, or another status after
// a message: EXIT_USAGE where the file is no latput database.
int store_option_open(const struct command *cmd, const char *db, enum store_mode mode,
                      struct store **store);

// A run's number from the command line. EXIT_DONE, or EXIT_USAGE after a message.
int store_option_run(const struct command *cmd, const char *text, int64_t *run_id);

// The end of the record of an option that is such a number; see command.h.
#define OPTION_RUN(field) .take = option_take_run, .offset = OPTION_FIELD(int64_t, field)
int option_take_run(const struct option_given *given, void *to);

// Whether the run (0: none asked for) and the uarch (NULL) exist. EXIT_DONE, or another status
// after a message.
int store_option_check(const struct command *cmd, struct store *store, int64_t run_id,
                       const char *uarch);

// The run that is meant: *run_id, or, where that is 0, the newest, which becomes *run_id
// and is told where it came by a merge. EXIT_DONE, or another status after a message.
int store_option_newest(const struct command *cmd, struct store *store, int64_t *run_id);

// Says of a run that nobody named whose it is, where it came by a merge: tables of other machines
// are not to be taken for this one's. 0 or -1.
int store_note_merged(const struct command *cmd, struct store *store, int64_t run_id,
                      struct err *err);

// Says where the run's time went, if that is known.
void store_note_time(const struct command *cmd, struct store *store, int64_t run_id);

// Whose port model is meant.
struct store_ports_of {
    int64_t run_id; // 0: the newest run of the uarch that has one, which then stands here
    const char *uarch;
    bool named; // the uarch, by the user
};
// The port model that is meant; its texts are owned by the arena. EXIT_DONE, or with a message:
// EXIT_USAGE where the run or the uarch that the user named has none; EXIT_ENVIRONMENT where there
// is none yet, or the database cannot be read.
int store_option_ports(const struct command *cmd, struct store *store, struct store_ports_of *of,
                       struct stored_port_model *model, struct arena *arena);

// The uarch of a run that exists, to be freed by the caller; NULL after an error.
char *store_option_uarch(struct store *store, int64_t run_id, struct err *err);
// The same of this machine.
char *store_option_uarch_here(struct store *store, struct err *err);

// What a filter's run and uarch mean to a command on one CPU: both exist, and without a uarch it is
// that of the run, or of the newest. filter->uarch may be the caller's to free then: *owned, or
// NULL. EXIT_DONE, or another status after a message.
int store_option_one_cpu(const struct command *cmd, struct store *store,
                         struct store_filter *filter, char **owned);

#endif
