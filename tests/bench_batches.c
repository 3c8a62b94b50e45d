// SPDX-License-Identifier: MIT
// Times planning and building of lists for latencies and throughputs, in CPU seconds of latput and
// of NASM and ld, without a measurement. Usage: bench_batches [LIST...]; default: all. Exit status
// 1 if a batch could not be built, 2 if there is no such list.
#include "list/select.h"
#include "measure/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ISSUE_WIDTH = 8, BATCH_KERNELS = 6000, FIRST_KERNELS = 1000 }; // as in runner/run/run.c

static double cpu_s(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

int main(int argc, char **argv)
{
    struct selection selection = {0};
    struct err err = {0};
    char directory[] = "/tmp/latput-bench-batches-XXXXXX";
    const char *const *names = (const char *const *)argv + 1;
    if (select_rows(names, argc - 1, NULL, &selection, &err) != 0 || !mkdtemp(directory)) {
        fprintf(stderr, "bench_batches: %s\n", err.text);
        return 2;
    }
    const struct batch_options options = {
        .plan = {.issue_width = ISSUE_WIDTH, .tests = TESTS_LATENCY | TESTS_THROUGHPUT},
        .directory = directory,
        .kernels = BATCH_KERNELS,
        .first = FIRST_KERNELS
    };
    struct batch_rows rows = {.rows = selection.rows, .n = selection.nrows};
    const struct batch_feed feed = batch_feed_rows(&rows);
    struct batch_source *source = batch_source_start(&feed, &options);
    int kernels = 0, failed = 0;
    struct batch *batch;
    while ((batch = batch_source_next(source))) {
        if (batch->failed)
            fprintf(stderr, "bench_batches: %s\n", batch->err.text);
        failed |= batch->failed;
        kernels += batch->nkernels;
        batch_free(batch);
    }
    batch_source_stop(source);
    rmdir(directory);
    printf("  %d forms, %d kernels: %.1f s of latput, %.1f s of nasm and ld\n", selection.nrows,
           kernels, cpu_s(RUSAGE_SELF), cpu_s(RUSAGE_CHILDREN));
    selection_free(&selection);
    return failed ? 1 : 0;
}
