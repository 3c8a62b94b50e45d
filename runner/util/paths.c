// SPDX-License-Identifier: MIT
// Locations of data and built files; see paths.h.
#include "paths.h"

#include "mem.h"

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char paths_root[PATH_MAX], paths_lib[PATH_MAX];
static bool paths_installed;
static pthread_once_t paths_once = PTHREAD_ONCE_INIT;

// The file that this code is in: a shared library, if it is in one, else the program.
static void paths_own_file(char file[PATH_MAX])
{
    Dl_info info;
    char program[PATH_MAX] = "";
    ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    program[len > 0 ? len : 0] = '\0';
    // The name of a program is whatever its caller chose.
    if (!dladdr(paths_root, &info) || !strstr(info.dli_fname, ".so") ||
        !realpath(info.dli_fname, file))
        snprintf(file, PATH_MAX, "%s", program);
}

// Where data are installed: beside the program, or, if that is a user's with liblatput.a in it, in
// one of the usual places.
static char *paths_find_installed(const char *dir)
{
    char *own = xasprintf("%s/..", dir);
    const char *const prefixes[] = {own, "/usr/local", "/usr"};
    const char *prefix = own;
    for (size_t i = ARRAY_LEN(prefixes); i-- > 0;) {
        char *root = xasprintf("%s/share/latput", prefixes[i]);
        if (access(root, F_OK) == 0)
            prefix = prefixes[i];
        free(root);
    }
    char *root = xasprintf("%s/share/latput", prefix);
    char *lib = xasprintf("%s/lib/latput", prefix);
    snprintf(paths_lib, sizeof paths_lib, "%s", lib);
    free(lib);
    free(own);
    return root;
}

// Sets paths_root and paths_lib. Built programs lie in build/ of the source tree, or up to two
// directories below it: the first of ../, ../../ and ../../../ with lists/ in it is the tree, and
// the directory just below that is build/. Where there is none, latput is installed. LATPUT_ROOT
// replaces the root only.
static void paths_find(void)
{
    static const char *const above[] = {"", "/..", "/../..", "/../../.."};
    char file[PATH_MAX];
    paths_own_file(file);
    char *dir = dirname(file);
    char *tree = NULL;
    for (int up = 1; up <= 3 && !tree; up++) {
        char *candidate = xasprintf("%s%s", dir, above[up]);
        char *probe = xasprintf("%s/lists", candidate);
        if (access(probe, F_OK) == 0) {
            tree = candidate;
            char *build = xasprintf("%s%s", dir, above[up - 1]);
            snprintf(paths_lib, sizeof paths_lib, "%s", build);
            free(build);
        } else {
            free(candidate);
        }
        free(probe);
    }
    bool installed = !tree;
    if (installed)
        tree = paths_find_installed(dir);
    const char *root = getenv("LATPUT_ROOT");
    paths_installed = installed && (!root || !*root);
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

const char *path_machine(const char *name)
{
    const char *machine = getenv("LATPUT_MACHINE");
    const char *path = machine && *machine ? paths_join(machine, name) : NULL;
    return path && access(path, R_OK) == 0 ? path : NULL;
}

const char *path_library(const char *name)
{
    pthread_once(&paths_once, paths_find);
    return paths_join(paths_lib, name);
}

bool path_is_installed(void)
{
    pthread_once(&paths_once, paths_find);
    return paths_installed;
}
