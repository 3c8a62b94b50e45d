// SPDX-License-Identifier: MIT
#include "explain_loop.h"

#include "explain_block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    GROWN_BYTES = 4,
    FAR_AWAY = 1 << 30, // out of any block
    NEAR_BACK = -128    // out of one whose jump stands at fewer bytes than that
};

struct place {
    size_t at, len;
    uint8_t imm_at, imm_bytes;   // where the distance of a jump stands
    uint8_t disp_at, disp_bytes; // of an address relative to the instruction
    bool turns;                  // goes elsewhere, or may
    bool branch;                 // on a condition
    bool short_jump;             // may be written with a distance of 32 bits, too
    long target;                 // in the function's bytes; -1: outside, or not told
    bool told;                   // it is told by the instruction
    struct code_turn *turn;      // the path says that it is taken; NULL
};

// All instructions of the function.
struct places {
    const struct code_function *function;
    struct code_path *path;
    struct place *places;
    int n;
    size_t room;
};

static struct code_turn *path_turn(const struct places *places, size_t at)
{
    for (int i = 0; places->path && i < places->path->n; i++) {
        struct code_turn *turn = &places->path->turns[i];
        if (turn->address - (turn->offset ? 0 : places->function->address) == at)
            return turn;
    }
    return NULL;
}

static void places_add(struct places *places, const ZydisDecodedInstruction *instr, size_t at)
{
    struct place place = {.at = at,
                          .len = instr->length,
                          .turns = block_refuses(instr, false) != NULL,
                          .branch = instr->meta.category == ZYDIS_CATEGORY_COND_BR,
                          .target = -1};
    bool jump = place.branch || instr->meta.category == ZYDIS_CATEGORY_UNCOND_BR;
    place.told = jump && instr->raw.imm[0].is_relative;
    if (place.told) {
        long target = (long)(at + instr->length) + (long)instr->raw.imm[0].value.s;
        place.target = target >= 0 && target < (long)places->function->len ? target : -1;
        place.imm_at = instr->raw.imm[0].offset;
        place.imm_bytes = instr->raw.imm[0].size / 8;
        place.short_jump =
            instr->length == 2 && ((instr->opcode & 0xf0) == 0x70 || instr->opcode == 0xeb);
    }
    if ((instr->attributes & ZYDIS_ATTRIB_IS_RELATIVE) && instr->raw.disp.size == 32) {
        place.disp_at = instr->raw.disp.offset;
        place.disp_bytes = 4;
    }
    if (place.branch)
        place.turn = path_turn(places, at);
    if (place.turn)
        place.turn->is_branch = true;
    places->places =
        xgrow(places->places, &places->room, (size_t)places->n + 1, sizeof *places->places);
    places->places[places->n++] = place;
}

static int places_read(struct places *places, struct err *err)
{
    const struct code_function *function = places->function;
    ZydisDecoder decoder;
    ZydisDecodedInstruction instr;
    if (block_decoder_begin(&decoder, function->bits, err) != 0)
        return -1;
    for (size_t at = 0; at < function->len; at += instr.length) {
        if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, NULL, function->bytes + at,
                                                      function->len - at, &instr)))
            return err_set(err, "the bytes at +0x%zx are no instruction in this mode", at);
        places_add(places, &instr, at);
    }
    return 0;
}

static int place_compare(const void *key, const void *element)
{
    const long offset = *(const long *)key, other = (long)((const struct place *)element)->at;
    return (offset > other) - (offset < other);
}

// Returns the number of the instruction at an offset; -1: there is none.
static int places_at(const struct places *places, long offset)
{
    const struct place *place = places->n ? bsearch(&offset, places->places, (size_t)places->n,
                                                    sizeof *place, place_compare)
                                          : NULL;
    return place ? (int)(place - places->places) : -1;
}

// Returns true if the branch back goes around the place.
static bool goes_around(const struct place *back, size_t at)
{
    return (long)at >= back->target && at < back->at + back->len;
}

