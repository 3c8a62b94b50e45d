// SPDX-License-Identifier: MIT
// Expressions of users; see expr.h. No text of theirs gets into the SQL: names are columns of the
// view, operators come from a table, values are parameters.
#include "expr.h"

#include "util/mem.h"
#include "util/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// Limits: nesting of parentheses and signs; number of columns and values. SQLite has further limits
// of its own.
enum { DEPTH_MAX = 50, FACTORS_MAX = 300 };

enum expr_kind { KIND_WRONG, KIND_TRUTH, KIND_NUMBER, KIND_TEXT, KIND_COLUMN };

struct expr_parser {
    struct store *store;
    enum store_view view;
    const char *text, *at; // at: the next character to be read
    struct store_where *where;
    int depth, factors;
    struct err *err;
};

// Sets the message with the expression and a caret below `at`. Returns KIND_WRONG.
static enum expr_kind __attribute__((format(printf, 3, 4)))
expr_fail(struct expr_parser *parser, const char *at, const char *format, ...)
{
    char what[512];
    va_list ap;
    va_start(ap, format);
    vsnprintf(what, sizeof what, format, ap);
    va_end(ap);
    if (text_is_plain(parser->text) && !strpbrk(parser->text, "\t\n"))
        err_set(parser->err, "%s\n  %s\n  %*s^", what, parser->text,
                text_width(parser->text, (size_t)(at - parser->text)), "");
    else
        err_set(parser->err, "%s, at character %d", what,
                text_width(parser->text, (size_t)(at - parser->text)) + 1);
    return KIND_WRONG;
}

static const char *expr_next(struct expr_parser *parser)
{
    while (isspace((unsigned char)*parser->at))
        parser->at++;
    return parser->at;
}

static bool expr_is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool expr_is_one(const char *text)
{
    static const char *const words[] = {"is", "in", "like", "between"}; // after a column
    for (const char *at = text; *at; at++)
        for (size_t i = 0; at > text && i < ARRAY_LEN(words); i++) {
            size_t len = strlen(words[i]);
            if (strncasecmp(at, words[i], len) == 0 && !expr_is_name(at[len]) &&
                strchr(" )", at[-1]) && strspn(text, " ") < (size_t)(at - text))
                return true;
        }
    return strpbrk(text, "<>=~") != NULL;
}

// Takes a word of the language, if it comes next.
static bool expr_word(struct expr_parser *parser, const char *word)
{
    size_t len = strlen(word);
    const char *at = expr_next(parser);
    if (strncasecmp(at, word, len) != 0 || expr_is_name(at[len]))
        return false;
    parser->at = at + len;
    return true;
}

static bool expr_sign(struct expr_parser *parser, const char *sign)
{
    const char *at = expr_next(parser);
    if (strncmp(at, sign, strlen(sign)) != 0)
        return false;
    parser->at = at + strlen(sign);
    return true;
}

static void expr_value(struct expr_parser *parser, struct where_value value)
{
    struct store_where *where = parser->where;
    where->values = xrealloc(where->values, ((size_t)where->nvalues + 1) * sizeof *where->values);
    where->values[where->nvalues] = value;
    strbuf_printf(&where->sql, "?%d", WHERE_FIRST + where->nvalues++);
}

static enum expr_kind expr_number(struct expr_parser *parser, const char *at)
{
    char *end;
    double number = strtod(at, &end);
    if (expr_is_name(*end))
        return expr_fail(parser, at, "'%.*s' is no number",
                         (int)strspn(at, "0123456789abcdefghijklmnopqrstuvwxyz_."), at);
    parser->at = end;
    expr_value(parser, (struct where_value){.number = number});
    return KIND_NUMBER;
}

static enum expr_kind expr_text(struct expr_parser *parser, const char *at)
{
    const char *end = strchr(at + 1, *at);
    if (!end)
        return expr_fail(parser, at, "this text has no end");
    parser->at = end + 1;
    expr_value(parser,
               (struct where_value){.text = xasprintf("%.*s", (int)(end - at - 1), at + 1)});
    return KIND_TEXT;
}

