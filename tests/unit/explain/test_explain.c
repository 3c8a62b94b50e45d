// SPDX-License-Identifier: MIT
// Blocks of machine code: what they read and write, the longest chain, the bounds of the ports, and
// which rows of the lists instructions are. Latencies and ports are invented; nothing is measured.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/bench_break.h"
#include "explain/explain.h"
#include "explain/explain_cross.h"
#include "explain/explain_flow.h"
#include "explain/explain_front.h"
#include "explain/explain_fuse.h"
#include "explain/explain_loop.h"
#include "explain/explain_try.h"
#include "util/paths.h"
#include "util/scratch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct arena arena;

static size_t assemble(const char *text, int bits, uint8_t *code)
{
    struct err err = {0};
    char *directory = scratch_begin(&err);
    assert_non_null(directory);
    long len = bench_assemble(directory, text, bits, code, &err);
    scratch_end(directory, false);
    assert_true(len >= 0);
    return (size_t)len;
}

static int read_text(const char *text, int bits, struct block *block, struct err *err)
{
    uint8_t *code = arena_alloc(&arena, BENCH_CODE_MAX);
    size_t len = assemble(text, bits, code);
    return block_read(code, len, bits, block, &arena, err);
}

static int free_arena(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

// Every pair takes a cycle, with memory on one side three.
static double simple_clk(const void *context, int instr, int from, int to)
{
    const struct block *block = context;
    const struct block_touch *touches = block->instrs[instr].touches;
    bool address = touches[from].part == PART_BASE || touches[from].part == PART_INDEX;
    bool stack = touches[to].place == PLACE_GPR + 4; // nothing waits for the stack pointer
    if (stack || (address && touches[to].part == PART_DATA))
        return (double)NAN;
    bool memory = touches[from].part == PART_DATA || touches[to].part == PART_DATA;
    return address ? 5 : memory ? 3 : 1;
}

static void chains_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *code;
        double clk;
        int copies, steps;
    } cases[] = {
        {"add rax, rbx",                                                         1, 1, 1},
        {"mov rax, rbx",                                                         0, 0, 0},
        {"add rax, rbx; add rax, rcx",                                           2, 1, 2},
        {"add rax, rbx; add rcx, rdx; add rcx, rdx; add rcx, rsi",               3, 1, 3},
        {"mov eax, 5; add rax, rbx",                                             0, 0, 0},
        {"mov al, 5",                                                            1, 1, 1},
        {"xchg rax, rbx",                                                        1, 1, 1},
        {"adc rax, rbx; inc rcx",                                                1, 1, 1},
        {"adc rbx, rax; adc rdx, rax; mov rbx, rax; mov rdx, rax",               2, 1, 2},
        {"adc rbx, rax; adc rdx, rax; mov rbx, rax; mov rdx, rax; cmp rax, rsi", 0, 0, 0},
        {"mov rax, [rax]",                                                       5, 1, 1},
        {"mov rax, [rbx]; add rax, rcx; mov [rbx], rax",                         7, 1, 3},
        {"mov rax, [rbx]; add rax, rcx; mov [rbx+8], rax",                       0, 0, 0},
        {"mov rax, [rbx]; add rax, rcx; mov [rbx+8], rax; add rbx, 8",           7, 1, 3},
        {"mov rax, [rbx+8]; add rax, rcx; mov [rbx], rax; add rbx, 8",           1, 1, 1},
        {"mov esi, ebx; add [rcx+rsi*4], rax",                                   3, 1, 1},
        {"add ebx, edx; mov esi, ebx; add [rcx+rsi*4], rax",                     1, 1, 1},
        {"push rax; pop rax",                                                    6, 1, 2},
        {"mulps xmm0, xmm1; mulps xmm0, xmm1; vaddps ymm2, ymm2, ymm0",          2, 1, 2},
        {"lea rax, [rax+rbx*4]; lea rcx, [rax+rcx]",                             5, 1, 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct block block;
        struct err err = {0};
        assert_int_equal(read_text(cases[i].code, 64, &block, &err), 0);
        block_link_memory(&block);
        const struct chain_latency latency = {simple_clk, &block};
        struct chain chain = chain_longest(&block, &latency, &arena);
        if (fabs(chain.clk - cases[i].clk) > 1e-9 || chain.copies != cases[i].copies ||
            chain.nsteps != cases[i].steps)
            fail_msg("%s: %g clk over %d copies in %d steps", cases[i].code, chain.clk,
                     chain.copies, chain.nsteps);
        double sum = 0;
        for (int s = 0; s < chain.nsteps; s++)
            sum += chain.steps[s].clk;
        assert_true(fabs(sum - chain.length) < 1e-9);
    }
}

static void bad_blocks_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *code, *says;
        int bits;
    } cases[] = {
        {"",                "no instruction",                   64},
        {"nop; call rax",   "instruction 2, 'call rax', calls", 64},
        {"syscall",         "calls the system",                 64},
        {"int 0x80",        "calls the system",                 32},
        {"ret",             "returns",                          64},
        {".a: jz .a; nop",  "branches in the middle",           64},
        {"jmp rax",         "jumps",                            64},
        {"db 0x06",         "bytes 06 are no instruction",      64},
        {"times 10000 nop", "more than 1000",                   64},
        {"nop",             "16-bit",                           16},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct block block;
        struct err err = {0};
        assert_int_equal(read_text(cases[i].code, cases[i].bits, &block, &err), -1);
        if (!strstr(err.text, cases[i].says))
            fail_msg("%s: %s", cases[i].code, err.text);
    }
    struct block block;
    struct err err = {0};
    assert_int_equal(read_text("push es", 32, &block, &err), 0);
}

static void instructions_are_matched(void **state)
{
    (void)state;
    static const struct {
        const char *code, *form;
        enum encoding enc;
    } cases[] = {
        {"imul rax, rbx",                  "imul r64 r64",          ENC_LEGACY},
        {"add r9d, 5",                     "add r32 i8",            ENC_LEGACY},
        {"add r9d, 5000",                  "add r32 i32",           ENC_LEGACY},
        {"xor r10d, r10d",                 "xor r32 r32 same",      ENC_LEGACY},
        {"xor r10d, r11d",                 "xor r32 r32",           ENC_LEGACY},
        {"cmove eax, [rsi+rdi*8+100]",     "cmovz r32 m32",         ENC_LEGACY},
        {"lea rax, [rbx+rcx*8+4]",         "lea r64 agen:b+i*4+d8", ENC_LEGACY},
        {"vaddps ymm9, ymm10, [rdi]",      "vaddps y y m256",       ENC_VEX   },
        {"vaddps ymm17, ymm10, ymm1",      "{evex} vaddps y y y",   ENC_EVEX  },
        {"vaddps zmm1{k3}{z}, zmm2, zmm3", "vaddps z{k}{z} z z",    ENC_EVEX  },
        {"lock add [rdi], eax",            "lock add m32 r32",      ENC_LEGACY},
        {"shl rcx, 1",                     "shl r64 1",             ENC_LEGACY},
        {"shl rcx, 9",                     "shl r64 i8",            ENC_LEGACY},
        {"shr rdx, cl",                    "shr r64 cl",            ENC_LEGACY},
        {"movd xmm8, eax",                 "movd x r32",            ENC_LEGACY},
        {"push r12",                       "push r64",              ENC_LEGACY},
    };
    uint8_t *code = arena_alloc(&arena, BENCH_CODE_MAX);
    struct block *blocks = arena_alloc(&arena, ARRAY_LEN(cases) * sizeof *blocks);
    struct explain_table table;
    struct err err = {0};
    const struct explain_from nothing = {.store = NULL};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint8_t *own = arena_alloc(&arena, 32);
        size_t len = assemble(cases[i].code, 64, code);
        memcpy(own, code, len);
        assert_int_equal(block_read(own, len, 64, &blocks[i], &arena, &err), 0);
    }
    assert_int_equal(table_load(&nothing, blocks, ARRAY_LEN(cases), &table, &err), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct table_row *row = table_match(&table, &blocks[i].instrs[0]);
        if (!row || strcmp(row->row->form, cases[i].form) != 0 || row->row->enc != cases[i].enc)
            fail_msg("%s: %s", cases[i].code, row ? row->row->form : "no row");
    }
    table_free(&table);
}

