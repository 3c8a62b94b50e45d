// SPDX-License-Identifier: MIT
// A recursive-descent parser that compiles to reverse Polish notation; see bench_column.h.
#include "bench_column.h"

#include "util/suggest.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 32, STEPS_MAX = 128 };

struct bench_step {
    char what;     // 'n' number, 'v' value, '~' negation, or the operator
    double number; // for 'n'
    int value;     // for 'v': index
};

struct column_parser {
    const char *text, *at;
    const char *const *names;
    int nnames;
    struct bench_step *steps;
    int nsteps, depth;
    struct err *err;
};

static int fail_at(const struct column_parser *parser, const char *at, const char *message)
{
    return err_set(parser->err, "column: %s\n  %s\n  %*s^", message, parser->text,
                   (int)(at - parser->text), "");
}

static void skip_blanks(struct column_parser *parser)
{
    while (isspace((unsigned char)*parser->at))
        parser->at++;
}

static int put_step(struct column_parser *parser, struct bench_step step)
{
    if (parser->nsteps == STEPS_MAX)
        return fail_at(parser, parser->at, "the expression is too long");
    parser->steps[parser->nsteps++] = step;
    return 0;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == ':' || c == '@';
}

static bool same_name(const char *name, const char *written, size_t len)
{
    if (strlen(name) != len)
        return false;
    for (size_t i = 0; i < len; i++) {
        char a = name[i] == '-' ? '_' : name[i];
        if (tolower((unsigned char)a) != tolower((unsigned char)written[i]))
            return false;
    }
    return true;
}

static int parse_name(struct column_parser *parser)
{
    const char *start = parser->at;
    while (is_name(*parser->at))
        parser->at++;
    size_t len = (size_t)(parser->at - start);
    struct suggestion near = suggest_start(start, len);
    for (int i = 0; i < parser->nnames; i++) {
        if (same_name(parser->names[i], start, len))
            return put_step(parser, (struct bench_step){.what = 'v', .value = i});
        suggest_offer(&near, parser->names[i]);
    }
    char message[256], better[128];
    snprintf(message, sizeof message, "there is no '%.*s' here%s (events have to be in --events)",
             (int)len, start, suggest_text(&near, better, sizeof better));
    return fail_at(parser, start, message);
}

static int parse_number(struct column_parser *parser)
{
    char *end;
    double number = strtod(parser->at, &end);
    if (end == parser->at)
        return fail_at(parser, parser->at, "a number or a name is missing");
    parser->at = end;
    return put_step(parser, (struct bench_step){.what = 'n', .number = number});
}

static int parse_sum(struct column_parser *parser);

static int parse_factor(struct column_parser *parser)
{
    skip_blanks(parser);
    const char *start = parser->at;
    int status;
    if (++parser->depth > DEPTH_MAX)
        return fail_at(parser, start, "nested too deeply");
    if (*start == '(') {
        parser->at++;
        if (parse_sum(parser) != 0)
            return -1;
        if (*parser->at != ')')
            return fail_at(parser, parser->at, "a closing parenthesis is missing");
        parser->at++;
        status = 0;
    } else if (*start == '-') {
        parser->at++;
        status = parse_factor(parser);
        if (status == 0)
            status = put_step(parser, (struct bench_step){.what = '~'});
    } else if (isalpha((unsigned char)*start) || *start == '_' || *start == '@') {
        status = parse_name(parser);
    } else {
        status = parse_number(parser);
    }
    parser->depth--;
    skip_blanks(parser);
    return status;
}

static int parse_product(struct column_parser *parser)
{
    if (parse_factor(parser) != 0)
        return -1;
    while (*parser->at == '*' || *parser->at == '/') {
        char what = *parser->at++;
        if (parse_factor(parser) != 0 || put_step(parser, (struct bench_step){.what = what}))
            return -1;
    }
    return 0;
}

static int parse_sum(struct column_parser *parser)
{
    if (parse_product(parser) != 0)
        return -1;
    while (*parser->at == '+' || *parser->at == '-') {
        char what = *parser->at++;
        if (parse_product(parser) != 0 || put_step(parser, (struct bench_step){.what = what}))
            return -1;
    }
    return 0;
}

int bench_column_parse(const char *text, const char *const *names, int nnames, struct arena *arena,
                       struct bench_column *column, struct err *err)
{
    struct column_parser parser = {
        .text = text, .at = text, .names = names, .nnames = nnames, .err = err};
    parser.steps = arena_alloc(arena, STEPS_MAX * sizeof *parser.steps);
    const char *equals = strchr(text, '=');
    column->name = equals ? arena_strndup(arena, text, (size_t)(equals - text)) : text;
    if (equals)
        parser.at = equals + 1;
    if (!*column->name)
        return fail_at(&parser, text, "the column has no name");
    if (parse_sum(&parser) != 0)
        return -1;
    if (*parser.at)
        return fail_at(&parser, parser.at, "an operator is missing, or this is too much");
    column->steps = parser.steps;
    column->nsteps = parser.nsteps;
    return 0;
}

static double apply(char what, double left, double right)
{
    switch (what) {
    case '+':
        return left + right;
    case '-':
        return left - right;
    case '*':
        return left * right;
    default:
        return right < 0 || right > 0 ? left / right : (double)NAN;
    }
}

double bench_column_value(const struct bench_column *column, const double *values)
{
    double stack[STEPS_MAX] = {0};
    int n = 0;
    for (int i = 0; i < column->nsteps; i++) {
        const struct bench_step *step = &column->steps[i];
        if (step->what == 'n') {
            stack[n++] = step->number;
        } else if (step->what == 'v') {
            stack[n++] = values[step->value];
        } else if (step->what == '~') {
            stack[n - 1] = -stack[n - 1];
        } else {
            n--;
            stack[n - 1] = apply(step->what, stack[n - 1], stack[n]);
        }
    }
    return n ? stack[0] : (double)NAN;
}
