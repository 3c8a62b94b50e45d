// SPDX-License-Identifier: MIT
// Ports of rows; see portrun.h. The model is found once per run; the rest goes chunk by chunk, so
// that a killed run loses one chunk.
#include "portrun.h"

#include "plan/plan.h"
#include "portrun_decoding.h"
#include "store/store_ports.h"
#include "store/store_run.h"
#include "util/scratch.h"
#include "util/spent.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_FORMS = 9000, AGAIN_FORMS_MAX = 1000 };

// Forms of all chunks that are asked for once more at the end, by their index among those asked.
struct chunk_missing {
    int *at, n, most;
};

// A run's search for ports. Its rows are measured in chunks.
struct chunk {
    const struct portrun *run;
    struct portrun_result *result;
    struct portrun_forms *forms;
    struct portrun_mixes *measure;
    const struct port_oracle *oracle;   // measures
    const struct port_model *models[2]; // for 64-bit and 32-bit mode
    const struct selected_row *asked;   // row i is form first_requested + i
    int nasked;
    const int *order; // of the rows that are measured, by number; NULL: as they are asked for
    struct port_siblings *siblings; // results of earlier chunks
    struct chunk_missing *missing;  // forms without a result, asked for once more; NULL: stored so
};

static int model_store(const struct portrun *run, const struct portrun_forms *forms,
                       const struct port_model *model, struct err *err)
{
    struct stored_port_model stored;
    portrun_stored_model(forms, model, &stored);
    const struct spent before = spent_now();
    int status = store_put_port_model(run->store, run->run_id, &stored, err);
    spent_add_rest(SPENT_WRITING, &before);
    return status;
}

// Loads the model of the database and the run that it is from (0: no run has one). Returns 1 if it
// is usable here, 0 if there is none, -1 on error.
static int model_load(const struct portrun *run, const struct portrun_forms *forms,
                      struct port_model *model, int64_t *from_run, struct err *err)
{
    struct arena arena = {0};
    struct stored_port_model stored;
    int64_t from = run->run_id;
    int found = store_get_port_model(run->store, from, &stored, &arena, err);
    if (found == 0 && run->reuse_model) {
        found = store_newest_port_run(run->store, run->cpu_id, NULL, &from, err);
        if (found == 1)
            found = store_get_port_model(run->store, from, &stored, &arena, err);
    }
    *from_run = found == 1 ? from : 0;
    // A list may have lost one of its forms: then a new model is found.
    if (found == 1 && !portrun_model_of_stored(forms, &stored, model))
        found = 0;
    arena_free(&arena);
    return found;
}

// Warns that no structure was found, as on a disturbed machine. Latency and throughput stay.
static int model_not_found(const struct portrun *run, struct portrun_result *result,
                           struct err *err)
{
    if (scratch_is_gone(run->session->directory, err))
        return -1;
    char *text = xasprintf("the ports were not measured: %s", err->text);
    int status = store_run_warning(run->store, run->run_id, text,
                                   "measure them when the machine is quieter: latput run --tests P "
                                   "with the same lists",
                                   err);
    free(text);
    result->not_measured = true;
    return status == 0 ? 1 : -1;
}

// Loads or finds the model. Returns 0; 1 if there is none, with a warning; -1.
static int model_get(const struct chunk *chunk, struct port_model *model, struct err *err)
{
    const struct portrun *run = chunk->run;
    const struct portrun_forms *forms = chunk->forms;
    int64_t from_run;
    struct err note = {0};
    int found = model_load(run, forms, model, &from_run, err);
    if (found < 0)
        return -1;
    bool own = from_run == run->run_id;
    if (!own)
        model->drawn_seed = (uint32_t)run->run_id;
    if (found == 1) {
        if (!own && model_store(run, forms, model, err) != 0)
            return -1;
        return port_infer_units(chunk->oracle, forms->forms, model, err); // units of 32-bit mode
                                                                          // are not stored
    }
    if (own)
        return err_set(err, "the run's port model names forms that are no longer in the lists, or "
                            "is of an older version; begin a new run");
    if (portrun_find_model(forms, chunk->oracle, run->session, model, &note, err) != 0) {
        chunk->result->search_lost = chunk->measure->stopped;
        return chunk->measure->stopped ? -1 : model_not_found(run, chunk->result, err);
    }
    if (*note.text &&
        store_run_warning(run->store, run->run_id, "the published names of the ports do not fit",
                          note.text, err) != 0)
        return -1;
    model->drawn_seed = (uint32_t)run->run_id;
    return model_store(run, forms, model, err);
}

