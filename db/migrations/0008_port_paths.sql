-- SPDX-License-Identifier: MIT
-- Schema 8: several shared paths for a form, and how early schedulers bind µops. Columns are
-- explained in db/schema.sql.
ALTER TABLE port_model ADD COLUMN binding REAL CHECK (binding BETWEEN 0 AND 1);
CREATE TABLE port_probe (
    run_id INTEGER NOT NULL REFERENCES port_model,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000),
    unit TEXT NOT NULL CHECK (length(unit) BETWEEN 1 AND 100),
    form TEXT NOT NULL CHECK (length(form) BETWEEN 1 AND 1000),
    share_clk REAL NOT NULL CHECK (share_clk > 0),
    PRIMARY KEY (run_id, position, unit)
) STRICT, WITHOUT ROWID;
CREATE TABLE port_share (
    run_form_id INTEGER NOT NULL REFERENCES port_result,
    unit TEXT NOT NULL CHECK (length(unit) BETWEEN 1 AND 100),
    share_clk REAL NOT NULL CHECK (share_clk > 0),
    PRIMARY KEY (run_form_id, unit)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER port_probe_no_update BEFORE UPDATE ON port_probe
BEGIN SELECT raise(ABORT, 'facts are append-only: port_probe'); END;
CREATE TRIGGER port_probe_no_delete BEFORE DELETE ON port_probe
BEGIN SELECT raise(ABORT, 'facts are append-only: port_probe'); END;
CREATE TRIGGER port_share_no_update BEFORE UPDATE ON port_share
BEGIN SELECT raise(ABORT, 'facts are append-only: port_share'); END;
CREATE TRIGGER port_share_no_delete BEFORE DELETE ON port_share
BEGIN SELECT raise(ABORT, 'facts are append-only: port_share'); END;
PRAGMA user_version = 8;
