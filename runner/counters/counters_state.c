// SPDX-License-Identifier: MIT
// The state file of `latput counters start`: one line per event and per register to be restored.
// Whoever can write it decides what root writes into registers, so it is made for its owner alone,
// and trusted only if it belongs to the user who reads it.
#include "counters_state.h"

#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char first_line[] = "latput-counters 1\n";

const char *counters_state_path(void)
{
    static char path[512];
    const char *directory = getenv("XDG_RUNTIME_DIR");
    snprintf(path, sizeof path, "%s/latput-counters", directory && *directory ? directory : "/run");
    return path;
}

static void step_add(struct counters_state *state, const struct state_step *step)
{
    state->steps = xgrow(state->steps, &state->steps_capacity, state->nsteps + 1, sizeof *step);
    state->steps[state->nsteps++] = *step;
}

static void slot_add(struct counters_state *state, const struct state_slot *slot)
{
    state->slots = xgrow(state->slots, &state->slots_capacity, state->nslots + 1, sizeof *slot);
    state->slots[state->nslots++] = *slot;
}

void counters_state_add(struct counters_state *state, int cpu, const struct count_event *events,
                        const struct msr_plan *plan, const struct msr_steps *restore)
{
    for (int i = 0; i < plan->nevents; i++) {
        struct state_slot slot = {.cpu = cpu, .slot = plan->slots[i]};
        memcpy(slot.name, events[i].name, sizeof slot.name);
        slot_add(state, &slot);
    }
    for (int i = 0; i < restore->n; i++)
        step_add(state, &(struct state_step){.cpu = cpu, .step = restore->steps[i]});
}

static void lines_put(const struct counters_state *state, FILE *file)
{
    fputs(first_line, file);
    if (state->rdpmc_path[0])
        fprintf(file, "rdpmc %d %s\n", state->rdpmc_before, state->rdpmc_path);
    for (size_t i = 0; i < state->nslots; i++) {
        const struct msr_slot *slot = &state->slots[i].slot;
        fprintf(file, "event %d 0x%" PRIx32 " 0x%" PRIx32 " 0x%" PRIx32 " %d %s\n",
                state->slots[i].cpu, slot->rdpmc, slot->msr, slot->high_msr, slot->bits,
                state->slots[i].name);
    }
    for (size_t i = 0; i < state->nsteps; i++) {
        const struct msr_step *step = &state->steps[i].step;
        fprintf(file, "restore %d 0x%" PRIx32 " 0x%" PRIx64 " 0x%" PRIx64 "\n", state->steps[i].cpu,
                step->msr, step->mask, step->value);
    }
}

int counters_state_write(const struct counters_state *state, struct err *err)
{
    const char *path = counters_state_path();
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        return err_set(err, "%s: cannot be made: %s", path, strerror(errno));
    lines_put(state, file);
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed) {
        unlink(path);
        return err_set(err, "%s: cannot be written: %s", path, strerror(errno));
    }
    return 0;
}

static bool line_read(const char *line, struct counters_state *state)
{
    struct state_slot slot = {.cpu = 0};
    struct state_step step = {.cpu = 0};
    if (sscanf(line, "event %d %" SCNx32 " %" SCNx32 " %" SCNx32 " %d %255[^\n]", &slot.cpu,
               &slot.slot.rdpmc, &slot.slot.msr, &slot.slot.high_msr, &slot.slot.bits,
               slot.name) == 6) {
        slot_add(state, &slot);
        return true;
    }
    if (sscanf(line, "restore %d %" SCNx32 " %" SCNx64 " %" SCNx64, &step.cpu, &step.step.msr,
               &step.step.mask, &step.step.value) == 4) {
        step_add(state, &step);
        return true;
    }
    return sscanf(line, "rdpmc %d %255[^\n]", &state->rdpmc_before, state->rdpmc_path) == 2;
}

int counters_state_read(struct counters_state *state, struct err *err)
{
    const char *path = counters_state_path();
    char line[512];
    struct stat about;
    int number = 1;
    *state = (struct counters_state){.rdpmc_before = 0};
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 1 : err_set(err, "%s: %s", path, strerror(errno));
    FILE *file = fdopen(fd, "r");
    if (!file || fstat(fd, &about) != 0 || about.st_uid != geteuid() ||
        (about.st_mode & (S_IWGRP | S_IWOTH))) {
        close(fd);
        return err_set(err,
                       "%s: not trusted, since it is another user's. Run this as the user who "
                       "started the counters",
                       path);
    }
    bool known = fgets(line, sizeof line, file) && strcmp(line, first_line) == 0;
    while (known && fgets(line, sizeof line, file)) {
        number++;
        known = line_read(line, state);
    }
    fclose(file);
    return known ? 0
                 : err_set(err,
                           "%s:%d: not understood; was it written by another version? Use that "
                           "one, or remove the file if the machine has been started since",
                           path, number);
}

void counters_state_free(struct counters_state *state)
{
    free(state->slots);
    free(state->steps);
}

int counters_number_write(const struct count_machine *machine, const char *path, int number)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", machine->root, path);
    FILE *file = fopen(full, "r+e");
    if (!file)
        return -1;
    fprintf(file, "%d\n", number);
    return fclose(file) == 0 ? 0 : -1;
}

int counters_state_restore(const struct counters_state *state, const struct count_machine *machine,
                           struct err *err)
{
    struct msr_device device = {.fd = -1};
    int opened = -1, status = 0;
    for (size_t i = 0; i < state->nsteps; i++) {
        if (state->steps[i].cpu != opened) {
            msr_device_close(&device);
            opened = state->steps[i].cpu;
            if (msr_device_open(machine, opened, &device, err))
                status = -1;
        }
        if (device.fd >= 0 && msr_device_step(&device, &state->steps[i].step, err))
            status = -1;
    }
    msr_device_close(&device);
    if (state->rdpmc_path[0] &&
        counters_number_write(machine, state->rdpmc_path, state->rdpmc_before) != 0)
        status = err_set(err, "%s: cannot be set to %d again: %s", state->rdpmc_path,
                         state->rdpmc_before, strerror(errno));
    return status;
}
