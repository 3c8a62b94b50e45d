-- SPDX-License-Identifier: MIT
-- Schema 30: a property that was renamed has one name in all runs, so that they are compared.
DROP TRIGGER property_no_update;
UPDATE property SET name = 'bypass_delay' WHERE name = 'handover';
CREATE TRIGGER property_no_update BEFORE UPDATE ON property
BEGIN SELECT raise(ABORT, 'facts are append-only: property'); END;
PRAGMA user_version = 30;
