// SPDX-License-Identifier: MIT
// Reads a simulated CPU; the format is specified in tests/sim/README.md.
#include "../runner/util/csvfile.h"
#include "port_sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KIND, NAME, USES, SLOTS, COST, UNIT, BUSY, COLUMNS };
static const char *const columns[COLUMNS] = {"kind", "name", "uses",    "slots",
                                             "cost", "unit", "busy_clk"};

static int refuse(const char *path, const struct csv_record *record, int column, struct err *err,
                  const char *what)
{
    return csv_error_at(path, record->line, record->text, record->field_columns[column], err, "%s",
                        what);
}

// "0 1 5": a bit mask; 0 if it is none.
static uint32_t parse_ports(const char *text)
{
    uint32_t set = 0;
    while (*text) {
        char *end;
        long port = strtol(text, &end, 10);
        if (end == text || port < 0 || port >= PORTS_MAX || (*end && *end != ' '))
            return 0;
        set |= 1u << port;
        text = end + (*end == ' ');
    }
    return set;
}

// "2*ALU+LOAD". false: not such a text, or a set without its line.
static bool parse_uses(const struct sim_cpu *cpu, const char *text, struct sim_form *form)
{
    while (*text) {
        char *end;
        long uops = strtol(text, &end, 10);
        if (end == text)
            uops = 1;
        else if (*end++ != '*')
            return false;
        size_t length = strcspn(end, "+");
        int s = 0;
        while (s < cpu->nsets && (strlen(cpu->sets[s].name) != length ||
                                  strncmp(cpu->sets[s].name, end, length) != 0))
            s++;
        if (s == cpu->nsets || uops < 1 || form->nuses == PORT_USES_MAX)
            return false;
        form->uses[form->nuses++] = (struct port_use){cpu->sets[s].set, (int)uops};
        text = end + length + (end[length] == '+');
    }
    return true;
}

static int read_form(const char *path, const struct csv_record *record, struct sim_cpu *cpu,
                     struct err *err)
{
    const char *const *fields = record->fields;
    if (cpu->nforms == SIM_FORMS_MAX)
        return refuse(path, record, KIND, err, "too many forms");
    struct sim_form *form = &cpu->forms[cpu->nforms++];
    *form = (struct sim_form){.unit = -1};
    snprintf(form->name, sizeof form->name, "%s", fields[NAME]);
    if (!parse_uses(cpu, fields[USES], form))
        return refuse(path, record, USES, err, "expected sets like 2*ALU+LOAD, each defined above");
    form->slots = strtod(fields[SLOTS], NULL);
    form->filler_only = strcmp(fields[COST], "filler") == 0;
    form->cost = form->filler_only ? 0 : *fields[COST] ? atoi(fields[COST]) : -1;
    for (int u = 0; u < cpu->nunits; u++)
        if (strncmp(fields[UNIT], cpu->units[u].name, strlen(cpu->units[u].name)) == 0)
            form->unit = u;
    form->whole = form->unit >= 0 && fields[UNIT][strlen(fields[UNIT]) - 1] == '*';
    if (*fields[UNIT] && form->unit < 0)
        return refuse(path, record, UNIT, err, "no unit of this name is defined above");
    form->busy_clk = strtod(fields[BUSY], NULL);
    return 0;
}

static int read_set(const char *path, const struct csv_record *record, struct sim_set *sets,
                    int *nsets, int most, struct err *err)
{
    uint32_t set = parse_ports(record->fields[USES]);
    if (!set || *nsets == most)
        return refuse(path, record, USES, err, "expected port numbers from 0 to 31");
    snprintf(sets[*nsets].name, sizeof sets[*nsets].name, "%s", record->fields[NAME]);
    sets[(*nsets)++].set = set;
    return 0;
}

static int read_record(const char *path, const struct csv_record *record, struct sim_cpu *cpu,
                       struct err *err)
{
    const char *kind = record->fields[KIND];
    if (strcmp(kind, "width") == 0) {
        cpu->width = atoi(record->fields[USES]);
        return cpu->width > 0 ? 0 : refuse(path, record, USES, err, "expected slots a cycle");
    }
    if (strcmp(kind, "set") == 0)
        return read_set(path, record, cpu->sets, &cpu->nsets, SIM_SETS_MAX, err);
    if (strcmp(kind, "counter") == 0)
        return read_set(path, record, cpu->groups, &cpu->ngroups, PORT_GROUPS_MAX, err);
    if (strcmp(kind, "form") == 0)
        return read_form(path, record, cpu, err);
    if (strcmp(kind, "unit") != 0 || cpu->nunits == PORT_UNITS_MAX)
        return refuse(path, record, KIND, err, "expected width, set, counter, unit or form");
    struct sim_unit *unit = &cpu->units[cpu->nunits++];
    snprintf(unit->name, sizeof unit->name, "%s", record->fields[NAME]);
    unit->parts = *record->fields[USES] ? atoi(record->fields[USES]) : 1;
    return 0;
}

int sim_read(const char *path, struct sim_cpu *cpu, struct err *err)
{
    const struct csv_spec spec = {.columns = columns, .ncolumns = COLUMNS};
    struct csv_file file;
    *cpu = (struct sim_cpu){.width = 0};
    if (csv_file_read(path, &spec, &file, err) != 0)
        return -1;
    int status = 0;
    for (size_t i = 0; i < file.nrecords && status == 0; i++)
        status = read_record(path, &file.records[i], cpu, err);
    csv_file_free(&file);
    if (status == 0 && cpu->width == 0)
        status = err_set(err, "%s: no width", path);
    return status;
}
