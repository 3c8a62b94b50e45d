// SPDX-License-Identifier: MIT
// Events as users write them: names, raw codes, modifiers, lists; see counters.h.
#include "counter_names.h"
#include "counter_pfm.h"
#include "counter_scheme.h"
#include "counters.h"

#include "cpu_tables.h"
#include "util/suggest.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Makes an event with a threshold or condition use a general counter: fixed counters and MSRs have
// neither.
static int event_leave_fixed(struct counter_event *event, const char *modifier, struct err *err)
{
    if (event->kind != COUNTER_GENERAL)
        return err_set(err, "'%s': %s; '%s' needs a general counter", event->label,
                       event->kind == COUNTER_FIXED ? "only a fixed counter counts this"
                                                    : "this is a free-running MSR",
                       modifier);
    event->fixed_index = -1;
    return 0;
}

// Parses one modifier without its colon.
static int modifier_parse(const char *text, size_t len, struct counter_event *event,
                          struct err *err)
{
    char word[16];
    uint64_t value;
    snprintf(word, sizeof word, "%.*s", (int)len, text);
    bool condition = strlen(word) == 1 && strchr("iet", word[0]);
    bool threshold = strncmp(word, "c=", 2) == 0;
    if ((condition || threshold) && event_leave_fixed(event, word, err) < 0)
        return -1;
    if (threshold) {
        if (cell_number(word + 2, strlen(word + 2), 255, &value) < 0)
            return err_set(err, "'%s': the threshold of ':c=N' is a number from 0 to 255",
                           event->label);
        event->cmask = (unsigned)value;
    } else if (strcmp(word, "i") == 0) {
        event->inv = true;
    } else if (strcmp(word, "e") == 0) {
        event->edge = true;
    } else if (strcmp(word, "t") == 0) {
        event->any = true;
    } else if (strcmp(word, "u") == 0) {
        event->user = true;
    } else if (strcmp(word, "k") == 0) {
        event->kernel = true;
    } else {
        return err_set(err,
                       "'%s': there is no modifier ':%s'; there are :u :k (mode), :c=N "
                       "(threshold), :i (inverted), :e (edges), :t (either thread)",
                       event->label, word);
    }
    return 0;
}

static int modifiers_parse(const char *text, struct counter_event *event, struct err *err)
{
    while (*text == ':') {
        size_t len = strcspn(++text, ":");
        if (modifier_parse(text, len, event, err) < 0)
            return -1;
        text += len;
    }
    char misfit[160];
    if (scheme_misfit(event, misfit, sizeof misfit))
        return err_set(err, "'%s': %s", event->label, misfit);
    return 0;
}

// Parses "r1b1" up to the end or a colon. Returns the length of the code, 0 if it is none, -1 on
// error.
static int raw_parse(const char *text, struct counter_event *event, struct err *err)
{
    bool raw = tolower((unsigned char)text[0]) == 'r';
    size_t digits = raw ? strspn(text + 1, "0123456789abcdefABCDEF") : 0;
    if (digits == 0 || (text[1 + digits] && text[1 + digits] != ':'))
        return 0;
    if (event->scheme == SCHEME_NETBURST)
        return err_set(err,
                       "'%s': the counters of this CPU have two control registers each; write "
                       "event=,umask=,select=",
                       text);
    if (digits > 16 || scheme_decode(strtoull(text + 1, NULL, 16), event) < 0)
        return err_set(err,
                       "'%s': has bits that select no event on counters of the scheme %s (user, "
                       "kernel and enable bits are not part of the code)",
                       text, counter_scheme_name(event->scheme));
    return (int)digits + 1;
}

// Parses one "name=value" or "name" of a raw code by fields.
static int field_parse(const char *text, size_t len, struct counter_event *event, struct err *err)
{
    uint64_t value = 1;
    const char *equals = memchr(text, '=', len);
    size_t name_len = equals ? (size_t)(equals - text) : len;
    static const char *const names[] = {"event", "umask", "cmask", "select", "inv", "edge", "any"};
    size_t i = 0;
    while (i < ARRAY_LEN(names) &&
           (strlen(names[i]) != name_len || strncmp(names[i], text, name_len) != 0))
        i++;
    if (i == ARRAY_LEN(names))
        return err_set(err,
                       "'%.*s' is no field of an event; there are event=, umask=, cmask=, select=, "
                       "inv, edge, any",
                       (int)len, text);
    bool flag = i >= 4;
    if ((!equals && !flag) ||
        (equals && cell_number(equals + 1, len - name_len - 1, flag ? 1 : UINT16_MAX, &value) < 0))
        return err_set(err, "'%.*s': write a number such as %s=0x2", (int)len, text, names[i]);
    uint32_t *const numbers[] = {&event->event, &event->umask, &event->cmask, &event->select};
    bool *const flags[] = {&event->inv, &event->edge, &event->any};
    if (flag)
        *flags[i - 4] = value != 0;
    else
        *numbers[i] = (uint32_t)value;
    return 0;
}

// Parses "event=0xb1,umask=2" up to the end or a colon. Returns its length, 0 if it is none, -1 on
// error.
static int fields_parse(const char *text, struct counter_event *event, struct err *err)
{
    if (strncmp(text, "event=", 6) != 0)
        return 0;
    size_t end = strcspn(text, ":");
    for (size_t at = 0; at < end;) {
        size_t len = strcspn(text + at, ",:");
        if (field_parse(text + at, len, event, err) < 0)
            return -1;
        at += len;
        if (text[at] == ',')
            at++;
    }
    return (int)end;
}

