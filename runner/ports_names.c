// SPDX-License-Identifier: MIT
// Names of port sets; see ports_names.h.
#include "ports_names.h"
#include "ports_internal.h"
#include "util/csvfile.h"
#include "util/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COL_NAME, COL_PORTS, COL_FORM, COLUMNS };
enum { NAMED_MAX = PORT_CLASSES_MAX, PORT_TEXT_MAX = 8, PUBLISHED_MAX = 64 };
_Static_assert(PORT_TEXT_MAX == 8 && PUBLISHED_MAX == 64, "names_ports() says so");
static const char *const columns[COLUMNS] = {"name", "ports", "form"};

// One line of the file.
struct named_set {
    const struct csv_record *record;
    const char *name, *form;
    uint64_t ports; // bit mask over published
    int class;      // of the model; -1: not found
};

struct names {
    struct csv_file file;
    struct named_set sets[NAMED_MAX];
    int n;
    char published[PUBLISHED_MAX][PORT_TEXT_MAX];
    int npublished;
};

static int names_port(struct names *names, const char *text, size_t len)
{
    for (int i = 0; i < names->npublished; i++)
        if (strlen(names->published[i]) == len && memcmp(names->published[i], text, len) == 0)
            return i;
    if (names->npublished == PUBLISHED_MAX || len >= PORT_TEXT_MAX)
        return -1;
    memcpy(names->published[names->npublished], text, len);
    return names->npublished++;
}

static int names_ports(struct names *names, const struct csv_record *record, struct named_set *set,
                       struct err *err)
{
    for (const char *at = record->fields[COL_PORTS]; *at;) {
        size_t len = strcspn(at, " ");
        int port = len ? names_port(names, at, len) : -1;
        const char *wrong = !len                   ? NULL
                            : len >= PORT_TEXT_MAX ? "a port's name has at most 7 letters"
                            : port < 0             ? "more than 64 ports"
                            : set->ports & UINT64_C(1) << port ? "a port stands twice in the set"
                                                               : NULL;
        if (wrong)
            return csv_error_at(names->file.path, record->line, record->text,
                                record->field_columns[COL_PORTS], err, "%s", wrong);
        if (len)
            set->ports |= UINT64_C(1) << port;
        at += len + (at[len] == ' ');
    }
    return 0;
}

static int names_read(const char *path, struct names *names, struct err *err)
{
    const struct csv_spec spec = {columns, COLUMNS, 0};
    *names = (struct names){.n = 0};
    if (csv_file_read(path, &spec, &names->file, err) != 0)
        return -1;
    for (size_t i = 0; i < names->file.nrecords; i++) {
        const struct csv_record *record = &names->file.records[i];
        const char *name = record->fields[COL_NAME];
        if (names->n == NAMED_MAX)
            return csv_error_at(path, record->line, record->text, 1, err, "more than %d port sets",
                                NAMED_MAX);
        if (!*name || strlen(name) >= PORT_NAME_MAX || strpbrk(name, "*+ "))
            return csv_error_at(path, record->line, record->text, record->field_columns[COL_NAME],
                                err, "a name has 1 to %d letters and none of '*', '+', blank",
                                PORT_NAME_MAX - 1);
        for (int j = 0; j < names->n; j++)
            if (strcmp(names->sets[j].name, name) == 0)
                return csv_error_at(path, record->line, record->text,
                                    record->field_columns[COL_NAME], err,
                                    "the name stands in line %d too", names->sets[j].record->line);
        struct named_set *set = &names->sets[names->n++];
        *set = (struct named_set){record, name, record->fields[COL_FORM], 0, -1};
        if (names_ports(names, record, set, err) != 0)
            return -1;
    }
    return 0;
}

static int names_unknown_form(const struct names *names, const struct named_set *set,
                              struct err *err)
{
    return csv_error_at(names->file.path, set->record->line, set->record->text,
                        set->record->field_columns[COL_FORM], err,
                        "no list has the form '%s' in 64-bit mode", set->form);
}

int port_names_check(const char *path, bool (*has_form)(const char *form, void *data), void *data,
                     struct err *err)
{
    struct names names;
    int status = names_read(path, &names, err);
    for (int i = 0; i < names.n && status == 0; i++)
        if (!has_form(names.sets[i].form, data))
            status = names_unknown_form(&names, &names.sets[i], err);
    csv_file_free(&names.file);
    return status;
}

