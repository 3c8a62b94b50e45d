// SPDX-License-Identifier: MIT
// The report of `latput cpu` for programs: one JSON object, the same facts as the text. What is not
// known is null; "machine" and "verdicts" are missing for a CPU from a dump.
#include "cmd_cpu.h"

#include <inttypes.h>
#include <string.h>

// A string, or null where it is empty.
static void text_json(FILE *out, const char *text)
{
    if (!text[0]) {
        fputs("null", out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < ' ')
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

static void text_member(FILE *out, const char *name, const char *text)
{
    fprintf(out, ",\n  \"%s\": ", name);
    text_json(out, text);
}

// null where the number is `unknown`.
static void number_member(FILE *out, const char *name, int64_t number, int64_t unknown)
{
    if (number == unknown)
        fprintf(out, ",\n  \"%s\": null", name);
    else
        fprintf(out, ",\n  \"%s\": %" PRId64, name, number);
}

static void bool_member(FILE *out, const char *name, bool value)
{
    fprintf(out, ",\n  \"%s\": %s", name, value ? "true" : "false");
}

// Claim, decision and evidence. "issue_width" and "imul64_clk" before are those of the believed
// family.
static void claim_json(const struct cpu_info *cpu, FILE *out)
{
    text_member(out, "claimed_uarch", cpu->claim);
    text_member(out, "decided", cpu_decision_name(cpu->decision));
    bool_member(out, "inferred", cpu->decision == CPU_DECIDED_INFERRED);
    text_member(out, "reason", cpu->reason);
    fputs(",\n  \"contradictions\": [", out);
    for (int i = 0; i < cpu->ncontradictions; i++) {
        fprintf(out, "%s\n    {\"witness\": \"%s\", \"text\": ", i ? "," : "",
                cpu_witness_name(cpu->contradictions[i].witness));
        text_json(out, cpu->contradictions[i].text);
        fputc('}', out);
    }
    fputs(cpu->ncontradictions ? "\n  ]" : "]", out);
}

static void identity_json(const struct cpu_info *cpu, FILE *out)
{
    char signature[16];
    snprintf(signature, sizeof signature, "0x%08x", cpu->signature);
    fputs("  \"vendor\": ", out);
    text_json(out, cpu->vendor);
    text_member(out, "brand", cpu->brand);
    text_member(out, "signature", signature);
    number_member(out, "family", cpu->family, -1);
    number_member(out, "model", cpu->model, -1);
    number_member(out, "stepping", cpu->stepping, -1);
    number_member(out, "core_type", cpu->core_type, 0);
    number_member(out, "native_model", cpu->core_type ? (int64_t)cpu->native_model : -1, -1);
    text_member(out, "uarch", cpu->uarch);
    text_member(out, "uarch_name", cpu->uarch_name);
    number_member(out, "issue_width", cpu->issue_width, 0);
    number_member(out, "imul64_clk", cpu->imul64_clk, 0);
    claim_json(cpu, out);
    number_member(out, "microcode", cpu->microcode, 0);
    text_member(out, "hypervisor", cpu->hypervisor);
    number_member(out, "tsc_hz", (int64_t)cpu->tsc_hz, 0);
    bool_member(out, "tsc_invariant", cpu->tsc_invariant);
}

static void lists_json(const struct cpu_info *cpu, FILE *out)
{
    int general, fixed;
    cpu_counters(cpu, &general, &fixed);
    number_member(out, "general_counters", general, -1);
    number_member(out, "fixed_counters", fixed, -1);
    fputs(",\n  \"features\": [", out);
    const char *comma = "";
    for (int i = 0; feature_name(i); i++)
        if (cpu->features[i]) {
            fprintf(out, "%s\n    \"%s\"", comma, feature_name(i));
            comma = ",";
        }
    fputs("\n  ],\n  \"caches\": [", out);
    for (int i = 0; i < cpu->ncaches; i++) {
        const struct cpu_cache *cache = &cpu->caches[i];
        fprintf(out,
                "%s\n    {\"level\": %d, \"type\": \"%c\", \"bytes\": %" PRIu64
                ", \"ways\": %d, \"line_bytes\": %d, \"sharing\": %d}",
                i ? "," : "", cache->level, cache->type, cache->bytes, cache->ways,
                cache->line_bytes, cache->sharing);
    }
    fputs("\n  ]", out);
}

static void machine_json(const struct cpu_environment *env, FILE *out)
{
    static const char *const perf[] = {"works", "still", "denied", "absent", "no_call"};
    static const char *const msr[] = {"works", "denied", "absent"};
    fprintf(out, ",\n  \"machine\": {\n  \"cpu\": %d", env->cpu);
    text_member(out, "online", env->online);
    text_member(out, "siblings", env->siblings);
    number_member(out, "node", env->node, -1);
    text_member(out, "nodes", env->nodes);
    text_member(out, "governor", env->governor);
    text_member(out, "driver", env->driver);
    number_member(out, "boost", env->boost, -1);
    number_member(out, "max_hz", (int64_t)env->max_hz, 0);
    number_member(out, "core_hz", (int64_t)env->core_hz, 0);
    text_member(out, "perf", perf[env->perf]);
    text_member(out, "perf_error", env->perf_errno ? strerror(env->perf_errno) : "");
    if (env->clk_per_chain_clk > 0)
        fprintf(out, ",\n  \"clk_per_chain_clk\": %.4f", env->clk_per_chain_clk);
    else
        fputs(",\n  \"clk_per_chain_clk\": null", out);
    number_member(out, "perf_event_paranoid", env->paranoid, PARANOID_HIDDEN);
    bool_member(out, "rdpmc", env->rdpmc);
    text_member(out, "msr", msr[env->msr]);
    number_member(out, "nmi_watchdog", env->nmi_watchdog, -1);
    fputs("\n  }", out);
}

static void verdicts_json(const struct cpu_info *cpu, const struct cpu_environment *env, FILE *out)
{
    static const char *const answers[] = {"yes", "partly", "no"};
    struct verdict verdicts[VERDICTS_MAX];
    int n = verdicts_make(cpu, env, verdicts);
    fputs(",\n  \"verdicts\": [", out);
    for (int i = 0; i < n; i++) {
        fprintf(out, "%s\n  {\n  \"answer\": \"%s\"", i ? "," : "", answers[verdicts[i].answer]);
        text_member(out, "what", verdicts[i].what);
        text_member(out, "how", verdicts[i].how);
        text_member(out, "remedy", verdicts[i].remedy);
        fputs("\n  }", out);
    }
    fputs("\n  ]", out);
}

void cpu_report_json(const struct cpu_info *cpu, const struct cpu_environment *env, FILE *out)
{
    fputs("{\n", out);
    identity_json(cpu, out);
    lists_json(cpu, out);
    if (env) {
        machine_json(env, out);
        verdicts_json(cpu, env, out);
    }
    fputs("\n}\n", out);
}
