// SPDX-License-Identifier: MIT
// Sweeps of a number in a piece of code; see bench_sweep.h. The number is written into the text, so
// that it can be anything that an assembler or a compiler reads: a repetition (`times {N} nop`), a
// displacement, a value.
#include "bench_sweep.h"

#include "util/scratch.h"
#include "util/strbuf.h"
#include "util/subproc.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Far from what an int64_t overflows at, and more than any operand has.
static const int64_t SWEEP_VALUE_MAX = INT64_C(1) << 53;

static int sweep_malformed(const char *text, struct err *err)
{
    return err_set(err,
                   "'%s' is no sweep; it is written N=FIRST..LAST or N=FIRST..LAST:STEP, e.g. "
                   "N=0..32:4",
                   text);
}

static bool sweep_number(const char **at, int64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoll(*at, &end, 0);
    bool good = end != *at && !errno && !isspace((unsigned char)**at) &&
                *value >= -SWEEP_VALUE_MAX && *value <= SWEEP_VALUE_MAX;
    *at = end;
    return good;
}

int bench_sweep_parse(const char *text, struct bench_sweep *sweep, struct err *err)
{
    const char *at = text;
    size_t len = 0;
    int64_t last = 0;
    *sweep = (struct bench_sweep){.step = 1};
    while (isalnum((unsigned char)text[len]) || text[len] == '_')
        len++;
    if (!len || len >= SWEEP_NAME_MAX || isdigit((unsigned char)*text) || text[len] != '=')
        return sweep_malformed(text, err);
    memcpy(sweep->name, text, len);
    at += len + 1;
    if (!sweep_number(&at, &sweep->first) || strncmp(at, "..", 2) != 0)
        return sweep_malformed(text, err);
    at += 2;
    if (!sweep_number(&at, &last) || (*at && *at != ':'))
        return sweep_malformed(text, err);
    if (*at == ':' && (at++, !sweep_number(&at, &sweep->step) || *at))
        return sweep_malformed(text, err);
    if (last < sweep->first || sweep->step < 1)
        return err_set(err, "the sweep '%s' has no points: it goes upwards, in steps of 1 or more",
                       text);
    int64_t points = (last - sweep->first) / sweep->step + 1;
    if (points > SWEEP_POINTS_MAX)
        return err_set(err,
                       "the sweep '%s' has %" PRId64 " points, each of which takes a second or so; "
                       "%d at most: --sweep %s=%" PRId64 "..%" PRId64 ":%" PRId64 " has fewer",
                       text, points, SWEEP_POINTS_MAX, sweep->name, sweep->first, last,
                       (last - sweep->first) / (SWEEP_POINTS_MAX / 10) + 1);
    sweep->npoints = (int)points;
    return 0;
}

// *places: counted on.
static const char *sweep_fill(const struct bench_sweep *sweep, int64_t value, const char *text,
                              struct arena *arena, int *places)
{
    struct strbuf out = {0};
    char name[SWEEP_NAME_MAX + 2];
    size_t len = (size_t)snprintf(name, sizeof name, "{%s}", sweep->name);
    if (!text || !strstr(text, name))
        return text;
    for (const char *found; (found = strstr(text, name)); text = found + len, ++*places) {
        strbuf_put(&out, text, (size_t)(found - text));
        strbuf_printf(&out, "%" PRId64, value);
    }
    strbuf_puts(&out, text);
    const char *filled = arena_strdup(arena, strbuf_text(&out));
    strbuf_free(&out);
    return filled;
}

int bench_sweep_point(const struct bench_sweep *sweep, int point, const struct bench_spec *spec,
                      struct arena *arena, struct bench_spec *filled)
{
    int64_t value = sweep->first + point * sweep->step;
    int places = 0;
    *filled = *spec;
    filled->body = sweep_fill(sweep, value, spec->body, arena, &places);
    filled->init = sweep_fill(sweep, value, spec->init, arena, &places);
    filled->cflags = sweep_fill(sweep, value, spec->cflags, arena, &places);
    int labels = 0;
    filled->label = sweep_fill(sweep, value, spec->label, arena, &labels);
    return places;
}

