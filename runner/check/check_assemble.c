// SPDX-License-Identifier: MIT
// Assembles the rows of the lists, each once, into one flat file; see check.h. NASM reports refused
// lines; those rows are left out and the rest is assembled again, until NASM accepts all.
#include "check.h"

#include "util/scratch.h"
#include "util/strbuf.h"
#include "util/subproc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    NASM_TIMEOUT_MS = 120 * 1000,
    NASM_ROUNDS_MAX = 10, // messages of a later pass appear once those of earlier ones are gone
};

static const int gpr_pool[] = {3, 1, 2, 6, 7, 5, 0}; // rbx first: no form is tied to it
static const int vec_pool[] = {1, 4, 2, 3, 5, 6};    // op2 gets 4: v4fmaddps wants a multiple of 4

// Returns true if a fixed or implicit operand of the row is (part of) general-purpose register
// `number`.
static bool row_uses_gpr(const struct list_row *row, int number)
{
    for (int i = 0; i < row->nops; i++)
        if (row->ops[i].kind == OPERAND_GPR && row->ops[i].fixed == number)
            return true;
    for (int i = 0; i < row->nimplicit; i++)
        if (row->implicit[i].kind == OPERAND_GPR && row->implicit[i].fixed == number)
            return true;
    return false;
}

// Returns the next register of the pool that the row does not use.
static int choose_gpr(const struct list_row *row, size_t *next)
{
    while (*next + 1 < ARRAY_LEN(gpr_pool) && row_uses_gpr(row, gpr_pool[*next]))
        (*next)++;
    int number = gpr_pool[*next];
    if (*next + 1 < ARRAY_LEN(gpr_pool))
        (*next)++;
    return number;
}

// Returns a value that fits in no shorter encoding.
static int64_t choose_value(int bits)
{
    return bits == 8 ? 5 : bits == 16 ? 0x1122 : bits == 32 ? 0x11223344 : 0x1122334455667788;
}

// Chooses distinct registers for all operands, or one for all in a row with `same`.
static void choose_registers(const struct list_row *row, struct row_choice *choice)
{
    bool same = row->same;
    size_t next = 0;
    choice->mask = 1;
    for (int i = 0; i < row->nops; i++) {
        const struct operand *op = &row->ops[i];
        struct operand_choice *chosen = &choice->ops[i];
        int number = same ? 1 : i + 1;
        *chosen = (struct operand_choice){.reg = number, .base = 6, .index = 7};
        if (op->kind == OPERAND_GPR && op->fixed < 0)
            chosen->reg = same ? gpr_pool[0] : choose_gpr(row, &next);
        else if (op->kind == OPERAND_VEC)
            chosen->reg = same ? 1 : vec_pool[i];
        else if (op->kind == OPERAND_MASK)
            chosen->reg = same ? 2 : i + 2; // the mask itself is k1
        else if (op->kind == OPERAND_SEG)
            chosen->reg = 4;
        else if (op->kind == OPERAND_IMM)
            chosen->value = choose_value(op->bits);
        chosen->label = 0;
    }
}

static void assemble_write(struct check_code *codes, int ncodes, int bits, struct strbuf *out)
{
    int line = 4;
    strbuf_printf(out, "bits %d\ndefault abs\nsection .text\n", bits);
    for (int i = 0; i < ncodes; i++) {
        size_t start = out->len;
        strbuf_printf(out, "row%d:\n", i);
        if (!codes[i].refused) {
            // The label has a line of its own: on the same line NASM would not notice that it takes
            // an unknown mnemonic for a label.
            row_render(codes[i].row, &codes[i].choice, out);
            strbuf_puts(out, "\n");
        }
        codes[i].source_line = line;
        for (size_t at = start; at < out->len; at++)
            line += out->data[at] == '\n';
    }
    strbuf_puts(out, "latput_end:\n");
    for (int i = 0; i < ncodes; i++)
        strbuf_printf(out, "dd row%d\n", i);
    strbuf_puts(out, "dd latput_end\nsection .bss\nlatput_absolute: resb 8\n");
}

