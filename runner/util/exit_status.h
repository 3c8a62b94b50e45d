// SPDX-License-Identifier: MIT
// The exit statuses of latput.
#pragma once

enum {
    EXIT_DONE = 0,        // all done
    EXIT_SOME_FAILED = 1, // done, but the results are in doubt, or tests failed
    EXIT_USAGE = 2,       // wrong usage or input
    EXIT_ENVIRONMENT = 3, // the environment lacks something, or nothing could be measured
};
