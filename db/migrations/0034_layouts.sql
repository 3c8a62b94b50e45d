-- SPDX-License-Identifier: MIT
-- Schema 34: in how many layouts each random mix of a validation was timed; a run has all of its
-- own mixes.
ALTER TABLE validation ADD COLUMN layouts INTEGER CHECK (layouts BETWEEN 1 AND 100);
PRAGMA user_version = 34;