// Loads are compared with the store before them, and stores with each other's lines.
static void stores_are_compared(void **state)
{
    (void)state;
    static const struct {
        const char *code;
        int writer;
        enum forward_kind forward;
        bool one_line;
    } cases[] = {
        {"mov [rbx], rax; mov rax, [rbx]; mov [rbx+63], cl",          0,  FORWARD_SAME,   true },
        {"mov [rbx], rax; mov eax, [rbx+4]; mov [rbx+64], cl",        0,  FORWARD_INSIDE, false},
        {"mov [rbx], eax; mov rax, [rbx]; mov [rcx], cl",             0,  FORWARD_NARROW, false},
        {"mov [rbx], eax; mov rax, [rbx+4]; mov [rbx+rcx], cl",       -1, FORWARD_SAME,   false},
        {"mov [rbx+8], rdx; movdqa xmm0, [rbx]; mov [rbx+56], cl",    0,  FORWARD_BEFORE, true },
        {"mov [rbx+rcx], al; mov al, [rbx+rcx]; mov [rbx+rcx+1], dl", 0,  FORWARD_SAME,   true },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct block block;
        struct err err = {0};
        int lines[2] = {0, 0}, n = 0;
        assert_int_equal(read_text(cases[i].code, 64, &block, &err), 0);
        block_link_memory(&block);
        for (int at = 0; at < block.n; at++)
            for (int t = 0; t < block.instrs[at].ntouches; t++) {
                const struct block_touch *touch = &block.instrs[at].touches[t];
                if (touch->part == PART_DATA && touch->write)
                    lines[n++] = touch->line;
                if (touch->part == PART_DATA && !touch->write &&
                    (touch->writer != cases[i].writer ||
                     (touch->writer >= 0 && touch->forward != cases[i].forward)))
                    fail_msg("%s: %d %d", cases[i].code, touch->writer, touch->forward);
            }
        if ((lines[0] == lines[1]) != cases[i].one_line)
            fail_msg("%s: lines %d and %d", cases[i].code, lines[0], lines[1]);
    }
}

// An address that was loaded from a place that stays as it is is the same in each copy.
static void loaded_addresses_are_followed(void **state)
{
    (void)state;
    static const struct {
        const char *code;
        int writer; // of what the last instruction loads
    } cases[] = {
        {"mov rax, [rsi]; add dword [rax+8], 1",                         1 },
        {"movsxd rax, dword [rsi]; add dword [rbx+rax*4], 1",            1 },
        {"lea rax, [rsi+rdi*4]; add dword [rax], 1",                     1 },
        {"mov rax, [rsi]; mov [rax], cl; mov rax, [rsi]; mov cl, [rax]", 1 },
        {"add rsi, 8; mov rax, [rsi]; add dword [rax+8], 1",             -1},
        {"mov [rsi], rcx; mov rax, [rsi]; add dword [rax+8], 1",         -1},
        {"mov rax, [rsi]; mov [rsi+4], cl; add dword [rax+8], 1",        -1},
        {"xchg rax, [rsi]; add dword [rax+8], 1",                        -1},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct block block;
        struct err err = {0};
        assert_int_equal(read_text(cases[i].code, 64, &block, &err), 0);
        block_link_memory(&block);
        const struct block_instr *last = &block.instrs[block.n - 1];
        for (int t = 0; t < last->ntouches; t++)
            if (last->touches[t].part == PART_DATA && !last->touches[t].write &&
                last->touches[t].writer != cases[i].writer)
                fail_msg("%s: %d", cases[i].code, last->touches[t].writer);
    }
}

// A pair that takes more than its parts says what the hand-over costs.
static void pairs_are_compared_with_their_parts(void **state)
{
    (void)state;
    static const struct property_value values[] = {
        {"sum_shift",    1, 3   },
        {"shift",        1, 2   },
        {"sum_logic",    1, 1.03},
        {"logic",        1, 2   },
        {"fadd",         1, 4   },
        {"fmul",         1, 8   },
        {"fadd_fmul",    1, 7   },
        {"store_line",   1, 1   },
        {"store_lines",  1, 2   },
        {"forward",      1, 9   },
        {"load",         1, 8   },
        {"load_scaled",  1, 10  },
        {"sum",          1, 2   },
        {"stack_sum",    1, 2.02},
        {"stack_two",    1, 2   },
        {"narrow_apart", 1, 14  },
        {"before_apart", 1, 15  },
    };
    struct bypass bypass;
    bypass_read(values, ARRAY_LEN(values), &bypass);
    assert_true(bypass.narrow_wait_clk == 14 && bypass.before_wait_clk == 15);
    bypass_read(values, ARRAY_LEN(values) - 1, &bypass); // a run of an older version
    assert_true(bypass.before_wait_clk == 14);
    assert_true(bypass.sum_clk[BYPASS_SHIFT] == 2 && bypass.sum_clk[BYPASS_OTHER] == 0);
    assert_true(isnan(bypass.sum_clk[BYPASS_CARRY]) && isnan(bypass.fadd_other_clk));
    assert_true(bypass.store_clk == 0.5 && bypass.store_line_clk == 1);
    assert_true(bypass.forward_clk == 5 && bypass.sum_shift_uops == 0);
    assert_true(bypass.load_clk == 4 && bypass.load_scaled_clk == 1);
    assert_true(isnan(bypass.load_index_clk));
    assert_true(bypass.stack_clk == 0 && fabs(bypass.stack_sum_clk - 1.02) < 1e-9);
    bypass_read(NULL, 0, &bypass);
    assert_true(isnan(bypass.sum_clk[BYPASS_SHIFT]) && isnan(bypass.store_line_clk));
    assert_true(isnan(bypass.stack_clk) && isnan(bypass.load_clk));
}

// Two ports, of which one kind of µop needs the first, another any; and a divider.
static const struct port_model model = {.width = 4, .nports = 2, .nunits = 1};
static const struct port_usage first = {
    .uses = {1,         1, {{1, 1}}},
      .front = {.slots = 1}
};
static const struct port_usage any = {
    .uses = {1,         1, {{3, 1}}},
      .front = {.slots = 1}
};
static const struct port_usage divide = {
    .uses = {1, 1,         {{1, 1}}},
      .front = {.slots = 1},
      .demands = {1, {{.clk = 6}}}
};