// Trials of a chunk, by position in it.
struct chunk_evidence {
    struct arena arena;
    int first_form;
    const int *position_of; // by form minus first_form
    struct measured_port_trial **trials;
    int *ntrials, *capacity;
    double *decode_clk; // see struct measured_ports
};

static void chunk_tell(void *context, int form, const char *blocker, int blockers, int instances,
                       const struct port_timing *timing)
{
    struct chunk_evidence *evidence = context;
    int i = evidence->position_of[form - evidence->first_form];
    if (evidence->ntrials[i] == evidence->capacity[i]) {
        int capacity = evidence->capacity[i] ? 2 * evidence->capacity[i] : 16;
        struct measured_port_trial *grown =
            arena_alloc(&evidence->arena, (size_t)capacity * sizeof *grown);
        if (evidence->ntrials[i])
            memcpy(grown, evidence->trials[i], (size_t)evidence->ntrials[i] * sizeof *grown);
        evidence->trials[i] = grown;
        evidence->capacity[i] = capacity;
    }
    evidence->trials[i][evidence->ntrials[i]++] =
        (struct measured_port_trial){blocker, blockers, instances, *timing};
}

static struct port_usage usage_refused(enum outcome outcome, const char *detail)
{
    return (struct port_usage){
        .outcome = outcome,
        .detail = detail,
        .front = {.slots = (double)NAN, .mixed = (double)NAN}
    };
}

// Returns the index of a row that is measured, among those asked for.
static int chunk_row(const struct chunk *chunk, int i)
{
    return chunk->order ? chunk->order[i] : i;
}

// Holds a form back that was asked for and has no value. Returns false if it is to be stored so: it
// has one, or enough are held back.
static bool chunk_hold(const struct chunk *chunk, int index, const struct port_usage *usage)
{
    struct chunk_missing *missing = chunk->missing;
    if (!missing || missing->n == missing->most || !outcome_is_missing(usage->outcome))
        return false;
    missing->at[missing->n++] = index;
    return true;
}

// Returns why the row is not measured; NULL: it is.
static const char *row_obstacle(const struct portrun *run, const struct list_row *row,
                                enum outcome *outcome)
{
    *outcome = OUTCOME_SKIPPED;
    if (row->bits == 32 && run->skip_32)
        return run->skip_32;
    *outcome = OUTCOME_UNSUPPORTED;
    const char *refused = refusals_reason(run->refused, row);
    if (refused)
        return refused;
    *outcome = OUTCOME_NOT_MEASURABLE;
    if (row->macro.file)
        return "not alone: others must stand before or after it, so nothing shows its own ports";
    if (row->x87_moves)
        return "moves the x87 stack: others must move it back, so nothing shows its own ports";
    if (row->nontemporal)
        return "waits for memory: beside blockers it shows no ports";
    return NULL;
}

static double slots_without(double slots, int moves)
{
    return isnan(slots) ? slots : fmax(slots - moves, 0);
}

// Infers the ports of rows of one mode. Form i of the question has its usage in
// usages[position[i]].
static int chunk_infer(const struct chunk *chunk, int bits, const struct port_question *question,
                       const int *position, struct port_usage *usages, struct err *err)
{
    const struct port_model *model = chunk->models[bits == 32];
    struct port_usage *inferred = xcalloc((size_t)question->n + 1, sizeof *inferred);
    int status = port_infer(question, model, inferred, err);
    if (status == 0 && bits == 64)
        status = port_assign_units(question, model, inferred, err);
    for (int i = 0; i < question->n && status == 0; i++) {
        const char *moves[MIX_BREAKERS_MAX];
        int nmoves = mix_breakers(chunk->forms->rows[question->which[i]], BREAK_NEEDED, moves);
        usages[position[i]] = inferred[i];
        // Moves that restore an operand before each instance take slots, too.
        usages[position[i]].front.slots = slots_without(inferred[i].front.slots, nmoves);
        usages[position[i]].front.mixed = slots_without(inferred[i].front.mixed, nmoves);
    }
    free(inferred);
    return status;
}

