// SPDX-License-Identifier: MIT
// Whether liblatput is linear: 0, 1, 2, ... times the same instruction between the two time stamps
// must take 0, 1, 2, ... times its latency. Some ten cycles hide behind the reading of the time
// stamp itself, so that all, the baseline too, begin with 16 of them. Prints the mean of each
// number, the line through them and how far they are from it. gcc -O2 linearity.c $(pkg-config
// --cflags --libs latput) -o linearity
#include <latput.h>

#include <math.h>
#include <stdio.h>

// A function with 16 + n dependent multiplications.
#define IMULS(n)                                                                                   \
    static void imuls_##n(void *data)                                                              \
    {                                                                                              \
        __asm__ volatile(".rept 16 + " #n "\n\timul %0, %0\n\t.endr" : "+r"(data));                \
    }
IMULS(0)
IMULS(1)
IMULS(2)
IMULS(3)
IMULS(4)
IMULS(5)
IMULS(6)
IMULS(7)
IMULS(8)
IMULS(12)
IMULS(16)
IMULS(24)
IMULS(32)

static const struct {
    int n;
    void (*test)(void *data);
} rows[] = {
    {0,  imuls_0 },
    {1,  imuls_1 },
    {2,  imuls_2 },
    {3,  imuls_3 },
    {4,  imuls_4 },
    {5,  imuls_5 },
    {6,  imuls_6 },
    {7,  imuls_7 },
    {8,  imuls_8 },
    {12, imuls_12},
    {16, imuls_16},
    {24, imuls_24},
    {32, imuls_32},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

int main(void)
{
    double clk[ROWS], errors[ROWS], sum_n = 0, sum_clk = 0, above = 0, below = 0;
    printf("CPU %d, TSC in steps of %.0f, overhead of the pair %.1f ticks, imul %d cycles\n",
           latput_pin(-1), latput_tsc_step(), latput_overhead(), latput_calibration_link_clk());
    printf("imuls   cycles   spread  tried\n");
    for (int i = 0; i < ROWS; i++) {
        struct latput_test test = {0};
        struct latput_result result;
        test.test = rows[i].test;
        test.baseline = imuls_0;
        test.repetitions = 2000;
        test.calls = 1;
        if (latput_measure(&test, &result) < 0) {
            fprintf(stderr, "%s\n", result.message);
            return 1;
        }
        clk[i] = result.columns[LATPUT_CLK].summary.mean;
        printf("%5d %8.2f %8.2f %6d\n", rows[i].n, clk[i],
               result.columns[LATPUT_CLK].summary.spread, result.tried);
        sum_n += rows[i].n;
        sum_clk += clk[i];
        latput_result_free(&result);
    }
    for (int i = 0; i < ROWS; i++) {
        above += (rows[i].n - sum_n / ROWS) * (clk[i] - sum_clk / ROWS);
        below += (rows[i].n - sum_n / ROWS) * (rows[i].n - sum_n / ROWS);
    }
    double slope = above / below, start = (sum_clk - slope * sum_n) / ROWS;
    for (int i = 0; i < ROWS; i++)
        errors[i] = fabs(clk[i] - start - slope * rows[i].n);
    struct latput_summary fit = latput_summarise(errors, ROWS, 0);
    printf("%.3f cycles an imul, %+.2f; median error %.2f, largest %.2f\n", slope, start,
           fit.median, fit.max);
    return 0;
}