static void bounds_are_told_apart(void **state)
{
    (void)state;
    const struct port_usage *const usages[] = {&first, &any, &divide};
    static const struct {
        int counts[3];
        double front, ports, unit;
        uint32_t worst;
    } cases[] = {
        {{1, 1, 0}, 0.5, 1, 0,  1},
        {{1, 3, 0}, 1,   2, 0,  3},
        {{3, 1, 0}, 1,   3, 0,  1},
        {{0, 4, 2}, 1.5, 3, 12, 3},
        {{0, 0, 0}, 0,   0, 0,  0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct port_limits limits;
        port_limits(&model, usages, cases[i].counts, 3, &limits);
        assert_true(fabs(limits.front_clk - cases[i].front) < 1e-9);
        assert_true(fabs(limits.ports_clk - cases[i].ports) < 1e-9);
        assert_true(fabs(limits.unit_clk[0] - cases[i].unit) < 1e-9);
        assert_int_equal(limits.worst, cases[i].worst);
        double all = fmax(fmax(cases[i].front, cases[i].ports), cases[i].unit);
        assert_true(fabs(limits.bound_clk - all) < 1e-9);
    }
}

// A way there and back is not counted twice, whichever instructions it has: 9 clk by two moves.
static void ways_between_registers_share_their_time(void **state)
{
    (void)state;
    enum { FORMS = 6 };
    static const struct {
        const char *form;
        double bound_clk;
    } bounds[FORMS] = {
        {"movq x r64",  8},
        {"movq r64 x",  8},
        {"kmovq k r64", 4},
        {"kmovq r64 k", 4},
        {"vmovq x r64", 6},
        {"vmovq r64 x", 6},
    };
    struct known_form forms[FORMS] = {{.npairs = 0}};
    struct known_pair pairs[FORMS];
    for (int i = 0; i < FORMS; i++) {
        pairs[i] = (struct known_pair){
            .src = "op2", .dst = "op1", .variant = "", .clk = bounds[i].bound_clk, .upper = true};
        forms[i].id.form = bounds[i].form;
        forms[i].pairs = &pairs[i];
        forms[i].npairs = 1;
    }
    struct cross cross;
    struct block_instr instr = {.in.encoding = ZYDIS_INSTRUCTION_ENCODING_LEGACY};
    const struct {
        int from, to;
        double excess_clk;
    } cases[] = {
        {PLACE_GPR,        PLACE_VEC,        3.5},
        {PLACE_VEC + 3,    PLACE_GPR + 1,    3.5},
        {PLACE_VEC,        PLACE_FLAGS_C,    3.5},
        {PLACE_FLAGS_REST, PLACE_GPR,        0  },
        {PLACE_MASK,       PLACE_GPR,        1.5},
        {PLACE_MASK,       PLACE_FLAGS_REST, 1.5},
        {PLACE_GPR,        PLACE_MMX,        0  }, // not measured
        {PLACE_MASK,       PLACE_VEC,        0  }, // not measured
        {PLACE_VEC,        PLACE_MASK,       5  }, // back by a general register
        {PLACE_VEC,        PLACE_VEC + 1,    0  },
        {PLACE_X87,        PLACE_GPR,        0  },
        {PLACE_GPR,        PLACE_NONE,       0  },
    };
    cross_read(forms, FORMS, &cross);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        double clk = cross_excess_clk(&cross, &instr, "SSE2", cases[i].from, cases[i].to);
        assert_true(fabs(clk - cases[i].excess_clk) < 1e-9);
    }
    instr.in.encoding = ZYDIS_INSTRUCTION_ENCODING_VEX;
    assert_true(fabs(cross_excess_clk(&cross, &instr, "AVX", PLACE_GPR, PLACE_VEC) - 2.5) < 1e-9);
    cross_read(NULL, 0, &cross);
    assert_true(cross_excess_clk(&cross, &instr, "AVX", PLACE_GPR, PLACE_VEC) == 0);
}

static int loops_on(const char *text, struct code_path *path, struct code_loops *loops)
{
    uint8_t *code = arena_alloc(&arena, BENCH_CODE_MAX);
    struct err err = {0};
    size_t len = assemble(text, 64, code);
    assert_true(len > 0);
    const struct code_function function = {code, len, 0x1000, 64};
    int status = code_loops_find(&function, path, loops, &arena, &err);
    return status == 0 ? code_loops_flow(&function, loops, &arena, &err) : status;
}

static int loops_of(const char *text, struct code_loops *loops)
{
    return loops_on(text, NULL, loops);
}

// Only what is one block: not around others, not with a call or a branch within. Branches out of it
// are exits, and branches from outside may enter it anywhere.
static void loops_are_found(void **state)
{
    (void)state;
    struct code_loops loops;
    assert_int_equal(loops_of("xor eax, eax\na:\ninc eax\ncmp eax, 9\njnz a\nret\n", &loops), 0);
    assert_int_equal(loops.n, 1);
    assert_int_equal(loops.others, 0);
    assert_int_equal(loops.loops[0].offset, 2);
    assert_int_equal(loops.loops[0].end, 9);
    assert_int_equal(loops.loops[0].len, 7);
    assert_int_equal(loops.loops[0].instrs, 3);
    assert_int_equal(loops.loops[0].places[2], 7);
    assert_true(loops.loops[0].whole);
    // The outer one is none; both inner ones are.
    assert_int_equal(
        loops_of("o:\na:\ndec eax\njnz a\nb:\nnop\ndec ecx\njnz b\ndec edx\njnz o\n", &loops), 0);
    assert_int_equal(loops.n, 2);
    assert_int_equal(loops.others, 1);
    assert_int_equal(loops.loops[1].instrs, 3);
    assert_int_equal(loops_of("a:\ndec eax\njz e\nadd ecx, 2\njmp a\ne:\nret\n", &loops), 0);
    assert_int_equal(loops.n, 1);
    assert_int_equal(loops.loops[0].instrs, 4);
    assert_true(loops.loops[0].whole);
    assert_int_equal(loops_of("jmp m\na:\ninc ecx\nm:\ndec eax\njnz a\nret\n", &loops), 0);
    assert_int_equal(loops.n + 10 * loops.others, 1);
    assert_int_equal(loops_of("a:\ncall rbx\ndec eax\njnz a\nret\n", &loops), 0);
    assert_int_equal(loops.n + 10 * loops.others, 10);
    assert_int_equal(loops_of("a:\njmp rbx\ndec eax\njnz a\nret\n", &loops), 0);
    assert_int_equal(loops.n + 10 * loops.others, 10);
    assert_int_equal(loops_of("dec eax\nje e\nnop\ne:\nret\n", &loops), 0);
    assert_int_equal(loops.n + loops.others, 0);
    assert_int_equal(loops_of("nop\ndb 6\n", &loops), -1);
}

// Returns the rounds that one execution of each instruction at these offsets would be, as the
// loop's own counts say.
static int rounds_of(const struct code_loop *loop, const size_t *offsets, int n)
{
    int rounds = 0;
    for (int i = 0; i < n; i++)
        for (int r = 0; r < loop->nrounds; r++)
            rounds += offsets[i] == loop->rounds[r].offset ? loop->rounds[r].sign : 0;
    return rounds;
}

