// SPDX-License-Identifier: MIT
// Comparisons with tables of others as text, CSV and JSON.
#include "compare_tables_internal.h"

#include "util/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_WIDTH = 80, DIGITS = 6, NAMED = 3 };

struct value_row {
    const char *file;
    int line;
    const char *row, *form, *enc;
    int bits;
    const char *class, *quantity, *src, *dst;
    double theirs_least, theirs, ours_least, ours, ours_bound;
    bool theirs_upper;
    const char *theirs_ports, *ours_ports;
    const char *group, *judged, *evidence;
    const char *theirs_shown, *ours_shown; // for people
};
#define VALUE(...) OUTPUT_FIELD(struct value_row, __VA_ARGS__)
#define VALUE_CLK(member, called)                                                                  \
    OUTPUT_NAMED(struct value_row, member, called, .digits = DIGITS, .look.digits = DIGITS)
// clang-format off
OUTPUT_DEFINE(value_record, struct value_row, OUTPUT_LINE,
    VALUE(file, .only = OUTPUT_CSV),
    VALUE(line, .look.says = "of the file", .look.heading = "line", .look.align = ALIGN_RIGHT),
    VALUE(row, .look.says = "what it has there", .look.heading = "row"),
    VALUE(form, .known = true, .look.says = "the form of ours; null: none is matched"),
    VALUE(enc, .known = true),
    VALUE(bits, .known = true),
    VALUE(class, .known = true, .look.says = "the extension of the form"),
    VALUE(quantity, .known = true, .look.heading = "quantity",
          .look.says = "latency, throughput, uops or ports"),
    VALUE(src, .known = true), VALUE(dst, .known = true),
    VALUE_CLK(theirs_least, "theirs_least_clk"), VALUE_CLK(theirs, "theirs_clk"),
    VALUE(theirs_upper), VALUE_CLK(ours_least, "ours_least_clk"), VALUE_CLK(ours, "ours_clk"),
    VALUE_CLK(ours_bound, "ours_bound_clk"),
    VALUE(theirs_shown, .only = OUTPUT_PEOPLE, .look.heading = "theirs"),
    VALUE(ours_shown, .only = OUTPUT_PEOPLE, .look.heading = "ours"),
    VALUE(theirs_ports, .known = true), VALUE(ours_ports, .known = true),
    VALUE(group, .look.says = "what explains the difference", .look.name = "explained"),
    VALUE(judged, .known = true, .look.says = "whose value is in doubt", .only = OUTPUT_JSON),
    VALUE(evidence, .known = true, .look.heading = "evidence"));

struct counted_row {
    const char *class, *quantity;
    int compared, agree, explained, open;
    double agree_percent, tolerance_clk, tolerance_share;
};
#define COUNTED(...) OUTPUT_FIELD(struct counted_row, __VA_ARGS__)
#define COUNTED_N(member) COUNTED(member, .look.heading = #member, .look.align = ALIGN_RIGHT)
OUTPUT_DEFINE(counted_record, struct counted_row, OUTPUT_LINE,
    COUNTED(class, .look.heading = "class"), COUNTED(quantity, .look.heading = "quantity"),
    COUNTED_N(compared), COUNTED_N(agree),
    COUNTED(agree_percent, .look.heading = "%", .look.align = ALIGN_RIGHT, .shown = 1,
            .decimals = 2),
    COUNTED_N(explained),
    COUNTED(open, .look.heading = "not explained", .look.align = ALIGN_RIGHT,
            .look.name = "not_explained"),
    COUNTED(tolerance_clk, .only = OUTPUT_JSON), COUNTED(tolerance_share, .only = OUTPUT_JSON));

struct group_row {
    const char *group, *judged, *says;
    int values;
};
#define GROUP(...) OUTPUT_FIELD(struct group_row, __VA_ARGS__)
OUTPUT_DEFINE(group_record, struct group_row, OUTPUT_LINE,
    GROUP(group, .look.name = "explained", .look.heading = "explained by"),
    GROUP(values, .look.heading = "values", .look.align = ALIGN_RIGHT),
    GROUP(judged, .known = true, .look.heading = "in doubt"),
    GROUP(says, .look.heading = "what it says"));

