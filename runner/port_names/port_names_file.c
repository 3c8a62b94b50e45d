// SPDX-License-Identifier: MIT
#include "port_names_file.h"

#include "cpuinfo/cpuinfo.h"
#include "ports/ports_forms.h"
#include "util/paths.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COL_NAME, COL_PORTS, COL_FORM, COLUMNS };
_Static_assert(PORT_LABEL_MAX == 8 && PORT_PUBLISHED_MAX == 64, "names_ports() says so");
static const char *const columns[COLUMNS] = {"name", "ports", "form"};

#define REFUSE(names, record, column, err, ...)                                                    \
    csv_record_error((names)->file.path, record, column, err, __VA_ARGS__)

static int names_port(struct port_names *names, const char *text, size_t len)
{
    for (int i = 0; i < names->npublished; i++)
        if (strlen(names->published[i]) == len && memcmp(names->published[i], text, len) == 0)
            return i;
    if (names->npublished == PORT_PUBLISHED_MAX || len >= PORT_LABEL_MAX)
        return -1;
    memcpy(names->published[names->npublished], text, len);
    return names->npublished++;
}

static int names_ports(struct port_names *names, const struct csv_record *record,
                       struct port_named_set *set, struct err *err)
{
    for (const char *at = record->fields[COL_PORTS]; *at;) {
        size_t len = strcspn(at, " ");
        int port = len ? names_port(names, at, len) : -1;
        const char *wrong = !len                    ? NULL
                            : len >= PORT_LABEL_MAX ? "a port's name has at most 7 letters"
                            : port < 0              ? "more than 64 ports"
                            : set->ports & UINT64_C(1) << port ? "a port stands twice in the set"
                                                               : NULL;
        if (wrong)
            return csv_record_error(names->file.path, record, COL_PORTS, err, "%s", wrong);
        if (len)
            set->ports |= UINT64_C(1) << port;
        at += len + (at[len] == ' ');
    }
    return 0;
}

// Returns true for a name that port_label() gives to ports without a name: u0.
static bool is_systematic_port(const char *name)
{
    return name[0] == 'u' && name[1] && !name[1 + strspn(name + 1, "0123456789")];
}

// Returns true for a name that ports_name() gives to sets without a name: A4, B2a.
static bool is_systematic_set(const char *name)
{
    return isupper((unsigned char)name[0]) && isdigit((unsigned char)name[1]) &&
           (!name[2] || (islower((unsigned char)name[2]) && !name[3]));
}

static int names_add(struct port_names *names, const struct csv_record *record, struct err *err)
{
    const char *name = record->fields[COL_NAME];
    if (names->n == PORT_NAMED_MAX)
        return REFUSE(names, record, COL_NAME, err, "more than %d port sets", PORT_NAMED_MAX);
    if (!*name || strlen(name) >= PORT_NAME_MAX || strpbrk(name, "*+/? "))
        return REFUSE(names, record, COL_NAME, err,
                      "a name has 1 to %d letters and none of '*', '+', '/', '?', blank",
                      PORT_NAME_MAX - 1);
    if (is_systematic_set(name) || is_systematic_port(name))
        return REFUSE(names, record, COL_NAME, err, "sets without a name are called like this");
    for (int i = 0; i < names->n; i++)
        if (strcmp(names->sets[i].name, name) == 0)
            return REFUSE(names, record, COL_NAME, err, "the name stands in line %d too",
                          names->sets[i].record->line);
    struct port_named_set *set = &names->sets[names->n++];
    *set = (struct port_named_set){record, name, record->fields[COL_FORM], 0};
    return names_ports(names, record, set, err);
}

int port_names_read(const char *path, struct port_names *names, struct err *err)
{
    const struct csv_spec spec = {columns, COLUMNS, 0};
    *names = (struct port_names){.n = 0};
    if (csv_file_read(path, &spec, &names->file, err) != 0)
        return -1;
    names->source = csv_file_comment(&names->file, "source");
    names->applies = csv_file_comment(&names->file, "applies");
    if (!names->source || !*names->source || !names->applies || !*names->applies)
        return err_set(err,
                       "%s: needs the comment lines `# source:` and `# applies:` before the "
                       "header row",
                       path);
    for (size_t i = 0; i < names->file.nrecords; i++)
        if (names_add(names, &names->file.records[i], err) != 0)
            return -1;
    return 0;
}

void port_names_free(struct port_names *names)
{
    csv_file_free(&names->file);
}

static bool port_names_apply_to(const struct port_names *names, const char *uarch)
{
    size_t len = strlen(uarch);
    for (const char *at = names->applies; *at; at += strspn(at, " ")) {
        size_t word = strcspn(at, " ");
        if (word == len && memcmp(at, uarch, len) == 0)
            return true;
        at += word;
    }
    return false;
}

// Returns true if the file's head names the uarch; the rest of the file may be malformed.
static bool file_applies(const char *path, const char *uarch)
{
    struct port_names names;
    struct err ignored;
    port_names_read(path, &names, &ignored);
    bool applies = names.applies && port_names_apply_to(&names, uarch);
    port_names_free(&names);
    return applies;
}

