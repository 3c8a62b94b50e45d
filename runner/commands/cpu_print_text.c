// SPDX-License-Identifier: MIT
// The report of `latput cpu` for people: sections of labelled lines, long ones wrapped under their
// label, so that it reads well on a terminal of 80 columns.
#include "cpu_print.h"
#include "util/terminal.h"
#include "util/text.h"
#include "util/text_table.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

enum { LABEL_COLUMNS = 15, TEXT_COLUMNS = 80 };

// Relative difference from which a counter and the calibration chain cannot both be right.
static const double CHAIN_TOLERANCE = 0.01;

static void wrapped_print(FILE *out, const char *text, int indent)
{
    struct strbuf lines = {0};
    text_wrap(&lines, text, indent, TEXT_COLUMNS);
    fputs(lines.data, out);
    strbuf_free(&lines);
}

// Prints the title of a section.
static void title_print(FILE *out, const char *title)
{
    bool colour = terminal_has_colour(STDOUT_FILENO);
    fprintf(out, "%s%s%s\n", text_style_begin(STYLE_HEADING, colour), title,
            text_style_end(STYLE_HEADING, colour));
}

// Prints a title after an empty line.
static void section_print(FILE *out, const char *title)
{
    fputs("\n", out);
    title_print(out, title);
}

static void __attribute__((format(printf, 3, 4)))
line_print(FILE *out, const char *label, const char *format, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    fprintf(out, "  %-*s", LABEL_COLUMNS - 2, label);
    wrapped_print(out, text, LABEL_COLUMNS);
}

// Prints the family that the signature claims, unless it is believed without question.
static void claim_print(const struct cpu_info *cpu, FILE *out)
{
    if (cpu->decision == CPU_DECIDED_OVERRIDE)
        line_print(out, "claim", "%s, by its signature; --uarch overrides it", cpu->claim);
    else if (cpu->ncontradictions)
        line_print(out, "claim", "%s, by its signature; not believed:", cpu->claim);
    for (int i = 0; i < cpu->ncontradictions; i++)
        line_print(out, i ? "" : "against it", "%s", cpu->contradictions[i].text);
    if (cpu->ncontradictions && cpu->decision != CPU_DECIDED_OVERRIDE)
        line_print(out, "believed", "%s: %s", cpu->uarch, cpu->reason);
}

// Prints the evidence for a signature that is believed. Less than the width may be noise.
static void basis_print(const struct cpu_info *cpu, FILE *out)
{
    struct strbuf text = {0};
    int agree = 0;
    for (int i = 0; i < cpu->nsights; i++)
        agree += cpu->sights[i].believed == CPU_SAYS_AGREES;
    if (cpu->measured_width)
        strbuf_printf(&text, "; measured: %d µops per cycle%s", cpu->measured_width,
                      cpu_seen_narrow(cpu) ? ", which is not its full width" : "");
    if (cpu->imul64_clk && lround(cpu->measured_imul) == cpu->imul64_clk)
        strbuf_printf(&text, "%s imul of %d cycles",
                      text.len ? "," : "; measured:", cpu->imul64_clk);
    if (agree)
        strbuf_printf(&text, "%s %d %s", text.len ? "," : "; measured:", agree,
                      agree == 1 ? "property that agrees" : "properties that agree");
    line_print(out, "rests on", "its signature, which nothing contradicts%s",
               text.len ? text.data : "; nothing is measured");
    strbuf_free(&text);
}

// Returns why the uarch is unknown.
static const char *unknown_why(const struct cpu_info *cpu)
{
    if (cpu->decision == CPU_DECIDED_OVERRIDE)
        return "by --uarch";
    if (cpu->ncontradictions)
        return "the CPU is not what its signature claims";
    return cpu_is_invented(cpu) ? "the hypervisor shows a CPU that does not exist"
                                : "no line of cpuinfo/cpus.csv fits this CPU";
}

