// SPDX-License-Identifier: MIT
// Options that name others: each name in `with`, `without` and `beside` is an option of the same
// command, since a wrong one would refuse nothing, or too much.
#include "cli/command.h"

#include "util/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool is_option(const struct command *cmd, const char *name)
{
    for (const struct command_option *option = cmd->options; option->name; option++)
        if (strcmp(option->name, name) == 0)
            return true;
    return false;
}

// Returns the number of names.
static int check_names(const struct command *cmd, const char *names)
{
    char *words = xstrdup(names ? names : ""), *rest = words;
    int n = 0;
    for (char *word; *words && (word = strsep(&rest, "|")); n++)
        if (!is_option(cmd, word))
            fail_msg("latput %s has no option --%s", cmd->name, word);
    free(words);
    return n;
}

static void test_names(void **state)
{
    (void)state;
    int n = 0;
    for (int i = 0; commands[i]; i++)
        for (const struct command_option *option = commands[i]->options; option && option->name;
             option++) {
            n += check_names(commands[i], option->with);
            n += check_names(commands[i], option->without);
            n += check_names(commands[i], option->beside);
        }
    assert_true(n > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
