// SPDX-License-Identifier: MIT
// See ../../../README.md: nothing of Linux's header of this name is used.
#pragma once
