-- SPDX-License-Identifier: MIT
-- Schema 18: how long the front end delivers nothing because of a form. Columns are explained in
-- db/schema.sql.
ALTER TABLE port_result ADD COLUMN stall_clk REAL CHECK (stall_clk >= 0);
PRAGMA user_version = 18;
