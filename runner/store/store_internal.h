// SPDX-License-Identifier: MIT
// Declarations for store*.c, merge/ and expr/: the connection, its prepared statements, and the
// translation of SQLite's errors into messages that say what to do.
#pragma once

#include "core/outcome.h"
#include "cpuinfo/cpuinfo.h"
#include "ports/ports.h"
#include "store.h"
#include "store_field.h"
#include "store_read.h"
#include "util/mem.h"
#include "util/strbuf.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct estimate;    // declared in derive/derive.h
struct test_result; // declared in derive/derive.h
struct list_row;    // declared in list/list.h
struct form_place;  // declared in store_form.h

enum {
    STORE_APPLICATION_ID = 1818326128, // "latp"; also in db/schema.sql
    STORE_SCHEMA_VERSION = 37,         // the highest migration; also in db/schema.sql
    STORE_STATEMENTS_MAX = 128,
};

struct store {
    sqlite3 *db;
    char *path;
    char *uri;   // NULL, or the name for SQLite of a file that nobody changes
    char *saved; // path of the copy, once the file has lost its name; else NULL
    enum store_mode mode;
    bool made;     // the file did not exist before
    int place;     // of store_place_hold(); -1 for readers
    bool patient;  // waits for another writer without limit
    bool log;      // has a write-ahead log: readers and the writer do not wait for each other
    bool beside;   // instruction_table has a table of others beside it: store_beside.c
    bool divided;  // its machines have names of their own: store_machines.c
    bool foreign;  // the file is no database of this program
    int64_t steps; // of SQL that are left, in millions; see store_limit_steps()
    bool unable;   // it could not be read or written for lack of space, rights or a sound disk
    struct store_statement {
        const void *key; // address of a literal, or in a record
        sqlite3_stmt *stmt;
    } statements[STORE_STATEMENTS_MAX];
    int nstatements;
    struct store_claim { // claim on the run that is measured: store_claim.c
        bool held;
        int fd;
    } claim;
};

void store_run_unclaim(struct store *store); // gives up the claim, if there is one

// Limits the steps of SQL to what a file of this size can need: its content may be crafted, so that
// joins never end. The statement that takes more fails, and so do all after it.
void store_limit_steps(struct store *store);

// Sets err to the connection's last error; `doing` ("store a form") completes "cannot ...". Returns
// -1.
int store_error(struct store *store, struct err *err, const char *doing);

// Return the statement kept under a key, reset, NULL if there is none; and one that is made to be
// kept.
sqlite3_stmt *store_prepared(struct store *store, const void *key);
sqlite3_stmt *store_prepare_as(struct store *store, struct err *err, const void *key,
                               const char *sql);

// Returns a prepared statement with its parameters bound from the arguments, one letter each in
// `types`: i int64_t, d double (NaN becomes NULL), s text (NULL becomes ''), t text or NULL. The
// text must live until the statement is stepped. `sql` must be a literal. NULL after an error.
sqlite3_stmt *store_bind(struct store *store, struct err *err, const char *sql, const char *types,
                         ...);
// Binds a statement and runs it to its end. Returns 0 or -1.
int store_execute(struct store *store, struct err *err, const char *sql, const char *types, ...);
// Runs a query for one number. Returns 1 and *value (0 for NULL), 0 if it gave no row, or -1.
int store_get_int(struct store *store, struct err *err, int64_t *value, const char *sql,
                  const char *types, ...);
// Returns a text of the current row as it is stored, "" for NULL, valid until the next row. The
// file may have NULL where the schema forbids it.
const char *store_text(sqlite3_stmt *stmt, int column);
// Returns a text to be shown, with characters that are not plain escaped; owned by the arena.
const char *store_column_text(sqlite3_stmt *stmt, int column, struct arena *arena);
// Returns the texts of a statement's rows, each with its NUL, an empty one at the end, and resets
// it; NULL after an error, also where there is no statement. The caller frees them.
char *store_texts(struct store *store, sqlite3_stmt *stmt, struct err *err);
// Ends a loop over rows in which sqlite3_step() has returned `got`: resets the statement. Returns 0
// or -1.
// Reads and ends rows of a name of an outcome, a number of tests, and how many of these scatter.
// Returns 0 or -1, also where there is no statement.
int store_count_outcomes(struct store *store, sqlite3_stmt *stmt, int64_t counts[OUTCOME_COUNT],
                         int64_t *scattered, struct err *err);