static enum expr_kind expr_read_column(struct expr_parser *parser, const char *at)
{
    const char *end = at;
    struct err why = {0};
    while (expr_is_name(*end))
        end++;
    char *name = xasprintf("%.*s", (int)(end - at), at);
    char *column = expr_column(parser->store, parser->view, name, &why);
    free(name);
    if (!column)
        return expr_fail(parser, at, "%s", why.text);
    parser->at = end;
    strbuf_printf(&parser->where->sql, "\"%s\"", column);
    free(column);
    return KIND_COLUMN;
}

static enum expr_kind expr_expression(struct expr_parser *parser);

static enum expr_kind expr_factor(struct expr_parser *parser)
{
    const char *at = expr_next(parser);
    enum expr_kind kind;
    if (parser->depth > DEPTH_MAX)
        return expr_fail(parser, at, "this is nested too deeply");
    if (++parser->factors > FACTORS_MAX)
        return expr_fail(parser, at, "an expression has %d columns and values at most",
                         FACTORS_MAX);
    if (isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1])))
        return expr_number(parser, at);
    if (*at == '\'' || *at == '"')
        return expr_text(parser, at);
    if (isalpha((unsigned char)*at) || *at == '_')
        return expr_read_column(parser, at);
    parser->depth++;
    if (expr_sign(parser, "-")) {
        strbuf_puts(&parser->where->sql, "(-");
        const char *operand = expr_next(parser);
        kind = expr_factor(parser);
        strbuf_puts(&parser->where->sql, ")");
        if (kind == KIND_TEXT || kind == KIND_TRUTH)
            kind = expr_fail(parser, operand, "a number belongs here");
    } else if (expr_sign(parser, "(")) {
        kind = expr_expression(parser);
        if (kind != KIND_WRONG && !expr_sign(parser, ")"))
            kind = expr_fail(parser, expr_next(parser), "a ) is missing here");
    } else {
        kind = expr_fail(parser, at,
                         *at ? "a column, a number or a text in quotes belongs here"
                             : "the expression ends too early");
    }
    parser->depth--;
    return kind;
}

// Parses operators of one rank between operands that are numbers. All share one pair of
// parentheses: SQLite also reads from left to right, and its depth is limited.
static enum expr_kind expr_arithmetic(struct expr_parser *parser,
                                      enum expr_kind (*operand)(struct expr_parser *),
                                      const char *signs)
{
    struct strbuf *sql = &parser->where->sql;
    size_t from = sql->len;
    bool joined = false;
    const char *left = expr_next(parser);
    enum expr_kind kind = operand(parser);
    while (kind != KIND_WRONG) {
        const char *at = expr_next(parser);
        if (!*at || !strchr(signs, *at))
            break;
        parser->at++;
        if (kind == KIND_TEXT || kind == KIND_TRUTH)
            return expr_fail(parser, left, "a number belongs here");
        if (!joined) { // 1.0: the quotient of two whole numbers need not be whole
            char *before = xstrdup(strbuf_text(sql) + from);
            sql->len = from;
            strbuf_printf(sql, "(1.0 * %s", before);
            free(before);
            joined = true;
        }
        strbuf_printf(sql, " %c ", *at);
        const char *right = expr_next(parser);
        kind = operand(parser);
        if (kind == KIND_TEXT || kind == KIND_TRUTH)
            return expr_fail(parser, right, "a number belongs here");
        kind = kind == KIND_WRONG ? kind : KIND_NUMBER;
    }
    strbuf_puts(sql, joined ? ")" : "");
    return kind;
}

static enum expr_kind expr_product(struct expr_parser *parser)
{
    return expr_arithmetic(parser, expr_factor, "*/");
}

static enum expr_kind expr_sum(struct expr_parser *parser)
{
    return expr_arithmetic(parser, expr_product, "+-");
}

// Parses an operand of a comparison, which is no truth value.
static enum expr_kind expr_side(struct expr_parser *parser)
{
    const char *at = expr_next(parser);
    enum expr_kind kind = expr_sum(parser);
    return kind == KIND_TRUTH ? expr_fail(parser, at, "a value belongs here, not a comparison")
                              : kind;
}