// Returns the instruction after one on the way of a loop; -1: there is none, or which is not known.
static int way_next(const struct places *places, const struct place *back, int which)
{
    const struct place *place = &places->places[which];
    if (!place->turns)
        return which + 1 < places->n ? which + 1 : -1;
    if (!place->told)
        return -1;
    if (!place->branch) // without a path the code must stand in the order of the way
        return places->path ? places_at(places, place->target) : -1;
    if (place->turn)
        return places_at(places, place->target);
    bool inside = place->target >= 0 && goes_around(back, (size_t)place->target);
    return (!inside || places->path) && which + 1 < places->n ? which + 1 : -1;
}

// Returns true if a branch from outside enters the loop after its beginning, or one from within.
static bool is_entered(const struct places *places, const struct place *back)
{
    for (int i = 0; i < places->n; i++) {
        const struct place *place = &places->places[i];
        if (place->told && goes_around(back, place->at) && place->target > back->target &&
            goes_around(back, (size_t)place->target))
            return true;
    }
    return false;
}

// Finds the instructions from the target of a branch to the branch. Returns their number; 0 if it
// closes no loop.
static int way_find(const struct places *places, const struct place *back, int *way)
{
    int which = places_at(places, back->target), n = 0;
    if (!places->path && is_entered(places, back))
        return 0;
    for (; which >= 0 && n < BLOCK_INSTRS_MAX; which = way_next(places, back, which)) {
        for (int i = 0; i < n && places->path; i++)
            if (way[i] == which)
                return 0;
        way[n++] = which;
        if (&places->places[which] == back)
            return n;
    }
    return 0;
}

// --- The code of a way. ---

static void put_number(uint8_t *to, int bytes, int64_t value)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)((uint64_t)value >> 8 * i);
}

// Returns true if the distance of a jump has room for a number.
static bool has_room(int bytes, int64_t value)
{
    return bytes >= 8 ||
           (value >= -(INT64_C(1) << (8 * bytes - 1)) && value < INT64_C(1) << (8 * bytes - 1));
}

// Writes a jump with a distance from its end. Returns its length; 0 if there is no room.
static size_t put_jump(const struct place *place, const uint8_t *bytes, int64_t distance,
                       uint8_t *to)
{
    memcpy(to, bytes, place->len);
    if (has_room(place->imm_bytes, distance)) {
        put_number(to + place->imm_at, place->imm_bytes, distance);
        return place->len;
    }
    if (!place->short_jump)
        return 0;
    bool always = bytes[0] == 0xeb;
    size_t len = always ? 5 : 6;
    to[0] = always ? 0xe9 : 0x0f;
    if (!always)
        to[1] = (uint8_t)(bytes[0] + 0x10);
    put_number(to + len - 4, 4, distance - (int64_t)(len - place->len));
    return len;
}

// Writes an instruction of the way, after `at` bytes of a loop that begins at `begin`. Returns its
// length; 0 if it cannot be.
static size_t put_place(const struct places *places, const struct place *place, bool last,
                        size_t begin, size_t at, uint8_t *to)
{
    const uint8_t *bytes = places->function->bytes + place->at;
    if (place->told && last)
        return put_jump(place, bytes, -(int64_t)(at + place->len), to);
    if (place->told && place->branch && !place->turn)
        return put_jump(place, bytes, at + place->len < -NEAR_BACK ? NEAR_BACK : FAR_AWAY, to);
    if (place->told)
        return put_jump(place, bytes, 0, to);
    memcpy(to, bytes, place->len);
    if (place->disp_bytes) {
        int32_t distance;
        memcpy(&distance, to + place->disp_at, sizeof distance);
        int64_t moved = distance + (int64_t)place->at - (int64_t)(begin + at);
        put_number(to + place->disp_at, 4, moved);
    }
    return place->len;
}

// Returns true if the way is the function's code as it stands.
static bool way_is_whole(const struct places *places, const int *way, int n)
{
    const struct place *back = &places->places[way[n - 1]];
    for (int i = 0; i < n - 1; i++) {
        const struct place *place = &places->places[way[i]];
        if (way[i + 1] != way[i] + 1 || place->turn || (place->turns && !place->branch) ||
            (place->told && place->target >= 0 && goes_around(back, (size_t)place->target)))
            return false;
    }
    return true;
}

