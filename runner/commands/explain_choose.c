// SPDX-License-Identifier: MIT
#include "explain_choose.h"

#include "cli/option_kind.h"
#include "cli/option_store.h"
#include "store/store_run.h"

#include <stdlib.h>

int explain_choose(const struct command *cmd, struct explain_work *work, struct err *err)
{
    int status = store_option_check(cmd, work->store, work->run_id);
    if (status == EXIT_DONE)
        status = store_option_called(cmd, work->store, &work->uarch);
    if (status != EXIT_DONE || work->uarch)
        return status;
    char *name = work->run_id ? store_option_uarch(work->store, work->run_id, err)
                              : store_option_uarch_here(work->store, work->request->spec.cpu, err);
    if (!name)
        return command_fail(cmd, EXIT_ENVIRONMENT, "%s", err->text);
    if (!work->run_id)
        kind_say(cmd, work->request->spec.cpu);
    work->uarch = arena_strdup(&work->arena, name);
    free(name);
    int64_t run_id;
    int found = work->run_id ? 0 : store_run_newest(work->store, work->uarch, &run_id, err);
    if (found == 1)
        found = store_note_merged(cmd, work->store, run_id, err);
    return found < 0 ? command_fail(cmd, EXIT_ENVIRONMENT, "%s", err->text) : EXIT_DONE;
}