// Rounds are those of all ways, wherever a branch of one of them goes back to.
static void rounds_are_of_all_ways(void **state)
{
    (void)state;
    static const char plain[] = "xor eax, eax\na:\ninc eax\ncmp eax, 9\njnz a\nret\n",
                      two_heads[] = "jmp m\na:\nnot edx\ndec eax\njz e\nm:\ntest eax, 2\njnz a\n"
                                    "dec eax\njnz m\ne:\nret\n",
                      middle[] = "jmp m\na:\ninc ecx\nm:\ndec eax\njnz a\nret\n",
                      padded[] = "jmp m\nnop\na:\ninc ecx\nm:\ndec eax\njnz a\nret\n",
                      guarded[] = "test eax, eax\njz m\na:\ninc ecx\nm:\ndec eax\njnz a\nret\n",
                      mixed[] = "test eax, eax\njz m\na:\ninc ecx\nm:\ndec eax\njz m\n"
                                "dec eax\njnz a\nret\n";
    static const struct {
        const char *text;
        int loop;
        size_t on, by; // offsets of instructions that count, or 0
        int nrounds;   // 0: the first instruction counts
        bool entered;
    } cases[] = {
        {plain,     0, 0, 0,  0, false},
 // Both ways meet in m, and go back to it from the jumps before it and at the end.
        {two_heads, 0, 6, 17, 2, false},
        {two_heads, 1, 0, 0,  0, false},
 // A round ends before the middle; what a compiler fills in leads nowhere.
        {middle,    0, 2, 0,  1, false},
        {padded,    0, 3, 0,  1, false},
 // Entered at two places: by the call alone, or by rounds of another way, too.
        {guarded,   0, 0, 0,  0, false},
        {mixed,     1, 0, 0,  0, true },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct code_loops loops;
        struct code_path path;
        struct err err = {0};
        assert_int_equal(code_path_parse("none", &path, &err), 0);
        assert_int_equal(loops_on(cases[i].text, &path, &loops), 0);
        const struct code_loop *loop = &loops.loops[cases[i].loop];
        const size_t offsets[] = {cases[i].on, cases[i].by};
        assert_int_equal(loop->nrounds, cases[i].nrounds);
        assert_int_equal(rounds_of(loop, offsets, 2), cases[i].nrounds);
        assert_int_equal(loop->entered, cases[i].entered);
    }
}

// Reads the instructions of a loop that was found.
static void read_loop(const struct code_loop *loop, struct block *block)
{
    struct err err = {0};
    assert_int_equal(block_read(loop->code, loop->len, 64, block, &arena, &err), 0);
    assert_int_equal(block->n, loop->instrs);
}

// A loop with two ways.
static const char picking[] = "a:\ntest eax, eax\njz z\nimul ecx, edx\njmp j\nz:\n"
                              "add ecx, [rel a + 0x200]\nj:\ndec eax\njnz a\nret\n";

