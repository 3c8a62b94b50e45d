// SPDX-License-Identifier: MIT
// Mixes: instances of several rows in one body, from whose throughput the execution ports are
// inferred. Each part has registers of its own, so that no part waits for another; instances of one
// part may wait for each other, which the others then hide.
#include "plan_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum {
    DISTINCT_MAX = 4,     // instances of a part with registers of their own
    PART_LABELS = 100000, // local labels of one part
    // Size of a part's own piece of the data area. Zen 4 takes a load to depend on a store 1024
    // bytes before, so it is no power of two.
    PART_BYTES = 448,
    REWRITES = 32,         // instances per body that rewrite memory or move the stack, or
    BODY_INSTANCES = 128,  // as many instances of any kind
    STACK_INSTANCES = 800, // the same where the stack is moved
};

// 1.0 as binary32, which is an ordinary binary64 number, too.
static const uint64_t NORMAL_FILL = 0x3f8000003f800000;

struct mix_piece {
    const char *text;
    size_t len;
};

// A part while the body is written.
struct mix_writer {
    struct row_plan rp;
    struct draft draft;
    struct instances instances;
    struct mix_piece *pieces; // one per instance
    int instrs;               // instructions per piece
    int count, done;
    uint32_t vectors;           // registers taken by this part
    const struct point *stored; // memory that the part writes; NULL: none
};

static void mix_row_plan(const struct list_row *row, const struct plan_params *params,
                         struct arena *arena, struct plan *plan, struct row_plan *rp)
{
    *rp = (struct row_plan){.row = row,
                            .params = params,
                            .arena = arena,
                            .plan = plan,
                            .same = row->same,
                            .avx = row->enc != ENC_LEGACY};
    points_collect(rp);
    data_set(rp, 0);
}

// Reserves registers that a part must have from all others.
static void mix_reserve(struct mix_writer *writers, int n)
{
    uint32_t fixed[CLASS_COUNT] = {0};
    for (int i = 0; i < n; i++)
        for (int class = 0; class < CLASS_COUNT; ++class)
            fixed[class] |= writers[i].draft.used[class];
    for (int i = 0; i < n; i++)
        memcpy(writers[i].draft.used, fixed, sizeof fixed);
}

static void mix_pieces(struct mix_writer *writer, struct arena *arena)
{
    struct draft *draft = &writer->draft;
    writer->pieces = arena_alloc(arena, (size_t)writer->count * sizeof *writer->pieces);
    size_t *at = arena_alloc(arena, ((size_t)writer->count + 1) * sizeof *at);
    for (int j = 0; j < writer->count; j++) {
        at[j] = draft->body.len;
        int before = draft->instrs;
        throughput_instance(draft, &writer->instances, j);
        writer->instrs = draft->instrs - before;
    }
    at[writer->count] = draft->body.len;
    const char *text = arena_strdup(arena, strbuf_text(&draft->body));
    for (int j = 0; j < writer->count; j++)
        writer->pieces[j] = (struct mix_piece){text + at[j], at[j + 1] - at[j]};
}

// Gives all parts their registers and their text; parts after the first `distinct` share registers.
// Returns false if there are too few registers, or no chain.
static bool mix_write_parts(struct mix_writer *writers, const struct mix *mix, int distinct,
                            struct arena *arena)
{
    int n = mix->nparts;
    for (int i = 0; i < n; i++) {
        draft_begin(&writers[i].draft, &writers[i].rp);
        writers[i].draft.sets_vectors = true;
        writers[i].draft.area = i * PART_BYTES;
        writers[i].stored = throughput_stored(&writers[i].rp);
    }
    mix_reserve(writers, n);
    // The last parts, which have many instances (blockers), choose first and take few registers.
    uint32_t taken[CLASS_COUNT] = {0};
    for (int i = n - 1; i >= 0; i--) {
        struct mix_writer *writer = &writers[i];
        for (int class = 0; class < CLASS_COUNT; ++class)
            writer->draft.used[class] |= taken[class];
        writer->draft.labels = i * PART_LABELS;
        int most = i > 0 || mix->single ? distinct : DISTINCT_MAX;
        uint32_t before = writer->draft.used[CLASS_VEC];
        if (!throughput_prepare(&writer->draft, writer->count < most ? writer->count : most,
                                mix->breaking, &writer->instances))
            return false;
        if (i == 0 && mix->chained && !throughput_chain(&writer->rp, &writer->instances))
            return false;
        writer->instances.disp = i * PART_BYTES;
        writer->instances.area_bytes = PART_BYTES;
        mix_pieces(writer, arena);
        writer->vectors = writer->draft.used[CLASS_VEC] & ~before;
        for (int class = 0; class < CLASS_COUNT; ++class)
            taken[class] |= writer->draft.used[class];
    }
    return true;
}

