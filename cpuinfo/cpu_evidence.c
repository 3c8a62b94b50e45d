// SPDX-License-Identifier: MIT
// Tests the claim of a CPU's signature. Hypervisors rename CPUs and hide bits, but what a core
// shows it has: a feature that no CPU of the claimed family has, or an impossible speed, refutes
// the claim, and the family is then the one that all evidence fits. README.md has the rules ("A
// claim is tested"), cpus.csv the features of each family.
#include "cpu_decode.h"
#include "cpu_tables.h"
#include "util/mem.h"
#include "util/strbuf.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Largest distance from an integer of a ratio of latencies that counts.
static const double RATIO_TOLERANCE = 0.1;
// A family with more than 1 in so many features hidden cannot be recognised by them.
enum { HIDDEN_SHARE = 4 };
// Caches that must be known and agree: one or two are easily as large as another family's.
enum { CACHES_CONVINCING = 2 };
// Properties that must agree: one may have been disturbed, or mean something else on an unknown
// core.
enum { SIZES_CONVINCING = 2 };

static char overridden[32]; // by cpu_override(); ""

// Fit of the evidence to a family.
struct fit {
    const struct family_row *row;
    int never_seen;                  // features that the family never has and CPUID announces
    bool width_off, imul_off;        // measured as more; measured otherwise
    bool width_met;                  // measured just so
    int hidden, shown;               // features that it always has
    int caches_agree, caches_differ; // sizes known on both sides
    struct sizes_fit sizes;          // properties
};

static bool feature_seen(const struct cpu_info *cpu, int index)
{
    return cpu_feature_announced(cpu, &features_table()->rows[index]);
}

static int list_count(const struct cpu_info *cpu, const struct feature_list *list)
{
    int seen = 0;
    for (int i = 0; i < list->n; i++)
        seen += feature_seen(cpu, list->features[i]);
    return seen;
}

static const struct cpu_cache *cache_find(const struct cpu_info *cpu, int which)
{
    for (int i = 0; i < cpu->ncaches; i++) {
        const struct cpu_cache *cache = &cpu->caches[i];
        if (cache->level == (which == CACHE_L2 ? 2 : 1) &&
            cache->type != (which == CACHE_L1I ? 'd' : 'i'))
            return cache;
    }
    return NULL;
}

// Returns 1 if the cache has a size that the family comes with, 0 if not, -1 if either is unknown.
static int cache_agrees(const struct cpu_info *cpu, int which, const struct cache_sizes *sizes)
{
    const struct cpu_cache *cache = cache_find(cpu, which);
    if (!cache || sizes->n == 0)
        return -1;
    for (int i = 0; i < sizes->n; i++)
        if (cache->bytes == (uint64_t)sizes->kib[i] << 10)
            return 1;
    return 0;
}

static bool imul_differs(const struct family_row *row, double ratio)
{
    if (!row->facts.imul64_clk || ratio <= 0 || fabs(ratio - round(ratio)) > RATIO_TOLERANCE)
        return false;
    return (int)lround(ratio) != row->facts.imul64_clk;
}

// Returns a bit for each width that the family may show.
static uint64_t row_widths(const struct family_row *row)
{
    return UINT64_C(1) << (row->facts.issue_width & 63) | UINT64_C(1)
                                                              << (row->evidence.instr_width & 63);
}

// Returns true if the width is more than the family's. Less refutes nothing: something kept the
// core busy, or nothing needed all of it.
static bool width_exceeds(const struct family_row *row, int width)
{
    return row->facts.issue_width && width > row->facts.issue_width;
}

static struct fit fit_make(const struct cpu_info *cpu, const struct family_row *row,
                           const struct cpu_measured *measured)
{
    const struct family_evidence *evidence = &row->evidence;
    struct fit fit = {
        .row = row,
        .never_seen = list_count(cpu, &evidence->never),
        .width_off = width_exceeds(row, measured->issue_width),
        .width_met = (row_widths(row) & ~UINT64_C(1)) >> (measured->issue_width & 63) & 1,
        .imul_off = imul_differs(row, measured->imul_per_add),
        .shown = list_count(cpu, &evidence->always),
        .sizes = core_sizes_fit(sizes_table(), evidence->core, measured),
    };
    fit.hidden = evidence->always.n - fit.shown;
    for (int i = 0; i < CACHES_COMPARED; i++) {
        int agrees = cache_agrees(cpu, i, &evidence->caches[i]);
        fit.caches_agree += agrees == 1;
        fit.caches_differ += agrees == 0;
    }
    return fit;
}

