// SPDX-License-Identifier: MIT
// Decodes bodies and finds how long they take; see text_body.h. A round takes as long as the
// longest of four: its slots by the width, the µops that only some ports take by their number, the
// stores that leave one after another, and the chain of dependencies, walked instruction by
// instruction with as many units as needed.
#include "text_body.h"

#include <Zydis/Zydis.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Resources that instructions depend on: registers, flags, places in memory.
enum {
    FLAG_FIRST = ZYDIS_REGISTER_MAX_VALUE + 1,
    FLAG_BITS = 22,                       // of EFLAGS that instructions change
    UPPER_FIRST = FLAG_FIRST + FLAG_BITS, // r16 to r31
    PLACE_FIRST = UPPER_FIRST + 16,
    PLACES = 512,
    RESOURCES = PLACE_FIRST + PLACES,
    INPUTS_MAX = 48,
    OUTPUTS_MAX = 40,
    STEPS_MAX = 8192,
    ROUNDS_WARM = 12,
    ROUNDS_TIMED = 24,
};

struct step {
    int ninputs, noutputs;
    struct {
        int resource;
        double clk; // from its being there to the result
    } inputs[INPUTS_MAX];
    int outputs[OUTPUTS_MAX];
    double stored_clk; // until a load has what is stored; for places only
};

struct walk {
    const struct text_script *script;
    double load_clk;
    int nsteps; // of the first STEPS_MAX instructions
    struct step steps[STEPS_MAX];
    uint64_t places[PLACES]; // addresses as text; 0: free
    uint64_t stored[PLACES]; // of the last store to the place; 0: none
    bool beside[PLACES];     // another store goes to other bytes of the place
    uint64_t left;           // block of the last store that left alone; 0: the next leaves alone
};

static void step_input(struct step *step, int resource, double clk)
{
    if (step->ninputs < INPUTS_MAX && resource != ZYDIS_REGISTER_NONE) {
        step->inputs[step->ninputs].resource = resource;
        step->inputs[step->ninputs++].clk = clk;
    }
}

static void step_output(struct step *step, int resource)
{
    if (step->noutputs < OUTPUTS_MAX && resource != ZYDIS_REGISTER_NONE)
        step->outputs[step->noutputs++] = resource;
}

// Marks of an operand: its register, or the base of its address, is one of r16 to r31; the index
// is. The decoder knows no REX2 prefix, and has the register that is 16 less.
enum { OPERAND_UPPER = 0x80, OPERAND_UPPER_INDEX = 0x40 };

static int whole_register(ZydisRegister part, bool upper)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, part);
    if (upper)
        return UPPER_FIRST + (int)(whole - ZYDIS_REGISTER_RAX);
    return (int)(whole == ZYDIS_REGISTER_NONE ? part : whole);
}

static int operand_register(const ZydisDecodedOperand *operand)
{
    return whole_register(operand->reg.value, operand->attributes & OPERAND_UPPER);
}

// Returns what an address is made of; those of one block of bytes are the same. 0: any block.
static uint64_t address_key(const ZydisDecodedOperand *operand, double bytes)
{
    int64_t disp = operand->mem.disp.value;
    if (bytes > 0)
        disp = (int64_t)floor((double)disp / bytes);
    return 1 + (uint64_t)operand->mem.base + ((uint64_t)operand->mem.index << 10) +
           ((uint64_t)(operand->attributes & (OPERAND_UPPER | OPERAND_UPPER_INDEX)) << 56) +
           ((uint64_t)operand->mem.scale << 20) + ((uint64_t)disp << 24);
}

// One place per way to write an address: bodies do not change what addresses are made of but by
// their own chains.
static int walk_place(struct walk *walk, const ZydisDecodedOperand *operand)
{
    uint64_t key = address_key(operand, walk->script->renamed_bytes);
    size_t at = (size_t)(key * 0x9e3779b97f4a7c15U >> 55);
    for (int tries = 0; tries < PLACES; tries++, at = (at + 1) % PLACES)
        if (!walk->places[at] || walk->places[at] == key) {
            walk->places[at] = key;
            return PLACE_FIRST + (int)at;
        }
    return PLACE_FIRST;
}

