-- SPDX-License-Identifier: MIT
-- Schema 3: the titles that a run's lists had. Columns are explained in db/schema.sql.
CREATE TABLE run_list (
    run_id INTEGER NOT NULL REFERENCES run,
    list_id INTEGER NOT NULL REFERENCES list,
    title TEXT NOT NULL CHECK (length(title) <= 200),
    PRIMARY KEY (run_id, list_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER run_list_no_update BEFORE UPDATE ON run_list
BEGIN SELECT raise(ABORT, 'facts are append-only: run_list'); END;
CREATE TRIGGER run_list_no_delete BEFORE DELETE ON run_list
BEGIN SELECT raise(ABORT, 'facts are append-only: run_list'); END;
PRAGMA user_version = 3;
