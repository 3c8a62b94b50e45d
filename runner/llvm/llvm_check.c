// SPDX-License-Identifier: MIT
#include "llvm_check.h"

#include "list/list_mnemonic.h"
#include "llvm_run.h"
#include "util/file_write.h"
#include "util/scratch.h"
#include "util/strbuf.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK_LLVM_LEAST = 22 }; // earlier ones lack AVX10.2

// Instruction between two rows in the input and output of LLVM.
#define SEPARATOR "int3"
static const char separator_code[] = "0xcc\n";

static bool llvm_check_wants(const struct check_code *code)
{
    return code->row->opcode.given && !code->refused && code->len > 0;
}

// Writes each row as one block, which LLVM skips as a whole if it does not know it.
static void llvm_check_write(const struct check *check, struct strbuf *out)
{
    for (int i = 0; i < check->ncodes; i++) {
        const struct check_code *code = &check->codes[i];
        if (!llvm_check_wants(code))
            continue;
        for (size_t b = 0; b < code->len; b++)
            strbuf_printf(out, "%c0x%02x", b ? ',' : '[', check->bytes[code->offset + b]);
        strbuf_printf(out, "]\n%s", separator_code);
    }
}

// Copies a line without words in braces, addresses in brackets as one word each, and without
// sizes, numbers and commas: mnemonic and registers, with a blank between.
static void llvm_check_words(const char *line, size_t len, struct strbuf *out)
{
    static const char *const sizes[] = {"ptr",   "byte",    "word",    "dword",
                                        "qword", "xmmword", "ymmword", "zmmword"};
    const char *comment = memchr(line, '#', len);
    for (const char *at = line, *end = comment ? comment : line + len; at < end;) {
        size_t left = (size_t)(end - at), n = 1;
        if (*at == '{') {
            const char *close = memchr(at, '}', left);
            n = close ? (size_t)(close - at) + 1 : left;
        } else if (*at == '[') {
            const char *close = memchr(at, ']', left);
            n = close ? (size_t)(close - at) + 1 : left;
            strbuf_put(out, " ", out->len > 0);
            strbuf_put(out, at, n);
        } else if (isalnum((unsigned char)*at)) {
            while (n < left && isalnum((unsigned char)at[n]))
                n++;
            bool word = isalpha((unsigned char)*at);
            for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
                word &= strlen(sizes[i]) != n || memcmp(sizes[i], at, n) != 0;
            if (word) {
                strbuf_put(out, " ", out->len > 0);
                strbuf_put(out, at, n);
            }
        }
        at += n;
    }
}

// Writes the words that LLVM should have for a row.
static void llvm_check_expect(const struct check_code *code, struct strbuf *out)
{
    const struct list_row *row = code->row;
    char name[64];
    const char *space = strrchr(row->mnemonic, ' ');
    list_mnemonic_canonical(space ? space + 1 : row->mnemonic, name, sizeof name);
    strbuf_puts(out, name);
    for (int i = 0; i < row->nops; i++) {
        const struct operand *op = &row->ops[i];
        const struct operand_choice *choice = &code->choice.ops[i];
        if (op->kind == OPERAND_IMM)
            continue;
        strbuf_puts(out, " ");
        if (op->kind == OPERAND_MEM)
            strbuf_printf(out, "[%s]", render_gpr(choice->base, 64, false));
        else
            render_register(op->kind, op->fixed >= 0 ? op->fixed : choice->reg, op->bits, op->high8,
                            out);
    }
}

// Returns true if LLVM's words are those that are expected; conditions have several names.
static bool llvm_check_same(const char *words, const char *expected)
{
    char name[64], canonical[64];
    size_t len = strcspn(words, " ");
    snprintf(name, sizeof name, "%.*s", (int)len, words);
    list_mnemonic_canonical(name, canonical, sizeof canonical);
    size_t canonical_len = strlen(canonical);
    return strncmp(expected, canonical, canonical_len) == 0 &&
           strcmp(expected + canonical_len, words + len) == 0;
}

static void llvm_check_line(struct check *check, const struct check_code *code, const char *line,
                            size_t len)
{
    struct strbuf words = {0}, expected = {0};
    llvm_check_words(line, len, &words);
    llvm_check_expect(code, &expected);
    if (!llvm_check_same(strbuf_text(&words), strbuf_text(&expected)) &&
        !check_exceptions_allow(check->exceptions, code->row, "llvm"))
        check_row_problem(check, code->row,
                          "opcode=", "LLVM disassembles it as '%.*s', not '%s' [llvm]", (int)len,
                          line, strbuf_text(&expected));
    strbuf_free(&words);
    strbuf_free(&expected);
}

// Reads LLVM's output: a line, or none, and the separator for each row.
static int llvm_check_read(struct check *check, const char *text, struct err *err)
{
    int known = 0;
    for (int i = 0; i < check->ncodes; i++) {
        const struct check_code *code = &check->codes[i];
        if (!llvm_check_wants(code))
            continue;
        for (bool separated = false; !separated;) {
            text += strspn(text, " \t\n");
            size_t len = strcspn(text, "\n");
            if (len == 0)
                return err_set(err, "llvm-mc wrote fewer instructions than it was given");
            separated = len == sizeof SEPARATOR - 1 && memcmp(text, SEPARATOR, len) == 0;
            if (!separated)
                llvm_check_line(check, code, text, len);
            known += !separated;
            text += len;
        }
    }
    return known;
}

static bool llvm_check_possible(void)
{
    struct err ignored;
    char *path = llvm_find("llvm-mc", &ignored);
    bool possible = path && llvm_chosen() >= CHECK_LLVM_LEAST;
    free(path);
    return possible;
}

int llvm_check(struct check *check, struct err *err)
{
    static const char *const arguments[] = {"--disassemble", "--triple=x86_64",
                                            "--output-asm-variant=1", NULL};
    char path[512];
    struct strbuf input = {0};
    struct subproc_result result = {0};
    llvm_check_write(check, &input);
    if (input.len == 0 || !llvm_check_possible()) {
        strbuf_free(&input);
        return 0;
    }
    char *directory = scratch_begin(err);
    snprintf(path, sizeof path, "%s/code.txt", directory ? directory : "");
    int status = directory ? file_write(path, input.data, input.len, err) : -1;
    if (status == 0)
        status = llvm_run("llvm-mc", arguments, directory, "code.txt", &result, err);
    if (status == 0)
        status = llvm_check_read(check, result.out, err);
    subproc_result_free(&result);
    strbuf_free(&input);
    if (directory)
        scratch_end(directory, false);
    return status;
}
