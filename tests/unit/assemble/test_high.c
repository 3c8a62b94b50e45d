// SPDX-License-Identifier: MIT
// Instructions with r16 to r31: machine code with a REX2 prefix, of each form of the lists that has
// one. Where LLVM 22 is installed, it must read the same instruction with the registers exchanged.
#include "assemble/high.h"
#include "assemble/rex2.h"
#include "list/select.h"
#include "plan/render.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/latput-test-high-XXXXXX";

static int setup(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    return rmdir(directory);
}

static struct assemble_options options(void)
{
    return (struct assemble_options){.directory = directory, .stem = "high", .bits = 64};
}

// Texts, and what they become. The bytes are those that LLVM 22 writes.
static void test_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *bytes; // bytes NULL: there is no such form
    } cases[] = {
        {"add r16, r17",                    "db 0xd5,0x58,0x01,0xc8"               },
        {"add r31d, 5",                     "db 0xd5,0x11,0x83,0xc7,0x05"          },
        {"imul r16, r17",                   "db 0xd5,0xd8,0xaf,0xc1"               },
        {"lock add qword [r31], rbx",       "db 0xf0,0xd5,0x19,0x01,0x1f"          },
        {"add r24w, 0x1234",                "db 0x66,0xd5,0x11,0x81,0xc0,0x34,0x12"},
        {"mov r19b, bl",                    "db 0xd5,0x10,0x88,0xdb"               },
        {"push r27",                        "db 0xd5,0x11,0x53"                    },
        {"bswap r18",                       "db 0xd5,0x98,0xca"                    },
        {"lea r22, [r16+r25*4+8]",          "db 0xd5,0x7a,0x8d,0x74,0x88,0x08"     },
        {"movq xmm9, r16",                  "db 0x66,0xd5,0x9c,0x6e,0xc8"          },
        {"addps xmm1, oword [r31+64]",      "db 0xd5,0x91,0x58,0x4f,0x40"          },
        {"setc r30b",                       "db 0xd5,0x91,0x92,0xc6"               },
        {"popcnt r16, qword [r30]",         "db 0xf3,0xd5,0xd9,0xb8,0x06"          },
        {"add rax, rbx",                    "add rax, rbx"                         },
        {"times 3 nop",                     "times 3 nop"                          },
        {"paddb xmm16, xmm1",               "paddb xmm16, xmm1"                    },
        {"mov r8d, 0x16\nmov rax, 0xffr16", "mov r8d, 0x16\nmov rax, 0xffr16"      },
        {"movbe r16, qword [r14]",          NULL                                   },
        {"pshufb xmm1, oword [r31]",        NULL                                   },
        {"vaddps xmm1, xmm2, oword [r31]",  NULL                                   },
        {"xsave [r31]",                     NULL                                   },
        {"add ah, byte [r31]",              NULL                                   },
        {"mov r20, qword [r21]",            NULL                                   },
        {"jmp r16",                         NULL                                   },
        {"frobnicate r16",                  NULL                                   },
        {"adc qword [r16+r17*8+r8], r18",   NULL                                   },
    };
    struct kernel_spec specs[ARRAY_LEN(cases)], *list[ARRAY_LEN(cases)];
    struct arena arena = {0};
    struct err err = {0};
    const struct assemble_options build = options();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        specs[i] = (struct kernel_spec){.init = "mov r16, rbx\n", .body = cases[i].text};
        list[i] = &specs[i];
    }
    if (high_write(list, (int)ARRAY_LEN(cases), &build, &arena, &err) != 0)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *wanted = cases[i].bytes ? cases[i].bytes : cases[i].text;
        if (strcmp(specs[i].body, wanted) != 0)
            fail_msg("%s: %s", cases[i].text, specs[i].body);
        // All of a kernel, or nothing.
        assert_string_equal(specs[i].init,
                            cases[i].bytes ? "db 0xd5,0x18,0x89,0xd8\n" : "mov r16, rbx\n");
        assert_int_equal(high_is_named(&specs[i]), !cases[i].bytes);
    }
    arena_free(&arena);
}

// Forms of the lists: their machine code with r8 to r11 and r15, and with others instead.
struct forms {
    const struct list_row **rows;
    struct kernel_spec *specs;
    struct gen_kernel *kernels;
    int n;
    struct arena arena;
};

// Not r16 for r8: LLVM 22 writes `xchg r16, rax` as it is here, but reads it as a nop.
static const int8_t exchanged[REX2_REGISTERS] = {0,  1,  2,  3,  4,  5,  6,  7,
                                                 24, 19, 30, 17, 12, 13, 14, 31};

