// SPDX-License-Identifier: MIT
// Remembers lists found to be good; see check_known.h. Each is an empty file whose name is the key.
#include "check_known.h"

#include "util/mem.h"
#include "util/paths.h"
#include "version.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <sha256.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FORGOTTEN_S = 90 * 24 * 60 * 60 }; // age at which an unused key is removed

struct check_known {
    int directory;
    char base[CHECK_KEY_BYTES]; // sha256 of everything that all lists depend on
};

// Hashes a text with its end, so that "ab","c" differs from "a","bc".
static void key_text(SHA256_CTX *sha, const char *text)
{
    SHA256Update(sha, (const uint8_t *)text, strlen(text) + 1);
}

// Hashes small numbers, one byte each: only widths of memory are larger, and the class names these,
// too.
static void key_numbers(SHA256_CTX *sha, const int *numbers, size_t n)
{
    uint8_t bytes[32];
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)numbers[i];
    SHA256Update(sha, bytes, n);
}

static void key_files(SHA256_CTX *sha, const char *pattern)
{
    glob_t found;
    if (glob(path_data(pattern), 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char hash[SHA256_DIGEST_STRING_LENGTH] = "";
        key_text(sha, strrchr(found.gl_pathv[i], '/'));
        key_text(sha, SHA256File(found.gl_pathv[i], hash) ? hash : "");
    }
    globfree(&found);
}

// Hashes the program: builds of one version may differ.
static void key_program(SHA256_CTX *sha)
{
    struct stat about;
    key_text(sha, LATPUT_VERSION);
    if (stat("/proc/self/exe", &about) == 0) {
        SHA256Update(sha, (const uint8_t *)&about.st_size, sizeof about.st_size);
        SHA256Update(sha, (const uint8_t *)&about.st_mtim, sizeof about.st_mtim);
    }
}

static void key_operand(SHA256_CTX *sha, const struct operand *op)
{
    const int numbers[] = {(int)op->kind, op->access,    op->fixed,   op->high8,    op->masked,
                           op->zeroing,   op->broadcast, op->literal, op->has_value};
    key_text(sha, op->text);
    key_numbers(sha, numbers, ARRAY_LEN(numbers));
    SHA256Update(sha, (const uint8_t *)&op->value, sizeof op->value);
}

static void key_row(SHA256_CTX *sha, const struct list_row *row)
{
    // Other fields follow from the options.
    const int numbers[] = {(int)row->enc, row->bits,      (int)row->rounding, (int)row->tests,
                           row->nops,     row->nimplicit, row->noptions};
    key_text(sha, row->form);
    key_text(sha, row->isa);
    key_numbers(sha, numbers, ARRAY_LEN(numbers));
    for (int i = 0; i < row->nops; i++)
        key_operand(sha, &row->ops[i]);
    for (int i = 0; i < row->nimplicit; i++)
        key_operand(sha, &row->implicit[i]);
    for (int i = 0; i < row->noptions; i++) {
        key_text(sha, row->options[i].key);
        key_text(sha, row->options[i].value);
    }
}

void check_known_key(const struct check_known *known, const struct list *list,
                     char key[CHECK_KEY_BYTES])
{
    SHA256_CTX sha;
    SHA256Init(&sha);
    key_text(&sha, known ? known->base : "");
    for (int i = 0; i < list->nrows; i++)
        key_row(&sha, &list->rows[i]);
    SHA256End(&sha, key);
}

// Makes missing directories of `path` below `from`, and opens the last one.
static int known_directory(const char *from, const char *path)
{
    char *whole = xasprintf("%s/%s", from, path);
    for (char *at = whole + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(whole, 0700);
        *at = '/';
    }
    mkdir(whole, 0700);
    int fd = open(whole, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    free(whole);
    struct stat about;
    if (fd >= 0 && (fstat(fd, &about) != 0 || about.st_uid != geteuid() ||
                    about.st_mode & (S_IWGRP | S_IWOTH))) {
        close(fd);
        return -1;
    }
    return fd;
}

struct check_known *check_known_open(const char *nasm)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int directory = -1;
    if (cache && *cache == '/')
        directory = known_directory(cache, "latput/checked");
    else if (home && *home == '/')
        directory = known_directory(home, ".cache/latput/checked");
    if (directory < 0)
        return NULL;
    struct check_known *known = xcalloc(1, sizeof *known);
    known->directory = directory;
    SHA256_CTX sha;
    SHA256Init(&sha);
    key_program(&sha);
    key_text(&sha, nasm);
    key_files(&sha, "lists/exceptions.csv");
    key_files(&sha, "cpuinfo/features.csv");
    key_files(&sha, "macros/*.inc");
    SHA256End(&sha, known->base);
    return known;
}

bool check_known_has(const struct check_known *known, const char *key)
{
    struct stat about;
    if (!known || fstatat(known->directory, key, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(about.st_mode) || about.st_uid != geteuid())
        return false;
    utimensat(known->directory, key, NULL, AT_SYMLINK_NOFOLLOW); // marks it as used
    return true;
}

// Removes keys that have not been used for long.
static void known_forget(const struct check_known *known)
{
    int fd = dup(known->directory);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    time_t now = time(NULL);
    struct stat about;
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (strlen(entry->d_name) == CHECK_KEY_BYTES - 1 &&
            fstatat(known->directory, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
            now - about.st_mtime > FORGOTTEN_S)
            unlinkat(known->directory, entry->d_name, 0);
    if (directory)
        closedir(directory);
    else if (fd >= 0)
        close(fd);
}

void check_known_add(const struct check_known *known, const char *key)
{
    if (!known)
        return;
    known_forget(known);
    int fd =
        openat(known->directory, key, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}

void check_known_close(struct check_known *known)
{
    if (known)
        close(known->directory);
    free(known);
}
