// SPDX-License-Identifier: MIT
#include "run_info.h"

#include "assemble/assemble.h"
#include "derive/plausible.h"
#include "execute/exec.h"
#include "store/store_run.h"
#include "util/paths.h"
#include "util/strbuf.h"
#include "version.h"

#include <inttypes.h>
#include <math.h>
#include <sha256.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

enum { HASH_CHARS = 16 }; // hex digits of a sha256: enough to identify versions of a table

static int info_hash(const char *path, const char *name, struct strbuf *out, struct err *err)
{
    char hash[SHA256_DIGEST_STRING_LENGTH];
    if (!SHA256File(path, hash))
        return err_set(err, "cannot read %s", path);
    strbuf_printf(out, "%s%s:%.*s", out->len ? " " : "", name, HASH_CHARS, hash);
    return 0;
}

// Returns "counters/zen5.csv:1:0123456789abcdef": version and hash of the table that events come
// from.
static int info_counters(const struct counter_table *table, struct strbuf *out, struct err *err)
{
    char name[96];
    snprintf(name, sizeof name, "counters/%s.csv:%s", table->uarch, table->version);
    return info_hash(table->file.path, name, out, err);
}

static int info_tables(const struct counter_table *counters, struct strbuf *out, struct err *err)
{
    static const char *const tables[] = {"cpuinfo/cpus.csv", "cpuinfo/features.csv",
                                         "cpuinfo/core_sizes.csv"};
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        if (info_hash(path_data(tables[i]), strrchr(tables[i], '/') + 1, out, err) != 0)
            return -1;
    return counters ? info_counters(counters, out, err) : 0;
}

static int info_lists(const struct selection *selection, struct strbuf *out, struct err *err)
{
    for (int i = 0; i < selection->nlists; i++)
        if (info_hash(selection->lists[i].path, selection->lists[i].name, out, err) != 0)
            return -1;
    return 0;
}

// Returns the first line of a small file, or "" where there is none.
static const char *info_line(struct arena *arena, const char *path)
{
    char line[128] = "";
    FILE *file = fopen(path, "r");
    if (file) {
        if (!fgets(line, sizeof line, file))
            line[0] = '\0';
        fclose(file);
    }
    line[strcspn(line, "\n")] = '\0';
    return arena_strdup(arena, line);
}

static const char *info_frequency(struct arena *arena, int cpu)
{
    if (path_machine_system())
        return "not visible from here";
    const char *path =
        arena_printf(arena, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
    const char *governor = info_line(arena, path);
    const char *boost = info_line(arena, "/sys/devices/system/cpu/cpufreq/boost");
    if (!*governor)
        return "not controlled by this system";
    return arena_printf(arena, "governor %s%s%s", governor, *boost ? ", boost " : "", boost);
}

static const struct run_event *info_events(const struct session_counting *counting,
                                           struct arena *arena)
{
    struct run_event *events = arena_alloc(arena, (size_t)counting->nevents * sizeof *events);
    for (int i = 0; i < counting->nevents; i++) {
        char code[128];
        counter_event_text(&counting->events[i].hardware, code, sizeof code);
        events[i] =
            (struct run_event){.event = arena_strdup(arena, counting->events[i].name),
                               .code = arena_strdup(arena, code),
                               .backend = counting->source->name,
                               .counter_table = arena_strdup(arena, counting->table.uarch),
                               .table_version = arena_strdup(arena, counting->table.version)};
    }
    return events;
}

int run_info_collect(const struct run_subject *subject, struct arena *arena, struct run_info *info,
                     struct err *err)
{
    const struct cpu_info *cpu = subject->cpu;
    const struct run_facts *facts = subject->facts;
    const char *far = path_machine_system();
    struct utsname system;
    uname(&system);
    char nasm[128], evidence[2600];
    struct strbuf lists = {0}, tables = {0};
    int status = assemble_nasm_version(nasm, sizeof nasm, err);
    if (status == 0)
        status = info_lists(subject->selection, &lists, err);
    if (status == 0)
        status = info_tables(facts->counters, &tables, err);
    if (status == 0)
        *info = (struct run_info){
            .version = LATPUT_VERSION,
            .nasm_version = arena_strdup(arena, nasm),
            .os_kernel = arena_strdup(arena, far ? far : system.release),
            .backend = exec_is_text() && !far ? "text"
                       : facts->counting      ? facts->counting->source->name
                                              : "tsc",
            .lists = arena_strdup(arena, strbuf_text(&lists)),
            .tables = arena_strdup(arena, strbuf_text(&tables)),
            .frequency = info_frequency(arena, subject->config->cpu),
            .selection = arena_strdup(arena, subject->selection_text),
            .tsc_hz = (double)cpu->tsc_hz,
            .core_hz = facts->core_hz,
            .overhead_tsc = facts->overhead_tsc,
            .issue_width = facts->issue_width,
            .calib_link_clk = (int)subject->config->calib_link_clk,
            .measuring_cpu = subject->config->cpu,
            .claimed_uarch = arena_strdup(arena, cpu->claim),
            .decided = cpu_decision_name(cpu->decision),
            .evidence = arena_strdup(arena, cpu_evidence_text(cpu, evidence, sizeof evidence)),
            .measured_width = cpu->measured_width,
            .events = facts->counting ? info_events(facts->counting, arena) : NULL,
            .nevents = facts->counting ? facts->counting->nevents : 0,
        };
    strbuf_free(&lists);
    strbuf_free(&tables);
    return status;
}

bool run_info_calibration_off(const struct cpu_info *cpu, const struct run_facts *facts)
{
    return cpu->imul64_clk && plausible_ratio(facts->imul_per_add) &&
           lround(facts->imul_per_add) != cpu->imul64_clk;
}

struct info_warning {
    bool applies;
    const char *text, *remedy;
};

static int info_put_warnings(struct store *store, int64_t run_id,
                             const struct info_warning *warnings, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++)
        if (warnings[i].applies &&
            store_run_warning(store, run_id, warnings[i].text, warnings[i].remedy, err) != 0)
            return -1;
    return 0;
}

