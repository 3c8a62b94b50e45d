-- SPDX-License-Identifier: MIT
-- Schema 2: ports (their structure, what forms use of them, the evidence) and how well they
-- predict. The canary is known by its number, since one of them is a mixture of lengths. Columns
-- are explained in db/schema.sql.
ALTER TABLE canary_floor RENAME COLUMN nop_bytes TO canary;
ALTER TABLE canary_floor RENAME COLUMN nop_clk TO instr_clk;

CREATE TABLE port_model (
    run_id INTEGER PRIMARY KEY REFERENCES run,
    width INTEGER NOT NULL CHECK (width BETWEEN 1 AND 64),
    nports INTEGER NOT NULL CHECK (nports BETWEEN 0 AND 32),
    filler TEXT NOT NULL CHECK (length(filler) <= 1000),
    residual REAL CHECK (residual >= 0),
    unexplained INTEGER NOT NULL CHECK (unexplained BETWEEN 0 AND 1000000)
) STRICT;

CREATE TABLE port_class (
    run_id INTEGER NOT NULL REFERENCES port_model,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000),
    ports_mask INTEGER NOT NULL CHECK (ports_mask BETWEEN 1 AND 4294967295),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    blocker TEXT NOT NULL CHECK (length(blocker) <= 1000),
    blocker_clk REAL CHECK (blocker_clk >= 0),
    members INTEGER NOT NULL CHECK (members BETWEEN 0 AND 1000000),
    PRIMARY KEY (run_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE port_unit (
    run_id INTEGER NOT NULL REFERENCES port_model,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    blocker TEXT NOT NULL CHECK (length(blocker) <= 1000),
    blocker_clk REAL CHECK (blocker_clk >= 0),
    PRIMARY KEY (run_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE port_result (
    run_form_id INTEGER PRIMARY KEY REFERENCES run_form,
    method TEXT NOT NULL CHECK (method IN ('throughput', 'counter')),
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'unsupported', 'asm_failed', 'link_failed',
        'signalled', 'timed_out', 'unstable', 'not_measurable', 'skipped')),
    detail TEXT NOT NULL CHECK (length(detail) <= 4000),
    ambiguous INTEGER NOT NULL CHECK (ambiguous IN (0, 1)),
    ports TEXT CHECK (length(ports) <= 1000),
    uops INTEGER CHECK (uops BETWEEN 0 AND 100000),
    slots REAL CHECK (slots >= 0),
    unit TEXT NOT NULL CHECK (length(unit) <= 100),
    busy_clk REAL CHECK (busy_clk >= 0),
    residual REAL CHECK (residual >= 0),
    CHECK (outcome = 'ok' OR (ports IS NULL AND uops IS NULL AND slots IS NULL AND busy_clk IS NULL
        AND residual IS NULL))
) STRICT;

CREATE TABLE port_use (
    run_form_id INTEGER NOT NULL REFERENCES port_result,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000),
    ports_mask INTEGER NOT NULL CHECK (ports_mask BETWEEN 1 AND 4294967295),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    uops INTEGER NOT NULL CHECK (uops BETWEEN 1 AND 100000),
    PRIMARY KEY (run_form_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE port_trial (
    run_form_id INTEGER NOT NULL REFERENCES port_result,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 100000),
    blocker TEXT NOT NULL CHECK (length(blocker) BETWEEN 1 AND 1000),
    instances INTEGER NOT NULL CHECK (instances BETWEEN 0 AND 1000000),
    blockers INTEGER NOT NULL CHECK (blockers BETWEEN 0 AND 1000000),
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'unsupported', 'asm_failed', 'link_failed',
        'signalled', 'timed_out', 'unstable', 'not_measurable', 'skipped')),
    clk REAL CHECK (clk >= 0),
    spread_clk REAL CHECK (spread_clk >= 0),
    CHECK (outcome = 'ok' OR (clk IS NULL AND spread_clk IS NULL)),
    PRIMARY KEY (run_form_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE validation (
    validation_id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run,
    seed INTEGER NOT NULL,
    mixes INTEGER NOT NULL CHECK (mixes BETWEEN 0 AND 100000000),
    mape_percent REAL CHECK (mape_percent >= 0),
    kendall_tau REAL CHECK (kendall_tau BETWEEN -1 AND 1),
    within_10_percent REAL CHECK (within_10_percent BETWEEN 0 AND 100),
    recorded_utc TEXT NOT NULL CHECK (recorded_utc GLOB '????-??-??T??:??:??Z')
) STRICT;
CREATE INDEX validation_by_run ON validation (run_id);

CREATE TABLE validation_class (
    validation_id INTEGER NOT NULL REFERENCES validation,
    class TEXT NOT NULL CHECK (length(class) BETWEEN 1 AND 200),
    mixes INTEGER NOT NULL CHECK (mixes BETWEEN 0 AND 100000000),
    mape_percent REAL CHECK (mape_percent >= 0),
    within_10_percent REAL CHECK (within_10_percent BETWEEN 0 AND 100),
    PRIMARY KEY (validation_id, class)
) STRICT, WITHOUT ROWID;

CREATE TABLE validation_mix (
    validation_id INTEGER NOT NULL REFERENCES validation,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000000),
    mix TEXT NOT NULL CHECK (length(mix) BETWEEN 1 AND 4000),
    measured_clk REAL NOT NULL CHECK (measured_clk >= 0),
    predicted_clk REAL NOT NULL CHECK (predicted_clk >= 0),
    PRIMARY KEY (validation_id, position)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER port_model_no_update BEFORE UPDATE ON port_model
BEGIN SELECT raise(ABORT, 'facts are append-only: port_model'); END;
CREATE TRIGGER port_model_no_delete BEFORE DELETE ON port_model
BEGIN SELECT raise(ABORT, 'facts are append-only: port_model'); END;
CREATE TRIGGER port_class_no_update BEFORE UPDATE ON port_class
BEGIN SELECT raise(ABORT, 'facts are append-only: port_class'); END;
CREATE TRIGGER port_class_no_delete BEFORE DELETE ON port_class
BEGIN SELECT raise(ABORT, 'facts are append-only: port_class'); END;
CREATE TRIGGER port_unit_no_update BEFORE UPDATE ON port_unit
BEGIN SELECT raise(ABORT, 'facts are append-only: port_unit'); END;
CREATE TRIGGER port_unit_no_delete BEFORE DELETE ON port_unit
BEGIN SELECT raise(ABORT, 'facts are append-only: port_unit'); END;
CREATE TRIGGER port_result_no_update BEFORE UPDATE ON port_result
BEGIN SELECT raise(ABORT, 'facts are append-only: port_result'); END;
CREATE TRIGGER port_result_no_delete BEFORE DELETE ON port_result
BEGIN SELECT raise(ABORT, 'facts are append-only: port_result'); END;
CREATE TRIGGER port_use_no_update BEFORE UPDATE ON port_use
BEGIN SELECT raise(ABORT, 'facts are append-only: port_use'); END;
CREATE TRIGGER port_use_no_delete BEFORE DELETE ON port_use
BEGIN SELECT raise(ABORT, 'facts are append-only: port_use'); END;
CREATE TRIGGER port_trial_no_update BEFORE UPDATE ON port_trial
BEGIN SELECT raise(ABORT, 'facts are append-only: port_trial'); END;
CREATE TRIGGER port_trial_no_delete BEFORE DELETE ON port_trial
BEGIN SELECT raise(ABORT, 'facts are append-only: port_trial'); END;
CREATE TRIGGER validation_no_update BEFORE UPDATE ON validation
BEGIN SELECT raise(ABORT, 'facts are append-only: validation'); END;
CREATE TRIGGER validation_no_delete BEFORE DELETE ON validation
BEGIN SELECT raise(ABORT, 'facts are append-only: validation'); END;
CREATE TRIGGER validation_class_no_update BEFORE UPDATE ON validation_class
BEGIN SELECT raise(ABORT, 'facts are append-only: validation_class'); END;
CREATE TRIGGER validation_class_no_delete BEFORE DELETE ON validation_class
BEGIN SELECT raise(ABORT, 'facts are append-only: validation_class'); END;
CREATE TRIGGER validation_mix_no_update BEFORE UPDATE ON validation_mix
BEGIN SELECT raise(ABORT, 'facts are append-only: validation_mix'); END;
CREATE TRIGGER validation_mix_no_delete BEFORE DELETE ON validation_mix
BEGIN SELECT raise(ABORT, 'facts are append-only: validation_mix'); END;
PRAGMA user_version = 2;
