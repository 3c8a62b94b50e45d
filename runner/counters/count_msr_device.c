// SPDX-License-Identifier: MIT
// The device of the msr backend: opening, reading and writing registers, what refusals mean, and
// carrying out plans with what is needed to restore the registers. Between our looking which
// counters are free and our programming them the kernel could take one; that is seen when the
// counts are read.
#include "count_msr.h"

#include "count_perf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint32_t PERF_CAPABILITIES = 0x345;
static const int FULL_WIDTH_BIT = 13; // bit of that register

// Returns true if a file of the machine contains the word.
static bool file_has_word(const struct count_machine *machine, const char *path, const char *word)
{
    char full[512], line[128] = "";
    snprintf(full, sizeof full, "%s%s", machine->root, path);
    FILE *file = fopen(full, "re");
    if (!file)
        return false;
    bool says = fgets(line, sizeof line, file) && strstr(line, word);
    fclose(file);
    return says;
}

static enum count_obstacle open_explain(const struct count_machine *machine, int cpu, int error,
                                        struct err *err)
{
    if (error == ENOENT || error == ENXIO || error == ENODEV) {
        err_set(err,
                "there is no %s/dev/cpu/%d/msr: the kernel module msr is not loaded, or CPU %d is "
                "not online. As root: modprobe msr",
                machine->root, cpu, cpu);
        return COUNT_NO_DEVICE;
    }
    if (error == EACCES || error == EPERM) {
        bool root = geteuid() == 0;
        err_set(err, "/dev/cpu/%d/msr cannot be opened: %s. %s", cpu, strerror(error),
                root ? "In a container, root does not suffice: it needs CAP_SYS_RAWIO and the "
                       "device; or measure outside of the container"
                     : "Run as root (the device is for those with CAP_SYS_RAWIO only)");
        return COUNT_FORBIDDEN;
    }
    err_set(err, "/dev/cpu/%d/msr cannot be opened: %s", cpu, strerror(error));
    return COUNT_FAILED;
}

static enum count_obstacle write_forbidden_explain(const struct count_machine *machine, int cpu,
                                                   uint32_t msr, struct err *err)
{
    static const char lockdown[] = "/sys/kernel/security/lockdown";
    static const char allow[] = "/sys/module/msr/parameters/allow_writes";
    if (file_has_word(machine, lockdown, "[integrity]") ||
        file_has_word(machine, lockdown, "[confidentiality]"))
        err_set(err,
                "the kernel is locked down (%s) and lets no one write registers. Switch Secure "
                "Boot off, or boot with lockdown=none; or use --backend perf",
                lockdown);
    else if (file_has_word(machine, allow, "off"))
        err_set(err,
                "the module msr refuses to write registers. As root: echo on > %s, or load it "
                "with allow_writes=on",
                allow);
    else
        err_set(err,
                "writing MSR 0x%x of CPU %d is refused: %s. Run as root with CAP_SYS_RAWIO; see "
                "also %s and %s",
                msr, cpu, strerror(EPERM), allow, lockdown);
    return COUNT_FORBIDDEN;
}

enum count_obstacle msr_explain(const struct count_machine *machine, int cpu, uint32_t msr,
                                bool writing, int error, struct err *err)
{
    const char *verb = writing ? "writing" : "reading";
    if (msr == 0)
        return open_explain(machine, cpu, error, err);
    if (error == EPERM || error == EACCES)
        return write_forbidden_explain(machine, cpu, msr, err);
    if (error == EIO && machine->cpu->hypervisor[0]) {
        err_set(err,
                "%s MSR 0x%x is refused by the hypervisor (%s): it does not expose the counters. "
                "Measure on bare metal, or switch the virtual PMU on (QEMU: -cpu host,pmu=on)",
                verb, msr, machine->cpu->hypervisor);
        return COUNT_NO_PMU;
    }
    if (error == EIO) {
        err_set(err,
                "CPU %d has no MSR 0x%x or refuses the value: the tables expect another CPU or "
                "the firmware keeps the counters. Check latput cpu and latput counters",
                cpu, msr);
        return COUNT_NO_EVENT;
    }
    if (error == ENXIO) {
        err_set(err, "CPU %d has gone offline", cpu);
        return COUNT_GONE;
    }
    err_set(err, "%s MSR 0x%x of CPU %d: %s", verb, msr, cpu, strerror(error));
    return COUNT_FAILED;
}

