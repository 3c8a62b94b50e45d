// SPDX-License-Identifier: MIT
#include "plan_select.h"

#include "cpuinfo/cpuinfo.h"
#include "list/select.h"
#include "option_store.h"
#include "store/store_cpu.h"
#include "util/mem.h"
#include "util/paths.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Returns true for a list: an operand with its extension or a line number, or whose file exists;
// others are globs.
static bool plan_select_is_list(const char *operand)
{
    const char *colon = strrchr(operand, ':');
    if (strstr(operand, ".csv") ||
        (colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1)))
        return true;
    static const char *const patterns[] = {"lists/%s.csv", "lists/selection/%s.csv"};
    for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
        size_t dir = (size_t)(strchr(patterns[i], '%') - patterns[i]);
        char *relative = xasprintf("%.*s%s.csv", (int)dir, patterns[i], operand);
        const char *path = path_data(relative);
        free(relative);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

static bool plan_select_is_apx(const struct list_row *row)
{
    return strncmp(row->isa, "APX_", 4) == 0;
}

// Leaves out the forms that APX adds ({nf} shl r64 1) beside those of the same name that other CPUs
// have, too, and that nearly everybody means by it. A glob, a prefix and a list mean all.
static void plan_select_leave_out(struct selection *selection, const char *name)
{
    bool address = strchr(name, '[') != NULL; // in which a * is no glob's
    int kept = 0;
    if (*name == '{' || (!address && strpbrk(name, "*?")))
        return;
    for (int i = 0; i < selection->nrows; i++)
        kept += !plan_select_is_apx(selection->rows[i].row);
    if (kept == 0)
        return;
    kept = 0;
    for (int i = 0; i < selection->nrows; i++)
        if (!plan_select_is_apx(selection->rows[i].row))
            selection->rows[kept++] = selection->rows[i];
    selection->nrows = kept;
}

static int plan_select_visit(const struct selection *selection, const struct plan_select *args,
                             struct err *err)
{
    for (int i = 0; i < selection->nrows; i++) {
        struct arena arena = {0};
        struct plan plan;
        int status = plan_row(selection->rows[i].row, &args->params, &arena, &plan, err);
        if (status == 0)
            status = args->visit(selection->rows[i].row, &plan, args->data);
        arena_free(&arena);
        if (status != 0)
            return status;
    }
    return 0;
}

int plan_select_walk(char **operands, int noperands, const struct plan_select *args,
                     struct err *err)
{
    for (int i = 0; i < noperands; i++) {
        struct selection selection;
        const char *name = operands[i];
        bool list = plan_select_is_list(name);
        if (select_rows(&name, list ? 1 : 0, list ? NULL : name, &selection, err) != 0)
            return -1;
        if (!list)
            plan_select_leave_out(&selection, name);
        int status = plan_select_visit(&selection, args, err);
        selection_free(&selection);
        if (status != 0)
            return status;
    }
    return 0;
}

// Width to plan with if nothing is known: as wide as the widest CPU so far.
enum { WIDTH_UNKNOWN = 8 };

static int plan_select_measured_width(const struct command *cmd, const char *db,
                                      const struct cpu_info *cpu, int *width)
{
    struct err err = {0};
    struct store *store = NULL;
    // Errors of the default database are ignored: it need not exist, nor be sound.
    if (!db && store_open(store_default_path(), STORE_READ, &store, &err) != 0)
        return EXIT_DONE;
    int status = db ? store_option_open(cmd, db, STORE_READ, &store) : EXIT_DONE;
    if (status != EXIT_DONE)
        return status;
    if (store_width_here(store, cpu, width, &err) < 0)
        status = command_fail(cmd, EXIT_ENVIRONMENT, "%s", err.text);
    store_close(store);
    return status;
}

int plan_select_find_width(const struct command *cmd, struct plan_select *args)
{
    struct err err = {0};
    int *width = &args->params.issue_width;
    if (*width)
        return EXIT_DONE;
    struct cpu_info *cpu = xcalloc(1, sizeof *cpu);
    int status = cpuinfo_load(&err) == 0 && cpu_identify(CPU_LAST, cpu, &err) == 0
                     ? plan_select_measured_width(cmd, args->db, cpu, width)
                     : command_fail(cmd, EXIT_ENVIRONMENT, "%s", err.text);
    if (status == EXIT_DONE && !*width) {
        *width = cpu->issue_width ? cpu->issue_width : WIDTH_UNKNOWN;
        command_note(cmd,
                     "the width of this CPU is not measured yet; for %d µops per cycle, %s%s "
                     "(--issue-width)",
                     *width, cpu->issue_width ? "as tables have it for " : "which is a guess",
                     cpu->issue_width ? cpu->uarch_name : "");
    }
    free(cpu);
    return status;
}

int plan_select_take_tests(const struct option_given *given, void *to)
{
    const char *wrong;
    if (tests_parse(given->argument, to, &wrong) == 0)
        return EXIT_DONE;
    return command_fail(given->cmd, EXIT_USAGE, "unknown test '%c' in '%s'; there are L, T and P",
                        *wrong, given->argument);
}

int plan_select_take_width(const struct option_given *given, void *to)
{
    char *end;
    long width = strtol(given->argument, &end, 10);
    if (end == given->argument || *end || width < 1 || width > 16)
        return command_fail(given->cmd, EXIT_USAGE, "'%s' is no width from 1 to 16",
                            given->argument);
    *(int *)to = (int)width;
    return EXIT_DONE;
}
