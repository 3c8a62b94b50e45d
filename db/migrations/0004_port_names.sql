-- SPDX-License-Identifier: MIT
-- Schema 4: the published names of single ports, so that a database says the same on any machine
-- and after the tables in cpuinfo/ports have changed. Columns are explained in db/schema.sql.
CREATE TABLE port_name (
    run_id INTEGER NOT NULL REFERENCES port_model,
    ports_mask INTEGER NOT NULL CHECK (ports_mask BETWEEN 1 AND 4294967295),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    PRIMARY KEY (run_id, ports_mask)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER port_name_no_update BEFORE UPDATE ON port_name
BEGIN SELECT raise(ABORT, 'facts are append-only: port_name'); END;
CREATE TRIGGER port_name_no_delete BEFORE DELETE ON port_name
BEGIN SELECT raise(ABORT, 'facts are append-only: port_name'); END;
PRAGMA user_version = 4;
