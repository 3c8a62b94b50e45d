// SPDX-License-Identifier: MIT
// Names that Intel's decoder XED gives to instructions, as far as they follow from the operands.
#ifndef LATPUT_EXPORT_IFORM_H
#define LATPUT_EXPORT_IFORM_H

#include "export.h"

#include <Zydis/Zydis.h>

struct export_decoded {
    ZydisDecodedInstruction in;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
};
// false where the decoder does not know the form's machine code.
bool export_decode(const struct known_form *form, struct export_decoded *decoded);

// Appends the iform: "VADDPS_ZMMf32_MASKmskw_ZMMf32_ZMMf32_AVX512"; false, and nothing, where the
// rules do not tell it.
bool export_iform(const struct known_form *form, const struct export_decoded *decoded,
                  struct strbuf *out);
// Appends the name that uops.info's tables have: "VADDPS_Z (ZMM, K, ZMM, M512)". `twin`: there is
// an instruction of this name in VEX encoding, too, and this one is in EVEX.
void export_iform_string(const struct known_form *form, const struct export_decoded *decoded,
                         bool twin, struct strbuf *out);

#endif
