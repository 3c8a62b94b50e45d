// SPDX-License-Identifier: MIT
// The tests of each form in a run, condensed to one row: form_summary keeps what the view
// run_form_result makes of them in seconds a run. A row is written in the transaction of the
// results that it follows from. Packs have none, and a view of the rows that computes them.
#include "store_internal.h"

#define SUMMARY_OF "INSERT OR REPLACE INTO form_summary SELECT * FROM run_form_result"

int store_summary_put(struct store *store, int64_t run_form_id, struct err *err)
{
    return store_execute(store, err,
                         SUMMARY_OF " WHERE run_form_id IN (SELECT ?1 UNION SELECT run_form_id "
                                    "FROM completing_form WHERE form_id = "
                                    "(SELECT form_id FROM run_form WHERE run_form_id = ?1))",
                         "i", run_form_id);
}

int store_summary_complete(struct store *store, struct err *err)
{
    return store_execute(store, err,
                         SUMMARY_OF
                         " WHERE run_form_id IN (SELECT run_form_id FROM completing_form)",
                         "");
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
