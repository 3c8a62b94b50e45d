// SPDX-License-Identifier: MIT
// without WHAT[=ERRNO]... -- COMMAND...: runs a command as if the kernel lacked something. A
// seccomp filter answers system calls as such a kernel does (or with that error number); a tracer
// changes what no filter can see when a program is executed. WHAT, beside the names of `refusals`:
// - 32bit: programs for 32-bit mode are refused, as without CONFIG_IA32_EMULATION;
// - fsgsbase: programs are not told that they may use the instructions for segment bases. (The
//   instructions themselves still work: only the kernel can forbid them.)
// Ends as the command does; with 77 if this kernel has no filters or no tracers.
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIP = 77, USAGE = 2, ANY = -1 };
enum { CODE_MAX = 128 };

// A call of 64-bit and of 32-bit mode, with any arguments or with this value of one.
struct refusal {
    const char *what;
    unsigned nr64, nr32;
    int argument;
    unsigned value;
    unsigned error;
};
static const struct refusal refusals[] = {
    {"perf",         SYS_perf_event_open,         336, ANY, 0,                   ENOSYS},
    {"affinity",     SYS_sched_setaffinity,       241, ANY, 0,                   EPERM },
    {"hugepages",    SYS_madvise,                 219, 2,   MADV_HUGEPAGE,       EINVAL},
    {"seccomp",      SYS_seccomp,                 354, ANY, 0,                   ENOSYS},
    {"seccomp",      SYS_prctl,                   172, 0,   PR_SET_SECCOMP,      EINVAL},
    {"no_new_privs", SYS_prctl,                   172, 0,   PR_SET_NO_NEW_PRIVS, EINVAL},
    {"landlock",     SYS_landlock_create_ruleset, 444, ANY, 0,                   ENOSYS},
    {"memfd",        SYS_memfd_create,            356, ANY, 0,                   ENOSYS},
    {"readlink",     SYS_readlink,                85,  ANY, 0,                   ENOENT},
    {"readlink",     SYS_readlinkat,              305, ANY, 0,                   ENOENT},
};

static struct sock_filter code[CODE_MAX];
static unsigned short ncode;
static bool no_32bit, no_fsgsbase;

static void put(int instruction, int no, size_t operand)
{
    code[ncode++] =
        (struct sock_filter){(unsigned short)instruction, 0, (unsigned char)no, (unsigned)operand};
}

// Continues if this word of struct seccomp_data has the value, else skips so many instructions.
static void put_compare(size_t offset, unsigned value, int skipped)
{
    put(BPF_LD | BPF_W | BPF_ABS, 0, offset);
    put(BPF_JMP | BPF_JEQ | BPF_K, skipped, value);
}

static void put_call(const struct refusal *refusal, bool is_32, unsigned answer)
{
    int more = refusal->argument == ANY ? 0 : 2;
    put_compare(offsetof(struct seccomp_data, arch), is_32 ? AUDIT_ARCH_I386 : AUDIT_ARCH_X86_64,
                3 + more);
    put_compare(offsetof(struct seccomp_data, nr), is_32 ? refusal->nr32 : refusal->nr64, 1 + more);
    if (more)
        put_compare(offsetof(struct seccomp_data, args) + 8 * (size_t)refusal->argument,
                    refusal->value, 1);
    put(BPF_RET | BPF_K, 0, answer);
}

// Adds the refusals of that name. Returns false if there are none.
static bool put_refusals(const char *what)
{
    size_t length = strcspn(what, "=");
    bool known = false;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const struct refusal *refusal = &refusals[i];
        if (strlen(refusal->what) != length || strncmp(refusal->what, what, length) != 0)
            continue;
        unsigned error = what[length] ? (unsigned)atoi(what + length + 1) : refusal->error;
        known = true;
        for (int is_32 = 0; is_32 < 2 && ncode < CODE_MAX - 16; is_32++)
            put_call(refusal, is_32, SECCOMP_RET_ERRNO | error);
    }
    return known;
}

