-- SPDX-License-Identifier: MIT
-- Schema 33: a run may complete another one. Explained in db/schema.sql.
ALTER TABLE run ADD COLUMN completes TEXT NOT NULL DEFAULT ''
    CHECK (completes NOT GLOB '*[^0-9a-f]*' AND length(completes) IN (0, 32));
DROP TRIGGER run_no_update;
CREATE TRIGGER run_no_update BEFORE UPDATE OF run_id, uuid, version, nasm_version, os_kernel,
    backend, lists, tables, frequency, selection, tsc_hz, core_hz, overhead_tsc, calib_link_clk,
    measuring_cpu, started_utc, label, completes ON run
BEGIN SELECT raise(ABORT, 'facts are append-only: run'); END;
PRAGMA user_version = 33;
