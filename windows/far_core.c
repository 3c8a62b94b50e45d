// SPDX-License-Identifier: MIT
// The measuring process on Linux whose work is done on Windows. The runner takes one that sleeps
// without a word for one whose body hangs; of that Windows is the judge. So this one stands still
// in the meantime, as if something outside kept it from running, until its child, which passes the
// messages on, has ended: that is what vfork() does to a process. Where Windows has ended a core
// that hung, it then sleeps.
#include "core/core_abi.h"
#include "far.h"

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Tells the runner why nothing can be measured, as the core would.
static int core_fatal(const struct core_config *config, const char *why)
{
    struct core_record record = {
        .type = CORE_REC_FATAL, .number = config->secret.number, .token = config->secret.token};
    snprintf(record.text, sizeof record.text, "%s", why);
    far_write(CORE_RECORD_FD, &record, sizeof record);
    return 111;
}

// Reads the configuration with what follows it, but for secrets: the core for Windows goes by the
// first alone. Returns NULL if it is incomplete.
static struct core_config *core_read_config(size_t *bytes)
{
    struct core_config head, *config = NULL;
    if (!far_read(CORE_CONFIG_FD, &head, sizeof head) ||
        head.nselected > CHANNEL_OTHER_MAX / sizeof(uint32_t) / 2 ||
        head.ncounters > CORE_COUNTERS_MAX || head.ncorunners > CORE_CORUNNERS_MAX ||
        head.npages > CORE_PAGES_MAX)
        return NULL;
    size_t more = head.nselected * sizeof(uint32_t) + head.ncounters * sizeof(struct core_counter) +
                  head.ncorunners * sizeof(int32_t) + head.npages * sizeof(uint64_t);
    config = malloc(sizeof head + more);
    if (!config || !far_read(CORE_CONFIG_FD, config + 1, more)) {
        free(config);
        return NULL;
    }
    *config = head;
    *bytes = sizeof head + more;
    return config;
}

static int core_connect(const char *self)
{
    char directory[FAR_TEXT];
    struct sockaddr_un address;
    const char *base = strrchr(self, '/');
    snprintf(directory, sizeof directory, "%.*s", (int)(base - self), self);
    far_socket_name(directory, &address);
    int to = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return to >= 0 && connect(to, (struct sockaddr *)&address, sizeof address) == 0 ? to : -1;
}

// Passes messages on until the core on Windows has ended. Returns the status of its end.
static int core_pass(int to, const struct core_config *config, bool *hung)
{
    struct channel_head head;
    struct channel_end end;
    void *payload;
    int status = -1; // it has not ended
    while (status < 0 && far_receive(to, &head, &payload)) {
        if (head.type == CHANNEL_FAILED)
            status = core_fatal(config, payload);
        if (head.type == CHANNEL_RECORDS && !far_write(CORE_RECORD_FD, payload, head.bytes))
            status = 113; // the runner is gone
        if (head.type == CHANNEL_END && head.bytes == sizeof end) {
            memcpy(&end, payload, sizeof end);
            *hung = end.hung;
            status = end.status <= UINT8_MAX ? (int)end.status : 1; // others are of exceptions
        }
        free(payload);
    }
    return status < 0 ? core_fatal(config, "latput-windows has ended") : status;
}

static int core_work(const char *self, const char *program, bool *hung)
{
    char path[PATH_MAX];
    size_t bytes = 0;
    struct core_config *config = core_read_config(&bytes);
    if (!config)
        return 110;
    int to = core_connect(self), status;
    if (to < 0 || !realpath(program, path))
        status = core_fatal(config, "latput-windows is not there");
    else if (far_send(to, CHANNEL_PROGRAM, path, strlen(path)) &&
             far_send(to, CHANNEL_START, config, bytes))
        status = core_pass(to, config, hung);
    else
        status = core_fatal(config, "latput-windows has ended");
    free(config);
    return status;
}

int far_core(const char *self, const char *program)
{
    bool *hung =
        mmap(NULL, sizeof *hung, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = 0;
    if (hung == MAP_FAILED)
        return 112;
    signal(SIGPIPE, SIG_IGN);
    // vfork(), but with memory of its own.
    long child = syscall(SYS_clone, CLONE_VFORK | SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(core_work(self, program, hung));
    }
    if (child < 0 || waitpid((pid_t)child, &status, 0) != (pid_t)child)
        return 112;
    while (*hung)
        pause();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 112;
}
