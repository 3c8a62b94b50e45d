// SPDX-License-Identifier: MIT
// Instruction lists; see list.h. A row is parsed column by column; the first fault of a row is
// reported with a caret and ends that row.
#include "list.h"

#include "../cpuinfo/cpuinfo.h"
#include "list_isa.h"
#include "list_opcode.h"
#include "list_operand.h"
#include "util/csvfile.h"
#include "util/suggest.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMN_MNEMONIC,
    COLUMN_OPERANDS,
    COLUMN_IMPLICIT,
    COLUMN_ISA,
    COLUMN_TESTS,
    COLUMN_OPTIONS
};
static const char *const list_columns[] = {"mnemonic", "operands", "implicit",
                                           "isa",      "tests",    "options"};
static const struct csv_spec list_spec = {list_columns, ARRAY_LEN(list_columns), 0};

// Words that may stand before the mnemonic.
static const char *const mnemonic_prefixes[] = {
    "lock", "rep", "repe", "repz", "repne", "repnz", "xacquire", "xrelease",
    "bnd",  "o16", "o32",  "o64",  "a32",   "a64",   "{vex}",    "{evex}",
};

// Options. `values` are the allowed ones separated by blanks; NULL: anything but nothing; "": the
// option has no value. `form`: rows that differ in it are different forms.
static const struct option_key {
    const char *key, *values;
    bool form;
} option_keys[] = {
    {"type",      "int f16 bf16 f32 f64 f80",          false}, // of the elements computed with
    {"enc",       "legacy vex evex xop",               false}, // where the isa names do not tell it
    {"data",      "div sqrt idiv function",            false}, // time depends on operand data of this kind
    {"st",        NULL,                                false}, // values of the x87 registers
    {"unrelated", NULL,                                false}, // pairs without a dependency
    {"pointer",   NULL,                                false}, // registers that must hold an address
    {"small",     NULL,                                false}, // registers that must hold a small number
    {"fill",      NULL,                                false}, // pattern that memory must hold
    {"stack",     NULL,                                false}, // bytes that the stack pointer moves
    {"x87",       "push pop pop2",                     false}, // what it does to the register stack
    {"same",      "",                                  true }, // all register operands are one register
    {"bits",      "32 64",                             true }, // mode
    {"index",     "same adjacent overlap line random", true }, // where a gather's elements lie
    {"mask",      NULL,                                true }, // content of the masks
    {"opcode",    NULL,                                true }, // encoding that NASM cannot write
    {"macro",     NULL,                                true }, // file.inc:name, a hand-written kernel
};

static const char *const element_names[] = {"int", "f16", "bf16", "f32", "f64", "f80"};
static const char *const operand_names[OPERANDS_MAX] = {"op1", "op2", "op3", "op4", "op5", "op6"};

struct row_parser {
    struct list *list;
    const struct csv_record *record;
    struct list_row *row;
    struct list_fault fault; // fault.at points into the field of `column`
    int column;
    struct list_isa_cache isas;
};

struct word {
    const char *at;
    size_t len;
};

// Next word of *text, separated by blanks; false at the end.
static bool word_next(const char **text, struct word *word)
{
    *text += strspn(*text, " \t");
    word->at = *text;
    word->len = strcspn(*text, " \t");
    *text += word->len;
    return word->len > 0;
}

static bool word_is(const struct word *word, const char *text)
{
    return strncmp(word->at, text, word->len) == 0 && text[word->len] == '\0';
}

static int word_find(const struct word *word, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (word_is(word, names[i]))
            return (int)i;
    return -1;
}

static const char *parser_field(struct row_parser *parser, int column)
{
    parser->column = column;
    return parser->record->fields[column];
}

// Appends to `to` a blank, unless it is empty, and the word without its access prefix.
static char *word_append(char *to, const char *start, const struct word *word)
{
    size_t skip = *word->at == '=' || *word->at == '+';
    if (to != start)
        *to++ = ' ';
    memcpy(to, word->at + skip, word->len - skip);
    return to + word->len - skip;
}

