// SPDX-License-Identifier: MIT
// CPUID dumps: read, reported, the counters that such a CPU has, and written again.
#include "fuzz.h"

#include "commands/cpu_print.h"
#include "cpuinfo/counters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void text_write(const struct cpu_info *cpu, const struct cpu_environment *env, FILE *out)
{
    cpu_print_text(cpu, env, NULL, out);
}

static void report(const struct cpu_info *cpu,
                   void (*write)(const struct cpu_info *, const struct cpu_environment *, FILE *))
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    write(cpu, NULL, out);
    fclose(out);
    fuzz_check(size > 0, "a CPU has a report");
    free(text);
}

static void read_again(const struct cpu_info *cpu)
{
    static struct cpu_info again;
    struct err err = {0};
    const char *path = fuzz_output();
    fuzz_check(cpu_save(cpu, path, &err) == 0 && cpu_load(path, &again, &err) == 0,
               "what was written can be read");
    fuzz_check(again.nleaves == cpu->nleaves && strcmp(again.uarch, cpu->uarch) == 0 &&
                   memcmp(again.features, cpu->features, sizeof cpu->features) == 0,
               "what was written is the same CPU");
}

void fuzz_cpuid(const uint8_t *bytes, size_t size)
{
    static struct cpu_info cpu;
    struct counter_table table = {0};
    struct err err = {0};
    if (cpu_load(fuzz_file(bytes, size), &cpu, &err) != 0) {
        fuzz_check_message(&err);
        return;
    }
    report(&cpu, text_write);
    report(&cpu, cpu_print_json);
    if (counters_load_cpu(&cpu, &table, &err) == 0)
        counters_free(&table);
    read_again(&cpu);
}