OUTPUT_DEFINE(reason_record, struct compare_reason, OUTPUT_LINE,
    OUTPUT_FIELD(struct compare_reason, why, .look.name = "reason", .look.heading = "not matched"),
    OUTPUT_FIELD(struct compare_reason, n, .look.name = "rows", .look.heading = "rows",
                 .look.align = ALIGN_RIGHT),
    OUTPUT_FIELD(struct compare_reason, example, .look.heading = "such as"));

OUTPUT_DEFINE(told_record, struct foreign_told, OUTPUT_LINE,
    OUTPUT_FIELD(struct foreign_told, what, .look.heading = "not used"),
    OUTPUT_FIELD(struct foreign_told, n, .look.name = "values", .look.heading = "values",
                 .look.align = ALIGN_RIGHT),
    OUTPUT_FIELD(struct foreign_told, line, .look.heading = "first line",
                 .look.align = ALIGN_RIGHT));

struct left_row {
    int line;
    const char *row, *reason, *fits;
};
#define LEFT(...) OUTPUT_FIELD(struct left_row, __VA_ARGS__)
OUTPUT_DEFINE(left_record, struct left_row, OUTPUT_LINE, LEFT(line), LEFT(row), LEFT(reason),
    LEFT(fits, .known = true));

struct whole_row {
    const char *file, *format, *cpu, *uarch, *ours;
    double clock_factor;
    int rows, matched, ours_forms, ours_found, without;
    int ncounted, nclasses, ngroups, nreasons, ntold, nvalues, nleft;
    const struct counted_row *counted, *classes;
    const struct group_row *groups;
    const struct compare_reason *reasons;
    const struct foreign_told *told;
    const struct value_row *values;
    const struct left_row *left;
};
#define WHOLE(...) OUTPUT_FIELD(struct whole_row, __VA_ARGS__)
#define WHOLE_ROWS(member, n, record, called)                                                      \
    OUTPUT_ROWS(struct whole_row, member, n, record, .look.name = (called))
OUTPUT_DEFINE(whole_record, struct whole_row, OUTPUT_LINES,
    WHOLE(file), WHOLE(format), WHOLE(cpu, .known = true), WHOLE(uarch, .known = true),
    WHOLE(ours),
    WHOLE(clock_factor, .digits = DIGITS,
          .look.says = "cycles, or ns, of the file per core cycle, by which its times are divided"),
    WHOLE(rows), WHOLE(matched),
    WHOLE(ours_forms, .look.says = "forms of ours with a value"),
    WHOLE(ours_found, .look.says = "those that the file has"),
    WHOLE(without, .look.name = "no_chain_of_ours",
          .look.says = "values of theirs for which ours has none to compare"),
    WHOLE_ROWS(counted, ncounted, counted_record, "quantities"),
    WHOLE_ROWS(classes, nclasses, counted_record, "classes"),
    WHOLE_ROWS(groups, ngroups, group_record, "groups"),
    WHOLE_ROWS(reasons, nreasons, reason_record, "not_matched"),
    WHOLE_ROWS(told, ntold, told_record, "not_used"),
    WHOLE_ROWS(values, nvalues, value_record, "differences"),
    WHOLE_ROWS(left, nleft, left_record, "rows_not_matched"));
// clang-format on
const struct output_kind compare_tables_kind = {"compare_tables", "latput compare FILE",
                                                &whole_record, 1, 0};

static const char *shown(struct arena *arena, double least, double most, bool upper)
{
    const char *text = compare_clk(arena, most);
    if (upper)
        return arena_printf(arena, "≤%s", text);
    const char *from = isnan(least) ? text : compare_clk(arena, least);
    return strcmp(from, text) == 0 ? text : arena_printf(arena, "%s–%s", from, text);
}

