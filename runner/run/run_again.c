// SPDX-License-Identifier: MIT
#include "run_again.h"

#include "plan/plan.h"
#include "version.h"

#include <string.h>

// Says why there is no run to be completed.
static int again_refuse(const struct stored_base *base, struct err *err)
{
    switch (base->found) {
    case AGAIN_NONE:
        return err_set(err, "no run is finished here, so there is none to be completed; `latput "
                            "run` measures one, `latput run --resume` goes on with one");
    case AGAIN_MERGED:
        return err_set(err, "all finished runs here came by a merge, and only one that was "
                            "measured here can be completed; `latput run` measures one");
    case AGAIN_OTHER_CPU:
        return err_set(err, "no finished run here is of this CPU (or of the CPU that --cpu or "
                            "--uarch asks for), so there is none to be completed; `latput run` "
                            "measures one");
    case AGAIN_OTHER_LATER:
        return err_set(err,
                       "run %lld is of latput %s, and its values may differ from those of this "
                       "version (%s); `latput run` measures all anew",
                       (long long)base->run_id, base->version, LATPUT_VERSION);
    default:
        return 0;
    }
}

// Returns the tests that the run asked for, by the text of its selection.
static unsigned again_asked(const char *selection)
{
    static const char word[] = "tests=";
    const char *last = strrchr(selection, ' '), *wrong;
    unsigned tests = TESTS_ALL;
    last = last ? last + 1 : selection;
    if (strncmp(last, word, sizeof word - 1) == 0 &&
        tests_parse(last + sizeof word - 1, &tests, &wrong) != 0)
        tests = TESTS_ALL;
    return tests;
}

int run_again_find(struct store *store, const struct cpu_info *cpu, struct run_again *again,
                   struct err *err)
{
    *again = (struct run_again){.n = 0};
    if (store_get_base(store, cpu, LATPUT_VERSION, &again->base, &again->arena, err) != 0 ||
        again_refuse(&again->base, err) != 0)
        return -1;
    again->calibration_off = cpu->imul64_clk && again->base.calib_link_clk != cpu->imul64_clk;
    return store_get_lacks(store, again->base.run_id, &again->lacks, &again->n, &again->arena, err);
}

void run_again_free(struct run_again *again)
{
    arena_free(&again->arena);
}

// The text is "name:sha256 name:sha256".
const char *const *run_again_lists(struct run_again *again)
{
    const char *at = again->base.lists;
    const char **names = arena_alloc(&again->arena, (strlen(at) / 2 + 2) * sizeof(const char *));
    int n = 0;
    while (*at) {
        size_t word = strcspn(at, " "), name = strcspn(at, ": ");
        names[n++] = arena_printf(&again->arena, "%.*s", (int)name, at);
        at += word;
        at += strspn(at, " ");
    }
    names[n] = NULL;
    return names;
}

// Returns the tests of the row that lack a value.
static unsigned again_lacks(const struct run_again *again, const struct list_row *row)
{
    const struct stored_form form = stored_form_of(row);
    const struct stored_lack *lack =
        stored_form_find(&form, again->lacks, again->n, sizeof *again->lacks);
    if (!lack)
        return 0;
    bool asked = again_asked(again->base.selection) & TESTS_PORTS;
    // A run that was killed after its last row has them all, and is only to be finished.
    return (lack->values || lack->begun ? TESTS_LATENCY | TESTS_THROUGHPUT : 0) |
           (lack->ports || (lack->no_ports && asked) ? TESTS_PORTS : 0);
}

void run_again_narrow(const struct run_again *again, unsigned tests, struct selection *selection)
{
    int n = 0;
    for (int i = 0; i < selection->nrows; i++) {
        const struct selected_row *selected = &selection->rows[i];
        unsigned lacks = again_lacks(again, selected->row) & tests;
        if (!(selected->row->tests & lacks))
            continue;
        // The rows are the selection's own.
        for (int l = 0; l < selection->nlists; l++)
            if (&selection->lists[l] == selected->list)
                selection->lists[l].rows[selected->row - selected->list->rows].tests &= lacks;
        selection->rows[n++] = *selected;
    }
    selection->nrows = n;
}

int run_again_summary(struct store *store, const struct run_again *again,
                      struct run_summary *summary, struct err *err)
{
    summary->calibration_off |= again->calibration_off;
    return store_completed_summary(store, again->base.run_id, summary->counts, &summary->scattered,
                                   err);
}