static bool fit_refuted(const struct fit *fit)
{
    return fit->never_seen || fit->width_off || fit->imul_off;
}

static bool fit_caches(const struct fit *fit)
{
    return fit->caches_differ == 0 && fit->caches_agree >= CACHES_CONVINCING;
}

struct candidates {
    struct fit *fits;
    int n;
};

// Returns false for rows that would fit anything: of another kind of core than CPUID names (of one
// kind among several of a family, where it names none), without evidence, or without a width
// although one was measured.
static bool row_is_candidate(const struct cpu_info *cpu, const struct fit *fit,
                             const struct cpu_measured *measured)
{
    const struct family_row *row = fit->row;
    return fit->shown > 0 && !fit_refuted(fit) &&
           (row->facts.issue_width || !measured->issue_width) &&
           (row->core_type < 0 || !cpu->core_type || row->core_type == cpu->core_type) &&
           (!row->refines || family_row_fits_core(row, cpu));
}

// Families that nothing contradicts, one row each: of the CPU's vendor, or of any.
static void candidates_add(struct candidates *found, const struct cpu_info *cpu, bool any_vendor,
                           const struct cpu_measured *measured)
{
    const struct family_table *table = families_table();
    for (int i = 0; i < table->nrows; i++) {
        const struct family_row *row = &table->rows[i];
        struct fit fit = fit_make(cpu, row, measured);
        bool wanted = (any_vendor || strcmp(row->facts.vendor, cpu->vendor) == 0) &&
                      row_is_candidate(cpu, &fit, measured);
        for (int j = 0; j < found->n && wanted; j++)
            wanted = strcmp(found->fits[j].row->facts.uarch, row->facts.uarch) != 0;
        if (wanted)
            found->fits[found->n++] = fit;
    }
}

static void candidates_keep(struct candidates *found,
                            bool (*keep)(const struct fit *, const void *), const void *data)
{
    int kept = 0;
    for (int i = 0; i < found->n; i++)
        if (keep(&found->fits[i], data))
            found->fits[kept++] = found->fits[i];
    found->n = kept;
}

static bool keep_width(const struct fit *fit, const void *data)
{
    (void)data;
    return fit->width_met;
}

// Finds the candidates. A family that is wider than the measured width counts only if none has that
// width.
static struct candidates candidates_find(const struct cpu_info *cpu,
                                         const struct cpu_measured *measured)
{
    struct candidates found = {
        .fits = xcalloc((size_t)families_table()->nrows + 1, sizeof *found.fits)};
    bool met = false;
    candidates_add(&found, cpu, false, measured);
    if (found.n == 0)
        candidates_add(&found, cpu, true, measured);
    for (int i = 0; i < found.n; i++)
        met = met || found.fits[i].width_met;
    if (met)
        candidates_keep(&found, keep_width, NULL);
    return found;
}

static bool keep_caches(const struct fit *fit, const void *data)
{
    (void)data;
    return fit_caches(fit);
}

static bool keep_equal(const struct fit *fit, const void *data)
{
    const struct fit *best = data;
    return fit->hidden == best->hidden && fit->shown == best->shown;
}

static bool keep_possible(const struct fit *fit, const void *data)
{
    (void)data;
    return fit->sizes.more < SIZES_CONVINCING;
}

static bool keep_agreeing(const struct fit *fit, const void *data)
{
    const int *most = data;
    return *most - fit->sizes.agree < SIZES_CONVINCING;
}

// Returns the candidate that hides the fewest of its features; among equals, the one that shows
// most.
static struct fit candidates_best(const struct candidates *found)
{
    struct fit best = found->fits[0];
    for (int i = 1; i < found->n; i++) {
        const struct fit *fit = &found->fits[i];
        if (fit->hidden < best.hidden || (fit->hidden == best.hidden && fit->shown > best.shown))
            best = *fit;
    }
    return best;
}