static int chunk_measure(const struct chunk *chunk, int first, int n,
                         struct chunk_evidence *evidence, struct port_usage *usages,
                         struct err *err)
{
    int *which = xcalloc((size_t)n, sizeof *which),
        *position = xcalloc((size_t)n, sizeof *position);
    const struct port_evidence tell = {chunk_tell, evidence};
    int status = 0;
    for (int bits = 64; bits >= 32 && status == 0; bits -= 32) {
        struct port_question question = {
            .oracle = chunk->oracle,
            .forms = chunk->forms->forms,
            .which = which,
            .evidence = &tell,
            .siblings = bits == 64 ? chunk->siblings : NULL, // classes of 32-bit mode differ
        };
        for (int i = 0; i < n; i++) {
            int index = chunk_row(chunk, first + i);
            const struct list_row *row = chunk->asked[index].row;
            enum outcome outcome;
            const char *obstacle = row_obstacle(chunk->run, row, &outcome);
            if (obstacle)
                usages[i] = usage_refused(outcome, obstacle);
            if (obstacle || row->bits != bits)
                continue;
            which[question.n] = chunk->forms->first_requested + index;
            position[question.n++] = i;
        }
        if (question.n)
            status = chunk_infer(chunk, bits, &question, position, usages, err);
    }
    free(which);
    free(position);
    return status;
}

// Measures the cost of decoding the chunk's forms that have ports and a length-changing prefix.
static int chunk_decoding(const struct chunk *chunk, int first, int n,
                          const struct port_usage *usages, struct chunk_evidence *evidence,
                          struct err *err)
{
    struct portrun_decoding *asked = xcalloc((size_t)n, sizeof *asked);
    int nasked = 0, before = chunk->forms->first_requested;
    double *decode_clk = evidence->decode_clk;
    for (int i = 0; i < n; i++) {
        int index = chunk_row(chunk, first + i);
        const struct list_row *row = chunk->asked[index].row;
        decode_clk[i] = (double)NAN;
        if (usages[i].outcome == OUTCOME_OK && row_changes_length(row))
            asked[nasked++] =
                (struct portrun_decoding){.form = before + index,
                                          .explained_clk = portrun_decoding_explained_clk(
                                              chunk->models[row->bits == 32], &usages[i])};
    }
    int status = portrun_decoding_measure(chunk->oracle, asked, nasked, err);
    for (int k = 0; k < nasked && status == 0; k++)
        decode_clk[evidence->position_of[asked[k].form - before]] = asked[k].decode_clk;
    free(asked);
    return status;
}

static int chunk_store(const struct chunk *chunk, int first, int n,
                       const struct chunk_evidence *evidence, const struct port_usage *usages,
                       struct err *err)
{
    struct measured_ports *results = xcalloc((size_t)n, sizeof *results);
    int nresults = 0;
    for (int i = 0; i < n; i++) {
        const struct selected_row *selected = &chunk->asked[chunk_row(chunk, first + i)];
        if (chunk_hold(chunk, first + i, &usages[i]))
            continue;
        progress_form(chunk->run->progress, selected->list->name, selected->list->nrows,
                      usages[i].outcome == OUTCOME_OK);
        results[nresults++] = (struct measured_ports){
            .row = selected->row,
            .place = {selected->list->name, selected->position},
            .method = usages[i].counted ? "counter" : "throughput",
            .usage = &usages[i],
            .decode_clk = evidence->decode_clk[i],
            .trials = evidence->trials[i],
            .ntrials = evidence->ntrials[i],
            .groups = chunk->oracle->groups,
            .ngroups = chunk->oracle->ngroups,
            .slots = portrun_mixes_slots(chunk->measure)
        };
    }
    const struct spent before = spent_now();
    int status = store_put_port_results(chunk->run->store, chunk->run->run_id, chunk->models[0],
                                        results, nresults, err);
    spent_add_rest(SPENT_WRITING, &before);
    for (int i = 0; i < n && status == 0; i++)
        chunk->result->ways[usages[i].way] += usages[i].outcome == OUTCOME_OK;
    free(results);
    return status;
}

