// SPDX-License-Identifier: MIT
// The structure of the ports as text, JSON and SVG, from a model made by hand: named and unnamed
// ports, sets that hang together, characters that each format must escape.
#include "fixtures/ports_fixture.h"
#include "report/report.h"
#include "store/store_ports.h"

#include <sqlite3.h>

// Ports 0 to 3 are q10, q2, unnamed and q1; FP stands apart.
static struct stored_port_model made_model(void)
{
    // clang-format off
    return (struct stored_port_model){
        .model = {.width = 6,
                  .nports = 6,
                  .port_names = {"q10", "q2", "", "q1"},
                  .filler = -1,
                  .nclasses = 4,
                  .classes = {{0x2, "ONE", -1, 1, 7, PORT_ALWAYS, {.n = 0}},
                              {0x30, "FP<\"&", -1, 0.5, 12, PORT_ALWAYS, {.n = 0}},
                              {0x3, "PAIR", -1, 0.5, 9, PORT_ALWAYS, {.n = 0}},
                              {0xf, "ALU", -1, 0.25, 300, PORT_ALWAYS, {.n = 0}}},
                  .nhidden = 1,
                  .hidden = {{0x3b, "Q\"ALL"}},
                  .nunits = 4,
                  .units = {{.name = "DIV", .blocker_clk = 4.5, .whole_clk = 9},
                            {.name = "SQRT", .blocker_clk = 12},
                            {.name = PORT_MICROCODE, .blocker_clk = 2},
                            {.name = "path1",
                             .blocker_clk = 0.5,
                             .usage = {.demands = {1, {{.unit = 3, .clk = 0.5}}}}}},
                  .residual = 0.0625,
                  .unexplained = 3},
        .filler = "nop",
        .class_blockers = {"imul r64 r64 i8", "vpaddb x{k}{z} <x> & \"x\"", "shlx r64 r64 r64",
                  "mov r32 i32"},
        .unit_wholes = {"vdivpd z z z"},
        .unit_blockers = {"div r64", "vsqrtpd x x", "haddps x x", "vmovd r32 x"},
    };
    // clang-format on
}

static void expect_text(const struct strbuf *out, const char *text)
{
    if (!strstr(strbuf_text(out), text))
        fail_msg("'%s' is not in:\n%s", text, strbuf_text(out));
}

static void expect_no_text(const struct strbuf *out, const char *text)
{
    if (strstr(strbuf_text(out), text))
        fail_msg("'%s' is in:\n%s", text, strbuf_text(out));
}

// Names of ports stand upright where lines would be longer than 80 characters.
static void test_many_ports(void **state)
{
    (void)state;
    struct stored_port_model stored = made_model();
    stored.model.nports = 16;
    stored.model.nhidden = 0;
    stored.model.classes[3].set = 0xffff;
    struct strbuf out = {0};
    report_ports_text(&stored, "Some CPU, run 3", false, &out);
    expect_text(&out, "\n             q q 1 u u u u u u u 1 1 1 1 1 1\n"
                      "set    size  1 2 0 4 5 2 6 7 8 9 0 1 2 3 4 5  forms  blocker\n");
    expect_text(&out, "ALU      16  # # # # # # # # # # # # # # # #    300  mov r32 i32\n");
    int chars = 0;
    for (const char *at = strbuf_text(&out); *at; at++) {
        chars = *at == '\n' ? 0 : chars + ((*at & 0xc0) != 0x80);
        assert_true(chars <= 80);
    }
    strbuf_free(&out);
}

// The meaning of a set of stores is explained for sets whose blocker writes memory.
static void test_stores(void **state)
{
    (void)state;
    struct stored_port_model stored = made_model();
    struct strbuf out = {0};
    stored.class_blockers[3] = "movq mm mm";
    report_ports_text(&stored, "Some CPU, run 3", false, &out);
    expect_no_text(&out, "a store needs it");
    strbuf_free(&out);
    out = (struct strbuf){0};
    stored.class_blockers[3] = "{evex} vmovaps m128 x";
    report_ports_text(&stored, "Some CPU, run 3", false, &out);
    char line[64];
    snprintf(line, sizeof line, "\n\n%s: a store needs it once. Its address",
             stored.model.classes[3].name);
    expect_text(&out, line);
    strbuf_free(&out);
}

