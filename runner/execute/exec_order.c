// SPDX-License-Identifier: MIT
// The order in which records may come; see exec_internal.h.
#include "exec_internal.h"

#include "util/clock.h"

#include <math.h>

enum { CLAIM_SLACK_MS = 50 }; // and 1 %, since the frequency of the TSC is known no better

void exec_order_begin(struct exec_order *order, const struct exec_kernel *kernels, int nkernels,
                      const struct core_config *config, struct exec_secrets *secrets)
{
    *order = (struct exec_order){
        .kernels = kernels,
        .nkernels = nkernels,
        .share = {0, 1},
        .config = config,
        .secrets = secrets,
        .current = -1,
        .start_ns = clock_now_ns()
    };
}

static const char *order_hello(struct exec_order *order, const struct core_record *record)
{
    if (order->hello)
        return "it says hello again";
    if (!(record->hello.core_hz > 0) || !isfinite(record->hello.core_hz))
        return "it has no frequency";
    order->hello = true;
    return NULL;
}

// Kernels that are to be measured, in the trial or in the pass after the last one.
static const char *order_begin(struct exec_order *order, const struct core_record *record)
{
    const struct exec_kernel *kernel = &order->kernels[record->kernel];
    if (!kernel->selected || kernel->finished)
        return "it begins a kernel that is not to be measured";
    if (record->begin.pass != 0 && record->begin.pass != (uint32_t)kernel->ntimings + 1)
        return "it begins a pass out of order";
    order->current = (int)record->kernel;
    order->pass = record->begin.pass;
    return NULL;
}

static const char *order_samples(struct exec_order *order, const struct core_record *record)
{
    if (order->pass == 0 || record->timing.accepted == 0 ||
        record->timing.accepted > order->config->accept || record->timing.iterations == 0 ||
        record->timing.copies == 0)
        return "its timing is incomplete";
    if (!(record->timing.calib_clk > 0) || !isfinite(record->timing.calib_clk) ||
        !isfinite(record->timing.overhead_tsc))
        return "its timing has no scale";
    for (uint32_t i = 0; i < record->timing.accepted; i++) {
        const struct core_sample *sample = &record->timing.samples[i];
        order->claimed_tsc += (double)sample->kernel_tsc + sample->after_tsc;
    }
    double passed_ns = 1.01 * (double)(clock_now_ns() - order->start_ns) + CLAIM_SLACK_MS * 1e6;
    if (order->claimed_tsc > passed_ns / 1e9 * order->config->tsc_hz)
        return "it claims to have timed for longer than it exists";
    return NULL;
}

static const char *order_timing(struct exec_order *order, const struct core_record *record)
{
    if ((int)record->kernel != order->current ||
        record->timing.pass != (order->pass ? order->pass : 1))
        return "it has a timing of a kernel that is not under way";
    if (order->kernels[record->kernel].finished)
        return "it has a timing of a kernel that is finished";
    if (record->timing.outcome >= OUTCOME_COUNT)
        return "it has an unknown outcome";
    if (record->timing.tried > EXEC_TRIED_MAX)
        return "its timing has more repeats than there can be";
    return record->timing.outcome == OUTCOME_OK ? order_samples(order, record) : NULL;
}

const char *exec_order_refuses(struct exec_order *order, const struct core_record *record)
{
    bool names_kernel = record->type == CORE_REC_BEGIN || record->type == CORE_REC_TIMING ||
                        record->type == CORE_REC_CODE || record->type == CORE_REC_COUNTS;
    if (names_kernel && (record->kernel >= (uint32_t)order->nkernels ||
                         !exec_share_has(order->share, (int)record->kernel)))
        return "it names a kernel that there is not";
    // A core that cannot even read its configuration has no secret; nor has any body run.
    if (!exec_secrets_accept(order->secrets, record) &&
        (record->type != CORE_REC_FATAL || order->hello))
        return "it does not speak for the core";
    if (order->ended || (!order->hello && names_kernel))
        return "it speaks out of turn";
    switch (record->type) {
    case CORE_REC_HELLO:
        return order_hello(order, record);
    case CORE_REC_CODE:
        return order->current >= 0 ? "it shows code out of turn" : NULL;
    case CORE_REC_BEGIN:
        return order_begin(order, record);
    case CORE_REC_TIMING:
        return order_timing(order, record);
    case CORE_REC_COUNTS:
        return (int)record->kernel != order->current ? "it counts a kernel that is not under way"
                                                     : NULL;
    case CORE_REC_END:
        order->ended = true;
        return NULL;
    case CORE_REC_WAIT:
    case CORE_REC_FATAL:
    case CORE_REC_ASIDE:
        return NULL;
    default:
        return "it is of no known type";
    }
}