static uint32_t mix_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

// Returns instance j of a part for another round: with labels of its own and, if it writes memory,
// at its place in the body.
static const struct mix_piece *mix_piece_again(struct mix_writer *writer, int j,
                                               struct places *places, struct arena *arena)
{
    struct strbuf *text = &writer->draft.body;
    struct mix_piece *piece = arena_alloc(arena, sizeof *piece);
    size_t at = text->len;
    if (writer->stored) {
        writer->instances.one_place = true;
        writer->instances.disp = places_next(places, writer->stored);
    }
    throughput_instance(&writer->draft, &writer->instances, j);
    *piece = (struct mix_piece){arena_strdup(arena, strbuf_text(text) + at), text->len - at};
    return piece;
}

// Returns the part of the next instance.
static int mix_next(const struct mix_writer *writers, int n, int step, int total,
                    enum mix_order order, uint32_t *random)
{
    int best = -1;
    double most = -1;
    uint32_t left = (uint32_t)(total - step);
    bool shuffled = order >= MIX_SHUFFLED;
    uint32_t chosen = shuffled ? mix_random(random) % left : 0;
    for (int i = 0; i < n; i++) {
        uint32_t mine = (uint32_t)(writers[i].count - writers[i].done);
        if (mine == 0)
            continue;
        if (order == MIX_BLOCKS)
            return i;
        if (shuffled) {
            if (chosen < mine)
                return i;
            chosen -= mine;
            continue;
        }
        double behind = (double)writers[i].count * (step + 1) / total - writers[i].done;
        if (behind > most) {
            most = behind;
            best = i;
        }
    }
    return best;
}

// Writes a piece, repeats as `times`: NASM's time depends on the number of lines.
static void mix_put(struct strbuf *body, const struct mix_piece *piece, int repeat)
{
    const char *newline = memchr(piece->text, '\n', piece->len);
    bool one_line = newline == piece->text + piece->len - 1;
    if (repeat > 1 && one_line)
        strbuf_printf(body, "times %d ", repeat);
    for (int i = 0; i < (one_line ? 1 : repeat); i++)
        strbuf_put(body, piece->text, piece->len);
}

