// SPDX-License-Identifier: MIT
// The place of a kit: its files are appended to the program as a tar archive, and are unpacked into
// a directory of this process below the user's own for temporary files. An object of its name tells
// the next kit that the process lives; what a killed one has left that removes.
#include "kit.h"

#include "../host.h"

#include <sha256.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STATUS_ENVIRONMENT = 3, PLACE_MAX = 1024 };

static const char PREFIX[] = "latput-kit-"; // and KIT_DIGITS hexadecimal digits

// The end of the file; windows/kit/make writes it.
struct trailer {
    char size[16]; // of the archive in front of it, as decimal digits and blanks
    char sha256[SHA256_DIGEST_STRING_LENGTH - 1];
    char magic[16];
};
static const char MAGIC[] = "LATPUT-WIN-KIT-1";

static char directory[PLACE_MAX], program[PLACE_MAX + 32];

static _Noreturn void kit_fail(const char *format, ...) __attribute__((format(gnu_printf, 1, 2)));
static _Noreturn void kit_fail(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    fputs("latput: the kit cannot start: ", stderr);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
    va_end(ap);
    exit(STATUS_ENVIRONMENT);
}

HANDLE kit_mark(const char *digits, bool make)
{
    char name[64];
    snprintf(name, sizeof name, "Local\\latput-%.*s", KIT_DIGITS, digits);
    return make ? CreateMutexA(NULL, FALSE, name) : OpenMutexA(SYNCHRONIZE, FALSE, name);
}

const char *kit_program(void)
{
    return program;
}

// Removes a directory with all that is in it.
static void tree_remove(const char *path)
{
    char inside[PLACE_MAX + MAX_PATH];
    WIN32_FIND_DATAA entry;
    snprintf(inside, sizeof inside, "%s/*", path);
    HANDLE search = FindFirstFileA(inside, &entry);
    for (BOOL any = search != INVALID_HANDLE_VALUE; any; any = FindNextFileA(search, &entry)) {
        if (strcmp(entry.cFileName, ".") == 0 || strcmp(entry.cFileName, "..") == 0)
            continue;
        snprintf(inside, sizeof inside, "%s/%s", path, entry.cFileName);
        bool link = entry.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT;
        if (!(entry.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY))
            DeleteFileA(inside);
        else if (!link)
            tree_remove(inside);
        else
            RemoveDirectoryA(inside);
    }
    if (search != INVALID_HANDLE_VALUE)
        FindClose(search);
    RemoveDirectoryA(path);
}

