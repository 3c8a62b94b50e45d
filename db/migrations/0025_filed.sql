-- SPDX-License-Identifier: MIT
-- Schema 25: a run is filed under its CPU when it ends. Explained in db/schema.sql.
DROP TRIGGER run_no_update;
CREATE TRIGGER run_no_update BEFORE UPDATE OF run_id, uuid, version, nasm_version, os_kernel,
    backend, lists, tables, frequency, selection, tsc_hz, core_hz, overhead_tsc, calib_link_clk,
    measuring_cpu, started_utc ON run
BEGIN SELECT raise(ABORT, 'facts are append-only: run'); END;
PRAGMA user_version = 25;
