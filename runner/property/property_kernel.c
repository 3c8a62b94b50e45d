// SPDX-License-Identifier: MIT
// The kernel of a point: calls of the template's macros, and their data. The macros NAME_init,
// NAME_body and NAME_fini get the variant, x, the second variable (0 without one), and the row's
// arguments; init and fini are optional.
#include "property.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

static const char *kernel_call(const struct property *property,
                               const struct property_variant *variant, double x, double by,
                               const char *part, struct arena *arena)
{
    const char *name = *variant->name ? variant->name : "none";
    return arena_printf(arena, "%s_%s %s, %.0f, %.0f%s\n", property->macro, part, name, x,
                        isnan(by) ? 0 : by, property->arguments);
}

static const char *kernel_optional(const struct property *property, const char *call,
                                   const char *part, struct arena *arena)
{
    return arena_printf(arena, "%%ifmacro %s_%s 3-*\n%s%%endif\n", property->macro, part, call);
}

static const char *kernel_needed(const struct property *property, const char *call,
                                 const char *part, struct arena *arena)
{
    return arena_printf(arena,
                        "%%ifmacro %s_%s 3-*\n%s%%else\n"
                        "%%error macros/%s has no macro %s_%s 3-*\n%%endif\n",
                        property->macro, part, call, property->file, property->macro, part);
}

// Sets the code that runs on other CPUs.
static void kernel_corunner(const struct property *property, const struct property_variant *variant,
                            const struct property_point *point, struct arena *arena,
                            struct kernel_spec *spec)
{
    if (property->corunner == CORUNNER_NONE)
        return;
    const char *macro = property->corunner_macro,
               *macro_init = arena_printf(arena, "%s_init", macro);
    const char *init = kernel_call(property, variant, point->x, point->by, macro_init, arena);
    const char *body = kernel_call(property, variant, point->x, point->by, macro, arena);
    spec->corunner_init = kernel_optional(property, init, macro_init, arena);
    spec->corunner = kernel_needed(property, body, macro, arena);
}

static const struct core_fill *kernel_fills(const struct property *property,
                                            const struct property_machine *machine, double x,
                                            double by, struct arena *arena)
{
    struct core_fill *fills = arena_alloc(arena, ((size_t)property->ndata + 1) * sizeof *fills);
    for (int i = 0; i < property->ndata; i++) {
        const struct property_data *data = &property->data[i];
        fills[i] = data->fill;
        fills[i].bytes = (uint64_t)property_number_value(&data->bytes, machine, x, by);
        fills[i].stride = (uint32_t)property_number_value(&data->stride, machine, x, by);
    }
    return fills;
}

struct kernel_spec property_kernel(const struct property *property,
                                   const struct property_variant *variant,
                                   const struct property_machine *machine, double x, double by,
                                   struct arena *arena)
{
    const char *init = kernel_call(property, variant, x, by, "init", arena);
    const char *body = kernel_call(property, variant, x, by, "body", arena);
    const char *fini = kernel_call(property, variant, x, by, "fini", arena);
    double count = property_number_value(&property->count, machine, x, by);
    assert(property_count_fits(count)); // property_points() has seen to it
    struct kernel_spec spec = {
        .shape = arena_printf(arena, "%s %.0f %.0f", variant->name, x, isnan(by) ? 0 : by),
        .body = kernel_needed(property, body, "body", arena),
        .init = arena_printf(arena, "%%include \"property.inc\"\n%%include \"%s\"\n%s",
                             property->file, kernel_optional(property, init, "init", arena)),
        .fini = kernel_optional(property, fini, "fini", arena),
        .instances = (int)count,
        .instrs = 1,
        .vec_bits = variant->vec_bits,
        .clear_upper = property->clear_upper,
        .vec_fill = property->vec_fill,
        .gpr_fill = property->gpr_fill,
        .mask_fill = UINT64_MAX,
        .fills = kernel_fills(property, machine, x, by, arena),
        .nfills = property->ndata,
        .align = property->align,
        .copies = property->copies,
        .once = property->once,
        .cold = property->cold,
    };
    const struct property_point point = {x, by};
    kernel_corunner(property, variant, &point, arena, &spec);
    return spec;
}
