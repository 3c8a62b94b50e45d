// SPDX-License-Identifier: MIT
// The foundations: messages, memory, strings, paths and, above all, the starting of processes, with
// programs that fail in every way.
#include "util/clock.h"
#include "util/confine.h"
#include "util/cpulist.h"
#include "util/err.h"
#include "util/mem.h"
#include "util/pager.h"
#include "util/paths.h"
#include "util/program.h"
#include "util/strbuf.h"
#include "util/subproc.h"
#include "util/terminal.h"
#include "util/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static void test_cpulist(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int n, first, last; // -1: it is no list
        const char *set;    // as a set it is written so
    } cases[] = {
        {"0",       1,  0,    0,    "0"    },
        {"2,0",     2,  2,    0,    "0,2"  },
        {"0-3,8\n", 5,  0,    8,    "0-3,8"},
        {"7,4-6",   4,  7,    6,    "4-7"  },
        {"1,1",     2,  1,    1,    "1"    },
        {"1023",    1,  1023, 1023, "1023" },
        {"1024",    -1, 0,    0,    NULL   },
        {"0-7",     -1, 0,    0,    "0-7"  }, // more than there is room for
        {"0-",      -1, 0,    0,    NULL   },
        {"-1",      -1, 0,    0,    NULL   },
        {"3-2",     -1, 0,    0,    NULL   },
        {"1,",      -1, 0,    0,    NULL   },
        {"1 2",     -1, 0,    0,    NULL   },
        {" 1",      -1, 0,    0,    NULL   },
        {"all",     -1, 0,    0,    NULL   },
        {"",        -1, 0,    0,    ""     },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int cpus[6];
        cpu_set_t set;
        struct strbuf written = {0};
        int n = cpulist_parse(cases[i].text, cpus, 6);
        assert_int_equal(n, cases[i].n);
        if (n > 0) {
            assert_int_equal(cpus[0], cases[i].first);
            assert_int_equal(cpus[n - 1], cases[i].last);
        }
        assert_int_equal(cpulist_parse_set(cases[i].text, &set), cases[i].set ? 0 : -1);
        cpulist_write(&set, &written);
        if (cases[i].set)
            assert_string_equal(strbuf_text(&written), cases[i].set);
        strbuf_free(&written);
    }
}

static void test_err(void **state)
{
    (void)state;
    struct err err = {0};
    assert_int_equal(err_set(&err, "%s:%d: wrong", "a.csv", 7), -1);
    assert_string_equal(err.text, "a.csv:7: wrong");
    assert_int_equal(err_prefix(&err, "row %d: ", 3), -1);
    assert_string_equal(err.text, "row 3: a.csv:7: wrong");
    assert_int_equal(err_set(NULL, "nobody listens"), -1);
    assert_int_equal(err_prefix(NULL, "nobody listens"), -1);
    // Texts longer than the buffer are cut.
    char *longer = xmalloc(2 * sizeof err.text);
    memset(longer, 'x', 2 * sizeof err.text - 1);
    longer[2 * sizeof err.text - 1] = '\0';
    err_set(&err, "%s", longer);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    err_prefix(&err, "head: ");
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_memory_equal(err.text, "head: xxx", 9);
    err_prefix(&err, "%s", longer);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    free(longer);
}

static void test_strbuf(void **state)
{
    (void)state;
    struct strbuf buf = {0};
    assert_string_equal(strbuf_text(&buf), "");
    strbuf_clear(&buf);
    strbuf_puts(&buf, "");
    assert_string_equal(strbuf_text(&buf), "");
    for (int i = 0; i < 1000; i++)
        strbuf_printf(&buf, "%d,", i % 10);
    assert_int_equal(buf.len, 2000);
    assert_int_equal(strlen(buf.data), 2000);
    assert_memory_equal(buf.data + 1990, "5,6,7,8,9,", 10);
    strbuf_clear(&buf);
    assert_string_equal(strbuf_text(&buf), "");
    strbuf_put(&buf, "a\0b", 3);
    assert_int_equal(buf.len, 3);
    assert_memory_equal(buf.data, "a\0b", 4);
    strbuf_free(&buf);
    assert_null(buf.data);
    assert_int_equal(buf.len, 0);
}

