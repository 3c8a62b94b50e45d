// SPDX-License-Identifier: MIT
// Finds columns and puts them into the order of a surface; see columns.h.
#include "columns_internal.h"

#include "util/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct column_view *const column_views[STORE_VIEWS] = {
    [STORE_VIEW_INSTRUCTION] = &columns_instruction,
    [STORE_VIEW_LATENCY] = &columns_latency,
    [STORE_VIEW_PORT] = &columns_port,
    [STORE_VIEW_FALSE] = &columns_false,
    [STORE_VIEW_DOUBT] = &columns_doubt,
    [STORE_VIEW_EVIDENCE] = &columns_evidence,
    [STORE_VIEW_KERNEL] = &columns_kernel,
    [STORE_VIEW_PROPERTY] = &columns_property,
    [STORE_VIEW_PROPERTY_POINT] = &columns_property_point,
    [STORE_VIEW_FAILURE] = &columns_failure,
    [STORE_VIEW_RUN] = &columns_run,
    [STORE_VIEW_WARNING] = &columns_warning,
    [STORE_VIEW_BENCH] = &columns_bench,
    [STORE_VIEW_REPETITION] = &columns_repetition,
    [STORE_VIEW_LIST] = &columns_list,
    [STORE_VIEW_LIST_BEST] = &columns_instruction,
    [STORE_VIEW_LIST_FALSE] = &columns_false,
    [STORE_VIEW_LIST_FAILURE] = &columns_failure,
};

const struct column_mark column_marks[COLUMN_SIGNS] = {
    [SIGN_UPPER] = {"≤",    "upper bound"                                                 },
    [SIGN_AVERAGE] = {"~",      "mean of executions that differ"                              },
    [SIGN_STATES] = {"*",      "fastest of several steady states"                            },
    [SIGN_PORTS] = {"ports?", "others fit as well"                                          },
    [SIGN_JOINED] = {"p1/p5",  "any of these ports, which no form of one µop has for itself"},
    [SIGN_NAME] = {"name?",  "found by measuring, not claimed by the CPU"                  },
    [SIGN_RANGE] = {"1–2",  "range of steady states"                                      },
    [SIGN_SLOW] = {"1 / 2",  "with fast and with slow data"                                },
};

// Orders that programs know from before there were records; new columns come last, in the order of
// these.
static const char csv_order[] =
    "uarch form mnemonic operands enc bits isa options outcome latency_min_clk latency_bound "
    "latency_max_clk latency_max_bound rthroughput_clk rthroughput_bound rthroughput_slow_clk uops "
    "ports at_rename list run_id uops_bound ";
static const char json_order[] =
    "form mnemonic operands enc bits isa options outcome latency_min_clk latency_bound "
    "latency_max_clk latency_max_bound rthroughput_clk rthroughput_bound rthroughput_slow_clk uops "
    "uops_bound ports at_rename run_id ";
static const char diff_order[] =
    "latency_min_clk latency_max_clk rthroughput_clk rthroughput_slow_clk outcome uops ports "
    "limited_by result_latency_clk result_latency_max_clk result_latency_slow_clk "
    "result_latency_slow_max_clk result_latency_most_clk result_latency_max_most_clk ";

static bool beside_shown;

void columns_show_beside(bool shown)
{
    beside_shown = shown;
}

static size_t columns_count(enum store_view view)
{
    size_t n = column_views[view]->n;
    while (!(beside_shown && view == STORE_VIEW_INSTRUCTION) && n > 0 &&
           column_views[view]->columns[n - 1].beside)
        n--;
    return n;
}

// Returns true if `name` is one of the words of a text with blanks between; *at: its offset.
static bool word_among(const char *words, const char *name, int *at)
{
    size_t len = strlen(name);
    for (const char *word = words; *word; word += strspn(word, " ")) {
        size_t n = strcspn(word, " ");
        *at = (int)(word - words);
        if (n == len && strncasecmp(word, name, n) == 0)
            return true;
        word += n;
    }
    *at = (int)strlen(words);
    return false;
}

const struct column *columns_of(enum store_view view, int *n)
{
    *n = (int)columns_count(view);
    return column_views[view]->columns;
}

const char *columns_view_name(enum store_view view)
{
    return column_views[view]->name;
}

const struct column *columns_find(enum store_view view, const char *name)
{
    const struct column_view *columns = column_views[view];
    for (size_t i = 0; i < columns_count(view); i++)
        if (strcmp(columns->columns[i].look.name, name) == 0)
            return &columns->columns[i];
    return NULL;
}

// Sorts columns by their place in an order, which a column that is not in it comes after; NULL: by
// their places in tables.
static void columns_sort(const struct column **columns, int n, const char *order)
{
    int keys[VIEW_COLUMNS_MAX];
    for (int i = 0; i < n; i++) {
        const struct column *own = columns[i];
        int key = own->place, at = i;
        if (order)
            word_among(order, own->look.name, &key);
        for (; at > 0 && keys[at - 1] > key; at--) {
            keys[at] = keys[at - 1];
            columns[at] = columns[at - 1];
        }
        keys[at] = key;
        columns[at] = own;
    }
}

int columns_on(enum store_view view, enum column_surface surface,
               const struct column *found[VIEW_COLUMNS_MAX])
{
    const struct column_view *columns = column_views[view];
    int n = 0;
    for (size_t i = 0; i < columns_count(view); i++)
        if (columns->columns[i].on & COLUMN_ON(surface))
            found[n++] = &columns->columns[i];
    columns_sort(found, n,
                 surface == COLUMN_CSV    ? csv_order
                 : surface == COLUMN_JSON ? json_order
                                          : NULL);
    return n;
}

void columns_sort_diff(const struct column **columns, int n)
{
    columns_sort(columns, n, diff_order);
}

const struct column *columns_called(enum store_view view, const char *name)
{
    const struct column_view *columns = column_views[view];
    const struct column *found = NULL;
    int at;
    for (size_t i = 0; i < columns_count(view) && !found; i++)
        if (strcasecmp(columns->columns[i].look.name, name) == 0)
            found = &columns->columns[i];
    for (size_t i = 0; i < columns_count(view) && !found; i++) {
        const struct column *own = &columns->columns[i];
        if ((own->look.heading && strcasecmp(own->look.heading, name) == 0) ||
            (own->alias && word_among(own->alias, name, &at)))
            found = own;
    }
    return found && !found->sql ? found : NULL;
}

void columns_select(enum store_view view, struct strbuf *sql)
{
    const struct column_view *columns = column_views[view];
    const char *gap = "";
    for (size_t i = 0; i < columns_count(view); i++)
        if (!columns->columns[i].sql) {
            strbuf_printf(sql, "%s%s", gap, columns->columns[i].look.name);
            gap = ", ";
        }
}

double column_gap(struct column_range a, struct column_range b)
{
    return a.least > b.least ? a.least - b.most : b.least - a.most;
}

bool column_gap_is_small(double gap, double of, struct column_tolerance tolerance)
{
    return gap <= fmax(tolerance.clk, tolerance.share * of);
}

void columns_say(const struct column *column, struct strbuf *out)
{
    for (const char *at = column->look.says; *at; at++)
        if (*at != '`')
            strbuf_put(out, at, 1);
}
