// SPDX-License-Identifier: MIT
// latput ports: prints the structure of the execution ports, from the database or found now.
#include "cli/command.h"
#include "cli/option_backend.h"
#include "cli/option_format.h"
#include "cli/option_kind.h"
#include "cli/option_store.h"
#include "cli/option_uarch.h"
#include "measure/refuse.h"
#include "measure/session.h"
#include "measure/session_count.h"
#include "portrun/portrun_mixes.h"
#include "portrun/portrun_model.h"
#include "report/report.h"
#include "store/store.h"
#include "store/store_ports.h"
#include "store/store_whose.h"
#include "util/file_write.h"
#include "util/pager.h"
#include "util/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct arguments {
    const char *db, *uarch, *svg;
    int64_t run_id;
    bool discover, others; // the published runs are asked
    enum report_format format;
    enum count_choice choice;
    int cpu;
};

// clang-format off
static const struct command_option options[] = {
    {COMMON_DB(db)},
    {'u', "uarch", "NAME",
        "this CPU family instead of this machine's; with --discover, the family that it is taken "
        "for",
        OPTION_TEXT(uarch)},
    {'r', "run", "N", "this run instead of the newest", OPTION_RUN(run_id)},
    {0, "discover", NULL, "measure now (half a minute) instead of reading; nothing is stored",
        OPTION_SWITCH(discover, true), .beside = "uarch|cpu|backend|format|svg"},
    {COMMON_CPU(cpu), .with = "discover"},
    {0, "backend", BACKEND_NAMES, BACKEND_OF_CYCLES, OPTION_BACKEND(choice),
        .with = "discover"},
    {COMMON_FORMAT_JSON(format)},
    {0, "svg", "FILE", "write the diagram to FILE as well", OPTION_TEXT(svg)},
    {0},
};
// clang-format on

static int ports_run(int argc, char **argv);

const struct command cmd_ports = {
    .name = "ports",
    .arguments = "",
    .summary = "show the structure of the execution ports",
    .description =
        "Prints the port sets that instruction forms of one µop choose from, how they overlap, and "
        "the form that occupies each (its blocker), as found by `latput run` from throughput, and "
        "from counted µops if the CPU counts those of ports. latput query --ports prints the ports "
        "that each form uses. Method and limits: docs/PORTS.md.",
    .options = options,
    .run = ports_run,
};

static int ports_parse(int argc, char **argv, struct arguments *arguments)
{
    int status = command_read_alone(&cmd_ports, argc, argv, arguments);
    if (status != EXIT_DONE)
        return status;
    if (arguments->discover && arguments->uarch)
        status = uarch_option_read(&cmd_ports, arguments->uarch);
    return status;
}

static int ports_print(const struct arguments *arguments, const struct stored_port_model *stored,
                       const char *uarch, const char *whose)
{
    struct strbuf out = {0}, svg = {0};
    struct err err = {0};
    int status = EXIT_DONE;
    if (arguments->format == REPORT_JSON)
        report_ports_json(stored, uarch, &out);
    else
        report_ports_text(stored, whose, terminal_has_colour(STDOUT_FILENO), &out);
    if (arguments->others)
        store_option_end_others(&cmd_ports, arguments->format != REPORT_JSON, &out);
    pager_put(strbuf_text(&out));
    if (arguments->svg) {
        report_ports_svg(stored, whose, &svg);
        if (file_write(arguments->svg, svg.data, svg.len, &err) != 0)
            status = command_fail(&cmd_ports, EXIT_ENVIRONMENT, "%s", err.text);
    }
    strbuf_free(&out);
    strbuf_free(&svg);
    return status;
}

static void ports_step(void *context, const char *what, int mixes)
{
    (void)context;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s: %d mixes", what, mixes);
}

// Finds the structure of this machine, with counters and the floor found for it.
static int ports_discover_now(const struct arguments *arguments, struct session *session,
                              const struct portrun_forms *forms, struct stored_port_model *stored,
                              struct err *note, struct err *err)
{
    const struct session_floor from = {.quick = false};
    const struct session_counters wanted = {.choice = arguments->choice, .ports = true};
    int status = session_prepare(session, &wanted, &from, err);
    if (status == 0) {
        backend_say(&cmd_ports, session);
        struct portrun_mixes measure = {.session = session,
                                        .rows = forms->rows,
                                        .plan = {.issue_width = session->issue_width},
                                        .ahead = true};
        struct port_oracle oracle = portrun_mixes_oracle(&measure);
        oracle.step = ports_step;
        struct port_model model;
        status = portrun_find_model(forms, &oracle, session, &model, note, err);
        if (isatty(STDERR_FILENO))
            fputs("\r\033[K", stderr);
        if (status == 0)
            portrun_stored_model(forms, &model, stored);
    }
    return status;
}

