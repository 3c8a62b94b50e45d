// SPDX-License-Identifier: MIT
#include "option_backend.h"

#include "measure/session_count.h"
#include "option_uarch.h"

int option_take_backend(const struct option_given *given, void *to)
{
    int read = count_choice_parse(given->argument);
    if (read < 0)
        return command_fail(given->cmd, EXIT_USAGE, "unknown backend '%s'; auto, perf, msr or tsc",
                            given->argument);
    *(enum count_choice *)to = (enum count_choice)read;
    return EXIT_DONE;
}

void backend_say(const struct command *cmd, const struct session *session)
{
    const struct session_counting *counting = session->counting;
    if (!counting)
        return;
    uarch_say_inferred(cmd, session->cpu);
    command_note(cmd, "cycles are counted by %s%s", counting->source->name,
                 counting->nevents > 1 ? ", as are the µops of ports" : "");
    if (*counting->note)
        command_note(cmd, "the µops of ports are not counted: %s", counting->note);
}