// The function's code without that which the way does not have: distances relative to rip stay
// right, jumps lead on or out.
static void loops_follow_a_path(void **state)
{
    (void)state;
    struct code_loops loops;
    struct code_path path;
    struct block block;
    struct err err = {0};
    assert_int_equal(loops_of(picking, &loops), 0);
    assert_int_equal(loops.n + 10 * loops.others, 10);

    assert_int_equal(code_path_parse("none", &path, &err), 0);
    assert_int_equal(loops_on(picking, &path, &loops), 0);
    assert_int_equal(loops.n + 10 * loops.others, 1);
    assert_false(loops.loops[0].whole);
    read_loop(&loops.loops[0], &block);
    assert_int_equal(block.n, 6);
    assert_int_equal(block.instrs[2].in.mnemonic, ZYDIS_MNEMONIC_IMUL);
    assert_true(block.instrs[1].in.raw.imm[0].value.s < -4); // out of it
    assert_int_equal(block.instrs[3].in.raw.imm[0].value.s, 0);
    assert_int_equal(block.instrs[5].in.raw.imm[0].value.s, -(int)loops.loops[0].len);

    // By offset and by address.
    for (int i = 0; i < 2; i++) {
        assert_int_equal(code_path_parse(i ? " 1002 " : "+2", &path, &err), 0);
        assert_int_equal(loops_on(picking, &path, &loops), 0);
        assert_int_equal(loops.n, 1);
        read_loop(&loops.loops[0], &block);
        assert_int_equal(block.n, 5);
        assert_int_equal(block.instrs[1].in.raw.imm[0].value.s, 0);
        assert_int_equal(loops.loops[0].places[2], 9);
        assert_int_equal((int)block.instrs[2].offset + block.instrs[2].in.length +
                             (int)block.instrs[2].in.raw.disp.value,
                         0x200);
        assert_int_equal(code_path_check(&path, &err), 0);
    }

    // A path that goes nowhere.
    assert_int_equal(code_path_parse("+4", &path, &err), 0);
    assert_int_equal(loops_on(picking, &path, &loops), 0);
    assert_int_equal(code_path_check(&path, &err), -1);
    assert_string_equal(err.text, "--path: at +0x4 is no branch on a condition");
    static const char after[] = "a:\ndec eax\njnz a\njz e\nnop\ne:\nret\n";
    assert_int_equal(code_path_parse("+4", &path, &err), 0);
    assert_int_equal(loops_on(after, &path, &loops), 0);
    assert_int_equal(code_path_check(&path, &err), -1);
    assert_non_null(strstr(err.text, "no loop passes the branch at +0x4"));
    // A loop after those that are read: 64 of four bytes each are before it.
    static const char many[] = "%rep 64\ndec eax\njnz $ - 2\n%endrep\n"
                               "a:\ndec eax\njz b\nnop\nb:\ndec eax\njnz a\nret\n";
    assert_int_equal(code_path_parse("+102", &path, &err), 0);
    assert_int_equal(loops_on(many, &path, &loops), 0);
    assert_int_equal(loops.n, CODE_LOOPS_MAX);
    assert_int_equal(code_path_check(&path, &err), -1);
    assert_non_null(strstr(err.text, "in a loop after the first 64 of the function"));
    static const char *const wrong[] = {"",     "x",   "+",  "1,",
                                        "1,,2", "1;2", "-1", "11111111111111111111"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_int_equal(code_path_parse(wrong[i], &path, &err), -1);
}

// Distances relative to rip are those from the loop's begin, wherever that is in the function.
static void addresses_begin_with_the_loop(void **state)
{
    (void)state;
    struct code_loops loops;
    struct code_path path;
    struct block block;
    struct err err = {0};
    char *later = xasprintf("nop\n%s", picking);
    assert_int_equal(code_path_parse("+3", &path, &err), 0);
    assert_int_equal(loops_on(later, &path, &loops), 0);
    free(later);
    assert_int_equal(loops.n, 1);
    assert_int_equal(loops.loops[0].offset, 1);
    read_loop(&loops.loops[0], &block);
    assert_int_equal((int)block.instrs[2].offset + block.instrs[2].in.length +
                         (int)block.instrs[2].in.raw.disp.value,
                     0x200);
}

// Jumps whose distance outgrows a byte are written with four.
static void jumps_of_a_path_grow(void **state)
{
    (void)state;
    struct code_loops loops;
    struct code_path path;
    struct block block;
    struct err err = {0};
    assert_int_equal(code_path_parse("none", &path, &err), 0);
    assert_int_equal(loops_on("a:\ntimes 140 nop\ntest eax, eax\njz z\nnop\nz:\ndec ecx\n"
                              "jnz near a\nret\n",
                              &path, &loops),
                     0);
    assert_int_equal(loops.n, 1);
    read_loop(&loops.loops[0], &block);
    assert_int_equal(block.instrs[141].in.length, 6);
    assert_int_equal(block.instrs[141].in.mnemonic, ZYDIS_MNEMONIC_JZ);
}

static int fused(const struct property_values *measured, const char *text)
{
    struct block block;
    struct err err = {0};
    assert_int_equal(read_text(text, 64, &block, &err), 0);
    return fuse_pair(measured, &block.instrs[block.n - 2], &block.instrs[block.n - 1]);
}

static void pairs_are_fused_as_measured(void **state)
{
    (void)state;
    struct property_value values[] = {
        {"cmp",     4,  1.0 },
        {"cmp",     0,  1.2 },
        {"cmp_imm", 4,  1.01},
        {"cmp_mem", 4,  1.19},
        {"add_reg", 12, 1.0 },
        {"add",     12, 1.2 },
    };
    struct property_values measured = {values, ARRAY_LEN(values)};
    assert_int_equal(fused(&measured, "x: cmp eax, ecx\njz x\n"), 1);
    assert_int_equal(fused(&measured, "x: cmp rax, rcx\njnz near x\n"), 1); // the opposite
    assert_int_equal(fused(&measured, "x: cmp eax, ecx\njo x\n"), 0);
    assert_int_equal(fused(&measured, "x: cmp eax, 5\njz x\n"), 1);
    assert_int_equal(fused(&measured, "x: cmp eax, [rbx]\njz x\n"), 0);
    assert_int_equal(fused(&measured, "x: cmp dword [rbx], 5\njz x\n"), -1);
    assert_int_equal(fused(&measured, "x: add eax, ecx\njl x\n"), 1);
    assert_int_equal(fused(&measured, "x: add eax, 1\njl x\n"), 0);
    assert_int_equal(fused(&measured, "x: sub eax, ecx\njl x\n"), -1);
    assert_int_equal(fused(&measured, "x: cmp eax, ecx\njl x\n"), -1); // that condition
    assert_int_equal(fused(&measured, "x: cmp eax, ecx\njrcxz x\n"), -1);
    // A CPU that shows no difference says nothing for fusion.
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        values[i].y = 1.2;
    assert_int_equal(fused(&measured, "x: cmp eax, ecx\njz x\n"), 0);
    measured.n = 0;
    assert_int_equal(fused(&measured, "x: cmp eax, ecx\njz x\n"), -1);
}

// A CPU that handles six instructions per cycle, but takes a quarter longer for code with more than
// 16 in a piece.
static void dense_code_takes_longer(void **state)
{
    (void)state;
    struct property_value values[60];
    int n = 0;
    for (int slots = 8; slots <= 30; slots += 2) {
        values[n++] = (struct property_value){"even", slots, slots / 6.0};
        values[n++] = (struct property_value){"mixed", slots, slots / 6.0 * (slots > 16 ? 1.5 : 1)};
    }
    struct front_density density;
    front_read(values, n, &density);
    const struct front_instr dense[] =
        {
            {3, 1},
            {3, 1},
            {3, 1}
    },
                             light[] = {{6, 1}, {5, 1}, {4, 1}};
    assert_true(fabs(front_clk(&density, dense, 3) - 0.5 * 1.25) < 0.01);
    assert_true(fabs(front_clk(&density, light, 3) - 0.5) < 0.01);
    // One of 20 slots: more than was measured, and pieces with nothing in them.
    const struct front_instr micro = {122, 40};
    assert_true(fabs(front_clk(&density, &micro, 1) - 40 / 6.0 * 1.25) < 0.01);
    const struct front_instr thin = {15, 1};
    assert_true(fabs(front_clk(&density, &thin, 1) - 1 / 6.0) < 0.01);
    front_read(NULL, 0, &density);
    assert_true(isnan(front_clk(&density, dense, 3)));
}

static double banks_of(const struct banks *banks, const char *text)
{
    struct block block;
    struct err err = {0};
    int nloads;
    assert_int_equal(read_text(text, 64, &block, &err), 0);
    block_link_memory(&block);
    return banks_clk(banks, &block, &nloads);
}

// A CPU on which loads wait for each other if they lie 64 bytes or a multiple of it apart.
static void loads_share_banks(void **state)
{
    (void)state;
    struct property_value values[] = {
        {"", 0,   0.5 },
        {"", 8,   0.33},
        {"", 64,  0.5 },
        {"", 72,  0.33},
        {"", 128, 0.5 }
    };
    static const struct {
        const char *code;
        double clk;
    } cases[] = {
        {"mov rax, [rbx]; mov rcx, [rbx+64]",                          1.0},
        {"mov rax, [rbx]; mov rcx, [rbx+68]",                          1.0}, // half of it
        {"mov eax, [rbx]; mov ecx, [rbx+68]",                          0.5},
        {"mov rax, [rbx+60]; mov ecx, [rsi]",                          1.0}, // goes on
        {"mov rax, [rbx]; mov rcx, [rsi+128]; mov rdx, [rbx]",         1.5},
        {"mov rax, [rbx]; mov rcx, [rbx+72]; mov rdx, [rbx]",          1.0}, // of one place
        {"mov rax, [rbx]; mov rcx, [rax]",                             1.0}, // pointers begin lines
        {"mov eax, [rbx]; mov rcx, [rax]",                             0.5}, // numbers do not
        {"mov rax, [rbx]; mov rcx, [rsi+rdi*8]",                       0.5},
        {"mov rax, [rbx]; mov rcx, [rax]; mov [rbx], rdx",             0.5}, // a new one each time
        {"mov rax, [rbx]; mov rcx, [rsi+64]; add rbx, 8",              0.5}, // in other banks
        {"mov rax, [rbx]; mov rcx, [rsi+64]; add rbx, 64",             1.0},
        {"mov [rbx], rax; mov rcx, [rbx+64]",                          0.5},
        {"movdqu xmm0, [rbx]; movdqu xmm1, [rbx+64]",                  0  }, // not measured
        {"mov rax, [rbx]; nop dword [rsi+64]; mov rax, [rel $ + 100]", 0.5},
    };
    struct banks banks;
    banks_read(values, ARRAY_LEN(values), &banks);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (fabs(banks_of(&banks, cases[i].code) - cases[i].clk) > 1e-9)
            fail_msg("%s: %f", cases[i].code, banks_of(&banks, cases[i].code));
    // Loads of one line do not wait, or it was not measured whether they do.
    for (int without = 0; without < 2; without++) {
        values[0].y = 0.33;
        banks_read(values + without, (int)ARRAY_LEN(values) - without, &banks);
        assert_true(banks_of(&banks, "mov rax, [rbx]; mov rcx, [rbx]") == 0);
        assert_true(banks_of(&banks, "mov rax, [rbx]; mov rcx, [rbx+64]") == 1);
    }
    // Nothing is known of banks if other distances wait, or none does.
    values[3].y = 0.5;
    banks_read(values, ARRAY_LEN(values), &banks);
    assert_true(isnan(banks.load_clk));
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        values[i].y = 0.25;
    banks_read(values, ARRAY_LEN(values), &banks);
    assert_true(isnan(banks.load_clk));
    banks_read(NULL, 0, &banks);
    assert_true(isnan(banks.load_clk));
}

// Counts the loads that read a part of what a store of the copy before wrote.
static int narrow_loads(const char *text, const char *init)
{
    struct block block;
    struct err err = {0};
    uint8_t code[512];
    assert_int_equal(read_text(text, 64, &block, &err), 0);
    if (init) {
        char *directory = scratch_begin(&err);
        assert_non_null(directory);
        uint8_t *bytes = arena_alloc(&arena, BENCH_CODE_MAX);
        long len = bench_assemble(directory, init, 64, bytes, &err);
        scratch_end(directory, false);
        assert_true(len >= 0 && len < (long)sizeof code);
        memcpy(code, bytes, (size_t)len);
        block_hold_initial(&block, code, (size_t)len);
    }
    block_link_memory(&block);
    int narrow = 0;
    for (int i = 0; i < block.n; i++)
        for (int t = 0; t < block.instrs[i].ntouches; t++) {
            const struct block_touch *touch = &block.instrs[i].touches[t];
            narrow += touch->part == PART_DATA && !touch->write && touch->writer >= 0 &&
                      (touch->forward == FORWARD_NARROW || touch->forward == FORWARD_BEFORE);
        }
    return narrow;
}

#define BY_RCX "mov eax, [rbx]; mov [rbx], eax; add rbx, rcx"
#define BY_2_RCX "mov eax, [rbx]; mov [rbx], eax; lea rbx, [rbx+rcx*2]"
#define BY_4_RCX "mov eax, [rbx]; mov [rbx], eax; lea rbx, [rbx+rcx*4]"
#define BY_INDEX "mov eax, [rdi+rdx]; mov [rdi+rdx], eax; add rdx, 1"
#define TWO "mov eax, [rdi+2]; mov [rsi], eax"
#define TWO_BY_RCX "mov eax, [rdi+2]; mov [rsi], eax; add rsi, rcx"

static void addresses_begin_where_init_says(void **state)
{
    (void)state;
    static const struct {
        const char *code, *init;
        int narrow;
    } cases[] = {
        {BY_RCX,     NULL,                                0},
        {BY_RCX,     "",                                  1},
        {BY_RCX,     "mov rcx, 4",                        0},
        {BY_RCX,     "mov ecx, 2; mov rdx, [r14]",        1},
        {BY_RCX,     "mov rcx, [r14]",                    0},
        {BY_RCX,     "mov rcx, 2; x: dec edx; jnz x",     0},
        {BY_RCX,     "x: dec edx; jnz x; mov rcx, 2",     1},
        {BY_2_RCX,   "",                                  1},
        {BY_4_RCX,   "",                                  0},
        {BY_INDEX,   "lea rdi, [r14+rdx*8]",              1},
        {TWO_BY_RCX, "lea rdi, [r14]; lea rsi, [r14]",    0},
        {TWO,        "lea rdi, [r14]; lea rsi, [r14]",    1},
        {TWO,        "lea rdi, [r14]; lea rsi, [r14+64]", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (narrow_loads(cases[i].code, cases[i].init) != cases[i].narrow)
            fail_msg("%s with %s", cases[i].code, cases[i].init ? cases[i].init : "nothing");
}

static double flags_clk(const struct bypass *bypass, const char *text)
{
    struct block block;
    struct err err = {0};
    assert_int_equal(read_text(text, 64, &block, &err), 0);
    return bypass_flags_clk(bypass, &block.instrs[0], &block.instrs[1]);
}

static void producers_of_flags_are_told_apart(void **state)
{
    (void)state;
    const struct property_value values[] = {
        {"condition",          1, 2  },
        {"logic_condition",    1, 1.8},
        {"logic_set",          1, 1  },
        {"fcompare_condition", 1, 4  },
    };
    struct bypass bypass;
    struct err err;
    assert_int_equal(
        bypass_read_classes(path_data("cpuinfo/instruction_classes.csv"), &bypass, &err), 0);
    bypass_read(values, ARRAY_LEN(values), &bypass);
    assert_true(fabs(flags_clk(&bypass, "test eax, eax; cmovz ecx, edx") - 0.8) < 1e-9);
    assert_true(flags_clk(&bypass, "and eax, 7; setz cl") == 0);
    assert_true(flags_clk(&bypass, "cmp eax, 7; cmovz ecx, edx") == 0);
    assert_true(fabs(flags_clk(&bypass, "vucomiss xmm0, xmm1; setp cl") - 3) < 1e-9);
    bypass_read(NULL, 0, &bypass);
    assert_true(isnan(flags_clk(&bypass, "vucomiss xmm0, xmm1; setp cl")));
}

// The table of classes, by some of each.
static void instructions_have_classes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum bypass_class class;
    } cases[] = {
        {"lea eax, [rcx+1]",         BYPASS_SUM     },
        {"xor eax, ecx",             BYPASS_LOGIC   },
        {"comisd xmm0, xmm1",        BYPASS_FCOMPARE},
        {"addss xmm0, xmm1",         BYPASS_FADD    },
        {"vhsubpd ymm0, ymm1, ymm2", BYPASS_FADD    },
        {"ror eax, 3",               BYPASS_SHIFT   },
        {"shlx eax, ecx, edx",       BYPASS_SHIFT   },
        {"sbb eax, ecx",             BYPASS_CARRY   },
        {"shld eax, ecx, 3",         BYPASS_MULTIPLY},
        {"cmovnbe eax, ecx",         BYPASS_SELECT  },
        {"setns al",                 BYPASS_SET     },
        {"mulps xmm0, xmm1",         BYPASS_OTHER   },
        {"paddd xmm0, xmm1",         BYPASS_OTHER   },
    };
    struct bypass bypass;
    struct err err;
    assert_int_equal(
        bypass_read_classes(path_data("cpuinfo/instruction_classes.csv"), &bypass, &err), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct block block;
        assert_int_equal(read_text(cases[i].text, 64, &block, &err), 0);
        if (bypass_class(&bypass, &block.instrs[0]) != cases[i].class)
            fail_msg("%s", cases[i].text);
    }
}

static void bad_classes_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *row, *said;
    } cases[] = {
        {"summe,add",              "'summe' is no class of instructions"},
        {"sum,add\ncarry,adc add", "'add' has two classes"              },
        {"fadd,addpz",             "'addpz' names no mnemonic"          },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char path[] = "/tmp/latput-classes-XXXXXX";
        FILE *file = fdopen(mkstemp(path), "w");
        struct bypass bypass;
        struct err err;
        assert_non_null(file);
        fprintf(file, "class,mnemonics\n%s\n", cases[i].row);
        fclose(file);
        assert_int_equal(bypass_read_classes(path, &bypass, &err), -1);
        unlink(path);
        assert_non_null(strstr(err.text, cases[i].said));
    }
}