// Returns true if a register that can be exchanged is among the operands.
static bool form_choose(const struct list_row *row, struct row_choice *choice)
{
    bool chosen = false;
    int next = 8;
    *choice = (struct row_choice){.mask = 1};
    for (int i = 0; i < row->nops; i++) {
        const struct operand *op = &row->ops[i];
        bool memory = op->kind == OPERAND_MEM, agen = op->kind == OPERAND_AGEN;
        bool gpr = op->kind == OPERAND_GPR && op->fixed < 0 && !op->high8;
        if (op->kind == OPERAND_REL || op->kind == OPERAND_MOFFS)
            return false;
        choice->ops[i] = (struct operand_choice){.base = agen ? 10 : 15,
                                                 .index = 11,
                                                 .disp = 64 * i,
                                                 .value = 5,
                                                 .reg = gpr ? next++ : i + 1};
        chosen |= memory || agen || gpr;
    }
    return chosen;
}

static bool row_is_taken(const struct list_row *row)
{
    return row->bits == 64 && row->enc == ENC_LEGACY && !row->opcode.given && !row->macro.file &&
           !row->ring0;
}

static void forms_collect(struct forms *forms, const struct selection *selection)
{
    forms->rows = xcalloc((size_t)selection->nrows, sizeof *forms->rows);
    forms->specs = xcalloc((size_t)selection->nrows, sizeof *forms->specs);
    forms->kernels = xcalloc((size_t)selection->nrows, sizeof *forms->kernels);
    for (int r = 0; r < selection->nrows; r++) {
        const struct list_row *row = selection->rows[r].row;
        struct row_choice choice;
        struct strbuf text = {0};
        if (!row_is_taken(row) || !form_choose(row, &choice))
            continue;
        row_render(row, &choice, &text);
        forms->rows[forms->n] = row;
        forms->specs[forms->n] = (struct kernel_spec){
            .init = "", .body = arena_strdup(&forms->arena, strbuf_text(&text))};
        forms->kernels[forms->n].spec = &forms->specs[forms->n];
        forms->n++;
        strbuf_free(&text);
    }
}

