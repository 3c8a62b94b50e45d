// SPDX-License-Identifier: MIT
// Machine code of a kernel as instructions, by Zydis; see site_internal.h. The database has only
// the first bytes of a body, so the last instruction may be cut.
#include "site_internal.h"

#include <Zydis/Zydis.h>
#include <stdio.h>

enum { CODE_MAX = 64 }; // bytes that the database keeps

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static int hex_bytes(const char *hex, uint8_t bytes[CODE_MAX])
{
    int n = 0;
    for (; n < CODE_MAX; n++) {
        int high = hex_digit(hex[2 * n]);
        int low = high < 0 ? -1 : hex_digit(hex[2 * n + 1]);
        if (low < 0)
            break;
        bytes[n] = (uint8_t)(high << 4 | low);
    }
    return n;
}

static int asm_decoder(ZydisDecoder *decoder, int bits)
{
    bool wide = bits == 64;
    return ZYAN_SUCCESS(
        ZydisDecoderInit(decoder, wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
                         wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32));
}

void site_asm_json(const char *hex, int bits, struct site_texts *texts, struct json *json)
{
    uint8_t bytes[CODE_MAX];
    int n = hex_bytes(hex, bytes);
    ZydisDecoder decoder;
    ZydisFormatter formatter;
    bool ready = asm_decoder(&decoder, bits) &&
                 ZYAN_SUCCESS(ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL));
    json_open(json, '[');
    for (int at = 0; at < n;) {
        ZydisDecodedInstruction in;
        ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
        char text[256] = "", line[CODE_MAX * 2 + sizeof text + 2];
        int len = n - at; // undecodable bytes extend to the end
        if (ready && ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes + at, (ZyanUSize)(n - at),
                                                         &in, operands))) {
            len = in.length;
            ZydisFormatterFormatInstruction(&formatter, &in, operands, in.operand_count_visible,
                                            text, sizeof text, ZYDIS_RUNTIME_ADDRESS_NONE, NULL);
        }
        snprintf(line, sizeof line, "%.*s %s", 2 * len, hex + 2 * at, text);
        json_int(json, site_text(texts, line));
        at += len;
    }
    json_close(json, ']');
}
