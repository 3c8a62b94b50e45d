// SPDX-License-Identifier: MIT
// The progress display; see progress.h. The number of kernels to come is not known in advance: it
// is extrapolated from the batches seen so far, so percentage and time left settle within the first
// of them. The width is asked for at every redraw, which makes a handler for SIGWINCH unnecessary;
// and nothing is drawn while another job owns the terminal.
#include "progress.h"

#include "clock.h"
#include "mem.h"
#include "strbuf.h"
#include "terminal.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    REDRAW_NS = 100000000, // ten times per second: more is work, not information
    DEFAULT_COLUMNS = 80,  // where the terminal does not say
    BAR_COLUMNS_MAX = 40,  // a longer bar tells nothing more
    BAR_COLUMNS_MIN = 6,   // a shorter one is left out
    BAR_FRAME_COLUMNS = 3, // brackets and a space
    HOURS_MAX = 99,        // longer is "a long time" and would break the columns
    BAR_COLUMNS_KEPT = 12, // least width of the bar on wide terminals, at the expense of the text
                           // ...
    BAR_KEPT_COLUMNS = 60, // ... from this width on
};
static const double NEARLY_DONE = 1.02; // ratio of expected to done kernels that is shown as 98 %

struct progress {
    pthread_mutex_t mutex;
    bool bar, colour, drawn, waiting, quiet;
    int rows;
    int64_t later;                             // estimated kernels of other work after the rows
    const char *things;                        // word for the rows
    int64_t rows_announced, kernels_announced; // by progress_more()
    int64_t kernels_done, kernels_failed;
    int64_t start_ns, drawn_ns;
    const char *list; // NULL: none has begun
    int list_rows, list_done, list_ok;
};

static int64_t progress_seconds(const struct progress *progress)
{
    return (clock_now_ns() - progress->start_ns) / 1000000000;
}

static void progress_put_time(struct strbuf *out, int64_t seconds)
{
    if (seconds / 3600 > HOURS_MAX)
        strbuf_printf(out, ">%dh", HOURS_MAX);
    else if (seconds >= 3600)
        strbuf_printf(out, "%" PRId64 ":%02d:%02d", seconds / 3600, (int)(seconds / 60 % 60),
                      (int)(seconds % 60));
    else
        strbuf_printf(out, "%d:%02d", (int)(seconds / 60), (int)(seconds % 60));
}

// Estimates the kernels of the whole run; at least those announced.
static int64_t progress_expected(const struct progress *progress)
{
    double expected = (double)progress->kernels_announced;
    if (progress->rows_announced > 0 && progress->rows > progress->rows_announced)
        expected *= progress->rows / (double)progress->rows_announced;
    expected += (double)progress->later;
    // The estimate may be too low: with work to come the run never shows as finished.
    double least = (double)progress->kernels_done * (progress->later ? NEARLY_DONE : 1);
    return (int64_t)(expected > least ? expected : least);
}

static size_t progress_columns(void)
{
    int columns = terminal_columns(STDERR_FILENO);
    return columns > 0 ? (size_t)columns : DEFAULT_COLUMNS;
}

// Writes the text after the bar, most important item first: what does not fit is dropped.
static void progress_put_text(const struct progress *progress, int64_t expected, struct strbuf *out)
{
    int64_t done = progress->kernels_done;
    double elapsed_s = (double)(clock_now_ns() - progress->start_ns) / 1e9;
    double per_s = elapsed_s > 0 ? (double)done / elapsed_s : 0;
    strbuf_printf(out, "%3d%%", expected ? (int)(100 * done / expected) : 0);
    if (done > 0 && per_s > 0) {
        strbuf_puts(out, "  ETA ");
        progress_put_time(out, (int64_t)((double)(expected - done) / per_s + 0.5));
    }
    if (progress->waiting)
        strbuf_puts(out, "  waiting: the core is disturbed");
    strbuf_printf(out, "  %" PRId64 "/%" PRId64 " kernels  %.0f/s", done, expected, per_s);
    if (progress->kernels_failed)
        strbuf_printf(out, "  %" PRId64 " failed", progress->kernels_failed);
    if (progress->list)
        strbuf_printf(out, "  %s", progress->list);
}

static void progress_put_bar(struct strbuf *out, size_t columns, int64_t done, int64_t expected)
{
    size_t filled = expected ? (size_t)((int64_t)columns * done / expected) : 0;
    strbuf_puts(out, "[");
    for (size_t i = 0; i < columns; i++)
        strbuf_puts(out, i < filled ? "#" : ".");
    strbuf_puts(out, "] ");
}

// Returns the bytes of the text that fit: whole items, which are two blanks apart.
static size_t progress_fits(const struct strbuf *text, size_t room)
{
    size_t len = text->len < room ? text->len : room;
    while (len > 0 && len < text->len && strncmp(text->data + len, "  ", 2) != 0)
        len--;
    return len;
}

