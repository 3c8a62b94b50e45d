// SPDX-License-Identifier: MIT
// The pager; see pager.h. It reads a file in memory instead of a pipe: so it can end at any time
// without a signal or a failed write here.
#include "pager.h"

#include "mem.h"
#include "subproc.h"
#include "terminal.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WORDS_MAX = 16 };

static bool forbidden;

void pager_forbid(void)
{
    forbidden = true;
}

int pager_lines(const char *text, int columns)
{
    int lines = 0, column = 0;
    for (const char *at = text; *at; at++) {
        if (*at == '\033') {
            at += strcspn(at, "m");
            if (!*at)
                break;
        } else if (*at == '\n') {
            lines++;
            column = 0;
        } else if (((unsigned char)*at & 0xc0) != 0x80 && ++column > columns) {
            lines++;
            column = 1;
        }
    }
    return lines + (column > 0);
}

static const char *pager_command(void)
{
    static const char *const names[] = {"LATPUT_PAGER", "PAGER"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *command = getenv(names[i]);
        if (command)
            return strcmp(command, "cat") == 0 ? "" : command;
    }
    return "less -FRX";
}

// Starts the pager with `fd` as its standard input and waits for its end. Returns 0, or -1 if it
// could not be started.
static int pager_run(const char *const *argv, int fd)
{
    struct subproc_program program;
    struct subproc_end end;
    struct err err;
    int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    dup2(fd, STDIN_FILENO);
    subproc_forward(); // Ctrl-C is the pager's
    int held = subproc_hold(argv, &program, &err);
    if (input >= 0) {
        dup2(input, STDIN_FILENO);
        close(input);
    } else {
        close(STDIN_FILENO);
    }
    if (held != 0)
        return -1;
    int failed = subproc_release(&program);
    subproc_await(&program, &end);
    return failed ? -1 : 0;
}

static bool write_all(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t put = write(fd, text, len);
        if (put <= 0)
            return false;
        text += put;
        len -= (size_t)put;
    }
    return lseek(fd, 0, SEEK_SET) == 0;
}

// Shows the text in the pager. Returns false if there is none.
static bool pager_show(const char *text)
{
    const char *argv[WORDS_MAX + 1] = {NULL};
    char *words = xstrdup(pager_command()), *rest = words;
    int n = 0;
    for (char *word; n < WORDS_MAX && (word = strsep(&rest, " \t"));)
        if (*word)
            argv[n++] = word;
    int fd = n ? memfd_create("latput", MFD_CLOEXEC) : -1;
    setenv("LESS", "FRX", 0); // for a $PAGER without options
    bool shown = fd >= 0 && write_all(fd, text, strlen(text)) && pager_run(argv, fd) == 0;
    if (fd >= 0)
        close(fd);
    free(words);
    return shown;
}

void pager_put(const char *text)
{
    int rows = terminal_rows(STDOUT_FILENO), columns = terminal_columns(STDOUT_FILENO);
    bool wanted = !forbidden && rows > 0 && columns > 0 && terminal_can_draw(STDOUT_FILENO) &&
                  pager_lines(text, columns) >= rows;
    fflush(stdout);
    if (!wanted || !pager_show(text))
        fputs(text, stdout);
    fflush(stdout);
}

static char *written;
static size_t written_bytes;

FILE *pager_open(void)
{
    FILE *stream = open_memstream(&written, &written_bytes);
    return stream ? stream : stdout;
}

void pager_close(FILE *stream)
{
    if (stream == stdout)
        return;
    if (fclose(stream) == 0)
        pager_put(written);
    free(written);
    written = NULL;
}
