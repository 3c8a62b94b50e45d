#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# No line of a source file is wider than 100 characters, tables of rows included. Prints those that
# are, and fails if there is one. Usage: tests/width.sh FILE...
set -eu
! LC_ALL=C.UTF-8 grep -nHE '^.{101,}' "$@" | sed 's/^\([^:]*:[0-9]*\):.*/\1: wider than 100 columns/' | grep .
