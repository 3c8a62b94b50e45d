// SPDX-License-Identifier: MIT
// --backend; see cmd_backend.h.
#include "cmd_backend.h"

#include <string.h>

int backend_option_read(const struct command *cmd, const char *text, unsigned usable,
                        enum count_choice *choice)
{
    static struct cpu_info cpu;
    const struct count_backend *backend;
    struct err err = {""};
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
