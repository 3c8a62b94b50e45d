// SPDX-License-Identifier: MIT
// An explanation as JSON; see explain_print.h.
#include "explain_print.h"

#include <math.h>

static const struct field_words words_kind = {.name = explain_kind_name},
                                words_known = {.name = explain_known_text};

#define LIMIT(...) OUTPUT_FIELD(struct explain_limit, __VA_ARGS__)
OUTPUT_DEFINE(limit_record, struct explain_limit, OUTPUT_LINE,
              LIMIT(kind, .words = &words_kind, .look.name = "limit"),
              LIMIT(clk, .decimals = 3, .always = true), LIMIT(text, .look.name = "by"));

#define TRY(...) OUTPUT_FIELD(struct explain_try, __VA_ARGS__)
OUTPUT_DEFINE(try_record, struct explain_try, OUTPUT_LINE, TRY(what),
              TRY(measured_clk, .decimals = 3), TRY(predicted_clk, .decimals = 3),
              TRY(says, .known = true));

struct load_row {
    char port[PORT_LABEL_MAX];
    double clk;
};
#define LOAD(...) OUTPUT_FIELD(struct load_row, __VA_ARGS__)
OUTPUT_DEFINE(load_record, struct load_row, OUTPUT_LINE, LOAD(port),
              LOAD(clk, .decimals = 3, .always = true));

struct step_row {
    int position;
    const char *from, *to;
    double clk;
};
#define STEP(...) OUTPUT_FIELD(struct step_row, __VA_ARGS__)
OUTPUT_DEFINE(step_record, struct step_row, OUTPUT_LINE, STEP(position), STEP(from), STEP(to),
              STEP(clk, .decimals = 3));

struct instr_row {
    const char *instruction, *form;
    enum explain_known known;
    double slots;
    const struct load_row *ports;
    int nports;
};
#define INSTR(...) OUTPUT_FIELD(struct instr_row, __VA_ARGS__)
OUTPUT_DEFINE(instr_record, struct instr_row, OUTPUT_DENSE, INSTR(instruction),
              INSTR(form, .known = true),
              INSTR(known, .words = &words_known, .known = true, .look.name = "unknown"),
              INSTR(slots, .decimals = 2),
              OUTPUT_ROWS(struct instr_row, ports, nports, load_record));

struct explain_row {
    struct explanation of;
    struct explain_source source;
    struct explain_measured measured;
    double difference_percent;
    const struct step_row *chain;
    const struct load_row *ports;
    const struct instr_row *instructions;
    int nports;
};
#define ROW(...) OUTPUT_FIELD(struct explain_row, __VA_ARGS__)
OUTPUT_DEFINE(row_record, struct explain_row, OUTPUT_LINE, ROW(of.uarch),
              ROW(source.title, .known = true, .look.name = "source"),
              ROW(source.call_clk, .decimals = 3),
              ROW(source.rounds, .known = true, .look.name = "call_rounds"),
              ROW(source.way_rounds, .known = true, .none = -1,
                  .look.name = "call_rounds_this_way"),
              ROW(source.mispredicted, .decimals = 3, .look.name = "mispredicted_per_round"),
              ROW(of.block.bits), ROW(of.predicted_clk, .decimals = 3),
              ROW(of.unknown, .look.name = "assumed"),
              ROW(measured.clk, .decimals = 3, .look.name = "measured_clk"),
              ROW(measured.spread_clk, .decimals = 3), ROW(measured.failure, .known = true),
              ROW(difference_percent, .decimals = 2),
              OUTPUT_ARRAY(struct explain_row, measured.tries, measured.ntries, try_record,
                           .look.name = "experiments"),
              ROW(measured.doubt, .known = true),
              ROW(of.meets_clk, .decimals = 3, .look.name = "clk_if_pointers_meet"),
              OUTPUT_ARRAY(struct explain_row, of.limits, of.nlimits, limit_record),
              OUTPUT_ROWS(struct explain_row, chain, of.chain.nsteps, step_record),
              OUTPUT_ROWS(struct explain_row, ports, nports, load_record),
              OUTPUT_ROWS(struct explain_row, instructions, of.block.n, instr_record));
const struct output_kind explain_print_kind = {"explain", "latput explain", &row_record, 1, 1};

// Returns the ports with a load, and what each does.
static const struct load_row *loads_make(const struct port_model *model,
                                         const double load[PORTS_MAX], struct arena *arena, int *n)
{
    struct load_row *rows = arena_alloc(arena, PORTS_MAX * sizeof *rows);
    *n = 0;
    for (int port = 0; port < PORTS_MAX && model; port++)
        if (load[port] > 0) {
            port_label(model, port, rows[*n].port);
            rows[(*n)++].clk = load[port];
        }
    return rows;
}

static const struct instr_row *instrs_make(const struct explanation *explanation,
                                           struct arena *arena)
{
    struct instr_row *rows = arena_alloc(arena, ((size_t)explanation->block.n + 1) * sizeof *rows);
    for (int i = 0; i < explanation->block.n; i++) {
        const struct explain_instr *instr = &explanation->instrs[i];
        rows[i] = (struct instr_row){instr->code->text,
                                     instr->row ? instr->row->row->form : NULL,
                                     instr->known,
                                     instr->fused ? 0 : instr->slots,
                                     NULL,
                                     0};
        rows[i].ports = loads_make(explanation->model, instr->load, arena, &rows[i].nports);
    }
    return rows;
}

static const struct step_row *steps_make(const struct explanation *explanation, struct arena *arena)
{
    const struct chain *chain = &explanation->chain;
    struct step_row *rows = arena_alloc(arena, ((size_t)chain->nsteps + 1) * sizeof *rows);
    for (int i = 0; i < chain->nsteps; i++) {
        const struct chain_step *step = &chain->steps[i];
        const struct block_touch *touches = explanation->block.instrs[step->instr].touches;
        rows[i] = (struct step_row){
            step->instr + 1,
            block_place_name(&explanation->block, touches[step->from].place, arena),
            block_place_name(&explanation->block, touches[step->to].place, arena), step->clk};
    }
    return rows;
}

void explain_print_json(const struct explanation *explanation,
                        const struct explain_measured *measured,
                        const struct explain_source *source, struct json *json)
{
    struct arena arena = {0};
    struct explain_row *row = arena_alloc(&arena, sizeof *row);
    // Without a measurement nothing is known, and nothing was tried.
    const struct explain_measured none = {.clk = (double)NAN, .spread_clk = (double)NAN};
    *row = (struct explain_row){.of = *explanation,
                                .source = *source,
                                .measured = measured ? *measured : none,
                                .chain = steps_make(explanation, &arena),
                                .instructions = instrs_make(explanation, &arena)};
    row->difference_percent =
        measured ? 100 * explain_difference(explanation, measured) : (double)NAN;
    row->ports = loads_make(explanation->model, explanation->pressure, &arena, &row->nports);
    output_json_row(&row_record, row, 0, json);
    arena_free(&arena);
}
