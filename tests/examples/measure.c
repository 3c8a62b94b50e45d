// SPDX-License-Identifier: MIT
// How to measure a function of one's own with liblatput: time, core cycles, and the events that are
// named on the command line, of summing up 1000 integers.
// gcc -O2 measure.c $(pkg-config --cflags --libs latput) -o measure; ./measure instructions
#include <latput.h>

#include <stdio.h>

static int values[1000];

static void sum(void *data)
{
    const int *from = data;
    int total = 0;
    for (int i = 0; i < 1000; i++) {
        total += from[i];
        LATPUT_KEEP(total); // one by one: no vectors
    }
}

int main(int argc, char **argv)
{
    char error[512];
    struct latput_test test = {.test = sum, .data = values, .repetitions = 50};
    struct latput_result result;
    latput_pin(-1);
    if (argc > 1) {
        test.counters = latput_counters_open(argv[1], error, sizeof error);
        if (!test.counters)
            fprintf(stderr, "measured without counters: %s\n", error);
    }
    int status = latput_measure(&test, &result);
    if (result.message[0])
        fprintf(stderr, "%s\n", result.message);
    printf("%d repetitions of %d calls, %d tried\n", result.repetitions, result.calls,
           result.tried);
    printf("%-12s %9s %9s %9s %9s %9s\n", "per call", "min", "median", "mean", "spread", "first");
    for (int i = 0; i < result.ncolumns; i++) {
        const struct latput_column *column = &result.columns[i];
        printf("%-12s %9.2f %9.2f %9.2f %9.2f %9.2f\n", column->name, column->summary.min,
               column->summary.median, column->summary.mean, column->summary.spread,
               column->values[0]);
    }
    latput_result_free(&result);
    latput_counters_close(test.counters);
    return status < 0;
}
