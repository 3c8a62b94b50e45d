// SPDX-License-Identifier: MIT
// --backend; see cmd_backend.h.
#include "cmd_backend.h"

#include "cmd_uarch.h"
#include "measure/session_count.h"

const char backend_of_cycles[] =
    "where cycles come from: perf or msr, a counter; tsc, the calibrated time-stamp counter; auto "
    "(default), the first of these that works here";

int backend_option_read(const struct command *cmd, const char *text, unsigned usable,
                        enum count_choice *choice)
{
    static struct cpu_info cpu;
    const struct count_backend *backend;
    struct err err = {0};
    int read = count_choice_parse(text);
    if (read < 0)
        return command_fail(cmd, EXIT_USAGE, "unknown backend '%s'; auto, perf, msr or tsc", text);
    *choice = (enum count_choice)read;
    if (usable >> read & 1)
        return EXIT_DONE;
    if (cpu_identify(&cpu, &err) != 0)
        return command_fail(cmd, EXIT_ENVIRONMENT, "%s", err.text);
    const struct count_machine machine = count_machine_live(&cpu);
    if (count_choose(*choice, &machine, &backend, &err) != COUNT_FINE)
        return command_fail(cmd, EXIT_ENVIRONMENT, "%s", err.text);
    return command_fail(cmd, EXIT_ENVIRONMENT,
                        "the backend %s can count here, but latput %s does not use it; see "
                        "--backend in latput %s --help",
                        text, cmd->name, cmd->name);
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
