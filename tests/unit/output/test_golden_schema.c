// SPDX-License-Identifier: MIT
// docs/output.schema.json follows from the records of the outputs: docs/output.schema.in is the
// rest, in which `@NAME` stands for the output of that name. `make schema` rewrites it.
#include "fixtures/golden_fixture.h"

#include "bench/bench_print.h"
#include "bench/bench_sweep_print.h"
#include "commands/cpu_print.h"
#include "commands/validate_blocks.h"
#include "commands/validate_print.h"
#include "commands/validate_stored.h"
#include "compare/compare.h"
#include "compare/compare_tables.h"
#include "counters/count_list.h"
#include "diff/diff.h"
#include "explain/explain_listing.h"
#include "explain/explain_print.h"
#include "explain/explain_row.h"
#include "export/export_internal.h"
#include "output/output_internal.h"
#include "report/report.h"
#include "report/report_property.h"
#include "sheet/sheet.h"
#include "stat/stat_report.h"

// --- the schema of a record ---

static void put_object(const struct output_record *record, int depth, struct strbuf *out);

static void put_indent(int depth, struct strbuf *out)
{
    strbuf_printf(out, "\n%*s", 2 * depth, "");
}

// Returns the name of the type of a member that is no array of rows.
static const char *type_name(const struct output_field *field)
{
    static const char *const names[][2] = {
        [LOOK_TEXT] = {"text",    "text_or_null"   },
        [LOOK_INTEGER] = {"integer", "integer_or_null"},
        [LOOK_REAL] = {"number",  "number_or_null" },
        [LOOK_BOOL] = {"boolean", "boolean"        }
    };
    enum look_type type = output_field_type(field);
    bool value = field->at.kind == FIELD_VALUE, null = !field->always;
    if (value && type == LOOK_BOOL)
        type = LOOK_INTEGER;
    if (!value && type != LOOK_REAL)
        null = field->known;
    return field->at.kind == FIELD_TEXTS   ? "texts"
           : field->at.kind == FIELD_REALS ? "numbers"
                                           : names[type][null];
}

static void put_array(const struct output_record *record, int depth, struct strbuf *out)
{
    strbuf_puts(out, "\"type\": \"array\",");
    put_indent(depth, out);
    strbuf_puts(out, "\"items\": {");
    put_object(record, depth, out);
    strbuf_puts(out, "}");
}

static void put_text(const char *name, const char *text, struct strbuf *out)
{
    struct json json = {.out = out};
    json_text(json_name(&json, name), text);
}

static void put_member(const struct output_field *field, int depth, struct strbuf *out)
{
    strbuf_printf(out, "\"%s\": {", output_field_name(field));
    if (field->look.says) {
        put_text("description", field->look.says, out);
        strbuf_puts(out, ", ");
    }
    if (output_field_is_rows(field))
        put_array(field->of, depth + 1, out);
    else
        strbuf_printf(out, "\"$ref\": \"#/$defs/%s\"", type_name(field));
    strbuf_puts(out, "}");
}

// Calls back for each member that JSON has. Returns true if members are known only at run time.
typedef void member_writer(const struct output_field *field, int depth, struct strbuf *out);
static bool each_member(const struct output_record *record, member_writer *put, int depth,
                        struct strbuf *out)
{
    bool more = false;
    for (int i = 0; i < record->nfields; i++) {
        const struct output_field *field = output_field_at(record, i);
        more = more || field->at.kind == FIELD_MORE;
        if (field->at.kind == FIELD_WITHIN)
            more = each_member(field->of, put, depth, out) || more;
        else if (field->at.kind != FIELD_MORE && field->only <= OUTPUT_JSON &&
                 *output_field_name(field))
            put(field, depth, out);
    }
    return more;
}

static void put_required(const struct output_field *field, int depth, struct strbuf *out)
{
    enum { LINE_WIDTH = 100 };
    const char *name = output_field_name(field);
    if (field->optional)
        return;
    bool first = out->data[out->len - 1] == '[';
    size_t width = strlen(strrchr(out->data, '\n')) + strlen(name);
    strbuf_puts(out, first ? "" : ",");
    if (!first && width > LINE_WIDTH - 8) // comma, blank, quotes and what ends the array
        put_indent(depth + 2, out);
    strbuf_printf(out, "%s\"%s\"", first || out->data[out->len - 1] == ' ' ? "" : " ", name);
}

