-- SPDX-License-Identifier: MIT
-- Schema 32: a name for the machine of a run, to tell machines of one CPU family apart.
ALTER TABLE run ADD COLUMN label TEXT NOT NULL DEFAULT ''
    CHECK (label NOT GLOB '*[^a-z0-9_-]*' AND length(label) <= 20);
DROP TRIGGER run_no_update;
CREATE TRIGGER run_no_update BEFORE UPDATE OF run_id, uuid, version, nasm_version, os_kernel,
    backend, lists, tables, frequency, selection, tsc_hz, core_hz, overhead_tsc, calib_link_clk,
    measuring_cpu, started_utc, label ON run
BEGIN SELECT raise(ABORT, 'facts are append-only: run'); END;
PRAGMA user_version = 32;