static int mnemonic_check(const struct word *word, struct list_fault *fault)
{
    for (size_t i = 0; i < word->len; i++)
        if (!islower((unsigned char)word->at[i]) && !isdigit((unsigned char)word->at[i]))
            return list_fault_set(fault, word->at + i,
                                  "a mnemonic has lower-case letters and digits; before it may "
                                  "stand lock, rep, o16, {vex}, {evex} ...");
    return 0;
}

static int parse_mnemonic(struct row_parser *parser)
{
    struct list_row *row = parser->row;
    const char *text = parser_field(parser, COLUMN_MNEMONIC), *rest = text;
    char *full = arena_alloc(&parser->list->arena, strlen(text) + 1), *full_end = full;
    char *plain = arena_alloc(&parser->list->arena, strlen(text) + 1), *plain_end = plain;
    struct word word, last = {text, 0};
    bool last_is_prefix = true;
    while (word_next(&rest, &word)) {
        if (last.len && !last_is_prefix)
            return list_fault_set(&parser->fault, last.at,
                                  "'%.*s' is no prefix; the mnemonic is the last word",
                                  (int)last.len, last.at);
        last = word;
        last_is_prefix = word_find(&word, mnemonic_prefixes, ARRAY_LEN(mnemonic_prefixes)) >= 0;
        if (!last_is_prefix && mnemonic_check(&word, &parser->fault))
            return -1;
        full_end = word_append(full_end, full, &word);
        if (*word.at != '{')
            plain_end = word_append(plain_end, plain, &word);
    }
    if (last_is_prefix)
        return list_fault_set(&parser->fault, text, "the mnemonic is missing");
    row->nasm_mnemonic = full;
    row->mnemonic = plain;
    return 0;
}

static int parse_rounding(struct row_parser *parser, const struct word *word, const char *rest)
{
    if (parser->row->rounding != ROUND_NONE || rest[strspn(rest, " \t")])
        return list_fault_set(&parser->fault, word->at, "%.*s is the last word, and once",
                              (int)word->len, word->at);
    parser->row->rounding = word_is(word, "{er}") ? ROUND_ER : ROUND_SAE;
    return 0;
}

static int parse_operands(struct row_parser *parser)
{
    struct list_row *row = parser->row;
    const char *text = parser_field(parser, COLUMN_OPERANDS), *rest = text;
    char *canonical = arena_alloc(&parser->list->arena, strlen(text) + 1), *end = canonical;
    struct word word;
    while (word_next(&rest, &word)) {
        end = word_append(end, canonical, &word);
        if (word_is(&word, "{er}") || word_is(&word, "{sae}")) {
            if (parse_rounding(parser, &word, rest))
                return -1;
            continue;
        }
        if (row->nops == OPERANDS_MAX)
            return list_fault_set(&parser->fault, word.at, "more than %d operands", OPERANDS_MAX);
        struct operand *operand = &row->ops[row->nops];
        if (list_operand_parse(word.at, word.len, false, &parser->list->arena, operand,
                               &parser->fault))
            return -1;
        operand->name = operand_names[row->nops++];
    }
    row->operands_text = canonical;
    return 0;
}

static int parse_implicit(struct row_parser *parser)
{
    struct list_row *row = parser->row;
    const char *rest = parser_field(parser, COLUMN_IMPLICIT);
    struct word word;
    while (word_next(&rest, &word)) {
        if (row->nimplicit == IMPLICIT_MAX)
            return list_fault_set(&parser->fault, word.at, "more than %d implicit operands",
                                  IMPLICIT_MAX);
        struct operand *operand = &row->implicit[row->nimplicit];
        if (list_operand_parse(word.at, word.len, true, &parser->list->arena, operand,
                               &parser->fault))
            return -1;
        for (int i = 0; i < row->nimplicit; i++)
            if (strcmp(row->implicit[i].name, operand->name) == 0)
                return list_fault_set(&parser->fault, word.at,
                                      "'%s' appears twice; read and written is +%s", operand->name,
                                      operand->name);
        row->nimplicit++;
    }
    return 0;
}

