// SPDX-License-Identifier: MIT
// Starting processes, as far as that is the same on every system; see subproc_internal.h.
#include "subproc_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static bool subproc_show;

void subproc_show_commands(bool on)
{
    subproc_show = on;
}

void subproc_print(const char *const argv[])
{
    if (!subproc_show)
        return;
    fputc('+', stderr);
    for (int i = 0; argv[i]; i++)
        fprintf(stderr, " %s", argv[i]);
    fputc('\n', stderr);
}

volatile sig_atomic_t subproc_stopped;

void subproc_stop(void)
{
    subproc_stopped = 1;
}

void subproc_put(struct strbuf *out, const char *bytes, size_t n,
                 const struct subproc_options *options)
{
    enum { DEFAULT_BYTES = 16 << 20 };
    size_t limit = options->max_output_bytes ? options->max_output_bytes : DEFAULT_BYTES;
    size_t room = limit > out->len ? limit - out->len : 0;
    strbuf_put(out, bytes, n < room ? n : room);
}

void subproc_take(struct strbuf outputs[2], struct subproc_result *result)
{
    strbuf_put(&outputs[0], "", 0);
    strbuf_put(&outputs[1], "", 0);
    result->out = outputs[0].data;
    result->out_len = outputs[0].len;
    result->err = outputs[1].data;
    result->err_len = outputs[1].len;
}

void subproc_result_free(struct subproc_result *result)
{
    free(result->out);
    free(result->err);
    result->out = result->err = NULL;
}

struct subproc_ran subproc_ran(pid_t pid)
{
    struct subproc_ran ran = {0};
    char path[64] = "/proc/thread-self/schedstat";
    if (pid)
        snprintf(path, sizeof path, "/proc/%d/schedstat", (int)pid);
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%" SCNd64 " %" SCNd64, &ran.ran_ns, &ran.waited_ns) != 2)
        ran = (struct subproc_ran){0};
    if (file)
        fclose(file);
    return ran;
}

double subproc_ran_share(const struct subproc_ran *from, const struct subproc_ran *to)
{
    double ran_ns = (double)(to->ran_ns - from->ran_ns);
    double ready_ns = ran_ns + (double)(to->waited_ns - from->waited_ns);
    return ready_ns > 0 ? ran_ns / ready_ns : 1;
}
