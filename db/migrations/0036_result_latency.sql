-- SPDX-License-Identifier: MIT
-- Schema 36: the latency to a form's result, condensed from its pairs. Rows of form_summary are
-- made anew with the views.
ALTER TABLE form_summary ADD COLUMN result_latency_clk REAL;
ALTER TABLE form_summary ADD COLUMN result_latency_max_clk REAL;
ALTER TABLE form_summary ADD COLUMN result_latency_slow_clk REAL;
ALTER TABLE form_summary ADD COLUMN result_latency_slow_max_clk REAL;
ALTER TABLE form_summary ADD COLUMN result_latency_most_clk REAL;
ALTER TABLE form_summary ADD COLUMN result_latency_max_most_clk REAL;
ALTER TABLE form_summary ADD COLUMN result_latency_bound TEXT;
ALTER TABLE form_summary ADD COLUMN result_latency_max_bound TEXT;
ALTER TABLE form_summary ADD COLUMN result_rank INTEGER;
PRAGMA user_version = 36;