static void walk_store(struct walk *walk, int place, const ZydisDecodedOperand *operand,
                       struct text_body *body)
{
    uint64_t exact = address_key(operand, 0), *stored = &walk->stored[place - PLACE_FIRST];
    uint64_t block = address_key(operand, walk->script->leave_bytes);
    walk->beside[place - PLACE_FIRST] |= *stored && *stored != exact;
    *stored = exact;
    bool with_last = walk->left == block;
    walk->left = with_last ? 0 : block;
    body->leave_clk += walk->script->leave_bytes > 0 && !with_last;
}

// Registers as the lists write them: r64, x, y, z, k, mm; others by their names.
static void name_register(char *name, size_t bytes, const ZydisDecodedOperand *operand)
{
    switch (ZydisRegisterGetClass(operand->reg.value)) {
    case ZYDIS_REGCLASS_GPR8:
    case ZYDIS_REGCLASS_GPR16:
    case ZYDIS_REGCLASS_GPR32:
    case ZYDIS_REGCLASS_GPR64:
        snprintf(name, bytes, " r%d", operand->size);
        break;
    case ZYDIS_REGCLASS_XMM:
        snprintf(name, bytes, " x");
        break;
    case ZYDIS_REGCLASS_YMM:
        snprintf(name, bytes, " y");
        break;
    case ZYDIS_REGCLASS_ZMM:
        snprintf(name, bytes, " z");
        break;
    case ZYDIS_REGCLASS_MASK:
        snprintf(name, bytes, " k");
        break;
    case ZYDIS_REGCLASS_MMX:
        snprintf(name, bytes, " mm");
        break;
    default:
        snprintf(name, bytes, " %s", ZydisRegisterGetString(operand->reg.value));
    }
}

// "shl r64 i": the mnemonic and the operands that are written; "shl r64 i=5" with `values`.
static void name_form(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands,
                      bool values, char *name, size_t bytes)
{
    size_t len = (size_t)snprintf(name, bytes, "%s", ZydisMnemonicGetString(in->mnemonic));
    for (int i = 0; i < in->operand_count_visible && len + 1 < bytes; i++) {
        char word[24] = " i";
        if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER)
            name_register(word, sizeof word, &operands[i]);
        else if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
            snprintf(word, sizeof word, " m%d", operands[i].size);
        else if (values)
            snprintf(word, sizeof word, " i=%d", (int)operands[i].imm.value.s);
        len += (size_t)snprintf(name + len, bytes - len, "%s", word);
    }
}

static bool same_registers(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands)
{
    int registers = 0;
    for (int i = 0; i < in->operand_count_visible; i++)
        if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER) {
            if (registers++ && operand_register(&operands[i]) != operand_register(&operands[i - 1]))
                return false;
        } else if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY) {
            return false;
        }
    return registers > 1;
}

static bool reads(const ZydisDecodedOperand *operand)
{
    return operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
}

static bool writes(const ZydisDecodedOperand *operand)
{
    return operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
}

// Adds a register; `waits`: also for the content that it overwrites.
static void step_register(struct step *step, const ZydisDecodedOperand *operand, double clk,
                          bool waits)
{
    int whole = operand_register(operand);
    // Registers of less than 32 bits leave the rest of the full one as it was.
    bool merges =
        operand->size < 32 && ZydisRegisterGetClass(operand->reg.value) <= ZYDIS_REGCLASS_GPR16;
    if (reads(operand) || (writes(operand) && (merges || waits)))
        step_input(step, whole, clk);
    if (writes(operand))
        step_output(step, whole);
}

static void step_memory(struct walk *walk, struct step *step, const ZydisDecodedOperand *operand,
                        double clk, struct text_body *body)
{
    bool agen = operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN;
    double address_clk = clk + (agen || !reads(operand) ? 0 : walk->load_clk);
    if (operand->mem.base != ZYDIS_REGISTER_RIP)
        step_input(step, whole_register(operand->mem.base, operand->attributes & OPERAND_UPPER),
                   address_clk);
    step_input(step, whole_register(operand->mem.index, operand->attributes & OPERAND_UPPER_INDEX),
               address_clk);
    if (agen)
        return;
    int place = walk_place(walk, operand);
    if (reads(operand))
        step_input(step, place, clk);
    if (writes(operand)) {
        step_output(step, place);
        walk_store(walk, place, operand, body);
    }
}

