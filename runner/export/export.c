// SPDX-License-Identifier: MIT
#include "export_internal.h"

#include "llvm/llvm.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

const char export_no_result[] = "no result that the format has a place for";
const char export_same[] = "measured with one register for all operands, for which the format "
                           "has no word";

void export_leave(struct export_out *out, const struct known_form *form, const char *reason)
{
    int i = 0;
    while (i < out->nreasons && out->reasons[i].text != reason)
        i++;
    if (i == out->nreasons && i < EXPORT_REASONS_MAX)
        out->reasons[out->nreasons++].text = reason;
    struct export_reason *place = &out->reasons[i < EXPORT_REASONS_MAX ? i : i - 1];
    place->count++;
    strbuf_printf(&place->names, "%s\n", form->id.form);
}

bool export_llvm_takes(struct export_out *out, const struct known_form *form,
                       const struct llvm_instr *instr)
{
    bool none = isnan(form->rthroughput_clk) && isnan(form->latency_min_clk) && form->uops < 0;
    const char *why = instr->why        ? instr->why
                      : form->row->same ? export_same
                      : none            ? export_no_result
                                        : NULL;
    if (why)
        export_leave(out, form, why);
    return !why;
}

void export_out_free(struct export_out *out)
{
    for (int i = 0; i < out->nreasons; i++)
        strbuf_free(&out->reasons[i].names);
    strbuf_free(&out->text);
}

struct export_whole export_whole(const struct known_pair *pair)
{
    // Largest difference in cycles of two timings of the same whole number; see
    // docs/MEASUREMENT.md.
    static const double near = 0.15;
    double nearest = round(pair->clk);
    if (fabs(pair->clk - nearest) <= near + 0.005 * pair->clk)
        return (struct export_whole){(long)nearest, (long)nearest};
    return (struct export_whole){(long)floor(pair->clk), (long)ceil(pair->clk)};
}

void export_line(struct strbuf *out, const char *text)
{
    for (; *text; text++) {
        char byte = (char)(iscntrl((unsigned char)*text) ? ' ' : *text);
        strbuf_put(out, &byte, 1);
    }
}