// Makes the forms that blockers are chosen from, without what the system keeps from programs.
static void ports_make_forms(const struct session *session, struct selection *all,
                             struct portrun_forms *forms)
{
    const struct refuse_asked asked = {session, all->rows, all->nrows};
    struct arena arena = {0};
    struct refusals refused = {.n = 0};
    refuse_states(&asked, &arena, &refused);
    refuse_leave_out(&refused, all);
    portrun_forms_make(forms, all, NULL, 0, NULL);
    arena_free(&arena);
}

static int ports_measure(const struct arguments *arguments)
{
    struct session session;
    struct selection all;
    struct portrun_forms forms = {.n = 0};
    static struct stored_port_model stored;
    struct strbuf whose = {0};
    struct err err = {0}, note = {0};
    if (select_rows(NULL, 0, NULL, &all, &err) != 0)
        return command_fail(&cmd_ports, EXIT_ENVIRONMENT, "%s", err.text);
    session_stop_on_signals();
    kind_say(&cmd_ports, arguments->cpu);
    int status = session_begin(arguments->cpu, NULL, &session, &err);
    if (status == 0)
        status = session_make_directory(&session, &err);
    if (status == 0) {
        ports_make_forms(&session, &all, &forms);
        status = ports_discover_now(arguments, &session, &forms, &stored, &note, &err);
    }
    if (status == 0 && *note.text)
        command_note(&cmd_ports, "note: the published names do not fit: %s", note.text);
    if (status == 0)
        store_whose_here(session.cpu, &whose);
    status = status == 0 ? ports_print(arguments, &stored, session.cpu->uarch, strbuf_text(&whose))
                         : command_fail(&cmd_ports, EXIT_ENVIRONMENT, "%s", err.text);
    strbuf_free(&whose);
    portrun_forms_free(&forms);
    selection_free(&all);
    session_end(&session, false);
    return status;
}

static int ports_print_stored(const struct arguments *arguments, struct store *store,
                              const char *uarch, struct arena *arena)
{
    static struct stored_port_model stored;
    struct err err = {0};
    struct store_ports_of of = {arguments->run_id, uarch, arguments->uarch != NULL};
    int status = store_option_check(&cmd_ports, store, of.run_id);
    if (status == EXIT_DONE && of.named)
        status = store_option_called(&cmd_ports, store, &of.uarch);
    if (status == EXIT_DONE)
        status = store_option_ports(&cmd_ports, store, &of, &stored, arena);
    if (status != EXIT_DONE)
        return status;
    struct store_whose whose;
    struct strbuf text = {0};
    if (store_whose_read(store, of.run_id, &whose, arena, &err) != 0)
        return command_fail(&cmd_ports, EXIT_ENVIRONMENT, "%s", err.text);
    store_whose_put(&whose, &text);
    status = ports_print(arguments, &stored, whose.uarch, strbuf_text(&text));
    strbuf_free(&text);
    return status;
}

static int ports_read(struct arguments *arguments)
{
    struct store *store;
    struct arena arena = {0};
    struct err err = {0};
    int status =
        store_option_open_read(&cmd_ports, arguments->db, false, &store, &arguments->others);
    if (status != EXIT_DONE)
        return status;
    if (!arguments->uarch && !arguments->run_id)
        kind_say(&cmd_ports, CPU_LAST);
    char *here = arguments->uarch ? xstrdup(arguments->uarch)
                                  : store_option_uarch_here(store, CPU_LAST, &err);
    status = here ? ports_print_stored(arguments, store, here, &arena)
                  : command_fail(&cmd_ports, EXIT_ENVIRONMENT, "%s", err.text);
    free(here);
    arena_free(&arena);
    store_close(store);
    return status;
}

static int ports_run(int argc, char **argv)
{
    struct arguments arguments = {.cpu = -1};
    int status = ports_parse(argc, argv, &arguments);
    if (status != EXIT_DONE)
        return status;
    return arguments.discover ? ports_measure(&arguments) : ports_read(&arguments);
}
