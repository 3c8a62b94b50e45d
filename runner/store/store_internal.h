// SPDX-License-Identifier: MIT
// What the files store*.c share and nobody else sees: the connection, its prepared statements, and
// the translation of SQLite's errors into messages that say what to do.
#ifndef LATPUT_STORE_INTERNAL_H
#define LATPUT_STORE_INTERNAL_H

#include "core/outcome.h"
#include "cpuinfo/cpuinfo.h"
#include "store.h"
#include "store_read.h"
#include "util/mem.h"
#include "util/strbuf.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct estimate;    // derive/derive.h
struct test_result; // the same
struct list_row;    // list/list.h
struct form_place;  // store_form.h

enum {
    STORE_APPLICATION_ID = 1818326128, // "latp"; also in db/schema.sql
    STORE_SCHEMA_VERSION = 28,         // the highest migration; also in db/schema.sql
    STORE_STATEMENTS_MAX = 128,
};

struct store {
    sqlite3 *db;
    char *path;
    char *saved; // where its copy is, once its file has lost its name; else NULL
    enum store_mode mode;
    bool made;    // there was no file before
    int place;    // store_place_hold(); -1 for who only reads
    bool patient; // waits for another writer as long as it takes
    bool log;     // the journal is a write-ahead log: readers and the writer do not wait
    bool foreign; // the file is no database of this program
    bool unable;  // it could not be read or written for lack of space, rights or a sound disk
    struct store_statement {
        const char *sql; // a literal: compared by address first
        sqlite3_stmt *stmt;
    } statements[STORE_STATEMENTS_MAX];
    int nstatements;
    struct store_claim { // of the run that is measured: store_claim.c
        bool held;
        int fd;
    } claim;
};

void store_run_unclaim(struct store *store); // gives up the claim, if there is one

// Translates the connection's last error; `doing` ("store a form") completes "cannot ...". -1.
int store_error(struct store *store, struct err *err, const char *doing);

// The statement of a literal, prepared once and reset; NULL after an error.
sqlite3_stmt *store_prepare(struct store *store, struct err *err, const char *sql);

// A prepared statement with its parameters bound from the arguments, one letter each in `types`:
// i int64_t, d double (NaN becomes NULL), s text (NULL becomes ''), t text or NULL,
// b blob (const void *, then int64_t bytes; NULL pointer becomes NULL). The text must live until
// the statement is stepped. `sql` must be a literal. NULL after an error.
sqlite3_stmt *store_bind(struct store *store, struct err *err, const char *sql, const char *types,
                         ...);
// The same, then runs it to its end. 0 or -1.
int store_execute(struct store *store, struct err *err, const char *sql, const char *types, ...);
// The same for a query of one number: 1 and *value (0 where it is NULL), 0 if it gave no row, or
// -1.
int store_get_int(struct store *store, struct err *err, int64_t *value, const char *sql,
                  const char *types, ...);
// Columns of the current row; the file may have NULL where ours have none. A text as it is stored,
// valid until the next row, "" where it is NULL.
const char *store_text(sqlite3_stmt *stmt, int column);
// A text to be shown, owned by the arena: what is not plain is escaped.
const char *store_column_text(sqlite3_stmt *stmt, int column, struct arena *arena);
// A number, NaN where it is NULL; an outcome, SKIPPED where it is none.
double store_column_real(sqlite3_stmt *stmt, int column);
enum outcome store_column_outcome(sqlite3_stmt *stmt, int column);
// After a loop over rows that sqlite3_step() ended with `got`: resets the statement. 0 or -1.
int store_rows_end(struct store *store, sqlite3_stmt *stmt, int got, struct err *err);
// A number that can be stored: NaN, which becomes NULL, where it is not finite.
double store_finite(double value);
// Runs SQL of several statements.
int store_script(struct store *store, struct err *err, const char *sql, const char *doing);

// A unit of work inside or outside of the caller's transaction: undone as a whole when it fails.
int store_unit_begin(struct store *store, bool *own, struct err *err);
int store_unit_end(struct store *store, bool own, int result, struct err *err);

