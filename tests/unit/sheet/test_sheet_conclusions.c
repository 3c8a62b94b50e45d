// SPDX-License-Identifier: MIT
// The data sheet of properties, from conclusions made by hand: each reading in its words, what is
// not sure said so, notes on virtual machines only, no line wider than 80 columns.
#include "sheet/sheet.h"
#include "util/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct conclusion_value knee[] = {
    {"knee",   500, 497, 504, "µops"},
    {"before", 560, 559, 561, "clk"  },
};
static const struct conclusion_value levels[] = {
    {"level 1", 5,       4.99,    5.01,    "clk"  },
    {"end 1",   49152,   45056,   50176,   "bytes"},
    {"level 2", 15.04,   15,      15.1,    "clk"  },
    {"end 2",   2097152, 1048576, 2097152, "bytes"},
    {"level 3", 70,      70,      70,      "clk"  },
};
static const struct conclusion_value part[] = {
    {"level 1", 4,       4,       4,       "clk"  },
    {"end 1",   49152,   45056,   50176,   "bytes"},
    {"level 2", 14,      14,      14,      "clk"  },
    {"doubt",   1048576, 1048576, 1048576, "bytes"},
};
static const struct conclusion_value differences[] = {
    {"random",      16.25, 15.9, 16.6, "clk"},
    {"alternating", 1e-6,  0,    0.1,  "clk"},
    {"doubt",       1,     1,    1,    ""   },
};
// clang-format off
static const struct conclusion of_buffer[] = {
    {.variant = "nop", .confidence = 0.97, .values = knee, .nvalues = 2, .sentence = "500 µops"},
    {.variant = "a filler of too long a name", .outcome = CONCLUSION_NONE,
     .sentence = "no knee up to 800 µops"},
    {.variant = "mmx", .outcome = CONCLUSION_UNSTABLE, .sentence = "the points scatter by 12 %"},
};
// clang-format on
static const struct conclusion of_latency[] = {
    {.variant = "",       .confidence = 0.7, .values = levels, .nvalues = 5, .sentence = "5 clk"},
    {.variant = "shared",
     .confidence = 0.95,
     .values = part,
     .nvalues = 4,
     .sentence = "4 clk up to 48 KiB, 14 clk; in doubt: up to 1 MiB, 70 clk"                    },
};
static const struct conclusion of_branches[] = {
    {.variant = "",
     .confidence = 0.2,
     .values = differences,
     .nvalues = 3,
     .sentence = "random, alternating more than constant; in doubt: shuffled: 9 clk"},
};
static struct swept_variant variants[] = {
    {"nop", OUTCOME_OK,          ""},
    {"amx", OUTCOME_UNSUPPORTED, ""}
};
static const struct swept_property properties[] = {
    {.grp = "memory",
     .title = "Latency",
     .reading = "plateaus",
     .detail = "",
     .vm = "paging",
     .conclusions = of_latency,
     .nconclusions = 2},
    {.grp = "core",
     .title = "Reorder buffer",
     .reading = "knee",
     .detail = "",
     .vm = "",
     .conclusions = of_buffer,
     .nconclusions = 3,
     .variants = variants,
     .nvariants = 2},
    {.grp = "mine",
     .title = "Other",
     .reading = "knee",
     .detail = "no memory for 512 MiB",
     .vm = "",
     .outcome = OUTCOME_SKIPPED},
    {.grp = "branches",
     .title = "Misprediction",
     .reading = "difference",
     .detail = "",
     .vm = "",
     .conclusions = of_branches,
     .nconclusions = 1         },
};

static const char *const expected =
    "\n"
    "Branches\n"
    "  Misprediction\n"
    "    random                  16.2 clk (15.9 to 16.6)                        low\n"
    "    alternating             0 clk (0 to 0.1)\n"
    "                            in doubt: shuffled: 9 clk\n"
    "\n"
    "Core\n"
    "  Reorder buffer\n"
    "    nop                     500 µops (497 to 504)                          high\n"
    "    a filler of too long a name\n"
    "                            no knee up to 800 µops\n"
    "    mmx                     unstable: the points scatter by 12 %\n"
    "    amx                     unsupported\n"
    "\n"
    "Memory\n"
    "  Latency\n"
    "                            5 clk up to 48 KiB (44 to 49 KiB)              fair\n"
    "                            15 clk up to 2 MiB (1 to 2 MiB)\n"
    "                            70 clk beyond\n"
    "    shared                  4 clk up to 48 KiB (44 to 49 KiB)              high\n"
    "                            14 clk beyond\n"
    "                            in doubt: up to 1 MiB, 70 clk\n"
    "    on a virtual machine    sizes hold, but misses cost more: the hypervisor's\n"
    "                            page tables are walked, too\n"
    "\n"
    "Others\n"
    "  Other\n"
    "                            skipped: no memory for 512 MiB\n"
    "\n"
    "Intervals have 95 % confidence";

static void sheet_is_as_expected(void **state)
{
    (void)state;
    struct strbuf out = {0};
    sheet_put_conclusions(properties, 4, true, &out);
    if (strncmp(out.data, expected, strlen(expected)) != 0)
        fail_msg("%s", out.data);
    for (const char *line = out.data; *line; line += strcspn(line, "\n") + 1)
        assert_true(text_width(line, strcspn(line, "\n")) <= 80);
    strbuf_clear(&out);
    sheet_put_conclusions(properties, 4, false, &out);
    assert_null(strstr(out.data, "virtual"));
    strbuf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sheet_is_as_expected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