static enum expr_kind expr_in(struct expr_parser *parser)
{
    struct strbuf *sql = &parser->where->sql;
    if (!expr_sign(parser, "("))
        return expr_fail(parser, expr_next(parser), "a ( belongs here: in (1, 2)");
    strbuf_puts(sql, " COLLATE NOCASE IN (");
    do {
        if (expr_side(parser) == KIND_WRONG)
            return KIND_WRONG;
        strbuf_puts(sql, ", ");
    } while (expr_sign(parser, ","));
    sql->len -= 2;
    strbuf_puts(sql, ")");
    return expr_sign(parser, ")") ? KIND_TRUTH
                                  : expr_fail(parser, expr_next(parser), "a ) is missing here");
}

static enum expr_kind expr_between(struct expr_parser *parser)
{
    struct strbuf *sql = &parser->where->sql;
    strbuf_puts(sql, " COLLATE NOCASE BETWEEN ");
    if (expr_side(parser) == KIND_WRONG)
        return KIND_WRONG;
    if (!expr_word(parser, "and"))
        return expr_fail(parser, expr_next(parser), "the word and belongs here: between 1 and 2");
    strbuf_puts(sql, " AND ");
    return expr_side(parser) == KIND_WRONG ? KIND_WRONG : KIND_TRUTH;
}

// Parses a glob or a pattern of SQL, to match the left side's text; both in lower case.
static enum expr_kind expr_pattern(struct expr_parser *parser, size_t from, const char *sign,
                                   const char *example)
{
    struct strbuf *sql = &parser->where->sql;
    const char *at = expr_next(parser);
    char *left = xstrdup(strbuf_text(sql) + from);
    sql->len = from;
    strbuf_printf(sql, "lower(%s) %s lower(", left, sign);
    free(left);
    enum expr_kind kind = expr_side(parser);
    strbuf_puts(sql, ")");
    if (kind == KIND_NUMBER)
        return expr_fail(parser, at, "a text in quotes belongs here: %s", example);
    return kind == KIND_WRONG ? kind : KIND_TRUTH;
}

static enum expr_kind expr_compare(struct expr_parser *parser, size_t from, enum expr_kind left)
{
    // Longer signs stand before those that they begin with.
    static const struct {
        const char *sign, *sql;
    } signs[] = {
        {"<=", "<="},
        {">=", ">="},
        {"!=", "<>"},
        {"<>", "<>"},
        {"==", "=" },
        {"=",  "=" },
        {"<",  "<" },
        {">",  ">" }
    };
    struct strbuf *sql = &parser->where->sql;
    if (expr_sign(parser, "!~"))
        return expr_pattern(parser, from, "NOT GLOB", "form !~ 'vpadd*'");
    if (expr_sign(parser, "~"))
        return expr_pattern(parser, from, "GLOB", "form ~ 'vpadd*'");
    for (size_t i = 0; i < ARRAY_LEN(signs); i++)
        if (expr_sign(parser, signs[i].sign)) {
            strbuf_printf(sql, " %s ", signs[i].sql);
            const char *at = expr_next(parser);
            enum expr_kind right = expr_side(parser);
            if ((left == KIND_TEXT && right == KIND_NUMBER) ||
                (left == KIND_NUMBER && right == KIND_TEXT))
                return expr_fail(parser, at, "a number and a text cannot be compared");
            strbuf_puts(sql, " COLLATE NOCASE");
            return right == KIND_WRONG ? right : KIND_TRUTH;
        }
    return left;
}

static enum expr_kind expr_comparison(struct expr_parser *parser)
{
    struct strbuf *sql = &parser->where->sql;
    size_t from = sql->len;
    const char *at = expr_next(parser);
    enum expr_kind kind = expr_sum(parser);
    if (kind == KIND_WRONG || kind == KIND_TRUTH)
        return kind;
    if (expr_word(parser, "is")) {
        bool not = expr_word(parser, "not");
        strbuf_puts(sql, not ? " IS NOT NULL" : " IS NULL");
        return expr_word(parser, "null")
                   ? KIND_TRUTH
                   : expr_fail(parser, expr_next(parser), "the word null belongs here");
    }
    bool negated = expr_word(parser, "not");
    if (negated) {
        char *left = xstrdup(strbuf_text(sql) + from);
        sql->len = from;
        strbuf_printf(sql, "NOT %s", left);
        from += strlen("NOT ");
        free(left);
    }
    if (expr_word(parser, "in"))
        return expr_in(parser);
    if (expr_word(parser, "like"))
        return expr_pattern(parser, from, "LIKE", "form like 'vpadd%'");
    if (expr_word(parser, "between"))
        return expr_between(parser);
    if (negated)
        return expr_fail(parser, expr_next(parser),
                         "in, like or between belongs here: not in (1, 2)");
    kind = expr_compare(parser, from, kind);
    return kind == KIND_TRUTH || kind == KIND_WRONG || parser->depth > 0
               ? kind
               : expr_fail(parser, at, "a comparison is missing: latency > 20");
}

