// SPDX-License-Identifier: MIT
#include "explain_loop.h"

#include "explain_block.h"

#include <stdlib.h>

enum { JUMP_BYTES = 5 };

struct place {
    size_t at, end;
    bool turns;  // goes elsewhere, or may
    bool branch; // on a condition
    long target; // in the function's bytes; -1: outside, or not told by the instruction
    bool told;   // it is told by the instruction
};

// All instructions of the function.
struct places {
    struct place *places;
    int n;
    size_t room;
};

static void places_add(struct places *places, const ZydisDecodedInstruction *instr, size_t at,
                       size_t len)
{
    size_t end = at + instr->length;
    struct place place = {.at = at,
                          .end = end,
                          .turns = block_refuses(instr, false) != NULL,
                          .branch = instr->meta.category == ZYDIS_CATEGORY_COND_BR,
                          .target = -1};
    place.told = place.turns && instr->raw.imm[0].is_relative;
    if (place.told) {
        long target = (long)end + (long)instr->raw.imm[0].value.s;
        place.target = target >= 0 && target < (long)len ? target : -1;
    }
    places->places =
        xgrow(places->places, &places->room, (size_t)places->n + 1, sizeof *places->places);
    places->places[places->n++] = place;
}

static int places_read(struct places *places, const uint8_t *code, size_t len, int bits,
                       struct err *err)
{
    ZydisDecoder decoder;
    ZydisDecodedInstruction instr;
    if (block_decoder_begin(&decoder, bits, err) != 0)
        return -1;
    for (size_t at = 0; at < len; at += instr.length) {
        if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, NULL, code + at, len - at, &instr)))
            return err_set(err, "the bytes at +0x%zx are no instruction in this mode", at);
        places_add(places, &instr, at, len);
    }
    return 0;
}

// Returns true if a branch on a condition goes out of the loop that ends in `back`.
static bool place_is_exit(const struct place *place, const struct place *back)
{
    return place->branch && place->told &&
           (place->target < back->target || place->target >= (long)back->end);
}

// Returns true if a branch enters the loop where it may not: from within, or where a jump to a copy
// of the loop would stand (explain_rounds.h). From outside only the first round begins elsewhere.
static bool place_enters(const struct place *place, const struct place *back, bool inside)
{
    return place->target > back->target && place->target < (long)back->end &&
           (inside || place->target < back->target + JUMP_BYTES);
}

// Returns the number of instructions from the target of a branch to the branch; 0 if one of them
// calls, returns or goes elsewhere within, or a branch enters in the middle.
static int places_block(const struct places *places, const struct place *back)
{
    int instrs = 0;
    for (int i = 0; i < places->n; i++) {
        const struct place *place = &places->places[i];
        bool inside = (long)place->at >= back->target && place->at < back->end;
        if (inside && place->turns && place != back && !place_is_exit(place, back))
            return 0;
        if (place_enters(place, back, inside))
            return 0;
        instrs += inside;
    }
    return instrs;
}

int code_loops_find(const uint8_t *code, size_t len, int bits, struct code_loops *loops,
                    struct err *err)
{
    struct places places = {0};
    *loops = (struct code_loops){0};
    int status = places_read(&places, code, len, bits, err);
    for (int i = 0; i < places.n && status == 0; i++) {
        const struct place *back = &places.places[i];
        if (back->target < 0 || back->target > (long)back->at)
            continue;
        int instrs = back->branch ? places_block(&places, back) : 0;
        if (instrs == 0 || loops->n == CODE_LOOPS_MAX) {
            loops->others++;
            continue;
        }
        size_t offset = (size_t)back->target;
        loops->loops[loops->n++] = (struct code_loop){offset, back->end - offset, instrs};
    }
    free(places.places);
    return status;
}
