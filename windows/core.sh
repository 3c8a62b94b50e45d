#!/bin/sh
# SPDX-License-Identifier: MIT
# The measuring process of a machine of files ($LATPUT_MACHINE) that is a program for Windows, run
# by wine. latput starts it with a program of kernels, descriptor 3 to read and 4 to write, which
# become standard input and output: wine hands on no others. wine's server keeps the standard error
# of its programs open after their end, for which a reader would wait.
command -v wine >/dev/null || { echo "wine is missing" >&2 && exit 127; }
exec wine "${0%/*}/latput-core.exe" "Z:$1" <&3 >&4 2>/dev/null 3<&- 4>&-
