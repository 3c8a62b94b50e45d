// SPDX-License-Identifier: MIT
// See ../../README.md: the calls that the core makes by core_call(), and those that it would only
// name to a filter.
#pragma once

enum { SYS_write, SYS_exit_group, SYS_madvise };
