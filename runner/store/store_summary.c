// SPDX-License-Identifier: MIT
// The tests of each form in a run, condensed to one row: form_summary keeps what the view
// run_form_result makes of them in seconds a run. A row is written in the transaction of the
// results that it follows from. Packs have none, and a view of the rows that computes them.
#include "store_internal.h"

#include "util/mem.h"

#include <stdlib.h>

#define SUMMARY_OF "INSERT OR REPLACE INTO form_summary SELECT * FROM run_form_result"

static int summary_put_one(struct store *store, int64_t run_form_id, struct err *err)
{
    return store_execute(store, err, SUMMARY_OF " WHERE run_form_id = ?1", "i", run_form_id);
}

// Writes the rows of completing runs; form_id 0: of all forms. (One after another: SQLite finds a
// row of the view at once, but not several.)
static int summary_put_completing(struct store *store, int64_t form_id, struct err *err)
{
    sqlite3_stmt *stmt =
        form_id
            ? store_bind(store, err, "SELECT run_form_id FROM completing_form WHERE form_id = ?1",
                         "i", form_id)
            : store_bind(store, err, "SELECT run_form_id FROM completing_form", "");
    int64_t *ids = NULL;
    size_t capacity = 0, n = 0;
    int got = SQLITE_DONE;
    while (stmt && (got = sqlite3_step(stmt)) == SQLITE_ROW) {
        ids = xgrow(ids, &capacity, n + 1, sizeof *ids);
        ids[n++] = sqlite3_column_int64(stmt, 0);
    }
    int status = stmt ? store_rows_end(store, stmt, got, err) : -1;
    for (size_t i = 0; i < n && status == 0; i++)
        status = summary_put_one(store, ids[i], err);
    free(ids);
    return status;
}

int store_summary_put(struct store *store, int64_t run_form_id, struct err *err)
{
    int64_t form_id = 0;
    if (summary_put_one(store, run_form_id, err) != 0 ||
        store_get_int(store, err, &form_id, "SELECT form_id FROM run_form WHERE run_form_id = ?1",
                      "i", run_form_id) != 1)
        return -1;
    return summary_put_completing(store, form_id, err);
}

int store_summary_complete(struct store *store, struct err *err)
{
    return summary_put_completing(store, 0, err);
}

int store_summary_renew(struct store *store, struct err *err)
{
    return store_script(store, err, "DELETE FROM form_summary; " SUMMARY_OF,
                        "condense what was measured");
}

int store_summary_fits(struct store *store, struct err *err)
{
    int64_t fits = 0;
    int got = store_get_int(store, err, &fits,
                            "SELECT EXISTS (SELECT 1 FROM form_summary WHERE run_form_id = "
                            "(SELECT run_form_id FROM test ORDER BY test_id DESC LIMIT 1)) "
                            "OR NOT EXISTS (SELECT 1 FROM test)",
                            "");
    return got < 0 ? -1 : fits > 0;
}

int store_summary_collect(struct store *store, struct err *err)
{
    return store_script(store, err,
                        "CREATE TEMP TABLE form_summary AS SELECT * FROM run_form_result; "
                        "CREATE UNIQUE INDEX temp.form_summary_key ON form_summary (run_form_id)",
                        "condense what was measured");
}

int store_summary_forget(struct store *store, struct err *err)
{
    struct strbuf sql = {0};
    sqlite3_stmt *stmt = store_bind(store, err,
                                    "SELECT replace(sql, 'form_summary', 'run_form_result') "
                                    "FROM sqlite_schema WHERE name = 'summary'",
                                    "");
    if (!stmt)
        return -1;
    if (sqlite3_step(stmt) == SQLITE_ROW)
        strbuf_printf(&sql, "DROP VIEW summary; %s; DELETE FROM form_summary", store_text(stmt, 0));
    sqlite3_reset(stmt);
    int result = store_script(store, err, strbuf_text(&sql), "have its rows condensed");
    strbuf_free(&sql);
    return result;
}
