-- SPDX-License-Identifier: MIT
-- Schema 14: ports that depend on how wide the vectors in a mix are. Columns are explained in
-- db/schema.sql.
ALTER TABLE port_model ADD COLUMN teller INTEGER CHECK (teller BETWEEN 0 AND 1000);
ALTER TABLE port_model ADD COLUMN teller_clk REAL CHECK (teller_clk > 0);
ALTER TABLE port_class ADD COLUMN holds TEXT NOT NULL DEFAULT 'always'
    CHECK (holds IN ('always', 'narrow', 'wide', 'wide forms'));
ALTER TABLE port_result ADD COLUMN wide INTEGER NOT NULL DEFAULT 0 CHECK (wide IN (0, 1));
CREATE TABLE port_use_wide (
    run_form_id INTEGER NOT NULL REFERENCES port_result,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 1000),
    ports_mask INTEGER NOT NULL CHECK (ports_mask BETWEEN 1 AND 4294967295),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    uops INTEGER NOT NULL CHECK (uops BETWEEN 1 AND 100000),
    PRIMARY KEY (run_form_id, position)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER port_use_wide_no_update BEFORE UPDATE ON port_use_wide
BEGIN SELECT raise(ABORT, 'facts are append-only: port_use_wide'); END;
CREATE TRIGGER port_use_wide_no_delete BEFORE DELETE ON port_use_wide
BEGIN SELECT raise(ABORT, 'facts are append-only: port_use_wide'); END;
PRAGMA user_version = 14;