static struct value_row value_row_make(const struct compare_tables *tables,
                                       const struct compare_value *value, struct arena *arena)
{
    const struct compare_ours *ours = &value->ours;
    const struct foreign_value *theirs = value->theirs;
    const struct known_form *form = value->form;
    const struct foreign_row *row = value->match->row;
    bool ports = theirs->quantity == FOREIGN_PORTS;
    double most = isnan(ours->most) ? ours->bound : ours->most;
    bool upper = isnan(ours->most) || ours->bound > ours->most + 1e-9;
    return (struct value_row){
        .file = tables->theirs->path,
        .line = row->line,
        .row = theirs->src ? arena_printf(arena, "%s %s→%s", row->name, theirs->src, theirs->dst)
                           : row->name,
        .form = form->id.form,
        .enc = form->id.enc,
        .bits = form->id.bits,
        .class = form->row ? form->row->isa : "",
        .quantity = foreign_quantity_names[theirs->quantity],
        .src = theirs->src ? theirs->src : ours->src,
        .dst = theirs->dst ? theirs->dst : ours->dst,
        .theirs_least = theirs->least,
        .theirs = theirs->most,
        .theirs_upper = theirs->upper,
        .ours_least = ours->least,
        .ours = most,
        .ours_bound = upper ? ours->bound : (double)NAN,
        .group = compare_group_records[value->group].name,
        .judged = compare_group_records[value->group].judged,
        .evidence = value->evidence,
        .theirs_ports = ports ? row->ports : "",
        .ours_ports = ports ? form->ports : "",
        .theirs_shown =
            ports ? row->ports : shown(arena, theirs->least, theirs->most, theirs->upper),
        .ours_shown =
            ports ? form->ports : shown(arena, ours->least, most, upper && isnan(ours->least)),
    };
}

static struct counted_row counted_row_make(const struct compare_counted *counted)
{
    int q = 0;
    while (strcmp(foreign_quantity_names[q], counted->quantity) != 0)
        q++;
    int open = counted->grouped[GROUP_OPEN];
    return (struct counted_row){
        .class = counted->class,
        .quantity = counted->quantity,
        .compared = counted->compared,
        .agree = counted->agree,
        .explained = counted->compared - counted->agree - open,
        .open = open,
        .agree_percent = counted->compared ? 100.0 * counted->agree / counted->compared : 0,
        .tolerance_clk = compare_tolerances[q].clk,
        .tolerance_share = compare_tolerances[q].share,
    };
}

// Makes the rows of counts of quantities that were compared. Returns their number.
static int counted_rows_make(const struct compare_counted *counted, int n, struct arena *arena,
                             const struct counted_row **rows)
{
    struct counted_row *made = arena_alloc(arena, ((size_t)n + 1) * sizeof *made);
    int nmade = 0;
    for (int i = 0; i < n; i++)
        if (counted[i].compared)
            made[nmade++] = counted_row_make(&counted[i]);
    *rows = made;
    return nmade;
}

static int group_rows_make(const struct compare_tables *tables, struct arena *arena,
                           const struct group_row **rows)
{
    struct group_row *made = arena_alloc(arena, COMPARE_GROUPS * sizeof *made);
    int n = 0;
    for (int g = GROUP_AGREES + 1; g < COMPARE_GROUPS; g++)
        if (tables->groups[g])
            made[n++] =
                (struct group_row){compare_group_records[g].name, compare_group_records[g].judged,
                                   compare_group_records[g].says, tables->groups[g]};
    *rows = made;
    return n;
}

// Makes the rows of differences by group, those that nothing explains first; `entries`: of each
// group; 0: all. Returns their number.
static int value_rows_make(const struct compare_tables *tables, int entries, struct arena *arena,
                           const struct value_row **rows)
{
    struct value_row *made = arena_alloc(arena, ((size_t)tables->nvalues + 1) * sizeof *made);
    int n = 0;
    for (int g = COMPARE_GROUPS - 1; g > GROUP_AGREES; g--)
        for (int i = 0, of_group = 0; i < tables->nvalues; i++)
            if ((int)tables->values[i].group == g && (entries == 0 || of_group++ < entries))
                made[n++] = value_row_make(tables, &tables->values[i], arena);
    *rows = made;
    return n;
}