static void identity_print(const struct cpu_info *cpu, FILE *out)
{
    bool known = strcmp(cpu->uarch, "unknown") != 0;
    title_print(out, "CPU");
    line_print(out, "brand", "%s", cpu->brand[0] ? cpu->brand : "(none)");
    line_print(out, "vendor", "%s", cpu->vendor);
    line_print(out, "signature", "0x%08x: family 0x%x, model 0x%x, stepping %d", cpu->signature,
               (unsigned)cpu->family, (unsigned)cpu->model, cpu->stepping);
    if (cpu->core_type)
        line_print(out, "core type", "0x%x (%s), native model %u", (unsigned)cpu->core_type,
                   cpu->core_type == CPU_CORE_CORE      ? "Core"
                   : cpu->core_type == CPU_CORE_ATOM    ? "Atom"
                   : cpu->core_type == CPU_CORE_AMD     ? "performance"
                   : cpu->core_type == CPU_CORE_AMD + 1 ? "efficiency"
                                                        : "of an unknown kind",
                   cpu->native_model);
    if (known)
        line_print(out, "uarch", "%s: %s", cpu->uarch, cpu->uarch_name);
    else
        line_print(out, "uarch", "unknown: %s", unknown_why(cpu));
    claim_print(cpu, out);
    if (cpu->decision == CPU_DECIDED_CLAIM)
        basis_print(cpu, out);
    if (cpu->issue_width)
        line_print(out, "issue width", "%d µops per cycle", cpu->issue_width);
    else if (known)
        line_print(out, "issue width", "not known for this uarch");
    if (cpu->microcode)
        line_print(out, "microcode", "0x%x", cpu->microcode);
    line_print(out, "hypervisor", "%s", cpu->hypervisor[0] ? cpu->hypervisor : "none visible");
}

// Names features that CPUID announces and whose registers the system has not enabled.
static void features_off_print(const struct cpu_info *cpu, FILE *out)
{
    char reason[CPU_REASON_BYTES];
    struct strbuf names = {0};
    for (int i = 0; feature_name(i); i++)
        if (cpu_announces(cpu, i) && cpu_lacks_state(cpu, feature_name(i), reason, sizeof reason))
            strbuf_printf(&names, "%s ", feature_name(i));
    if (names.len)
        line_print(out, "not enabled",
                   "%s(the system has not enabled their register state in XCR0: their "
                   "instructions are unsupported)",
                   names.data);
    strbuf_free(&names);
}

static void features_print(const struct cpu_info *cpu, FILE *out)
{
    section_print(out, "Features");
    for (int i = 0; feature_name(i); i++) {
        const char *group = feature_group(i);
        bool printed = false; // the group was printed with an earlier feature
        for (int j = 0; j < i && !printed; j++)
            printed = strcmp(feature_group(j), group) == 0;
        if (printed)
            continue;
        struct strbuf names = {0};
        for (int j = i; feature_name(j); j++)
            if (cpu->features[j] && strcmp(feature_group(j), group) == 0)
                strbuf_printf(&names, "%s%s", names.len ? " " : "", feature_name(j));
        if (names.len)
            line_print(out, group, "%s", names.data);
        strbuf_free(&names);
    }
    features_off_print(cpu, out);
}

static void caches_print(const struct cpu_info *cpu, FILE *out)
{
    if (cpu->ncaches == 0)
        return;
    section_print(out, "Caches");
    for (int i = 0; i < cpu->ncaches; i++) {
        const struct cpu_cache *cache = &cpu->caches[i];
        char label[8], ways[32] = "";
        bool mib = cache->bytes >= 1 << 20 && cache->bytes % (1 << 18) == 0;
        snprintf(label, sizeof label, "L%d%c", cache->level,
                 cache->type == 'u' ? ' ' : cache->type);
        if (cache->ways)
            snprintf(ways, sizeof ways, ", %d ways", cache->ways);
        if (cache->ways < 0)
            snprintf(ways, sizeof ways, ", fully associative");
        line_print(out, label, "%g %s%s, lines of %d bytes%s",
                   (double)cache->bytes / (mib ? 1 << 20 : 1 << 10), mib ? "MiB" : "KiB", ways,
                   cache->line_bytes,
                   cache->sharing == 0   ? ""
                   : cache->sharing == 1 ? ", private"
                                         : ", shared");
    }
}

// The published size of a core beside what was measured.
struct sight_size {
    const char *uarch;
    double least, most;
    const char *note;
    enum cpu_says says;
};

