// SPDX-License-Identifier: MIT
// --uarch; see cmd_uarch.h.
#include "cmd_uarch.h"

#include "../cpuinfo/cpuinfo.h"

const char uarch_option_help[] =
    "take this CPU for one of that family (column uarch of cpus.csv), or `unknown`, whatever it "
    "claims to be";

int uarch_option_read(const struct command *cmd, const char *text)
{
    struct err err = {""};
    return cpu_override(text, &err) == 0 ? EXIT_DONE
                                         : command_fail(cmd, EXIT_USAGE, "--uarch: %s", err.text);
}
