// SPDX-License-Identifier: MIT
#include "explain_table.h"

#include "check/check.h"
#include "explain_fuse.h"
#include "list/list_mnemonic.h"
#include "util/paths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- Description. ---

static void signature_register(const ZydisDecodedOperand *op, struct strbuf *out)
{
    static const char *const names[] = {
        [ZYDIS_REGCLASS_GPR8] = "r8",    [ZYDIS_REGCLASS_GPR16] = "r16",
        [ZYDIS_REGCLASS_GPR32] = "r32",  [ZYDIS_REGCLASS_GPR64] = "r64",
        [ZYDIS_REGCLASS_X87] = "st",     [ZYDIS_REGCLASS_MMX] = "mm",
        [ZYDIS_REGCLASS_XMM] = "x",      [ZYDIS_REGCLASS_YMM] = "y",
        [ZYDIS_REGCLASS_ZMM] = "z",      [ZYDIS_REGCLASS_MASK] = "k",
        [ZYDIS_REGCLASS_SEGMENT] = "seg"};
    ZydisRegisterClass class = ZydisRegisterGetClass(op->reg.value);
    bool high = op->reg.value >= ZYDIS_REGISTER_AH && op->reg.value <= ZYDIS_REGISTER_BH;
    strbuf_printf(out, " %s%s",
                  (size_t) class < ARRAY_LEN(names) && names[class] ? names[class] : "other",
                  high ? "h" : "");
}