// Removes the directories of kits whose processes were killed.
static void place_sweep(const char *parent)
{
    char path[PLACE_MAX];
    WIN32_FIND_DATAA entry;
    size_t before = sizeof PREFIX - 1;
    snprintf(path, sizeof path, "%s/%s*", parent, PREFIX);
    HANDLE search = FindFirstFileA(path, &entry);
    for (BOOL any = search != INVALID_HANDLE_VALUE; any; any = FindNextFileA(search, &entry)) {
        const char *digits = entry.cFileName + before;
        if (strlen(digits) != KIT_DIGITS || strspn(digits, "0123456789abcdef") != KIT_DIGITS)
            continue;
        HANDLE mark = kit_mark(digits, false);
        if (mark) {
            CloseHandle(mark);
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", parent, entry.cFileName);
        tree_remove(path);
    }
    if (search != INVALID_HANDLE_VALUE)
        FindClose(search);
}

static void place_make(void)
{
    char parent[MAX_PATH + 1];
    uint64_t random = 0;
    if (!GetTempPathA(sizeof parent, parent))
        kit_fail("there is no directory for temporary files");
    for (char *at = parent; *at; at++)
        *at = *at == '\\' ? '/' : *at;
    parent[strlen(parent) - 1] = '\0'; // its slash
    place_sweep(parent);
    getrandom(&random, sizeof random, 0);
    snprintf(directory, sizeof directory, "%s/%s%016llx", parent, PREFIX,
             (unsigned long long)random);
    kit_mark(directory + strlen(directory) - KIT_DIGITS, true); // until the process ends
    if (!CreateDirectoryA(directory, NULL))
        kit_fail("%s: cannot be made: error %lu", directory, GetLastError());
    atexit(kit_end);
    snprintf(program, sizeof program, "%s/bin/nasm.exe", directory);
}

// Reads the archive of this program's file.
static unsigned char *archive_read(size_t *bytes)
{
    char path[MAX_PATH + 1], hex[SHA256_DIGEST_STRING_LENGTH], size[sizeof(struct trailer)];
    struct trailer trailer;
    GetModuleFileNameA(NULL, path, sizeof path);
    FILE *file = fopen(path, "re");
    if (!file || fseek(file, -(long)sizeof trailer, SEEK_END) != 0 ||
        fread(&trailer, sizeof trailer, 1, file) != 1 ||
        memcmp(trailer.magic, MAGIC, sizeof trailer.magic) != 0)
        kit_fail("its archive is missing: the file was cut short; copy it again");
    snprintf(size, sizeof size, "%.*s", (int)sizeof trailer.size, trailer.size);
    *bytes = (size_t)strtoull(size, NULL, 10);
    unsigned char *archive = malloc(*bytes + 1);
    if (!archive)
        kit_fail("there is no memory");
    bool whole = fseek(file, -(long)(sizeof trailer + *bytes), SEEK_END) == 0 &&
                 fread(archive, 1, *bytes, file) == *bytes;
    fclose(file);
    if (!whole ||
        memcmp(SHA256Data(archive, *bytes, hex), trailer.sha256, sizeof trailer.sha256) != 0)
        kit_fail("the file is damaged; copy it again");
    return archive;
}

static void place_write(const char *name, const void *bytes, size_t n)
{
    char path[PLACE_MAX + 256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    for (char *at = path + strlen(directory) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        CreateDirectoryA(path, NULL);
        *at = '/';
    }
    FILE *file = fopen(path, "we");
    bool written = file && fwrite(bytes, 1, n, file) == n;
    if ((file && fclose(file) != 0) || !written)
        kit_fail("%s: cannot be written (is the disk full?)", path);
}

// Layout of an entry of ustar; its content follows in whole blocks.
struct entry {
    char name[100], mode[8], user[8], group[8], size[12], time[12], sum[8], type, link[100];
    char magic[8], user_name[32], group_name[32], major[8], minor[8], prefix[155], unused[12];
};
_Static_assert(sizeof(struct entry) == 512, "a block");

static void archive_unpack(const unsigned char *archive, size_t bytes)
{
    struct entry entry;
    for (size_t at = 0; at + sizeof entry <= bytes;) {
        char name[sizeof entry.prefix + sizeof entry.name + 2], size[sizeof entry.size + 1];
        memcpy(&entry, archive + at, sizeof entry);
        if (!*entry.name)
            break;
        snprintf(name, sizeof name, "%.*s%s%.*s", (int)sizeof entry.prefix, entry.prefix,
                 *entry.prefix ? "/" : "", (int)sizeof entry.name, entry.name);
        snprintf(size, sizeof size, "%.*s", (int)sizeof entry.size, entry.size);
        size_t n = (size_t)strtoull(size, NULL, 8);
        at += sizeof entry;
        if (n > bytes - at)
            kit_fail("the file is damaged; copy it again");
        if (entry.type == '0')
            place_write(name, archive + at, n);
        at += (n + sizeof entry - 1) / sizeof entry * sizeof entry;
    }
}

// Makes a machine of files (runner/README.md) of this one; its core is in the archive.
static void place_describe_machine(void)
{
    size_t bytes;
    char *text = machine_describe(&bytes), *line = memchr(text, '\n', bytes);
    size_t system = line ? (size_t)(line - text) + 1 : 0;
    place_write("machine/system", text, system);
    place_write("machine/cpuid", text + system, bytes - system);
    free(text);
}

static void place_set_environment(void)
{
    char text[PLACE_MAX + 32], here[MAX_PATH + 1];
    static const char *const removed[] = {"LATPUT_ROOT", "NASMENV"};
    for (size_t i = 0; i < sizeof removed / sizeof *removed; i++)
        unsetenv(removed[i]);
    setenv("TMPDIR", directory, 1);
    snprintf(text, sizeof text, "%s/machine", directory);
    setenv("LATPUT_MACHINE", text, 1);
    if (!getenv("LATPUT_DB") && realpath(".", here)) {
        snprintf(text, sizeof text, "%s/latput.db", here);
        setenv("LATPUT_DB", text, 1);
    }
}

void kit_begin(void)
{
    size_t bytes;
    unsigned char *archive = archive_read(&bytes);
    place_make();
    archive_unpack(archive, bytes);
    free(archive);
    place_describe_machine();
    place_set_environment();
}

void kit_end(void)
{
    static LONG ended; // by a signal, too, which comes in a thread of its own
    if (InterlockedExchange(&ended, 1))
        return;
    scratch_files_end();
    tree_remove(directory);
}