int port_names_load(const char *uarch, struct port_names *names, struct err *err)
{
    glob_t files;
    int found = 0;
    char key[64]; // an inferred family's ports have the same names
    cpu_uarch_key(uarch, key, sizeof key);
    *names = (struct port_names){.n = 0};
    if (glob(path_data("cpuinfo/ports/*.csv"), 0, NULL, &files) != 0)
        return 0;
    for (size_t i = 0; i < files.gl_pathc && found == 0; i++)
        if (file_applies(files.gl_pathv[i], key))
            found = port_names_read(files.gl_pathv[i], names, err) == 0 ? 1 : -1;
    globfree(&files);
    return found;
}

// --- checks ---

static int check_set(const struct port_names *names, int i, port_names_row *find, void *data,
                     struct err *err)
{
    const struct port_named_set *set = &names->sets[i];
    const struct list_row *row = find(set->form, data);
    if (!row)
        return REFUSE(names, set->record, COL_FORM, err, "no list has the form '%s' in 64-bit mode",
                      set->form);
    if (ports_form(row).blocker_cost < 0)
        return REFUSE(names, set->record, COL_FORM, err,
                      "'%s' cannot show a set: it must write one operand that it does not read, "
                      "and wait for nothing (docs/PORTS.md)",
                      set->form);
    for (int j = 0; j < i; j++) {
        const struct port_named_set *other = &names->sets[j];
        if (strcmp(other->form, set->form) == 0)
            return REFUSE(names, set->record, COL_FORM, err, "the form stands in line %d too",
                          other->record->line);
        if (set->ports && other->ports == set->ports)
            return REFUSE(names, set->record, COL_PORTS, err, "line %d names this set too",
                          other->record->line);
    }
    for (int p = 0; p < names->npublished; p++)
        if (strcmp(names->published[p], set->name) == 0 && set->ports != UINT64_C(1) << p)
            return REFUSE(names, set->record, COL_NAME, err, "this is the name of a port");
    return 0;
}

static int check_applies(const struct port_names *names, struct err *err)
{
    const char *slash = strrchr(names->file.path, '/');
    const char *file = slash ? slash + 1 : names->file.path;
    bool first = true;
    for (const char *at = names->applies; *at; first = false) {
        char uarch[64];
        int len = (int)strcspn(at, " ");
        snprintf(uarch, sizeof uarch, "%.*s", len, at);
        at += len + (int)strspn(at + len, " ");
        if (!cpu_family_find(uarch))
            return err_set(err, "%s: `# applies:` has '%s', which is no uarch of cpus.csv",
                           names->file.path, uarch);
        if (first && (strncmp(file, uarch, (size_t)len) != 0 || strcmp(file + len, ".csv") != 0))
            return err_set(err, "%s: `# applies:` begins with %s, so the file must be %s.csv",
                           names->file.path, uarch, uarch);
    }
    return 0;
}

static int names_check(const struct port_names *names, port_names_row *find, void *data,
                       struct err *err)
{
    for (int i = 0; i < names->n; i++)
        if (check_set(names, i, find, data, err) != 0)
            return -1;
    for (int p = 0; p < names->npublished; p++)
        if (is_systematic_port(names->published[p]))
            return err_set(err, "%s: '%s' looks like a port without a name", names->file.path,
                           names->published[p]);
    return check_applies(names, err);
}

int port_names_check(const char *path, port_names_row *find, void *data, struct err *err)
{
    struct port_names names;
    int status = port_names_read(path, &names, err);
    if (status == 0)
        status = names_check(&names, find, data, err);
    port_names_free(&names);
    return status;
}

// Checks that no earlier file applies to one of these uarchs.
static int check_shared(const struct port_names *names, char *const *earlier, size_t nearlier,
                        struct err *err)
{
    for (const char *at = names->applies; *at; at += strspn(at, " ")) {
        char uarch[64];
        int len = (int)strcspn(at, " ");
        snprintf(uarch, sizeof uarch, "%.*s", len, at);
        at += len;
        for (size_t i = 0; i < nearlier; i++)
            if (file_applies(earlier[i], uarch))
                return err_set(err, "%s: %s applies to %s too", names->file.path, earlier[i],
                               uarch);
    }
    return 0;
}

void port_names_check_all(port_names_row *find, void *data, table_report *report, void *report_data)
{
    glob_t files;
    if (glob(path_data("cpuinfo/ports/*.csv"), 0, NULL, &files) != 0)
        return; // no problem
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct err fault;
        struct port_names names;
        int status = port_names_read(files.gl_pathv[i], &names, &fault);
        if (status == 0)
            status = names_check(&names, find, data, &fault);
        if (status == 0)
            status = check_shared(&names, files.gl_pathv, i, &fault);
        if (status != 0)
            report(&fault, report_data);
        port_names_free(&names);
    }
    globfree(&files);
}
