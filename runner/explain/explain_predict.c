// SPDX-License-Identifier: MIT
// The prediction: the longest of several bounds; see explain.h.
#include "explain.h"
#include "explain_fuse.h"
#include "explain_step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEAL_ROUNDS = 300, EXPLAIN_STORES_MAX = 1024 };
// A block is told to take longer if pointers meet where that is so by more than this.
static const double MEETS_TIMES = 1.1;
static const double DEAL_STEP = 0.02;   // µops that a round moves at most
static const double DENSE_TIMES = 1.05; // more than its slots take: that is said
static const double STALL_SHOWN_CLK = 0.005;

const char *explain_kind_name(enum explain_kind kind)
{
    static const char *const names[] = {"front end", "ports", "unit", "wait", "chain", "stores"};
    return names[kind];
}

const char *explain_known_text(enum explain_known known)
{
    static const char *const texts[] = {
        "", "its ports are not in the database", "not measured on this CPU: numbers are assumed",
        "not in the lists: numbers are assumed", "a jump: its slot is counted, no port"};
    return texts[known];
}

// --- Ports of other runs in the numbers of the model. ---

static uint32_t set_named(const struct port_model *model, const char *name)
{
    struct strbuf text = {0};
    uint32_t set = 0;
    for (int c = 0; c < model->nclasses && !set; c++)
        if (strcmp(model->classes[c].name, name) == 0)
            set = model->classes[c].set;
    for (int h = 0; h < model->nhidden && !set; h++)
        if (strcmp(model->hidden[h].name, name) == 0)
            set = model->hidden[h].set;
    for (int c = 0; c < model->nclasses && !set; c++) {
        strbuf_clear(&text);
        port_set_joined(model, model->classes[c].set, &text);
        if (strcmp(strbuf_text(&text), name) == 0)
            set = model->classes[c].set;
    }
    strbuf_free(&text);
    return set;
}

static int unit_named(const struct port_model *model, const char *name)
{
    for (int u = 0; u < model->nunits; u++)
        if (strcmp(model->units[u].name, name) == 0)
            return u;
    return -1;
}

static bool uses_translate(const struct port_model *from, const struct port_model *to,
                           struct port_uses *uses)
{
    bool known = true;
    for (int i = 0; i < uses->n; i++) {
        struct strbuf name = {0};
        port_set_text(from, uses->use[i].set, &name);
        uses->use[i].set = set_named(to, strbuf_text(&name));
        known &= uses->use[i].set != 0;
        strbuf_free(&name);
    }
    return known;
}

// Translates the usage of a form into the ports of the model. Returns false if the form's run found
// another structure of the ports.
static bool usage_translate(const struct known_form *form, const struct port_model *to,
                            struct port_usage *usage)
{
    *usage = *form->usage;
    if (form->model == to)
        return true;
    if (!form->model || !to || !uses_translate(form->model, to, &usage->uses) ||
        !uses_translate(form->model, to, &usage->wide_uses))
        return false;
    for (int d = 0; d < usage->demands.n; d++) {
        struct port_demand *demand = &usage->demands.of[d];
        if (demand->unit < 0)
            continue;
        const struct port_unit *unit = &form->model->units[demand->unit];
        demand->unit = unit_named(to, unit->name);
        demand->whole &= demand->unit >= 0;
        if (demand->unit < 0 && port_unit_is_path(unit))
            return false;
    }
    return true;
}

// --- Instructions. ---

static bool instr_is_jump(const struct block_instr *code)
{
    return code->in.meta.category == ZYDIS_CATEGORY_COND_BR ||
           code->in.meta.category == ZYDIS_CATEGORY_UNCOND_BR;
}

static void instr_look_up(const struct explain_table *table, struct explain_instr *instr)
{
    const struct known_form *form = instr->row ? instr->row->form : NULL;
    instr->known = !instr->row ? KNOWN_NOTHING : !form ? KNOWN_LISTED : KNOWN_NO_PORTS;
    instr->usage = (struct port_usage){.front = {.slots = 1}};
    if (form && form->usage && table->model && usage_translate(form, table->model, &instr->usage)) {
        instr->known = KNOWN_ALL;
        instr->has_usage = true;
    } else {
        instr->usage = (struct port_usage){.front = {.slots = 1}};
        if (form && form->uops >= 0)
            instr->usage.front.slots = form->uops;
    }
    if (!instr->row && instr_is_jump(instr->code))
        instr->known = KNOWN_JUMP;
    if (isnan(instr->usage.front.slots))
        instr->usage.front.slots = fmax(instr->usage.uses.uops, 1);
    instr->slots = port_usage_slots(&instr->usage);
}

