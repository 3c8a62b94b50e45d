-- SPDX-License-Identifier: MIT
-- Schema 35: the views have form_rename and form_limit, which packs carry, and which earlier
-- versions would refuse as a stranger's.
PRAGMA user_version = 35;