int run_info_warn_identity(struct store *store, int64_t run_id, const struct cpu_info *cpu,
                           struct err *err)
{
    static const char remedy[] = "--uarch NAME says what it is; facts of the family "
                                 "(cpuinfo/cpus.csv, its counters and names "
                                 "of ports) are used as they are there";
    const bool unknown = strcmp(cpu->uarch, "unknown") == 0 && !cpu->ncontradictions &&
                         cpu->decision != CPU_DECIDED_OVERRIDE;
    char why[2600], evidence[3000], narrow[200];
    snprintf(evidence, sizeof evidence, "the CPU claims to be a %s and is filed under `%s`: %s",
             cpu->claim, cpu->uarch, cpu_evidence_text(cpu, why, sizeof why));
    snprintf(narrow, sizeof narrow,
             "the core was not seen at its full width: at best %d of the %d µops per cycle that %s "
             "dispatches",
             cpu->measured_width, cpu->issue_width, cpu->uarch);
    // clang-format off
    const struct info_warning warnings[] = {
        {unknown, "this CPU is not in cpus.csv: its results are filed under the uarch `unknown`",
            "add a line for its family and model to cpuinfo/cpus.csv (docs/HOWTO_ADD_CPU.md)"},
        {cpu->ncontradictions > 0, evidence, remedy},
        {cpu_seen_narrow(cpu), narrow,
            "something may have kept it busy: stop other programs and virtual machines on this "
            "host, and run again; if it is always so, check issue_width in cpuinfo/cpus.csv"},
    };
    // clang-format on
    return info_put_warnings(store, run_id, warnings, ARRAY_LEN(warnings), err);
}

