// SPDX-License-Identifier: MIT
// The columns of the views of pieces of code, properties, runs and lists. Records stand in the
// order of SELECT lists: a new one comes last.
#include "columns_internal.h"

#include "util/mem.h"

#define SAYS_SNIPPET "the code in one line"
#define SAYS_COUNTED "the same as a text"

// clang-format off
static const struct column bench_columns[] = {
    UARCH,
    {TEXT("label", "name that its owner gave it"), TABLED(20, "label", FIT_KEEP, 12)},
    {TEXT("snippet", SAYS_SNIPPET), TABLED(30, "code", FIT_KEEP, 24)},
    {TEXT("mode", "how instances depend on each other"), TABLED(40, "mode", FIT_SAME, 0)},
    {INTEGER("bits", NULL, SAYS_BITS), TABLED(50, "bits", FIT_SAME, 0)},
    {INTEGER("cpu", NULL, "number of the CPU that ran it"), TABLED(60, "CPU", FIT_SAME, 0)},
    {CLK("instance_clk", "core cycles per instance"), TABLED(70, "clk/instance", FIT_KEEP, 0)},
    {CLK("median_clk", "median of the repetitions")},
    {CLK("spread_clk", SAYS_SPREAD), TABLED(80, "spread", 3, 0)},
    {TEXT("counts", "JSON object: median of each event per instance and of each column")},
    {TEXT("outcome", SAYS_OUTCOME), TABLED(100, "outcome", 1, 0), .kind = COLUMN_OUTCOME},
    {TEXT("detail", SAYS_DETAIL), TABLED(110, "detail", 2, 20)},
    {INTEGER("accepted", NULL, SAYS_ACCEPTED)},
    {INTEGER("tried", NULL, SAYS_TRIED)},
    {INTEGER("passes", NULL, "passes over the code")},
    {INTEGER("instances", NULL, "instances in the code")},
    {INTEGER("copies", NULL, "copies of the code in the loop")},
    {INTEGER("iterations", NULL, "iterations of the loop")},
    {BOOL("cold", "1: with cold caches")},
    {TEXT("source", "`text`, or a file's kind")},
    {TEXT("code", "the code")},
    {TEXT("init", "code before it")},
    {TEXT("breakers", "how dependencies between instances are cut")},
    {TEXT("file", "file that it came from")},
    {TEXT("file_sha256", "hash of the file")},
    {TEXT("symbol", "function in the file")},
    {TEXT("cflags", "options of the compiler")},
    {TEXT("compiler", "the compiler")},
    {INTEGER("thread", NULL, "number of the thread, of several at once")},
    {INTEGER("code_bytes", "bytes", "length of the code")},
    {TEXT("machine_code", "its beginning, in hexadecimal")},
    {TEXT("started_utc", "beginning of the run"), .alias = "started"},
    {INTEGER("bench_id", NULL, "row of the piece of code"), .key = true},
    {INTEGER("run_id", NULL, SAYS_RUN), TABLED(120, "run", FIT_KEEP, 0)},
    {TEXT("counted", SAYS_COUNTED), TABLED(90, "counts", FIT_KEEP, 20)},
    SQL_ONLY("position", "order in the run"),
};
const struct column_view columns_bench = {"bench_table", bench_columns, ARRAY_LEN(bench_columns)};

static const struct column repetition_columns[] = {
    {TEXT("uarch", SAYS_UARCH)},
    {TEXT("label", "name that its owner gave it")},
    {TEXT("snippet", SAYS_SNIPPET), TABLED(20, "code", FIT_SAME, 24)},
    {INTEGER("cpu", NULL, "number of the CPU that ran it"), TABLED(30, "CPU", FIT_SAME, 0)},
    {INTEGER("pass", NULL, "pass over the code"), TABLED(40, "pass", FIT_KEEP, 0)},
    {INTEGER("repetition", NULL, "number in the pass"), TABLED(50, "repetition", FIT_KEEP, 0)},
    {BOOL("cold", "1: with cold caches"), TABLED(60, "cold", FIT_KEEP, 0)},
    {BOOL("accepted", "1: it passed the gate"), TABLED(70, "accepted", FIT_KEEP, 0)},
    {INTEGER("tried", NULL, SAYS_TRIED)},
    {INTEGER("late_ns", "ns", "how much later than the first thread it began")},
    {INTEGER("elapsed_tsc", "TSC ticks", "time of the whole repetition"),
        TABLED(80, "TSC ticks", 3, 0)},
    {COLUMN("elapsed_clk", LOOK_REAL, "clk", ALIGN_RIGHT, "the same in core cycles"),
        TABLED(90, "core clk", 2, 0)},
    {CLK("instance_clk", "core cycles per instance"),
        TABLED(100, "clk/instance", FIT_KEEP, 0)},
    {TEXT("counts", "JSON object: values of the whole repetition")},
    {INTEGER("thread", NULL, "number of the thread, of several at once")},
    {INTEGER("bench_id", NULL, "row of the piece of code")},
    {INTEGER("run_id", NULL, SAYS_RUN), TABLED(10, "run", FIT_SAME, 0)},
    {TEXT("counted", SAYS_COUNTED), TABLED(110, "counts", FIT_KEEP, 20)},
    SQL_ONLY("seq", "order of measuring"),
    SQL_ONLY("position", "order in the run"),
};
const struct column_view columns_repetition = {"bench_repetition_table", repetition_columns,
                                               ARRAY_LEN(repetition_columns)};

