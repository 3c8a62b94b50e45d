-- SPDX-License-Identifier: MIT
-- Schema 23: how many forms are as fast as the front end and may need ports. Explained in
-- db/schema.sql.
ALTER TABLE port_model ADD COLUMN fast INTEGER CHECK (fast BETWEEN 0 AND 1000000);
PRAGMA user_version = 23;
