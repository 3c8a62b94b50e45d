-- SPDX-License-Identifier: MIT
-- Schema 15: what operands are to their instruction. Columns are explained in db/schema.sql.
CREATE TABLE operand_role (
    run_form_id INTEGER NOT NULL REFERENCES run_form,
    operand TEXT NOT NULL CHECK (length(operand) BETWEEN 1 AND 60),
    role TEXT NOT NULL CHECK (length(role) BETWEEN 1 AND 60),
    PRIMARY KEY (run_form_id, operand)
) STRICT, WITHOUT ROWID;
PRAGMA user_version = 15;
