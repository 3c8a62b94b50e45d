// SPDX-License-Identifier: MIT
// A whole core that was published, simulated: every form of all lists is timed as the table of its
// ports predicts, with noise, and the structure, the units, the paths and the ports of all forms
// are found from that alone. What comes out must be the table again, and must not have taken more
// than half a million kernels. Unlike fixtures/port_sim.h this shares the model with what
// is under test: it says what the search costs and what it leaves open, not whether the model is
// that of a CPU. Of a Zen 5 the table says µops that are blocked results (docs/PORTS.md): simulated
// they are µops, and another core.
#include "fixtures/pack_fixture.h"
#include "fixtures/ports_dump.h"
#include "fixtures/whole_fixture.h"

#include "store/store_ports.h"
#include "util/random.h"

#include <math.h>

enum { FEW_UOPS = 3, KERNELS_MOST = 520000, SLOTS_FEW = 4 };
static const double AMBIGUOUS_MOST = 0.03; // of the forms of few µops
static const double SAME_LEAST = 0.985;    // of those that both are certain of
static const double SLOTS_NOISE = 0.25;    // of a form that has few
static const double NOISE = 0.002;         // of a time, mostly
static const double DISTURBED = 0.02;      // of the mixes, which take longer for it

// The core and what is found of it.
struct whole {
    struct store *store;
    struct arena arena;
    struct stored_port_model stored;
    struct stored_port_usages stored_usages;
    struct portrun_forms forms;
    struct port_usage *usages; // the core's, of each of the forms
    double *chain_clk;         // of a link; NaN: none is known
    uint64_t random;
    long kernels;
};

static double whole_mix_clk(const struct whole *whole, const struct port_mix *mix)
{
    const struct port_part *first = &mix->parts[0];
    if (mix->orders & PORT_MIX_CHAINED)
        return first->count * whole->chain_clk[first->form];
    struct port_usage parts[PORT_MIX_PARTS_MAX];
    const struct port_usage *usages[PORT_MIX_PARTS_MAX];
    int counts[PORT_MIX_PARTS_MAX];
    for (int p = 0; p < mix->nparts; p++) {
        const struct port_form *form = &whole->forms.forms[mix->parts[p].form];
        int moves = mix->orders & PORT_MIX_INDEPENDENT ? form->moves - form->resets : 0;
        parts[p] = whole->usages[mix->parts[p].form];
        parts[p].front.mixed = port_usage_slots(&parts[p]) + moves;
        parts[p].front.slots += moves;
        usages[p] = &parts[p];
        counts[p] = mix->parts[p].count;
    }
    double clk = port_predict(&whole->stored.model, usages, counts, mix->nparts);
    double alone_clk = first->count * whole->forms.forms[first->form].rthroughput_clk;
    return mix->nparts == 1 ? fmax(clk, alone_clk) : clk;
}

static struct port_timing whole_time(struct whole *whole, const struct port_mix *mix)
{
    bool known = true;
    for (int p = 0; p < mix->nparts; p++)
        known &= whole->usages[mix->parts[p].form].outcome == OUTCOME_OK;
    double clk = known ? whole_mix_clk(whole, mix) : (double)NAN, least = (double)NAN;
    if (isnan(clk))
        return (struct port_timing){.outcome = OUTCOME_UNSUPPORTED, .clk = NAN, .spread_clk = NAN};
    for (unsigned orders = mix->orders & MIX_ORDERS_ALL; orders; orders &= orders - 1) {
        double share = (double)random_below(&whole->random, 1000) / 1000;
        bool disturbed = (double)random_below(&whole->random, 1000) < DISTURBED * 1000;
        least = fmin(least, clk * (1 + share * (disturbed ? 0.2 : NOISE)));
        whole->kernels++;
    }
    return (struct port_timing){
        .outcome = OUTCOME_OK, .clk = least, .spread_clk = NOISE * clk, .slots = NAN};
}

static int whole_measure(void *context, const struct port_mix *mixes, int n,
                         struct port_timing *timings, struct err *err)
{
    (void)err;
    for (int i = 0; i < n; i++)
        timings[i] = whole_time(context, &mixes[i]);
    return 0;
}

// The least latency of each form.
static struct stored_throughputs whole_latencies(struct whole *whole)
{
    sqlite3_stmt *stmt;
    struct stored_throughputs values = {0};
    assert_int_equal(
        sqlite3_prepare_v2(whole->store->db,
                           "SELECT form, enc, min(latency_clk) FROM latency_table WHERE bits = 64 "
                           "AND outcome = 'ok' GROUP BY form, enc",
                           -1, &stmt, NULL),
        SQLITE_OK);
    values.values = arena_alloc(&whole->arena, (size_t)lists_all.nrows * sizeof *values.values);
    while (sqlite3_step(stmt) == SQLITE_ROW && values.n < lists_all.nrows) {
        const char *form = arena_strdup(&whole->arena, (const char *)sqlite3_column_text(stmt, 0));
        const char *enc = arena_strdup(&whole->arena, (const char *)sqlite3_column_text(stmt, 1));
        values.values[values.n++] = (struct stored_throughput){
            {form, enc, 64},
            sqlite3_column_double(stmt, 2)
        };
    }
    sqlite3_finalize(stmt);
    stored_throughputs_sort(&values);
    return values;
}

