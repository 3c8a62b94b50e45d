-- SPDX-License-Identifier: MIT
-- Schema 21: what a form writes instead of how early its µops are bound, which follows; and the
-- bindings that mixes of all forms show, beside those that the search for the structure found.
-- Columns are explained in db/schema.sql.
ALTER TABLE port_result ADD COLUMN writes TEXT CHECK (writes IN ('flags', 'general-purpose',
    'vectors', 'masks', 'memory', 'others'));
DROP TRIGGER port_result_no_update;
UPDATE port_result SET writes = (
    SELECT port_binding.writes FROM run_form JOIN port_binding USING (run_id)
        JOIN port_model USING (run_id)
    WHERE run_form.run_form_id = port_result.run_form_id
        AND abs(port_binding.binding - port_model.binding - port_result.binding_more) < 1e-9
    ORDER BY port_binding.writes LIMIT 1)
WHERE binding_more IS NOT NULL;
CREATE TRIGGER port_result_no_update BEFORE UPDATE ON port_result
BEGIN SELECT raise(ABORT, 'facts are append-only: port_result'); END;
ALTER TABLE port_result DROP COLUMN binding_more;

ALTER TABLE port_binding RENAME TO port_binding_before;
CREATE TABLE port_binding (
    run_id INTEGER NOT NULL REFERENCES port_model,
    mixes TEXT NOT NULL CHECK (mixes IN ('few forms', 'all forms')),
    writes TEXT NOT NULL CHECK (writes IN ('flags', 'general-purpose', 'vectors', 'masks', 'memory',
        'others', 'any')),
    binding REAL NOT NULL CHECK (binding BETWEEN 0 AND 1),
    PRIMARY KEY (run_id, mixes, writes)
) STRICT, WITHOUT ROWID;
INSERT INTO port_binding (run_id, mixes, writes, binding)
    SELECT run_id, 'few forms', writes, binding FROM port_binding_before;
DROP TABLE port_binding_before;
CREATE TRIGGER port_binding_no_update BEFORE UPDATE ON port_binding
BEGIN SELECT raise(ABORT, 'facts are append-only: port_binding'); END;
CREATE TRIGGER port_binding_no_delete BEFORE DELETE ON port_binding
BEGIN SELECT raise(ABORT, 'facts are append-only: port_binding'); END;
PRAGMA user_version = 21;