static bool instr_is_chain(const struct block_instr *code)
{
    for (int r = 0; r < code->ntouches; r++)
        for (int w = 0; w < code->ntouches; w++)
            if (!code->touches[r].write && code->touches[w].write && code->touches[w].place >= 0 &&
                code->touches[r].place == code->touches[w].place)
                return true;
    return false;
}

// Returns the time that the throughput alone implies, for a model without ports.
static double instr_wait(const struct explain_instr *instr)
{
    const struct known_form *form = instr->row ? instr->row->form : NULL;
    // An instruction that reads what it writes waited for itself when it was measured, and will
    // here only where the block has that chain, too.
    if (instr->has_usage)
        return instr_is_chain(instr->code) ? 0 : port_usage_wait_clk(&instr->usage);
    return form && !isnan(form->rthroughput_clk) ? form->rthroughput_clk : 0;
}

// --- Limits. ---

static struct explain_limit *limit_add(struct explanation *explanation, enum explain_kind kind,
                                       double clk, const char *text)
{
    struct explain_limit *limit = &explanation->limits[explanation->nlimits++];
    *limit = (struct explain_limit){kind, clk, text, 0, -1};
    return limit;
}

static int limit_compare(const void *a, const void *b)
{
    const struct explain_limit *x = a, *y = b;
    return (x->clk < y->clk) - (x->clk > y->clk);
}

// Returns the front-end cycles of straight code by its density; NaN: not known. Loops are left out:
// they begin at the same place each time, and caches of decoded instructions serve small ones.
static double density_clk(const struct front_density *density,
                          const struct explanation *explanation, struct arena *arena)
{
    int n = explanation->block.n;
    struct front_instr *instrs = arena_alloc(arena, (size_t)n * sizeof *instrs);
    for (int i = 0; i < n; i++)
        instrs[i] = (struct front_instr){explanation->block.instrs[i].in.length,
                                         explanation->instrs[i].usage.front.slots};
    return explanation->fused == -2 ? front_clk(density, instrs, n) : (double)NAN;
}

// One of each instruction, without those that are fused if these are not wanted.
struct block_usages {
    const struct port_usage **usages;
    int *counts;
};

static struct block_usages block_usages(const struct explanation *explanation, bool fused,
                                        struct arena *arena)
{
    size_t n = (size_t)explanation->block.n;
    struct block_usages block = {arena_alloc(arena, n * sizeof *block.usages),
                                 arena_alloc(arena, n * sizeof *block.counts)};
    for (size_t i = 0; i < n; i++) {
        block.usages[i] = &explanation->instrs[i].usage;
        block.counts[i] = fused || !explanation->instrs[i].fused;
    }
    return block;
}

// Returns the cycles that microcode blocks the front end, beyond the slots.
static double stall_clk(const struct explanation *explanation, struct arena *arena)
{
    const struct port_model *model = explanation->model;
    struct block_usages block = block_usages(explanation, false, arena);
    struct port_limits limits;
    port_limits(model, block.usages, block.counts, explanation->block.n, &limits);
    return fmax(limits.front_clk, limits.delivery_clk) - explanation->slots / model->width;
}

static void predict_front(struct explanation *explanation, const struct front_density *density,
                          struct arena *arena)
{
    int width = explanation->model ? explanation->model->width : 0;
    double slots = 0;
    for (int i = 0; i < explanation->block.n; i++) {
        explanation->slots += explanation->instrs[i].fused ? 0 : explanation->instrs[i].slots;
        slots += explanation->instrs[i].usage.front.slots;
    }
    if (width <= 0)
        return;
    double clk = density_clk(density, explanation, arena), stall = stall_clk(explanation, arena);
    // The density has the slots that instructions lose beside others: they count once.
    if (!isnan(clk))
        explanation->slots = slots;
    bool dense = clk > DENSE_TIMES * explanation->slots / width;
    const char *text = arena_printf(arena, "%.4g slots, %d per cycle%s", explanation->slots, width,
                                    dense ? "; by how dense the code is, fewer" : "");
    if (stall > STALL_SHOWN_CLK)
        text = arena_printf(arena, "%s; microcode stalls it for %.3g", text, stall);
    clk = fmax(explanation->slots / width, isnan(clk) ? 0 : clk);
    limit_add(explanation, LIMIT_FRONT, clk + fmax(stall, 0), text);
}

