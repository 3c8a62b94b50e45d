-- SPDX-License-Identifier: MIT
-- Schema 37: fast and slow data have bounds of their own. Rows of form_summary are made anew with
-- the views.
ALTER TABLE form_summary ADD COLUMN result_latency_slow_bound TEXT;
ALTER TABLE form_summary ADD COLUMN result_latency_slow_max_bound TEXT;
ALTER TABLE form_summary ADD COLUMN rthroughput_fast_bound TEXT;
ALTER TABLE form_summary ADD COLUMN rthroughput_slow_bound TEXT;
PRAGMA user_version = 37;
