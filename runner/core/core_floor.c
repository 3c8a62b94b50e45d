// SPDX-License-Identifier: MIT
// Times all canaries and sends their histograms, from which the runner chooses the floor. Nothing
// is thrown away here but samples whose calibrations disagree: what a histogram means is decided
// in runner/measure/floor.c.
#include "core_internal.h"

#include <string.h>
#include <sys/mman.h>

struct histogram {
    uint32_t counts[CORE_FLOOR_BINS];
};

static struct histogram *histograms; // by canary

void floor_prepare(void)
{
    histograms = mmap(NULL, CORE_CANARIES * sizeof *histograms, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (histograms == MAP_FAILED)
        send_fatal("cannot map the histograms of the canary");
}

static void floor_sample(const struct core_config *config, const struct times *times, uint32_t kind)
{
    double before = time_calibration() - times->overhead_tsc;
    double canary = time_canary_of(config, kind) - times->overhead_tsc;
    double after = time_calibration() - times->overhead_tsc;
    double differ = before > after ? before / after : after / before;
    double clk = canary / ((before + after) / 2) * times->calib_clk / time_canary_instrs(config);
    double bin = clk / CORE_FLOOR_BIN_CLK;
    if (differ <= 1 + config->calib_tolerance && bin >= 0 && bin < CORE_FLOOR_BINS)
        histograms[kind].counts[(int)bin]++;
}

static void floor_send(uint32_t kind)
{
    for (uint32_t first = 0; first < CORE_FLOOR_BINS; first += CORE_FLOOR_CHUNK) {
        struct core_record record = {.type = CORE_REC_FLOOR};
        record.floor.canary = kind;
        record.floor.first = first;
        memcpy(record.floor.counts, histograms[kind].counts + first, sizeof record.floor.counts);
        bool any = false;
        for (int i = 0; i < CORE_FLOOR_CHUNK; i++)
            any |= record.floor.counts[i] > 0;
        if (any)
            send_record(&record);
    }
}

void floor_measure_canaries(const struct core_config *config, const struct times *times)
{
    uint64_t end = time_now() + (uint64_t)(config->floor_ms * config->tsc_hz / 1000);
    while (time_now() < end)
        for (uint32_t kind = 1; kind < CORE_CANARIES; kind++)
            floor_sample(config, times, kind);
    for (uint32_t kind = 1; kind < CORE_CANARIES; kind++)
        floor_send(kind);
}