static int parse_tests(struct row_parser *parser)
{
    const char *text = parser_field(parser, COLUMN_TESTS);
    static const char letters[] = "LTP"; // in the order of the TESTS_ bits
    unsigned tests = 0;
    for (const char *at = text; *at; at++) {
        const char *letter = strchr(letters, *at);
        if (!letter)
            return list_fault_set(&parser->fault, at,
                                  "unknown test '%c'; known: L latency, T throughput, P ports; "
                                  "empty means all",
                                  *at);
        unsigned bit = 1u << (letter - letters);
        if (tests & bit)
            return list_fault_set(&parser->fault, at, "test '%c' appears twice", *at);
        tests |= bit;
    }
    parser->row->tests = tests ? tests : TESTS_ALL;
    return 0;
}

static int option_unknown(struct row_parser *parser, const struct word *word, size_t key_len)
{
    char known[256] = "", meant[64];
    size_t used = 0;
    struct suggestion near = suggest_start(word->at, key_len);
    for (size_t i = 0; i < ARRAY_LEN(option_keys); i++) {
        suggest_offer(&near, option_keys[i].key);
        used += (size_t)snprintf(known + used, sizeof known - used, " %s", option_keys[i].key);
    }
    return list_fault_set(&parser->fault, word->at, "unknown option '%.*s'%s known:%s",
                          (int)key_len, word->at,
                          near.best ? suggest_text(&near, meant, sizeof meant) : ";", known);
}

static int option_check_value(struct row_parser *parser, const struct option_key *key,
                              const struct word *word, const struct word *value)
{
    bool has_value = value->at != word->at + word->len;
    if (key->values && *key->values == '\0')
        return !has_value ? 0
                          : list_fault_set(&parser->fault, value->at, "option '%s' has no value",
                                           key->key);
    const char *allowed = key->values ? key->values : "";
    struct word candidate;
    while (word_next(&allowed, &candidate))
        if (candidate.len == value->len && memcmp(candidate.at, value->at, value->len) == 0)
            return 0;
    if (!key->values && value->len > 0)
        return 0;
    return list_fault_set(&parser->fault, has_value ? value->at : word->at,
                          "option '%s' needs a value: %s=%s", key->key, key->key,
                          key->values ? key->values : "...");
}

// Numbers with `/` between, at most one `:` between two such pairs.
static int check_st(const struct word *value)
{
    const char *at = value->at, *end = value->at + value->len;
    for (int pairs = 0; pairs < 2; pairs++) {
        for (int numbers = 0; numbers < 2; numbers++) {
            char *next;
            strtod(at, &next);
            if (next == at || next > end)
                return -1;
            at = next;
            if (at == end)
                return 0;
            if (*at != '/')
                break;
            at++;
        }
        if (*at++ != ':')
            return -1;
    }
    return -1;
}

static int parse_option(struct row_parser *parser, const struct word *word)
{
    struct list_row *row = parser->row;
    struct arena *arena = &parser->list->arena;
    const char *equals = memchr(word->at, '=', word->len);
    size_t key_len = equals ? (size_t)(equals - word->at) : word->len;
    struct word key = {word->at, key_len};
    struct word value = {word->at + word->len, 0};
    if (equals)
        value = (struct word){equals + 1, word->len - key_len - 1};
    if (equals && value.len == 0)
        return list_fault_set(&parser->fault, equals, "the value is missing after '='");
    const struct option_key *found = NULL;
    for (size_t i = 0; i < ARRAY_LEN(option_keys) && !found; i++)
        if (word_is(&key, option_keys[i].key))
            found = &option_keys[i];
    if (!found)
        return option_unknown(parser, word, key_len);
    if (option_check_value(parser, found, word, &value))
        return -1;
    if (list_row_option(row, found->key))
        return list_fault_set(&parser->fault, word->at, "option '%s' appears twice", found->key);
    if (strcmp(found->key, "st") == 0 && check_st(&value))
        return list_fault_set(&parser->fault, value.at,
                              "st=VALUE, st=TOP/OTHERS, or two of these with ':' between");
    row->options[row->noptions++] =
        (struct list_option){found->key, arena_strndup(arena, value.at, value.len)};
    return 0;
}