// Caches that no candidate has are taken for a hypervisor's invention. Properties come last: they
// tell only what CPUID leaves open, unless they are impossible.
static void candidates_narrow(struct candidates *found)
{
    bool any = false;
    candidates_keep(found, keep_possible, NULL);
    for (int i = 0; i < found->n; i++)
        any = any || fit_caches(&found->fits[i]);
    if (any)
        candidates_keep(found, keep_caches, NULL);
    if (found->n == 0)
        return;
    struct fit best = candidates_best(found);
    if (best.hidden * HIDDEN_SHARE <= best.hidden + best.shown)
        candidates_keep(found, keep_equal, &best);
    int most = 0;
    for (int i = 0; i < found->n; i++)
        most = found->fits[i].sizes.agree > most ? found->fits[i].sizes.agree : most;
    candidates_keep(found, keep_agreeing, &most);
}

static bool candidates_same_core(const struct candidates *found)
{
    for (int i = 1; i < found->n; i++)
        if (!*found->fits[0].row->evidence.core ||
            strcmp(found->fits[0].row->evidence.core, found->fits[i].row->evidence.core) != 0)
            return false;
    return found->n > 0;
}

static void __attribute__((format(printf, 3, 4)))
contradiction_add(struct cpu_info *cpu, enum cpu_witness witness, const char *format, ...)
{
    if (cpu->ncontradictions == CPU_CONTRADICTIONS_MAX)
        return;
    struct cpu_contradiction *to = &cpu->contradictions[cpu->ncontradictions++];
    va_list ap;
    to->witness = witness;
    va_start(ap, format);
    vsnprintf(to->text, sizeof to->text, format, ap);
    va_end(ap);
}

static void features_contradict(struct cpu_info *cpu, const struct fit *fit)
{
    const struct feature_list *never = &fit->row->evidence.never;
    struct strbuf names = {0};
    for (int i = 0; i < never->n; i++)
        if (feature_seen(cpu, never->features[i]))
            strbuf_printf(&names, "%s%s", names.len ? ", " : "", feature_name(never->features[i]));
    if (names.len)
        contradiction_add(cpu, CPU_WITNESS_FEATURES, "CPUID announces %s, which no %s has",
                          names.data, fit->row->facts.uarch);
    strbuf_free(&names);
}

static void caches_contradict(struct cpu_info *cpu, const struct fit *fit)
{
    static const char *const names[CACHES_COMPARED] = {"L1i", "L1d", "L2"};
    for (int i = 0; i < CACHES_COMPARED; i++) {
        const struct cache_sizes *sizes = &fit->row->evidence.caches[i];
        struct strbuf text = {0};
        if (cache_agrees(cpu, i, sizes) != 0)
            continue;
        for (int j = 0; j < sizes->n; j++)
            strbuf_printf(&text, "%s%d",
                          j == 0              ? ""
                          : j == sizes->n - 1 ? " or "
                                              : ", ",
                          sizes->kib[j]);
        contradiction_add(cpu, CPU_WITNESS_CACHES, "%s is shown with %llu KiB; %s has %s", names[i],
                          (unsigned long long)(cache_find(cpu, i)->bytes >> 10),
                          fit->row->facts.uarch, text.data);
        strbuf_free(&text);
    }
}

static void measured_contradict(struct cpu_info *cpu, const struct fit *fit,
                                const struct cpu_measured *measured)
{
    const struct cpu_family *facts = &fit->row->facts;
    if (fit->width_off)
        contradiction_add(cpu, CPU_WITNESS_MEASURED,
                          "measured, the core dispatches %d µops per cycle; %s dispatches %d",
                          measured->issue_width, facts->uarch, facts->issue_width);
    if (fit->imul_off)
        contradiction_add(cpu, CPU_WITNESS_MEASURED,
                          "measured, imul r64,r64 takes %.2f cycles; on %s it takes %d",
                          measured->imul_per_add, facts->uarch, facts->imul64_clk);
}

