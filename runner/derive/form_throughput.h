// SPDX-License-Identifier: MIT
// The throughput that stands for a form where one number has to, as for the blockers that a test of
// its ports needs: the best one with other than slow data; without such, the slowest. The setting
// of operands is no throughput of the form. The rthroughput_clk of the view run_instruction_table
// is the same wherever it has one.
#pragma once

// The tests of one form, as far as they were looked at; zero-initialise it before the first.
struct form_throughput {
    int nquick, nslow;          // tests with values
    double quick_clk, slow_clk; // the least, the largest of these
};

// Takes a throughput test with a value into account; variant: struct test's.
void form_throughput_add(struct form_throughput *form, const char *variant, double clk);
// Returns the throughput in core cycles; NaN: no test has a value.
double form_throughput_clk(const struct form_throughput *form);
