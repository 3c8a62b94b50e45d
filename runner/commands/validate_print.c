// SPDX-License-Identifier: MIT
#include "validate_print.h"

#include "util/json.h"
#include "util/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static void print_json_classes(struct json *json, const struct validation *result)
{
    json_open(json_name(json_break(json, "\n  "), "classes"), '[');
    for (int i = 0; i < result->nclasses; i++) {
        const struct validation_class *class = &result->classes[i];
        double none = (double)NAN;
        json_open(json_break(json, "\n    "), '{');
        json_text(json_name(json, "class"), class->name);
        json_int(json_name(json, "mixes"), class->mixes);
        json_real(json_name(json, "mape_percent"), class->mixes ? class->mape_percent : none);
        json_real(json_name(json, "within_10_percent"),
                  class->mixes ? class->within_10_percent : none);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void print_json_left_out(struct json *json, const struct validate_forms *forms)
{
    json_open(json_name(json_break(json, "\n  "), "left_out"), '[');
    for (int i = 0; i < VALIDATE_REASONS; i++) {
        if (!forms->left_out[i])
            continue;
        json_open(json_break(json, "\n    "), '{');
        json_text(json_name(json, "reason"), validate_reason_text((enum validate_reason)i));
        json_int(json_name(json, "forms"), forms->left_out[i]);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void validate_print_beside(const struct validate_beside *beside)
{
    printf("\nbeside llvm-mca (%s)         number    error   within 10 %%   tau\n", beside->cpu);
    const struct validation *both[] = {&beside->ours, &beside->theirs};
    static const char *const names[] = {"latput", "llvm-mca's bound"};
    for (int i = 0; i < 2; i++)
        printf("  %-24s %6" PRId64 "  %5.2f %%        %5.1f %%   %5.3f\n", names[i], both[i]->mixes,
               both[i]->mape_percent, both[i]->within_10_percent, both[i]->kendall_tau);
    printf("  %d mixes with a form that it does not take, %d not done in time\n",
           beside->counts.refused, beside->counts.late);
}

// Writes one row per prediction, for the mixes that both have; none if no other model was asked
// for.
static void json_beside(struct json *json, const struct validate_beside *beside)
{
    json_open(json_name(json_break(json, "\n  "), "against"), '[');
    for (int i = 0; i < 2 && beside; i++) {
        const struct validation *figures = i ? &beside->theirs : &beside->ours;
        json_open(json_break(json, "\n    "), '{');
        json_text(json_name(json, "model"), i ? "llvm-mca" : "latput");
        json_text(json_name(json, "cpu"), beside->cpu);
        json_int(json_name(json, "mixes"), figures->mixes);
        json_int(json_name(json, "refused"), beside->counts.refused);
        json_int(json_name(json, "late"), beside->counts.late);
        json_real(json_name(json, "mape_percent"), figures->mape_percent);
        json_real(json_name(json, "kendall_tau"), figures->kendall_tau);
        json_real(json_name(json, "within_10_percent"), figures->within_10_percent);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void validate_print_json(const struct validation *result, const struct validate_forms *forms,
                         const char *again, const struct validate_beside *beside)
{
    struct strbuf out = {0};
    struct json json = {.out = &out};
    json_open(&json, '[');
    json_open(&json, '{');
    json_int(json_name(&json, "mixes"), result->mixes);
    if (again)
        json_text(json_name(&json, "file"), again);
    else
        json_int(json_name(&json, "seed"), result->seed);
    json_int(json_name(&json, "forms"), forms->n);
    json_real(json_name(&json, "mape_percent"), result->mape_percent);
    json_real(json_name(&json, "kendall_tau"), result->kendall_tau); // NaN: all mixes are alike
    json_real(json_name(&json, "within_10_percent"), result->within_10_percent);
    print_json_classes(&json, result);
    if (!again)
        print_json_left_out(&json, forms);
    json_beside(&json, beside);
    json_open(json_name(json_break(&json, "\n  "), "worst"), '[');
    for (int i = 0; i < result->nworst; i++) {
        json_open(json_break(&json, "\n    "), '{');
        json_text(json_name(&json, "mix"), result->worst[i].text);
        json_real(json_name(&json, "measured_clk"), result->worst[i].measured_clk);
        json_real(json_name(&json, "predicted_clk"), result->worst[i].predicted_clk);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(json_break(&json, "\n"), '}');
    json_close(&json, ']');
    strbuf_puts(&out, "\n");
    fputs(strbuf_text(&out), stdout);
    strbuf_free(&out);
}

static void print_left_out(const struct validate_forms *forms)
{
    for (int i = 0; i < VALIDATE_REASONS; i++)
        if (forms->left_out[i])
            printf("  not drawn: %d forms that %s\n", forms->left_out[i],
                   validate_reason_text((enum validate_reason)i));
}

void validate_print_table(const struct validation *result, const struct validate_forms *forms,
                          const char *again, bool ratios)
{
    if (again)
        printf("%" PRId64 " mixes of %s\n", result->mixes, again);
    else
        printf("%" PRId64 " mixes of %s of %d forms, seed %" PRId64 "\n", result->mixes,
               ratios ? "1 beside 3 to 12" : "2 to 8", forms->n, result->seed);
    printf("  mean absolute error   %6.2f %%\n"
           "  Kendall's tau         %6.3f\n"
           "  within 10 %%           %6.1f %%\n",
           result->mape_percent, result->kendall_tau, result->within_10_percent);
    if (!again)
        print_left_out(forms);
    puts("\nmixes with                 number    error   within 10 %");
    for (int i = 0; i < result->nclasses; i++)
        printf("  %-24s %6" PRId64 "  %5.2f %%        %5.1f %%\n", result->classes[i].name,
               result->classes[i].mixes, result->classes[i].mape_percent,
               result->classes[i].within_10_percent);
    puts("\nworst mixes\n measured  predicted  mix");
    for (int i = 0; i < result->nworst; i++) {
        struct strbuf line = {0};
        text_wrap(&line, result->worst[i].text, 21, 98);
        printf("%9.2f  %9.2f  %s", result->worst[i].measured_clk, result->worst[i].predicted_clk,
               strbuf_text(&line));
        strbuf_free(&line);
    }
}