static void sizes_contradict(struct cpu_info *cpu, const struct fit *fit,
                             const struct cpu_measured *measured)
{
    for (int i = 0; i < measured->nobserved; i++) {
        const struct cpu_observed *seen = &measured->observed[i];
        struct core_size size = core_size_find(sizes_table(), fit->row->evidence.core, seen);
        if (core_size_says(&size, seen) != CPU_SAYS_MORE)
            continue;
        contradiction_add(cpu, CPU_WITNESS_PROPERTIES,
                          "measured, %s%s%s%s is %.0f; the most that %s has is %.0f",
                          seen->property, *seen->variant ? " (" : "", seen->variant,
                          *seen->variant ? ")" : "", seen->value, fit->row->facts.uarch, size.most);
    }
}

// Names the candidates: "a", "a and b", "a, b and c".
static void candidates_name(const struct candidates *found, struct strbuf *text)
{
    for (int i = 0; i < found->n; i++)
        strbuf_printf(text, "%s%s",
                      i == 0              ? ""
                      : i == found->n - 1 ? " and "
                                          : ", ",
                      found->fits[i].row->facts.uarch);
}

static void family_set(struct cpu_info *cpu, const struct family_row *row, bool inferred)
{
    snprintf(cpu->uarch, sizeof cpu->uarch, "%.30s%s", row->facts.uarch, inferred ? "?" : "");
    snprintf(cpu->uarch_name, sizeof cpu->uarch_name, "%.80s%s", row->facts.name,
             inferred ? ", inferred" : "");
    cpu->issue_width = row->facts.issue_width;
    cpu->imul64_clk = row->facts.imul64_clk;
    cpu->decision = inferred ? CPU_DECIDED_INFERRED : CPU_DECIDED_CLAIM;
}

// Replaces a refuted family by the one that fits best.
static void family_infer(struct cpu_info *cpu, const struct cpu_measured *measured)
{
    struct candidates found = candidates_find(cpu, measured);
    struct strbuf names = {0};
    candidates_narrow(&found);
    candidates_name(&found, &names);
    if (found.n == 0)
        snprintf(cpu->reason, sizeof cpu->reason, "no family of cpus.csv fits what is seen");
    else if (!candidates_same_core(&found))
        snprintf(cpu->reason, sizeof cpu->reason, "%s fit alike", names.data);
    else if (found.n > 1)
        snprintf(cpu->reason, sizeof cpu->reason,
                 "%s fit alike and have the same core; the first of them is taken", names.data);
    else
        snprintf(cpu->reason, sizeof cpu->reason, "%s is the family that fits best", names.data);
    if (candidates_same_core(&found))
        family_set(cpu, found.fits[0].row, true);
    strbuf_free(&names);
    free(found.fits);
}

// Returns true if caches alone refute the claim: only if a family of another core explains all that
// is seen, and nothing of it is hidden.
static bool caches_refute(const struct cpu_info *cpu, const struct fit *claim,
                          const struct cpu_measured *measured)
{
    if (claim->caches_differ == 0 || !*claim->row->evidence.core)
        return false;
    struct candidates found = candidates_find(cpu, measured);
    bool refuted = false;
    for (int i = 0; i < found.n; i++) {
        const struct fit *fit = &found.fits[i];
        refuted = refuted || (fit_caches(fit) && fit->hidden == 0 &&
                              strcmp(fit->row->facts.vendor, cpu->vendor) == 0 &&
                              strcmp(fit->row->evidence.core, claim->row->evidence.core) != 0);
    }
    free(found.fits);
    return refuted;
}

// Returns true if properties alone refute the claim: only if at least two find more than the core
// has, more of them than agree with it, and another core explains all of these.
static bool sizes_refute(const struct cpu_info *cpu, const struct fit *claim,
                         const struct cpu_measured *measured)
{
    if (claim->sizes.more < SIZES_CONVINCING || claim->sizes.more <= claim->sizes.agree)
        return false;
    struct candidates found = candidates_find(cpu, measured);
    bool refuted = false;
    for (int i = 0; i < found.n; i++) {
        const struct fit *fit = &found.fits[i];
        refuted = refuted || (fit->sizes.more == 0 && fit->sizes.agree >= claim->sizes.more &&
                              strcmp(fit->row->facts.vendor, cpu->vendor) == 0);
    }
    free(found.fits);
    return refuted;
}

