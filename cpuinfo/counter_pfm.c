// SPDX-License-Identifier: MIT
// Asks libpfm4 for the code of an event; see counter_pfm.h. The library is loaded when it is first
// needed: its headers are not needed to build latput, so what is used of its interface stands here
// (perfmon/pfmlib.h of version 4; the structure carries its size, by which the library knows it).
#include "counter_pfm.h"
#include "counter_scheme.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct pfm_encode_arg { // pfm_pmu_encode_arg_t
    uint64_t *codes;
    char **fstr;
    size_t size;
    int count;
    int cpu, flags;
};
enum { PFM_OK = 0, PFM_NO_OS = 0, PFM_USER_AND_KERNEL = 1 | 8 };

static struct {
    pthread_once_t once;
    int (*encode)(const char *text, int modes, int os, struct pfm_encode_arg *arg); // NULL: none
} pfm = {.once = PTHREAD_ONCE_INIT};

static void pfm_load(void)
{
    void *library = dlopen("libpfm.so.4", RTLD_NOW);
    if (!library)
        return;
    int (*initialize)(void);
    // POSIX has dlsym() return object pointers for functions too.
    *(void **)&initialize = dlsym(library, "pfm_initialize");
    *(void **)&pfm.encode = dlsym(library, "pfm_get_os_event_encoding");
    // Families other than this machine's are asked for by name; the library reads the wish once.
    bool ours = getenv("LIBPFM_ENCODE_INACTIVE") == NULL;
    if (ours)
        setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
    if (!initialize || initialize() != PFM_OK)
        pfm.encode = NULL;
    if (ours)
        unsetenv("LIBPFM_ENCODE_INACTIVE");
}

// Mode, interrupt and enable bits are the backend's.
static const uint64_t BACKEND_BITS = 1u << 16 | 1u << 17 | 1u << 20 | 1u << 22;

// ESCR bits 4 to 8: events that count what other events have tagged.
static const uint64_t NETBURST_TAGS = 0x1f0;

static int code_take(const struct pfm_encode_arg *arg, struct counter_event *event)
{
    if (event->scheme != SCHEME_NETBURST)
        return arg->count == 1 ? scheme_decode(arg->codes[0] & ~BACKEND_BITS, event) : -1;
    if (arg->count != 2 || arg->codes[0] & NETBURST_TAGS)
        return -1;
    event->event = arg->codes[0] >> 25 & 0x3f;
    event->umask = arg->codes[0] >> 9 & 0xffff;
    event->select = arg->codes[1] >> 13 & 7;
    return 0;
}

bool counter_pfm_available(void)
{
    pthread_once(&pfm.once, pfm_load);
    return pfm.encode != NULL;
}

int counter_pfm_find(const struct counter_table *table, const char *name, size_t len,
                     struct counter_event *event, struct err *err)
{
    char text[COUNTER_LABEL_BYTES + 64];
    struct pfm_encode_arg arg = {.size = sizeof arg};
    if (!counter_pfm_available() || !table->pfm_model[0] || len == 0)
        return 1;
    snprintf(text, sizeof text, "%s::%.*s", table->pfm_model, (int)len, name);
    if (pfm.encode(text, PFM_USER_AND_KERNEL, PFM_NO_OS, &arg) != PFM_OK)
        return 1;
    int status = code_take(&arg, event);
    free(arg.codes);
    if (status < 0)
        return err_set(
            err,
            "'%.*s': libpfm4 has this event, but it needs more than one control register; "
            "latput can count only what one holds",
            (int)len, name);
    return 0;
}
