// SPDX-License-Identifier: MIT
#include "check_property.h"

#include "assemble/assemble.h"
#include "property/property.h"
#include "util/csvfile.h"
#include "util/scratch.h"

#include <pthread.h>
#include <stdlib.h>
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

// Properties while their code is assembled, which a thread does: NASM takes as long for it as for
// all lists.
struct check_properties {
    struct check check; // their problems
    struct properties properties;
    struct codes codes;
    struct program program;
    struct arena arena; // of the thread
    char *directory;
    pthread_t thread;
    bool threaded;
    int status;
    struct err err;
};

static void *codes_build(void *data)
{
    struct check_properties *begun = data;
    const struct assemble_options options = {
        .directory = begun->directory, .stem = "properties", .bits = 64, .compose = true};
    begun->status = assemble_program(begun->codes.kernels, begun->codes.n, &options, &begun->arena,
                                     &begun->program, &begun->err);
    return NULL;
}

static void codes_report(struct check_properties *begun)
{
    const struct property *reported = NULL; // one message per row is enough
    for (int i = 0; i < begun->program.nfailures; i++) {
        const struct assemble_failure *failure = &begun->program.failures[i];
        const struct property *property = begun->codes.rows[failure->kernel];
        if (property == reported)
            continue;
        reported = property;
        const struct csv_place place = {property->path, property->line, property->source, 1};
        struct err problem = {0};
        csv_error_at(&place, &problem, "at the point '%s' NASM says: %s",
                     begun->codes.kernels[failure->kernel].spec->shape, failure->detail);
        check_table_problem(&begun->check, problem.text);
    }
}

struct check_properties *check_properties_begin(const char *const *paths, int npaths)
{
    struct check_properties *begun = xcalloc(1, sizeof *begun);
    struct arena *arena = &begun->check.arena;
    int ncurves = 0;
    for (int i = 0; i < npaths; i++)
        properties_read(paths[i], &begun->properties, add_fault, &begun->check);
    for (int i = 0; i < begun->properties.n; i++)
        ncurves += begun->properties.rows[i].nvariants;
    begun->codes = (struct codes){
        .kernels = arena_alloc(arena, (2 * (size_t)ncurves + 1) * sizeof *begun->codes.kernels),
        .rows = arena_alloc(arena, (2 * (size_t)ncurves + 1) * sizeof(void *))};
    for (int i = 0; i < begun->properties.n; i++)
        codes_plan(&begun->codes, &begun->properties.rows[i], &begun->check);
    if (begun->codes.n == 0)
        return begun;
    begun->directory = scratch_begin(&begun->err);
    begun->status = begun->directory ? 0 : -1;
    if (begun->directory)
        begun->threaded = pthread_create(&begun->thread, NULL, codes_build, begun) == 0;
    if (begun->directory && !begun->threaded)
        codes_build(begun);
    return begun;
}

int check_properties_end(struct check_properties *begun, struct check *check, struct err *err)
{
    if (begun->threaded)
        pthread_join(begun->thread, NULL);
    if (begun->directory)
        scratch_end(begun->directory, false);
    int status = begun->status == 0 ? 0 : err_set(err, "%s", begun->err.text);
    if (status == 0)
        codes_report(begun);
    for (size_t i = 0; i < begun->check.nproblems; i++)
        check_table_problem(check, begun->check.problems[i].text);
    check->nproperties = begun->properties.n;
    properties_free(&begun->properties);
    arena_free(&begun->arena);
    check_free(&begun->check);
    free(begun);
    return status;
}