// Returns true for rows without memory, through which chains would not run.
static bool row_in_registers(const struct list_row *row)
{
    bool registers = true;
    for (int i = 0; i < row->nops; i++)
        registers &= row->ops[i].kind != OPERAND_MEM && row->ops[i].kind != OPERAND_VSIB;
    return registers;
}

static double slots_whole(double slots)
{
    bool whole = slots <= SLOTS_FEW && fabs(slots - round(slots)) < SLOTS_NOISE;
    return whole ? round(slots) : slots;
}

// Slots are whole, however they were measured.
static struct port_usage usage_simulated(struct port_usage usage)
{
    usage.front.slots = slots_whole(usage.front.slots);
    usage.front.mixed = fmax(usage.front.slots, slots_whole(usage.front.mixed));
    return usage;
}

static void whole_open(struct whole *whole, const char *uarch)
{
    struct err err = {0};
    int64_t run_id;
    *whole = (struct whole){.random = WHOLE_SEED};
    whole->store = fixture_published(uarch, &run_id);
    if (store_get_port_model(whole->store, run_id, &whole->stored, &whole->arena, &err) != 1 ||
        store_get_port_usages(whole->store, run_id, &whole->stored_usages, &whole->arena, &err))
        fail_msg("%s: %s", uarch, err.text);
    struct stored_throughputs throughputs, latencies = whole_latencies(whole);
    assert_int_equal(store_get_throughputs(whole->store, run_id, &throughputs, &whole->arena, &err),
                     0);
    whole_forms(&whole->forms, &throughputs);
    whole->usages = calloc((size_t)whole->forms.n, sizeof *whole->usages);
    whole->chain_clk = calloc((size_t)whole->forms.n, sizeof *whole->chain_clk);
    for (int f = 0; f < whole->forms.n; f++) {
        const struct stored_form form = stored_form_of(whole->forms.rows[f]);
        const struct port_usage *usage = stored_port_usage_ok(&whole->stored_usages, &form);
        whole->usages[f].outcome = OUTCOME_UNSUPPORTED;
        if (usage)
            whole->usages[f] = usage_simulated(*usage);
        whole->chain_clk[f] = row_in_registers(whole->forms.rows[f])
                                  ? stored_throughput_clk(&latencies, &form)
                                  : (double)NAN;
    }
}

static void whole_close(struct whole *whole)
{
    portrun_forms_free(&whole->forms);
    free(whole->usages);
    free(whole->chain_clk);
    arena_free(&whole->arena);
    store_close(whole->store);
}

static bool usage_texts_same(const struct port_model *a_model, const struct port_usage *a,
                             const struct port_model *b_model, const struct port_usage *b)
{
    struct strbuf text = {0}, other = {0};
    port_usage_text(a_model, a, &text);
    port_usage_text(b_model, b, &other);
    bool same = strcmp(strbuf_text(&text), strbuf_text(&other)) == 0;
    strbuf_free(&text);
    strbuf_free(&other);
    return same;
}

static void whole_judge(const struct whole *whole, const struct port_model *model,
                        const struct port_usage *usages)
{
    int n = whole->forms.n - whole->forms.first_requested, ok = 0, few = 0, ambiguous = 0;
    int certain = 0, same = 0;
    for (int i = 0; i < n; i++) {
        const struct port_usage *is = &whole->usages[whole->forms.first_requested + i];
        if (is->outcome != OUTCOME_OK || usages[i].outcome != OUTCOME_OK)
            continue;
        ok++;
        few += usages[i].uses.uops <= FEW_UOPS;
        ambiguous += usages[i].uses.uops <= FEW_UOPS && usages[i].ambiguous;
        if (is->ambiguous || usages[i].ambiguous)
            continue;
        certain++;
        same += usage_texts_same(&whole->stored.model, is, model, &usages[i]);
    }
    print_message(
        "%ld kernels; %d forms, %d of %d of few uops are ambiguous, %d of %d certain ones "
        "as they are\n",
        whole->kernels, ok, ambiguous, few, same, certain);
    assert_true(ok > 15000);
    assert_true(whole->kernels <= KERNELS_MOST);
    assert_true(ambiguous <= AMBIGUOUS_MOST * few);
    assert_true(same >= SAME_LEAST * certain);
}

static void a_published_core_is_found(void **state)
{
    (void)state;
    static struct whole whole;
    static struct port_model model;
    static struct cpu_info cpu = {.uarch = "sapphirerapids"};
    struct err err = {0}, note = {0};
    whole_open(&whole, cpu.uarch);
    const struct session session = {
        .cpu = &cpu, .issue_width = whole.stored.model.width, .params.config.give_up_ms = 600000};
    const struct port_oracle oracle = {.measure = whole_measure, .context = &whole};
    if (portrun_find_model(&whole.forms, &oracle, &session, &model, &note, &err) != 0)
        fail_msg("%s", err.text);
    if (*note.text)
        fail_msg("no names: %s", note.text);
    print_message("%ld kernels for the structure\n", whole.kernels);
    struct port_usage *usages =
        calloc((size_t)(whole.forms.n - whole.forms.first_requested), sizeof *usages);
    whole_infer(&whole.forms, &oracle, &model, usages);
    ports_dump(cpu.uarch, &model, whole.forms.forms + whole.forms.first_requested, NULL, usages,
               whole.forms.n - whole.forms.first_requested);
    whole_judge(&whole, &model, usages);
    free(usages);
    whole_close(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_published_core_is_found)};
    return cmocka_run_group_tests_name("ports of a whole core", tests, lists_setup, lists_teardown);
}