static void claim_judge(struct cpu_info *cpu, const struct family_row *row,
                        const struct cpu_measured *measured)
{
    struct fit fit = fit_make(cpu, row, measured);
    if (!fit_refuted(&fit) && !caches_refute(cpu, &fit, measured) &&
        !sizes_refute(cpu, &fit, measured)) {
        family_set(cpu, row, false);
        return;
    }
    features_contradict(cpu, &fit);
    measured_contradict(cpu, &fit, measured);
    caches_contradict(cpu, &fit);
    sizes_contradict(cpu, &fit, measured);
    family_infer(cpu, measured);
}

// Makes the user's choice the believed family. The contradictions of the claim remain.
static void override_apply(struct cpu_info *cpu)
{
    const struct cpu_family *family = cpu_family_find(overridden);
    cpu->decision = CPU_DECIDED_OVERRIDE;
    snprintf(cpu->uarch, sizeof cpu->uarch, "%s", overridden);
    snprintf(cpu->uarch_name, sizeof cpu->uarch_name, "%s", family ? family->name : "");
    cpu->issue_width = family ? family->issue_width : 0;
    cpu->imul64_clk = family ? family->imul64_clk : 0;
    snprintf(cpu->reason, sizeof cpu->reason, "the user says so");
}

static const struct family_row *claim_find(const struct cpu_info *cpu)
{
    return cpu_is_invented(cpu) ? NULL : family_lookup(families_table(), cpu);
}

// Returns the first row of a family; NULL: unknown.
static const struct family_row *family_row(const char *uarch)
{
    const struct family_table *table = families_table();
    char key[sizeof(((struct cpu_info *)0)->uarch)];
    cpu_uarch_key(uarch, key, sizeof key);
    for (int i = 0; i < table->nrows; i++)
        if (strcmp(table->rows[i].facts.uarch, key) == 0)
            return &table->rows[i];
    return NULL;
}

static const char *family_core(const char *uarch)
{
    const struct family_row *row = family_row(uarch);
    return row ? row->evidence.core : "";
}

bool cpu_core_size(const char *uarch, const struct cpu_observed *seen, double *least, double *most)
{
    struct core_size size = core_size_find(sizes_table(), family_core(uarch), seen);
    *least = size.least;
    *most = size.most;
    return size.most > 0;
}

bool cpu_seen_narrow(const struct cpu_info *cpu)
{
    const struct family_row *row = family_row(cpu->uarch);
    int least = row ? row->facts.issue_width : 0;
    if (row && row->evidence.instr_width)
        least = row->evidence.instr_width;
    return cpu->measured_width && cpu->measured_width < least;
}

// Lists the measurements beside the sizes of the claimed and the believed core.
static void sights_set(struct cpu_info *cpu, const struct cpu_measured *measured)
{
    cpu->nsights = 0;
    for (int i = 0; i < measured->nobserved && i < CPU_OBSERVED_MAX; i++) {
        const struct cpu_observed *seen = &measured->observed[i];
        struct core_size claimed = core_size_find(sizes_table(), family_core(cpu->claim), seen);
        struct core_size believed = core_size_find(sizes_table(), family_core(cpu->uarch), seen);
        cpu->sights[cpu->nsights++] =
            (struct cpu_sight){.seen = *seen,
                               .claimed_least = claimed.least,
                               .believed_least = believed.least,
                               .claimed_size = claimed.most,
                               .believed_size = believed.most,
                               .claimed_note = claimed.note,
                               .believed_note = believed.note,
                               .claimed = core_size_says(&claimed, seen),
                               .believed = core_size_says(&believed, seen)};
    }
}