int store_rows_end(struct store *store, sqlite3_stmt *stmt, int got, struct err *err);
// Returns the number, or NaN, which becomes NULL, if it is not finite.
double store_finite(double value);
// Store a row of a record under its keys; and `n` rows of a record with two keys, `of` and their
// index. Return 0 or -1.
int store_put_row(struct store *store, const struct store_record *record, const int64_t *keys,
                  const void *row, struct err *err);
int store_put_rows(struct store *store, const struct store_record *record, int64_t of,
                   const void *rows, int n, struct err *err);
// Rows of a record; all memory is the arena's.
struct store_list {
    void *rows;
    int64_t *ids; // their numbers, if the record has them
    int n;
};
// Reads the rows whose first key is `of`, in the order of the record.
int store_get_rows(struct store *store, const struct store_record *record, int64_t of,
                   struct arena *arena, struct store_list *list, struct err *err);
// Reads the first of these rows; its texts are lost. Returns 1 if there is one, 0 or -1.
int store_get_row(struct store *store, const struct store_record *record, int64_t of, void *row,
                  struct err *err);
// Runs SQL of several statements.
int store_script(struct store *store, struct err *err, const char *sql, const char *doing);
// Between these a store that was opened to be read takes statements that write: for tables and
// views of the temporary schema alone, nothing in the file.
void store_temporary_begin(struct store *store);
void store_temporary_end(struct store *store);

// Begin and end a unit of work inside or outside the caller's transaction: undone as a whole if it
// fails.
int store_unit_begin(struct store *store, bool *own, struct err *err);
int store_unit_end(struct store *store, bool own, int result, struct err *err);

// True of a row of cpu whose caches are known and have no L3: low-power cores, of which nothing
// else tells the type. As cpu_lacks_l3() has it.
#define STORE_NO_L3(cpu)                                                                           \
    "(EXISTS (SELECT 1 FROM cpu_cache WHERE cpu_cache.cpu_id = " cpu ".cpu_id) AND NOT EXISTS "    \
    "(SELECT 1 FROM cpu_cache WHERE cpu_cache.cpu_id = " cpu ".cpu_id "                            \
    "AND cpu_cache.level = 3))"

// Condition on rows of cpu: they have this CPU's values, which are the statement's only parameters.
// `features` must live as long as the statement is used.
#define STORE_THIS_CPU                                                                             \
    "vendor = ? AND signature = ? AND brand = ? AND core_type = ? AND native_model = ? "           \
    "AND hypervisor = ? AND features = ? AND " STORE_NO_L3("cpu") " = ? "
sqlite3_stmt *store_bind_cpu(struct store *store, const char *sql, const struct cpu_info *cpu,
                             struct strbuf *features, struct err *err);
// Runs such a statement for one value. Returns 1 and the value as a text, to be freed, 0 if there
// is none, or -1.
int store_of_this_cpu(struct store *store, const char *sql, const struct cpu_info *cpu,
                      char **value, struct err *err);

// The uarch of a row of run as the views have it.
#define STORE_UARCH "(SELECT run_key.uarch FROM run_key WHERE run_key.run_id = run.run_id)"

// The rows of cpu that are the same machine as row ?1, whatever family it was taken for.
#define STORE_SAME_MACHINE                                                                         \
    "(SELECT other.cpu_id FROM cpu AS mine JOIN cpu AS other USING (vendor, signature, brand, "    \
    "core_type, native_model, hypervisor, features, microcode, tsc_invariant) "                    \
    "WHERE mine.cpu_id = ?1 AND " STORE_NO_L3("mine") " = " STORE_NO_L3("other") ") "

// Checks that the file still has its name. Returns 0, or -1 if not; then its content is copied to a
// file beside the old place, if that works.
int store_check_place(struct store *store, struct err *err);

