// SPDX-License-Identifier: MIT
#include "llvm.h"

#include "llvm_registers.h"
#include "llvm_run.h"
#include "util/file_write.h"
#include "util/scratch.h"
#include "util/subproc.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char llvm_unknown[] = "LLVM does not know its machine code";
static const char llvm_several[] = "LLVM takes it for several instructions";

enum {
    // Number of int3 after each form, followed by the form's number: if a misread form swallows
    // some, this shows.
    MARKS = 16,
};

// --- what llvm-mc prints ---

struct llvm_parse {
    struct known_cpu *data;
    const struct llvm_registers *registers;
    struct llvm_instr *instrs;
    int instructions, marks;
    bool number;            // the next operand with a number is the number of the form
    struct llvm_instr seen; // the first instruction of the form
    struct strbuf operands;
    bool unknown; // an operand that has no text for llvm-exegesis
};

static void parse_begin_form(struct llvm_parse *parse)
{
    strbuf_clear(&parse->operands);
    parse->instructions = parse->marks = 0;
    parse->unknown = parse->number = false;
}

static void parse_end_form(struct llvm_parse *parse, int form)
{
    if (form >= 0 && form < parse->data->nforms) {
        struct llvm_instr *instr = &parse->instrs[form];
        if (parse->instructions == 1 && parse->marks == MARKS && !parse->unknown) {
            *instr = parse->seen;
            instr->operands = arena_strdup(&parse->data->arena, strbuf_text(&parse->operands));
        } else {
            instr->why =
                parse->instructions > 1 && parse->marks == MARKS ? llvm_several : llvm_unknown;
        }
    }
    parse_begin_form(parse);
}

// Returns the instruction's text, in front of the comment.
static char *parse_text(struct arena *arena, const char *line)
{
    size_t len = strcspn(line, "#");
    while (len > 0 && isspace((unsigned char)line[len - 1]))
        len--;
    for (; len > 0 && isspace((unsigned char)*line); len--)
        line++;
    char *clean = arena_strndup(arena, line, len);
    for (char *c = clean; *c; c++)
        if (*c == '\t')
            *c = ' ';
    return clean;
}

static void parse_instruction(struct llvm_parse *parse, const char *line, const char *name)
{
    size_t len = strcspn(name, " >\n");
    bool mark = len == strlen("INT3") && strncmp(name, "INT3", len) == 0;
    if (mark) {
        parse->marks++;
    } else if (parse->marks > 0) {
        parse->number = true;
    } else if (parse->instructions++ == 0) {
        struct arena *arena = &parse->data->arena;
        parse->seen = (struct llvm_instr){.opcode = arena_strndup(arena, name, len),
                                          .text = parse_text(arena, line)};
    }
}

// Returns the name of the register in "60>", or in "RSI>" as newer versions of LLVM print it; none
// is "0>" or ">". NULL: it has no name.
static const char *parse_register(const struct llvm_parse *parse, const char *text)
{
    size_t len = strcspn(text, ">\n");
    if (isalpha((unsigned char)*text))
        return arena_strndup(&parse->data->arena, text, len);
    return llvm_register_name(parse->registers, atoi(text));
}

static void parse_operand(struct llvm_parse *parse, const char *text)
{
    if (parse->number && strncmp(text, "Imm:", 4) == 0)
        parse_end_form(parse, atoi(text + 4));
    if (parse->instructions != 1 || parse->marks > 0)
        return;
    const char *name = NULL;
    char number[40];
    if (strncmp(text, "Reg:", 4) == 0) {
        name = parse_register(parse, text + 4);
    } else if (strncmp(text, "Imm:", 4) == 0) {
        long long value = strtoll(text + 4, NULL, 10);
        // llvm-exegesis reads a sign only after 0x.
        snprintf(number, sizeof number, "i_0x%s%llx", value < 0 ? "-" : "",
                 value < 0 ? -(unsigned long long)value : (unsigned long long)value);
        name = number;
    }
    if (!name)
        parse->unknown = true;
    else
        strbuf_printf(&parse->operands, "%s%s", parse->operands.len ? " " : "", name);
}