static void taken_jumps_have_their_time(void **state)
{
    (void)state;
    struct property_value values[] = {
        {"jmp", 4,    1.02},
        {"jcc", 4,    1.1 },
        {"jcc", 8192, 6   },
    };
    struct property_values measured = {values, ARRAY_LEN(values)};
    assert_true(fabs(fuse_taken_clk(&measured) - 1.02) < 0.03);
    measured.n = 0;
    assert_true(isnan(fuse_taken_clk(&measured)));
}

// Every second random branch is predicted wrong; the least counts.
static void mispredicted_branches_have_their_cost(void **state)
{
    (void)state;
    struct property_value values[] = {
        {"constant", 8,  0.6 },
        {"constant", 32, 1.2 },
        {"random",   8,  12.9},
        {"random",   32, 12.5},
        {"random",   64, 1   },
    };
    struct property_values measured = {values, ARRAY_LEN(values)};
    assert_true(fabs(fuse_mispredicted_clk(&measured) - 22.6) < 1e-6);
    measured.n = 2;
    assert_true(isnan(fuse_mispredicted_clk(&measured)));
}

#define ADD "vpaddd xmm0, xmm0, xmm1;"
#define ADD_TO_THIRD "vpaddd xmm0, xmm1, xmm0;"

static double chain_of(struct explain_table *table, const char *text,
                       const struct port_model *ports)
{
    struct explanation explanation;
    struct block block;
    struct err err = {0};
    assert_int_equal(read_text(text, 64, &block, &err), 0);
    table->model = ports;
    explain_predict(table, &block, &explanation, &arena);
    return explanation.chain.clk;
}

