// SPDX-License-Identifier: MIT
// The fact sheet of a core, from conclusions made by hand: which of several says a line, in which
// units, what is published beside it, what is told in words, CPUs side by side; and its table, with
// the message for each kind of fault.
#include "property/property.h"
#include "sheet/sheet.h"
#include "util/file_write.h"
#include "util/scratch.h"
#include "util/text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEAD "group,fact,property,variant,value,show,unit,factor,words,cache,within\n"
static const char table[] =
    HEAD "Clock,Clock,,,,clock,GHz,1,,,\n"
         "Front,Nops,width,nop,slope,rate,instr/clk,1,,,\n"
         "Front,Fused,fusion,,,pairs,,1,below 0.9*shl; 0 jo; 4 je; 8 js,,\n"
         "Front,Gone,moves,,level,variants,,1,below 0.5; mov xor_same=xor_ymm inc,,\n"
         "Core,Buffer,reorder_buffer,nop,knee,value,,1,,,\n"
         "Core,Loads,memory_queues,load,knee,value,,1,,,\n"
         "Core,Branches,branches_under_way,branch,knee,value,,1,,,\n"
         "Core,Absent,no_such_property,,knee,value,,1,,,\n"
         "Core,Borrowed,no_such_property|reorder_buffer,nop,knee,value,,1,,,\n"
         "Memory,L1D size,l1_ways,,end 1,value,bytes,4096,,,\n"
         "Memory,L1D latency,by_footprint|by_page|l1_ways,,level 1,time,,1,,,\n"
         "Memory,L2 latency,by_footprint|by_page,,level 2,time,,1,,,\n"
         "Memory,L2 size,by_page,,end 2,value,,1,,2u,\n"
         "Memory,Read,bandwidth,read_z|read_y,last,bandwidth,,64,,,\n";

#define VALUES(...)                                                                                \
    .values = (const struct conclusion_value[]){__VA_ARGS__},                                      \
    .nvalues =                                                                                     \
        sizeof((const struct conclusion_value[]){__VA_ARGS__}) / sizeof(struct conclusion_value)