// The operands have been parsed before: an opcode needs some.
static int parse_opcode(struct row_parser *parser)
{
    const struct list_row *row = parser->row;
    const char *opcode = list_row_option(row, "opcode");
    const char *text = parser->record->fields[COLUMN_OPTIONS];
    if (!opcode)
        return 0;
    if (list_opcode_parse(opcode, &parser->row->opcode))
        return list_fault_set(&parser->fault, strstr(text, opcode),
                              "an opcode is ENCODING.PREFIX.MAP.W.BYTE as in evex.66.0f38.w0.55, "
                              "with prefix np, 66, f3 or f2 and map 00, 0f, 0f38, 0f3a, map5 ...; "
                              ".mr behind it where the first operand is the r/m field");
    if (row->nops == 0 || row->ops[0].kind == OPERAND_IMM)
        return list_fault_set(&parser->fault, strstr(text, opcode),
                              "opcode= needs a row with operands");
    return 0;
}

static int parse_options(struct row_parser *parser)
{
    struct list_row *row = parser->row;
    const char *text = parser_field(parser, COLUMN_OPTIONS), *rest = text;
    struct word word;
    size_t count = 0;
    while (word_next(&rest, &word))
        count++;
    row->options = count ? arena_alloc(&parser->list->arena, count * sizeof *row->options) : NULL;
    for (rest = text; word_next(&rest, &word);)
        if (parse_option(parser, &word))
            return -1;
    const char *type = list_row_option(row, "type"), *bits = list_row_option(row, "bits");
    for (size_t i = 0; type && i < ARRAY_LEN(element_names); i++)
        if (strcmp(type, element_names[i]) == 0)
            row->element = (enum element)i;
    row->bits = bits ? atoi(bits) : 64;
    return parse_opcode(parser);
}

// What exists in 64-bit mode only must not appear in a row for 32-bit mode.
static int parse_check_mode(struct row_parser *parser)
{
    const struct list_row *row = parser->row;
    parser_field(parser, COLUMN_OPERANDS);
    for (int i = 0; i < row->nops && row->bits == 32; i++)
        if (row->ops[i].kind == OPERAND_GPR && row->ops[i].bits == 64)
            return list_fault_set(&parser->fault, parser->record->fields[COLUMN_OPERANDS],
                                  "64-bit registers do not exist with bits=32");
    return 0;
}

// The identity: nasm_mnemonic, operands, and the options that make another form of it.
static void row_set_form(struct row_parser *parser)
{
    struct list_row *row = parser->row;
    struct arena *arena = &parser->list->arena;
    row->form = *row->operands_text
                    ? arena_printf(arena, "%s %s", row->nasm_mnemonic, row->operands_text)
                    : row->nasm_mnemonic;
    for (size_t i = 0; i < ARRAY_LEN(option_keys); i++) {
        const char *value = list_row_option(row, option_keys[i].key);
        if (!option_keys[i].form || !value ||
            (strcmp(option_keys[i].key, "bits") == 0 && row->bits == 64))
            continue;
        row->form = arena_printf(arena, "%s %s%s%s", row->form, option_keys[i].key,
                                 *value ? "=" : "", value);
    }
}

