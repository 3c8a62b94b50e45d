// SPDX-License-Identifier: MIT
#include "cpu_sheet.h"

#include "cli/option_store.h"
#include "sheet/sheet.h"
#include "store/store_property.h"
#include "util/mem.h"
#include "util/pager.h"
#include "util/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fail_store(const struct command *cmd, const struct err *err)
{
    return command_fail(cmd, EXIT_ENVIRONMENT, "%s", err->text);
}

// Adds the newest run with properties on the uarch (NULL: on any). Returns an exit status.
static int add_newest(const struct command *cmd, struct store *store, const char *uarch,
                      struct cpu_sheet_runs *runs)
{
    struct err err = {0};
    if (runs->n == CPU_SHEET_MAX)
        return command_fail(cmd, EXIT_USAGE, "at most %d CPUs side by side", CPU_SHEET_MAX);
    int found = store_newest_properties(store, uarch, NULL, &runs->run_ids[runs->n], &err);
    if (found < 0)
        return fail_store(cmd, &err);
    if (found == 0)
        return command_fail(cmd, EXIT_ENVIRONMENT,
                            "the database has no properties%s%s; latput property measures them",
                            uarch ? " of " : "", uarch ? uarch : "");
    if (!uarch && store_note_merged(cmd, store, runs->run_ids[runs->n], &err) != 0)
        return fail_store(cmd, &err);
    runs->n++;
    return EXIT_DONE;
}

static int add_uarchs(const struct command *cmd, struct store *store, const char *uarchs,
                      struct cpu_sheet_runs *runs)
{
    char *names = xstrdup(uarchs), *rest;
    int status = EXIT_DONE;
    for (char *name = strtok_r(names, ",", &rest); name && status == EXIT_DONE;
         name = strtok_r(NULL, ",", &rest))
        status = add_newest(cmd, store, name, runs);
    free(names);
    return status;
}

static int find_runs(const struct command *cmd, struct store *store, const char *uarchs,
                     struct cpu_sheet_runs *runs)
{
    int status = EXIT_DONE;
    for (int i = 0; i < runs->n && status == EXIT_DONE; i++)
        status = store_option_check(cmd, store, runs->run_ids[i]);
    if (status != EXIT_DONE || runs->n > 0)
        return status;
    if (!uarchs)
        return add_newest(cmd, store, NULL, runs);
    status = store_option_all_called(cmd, store, &uarchs);
    return status == EXIT_DONE ? add_uarchs(cmd, store, uarchs, runs) : status;
}

static void put_sheet(const struct sheet_lines *lines, const struct sheet_cpu *cpus, int ncpus,
                      enum report_format format, struct strbuf *out)
{
    struct json json = {.out = out};
    int columns = terminal_columns(STDOUT_FILENO);
    int narrow = ncpus > 1 ? 0 : SHEET_WIDTH;
    if (format == REPORT_JSON) {
        sheet_json(lines, cpus, ncpus, &json);
        strbuf_puts(out, "\n");
    } else {
        const struct sheet_look look = {format, columns ? columns : narrow,
                                        terminal_has_colour(STDOUT_FILENO)};
        sheet_print(lines, cpus, ncpus, &look, out);
    }
}

static int print_runs(const struct command *cmd, struct store *store,
                      const struct cpu_sheet_runs *runs, enum report_format format)
{
    struct arena arena = {0};
    struct sheet_lines lines;
    struct sheet_cpu cpus[CPU_SHEET_MAX];
    struct strbuf out = {0};
    struct err err = {0};
    if (sheet_lines_load(&lines, &err) != 0)
        return command_fail(cmd, EXIT_USAGE, "%s", err.text);
    int status = EXIT_DONE;
    for (int i = 0; i < runs->n && status == EXIT_DONE; i++)
        if (sheet_cpu_load(store, runs->run_ids[i], &cpus[i], &arena, &err) != 0)
            status = fail_store(cmd, &err);
    if (status == EXIT_DONE)
        put_sheet(&lines, cpus, runs->n, format, &out);
    if (status == EXIT_DONE && runs->others)
        store_option_end_others(cmd, format == REPORT_TABLE, &out);
    pager_put(strbuf_text(&out));
    strbuf_free(&out);
    sheet_lines_free(&lines);
    arena_free(&arena);
    return status;
}

int cpu_sheet(const struct command *cmd, const char *db, const char *uarchs,
              struct cpu_sheet_runs *runs, enum report_format format)
{
    struct store *store;
    int status = store_option_open_read(cmd, db, false, &store, &runs->others);
    if (status != EXIT_DONE)
        return status;
    status = find_runs(cmd, store, uarchs, runs);
    if (status == EXIT_DONE)
        status = print_runs(cmd, store, runs, format);
    store_close(store);
    return status;
}
