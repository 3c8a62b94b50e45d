-- SPDX-License-Identifier: MIT
-- Schema 12: properties of the pipeline. Columns are explained in db/schema.sql.
-- A question about the pipeline, asked in a run: what its definition in lists/properties/ said
-- then.
CREATE TABLE property (
    property_id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000000), -- order in the run
    grp TEXT NOT NULL CHECK (length(grp) BETWEEN 1 AND 100), -- 'core': file name without .csv
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 100), -- 'reorder_buffer'
    title TEXT NOT NULL CHECK (length(title) <= 200),
    question TEXT NOT NULL CHECK (length(question) <= 1000), -- in one sentence
    x_unit TEXT NOT NULL CHECK (length(x_unit) <= 60), -- of the swept variable: 'entries', 'bytes'
    by_unit TEXT NOT NULL CHECK (length(by_unit) <= 60), -- of the second one, '' if there is none
    y_unit TEXT NOT NULL CHECK (y_unit IN ('clk', 'ns')),
    reading TEXT NOT NULL CHECK (length(reading) BETWEEN 1 AND 500),
        -- how it is read: 'knee least=0.2'
    compare TEXT NOT NULL CHECK (length(compare) <= 500),
        -- what the conclusion is compared with, ''
    definition TEXT NOT NULL CHECK (length(definition) <= 4000), -- the line of the list
    tsc_hz REAL NOT NULL CHECK (tsc_hz > 0), -- of the samples
    area_bytes INTEGER NOT NULL CHECK (area_bytes >= 0), -- of memory beside the data area
    area_huge_bytes INTEGER NOT NULL CHECK (area_huge_bytes >= 0), -- of it in huge pages
    seconds REAL NOT NULL CHECK (seconds >= 0), -- that measuring took
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'unsupported', 'asm_failed', 'link_failed',
        'signalled', 'timed_out', 'unstable', 'not_measurable', 'skipped')), -- 'ok': it was swept
    detail TEXT NOT NULL CHECK (length(detail) <= 4000), -- why not; or what was made smaller
    UNIQUE (run_id, name)
) STRICT;

CREATE TABLE property_variant (
    variant_id INTEGER PRIMARY KEY,
    property_id INTEGER NOT NULL REFERENCES property,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000000),
    name TEXT NOT NULL CHECK (length(name) <= 100), -- '' where there is one only
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'unsupported', 'asm_failed', 'link_failed',
        'signalled', 'timed_out', 'unstable', 'not_measurable', 'skipped')),
    detail TEXT NOT NULL CHECK (length(detail) <= 4000), -- why it was not swept
    UNIQUE (property_id, position)
) STRICT;

-- A point of a sweep.
CREATE TABLE sweep_point (
    point_id INTEGER PRIMARY KEY,
    variant_id INTEGER NOT NULL REFERENCES property_variant,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 10000000), -- in the order of measuring
    x REAL NOT NULL, -- swept variable
    by_x REAL, -- second swept variable; NULL: there is none
    instances INTEGER NOT NULL CHECK (instances BETWEEN 1 AND 2000000000),
        -- what one body counts as
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'unsupported', 'asm_failed', 'link_failed',
        'signalled', 'timed_out', 'unstable', 'not_measurable', 'skipped')),
    detail TEXT NOT NULL CHECK (length(detail) <= 4000) -- reason where it is not 'ok'
) STRICT;
CREATE INDEX sweep_point_by_variant ON sweep_point (variant_id);