// An addition takes two cycles directly after the one that it waits for, 1.1 in a filled chain, and
// 1.5 at most from its third operand.
static void chains_are_as_dense_as_they_are(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const struct port_model *ports; // four slots per cycle
        double clk;
    } cases[] = {
        {ADD,                                      &model, 2  },
        {ADD "nop; nop",                           &model, 2  },
        {ADD "nop; nop; nop",                      &model, 1.1},
        {"nop; nop;" ADD "nop",                    &model, 1.1},
        {ADD "nop; nop; nop",                      NULL,   2  },
        {ADD ADD "nop; nop; nop; nop; nop; nop",   &model, 3.1},
        {ADD "nop; nop; nop;" ADD "nop; nop; nop", &model, 2.2},
        {ADD_TO_THIRD,                             &model, 1.5},
        {ADD_TO_THIRD "nop; nop; nop",             &model, 1.5},
    };
    struct known_pair pairs[] = {
        {.src = "op2",  .dst = "op1",  .variant = "", .clk = 1.1,     .dense_clk = 2},
        { .src = "op3", .dst = "op1", .variant = "",    .clk = 1.5, .dense_clk = 3,  .upper = true},
    };
    const struct known_form form = {
        .pairs = pairs, .npairs = ARRAY_LEN(pairs), .at_rename = "", .uops = 1};
    const struct explain_from nothing = {.store = NULL};
    struct explain_table table;
    struct block block;
    struct err err = {0};
    assert_int_equal(read_text(ADD "nop", 64, &block, &err), 0);
    assert_int_equal(table_load(&nothing, &block, 1, &table, &err), 0);
    for (int i = 0; i < table.nrows; i++)
        if (strcmp(table.rows[i].row->form, "vpaddd x x x") == 0)
            table.rows[i].form = &form;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        double clk = chain_of(&table, cases[i].text, cases[i].ports);
        if (!(fabs(clk - cases[i].clk) < 1e-9))
            fail_msg("%s: %.3f", cases[i].text, clk);
    }
    table_free(&table);
}

// A value that goes through memory as fast as stores follow each other is kept like a register.
static void kept_values_cost_nothing(void **state)
{
    (void)state;
    static const struct {
        double store_rthroughput_clk, clk;
    } cases[] = {
        {0.5,  1  }, // of inc alone
        {0.25, 1.5},
    };
    struct known_pair store_pair = {
        .src = "op2", .dst = "op1.data", .variant = "", .clk = 0.5, .upper = true};
    struct known_pair load_pair = {
        .src = "op2.data", .dst = "op1", .variant = "", .clk = 0.5, .upper = true};
    struct known_form store = {.pairs = &store_pair, .npairs = 1, .at_rename = "", .uops = 1},
                      load = {.pairs = &load_pair, .npairs = 1, .at_rename = "", .uops = 1};
    const struct explain_from nothing = {.store = NULL};
    struct explain_table table;
    struct block block;
    struct err err = {0};
    static const char code[] = "mov rax, [rbx]; inc rax; mov [rbx], rax";
    assert_int_equal(read_text(code, 64, &block, &err), 0);
    assert_int_equal(table_load(&nothing, &block, 1, &table, &err), 0);
    for (int i = 0; i < table.nrows; i++)
        if (strcmp(table.rows[i].row->form, "mov m64 r64") == 0)
            table.rows[i].form = &store;
        else if (strcmp(table.rows[i].row->form, "mov r64 m64") == 0)
            table.rows[i].form = &load;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        store.rthroughput_clk = cases[i].store_rthroughput_clk;
        double clk = chain_of(&table, code, &model);
        if (!(fabs(clk - cases[i].clk) < 1e-9))
            fail_msg("stores of %g clk: %.3f", cases[i].store_rthroughput_clk, clk);
    }
    table_free(&table);
}

// The stack pointer of push and pop, addresses of several parts, and memory that the core cannot
// tell by the names of registers take what was measured; every instruction takes a cycle.
static void addresses_take_what_was_measured(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double clk, unknown_clk; // without the property
    } cases[] = {
        {"add rsp, 8; pop rbx; pop rbp",           2,   0},
        {"pop rcx; lea rsp, [rsp-8]",              1,   0},
        {"lea rsp, [rbp-40]; pop rbx; pop rbp",    5,   0},
        {"mov rax, [rax]",                         4,   1},
        {"mov rax, [r14+rax]",                     4,   1},
        {"mov rax, [r14+rax*8]",                   5,   1},
        {"mov rax, [r14+rax+8]",                   4.5, 1},
        {"lea rax, [r14+rax*8+8]",                 1,   1},
        {"add qword [rbx+rcx*8], 1",               1,   1},
        {"add qword [0x1000], 1",                  7,   1},
        {"mov eax, ecx; add qword [rbx+rax*8], 1", 6,   1},
    };
    const struct explain_from nothing = {.store = NULL};
    struct explain_table table;
    struct block block;
    struct err err = {0};
    assert_int_equal(read_text("add rax, rcx", 64, &block, &err), 0);
    assert_int_equal(table_load(&nothing, &block, 1, &table, &err), 0);
    struct bypass unknown = table.bypass, known = unknown;
    known.stack_clk = 0;
    known.stack_sum_clk = 1;
    known.load_clk = 4;
    known.load_index_clk = 0.5;
    known.load_scaled_clk = 1;
    known.forward_plain_clk = 7;
    known.forward_other_clk = 6;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        table.bypass = known;
        double clk = chain_of(&table, cases[i].text, &model);
        table.bypass = unknown;
        double none = chain_of(&table, cases[i].text, &model);
        if (!(fabs(clk - cases[i].clk) < 1e-9) || !(fabs(none - cases[i].unknown_clk) < 1e-9))
            fail_msg("%s: %.3f and %.3f", cases[i].text, clk, none);
    }
    table_free(&table);
}

// An idiom waits for no register, but for the flags that it uses.
static void idioms_wait_for_flags(void **state)
{
    (void)state;
    struct block block;
    struct err err = {0};
    int flags = 0, others = 0;
    assert_int_equal(read_text("sbb eax, eax", 64, &block, &err), 0);
    block_break_inputs(&block.instrs[0]);
    for (int t = 0; t < block.instrs[0].ntouches; t++) {
        flags += !block.instrs[0].touches[t].write && block.instrs[0].touches[t].part == PART_FLAGS;
        others +=
            !block.instrs[0].touches[t].write && block.instrs[0].touches[t].part != PART_FLAGS;
    }
    assert_int_equal(flags, 1);
    assert_int_equal(others, 0);
}