static void predict_ports(struct explanation *explanation, struct port_limits *limits,
                          struct arena *arena)
{
    const struct port_model *model = explanation->model;
    struct block_usages block = block_usages(explanation, true, arena);
    port_limits(model, block.usages, block.counts, explanation->block.n, limits);
    if (limits->worst) {
        struct strbuf name = {0};
        port_set_text(model, limits->worst, &name);
        double uops = limits->ports_clk * port_set_size(limits->worst);
        limit_add(explanation, LIMIT_PORTS, limits->ports_clk,
                  arena_printf(arena, "%.4g uops that only %s can do", uops, strbuf_text(&name)))
            ->set = limits->worst;
        strbuf_free(&name);
    }
    for (int u = 0; u < model->nunits; u++)
        if (limits->unit_clk[u] > 0)
            limit_add(explanation, LIMIT_UNIT, limits->unit_clk[u],
                      arena_printf(arena, "%s, which %s", model->units[u].name,
                                   port_unit_is_path(&model->units[u]) ? "several ports share"
                                                                       : "is not pipelined"))
                ->unit = u;
}

// Adds the time of ports that choose some µops twice, since what these wait for comes too late.
static void predict_again(struct explanation *explanation, const struct again *again,
                          struct arena *arena)
{
    const struct again_limit found = again_find(explanation, again, arena);
    struct strbuf name = {0};
    if (found.set == 0)
        return;
    port_set_text(explanation->model, found.set, &name);
    limit_add(explanation, LIMIT_PORTS, found.clk,
              arena_printf(arena,
                           "%.4g uops that only %s can do, and %.2g turns more, by what "
                           "dependent_groups measured of results used at once",
                           found.uops, strbuf_text(&name), found.again_uops))
        ->set = found.set;
    strbuf_free(&name);
}

static void predict_wait(struct explanation *explanation, struct arena *arena)
{
    int worst = -1;
    double most = 0;
    for (int i = 0; i < explanation->block.n; i++)
        if (instr_wait(&explanation->instrs[i]) > most) {
            most = instr_wait(&explanation->instrs[i]);
            worst = i;
        }
    double sum = 0; // of one form, which waits for itself
    for (int i = 0; i < explanation->block.n && worst >= 0; i++)
        if (explanation->instrs[i].row == explanation->instrs[worst].row)
            sum += instr_wait(&explanation->instrs[i]);
    if (worst >= 0)
        limit_add(
            explanation, LIMIT_WAIT, sum,
            arena_printf(arena, "%s alone: its throughput", explanation->instrs[worst].code->text));
}

// Stores to one line that follow one another leave together, as far as the ports let them.
static void predict_stores(struct explanation *explanation, struct arena *arena)
{
    const struct bypass *bypass = explanation->bypass;
    int lines[EXPLAIN_STORES_MAX], n = 0, changes = 0, begin = 0;
    for (int i = 0; i < explanation->block.n; i++)
        for (int t = 0; t < explanation->block.instrs[i].ntouches; t++) {
            const struct block_touch *touch = &explanation->block.instrs[i].touches[t];
            if (touch->part == PART_DATA && touch->write && n < EXPLAIN_STORES_MAX)
                lines[n++] = touch->line;
        }
    while (begin < n && lines[begin] == lines[(begin + n - 1) % n])
        begin++;
    if (begin == n || isnan(bypass->store_line_clk))
        return; // one line, or not known
    double clk = 0;
    for (int i = 0, len; i < n; i += len, changes++) {
        for (len = 1; i + len < n && lines[(begin + i + len) % n] == lines[(begin + i) % n];)
            len++;
        clk += fmax(bypass->store_line_clk, len * bypass->store_clk);
    }
    limit_add(explanation, LIMIT_STORES, clk,
              arena_printf(arena, "%d stores that change the line %d times", n, changes));
}

static void predict_banks(struct explanation *explanation, const struct banks *banks,
                          struct arena *arena)
{
    int nloads;
    double clk = banks_clk(banks, &explanation->block, &nloads);
    if (clk > 0)
        limit_add(explanation, LIMIT_UNIT, clk,
                  arena_printf(arena, "a bank of the cache, for %d loads", nloads));
}

