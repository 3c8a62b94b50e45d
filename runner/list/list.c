// SPDX-License-Identifier: MIT
// Instruction lists; see list.h. A row is parsed column by column; each fault is reported with a
// caret, and a row with one is left out.
#include "list.h"

#include "cpuinfo/cpuinfo.h"
#include "list_family.h"
#include "list_isa.h"
#include "list_mnemonic.h"
#include "list_opcode.h"
#include "list_operand.h"
#include "list_option.h"
#include "list_ring0.h"
#include "util/csvfile.h"
#include "util/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const list_columns[LIST_COLUMNS] = {"mnemonic", "operands", "implicit",
                                                       "isa",      "tests",    "options"};
static const struct csv_spec list_spec = {list_columns, ARRAY_LEN(list_columns), 0};

// Words that may stand before the mnemonic.
static const char *const mnemonic_prefixes[] = {
    "lock", "rep", "repe", "repz", "repne", "repnz", "xacquire", "xrelease", "bnd",
    "o16",  "o32", "o64",  "a32",  "a64",   "{vex}", "{evex}",   "{nf}",
};

static const char *const element_names[] = {"int", "f16", "bf16", "f32", "f64", "f80"};
static const char *const operand_names[OPERANDS_MAX] = {"op1", "op2", "op3", "op4", "op5", "op6"};

struct row_parser {
    struct list *list;
    const struct csv_record *record;
    const char *const *fields; // the record's, or those of a variant of its family
    const char *variant;       // text of the variant, for messages; NULL: the row is one form
    struct list_row *row;
    size_t rows_capacity;
    struct list_fault fault; // fault.at points into the field of `column`
    int column;
    struct list_isa_cache isas;
    list_fault_fn *on_fault;
    void *data;
    int row_faults, faults;
};

struct word {
    const char *at;
    size_t len;
};

// Sets the next word of *text, separated by blanks; false at the end.
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
    return parser->fields[column];
}

// Reports the fault that a function has set; parsing goes on, so that the row's other faults are
// found.
static void parser_report(struct row_parser *parser)
{
    const struct csv_record *record = parser->record;
    struct err err;
    int column = record->field_columns[parser->column];
    if (!parser->variant) // the text of a variant does not stand in the file
        column += (int)(parser->fault.at - parser->fields[parser->column]);
    const struct csv_place place = {parser->list->path, record->line, record->text, column};
    csv_error_at(&place, &err, "%s%s%s%s", parser->variant ? "in '" : "",
                 parser->variant ? parser->variant : "", parser->variant ? "': " : "",
                 parser->fault.text);
    parser->on_fault(&err, parser->data);
    parser->row_faults++;
    parser->faults++;
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

// Limits of the database (db/schema.sql) on texts of a list, in characters.
enum {
    NAME_MAX_CHARS = 200,
    TITLE_MAX_CHARS = 200,
    OPERANDS_MAX_CHARS = 500,
    ISA_MAX_CHARS = 500,
    PREFIXES_MAX = 4, // each group of prefixes can be there once
};

// Checks a mnemonic. Where the row gives the machine code (`coded`) any name will do: NASM does not
// see it.
static int mnemonic_check(const struct word *word, bool coded, struct list_fault *fault)
{
    for (size_t i = 0; i < word->len; i++)
        if (!islower((unsigned char)word->at[i]) && !isdigit((unsigned char)word->at[i]))
            return list_fault_set(fault, word->at + i,
                                  "a mnemonic has lower-case letters and digits; before it may "
                                  "stand lock, rep, o16, {vex}, {evex} ...");
    if (!coded && !list_mnemonic_known(word->at, word->len))
        return list_fault_set(fault, word->at, "there is no instruction '%.*s'", (int)word->len,
                              word->at);
    return 0;
}

static int parse_mnemonic(struct row_parser *parser)
{
    struct list_row *row = parser->row;
    const char *text = parser_field(parser, LIST_MNEMONIC), *rest = text;
    char *full = arena_alloc(&parser->list->arena, strlen(text) + 1), *full_end = full;
    char *plain = arena_alloc(&parser->list->arena, strlen(text) + 1), *plain_end = plain;
    struct word word, last = {text, 0};
    const char *opcode = strstr(parser->fields[LIST_OPTIONS], "opcode=");
    bool coded = opcode && (opcode == parser->fields[LIST_OPTIONS] || opcode[-1] == ' ');
    bool last_is_prefix = true;
    int prefixes = 0;
    while (word_next(&rest, &word)) {
        if (last.len && !last_is_prefix)
            return list_fault_set(&parser->fault, last.at,
                                  "'%.*s' is no prefix; the mnemonic is the last word",
                                  (int)last.len, last.at);
        last = word;
        last_is_prefix = word_find(&word, mnemonic_prefixes, ARRAY_LEN(mnemonic_prefixes)) >= 0;
        if (last_is_prefix && ++prefixes > PREFIXES_MAX)
            return list_fault_set(&parser->fault, word.at, "more than %d prefixes", PREFIXES_MAX);
        if (!last_is_prefix && mnemonic_check(&word, coded, &parser->fault))
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
    const char *text = parser_field(parser, LIST_OPERANDS), *rest = text;
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
                               &parser->fault)) {
            parser_report(parser);
            continue;
        }
        operand->name = operand_names[row->nops++];
    }
    row->operands_text = canonical;
    return 0;
}