static int left_rows_make(const struct compare_tables *tables, struct arena *arena,
                          const struct left_row **rows)
{
    struct left_row *made = arena_alloc(arena, ((size_t)tables->nmatches + 1) * sizeof *made);
    int n = 0;
    for (int i = 0; i < tables->nmatches; i++) {
        const struct compare_match *match = &tables->matches[i];
        if (!match->form)
            made[n++] =
                (struct left_row){match->row->line, match->row->name, match->why, match->fits};
    }
    *rows = made;
    return n;
}

static struct whole_row whole_row_make(const struct compare_tables *tables, int entries,
                                       struct arena *arena)
{
    const struct foreign_table *theirs = tables->theirs;
    struct whole_row whole = {
        .file = theirs->path,
        .format = foreign_format_name(theirs->format),
        .cpu = theirs->cpu,
        .uarch = theirs->uarch,
        .ours = tables->ours->uarch,
        .clock_factor = isnan(tables->ns) ? tables->factor : tables->ns,
        .rows = tables->nmatches,
        .matched = tables->matched,
        .ours_forms = tables->ours_measured,
        .ours_found = tables->ours_found,
        .without = tables->without,
        .nreasons = tables->nreasons,
        .reasons = tables->reasons,
        .ntold = theirs->ntold,
        .told = theirs->told,
    };
    whole.ncounted =
        counted_rows_make(tables->quantities, FOREIGN_QUANTITIES, arena, &whole.counted);
    whole.nclasses = counted_rows_make(tables->classes, tables->nclasses, arena, &whole.classes);
    whole.ngroups = group_rows_make(tables, arena, &whole.groups);
    whole.nvalues = value_rows_make(tables, entries, arena, &whole.values);
    whole.nleft = left_rows_make(tables, arena, &whole.left);
    return whole;
}

// --- text ---

static void put_tolerance(struct strbuf *text, const struct counted_row *row, const char *before)
{
    bool uops = strcmp(row->quantity, "uops") == 0;
    if (strcmp(row->quantity, foreign_quantity_names[FOREIGN_PORTS]) == 0) {
        strbuf_printf(text, "%snothing (ports)", before);
        return;
    }
    strbuf_printf(text, "%s%g%s", before, row->tolerance_clk, uops ? "" : " cycles");
    if (row->tolerance_share > 0)
        strbuf_printf(text, " or %g %%", row->tolerance_share * 100);
    strbuf_printf(text, " (%s)", uops ? "µops" : row->quantity);
}

// Says by what their times are divided.
static void put_clock(struct strbuf *text, const struct compare_tables *tables)
{
    if (tables->factor != 1)
        strbuf_printf(text,
                      " Instructions of one core cycle take %.3g cycles there: its clock is "
                      "another, and its cycles are divided by that.",
                      tables->factor);
    if (!isnan(tables->ns))
        strbuf_printf(text,
                      " It states no clock; instructions of one core cycle take %.3g ns there, by "
                      "which its times are divided.",
                      tables->ns);
    if (tables->unclocked)
        strbuf_printf(text,
                      " It states no clock, and too few of its rows show one: %d times in ns are "
                      "not used.",
                      tables->unclocked);
}

static void put_paragraph(struct strbuf *out, const struct compare_tables *tables,
                          const struct whole_row *whole)
{
    struct strbuf text = {0}, plain = {0};
    strbuf_printf(&text, "%s beside %s, %s", whole->ours, whole->file, whole->format);
    if (*whole->cpu || *whole->uarch)
        strbuf_printf(&text, " of %s%s%s", *whole->cpu ? whole->cpu : whole->uarch,
                      *whole->cpu && *whole->uarch ? ", " : "", *whole->cpu ? whole->uarch : "");
    strbuf_printf(&text,
                  ": %d of its %d rows are forms of ours, and %d of the %d forms of ours with a "
                  "value are in it. The same is what is apart by at most ",
                  whole->matched, whole->rows, whole->ours_found, whole->ours_forms);
    for (int i = 0; i < whole->ncounted; i++)
        put_tolerance(&text, &whole->counted[i], i ? ", " : "");
    if (whole->ncounted == 0)
        strbuf_puts(&text, "nothing: no value of theirs has one of ours beside it");
    strbuf_puts(&text, ".");
    put_clock(&text, tables);
    text_put_escaped(&plain, strbuf_text(&text));
    text_wrap(out, strbuf_text(&plain), 0, LINE_WIDTH);
    strbuf_free(&text);
    strbuf_free(&plain);
}