// Adds the wait of a load that reads more than the store before it wrote: until the store has left,
// and those after it later still.
static void predict_narrow(struct explanation *explanation, struct arena *arena)
{
    const struct bypass *bypass = explanation->bypass;
    const char *load = NULL;
    double clk = 0;
    for (int i = 0; i < explanation->block.n; i++)
        for (int t = 0; t < explanation->block.instrs[i].ntouches; t++) {
            const struct block_touch *touch = &explanation->block.instrs[i].touches[t];
            double wait = touch->writer < 0                  ? 0
                          : touch->forward == FORWARD_NARROW ? bypass->narrow_wait_clk
                          : touch->forward == FORWARD_BEFORE ? bypass->before_wait_clk
                                                             : 0;
            if (wait > clk) {
                load = explanation->block.instrs[i].text;
                clk = wait;
            }
        }
    if (load)
        limit_add(explanation, LIMIT_STORES, clk,
                  arena_printf(arena, "%s waits for a store of only a part of it", load));
}

static void predict_chain(struct explanation *explanation, struct arena *arena)
{
    const struct chain_latency latency = {explain_step_clk, explanation};
    explanation->chain = chain_longest(&explanation->block, &latency, arena);
    const struct chain *chain = &explanation->chain;
    if (chain->clk <= 0)
        return;
    const struct chain_step *first = &chain->steps[0];
    const char *name =
        block_place_name(&explanation->block,
                         explanation->block.instrs[first->instr].touches[first->from].place, arena);
    limit_add(explanation, LIMIT_CHAIN, chain->clk,
              chain->copies == 1
                  ? arena_printf(arena, "%d instruction%s, from %s to %s of the next copy",
                                 chain->nsteps, chain->nsteps == 1 ? "" : "s", name, name)
                  : arena_printf(arena, "%.4g over %d copies, %d steps, from %s to %s",
                                 chain->length, chain->copies, chain->nsteps, name, name));
}

// --- Which port does how much of what, dealt so that the fullest has least. ---

static void deal_start(struct explanation *explanation, bool wide)
{
    for (int i = 0; i < explanation->block.n; i++) {
        struct explain_instr *instr = &explanation->instrs[i];
        const struct port_uses *uses = port_uses_beside(&instr->usage, wide);
        for (int u = 0; u < uses->n; u++)
            for (int port = 0; port < PORTS_MAX; port++)
                if (uses->use[u].set >> port & 1) {
                    double share = (double)uses->use[u].uops / port_set_size(uses->use[u].set);
                    instr->load[port] += share;
                    explanation->pressure[port] += share;
                }
    }
}

// Moves load of one µop's from its fullest port to its emptiest.
static double deal_move(struct explanation *explanation, struct explain_instr *instr, uint32_t set)
{
    int full = -1, empty = -1;
    const double *pressure = explanation->pressure;
    for (int port = 0; port < PORTS_MAX; port++) {
        if (!(set >> port & 1))
            continue;
        if (instr->load[port] > 0 && (full < 0 || pressure[port] > pressure[full]))
            full = port;
        if (empty < 0 || pressure[port] < pressure[empty])
            empty = port;
    }
    if (full < 0 || pressure[full] - pressure[empty] < 1e-6)
        return 0;
    double step = fmin((pressure[full] - pressure[empty]) / 2, instr->load[full]);
    instr->load[full] -= step;
    instr->load[empty] += step;
    explanation->pressure[full] -= step;
    explanation->pressure[empty] += step;
    return step;
}

static void predict_deal(struct explanation *explanation, bool wide)
{
    deal_start(explanation, wide);
    for (int round = 0; round < DEAL_ROUNDS; round++) {
        double most = 0;
        for (int i = 0; i < explanation->block.n; i++) {
            struct explain_instr *instr = &explanation->instrs[i];
            const struct port_uses *uses = port_uses_beside(&instr->usage, wide);
            // With several sets only a port that one of them has may take what another leaves.
            if (uses->n == 1)
                most = fmax(most, deal_move(explanation, instr, uses->use[0].set));
        }
        if (most < DEAL_STEP / DEAL_ROUNDS)
            return;
    }
}

