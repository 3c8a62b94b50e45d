// SPDX-License-Identifier: MIT
// Meaning of the ids of events (counter_ids.csv), and named sets of events by family
// (counter_sets.csv); see counters.h. Both are read once.
#include "counter_names.h"

#include "counters.h"
#include "util/paths.h"
#include "util/suggest.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { ID_ID, ID_GROUP, ID_MEANING };
static const char *const id_columns[] = {"id", "group", "meaning"};
enum { SET_SET, SET_EVENTS, SET_UARCHS };
static const char *const set_columns[] = {"set", "events", "uarchs"};

static struct {
    pthread_once_t once;
    int status;
    struct err err;
    struct counter_ids ids;
    struct counter_sets sets;
} names = {.once = PTHREAD_ONCE_INIT};

static bool word_is_plain(const char *word, size_t len)
{
    return len > 0 && strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_") >= len;
}

static const struct counter_id *id_find(const struct counter_ids *ids, const char *id)
{
    for (int i = 0; i < ids->nrows; i++)
        if (strcmp(ids->rows[i].id, id) == 0)
            return &ids->rows[i];
    return NULL;
}

static int ids_add(void *data, const struct csv_record *record, struct err *err)
{
    struct counter_ids *ids = data;
    const char *const *field = record->fields;
    struct counter_id row = {field[ID_ID], field[ID_GROUP], field[ID_MEANING], record->line};
    int bad = !word_is_plain(row.id, strlen(row.id))         ? ID_ID
              : !word_is_plain(row.group, strlen(row.group)) ? ID_GROUP
              : !row.meaning[0]                              ? ID_MEANING
                                                             : -1;
    if (bad >= 0)
        return table_cell_error(ids->file.path, record, bad, id_columns, err);
    if (id_find(ids, row.id))
        return csv_record_error(ids->file.path, record, ID_ID, err, "'%s' is in line %d already",
                                row.id, id_find(ids, row.id)->line);
    ids->rows[ids->nrows++] = row;
    return 0;
}

int counter_ids_read(const char *path, table_report *report, void *data, struct counter_ids *ids,
                     struct err *err)
{
    const struct csv_spec spec = {id_columns, ARRAY_LEN(id_columns), 0};
    const struct table_reader reader = {
        .spec = &spec, TABLE_ROWS(ids, rows), .add = ids_add, .report = report, .data = data};
    memset(ids, 0, sizeof *ids);
    return table_read(path, &reader, ids, &ids->file, err);
}

// Returns true if `word` is one of the blank-separated words of `list`.
static bool list_has(const char *list, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at++)
        if ((at == list || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
            return true;
    return false;
}

static int sets_add(void *data, const struct csv_record *record, struct err *err)
{
    struct counter_sets *sets = data;
    const char *const *field = record->fields;
    struct counter_set row = {field[SET_SET], field[SET_EVENTS], field[SET_UARCHS], record};
    for (int i = 0; i < (int)ARRAY_LEN(set_columns); i++)
        if (!field[i][0] || (i == SET_SET && !word_is_plain(field[i], strlen(field[i]))))
            return table_cell_error(sets->file.path, record, i, set_columns, err);
    for (const char *at = row.uarchs; *at;) {
        char uarch[32];
        size_t len = strcspn(at, " ");
        snprintf(uarch, sizeof uarch, "%.*s", (int)len, at);
        for (int i = 0; i < sets->nrows; i++)
            if (strcmp(sets->rows[i].name, row.name) == 0 &&
                list_has(sets->rows[i].uarchs, uarch)) {
                int column = record->field_columns[SET_UARCHS] + (int)(at - row.uarchs);
                const struct csv_place place = {sets->file.path, record->line, record->text,
                                                column};
                return csv_error_at(&place, err, "the set %s of %s is in line %d already", row.name,
                                    uarch, sets->rows[i].record->line);
            }
        at += len;
        at += strspn(at, " ");
    }
    sets->rows[sets->nrows++] = row;
    return 0;
}

int counter_sets_read(const char *path, table_report *report, void *data, struct counter_sets *sets,
                      struct err *err)
{
    const struct csv_spec spec = {set_columns, ARRAY_LEN(set_columns), 0};
    const struct table_reader reader = {
        .spec = &spec, TABLE_ROWS(sets, rows), .add = sets_add, .report = report, .data = data};
    memset(sets, 0, sizeof *sets);
    return table_read(path, &reader, sets, &sets->file, err);
}

static void names_read(void)
{
    names.status =
        counter_ids_read(path_data("cpuinfo/counter_ids.csv"), NULL, NULL, &names.ids, &names.err);
    if (names.status == 0)
        names.status = counter_sets_read(path_data("cpuinfo/counter_sets.csv"), NULL, NULL,
                                         &names.sets, &names.err);
}

int counter_names_load(struct err *err)
{
    pthread_once(&names.once, names_read);
    return names.status < 0 ? err_set(err, "%s", names.err.text) : 0;
}

const struct counter_id *counter_id_at(int index)
{
    counter_names_load(NULL);
    return index >= 0 && index < names.ids.nrows ? &names.ids.rows[index] : NULL;
}

const struct counter_set *counter_set_next(const char *uarch, const struct counter_set *previous)
{
    counter_names_load(NULL);
    for (int i = previous ? (int)(previous - names.sets.rows) + 1 : 0; i < names.sets.nrows; i++)
        if (list_has(names.sets.rows[i].uarchs, uarch))
            return &names.sets.rows[i];
    return NULL;
}

const struct counter_set *counter_set_find(const char *uarch, const char *name, struct err *err)
{
    char hint[96];
    struct suggestion suggestion = suggest_start(name, strlen(name));
    if (counter_names_load(err) < 0)
        return NULL;
    for (const struct counter_set *set = counter_set_next(uarch, NULL); set;
         set = counter_set_next(uarch, set)) {
        if (strcmp(set->name, name) == 0)
            return set;
        suggest_offer(&suggestion, set->name);
    }
    err_set(err, "%s has no set of events '%s'%s; `latput counters --sets` lists them", uarch, name,
            suggest_text(&suggestion, hint, sizeof hint));
    return NULL;
}
