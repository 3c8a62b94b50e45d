// SPDX-License-Identifier: MIT
// Pictures of stored properties; see report_property.h.
#include "report_property.h"
#include "sheet/sheet.h"

#include "conclude/conclude_question.h"
#include "plot/plot.h"
#include "report.h"
#include "store/store_read.h"
#include "util/file_write.h"
#include "util/scratch.h"

#include <stdlib.h>
#include <string.h>

// Makes the picture of a property, which owns parts of it; the arena owns the rest. Returns false
// if there is nothing to draw.
static bool make_plot(struct swept_property *property, struct plot *plot, struct arena *arena)
{
    struct conclude_question question;
    const char *at;
    struct err err;
    if (property->npoints == 0 ||
        conclude_question_read(property->reading, &question, arena, &at, &err) != 0)
        return false;
    *plot = (struct plot){.title = property->title,
                          .question = property->question,
                          .x_unit = property->x_unit,
                          .y_unit = property->y_unit,
                          .by_unit = property->by_unit,
                          .geometric = question.geometric,
                          .reading = question.reading,
                          .conclusions = property->conclusions,
                          .nconclusions = property->nconclusions};
    plot->curves = swept_curves(property, arena, &plot->ncurves);
    return true;
}

void report_property_draw(struct swept_property *properties, int n, int width, struct strbuf *out)
{
    for (int i = 0; i < n; i++) {
        struct arena arena = {0};
        struct plot plot;
        if (make_plot(&properties[i], &plot, &arena)) {
            plot_text(&plot, width, out);
            strbuf_puts(out, "\n");
        }
        arena_free(&arena);
    }
}

static int write_plot(struct swept_property *property, const char *directory, struct err *err)
{
    struct arena arena = {0};
    struct plot plot;
    struct strbuf svg = {0};
    int status = 0;
    if (make_plot(property, &plot, &arena))
        status = plot_svg(&plot, &svg, err);
    if (status == 0 && svg.len) {
        char *stem = report_list_stem(property->name);
        status =
            file_write(arena_printf(&arena, "%s/%s.svg", directory, stem), svg.data, svg.len, err);
        free(stem);
    }
    strbuf_free(&svg);
    arena_free(&arena);
    return status;
}

int report_property_write(struct store *store, int64_t run_id, const char *directory,
                          struct err *err)
{
    struct arena arena = {0};
    struct sheet_cpu cpu;
    const char *plots = arena_printf(&arena, "%s/plots", directory);
    int status = sheet_cpu_load(store, run_id, &cpu, &arena, err);
    if (status == 0)
        status = scratch_keep_directory(directory, err);
    if (status == 0)
        status = sheet_write(&cpu, directory, err);
    if (status == 0)
        status = scratch_keep_directory(plots, err);
    for (int i = 0; i < cpu.nproperties && status == 0; i++)
        status = write_plot(&cpu.properties[i], plots, err);
    arena_free(&arena);
    return status;
}