static void test_memory(void **state)
{
    (void)state;
    int *items = NULL;
    size_t capacity = 0;
    for (int i = 0; i < 1000; i++) {
        items = xgrow(items, &capacity, (size_t)i + 1, sizeof *items);
        items[i] = i;
    }
    assert_in_range(capacity, 1000, 2048);
    assert_int_equal(items[999], 999);
    items = xgrow(items, &capacity, 5000, sizeof *items);
    assert_int_equal(capacity, 5000);
    free(items);
    char *text = xasprintf("%s-%03d", "a", 7);
    assert_string_equal(text, "a-007");
    free(text);
    free(xmalloc(0)); // not taken for a failure
    free(xcalloc(0, 8));
}

static void test_arena(void **state)
{
    (void)state;
    struct arena arena = {0};
    // Sizes around and above those of a block; all zeroed, aligned and apart.
    static const size_t sizes[] = {1, 15, 16, 17, 65535, 65536, 65537, 1 << 20, 3};
    unsigned char *parts[ARRAY_LEN(sizes)];
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        parts[i] = arena_alloc(&arena, sizes[i]);
        assert_int_equal((uintptr_t)parts[i] % _Alignof(max_align_t), 0);
        for (size_t at = 0; at < sizes[i]; at++)
            assert_int_equal(parts[i][at], 0);
        memset(parts[i], (int)i + 1, sizes[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        assert_int_equal(parts[i][0], i + 1);
        assert_int_equal(parts[i][sizes[i] - 1], i + 1);
    }
    assert_string_equal(arena_strndup(&arena, "abcdef", 3), "abc");
    assert_string_equal(arena_printf(&arena, "%s=%d", arena_strdup(&arena, "x"), 5), "x=5");
    arena_free(&arena);
    assert_null(arena.head);
    assert_string_equal(arena_strdup(&arena, "again"), "again");
    arena_free(&arena);
}

static void test_paths(void **state)
{
    (void)state;
    // This test program lies in the source tree.
    const char *data = path_data("lists/README.md");
    assert_int_equal(data[0], '/');
    assert_int_equal(access(data, R_OK), 0);
    assert_int_equal(access(path_library("latput"), X_OK), 0);
    assert_int_equal(access(path_library("core64.o"), R_OK), 0);
}

static struct subproc_result shell(const char *script, const struct subproc_options *options)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    struct subproc_result result;
    struct err err = {0};
    if (subproc_run(argv, options, &result, &err) != 0)
        fail_msg("%s", err.text);
    return result;
}

// Both run alike: time passes as a sleep says, and seconds and nanoseconds have one origin.
static void test_clock(void **state)
{
    (void)state;
    int64_t begin_ns = clock_now_ns(), begin_ms = clock_now_ms();
    double begin_s = clock_now_s();
    assert_in_range(begin_ms - begin_ns / 1000000, 0, 1000);
    assert_true(begin_s >= (double)begin_ns / 1e9 - 1e-6 && begin_s < (double)begin_ns / 1e9 + 1);
    const struct timespec pause = {.tv_nsec = 20000000};
    assert_int_equal(nanosleep(&pause, NULL), 0);
    assert_true(clock_now_ns() - begin_ns >= 20000000);
    assert_true(clock_now_ms() - begin_ms >= 19);
    assert_true(clock_now_s() - begin_s >= 0.0199);
}

