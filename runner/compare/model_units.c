// SPDX-License-Identifier: MIT
// The units of LLVM's scheduling models; see compare_model.h. Groups of units may have any name:
// "Zn3FPVMul01" is FP0 and FP3.
#include "compare_model.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PRESSURE_APART = 0.011; // largest difference of equal pressures, which are
                                            // printed with two digits

static int unit_of_name(const struct model *model, const char *name)
{
    for (int u = 0; u < model->nunits; u++)
        if (strcmp(model->units[u].name, name) == 0)
            return u;
    return -1;
}

static uint64_t unit_bit(const struct model *model, const char *name)
{
    int unit = unit_of_name(model, name);
    return unit < 0 ? 0 : UINT64_C(1) << unit;
}

// Lines are "[0]   - Zn3AGU0", "[12.0] - Zn3FP45", "[12.1] - Zn3FP45".
void model_read_units(struct arena *arena, const char *text, struct model *model)
{
    static const char width[] = "\nDispatch Width:", resources[] = "\nResources:\n";
    const char *at = strstr(text, width);
    model->width = at ? atoi(at + strlen(width)) : 0;
    at = strstr(text, resources);
    for (at = at ? at + strlen(resources) : ""; *at == '['; at++) {
        size_t len = strcspn(at, "\n");
        const char *dash = memchr(at, '-', len);
        if (!dash || dash + 2 > at + len)
            return;
        char *name = arena_strndup(arena, dash + 2, (size_t)(at + len - dash - 2));
        int unit = unit_of_name(model, name);
        if (unit >= 0)
            model->units[unit].parts++;
        else if (model->nunits < MODEL_UNITS_MAX)
            model->units[model->nunits++] = (struct model_unit){.name = name, .parts = 1};
        at += len;
        if (!*at)
            return;
    }
}

// Returns the units whose load the class's other resources do not explain, if that load is the same
// share of the resource in question for each; else 0.
static uint64_t units_by_pressure(const struct model *model, const struct model_class *class,
                                  const struct model_resource *resource)
{
    uint64_t others = 0, left = 0;
    for (int r = 0; r < class->nresources; r++) {
        const struct model_resource *other = &class->resources[r];
        if (other == resource)
            continue;
        if (other->units == 0)
            return 0;
        others |= other->units;
    }
    for (int p = 0; p < class->npressure; p++)
        left |= unit_bit(model, class->pressure[p].name) & ~others;
    double share = left ? resource->count / __builtin_popcountll(left) : 0;
    for (int p = 0; p < class->npressure; p++)
        if (left & unit_bit(model, class->pressure[p].name) &&
            fabs(class->pressure[p].count - share) > PRESSURE_APART)
            return 0;
    return left;
}

// Returns the units in a name: "HWPort0156" is HWPort0, HWPort1, ...; "SPRPort00_06" is SPRPort00
// and SPRPort06.
static uint64_t units_by_name(const struct model *model, const char *name)
{
    size_t prefix = strcspn(name, "0123456789");
    uint64_t units = 0;
    for (const char *at = name + prefix; *at;) {
        size_t longest = 0;
        uint64_t unit = 0;
        if (*at == '_') {
            at++;
            continue;
        }
        for (int u = 0; u < model->nunits; u++) {
            const char *other = model->units[u].name;
            if (strncmp(other, name, prefix) != 0 || !isdigit((unsigned char)other[prefix]))
                continue;
            size_t len = strlen(other + prefix);
            if (strncmp(at, other + prefix, len) == 0 && len > longest) {
                longest = len;
                unit = UINT64_C(1) << u;
            }
        }
        if (!longest)
            return 0;
        units |= unit;
        at += longest;
    }
    return units;
}

// Sets the units of all resources of one name. Returns true if one of them did not have them yet.
static bool resource_is(struct model *model, const char *name, uint64_t units)
{
    bool news = false;
    for (int c = 0; c < model->nclasses; c++)
        for (int r = 0; r < model->classes[c].nresources; r++) {
            struct model_resource *resource = &model->classes[c].resources[r];
            if (resource->units != 0 || strcmp(resource->name, name) != 0)
                continue;
            resource->units = units;
            news = true;
        }
    return news;
}

// Combines all classes with the resource, since one may load a shared unit less. `alone`: only
// classes with a single resource.
static uint64_t units_of_name(const struct model *model, const char *name, bool alone)
{
    uint64_t units = 0;
    for (int c = 0; c < model->nclasses; c++)
        for (int r = 0; r < model->classes[c].nresources; r++) {
            const struct model_class *class = &model->classes[c];
            if (strcmp(class->resources[r].name, name) == 0 && (!alone || class->nresources == 1))
                units |= units_by_pressure(model, class, &class->resources[r]);
        }
    return units;
}

static bool resolve_by_pressure(struct model *model, bool alone)
{
    bool news = false;
    for (int c = 0; c < model->nclasses; c++)
        for (int r = 0; r < model->classes[c].nresources; r++) {
            const struct model_resource *resource = &model->classes[c].resources[r];
            uint64_t units = resource->units ? 0 : units_of_name(model, resource->name, alone);
            if (units)
                news |= resource_is(model, resource->name, units);
        }
    return news;
}

// Load beside other resources is used last: resources that share units show less of it.
void model_resolve(struct model *model)
{
    for (int u = 0; u < model->nunits; u++)
        resource_is(model, model->units[u].name, UINT64_C(1) << u);
    resolve_by_pressure(model, true);
    for (int c = 0; c < model->nclasses; c++)
        for (int r = 0; r < model->classes[c].nresources; r++) {
            const struct model_resource *resource = &model->classes[c].resources[r];
            if (resource->units == 0)
                resource_is(model, resource->name, units_by_name(model, resource->name));
        }
    while (resolve_by_pressure(model, false)) {
    }
}
