// SPDX-License-Identifier: MIT
// Common functions of the targets; see fuzz.h.
#include "fuzz.h"

#include "util/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

fuzz_function *fuzz_target_find(const char *name)
{
    static const struct {
        const char *name;
        fuzz_function *function;
    } targets[] = {
        {"list",      fuzz_list     },
        {"table",     fuzz_table    },
        {"cpuid",     fuzz_cpuid    },
        {"pack",      fuzz_pack     },
        {"merge",     fuzz_merge    },
        {"arguments", fuzz_arguments},
        {"query",     fuzz_query    },
        {"code",      fuzz_code     },
        {"foreign",   fuzz_foreign  },
        {"conclude",  fuzz_conclude },
        {"database",  fuzz_database },
    };
    for (size_t i = 0; i < ARRAY_LEN(targets); i++)
        if (strcmp(targets[i].name, name) == 0)
            return targets[i].function;
    return NULL;
}

struct memory_file {
    int fd;
    char path[32];
};

static const char *memory_file_set(struct memory_file *file, const uint8_t *bytes, size_t size)
{
    if (file->fd == 0) {
        file->fd = memfd_create("fuzz", 0);
        snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->fd);
    }
    if (file->fd < 0 || ftruncate(file->fd, 0) != 0 ||
        pwrite(file->fd, bytes, size, 0) != (ssize_t)size) {
        perror("fuzz: a file in memory");
        exit(99);
    }
    return file->path;
}

const char *fuzz_file(const uint8_t *bytes, size_t size)
{
    static struct memory_file file;
    return memory_file_set(&file, bytes, size);
}

const char *fuzz_output(void)
{
    static struct memory_file file;
    return memory_file_set(&file, (const uint8_t *)"", 0);
}

char *fuzz_text(const uint8_t *bytes, size_t size)
{
    char *text = xcalloc(size + 1, 1);
    for (size_t i = 0; i < size; i++)
        text[i] = bytes[i] ? (char)bytes[i] : ' ';
    return text;
}

unsigned fuzz_choice(const uint8_t *bytes, size_t size)
{
    unsigned sum = 2166136261u;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * 16777619u;
    return sum >> 3;
}

void fuzz_check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz: does not hold: %s\n", what);
    abort();
}

void fuzz_check_message(const struct err *err)
{
    fuzz_check(err->text[0] != '\0', "a refusal has a message");
    fuzz_check(memchr(err->text, '\0', sizeof err->text) != NULL, "a message ends");
    for (const char *at = err->text; *at; at++)
        fuzz_check((unsigned char)*at >= ' ' ? *at != 0x7f : *at == '\n' || *at == '\t',
                   "a message steers no terminal");
}
