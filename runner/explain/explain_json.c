// SPDX-License-Identifier: MIT
// An explanation as JSON; see explain_print.h.
#include "explain_print.h"

#include <math.h>

static void json_limits(struct json *json, const struct explanation *explanation)
{
    json_open(json_name(json_break(json, "\n  "), "limits"), '[');
    for (int i = 0; i < explanation->nlimits; i++) {
        const struct explain_limit *limit = &explanation->limits[i];
        json_open(json_break(json, "\n    "), '{');
        json_text(json_name(json, "limit"), explain_kind_name(limit->kind));
        json_fixed(json_name(json, "clk"), limit->clk, 3);
        json_text(json_name(json, "by"), limit->text);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void json_loads(struct json *json, const struct explanation *explanation,
                       const double load[PORTS_MAX])
{
    json_open(json, '[');
    for (int port = 0; port < PORTS_MAX && explanation->model; port++) {
        char label[PORT_LABEL_MAX];
        if (load[port] <= 0)
            continue;
        port_label(explanation->model, port, label);
        json_open(json, '{');
        json_text(json_name(json, "port"), label);
        json_fixed(json_name(json, "clk"), load[port], 3);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void json_instrs(struct json *json, const struct explanation *explanation)
{
    json_open(json_name(json_break(json, "\n  "), "instructions"), '[');
    for (int i = 0; i < explanation->block.n; i++) {
        const struct explain_instr *instr = &explanation->instrs[i];
        json_open(json_break(json, "\n    "), '{');
        json_text(json_name(json, "instruction"), instr->code->text);
        json_text_known(json_name(json, "form"), instr->row ? instr->row->row->form : NULL);
        json_text_known(json_name(json, "unknown"), explain_known_text(instr->known));
        json_fixed(json_name(json, "slots"), instr->fused ? 0 : instr->slots, 2);
        json_loads(json_name(json, "ports"), explanation, instr->load);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void json_chain(struct json *json, const struct explanation *explanation)
{
    const struct chain *chain = &explanation->chain;
    struct arena arena = {0};
    json_open(json_name(json_break(json, "\n  "), "chain"), '[');
    for (int i = 0; i < chain->nsteps; i++) {
        const struct chain_step *step = &chain->steps[i];
        const struct block_instr *instr = &explanation->block.instrs[step->instr];
        json_open(json_break(json, "\n    "), '{');
        json_int(json_name(json, "position"), step->instr + 1);
        json_text(json_name(json, "from"),
                  block_place_name(&explanation->block, instr->touches[step->from].place, &arena));
        json_text(json_name(json, "to"),
                  block_place_name(&explanation->block, instr->touches[step->to].place, &arena));
        json_fixed(json_name(json, "clk"), step->clk, 3);
        json_close(json, '}');
    }
    json_close(json, ']');
    arena_free(&arena);
}

// Puts the measurement. Without one nothing is known, and nothing was tried.
static void json_measured(struct json *json, const struct explanation *explanation,
                          const struct explain_measured *measured)
{
    double difference = measured ? 100 * explain_difference(explanation, measured) : (double)NAN;
    json_fixed(json_name(json, "measured_clk"), measured ? measured->clk : (double)NAN, 3);
    json_fixed(json_name(json, "spread_clk"), measured ? measured->spread_clk : (double)NAN, 3);
    json_text_known(json_name(json, "failure"), measured ? measured->failure : NULL);
    json_fixed(json_name(json, "difference_percent"), difference, 2);
    json_open(json_name(json_break(json, "\n  "), "experiments"), '[');
    for (int i = 0; measured && i < measured->ntries; i++) {
        const struct explain_try *try = &measured->tries[i];
        json_open(json_break(json, "\n    "), '{');
        json_text(json_name(json, "what"), try->what);
        json_fixed(json_name(json, "measured_clk"), try->measured_clk, 3);
        json_fixed(json_name(json, "predicted_clk"), try->predicted_clk, 3);
        json_text_known(json_name(json, "says"), try->says);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void explain_print_json(const struct explanation *explanation,
                        const struct explain_measured *measured,
                        const struct explain_source *source, struct json *json)
{
    json_open(json, '{');
    json_text(json_name(json, "uarch"), explanation->uarch);
    json_text_known(json_name(json, "source"), source->title);
    json_fixed(json_name(json, "call_clk"), source->call_clk, 3);
    if (source->rounds)
        json_int(json_name(json, "call_rounds"), source->rounds);
    else
        json_null(json_name(json, "call_rounds"));
    json_int(json_name(json, "bits"), explanation->block.bits);
    json_fixed(json_name(json, "predicted_clk"), explanation->predicted_clk, 3);
    json_int(json_name(json, "assumed"), explanation->unknown);
    json_measured(json, explanation, measured);
    json_limits(json, explanation);
    json_chain(json, explanation);
    json_loads(json_name(json_break(json, "\n  "), "ports"), explanation, explanation->pressure);
    json_instrs(json, explanation);
    json_close(json, '}');
}