// store_place.c: returns true if the file, or without one its directory, is on a file system that
// other machines may write to, or that a program makes; `type` as statfs() gives it.
bool store_is_remote(const char *path);
bool store_is_remote_type(unsigned long type);
// Marks the directory of `path` as having a database in use by this process. Returns a descriptor,
// to be closed after the database, or -1 if the mark cannot be made.
int store_place_hold(const char *path);
// Returns true if no other process has that mark; none can then open a database there before
// `place` is closed.
bool store_place_alone(int place);
// Changes to the write-ahead log if the file system allows it, else to a rollback journal.
void store_use_log(struct store *store);

// Opens without looking at the content, with the defensive settings.
int store_connect(const char *path, int flags, struct store **store, struct err *err);

// store_schema.c: makes or migrates the schema and the views of a database opened for writing.
int store_schema_identify(struct store *store, bool *fresh, int64_t *version, struct err *err);
int store_schema_prepare(struct store *store, struct err *err);
// Brings tables of an older version up to date; then there are no views.
int store_schema_raise(struct store *store, int64_t version, struct err *err);
// Makes the views from latput's own text in the temporary schema, where they hide the file's views.
int store_schema_temporary_views(struct store *store, struct err *err);
// Compares tables, indexes and triggers with our schema of version `version`. Returns 0 or -1.
int store_schema_compare(struct store *store, int64_t version, struct err *err);

// store_summary.c: rows of form_summary. Each of these is for a connection with the views in its
// file: the row of a form whose results have been stored, and those that follow from it; all of
// completing runs anew; all of them anew.
int store_summary_put(struct store *store, int64_t run_form_id, struct err *err);
int store_summary_complete(struct store *store, struct err *err);
int store_summary_renew(struct store *store, struct err *err);
// Returns 1 if the file has rows of what was measured last, 0 if not, -1 after an error.
int store_summary_fits(struct store *store, struct err *err);
// The same rows in the temporary schema, where its views find them first.
int store_summary_collect(struct store *store, struct err *err);
// Leaves the file without rows: from here on its views compute them.
int store_summary_forget(struct store *store, struct err *err);

// store_form.c: store derived rows; kernel_id 0: no kernel decides.
int store_put_estimate(struct store *store, int64_t kernel_id, const struct estimate *estimate,
                       struct err *err);
int store_put_result(struct store *store, int64_t test_id, const struct test_result *result,
                     int64_t kernel_id, struct err *err);

// store_form.c: finds the row of a form in a run, or adds it.
int store_run_form_id(struct store *store, int64_t run_id, const struct list_row *row,
                      const struct form_place *place, int64_t *run_form_id, struct err *err);
// Returns the number if the outcome is ok; else NaN, which becomes NULL: the database refuses
// others.
double store_number(enum outcome outcome, double value);

// store_ports.c: adds a demand, of which there are few.
void store_add_demand(struct port_demands *demands, int unit, double clk);

// store_read.c: returns a statement with the columns of the view, to be finalized; NULL after an
// error.
sqlite3_stmt *store_view_columns(struct store *store, enum store_view view, struct err *err);

// Condition on a row of `run`: it was measured and is kept without kernels (MERGE_KEEP_RESULTS).
#define STORE_RUN_IS_SLIM                                                                          \
    "EXISTS (SELECT 1 FROM run_form JOIN test USING (run_form_id) WHERE run_form.run_id = "        \
    "run.run_id AND test.outcome = 'ok') AND NOT EXISTS (SELECT 1 FROM run_form JOIN test USING "  \
    "(run_form_id) JOIN kernel USING (test_id) WHERE run_form.run_id = run.run_id)"

// Condition on a row of `run`: it was measured into this database and has not come by a merge. Only
// such runs describe this machine.
#define STORE_RUN_IS_OWN "(run.run_id NOT IN (SELECT merged_run.run_id FROM merged_run))"

// Collation of texts whose numbers have their order, as text_compare() has it.
#define STORE_BY_NUMBER "by_number"

// derive_is_scattered() in SQL, on rows of `result`.
#define STORE_SCATTERED "(result.bound = 'upper' AND coalesce(result.states, 1) = 0)"

// Writes the time as "2026-01-31T12:34:56Z".
void store_now_utc(char text[32]);
// Writes the sha256 in lower-case hexadecimal.
void store_sha256(const void *bytes, size_t len, char hex[65]);