static void parse_output(struct llvm_parse *parse, char *text)
{
    static const char instruction[] = "<MCInst #", operand[] = "<MCOperand ";
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        const char *found = strstr(line, instruction);
        if (found) {
            found += strlen(instruction);
            found += strspn(found, "0123456789");
            parse_instruction(parse, line, found + (*found == ' '));
        }
        found = found ? NULL : strstr(line, operand);
        if (found)
            parse_operand(parse, found + strlen(operand));
    }
}

// --- what it reads ---

static void decode_source(const struct known_cpu *data, struct strbuf *out)
{
    for (int i = 0; i < data->nforms; i++) {
        const struct known_form *form = &data->forms[i];
        for (size_t b = 0; form->code && b < form->code_len; b++)
            strbuf_printf(out, "0x%02x ", form->code[b]);
        for (int b = 0; form->code && b < MARKS; b++)
            strbuf_puts(out, "0xcc ");
        if (form->code) // mov eax, number of the form
            strbuf_printf(out, "0xb8 0x%02x 0x%02x 0x%02x 0x%02x\n", i & 255, i >> 8 & 255,
                          i >> 16 & 255, i >> 24 & 255);
    }
}

static int decode_run(struct known_cpu *data, const char *directory, struct llvm_parse *parse,
                      struct err *err)
{
    static const char *const arguments[] = {"--disassemble", "--show-inst", "--triple=x86_64-linux",
                                            NULL};
    char *path = xasprintf("%s/code.txt", directory);
    struct strbuf source = {0};
    struct subproc_result result;
    decode_source(data, &source);
    int status = file_write(path, strbuf_text(&source), source.len, err);
    strbuf_free(&source);
    free(path);
    if (status == 0)
        status = llvm_run("llvm-mc", arguments, directory, "code.txt", &result, err);
    if (status != 0)
        return -1;
    parse_output(parse, result.out);
    subproc_result_free(&result);
    return 0;
}

int llvm_decode(struct known_cpu *data, struct llvm_instr **instrs, struct err *err)
{
    struct llvm_registers *registers = xcalloc(1, sizeof *registers);
    struct llvm_parse parse = {.data = data, .registers = registers};
    char *directory = scratch_begin(err);
    *instrs = arena_alloc(&data->arena, ((size_t)data->nforms + 1) * sizeof **instrs);
    parse.instrs = *instrs;
    for (int i = 0; i < data->nforms; i++)
        parse.instrs[i].why = !data->forms[i].row            ? known_no_row
                              : data->forms[i].id.bits != 64 ? known_32bit
                                                             : known_no_code;
    // A decoder of 64-bit mode would misread code of 32-bit mode.
    for (int i = 0; i < data->nforms; i++)
        if (data->forms[i].id.bits != 64)
            data->forms[i].code = NULL;
    int status = directory ? llvm_registers_read(directory, registers, err) : -1;
    if (status == 0)
        status = decode_run(data, directory, &parse, err);
    strbuf_free(&parse.operands);
    scratch_end(directory, false);
    llvm_registers_free(registers);
    free(registers);
    return status;
}

bool llvm_latency(const struct known_form *form, struct llvm_latency *latency)
{
    *latency = (struct llvm_latency){NAN, NAN, NAN};
    for (int i = 0; i < form->npairs; i++) {
        const struct known_pair *pair = &form->pairs[i];
        if (!pair->in_result || strstr(pair->dst, ".data"))
            continue;
        if (strncmp(pair->variant, "slow", 4) == 0) {
            latency->slow = fmax(latency->slow, pair->clk); // NaN is ignored, here and below
            continue;
        }
        if (!pair->upper)
            latency->least = fmax(latency->least, pair->clk);
        latency->most = fmax(latency->most, pair->clk);
    }
    return !isnan(latency->most);
}