static void progress_draw(struct progress *progress)
{
    // The last column stays free: writing it makes some terminals go to the next line.
    size_t width = progress_columns() - 1;
    int64_t expected = progress_expected(progress);
    struct strbuf text = {0}, line = {0};
    progress_put_text(progress, expected, &text);
    strbuf_puts(&line, "\r\033[K");
    size_t bar = BAR_COLUMNS_MAX;
    if (text.len + BAR_FRAME_COLUMNS + bar > width)
        bar = width > text.len + BAR_FRAME_COLUMNS ? width - text.len - BAR_FRAME_COLUMNS : 0;
    if (bar < BAR_COLUMNS_KEPT && width + 1 >= BAR_KEPT_COLUMNS)
        bar = BAR_COLUMNS_KEPT;
    if (bar >= BAR_COLUMNS_MIN)
        progress_put_bar(&line, bar, progress->kernels_done, expected);
    const char *colour = progress->waiting          ? "\033[33m"
                         : progress->kernels_failed ? "\033[31m"
                                                    : "";
    if (!progress->colour)
        colour = "";
    size_t left = width - (bar >= BAR_COLUMNS_MIN ? bar + BAR_FRAME_COLUMNS : 0);
    strbuf_printf(&line, "%s%.*s%s", colour, (int)progress_fits(&text, left), text.data,
                  *colour ? "\033[0m" : "");
    fputs(line.data, stderr);
    progress->drawn = true;
    strbuf_free(&text);
    strbuf_free(&line);
}

static void progress_refresh(struct progress *progress)
{
    if (!progress->bar)
        return;
    int64_t now_ns = clock_now_ns();
    if (progress->drawn && now_ns - progress->drawn_ns < REDRAW_NS)
        return;
    // A job in the background would be stopped, or would spoil another job's screen.
    if (tcgetpgrp(STDERR_FILENO) != getpgrp())
        return;
    progress->drawn_ns = now_ns;
    progress_draw(progress);
}

// Prints the line of a list that is finished.
static void progress_put_list(struct progress *progress)
{
    if (!progress->list || progress->bar || progress->quiet)
        return;
    struct strbuf line = {0};
    strbuf_printf(&line, "%-32s %5d", progress->list, progress->list_done);
    if (progress->list_done != progress->list_rows)
        strbuf_printf(&line, " of %d", progress->list_rows);
    strbuf_printf(&line, " %s  %5d ok  %5d not ok  at ", progress->things, progress->list_ok,
                  progress->list_done - progress->list_ok);
    progress_put_time(&line, progress_seconds(progress));
    strbuf_puts(&line, "\n");
    fputs(line.data, stderr);
    strbuf_free(&line);
}

struct progress *progress_start(int rows, bool quiet)
{
    struct progress *progress = xcalloc(1, sizeof *progress);
    pthread_mutex_init(&progress->mutex, NULL);
    progress->bar = !quiet && terminal_can_draw(STDERR_FILENO);
    progress->colour = terminal_has_colour(STDERR_FILENO);
    progress->quiet = quiet;
    progress->rows = rows;
    progress->things = "forms";
    progress->start_ns = clock_now_ns();
    return progress;
}

void progress_name(struct progress *progress, const char *things)
{
    progress->things = things;
}

void progress_later(struct progress *progress, int64_t kernels)
{
    pthread_mutex_lock(&progress->mutex);
    progress->later = kernels;
    pthread_mutex_unlock(&progress->mutex);
}

void progress_next(struct progress *progress, const char *things)
{
    pthread_mutex_lock(&progress->mutex);
    progress_put_list(progress);
    progress->list = NULL;
    progress->things = things;
    if (progress->rows_announced < progress->rows) // no more rows will be announced
        progress->rows = (int)progress->rows_announced;
    progress_refresh(progress);
    pthread_mutex_unlock(&progress->mutex);
}

void progress_more(struct progress *progress, int kernels, int rows)
{
    pthread_mutex_lock(&progress->mutex);
    progress->kernels_announced += kernels;
    progress->rows_announced += rows;
    progress_refresh(progress);
    pthread_mutex_unlock(&progress->mutex);
}

void progress_step(struct progress *progress, int kernels, bool failed)
{
    pthread_mutex_lock(&progress->mutex);
    progress->kernels_done += kernels;
    if (failed)
        progress->kernels_failed += kernels;
    progress->waiting = false;
    progress_refresh(progress);
    pthread_mutex_unlock(&progress->mutex);
}

void progress_waiting(struct progress *progress)
{
    pthread_mutex_lock(&progress->mutex);
    progress->waiting = true;
    progress_refresh(progress);
    pthread_mutex_unlock(&progress->mutex);
}

void progress_form(struct progress *progress, const char *list, int list_rows, bool ok)
{
    pthread_mutex_lock(&progress->mutex);
    if (!progress->list || strcmp(progress->list, list) != 0) {
        progress_put_list(progress);
        progress->list = list;
        progress->list_rows = list_rows;
        progress->list_done = progress->list_ok = 0;
    }
    progress->list_done++;
    progress->list_ok += ok;
    progress_refresh(progress);
    pthread_mutex_unlock(&progress->mutex);
}

void progress_end(struct progress *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
    progress_put_list(progress);
    pthread_mutex_destroy(&progress->mutex);
    free(progress);
}