static int parse_implicit(struct row_parser *parser)
{
    struct list_row *row = parser->row;
    const char *text = parser_field(parser, LIST_IMPLICIT), *rest = text;
    struct word word;
    size_t count = 0;
    while (count < IMPLICIT_MAX && word_next(&rest, &word))
        count++;
    row->implicit = arena_alloc(&parser->list->arena, count * sizeof *row->implicit);
    for (rest = text; word_next(&rest, &word);) {
        if (row->nimplicit == IMPLICIT_MAX)
            return list_fault_set(&parser->fault, word.at, "more than %d implicit operands",
                                  IMPLICIT_MAX);
        struct operand *operand = &row->implicit[row->nimplicit];
        if (list_operand_parse(word.at, word.len, true, &parser->list->arena, operand,
                               &parser->fault)) {
            parser_report(parser);
            continue;
        }
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
    const char *text = parser_field(parser, LIST_TESTS);
    const char *wrong;
    unsigned tests;
    if (tests_parse(text, &tests, &wrong) != 0)
        return list_fault_set(&parser->fault, wrong,
                              "unknown test '%c'; known: L latency, T throughput, P ports; "
                              "empty means all",
                              *wrong);
    for (const char *at = text; *at; at++)
        if (memchr(text, *at, (size_t)(at - text)))
            return list_fault_set(&parser->fault, at, "test '%c' appears twice", *at);
    parser->row->tests = tests ? tests : TESTS_ALL;
    return 0;
}

static int parse_option(struct row_parser *parser, const struct word *word)
{
    struct list_row *row = parser->row;
    struct list_option option;
    if (list_option_parse(word->at, word->len, &parser->list->arena, &option, &parser->fault))
        return -1;
    if (list_row_option(row, option.key))
        return list_fault_set(&parser->fault, word->at, "option '%s' appears twice", option.key);
    row->options[row->noptions++] = option;
    return 0;
}

// Parses the option opcode=, which must fit the operands, parsed before.
static int parse_opcode(struct row_parser *parser)
{
    const struct list_row *row = parser->row;
    const char *opcode = list_row_option(row, "opcode");
    const char *text = parser->fields[LIST_OPTIONS];
    if (!opcode)
        return 0;
    if (list_opcode_parse(opcode, &parser->row->opcode))
        return list_fault_set(
            &parser->fault, strstr(text, opcode),
            "an opcode is ENCODING.PREFIX.MAP.W.BYTE as in evex.66.0f38.w0.55, "
            "with prefix np, 66, f3 or f2 and map 00, 0f, 0f38, 0f3a, map4 ...; after it the "
            "fields of the operands (mr, vrm, ...), /0 to /7 where the reg field belongs to the "
            "opcode, nd, nf, scc0 to sccf, dfv0 to dfvf");
    if (!parser->row_faults && (row->nops == 0 || row->ops[0].kind == OPERAND_IMM))
        return list_fault_set(&parser->fault, strstr(text, opcode),
                              "opcode= needs a row with operands");
    if (!parser->row_faults && !list_opcode_place(row, &parser->row->opcode))
        return list_fault_set(&parser->fault, strstr(text, opcode),
                              "the fields do not fit the operands: one of r, m, v, o and - for "
                              "each that is no constant, r, m, v and o once");
    return 0;
}

static int parse_options(struct row_parser *parser)
{
    struct list_row *row = parser->row;
    const char *text = parser_field(parser, LIST_OPTIONS), *rest = text;
    struct word word;
    size_t count = 0;
    while (word_next(&rest, &word))
        count++;
    row->options = arena_alloc(&parser->list->arena, (count + 1) * sizeof *row->options);
    for (rest = text; word_next(&rest, &word);)
        if (parse_option(parser, &word))
            parser_report(parser);
    const char *type = list_row_option(row, "type"), *bits = list_row_option(row, "bits");
    for (size_t i = 0; type && i < ARRAY_LEN(element_names); i++)
        if (strcmp(type, element_names[i]) == 0)
            row->element = (enum element)i;
    row->bits = bits ? atoi(bits) : 64;
    list_row_set_options(row, &parser->list->arena);
    return parse_opcode(parser);
}

// Refuses in a row for 32-bit mode what exists in 64-bit mode only.
static int parse_check_mode(struct row_parser *parser)
{
    const struct list_row *row = parser->row;
    parser_field(parser, LIST_OPERANDS);
    for (int i = 0; i < row->nops && row->bits == 32; i++)
        if (row->ops[i].kind == OPERAND_GPR && row->ops[i].bits == 64)
            return list_fault_set(&parser->fault, parser->fields[LIST_OPERANDS],
                                  "64-bit registers do not exist with bits=32");
    return 0;
}

static int parse_roles(struct row_parser *parser, const char *options)
{
    if (parser->row_faults)
        return 0; // operands may be missing
    const char *wrong = list_row_set_roles(parser->row, &parser->list->arena);
    return wrong ? list_fault_set(&parser->fault, strstr(options, wrong),
                                  "'%.*s' is no operand of this row, or has a role already",
                                  (int)strcspn(wrong, ":"), wrong)
                 : 0;
}

// Refuses options that the row's operands or other options do not allow.
static int parse_check_options(struct row_parser *parser)
{
    const struct list_row *row = parser->row;
    const char *text = parser_field(parser, LIST_OPTIONS);
    if (parse_roles(parser, text) != 0)
        return -1;
    const char *ring0 = list_ring0_refuses(row);
    if (ring0)
        return list_fault_set(&parser->fault, text, "%s", ring0);
    const struct operand *divisor = &row->ops[0];
    bool integer = row->nops > 0 && divisor->bits >= 8 && divisor->bits <= 64 &&
                   (divisor->kind == OPERAND_GPR || divisor->kind == OPERAND_MEM);
    if (row->data == DATA_INTEGER_DIVIDE && !integer)
        return list_fault_set(&parser->fault, strstr(text, "data="),
                              "data=idiv is for a divisor of 8 to 64 bits in a general-purpose "
                              "register or in memory");
    return 0;
}

static int parse_check_lengths(struct row_parser *parser)
{
    const struct list_row *row = parser->row;
    const struct {
        int column, limit;
        const char *what, *text;
    } texts[] = {
        {LIST_OPERANDS, OPERANDS_MAX_CHARS, "operands have", row->operands_text},
        {LIST_ISA,      ISA_MAX_CHARS,      "the isa has",   row->isa          },
        {LIST_MNEMONIC, FORM_CHARS_MAX,     "the form has",  row->form         },
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (strlen(texts[i].text) > (size_t)texts[i].limit)
            return list_fault_set(&parser->fault, parser_field(parser, texts[i].column),
                                  "%s more than %d characters", texts[i].what, texts[i].limit);
    return 0;
}

// Sets the form, the identity of the row: nasm_mnemonic, operands, and the options that make
// another form.
static void row_set_form(struct row_parser *parser)
{
    struct list_row *row = parser->row;
    struct arena *arena = &parser->list->arena;
    row->form = *row->operands_text
                    ? arena_printf(arena, "%s %s", row->nasm_mnemonic, row->operands_text)
                    : row->nasm_mnemonic;
    const char *key;
    for (int i = 0; (key = list_option_form_key(i)); i++) {
        const char *value = list_row_option(row, key);
        if (value && (strcmp(key, "bits") != 0 || row->bits != 64))
            row->form = arena_printf(arena, "%s %s%s%s", row->form, key, *value ? "=" : "", value);
    }
}

// Parses all columns and reports the faults of each. Returns 0 if there is none.
static int parse_row(struct row_parser *parser)
{
    static int (*const columns[])(struct row_parser *) = {
        parse_mnemonic, parse_operands, parse_implicit, parse_tests, parse_options};
    parser->row_faults = 0;
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        if (columns[i](parser))
            parser_report(parser);
    if (!parser->row_faults && (parse_check_mode(parser) || parse_check_options(parser)))
        parser_report(parser);
    const struct list_isa *isa =
        list_isa_look_up(&parser->isas, parser_field(parser, LIST_ISA), &parser->fault);
    if (!isa)
        parser_report(parser);
    if (parser->row_faults)
        return -1;
    parser->row->isa = isa->text;
    parser->row->enc = list_isa_encoding(isa, parser->row);
    row_set_form(parser);
    if (parse_check_lengths(parser) == 0)
        return 0;
    parser_report(parser);
    return -1;
}

// Returns the first comment but the licence line: the title.
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

// Checks the texts of the list itself that the database takes.
static int list_check_texts(const struct list *list, struct err *err)
{
    if (!text_is_plain(list->name))
        return err_set(err, "%s: control characters in the name of the list; rename the file",
                       list->path);
    if (text_width(list->name, strlen(list->name)) > NAME_MAX_CHARS)
        return err_set(err, "%s: the name of the list has more than %d characters; rename the file",
                       list->path, NAME_MAX_CHARS);
    if (text_width(list->title, strlen(list->title)) > TITLE_MAX_CHARS)
        return err_set(err,
                       "%s:1: the title, which is the first comment, has more than %d characters",
                       list->path, TITLE_MAX_CHARS);
    return 0;
}

static void list_parse_form(struct row_parser *parser, const char *const *fields, bool family)
{
    struct list *list = parser->list;
    list->rows =
        xgrow(list->rows, &parser->rows_capacity, (size_t)list->nrows + 1, sizeof *list->rows);
    struct list_row *row = &list->rows[list->nrows];
    *row = (struct list_row){.path = list->path,
                             .line = parser->record->line,
                             .source = parser->record->text,
                             .section = parser->record->heading,
                             .fields = fields,
                             .family = family};
    parser->row = row;
    parser->fields = fields;
    parser->variant =
        family ? arena_printf(&list->arena, "%s %s", fields[LIST_MNEMONIC], fields[LIST_OPERANDS])
               : NULL;
    if (parse_row(parser) == 0)
        list->nrows++;
}

// Parses a row of the file with all forms that it stands for. Only the first faulty variant is
// reported.
static void list_parse_record(struct row_parser *parser, const struct csv_record *record)
{
    struct list_family family;
    parser->record = record;
    parser->fields = record->fields;
    parser->variant = NULL;
    parser->row_faults = 0;
    if (list_family_expand(record->fields, &parser->list->arena, &family, &parser->column,
                           &parser->fault))
        parser_report(parser);
    for (int i = 0; i < family.nrows && !parser->row_faults; i++)
        list_parse_form(parser, family.rows[i], family.family);
}

static int list_parse_rows(const struct csv_file *file, struct list *list, list_fault_fn *on_fault,
                           void *data)
{
    struct row_parser parser = {.list = list, .on_fault = on_fault, .data = data};
    for (size_t i = 0; i < file->nrecords; i++) {
        list_parse_record(&parser, &file->records[i]);
        if (list->nrows <= LIST_ROWS_MAX)
            continue;
        struct err err;
        err_set(&err, "%s:%d: more than %d forms in a list; divide it into several", list->path,
                file->records[i].line, LIST_ROWS_MAX);
        on_fault(&err, data);
        return -1;
    }
    return parser.faults;
}

int list_read_all(const char *path, struct list *list, list_fault_fn *fault, void *data)
{
    struct csv_file file;
    struct err err = {0};
    *list = (struct list){0};
    if (cpuinfo_load(&err) || csv_file_read_most(path, &list_spec, LIST_ROWS_MAX, &file, &err)) {
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
    if (list_check_texts(list, &err)) {
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
    struct err first = {0};
    if (list_read_all(path, list, list_keep_first, &first) == 0)
        return 0;
    list_free(list);
    if (err)
        *err = first;
    return -1;
}

void list_free(struct list *list)
{
    free(list->rows);
    arena_free(&list->arena);
    *list = (struct list){0};
}

int list_row_column(const struct list_row *row, const char *token)
{
    const char *at = token ? strstr(row->source, token) : NULL;
    return at ? (int)(at - row->source) + 1 : 1;
}

int list_row_error_at(const struct list_row *row, int column, struct err *err, const char *message)
{
    const struct csv_place place = {row->path, row->line, row->source, column};
    return csv_error_at(&place, err, "%s%s%s%s", row->family ? "in '" : "",
                        row->family ? row->form : "", row->family ? "': " : "", message);
}

int list_row_error(const struct list_row *row, const char *token, struct err *err,
                   const char *format, ...)
{
    char message[1024];
    va_list ap;
    va_start(ap, format);
    vsnprintf(message, sizeof message, format, ap);
    va_end(ap);
    return list_row_error_at(row, list_row_column(row, token), err, message);
}