static void test_text_clean(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t len;
        bool clean;
    } cases[] = {
        {"",                        0, true },
        {"a\tb\nc",                 5, true },
        {"\xc2\xb5op \xe2\x82\xac", 8, true },
        {"\xf4\x8f\xbf\xbf",        4, true },
        {"\xe2\x80\xae",            3, true }, // turns the direction: not plain, but clean
        {"a\rb",                    3, false},
        {"a\0b",                    3, false},
        {"\x7f",                    1, false},
        {"\xc2\x9f",                2, false}, // a control character of C1
        {"\xc0\x80",                2, false}, // overlong
        {"\xe0\x9f\xbf",            3, false},
        {"\xf0\x8f\xbf\xbf",        4, false},
        {"\xed\xa0\x80",            3, false}, // a surrogate
        {"\xf4\x90\x80\x80",        4, false}, // beyond Unicode
        {"\xe2\x82\xac",            2, false}, // ends within a character, whatever comes after
        {"\x80",                    1, false},
        {"\xff",                    1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (text_is_clean(cases[i].text, cases[i].len) != cases[i].clean)
            fail_msg("case %zu", i);
}

static void test_subproc_outcomes(void **state)
{
    (void)state;
    struct subproc_result result = shell("echo out; echo err >&2; exit 7", NULL);
    assert_string_equal(result.out, "out\n");
    assert_string_equal(result.err, "err\n");
    assert_int_equal(result.exit_status, 7);
    assert_int_equal(result.signal, 0);
    assert_false(result.timed_out);
    subproc_result_free(&result);
    subproc_result_free(&result); // harmless

    result = shell("kill -SEGV $$", NULL);
    assert_int_equal(result.signal, SIGSEGV);
    assert_string_equal(result.out, "");
    subproc_result_free(&result);
}

// An executable file of these bytes; the template becomes its name.
static char *scratch_file(char *template, const void *bytes, size_t n)
{
    int fd = mkstemp(template);
    assert_true(fd >= 0 && fchmod(fd, 0700) == 0);
    assert_int_equal(write(fd, bytes, n), n);
    close(fd);
    return template;
}

static void test_program_find(void **state)
{
    (void)state;
    char *before = xstrdup(getenv("PATH")), *path, here[] = "/tmp/latput-path-XXXXXX";
    assert_non_null(mkdtemp(here));
    char *denied = xasprintf("%s/latput-denied", here), *where = xasprintf("%s:%s", here, before);
    close(open(denied, O_CREAT | O_WRONLY, 0600));
    assert_null(program_find("latput-denied"));
    setenv("PATH", where, 1); // what was found or not in another PATH is forgotten
    path = program_find("latput-denied");
    assert_string_equal(path, denied);
    free(path);
    path = program_find("/no/such/program");
    assert_string_equal(path, "/no/such/program");
    free(path);
    assert_null(program_find(""));
    // A directory is no program, nor is a relative one of PATH lost in another directory.
    setenv("PATH", "/:.", 1);
    assert_null(program_find("tmp"));
    assert_int_equal(chdir(here), 0);
    path = program_find("latput-denied");
    assert_string_equal(path, denied);
    free(path);
    assert_int_equal(chdir("/"), 0);
    setenv("PATH", before, 1);
    unlink(denied);
    rmdir(here);
    free(before);
    free(where);
    free(denied);
}

static void test_program_kinds(void **state)
{
    (void)state;
    static const struct {
        const char bytes[17];
        bool elf, is_32;
    } cases[] = {
        {"\177ELF\1..........", true,  true },
        {"\177ELF\2..........", true,  false},
        {"#!/bin/sh\nexit 0\n", false, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char name[] = "/tmp/latput-util-XXXXXX";
        scratch_file(name, cases[i].bytes, 16);
        assert_true(program_is_elf(name) == cases[i].elf);
        assert_true(program_is_32(name) == cases[i].is_32);
        unlink(name);
    }
    assert_false(program_is_32("/no/such/file"));
}

static void test_subproc_fails(void **state)
{
    (void)state;
    struct subproc_result result;
    struct err err = {0};
    const char *const missing[] = {"no-such-program-at-all", NULL};
    assert_int_equal(subproc_run(missing, NULL, &result, &err), -1);
    assert_non_null(strstr(err.text, "no-such-program-at-all: not found"));
    assert_non_null(strstr(err.text, "install-deps.sh"));
    const char *const directory[] = {"/", NULL};
    assert_int_equal(subproc_run(directory, NULL, &result, &err), -1);
    assert_non_null(strstr(err.text, "Permission denied"));
    // Programs that the kernel refuses are not read by a shell.
    char script[] = "/tmp/latput-util-XXXXXX", *program = scratch_file(script, "exit 0\n", 7);
    const char *const refused[] = {program, NULL};
    assert_int_equal(subproc_run(refused, NULL, &result, &err), -1);
    assert_non_null(strstr(err.text, "Exec format error"));
    unlink(program);
    const char *const true_[] = {"true", NULL};
    struct subproc_options options = {.cwd = "/no/such/directory"};
    assert_int_equal(subproc_run(true_, &options, &result, &err), -1);
    options = (struct subproc_options){.stdin_path = "/no/such/file"};
    assert_int_equal(subproc_run(true_, &options, &result, &err), -1);
    const char *const killed[] = {"sh", "-c", "kill -KILL $$", NULL};
    assert_int_equal(subproc_run(killed, NULL, &result, &err), -1);
    assert_string_equal(err.text, "sh was ended by SIGKILL (another program, or a lack of memory)");
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); // no zombies
    assert_int_equal(errno, ECHILD);
}

static void test_subproc_timeout_ends_the_group(void **state)
{
    (void)state;
    struct subproc_options options = {.timeout_ms = 300};
    double start_s = clock_now_s();
    struct subproc_result result = shell("sleep 60 & echo $!; trap '' TERM; wait", &options);
    assert_true(clock_now_s() - start_s < 30);
    assert_true(result.timed_out);
    pid_t grandchild = (pid_t)atoi(result.out);
    assert_true(grandchild > 0);
    bool gone = false;
    for (int i = 0; i < 200 && !gone; i++) {
        gone = kill(grandchild, 0) != 0;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    // Without an init that reaps, a killed orphan stays as a zombie; that counts as gone, too.
    char *path = xasprintf("/proc/%d/stat", (int)grandchild);
    char text[256] = "";
    FILE *file = fopen(path, "r");
    if (file && !fgets(text, sizeof text, file))
        text[0] = '\0';
    if (file)
        fclose(file);
    free(path);
    assert_true(gone || strstr(text, ") Z "));
    subproc_result_free(&result);
}

static void test_subproc_output_limit(void **state)
{
    (void)state;
    struct subproc_options options = {.max_output_bytes = 1000};
    struct subproc_result result = shell("head -c 300000 /dev/zero; echo end >&2", &options);
    assert_int_equal(result.exit_status, 0); // it was not blocked, nor killed by SIGPIPE
    assert_int_equal(result.out_len, 1000);
    assert_string_equal(result.err, "end\n");
    subproc_result_free(&result);
}

static void test_subproc_environment(void **state)
{
    (void)state;
    struct subproc_options options = {.cwd = "/usr"};
    struct subproc_result result = shell("pwd; cat", &options);
    assert_string_equal(result.out, "/usr\n"); // and an empty standard input
    subproc_result_free(&result);
    options = (struct subproc_options){.stdin_path = path_data("LICENSE")};
    result = shell("head -n 1", &options);
    assert_string_equal(result.out, "MIT License\n");
    subproc_result_free(&result);
}

// Reads the records of a child until it closes them.
static void read_records(int fd, struct strbuf *records)
{
    char bytes[256];
    for (;;) {
        struct pollfd wait = {fd, POLLIN, 0};
        poll(&wait, 1, 10000);
        ssize_t got = read(fd, bytes, sizeof bytes);
        if (got <= 0)
            return;
        strbuf_put(records, bytes, (size_t)got);
    }
}

static int start_quietly(const char *const argv[], const void *config, size_t bytes,
                         struct subproc_child *child, struct err *err)
{
    const struct subproc_inputs inputs = {.config = config, .config_bytes = bytes, .quiet = true};
    return subproc_start(argv, &inputs, child, err);
}

static void test_subproc_child(void **state)
{
    (void)state;
    struct err err = {0};
    struct subproc_child child;
    const char *const echo[] = {"sh", "-c", "head -n 1 <&3 >&4; exit 5", NULL};
    assert_int_equal(start_quietly(echo, "config\n", 7, &child, &err), 0);
    struct strbuf records = {0};
    read_records(child.from_fd, &records);
    assert_string_equal(strbuf_text(&records), "config\n");
    struct subproc_end end;
    subproc_finish(&child, false, &end);
    assert_int_equal(end.exit_status, 5);
    assert_int_equal(end.signal, 0);
    strbuf_free(&records);

    const char *const hang[] = {"sleep", "60", NULL};
    assert_int_equal(start_quietly(hang, "", 0, &child, &err), 0);
    subproc_finish(&child, true, &end);
    assert_int_equal(end.signal, SIGKILL);

    // A child that never reads its configuration: noticed by its end, not by a signal to us.
    size_t bytes = 1 << 20;
    char *config = xcalloc(1, bytes);
    const char *const deaf[] = {"true", NULL};
    assert_int_equal(start_quietly(deaf, config, bytes, &child, &err), 0);
    subproc_finish(&child, false, &end);
    assert_int_equal(end.exit_status, 0);
    free(config);
    const char *const missing[] = {"/no/such/program", NULL};
    assert_int_equal(start_quietly(missing, "", 0, &child, &err), -1);
    assert_non_null(strstr(err.text, "/no/such/program"));
}

// Starts a shell that is held, then released.
static int hold_shell(const char *script, struct subproc_program *program)
{
    struct err err = {0};
    const char *const argv[] = {"sh", "-c", script, NULL};
    assert_int_equal(subproc_hold(argv, program, &err), 0);
    return 0;
}

static void test_subproc_program(void **state)
{
    (void)state;
    struct subproc_program program;
    struct subproc_end end;
    char path[64], text[64];
    strcpy(path, "/tmp/latput-util-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    // Nothing of it runs before it is released.
    char *script = xasprintf("echo $$ >%s; exit 9", path);
    hold_shell(script, &program);
    usleep(20000);
    assert_int_equal(read(fd, text, sizeof text), 0);
    assert_int_equal(subproc_release(&program), 0);
    subproc_await(&program, &end);
    assert_true(end.exit_status == 9 && end.signal == 0);
    assert_true(end.usage.ru_maxrss > 0);
    ssize_t got = read(fd, text, sizeof text - 1);
    assert_true(got > 0);
    text[got] = '\0';
    assert_int_equal(atoi(text), program.pid); // the pid that was known before
    close(fd);
    unlink(path);
    free(script);

    hold_shell("kill -SEGV $$", &program);
    assert_int_equal(subproc_release(&program), 0);
    subproc_await(&program, &end);
    assert_int_equal(end.signal, SIGSEGV);
    hold_shell("exit 0", &program);
    subproc_abandon(&program);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); // nothing is left of it

    struct err err = {0};
    const char *const missing[] = {"/no/such/program", NULL}, *const denied[] = {"/etc", NULL};
    assert_int_equal(subproc_hold(missing, &program, &err), 0);
    assert_int_equal(subproc_release(&program), ENOENT);
    subproc_await(&program, &end);
    assert_int_equal(end.exit_status, 127);
    assert_int_equal(subproc_hold(denied, &program, &err), 0);
    assert_int_equal(subproc_release(&program), EACCES);
    subproc_await(&program, &end);
    // Scripts without an interpreter line are read by sh, as shells do; programs are not.
    static const char *const kinds[] = {"[ $# = 1 ] && exit 9 ", "\177ELF, of no machine "};
    for (int i = 0; i < 2; i++) {
        char name[] = "/tmp/latput-util-XXXXXX";
        const char *const file[] = {scratch_file(name, kinds[i], strlen(kinds[i])), "one", NULL};
        assert_int_equal(subproc_hold(file, &program, &err), 0);
        assert_int_equal(subproc_release(&program), i ? ENOEXEC : 0);
        subproc_await(&program, &end);
        assert_int_equal(end.exit_status, i ? 127 : 9);
        unlink(name);
    }
}

static void test_subproc_forward(void **state)
{
    (void)state;
    struct subproc_program program;
    struct subproc_end end;
    subproc_forward();
    hold_shell("trap 'exit 33' USR1; trap 'exit 34' TERM; i=0; while [ $i -lt 500 ]; do sleep "
               "0.01; i=$((i + 1)); done",
               &program);
    assert_int_equal(subproc_release(&program), 0);
    usleep(100000);
    kill(getpid(), SIGUSR1);
    subproc_await(&program, &end);
    assert_int_equal(end.exit_status, 33);
    assert_int_equal(subproc_interrupted(), 0);
    hold_shell("trap 'exit 34' TERM; i=0; while [ $i -lt 500 ]; do sleep 0.01; i=$((i + 1)); done",
               &program);
    assert_int_equal(subproc_release(&program), 0);
    usleep(100000);
    kill(getpid(), SIGTERM);
    subproc_await(&program, &end);
    assert_int_equal(end.exit_status, 34);
    assert_int_equal(subproc_interrupted(), SIGTERM);
    // One that is still held ends by the signal itself.
    hold_shell("exit 0", &program);
    kill(getpid(), SIGINT);
    subproc_await(&program, &end);
    assert_int_equal(end.signal, SIGINT);
    kill(getpid(), SIGUSR2); // nobody to pass it on to
}

static void test_text(void **state)
{
    (void)state;
    struct strbuf out = {0};
    assert_int_equal(text_width("2 µs ≤ 3", strlen("2 µs ≤ 3")), 8);
    strbuf_puts(&out, "label ");
    text_wrap(&out, "µµµ µµµ  µµ\nlongerthanaline x\n\ny", 6, 13);
    assert_string_equal(out.data, "label µµµ µµµ\n      µµ\n      longerthanaline\n      x\n"
                                  "\n      y\n");
    strbuf_clear(&out);
    text_wrap(&out, "", 6, 13);
    assert_string_equal(out.data, "\n");
    strbuf_free(&out);
}

// A tool sees little of the environment, and no files but those of its work.
// Texts in order, each less than the next.
static void test_text_compare(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "1",
                                        "01",
                                        "2",
                                        "10",
                                        "010",
                                        "12345678901234567890",
                                        "12345678901234567891",
                                        "a",
                                        "a:1",
                                        "a:1:0",
                                        "a:1:4",
                                        "a:4:0",
                                        "a:16",
                                        "a:1024",
                                        "a:1024:4",
                                        "ab",
                                        "b",
                                        "\xc2\xb5"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        for (size_t j = 0; j < ARRAY_LEN(texts); j++) {
            int got = text_compare(texts[i], strlen(texts[i]), texts[j], strlen(texts[j]));
            if ((got > 0) != (i > j) || (got < 0) != (i < j))
                fail_msg("'%s' and '%s': %d", texts[i], texts[j], got);
        }
    assert_true(text_compare("12", 1, "1", 1) == 0); // no NUL ends them
}

static void test_subproc_tool(void **state)
{
    (void)state;
    setenv("LATPUT_TEST_SECRET", "secret", 1);
    setenv("LANG", "de_DE.UTF-8", 1);
    const char *const readable[] = {path_data("macros"), NULL};
    const struct subproc_options options = {.cwd = "/tmp", .tool = true, .readable = readable};
    struct subproc_result result = shell("env", &options);
    assert_null(strstr(result.out, "secret"));
    assert_null(strstr(result.out, "LANG="));
    assert_non_null(strstr(result.out, "LC_ALL=C\n"));
    assert_non_null(strstr(result.out, "PATH="));
    subproc_result_free(&result);
    unsetenv("LATPUT_TEST_SECRET");
    unsetenv("LANG");
    int rules = confine_open(readable, "/tmp");
    if (rules < 0) {
        print_message("this kernel has no Landlock\n");
        skip();
    }
    close(rules);
    result = shell("cat /etc/passwd", &options);
    assert_int_equal(result.out_len, 0);
    assert_int_not_equal(result.exit_status, 0);
    subproc_result_free(&result);
    char *script = xasprintf("cat %s/amx.inc", readable[0]);
    result = shell(script, &options);
    assert_int_equal(result.exit_status, 0);
    assert_true(result.out_len > 100);
    subproc_result_free(&result);
    free(script);
}

// Lines that a text takes: long ones are several, styles and later bytes of a character none.
static void test_pager_lines(void **state)
{
    (void)state;
    assert_int_equal(pager_lines("", 4), 0);
    assert_int_equal(pager_lines("a\n\nb", 4), 3);
    assert_int_equal(pager_lines("abcd\nabcde\n", 4), 3);
    assert_int_equal(pager_lines("µµµµ\n\033[1mabcd\033[0m\n", 4), 2);
    assert_int_equal(pager_lines("abcdefghi", 4), 3);
    assert_int_equal(pager_lines("a\033[1", 4), 1);
}

static void expect_said(const char *text, const char *when, const char *said)
{
    char got[200] = "";
    FILE *file = tmpfile();
    int errors = dup(STDERR_FILENO);
    assert_true(file && errors >= 0 && terminal_set_colour(when));
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    terminal_say(text);
    fflush(stderr);
    dup2(errors, STDERR_FILENO);
    close(errors);
    rewind(file);
    assert_true(fread(got, 1, sizeof got - 1, file) > 0);
    fclose(file);
    assert_true(terminal_set_colour("auto"));
    assert_string_equal(got, said);
}

static void test_warnings_stand_out(void **state)
{
    (void)state;
    expect_said("latput run: warning: loud\n  wait", "always",
                "latput run: \033[1mwarning:\033[0m loud\n  wait\n");
    expect_said("latput run: warning: loud", "never", "latput run: warning: loud\n");
    expect_said("latput run: \033[1mdone", "always", "latput run: \\x1b[1mdone\n");
    assert_false(terminal_set_colour("sometimes"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pager_lines),
        cmocka_unit_test(test_warnings_stand_out),
        cmocka_unit_test(test_clock),
        cmocka_unit_test(test_text_clean),
        cmocka_unit_test(test_text_compare),
        cmocka_unit_test(test_err),
        cmocka_unit_test(test_strbuf),
        cmocka_unit_test(test_cpulist),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_arena),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_subproc_outcomes),
        cmocka_unit_test(test_program_find),
        cmocka_unit_test(test_program_kinds),
        cmocka_unit_test(test_subproc_fails),
        cmocka_unit_test(test_subproc_timeout_ends_the_group),
        cmocka_unit_test(test_subproc_output_limit),
        cmocka_unit_test(test_subproc_environment),
        cmocka_unit_test(test_subproc_tool),
        cmocka_unit_test(test_subproc_child),
        cmocka_unit_test(test_subproc_program),
        cmocka_unit_test(test_subproc_forward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
