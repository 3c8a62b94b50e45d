-- SPDX-License-Identifier: MIT
-- Schema 5: pieces of code measured by `latput bench --store`. Columns are explained in
-- db/schema.sql.
CREATE TABLE bench (
    bench_id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000000),
    label TEXT NOT NULL CHECK (length(label) <= 200),
    source TEXT NOT NULL CHECK (source IN ('text', 'nasm', 'c', 'object')),
    code TEXT NOT NULL CHECK (length(code) <= 1000000),
    file TEXT NOT NULL CHECK (length(file) <= 255 AND file NOT GLOB '*/*'),
    file_sha256 TEXT NOT NULL CHECK (length(file_sha256) IN (0, 64)),
    symbol TEXT NOT NULL CHECK (length(symbol) <= 1000),
    cflags TEXT NOT NULL CHECK (length(cflags) <= 4000),
    compiler TEXT NOT NULL CHECK (length(compiler) <= 200),
    init TEXT NOT NULL CHECK (length(init) <= 1000000),
    mode TEXT NOT NULL CHECK (mode IN ('latency', 'throughput')),
    breakers TEXT NOT NULL CHECK (length(breakers) <= 4000),
    bits INTEGER NOT NULL CHECK (bits IN (32, 64)),
    instances INTEGER NOT NULL CHECK (instances BETWEEN 0 AND 1000000000),
    copies INTEGER NOT NULL CHECK (copies BETWEEN 0 AND 4294967295),
    iterations INTEGER NOT NULL CHECK (iterations BETWEEN 0 AND 4294967295),
    cold INTEGER NOT NULL CHECK (cold IN (0, 1)),
    pass INTEGER NOT NULL CHECK (pass BETWEEN 0 AND 1000),
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'unsupported', 'asm_failed', 'link_failed',
        'signalled', 'timed_out', 'unstable', 'not_measurable', 'skipped')),
    detail TEXT NOT NULL CHECK (length(detail) <= 4000),
    code_bytes INTEGER CHECK (code_bytes BETWEEN 0 AND 16777216),
    machine_code BLOB CHECK (length(machine_code) <= 64),
    UNIQUE (run_id, position)
) STRICT;

CREATE TABLE bench_thread (
    bench_id INTEGER NOT NULL REFERENCES bench,
    thread INTEGER NOT NULL CHECK (thread BETWEEN 0 AND 1000),
    cpu INTEGER NOT NULL CHECK (cpu BETWEEN 0 AND 1048576),
    instance_clk REAL,
    median_clk REAL,
    spread_clk REAL,
    accepted INTEGER NOT NULL CHECK (accepted BETWEEN 0 AND 1000000000),
    tried INTEGER NOT NULL CHECK (tried BETWEEN 0 AND 1000000000),
    passes INTEGER NOT NULL CHECK (passes BETWEEN 0 AND 1000),
    PRIMARY KEY (bench_id, thread)
) STRICT, WITHOUT ROWID;

CREATE TABLE bench_metric (
    bench_id INTEGER NOT NULL REFERENCES bench,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000),
    kind TEXT NOT NULL CHECK (kind IN ('event', 'column')),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 1000),
    code TEXT NOT NULL CHECK (length(code) <= 1000),
    backend TEXT NOT NULL CHECK (length(backend) <= 200),
    table_version TEXT NOT NULL CHECK (length(table_version) <= 200),
    PRIMARY KEY (bench_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE bench_repetition (
    bench_id INTEGER NOT NULL REFERENCES bench,
    seq INTEGER NOT NULL CHECK (seq BETWEEN 0 AND 1000000000),
    thread INTEGER NOT NULL CHECK (thread BETWEEN 0 AND 1000),
    pass INTEGER NOT NULL CHECK (pass BETWEEN 0 AND 1000),
    repetition INTEGER NOT NULL CHECK (repetition BETWEEN 0 AND 1000000),
    cold INTEGER NOT NULL CHECK (cold IN (0, 1)),
    accepted INTEGER NOT NULL CHECK (accepted IN (0, 1)),
    tried INTEGER NOT NULL CHECK (tried BETWEEN 0 AND 1000000000),
    late_ns REAL,
    elapsed_tsc REAL,
    elapsed_clk REAL,
    PRIMARY KEY (bench_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE bench_value (
    bench_id INTEGER NOT NULL REFERENCES bench,
    seq INTEGER NOT NULL CHECK (seq BETWEEN 0 AND 1000000000),
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000),
    value REAL,
    PRIMARY KEY (bench_id, seq, position)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER bench_no_update BEFORE UPDATE ON bench
BEGIN SELECT raise(ABORT, 'facts are append-only: bench'); END;
CREATE TRIGGER bench_no_delete BEFORE DELETE ON bench
BEGIN SELECT raise(ABORT, 'facts are append-only: bench'); END;
CREATE TRIGGER bench_thread_no_update BEFORE UPDATE ON bench_thread
BEGIN SELECT raise(ABORT, 'facts are append-only: bench_thread'); END;
CREATE TRIGGER bench_thread_no_delete BEFORE DELETE ON bench_thread
BEGIN SELECT raise(ABORT, 'facts are append-only: bench_thread'); END;
CREATE TRIGGER bench_metric_no_update BEFORE UPDATE ON bench_metric
BEGIN SELECT raise(ABORT, 'facts are append-only: bench_metric'); END;
CREATE TRIGGER bench_metric_no_delete BEFORE DELETE ON bench_metric
BEGIN SELECT raise(ABORT, 'facts are append-only: bench_metric'); END;
CREATE TRIGGER bench_repetition_no_update BEFORE UPDATE ON bench_repetition
BEGIN SELECT raise(ABORT, 'facts are append-only: bench_repetition'); END;
CREATE TRIGGER bench_repetition_no_delete BEFORE DELETE ON bench_repetition
BEGIN SELECT raise(ABORT, 'facts are append-only: bench_repetition'); END;
CREATE TRIGGER bench_value_no_update BEFORE UPDATE ON bench_value
BEGIN SELECT raise(ABORT, 'facts are append-only: bench_value'); END;
CREATE TRIGGER bench_value_no_delete BEFORE DELETE ON bench_value
BEGIN SELECT raise(ABORT, 'facts are append-only: bench_value'); END;
PRAGMA user_version = 5;
