// SPDX-License-Identifier: MIT
// Options of commands on a database, with their messages.
#pragma once

#include "command.h"
#include "store/store.h"
#include "store/store_machines.h"
#include "store/store_ports.h"
#include "store/store_read.h"

// Opens the database of the option --db (NULL: the default one; to read, where that has no run, the
// published runs, with a note). Returns EXIT_DONE, or another status after a message:
// EXIT_USAGE if the file is no latput database.
//
// To read, the machines of a family are apart (store/store_machines.h).
int store_option_open(const struct command *cmd, const char *db, enum store_mode mode,
                      struct store **store);

// The same to read, for a command that says below its tables whose runs it asks: sets *others,
// without a note, if these are the published ones. together: one CPU is all machines of a family.
int store_option_open_read(const struct command *cmd, const char *db, bool together,
                           struct store **store, bool *others);
// The record of the option for it, without the braces.
#define COMMON_TOGETHER(field)                                                                     \
    0, "together", NULL,                                                                           \
        "take all machines of a CPU family as one; else each has rows of its own, as "             \
        "zen5@epyc-9b45",                                                                          \
        OPTION_SWITCH(field, true)

// Says so: below the lines that say whose the rows are, or as a note where there are none.
void store_option_say_others(const struct command *cmd, int width, struct strbuf *whose);
// Says so as the last line of a text for people; of others (`text` is false) as a note.
void store_option_end_others(const struct command *cmd, bool text, struct strbuf *out);

// Reads a run's number from the command line. Returns EXIT_DONE, or EXIT_USAGE after a message.
int store_option_run(const struct command *cmd, const char *text, int64_t *run_id);

// The end of the record of such an option; see command.h.
#define OPTION_RUN(field) .take = option_take_run, .offset = OPTION_FIELD(int64_t, field)
int option_take_run(const struct option_given *given, void *to);

// Checks that the run exists (0: none asked for). Returns EXIT_DONE, or another status after a
// message.
int store_option_check(const struct command *cmd, struct store *store, int64_t run_id);
// Replaces the name of a uarch (NULL: none asked for) by the uarch as the database has it: "spr" by
// "sapphirerapids?"; of names with commas between them each by all that it means. Returns
// EXIT_DONE, or another status after a message: no results of it, or several uarchs where one is
// meant; of several machines of one uarch that of the newest run is taken, which a note says. The
// text lives as long as the program.
int store_option_called(const struct command *cmd, struct store *store, const char **uarch);
int store_option_all_called(const struct command *cmd, struct store *store, const char **uarchs);

// Finds the run that is meant: *run_id or, if that is 0, the newest, with a note if it came by a
// merge. Returns EXIT_DONE, or another status after a message.
int store_option_newest(const struct command *cmd, struct store *store, int64_t *run_id);

// Prints whose run it is if it came by a merge, for a run that the user has not named: tables of
// other machines must not be taken for this one's. Returns 0 or -1.
int store_note_merged(const struct command *cmd, struct store *store, int64_t run_id,
                      struct err *err);

// Prints how the run's time was spent, if known.
void store_note_time(const struct command *cmd, struct store *store, int64_t run_id);

// Selection of a port model.
struct store_ports_of {
    int64_t run_id; // 0: the newest run of the uarch that has one; then set to it
    const char *uarch;
    bool named; // the user has named the uarch
};
// Reads the selected port model; its texts are owned by the arena. Returns EXIT_DONE, or after a
// message: EXIT_USAGE if the run or uarch that the user named has none; EXIT_ENVIRONMENT if there
// is none yet, or the database cannot be read.
int store_option_ports(const struct command *cmd, struct store *store, struct store_ports_of *of,
                       struct stored_port_model *model, struct arena *arena);

// Returns the uarch of a run that exists, to be freed by the caller; NULL after an error.
char *store_option_uarch(struct store *store, int64_t run_id, struct err *err);
// Returns the uarch of this machine, by the kind of core of a CPU; -1: of the last one.
char *store_option_uarch_here(struct store *store, int cpu, struct err *err);

// Completes a filter for a command on one CPU: checks its run and uarch; without a uarch, the
// filter gets the run's, or the newest run's. *owned: filter->uarch if the caller must free it, or
// NULL. Returns EXIT_DONE, or another status after a message.
int store_option_one_cpu(const struct command *cmd, struct store *store,
                         struct store_filter *filter, char **owned);
