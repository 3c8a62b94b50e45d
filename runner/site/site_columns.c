// SPDX-License-Identifier: MIT
// Tells the page of the columns of its table: the records of runner/columns/.
#include "site_internal.h"

static void column_json(const struct column *column, struct json *json)
{
    static const char *const types[] = {[LOOK_TEXT] = "text",
                                        [LOOK_INTEGER] = "integer",
                                        [LOOK_REAL] = "clk",
                                        [LOOK_BOOL] = "integer"};
    static const char *const rules[] = {[DIFFERS_NOT] = "not",
                                        [DIFFERS_BY_SIZE] = "size",
                                        [DIFFERS_IF_KNOWN] = "known",
                                        [DIFFERS_IN_FAMILY] = "family",
                                        [DIFFERS_IF_ASKED] = "asked"};
    json_open(json_break(json, "\n"), '{');
    json_text(json_name(json, "name"), column->look.name);
    json_text(json_name(json, "type"), types[column->look.type]);
    json_text_known(json_name(json, "heading"), column->look.heading);
    struct strbuf says = {0};
    columns_say(column, &says);
    json_text(json_name(json, "says"), strbuf_text(&says));
    strbuf_free(&says);
    json_text_known(json_name(json, "bound"), column->bound);
    json_text_known(json_name(json, "mark"), column->mark);
    json_text_known(json_name(json, "most"), column->most);
    json_text_known(json_name(json, "slow"), column->slow);
    json_text_known(json_name(json, "spread"), column->spread);
    json_text_known(json_name(json, "asked"), (const char[]){column->asked, '\0'});
    json_text(json_name(json, "differs"), rules[column->differs]);
    json_close(json, '}');
}

int site_columns_write(struct site_files *files, struct err *err)
{
    const struct column *columns[VIEW_COLUMNS_MAX];
    int n = columns_on(STORE_VIEW_INSTRUCTION, COLUMN_SITE, columns);
    struct strbuf text = {0};
    struct json json = {.out = &text, .script = true};
    json_open(&json, '{');
    json_real(json_name(&json, "tolerance"), COLUMN_TOLERANCE);
    site_thousandths(json_name(&json, "least"), COLUMN_LEAST_CLK);
    json_open(json_name(&json, "columns"), '[');
    for (int i = 0; i < n; i++)
        column_json(columns[i], &json);
    json_close(json_break(&json, "\n"), ']');
    json_open(json_name(&json, "marks"), '[');
    for (int i = 0; i < COLUMN_SIGNS; i++) {
        json_open(&json, '[');
        json_text(&json, column_marks[i].sign);
        json_text(&json, column_marks[i].says);
        json_close(&json, ']');
    }
    json_close(&json, ']');
    json_close(&json, '}');
    int result = site_file_script(files, "data/columns.js", "columns", &text, err);
    strbuf_free(&text);
    return result;
}
