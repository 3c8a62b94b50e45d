-- SPDX-License-Identifier: MIT
-- Schema 10: kernels with several steady states, and latencies that are averages. Columns are
-- explained in db/schema.sql; `latput rederive` fills them for older runs.
CREATE TABLE estimate_state (
    kernel_id INTEGER NOT NULL REFERENCES kernel,
    position INTEGER NOT NULL CHECK (position BETWEEN 0 AND 100),
    instance_clk REAL NOT NULL,
    share REAL NOT NULL CHECK (share BETWEEN 0 AND 1),
    passes INTEGER NOT NULL CHECK (passes BETWEEN 1 AND 1000),
    PRIMARY KEY (kernel_id, position)
) STRICT, WITHOUT ROWID;
ALTER TABLE result ADD COLUMN average INTEGER NOT NULL DEFAULT 0 CHECK (average IN (0, 1));
ALTER TABLE result ADD COLUMN least_clk REAL;
ALTER TABLE result ADD COLUMN most_clk REAL;
ALTER TABLE result ADD COLUMN states INTEGER CHECK (states BETWEEN 0 AND 100);
PRAGMA user_version = 10;