static void step_flags(struct step *step, const ZydisDecodedInstruction *in, double clk)
{
    const ZydisAccessedFlags *flags = in->cpu_flags;
    if (!flags)
        return;
    uint32_t written = flags->modified | flags->set_0 | flags->set_1 | flags->undefined;
    for (int bit = 0; bit < FLAG_BITS; bit++) {
        if (flags->tested >> bit & 1)
            step_input(step, FLAG_FIRST + bit, clk);
        if (written >> bit & 1)
            step_output(step, FLAG_FIRST + bit);
    }
}

static bool flags_register(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
           ZydisRegisterGetClass(operand->reg.value) == ZYDIS_REGCLASS_FLAGS;
}

static void body_use(struct text_body *body, const struct text_uses *uses, double times)
{
    for (int i = 0; i < uses->n; i++) {
        int at = 0;
        while (at < body->nsets && body->sets[at] != uses->sets[i])
            at++;
        if (at == TEXT_SETS)
            abort(); // a script with as many sets is for nobody to read
        body->nsets += at == body->nsets;
        body->sets[at] = uses->sets[i];
        body->uops[at] += times * uses->uops[i];
    }
}

// Adds the dependencies of one operand.
static void step_operand(struct walk *walk, struct step *step, const ZydisDecodedOperand *operand,
                         double clk, bool waits, struct text_body *body)
{
    if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
        step_memory(walk, step, operand, clk, body);
    else if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER && !flags_register(operand))
        step_register(step, operand, clk, waits);
}

// Adds an instruction whose form takes as long as its line of the script says.
static void walk_step(struct walk *walk, const ZydisDecodedInstruction *in,
                      const ZydisDecodedOperand *operands, const struct text_form *form,
                      struct text_body *body)
{
    struct step *step = &walk->steps[walk->nsteps++];
    *step = (struct step){.stored_clk = walk->script->forward_clk};
    for (int i = 0; i < in->operand_count; i++) {
        bool stack = ZydisRegisterGetClass(operands[i].reg.value) == ZYDIS_REGCLASS_GPR64 &&
                     operands[i].visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
                     operands[i].reg.value == ZYDIS_REGISTER_RSP;
        bool from = i < TEXT_OPERANDS && form->from_clk[i] > 0;
        double clk = from ? form->from_clk[i] : form->latency_clk;
        if (!stack) // the front end keeps account of the stack pointer
            step_operand(walk, step, &operands[i], clk, from, body);
    }
    step_flags(step, in, form->latency_clk);
}

// Handles operations at rename: an idiom depends on nothing, a move takes no time.
static bool walk_rename(struct walk *walk, const ZydisDecodedInstruction *in,
                        const ZydisDecodedOperand *operands, const char *name,
                        struct text_body *body)
{
    const struct text_script *script = walk->script;
    static const struct text_form none = {.slots = 1};
    bool idiom =
        text_script_fits(script->idioms, script->nidioms, name) && same_registers(in, operands);
    if (!idiom && !text_script_fits(script->moves, script->nmoves, name))
        return false;
    walk_step(walk, in, operands, &none, body);
    if (idiom)
        walk->steps[walk->nsteps - 1].ninputs = 0;
    return true;
}

static void body_account(const struct walk *walk, const ZydisDecodedInstruction *in,
                         const ZydisDecodedOperand *operands, const struct text_form *form,
                         struct text_body *body)
{
    double uops = 0;
    for (int i = 0; i < in->operand_count; i++) {
        if (operands[i].type != ZYDIS_OPERAND_TYPE_MEMORY ||
            operands[i].mem.type == ZYDIS_MEMOP_TYPE_AGEN)
            continue;
        if (reads(&operands[i]))
            body_use(body, &walk->script->load, 1);
        if (writes(&operands[i]))
            body_use(body, &walk->script->store, 1);
        body->accesses |= reads(&operands[i]) || writes(&operands[i]);
    }
    body_use(body, &form->uses, 1);
    for (int i = 0; i < form->uses.n; i++)
        uops += form->uses.uops[i];
    body->slots += form->slots >= 0 ? form->slots : uops > 1 ? uops : 1;
}

