// SPDX-License-Identifier: MIT
// Layouts of the registers that select events, after Intel's SDM volume 3 chapter 20 and AMD's
// programmer's manual volume 2 chapter 13; see counter_scheme.h. Bits 16, 17, 20 and 22 (user,
// kernel, interrupt, enable) are the backend's.
#include "counter_scheme.h"

#include <stdio.h>
#include <string.h>

static const struct scheme_limits {
    const char *name;
    uint32_t event_max, umask_max;
    unsigned cmask_max, select_max;
    bool inv_edge, any;
} scheme_limits[SCHEME_COUNT] = {
    [SCHEME_P5] = {"p5",       0x3f,  0x7,    0,   0, false, false},
    [SCHEME_P6] = {"p6",       0xff,  0xff,   255, 0, true,  false},
    [SCHEME_NETBURST] = {"netburst", 0x3f,  0xffff, 16,  7, true,  false},
    [SCHEME_ARCH] = {"arch",     0xff,  0xffff, 255, 0, true,  true },
    [SCHEME_K7] = {"k7",       0xfff, 0xff,   255, 0, true,  false},
    [SCHEME_AMD15H] = {"amd15h",   0xfff, 0xff,   255, 0, true,  false},
    [SCHEME_AMD_V2] = {"amdv2",    0xfff, 0xff,   255, 0, true,  false},
    [SCHEME_VIA] = {"via",      0xff,  0xff,   255, 0, true,  false},
};

const char *counter_scheme_name(enum counter_scheme scheme)
{
    return scheme_limits[scheme].name;
}

int scheme_find(const char *name)
{
    for (int i = 0; i < SCHEME_COUNT; i++)
        if (strcmp(scheme_limits[i].name, name) == 0)
            return i;
    return -1;
}

const char *scheme_misfit(const struct counter_event *event, char *text, size_t size)
{
    const struct scheme_limits *limits = &scheme_limits[event->scheme];
    const struct {
        const char *name;
        uint32_t value, max;
    } fields[] = {
        {"event",  event->event,  limits->event_max },
        {"umask",  event->umask,  limits->umask_max },
        {"cmask",  event->cmask,  limits->cmask_max },
        {"select", event->select, limits->select_max},
    };
    if (event->kind == COUNTER_MSR)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        if (fields[i].value > fields[i].max) {
            snprintf(text, size,
                     "%s 0x%x is larger than 0x%x, all that counters of the scheme %s take",
                     fields[i].name, fields[i].value, fields[i].max, limits->name);
            return text;
        }
    const char *flag = event->inv ? "inv" : event->edge ? "edge" : NULL;
    if (!limits->inv_edge && flag)
        snprintf(text, size, "counters of the scheme %s have no %s", limits->name, flag);
    else if (!limits->any && event->any)
        snprintf(text, size, "counters of the scheme %s have no any", limits->name);
    else
        return NULL;
    return text;
}

static bool scheme_is_amd(enum counter_scheme scheme)
{
    return scheme == SCHEME_K7 || scheme == SCHEME_AMD15H || scheme == SCHEME_AMD_V2;
}

// Returns the code of a NetBurst event. The threshold passes counts above it, or with the
// complement up to it: it is one less than cmask.
static uint64_t netburst_code(const struct counter_event *event)
{
    uint64_t compare = event->cmask || event->inv || event->edge;
    uint64_t threshold = event->cmask ? event->cmask - 1 : 0;
    uint64_t escr = (uint64_t)event->event << 25 | (uint64_t)event->umask << 9;
    uint64_t cccr = (uint64_t)event->select << 13 | compare << 18 | (uint64_t)event->inv << 19 |
                    threshold << 20 | (uint64_t)event->edge << 24;
    return escr | cccr << 32;
}

uint64_t counter_event_code(const struct counter_event *event)
{
    if (event->kind == COUNTER_MSR)
        return 0;
    if (event->scheme == SCHEME_NETBURST)
        return netburst_code(event);
    if (event->scheme == SCHEME_P5)
        return event->event | (uint64_t)event->umask << 6;
    uint64_t code = (event->event & 0xff) | (uint64_t)(event->umask & 0xff) << 8 |
                    (uint64_t)event->edge << 18 | (uint64_t)event->any << 21 |
                    (uint64_t)event->inv << 23 | (uint64_t)event->cmask << 24;
    return code | (uint64_t)(event->event >> 8) << 32 | (uint64_t)(event->umask >> 8) << 40;
}

int scheme_decode(uint64_t code, struct counter_event *event)
{
    uint64_t high = event->scheme == SCHEME_ARCH ? (code >> 40 & 0xff) << 8 : 0;
    event->event = code & 0xff;
    event->umask = (code >> 8 & 0xff) | (uint32_t)high;
    event->edge = code >> 18 & 1;
    event->any = code >> 21 & 1;
    event->inv = code >> 23 & 1;
    event->cmask = code >> 24 & 0xff;
    if (scheme_is_amd(event->scheme))
        event->event |= (uint32_t)(code >> 32 & 0xf) << 8;
    if (event->scheme == SCHEME_P5) {
        event->event = code & 0x3f;
        event->umask = code >> 6 & 7;
        event->edge = event->any = event->inv = false;
        event->cmask = 0;
    }
    return event->scheme != SCHEME_NETBURST && counter_event_code(event) == code ? 0 : -1;
}

const char *counter_event_text(const struct counter_event *event, char *text, size_t size)
{
    if (event->kind == COUNTER_MSR) {
        snprintf(text, size, "msr=0x%x", event->event);
        return text;
    }
    int len = snprintf(text, size, "event=0x%02x,umask=0x%02x", event->event, event->umask);
    if (event->scheme == SCHEME_NETBURST)
        len += snprintf(text + len, size - (size_t)len, ",select=%u", event->select);
    if (event->cmask)
        len += snprintf(text + len, size - (size_t)len, ",cmask=%u", event->cmask);
    snprintf(text + len, size - (size_t)len, "%s%s%s", event->inv ? ",inv" : "",
             event->edge ? ",edge" : "", event->any ? ",any" : "");
    return text;
}