static void plot_script(const struct bench_sweep *sweep, const struct sweep_point *points,
                        const char *terminal, bool to_file, struct strbuf *script)
{
    strbuf_printf(script,
                  "set terminal %s\n%sset xlabel '%s'\nset ylabel 'core cycles per instance'\n"
                  "set grid\nset key off\nset yrange [0:*]\nplot '-' using 1:2 with linespoints\n",
                  terminal, to_file ? "set output 'plot'\n" : "", sweep->name);
    for (int i = 0; i < sweep->npoints; i++)
        if (points[i].outcome == OUTCOME_OK && isfinite(points[i].clk))
            strbuf_printf(script, "%" PRId64 " %.9g\n", points[i].value, points[i].clk);
        else
            strbuf_puts(script, "\n"); // the line is broken there
    strbuf_puts(script, "e\n");
}

static int plot_write(const char *path, const char *bytes, size_t len, struct err *err)
{
    FILE *file = fopen(path, "we");
    bool bad = !file || fwrite(bytes, 1, len, file) != len;
    if (file && fclose(file) != 0)
        bad = true;
    return bad ? err_set(err, "%s: cannot be written: %s", path, strerror(errno)) : 0;
}

static int plot_copy(const char *from, const char *to, struct err *err)
{
    struct strbuf bytes = {0};
    char part[65536];
    FILE *file = fopen(from, "re");
    for (size_t got; file && (got = fread(part, 1, sizeof part, file)) > 0;)
        strbuf_put(&bytes, part, got);
    if (file)
        fclose(file);
    int result = bytes.len ? plot_write(to, bytes.data, bytes.len, err)
                           : err_set(err, "gnuplot made no picture");
    strbuf_free(&bytes);
    return result;
}

// Runs gnuplot on the script in a directory of its own.
static int plot_run(const char *directory, const char *path, const struct strbuf *script,
                    struct strbuf *text, struct err *err)
{
    char *name = xasprintf("%s/script", directory), *picture = xasprintf("%s/plot", directory);
    const char *const argv[] = {"gnuplot", "script", NULL};
    const struct subproc_options options = {.cwd = directory, .tool = true, .timeout_ms = 60000};
    struct subproc_result ran;
    int result = plot_write(name, strbuf_text(script), script->len, err);
    if (result == 0 && subproc_run(argv, &options, &ran, err) != 0) {
        result = err_prefix(err, "no plot, for which gnuplot is needed: ");
    } else if (result == 0) {
        if (ran.exit_status != 0)
            result = err_set(err, "gnuplot failed: %.600s", ran.err);
        else if (strcmp(path, "-") == 0)
            strbuf_puts(text, ran.out);
        else
            result = plot_copy(picture, path, err);
        subproc_result_free(&ran);
    }
    free(name);
    free(picture);
    return result;
}

int bench_sweep_plot(const struct bench_sweep *sweep, const struct sweep_point *points,
                     const char *path, struct strbuf *text, struct err *err)
{
    const char *dot = strrchr(path, '.');
    const char *terminal = strcmp(path, "-") == 0            ? "dumb 79 24"
                           : dot && strcmp(dot, ".svg") == 0 ? "svg size 800,500"
                           : dot && strcmp(dot, ".png") == 0 ? "png size 800,500"
                                                             : NULL;
    if (!terminal)
        return err_set(err, "%s: a plot is a file .svg or .png, or -", path);
    char *directory = scratch_begin(err);
    if (!directory)
        return -1;
    struct strbuf script = {0};
    plot_script(sweep, points, terminal, strcmp(path, "-") != 0, &script);
    int result = plot_run(directory, path, &script, text, err);
    strbuf_free(&script);
    scratch_end(directory, false);
    return result;
}