static int names_form(const struct port_form *forms, int nforms, const char *name)
{
    for (int i = 0; i < nforms; i++)
        if (strcmp(forms[i].name, name) == 0)
            return i;
    return -1;
}

static int model_class(const struct port_model *model, const struct port_usage *usage)
{
    if (usage->outcome != OUTCOME_OK || usage->nuses != 1 || usage->uops != 1)
        return -1;
    for (int c = 0; c < model->nclasses; c++)
        if (model->classes[c].set == usage->uses[0].set)
            return c;
    return -1;
}

// Whether sizes and overlaps are those of the file.
static int names_compare(const struct names *names, const struct port_model *model,
                         struct err *note)
{
    for (int i = 0; i < names->n; i++) {
        const struct named_set *a = &names->sets[i];
        if (a->class < 0)
            return err_set(note, "%s: %s does not use one known port set", a->name, a->form);
        uint32_t set_a = model->classes[a->class].set;
        for (int j = 0; j < i; j++)
            if (names->sets[j].class == a->class)
                return err_set(note, "%s and %s are the same set here", a->name,
                               names->sets[j].name);
        for (int j = 0; j <= i && a->ports; j++) {
            const struct named_set *b = &names->sets[j];
            int published = __builtin_popcountll(a->ports & b->ports);
            int measured = b->ports ? port_set_size(set_a & model->classes[b->class].set) : 0;
            if (measured != published)
                return err_set(note, "%s and %s share %d ports here, not %d", a->name, b->name,
                               measured, published);
        }
    }
    return 0;
}

// Ports that the same named sets contain are told by the published names of those ports.
static void names_apply(const struct names *names, struct port_model *model)
{
    for (int i = 0; i < names->n; i++)
        snprintf(model->classes[names->sets[i].class].name, PORT_NAME_MAX, "%s",
                 names->sets[i].name);
    uint64_t taken = 0;
    for (int port = 0; port < model->nports; port++) {
        uint32_t inside = 0;
        for (int i = 0; i < names->n; i++)
            if (names->sets[i].ports && model->classes[names->sets[i].class].set & UINT32_C(1)
                                                                                       << port)
                inside |= UINT32_C(1) << i;
        for (int p = 0; p < names->npublished && inside; p++) {
            uint32_t published = 0;
            for (int i = 0; i < names->n; i++)
                if (names->sets[i].ports & UINT64_C(1) << p)
                    published |= UINT32_C(1) << i;
            if (published != inside || taken & UINT64_C(1) << p)
                continue;
            taken |= UINT64_C(1) << p;
            snprintf(model->port_names[port], sizeof model->port_names[port], "%s",
                     names->published[p]);
            break;
        }
    }
}

static int names_infer(struct names *names, const struct port_oracle *oracle,
                       const struct port_form *forms, int nforms, struct port_model *model,
                       struct err *note, struct err *err)
{
    int which[NAMED_MAX];
    struct port_usage usages[NAMED_MAX];
    for (int i = 0; i < names->n; i++) {
        which[i] = names_form(forms, nforms, names->sets[i].form);
        if (which[i] < 0)
            return names_unknown_form(names, &names->sets[i], err);
    }
    if (port_infer(oracle, forms, which, names->n, model, NULL, usages, err) != 0)
        return -1;
    for (int i = 0; i < names->n; i++)
        names->sets[i].class = model_class(model, &usages[i]);
    if (names_compare(names, model, note) == 0)
        names_apply(names, model);
    return 0;
}

// Reads the uarch's file: 1, 0 if there is none, -1 if it is malformed.
static int names_open(const char *uarch, struct names *names, struct err *err)
{
    char *relative = xasprintf("cpuinfo/ports/%s.csv", uarch);
    const char *path = path_data(relative);
    free(relative);
    *names = (struct names){.n = 0};
    if (access(path, R_OK) != 0 && errno == ENOENT)
        return 0;
    return names_read(path, names, err) == 0 ? 1 : -1;
}

int port_name_sets(const struct port_oracle *oracle, const struct port_form *forms, int nforms,
                   const char *uarch, struct port_model *model, struct err *note, struct err *err)
{
    *note = (struct err){{0}};
    struct names names;
    int found = names_open(uarch, &names, err);
    int status = found;
    if (found == 1)
        status = names_infer(&names, oracle, forms, nforms, model, note, err);
    csv_file_free(&names.file);
    return status;
}
