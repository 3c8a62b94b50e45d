-- SPDX-License-Identifier: MIT
-- Schema 28: the model of the ports has no side any more, a part of the core that takes fewer slots
-- per cycle than dispatch has: predictions are as good without it.
ALTER TABLE port_model DROP COLUMN side_width;
ALTER TABLE port_model DROP COLUMN side_probe;
ALTER TABLE port_model DROP COLUMN side_clk;
ALTER TABLE port_class DROP COLUMN side;
ALTER TABLE port_result DROP COLUMN side_slots;
PRAGMA user_version = 28;
