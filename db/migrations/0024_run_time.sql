-- SPDX-License-Identifier: MIT
-- Schema 24: where the time of a run went. Explained in db/schema.sql.
CREATE TABLE run_time (
    run_id INTEGER NOT NULL REFERENCES run,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000000),
    total_s REAL NOT NULL CHECK (total_s BETWEEN 0 AND 1e9),
    measuring_s REAL NOT NULL CHECK (measuring_s BETWEEN 0 AND 1e9),
    programs_s REAL NOT NULL CHECK (programs_s BETWEEN 0 AND 1e9),
    inferring_s REAL NOT NULL CHECK (inferring_s BETWEEN 0 AND 1e9),
    writing_s REAL NOT NULL CHECK (writing_s BETWEEN 0 AND 1e9),
    assembling_s REAL NOT NULL CHECK (assembling_s BETWEEN 0 AND 1e9),
    linking_s REAL NOT NULL CHECK (linking_s BETWEEN 0 AND 1e9),
    quiet_s REAL NOT NULL CHECK (quiet_s BETWEEN 0 AND 1e9),
    gaps_s REAL NOT NULL CHECK (gaps_s BETWEEN 0 AND 1e9),
    user_cpu_s REAL NOT NULL CHECK (user_cpu_s BETWEEN 0 AND 1e9),
    kernel_cpu_s REAL NOT NULL CHECK (kernel_cpu_s BETWEEN 0 AND 1e9),
    repeats_accepted INTEGER NOT NULL CHECK (repeats_accepted BETWEEN 0 AND 1000000000000000),
    repeats_disturbed INTEGER NOT NULL CHECK (repeats_disturbed BETWEEN 0 AND 1000000000000000),
    repeats_disagreeing INTEGER NOT NULL
        CHECK (repeats_disagreeing BETWEEN 0 AND 1000000000000000),
    repeats_uncounted INTEGER NOT NULL CHECK (repeats_uncounted BETWEEN 0 AND 1000000000000000),
    repeats_too_few INTEGER NOT NULL CHECK (repeats_too_few BETWEEN 0 AND 1000000000000000),
    PRIMARY KEY (run_id, position)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER run_time_no_update BEFORE UPDATE ON run_time
BEGIN SELECT raise(ABORT, 'facts are append-only: run_time'); END;
CREATE TRIGGER run_time_no_delete BEFORE DELETE ON run_time
BEGIN SELECT raise(ABORT, 'facts are append-only: run_time'); END;
PRAGMA user_version = 24;