static int chunk_do(const struct chunk *chunk, int first, int n, struct err *err)
{
    int *position_of = xcalloc((size_t)chunk->nasked, sizeof *position_of);
    for (int i = 0; i < n; i++)
        position_of[chunk_row(chunk, first + i)] = i;
    struct chunk_evidence evidence = {.first_form = chunk->forms->first_requested,
                                      .position_of = position_of,
                                      .trials = xcalloc((size_t)n, sizeof *evidence.trials),
                                      .ntrials = xcalloc((size_t)n, sizeof *evidence.ntrials),
                                      .capacity = xcalloc((size_t)n, sizeof *evidence.capacity),
                                      .decode_clk = xcalloc((size_t)n, sizeof(double))};
    struct port_usage *usages = xcalloc((size_t)n, sizeof *usages);
    int status = chunk_measure(chunk, first, n, &evidence, usages, err);
    if (status == 0)
        status = chunk_decoding(chunk, first, n, usages, &evidence, err);
    if (chunk->measure->hurry && retry_left_s(chunk->run->retry) <= 0) // some trials are missing
        for (int i = 0; i < n; i++)
            if (usages[i].outcome == OUTCOME_OK)
                usages[i] = usage_refused(OUTCOME_UNSTABLE, "no time was left to ask once more");
    if (status == 0)
        status = chunk_store(chunk, first, n, &evidence, usages, err);
    arena_free(&evidence.arena);
    free(evidence.trials);
    free(evidence.ntrials);
    free(evidence.capacity);
    free(evidence.decode_clk);
    free(position_of);
    free(usages);
    return status;
}

static int ports_all_chunks(const struct chunk *chunk, int n, struct err *err)
{
    int status = 0;
    for (int first = 0; first < n && status == 0; first += CHUNK_FORMS)
        status = chunk_do(chunk, first, n - first < CHUNK_FORMS ? n - first : CHUNK_FORMS, err);
    return status;
}

// Asks once more for the ports of forms that have none. Their results are stored as they are.
static int ports_again(const struct chunk *first, struct err *err)
{
    const struct chunk_missing *missing = first->missing;
    struct chunk chunk = *first;
    int64_t before = 0, now = 0;
    chunk.order = missing->at;
    chunk.missing = NULL;
    for (int way = 0; way < PORT_WAYS; way++)
        before += first->result->ways[way];
    chunk.measure->hurry = true;
    int status = missing->n > 0 ? ports_all_chunks(&chunk, missing->n, err) : 0;
    chunk.measure->hurry = false;
    for (int way = 0; way < PORT_WAYS; way++)
        now += first->result->ways[way];
    first->run->retry->forms += missing->n;
    first->run->retry->forms_gained += now - before;
    return status;
}

// Measures all forms; those that come out without ports once more at the end, if there is time.
static int ports_chunks(struct chunk *chunk, struct err *err)
{
    bool again = chunk->run->retry && retry_left_s(chunk->run->retry) > 0;
    struct chunk_missing missing = {.at = xcalloc(AGAIN_FORMS_MAX, sizeof *missing.at),
                                    .most = AGAIN_FORMS_MAX};
    chunk->missing = again ? &missing : NULL;
    int status = ports_all_chunks(chunk, chunk->nasked, err);
    if (status == 0 && again)
        status = ports_again(chunk, err);
    chunk->missing = NULL;
    free(missing.at);
    return status;
}

// Finds rows that want port tests and have no result yet. Returns their number, or -1.
static int ports_missing(const struct portrun *run, const struct selected_row *rows, int nrows,
                         struct selected_row *asked, struct err *err)
{
    int n = 0;
    for (int i = 0; i < nrows; i++) {
        if (!(rows[i].row->tests & TESTS_PORTS))
            continue;
        int has =
            run->resumed ? store_has_port_result(run->store, run->run_id, rows[i].row, err) : 0;
        if (has < 0)
            return -1;
        if (!has)
            asked[n++] = rows[i];
    }
    return n;
}

