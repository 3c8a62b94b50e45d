-- SPDX-License-Identifier: MIT
-- Schema 17: what decoding costs forms whose length a prefix changes. The column is explained in
-- db/schema.sql.
ALTER TABLE port_result ADD COLUMN decode_clk REAL CHECK (decode_clk >= 0);
PRAGMA user_version = 17;