static void put_rows(struct strbuf *out, const struct output_record *record, const void *rows,
                     int n)
{
    if (n == 0)
        return;
    strbuf_puts(out, "\n");
    output_put_table(record, rows, n, REPORT_TABLE, out);
}

static void put_text(const struct compare_tables *tables, int entries, struct strbuf *out)
{
    struct arena arena = {0};
    struct whole_row whole = whole_row_make(tables, entries, &arena);
    put_paragraph(out, tables, &whole);
    put_rows(out, &counted_record, whole.counted, whole.ncounted);
    put_rows(out, &counted_record, whole.classes, whole.nclasses);
    put_rows(out, &group_record, whole.groups, whole.ngroups);
    for (int i = 0; i < whole.nvalues;) {
        int end = i;
        while (end < whole.nvalues && whole.values[end].group == whole.values[i].group)
            end++;
        strbuf_printf(out, "\n%s:", whole.values[i].group);
        put_rows(out, &value_record, whole.values + i, end - i);
        i = end;
    }
    put_rows(out, &reason_record, whole.reasons, whole.nreasons);
    put_rows(out, &told_record, whole.told, whole.ntold);
    arena_free(&arena);
}

// --- CSV ---

// Writes each value and each row without a form.
static void put_csv(const struct compare_tables *tables, struct output_stream *stream)
{
    struct arena arena = {0};
    for (int i = 0; i < tables->nvalues; i++) {
        struct value_row row = value_row_make(tables, &tables->values[i], &arena);
        output_row(stream, &row);
    }
    for (int i = 0; i < tables->nmatches; i++) {
        const struct compare_match *match = &tables->matches[i];
        const struct value_row row = {.file = tables->theirs->path,
                                      .line = match->row->line,
                                      .row = match->row->name,
                                      .form = "",
                                      .enc = "",
                                      .class = "",
                                      .quantity = "",
                                      .src = "",
                                      .dst = "",
                                      .theirs_least = NAN,
                                      .theirs = NAN,
                                      .ours_least = NAN,
                                      .ours = NAN,
                                      .ours_bound = NAN,
                                      .theirs_ports = "",
                                      .ours_ports = "",
                                      .group = "not matched",
                                      .evidence = match->why};
        if (!match->form)
            output_row(stream, &row);
    }
    arena_free(&arena);
}

void compare_tables_print(const struct compare_tables *tables, int n, int entries,
                          enum report_format format, struct strbuf *out)
{
    static const struct output_page csv = {.format = REPORT_CSV};
    struct output_stream stream = {.record = &value_record, .page = &csv, .out = out};
    struct arena arena = {0};
    struct whole_row *rows = arena_alloc(&arena, ((size_t)n + 1) * sizeof *rows);
    if (format == REPORT_CSV)
        output_begin(&stream, NULL);
    for (int i = 0; i < n; i++) {
        if (format == REPORT_CSV)
            put_csv(&tables[i], &stream);
        else if (format == REPORT_JSON)
            rows[i] = whole_row_make(&tables[i], 0, &arena);
        else {
            strbuf_puts(out, i ? "\n" : "");
            put_text(&tables[i], entries, out);
        }
    }
    if (format == REPORT_CSV)
        output_end(&stream, NULL);
    if (format == REPORT_JSON)
        output_put_json(&whole_record, rows, n, false, out);
    arena_free(&arena);
}
