// SPDX-License-Identifier: MIT
// YAML of llvm-exegesis: a document a measurement, of which these keys count: mode, instructions,
// measurements, cpu_name, error and assembled_snippet. It is read line by line: the subset that
// llvm-exegesis writes.
#include "foreign_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SNIPPET_MAX = 4096, YAML_NAME_MAX = 256 };

struct yaml_document {
    int line;
    char mode[32], instruction[YAML_NAME_MAX], value[64], snippet[2 * SNIPPET_MAX + 2];
    int ninstructions;
    bool instructions; // lines of the list of instructions follow
    bool error;        // it could not be measured
};

// Returns what follows a key on its line, NULL for another one. Blanks and `- ` may precede it.
static char *yaml_value(char *text, const char *key)
{
    size_t len = strlen(key);
    text += strspn(text, " -{");
    if (strncmp(text, key, len) != 0 || text[len] != ':')
        return NULL;
    return text + len + 1 + strspn(text + len + 1, " ");
}

// Copies a scalar without its quotes.
static void yaml_copy(char *to, size_t size, const char *text)
{
    char quote = *text == '\'' || *text == '"' ? *text : '\0';
    text += quote != '\0';
    size_t len = quote ? strcspn(text, quote == '"' ? "\"" : "'") : strcspn(text, "\r\n");
    snprintf(to, size, "%.*s", (int)(len < size ? len : size - 1), text);
}

// Decodes the snippet: the instruction is the last one before it returns, for which its name in
// LLVM must speak. Returns NULL, or why it cannot be told.
static const char *yaml_decode(struct foreign_table *table, struct foreign_row *row,
                               const struct yaml_document *document)
{
    unsigned char code[SNIPPET_MAX];
    size_t n = 0;
    const char *at = document->snippet, *name;
    for (; isxdigit((unsigned char)at[0]) && isxdigit((unsigned char)at[1]); at += 2) {
        char digits[3] = {at[0], at[1], '\0'};
        code[n++] = (unsigned char)strtoul(digits, NULL, 16);
    }
    ZydisDecoder decoder;
    ZydisDecodedInstruction in, found = {.length = 0};
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT], found_ops[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (size_t from = 0; from < n; from += in.length) {
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + from, n - from, &in, ops)))
            return "a snippet that the decoder does not know";
        if (in.meta.category == ZYDIS_CATEGORY_RET)
            break;
        // LLVM's names begin with the mnemonic, but for a few; what sets up and restores registers
        // has others.
        name = ZydisMnemonicGetString(in.mnemonic);
        size_t len = strlen(name);
        if (found.length && strncasecmp(document->instruction, name, len) != 0 &&
            strncasecmp(document->instruction, ZydisMnemonicGetString(found.mnemonic),
                        strlen(ZydisMnemonicGetString(found.mnemonic))) == 0)
            continue;
        found = in;
        memcpy(found_ops, ops, sizeof found_ops);
    }
    if (!found.length || !foreign_row_decoded(table, row, &found, found_ops))
        return "a document without its snippet of code";
    return NULL;
}

static int yaml_end(struct foreign_table *table, struct yaml_document *document, struct err *err)
{
    static const struct {
        const char *mode;
        enum foreign_quantity quantity;
    } modes[] = {
        {"latency",            FOREIGN_LATENCY   },
        {"inverse_throughput", FOREIGN_THROUGHPUT},
        {"uops",               FOREIGN_UOPS      }
    };
    if (!*document->instruction && !*document->mode)
        return 0;
    struct foreign_row *row = foreign_row_add(table, document->line, document->instruction, err);
    if (!row)
        return -1;
    row->why = document->error                ? "a document with an error"
               : document->ninstructions != 1 ? "several instructions, of which there is one time"
                                              : yaml_decode(table, row, document);
    row->chain = true;
    size_t i = 0;
    while (i < ARRAY_LEN(modes) && strcmp(modes[i].mode, document->mode) != 0)
        i++;
    if (i == ARRAY_LEN(modes))
        foreign_tell(table, document->line, "a document of another mode");
    else if (!document->error)
        foreign_value_text(table, row, modes[i].quantity, document->value);
    return 0;
}

static void yaml_line(struct foreign_table *table, struct yaml_document *document, char *text)
{
    char *value;
    if (document->instructions) {
        const char *item = text + strspn(text, " ");
        if (*item == '-') {
            item += 1 + strspn(item + 1, " ");
            if (document->ninstructions++ == 0)
                yaml_copy(document->instruction, sizeof document->instruction, item);
            return;
        }
        document->instructions = false;
    }
    if ((value = yaml_value(text, "mode")))
        yaml_copy(document->mode, sizeof document->mode, value);
    else if (yaml_value(text, "instructions"))
        document->instructions = true;
    else if ((value = yaml_value(text, "error"))) {
        char said[4];
        yaml_copy(said, sizeof said, value);
        document->error = *said != '\0';
    } else if ((value = yaml_value(text, "cpu_name")) && !*table->cpu) {
        char name[64];
        yaml_copy(name, sizeof name, value);
        table->cpu = arena_strdup(&table->arena, name);
        foreign_uarch_set(table, name);
    } else if ((value = yaml_value(text, "assembled_snippet")))
        yaml_copy(document->snippet, sizeof document->snippet, value);
    // Ports have values of µops, too: the sum counts.
    bool counts = strcmp(document->mode, "uops") != 0 || strstr(text, "NumMicroOps");
    if (counts && !*document->value && (value = strstr(text, " value: ")))
        snprintf(document->value, sizeof document->value, "%.*s", (int)strcspn(value + 8, ", }"),
                 value + 8);
}

int foreign_read_exegesis(const char *path, const char *cpu, struct foreign_table *table,
                          struct err *err)
{
    struct foreign_lines *lines = foreign_lines_open(path, err);
    struct yaml_document *document = xcalloc(1, sizeof *document);
    int got = lines ? 1 : -1;
    (void)cpu;
    while (got > 0 && (got = foreign_line(lines, err)) > 0) {
        if (strncmp(lines->text, "---", 3) == 0 || strncmp(lines->text, "...", 3) == 0) {
            if (yaml_end(table, document, err) != 0)
                got = -1;
            *document = (struct yaml_document){.line = lines->line};
        } else {
            yaml_line(table, document, lines->text);
        }
    }
    if (got == 0 && yaml_end(table, document, err) != 0)
        got = -1;
    foreign_lines_close(lines);
    free(document);
    return got;
}
