-- SPDX-License-Identifier: MIT
-- Schema 19: a part of the core that takes fewer slots a cycle than dispatch has. Columns are
-- explained in db/schema.sql.
ALTER TABLE port_model ADD COLUMN side_width INTEGER CHECK (side_width BETWEEN 1 AND 64);
ALTER TABLE port_model ADD COLUMN side_probe TEXT CHECK (length(side_probe) BETWEEN 1 AND 1000);
ALTER TABLE port_model ADD COLUMN side_clk REAL CHECK (side_clk > 0);
ALTER TABLE port_class ADD COLUMN side INTEGER NOT NULL DEFAULT 0 CHECK (side IN (0, 1));
ALTER TABLE port_result ADD COLUMN side_slots REAL CHECK (side_slots >= 0);
PRAGMA user_version = 19;
