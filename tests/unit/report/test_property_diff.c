// SPDX-License-Identifier: MIT
// Two runs of properties side by side: values that count as the same, that differ, and that are in
// doubt.
#include "report/report_property.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct side {
    struct conclusion_value value;
    struct conclusion conclusion;
    struct swept_property property;
};

static void make(struct side *side, double value, double half, const char *unit,
                 enum conclusion_outcome outcome)
{
    side->value = (struct conclusion_value){"knee", value, value - half, value + half, unit};
    side->conclusion = (struct conclusion){.variant = "nop",
                                           .outcome = outcome,
                                           .confidence = 0.95,
                                           .values = &side->value,
                                           .nvalues = 1,
                                           .sentence = "so many"};
    side->property = (struct swept_property){.grp = "core",
                                             .name = "buffer",
                                             .y_unit = "clk",
                                             .reading = "knee least=0.3",
                                             .conclusions = &side->conclusion,
                                             .nconclusions = 1};
}

// One whose conclusion is sure of these levels and their ends.
static void make_plateaus(struct side *side, const struct conclusion_value *values, int nvalues)
{
    make(side, 0, 0, "clk", CONCLUSION_OK);
    side->property.reading = "plateaus";
    side->conclusion.values = values;
    side->conclusion.nvalues = nvalues;
}

static void verdicts(void **state)
{
    (void)state;
    static const struct {
        double first, second, half;
        const char *unit;
        enum conclusion_outcome outcome;
        const char *verdict;
    } cases[] = {
        {500,  509,   1,  "entries", CONCLUSION_OK,       "same"    }, // a size, within 2 %
        {500,  512,   1,  "entries", CONCLUSION_OK,       "differs" },
        {500,  512,   7,  "entries", CONCLUSION_OK,       "in doubt"}, // intervals overlap
        {500,  512,   8,  "entries", CONCLUSION_OK,       "in doubt"},
        {500,  512,   9,  "entries", CONCLUSION_OK,       "within"  }, // of their difference
        {500,  512,   15, "entries", CONCLUSION_OK,       "within"  },
        {500,  512,   15, "entries", CONCLUSION_UNSTABLE, "in doubt"},
        {5,    5.04,  0,  "clk",     CONCLUSION_OK,       "same"    }, // a time, within 1 %
        {5,    5.08,  0,  "clk",     CONCLUSION_OK,       "differs" },
        {5,    9,     0,  "clk",     CONCLUSION_UNSTABLE, "in doubt"},
        {.004, -.005, 0,  "clk",     CONCLUSION_OK,       "same"    }, // nothing
        {.185, .169,  0,  "clk",     CONCLUSION_OK,       "differs" },
        {5,    5,     0,  "clk",     CONCLUSION_NONE,     "differs" }, // a step in one only
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct side first, second;
        struct strbuf out = {0};
        char expected[100];
        make(&first, cases[i].first, cases[i].half, cases[i].unit, CONCLUSION_OK);
        make(&second, cases[i].second, cases[i].half, cases[i].unit, cases[i].outcome);
        report_property_diff(&first.property, 1, &second.property, 1, REPORT_CSV, &out);
        snprintf(expected, sizeof expected, "core,buffer,nop,%s,so many,so many\n",
                 cases[i].verdict);
        if (!strstr(strbuf_text(&out), expected))
            fail_msg("%zu: %s", i, strbuf_text(&out));
        strbuf_free(&out);
    }
}

// The place of a knee does not include the time of memory beside it, nor a slope the start of its
// line; the time of a level is its answer.
static void answers(void **state)
{
    (void)state;
    struct side first, second;
    make(&first, 500, 0, "clk", CONCLUSION_OK);
    make(&second, 700, 0, "clk", CONCLUSION_OK);
    first.value.label = second.value.label = "before";
    static const char *const readings[] = {"level", "knee", "slope"};
    for (size_t i = 0; i < 3; i++) {
        struct strbuf out = {0};
        first.property.reading = second.property.reading = readings[i];
        report_property_diff(&first.property, 1, &second.property, 1, REPORT_CSV, &out);
        if (!strstr(strbuf_text(&out), i > 0 ? ",same," : ",differs,"))
            fail_msg("%s", strbuf_text(&out));
        strbuf_free(&out);
    }
}

// A run with little confidence is not said to differ.
static void low_confidence(void **state)
{
    (void)state;
    struct side first, second;
    make(&first, 500, 0, "entries", CONCLUSION_OK);
    make(&second, 700, 0, "entries", CONCLUSION_OK);
    for (int low = 0; low < 2; low++) {
        struct strbuf out = {0};
        second.conclusion.confidence = low ? 0.4 : 0.95;
        report_property_diff(&first.property, 1, &second.property, 1, REPORT_CSV, &out);
        if (!strstr(strbuf_text(&out), low ? ",in doubt," : ",differs,"))
            fail_msg("%s", strbuf_text(&out));
        strbuf_free(&out);
    }
}

