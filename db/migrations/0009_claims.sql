-- SPDX-License-Identifier: MIT
-- Schema 9: what a CPU's signature claims, and what is believed instead. Columns are explained in
-- db/schema.sql. Runs of older versions believed the claim.
ALTER TABLE cpu ADD COLUMN inferred INTEGER NOT NULL DEFAULT 0 CHECK (inferred IN (0, 1));
ALTER TABLE run ADD COLUMN claimed_uarch TEXT NOT NULL DEFAULT 'unknown'
    CHECK (length(claimed_uarch) BETWEEN 1 AND 31);
ALTER TABLE run ADD COLUMN decided TEXT NOT NULL DEFAULT 'unknown'
    CHECK (decided IN ('claim', 'inferred', 'override', 'unknown'));
ALTER TABLE run ADD COLUMN evidence TEXT NOT NULL DEFAULT '' CHECK (length(evidence) <= 4000);
ALTER TABLE run ADD COLUMN measured_width INTEGER CHECK (measured_width BETWEEN 1 AND 64);
DROP TRIGGER run_finish_once;
DROP TRIGGER run_no_update;
UPDATE run SET claimed_uarch = (SELECT uarch FROM cpu WHERE cpu.cpu_id = run.cpu_id);
UPDATE run SET decided = 'claim' WHERE claimed_uarch <> 'unknown';
CREATE TRIGGER run_finish_once BEFORE UPDATE ON run WHEN old.finished_utc IS NOT NULL
BEGIN SELECT raise(ABORT, 'facts are append-only: the run is finished'); END;
CREATE TRIGGER run_no_update BEFORE UPDATE OF run_id, uuid, cpu_id, version, nasm_version,
    os_kernel, backend, lists, tables, frequency, selection, tsc_hz, core_hz, overhead_tsc,
    issue_width, calib_link_clk, measuring_cpu, started_utc, claimed_uarch, decided, evidence,
    measured_width ON run
BEGIN SELECT raise(ABORT, 'facts are append-only: run'); END;
PRAGMA user_version = 9;
