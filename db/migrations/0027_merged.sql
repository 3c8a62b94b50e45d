-- SPDX-License-Identifier: MIT
-- Schema 27: which runs came by merge. Explained in db/schema.sql.
CREATE TABLE merged_run (
    run_id INTEGER PRIMARY KEY REFERENCES run
) STRICT;
CREATE TRIGGER merged_run_no_update BEFORE UPDATE ON merged_run
BEGIN SELECT raise(ABORT, 'facts are append-only: merged_run'); END;
CREATE TRIGGER merged_run_no_delete BEFORE DELETE ON merged_run
BEGIN SELECT raise(ABORT, 'facts are append-only: merged_run'); END;
PRAGMA user_version = 27;