// Returns what LLVM's llvm-mc says of the input, with further options.
static char *llvm(const char *arguments, const char *input)
{
    static char text[4 << 20];
    char path[sizeof directory + 8], command[256];
    snprintf(path, sizeof path, "%s/in", directory);
    FILE *in = fopen(path, "w");
    assert_non_null(in);
    fputs(input, in);
    assert_int_equal(fclose(in), 0);
    snprintf(command, sizeof command,
             "llvm-mc-22 --triple=x86_64 --output-asm-variant=1 %s %s 2>/dev/null", arguments,
             path);
    FILE *out = popen(command, "r"); // NOLINT(cert-env33-c)
    assert_non_null(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    pclose(out);
    unlink(path);
    return strdup(text);
}

static void put_hex(struct strbuf *out, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        strbuf_printf(out, "0x%02x ", bytes[i]);
    strbuf_puts(out, "\n");
}

// Writes a line with the registers exchanged.
static void exchange(const char *line, size_t len, struct strbuf *out)
{
    for (size_t i = 0; i < len; i++) {
        bool begins =
            line[i] == 'r' && (i == 0 || !strchr("abcdefghijklmnopqrstuvwxyz", line[i - 1]));
        char *end;
        long number = begins ? strtol(line + i + 1, &end, 10) : 0;
        if (number >= 8 && number < REX2_REGISTERS) {
            strbuf_printf(out, "r%d", exchanged[number]);
            i = (size_t)(end - line) - 1;
        } else {
            strbuf_put(out, line + i, 1);
        }
    }
}

// Returns true if LLVM writes the text as one of these lines of bytes.
static bool is_written(const char *text, const char *lines)
{
    static const char mark[] = "encoding: [";
    struct strbuf bytes = {0};
    char *written = llvm("-x86-asm-syntax=intel --show-encoding", text);
    const char *at = strstr(written, mark);
    for (at = at ? at + strlen(mark) : ""; *at && *at != ']'; at++) {
        if (*at == ',')
            strbuf_puts(&bytes, " ");
        else
            strbuf_put(&bytes, at, 1);
    }
    strbuf_puts(&bytes, " \n");
    bool found = strstr(lines, strbuf_text(&bytes)) != NULL;
    strbuf_free(&bytes);
    free(written);
    return found;
}

// Expects each line of `high`, LLVM's reading of `bytes`, to be that of `low` with the registers
// exchanged. A few LLVM 22 reads wrongly (66 REX2.W 0F 7E as movq mm), but writes as they are.
static void expect_exchanged(const char *low, const char *high, const char *bytes)
{
    int lines = 0, misread = 0;
    for (; *low && *high; lines++) {
        size_t nlow = strcspn(low, "\n"), nhigh = strcspn(high, "\n");
        struct strbuf wanted = {0};
        exchange(low, nlow, &wanted);
        if (wanted.len != nhigh || memcmp(wanted.data, high, nhigh) != 0) {
            misread++;
            if (!is_written(strbuf_text(&wanted), bytes))
                fail_msg("%s: LLVM reads %.*s", strbuf_text(&wanted), (int)nhigh, high);
        }
        strbuf_free(&wanted);
        low += nlow + (low[nlow] == '\n');
        high += nhigh + (high[nhigh] == '\n');
    }
    printf("LLVM reads %d of %d as they are meant\n", lines - misread, lines);
    assert_true(!*low && !*high && lines > 1000 && misread < 10);
}

// Returns true if all forms of the instruction set can take REX2: those of the first two maps.
static bool always_possible(const struct list_row *row)
{
    static const char *const sets[] = {"I386", "X86_64", "CMOV", "SSE", "SSE2", "MMX", "POPCNT"};
    for (size_t i = 0; i < ARRAY_LEN(sets); i++)
        if (strcmp(row->isa, sets[i]) == 0)
            return true;
    return false;
}

static void test_lists(void **state)
{
    (void)state;
    struct selection selection = {0};
    struct forms forms = {.n = 0};
    struct strbuf low = {0}, high = {0};
    struct err err = {0};
    int possible = 0;
    assert_int_equal(select_rows(NULL, 0, NULL, &selection, &err), 0);
    forms_collect(&forms, &selection);
    const struct assemble_options build = options();
    if (assemble_lines(forms.kernels, forms.n, &build, &forms.arena, &err) != 0)
        fail_msg("%s", err.text);
    for (int i = 0; i < forms.n; i++) {
        uint8_t bytes[REX2_BYTES_MAX];
        const struct gen_code *code = forms.kernels[i].composed;
        size_t n = code ? rex2_write(code->pieces->bytes, code->pieces->len, exchanged, bytes) : 0;
        if (n == 0 && always_possible(forms.rows[i]) && code)
            fail_msg("%s: no form", forms.rows[i]->form);
        if (n == 0)
            continue;
        possible++;
        put_hex(&low, code->pieces->bytes, code->pieces->len);
        put_hex(&high, bytes, n);
    }
    printf("%d of %d legacy forms take r16 to r31\n", possible, forms.n);
    assert_true(possible > forms.n / 2);
    if (system("command -v llvm-mc-22 >/dev/null") == 0) { // NOLINT(cert-env33-c)
        char *read_low = llvm("--disassemble", strbuf_text(&low));
        char *read_high = llvm("--disassemble", strbuf_text(&high));
        expect_exchanged(read_low, read_high, strbuf_text(&high));
        free(read_low);
        free(read_high);
    }
    strbuf_free(&low);
    strbuf_free(&high);
    free(forms.rows);
    free(forms.specs);
    free(forms.kernels);
    arena_free(&forms.arena);
    selection_free(&selection);
}

// Kernels of every so many rows, asked again. All of a form that has a REX2 prefix are written:
// what helps beside the instruction has one, too.
static void test_plans(void **state)
{
    (void)state;
    enum { EVERY = 16, MOST = 4096 };
    const struct plan_params params = {
        .issue_width = 8, .tests = TESTS_LATENCY | TESTS_THROUGHPUT, .high_gprs = true};
    static struct kernel_spec *specs[MOST];
    static const struct list_row *rows[MOST];
    const struct assemble_options build = options();
    struct selection selection = {0};
    struct arena arena = {0};
    struct err err = {0};
    int n = 0, written = 0;
    assert_int_equal(select_rows(NULL, 0, NULL, &selection, &err), 0);
    for (int r = 0; r < selection.nrows; r += EVERY) {
        const struct list_row *row = selection.rows[r].row;
        struct plan plan;
        if (!row_is_taken(row))
            continue;
        assert_int_equal(plan_row(row, &params, &arena, &plan, &err), 0);
        assert_int_equal(plan_row_again(row, &params, ARRANGED_HIGH, &arena, &plan, &err), 0);
        for (int t = 0; t < plan.ntests; t++)
            for (int k = 0; k < plan.tests[t].nkernels && n < MOST; k++)
                if (high_is_named(&plan.tests[t].kernels[k])) {
                    rows[n] = row;
                    specs[n++] = &plan.tests[t].kernels[k];
                }
    }
    if (high_write(specs, n, &build, &arena, &err) != 0)
        fail_msg("%s", err.text);
    for (int i = 0; i < n; i++) {
        written += !high_is_named(specs[i]);
        if (high_is_named(specs[i]) && always_possible(rows[i]))
            fail_msg("%s, %s: not written: %s%s", rows[i]->form, specs[i]->shape, specs[i]->init,
                     specs[i]->body);
    }
    printf("%d of %d kernels are written\n", written, n);
    assert_true(n > 200 && n < MOST);
    arena_free(&arena);
    selection_free(&selection);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_plans),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
