-- SPDX-License-Identifier: MIT
-- Schema 7: units of which some forms need all parts, and dispatch that loses slots. Columns are
-- explained in db/schema.sql.
ALTER TABLE port_unit ADD COLUMN whole_blocker TEXT NOT NULL DEFAULT ''
    CHECK (length(whole_blocker) <= 1000);
ALTER TABLE port_unit ADD COLUMN whole_clk REAL CHECK (whole_clk >= 0);
ALTER TABLE port_result ADD COLUMN whole INTEGER NOT NULL DEFAULT 0 CHECK (whole IN (0, 1));
ALTER TABLE port_result ADD COLUMN beside_clk REAL CHECK (beside_clk >= 0);
ALTER TABLE port_result ADD COLUMN slots_mixed REAL CHECK (slots_mixed >= 0);
PRAGMA user_version = 7;
