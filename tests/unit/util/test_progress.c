// SPDX-License-Identifier: MIT
// Progress display, through a pipe (one line a list) and through a pseudo-terminal (the bar) whose
// width, TERM and NO_COLOR vary.
#include "util/progress.h"

#include "util/mem.h"

#include <fcntl.h>
#include <pthread.h>
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { TEXT_BYTES = 1 << 16 };

static void pause_for_redraw(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 120000000}, NULL);
}

// Everything that comes out of fd until it is closed.
static void read_all(int fd, char text[TEXT_BYTES])
{
    size_t len = 0;
    ssize_t got;
    while (len < TEXT_BYTES - 1 && (got = read(fd, text + len, TEXT_BYTES - 1 - len)) > 0)
        len += (size_t)got;
    text[len] = '\0';
    close(fd);
}

// Runs the scene in a child whose standard error is the pipe.
static void through_pipe(void (*scene)(void), char text[TEXT_BYTES])
{
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fds[1], STDERR_FILENO);
        scene();
        _exit(0);
    }
    close(fds[1]);
    read_all(fds[0], text);
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
}

static void through_terminal(void (*scene)(void), unsigned short columns, char text[TEXT_BYTES])
{
    struct winsize size = {.ws_row = 24, .ws_col = columns};
    int fd;
    pid_t pid = forkpty(&fd, NULL, NULL, &size);
    if (pid < 0) {
        print_message("no pseudo-terminal can be opened here\n");
        skip();
    }
    if (pid == 0) {
        scene();
        _exit(0);
    }
    read_all(fd, text);
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
}

static void scene_two_lists(void)
{
    struct progress *progress = progress_start(5, false);
    progress_more(progress, 20, 5);
    for (int i = 0; i < 3; i++)
        progress_form(progress, "integer_arithmetic", 3, i != 1);
    progress_step(progress, 20, false);
    progress_form(progress, "sse_fp", 40, true);
    progress_form(progress, "sse_fp", 40, true);
    progress_end(progress);
}

static void scene_nothing(void)
{
    progress_end(progress_start(0, false));
}

static void scene_quiet(void)
{
    struct progress *progress = progress_start(1, true);
    progress_more(progress, 1, 1);
    progress_form(progress, "x87", 1, true);
    progress_end(progress);
}

// 100 rows of which a batch of 10 has 40 kernels: 400 in all, 10 of them done.
static void scene_bar(void)
{
    struct progress *progress = progress_start(100, false);
    progress_more(progress, 40, 10);
    progress_form(progress, "avx_fp", 200, true);
    pause_for_redraw();
    progress_step(progress, 9, false);
    pause_for_redraw();
    progress_step(progress, 1, true);
    pause_for_redraw();
    progress_waiting(progress);
    progress_end(progress);
}

static void scene_many_steps(void)
{
    struct progress *progress = progress_start(1, false);
    progress_more(progress, 10000, 1);
    for (int i = 0; i < 10000; i++)
        progress_step(progress, 1, false);
    progress_end(progress);
}

static void *step_often(void *progress)
{
    for (int i = 0; i < 1000; i++) {
        progress_step(progress, 1, i % 2 == 0);
        progress_form(progress, "crypto", 2000, true);
    }
    return NULL;
}

static void scene_threads(void)
{
    struct progress *progress = progress_start(2000, false);
    progress_more(progress, 2000, 2000);
    pthread_t other;
    pthread_create(&other, NULL, step_often, progress);
    step_often(progress);
    pthread_join(other, NULL);
    progress_end(progress);
}

static void test_pipe_has_one_line_a_list(void **state)
{
    char *text = *state;
    through_pipe(scene_two_lists, text);
    assert_string_equal(
        text, "integer_arithmetic                   3 forms      2 ok      1 not ok  at 0:00\n"
              "sse_fp                               2 of 40 forms      2 ok      0 not ok  "
              "at 0:00\n");
    through_pipe(scene_nothing, text);
    assert_string_equal(text, "");
    through_pipe(scene_threads, text);
    assert_non_null(strstr(text, "crypto                            2000 forms   2000 ok"));
}

static void test_quiet_and_dumb_terminals_have_no_bar(void **state)
{
    char *text = *state;
    through_terminal(scene_quiet, 80, text);
    assert_string_equal(text, ""); // nothing at all
    setenv("TERM", "dumb", 1);
    through_terminal(scene_bar, 80, text);
    setenv("TERM", "xterm", 1);
    assert_null(strchr(text, '\033'));
    assert_non_null(strstr(text, "1 of 200 forms"));
}

