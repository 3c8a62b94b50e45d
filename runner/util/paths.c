// SPDX-License-Identifier: MIT
#include "paths.h"

#include "mem.h"

#include <ctype.h>
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static char paths_root[PATH_MAX], paths_lib[PATH_MAX];
static bool paths_installed;
static pthread_once_t paths_once = PTHREAD_ONCE_INIT;

// File that only latput's data has: other projects may have a folder lists/, too.
static const char paths_mark[] = "cpuinfo/counter_ids.csv";

static bool paths_is_root(const char *dir)
{
    char *mark = xasprintf("%s/%s", dir, paths_mark);
    bool is = access(mark, F_OK) == 0;
    free(mark);
    return is;
}

// Finds the file that this code is in: the shared library or the program; "" if unknown.
static void paths_own_file(char file[PATH_MAX])
{
    Dl_info info;
    // AT_EXECFN is what was executed; argv[0] is whatever the caller chose.
    const char *executed = (const char *)getauxval(AT_EXECFN);
    if (dladdr(paths_root, &info) && strstr(info.dli_fname, ".so") &&
        realpath(info.dli_fname, file))
        return;
    ssize_t len = readlink("/proc/self/exe", file, PATH_MAX - 1);
    file[len > 0 ? len : 0] = '\0';
    if (len <= 0 && (!executed || !realpath(executed, file)))
        file[0] = '\0';
}

// Returns the installed data's directory: beside the program, or, for a user's program with
// liblatput.a in it, one of the usual places. `dir`: the program's directory, NULL if unknown.
static char *paths_find_installed(const char *dir)
{
    char *own = dir ? xasprintf("%s/..", dir) : xstrdup("/usr/local");
    const char *const prefixes[] = {own, "/usr/local", "/usr"};
    const char *prefix = own;
    for (size_t i = ARRAY_LEN(prefixes); i-- > 0;) {
        char *root = xasprintf("%s/share/latput", prefixes[i]);
        if (paths_is_root(root))
            prefix = prefixes[i];
        free(root);
    }
    char *root = xasprintf("%s/share/latput", prefix);
    snprintf(paths_lib, sizeof paths_lib, "%s/lib/latput", prefix);
    free(own);
    return root;
}

// Returns the source tree that the program was built in, and sets paths_lib; NULL if there is none.
// Built programs lie in build/ of the tree, or up to two directories below: the first of ../,
// ../../ and ../../../ that is a root is the tree, and the directory just below that is build/.
static char *paths_find_tree(const char *dir)
{
    static const char *const above[] = {"", "/..", "/../..", "/../../.."};
    for (int up = 1; dir && up <= 3; up++) {
        char *tree = xasprintf("%s%s", dir, above[up]);
        if (paths_is_root(tree)) {
            snprintf(paths_lib, sizeof paths_lib, "%s%s", dir, above[up - 1]);
            return tree;
        }
        free(tree);
    }
    return NULL;
}

// Sets paths_root and paths_lib. Without a source tree, latput is installed. LATPUT_ROOT replaces
// the root only.
static void paths_find(void)
{
    char file[PATH_MAX];
    paths_own_file(file);
    const char *dir = *file ? dirname(file) : NULL;
    char *tree = paths_find_tree(dir);
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

// Returns dir/name. Each path is made once and kept while the program runs: there are few, and they
// are short.
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

bool path_machine_is_set(void)
{
    const char *machine = getenv("LATPUT_MACHINE");
    return machine && *machine;
}

const char *path_machine(const char *name)
{
    const char *path = path_machine_is_set() ? paths_join(getenv("LATPUT_MACHINE"), name) : NULL;
    return path && access(path, R_OK) == 0 ? path : NULL;
}

static char paths_system[64];

static void paths_read_system(void)
{
    const char *path = path_machine("core") ? path_machine("system") : NULL;
    FILE *file = path ? fopen(path, "re") : NULL;
    if (file && !fgets(paths_system, sizeof paths_system, file))
        paths_system[0] = '\0';
    if (file)
        fclose(file);
    for (char *at = paths_system; *at; at++)
        if (!isprint((unsigned char)*at))
            *at = '\0';
}

const char *path_machine_system(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, paths_read_system);
    return *paths_system ? paths_system : NULL;
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