static void put_property(const struct output_field *field, int depth, struct strbuf *out)
{
    strbuf_puts(out, out->data[out->len - 1] == '{' ? "" : ",");
    put_indent(depth, out);
    put_member(field, depth, out);
}

static void put_object(const struct output_record *record, int depth, struct strbuf *out)
{
    put_indent(depth + 1, out);
    strbuf_puts(out, "\"type\": \"object\",");
    put_indent(depth + 1, out);
    strbuf_puts(out, "\"required\": [");
    each_member(record, put_required, depth, out);
    strbuf_puts(out, "],");
    put_indent(depth + 1, out);
    strbuf_puts(out, "\"properties\": {");
    bool more = each_member(record, put_property, depth + 2, out);
    put_indent(depth + 1, out);
    strbuf_puts(out, "},");
    put_indent(depth + 1, out);
    strbuf_printf(out, "\"additionalProperties\": {\"$ref\": \"#/$defs/%s\"}",
                  more ? "number_or_null" : "member");
    put_indent(depth, out);
}

// Appends the member of $defs that describes an output, without a comma.
static void put_kind(const struct output_kind *kind, struct strbuf *out)
{
    strbuf_printf(out, "    \"%s\": {\n      ", kind->name);
    put_text("description", kind->says, out);
    strbuf_puts(out, ",\n      ");
    put_array(kind->record, 3, out);
    if (kind->least)
        strbuf_printf(out, ",\n      \"minItems\": %d", kind->least);
    if (kind->most)
        strbuf_printf(out, ",\n      \"maxItems\": %d", kind->most);
    strbuf_puts(out, "\n    }");
}

// --- that of all outputs ---

static const struct output_kind *const kinds[] = {
    &bench_kind,           &bench_sweep_kind,     &cpu_print_kind,      &cpu_kinds_print_kind,
    &sheet_kind,           &report_ports_kind,    &stat_report_kind,    &report_property_kind,
    &validate_print_kind,  &validate_stored_kind, &count_list_kinds[0], &count_list_kinds[1],
    &compare_print_kind,   &compare_tables_kind,  &explain_print_kind,  &explain_row_kind,
    &validate_blocks_kind, &explain_listing_kind,
};

// Outputs whose records are made of columns. docs/COLUMNS.md says what those of views are.
static const struct {
    const char *name, *says;
    enum store_view view;
} views[] = {
    {"query_instruction", "latput query",                               STORE_VIEW_INSTRUCTION},
    {"query_latency",     "latput query --latency",                     STORE_VIEW_LATENCY    },
    {"query_false",       "latput query --false-dependencies",          STORE_VIEW_FALSE      },
    {"query_doubt",       "latput query --doubts",                      STORE_VIEW_DOUBT      },
    {"query_port",        "latput query --ports",                       STORE_VIEW_PORT       },
    {"query_failure",     "latput query --failures",                    STORE_VIEW_FAILURE    },
    {"query_run",         "latput query --runs; it has more members",   STORE_VIEW_RUN        },
    {"query_bench",       "latput query --bench, latput bench --store", STORE_VIEW_BENCH      },
};
enum { MADE_DIFF = ARRAY_LEN(views), MADE_EXPORT, MADE };
struct made {
    struct diff diff;
    struct diff_told diff_told;
    struct export_json_told export_told;
    struct output_made views[ARRAY_LEN(views)];
    struct output_kind kinds[MADE];
};

static void made_view(struct output_made *made, enum store_view view)
{
    struct row {
        struct field_value value;
    };
    int n;
    const struct column *columns = columns_of(view, &n);
    for (int i = 0; i < n; i++) {
        struct output_field field = OUTPUT_FIELD(struct row, value, .always = columns[i].key);
        field.look = columns[i].look;
        field.look.says = NULL;
        if (!columns[i].sql)
            output_made_add(made, field);
    }
}

static void made_begin(struct made *made)
{
    *made = (struct made){.diff.ncolumns = 0};
    diff_begin(&made->diff);
    diff_tell(&made->diff, &made->diff_told);
    export_json_tell(&made->export_told);
    made->kinds[MADE_DIFF] =
        (struct output_kind){"diff", "latput diff", &made->diff_told.whole.record, 1, 1};
    made->kinds[MADE_EXPORT] = (struct output_kind){"export", "latput export --format json",
                                                    &made->export_told.whole.record, 1, 1};
    for (size_t i = 0; i < ARRAY_LEN(views); i++) {
        made_view(&made->views[i], views[i].view);
        made->kinds[i] =
            (struct output_kind){views[i].name, views[i].says, &made->views[i].record, 0, 0};
    }
}

