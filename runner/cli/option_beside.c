// SPDX-License-Identifier: MIT
// See option_beside.h.
#include "option_beside.h"

#include "compare/compare_beside.h"
#include "option_store.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int option_take_beside(const struct option_given *given, void *to)
{
    struct beside_option *beside = to;
    if (beside->n == BESIDE_MAX)
        return command_fail(given->cmd, EXIT_USAGE, "--beside: %d tables at most", BESIDE_MAX);
    beside->files[beside->n++] = given->argument;
    return EXIT_DONE;
}

// Splits "FILE:CPU", unless a file has this name. Returns the CPU, NULL: none.
static char *beside_split(char *path)
{
    char *colon = access(path, F_OK) == 0 ? NULL : strrchr(path, ':');
    if (!colon || !colon[1])
        return NULL;
    *colon = '\0';
    return colon + 1;
}

// Finds of which CPUs of the database a table is: several machines of a family, with commas.
static int beside_uarch(const struct command *cmd, struct store *store,
                        const struct foreign_table *table, const char *cpu, const char **uarch)
{
    if (*uarch && !strchr(*uarch, ','))
        return EXIT_DONE;
    *uarch = *table->uarch ? table->uarch : cpu;
    if (!*uarch)
        return command_fail(cmd, EXIT_USAGE,
                            "%s does not say of which CPU it is: --beside %s:CPU, or --uarch",
                            table->path, table->path);
    return store_option_all_called(cmd, store, uarch);
}

// Tables that stand beside CPUs already; one has room for one table.
struct besides {
    struct beside_of {
        const char *path, *uarch;
    } of[BESIDE_MAX * 8];
    int n;
    struct arena arena;
};

static int beside_put(const struct command *cmd, struct store *store,
                      const struct foreign_table *table, const char *uarch, struct besides *besides)
{
    struct err err = {0};
    int forms = 0;
    for (int i = 0; i < besides->n; i++)
        if (strcmp(besides->of[i].uarch, uarch) == 0)
            return command_fail(
                cmd, EXIT_USAGE,
                "%s and %s are both of %s: one table can stand beside a CPU; latput "
                "compare takes several",
                besides->of[i].path, table->path, uarch);
    if (besides->n < (int)ARRAY_LEN(besides->of))
        besides->of[besides->n++] = (struct beside_of){arena_strdup(&besides->arena, table->path),
                                                       arena_strdup(&besides->arena, uarch)};
    if (compare_beside(store, table, uarch, &forms, &err) != 0)
        return command_fail(cmd, EXIT_ENVIRONMENT, "%s", err.text);
    command_note(cmd, "%s, %s%s%s: %d forms of %s have values of it; latput compare says more",
                 table->path, foreign_format_name(table->format), *table->cpu ? " of " : "",
                 table->cpu, forms, uarch);
    return EXIT_DONE;
}

static int beside_one(const struct command *cmd, struct store *store, const char *file,
                      const char *uarch, struct besides *besides)
{
    struct err err = {0};
    struct foreign_table table;
    char *path = xstrdup(file), *cpu = beside_split(path);
    int status = EXIT_DONE;
    if (foreign_read(path, cpu ? cpu : uarch, &table, &err) != 0)
        status = command_fail(cmd, table.unable ? EXIT_ENVIRONMENT : EXIT_USAGE, "%s", err.text);
    if (status == EXIT_DONE)
        status = beside_uarch(cmd, store, &table, cpu, &uarch);
    char *all = xstrdup(status == EXIT_DONE ? uarch : ""), *rest = all;
    for (char *one; status == EXIT_DONE && (one = strsep(&rest, ","));)
        status = beside_put(cmd, store, &table, one, besides);
    foreign_free(&table);
    free(all);
    free(path);
    return status;
}

int beside_option_apply(const struct command *cmd, struct store *store,
                        const struct beside_option *beside, const char *uarch)
{
    struct besides besides = {.n = 0};
    int status = EXIT_DONE;
    for (int i = 0; i < beside->n && status == EXIT_DONE; i++)
        status = beside_one(cmd, store, beside->files[i], uarch, &besides);
    arena_free(&besides.arena);
    return status;
}