static void signature_memory(const struct block_instr *instr, const ZydisDecodedOperand *op,
                             struct strbuf *out)
{
    bool base = op->mem.base != ZYDIS_REGISTER_NONE, index = op->mem.index != ZYDIS_REGISTER_NONE;
    if (op->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
        strbuf_printf(out, " agen:%d%d%d%d:%d", base, op->mem.base == ZYDIS_REGISTER_RIP, index,
                      index && op->mem.scale > 1,
                      op->mem.disp.has_displacement ? instr->in.raw.disp.size : 0);
    else if (op->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
        strbuf_printf(out, " vm%d:%d", op->size, (int)ZydisRegisterGetClass(op->mem.index));
    else
        strbuf_printf(out, " m%d", op->size);
}

// Appends the description by which instructions are matched: mnemonic, encoding, prefixes, kinds
// and widths of operands, decorations.
static void table_signature(const struct block_instr *instr, struct strbuf *out)
{
    enum {
        PREFIXES = ZYDIS_ATTRIB_HAS_LOCK | ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
                   ZYDIS_ATTRIB_HAS_REPNE
    };
    const ZydisDecodedInstruction *in = &instr->in;
    int immediates = 0;
    strbuf_printf(out, "%s %d %llx", ZydisMnemonicGetString(in->mnemonic), (int)in->encoding,
                  (unsigned long long)(in->attributes & PREFIXES));
    for (int i = 0; i < in->operand_count_visible; i++) {
        const ZydisDecodedOperand *op = &instr->ops[i];
        if (op->encoding == ZYDIS_OPERAND_ENCODING_MASK)
            continue;
        if (op->type == ZYDIS_OPERAND_TYPE_REGISTER)
            signature_register(op, out);
        else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY)
            signature_memory(instr, op, out);
        else if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
            strbuf_printf(out, " %s%d", op->imm.is_relative ? "rel" : "i",
                          immediates < 2 ? in->raw.imm[immediates++].size : 0);
    }
    if (in->encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX &&
        in->encoding != ZYDIS_INSTRUCTION_ENCODING_MVEX)
        return;
    bool mask = in->avx.mask.reg != ZYDIS_REGISTER_NONE && in->avx.mask.reg != ZYDIS_REGISTER_K0;
    strbuf_printf(out, " {%d%d %d %d %d}", mask,
                  mask && (in->avx.mask.mode == ZYDIS_MASK_MODE_ZEROING ||
                           in->avx.mask.mode == ZYDIS_MASK_MODE_CONTROL_ZEROING),
                  in->avx.broadcast.is_static ? 0 : (int)in->avx.broadcast.mode,
                  in->avx.rounding.mode != ZYDIS_ROUNDING_MODE_INVALID, in->avx.has_sae);
}

// --- Matching. ---

// Returns true if the instruction has the constants that belong to the row's form.
static bool row_constants_fit(const struct table_row *row, const struct block_instr *instr)
{
    const struct list_row *list = row->row;
    for (int i = 0, j = 0; i < list->nops && j < instr->in.operand_count_visible; i++, j++) {
        while (j < instr->in.operand_count_visible &&
               instr->ops[j].encoding == ZYDIS_OPERAND_ENCODING_MASK)
            j++;
        if (list->ops[i].kind == OPERAND_IMM && list->ops[i].has_value &&
            instr->ops[j].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
            instr->ops[j].imm.value.s != row->instr.ops[j].imm.value.s)
            return false;
    }
    return true;
}

// Ranks the fit of a row; higher is better, -1: it is another form.
static int row_fits(const struct table_row *row, const struct block_instr *instr)
{
    if (row->row->same && !instr->same)
        return -1;
    if (!row_constants_fit(row, instr))
        return -1;
    int rank = 100 - row->row->noptions;
    rank += row->row->same == instr->same ? 1000 : 0;
    rank += row->form ? 500 : 0;
    rank +=
        row->instr.in.opcode == instr->in.opcode && row->instr.in.opcode_map == instr->in.opcode_map
            ? 200
            : 0;
    if (row->row->has_mask || row->row->has_fill || row->row->nontemporal)
        rank -= 50;
    return rank;
}

const struct table_row *table_match(const struct explain_table *table,
                                    const struct block_instr *instr)
{
    const struct table_row *best = NULL;
    struct strbuf signature = {0};
    int rank = -1;
    table_signature(instr, &signature);
    for (int i = 0; i < table->nrows; i++) {
        if (strcmp(table->rows[i].signature, strbuf_text(&signature)) != 0)
            continue;
        int fits = row_fits(&table->rows[i], instr);
        if (fits > rank) {
            rank = fits;
            best = &table->rows[i];
        }
    }
    strbuf_free(&signature);
    return best;
}

// --- Loading. ---

static bool wanted_row(const struct list_row *row, const bool *wanted, int bits)
{
    char canonical[64];
    const char *space = strrchr(row->mnemonic, ' ');
    if (row->bits != bits || row->macro.file)
        return false;
    list_mnemonic_canonical(space ? space + 1 : row->mnemonic, canonical, sizeof canonical);
    for (int m = 1; m <= ZYDIS_MNEMONIC_MAX_VALUE; m++)
        if (wanted[m] && strcmp(ZydisMnemonicGetString((ZydisMnemonic)m), canonical) == 0)
            return true;
    return false;
}

// Decodes the machine code of each row.
static int table_decode(struct explain_table *table, const struct check_code *codes, int n,
                        const unsigned char *bytes, int bits, struct err *err)
{
    struct err ignored = {0};
    (void)err;
    table->rows = arena_alloc(&table->arena, ((size_t)n + 1) * sizeof *table->rows);
    for (int i = 0; i < n; i++) {
        struct block one;
        struct arena scratch = {0};
        uint8_t *code = arena_alloc(&table->arena, codes[i].len + 1);
        memcpy(code, bytes + codes[i].offset, codes[i].len);
        if (!codes[i].refused &&
            block_read(code, codes[i].len, bits, &one, &scratch, &ignored) == 0 && one.n == 1) {
            struct strbuf signature = {0};
            struct table_row *row = &table->rows[table->nrows++];
            row->row = codes[i].row;
            row->instr = one.instrs[0];
            row->instr.text = arena_strdup(&table->arena, one.instrs[0].text);
            table_signature(&row->instr, &signature);
            row->signature = arena_strdup(&table->arena, strbuf_text(&signature));
            strbuf_free(&signature);
        }
        arena_free(&scratch);
    }
    return 0;
}

static int table_assemble(struct explain_table *table, const bool *wanted, int bits,
                          struct err *err)
{
    if (select_rows(NULL, 0, NULL, &table->selection, err) != 0)
        return -1;
    struct check_code *codes = xcalloc((size_t)table->selection.nrows, sizeof *codes);
    int n = 0, status = 0;
    for (int i = 0; i < table->selection.nrows; i++)
        if (wanted_row(table->selection.rows[i].row, wanted, bits))
            codes[n++].row = table->selection.rows[i].row;
    struct check check = {.lists = NULL};
    const unsigned char *bytes = NULL;
    if (n > 0)
        status = check_assemble(&check, codes, n, bits, &bytes, err);
    if (status == 0)
        status = table_decode(table, codes, n, bytes, bits, err);
    check_free(&check);
    free(codes);
    return status;
}

static int table_read(struct explain_table *table, const struct explain_from *from, struct err *err)
{
    const char **mnemonics = xcalloc((size_t)table->nrows + CROSS_MNEMONICS, sizeof *mnemonics);
    int n = 0;
    for (; n < CROSS_MNEMONICS; n++)
        mnemonics[n] = cross_mnemonics[n];
    for (int i = 0; i < table->nrows; i++) {
        int known = 0;
        while (known < n && strcmp(mnemonics[known], table->rows[i].row->mnemonic) != 0)
            known++;
        if (known == n)
            mnemonics[n++] = table->rows[i].row->mnemonic;
    }
    struct store_filter filter = {.uarch = from->uarch, .run_id = from->run_id};
    int status = store_narrow(from->store, mnemonics, n, err);
    if (status == 0)
        status = known_read(from->store, &filter, KNOWN_FALSE, &table->data, err);
    free(mnemonics);
    if (status == 0)
        cross_read(table->data.forms, table->data.nforms, &table->cross);
    for (int i = 0; status == 0 && i < table->nrows; i++) {
        const struct list_row *row = table->rows[i].row;
        struct stored_form id = stored_form_of(row);
        table->rows[i].cross = &table->cross;
        table->rows[i].form =
            stored_form_find(&id, table->data.forms, table->data.nforms, sizeof *table->data.forms);
    }
    table->model = table->data.model;
    struct property_values values = {.n = 0};
    if (status == 0)
        status = store_get_property_values(from->store, from->uarch, "bypass_delay", &values,
                                           &table->arena, err);
    bypass_read(values.points, values.n, &table->bypass);
    if (status == 0)
        status = store_get_property_values(from->store, from->uarch, "banks", &values,
                                           &table->arena, err);
    banks_read(values.points, values.n, &table->banks);
    if (status == 0)
        status = store_get_property_values(from->store, from->uarch, "code_density", &values,
                                           &table->arena, err);
    front_read(values.points, values.n, &table->density);
    if (status == 0)
        status = store_get_property_values(from->store, from->uarch, "dependent_groups", &values,
                                           &table->arena, err);
    again_read(values.points, values.n, &table->again);
    if (status == 0)
        status = store_get_property_values(from->store, from->uarch, "macro_fusion", &table->fusion,
                                           &table->arena, err);
    if (status == 0)
        status = store_get_property_values(from->store, from->uarch, "taken_branches",
                                           &table->taken, &table->arena, err);
    if (status == 0)
        status = store_get_property_values(from->store, from->uarch, "misprediction", &values,
                                           &table->arena, err);
    table->mispredicted_clk = status == 0 ? fuse_mispredicted_clk(&values) : (double)NAN;
    return status;
}

int table_load(const struct explain_from *from, const struct block *blocks, int nblocks,
               struct explain_table *table, struct err *err)
{
    bool wanted[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {false};
    *table = (struct explain_table){.nrows = 0, .mispredicted_clk = NAN};
    bypass_read(NULL, 0, &table->bypass);
    banks_read(NULL, 0, &table->banks);
    front_read(NULL, 0, &table->density);
    again_read(NULL, 0, &table->again);
    cross_read(NULL, 0, &table->cross);
    for (int b = 0; b < nblocks; b++)
        for (int i = 0; i < blocks[b].n; i++)
            wanted[blocks[b].instrs[i].in.mnemonic] = true;
    if (bypass_read_classes(path_data("cpuinfo/instruction_classes.csv"), &table->bypass, err) != 0)
        return -1;
    if (table_assemble(table, wanted, nblocks > 0 ? blocks[0].bits : 64, err) != 0)
        return -1;
    return from->store ? table_read(table, from, err) : 0;
}

void table_free(struct explain_table *table)
{
    known_free(&table->data);
    selection_free(&table->selection);
    arena_free(&table->arena);
}
