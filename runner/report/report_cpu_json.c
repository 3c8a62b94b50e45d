// SPDX-License-Identifier: MIT
// The report of `latput cpu` for programs: JSON with one row, the same facts as the text. Unknown
// facts are null; "machine" and "verdicts" of a CPU from a dump are empty.
#include "report_cpu.h"

#include "util/json.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// Begins a member on a line of its own.
static struct json *line_name(struct json *json, const char *name)
{
    return json_name(json_break(json, "\n  "), name);
}

static void text_member(struct json *json, const char *name, const char *text)
{
    json_text_known(line_name(json, name), text);
}

// Writes a number, or null if it is `unknown`.
static void number_member(struct json *json, const char *name, int64_t number, int64_t unknown)
{
    line_name(json, name);
    if (number == unknown)
        json_null(json);
    else
        json_int(json, number);
}

static void bool_member(struct json *json, const char *name, bool value)
{
    json_bool(line_name(json, name), value);
}

// Writes claim, decision and evidence. "issue_width" and "imul64_clk" before are those of the
// believed family.
static void claim_json(const struct cpu_info *cpu, struct json *json)
{
    text_member(json, "claimed_uarch", cpu->claim);
    text_member(json, "decided", cpu_decision_name(cpu->decision));
    bool_member(json, "inferred", cpu->decision == CPU_DECIDED_INFERRED);
    text_member(json, "reason", cpu->reason);
    json_open(line_name(json, "contradictions"), '[');
    for (int i = 0; i < cpu->ncontradictions; i++) {
        json_open(json_break(json, "\n    "), '{');
        json_text(json_name(json, "witness"), cpu_witness_name(cpu->contradictions[i].witness));
        json_text_known(json_name(json, "text"), cpu->contradictions[i].text);
        json_close(json, '}');
    }
    json_close(cpu->ncontradictions ? json_break(json, "\n  ") : json, ']');
}

static const char *verdict_text(double size, enum cpu_says says)
{
    return size > 0 ? cpu_says_name(says) : "";
}

// Writes measured properties, beside their values on the claimed and the believed core.
static void sights_json(const struct cpu_info *cpu, struct json *json)
{
    json_open(line_name(json, "properties"), '[');
    for (int i = 0; i < cpu->nsights; i++) {
        const struct cpu_sight *sight = &cpu->sights[i];
        json_open(json_break(json, "\n    "), '{');
        json_text(json_name(json, "property"), sight->seen.property);
        json_text(json_name(json, "variant"), sight->seen.variant);
        json_text(json_name(json, "label"), sight->seen.label);
        json_real(json_name(json, "value"), sight->seen.value);
        json_real(json_name(json, "low"), sight->seen.low);
        json_real(json_name(json, "high"), sight->seen.high);
        json_real(json_name(json, "claimed"),
                  sight->claimed_size > 0 ? sight->claimed_size : (double)NAN);
        json_text_known(json_name(json, "against_claimed"),
                        verdict_text(sight->claimed_size, sight->claimed));
        json_real(json_name(json, "believed"),
                  sight->believed_size > 0 ? sight->believed_size : (double)NAN);
        json_text_known(json_name(json, "against_believed"),
                        verdict_text(sight->believed_size, sight->believed));
        json_close(json, '}');
    }
    json_close(cpu->nsights ? json_break(json, "\n  ") : json, ']');
}

static void identity_json(const struct cpu_info *cpu, struct json *json)
{
    char signature[16];
    snprintf(signature, sizeof signature, "0x%08x", cpu->signature);
    text_member(json, "vendor", cpu->vendor);
    text_member(json, "brand", cpu->brand);
    text_member(json, "signature", signature);
    number_member(json, "family", cpu->family, -1);
    number_member(json, "model", cpu->model, -1);
    number_member(json, "stepping", cpu->stepping, -1);
    number_member(json, "core_type", cpu->core_type, 0);
    number_member(json, "native_model", cpu->core_type ? (int64_t)cpu->native_model : -1, -1);
    text_member(json, "uarch", cpu->uarch);
    text_member(json, "uarch_name", cpu->uarch_name);
    number_member(json, "issue_width", cpu->issue_width, 0);
    number_member(json, "imul64_clk", cpu->imul64_clk, 0);
    claim_json(cpu, json);
    number_member(json, "measured_width", cpu->measured_width, 0);
    sights_json(cpu, json);
    number_member(json, "microcode", cpu->microcode, 0);
    text_member(json, "hypervisor", cpu->hypervisor);
    number_member(json, "tsc_hz", (int64_t)cpu->tsc_hz, 0);
    bool_member(json, "tsc_invariant", cpu->tsc_invariant);
}

