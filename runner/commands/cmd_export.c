// SPDX-License-Identifier: MIT
// latput export: results in the formats of other programs.
#include "cli/command.h"
#include "cli/option_store.h"
#include "export/export.h"
#include "store/store.h"
#include "util/file_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_SHOWN = 5 }; // forms named for each reason of leaving them out

struct arguments {
    const char *db, *output, *left_out;
    const struct export_format *format;
    struct store_filter filter;
};

static int take_format(const struct option_given *given, void *to)
{
    struct arguments *arguments = to;
    arguments->format = export_format_find(given->argument);
    if (arguments->format)
        return EXIT_DONE;
    struct strbuf names = {0};
    for (int i = 0; export_formats[i]; i++)
        strbuf_printf(&names, "%s%s", i ? ", " : "", export_formats[i]->name);
    int status = command_fail(given->cmd, EXIT_USAGE, "unknown format '%s'; there are %s",
                              given->argument, strbuf_text(&names));
    strbuf_free(&names);
    return status;
}

// clang-format off
static const struct command_option options[] = {
    {COMMON_DB(db)},
    {'f', "format", "FORMAT", "one of those above", OPTION_CALL(take_format)},
    {'u', "uarch", "NAME", "the CPU family; default: that of the newest run",
        OPTION_TEXT(filter.uarch)},
    {'r', "run", "N", "this run instead of the best run of each form", OPTION_RUN(filter.run_id)},
    {'o', "output", "FILE", "default: standard output", OPTION_TEXT(output)},
    {0, "left-out", "FILE",
        "write each form that the format cannot express there, after the reason",
        OPTION_TEXT(left_out)},
    {0},
};
// clang-format on

extern const struct command cmd_export;

// Prints the omissions: one line per reason, with some of the forms.
static void export_print_left(const struct export_out *out, const struct arguments *args)
{
    for (int i = 0; i < out->nreasons; i++) {
        const struct export_reason *reason = &out->reasons[i];
        struct strbuf line = {0};
        const char *name = strbuf_text(&reason->names);
        strbuf_printf(&line, "left out %d form%s: %s:", reason->count,
                      reason->count == 1 ? "" : "s", reason->text);
        for (int j = 0; j < NAMES_SHOWN && *name; j++, name = strchr(name, '\n') + 1) {
            strbuf_puts(&line, j ? ", " : " ");
            char *one = strndup(name, strcspn(name, "\n"));
            strbuf_puts(&line, one);
            free(one);
        }
        if (*name)
            strbuf_puts(&line, args->left_out ? ", ..." : ", ...; --left-out FILE names all");
        command_note(&cmd_export, "%s", strbuf_text(&line));
        strbuf_free(&line);
    }
}

static int export_write_left(const struct export_out *out, const char *path, struct err *err)
{
    struct strbuf text = {0};
    for (int i = 0; i < out->nreasons; i++) {
        const char *name = strbuf_text(&out->reasons[i].names);
        for (; *name; name = strchr(name, '\n') + 1)
            strbuf_printf(&text, "%s\t%.*s\n", out->reasons[i].text, (int)strcspn(name, "\n"),
                          name);
    }
    int status = file_write(path, strbuf_text(&text), text.len, err);
    strbuf_free(&text);
    return status;
}

static int export_text(struct store *store, const struct arguments *args, struct export_out *out,
                       struct err *err)
{
    struct known_cpu data;
    int status = known_read(store, &args->filter, args->format->what, &data, err);
    if (status == 0 && data.nforms > 0)
        status = args->format->write(&data, out, err);
    if (status == 0 && data.nforms > 0)
        command_note(&cmd_export, "%s: %d of %d forms of %s", args->format->name, out->written,
                     data.nforms, args->filter.uarch);
    known_free(&data);
    return status;
}

static int export_put(const struct export_out *out, const struct arguments *args, struct err *err)
{
    if (args->output)
        return file_write(args->output, strbuf_text(&out->text), out->text.len, err);
    fwrite(strbuf_text(&out->text), 1, out->text.len, stdout);
    return fflush(stdout) == 0 ? 0 : err_set(err, "standard output: cannot be written");
}

static int export_of_store(struct store *store, struct arguments *args)
{
    struct err err = {0};
    struct export_out out = {.written = 0};
    char *uarch;
    int status = store_option_one_cpu(&cmd_export, store, &args->filter, &uarch);
    if (status == EXIT_DONE) {
        if (export_text(store, args, &out, &err) != 0 || export_put(&out, args, &err) != 0 ||
            (args->left_out && export_write_left(&out, args->left_out, &err) != 0))
            status = command_fail(&cmd_export, EXIT_ENVIRONMENT, "%s", err.text);
        else if (out.written == 0 && out.nreasons == 0)
            command_note(&cmd_export, "no forms match");
        export_print_left(&out, args);
    }
    export_out_free(&out);
    free(uarch);
    return status;
}

static int export_run(int argc, char **argv)
{
    struct arguments args = {.db = NULL};
    struct store *store;
    int operand = argc;
    int status = command_read_options(&cmd_export, argc, argv, &args, &operand);
    if (status != EXIT_DONE)
        return status;
    if (!args.format)
        return command_fail(&cmd_export, EXIT_USAGE, "name a format: --format FORMAT");
    args.filter.globs = (const char *const *)argv + operand;
    args.filter.nglobs = argc - operand;
    status = store_option_open(&cmd_export, args.db, STORE_READ, &store);
    if (status != EXIT_DONE)
        return status;
    status = export_of_store(store, &args);
    store_close(store);
    return status;
}

const struct command cmd_export = {
    .name = "export",
    .arguments = "[GLOB]...",
    .summary = "write results in the formats of other programs",
    .description =
        "Writes the forms of one CPU that match a GLOB (as in latput query; all without one) in a "
        "format of another program:\n"
        "csv, json: all that is known of a form, pairs of operands included; spreadsheet: csv with "
        "an apostrophe before what a spreadsheet would take for a formula; uops-xml: as "
        "uops.info's instructions.xml, which uiCA reads; osaca: a machine file for OSACA; "
        "exegesis, exegesis-throughput, exegesis-uops: for llvm-exegesis --mode=analysis; "
        "llvm-json: for generators of LLVM's scheduling models; llvm-sched: a draft of such a "
        "model in TableGen; intrinsics: perf2.js of viewers of intrinsics; asmdude: the tables of "
        "AsmDude2.\n"
        "docs/EXPORTS.md describes them. Numbers are those of latput query. Forms that a format "
        "cannot express are left out, and counted by reason on standard error; --left-out names "
        "all of them. All formats but csv, spreadsheet, json and asmdude need the lists; "
        "all of these but osaca need NASM, too; those of exegesis and llvm also LLVM, Debian's "
        "llvm-19 or newer.",
    .options = options,
    .run = export_run,
};