// Pointers that cannot be compared lead to different places, or to one if that is asked for. What
// the stack pointer leads to is apart from others.
static void unknown_pointers_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *code;
        bool unknown;
    } cases[] = {
        {"mov [rdx], rax; add rdx, 8; mov rax, [rsi]; add rsi, 8", true },
        {"mov [rdx], rax; mov rax, [rdx+8]",                       false},
        {"mov [rsp], rax; mov rax, [rsi]",                         false},
        {"mov rax, [rsi]; mov rcx, [rdx]",                         false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (int meets = 0; meets < 2; meets++) {
            struct block block;
            struct err err = {0};
            assert_int_equal(read_text(cases[i].code, 64, &block, &err), 0);
            block.meets = meets;
            block_link_memory(&block);
            int linked = 0;
            for (int k = 0; k < block.n; k++)
                for (int t = 0; t < block.instrs[k].ntouches; t++) {
                    const struct block_touch *touch = &block.instrs[k].touches[t];
                    linked += touch->part == PART_DATA && !touch->write && touch->writer >= 0 &&
                              touch->forward == FORWARD_INSIDE;
                }
            assert_int_equal(block.memory_unknown, cases[i].unknown);
            assert_int_equal(linked, meets && cases[i].unknown);
        }
}

// Returns the limit of six ports for instructions of one µop on any of them; the second has three.
static struct again_limit again_of(const char *text, const struct again *again, bool narrow)
{
    static const struct port_model six = {
        .width = 8, .nports = 6, .nclasses = 2, .classes = {{.set = 7}, {.set = 63}}
    };
    static struct explain_instr instrs[8];
    static struct bypass bypass;
    struct block block;
    struct err err = {0};
    if (read_text(text, 64, &block, &err) != 0)
        fail_msg("%s: %s", text, err.text);
    assert_true(block.n <= (int)ARRAY_LEN(instrs));
    for (int i = 0; i < block.n; i++)
        instrs[i] = (struct explain_instr){
            .code = &block.instrs[i],
            .usage = {.uses = {1, 1, {{narrow && i == 1 ? 7 : 63, 1}}}, .front = {.slots = 1}}
        };
    const struct explanation explanation = {
        .block = block, .instrs = instrs, .model = &six, .bypass = &bypass};
    return again_find(&explanation, again, &arena);
}

// Results that are used at once cost turns of full ports, as far as that was measured.
static void results_used_at_once_cost_turns(void **state)
{
    (void)state;
    static const struct property_value values[] = {
        {"apart",     1, 3   },
        {"after_1",   1, 3.2 },
        {"after_4",   1, 3.17},
        {"after_8",   1, 3.1 },
        {"after_16",  1, 3.05},
        {"two",       1, 3.35},
        {"two_apart", 1, 3.05},
        {"chain",     1, 3.25}
    };
    static const struct {
        const char *code;
        bool narrow;
        double again_uops; // 6 ports times the cycles
    } cases[] = {
        {"mov eax, 1; add eax, ecx",                       false, 1.2       },
        {"mov eax, 1; mov edx, 1; lea ecx, [rax+1]",       false, 1.2 - 0.06},
        {"mov eax, 1; mov ecx, 1; add eax, ecx",           false, 1.8       },
        {"mov eax, 1; lea edx, [rax+1]; lea ecx, [rdx+1]", false, 1.2 + 0.3 },
        {"add eax, 1",                                     false, 0         }, // the chain itself
        {"mov eax, 1; mov ecx, [rax]",                     false, 0         }, // an address
        {"pop rax; pop rcx",                               false, 0         }, // of the front end
        {"lea eax, [rbx+1]; shl eax, 3",                   true,  0         }, // narrow ports
        {"lea eax, [rbx+1]; shl eax, 3; mov edx, 1",       true,  1.2       },
        {"test ebx, ebx; setz al",                         false, 1.2       }, // flags
    };
    struct again again;
    again_read(values, ARRAY_LEN(values), &again);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct again_limit limit = again_of(cases[i].code, &again, cases[i].narrow);
        if (fabs(limit.again_uops - cases[i].again_uops) > 0.001)
            fail_msg("%s: %g turns in vain", cases[i].code, limit.again_uops);
        if (limit.again_uops > 0)
            assert_true(limit.set == 63 &&
                        fabs(limit.clk - (limit.uops + limit.again_uops) / 6) < 1e-9);
    }
    again_read(NULL, 0, &again);
    assert_true(again_of(cases[0].code, &again, false).set == 0);
}

// The model is wrong where no experiment explains a difference, or what it assumes of instructions.
static void the_model_doubts_itself(void **state)
{
    (void)state;
    struct explanation explanation = {
        .predicted_clk = 0.5, .limits = {{.kind = LIMIT_PORTS, .clk = 0.5}}, .nlimits = 1};
    struct explain_measured measured = {.clk = 0.76, .ntries = 2};
    assert_string_equal(explain_doubt(&explanation, &measured, &arena),
                        "the model is wrong here: the ports would allow 0.50 clk, it takes 0.76, "
                        "and no experiment tells why");
    measured.tries[1].explains = true;
    assert_null(explain_doubt(&explanation, &measured, &arena));
    explanation.meets_clk = 0.75;
    assert_non_null(strstr(explain_doubt(&explanation, &measured, &arena),
                           "as long as if loads found what stores by other pointers"));
    assert_non_null(strstr(explain_doubt(&explanation, &measured, &arena), "not tried"));
    explanation.meets_clk = (double)NAN;
    measured.ntries = 1;
    explanation.unknown = 1;
    assert_non_null(strstr(explain_doubt(&explanation, &measured, &arena), "assumed"));
    explanation.unknown = 0;
    measured.clk = 0.4;
    assert_non_null(strstr(explain_doubt(&explanation, &measured, &arena), "should take 0.50"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(kept_values_cost_nothing, free_arena),
        cmocka_unit_test_teardown(chains_are_found, free_arena),
        cmocka_unit_test_teardown(bad_blocks_are_refused, free_arena),
        cmocka_unit_test_teardown(instructions_are_matched, free_arena),
        cmocka_unit_test_teardown(stores_are_compared, free_arena),
        cmocka_unit_test_teardown(loaded_addresses_are_followed, free_arena),
        cmocka_unit_test_teardown(addresses_take_what_was_measured, free_arena),
        cmocka_unit_test_teardown(idioms_wait_for_flags, free_arena),
        cmocka_unit_test(ways_between_registers_share_their_time),
        cmocka_unit_test_teardown(loops_are_found, free_arena),
        cmocka_unit_test_teardown(rounds_are_of_all_ways, free_arena),
        cmocka_unit_test_teardown(loops_follow_a_path, free_arena),
        cmocka_unit_test_teardown(addresses_begin_with_the_loop, free_arena),
        cmocka_unit_test_teardown(jumps_of_a_path_grow, free_arena),
        cmocka_unit_test_teardown(pairs_are_fused_as_measured, free_arena),
        cmocka_unit_test(dense_code_takes_longer),
        cmocka_unit_test_teardown(loads_share_banks, free_arena),
        cmocka_unit_test(taken_jumps_have_their_time),
        cmocka_unit_test(mispredicted_branches_have_their_cost),
        cmocka_unit_test_teardown(addresses_begin_where_init_says, free_arena),
        cmocka_unit_test_teardown(producers_of_flags_are_told_apart, free_arena),
        cmocka_unit_test_teardown(instructions_have_classes, free_arena),
        cmocka_unit_test(bad_classes_are_refused),
        cmocka_unit_test(pairs_are_compared_with_their_parts),
        cmocka_unit_test(bounds_are_told_apart),
        cmocka_unit_test_teardown(chains_are_as_dense_as_they_are, free_arena),
        cmocka_unit_test_teardown(the_model_doubts_itself, free_arena),
        cmocka_unit_test_teardown(results_used_at_once_cost_turns, free_arena),
        cmocka_unit_test_teardown(unknown_pointers_are_told, free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
