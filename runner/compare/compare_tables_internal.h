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
// Groups the values that differ (compare_judge.c).
void compare_judge_all(struct compare_tables *tables);
bool compare_agrees(const struct foreign_value *theirs, const struct compare_ours *ours);
// Returns "3.00" in the arena.
const char *compare_clk(struct arena *arena, double clk);