// clang-format off
static const struct conclusion of_width[] = {
    {.variant = "nop", .confidence = 1, VALUES({"slope", 0.25, 0.2, 0.5, "clk"})},
};
static const struct conclusion of_fusion[] = {
    {.variant = "", .confidence = 0.7, .sentence = "1 clk in 4 cells"},
};
static const struct conclusion of_moves[] = {
    {.variant = "mov", .confidence = 1, VALUES({"level", 0.2, 0.2, 0.2, "clk"})},
    {.variant = "xor_same", .confidence = 0.95, VALUES({"level", 0.1, 0.1, 0.1, "clk"})},
    {.variant = "inc", .confidence = 1, VALUES({"level", 1, 1, 1, "clk"})},
};
static const struct conclusion of_buffer[] = {
    {.variant = "nop", .confidence = 0.65, VALUES({"knee", 250, 248, 256, "µops"})},
};
static const struct conclusion of_queues[] = {
    {.variant = "load", .outcome = CONCLUSION_UNSTABLE, .confidence = 1,
     VALUES({"knee", 99, 99, 99, "entries"})},
};
static const struct conclusion of_branches[] = {
    {.variant = "branch", .outcome = CONCLUSION_NONE, .sentence = "no knee up to 400 branches"},
};
static const struct conclusion of_ways[] = {
    {.variant = "", .confidence = 1, VALUES({"level 1", 5, 4.9, 5, "clk"}, {"end 1", 8, 8, 8, ""})},
};
static const struct conclusion of_footprint[] = {
    {.variant = "", .confidence = 1,
     VALUES({"level 1", 4, 4, 4, "clk"}, {"end 1", 8, 8, 8, ""}, {"doubt", 9, 9, 9, "bytes"})},
};
static const struct conclusion of_page[] = {
    {.variant = "", .confidence = 1, VALUES({"level 1", 4.2, 4, 5, "clk"},
     {"level 2", 12, 11, 13, "clk"}, {"end 2", 262144, 262144, 524288, "bytes"})},
};
static const struct conclusion of_bandwidth[] = {
    {.variant = "read_z", .outcome = CONCLUSION_TOO_FEW},
    {.variant = "read_y", .confidence = 1,
     VALUES({"level at 1 MiB", 1, 1, 1, "clk"}, {"level at 9 MiB", 2, 2, 2, "clk"})},
};
// clang-format on
static struct swept_variant pairs[] = {
    {"cmp",     OUTCOME_OK, ""},
    {"add_mem", OUTCOME_OK, ""},
    {"test",    OUTCOME_OK, ""},
    {"inc",     OUTCOME_OK, ""},
    {"shl",     OUTCOME_OK, ""}
};
// cmp and add_mem with all but jo, test with all, inc with je; x 99 has no name.
static struct swept_point cells[] = {
    {.variant = 0, .x = 0,  .y = 1.2 },
    {.variant = 0, .x = 4,  .y = 1   },
    {.variant = 0, .x = 8,  .y = 1   },
    {.variant = 1, .x = 0,  .y = 1.19},
    {.variant = 1, .x = 4,  .y = 1   },
    {.variant = 1, .x = 8,  .y = 1   },
    {.variant = 2, .x = 0,  .y = 1   },
    {.variant = 2, .x = 4,  .y = 1   },
    {.variant = 2, .x = 8,  .y = 1   },
    {.variant = 3, .x = 0,  .y = 1.2 },
    {.variant = 3, .x = 4,  .y = 1   },
    {.variant = 3, .x = 8,  .y = 1.2 },
    {.variant = 4, .x = 0,  .y = 1.2 },
    {.variant = 4, .x = 4,  .y = 1.2 },
    {.variant = 4, .x = 8,  .y = NAN },
    {.variant = 0, .x = 99, .y = 1   }
};
#define OF(text, array)                                                                            \
    {                                                                                              \
        .name = text, .conclusions = array, .nconclusions = ARRAY_LEN(array)                       \
    }
static struct swept_property properties[] = {
    OF("width", of_width),
    {.name = "fusion",
                         .conclusions = of_fusion,
                         .nconclusions = 1,
                         .variants = pairs,
                         .nvariants = ARRAY_LEN(pairs),
                         .points = cells,
                         .npoints = ARRAY_LEN(cells)},
    OF("moves", of_moves),
    OF("reorder_buffer", of_buffer),
    OF("memory_queues", of_queues),
    OF("branches_under_way", of_branches),
    OF("l1_ways", of_ways),
    OF("by_footprint", of_footprint),
    OF("by_page", of_page),
    OF("bandwidth", of_bandwidth),
};
static struct stored_cache caches[] = {
    {1, "d", 49152 },
    {2, "u", 524288}
};
// A name of Markdown's signs, and a CPU that knows no clock and one property only.
static const struct sheet_cpu cpus[] = {
    {.whose = {.run_id = 7,
               .uarch = "zen3",
               .name = "Zen 3",
               .brand = "A|B <Core>",
               .hypervisor = "",
               .date = "2026-01-31T00:00:00Z",
               .version = "1.0.0",
               .core_hz = 4e9},
     .properties = properties,
     .caches = caches,
     .nproperties = ARRAY_LEN(properties),
     .ncaches = ARRAY_LEN(caches)},
    {.whose = {.run_id = 8,
               .uarch = "zen3",
               .name = "Zen 3",
               .brand = "",
               .hypervisor = "KVM",
               .date = "2026-02-01T00:00:00Z",
               .version = "1.0.0"},
     .properties = properties,
     .nproperties = 1},
};

static void read_lines(const char *text, struct sheet_lines *lines, struct err *err, int expected)
{
    char *directory = scratch_begin(err);
    assert_non_null(directory);
    char *path = xasprintf("%s/sheet.csv", directory);
    assert_int_equal(file_write(path, text, strlen(text), err), 0);
    assert_int_equal(sheet_lines_read(path, lines, err), expected);
    free(path);
    scratch_end(directory, false);
}

