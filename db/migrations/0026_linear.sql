-- SPDX-License-Identifier: MIT
-- Schema 26: what a form asks of the core adds up. How early schedulers bind, and the slots of
-- moves before a form, are no parts of the model any more; slots_mixed has what others in a mix
-- lose by a form. Columns are explained in db/schema.sql.
DROP TABLE port_binding;
ALTER TABLE port_model DROP COLUMN binding;
DROP TRIGGER port_result_no_update;
UPDATE port_result SET slots_mixed = coalesce((
    SELECT CASE
        WHEN slots > 4.5 AND stall_clk IS NULL AND slots_mixed - slots > 0.25 * (width - 1)
        THEN slots + 0.3 * (width - 1) ELSE slots END
    FROM run_form JOIN port_model USING (run_id)
    WHERE run_form.run_form_id = port_result.run_form_id), slots)
WHERE slots_mixed IS NOT NULL;
CREATE TRIGGER port_result_no_update BEFORE UPDATE ON port_result
BEGIN SELECT raise(ABORT, 'facts are append-only: port_result'); END;
ALTER TABLE port_result DROP COLUMN writes;
ALTER TABLE port_result DROP COLUMN slots_moved;
PRAGMA user_version = 26;
