-- SPDX-License-Identifier: MIT
-- Schema 31: a run may move to another CPU: how often, and the CPU that each timing is from.
ALTER TABLE run_time ADD COLUMN moves INTEGER NOT NULL DEFAULT 0
    CHECK (moves BETWEEN 0 AND 1000000);
ALTER TABLE timing ADD COLUMN cpu INTEGER CHECK (cpu BETWEEN 0 AND 1000000);
PRAGMA user_version = 31;
