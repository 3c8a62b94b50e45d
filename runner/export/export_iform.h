// SPDX-License-Identifier: MIT
// Names of instructions in Intel's decoder XED, as far as they follow from the operands.
#pragma once

#include "export.h"

#include <Zydis/Zydis.h>

struct export_decoded {
    ZydisDecodedInstruction in;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
};
// Decodes a 64-bit form of different registers that has a result. Returns NULL, or why it is left
// out.
const char *export_decode(const struct known_form *form, bool has_result,
                          struct export_decoded *decoded);

// Appends the iform: "VADDPS_ZMMf32_MASKmskw_ZMMf32_ZMMf32_AVX512"; returns false, and appends
// nothing, if the rules do not give it.
bool export_iform(const struct known_form *form, const struct export_decoded *decoded,
                  struct strbuf *out);
// Appends the name used in uops.info's tables: "VADDPS_Z (ZMM, K, ZMM, M512)". `twin`: this is the
// EVEX instruction of two with the same name; the other one is VEX.
void export_iform_string(const struct known_form *form, const struct export_decoded *decoded,
                         bool twin, struct strbuf *out);