static void test_bar(void **state)
{
    char *text = *state;
    through_terminal(scene_bar, 120, text);
    assert_non_null(strstr(text, "\r\033[K[........"));
    assert_non_null(strstr(text, "  0%  0/400 kernels"));
    assert_non_null(strstr(text, "  2%  ETA 0:"));
    assert_non_null(strstr(text, "  9/400 kernels"));
    assert_non_null(strstr(text, "  10/400 kernels"));
    assert_non_null(strstr(text, "  1 failed  avx_fp"));
    assert_non_null(strstr(text, "waiting: the core is disturbed"));
    assert_non_null(strstr(text, "\033[33m"));
    assert_null(strchr(text, '\n'));
    const char *end = "\r\033[K";
    assert_string_equal(text + strlen(text) - strlen(end), end);
}

// 10 kernels of 10 rows, and ports: some 90 more are expected, in truth there are 390.
static void scene_later(void)
{
    struct progress *progress = progress_start(10, false);
    progress_later(progress, 90);
    progress_more(progress, 10, 10);
    pause_for_redraw();
    progress_step(progress, 10, false);
    progress_form(progress, "sse_fp", 10, true);
    pause_for_redraw();
    progress_next(progress, "ports");
    pause_for_redraw();
    progress_step(progress, 40, false);
    pause_for_redraw();
    progress_step(progress, 350, false);
    pause_for_redraw();
    progress_form(progress, "sse_fp", 10, true);
    progress_end(progress);
}

static void test_work_that_comes_later(void **state)
{
    char *text = *state;
    through_terminal(scene_later, 80, text);
    assert_non_null(strstr(text, "10/100 kernels"));
    assert_non_null(strstr(text, "50/100 kernels"));
    assert_non_null(strstr(text, " 98%  "));
    assert_null(strstr(text, "100%"));
    assert_non_null(strstr(text, "[###")); // there is a bar at 80 columns
    through_pipe(scene_later, text);
    assert_non_null(strstr(text, "1 of 10 forms      1 ok"));
    assert_non_null(strstr(text, "1 of 10 ports      1 ok"));
}

static void test_no_color(void **state)
{
    char *text = *state;
    setenv("NO_COLOR", "1", 1);
    through_terminal(scene_bar, 120, text);
    unsetenv("NO_COLOR");
    assert_null(strstr(text, "\033[3"));
    assert_non_null(strstr(text, "\r\033[K["));
}

// Columns between a redraw and the next, colours not counted.
static size_t widest_line(const char *text)
{
    size_t widest = 0, columns = 0;
    for (; *text; text++) {
        if (*text == '\r') {
            columns = 0;
        } else if (*text == '\033') {
            text += strcspn(text, "Km");
        } else {
            columns++;
            widest = columns > widest ? columns : widest;
        }
    }
    return widest;
}

static void test_width_is_respected(void **state)
{
    char *text = *state;
    static const unsigned short widths[] = {200, 120, 80, 60, 40, 20, 5, 1};
    for (size_t i = 0; i < ARRAY_LEN(widths); i++) {
        through_terminal(scene_bar, widths[i], text);
        assert_true(widest_line(text) < widths[i]);
        for (const char *at = text; (at = strstr(at, "/400 k")); at++) // whole words, or none
            assert_memory_equal(at, "/400 kernels", strlen("/400 kernels"));
    }
    through_terminal(scene_bar, 0, text); // a terminal that does not know its size
    assert_in_range(widest_line(text), 40, 79);
}

static void test_redraws_are_rare(void **state)
{
    char *text = *state;
    through_terminal(scene_many_steps, 80, text);
    int redraws = 0;
    for (const char *at = text; (at = strstr(at, "\r\033[K")); at++)
        redraws++;
    assert_in_range(redraws, 1, 20);
}

static int set_up(void **state)
{
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    *state = xmalloc(TEXT_BYTES);
    return 0;
}

static int tear_down(void **state)
{
    free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pipe_has_one_line_a_list),
        cmocka_unit_test(test_quiet_and_dumb_terminals_have_no_bar),
        cmocka_unit_test(test_bar),
        cmocka_unit_test(test_no_color),
        cmocka_unit_test(test_work_that_comes_later),
        cmocka_unit_test(test_width_is_respected),
        cmocka_unit_test(test_redraws_are_rare),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
