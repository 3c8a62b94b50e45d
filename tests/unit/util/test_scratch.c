// SPDX-License-Identifier: MIT
// Scratch directories: what a killed process has left goes when the next one begins, what a live
// one has stays, and so does what was to be kept.
#include "util/mem.h"
#include "util/scratch.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char parent[] = "/tmp/latput_test_XXXXXX";

static void put_file(const char *directory, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

// A process with a scratch directory, whose path it tells; it then lives until it is killed.
static pid_t start_user(char path[256], bool keep)
{
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct err err;
        char *mine = scratch_begin(&err);
        if (!mine)
            _exit(1);
        put_file(mine, "batch.asm");
        put_file(mine, ".hidden");
        if (write(fds[1], mine, strlen(mine)) < 0)
            _exit(1);
        if (keep) {
            scratch_end(mine, true);
            _exit(0);
        }
        pause();
    }
    close(fds[1]);
    ssize_t got = read(fds[0], path, 255); // a path is short: it comes in one piece
    assert_true(got > 0);
    path[got] = '\0';
    close(fds[0]);
    return pid;
}

static void test_leftovers(void **state)
{
    (void)state;
    char dead[256] = "", alive[256] = "", kept[256] = "";
    struct err err;
    assert_non_null(mkdtemp(parent));
    setenv("TMPDIR", parent, 1);
    waitpid(start_user(kept, true), NULL, 0);
    pid_t killed = start_user(dead, false), other = start_user(alive, false);
    kill(killed, SIGKILL);
    waitpid(killed, NULL, 0);
    assert_int_equal(access(dead, F_OK), 0);
    char *mine = scratch_begin(&err);
    assert_non_null(mine);
    put_file(mine, "x");
    assert_int_equal(access(dead, F_OK), -1);
    assert_int_equal(access(alive, F_OK), 0);
    assert_int_equal(access(kept, F_OK), 0);
    char *second = scratch_begin(&err); // our own are alive as well
    assert_int_equal(access(mine, F_OK), 0);
    scratch_end(second, false);
    scratch_end(mine, false);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    scratch_end(scratch_begin(&err), false);
    assert_int_equal(access(alive, F_OK), -1);
    assert_int_equal(access(kept, F_OK), 0);
    char command[300];
    snprintf(command, sizeof command, "test $(ls %s | wc -l) = 1 && rm -rf %s", parent, parent);
    assert_int_equal(system(command), 0);
}

static void test_files(void **state)
{
    (void)state;
    char own[] = "/tmp/latput_files_XXXXXX", one[300], two[300];
    assert_non_null(mkdtemp(own));
    snprintf(one, sizeof one, "%s/one", own);
    snprintf(two, sizeof two, "%s/two", own);
    const char *first = scratch_file_begin(one), *second = scratch_file_begin(two);
    put_file(own, strrchr(first, '/') + 1);
    put_file(own, strrchr(second, '/') + 1);
    char *gone = strdup(second), *journal = xasprintf("%s-journal", second);
    put_file(own, strrchr(journal, '/') + 1);
    assert_int_equal(scratch_file_end(first, one), 0);
    assert_int_equal(access(one, F_OK), 0);
    assert_int_equal(scratch_file_end(second, NULL), 0);
    assert_int_not_equal(access(gone, F_OK), 0);
    assert_int_not_equal(access(journal, F_OK), 0);
    assert_int_not_equal(access(two, F_OK), 0);
    // One that nobody can write cannot get its name.
    char *nowhere = xasprintf("%s/nowhere/one", own);
    assert_int_equal(scratch_file_end(scratch_file_begin(nowhere), nowhere), -1);
    free(nowhere);
    assert_int_equal(unlink(one), 0);
    assert_int_equal(rmdir(own), 0);
    free(gone);
    free(journal);
}

// Signals of users and of limits leave nothing, and end the process as they would.
static void test_signals(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU};
    char own[] = "/tmp/latput_ended_XXXXXX", path[256] = "";
    assert_non_null(mkdtemp(own));
    setenv("TMPDIR", own, 1);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        int status;
        signal(signals[i], SIG_DFL); // a shell may have it ignored
        pid_t pid = start_user(path, false);
        kill(pid, signals[i]);
        waitpid(pid, &status, 0);
        assert_int_equal(WTERMSIG(status), signals[i]);
        assert_int_equal(access(path, F_OK), -1);
    }
    assert_int_equal(rmdir(own), 0);
}

// Two ways to one name do not meet, whoever goes them; what a killed process left is removed by the
// next one on this way, and nothing else.
static void test_files_left(void **state)
{
    (void)state;
    char own[] = "/tmp/latput_left_XXXXXX", one[300], command[600];
    assert_non_null(mkdtemp(own));
    snprintf(one, sizeof one, "%s/one", own);
    const char *alive = scratch_file_begin(one);
    pid_t child = fork();
    if (child == 0) {
        char *name = xasprintf("%s-wal", scratch_file_begin(one));
        put_file(own, strrchr(name, '/') + 1);
        raise(SIGKILL);
    }
    waitpid(child, NULL, 0);
    put_file(own, "one.tmp123");
    put_file(own, "another.tmp0123456789abcdef");
    snprintf(command, sizeof command, "test $(ls %s | wc -l) = 5", own);
    assert_int_equal(system(command), 0); // alive; dead, with its -wal; two of others
    const char *next = scratch_file_begin(one);
    assert_string_not_equal(alive, next);
    assert_int_equal(access(alive, F_OK), 0);
    snprintf(command, sizeof command,
             "cd %s && test $(ls | wc -l) = 4 && test -e one.tmp123 && ! ls | grep -q wal && "
             "test -e another.tmp0123456789abcdef",
             own);
    assert_int_equal(system(command), 0);
    assert_int_equal(scratch_file_end(next, one), 0);
    assert_int_equal(scratch_file_end(alive, one), 0);
    snprintf(command, sizeof command, "test $(ls %s | wc -l) = 3 && rm -r %s", own, own);
    assert_int_equal(system(command), 0);
}

// Tries to make a scratch directory as an ordinary user, for at most two seconds. Returns whether
// that is refused with this reason, and no other that is known.
static bool refused(void (*hinder)(void), const char *reason)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct err err = {0};
        alarm(2);
        if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
            _exit(1);
        hinder();
        bool made = scratch_begin(&err) != NULL;
        _exit(made || !strstr(err.text, reason) ||
              (strstr(err.text, "umask") != NULL) != (strcmp(reason, "umask") == 0));
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void forbid_all(void)
{
    umask(0777);
}

// Leaves no file but the standard ones.
static void forbid_files(void)
{
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){3, 3});
}

static void test_refused(void **state)
{
    (void)state;
    char own[] = "/tmp/latput_refused_XXXXXX", command[300];
    assert_non_null(mkdtemp(own));
    assert_int_equal(chmod(own, 0777), 0);
    setenv("TMPDIR", own, 1);
    assert_true(refused(forbid_all, "umask"));
    assert_true(refused(forbid_files, "Too many open files"));
    snprintf(command, sizeof command, "rmdir %s", own);
    assert_int_equal(system(command), 0); // nothing is left
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_leftovers),
                                       cmocka_unit_test(test_signals), cmocka_unit_test(test_files),
                                       cmocka_unit_test(test_files_left),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
