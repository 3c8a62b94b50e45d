-- SPDX-License-Identifier: MIT
-- Schema 6: core cycles and µops by counters, and where every count comes from. Columns are
-- explained in db/schema.sql.
ALTER TABLE timing ADD COLUMN overhead_counted_clk REAL;
ALTER TABLE sample ADD COLUMN counted_clk INTEGER CHECK (counted_clk BETWEEN 0 AND 4294967295);
ALTER TABLE estimate ADD COLUMN calibrated_clk REAL;

CREATE TABLE run_event (
    run_id INTEGER NOT NULL REFERENCES run,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000),
    event TEXT NOT NULL CHECK (length(event) BETWEEN 1 AND 255),
    code TEXT NOT NULL CHECK (length(code) <= 255),
    backend TEXT NOT NULL CHECK (length(backend) BETWEEN 1 AND 200),
    counter_table TEXT NOT NULL CHECK (length(counter_table) <= 200),
    table_version TEXT NOT NULL CHECK (length(table_version) <= 200),
    PRIMARY KEY (run_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE port_trial_count (
    run_form_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    event TEXT NOT NULL CHECK (length(event) BETWEEN 1 AND 255),
    uops REAL NOT NULL,
    PRIMARY KEY (run_form_id, position, event),
    FOREIGN KEY (run_form_id, position) REFERENCES port_trial
) STRICT, WITHOUT ROWID;

CREATE TRIGGER run_event_no_update BEFORE UPDATE ON run_event
BEGIN SELECT raise(ABORT, 'facts are append-only: run_event'); END;
CREATE TRIGGER run_event_no_delete BEFORE DELETE ON run_event
BEGIN SELECT raise(ABORT, 'facts are append-only: run_event'); END;
CREATE TRIGGER port_trial_count_no_update BEFORE UPDATE ON port_trial_count
BEGIN SELECT raise(ABORT, 'facts are append-only: port_trial_count'); END;
CREATE TRIGGER port_trial_count_no_delete BEFORE DELETE ON port_trial_count
BEGIN SELECT raise(ABORT, 'facts are append-only: port_trial_count'); END;
PRAGMA user_version = 6;