// Fuses a jump with the producer of its flags: one slot, and one µop for both if the jump's port is
// known. A memory load of the producer stays its own. Returns 1, 0, or -1 if that is not known.
static int predict_fusion_at(const struct explain_table *table, struct explanation *explanation,
                             int jump)
{
    int fused = jump == 0 ? 0
                          : fuse_pair(&table->fusion, explanation->instrs[jump - 1].code,
                                      explanation->instrs[jump].code);
    if (fused != 1)
        return fused;
    struct port_usage *writer = &explanation->instrs[jump - 1].usage;
    explanation->instrs[jump].fused = true;
    if (!explanation->instrs[jump].has_usage)
        return 1;
    if (writer->uses.n == 1 && writer->uses.use[0].uops == 1)
        writer->uses.n = 0;
    if (writer->wide_uses.n == 1 && writer->wide_uses.use[0].uops == 1)
        writer->wide_uses.n = 0;
    return 1;
}

static void predict_fusion(const struct explain_table *table, struct explanation *explanation)
{
    explanation->fused = -2;
    for (int i = 0; i < explanation->block.n; i++) {
        if (explanation->instrs[i].code->in.meta.category != ZYDIS_CATEGORY_COND_BR)
            continue;
        int fused = predict_fusion_at(table, explanation, i);
        if (i == explanation->block.n - 1)
            explanation->fused = fused;
    }
}

// Adds the limit of taken jumps: a loop jumps back each time, and to the next instruction where
// code was left out that its way does not have.
static void predict_jump(const struct explain_table *table, struct explanation *explanation,
                         struct arena *arena)
{
    double clk = fuse_taken_clk(&table->taken);
    int n = 0;
    for (int i = 0; i < explanation->block.n; i++) {
        const struct block_instr *instr = &explanation->block.instrs[i];
        n += instr_is_jump(instr) &&
             (i == explanation->block.n - 1 || instr->in.raw.imm[0].value.s == 0);
    }
    if (n && !isnan(clk))
        limit_add(explanation, LIMIT_FRONT, n * clk,
                  n == 1 ? "a jump that is taken"
                         : arena_printf(arena, "%d jumps that are taken", n));
}

static void predict_instrs(const struct explain_table *table, struct explanation *explanation)
{
    struct block *block = &explanation->block;
    for (int i = 0; i < block->n; i++) {
        struct explain_instr *instr = &explanation->instrs[i];
        instr->code = &block->instrs[i];
        instr->row = table_match(table, &block->instrs[i]);
        instr_look_up(table, instr);
        table_correct(instr->row, &block->instrs[i]);
    }
    predict_fusion(table, explanation);
    for (int i = 0; i < block->n; i++)
        explanation->unknown +=
            explanation->instrs[i].known != KNOWN_ALL && !explanation->instrs[i].fused;
    block_link_memory(block);
    explain_step_uops(explanation);
}

// Predicts for a block as if pointers that cannot be compared led to one place.
static void predict_meets(const struct explain_table *table, const struct block *block,
                          struct explanation *explanation, struct arena *arena)
{
    struct block meets = *block;
    struct explanation other;
    meets.meets = true;
    explain_predict(table, &meets, &other, arena);
    if (other.predicted_clk > MEETS_TIMES * explanation->predicted_clk)
        explanation->meets_clk = other.predicted_clk;
}

void explain_predict(const struct explain_table *table, const struct block *block,
                     struct explanation *explanation, struct arena *arena)
{
    *explanation = (struct explanation){.block = *block,
                                        .uarch = table->data.uarch,
                                        .model = table->model,
                                        .bypass = &table->bypass,
                                        .meets_clk = NAN};
    size_t bytes = (size_t)block->n * sizeof *block->instrs;
    explanation->block.instrs = arena_alloc(arena, bytes);
    memcpy(explanation->block.instrs, block->instrs, bytes);
    explanation->instrs =
        arena_alloc(arena, (size_t)explanation->block.n * sizeof *explanation->instrs);
    predict_instrs(table, explanation);
    predict_front(explanation, &table->density, arena);
    predict_jump(table, explanation, arena);
    struct port_limits limits = {.wide = false};
    if (explanation->model) {
        predict_ports(explanation, &limits, arena);
        predict_again(explanation, &table->again, arena);
        predict_deal(explanation, limits.wide);
    }
    predict_wait(explanation, arena);
    predict_stores(explanation, arena);
    predict_narrow(explanation, arena);
    predict_banks(explanation, &table->banks, arena);
    predict_chain(explanation, arena);
    qsort(explanation->limits, (size_t)explanation->nlimits, sizeof *explanation->limits,
          limit_compare);
    explanation->predicted_clk = explanation->nlimits ? explanation->limits[0].clk : (double)NAN;
    if (explanation->block.memory_unknown && !block->meets)
        predict_meets(table, block, explanation, arena);
}