enum count_obstacle msr_device_open(const struct count_machine *machine, int cpu,
                                    struct msr_device *device, struct err *err)
{
    char path[512];
    struct stat about;
    *device = (struct msr_device){.machine = machine, .cpu = cpu};
    snprintf(path, sizeof path, "%s/dev/cpu/%d/msr", machine->root, cpu);
    device->fd = open(path, O_RDWR | O_CLOEXEC);
    if (device->fd < 0)
        return msr_explain(machine, cpu, 0, false, errno, err);
    device->regular = fstat(device->fd, &about) == 0 && S_ISREG(about.st_mode);
    return COUNT_FINE;
}

void msr_device_close(struct msr_device *device)
{
    if (device->fd >= 0)
        close(device->fd);
    device->fd = -1;
}

static off_t offset_of(const struct msr_device *device, uint32_t msr)
{
    return (off_t)msr * (device->regular ? (off_t)sizeof(uint64_t) : 1);
}

enum count_obstacle msr_device_read(const struct msr_device *device, uint32_t msr, uint64_t *value,
                                    struct err *err)
{
    *value = 0;
    ssize_t got =
        device->machine->calls->pread(device->fd, value, sizeof *value, offset_of(device, msr));
    if (got == sizeof *value || (got >= 0 && device->regular)) // the rest of a file is 0
        return COUNT_FINE;
    return msr_explain(device->machine, device->cpu, msr, false, got < 0 ? errno : EIO, err);
}

enum count_obstacle msr_device_step(const struct msr_device *device, const struct msr_step *step,
                                    struct err *err)
{
    uint64_t value = 0;
    enum count_obstacle obstacle = COUNT_FINE;
    if (step->mask != MSR_ALL_BITS)
        obstacle = msr_device_read(device, step->msr, &value, err);
    if (obstacle)
        return obstacle;
    value = (value & ~step->mask) | (step->value & step->mask);
    ssize_t put = device->machine->calls->pwrite(device->fd, &value, sizeof value,
                                                 offset_of(device, step->msr));
    if (put == sizeof value)
        return COUNT_FINE;
    return msr_explain(device->machine, device->cpu, step->msr, true, put < 0 ? errno : EIO, err);
}

enum count_obstacle msr_device_steps(const struct msr_device *device, const struct msr_steps *steps,
                                     struct err *err)
{
    enum count_obstacle obstacle = COUNT_FINE;
    for (int i = 0; i < steps->n && !obstacle; i++)
        obstacle = msr_device_step(device, &steps->steps[i], err);
    return obstacle;
}

enum count_obstacle msr_device_verify(const struct msr_device *device,
                                      const struct msr_steps *steps, bool later, struct err *err)
{
    for (int i = 0; i < steps->n; i++) {
        const struct msr_step *step = &steps->steps[i];
        uint64_t value;
        enum count_obstacle obstacle = msr_device_read(device, step->msr, &value, err);
        if (obstacle)
            return obstacle;
        if ((value & step->mask) == (step->value & step->mask))
            continue;
        if (later) {
            err_set(err,
                    "something else has programmed the counters of CPU %d meanwhile (MSR 0x%x is "
                    "0x%llx): perf, a profiler or the NMI watchdog. Stop it",
                    device->cpu, step->msr, (unsigned long long)value);
            return COUNT_MULTIPLEXED;
        }
        err_set(err,
                "MSR 0x%x of CPU %d does not keep what is written to it%s%s. Measure on bare "
                "metal, or switch the virtual PMU on",
                step->msr, device->cpu,
                device->machine->cpu->hypervisor[0] ? ": the hypervisor swallows it, " : "",
                device->machine->cpu->hypervisor);
        return COUNT_NO_PMU;
    }
    return COUNT_FINE;
}

static enum count_obstacle busy_find(const struct msr_device *device,
                                     const struct msr_layout *layout, uint64_t *busy,
                                     struct err *err)
{
    uint32_t msr;
    uint64_t bits, counters, value;
    *busy = 0;
    for (int i = 0; msr_busy_look(layout, i, &msr, &bits, &counters); i++) {
        enum count_obstacle obstacle = msr_device_read(device, msr, &value, err);
        if (obstacle)
            return obstacle;
        if (value & bits)
            *busy |= counters;
    }
    return COUNT_FINE;
}