// Returns the event whose name is the longest part of `text` that ends at its end or at a colon.
static const struct counter_event *named_find(const struct counter_table *table, const char *text,
                                              size_t *len)
{
    char name[COUNTER_LABEL_BYTES];
    snprintf(name, sizeof name, "%s", text);
    for (;;) {
        const struct counter_event *event = counter_find(table, name);
        char *colon = strrchr(name, ':');
        *len = strlen(name);
        if (event || !colon)
            return event;
        *colon = '\0';
    }
}

// Returns the length of `text` without the modifiers at its end.
static size_t name_length(const char *text)
{
    size_t len = strlen(text);
    for (;;) {
        size_t at = len;
        while (at > 0 && text[at - 1] != ':')
            at--;
        bool letter = at > 0 && len - at == 1 && strchr("ukiet", text[at]);
        bool threshold = at > 0 && strncmp(text + at, "c=", 2) == 0;
        if (!letter && !threshold)
            return len;
        len = at - 1;
    }
}

static int name_unknown(const struct counter_table *table, const char *text, struct err *err)
{
    char hint[128];
    size_t len = strcspn(text, ":");
    struct suggestion suggestion = suggest_start(text, len);
    for (int i = 0; i < table->nevents; i++) {
        suggest_offer(&suggestion, table->events[i].id);
        suggest_offer(&suggestion, table->events[i].name);
    }
    return err_set(err,
                   "'%.*s' is no event of %s%s; `latput counters` lists them, and a raw code is "
                   "written r1b1 or event=0xb1,umask=0x01%s",
                   (int)len, text, table->uarch, suggest_text(&suggestion, hint, sizeof hint),
                   table->pfm_model[0] && !counter_pfm_available()
                       ? ". libpfm4 knows more; install it (Debian package libpfm4)"
                       : "");
}

int counter_parse(const struct counter_table *table, const char *text, struct counter_event *event,
                  struct err *err)
{
    size_t len = 0;
    if (strlen(text) >= COUNTER_LABEL_BYTES)
        return err_set(err, "'%.40s...': longer than any event", text);
    const struct counter_event *named = named_find(table, text, &len);
    if (named) {
        *event = *named;
    } else {
        *event = (struct counter_event){.id = "",
                                        .name = "",
                                        .pfm = "",
                                        .source = "given as a code",
                                        .note = "",
                                        .scheme = table->scheme,
                                        .counters = COUNTERS_ANY,
                                        .fixed_index = -1};
        int used = raw_parse(text, event, err);
        if (used == 0)
            used = fields_parse(text, event, err);
        if (used < 0)
            return -1;
        len = (size_t)used;
        if (used == 0) {
            len = name_length(text);
            int found = counter_pfm_find(table, text, len, event, err);
            if (found != 0)
                return found < 0 ? -1 : name_unknown(table, text, err);
            event->source = "libpfm4";
        }
    }
    snprintf(event->label, sizeof event->label, "%s", text);
    return modifiers_parse(text + len, event, err);
}

// Returns true if the next item of the list is a further field of an event that began with
// `event=`.
static bool field_follows(const char *text)
{
    static const char *const starts[] = {"umask=", "cmask=", "select=", "inv", "edge", "any"};
    for (size_t i = 0; i < ARRAY_LEN(starts); i++) {
        size_t len = strlen(starts[i]);
        if (strncmp(text, starts[i], len) == 0 &&
            (starts[i][len - 1] == '=' || !text[len] || strchr(",:=", text[len])))
            return true;
    }
    return false;
}

struct event_list {
    struct counter_event *events;
    size_t n, capacity;
};

static int list_add(const struct counter_table *table, const char *text, size_t len,
                    struct event_list *list, struct err *err)
{
    char item[COUNTER_LABEL_BYTES + 1];
    snprintf(item, sizeof item, "%.*s", (int)len, text);
    list->events = xgrow(list->events, &list->capacity, list->n + 1, sizeof *list->events);
    if (counter_parse(table, item, &list->events[list->n], err) < 0)
        return -1;
    list->n++;
    return 0;
}

// Adds all events of a named set ("@branches") that the list does not have yet.
static int list_add_set(const struct counter_table *table, const char *text, size_t len,
                        struct event_list *list, struct err *err)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)len, text);
    const struct counter_set *set = counter_set_find(table->uarch, name, err);
    if (!set)
        return -1;
    for (const char *at = set->events; *at; at += strspn(at, " ")) {
        size_t id_len = strcspn(at, " "), i = 0;
        while (i < list->n && (strlen(list->events[i].label) != id_len ||
                               strncmp(list->events[i].label, at, id_len) != 0))
            i++;
        if (i == list->n && list_add(table, at, id_len, list, err) < 0)
            return -1;
        at += id_len;
    }
    return 0;
}

int counter_parse_list(const struct counter_table *table, const char *text,
                       struct counter_event **events, struct err *err)
{
    struct event_list list = {0};
    int status = 0;
    *events = NULL;
    while (*text && status == 0) {
        size_t len = strcspn(text, ",");
        if (strncmp(text, "event=", 6) == 0)
            while (text[len] && !memchr(text, ':', len) && field_follows(text + len + 1))
                len += 1 + strcspn(text + len + 1, ",");
        status = *text == '@' ? list_add_set(table, text + 1, len - 1, &list, err)
                              : list_add(table, text, len, &list, err);
        text += len;
        if (*text == ',' && !*++text)
            break;
    }
    if (status == 0 && list.n == 0)
        status = err_set(err, "the list of events is empty");
    if (status < 0) {
        free(list.events);
        return -1;
    }
    *events = list.events;
    return (int)list.n;
}