// These are read whole.
static const struct column property_columns[] = {
    {TEXT("uarch", SAYS_UARCH), .key = true},
    {TEXT("property", "name of the property"), .key = true},
    {TEXT("variant", "curve; '' for all"), .key = true},
    {TEXT("conclusion", "what the value is: `knee`, `level 1`"), .key = true},
    {TEXT("unit", "unit of the value")},
    {COLUMN("value", LOOK_REAL, NULL, ALIGN_LEFT, "the value; NULL: there is none")},
    {INTEGER("run_id", NULL, SAYS_RUN)},
    {COLUMN("low", LOOK_REAL, NULL, ALIGN_LEFT, "lower end, with 95 % confidence")},
    {COLUMN("high", LOOK_REAL, NULL, ALIGN_LEFT, "upper end")},
    {COLUMN("confidence", LOOK_REAL, NULL, ALIGN_LEFT, "share of the replicates that agree")},
    {TEXT("outcome", SAYS_OUTCOME)},
    {TEXT("sentence", "the conclusion, or the reason for none")},
    {TEXT("grp", "group of properties")},
    {TEXT("title", "title of the property")},
    {TEXT("detail", SAYS_DETAIL)},
    {TEXT("question", "question that it answers")},
};
const struct column_view columns_property = {"property_table", property_columns,
                                             ARRAY_LEN(property_columns)};

static const struct column property_point_columns[] = {
    {INTEGER("run_id", NULL, SAYS_RUN), .key = true},
    {TEXT("property", "name of the property"), .key = true},
    {TEXT("variant", "curve"), .key = true},
    {COLUMN("x", LOOK_REAL, NULL, ALIGN_LEFT, "swept variable"), .key = true},
    {COLUMN("y", LOOK_REAL, NULL, ALIGN_LEFT, "value of the point; NULL: there is none")},
    {COLUMN("by_x", LOOK_REAL, NULL, ALIGN_LEFT, "second swept variable"), .key = true},
    {TEXT("x_unit", "unit of x")},
    {TEXT("y_unit", "unit of y")},
    {INTEGER("samples", NULL, "samples of the point")},
    {TEXT("outcome", SAYS_OUTCOME)},
    {TEXT("by_unit", "unit of by_x")},
};
const struct column_view columns_property_point = {"property_point", property_point_columns,
                                                   ARRAY_LEN(property_point_columns)};

static const struct column run_columns[] = {
    {INTEGER("run_id", NULL, "number of the run in this database"),
        TABLED(10, "run", FIT_KEEP, 0)},
    {TEXT("uarch", SAYS_UARCH), TABLED(20, "uarch", FIT_KEEP, 0)},
    {TEXT("brand", "what the CPU calls itself"), TABLED(30, "CPU", FIT_KEEP, 12)},
    {TEXT("started_utc", "beginning"), TABLED(40, "started", FIT_KEEP, 0)},
    {TEXT("status", "`finished` or `unfinished`"), TABLED(50, "status", FIT_KEEP, 0)},
    {TEXT("decided", "whether the CPU is what it claims to be"), TABLED(60, "decided", 4, 0)},
    {INTEGER("forms", NULL, "forms that it has"), TABLED(70, "forms", 2, 0)},
    {INTEGER("snippets", NULL, "pieces of code that it has"), TABLED(80, "snippets", 2, 0)},
    {TEXT("backend", "how cycles are counted"), TABLED(90, "backend", 3, 0)},
    {TEXT("version", "version of latput"), TABLED(100, "version", 1, 0)},
};
const struct column_view columns_run = {NULL, run_columns, ARRAY_LEN(run_columns)};

static const struct column warning_columns[] = {
    {TEXT("text", "what is wrong"), TABLED(10, "warning", FIT_KEEP, 20)},
    {TEXT("remedy", "what to do about it"), TABLED(20, "remedy", FIT_KEEP, 20)},
};
const struct column_view columns_warning = {NULL, warning_columns, ARRAY_LEN(warning_columns)};

static const struct column list_columns[] = {
    {INTEGER("run_id", NULL, "run with the list")},
    {TEXT("list", "name"), TABLED(10, "list", FIT_KEEP, 0)},
    {TEXT("title", "title"), TABLED(30, "title", FIT_KEEP, 20)},
    {INTEGER("forms", NULL, "number of its forms"), TABLED(20, "forms", FIT_KEEP, 0)},
};
const struct column_view columns_list = {NULL, list_columns, ARRAY_LEN(list_columns)};
// clang-format on
