// SPDX-License-Identifier: MIT
// Declarations that matching, judging and counting share.
#pragma once

#include "compare_tables.h"

// Finds the form of each row of the file (compare_match.c).
void compare_match_all(struct compare_tables *tables);
// Returns what is ours of a value (compare_ours.c); NaN throughout if there is no chain or pair.
struct compare_ours compare_ours_of(const struct compare_match *match,
                                    const struct known_form *form,
                                    const struct foreign_value *value);
// Returns cycles of the file's clock per core cycle, 1 if they are the same; or, of values in ns,
// ns per cycle, NaN if too few rows show it (compare_clock.c). Requires the matches.
double compare_clock_factor(const struct compare_tables *tables, bool ns);
// Reads ports by their names, "1*p06+2*p5" (compare_sets.c). Returns false if the model has not
// those names.
bool compare_sets_read(const char *text, const struct port_model *model, struct port_uses *uses);
// Returns true if there is for each µop of one a µop of the other whose ports hold its own, or are
// held by them.
bool compare_sets_nested(const struct port_uses *a, const struct port_uses *b);
// Groups the values that differ (compare_judge.c).
void compare_judge_all(struct compare_tables *tables);
bool compare_agrees(const struct foreign_value *theirs, const struct compare_ours *ours);
// Returns true for a latency that the columns of the result have, too (compare_beside.c).
bool compare_is_of_result(const struct compare_value *value);
// Returns "3.00" in the arena.
const char *compare_clk(struct arena *arena, double clk);
