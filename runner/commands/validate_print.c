// SPDX-License-Identifier: MIT
#include "validate_print.h"

#include "util/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

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

// --- JSON ---

struct reason_row {
    const char *reason;
    int forms;
};
OUTPUT_DEFINE(reason_record, struct reason_row, OUTPUT_LINE,
              OUTPUT_FIELD(struct reason_row, reason), OUTPUT_FIELD(struct reason_row, forms));

// Predictions of a model, for the mixes that both have.
struct beside_row {
    const char *model, *cpu;
    struct mca_counts counts;
    struct validation of;
};
#define BESIDE(...) OUTPUT_FIELD(struct beside_row, __VA_ARGS__)
OUTPUT_DEFINE(beside_record, struct beside_row, OUTPUT_LINE, BESIDE(model), BESIDE(cpu),
              BESIDE(of.mixes), BESIDE(counts.refused), BESIDE(counts.late),
              BESIDE(of.mape_percent), BESIDE(of.kendall_tau), BESIDE(of.within_10_percent));

struct whole {
    struct validation of;
    int forms;
    const char *file;
    const struct reason_row *left_out;
    int nleft_out, nagainst;
    struct beside_row against[2];
};
#define WHOLE(...) OUTPUT_FIELD(struct whole, __VA_ARGS__)
OUTPUT_DEFINE(whole_record, struct whole, OUTPUT_LINE, WHOLE(of.mixes),
              WHOLE(file, .optional = true), WHOLE(of.seed, .optional = true, .none = -1),
              WHOLE(forms), WHOLE(of.mape_percent), WHOLE(of.kendall_tau),
              WHOLE(of.within_10_percent),
              OUTPUT_ROWS(struct whole, of.classes, of.nclasses, store_validation_class.of),
              OUTPUT_ROWS(struct whole, left_out, nleft_out, reason_record, .optional = true),
              OUTPUT_ARRAY(struct whole, against, nagainst, beside_record),
              OUTPUT_ROWS(struct whole, of.worst, of.nworst, store_validation_mix.of));
const struct output_kind validate_print_kind = {
    "validate", "latput validate; file instead of seed and left_out for mixes of a file",
    &whole_record, 1, 1};

void validate_print_json(const struct validation *result, const struct validate_forms *forms,
                         const char *again, const struct validate_beside *beside)
{
    struct strbuf out = {0};
    struct reason_row reasons[VALIDATE_REASONS];
    struct whole whole = {.of = *result, .forms = forms->n, .file = again};
    if (again)
        whole.of.seed = -1;
    else
        whole.left_out = reasons;
    for (int i = 0; i < VALIDATE_REASONS; i++)
        if (forms->left_out[i])
            reasons[whole.nleft_out++] = (struct reason_row){
                validate_reason_text((enum validate_reason)i), forms->left_out[i]};
    if (beside) {
        whole.nagainst = 2;
        whole.against[0] = (struct beside_row){"latput", beside->cpu, beside->counts, beside->ours};
        whole.against[1] =
            (struct beside_row){"llvm-mca", beside->cpu, beside->counts, beside->theirs};
    }
    output_put_json(&whole_record, &whole, 1, true, &out);
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
