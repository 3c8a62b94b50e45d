// SPDX-License-Identifier: MIT
// The structure of the ports for people: a table of the port sets with a diagram of the ports that
// they share, as text, JSON and SVG.
#include "report.h"
#include "store/store_ports.h"

#include "util/text.h"
#include "util/text_table.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// Sorts ports by their names, if they have any.
static void ports_sort(const struct port_model *model, int *order, int n)
{
    for (int i = 1; i < n; i++) {
        int port = order[i], at = i;
        for (; at > 0 && port_before(model, port, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = port;
    }
}

// Orders ports for the diagram: the largest set first, sets within it side by side.
static int ports_order(const struct port_model *model, int order[PORTS_MAX])
{
    int n = 0;
    uint32_t seen = 0;
    for (int c = model->nclasses - 1; c >= 0; c--) {
        int before = n;
        for (int inner = 0; inner < model->nclasses; inner++)
            for (int port = 0; port < model->nports && n < PORTS_MAX; port++) {
                uint32_t bit = UINT32_C(1) << port;
                if (seen & bit || !(model->classes[c].set & bit) ||
                    !(model->classes[inner].set & bit) ||
                    (model->classes[inner].set & ~model->classes[c].set) != 0)
                    continue;
                seen |= bit;
                order[n++] = port;
            }
        ports_sort(model, order + before, n - before);
    }
    return n;
}

// Orders sets: larger ones first, sets of the same size by name.
static bool set_before(const struct port_class *a, const struct port_class *b)
{
    int more = port_set_size(a->set) - port_set_size(b->set);
    return more ? more > 0 : strverscmp(a->name, b->name) < 0;
}

// Orders sets so that overlapping ones are adjacent, the largest first: either the sets that wide
// forms bring, or the others.
static int sets_order(const struct port_model *model, bool wide, int order[PORT_CLASSES_MAX])
{
    int n = 0;
    bool listed[PORT_CLASSES_MAX] = {false};
    for (int c = 0; c < model->nclasses; c++)
        listed[c] = port_class_is_wide(&model->classes[c]) != wide;
    for (int c = model->nclasses - 1; c >= 0; c--) {
        if (listed[c])
            continue;
        int first = n;
        uint32_t together = model->classes[c].set;
        for (int i = model->nclasses - 1; i >= 0; i--) {
            if (listed[i] || !(model->classes[i].set & together))
                continue;
            listed[i] = true;
            int at = n++;
            for (; at > first && set_before(&model->classes[i], &model->classes[order[at - 1]]);
                 at--)
                order[at] = order[at - 1];
            order[at] = i;
        }
    }
    return n;
}

static void ports_text_head(const struct stored_port_model *stored, const char *title,
                            struct strbuf *out)
{
    const struct port_model *model = &stored->model;
    struct strbuf text = {0};
    strbuf_printf(
        &text,
        "%d ports in %d sets, %d slots per cycle in front of them. Found from throughput: ports "
        "that no form distinguishes are symmetric; their order and numbers mean nothing.",
        model->nports, model->nclasses, model->width);
    text_wrap(out, title, 0, 78);
    text_wrap(out, strbuf_text(&text), 0, 78);
    strbuf_puts(out, "\n");
    strbuf_free(&text);
}

enum { PORT_MARK_WIDTH = 2, LINE_WIDTH = 80 };

static int at_least(int wide, const char *text)
{
    int len = (int)strlen(text);
    return len > wide ? len : wide;
}

static void ports_text_hidden(const struct port_model *model, struct strbuf *out)
{
    for (int i = 0; i < model->nhidden; i++) {
        int ports[PORTS_MAX], n = port_set_ports(model, model->hidden[i].set, ports);
        strbuf_printf(out, "%sset %s:", i ? "" : "\n", model->hidden[i].name);
        for (int p = 0; p < n; p++) {
            char label[PORT_LABEL_MAX];
            port_label(model, ports[p], label);
            strbuf_printf(out, " %s", label);
        }
        strbuf_puts(out, "; as many ports as slots: only counters show what uses it\n");
    }
}

static const char *unit_kind(const struct port_unit *unit)
{
    return strcmp(unit->name, PORT_MICROCODE) == 0 ? "the sequencer of microcode"
           : port_unit_is_path(unit)               ? "shared by several ports"
                                                   : "not pipelined";
}

// Columns of a table of sets: names of ports are written across, or upright if lines would be too
// long.
struct set_columns {
    int ports[PORTS_MAX], wide[PORTS_MAX], nports, name_wide, upright; // upright: lines of a name;
                                                                       // 0: across
};

static void set_columns_make(const struct stored_port_model *stored, struct set_columns *columns)
{
    enum { OTHERS = 15 }; // characters of a line without ports: size, forms, and gaps
    const struct port_model *model = &stored->model;
    int line = OTHERS, blocker = 0, longest = 0;
    columns->nports = ports_order(model, columns->ports);
    columns->name_wide = 6;
    for (int i = 0; i < model->nclasses; i++) {
        columns->name_wide = at_least(columns->name_wide, model->classes[i].name);
        blocker = at_least(blocker, stored->class_blockers[i]);
    }
    for (int p = 0; p < columns->nports; p++) {
        char label[PORT_LABEL_MAX];
        port_label(model, columns->ports[p], label);
        columns->wide[p] = at_least(PORT_MARK_WIDTH, label);
        longest = at_least(longest, label);
        line += 1 + columns->wide[p];
    }
    columns->upright = line + columns->name_wide + blocker > LINE_WIDTH ? longest : 0;
}

static void ports_text_set_names(const struct port_model *model, const struct set_columns *columns,
                                 bool colour, struct strbuf *out)
{
    for (int row = columns->upright ? 1 : 0; row <= columns->upright; row++) {
        bool last = row == columns->upright;
        strbuf_printf(out, "%s%-*s %4s ", text_style_begin(STYLE_HEADING, colour),
                      columns->name_wide, last ? "set" : "", last ? "size" : "");
        for (int p = 0; p < columns->nports; p++) {
            char label[PORT_LABEL_MAX];
            port_label(model, columns->ports[p], label);
            int at = (int)strlen(label) - 1 - (columns->upright - row);
            if (columns->upright)
                strbuf_printf(out, " %c", at >= 0 ? label[at] : ' ');
            else
                strbuf_printf(out, " %*s", columns->wide[p], label);
        }
        strbuf_printf(out, "%s%s\n", last ? "  forms  blocker" : "",
                      text_style_end(STYLE_HEADING, colour));
    }
}

// Writes a table of sets with a mark for each port; columns are as narrow as possible, so that the
// ports of large cores fit into a line.
static void ports_text_sets(const struct stored_port_model *stored, const int *sets, int nsets,
                            bool colour, struct strbuf *out)
{
    const struct port_model *model = &stored->model;
    struct set_columns columns;
    set_columns_make(stored, &columns);
    ports_text_set_names(model, &columns, colour, out);
    for (int i = 0; i < nsets; i++) {
        const struct port_class *class = &model->classes[sets[i]];
        strbuf_printf(out, "%-*s %4d ", columns.name_wide, class->name, port_set_size(class->set));
        for (int p = 0; p < columns.nports; p++) {
            bool has = class->set & UINT32_C(1) << columns.ports[p];
            if (columns.upright)
                strbuf_printf(out, " %s", has ? "#" : "·");
            else
                strbuf_printf(out, " %*s%s", columns.wide[p] - PORT_MARK_WIDTH, "",
                              has ? "##" : " ·");
        }
        strbuf_printf(out, "  %5d  %s\n", class->members, stored->class_blockers[sets[i]]);
    }
}

// Returns true if the form's first operand is memory, which blockers write.
static bool form_stores(const char *form)
{
    form += strncmp(form, "{evex} ", 7) == 0 ? 7 : 0;
    const char *operands = strchr(form, ' ');
    return operands && operands[1] == 'm' && isdigit((unsigned char)operands[2]);
}

static void ports_text_stores(const struct stored_port_model *stored, const int *sets, int nsets,
                              struct strbuf *out)
{
    struct strbuf line = {0};
    for (int i = 0; i < nsets; i++)
        if (form_stores(stored->class_blockers[sets[i]]))
            strbuf_printf(&line, "%s%s", line.len ? ", " : "", stored->model.classes[sets[i]].name);
    if (line.len) {
        strbuf_puts(&line, ": a store needs it once. Its address and its data are not "
                           "distinguished if each has as many ports.");
        strbuf_puts(out, "\n");
        text_wrap(out, strbuf_text(&line), 0, 78);
    }
    strbuf_free(&line);
}

static void ports_text_wide(const struct stored_port_model *stored, bool colour, struct strbuf *out)
{
    const struct port_model *model = &stored->model;
    int sets[PORT_CLASSES_MAX], nsets = sets_order(model, true, sets);
    struct strbuf stay = {0}, line = {0};
    if (nsets == 0)
        return;
    for (int c = model->nclasses - 1; c >= 0 && model->teller >= 0; c--)
        if (model->classes[c].holds == PORT_ALWAYS)
            strbuf_printf(&stay, "%s%s", stay.len ? ", " : "", model->classes[c].name);
    if (model->teller >= 0)
        strbuf_printf(&line,
                      "Beside a form of %d bits vectors of any width have other ports: %s take "
                      "%.2f cycles there, not %.2f. Unchanged: %s. The sets of vectors are then:",
                      PORT_WIDE_BITS, stored->class_blockers[model->teller], model->teller_clk,
                      model->classes[model->teller].blocker_clk, strbuf_text(&stay));
    else
        strbuf_printf(&line, "Sets that only forms of %d bits have:", PORT_WIDE_BITS);
    strbuf_puts(out, "\n");
    text_wrap(out, strbuf_text(&line), 0, 78);
    strbuf_puts(out, "\n");
    ports_text_sets(stored, sets, nsets, colour, out);
    strbuf_free(&stay);
    strbuf_free(&line);
}

void report_ports_text(const struct stored_port_model *stored, const char *title, bool colour,
                       struct strbuf *out)
{
    const struct port_model *model = &stored->model;
    int sets[PORT_CLASSES_MAX], nsets = sets_order(model, false, sets);
    struct strbuf line = {0};
    ports_text_head(stored, title, out);
    ports_text_sets(stored, sets, nsets, colour, out);
    ports_text_stores(stored, sets, nsets, out);
    ports_text_wide(stored, colour, out);
    ports_text_hidden(model, out);
    for (int u = 0; u < model->nunits; u++) {
        const struct port_unit *unit = &model->units[u];
        strbuf_printf(out, "%sunit %s: %s; %s keeps it busy for %.1f cycles", u ? "" : "\n",
                      unit->name, unit_kind(unit), stored->unit_blockers[u], unit->blocker_clk);
        if (stored->unit_wholes[u] && *stored->unit_wholes[u])
            strbuf_printf(out, ";\n  %s needs all its parts, for %.1f", stored->unit_wholes[u],
                          unit->whole_clk);
        strbuf_puts(out, "\n");
    }
    strbuf_printf(out, "\nLargest deviation of a pair of sets from this structure: %.1f %%.\n",
                  model->residual * 100);
    if (model->unexplained)
        strbuf_printf(out, "%d forms of one µop fit into no set.\n", model->unexplained);
    if (model->drawn_seed) {
        strbuf_puts(out, "\n");
        port_ways_text(stored->ways, model->drawn_seed, &line);
        text_wrap(out, strbuf_text(&line), 0, 78);
        strbuf_puts(out, "\n");
    }
    strbuf_free(&line);
}

// --- JSON ---

// A set of ports, or of the hidden ones.
struct set_row {
    struct port_class of;
    const char *name, *blocker, *const *ports;
    int size;
};
#define SET(...) OUTPUT_FIELD(struct set_row, __VA_ARGS__)
#define SET_PORTS OUTPUT_LIST(struct set_row, ports, size)
OUTPUT_DEFINE(set_record, struct set_row, OUTPUT_LINE, SET(of.name), SET(size), SET_PORTS,
              SET(of.holds, .words = &words_holds), SET(of.members, .look.name = "forms"),
              SET(blocker));
OUTPUT_DEFINE(hidden_record, struct set_row, OUTPUT_LINE, SET(name), SET_PORTS);

struct share_row {
    const char *unit;
    double share_clk;
};
OUTPUT_DEFINE(share_record, struct share_row, OUTPUT_LINE, OUTPUT_FIELD(struct share_row, unit),
              OUTPUT_FIELD(struct share_row, share_clk, .always = true));

// A unit, and a form beside which others are timed: how long it needs each path.
struct unit_row {
    const char *name, *blocker, *kind, *whole_blocker;
    double busy_clk, whole_clk;
    const struct share_row *shares;
    int nshares;
};
#define UNIT(...) OUTPUT_FIELD(struct unit_row, __VA_ARGS__)
OUTPUT_DEFINE(unit_record, struct unit_row, OUTPUT_LINE, UNIT(name), UNIT(blocker), UNIT(kind),
              UNIT(busy_clk), UNIT(whole_blocker, .known = true), UNIT(whole_clk));
OUTPUT_DEFINE(probe_record, struct unit_row, OUTPUT_DENSE, UNIT(blocker, .look.name = "form"),
              OUTPUT_ROWS(struct unit_row, shares, nshares, share_record));

struct ports_row {
    const char *uarch, *filler, *const *order;
    int width, nports, wide_bits, nsets, nhidden, nunits, nprobes, norder;
    double residual;
    struct set_row sets[PORT_CLASSES_MAX], *hidden;
    struct unit_row units[PORT_UNITS_MAX], probes[PORT_UNITS_MAX];
};
#define ROW(...) OUTPUT_FIELD(struct ports_row, __VA_ARGS__)
OUTPUT_DEFINE(row_record, struct ports_row, OUTPUT_LINE, ROW(uarch), ROW(width),
              ROW(nports, .look.name = "port_count"), ROW(residual), ROW(wide_bits), ROW(filler),
              OUTPUT_ARRAY(struct ports_row, sets, nsets, set_record),
              OUTPUT_ROWS(struct ports_row, hidden, nhidden, hidden_record),
              OUTPUT_ARRAY(struct ports_row, units, nunits, unit_record),
              OUTPUT_ARRAY(struct ports_row, probes, nprobes, probe_record),
              OUTPUT_LIST(struct ports_row, order, norder));
const struct output_kind report_ports_kind = {"ports", "latput ports", &row_record, 1, 1};

static const char *const *labels_make(const struct port_model *model, const int *ports, int n,
                                      struct arena *arena)
{
    const char **labels = arena_alloc(arena, ((size_t)n + 1) * sizeof *labels);
    for (int p = 0; p < n; p++) {
        char label[PORT_LABEL_MAX];
        port_label(model, ports[p], label);
        labels[p] = arena_strdup(arena, label);
    }
    return labels;
}

static struct set_row set_row_make(const struct port_model *model, const char *name, uint32_t set,
                                   struct arena *arena)
{
    int ports[PORTS_MAX], n = port_set_ports(model, set, ports);
    return (struct set_row){.name = name, .ports = labels_make(model, ports, n, arena), .size = n};
}

static struct unit_row unit_row_make(const struct stored_port_model *stored, int u,
                                     struct arena *arena)
{
    const struct port_unit *units = stored->model.units;
    const struct port_demands *demands = &units[u].usage.demands;
    bool whole = stored->unit_wholes[u] && *stored->unit_wholes[u];
    struct share_row *shares = arena_alloc(arena, ((size_t)demands->n + 1) * sizeof *shares);
    struct unit_row row = {.name = units[u].name,
                           .blocker = stored->unit_blockers[u],
                           .kind = unit_kind(&units[u]),
                           .whole_blocker = stored->unit_wholes[u],
                           .busy_clk = units[u].blocker_clk,
                           .whole_clk = whole ? units[u].whole_clk : (double)NAN,
                           .shares = shares};
    for (int d = 0; d < demands->n; d++)
        if (demands->of[d].unit >= 0)
            shares[row.nshares++] =
                (struct share_row){units[demands->of[d].unit].name, demands->of[d].clk};
    return row;
}

void report_ports_object(const struct stored_port_model *stored, const char *uarch,
                         struct json *json)
{
    const struct port_model *model = &stored->model;
    struct arena arena = {0};
    int ports[PORTS_MAX];
    struct ports_row *row = arena_alloc(&arena, sizeof *row);
    *row = (struct ports_row){.uarch = uarch,
                              .width = model->width,
                              .nports = model->nports,
                              .residual = model->residual,
                              .wide_bits = model->teller >= 0 ? PORT_WIDE_BITS : 0,
                              .filler = stored->filler,
                              .nsets = model->nclasses,
                              .nhidden = model->nhidden,
                              .nunits = model->nunits,
                              .norder = ports_order(model, ports)};
    for (int c = 0; c < model->nclasses; c++) {
        const struct port_class *class = &model->classes[c];
        row->sets[c] = set_row_make(model, class->name, class->set, &arena);
        row->sets[c].of = *class;
        row->sets[c].blocker = stored->class_blockers[c];
    }
    row->hidden = arena_alloc(&arena, ((size_t)model->nhidden + 1) * sizeof *row->hidden);
    for (int i = 0; i < model->nhidden; i++)
        row->hidden[i] = set_row_make(model, model->hidden[i].name, model->hidden[i].set, &arena);
    for (int u = 0; u < model->nunits; u++) {
        row->units[u] = unit_row_make(stored, u, &arena);
        if (port_unit_is_path(&model->units[u]))
            row->probes[row->nprobes++] = row->units[u];
    }
    row->order = labels_make(model, ports, row->norder, &arena);
    output_json_row(&row_record, row, 0, json);
    arena_free(&arena);
}

void report_ports_json(const struct stored_port_model *stored, const char *uarch,
                       struct strbuf *out)
{
    struct json json = {.out = out};
    json_open(&json, '[');
    report_ports_object(stored, uarch, &json);
    json_close(&json, ']');
    strbuf_puts(out, "\n");
}

void report_ports_svg(const struct stored_port_model *stored, const char *title, struct strbuf *out)
{
    enum { LEFT = 110, TOP = 64, CELL = 40, ROW = 26, RIGHT = 330 };
    const struct port_model *model = &stored->model;
    int ports[PORTS_MAX], sets[PORT_CLASSES_MAX];
    int nports = ports_order(model, ports), nsets = sets_order(model, false, sets);
    nsets += sets_order(model, true, sets + nsets);
    int width = LEFT + nports * CELL + RIGHT, height = TOP + nsets * ROW + 24;
    strbuf_printf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
                  "height=\"%d\" font-family=\"sans-serif\" font-size=\"13\">\n"
                  "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
                  "<text x=\"12\" y=\"24\" font-size=\"16\" font-weight=\"bold\">",
                  width, height, width, height);
    text_put_markup(out, title);
    strbuf_puts(out, "</text>\n");
    for (int p = 0; p < nports; p++) {
        char label[PORT_LABEL_MAX];
        port_label(model, ports[p], label);
        strbuf_printf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" font-size=\"11\">",
                      LEFT + p * CELL + CELL / 2, TOP - 8);
        text_put_markup(out, label);
        strbuf_puts(out, "</text>\n");
    }
    for (int i = 0; i < nsets; i++) {
        const struct port_class *class = &model->classes[sets[i]];
        int y = TOP + i * ROW;
        strbuf_printf(out, "<text x=\"12\" y=\"%d\">", y + 17);
        text_put_markup(out, class->name);
        strbuf_puts(out, "</text>\n");
        for (int p = 0; p < nports; p++)
            strbuf_printf(out,
                          "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"3\" "
                          "fill=\"%s\"/>\n",
                          LEFT + p * CELL + 2, y + 2, CELL - 4, ROW - 4,
                          class->set & UINT32_C(1) << ports[p] ? "#1f6fb2" : "#eceff1");
        strbuf_printf(out, "<text x=\"%d\" y=\"%d\" fill=\"#555\">", LEFT + nports * CELL + 12,
                      y + 17);
        text_put_markup(out, stored->class_blockers[sets[i]]);
        strbuf_puts(out, "</text>\n");
    }
    strbuf_puts(out, "</svg>\n");
}