static void expect_sheet(int ncpus, enum report_format format, int width, const char *expected)
{
    struct sheet_lines lines;
    struct err err = {0};
    struct strbuf out = {0};
    read_lines(table, &lines, &err, 0);
    sheet_print(&lines, cpus, ncpus, &(struct sheet_look){format, width, false}, &out);
    if (strncmp(strbuf_text(&out), expected, strlen(expected)) != 0)
        fail_msg("%s", strbuf_text(&out));
    for (const char *line = out.data; width && *line; line += strcspn(line, "\n") + 1)
        assert_true(text_width(line, strcspn(line, "\n")) <= width);
    strbuf_free(&out);
    sheet_lines_free(&lines);
}

static void one_cpu_is_a_table(void **state)
{
    (void)state;
    expect_sheet(1, REPORT_TABLE, 80,
                 "Zen 3 (zen3), A|B <Core>; run 7, 2026-01-31, latput 1.0.0\n"
                 "\n"
                 "fact           value                       95 % interval   sure  published\n"
                 "Clock\n"
                 "  Clock        4 GHz\n"
                 "Front\n"
                 "  Nops         4 instr/clk                 2 to 5          high\n"
                 "Core\n"
                 "  Buffer       250 µops                    248 to 256      fair  256 to 512\n"
                 "  Loads        unstable                                          72 to 116\n"
                 "  Branches     no knee up to 400 branches\n"
                 "  Borrowed     250 µops                    248 to 256      low   256 to 512\n"
                 "Memory\n"
                 "  L1D size     32 KiB                                      high  32 KiB\n"
                 "  L1D latency  4 clk, 1 ns                                 high\n"
                 "  L2 latency   12 clk, 3 ns                11 to 13        fair\n"
                 "  L2 size      256 KiB                     256 to 512 KiB  high  CPUID 512 KiB\n"
                 "  Read         32 B/clk, 128 GB/s                          fair\n"
                 "In words\n"
                 "  Fused                8 of 14 pairs: cmp, add mem with all but jo; test with\n"
                 "                       all; inc with je; never shl (fair)\n"
                 "  Gone                 mov, xor ymm; not inc\n"
                 "Sources\n"
                 "  Borrowed             reorder_buffer in place of no_such_property (not\n"
                 "                       measured)\n"
                 "  L1D latency          l1_ways says 5 clk\n"
                 "  L2 latency           by_page in place of by_footprint (in doubt)\n"
                 "  Read                 read_y in place of read_z (too_few)\n"
                 "\n"
                 "Sure is how many");
}

static void two_facts_share_a_wide_line(void **state)
{
    (void)state;
    expect_sheet(
        1, REPORT_TABLE, 100,
        "Zen 3 (zen3), A|B <Core>; run 7, 2026-01-31, latput 1.0.0\n"
        "Clock                                         Memory\n"
        " Clock     4 GHz                               L1D size     32 KiB [32 KiB]\n"
        "Front                                          L1D latency  4 clk\n"
        " Nops      4 instr/clk (2–5)                   L2 latency   12 clk (11–13) fair\n"
        "Core                                           L2 size      256 KiB (256–512 KiB) "
        "[CPUID 512 KiB]\n"
        " Buffer    250 µops (248–256) fair [256–512]   Read         32 B/clk fair\n"
        " Loads     unstable [72–116]\n"
        " Branches  no knee up to 400 branches\n"
        " Borrowed  250 µops (248–256) low [256–512]\n"
        "In words\n"
        "  Fused                8 of 14 pairs: ");
}

