// SPDX-License-Identifier: MIT
#include "option_kind.h"

#include "measure/session.h"
#include "store/store.h"
#include "store/store_run.h"
#include "util/cpulist.h"
#include "util/mem.h"
#include "util/scratch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool kind_is_chosen(const struct kind_work *work)
{
    return work->cpu >= 0 || work->kind;
}

// Refuses a choice that does not fit the kinds. Returns an exit status.
static int kinds_check(const struct kind_work *work, const struct cpu_kinds *kinds)
{
    struct err err = {0};
    if (work->kind && !cpu_kinds_called(kinds, work->kind, &err))
        return command_fail(work->cmd, EXIT_USAGE, "--kind: %s", err.text);
    if (!kind_is_chosen(work) && kinds->n > 1 &&
        kinds->kinds[0].cpu.decision == CPU_DECIDED_OVERRIDE)
        return command_fail(work->cmd, EXIT_USAGE,
                            "this machine has %d kinds of cores (latput cpu --kinds), and --uarch "
                            "is about one: name it with --kind",
                            kinds->n);
    if (!kind_is_chosen(work) && kinds->n > 1 && work->one)
        return command_fail(work->cmd, EXIT_USAGE,
                            "this machine has %d kinds of cores (latput cpu --kinds), and this "
                            "--format has room for one: name it with --kind",
                            kinds->n);
    return EXIT_DONE;
}

static void kind_announce(const struct kind_work *work, const struct cpu_kinds *kinds, int at)
{
    struct strbuf cpus = {0};
    cpulist_write(&kinds->kinds[at].cpus, &cpus);
    command_note(work->cmd, "kind %d of %d: %s, CPUs %s", at + 1, kinds->n, kinds->kinds[at].name,
                 strbuf_text(&cpus));
    strbuf_free(&cpus);
}

// Measures all of several kinds.
static int kinds_each(const struct kind_work *work, const struct cpu_kinds *kinds)
{
    bool writes = work->results && strcmp(work->results, "none") != 0;
    int worst = EXIT_DONE;
    struct err err = {0};
    if (writes && scratch_keep_directory(work->results, &err) != 0)
        return command_fail(work->cmd, EXIT_ENVIRONMENT, "--results: %s", err.text);
    for (int i = 0; i < kinds->n && worst <= EXIT_SOME_FAILED && !session_stopped_by(); i++) {
        const struct cpu_kind *kind = &kinds->kinds[i];
        if (cpu_kind_is_hidden(kinds, kind)) {
            command_note(work->cmd,
                         "the kind %s is not measured: cpus.csv tells it from no other, and its "
                         "results would be taken for those of another; --kind %s --label NAME "
                         "keeps them apart",
                         kind->name, kind->name);
            continue;
        }
        char *results = writes ? xasprintf("%s/%s", work->results, kind->name) : NULL;
        kind_announce(work, kinds, i);
        int status = work->measure(kind->name, writes ? results : work->results, work->data);
        worst = status > worst ? status : worst;
        free(results);
    }
    return worst;
}

int kinds_measure(const struct kind_work *work)
{
    struct cpu_kinds kinds;
    struct err err = {0};
    if (cpu_kinds_find(&kinds, &err) != 0)
        return command_fail(work->cmd, EXIT_ENVIRONMENT, "%s", err.text);
    int status = kinds_check(work, &kinds);
    bool each = kinds.n > 1 && !kind_is_chosen(work);
    if (status == EXIT_DONE && each)
        status = kinds_each(work, &kinds);
    cpu_kinds_free(&kinds);
    return status != EXIT_DONE || each ? status
                                       : work->measure(work->kind, work->results, work->data);
}

int kind_identify(const char *called, int cpu, struct cpu_info *info, struct err *err)
{
    struct cpu_kinds kinds;
    if (cpu_kinds_find(&kinds, err) != 0)
        return -1;
    const struct cpu_kind *kind = called ? cpu_kinds_called(&kinds, called, err) : NULL;
    if (kind && cpu < 0 && kinds.n > 1)
        cpu = cpu_kind_last(kind);
    int status = called && !kind ? -1 : cpu_identify(cpu, info, err);
    cpu_kinds_free(&kinds);
    return status;
}

int kind_newest_run(const struct command *cmd, struct store *store, const char *called,
                    int64_t *run_id)
{
    struct err err = {0};
    if (!called || *run_id)
        return EXIT_DONE;
    struct cpu_info *cpu = xcalloc(1, sizeof *cpu);
    int found = kind_identify(called, -1, cpu, &err) == 0
                    ? store_run_newest_here(store, cpu, run_id, &err)
                    : -1;
    free(cpu);
    if (found < 0)
        return command_fail(cmd, EXIT_USAGE, "--kind: %s", err.text);
    return found ? EXIT_DONE
                 : command_fail(cmd, EXIT_ENVIRONMENT, "%s: has no run measured on the kind %s",
                                store_path(store), called);
}

int kinds_runs(struct store *store, int64_t **runs, struct err *err)
{
    struct cpu_kinds kinds;
    int n = 0, found = 0;
    *runs = NULL;
    if (cpu_kinds_find(&kinds, err) != 0)
        return -1;
    struct cpu_info *cpu = xcalloc(1, sizeof *cpu);
    *runs = xcalloc((size_t)kinds.n, sizeof **runs);
    for (int i = 0; i < kinds.n && kinds.n > 1 && found >= 0; i++) {
        if (cpu_kind_is_hidden(&kinds, &kinds.kinds[i]))
            continue;
        found = cpu_identify(cpu_kind_last(&kinds.kinds[i]), cpu, err) == 0
                    ? store_run_newest_here(store, cpu, &(*runs)[n], err)
                    : -1;
        n += found > 0;
    }
    free(cpu);
    cpu_kinds_free(&kinds);
    return found < 0 ? -1 : n;
}

int kind_cannot_run(const struct command *cmd, int cpu)
{
    bool none = errno == EINVAL;
    return command_fail(cmd, none ? EXIT_USAGE : EXIT_ENVIRONMENT, "cannot run on CPU %d: %s", cpu,
                        none ? "this process may not use it" : strerror(errno));
}

void kind_say(const struct command *cmd, int cpu)
{
    struct cpu_kinds kinds;
    struct strbuf cpus = {0};
    struct err err = {0};
    if (cpu_kinds_find(&kinds, &err) != 0)
        return;
    const struct cpu_kind *kind = cpu_kinds_of(&kinds, cpu);
    if (kinds.n > 1 && kind) {
        cpulist_write(&kind->cpus, &cpus);
        command_note(cmd,
                     "on a core of the kind %s (CPUs %s), one of %d of this machine: latput "
                     "cpu --kinds",
                     kind->name, strbuf_text(&cpus), kinds.n);
    }
    strbuf_free(&cpus);
    cpu_kinds_free(&kinds);
}