// Returns true if any of the rows can stand in a mix: else no model is needed.
static bool rows_need_model(const struct portrun *run, const struct selected_row *rows, int n)
{
    enum outcome ignored;
    for (int i = 0; i < n; i++)
        if (!row_obstacle(run, rows[i].row, &ignored))
            return true;
    return false;
}

// Finds the model, then the ports of the rows.
static int ports_find(struct chunk *chunk, struct err *err)
{
    static struct port_model model, model_32;
    int status = rows_need_model(chunk->run, chunk->asked, chunk->nasked)
                     ? model_get(chunk, &model, err)
                     : 0;
    if (status != 0)
        return status;
    portrun_model_for_32(chunk->forms, &model, &model_32);
    chunk->models[0] = &model;
    chunk->models[1] = &model_32;
    chunk->siblings = model.drawn_seed ? port_siblings_new(model.drawn_seed) : NULL;
    chunk->result->drawn_seed = model.drawn_seed;
    status = ports_chunks(chunk, err);
    port_siblings_free(chunk->siblings);
    return status;
}

// Measures the rows asked for, with the throughputs of all forms.
static int ports_measure(const struct chunk *begun, const struct stored_throughputs *throughputs,
                         struct err *err)
{
    const struct portrun *run = begun->run;
    struct chunk chunk = *begun;
    struct portrun_forms forms;
    portrun_forms_make(&forms, run->all, chunk.asked, chunk.nasked, throughputs);
    struct portrun_mixes measure = {.session = run->session,
                                    .rows = forms.rows,
                                    .plan = {.issue_width = run->session->issue_width},
                                    .retry = run->retry,
                                    .progress = run->progress,
                                    .keep = run->keep,
                                    .ahead = run->ahead};
    const struct port_oracle oracle = portrun_mixes_oracle(&measure);
    chunk.forms = &forms;
    chunk.measure = &measure;
    chunk.oracle = &oracle;
    int status = ports_find(&chunk, err);
    chunk.result->kernels = measure.kernels;
    chunk.result->passes = measure.passes;
    chunk.result->stopped = measure.stopped;
    portrun_forms_free(&forms);
    return measure.stopped || status > 0 ? 0 : status;
}

int64_t portrun_expected(const struct selected_row *rows, int nrows)
{
    // Typical numbers of kernels, for the display only: until structure, units and paths are found;
    // then per form.
    enum { MODEL_KERNELS = 45000, FORM_KERNELS = 30 };
    int64_t n = 0;
    for (int i = 0; i < nrows; i++)
        n += (rows[i].row->tests & TESTS_PORTS) && mix_stands(rows[i].row);
    return n ? MODEL_KERNELS + n * FORM_KERNELS : 0;
}

// Warns if results taken from siblings are not to be trusted.
static int ports_warn_differing(const struct portrun *run, const struct portrun_result *result,
                                struct err *err)
{
    struct strbuf text = {0};
    int status = 0;
    if (port_ways_doubt(result->ways, &text))
        status =
            store_run_warning(run->store, run->run_id, strbuf_text(&text),
                              "those are marked ?, and some others may not share the ports of "
                              "their sibling: measure them when the machine is quieter: latput "
                              "run --tests P",
                              err);
    strbuf_free(&text);
    return status;
}

int portrun_measure(const struct portrun *run, const struct selected_row *rows, int nrows,
                    struct portrun_result *result, struct err *err)
{
    *result = (struct portrun_result){.kernels = 0};
    struct selected_row *asked = xcalloc((size_t)nrows + 1, sizeof *asked);
    struct arena arena = {0};
    struct stored_throughputs stored;
    const struct stored_throughputs *throughputs = run->throughputs ? run->throughputs : &stored;
    int nasked = ports_missing(run, rows, nrows, asked, err);
    int status = nasked < 0 ? -1 : 0;
    if (nasked > 0 && !run->throughputs)
        status = store_get_throughputs(run->store, run->run_id, &stored, &arena, err);
    struct chunk chunk = {.run = run, .result = result, .asked = asked, .nasked = nasked};
    if (nasked > 0 && status == 0)
        status = ports_measure(&chunk, throughputs, err);
    if (status == 0 && !result->stopped)
        status = ports_warn_differing(run, result, err);
    arena_free(&arena);
    free(asked);
    return status;
}