void cpu_judge(struct cpu_info *cpu, const struct cpu_measured *measured)
{
    static const struct cpu_measured nothing = {0};
    const struct family_row *row = claim_find(cpu);
    if (!measured)
        measured = &nothing;
    snprintf(cpu->claim, sizeof cpu->claim, "%s", row ? row->facts.uarch : "unknown");
    snprintf(cpu->uarch, sizeof cpu->uarch, "unknown");
    cpu->uarch_name[0] = cpu->reason[0] = '\0';
    cpu->issue_width = cpu->imul64_clk = cpu->ncontradictions = 0;
    cpu->measured_width = measured->issue_width;
    cpu->measured_imul = measured->imul_per_add;
    cpu->decision = CPU_DECIDED_UNKNOWN;
    if (row)
        claim_judge(cpu, row, measured);
    if (overridden[0])
        override_apply(cpu);
    sights_set(cpu, measured);
}

uint64_t cpu_widths_allowed(const struct cpu_info *cpu, const struct cpu_measured *measured)
{
    struct cpu_measured other = measured ? *measured : (struct cpu_measured){0};
    uint64_t widths = 0;
    other.issue_width = 0;
    const struct family_row *claim = claim_find(cpu);
    if (claim) {
        struct fit fit = fit_make(cpu, claim, &other);
        widths |= fit_refuted(&fit) ? 0 : row_widths(claim);
    }
    struct candidates found = candidates_find(cpu, &other);
    for (int i = 0; i < found.n; i++)
        widths |= row_widths(found.fits[i].row);
    free(found.fits);
    return widths & ~UINT64_C(1); // 0: not known
}

int cpu_override(const char *uarch, struct err *err)
{
    if (uarch && (cpuinfo_load(err) < 0 || !(uarch = cpu_uarch_called(uarch, err))))
        return -1;
    snprintf(overridden, sizeof overridden, "%s", uarch ? uarch : "");
    return 0;
}

const char *cpu_evidence_text(const struct cpu_info *cpu, char *text, size_t size)
{
    struct strbuf out = {0};
    for (int i = 0; i < cpu->ncontradictions; i++)
        strbuf_printf(&out, "%s%s", i ? "; " : "", cpu->contradictions[i].text);
    if (*cpu->reason)
        strbuf_printf(&out, "%s%s", out.len ? ": " : "", cpu->reason);
    snprintf(text, size, "%s", strbuf_text(&out));
    strbuf_free(&out);
    return text;
}

const char *cpu_decision_name(enum cpu_decision decision)
{
    static const char *const names[] = {[CPU_DECIDED_CLAIM] = "claim",
                                        [CPU_DECIDED_INFERRED] = "inferred",
                                        [CPU_DECIDED_OVERRIDE] = "override",
                                        [CPU_DECIDED_UNKNOWN] = "unknown"};
    return names[decision];
}

const char *cpu_witness_name(enum cpu_witness witness)
{
    static const char *const names[] = {[CPU_WITNESS_FEATURES] = "features",
                                        [CPU_WITNESS_CACHES] = "caches",
                                        [CPU_WITNESS_MEASURED] = "measured",
                                        [CPU_WITNESS_PROPERTIES] = "properties"};
    return names[witness];
}

const char *cpu_says_name(enum cpu_says says)
{
    static const char *const names[] = {
        [CPU_SAYS_NOTHING] = "nothing", [CPU_SAYS_AGREES] = "agrees", [CPU_SAYS_MORE] = "more"};
    return names[says];
}

// Brands of CPUs that only hypervisors know. Some borrow the signature of a real CPU that is
// nothing like what the program runs on.
static const struct {
    const char *brand;
    int model; // with this model only; -1: any
} invented[] = {
    {"QEMU Virtual CPU",               -1  }, // qemu64: signature of a K8
    {"QEMU TCG CPU",                   -1  }, // max
    {"Common KVM processor",           -1  }, // kvm64: signature of a Pentium 4
    {"Common 32-bit KVM processor",    -1  },
    {"Intel Xeon Processor (Icelake)", 0x86}, // Icelake-Server up to v3: signature of a Tremont
};

bool cpu_is_invented(const struct cpu_info *cpu)
{
    for (size_t i = 0; i < ARRAY_LEN(invented); i++)
        if (strncmp(cpu->brand, invented[i].brand, strlen(invented[i].brand)) == 0 &&
            (invented[i].model < 0 || invented[i].model == cpu->model))
            return true;
    return false;
}