static void cpus_stand_side_by_side(void **state)
{
    (void)state;
    expect_sheet(
        2, REPORT_TABLE, 0,
        "Zen 3 (zen3), A|B <Core>; run 7, 2026-01-31, latput 1.0.0\n"
        "Zen 3 (zen3), no name, on KVM; run 8, 2026-02-01, latput 1.0.0\n"
        "\n"
        "fact           zen3, run 7                               zen3, run 8\n"
        "Clock\n"
        "  Clock        4 GHz\n"
        "Front\n"
        "  Nops         4 instr/clk (2 to 5)                      4 instr/clk (2 to 5)\n"
        "Core\n"
        "  Buffer       250 µops (248 to 256) fair [256 to 512]   [256 to 512]\n"
        "  Loads        unstable [72 to 116]                      [72 to 116]\n"
        "  Branches     no knee up to 400 branches\n"
        "  Borrowed     250 µops (248 to 256) low [256 to 512]    [256 to 512]\n"
        "Memory\n"
        "  L1D size     32 KiB [32 KiB]                           [32 KiB]\n"
        "  L1D latency  4 clk, 1 ns\n"
        "  L2 latency   12 clk, 3 ns (11 to 13) fair\n"
        "  L2 size      256 KiB (256 to 512 KiB) [CPUID 512 KiB]\n"
        "  Read         32 B/clk, 128 GB/s fair\n"
        "In words\n"
        "  Fused                zen3, run 7: 8 of 14 pairs: cmp, add mem with all but jo;\n"
        "                       test with all; inc with je; never shl (fair)\n"
        "  Gone                 zen3, run 7: mov, xor ymm; not inc\n"
        "Sources\n"
        "  Borrowed             zen3, run 7: reorder_buffer in place of ");
}

static void markdown_escapes_what_it_would_read(void **state)
{
    (void)state;
    expect_sheet(1, REPORT_MARKDOWN, 0,
                 "Zen 3 (zen3), A\\|B \\<Core\\>; run 7, 2026-01-31, latput 1.0.0\n"
                 "\n"
                 "| fact | value | 95 % interval | sure | published |\n"
                 "|---|---|---|---|---|\n"
                 "| **Clock** |  |  |  |  |\n"
                 "| Clock | 4 GHz |  |  |  |\n"
                 "| **Front** |  |  |  |  |\n"
                 "| Nops | 4 instr/clk | 2 to 5 | high |  |\n"
                 "| Fused | 8 of 14 pairs: cmp, add mem with all but jo; "
                 "test with all; inc with je; never shl |  | fair |  |\n"
                 "| Gone | mov, xor ymm; not inc |  | high |  |");
}

static void json_has_every_figure(void **state)
{
    (void)state;
    static const char *const members[] = {
        "\"uarch\": \"zen3\"", "\"core_hz\": 4000000000",
        "{\"value\": 12, \"low\": 11, \"high\": 13, \"unit\": \"clk\"}, "
        "{\"value\": 3, \"low\": 2.75, \"high\": 3.25, \"unit\": \"ns\"}",
        "\"property\": \"by_page\", \"variant\": \"\", \"conclusion\": \"level 2\"",
        "\"outcome\": \"unstable\", \"confidence\": null, \"published_least\": 72, "
        "\"published_most\": 116"};
    struct sheet_lines lines;
    struct err err = {0};
    struct strbuf out = {0};
    struct json json = {.out = &out};
    read_lines(table, &lines, &err, 0);
    sheet_json(&lines, cpus, 1, &json);
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        if (!strstr(strbuf_text(&out), members[i]))
            fail_msg("no %s in %s", members[i], strbuf_text(&out));
    assert_null(strstr(strbuf_text(&out), "Absent"));
    strbuf_free(&out);
    sheet_lines_free(&lines);
}