static void test_text(void **state)
{
    (void)state;
    struct stored_port_model stored = made_model();
    struct strbuf out = {0};
    report_ports_text(&stored, "Some CPU, run 3", false, &out);
    assert_true(strncmp(out.data, "Some CPU, run 3\n", 16) == 0);
    expect_text(&out,
                "unit path1: shared by several ports; vmovd r32 x keeps it busy for 0.5 cycles");
    expect_text(&out, "6 ports in 4 sets, 6 slots per cycle");
    // The ports of the largest set first, by name as people count; what has no name comes last, and
    // its number does not look like a published one.
    expect_text(&out, "set    size  q1 q2 q10 u2 u4 u5  forms  blocker\n");
    // Sets that overlap follow each other, the largest first.
    expect_text(&out, "ALU       4  ## ##  ## ##  ·  ·    300  mov r32 i32\n"
                      "PAIR      2   · ##  ##  ·  ·  ·      9  shlx r64 r64 r64\n"
                      "ONE       1   · ##   ·  ·  ·  ·      7  imul r64 r64 i8\n"
                      "FP<\"&     2   ·  ·   ·  · ## ##     12  vpaddb");
    expect_text(&out, "\n\nset Q\"ALL: q1 q2 q10 u4 u5; as many ports as slots");
    expect_text(&out, "unit DIV: not pipelined; div r64 keeps it busy for 4.5 cycles;\n"
                      "  vdivpd z z z needs all its parts, for 9.0\n"
                      "unit SQRT: not pipelined; vsqrtpd x x keeps it busy for 12.0 cycles\n"
                      "unit MS: the sequencer of microcode; haddps x x keeps it busy for 2.0"
                      " cycles\n");
    expect_text(&out, "from this structure: 6.2 %.\n3 forms of one µop fit into no set.\n");
    strbuf_clear(&out);
    stored.model.unexplained = stored.model.nunits = stored.model.nhidden = 0;
    report_ports_text(&stored, "t", false, &out);
    expect_no_text(&out, "unit");
    expect_no_text(&out, "fit into no set");
    expect_no_text(&out, "only counters");
    // Columns are as wide as their names; sets of a size stand in the order of their names.
    strbuf_clear(&out);
    snprintf(stored.model.port_names[3], PORT_LABEL_MAX, "AGLU01");
    snprintf(stored.model.classes[0].name, PORT_NAME_MAX, "PAIR10");
    stored.model.classes[0].set = 0xa;
    report_ports_text(&stored, "t", false, &out);
    expect_text(&out, "set    size  AGLU01 q2 q10 u2 u4 u5  forms");
    expect_text(&out, "PAIR      2       · ##  ##  ·  ·  ·      9  shlx r64");
    expect_text(&out, "PAIR10    2      ## ##   ·  ·");
    // In colour the headings stand out, and nothing else.
    strbuf_clear(&out);
    report_ports_text(&stored, "t", true, &out);
    expect_text(&out, "\033[1mset    size");
    expect_text(&out, "blocker\033[0m\n");
    strbuf_free(&out);
}

// One value of an SQL expression over the JSON text ?1.
static void expect_json(const struct strbuf *json, const char *expression, const char *expected)
{
    sqlite3 *db;
    sqlite3_stmt *stmt;
    char *sql = xasprintf("SELECT %s", expression);
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    sqlite3_bind_text(stmt, 1, json->data, -1, SQLITE_STATIC);
    const char *got = sqlite3_step(stmt) == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0)
                                                       : sqlite3_errmsg(db);
    if (!got || strcmp(got, expected) != 0)
        fail_msg("%s is '%s', expected '%s', in:\n%s", expression, got ? got : "NULL", expected,
                 json->data);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    free(sql);
}

