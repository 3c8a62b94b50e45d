-- SPDX-License-Identifier: MIT
-- Schema 16: how the ports of a form were found, by search or as a sibling's. Columns are explained
-- in db/schema.sql.
ALTER TABLE port_model ADD COLUMN drawn_seed INTEGER CHECK (drawn_seed BETWEEN 1 AND 4294967295);
ALTER TABLE port_result ADD COLUMN way TEXT NOT NULL DEFAULT 'search'
    CHECK (way IN ('search', 'sibling', 'refuted', 'agrees', 'differs'));
PRAGMA user_version = 16;
