// SPDX-License-Identifier: MIT
// Progress on standard error; see progress.h.
#include "progress.h"

#include "mem.h"
#include "strbuf.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { REDRAW_MS = 100, NARROWEST = 40, WIDTH_DEFAULT = 80, BAR_MAX = 30 };

struct progress_list {
    char *name;
    int rows, done, ok;
    int64_t first_ms; // when its first row was done
};

struct progress {
    pthread_mutex_t mutex;
    bool bar, quiet, colour;
    int rows, rows_known;        // rows whose kernels are known
    int64_t kernels_known, done; // kernels
    int failed;
    bool waiting;
    int64_t start_ms, drawn_ms;
    struct progress_list *lists;
    size_t nlists, capacity;
};

static int64_t now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

struct progress *progress_start(int rows, bool quiet)
{
    struct progress *progress = xcalloc(1, sizeof *progress);
    const char *terminal = getenv("TERM");
    pthread_mutex_init(&progress->mutex, NULL);
    progress->rows = rows;
    progress->quiet = quiet;
    progress->bar = !quiet && isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
    progress->colour = progress->bar && !getenv("NO_COLOR");
    progress->start_ms = now_ms();
    return progress;
}

static int terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return WIDTH_DEFAULT;
    return size.ws_col;
}

// Kernels in all, estimated from the rows that are known so far.
static double total_kernels(const struct progress *progress)
{
    if (progress->rows_known == 0)
        return 0;
    return (double)progress->kernels_known / progress->rows_known * progress->rows;
}

static void put_duration(struct strbuf *line, double seconds)
{
    int s = (int)(seconds + 0.5);
    if (s >= 3600)
        strbuf_printf(line, "%d:%02d:%02d", s / 3600, s / 60 % 60, s % 60);
    else
        strbuf_printf(line, "%d:%02d", s / 60, s % 60);
}

static void draw(struct progress *progress)
{
    double total = total_kernels(progress);
    double share = total > 0 ? (double)progress->done / total : 0;
    share = share > 1 ? 1 : share;
    double elapsed_s = (double)(now_ms() - progress->start_ms) / 1000;
    double rate = elapsed_s > 0 ? (double)progress->done / elapsed_s : 0;
    struct strbuf text = {0};
    strbuf_printf(&text, " %3.0f %%  %.0f kernels/s", share * 100, rate);
    if (rate > 0 && total > 0) {
        strbuf_puts(&text, "  ETA ");
        put_duration(&text, (total - (double)progress->done) / rate);
    }
    if (progress->failed)
        strbuf_printf(&text, "  %d failed", progress->failed);
    if (progress->waiting)
        strbuf_puts(&text, "  waiting: core is disturbed");
    int width = terminal_width();
    int bar = width - 4 - (int)text.len;
    bar = bar > BAR_MAX ? BAR_MAX : bar;
    struct strbuf line = {0};
    strbuf_puts(&line, "\r");
    if (bar > 4 && width >= NARROWEST) {
        int full = (int)(share * bar);
        strbuf_puts(&line, progress->colour ? "[\033[32m" : "[");
        for (int i = 0; i < bar; i++)
            strbuf_puts(&line, i < full ? "#" : "-");
        strbuf_puts(&line, progress->colour ? "\033[0m]" : "]");
    }
    strbuf_put(&line, text.data, text.len > (size_t)width - 1 ? (size_t)width - 1 : text.len);
    strbuf_puts(&line, "\033[K");
    fputs(line.data, stderr);
    fflush(stderr);
    strbuf_free(&text);
    strbuf_free(&line);
    progress->drawn_ms = now_ms();
}

static void redraw(struct progress *progress)
{
    if (progress->bar && now_ms() - progress->drawn_ms >= REDRAW_MS)
        draw(progress);
}

void progress_more(struct progress *progress, int kernels, int rows)
{
    pthread_mutex_lock(&progress->mutex);
    progress->kernels_known += kernels;
    progress->rows_known += rows;
    redraw(progress);
    pthread_mutex_unlock(&progress->mutex);
}

void progress_step(struct progress *progress, int kernels, bool failed)
{
    pthread_mutex_lock(&progress->mutex);
    progress->done += kernels;
    progress->failed += failed ? kernels : 0;
    progress->waiting = false;
    redraw(progress);
    pthread_mutex_unlock(&progress->mutex);
}

void progress_waiting(struct progress *progress)
{
    pthread_mutex_lock(&progress->mutex);
    progress->waiting = true;
    redraw(progress);
    pthread_mutex_unlock(&progress->mutex);
}

static struct progress_list *find_list(struct progress *progress, const char *name, int rows)
{
    for (size_t i = progress->nlists; i-- > 0;) // most often the newest
        if (strcmp(progress->lists[i].name, name) == 0)
            return &progress->lists[i];
    progress->lists =
        xgrow(progress->lists, &progress->capacity, progress->nlists + 1, sizeof *progress->lists);
    struct progress_list *list = &progress->lists[progress->nlists++];
    *list = (struct progress_list){.name = xstrdup(name), .rows = rows, .first_ms = now_ms()};
    return list;
}

static void print_list(const struct progress *progress, const struct progress_list *list)
{
    if (!progress->bar && !progress->quiet)
        fprintf(stderr, "%-32s %5d forms %5d complete %6.1f s\n", list->name, list->done, list->ok,
                (double)(now_ms() - progress->start_ms) / 1000);
}

void progress_form(struct progress *progress, const char *list_name, int list_rows, bool ok)
{
    pthread_mutex_lock(&progress->mutex);
    struct progress_list *list = find_list(progress, list_name, list_rows);
    list->done++;
    list->ok += ok;
    if (list->done == list->rows)
        print_list(progress, list);
    pthread_mutex_unlock(&progress->mutex);
}

void progress_end(struct progress *progress)
{
    if (progress->bar)
        fputs("\r\033[K", stderr);
    for (size_t i = 0; i < progress->nlists; i++) {
        if (progress->lists[i].done < progress->lists[i].rows)
            print_list(progress, &progress->lists[i]);
        free(progress->lists[i].name);
    }
    free(progress->lists);
    pthread_mutex_destroy(&progress->mutex);
    free(progress);
}