// Appends it: "; zen5 has 448 to 896 (two nops may take one entry), which agrees". What lies beside
// the measured interval differs by so much, even where the method may be wrong by that.
static void sight_core(struct strbuf *text, const struct cpu_observed *seen,
                       const struct sight_size *size)
{
    char key[sizeof(((struct cpu_info *)0)->uarch)];
    if (size->most <= 0)
        return;
    cpu_uarch_key(size->uarch, key, sizeof key);
    strbuf_printf(text, "; %s has %.0f", key, size->least);
    if (size->least < size->most)
        strbuf_printf(text, " to %.0f", size->most);
    if (*size->note)
        strbuf_printf(text, " (%s)", size->note);
    double end = seen->low > size->most ? size->most : size->least;
    double percent = 100 * (seen->value - end) / end;
    if (size->says == CPU_SAYS_MORE)
        strbuf_puts(text, ", which is too few");
    else if (seen->low <= size->most && seen->high >= size->least)
        strbuf_puts(text, ", which agrees");
    else
        strbuf_printf(text, ", %.2g %% %s than measured%s", fabs(percent),
                      percent > 0 ? "less" : "more",
                      size->says == CPU_SAYS_AGREES ? ", which the method may be wrong by" : "");
}

static void sights_print(const struct cpu_info *cpu, FILE *out)
{
    char believed[sizeof cpu->uarch];
    if (cpu->nsights)
        section_print(out, "Properties that were measured (latput property) and tell cores apart");
    cpu_uarch_key(cpu->uarch, believed, sizeof believed);
    for (int i = 0; i < cpu->nsights; i++) {
        const struct cpu_sight *sight = &cpu->sights[i];
        struct strbuf text = {0};
        strbuf_printf(&text, "%s%s%s: %.0f", sight->seen.property, *sight->seen.variant ? " " : "",
                      sight->seen.variant, sight->seen.value);
        if (sight->seen.low < sight->seen.high)
            strbuf_printf(&text, " (%.0f to %.0f)", sight->seen.low, sight->seen.high);
        const struct sight_size claimed = {cpu->claim, sight->claimed_least, sight->claimed_size,
                                           sight->claimed_note, sight->claimed};
        const struct sight_size own = {cpu->uarch, sight->believed_least, sight->believed_size,
                                       sight->believed_note, sight->believed};
        if (strcmp(cpu->claim, believed) != 0)
            sight_core(&text, &sight->seen, &claimed);
        sight_core(&text, &sight->seen, &own);
        line_print(out, "", "%s", text.data);
        strbuf_free(&text);
    }
}

static void clock_print(const struct cpu_info *cpu, const struct cpu_environment *env, FILE *out)
{
    section_print(out, "Clock");
    if (cpu->tsc_hz)
        line_print(out, "TSC", "%.3f MHz, %s", (double)cpu->tsc_hz / 1e6,
                   cpu->tsc_invariant ? "invariant" : "not announced as invariant");
    else
        line_print(out, "TSC", "frequency unknown, %s",
                   cpu->tsc_invariant ? "invariant" : "not announced as invariant");
    if (!env)
        return;
    if (env->core_hz)
        line_print(out, "core", "about %.2f GHz now (by a chain of imul, %d cycles per link)",
                   (double)env->core_hz / 1e9, cpu->imul64_clk);
    else if (cpu_is_emulated(cpu))
        line_print(out, "core", "none: the CPU is emulated");
    else
        line_print(out, "core", "unknown: so is the latency of imul r64,r64 on this CPU");
    line_print(out, "governor", "%s%s%s%s", env->governor[0] ? env->governor : "not visible",
               env->driver[0] ? " (" : "", env->driver, env->driver[0] ? ")" : "");
    line_print(out, "boost", "%s", env->boost < 0 ? "not visible" : env->boost ? "on" : "off");
    if (env->max_hz)
        line_print(out, "limit", "%.2f GHz", (double)env->max_hz / 1e9);
}

static void topology_print(const struct cpu_info *cpu, const struct cpu_environment *env, FILE *out)
{
    section_print(out, "Topology");
    line_print(out, "this CPU", "%d of %s", env->cpu, env->online[0] ? env->online : "(unknown)");
    if (!env->siblings[0])
        line_print(out, "SMT", "not visible");
    else if (strpbrk(env->siblings, ",-"))
        line_print(out, "SMT", "siblings %s", env->siblings);
    else
        line_print(out, "SMT", "no sibling visible%s",
                   cpu->hypervisor[0] ? "; the hypervisor may hide one" : "");
    if (env->nodes[0] && env->node >= 0)
        line_print(out, "NUMA", "node %d of %s", env->node, env->nodes);
}