static void lists_json(const struct cpu_info *cpu, struct json *json)
{
    int general, fixed;
    cpu_counters(cpu, &general, &fixed);
    number_member(json, "general_counters", general, -1);
    number_member(json, "fixed_counters", fixed, -1);
    json_open(line_name(json, "features"), '[');
    for (int i = 0; feature_name(i); i++)
        if (cpu->features[i])
            json_text(json_break(json, "\n    "), feature_name(i));
    json_close(json_break(json, "\n  "), ']');
    json_open(line_name(json, "caches"), '[');
    for (int i = 0; i < cpu->ncaches; i++) {
        const struct cpu_cache *cache = &cpu->caches[i];
        json_open(json_break(json, "\n    "), '{');
        json_int(json_name(json, "level"), cache->level);
        json_text(json_name(json, "type"), (const char[]){cache->type, '\0'});
        json_uint(json_name(json, "bytes"), cache->bytes);
        json_int(json_name(json, "ways"), cache->ways);
        json_int(json_name(json, "line_bytes"), cache->line_bytes);
        json_int(json_name(json, "sharing"), cache->sharing);
        json_close(json, '}');
    }
    json_close(json_break(json, "\n  "), ']');
}

static void machine_json(const struct cpu_environment *env, struct json *json)
{
    static const char *const perf[] = {"works", "still", "denied", "absent", "no_call"};
    static const char *const msr[] = {"works", "denied", "absent"};
    json_open(line_name(json, "machine"), '[');
    json_open(json, '{');
    json_int(line_name(json, "cpu"), env->cpu);
    text_member(json, "online", env->online);
    text_member(json, "siblings", env->siblings);
    number_member(json, "node", env->node, -1);
    text_member(json, "nodes", env->nodes);
    text_member(json, "governor", env->governor);
    text_member(json, "driver", env->driver);
    number_member(json, "boost", env->boost, -1);
    number_member(json, "max_hz", (int64_t)env->max_hz, 0);
    number_member(json, "core_hz", (int64_t)env->core_hz, 0);
    text_member(json, "perf", perf[env->perf]);
    text_member(json, "perf_error", env->perf_errno ? strerror(env->perf_errno) : "");
    json_real(line_name(json, "clk_per_chain_clk"),
              env->clk_per_chain_clk > 0 ? env->clk_per_chain_clk : (double)NAN);
    number_member(json, "perf_event_paranoid", env->paranoid, PARANOID_HIDDEN);
    bool_member(json, "rdpmc", env->rdpmc);
    text_member(json, "msr", msr[env->msr]);
    number_member(json, "nmi_watchdog", env->nmi_watchdog, -1);
    json_close(json_break(json, "\n  "), '}');
    json_close(json, ']');
}

static void verdicts_json(const struct cpu_info *cpu, const struct cpu_environment *env,
                          struct json *json)
{
    static const char *const answers[] = {"yes", "partly", "no"};
    struct verdict verdicts[VERDICTS_MAX];
    int n = verdicts_make(cpu, env, verdicts);
    json_open(line_name(json, "verdicts"), '[');
    for (int i = 0; i < n; i++) {
        json_open(json_break(json, "\n  "), '{');
        json_text(line_name(json, "answer"), answers[verdicts[i].answer]);
        text_member(json, "what", verdicts[i].what);
        text_member(json, "how", verdicts[i].how);
        text_member(json, "remedy", verdicts[i].remedy);
        json_close(json_break(json, "\n  "), '}');
    }
    json_close(json_break(json, "\n  "), ']');
}

void cpu_report_json(const struct cpu_info *cpu, const struct cpu_environment *env, FILE *out)
{
    struct strbuf text = {0};
    struct json json = {.out = &text};
    json_open(&json, '[');
    json_open(&json, '{');
    identity_json(cpu, &json);
    lists_json(cpu, &json);
    if (env) {
        machine_json(env, &json);
        verdicts_json(cpu, env, &json);
    } else {
        json_open(line_name(&json, "machine"), '[');
        json_close(&json, ']');
        json_open(line_name(&json, "verdicts"), '[');
        json_close(&json, ']');
    }
    json_close(json_break(&json, "\n"), '}');
    json_close(&json, ']');
    strbuf_puts(&text, "\n");
    fputs(strbuf_text(&text), out);
    strbuf_free(&text);
}