static _Noreturn void run(char **command)
{
    put(BPF_RET | BPF_K, 0, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {ncode, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        puts("seccomp filters are not allowed here");
        exit(SKIP);
    }
    execvp(command[0], command);
    perror(command[0]);
    exit(127);
}

// A word of a process that has stopped; 0 if it was killed meanwhile.
static long peek(pid_t pid, unsigned long long at)
{
    errno = 0;
    long word = ptrace(PTRACE_PEEKDATA, pid, at, 0);
    return errno ? 0 : word;
}

// Refuses to execute a 32-bit file, for a process that is about to.
static void refuse_32(pid_t pid, struct user_regs_struct *regs)
{
    char name[4096], path[4200];
    unsigned char head[EI_NIDENT] = {0};
    for (size_t i = 0; i < sizeof name; i += sizeof(long)) {
        long word = peek(pid, regs->rdi + i);
        memcpy(name + i, &word, sizeof word);
    }
    name[sizeof name - 1] = '\0';
    snprintf(path, sizeof path, "/proc/%d/%s%s", pid, *name == '/' ? "root" : "cwd/", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return; // the kernel says so itself
    if (read(fd, head, sizeof head) == sizeof head && memcmp(head, ELFMAG, SELFMAG) == 0 &&
        head[EI_CLASS] == ELFCLASS32) {
        regs->orig_rax = -1ULL;
        regs->rax = (unsigned long long)-ENOEXEC;
        ptrace(PTRACE_SETREGS, pid, 0, regs);
    }
    close(fd);
}

// Clears the bit for a process that has just executed a file: argc, argv, NULL, environment, NULL
// and the auxiliary vector lie on its stack.
static void hide_fsgsbase(pid_t pid, const struct user_regs_struct *regs)
{
    enum { USER_CS_64 = 0x33, HWCAP2_FSGSBASE = 2 };
    if (regs->cs != USER_CS_64)
        return;
    unsigned long long at = regs->rsp + 8 * (unsigned long long)(peek(pid, regs->rsp) + 2);
    while (peek(pid, at))
        at += 8;
    for (at += 8; peek(pid, at) != AT_NULL; at += 16)
        if (peek(pid, at) == AT_HWCAP2)
            ptrace(PTRACE_POKEDATA, pid, at + 8, peek(pid, at + 8) & ~HWCAP2_FSGSBASE);
}

// Lets a traced process that has stopped run on.
static void resume(pid_t pid, int status)
{
    struct user_regs_struct regs;
    int event = status >> 16, number = event ? 0 : WSTOPSIG(status);
    bool stopped = event == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP;
    ptrace(PTRACE_GETREGS, pid, 0, &regs);
    if (event == PTRACE_EVENT_SECCOMP)
        refuse_32(pid, &regs);
    if (event == PTRACE_EVENT_EXEC && no_fsgsbase)
        hide_fsgsbase(pid, &regs);
    ptrace(stopped ? PTRACE_LISTEN : PTRACE_CONT, pid, 0, number);
}

static int trace(char **command)
{
    const long events = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK |
                        PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
    int hold[2], status;
    if (pipe2(hold, O_CLOEXEC) != 0)
        return SKIP;
    pid_t first = fork();
    if (first == 0) {
        char go;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        exit(read(hold[0], &go, 1) == 1 ? (run(command), 0) : SKIP);
    }
    if (ptrace(PTRACE_SEIZE, first, 0, events) != 0 || write(hold[1], "g", 1) != 1) {
        puts("programs may not be traced here");
        return SKIP;
    }
    for (;;) {
        pid_t pid = waitpid(-1, &status, __WALL);
        if (pid < 0)
            return SKIP;
        if (WIFSTOPPED(status))
            resume(pid, status);
        else if (pid == first)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
}

int main(int argc, char **argv)
{
    static const struct refusal execution = {"32bit", SYS_execve, 11, ANY, 0, 0};
    int i = 1;
    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "32bit") == 0)
            no_32bit = true;
        else if (strcmp(argv[i], "fsgsbase") == 0)
            no_fsgsbase = true;
        else if (!put_refusals(argv[i]))
            break;
    }
    if (i + 1 >= argc || strcmp(argv[i], "--") != 0) {
        fputs("usage: without WHAT[=ERRNO]... -- COMMAND...\n", stderr);
        return USAGE;
    }
    if (no_32bit)
        put_call(&execution, false, SECCOMP_RET_TRACE);
    if (no_32bit || no_fsgsbase) {
        setenv("ASAN_OPTIONS", "detect_leaks=0", 1); // the leak checker traces its process itself
        return trace(argv + i + 1);
    }
    run(argv + i + 1);
}
