// SPDX-License-Identifier: MIT
#include "port_table.h"

#include "cli/option_backend.h"
#include "cli/option_store.h"
#include "store/store_ports.h"
#include "util/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int table_load(struct store *store, struct port_table *table, struct arena *arena,
                      struct err *err)
{
    struct stored_port_usages usages;
    if (store_get_port_usages(store, table->run_id, &usages, arena, err) != 0)
        return -1;
    table->forms =
        validate_choose(&table->model.model, table->rows.rows, table->rows.nrows, &usages, arena);
    table->by_form = arena_alloc(arena, ((size_t)table->forms.n + 1) * sizeof *table->by_form);
    for (int i = 0; i < table->forms.n; i++)
        table->by_form[i] = table->forms.forms[i].row;
    return 0;
}

// Refuses the table of another CPU, which cannot be timed here. Returns EXIT_*.
static int table_check_uarch(const struct command *cmd, struct store *store, int64_t run_id,
                             const char *uarch)
{
    struct err err = {0};
    char *of_run = store_option_uarch(store, run_id, &err);
    int status = EXIT_DONE;
    if (!of_run)
        status = command_fail(cmd, EXIT_ENVIRONMENT, "%s", err.text);
    else if (strcmp(of_run, uarch) != 0)
        status = command_fail(cmd, EXIT_USAGE,
                              "run %" PRId64 " is of '%s': this machine, '%s', cannot test it",
                              run_id, of_run, uarch);
    free(of_run);
    return status;
}

int port_table_open(const struct command *cmd, struct store *store, int64_t run_id,
                    const char *glob, struct port_table *table, struct arena *arena)
{
    struct err err = {0};
    char *uarch = store_option_uarch_here(store, table->cpu, &err);
    if (!uarch)
        return command_fail(cmd, EXIT_ENVIRONMENT, "%s", err.text);
    struct store_ports_of of = {run_id, uarch, false};
    int status =
        run_id && !table->anywhere ? table_check_uarch(cmd, store, run_id, uarch) : EXIT_DONE;
    if (status == EXIT_DONE)
        status = store_option_ports(cmd, store, &of, &table->model, arena);
    table->run_id = of.run_id;
    free(uarch);
    if (status != EXIT_DONE)
        return status;
    if (select_rows(NULL, 0, glob, &table->rows, &err) != 0)
        return command_fail(cmd, glob ? EXIT_USAGE : EXIT_ENVIRONMENT, "%s", err.text);
    if (table_load(store, table, arena, &err) == 0)
        return EXIT_DONE;
    selection_free(&table->rows);
    return command_fail(cmd, EXIT_ENVIRONMENT, "%s", err.text);
}

void port_table_free(struct port_table *table)
{
    selection_free(&table->rows);
}

int port_table_session(const struct command *cmd, struct store *store, int cpu,
                       enum count_choice backend, struct session *session, struct err *err)
{
    const struct session_counters wanted = {.choice = backend};
    struct session_floor from = {.store = store};
    if (session_begin(cpu, NULL, session, err) != 0 || session_make_directory(session, err) != 0 ||
        store_put_cpu(store, session->cpu, &from.cpu_id, err) != 0 ||
        session_prepare(session, &wanted, &from, err) != 0)
        return -1;
    backend_say(cmd, session);
    return 0;
}

struct portrun_mixes port_table_measure(const struct port_table *table, struct session *session)
{
    return (struct portrun_mixes){.session = session,
                                  .rows = table->by_form,
                                  .plan = {.issue_width = table->model.model.width},
                                  .ahead = true};
}
