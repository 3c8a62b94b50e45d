// SPDX-License-Identifier: MIT
// The kit's main: prepares what latput goes by.
#include "kit.h"

#include <fcntl.h>
#include <io.h>
#include <signal.h>
#include <stdio.h>

// Paths have slashes inside: all that take them apart look for those.
static void main_turn_slashes(char *argument)
{
    for (; *argument; argument++)
        if (*argument == '\\')
            *argument = '/';
}

// Linked in the place of main() (-Wl,--wrap).
int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);
int __wrap_main(int argc, char **argv)
{
    static const int standard[] = {0, 1, 2};
    for (size_t i = 0; i < sizeof standard / sizeof *standard; i++)
        _setmode(standard[i], _O_BINARY);
    SetConsoleOutputCP(CP_UTF8);
    for (int i = 1; i < argc; i++)
        main_turn_slashes(argv[i]);
    sigaction(SIGINT, NULL, NULL); // the console is watched from here on
    kit_begin();
    return __real_main(argc, argv);
}
