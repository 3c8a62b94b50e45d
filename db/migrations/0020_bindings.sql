-- SPDX-License-Identifier: MIT
-- Schema 20: schedulers may bind what writes some kind of operand earlier than the rest. Columns
-- are explained in db/schema.sql.
CREATE TABLE port_binding (
    run_id INTEGER NOT NULL REFERENCES port_model,
    writes TEXT NOT NULL CHECK (writes IN ('flags', 'general-purpose', 'vectors', 'masks', 'memory',
        'others')),
    binding REAL NOT NULL CHECK (binding BETWEEN 0 AND 1),
    PRIMARY KEY (run_id, writes)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER port_binding_no_update BEFORE UPDATE ON port_binding
BEGIN SELECT raise(ABORT, 'facts are append-only: port_binding'); END;
CREATE TRIGGER port_binding_no_delete BEFORE DELETE ON port_binding
BEGIN SELECT raise(ABORT, 'facts are append-only: port_binding'); END;
ALTER TABLE port_result ADD COLUMN binding_more REAL CHECK (binding_more BETWEEN -1 AND 1);
PRAGMA user_version = 20;
