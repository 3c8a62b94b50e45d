// SPDX-License-Identifier: MIT
#include "check_property.h"

#include "assemble/assemble.h"
#include "property/property.h"
#include "util/csvfile.h"
#include "util/scratch.h"

#include <string.h>

// Bounds of sweeps, fixed so that a list is good or bad on every machine alike.
// clang-format off
static const struct property_machine machine = {
    .cache_bytes =
        {[BASE_L1D] = 32 << 10, [BASE_L1I] = 32 << 10, [BASE_L2] = 1 << 18, [BASE_L3] = 32 << 20},
    .memory_bytes = 2147483648.0,
    .cpus = {{0, 0, -1}, {1, 0, -1}, {2, 2, -1}, {3, 2, -1}},
    .ncpus = 4,
};
// clang-format on

bool check_is_property(const char *path)
{
    static const char directory[] = "properties";
    const char *slash = strrchr(path, '/');
    size_t len = sizeof directory - 1;
    return slash && slash >= path + len && memcmp(slash - len, directory, len) == 0 &&
           (slash == path + len || slash[-(long)len - 1] == '/');
}

static void add_fault(const struct err *err, void *data)
{
    check_table_problem(data, err->text);
}

// Points whose code is assembled, with the rows that they belong to.
struct codes {
    struct gen_kernel *kernels;
    const struct property **rows;
    int n;
};

static void codes_add(struct codes *codes, const struct property *property, int variant,
                      const double at[2], struct arena *arena)
{
    static const struct test test = {.kind = TEST_PORTS};
    struct list_row *row = arena_alloc(arena, sizeof *row);
    struct kernel_spec *spec = arena_alloc(arena, sizeof *spec);
    row->form = row->mnemonic = property->name;
    *spec = property_kernel(property, &property->variants[variant], &machine, at[0], at[1], arena);
    codes->rows[codes->n] = property;
    codes->kernels[codes->n++] = (struct gen_kernel){.row = row, .test = &test, .spec = spec};
}

// Plans the first and the last point of each curve.
static void codes_plan(struct codes *codes, const struct property *property, struct check *check)
{
    double *xs = arena_alloc(&check->arena, SWEEP_POINTS_MAX * sizeof *xs), limit;
    double *bys = arena_alloc(&check->arena, SWEEP_POINTS_MAX * sizeof *bys);
    struct err why = {0};
    int nxs = property_points(property, &machine, xs, &limit, &why);
    int nbys = property_by_points(property, &machine, bys);
    if (nxs == 0) {
        const struct csv_place place = {property->path, property->line, property->source, 1};
        struct err err = {0};
        csv_error_at(&place, &err, "it has no point: %s", why.text);
        check_table_problem(check, err.text);
    }
    for (int v = 0; v < property->nvariants && nxs; v++) {
        codes_add(codes, property, v, (const double[]){xs[0], bys[0]}, &check->arena);
        codes_add(codes, property, v, (const double[]){xs[nxs - 1], bys[nbys - 1]}, &check->arena);
    }
}

static int codes_build(const struct codes *codes, struct check *check, struct err *err)
{
    char *directory = scratch_begin(err);
    if (!directory)
        return -1;
    const struct assemble_options options = {
        .directory = directory, .stem = "properties", .bits = 64, .compose = true};
    struct program program = {0};
    int status = assemble_program(codes->kernels, codes->n, &options, &check->arena, &program, err);
    const struct property *reported = NULL; // one message per row is enough
    for (int i = 0; i < program.nfailures && status == 0; i++) {
        const struct assemble_failure *failure = &program.failures[i];
        const struct property *property = codes->rows[failure->kernel];
        if (property == reported)
            continue;
        reported = property;
        const struct csv_place place = {property->path, property->line, property->source, 1};
        struct err problem = {0};
        csv_error_at(&place, &problem, "at the point '%s' NASM says: %s",
                     codes->kernels[failure->kernel].spec->shape, failure->detail);
        check_table_problem(check, problem.text);
    }
    scratch_end(directory, false);
    return status;
}

int check_properties(const char *const *paths, int npaths, struct check *check, struct err *err)
{
    struct properties properties = {0};
    int ncurves = 0, status = 0;
    for (int i = 0; i < npaths; i++)
        properties_read(paths[i], &properties, add_fault, check);
    for (int i = 0; i < properties.n; i++)
        ncurves += properties.rows[i].nvariants;
    struct codes codes = {
        .kernels = arena_alloc(&check->arena, (2 * (size_t)ncurves + 1) * sizeof *codes.kernels),
        .rows = arena_alloc(&check->arena, (2 * (size_t)ncurves + 1) * sizeof(void *))};
    for (int i = 0; i < properties.n; i++)
        codes_plan(&codes, &properties.rows[i], check);
    if (codes.n)
        status = codes_build(&codes, check, err);
    check->nproperties = properties.n;
    properties_free(&properties);
    return status;
}