// Explains that the events would fit if nothing else were counting.
static enum count_obstacle busy_explain(const struct msr_device *device, uint64_t busy,
                                        struct err *err)
{
    const char *holder = "perf, a profiler, or latput counters start";
    bool watchdog = perf_number_read(device->machine, "/proc/sys/kernel/nmi_watchdog", 0) == 1;
    err_set(err, "something else uses counters of CPU %d (general 0x%llx, fixed 0x%llx): %s. %s",
            device->cpu, (unsigned long long)(busy & 0xffffffff), (unsigned long long)(busy >> 32),
            watchdog ? "the NMI watchdog has one" : holder,
            watchdog ? "As root: sysctl -w kernel.nmi_watchdog=0"
                     : "Stop it, or count fewer events");
    return watchdog ? COUNT_WATCHDOG : COUNT_TOO_MANY;
}

// Adds the bits that the steps touch, with their present values.
static enum count_obstacle restore_add(const struct msr_device *device,
                                       const struct msr_steps *steps, struct msr_steps *found,
                                       struct err *err)
{
    for (int i = 0; i < steps->n; i++) {
        const struct msr_step *step = &steps->steps[i];
        int k = 0;
        if (step->command)
            continue;
        while (k < found->n && found->steps[k].msr != step->msr)
            k++;
        if (k == MSR_STEPS_MAX) {
            err_set(err, "more than %d registers", MSR_STEPS_MAX);
            return COUNT_FAILED;
        }
        if (k == found->n) {
            struct msr_step now = {.msr = step->msr};
            enum count_obstacle obstacle = msr_device_read(device, now.msr, &now.value, err);
            if (obstacle)
                return obstacle;
            found->steps[found->n++] = now;
        }
        found->steps[k].mask |= step->mask;
    }
    return COUNT_FINE;
}

// Makes the steps of restoring: stop first, then the reverse order of programming.
static enum count_obstacle restore_make(const struct msr_device *device,
                                        const struct msr_plan *plan, struct msr_steps *restore,
                                        struct err *err)
{
    struct msr_steps found = {.n = 0};
    enum count_obstacle obstacle = restore_add(device, &plan->prepare, &found, err);
    if (!obstacle)
        obstacle = restore_add(device, &plan->start, &found, err);
    *restore = plan->stop;
    if (!obstacle && restore->n + found.n > MSR_STEPS_MAX) {
        err_set(err, "more than %d registers", MSR_STEPS_MAX);
        obstacle = COUNT_FAILED;
    }
    for (int i = found.n - 1; i >= 0 && !obstacle; i--) {
        found.steps[i].value &= found.steps[i].mask;
        restore->steps[restore->n++] = found.steps[i];
    }
    return obstacle;
}

static enum count_obstacle layout_find(const struct msr_device *device, enum counter_scheme scheme,
                                       struct msr_layout *layout, struct err *err)
{
    uint64_t value = 0;
    enum count_obstacle obstacle = msr_layout_make(device->machine->cpu, scheme, layout, err);
    if (!obstacle && layout->capabilities)
        obstacle = msr_device_read(device, PERF_CAPABILITIES, &value, err);
    layout->full_width = value >> FULL_WIDTH_BIT & 1;
    return obstacle;
}

enum count_obstacle msr_device_plan(const struct msr_device *device,
                                    const struct count_event *events, int nevents,
                                    struct msr_plan *plan, struct msr_steps *restore,
                                    struct err *err)
{
    struct msr_layout layout;
    struct err quiet;
    uint64_t busy = 0;
    enum count_obstacle obstacle = layout_find(device, events[0].hardware.scheme, &layout, err);
    if (!obstacle)
        obstacle = busy_find(device, &layout, &busy, err);
    if (obstacle)
        return obstacle;
    obstacle = msr_plan_make(&layout, events, nevents, busy, plan, err);
    if (obstacle == COUNT_TOO_MANY && busy &&
        msr_plan_make(&layout, events, nevents, 0, plan, &quiet) == COUNT_FINE)
        return busy_explain(device, busy, err);
    return obstacle ? obstacle : restore_make(device, plan, restore, err);
}

enum count_obstacle msr_slot_read(const struct msr_device *device, const struct msr_slot *slot,
                                  uint64_t *value, struct err *err)
{
    uint64_t high = 0;
    enum count_obstacle obstacle = msr_device_read(device, slot->msr, value, err);
    if (!obstacle && slot->high_msr)
        obstacle = msr_device_read(device, slot->high_msr, &high, err);
    if (slot->bits < 64)
        *value = (*value & ((1ull << slot->bits) - 1)) | high << slot->bits;
    return obstacle;
}