static void test_json(void **state)
{
    (void)state;
    struct stored_port_model stored = made_model();
    struct strbuf out = {0};
    report_ports_json(&stored, "zen\"x\\", &out);
    expect_json(&out, "json_valid(?1)", "1");
    expect_json(&out, "json_extract(?1, '$[0].uarch')", "zen\"x\\");
    expect_json(&out, "json_extract(?1, '$[0].width')", "6");
    expect_json(&out, "json_extract(?1, '$[0].port_count')", "6");
    expect_json(&out, "json_extract(?1, '$[0].residual')", "0.0625");
    expect_json(&out, "json_extract(?1, '$[0].filler')", "nop");
    expect_json(&out, "json_array_length(?1, '$[0].sets')", "4");
    expect_json(&out, "json_extract(?1, '$[0].sets[3].name')", "ALU");
    expect_json(&out, "json_extract(?1, '$[0].sets[3].ports')", "[\"q1\",\"q2\",\"q10\",\"u2\"]");
    expect_json(&out, "json_extract(?1, '$[0].sets[3].forms')", "300");
    expect_json(&out, "json_extract(?1, '$[0].sets[1].name')", "FP<\"&");
    expect_json(&out, "json_extract(?1, '$[0].sets[1].size')", "2");
    expect_json(&out, "json_extract(?1, '$[0].sets[1].ports')", "[\"u4\",\"u5\"]");
    expect_json(&out, "json_extract(?1, '$[0].sets[1].blocker')", "vpaddb x{k}{z} <x> & \"x\"");
    expect_json(&out, "json_extract(?1, '$[0].hidden[0].name')", "Q\"ALL");
    expect_json(&out, "json_extract(?1, '$[0].hidden[0].ports')",
                "[\"q1\",\"q2\",\"q10\",\"u4\",\"u5\"]");
    expect_json(&out, "json_extract(?1, '$[0].units[1].name')", "SQRT");
    expect_json(&out, "json_extract(?1, '$[0].units[0].busy_clk')", "4.5");
    expect_json(&out, "json_extract(?1, '$[0].probes[0].form')", "vmovd r32 x");
    expect_json(&out, "json_extract(?1, '$[0].probes[0].shares[0].share_clk')", "0.5");
    expect_json(&out, "json_extract(?1, '$[0].units[0].whole_blocker')", "vdivpd z z z");
    expect_json(&out, "json_extract(?1, '$[0].units[0].whole_clk')", "9");
    expect_json(&out, "json_extract(?1, '$[0].units[1].whole_clk') IS NULL", "1");
    expect_json(&out, "json_extract(?1, '$[0].units[1].kind')", "not pipelined");
    expect_json(&out, "json_extract(?1, '$[0].units[2].kind')", "the sequencer of microcode");
    strbuf_clear(&out);
    stored.model.nclasses = stored.model.nunits = 0; // as a file from elsewhere may say
    report_ports_json(&stored, "", &out);
    expect_json(&out, "json_valid(?1)", "1");
    expect_json(&out, "json_array_length(?1, '$[0].sets')", "0");
    strbuf_free(&out);
}

static int count_of(const char *text, const char *part)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        n++;
    return n;
}

// Every tag is closed, in order, and there are no characters that only tags have.
static void expect_well_formed(const char *svg)
{
    char open[8][16];
    int depth = 0;
    for (const char *at = svg; *at;) {
        if (*at == '&')
            assert_true(strncmp(at, "&lt;", 4) == 0 || strncmp(at, "&gt;", 4) == 0 ||
                        strncmp(at, "&amp;", 5) == 0 || strncmp(at, "&quot;", 6) == 0);
        assert_true(*at != '>');
        if (*at++ != '<')
            continue;
        size_t len = strcspn(at, "<>");
        assert_true(at[len] == '>');
        char name[16] = "";
        sscanf(at + (*at == '/'), "%15[a-z]", name);
        if (*at == '/') {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], name);
        } else if (at[len - 1] != '/') {
            assert_true(depth < 8);
            strcpy(open[depth++], name);
        }
        assert_int_equal(depth == 0 && at[len + 1] == '\n' ? 1 : depth > 0, 1);
        at += len + 1;
    }
    assert_int_equal(depth, 0);
}

static void test_svg(void **state)
{
    (void)state;
    struct stored_port_model stored = made_model();
    struct strbuf out = {0};
    report_ports_svg(&stored, "Some <CPU> & more", &out);
    expect_well_formed(out.data);
    expect_text(&out, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    expect_text(&out, ">Some &lt;CPU&gt; &amp; more</text>");
    expect_text(&out, ">FP&lt;&quot;&amp;</text>");
    expect_text(&out, ">vpaddb x{k}{z} &lt;x&gt; &amp; &quot;x&quot;</text>");
    static const char *const labels[] = {">q1<", ">q2<", ">q10<", ">u2<", ">u4<", ">u5<"};
    for (size_t i = 0; i < ARRAY_LEN(labels); i++)
        assert_int_equal(count_of(out.data, labels[i]), 1);
    // A cell for each set and port, filled where the set has the port.
    assert_int_equal(count_of(out.data, "fill=\"#1f6fb2\""), 1 + 2 + 2 + 4);
    assert_int_equal(count_of(out.data, "fill=\"#eceff1\""), 4 * 6 - 9);
    // All of it lies inside the picture.
    int width = 0, height = 0;
    assert_int_equal(sscanf(strstr(out.data, "viewBox"), "viewBox=\"0 0 %d %d\"", &width, &height),
                     2);
    int placed = 0;
    for (const char *at = out.data; (at = strstr(at, "x=\"")); at++) {
        int x = 0, y = 0;
        if (sscanf(at, "x=\"%d\" y=\"%d\"", &x, &y) != 2)
            continue;
        assert_true(x >= 0 && x < width && y >= 0 && y < height);
        placed++;
    }
    assert_true(placed >= 4 * 6); // cells, and texts
    strbuf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),   cmocka_unit_test(test_many_ports),
        cmocka_unit_test(test_stores), cmocka_unit_test(test_json),
        cmocka_unit_test(test_svg),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