// The rows of cpu that say of themselves what this one says; its values are the statement's only
// ones. `features` must live as long as the statement is used.
#define STORE_THIS_CPU                                                                             \
    "vendor = ? AND signature = ? AND brand = ? AND core_type = ? AND native_model = ? "           \
    "AND hypervisor = ? AND features = ? "
sqlite3_stmt *store_bind_cpu(struct store *store, const char *sql, const struct cpu_info *cpu,
                             struct strbuf *features, struct err *err);

// The rows of cpu that are the same machine as row ?1, whatever it was taken for.
#define STORE_SAME_MACHINE                                                                         \
    "(SELECT other.cpu_id FROM cpu AS mine JOIN cpu AS other USING (vendor, signature, brand, "    \
    "core_type, native_model, hypervisor, features, microcode, tsc_invariant) "                    \
    "WHERE mine.cpu_id = ?1) "

// 0, or -1 if it has; then what it holds is copied beside the place where it was, if that works.
int store_check_place(struct store *store, struct err *err);

// store_place.c: whether the file, or where there is none its directory, is on a file system that
// other machines may write to, or that is made by a program; `type` as statfs() gives it.
bool store_is_remote(const char *path);
bool store_is_remote_type(unsigned long type);
// Says that a database in the directory of `path` is in use by this process: a descriptor, to be
// closed after the database, or -1 where that cannot be said.
int store_place_hold(const char *path);
// Whether nobody else has said so; nobody then opens one there before `place` is closed.
bool store_place_alone(int place);
// Changes to the write-ahead log where the file system allows it, else to a rollback journal.
void store_use_log(struct store *store);

// Opens without looking at the content, with the defensive settings.
int store_connect(const char *path, int flags, struct store **store, struct err *err);

// store_schema.c: makes or migrates the schema and the views of a database opened for writing.
int store_schema_identify(struct store *store, bool *fresh, int64_t *version, struct err *err);
int store_schema_prepare(struct store *store, struct err *err);
// Views of our own text in the temporary schema, which hide those of the file.
int store_schema_temporary_views(struct store *store, struct err *err);
// Whether tables, indexes and triggers are those of our schema version `version`; 0 or -1.
int store_schema_compare(struct store *store, int64_t version, struct err *err);

// store_form.c: derived rows; kernel_id 0: none decides.
int store_put_estimate(struct store *store, int64_t kernel_id, const struct estimate *estimate,
                       struct err *err);
int store_put_result(struct store *store, int64_t test_id, const struct test_result *result,
                     int64_t kernel_id, struct err *err);

// store_form.c: the row of a form in a run, added if it is not there.
int store_run_form_id(struct store *store, int64_t run_id, const struct list_row *row,
                      const struct form_place *place, int64_t *run_form_id, struct err *err);
// A number where there is a result; else NaN, which becomes NULL: the database refuses others.
double store_number(enum outcome outcome, double value);

// store_read.c: a statement whose columns are those of the view, to be finalized; NULL after an
// error.
sqlite3_stmt *store_view_columns(struct store *store, enum store_view view, struct err *err);

// Of a row of `run`: whether it was measured and is kept without kernels (MERGE_KEEP_RESULTS).
#define STORE_RUN_IS_SLIM                                                                          \
    "EXISTS (SELECT 1 FROM run_form JOIN test USING (run_form_id) WHERE run_form.run_id = "        \
    "run.run_id AND test.outcome = 'ok') AND NOT EXISTS (SELECT 1 FROM run_form JOIN test USING "  \
    "(run_form_id) JOIN kernel USING (test_id) WHERE run_form.run_id = run.run_id)"

// Of a row of `run`: whether it was measured into this database, and has not come by a merge. Only
// such runs say what this machine is.
#define STORE_RUN_IS_OWN "(run.run_id NOT IN (SELECT merged_run.run_id FROM merged_run))"

// SQL, in terms of `result`: derive_is_scattered().
#define STORE_SCATTERED "(result.bound = 'upper' AND coalesce(result.states, 1) = 0)"

// "2026-01-31T12:34:56Z"
void store_now_utc(char text[32]);
// Lower-case hexadecimal sha256.
void store_sha256(const void *bytes, size_t len, char hex[65]);

#endif
