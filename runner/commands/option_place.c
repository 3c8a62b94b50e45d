// SPDX-License-Identifier: MIT
// See option_place.h.
#include "option_place.h"

#include "cmd_backend.h"
#include "cmd_format.h"
#include "cmd_uarch.h"
#include "store_options.h"

#include <assert.h>

struct option_place place_text(const char **to)
{
    return (struct option_place){.kind = OPTION_TEXT, .to = to};
}

struct option_place place_switch(bool *to, bool value)
{
    return (struct option_place){.kind = OPTION_SWITCH, .to = to, .value = value};
}

struct option_place place_number(int *to, int least, int most)
{
    return (struct option_place){.kind = OPTION_NUMBER, .to = to, .least = least, .most = most};
}

struct option_place place_run(int64_t *to)
{
    return (struct option_place){.kind = OPTION_RUN, .to = to};
}

struct option_place place_format(enum report_format *to, unsigned formats)
{
    return (struct option_place){.kind = OPTION_FORMAT, .to = to, .formats = formats};
}

struct option_place place_backend(enum count_choice *to)
{
    return (struct option_place){.kind = OPTION_BACKEND, .to = to};
}

struct option_place place_uarch(void)
{
    return (struct option_place){.kind = OPTION_UARCH};
}

int option_put(const struct command *cmd, const struct option_place *places, size_t nplaces,
               int option, const char *argument)
{
    assert((size_t)option < nplaces && places[option].kind != OPTION_UNPLACED);
    const struct option_place *place = &places[option];
    const struct command_option record = {
        .name = cmd->options[option].name,
        .value = place->kind == OPTION_FORMAT ? (int)place->formats : place->value,
        .least = place->least,
        .most = place->most};
    const struct option_given given = {cmd, &record, argument};
    switch (place->kind) {
    case OPTION_NUMBER:
        return option_take_number(&given, place->to);
    case OPTION_RUN:
        return option_take_run(&given, place->to);
    case OPTION_FORMAT:
        return option_take_format(&given, place->to);
    case OPTION_BACKEND:
        return option_take_backend(&given, place->to);
    case OPTION_UARCH:
        return uarch_option_read(cmd, argument);
    case OPTION_SWITCH:
        *(bool *)place->to = place->value;
        return EXIT_DONE;
    default:
        *(const char **)place->to = argument;
        return EXIT_DONE;
    }
}
