// SPDX-License-Identifier: MIT
// Runs in the emulated machine of tests/kernel/run: every kernel of the module's list, each in all
// variants, what the module has to refuse, and the right to turn interrupts off. Prints a line per
// kernel before and after it, so that one which never ends is known. Usage: try [SKIP], numbers of
// kernels to leave out, as in 3,5. `try cli` does nothing else than that.
#include "../../kernel/latput_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/watchdog.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int device, watchdog;

// Prints whether something is as it has to be.
static void told(const char *what, bool holds)
{
    printf("check %s: %s\n", what, holds ? "yes" : "NO");
}

static bool is_refused(unsigned long command, void *request, int why)
{
    return ioctl(device, command, request) == -1 && errno == why;
}

static void try_refusals(void)
{
    static const unsigned char hlt[] = {0xf4}, none[] = {0}, rdtsc[] = {0x0f, 0x31},
                               init[] = {0x31, 0xc9};
    struct latput_find find = {(__u64)(size_t)none, (__u64)(size_t)hlt, 0, 1, 0, {0}};
    told("code of others is refused", is_refused(LATPUT_FIND, &find, ENOENT));
    unsigned char four[8];
    for (int i = 0; i < 4; i++)
        memcpy(four + 2 * i, rdtsc, 2);
    find = (struct latput_find){(__u64)(size_t)init, (__u64)(size_t)four, 2, 8, 0, {0}};
    told("code of the list is found", ioctl(device, LATPUT_FIND, &find) == 0);
    four[7]++;
    told("a byte that differs is seen", is_refused(LATPUT_FIND, &find, ENOENT));
    find.body = 0xffffffff81000000;
    told("an address of the kernel is refused", is_refused(LATPUT_FIND, &find, ENOENT));
    struct latput_run run = {.number = 100000, .variant = 2, .iterations = 1};
    told("a number past the list is refused", is_refused(LATPUT_RUN, &run, ENOENT));
    run = (struct latput_run){.number = find.number, .variant = 3, .iterations = 1};
    told("a variant that is not there is refused", is_refused(LATPUT_RUN, &run, EINVAL));
    run.variant = 0;
    told("many copies first are refused", is_refused(LATPUT_RUN, &run, ETIME));
    run.variant = 2;
    run.iterations = 1000000;
    told("many rounds first are refused", is_refused(LATPUT_RUN, &run, ETIME));
    run.iterations = 2;
    told("a short run is done", ioctl(device, LATPUT_RUN, &run) == 0 && !run.faulted);
    run.iterations = 0xffffffff;
    told("a run that is too long is refused", is_refused(LATPUT_RUN, &run, ETIME));
    pid_t child = fork();
    if (child == 0)
        _exit(setuid(65534) != 0 || open(LATPUT_DEVICE, O_RDWR) != -1);
    int status = 1;
    waitpid(child, &status, 0);
    told("other users are refused", status == 0);
    child = fork();
    if (child == 0) // with the device's permissions out of the way
        _exit(chmod(LATPUT_DEVICE, 0666) != 0 || setuid(65534) != 0 ||
              open(LATPUT_DEVICE, O_RDWR) != -1 || errno != EPERM);
    waitpid(child, &status, 0);
    chmod(LATPUT_DEVICE, 0600);
    told("users without the right to it are refused", status == 0);
}

// Turns interrupts off and on in a child that has asked for these, as another user if `other`.
// Returns the status that waitpid() tells.
static int try_flag(const __u32 *wanted, int n, bool other)
{
    pid_t child = fork();
    if (child == 0) {
        if (other && setuid(65534) != 0)
            _exit(2);
        for (int i = 0; i < n; i++)
            if (ioctl(device, LATPUT_INTERRUPTS, &wanted[i]) != 0)
                _exit(errno);
        __asm__ volatile("cli\n\tsti");
        _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

static void try_interrupts(void)
{
    static const __u32 once[] = {1}, back[] = {1, 0}, wrong[] = {2};
    int status = try_flag(NULL, 0, false);
    told("cli is refused", WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    told("cli is allowed to who asks", try_flag(once, 1, false) == 0);
    status = try_flag(back, 2, false);
    told("the right is taken back", WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    status = try_flag(wrong, 1, false);
    told("another request is refused", WIFEXITED(status) && WEXITSTATUS(status) == EINVAL);
    status = try_flag(once, 1, true);
    told("who has the device, and no right to it, is refused",
         WIFEXITED(status) && WEXITSTATUS(status) == EPERM);
    pid_t child = fork();
    if (child == 0) {
        ioctl(device, LATPUT_INTERRUPTS, &once[0]);
        execl("/try", "/try", "cli", NULL);
        _exit(3);
    }
    waitpid(child, &status, 0);
    told("a program that is started has it not", WIFSIGNALED(status));
}

static void try_kernel(const struct latput_name *name)
{
    enum { ITERATIONS = 20 };
    ioctl(watchdog, WDIOC_KEEPALIVE, 0);
    printf("begin %u %s\n", name->number, name->name);
    for (__u32 variant = LATPUT_VARIANTS; variant-- > 0;) {
        struct latput_run run = {.number = name->number, .variant = variant, .gpr_fill = 1};
        for (run.iterations = 2; run.iterations <= ITERATIONS; run.iterations *= 10) {
            if (ioctl(device, LATPUT_RUN, &run) != 0) {
                printf("end %u refused %d\n", name->number, errno);
                return;
            }
            if (run.faulted) {
                printf("end %u fault %u %s\n", name->number, run.vector,
                       run.tsc_begin ? "body" : "init");
                return;
            }
            if (run.stack_moved) {
                printf("end %u stack %lld\n", name->number, (long long)run.stack_moved);
                return;
            }
            if (run.tsc_end <= run.tsc_begin) {
                printf("end %u notime\n", name->number);
                return;
            }
        }
    }
    printf("end %u ok\n", name->number);
}

// Tells whether the list "3,5" has the number.
static bool is_skipped(const char *list, __u32 number)
{
    for (const char *at = list; *at; at += strspn(at, ",")) {
        char *end;
        if (strtoul(at, &end, 10) == number && end > at)
            return true;
        at += strcspn(at, ",");
    }
    return false;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "cli") == 0) {
        __asm__ volatile("cli\n\tsti");
        return 0;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    int seconds = 6;
    device = open(LATPUT_DEVICE, O_RDWR);
    watchdog = open("/dev/watchdog", O_WRONLY);
    __u32 version = 0;
    told("the device opens", device != -1);
    told("there is a watchdog", watchdog != -1 && ioctl(watchdog, WDIOC_SETTIMEOUT, &seconds) == 0);
    told("the version is right",
         ioctl(device, LATPUT_VERSION, &version) == 0 && version == LATPUT_KERNEL_VERSION);
    try_refusals();
    try_interrupts();
    struct latput_name name = {0};
    for (; ioctl(device, LATPUT_NAME, &name) == 0; name.number++) {
        if (!is_skipped(argc > 1 ? argv[1] : "", name.number))
            try_kernel(&name);
    }
    printf("done %u\n", name.number);
    if (write(watchdog, "V", 1) != 1) // it may be closed
        return 1;
    return 0;
}
