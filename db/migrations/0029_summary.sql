-- SPDX-License-Identifier: MIT
-- Schema 29: the tests of a form in a run, condensed. Explained in db/schema.sql; filled when the
-- views are made.
CREATE TABLE form_summary (
    run_form_id INTEGER PRIMARY KEY REFERENCES run_form,
    latency_min_clk REAL,
    latency_max_clk REAL,
    latency_bound TEXT,
    latency_max_bound TEXT,
    latency_min_mark TEXT,
    latency_max_mark TEXT,
    fast_clk REAL,
    slow_clk REAL,
    fast_tests INTEGER NOT NULL,
    rthroughput_spread_clk REAL,
    without_latency INTEGER,
    accepted INTEGER NOT NULL,
    tried INTEGER NOT NULL,
    kinds_ok INTEGER NOT NULL,
    latency_asked INTEGER NOT NULL,
    rthroughput_asked INTEGER NOT NULL,
    trouble TEXT,
    rthroughput_bound TEXT,
    setting_clk REAL,
    note TEXT
) STRICT;
CREATE TRIGGER result_update_summary AFTER UPDATE ON result
BEGIN DELETE FROM form_summary; END;
PRAGMA user_version = 29;