static bool mix_piece_same(const struct mix_piece *a, const struct mix_piece *b)
{
    return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

// A body while it is written: runs of the same piece are joined.
struct mix_text {
    struct strbuf text;
    const struct mix_piece *last;
    int repeat; // repeats of the last piece
    int round;  // round of the mix
};

static void mix_text_add(struct mix_text *body, const struct mix_piece *piece)
{
    if (body->last && (!piece || !mix_piece_same(body->last, piece))) {
        mix_put(&body->text, body->last, body->repeat);
        body->repeat = 0;
    }
    body->last = piece;
    body->repeat++;
}

static void mix_once(struct mix_writer *writers, int n, enum mix_order order, struct places *places,
                     struct mix_text *body, struct arena *arena)
{
    int total = 0;
    // A constant seed: the same mix gives the same body.
    uint32_t random = 0x9e3779b9 + (uint32_t)order * 0x51ed270b;
    for (int i = 0; i < n; i++) {
        total += writers[i].count;
        writers[i].done = 0;
    }
    for (int step = 0; step < total; step++) {
        struct mix_writer *writer = &writers[mix_next(writers, n, step, total, order, &random)];
        assert(writer->pieces);
        int j = writer->done++;
        bool again = writer->stored || body->round > 0;
        mix_text_add(body, again ? mix_piece_again(writer, j, places, arena) : &writer->pieces[j]);
    }
}

// Writes what brings back the stack pointer that instances move in the body, before or after them.
static void mix_put_stack(struct mix_writer *writer, int repeats, bool after, struct strbuf *body)
{
    struct strbuf *text = &writer->draft.body;
    size_t at = text->len;
    (after ? throughput_after : throughput_before)(&writer->draft, repeats * writer->count);
    strbuf_put(body, strbuf_text(text) + at, text->len - at);
}

static const char *mix_body(struct mix_writer *writers, int n, enum mix_order order, int repeats,
                            const struct places *places, struct arena *arena)
{
    struct mix_text body = {.last = NULL};
    struct places now = *places;
    for (int i = 0; i < n; i++)
        mix_put_stack(&writers[i], repeats, false, &body.text);
    for (; body.round < repeats; body.round++)
        mix_once(writers, n, order, &now, &body, arena);
    mix_text_add(&body, NULL);
    for (int i = 0; i < n; i++)
        mix_put_stack(&writers[i], repeats, true, &body.text);
    const char *text = arena_strdup(arena, strbuf_text(&body.text));
    strbuf_free(&body.text);
    return text;
}

// Returns how often the body repeats the mix: enough that rewritten memory was stored long before
// it is loaded again (12 `add m64 r64` take 0.9 cycles each on a Zen 3, 32 take 0.5), and that what
// brings the stack pointer back takes a small part of the time.
static int mix_repeats(const struct mix_writer *writers, int n)
{
    int rewrites = 0, total = 0, most = BODY_INSTANCES;
    for (int i = 0; i < n; i++) {
        bool stack = writers[i].rp.row->stack != 0;
        total += writers[i].count;
        rewrites += stack || (writers[i].stored && writers[i].stored->read) ? writers[i].count : 0;
        most = stack ? STACK_INSTANCES : most;
    }
    // Times of instances alone that rewrite memory vary: 0.5 to 0.7.
    if ((n == 1 && most == BODY_INSTANCES) || rewrites == 0 || rewrites >= REWRITES ||
        total >= most)
        return 1;
    int by_rewrites = (REWRITES + rewrites - 1) / rewrites;
    int by_total = (most + total - 1) / total;
    return by_rewrites < by_total ? by_rewrites : by_total;
}

// Copies the fill to registers 16 and up, which the core fills only at full width.
static void mix_copy_high(const struct mix_writer *writer, const struct kernel_spec *spec,
                          struct strbuf *init)
{
    char kind = spec->vec_bits == 256 ? 'y' : 'x';
    for (int reg = 16; reg < 32 && spec->vec_bits < 512; reg++)
        if (writer->vectors & 1u << reg)
            strbuf_printf(init, "vmovaps %cmm%d, %cmm0\n", kind, reg, kind);
}

// Sets one vector register to the part's own data, with instructions of the row's own extension.
static void mix_fill_vector(const struct row_plan *rp, int reg, struct strbuf *init)
{
    strbuf_printf(init, "mov rax, 0x%" PRIx64 "\n", rp->vec_fill);
    if (!rp->avx)
        strbuf_printf(init, "movq xmm%d, rax\npunpcklqdq xmm%d, xmm%d\n", reg, reg, reg);
    else if (rp->vec_bits <= 128)
        strbuf_printf(init, "vmovq xmm%d, rax\nvpunpcklqdq xmm%d, xmm%d, xmm%d\n", reg, reg, reg,
                      reg);
    else if (rp->row->enc == ENC_EVEX)
        strbuf_printf(init, "vmovq xmm%d, rax\nvpbroadcastq %cmm%d, xmm%d\n", reg, plan_vector(rp),
                      reg, reg);
    else // AVX has no broadcast from a register
        strbuf_printf(init,
                      "vmovq xmm%d, rax\nvpunpcklqdq xmm%d, xmm%d, xmm%d\n"
                      "vinsertf128 ymm%d, ymm%d, xmm%d, 1\n",
                      reg, reg, reg, reg, reg, reg, reg);
}

// Sets registers and memory of a part that needs other data than the core's one pattern. Registers
// of legacy instructions get clean upper halves, or each write would wait for the last.
static void mix_fill(const struct mix_writer *writer, const struct kernel_spec *spec, int part,
                     struct strbuf *init)
{
    const struct row_plan *rp = &writer->rp;
    bool other = rp->vec_fill != spec->vec_fill && rp->row->element != ELEMENT_INT;
    bool clean = !rp->avx && spec->vec_bits > 128;
    for (int reg = 0; reg < 32; reg++) {
        if (!(writer->vectors & 1u << reg))
            continue;
        if (other)
            mix_fill_vector(rp, reg, init);
        if (clean)
            strbuf_printf(init, "vmovdqa xmm%d, xmm%d\n", reg, reg);
    }
    if (rp->mem_fill == spec->mem_fill || rp->row->element == ELEMENT_INT)
        return;
    strbuf_printf(init, "mov rax, 0x%" PRIx64 "\n", rp->mem_fill);
    for (int byte = 0; byte < 64; byte += 8)
        strbuf_printf(init, "mov [r%d+%d], rax\n", rp->data_reg, part * PART_BYTES + byte);
}

// Returns the init: fills first, since they use rax, then the set-up of the parts. Copies of the
// core's fill come before any register gets another value.
static const char *mix_init(struct mix_writer *writers, int n, const struct kernel_spec *spec,
                            struct arena *arena)
{
    struct strbuf init = {0};
    for (int i = 0; i < n; i++)
        mix_copy_high(&writers[i], spec, &init);
    size_t copied = init.len;
    for (int i = 1; i < n && writers[0].rp.row->bits == 64; i++)
        mix_fill(&writers[i], spec, i, &init);
    if (init.len > copied)
        strbuf_printf(&init, "mov rax, 0x%" PRIx64 "\n", spec->gpr_fill);
    for (int i = 0; i < n; i++)
        strbuf_puts(&init, strbuf_text(&writers[i].draft.init));
    const char *text = arena_strdup(arena, strbuf_text(&init));
    strbuf_free(&init);
    return text;
}

static struct kernel_spec mix_spec(struct mix_writer *writers, int n, enum mix_order order,
                                   const struct places *places, struct arena *arena)
{
    static const char *const shapes[] = {"interleaved", "blocks", "shuffled", "shuffled 2",
                                         "shuffled 3"};
    const struct row_plan *first = &writers[0].rp;
    const int repeats = mix_repeats(writers, n);
    const char *shape = shapes[order];
    if (places->kind == PLACES_APART)
        shape = arena_printf(arena, "%s+apart", shape);
    struct kernel_spec spec = {.shape = shape,
                               .body = mix_body(writers, n, order, repeats, places, arena),
                               .instances = repeats,
                               .vec_fill = first->vec_fill,
                               .mem_fill = first->mem_fill,
                               .gpr_fill = first->gpr_fill,
                               .mask_fill = first->mask_fill};
    for (int i = 0; i < n; i++) {
        const struct row_plan *rp = &writers[i].rp;
        bool simd = rp->vec_bits || writers[i].draft.used[CLASS_VEC];
        int bits = simd && rp->vec_bits < 128 ? 128 : rp->vec_bits;
        spec.vec_bits = bits > spec.vec_bits ? bits : spec.vec_bits;
        spec.instrs += repeats * writers[i].count * writers[i].instrs + (rp->row->stack != 0);
        spec.clear_upper |= i == 0 && rp->row->enc == ENC_LEGACY && simd;
        if (first->row->element == ELEMENT_INT && rp->row->element != ELEMENT_INT)
            spec.vec_fill = NORMAL_FILL;
    }
    spec.init = mix_init(writers, n, &spec, arena);
    return spec;
}

bool mix_stands(const struct list_row *row)
{
    return !row->macro.file && !row->x87_moves && !row->nontemporal;
}

bool mix_plannable(const struct list_row *row)
{
    return mix_stands(row) && !row->stack;
}

bool mix_locks(const struct list_row *row)
{
    if (strncmp(row->mnemonic, "lock ", 5) == 0)
        return true;
    bool memory = false;
    for (int i = 0; i < row->nops; i++)
        memory |= row->ops[i].kind == OPERAND_MEM;
    return memory && strcmp(row->mnemonic, "xchg") == 0;
}

// Returns the form of the move or test that draft_break() writes.
static const char *breaker_form(const struct row_plan *rp, const struct point *point)
{
    switch (point->class) {
    case CLASS_GPR:
        return rp->row->bits == 32 ? "mov r32 r32" : "mov r64 r64";
    case CLASS_VEC:
        if (!rp->avx)
            return "movaps x x";
        return rp->vec_bits == 512   ? "vmovaps z z"
               : rp->vec_bits == 256 ? "vmovaps y y"
                                     : "vmovaps x x";
    case CLASS_MASK:
        return strstr(rp->row->isa, "AVX512BW") ? "kmovq k k" : "kmovw k k";
    case CLASS_MMX:
        return "movq mm mm";
    case CLASS_FLAGS:
        return "test r32 r32";
    default:
        return NULL;
    }
}

int mix_breakers(const struct list_row *row, enum breaking breaking,
                 const char *forms[MIX_BREAKERS_MAX])
{
    struct arena arena = {0};
    const struct plan_params params = {.issue_width = 1};
    struct plan plan = {.row = row};
    struct row_plan rp;
    bool breakers[POINTS_MAX];
    mix_row_plan(row, &params, &arena, &plan, &rp);
    throughput_breakers(&rp, breaking, breakers);
    int n = 0;
    for (int i = 0; i < rp.npoints && n < MIX_BREAKERS_MAX; i++) {
        const char *form =
            breakers[i] && points_same_before(&rp, i) < 0 ? breaker_form(&rp, &rp.points[i]) : NULL;
        if (form)
            forms[n++] = form;
    }
    arena_free(&arena);
    return n;
}

// Adds a kernel for each order of the mix and each kind of places for its stores.
static void mix_add_kernels(struct mix_writer *writers, const struct mix *mix, struct test *test,
                            struct arena *arena)
{
    const struct point **stored = arena_alloc(arena, (size_t)mix->nparts * sizeof *stored);
    for (int i = 0; i < mix->nparts; i++)
        stored[i] = writers[i].stored;
    struct places places;
    unsigned kinds = places_find(stored, mix->nparts, &places);
    for (int order = 0; order < MIX_ORDER_COUNT; order++)
        for (int kind = 0; kind < PLACES_KINDS && mix->orders & 1u << order; kind++) {
            places.kind = (enum places_kind)kind;
            if (kinds & 1u << kind)
                plan_add_kernel(
                    &writers[0].rp, test,
                    mix_spec(writers, mix->nparts, (enum mix_order)order, &places, arena));
        }
}

static void mix_forget(struct mix_writer *writers, int n)
{
    for (int i = 0; i < n; i++)
        draft_free(&writers[i].draft);
}

int mix_plan(const struct mix *mix, const struct plan_params *params, struct arena *arena,
             struct plan *plan)
{
    const int nparts = mix->nparts;
    *plan = (struct plan){.row = mix->parts[0].row};
    struct mix_writer *writers = arena_alloc(arena, (size_t)nparts * sizeof *writers);
    for (int i = 0; i < nparts; i++) {
        mix_row_plan(mix->parts[i].row, params, arena, plan, &writers[i].rp);
        writers[i].count = mix->parts[i].count;
    }
    struct test *test = plan_add_test(&writers[0].rp, TEST_PORTS, "");
    bool fits;
    int distinct = mix->breaking == BREAK_ALL && !mix->single ? DISTINCT_MAX : 1;
    while (!(fits = mix_write_parts(writers, mix, distinct, arena)) && --distinct > 0)
        mix_forget(writers, nparts);
    if (fits)
        mix_add_kernels(writers, mix, test, arena);
    mix_forget(writers, nparts);
    if (!fits)
        plan_refuse(test, OUTCOME_NOT_MEASURABLE,
                    mix->chained ? "no chain through registers of the form's choice"
                                 : "too few registers for the mix");
    return fits ? 0 : -1;
}
