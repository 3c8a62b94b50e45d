// SPDX-License-Identifier: MIT
// The report of `latput cpu` for programs: JSON with one row, the same facts as the text. Unknown
// facts are null; "machine" and "verdicts" of a CPU from a dump are empty.
#include "cpu_print.h"

#include "util/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct field_words words_witness = {.name = cpu_witness_name},
                                words_decision = {.name = cpu_decision_name};

#define CONTRADICTION(...) OUTPUT_FIELD(struct cpu_contradiction, __VA_ARGS__)
OUTPUT_DEFINE(contradiction_record, struct cpu_contradiction, OUTPUT_LINE,
              CONTRADICTION(witness, .words = &words_witness), CONTRADICTION(text, .known = true));

// A measured property, beside its values on the claimed and the believed core.
struct sight_row {
    struct cpu_observed seen;
    double claimed, believed;
    const char *against_claimed, *against_believed;
};
#define SIGHT(...) OUTPUT_FIELD(struct sight_row, __VA_ARGS__)
OUTPUT_DEFINE(sight_record, struct sight_row, OUTPUT_LINE, SIGHT(seen.property),
              SIGHT(seen.variant), SIGHT(seen.label), SIGHT(seen.value, .always = true),
              SIGHT(seen.low, .always = true), SIGHT(seen.high, .always = true), SIGHT(claimed),
              SIGHT(against_claimed, .known = true), SIGHT(believed),
              SIGHT(against_believed, .known = true));

struct cache_row {
    struct cpu_cache of;
    char type[2];
};
#define CACHE(...) OUTPUT_FIELD(struct cache_row, __VA_ARGS__)
OUTPUT_DEFINE(cache_record, struct cache_row, OUTPUT_LINE, CACHE(of.level), CACHE(type),
              CACHE(of.bytes), CACHE(of.ways), CACHE(of.line_bytes), CACHE(of.sharing));

static const char *const perf_names[] = {"works", "still", "denied", "absent", "no_call"};
static const char *const msr_names[] = {"works", "denied", "absent"};
static const char *const answer_names[] = {"yes", "partly", "no"};
static const struct field_words words_perf = {.names = perf_names},
                                words_msr = {.names = msr_names},
                                words_answer = {.names = answer_names};

struct machine_row {
    struct cpu_environment of;
    const char *perf_error;
    double clk_per_chain_clk;
};
#define MACHINE(...) OUTPUT_FIELD(struct machine_row, __VA_ARGS__)
#define MACHINE_UNLESS(value, ...) MACHINE(__VA_ARGS__, .known = true, .none = (value))
OUTPUT_DEFINE(machine_record, struct machine_row, OUTPUT_LINES, MACHINE(of.cpu),
              MACHINE(of.online, .known = true), MACHINE(of.siblings, .known = true),
              MACHINE_UNLESS(-1, of.node), MACHINE(of.nodes, .known = true),
              MACHINE(of.governor, .known = true), MACHINE(of.driver, .known = true),
              MACHINE_UNLESS(-1, of.boost), MACHINE_UNLESS(0, of.max_hz),
              MACHINE_UNLESS(0, of.core_hz), MACHINE(of.perf, .words = &words_perf),
              MACHINE(perf_error, .known = true), MACHINE(clk_per_chain_clk),
              MACHINE_UNLESS(PARANOID_HIDDEN, of.paranoid, .look.name = "perf_event_paranoid"),
              MACHINE(of.rdpmc), MACHINE(of.msr, .words = &words_msr),
              MACHINE_UNLESS(-1, of.nmi_watchdog));

#define VERDICT(...) OUTPUT_FIELD(struct verdict, __VA_ARGS__)
OUTPUT_DEFINE(verdict_record, struct verdict, OUTPUT_LINES, VERDICT(answer, .words = &words_answer),
              VERDICT(what), VERDICT(how, .known = true), VERDICT(remedy, .known = true));