// Makes a loop of a way. Returns false if a jump has no room for its distance.
static bool loop_make(const struct places *places, const int *way, int n, struct code_loop *loop,
                      struct arena *arena)
{
    const struct place *first = &places->places[way[0]], *back = &places->places[way[n - 1]];
    uint8_t *code = arena_alloc(arena, (size_t)n * (ZYDIS_MAX_INSTRUCTION_LENGTH + GROWN_BYTES));
    size_t *at = arena_alloc(arena, (size_t)n * sizeof *at), len = 0;
    *loop = (struct code_loop){.offset = first->at,
                               .end = back->at + back->len,
                               .code = code,
                               .places = at,
                               .instrs = n,
                               .whole = way_is_whole(places, way, n)};
    for (int i = 0; i < n; i++) {
        const struct place *place = &places->places[way[i]];
        size_t bytes = place->len;
        if (loop->whole)
            memcpy(code + len, places->function->bytes + place->at, bytes);
        else
            bytes = put_place(places, place, i == n - 1, first->at, len, code + len);
        if (bytes == 0)
            return false;
        len += bytes;
        at[i] = place->at;
        if (place->turn)
            place->turn->passed = true;
    }
    loop->len = len;
    return true;
}

// Remembers the branches of a path that only a loop beyond the limit has.
static void turns_beyond(const struct places *places, const int *way, int n)
{
    for (int i = 0; i < n; i++)
        if (places->places[way[i]].turn)
            places->places[way[i]].turn->beyond = true;
}

int code_loops_find(const struct code_function *function, struct code_path *path,
                    struct code_loops *loops, struct arena *arena, struct err *err)
{
    struct places places = {.function = function, .path = path};
    int *way = xcalloc(BLOCK_INSTRS_MAX, sizeof *way);
    *loops = (struct code_loops){0};
    int status = places_read(&places, err);
    for (int i = 0; i < places.n && status == 0; i++) {
        const struct place *back = &places.places[i];
        if (!back->told || back->target < 0 || back->target > (long)back->at)
            continue;
        int n = way_find(&places, back, way);
        if (n && loops->n < CODE_LOOPS_MAX &&
            loop_make(&places, way, n, &loops->loops[loops->n], arena))
            loops->n++;
        else
            loops->others++;
        if (loops->n == CODE_LOOPS_MAX)
            turns_beyond(&places, way, n);
    }
    free(places.places);
    free(way);
    return status;
}

// --- Paths. ---

int code_path_parse(const char *text, struct code_path *path, struct err *err)
{
    *path = (struct code_path){.n = 0};
    if (strcmp(text, "none") == 0)
        return 0;
    for (const char *at = text;; at++) {
        at += strspn(at, " \t");
        char *end;
        bool offset = *at == '+', digits = strspn(at + offset, "0123456789abcdefABCDEF") > 0;
        errno = 0;
        uint64_t address = digits ? strtoull(at + offset, &end, 16) : 0;
        if (digits)
            end += strspn(end, " \t");
        if (!digits || errno || (*end && *end != ','))
            return err_set(err,
                           "--path cannot be '%s': addresses of branches that are taken, in "
                           "hexadecimal digits, +N in the function; or none",
                           text);
        if (path->n == CODE_PATH_MAX)
            return err_set(err, "--path: more than %d branches", CODE_PATH_MAX);
        path->turns[path->n++] = (struct code_turn){.address = address, .offset = offset};
        at = end;
        if (!*at)
            return 0;
    }
}

int code_path_check(const struct code_path *path, struct err *err)
{
    for (int i = 0; i < path->n; i++) {
        const struct code_turn *turn = &path->turns[i];
        const char *sign = turn->offset ? "+" : "";
        unsigned long long address = turn->address;
        if (!turn->is_branch)
            return err_set(err, "--path: at %s0x%llx is no branch on a condition", sign, address);
        if (!turn->passed && turn->beyond)
            return err_set(err,
                           "--path: the branch at %s0x%llx is in a loop after the first %d of the "
                           "function, which are all that are read: --address A..B names the loop",
                           sign, address, CODE_LOOPS_MAX);
        if (!turn->passed)
            return err_set(err, "--path: no loop passes the branch at %s0x%llx on this way", sign,
                           address);
    }
    return 0;
}
