// SPDX-License-Identifier: MIT
// Locations of data and built files; see paths.h.
#include "paths.h"

#include "mem.h"

#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char paths_root[PATH_MAX], paths_lib[PATH_MAX];
static pthread_once_t paths_once = PTHREAD_ONCE_INIT;

static void paths_find(void)
{
    char exe[PATH_MAX] = "";
    ssize_t len = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[len > 0 ? len : 0] = '\0';
    char *dir = dirname(exe); // the program's directory
    char *tree = NULL;
    // Test programs live one level deeper than the program itself.
    for (int up = 1; up <= 3 && !tree; up++) {
        char *candidate = xasprintf("%s%s", dir, &"/../../.."[9 - 3 * up]);
        char *probe = xasprintf("%s/lists", candidate);
        if (access(probe, F_OK) == 0) {
            tree = candidate;
            char *build = xasprintf("%s%s", dir, &"/../.."[6 - 3 * (up - 1)]);
            snprintf(paths_lib, sizeof paths_lib, "%s", build);
            free(build);
        } else {
            free(candidate);
        }
        free(probe);
    }
    if (!tree) {
        tree = xasprintf("%s/../share/latput", dir);
        char *lib = xasprintf("%s/../lib/latput", dir);
        snprintf(paths_lib, sizeof paths_lib, "%s", lib);
        free(lib);
    }
    const char *root = getenv("LATPUT_ROOT");
    if (!root || !*root)
        root = tree;
    char resolved[PATH_MAX];
    snprintf(paths_root, sizeof paths_root, "%s", realpath(root, resolved) ? resolved : root);
    if (realpath(paths_lib, resolved))
        snprintf(paths_lib, sizeof paths_lib, "%s", resolved);
    free(tree);
}

// Each path is made once and kept for the life of the program: there are few and they are short.
static const char *paths_join(const char *dir, const char *name)
{
    static struct paths_known {
        struct paths_known *next;
        char *path;
    } * paths_known;
    static pthread_mutex_t paths_lock = PTHREAD_MUTEX_INITIALIZER;
    char *path = xasprintf("%s/%s", dir, name);
    pthread_mutex_lock(&paths_lock);
    struct paths_known *known = paths_known;
    while (known && strcmp(known->path, path) != 0)
        known = known->next;
    if (known) {
        free(path);
    } else {
        known = xmalloc(sizeof *known);
        *known = (struct paths_known){paths_known, path};
        paths_known = known;
    }
    pthread_mutex_unlock(&paths_lock);
    return known->path;
}

const char *path_data(const char *relative)
{
    pthread_once(&paths_once, paths_find);
    return paths_join(paths_root, relative);
}

const char *path_library(const char *name)
{
    pthread_once(&paths_once, paths_find);
    return paths_join(paths_lib, name);
}