static const struct text_fault *fault_of(const struct text_script *script, const char *name,
                                         const char *valued)
{
    for (int i = 0; i < script->nfaults; i++)
        if (text_script_match(script->faults[i].pattern, name, valued))
            return &script->faults[i];
    return NULL;
}

// Returns true if a register operand has a number from the eighth on.
static bool high_register(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands)
{
    for (int i = 0; i < in->operand_count_visible; i++)
        if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            ZydisRegisterGetId(operands[i].reg.value) >= 8)
            return true;
    return false;
}

static bool upper_register(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands)
{
    for (int i = 0; i < in->operand_count_visible; i++)
        if (operands[i].attributes & (OPERAND_UPPER | OPERAND_UPPER_INDEX))
            return true;
    return false;
}

static void body_notice(const struct text_script *script, const ZydisDecodedInstruction *in,
                        const ZydisDecodedOperand *operands, const char *name, const char *valued,
                        struct text_body *body)
{
    const char *set = ZydisISASetGetString(in->meta.isa_set);
    body->lacking |= text_script_fits(script->lacks, script->nlacks, set);
    body->fault = body->fault ? body->fault : fault_of(script, name, valued);
    body->long_nops |= in->mnemonic == ZYDIS_MNEMONIC_NOP && in->length > 1;
    body->instructions++;
    for (int i = 0; i < script->nstates; i++)
        if (text_script_match(script->states[i].pattern, name, valued)) {
            body->state = body->state ? body->state : &script->states[i];
            body->high_registers |= high_register(in, operands);
            body->upper_registers |= upper_register(in, operands);
        }
}

static void walk_instruction(struct walk *walk, const ZydisDecodedInstruction *in,
                             const ZydisDecodedOperand *operands, struct text_body *body)
{
    static const struct text_form none = {.slots = 1};
    char name[96], valued[96];
    name_form(in, operands, false, name, sizeof name);
    name_form(in, operands, true, valued, sizeof valued);
    body_notice(walk->script, in, operands, name, valued, body);
    const struct text_form *form = text_script_form(walk->script, name, valued);
    if (walk_rename(walk, in, operands, name, body)) {
        body->slots += 1;
        return;
    }
    if (!form)
        form = &none;
    walk_step(walk, in, operands, form, body);
    body_account(walk, in, operands, form, body);
}

// Returns how long after an instruction others have what it wrote.
static double walk_stored_clk(const struct walk *walk, const struct step *step, int resource)
{
    if (resource < PLACE_FIRST)
        return 0;
    return walk->beside[resource - PLACE_FIRST] ? walk->script->beside_clk : step->stored_clk;
}

// Returns when the last result of a round is ready.
static double walk_round(const struct walk *walk, double there_clk[RESOURCES])
{
    double last_clk = 0;
    for (int s = 0; s < walk->nsteps; s++) {
        const struct step *step = &walk->steps[s];
        double done_clk = 0;
        for (int i = 0; i < step->ninputs; i++) {
            double clk = there_clk[step->inputs[i].resource] + step->inputs[i].clk;
            done_clk = clk > done_clk ? clk : done_clk;
        }
        for (int i = 0; i < step->noutputs; i++)
            there_clk[step->outputs[i]] = done_clk + walk_stored_clk(walk, step, step->outputs[i]);
        last_clk = done_clk > last_clk ? done_clk : last_clk;
    }
    return last_clk;
}

static double walk_chain_clk(const struct walk *walk)
{
    double there_clk[RESOURCES] = {0}, warm_clk = 0, last_clk = 0;
    for (int round = 0; round < ROUNDS_WARM + ROUNDS_TIMED; round++) {
        last_clk = walk_round(walk, there_clk);
        if (round == ROUNDS_WARM - 1)
            warm_clk = last_clk;
    }
    return (last_clk - warm_clk) / ROUNDS_TIMED;
}