static int parse_row(struct row_parser *parser)
{
    if (parse_mnemonic(parser) || parse_operands(parser) || parse_implicit(parser) ||
        parse_tests(parser) || parse_options(parser) || parse_check_mode(parser))
        return -1;
    parser->row->isa = parser_field(parser, COLUMN_ISA);
    const struct list_isa *isa = list_isa_look_up(&parser->isas, parser->row->isa, &parser->fault);
    if (!isa)
        return -1;
    parser->row->isa = isa->text;
    parser->row->enc = list_isa_encoding(isa, parser->row);
    row_set_form(parser);
    return 0;
}

// The first comment is the title; the licence line is none.
static const char *list_title(const struct csv_file *file, struct list *list)
{
    for (size_t i = 0; i < file->ncomments; i++)
        if (*file->comments[i] && strncmp(file->comments[i], "SPDX-", 5) != 0)
            return file->comments[i];
    return list->name;
}

static const char *list_base_name(const char *path, struct arena *arena)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t len = strlen(base);
    if (len > 4 && strcmp(base + len - 4, ".csv") == 0)
        len -= 4;
    return arena_strndup(arena, base, len);
}

static int list_parse_rows(const struct csv_file *file, struct list *list, list_fault_fn *on_fault,
                           void *data)
{
    int faults = 0;
    struct row_parser parser = {.list = list};
    list->rows = arena_alloc(&list->arena, file->nrecords * sizeof *list->rows);
    for (size_t i = 0; i < file->nrecords; i++) {
        const struct csv_record *record = &file->records[i];
        struct list_row *row = &list->rows[list->nrows];
        *row = (struct list_row){.path = list->path, .line = record->line, .source = record->text};
        parser.record = record;
        parser.row = row;
        if (parse_row(&parser) == 0) {
            list->nrows++;
            continue;
        }
        struct err err;
        int column = record->field_columns[parser.column] +
                     (int)(parser.fault.at - record->fields[parser.column]);
        csv_error_at(list->path, record->line, record->text, column, &err, "%s", parser.fault.text);
        on_fault(&err, data);
        faults++;
    }
    return faults;
}

int list_read_all(const char *path, struct list *list, list_fault_fn *fault, void *data)
{
    struct csv_file file;
    struct err err = {""};
    *list = (struct list){0};
    if (cpuinfo_load(&err) || csv_file_read(path, &list_spec, &file, &err)) {
        fault(&err, data);
        return -1;
    }
    list->arena = file.arena; // the rows point into the file's text
    list->path = file.path;
    list->name = list_base_name(path, &list->arena);
    list->title = list_title(&file, list);
    if (file.nrecords == 0) {
        err_set(&err, "%s: no rows: the list has only its header", path);
        fault(&err, data);
        return -1;
    }
    return list_parse_rows(&file, list, fault, data);
}

static void list_keep_first(const struct err *err, void *data)
{
    struct err *first = data;
    if (first && !*first->text)
        *first = *err;
}

int list_read(const char *path, struct list *list, struct err *err)
{
    struct err first = {""};
    if (list_read_all(path, list, list_keep_first, &first) == 0)
        return 0;
    list_free(list);
    return err_set(err, "%s", first.text);
}

void list_free(struct list *list)
{
    arena_free(&list->arena);
    *list = (struct list){0};
}

const char *list_row_option(const struct list_row *row, const char *key)
{
    for (int i = 0; i < row->noptions; i++)
        if (strcmp(row->options[i].key, key) == 0)
            return row->options[i].value;
    return NULL;
}

int list_row_error(const struct list_row *row, const char *token, struct err *err,
                   const char *format, ...)
{
    char message[1024];
    va_list ap;
    va_start(ap, format);
    vsnprintf(message, sizeof message, format, ap);
    va_end(ap);
    const char *at = token ? strstr(row->source, token) : NULL;
    return csv_error_at(row->path, row->line, row->source, at ? (int)(at - row->source) + 1 : 1,
                        err, "%s", message);
}
