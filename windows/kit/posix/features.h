// SPDX-License-Identifier: MIT
// See ../../README.md: for elf.h.
#pragma once
#define __BEGIN_DECLS
#define __END_DECLS