// Marks the operands that the bits R4, X4 and B4 of a REX2 prefix make r16 to r31.
static void mark_upper(const ZydisDecodedInstruction *in, ZydisDecodedOperand *operands, int rex2)
{
    for (int i = 0; i < in->operand_count; i++) {
        ZydisDecodedOperand *operand = &operands[i];
        bool memory = operand->type == ZYDIS_OPERAND_TYPE_MEMORY;
        bool general = operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
                       ZydisRegisterGetClass(operand->reg.value) <= ZYDIS_REGCLASS_GPR64;
        bool reg = operand->encoding == ZYDIS_OPERAND_ENCODING_MODRM_REG;
        bool rm = operand->encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM ||
                  operand->encoding == ZYDIS_OPERAND_ENCODING_OPCODE;
        if ((general && reg && rex2 & 0x40) || ((memory || (general && rm)) && rex2 & 0x10))
            operand->attributes |= OPERAND_UPPER;
        if (memory && rex2 & 0x20)
            operand->attributes |= OPERAND_UPPER_INDEX;
    }
}

// Decodes an instruction. One with a REX2 prefix is decoded with REX in its place.
static bool body_decode(const ZydisDecoder *decoder, const uint8_t *code, size_t bytes,
                        ZydisDecodedInstruction *in, ZydisDecodedOperand *operands)
{
    enum { LONGEST = 15 };
    uint8_t other[LONGEST + 1];
    size_t at = 0, n;
    while (at < bytes && memchr("\x66\xf0\xf2\xf3", code[at], 4))
        at++;
    if (decoder->machine_mode != ZYDIS_MACHINE_MODE_LONG_64 || at + 2 >= bytes ||
        at + 2 >= LONGEST || code[at] != 0xd5)
        return ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, code, bytes, in, operands));
    int rex2 = code[at + 1];
    bool second_map = rex2 & 0x80;
    memcpy(other, code, at);
    other[at] = (uint8_t)(0x40 | (rex2 & 15));
    other[at + 1] = 0x0f;
    n = at + 1 + second_map;
    size_t rest = bytes - at - 2 < LONGEST - at - 2 ? bytes - at - 2 : LONGEST - at - 2;
    memcpy(other + n, code + at + 2, rest);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, other, n + rest, in, operands)))
        return false;
    in->length = (ZyanU8)(in->length + !second_map);
    mark_upper(in, operands, rex2);
    return true;
}

void text_body_read(const struct text_script *script, const uint8_t *code, size_t bytes, int bits,
                    double load_clk, struct text_body *body)
{
    static struct walk walk;
    ZydisDecoder decoder;
    ZydisDecodedInstruction in;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecoderInit(&decoder,
                     bits == 64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
                     bits == 64 ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
    *body = (struct text_body){0};
    walk.script = script;
    walk.load_clk = load_clk;
    walk.nsteps = 0;
    memset(walk.places, 0, sizeof walk.places);
    memset(walk.stored, 0, sizeof walk.stored);
    memset(walk.beside, 0, sizeof walk.beside);
    walk.left = 0;
    for (size_t at = 0; at < bytes && walk.nsteps < STEPS_MAX; at += in.length) {
        if (!body_decode(&decoder, code + at, bytes - at, &in, operands)) {
            body->lacking = true;
            break;
        }
        walk_instruction(&walk, &in, operands, body);
    }
    body->chain_clk = walk_chain_clk(&walk);
}

// Returns the longest time over all unions of the sets in demand.
static double ports_clk(const uint32_t *sets, const double *uops, int n)
{
    double worst_clk = 0;
    for (uint32_t chosen = 1; chosen < 1U << n; chosen++) {
        uint32_t ports = 0;
        double inside = 0;
        for (int i = 0; i < n; i++)
            ports |= chosen >> i & 1 ? sets[i] : 0;
        for (int i = 0; i < n; i++)
            inside += sets[i] & ~ports ? 0 : uops[i];
        worst_clk = fmax(worst_clk, inside / __builtin_popcount(ports));
    }
    return worst_clk;
}

double text_body_clk(const struct text_script *script, const struct text_body *body,
                     uint32_t rounds, double share)
{
    struct text_body all = *body;
    for (int i = 0; i < all.nsets; i++)
        all.uops[i] *= rounds;
    body_use(&all, &script->loop, 1);
    double worst_clk = (body->slots * rounds + 1) / (script->width * share);
    worst_clk = fmax(worst_clk, ports_clk(all.sets, all.uops, all.nsets) / share);
    return fmax(worst_clk, fmax(body->chain_clk, body->leave_clk) * rounds);
}
