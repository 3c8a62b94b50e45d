// SPDX-License-Identifier: MIT
#include "explain_shape.h"

#include "assemble/object.h"
#include "bench/bench_break.h"
#include "bench/bench_code.h"
#include "bench/bench_text.h"
#include "util/strbuf.h"

#include <string.h>

struct shape shape_as_is(const struct explain_subject *subject, struct arena *arena)
{
    const struct block *block = &subject->explanation->block;
    struct shape shape = {.subject = subject};
    shape.pieces = arena_alloc(arena, (size_t)block->n * sizeof *shape.pieces);
    for (int i = 0; i < block->n; i++)
        shape.pieces[i] =
            (struct shape_piece){block->instrs[i].bytes, block->instrs[i].in.length, false};
    return shape;
}

static bool shape_in_loop(const struct shape *shape)
{
    return shape->subject->place && shape->subject->place->object;
}

// Returns true if the instruction may hold an address that only the linker knows.
static bool may_be_linked(const struct block_instr *instr)
{
    const ZydisDecodedInstruction *in = &instr->in;
    bool immediate = (in->raw.imm[0].size >= 32 && !in->raw.imm[0].is_relative) ||
                     (in->raw.imm[1].size >= 32 && !in->raw.imm[1].is_relative);
    return in->raw.disp.size >= 32 || immediate;
}

struct feeding {
    const struct block *block;
    bool fed[BLOCK_INSTRS_MAX];
};

static void feed(struct feeding *feeding, int writer)
{
    if (writer < 0 || feeding->fed[writer])
        return;
    feeding->fed[writer] = true;
    const struct block_instr *instr = &feeding->block->instrs[writer];
    for (int t = 0; t < instr->ntouches; t++)
        if (!instr->touches[t].write && instr->touches[t].place >= 0)
            feed(feeding, block_writer_before(feeding->block, writer, instr->touches[t].place));
}

// Returns true if the end of a loop or an address in it depends on the instruction.
static bool feeds_loop(const struct block *block, int which)
{
    struct feeding feeding = {.block = block};
    feed(&feeding, block->n - 1);
    for (int i = 0; i < block->n; i++)
        for (int t = 0; t < block->instrs[i].ntouches; t++) {
            const struct block_touch *touch = &block->instrs[i].touches[t];
            if (touch->part == PART_BASE || touch->part == PART_INDEX)
                feed(&feeding, block_writer_before(block, i, touch->place));
            else if (touch->write && touch->place == PLACE_GPR + 4)
                feed(&feeding, i);
        }
    return feeding.fed[which];
}

bool shape_may_change(const struct shape *shape, int instr)
{
    const struct block *block = &shape->subject->explanation->block;
    return !shape_in_loop(shape) ||
           (!may_be_linked(&block->instrs[instr]) && !feeds_loop(block, instr));
}

bool shape_change(struct shape *shape, int instr, const uint8_t *bytes, int n)
{
    const struct block *block = &shape->subject->explanation->block;
    if (shape_in_loop(shape) &&
        (n > block->instrs[instr].in.length || may_be_linked(&block->instrs[instr])))
        return false;
    shape->pieces[instr] = (struct shape_piece){bytes, n, true};
    return true;
}

void shape_leave_out(struct shape *shape, int instr)
{
    shape->pieces[instr] = (struct shape_piece){NULL, 0, true};
}

// Writes the machine code; in a loop each instruction keeps its bytes.
static size_t shape_code(const struct shape *shape, uint8_t *code)
{
    const struct block *block = &shape->subject->explanation->block;
    size_t len = 0;
    for (int i = 0; i < block->n; i++) {
        const struct shape_piece *piece = &shape->pieces[i];
        if (piece->n)
            memcpy(code + len, piece->bytes, (size_t)piece->n);
        len += (size_t)piece->n;
        if (!shape_in_loop(shape))
            continue;
        size_t rest = block->instrs[i].in.length - (size_t)piece->n;
        if (rest)
            ZydisEncoderNopFill(code + len, rest);
        len += rest;
    }
    return len;
}

static void put_bytes(struct strbuf *out, const uint8_t *bytes, int n)
{
    for (int i = 0; i < n; i++)
        strbuf_printf(out, "%s0x%02x", i ? ", " : "db ", bytes[i]);
    strbuf_puts(out, n ? "\n" : "");
}

// Returns the next line of a file that has an instruction, from *at on and without its comment.
static const char *next_line(const char **at, struct arena *arena)
{
    while (**at) {
        size_t len = strcspn(*at, "\n");
        const char *line = arena_printf(arena, "%.*s\n", (int)strcspn(*at, ";\n"), *at);
        *at += len + ((*at)[len] == '\n');
        if (bench_text_instructions(line) == 1)
            return line;
    }
    return NULL;
}

