-- SPDX-License-Identifier: MIT
-- Schema 11: the issue width is measured with the canary's floor. Columns are explained in
-- db/schema.sql.
ALTER TABLE canary_floor ADD COLUMN issue_width INTEGER CHECK (issue_width BETWEEN 1 AND 64);
PRAGMA user_version = 11;
