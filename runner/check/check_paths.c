// SPDX-License-Identifier: MIT
#include "check_paths.h"

#include "check_property.h"
#include "list/select.h"
#include "util/mem.h"
#include "util/paths.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Returns a path below the current directory relative to it, for short messages.
static const char *check_path_short(const char *path)
{
    char here[4096];
    size_t len = getcwd(here, sizeof here) ? strlen(here) : 0;
    bool below = len > 1 && strncmp(path, here, len) == 0 && path[len] == '/';
    return below ? path + len + 1 : path;
}

static void check_paths_add(struct check_paths *paths, const glob_t *found)
{
    for (size_t i = 0; i < found->gl_pathc; i++)
        if (!strstr(found->gl_pathv[i], "lists/exceptions.csv"))
            paths->items[paths->n++] = check_path_short(found->gl_pathv[i]);
}

int check_paths_all(struct check_paths *paths, struct err *err)
{
    glob(path_data("lists/*.csv"), 0, NULL, &paths->lists);
    glob(path_data("lists/selection/*.csv"), 0, NULL, &paths->selections);
    glob(path_data("lists/properties/*.csv"), 0, NULL, &paths->found);
    paths->properties = xcalloc(paths->found.gl_pathc + 1, sizeof *paths->properties);
    for (size_t i = 0; i < paths->found.gl_pathc; i++)
        paths->properties[paths->nproperties++] = check_path_short(paths->found.gl_pathv[i]);
    paths->items =
        xcalloc(paths->lists.gl_pathc + paths->selections.gl_pathc + 1, sizeof *paths->items);
    check_paths_add(paths, &paths->lists);
    check_paths_add(paths, &paths->selections);
    return paths->n ? 0 : err_set(err, "there are no lists at %s", path_data("lists/*.csv"));
}

void check_paths_free(struct check_paths *paths)
{
    globfree(&paths->lists);
    globfree(&paths->selections);
    globfree(&paths->found);
    free(paths->properties);
    for (int i = 0; paths->owned && i < paths->n; i++)
        free(paths->owned[i]);
    free(paths->owned);
    free(paths->lines);
    free(paths->items);
}

// Adds an operand: a list, or a line of one, LIST:LINE.
static int check_paths_name(struct check_paths *paths, const char *operand, struct err *err)
{
    char *path = select_list_path(operand);
    const char *colon = strrchr(operand, ':');
    if (!path && colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1)) {
        char *name = xasprintf("%.*s", (int)(colon - operand), operand);
        path = select_list_path(name);
        free(name);
        paths->lines[paths->n] = path ? atoi(colon + 1) : 0;
    }
    if (!path)
        return select_no_list(operand, err);
    paths->owned[paths->n] = path;
    paths->items[paths->n++] = check_path_short(path);
    return 0;
}

int check_paths_named(struct check_paths *paths, char **operands, int n, struct err *err)
{
    int status = 0;
    paths->items = xcalloc((size_t)n, sizeof *paths->items);
    paths->owned = xcalloc((size_t)n, sizeof *paths->owned);
    paths->lines = xcalloc((size_t)n, sizeof *paths->lines);
    paths->properties = xcalloc((size_t)n, sizeof *paths->properties);
    for (int i = 0; i < n && status == 0; i++)
        if (check_is_property(operands[i]))
            paths->properties[paths->nproperties++] = operands[i];
        else
            status = check_paths_name(paths, operands[i], err);
    return status;
}