static void bad_tables_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *row, *message;
    } faults[] = {
        {",A,p,,knee,value,,1,,,",              "'' is no group"            },
        {"G,,p,,knee,value,,1,,,",              "'' is no fact"             },
        {"G,A,,,knee,value,,1,,,",              "'' is no property"         },
        {"G,A,p,,,value,,1,,,",                 "'' is no value"            },
        {"G,A,p,,,clock,,1,,,",                 "'p' is no property"        },
        {"G,A,p,,knee,loudly,,1,,,",            "'loudly' is no show"       },
        {"G,A,p,,knee,value,,-1,,,",            "'-1' is no factor"         },
        {"G,A,p,,knee,value,,2x,,,",            "'2x' is no factor"         },
        {"G,A,p,,knee,value,,1,below 1; a,,",   "'below 1; a' is no words"  },
        {"G,A,p,,,pairs,,1,below x; 0 a,,",     "'below x; 0 a' is no words"},
        {"G,A,p,,knee,value,,1,,2x,",           "'2x' is no cache"          },
        {"G,A,p,,level,variants,,1,below 1;,,", "'below 1;' is no words"    },
    };
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        struct sheet_lines lines;
        struct err err = {0};
        char *text = xasprintf("%s%s\n", HEAD, faults[i].row);
        read_lines(text, &lines, &err, -1);
        if (!strstr(err.text, faults[i].message) || !strstr(err.text, "sheet.csv:2:"))
            fail_msg("%s: %s", faults[i].row, err.text);
        free(text);
    }
}

// A size that comes near that of what holds all it counts may be that one's, and says so.
static void near_what_holds_all(void **state)
{
    (void)state;
    static const struct {
        double high;
        const char *within;
    } cases[] = {
        {249, "reorder_buffer nop"},
        {247, "reorder_buffer nop"},
        {249, ""                  },
        {249, "no x"              }
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena arena = {0};
        const struct conclusion conclusion = {
            .variant = "ymm",
            .confidence = 1,
            VALUES({"knee", 240, 230, cases[i].high, "registers"})};
        struct swept_property both[] = {
            OF("reorder_buffer", of_buffer),
            {.name = "registers", .conclusions = &conclusion, .nconclusions = 1},
        };
        struct sheet_cpu cpu = {.whose = cpus[0].whose, .properties = both, .nproperties = 2};
        const struct sheet_line line = {.properties = "registers",
                                        .variants = "ymm",
                                        .values = "knee",
                                        .unit = "",
                                        .cache = "",
                                        .factor = 1,
                                        .within = cases[i].within};
        struct sheet_fact fact = sheet_fact(&line, &cpu, &arena);
        assert_string_equal(sheet_source(&fact, &arena),
                            i == 0 ? "may be the limit of reorder_buffer, 250 µops" : "");
        arena_free(&arena);
    }
}

// Returns true if all alternatives of the line are rows of lists/properties/.
static bool is_there(const struct sheet_line *line, const struct properties *rows)
{
    for (const char *at = line->properties; *at;) {
        size_t len = strcspn(at, "|");
        bool found = false;
        for (int i = 0; i < rows->n && !found; i++)
            found = strlen(rows->rows[i].name) == len && strncmp(rows->rows[i].name, at, len) == 0;
        if (!found)
            return false;
        at += len + (at[len] == '|');
    }
    return true;
}

static void own_table_is_valid(void **state)
{
    (void)state;
    struct sheet_lines lines;
    struct properties rows;
    struct err err = {0};
    if (sheet_lines_load(&lines, &err) != 0 || properties_load(&rows, &err) != 0)
        fail_msg("%s", err.text);
    assert_true(lines.n > 50);
    for (int i = 0; i < lines.n; i++)
        if (!is_there(&lines.lines[i], &rows))
            fail_msg("%s: no such property", lines.lines[i].name);
    properties_free(&rows);
    // A wider one makes a sheet of one CPU wider than 80 columns.
    for (int i = 0; i < lines.n; i++)
        assert_true(text_width(lines.lines[i].name, strlen(lines.lines[i].name)) <= 20);
    sheet_lines_free(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_cpu_is_a_table),
        cmocka_unit_test(two_facts_share_a_wide_line),
        cmocka_unit_test(cpus_stand_side_by_side),
        cmocka_unit_test(markdown_escapes_what_it_would_read),
        cmocka_unit_test(json_has_every_figure),
        cmocka_unit_test(bad_tables_are_refused),
        cmocka_unit_test(near_what_holds_all),
        cmocka_unit_test(own_table_is_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
