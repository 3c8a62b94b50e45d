// SPDX-License-Identifier: MIT
#include "run_verdict.h"

#include "util/exit_status.h"

#include <inttypes.h>

// Percentage of timed tests without a steady value from which the machine is to blame. On a quiet
// one it is about one percent, by the nature of the instructions.
static const double UNSTABLE_PERCENT_MAX = 2;

static void verdict_add(struct strbuf *why, const char *reason)
{
    strbuf_printf(why, "%s%s", why->len ? "; " : "", reason);
}

static void verdict_unstable(const struct run_summary *summary, struct strbuf *why)
{
    int64_t unstable = summary->counts[OUTCOME_UNSTABLE];
    double percent = 100 * (double)(unstable + summary->scattered) /
                     (double)(unstable + summary->counts[OUTCOME_OK]);
    if (percent > UNSTABLE_PERCENT_MAX)
        strbuf_printf(why, "%s%.1f %% of the tests that were timed have no steady value",
                      why->len ? "; " : "", percent);
}

static void verdict_failed(const struct run_summary *summary, struct strbuf *why)
{
    static const enum outcome failures[] = {OUTCOME_ASM_FAILED, OUTCOME_LINK_FAILED,
                                            OUTCOME_SIGNALLED, OUTCOME_TIMED_OUT};
    for (size_t i = 0; i < ARRAY_LEN(failures); i++)
        if (summary->counts[failures[i]] > 0)
            strbuf_printf(why, "%s%" PRId64 " tests %s", why->len ? "; " : "",
                          summary->counts[failures[i]], outcome_name(failures[i]));
}

int run_verdict(const struct run_summary *summary, struct strbuf *why)
{
    if (summary->counts[OUTCOME_OK] == 0)
        return EXIT_ENVIRONMENT;
    if (summary->stopped)
        verdict_add(why, "it was stopped");
    if (summary->floor_guessed)
        verdict_add(why, "the core was never seen undisturbed");
    if (summary->calibration_off)
        verdict_add(why, "the calibration contradicts what is known of this CPU");
    if (summary->ports_missing)
        verdict_add(why, "the structure of the ports was not found");
    verdict_unstable(summary, why);
    verdict_failed(summary, why);
    return why->len ? EXIT_SOME_FAILED : EXIT_DONE;
}