static int code_at_line(const struct check_code *codes, int ncodes, int line)
{
    int low = 0, high = ncodes - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (codes[middle].source_line <= line)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static void assemble_refuse(struct check *check, struct check_code *code, const char *message,
                            size_t len)
{
    struct strbuf text = {0};
    row_render(code->row, &code->choice, &text);
    if (strstr(message, "label-orphan") && strstr(message, "label-orphan") < message + len)
        check_row_problem(check, code->row, code->row->nasm_mnemonic,
                          "NASM does not know the mnemonic '%s': it would take it for a label and "
                          "assemble nothing",
                          code->row->nasm_mnemonic);
    else
        check_row_problem(check, code->row, code->row->nasm_mnemonic, "NASM refuses '%s': %.*s",
                          strbuf_text(&text), (int)len, message);
    strbuf_free(&text);
    code->refused = true;
}

// Reads messages `check.asm:LINE: error: TEXT`. Returns how many rows were newly refused.
static int assemble_blame(struct check *check, struct check_code *codes, int ncodes,
                          const char *messages)
{
    int refused = 0;
    for (const char *at = messages; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        size_t len = strcspn(at, "\n");
        int line = 0, skip = 0;
        if (sscanf(at, "check.asm:%d: error: %n", &line, &skip) != 1 || skip == 0)
            continue;
        struct check_code *code = &codes[code_at_line(codes, ncodes, line)];
        if (code->refused || line < codes[0].source_line)
            continue;
        assemble_refuse(check, code, at + skip, len - (size_t)skip);
        refused++;
    }
    return refused;
}

static int assemble_write_file(const char *path, const struct strbuf *text, struct err *err)
{
    FILE *file = fopen(path, "w");
    bool written = file && fwrite(text->data, 1, text->len, file) == text->len;
    if ((file && fclose(file) != 0) || !written)
        return err_set(err, "%s: cannot be written: %s", path, strerror(errno));
    return 0;
}

// Reads the machine code and the table of offsets after it.
static int assemble_load(struct check *check, const char *path, struct check_code *codes,
                         int ncodes, const unsigned char **bytes, struct err *err)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return err_set(err, "%s: cannot be read: %s", path, strerror(errno));
    size_t table = ((size_t)ncodes + 1) * 4, room = table + (size_t)ncodes * 64;
    unsigned char *data = arena_alloc(&check->arena, room);
    size_t len = fread(data, 1, room, file);
    fclose(file);
    if (len < table || len == room)
        return err_set(err, "%s: has not the size that was expected", path);
    const unsigned char *entry = data + len - table;
    for (int i = 0; i < ncodes; i++, entry += 4) {
        uint32_t start, end;
        memcpy(&start, entry, sizeof start);
        memcpy(&end, entry + 4, sizeof end);
        codes[i].offset = start;
        codes[i].len = end - start;
        if (end < start || end > len - table)
            return err_set(err, "%s: its table of offsets is damaged", path);
    }
    *bytes = data;
    return 0;
}

// Runs NASM once. Returns 1 if assembled, 0 if rows were refused and it should run again, -1 if it
// does not work.
static int assemble_once(struct check *check, const char *directory, struct check_code *codes,
                         int ncodes, int bits, struct err *err)
{
    // Every warning is an error: NASM warns where it encodes something else than what was written.
    static const char *const command[] = {
        "nasm", "-f",        "bin",       "-w+error", "-w+error=label-orphan",
        "-o",   "check.bin", "check.asm", NULL};
    char path[512];
    snprintf(path, sizeof path, "%s/check.asm", directory);
    struct strbuf source = {0};
    assemble_write(codes, ncodes, bits, &source);
    int status = assemble_write_file(path, &source, err);
    strbuf_free(&source);
    const char *const nothing[] = {NULL};
    struct subproc_options options = {
        .cwd = directory, .timeout_ms = NASM_TIMEOUT_MS, .tool = true, .readable = nothing};
    struct subproc_result result;
    if (status || subproc_run(command, &options, &result, err))
        return -1;
    if (result.timed_out || result.signal)
        status = err_set(err, "nasm %s", result.timed_out ? "did not come to an end" : "crashed");
    else if (result.exit_status == 0)
        status = 1;
    else if (assemble_blame(check, codes, ncodes, result.err) == 0)
        status = err_set(err, "nasm failed: %.600s", result.err);
    subproc_result_free(&result);
    return status;
}

int check_assemble(struct check *check, struct check_code *codes, int ncodes, int bits,
                   const unsigned char **bytes, struct err *err)
{
    char path[512];
    char *directory = scratch_begin(err);
    if (!directory)
        return -1;
    for (int i = 0; i < ncodes; i++)
        choose_registers(codes[i].row, &codes[i].choice);
    int status = 0;
    for (int round = 0; round < NASM_ROUNDS_MAX && status == 0; round++)
        status = assemble_once(check, directory, codes, ncodes, bits, err);
    if (status == 0)
        status = err_set(err, "nasm finds new faults after %d rounds", NASM_ROUNDS_MAX);
    snprintf(path, sizeof path, "%s/check.bin", directory);
    if (status == 1)
        status = assemble_load(check, path, codes, ncodes, bytes, err);
    scratch_end(directory, false);
    return status;
}
