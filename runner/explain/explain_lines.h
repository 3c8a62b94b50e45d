// SPDX-License-Identifier: MIT
// A file of blocks, one a line: code, `init | code`, or machine code in hexadecimal digits.
#pragma once

#include "explain_job.h"

// Reads the lines as jobs of the work. What is wrong with one is in job->refused. Returns 0, or -1
// with `path:line:` or `path:` where the file as a whole is at fault.
int explain_lines_read(struct explain_work *work, struct err *err);
