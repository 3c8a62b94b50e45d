-- SPDX-License-Identifier: MIT
-- Schema 22: slots of forms with the moves that cut what their instances wait for, which some cores
-- fuse; and the norm of what the front end and the ports take together. Columns are explained in
-- db/schema.sql.
ALTER TABLE port_result ADD COLUMN slots_moved REAL CHECK (slots_moved >= 0);
ALTER TABLE port_binding ADD COLUMN norm REAL CHECK (norm >= 1);
PRAGMA user_version = 22;