int run_info_warn(struct store *store, int64_t run_id, const struct cpu_info *cpu,
                  const struct run_facts *facts, struct err *err)
{
    const bool off = run_info_calibration_off(cpu, facts);
    const bool counted_off =
        cpu->imul64_clk && facts->counted_link_clk && facts->counted_link_clk != cpu->imul64_clk;
    const char *note = facts->counting ? facts->counting->note : "";
    char guessed[sizeof(struct err) + 100];
    snprintf(guessed, sizeof guessed,
             "the core was never seen undisturbed (%s): what was measured meanwhile has no value",
             facts->floor_guessed ? facts->floor_guessed : "");
    // clang-format off
    const struct info_warning warnings[] = {
        {facts->floor_guessed, guessed,
            "stop other programs and virtual machines on this host, and run again"},
        {off, "the ratio of the imul and add latencies is not the one that cpus.csv gives",
            "check imul64_clk of this uarch in cpuinfo/cpus.csv; all cycle counts depend on it"},
        {counted_off,
            "a counter says that imul takes another number of cycles than cpus.csv does: this run "
            "believes the counter",
            "check imul64_clk of this uarch in cpuinfo/cpus.csv and core_clk in cpuinfo/counters"},
        {*note != '\0', "µops were not counted: the ports follow from throughput alone", note},
        {facts->interrupts_off, "interrupts were off while something was timed (--kernel)",
            "nothing is wrong; instructions that look at the interrupt flag may take another time"},
        {path_machine_system() != NULL, "the core for Windows measured this, which is experimental",
            "compare some forms with a run on Linux on this CPU, if there is one"},
        {!cpu->tsc_invariant, "the time-stamp counter is not invariant",
            "fix the core frequency for the time of the run"},
    };
    // clang-format on
    return info_put_warnings(store, run_id, warnings, ARRAY_LEN(warnings), err);
}

int run_info_warn_doubted(struct store *store, int64_t run_id, int64_t doubted, struct err *err)
{
    char text[200];
    snprintf(text, sizeof text,
             "the counted cycles of %" PRId64 " kernels contradict the calibration chain and were "
             "left out: their values are the calibration's",
             doubted);
    return store_run_warning(store, run_id, text,
                             "a few may be chance; where there are many, use --backend tsc and "
                             "check core_clk of this uarch in cpuinfo/counters",
                             err);
}

int run_info_warn_unstable(struct store *store, int64_t run_id, int64_t unstable, int64_t tests,
                           struct err *err)
{
    char text[160];
    snprintf(text, sizeof text,
             "%" PRId64 " of %" PRId64 " tests are unstable: their timings do not agree with each "
             "other, so they have no value",
             unstable, tests);
    return store_run_warning(store, run_id, text,
                             "a few are in the nature of some instructions; where there are many, "
                             "stop other programs on this machine and run again",
                             err);
}

int run_info_warn_no_32(struct store *store, int64_t run_id, const char *why, struct err *err)
{
    char text[sizeof(struct err) + 100];
    snprintf(text, sizeof text, "forms of 32-bit mode are skipped: %s", why);
    return store_run_warning(store, run_id, text,
                             "nothing else is lost; a system that builds and runs 32-bit programs "
                             "(gcc-multilib, CONFIG_IA32_EMULATION) measures them, too",
                             err);
}

int run_info_warn_doubts(struct store *store, int64_t run_id, const struct store_doubts *doubts,
                         struct err *err)
{
    static const double DIFFERING_SHARE = 0.01;
    char text[160];
    if ((double)doubts->differing > DIFFERING_SHARE * (double)doubts->repeated) {
        snprintf(text, sizeof text,
                 "%" PRId64 " of %" PRId64 " tests that were asked again came out otherwise: the "
                 "same share of all values may hang on how they were asked",
                 doubts->differing, doubts->repeated);
        if (store_run_warning(store, run_id, text, "latput query --doubts lists them", err) != 0)
            return -1;
    }
    if (doubts->contradictions == 0)
        return 0;
    snprintf(text, sizeof text, "%" PRId64 " values cannot be true beside others of their form",
             doubts->contradictions);
    return store_run_warning(store, run_id, text, "latput query --doubts lists them", err);
}

int run_info_warn_parallel(struct store *store, int64_t run_id, const struct parallel *parallel,
                           struct err *err)
{
    char text[200];
    snprintf(text, sizeof text,
             "several cores measured at once%s: of %" PRId64
             " kernels that one core measured alone, too, %" PRId64 " came out otherwise",
             parallel->ended ? ", and one alone from then on" : "", parallel->drawn,
             parallel->differ);
    return store_run_warning(store, run_id, text,
                             parallel->ended ? "without --parallel no core disturbs another"
                                             : "a run without --parallel is slower, and asks less "
                                               "of the machine",
                             err);
}

int run_info_warn_scattered(struct store *store, int64_t run_id, int64_t tests, struct err *err)
{
    char text[160];
    snprintf(text, sizeof text,
             "%" PRId64
             " throughputs have no steady state: tables have what they reached again and "
             "again, as an upper bound",
             tests);
    return store_run_warning(store, run_id, text,
                             "some cores run some instructions so, most of all those that load and "
                             "operate",
                             err);
}