// A run that has a level more: what both have goes together by what is nearest, not by its number.
static void a_level_more(void **state)
{
    (void)state;
    struct side first, second;
    struct strbuf out = {0};
    struct conclusion_value two[] =
        {
            {"level 1", 5,  5,  5,  "clk"},
            {"end 1",   48, 48, 48, "KiB"},
            {"level 2", 15, 15, 15, "clk"}
    },
                            three[] = {{"level 1", 1, 1, 1, "clk"},
                                       {"end 1", 4, 4, 4, "KiB"},
                                       {"level 2", 5, 5, 5, "clk"},
                                       {"end 2", 48, 48, 48, "KiB"},
                                       {"level 3", 15, 15, 15, "clk"}};
    make_plateaus(&first, two, 3);
    make_plateaus(&second, three, 5);
    report_property_diff(&first.property, 1, &second.property, 1, REPORT_CSV, &out);
    if (!strstr(strbuf_text(&out), ",in doubt,"))
        fail_msg("%s", strbuf_text(&out));
    strbuf_free(&out);
    three[4].value = three[4].low = three[4].high = 25; // one that the other has not at all
    report_property_diff(&first.property, 1, &second.property, 1, REPORT_CSV, &out);
    if (!strstr(strbuf_text(&out), ",differs,"))
        fail_msg("%s", strbuf_text(&out));
    strbuf_free(&out);
}

// If a run is only sure of the first levels, these are compared, whatever further levels the other
// one has.
static void as_far_as_both_are_sure(void **state)
{
    (void)state;
    struct conclusion_value part[] =
        {
            {"level 1", 5,   5,   5,   "clk"},
            {"end 1",   48,  48,  48,  "KiB"},
            {"level 2", 15,  15,  15,  "clk"},
            {"doubt",   900, 900, 900, "KiB"}
    },
                            whole[] = {{"level 1", 5, 5, 5, "clk"},
                                       {"end 1", 48, 48, 48, "KiB"},
                                       {"level 2", 15, 15, 15, "clk"},
                                       {"end 2", 1024, 1024, 1024, "KiB"},
                                       {"level 3", 70, 70, 70, "clk"}};
    for (int swap = 0; swap < 2; swap++)
        for (int other = 0; other < 2; other++) {
            struct side first, second;
            struct strbuf out = {0};
            make_plateaus(&first, part, 4);
            make_plateaus(&second, whole, 5);
            whole[2].value = whole[2].low = whole[2].high = other ? 20 : 15;
            const struct side *a = swap ? &second : &first, *b = swap ? &first : &second;
            report_property_diff(&a->property, 1, &b->property, 1, REPORT_TABLE, &out);
            const char *said = other ? "0 the same, 0 within their intervals, 1 differ"
                                     : "1 the same, 0 within their intervals (1 of these as far as "
                                       "both are sure), 0 differ";
            if (!strstr(strbuf_text(&out), said))
                fail_msg("%s", strbuf_text(&out));
            strbuf_free(&out);
        }
}

// Growth after the last end does not contradict a level that another run has there.
static void what_grows_has_no_level(void **state)
{
    (void)state;
    struct conclusion_value whole[] = {
        {"level 1", 5,  5,  5,  "clk"},
        {"end 1",   48, 48, 48, "KiB"},
        {"level 2", 15, 15, 15, "clk"}
    };
    for (int open = 0; open < 2; open++) {
        struct side first, second;
        struct strbuf out = {0};
        make_plateaus(&first, whole, 2);
        make_plateaus(&second, whole, open ? 2 : 3);
        report_property_diff(&first.property, 1, &second.property, 1, REPORT_TABLE, &out);
        const char *said =
            open ? "1 the same, 0 within their intervals, 0 differ"
                 : "1 the same, 0 within their intervals (1 of these as far as both are sure)";
        if (!strstr(strbuf_text(&out), said))
            fail_msg("%s", strbuf_text(&out));
        strbuf_free(&out);
    }
}

static void one_sided(void **state)
{
    (void)state;
    struct side first, second;
    struct strbuf out = {0};
    make(&first, 5, 0, "clk", CONCLUSION_OK);
    make(&second, 5, 0, "clk", CONCLUSION_OK);
    second.conclusion.variant = "lea";
    report_property_diff(&first.property, 1, &second.property, 1, REPORT_TABLE, &out);
    assert_string_equal(strbuf_text(&out),
                        "buffer nop: only in first\n"
                        "    so many\n"
                        "buffer lea: only in second\n"
                        "    so many\n"
                        "0 conclusions in both: 0 the same, 0 within their intervals, 0 differ, 0 "
                        "in doubt; 1 only in the first, 1 only in the second\n");
    strbuf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts),
        cmocka_unit_test(answers),
        cmocka_unit_test(low_confidence),
        cmocka_unit_test(a_level_more),
        cmocka_unit_test(as_far_as_both_are_sure),
        cmocka_unit_test(what_grows_has_no_level),
        cmocka_unit_test(one_sided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