struct cpu_row {
    struct cpu_info of;
    char signature[16];
    int64_t native_model;
    bool inferred;
    int general_counters, fixed_counters;
    const char *const *features;
    struct sight_row sights[CPU_OBSERVED_MAX];
    struct cache_row caches[CPU_CACHES_MAX];
    struct machine_row machine;
    struct verdict verdicts[VERDICTS_MAX];
    int nfeatures, nmachines, nverdicts;
};
#define CPU(...) OUTPUT_FIELD(struct cpu_row, __VA_ARGS__)
#define CPU_UNLESS(value, ...) CPU(__VA_ARGS__, .known = true, .none = (value))
OUTPUT_DEFINE(cpu_record, struct cpu_row, OUTPUT_LINES, CPU(of.vendor, .known = true),
              CPU(of.brand, .known = true), CPU(signature), CPU_UNLESS(-1, of.family),
              CPU_UNLESS(-1, of.model), CPU_UNLESS(-1, of.stepping), CPU_UNLESS(0, of.core_type),
              CPU_UNLESS(-1, native_model), CPU(of.uarch), CPU(of.uarch_name, .known = true),
              CPU_UNLESS(0, of.issue_width), CPU_UNLESS(0, of.imul64_clk),
              CPU(of.claim, .known = true, .look.name = "claimed_uarch"),
              CPU(of.decision, .words = &words_decision, .look.name = "decided"), CPU(inferred),
              CPU(of.reason, .known = true),
              OUTPUT_ARRAY(struct cpu_row, of.contradictions, of.ncontradictions,
                           contradiction_record),
              CPU_UNLESS(0, of.measured_width),
              OUTPUT_ARRAY(struct cpu_row, sights, of.nsights, sight_record,
                           .look.name = "properties"),
              CPU_UNLESS(0, of.microcode), CPU(of.hypervisor, .known = true),
              CPU_UNLESS(0, of.tsc_hz), CPU(of.tsc_invariant), CPU_UNLESS(-1, general_counters),
              CPU_UNLESS(-1, fixed_counters), OUTPUT_LIST(struct cpu_row, features, nfeatures),
              OUTPUT_ARRAY(struct cpu_row, caches, of.ncaches, cache_record),
              OUTPUT_ARRAY(struct cpu_row, machine, nmachines, machine_record),
              OUTPUT_ARRAY(struct cpu_row, verdicts, nverdicts, verdict_record));
const struct output_kind cpu_print_kind = {
    "cpu", "latput cpu; machine (one row) and verdicts are empty for a CPU from a dump",
    &cpu_record, 1, 1};

static double size_or_none(double size)
{
    return size > 0 ? size : (double)NAN;
}

static struct sight_row sight_row(const struct cpu_sight *sight)
{
    return (struct sight_row){sight->seen, size_or_none(sight->claimed_size),
                              size_or_none(sight->believed_size),
                              sight->claimed_size > 0 ? cpu_says_name(sight->claimed) : "",
                              sight->believed_size > 0 ? cpu_says_name(sight->believed) : ""};
}

void cpu_print_json(const struct cpu_info *cpu, const struct cpu_environment *env, FILE *out)
{
    struct strbuf text = {0};
    const char *features[CPU_FEATURES_MAX];
    struct cpu_row *row = xcalloc(1, sizeof *row);
    row->of = *cpu;
    row->features = features;
    row->native_model = cpu->core_type ? (int64_t)cpu->native_model : -1;
    row->inferred = cpu->decision == CPU_DECIDED_INFERRED;
    snprintf(row->signature, sizeof row->signature, "0x%08x", cpu->signature);
    cpu_counters(cpu, &row->general_counters, &row->fixed_counters);
    for (int i = 0; feature_name(i); i++)
        if (cpu->features[i])
            features[row->nfeatures++] = feature_name(i);
    for (int i = 0; i < cpu->nsights; i++)
        row->sights[i] = sight_row(&cpu->sights[i]);
    for (int i = 0; i < cpu->ncaches; i++)
        row->caches[i] = (struct cache_row){cpu->caches[i], {cpu->caches[i].type}};
    if (env) {
        row->nmachines = 1;
        row->machine = (struct machine_row){*env, env->perf_errno ? strerror(env->perf_errno) : "",
                                            size_or_none(env->clk_per_chain_clk)};
        row->nverdicts = verdicts_make(cpu, env, row->verdicts);
    }
    output_put_json(&cpu_record, row, 1, true, &text);
    fputs(strbuf_text(&text), out);
    strbuf_free(&text);
    free(row);
}