// Returns the shape as text. Instructions that may name addresses of the file are copied from
// there; NULL: the line of such an instruction is not known.
static const char *shape_text(const struct shape *shape, struct arena *arena)
{
    const struct explain_place *place = shape->subject->place;
    const struct block *block = &shape->subject->explanation->block;
    const char *lines = place && place->testcode ? place->testcode : "";
    bool by_line = bench_text_instructions(lines) == block->n;
    struct strbuf text = {0};
    for (int i = 0; i < block->n; i++) {
        const struct shape_piece *piece = &shape->pieces[i];
        const char *line = by_line ? next_line(&lines, arena) : NULL;
        if (line && !piece->changed)
            strbuf_puts(&text, line);
        else if (!place || piece->changed || !may_be_linked(&block->instrs[i]))
            put_bytes(&text, piece->bytes, piece->n);
        else
            strbuf_printf(&text, "%%error\n");
    }
    const char *found =
        strstr(strbuf_text(&text), "%error") ? NULL : arena_strdup(arena, strbuf_text(&text));
    strbuf_free(&text);
    return found;
}

// Returns init code that makes bench fill vector registers and memory as for the text.
static const char *shape_init(const struct shape *shape, struct arena *arena)
{
    static const struct {
        ZydisRegisterClass class;
        const char *text;
    } moves[] = {
        {ZYDIS_REGCLASS_ZMM, "vmovapd zmm0, zmm0"},
        {ZYDIS_REGCLASS_YMM, "vmovapd ymm0, ymm0"},
        {ZYDIS_REGCLASS_XMM, "movapd xmm0, xmm0" },
        {ZYDIS_REGCLASS_MMX, "movq mm0, mm0"     },
    };
    const struct block *block = &shape->subject->explanation->block;
    const char *given = shape->subject->spec->init ? shape->subject->spec->init : "";
    for (size_t m = 0; m < ARRAY_LEN(moves); m++)
        for (int i = 0; i < block->n; i++) {
            const struct block_instr *instr = &block->instrs[i];
            for (int o = 0; o < instr->in.operand_count_visible; o++)
                if (instr->ops[o].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                    ZydisRegisterGetClass(instr->ops[o].reg.value) == moves[m].class)
                    return arena_printf(arena, "%s\n%s", moves[m].text, given);
        }
    return given;
}

// Sets the spec for a block of a NASM file, with the code that breaks its chains.
static int shape_testcode(const struct shape *shape, const char *text, struct bench_spec *spec,
                          struct arena *arena, struct err *err)
{
    const struct block *block = &shape->subject->explanation->block;
    struct bench_breakers breakers = {"", "", NULL};
    struct strbuf bytes = {0};
    struct bench_spec as_text = {.bits = block->bits};
    for (int i = 0; i < block->n; i++)
        put_bytes(&bytes, shape->pieces[i].bytes, shape->pieces[i].n);
    as_text.body = arena_strdup(arena, strbuf_text(&bytes));
    strbuf_free(&bytes);
    if (shape->broken &&
        bench_break_chains(&as_text, shape->subject->place->directory, &breakers, arena, err) != 0)
        return -1;
    if (breakers.impossible)
        return 1;
    spec->testcode = arena_printf(arena, "%s%s", breakers.body, text);
    spec->after = breakers.init;
    return 0;
}

static int shape_loop(const uint8_t *code, size_t len, const struct explain_place *place,
                      struct bench_spec *spec, struct arena *arena, struct err *err)
{
    const struct assemble_patch patch = {place->offset, code, len};
    spec->object = arena_printf(arena, "%s/shape.o", place->directory);
    return assemble_object_replace(place->object, BENCH_FUNCTION, &patch, spec->object, err);
}

int shape_make(const struct shape *shape, struct bench_spec *spec, struct block *block,
               struct arena *arena, struct err *err)
{
    const struct explain_place *place = shape->subject->place;
    const struct block *from = &shape->subject->explanation->block;
    uint8_t *code = arena_alloc(arena, (size_t)from->n * 2 * ZYDIS_MAX_INSTRUCTION_LENGTH);
    size_t len = shape_code(shape, code);
    *spec = *shape->subject->spec;
    spec->events = NULL;
    spec->ncolumns = 0;
    spec->store = spec->keep = false;
    if (block_read(code, len, from->bits, block, arena, err) != 0)
        return -1;
    memcpy(block->held, from->held, sizeof block->held);
    if (shape_in_loop(shape))
        return shape->broken ? 1 : shape_loop(code, len, place, spec, arena, err);
    const char *text = shape_text(shape, arena);
    if (!text)
        return 1;
    if (place)
        return shape_testcode(shape, text, spec, arena, err);
    spec->body = text;
    spec->init = shape_init(shape, arena);
    spec->mode = shape->broken ? BENCH_THROUGHPUT : BENCH_LATENCY;
    return 0;
}