-- One pass over a point, and its accepted repeats; as timing and sample.
CREATE TABLE sweep_timing (
    timing_id INTEGER PRIMARY KEY,
    point_id INTEGER NOT NULL REFERENCES sweep_point,
    pass INTEGER NOT NULL CHECK (pass BETWEEN 0 AND 1000),
    iterations INTEGER NOT NULL CHECK (iterations BETWEEN 1 AND 4294967295), -- of the loop
    copies INTEGER NOT NULL CHECK (copies BETWEEN 1 AND 4294967295), -- of the body in the loop
    calib_clk REAL NOT NULL, -- core cycles of the calibration chain
    overhead_tsc REAL NOT NULL, -- of a timing without work, not yet subtracted from the samples
    accepted INTEGER NOT NULL CHECK (accepted BETWEEN 0 AND 1000000),
        -- repeats that passed the gate
    tried INTEGER NOT NULL CHECK (tried BETWEEN 0 AND 1000000) -- repeats in all
) STRICT;
CREATE INDEX sweep_timing_by_point ON sweep_timing (point_id);
CREATE TABLE sweep_sample (
    timing_id INTEGER NOT NULL REFERENCES sweep_timing,
    seq INTEGER NOT NULL CHECK (seq BETWEEN 0 AND 1000000), -- order in the pass
    kernel_tsc INTEGER NOT NULL CHECK (kernel_tsc BETWEEN 0 AND 4294967295), -- the kernel
    before_tsc INTEGER NOT NULL CHECK (before_tsc BETWEEN 1 AND 4294967295),
        -- calibration before it
    after_tsc INTEGER NOT NULL CHECK (after_tsc BETWEEN 1 AND 4294967295), -- calibration after it
    canary_tsc INTEGER NOT NULL CHECK (canary_tsc BETWEEN 0 AND 4294967295),
        -- the worse of the two canaries
    PRIMARY KEY (timing_id, seq)
) STRICT, WITHOUT ROWID;

-- Derived: what the samples of a point say, in the property's y_unit an instance.
CREATE TABLE sweep_value (
    point_id INTEGER PRIMARY KEY REFERENCES sweep_point,
    y REAL NOT NULL,
    samples INTEGER NOT NULL CHECK (samples >= 1)
) STRICT;

-- Derived: what the points of a property say; runner/derive/conclude.h has the words.
CREATE TABLE conclusion (
    conclusion_id INTEGER PRIMARY KEY,
    property_id INTEGER NOT NULL REFERENCES property,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000000),
    variant TEXT NOT NULL CHECK (length(variant) <= 200), -- of the curve; '' where it is about all
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'none', 'unstable', 'ambiguous', 'too_few')),
    confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    sentence TEXT NOT NULL CHECK (length(sentence) <= 4000),
    UNIQUE (property_id, position)
) STRICT;
CREATE TABLE conclusion_value (
    conclusion_id INTEGER NOT NULL REFERENCES conclusion,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000000),
        -- the one that matters most first
    label TEXT NOT NULL CHECK (length(label) <= 200), -- 'knee', 'level 1', ...
    value REAL, -- NULL: none
    low REAL, -- with 95 % confidence
    high REAL,
    unit TEXT NOT NULL CHECK (length(unit) <= 60),
    PRIMARY KEY (conclusion_id, position)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER property_no_update BEFORE UPDATE ON property
BEGIN SELECT raise(ABORT, 'facts are append-only: property'); END;
CREATE TRIGGER property_no_delete BEFORE DELETE ON property
BEGIN SELECT raise(ABORT, 'facts are append-only: property'); END;
CREATE TRIGGER property_variant_no_update BEFORE UPDATE ON property_variant
BEGIN SELECT raise(ABORT, 'facts are append-only: property_variant'); END;
CREATE TRIGGER property_variant_no_delete BEFORE DELETE ON property_variant
BEGIN SELECT raise(ABORT, 'facts are append-only: property_variant'); END;
CREATE TRIGGER sweep_point_no_update BEFORE UPDATE ON sweep_point
BEGIN SELECT raise(ABORT, 'facts are append-only: sweep_point'); END;
CREATE TRIGGER sweep_point_no_delete BEFORE DELETE ON sweep_point
BEGIN SELECT raise(ABORT, 'facts are append-only: sweep_point'); END;
CREATE TRIGGER sweep_timing_no_update BEFORE UPDATE ON sweep_timing
BEGIN SELECT raise(ABORT, 'facts are append-only: sweep_timing'); END;
CREATE TRIGGER sweep_timing_no_delete BEFORE DELETE ON sweep_timing
BEGIN SELECT raise(ABORT, 'facts are append-only: sweep_timing'); END;
CREATE TRIGGER sweep_sample_no_update BEFORE UPDATE ON sweep_sample
BEGIN SELECT raise(ABORT, 'facts are append-only: sweep_sample'); END;
CREATE TRIGGER sweep_sample_no_delete BEFORE DELETE ON sweep_sample
BEGIN SELECT raise(ABORT, 'facts are append-only: sweep_sample'); END;
PRAGMA user_version = 12;
