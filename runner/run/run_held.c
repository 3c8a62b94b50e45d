// SPDX-License-Identifier: MIT
#include "run_held.h"

#include <stdlib.h>
#include <string.h>

enum { HELD_KERNELS_MAX = 6000 }; // about as many as are measured in a batch

static struct exec_kernel held_copy(struct arena *arena, const struct exec_kernel *kernel)
{
    struct exec_kernel copy = *kernel;
    copy.detail = kernel->detail ? arena_strdup(arena, kernel->detail) : "";
    for (int t = 0; t < copy.ntimings; t++) {
        struct timing *timing = &copy.timings[t];
        size_t bytes = (size_t)timing->nsamples * sizeof *timing->samples;
        timing->detail = timing->detail ? arena_strdup(arena, timing->detail) : "";
        copy.counts[t] = NULL; // they are in the samples already
        if (timing->nsamples > 0)
            timing->samples = memcpy(arena_alloc(arena, bytes), timing->samples, bytes);
    }
    return copy;
}

bool run_held_put(struct run_held *held, int index, const struct exec_kernel *kernels, int nkernels)
{
    if (held->nkernels + nkernels > HELD_KERNELS_MAX)
        return false;
    struct exec_kernel *copies = arena_alloc(&held->arena, (size_t)nkernels * sizeof *copies);
    for (int i = 0; i < nkernels; i++)
        copies[i] = held_copy(&held->arena, &kernels[i]);
    held->rows = xgrow(held->rows, &held->capacity, (size_t)held->n + 1, sizeof *held->rows);
    held->rows[held->n++] = (struct run_held_row){index, copies, nkernels};
    held->nkernels += nkernels;
    return true;
}

void run_held_free(struct run_held *held)
{
    arena_free(&held->arena);
    free(held->rows);
    *held = (struct run_held){0};
}