static void made_end(struct made *made)
{
    for (size_t i = 0; i < ARRAY_LEN(views); i++)
        free(made->views[i].fields);
    export_json_told_free(&made->export_told);
    diff_told_free(&made->diff_told);
    diff_free(&made->diff);
}

// Returns the output of a name that ends with a comma or the line; NULL: there is none.
static const struct output_kind *find_kind(const struct made *made, const char *name)
{
    size_t len = strcspn(name, ",\n");
    for (size_t k = 0; k < ARRAY_LEN(kinds) + ARRAY_LEN(made->kinds); k++) {
        const struct output_kind *kind =
            k < ARRAY_LEN(kinds) ? kinds[k] : &made->kinds[k - ARRAY_LEN(kinds)];
        if (strlen(kind->name) == len && strncmp(kind->name, name, len) == 0)
            return kind;
    }
    return NULL;
}

static void the_schema_is_that_of_the_records(void **state)
{
    (void)state;
    struct strbuf found = {0};
    char line[400];
    size_t used = 0;
    struct made made;
    made_begin(&made);
    FILE *file = fopen("docs/output.schema.in", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        size_t blanks = strspn(line, " ");
        char *name = line + blanks;
        const struct output_kind *kind = *name == '@' ? find_kind(&made, name + 1) : NULL;
        if (*name == '@' && !kind)
            fail_msg("no output is %s", name);
        used += kind != NULL;
        if (kind)
            put_kind(kind, &found);
        strbuf_puts(&found, kind ? name + 1 + strlen(kind->name) : line);
    }
    fclose(file);
    assert_int_equal(used, ARRAY_LEN(kinds) + ARRAY_LEN(made.kinds));
    made_end(&made);
    golden_expect("../../../docs/output.schema.json", &found);
    strbuf_free(&found);
}

struct row {
    int n, missing;
    bool yes, one;
    double real, always;
    const char *shown, *known;
    const char *const *texts;
    const double *reals;
    int ntexts, nreals;
    struct output_more more;
};
#define ROW(...) OUTPUT_FIELD(struct row, __VA_ARGS__)
OUTPUT_DEFINE(record, struct row, OUTPUT_LINE, OUTPUT_NAMED(struct row, n, "number"),
              ROW(missing, .known = true), ROW(yes), ROW(one, .zero_one = true), ROW(real),
              ROW(always, .always = true, .look.says = "never null"),
              ROW(shown, .only = OUTPUT_PEOPLE), ROW(known, .optional = true),
              OUTPUT_LIST(struct row, texts, ntexts), OUTPUT_LIST(struct row, reals, nreals),
              OUTPUT_MORE(struct row, more));

static void types_follow_from_the_fields(void **state)
{
    (void)state;
    struct strbuf out = {0};
    put_kind(&(struct output_kind){"kind", "what it is", &record, 0, 1}, &out);
    assert_string_equal(
        strbuf_text(&out),
        "    \"kind\": {\n"
        "      \"description\": \"what it is\",\n"
        "      \"type\": \"array\",\n"
        "      \"items\": {\n"
        "        \"type\": \"object\",\n"
        "        \"required\": [\"number\", \"missing\", \"yes\", \"one\", \"real\", \"always\", "
        "\"texts\", \"reals\"],\n"
        "        \"properties\": {\n"
        "          \"number\": {\"$ref\": \"#/$defs/integer\"},\n"
        "          \"missing\": {\"$ref\": \"#/$defs/integer_or_null\"},\n"
        "          \"yes\": {\"$ref\": \"#/$defs/boolean\"},\n"
        "          \"one\": {\"$ref\": \"#/$defs/integer\"},\n"
        "          \"real\": {\"$ref\": \"#/$defs/number_or_null\"},\n"
        "          \"always\": {\"description\": \"never null\", \"$ref\": \"#/$defs/number\"},\n"
        "          \"known\": {\"$ref\": \"#/$defs/text\"},\n"
        "          \"texts\": {\"$ref\": \"#/$defs/texts\"},\n"
        "          \"reals\": {\"$ref\": \"#/$defs/numbers\"}\n"
        "        },\n"
        "        \"additionalProperties\": {\"$ref\": \"#/$defs/number_or_null\"}\n"
        "      },\n"
        "      \"maxItems\": 1\n"
        "    }");
    strbuf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(types_follow_from_the_fields),
                                       cmocka_unit_test(the_schema_is_that_of_the_records)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
