// SPDX-License-Identifier: MIT
// Wording of contradictions for text and page: the model, the measurement, members that behave
// alike.
#include "compare_internal.h"

#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double compare_per_million(const struct comparison *comparison, double count)
{
    return comparison->counted > 0 ? 1e6 * count / comparison->counted : 0;
}

int compare_shown(const struct comparison *comparison, int entries)
{
    return entries > 0 && entries < comparison->nentries ? entries : comparison->nentries;
}

void compare_put_summary(struct strbuf *out, const struct comparison *comparison)
{
    strbuf_printf(out,
                  "%s beside LLVM's scheduling model of %s: %d forms compared, %d agree; %d differ "
                  "in latency, %d in throughput, %d in µops, %d in ports. %d classes of the model "
                  "contradict the measurements; the most frequent in compiled code first (a static "
                  "count of %.3g million instructions).",
                  comparison->data->uarch, comparison->cpu, comparison->compared, comparison->agree,
                  comparison->differ[0], comparison->differ[1], comparison->differ[2],
                  comparison->differ[3], comparison->nentries, comparison->counted / 1e6);
}

void compare_put_count(struct strbuf *out, const struct comparison *comparison,
                       const struct compare_entry *entry)
{
    strbuf_printf(out, "%d of %d measured forms; %.3g per million instructions", entry->nmembers,
                  entry->compared, compare_per_million(comparison, entry->count));
}

void compare_put_evidence(struct strbuf *out, const struct compare_entry *entry)
{
    const char *form = entry->members[0].form->id.form;
    strbuf_printf(out, "latput query --latency '%s'; latput query --evidence '%s'", form, form);
}

void compare_put_model(struct strbuf *out, const struct model_class *class)
{
    char number[32];
    strbuf_printf(out, "%d µop%s, latency %s", class->uops, class->uops == 1 ? "" : "s",
                  report_number(class->latency_clk, number));
    strbuf_printf(out, ", 1/tput %s", report_number(class->rthroughput_clk, number));
    for (int i = 0; i < class->nresources; i++)
        strbuf_printf(out, "%s%.4g*%s", i ? " + " : ", ", class->resources[i].count,
                      class->resources[i].name);
}

void compare_put_differs(struct strbuf *out, const struct compare_entry *entry)
{
    static const char *const words[] = {"latency", "throughput", "µops", "ports"};
    const char *comma = "";
    unsigned differs = 0;
    for (int i = 0; i < entry->nmembers; i++)
        differs |= entry->members[i].differs;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (differs >> i & 1) {
            strbuf_printf(out, "%s%s", comma, words[i]);
            comma = ", ";
        }
}

// Writes the latency in the terms of the model: to the last register.
static void put_latency(struct strbuf *out, const struct llvm_latency *latency)
{
    char least[32], most[32];
    report_number(latency->least, least);
    report_number(latency->most, most);
    if (latency->most <= latency->least * 1.005 + 0.05)
        strbuf_printf(out, "latency %s, ", most);
    else if (isnan(latency->least))
        strbuf_printf(out, "latency ≤%s, ", most);
    else
        strbuf_printf(out, "latency %s to ≤%s, ", least, most);
}

void compare_put_result(struct strbuf *out, const struct comparison *comparison,
                        const struct known_form *form)
{
    struct llvm_latency latency;
    struct strbuf names = {0};
    char number[32];
    if (form->uops >= 0)
        strbuf_printf(out, "%s%d µop%s, ", form->uops_upper ? "≤" : "", form->uops,
                      form->uops == 1 ? "" : "s");
    if (llvm_latency(form, &latency))
        put_latency(out, &latency);
    if (!isnan(form->rthroughput_clk))
        strbuf_printf(out, "1/tput %s%s, ", form->rthroughput_upper ? "≤" : "",
                      report_number(form->rthroughput_clk, number));
    if (form->ports)
        strbuf_printf(out, "%s, ", *form->ports ? form->ports : "no port");
    if (compare_ports_names(comparison->ports, form, &names))
        strbuf_printf(out, "to LLVM %s, ", strbuf_text(&names));
    if (out->len >= strlen(", "))
        strbuf_cut(out, out->len - strlen(", "));
    strbuf_free(&names);
}

static bool numbers_alike(double a, double b)
{
    return isnan(a) || isnan(b) ? isnan(a) && isnan(b)
                                : fabs(a - b) <= 0.04 + 0.03 * fmin(fabs(a), fabs(b));
}

// Returns true if one line can represent both: a patch would give them the same resources.
static bool results_alike(const struct known_form *a, const struct known_form *b)
{
    struct llvm_latency x, y;
    bool known = llvm_latency(a, &x);
    return known == llvm_latency(b, &y) && numbers_alike(x.least, y.least) &&
           numbers_alike(x.most, y.most) && numbers_alike(a->rthroughput_clk, b->rthroughput_clk) &&
           a->uops == b->uops && !a->ports == !b->ports &&
           (!a->ports || strcmp(a->ports, b->ports) == 0);
}

struct compare_alike *compare_alike_find(const struct compare_entry *entry)
{
    size_t n = (size_t)entry->nmembers;
    struct compare_alike *groups = xcalloc(n + 1, sizeof *groups);
    const struct compare_member **all = xcalloc(n + 1, sizeof(struct compare_member *));
    const struct compare_member **left = all;
    bool *taken = xcalloc(n + 1, sizeof *taken);
    int ngroups = 0;
    for (size_t first = 0; first < n; first++) {
        if (taken[first])
            continue;
        struct compare_alike *group = &groups[ngroups++];
        group->members = left;
        for (size_t i = first; i < n; i++)
            if (!taken[i] && results_alike(entry->members[first].form, entry->members[i].form)) {
                taken[i] = true;
                group->members[group->n++] = &entry->members[i];
            }
        left += group->n;
    }
    groups[ngroups].members = all; // allocated, so that it is freed
    free(taken);
    return groups;
}

void compare_alike_free(struct compare_alike *groups)
{
    struct compare_alike *end = groups;
    while (end->n > 0)
        end++;
    free(end->members);
    free(groups);
}

void compare_put_forms(struct strbuf *out, const struct compare_alike *group, int most)
{
    for (int i = 0; i < group->n && i < most; i++)
        strbuf_printf(out, "%s%s", i ? ", " : "", group->members[i]->form->id.form);
    if (group->n > most)
        strbuf_printf(out, ", and %d more", group->n - most);
}

static bool is_repeated(const struct compare_alike *group, int at)
{
    for (int i = 0; i < at; i++)
        if (strcmp(group->members[i]->instr->opcode, group->members[at]->instr->opcode) == 0)
            return true;
    return false;
}

void compare_put_opcodes(struct strbuf *out, const struct compare_alike *group, int most)
{
    int n = 0;
    for (int i = 0; i < group->n; i++)
        if (!is_repeated(group, i) && n++ < most)
            strbuf_printf(out, "%s%s", n > 1 ? ", " : "", group->members[i]->instr->opcode);
    if (n > most)
        strbuf_printf(out, ", and %d more", n - most);
}