static void counters_print(const struct cpu_info *cpu, const struct cpu_environment *env, FILE *out)
{
    int general, fixed;
    cpu_counters(cpu, &general, &fixed);
    section_print(out, "Performance counters");
    if (general)
        line_print(out, "CPUID", "%d general, %d fixed", general, fixed);
    else
        line_print(out, "CPUID", "announces none");
    if (!env)
        return;
    static const char *const perf[] = {
        [PERF_WORKS] = "works (cycles)",
        [PERF_STILL] = "opens, but the cycle counter stands still",
        [PERF_DENIED] = "refused",
        [PERF_ABSENT] = "no hardware counters",
        [PERF_NO_CALL] = "not in this kernel",
    };
    if (env->perf_errno)
        line_print(out, "perf_event", "%s (%s)", perf[env->perf], strerror(env->perf_errno));
    else
        line_print(out, "perf_event", "%s", perf[env->perf]);
    if (env->clk_per_chain_clk > 0)
        line_print(
            out, "core cycles",
            "%.3f counted for each one of the calibration chain (imul, %d cycles per link)%s",
            env->clk_per_chain_clk, cpu->imul64_clk,
            fabs(env->clk_per_chain_clk - 1) > CHAIN_TOLERANCE
                ? ": they do not agree, and one of them is wrong"
                : "");
    else if (env->perf == PERF_WORKS)
        line_print(out, "core cycles",
                   "counted; the calibration chain has no known latency here to "
                   "compare them with");
    else
        line_print(out, "core cycles",
                   "not counted: there is nothing to compare the calibration "
                   "chain with");
    if (env->paranoid != PARANOID_HIDDEN)
        line_print(out, "paranoid", "%d (kernel.perf_event_paranoid)", env->paranoid);
    line_print(out, "rdpmc", "%s", env->rdpmc ? "usable in user code" : "not usable");
    line_print(out, "msr", "/dev/cpu/%d/msr %s", env->cpu,
               env->msr == MSR_WORKS    ? "can be read"
               : env->msr == MSR_DENIED ? "is there, but may not be read"
                                        : "is not there (module msr)");
    if (env->nmi_watchdog >= 0)
        line_print(out, "NMI watchdog", "%s", env->nmi_watchdog ? "on: it holds a counter" : "off");
}

static void verdicts_print(const struct cpu_info *cpu, const struct cpu_environment *env, FILE *out)
{
    static const char *const answers[] = {"yes", "partly", "no"};
    struct verdict verdicts[VERDICTS_MAX];
    int n = verdicts_make(cpu, env, verdicts);
    section_print(out, "What can be measured here");
    for (int i = 0; i < n; i++) {
        const struct verdict *v = &verdicts[i];
        fprintf(out, "  %-8s%s\n%10s", answers[v->answer], v->what, "");
        wrapped_print(out, v->how, 10);
        if (v->remedy[0]) {
            fprintf(out, "%10s", "");
            struct strbuf remedy = {0};
            strbuf_printf(&remedy, "Remedy: %s", v->remedy);
            wrapped_print(out, remedy.data, 10);
            strbuf_free(&remedy);
        }
    }
}

void cpu_print_text(const struct cpu_info *cpu, const struct cpu_environment *env,
                    const struct cpu_kinds *kinds, FILE *out)
{
    identity_print(cpu, out);
    if (kinds && kinds->n > 1) {
        section_print(out, "Kinds of cores (--kind NAME chooses one)");
        cpu_print_kinds(kinds, &(struct cpu_kinds_page){REPORT_TABLE, TEXT_COLUMNS, env != NULL},
                        out);
    }
    features_print(cpu, out);
    sights_print(cpu, out);
    caches_print(cpu, out);
    clock_print(cpu, env, out);
    if (env)
        topology_print(cpu, env, out);
    counters_print(cpu, env, out);
    if (env)
        verdicts_print(cpu, env, out);
}
