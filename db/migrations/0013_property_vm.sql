-- SPDX-License-Identifier: MIT
-- Schema 13: why a property means little on a virtual machine. Columns are explained in
-- db/schema.sql.
ALTER TABLE property ADD COLUMN vm TEXT NOT NULL DEFAULT '' CHECK (vm IN ('', 'paging',
    'placement', 'trap', 'clock'));
PRAGMA user_version = 13;