static enum expr_kind expr_negation(struct expr_parser *parser)
{
    if (!expr_word(parser, "not"))
        return expr_comparison(parser);
    const char *at = expr_next(parser);
    if (++parser->depth > DEPTH_MAX)
        return expr_fail(parser, at, "this is nested too deeply");
    strbuf_puts(&parser->where->sql, "(NOT ");
    enum expr_kind kind = expr_negation(parser);
    strbuf_puts(&parser->where->sql, ")");
    parser->depth--;
    return kind == KIND_TRUTH || kind == KIND_WRONG
               ? kind
               : expr_fail(parser, at, "a comparison belongs here");
}

// Parses truth values joined by a word.
static enum expr_kind expr_join(struct expr_parser *parser,
                                enum expr_kind (*operand)(struct expr_parser *), const char *word)
{
    const char *at = expr_next(parser);
    enum expr_kind kind = operand(parser);
    while (kind != KIND_WRONG && expr_word(parser, word)) {
        if (kind != KIND_TRUTH)
            return expr_fail(parser, at, "a comparison belongs here");
        strbuf_printf(&parser->where->sql, " %s ", word);
        at = expr_next(parser);
        kind = operand(parser);
        if (kind != KIND_TRUTH && kind != KIND_WRONG)
            return expr_fail(parser, at, "a comparison belongs here");
    }
    return kind;
}

static enum expr_kind expr_conjunction(struct expr_parser *parser)
{
    return expr_join(parser, expr_negation, "and");
}

// Parses an expression, in parentheses of its own so that it is one operand of its surroundings.
static enum expr_kind expr_expression(struct expr_parser *parser)
{
    strbuf_puts(&parser->where->sql, "(");
    enum expr_kind kind = expr_join(parser, expr_conjunction, "or");
    strbuf_puts(&parser->where->sql, ")");
    return kind;
}

// Has SQLite prepare the expression, which may be nested too deeply for it.
static enum expr_kind expr_try(struct expr_parser *parser)
{
    const struct store_filter filter = {.where = parser->where};
    struct err why;
    struct store_rows *rows = store_rows_open(parser->store, parser->view, &filter, &why);
    if (rows)
        store_rows_close(rows);
    else if (strstr(why.text, "parser stack overflow"))
        return expr_fail(parser, parser->text, "this is nested too deeply; take fewer parentheses");
    else
        *parser->err = why;
    return rows ? KIND_TRUTH : KIND_WRONG;
}

struct store_where *expr_parse(struct store *store, enum store_view view, const char *text,
                               struct err *err)
{
    struct store_where *where = xcalloc(1, sizeof *where);
    struct expr_parser parser = {store, view, text, text, where, 0, 0, err};
    enum expr_kind kind = expr_expression(&parser);
    if (kind != KIND_WRONG && *expr_next(&parser))
        kind = expr_fail(&parser, parser.at,
                         "the expression should end here, or continue with and, "
                         "or");
    if (kind == KIND_TRUTH)
        kind = expr_try(&parser);
    if (kind == KIND_TRUTH)
        return where;
    if (kind != KIND_WRONG)
        expr_fail(&parser, text, "a comparison is missing: latency > 20");
    expr_free(where);
    return NULL;
}

void expr_free(struct store_where *where)
{
    if (!where)
        return;
    for (int i = 0; i < where->nvalues; i++)
        free(where->values[i].text);
    free(where->values);
    strbuf_free(&where->sql);
    free(where);
}
