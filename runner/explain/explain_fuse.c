// SPDX-License-Identifier: MIT
#include "explain_fuse.h"

#include "util/mem.h"
#include "util/quantile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Cycles of a pair between one slot less and all of them: less is noise.
static const double FUSED_LEAST_CLK = 0.05;
// Share of points that may be too low by noise.
static const double NOISE_SHARE = 0.01;

// Returns the number of the jump's condition, o, b, z, be, s, p, l or le; opposite conditions fuse
// alike and share it. -1: it has none.
static int jump_condition(const struct block_instr *jump)
{
    unsigned opcode = jump->in.opcode;
    bool is_short = jump->in.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (opcode & 0xf0) == 0x70,
         is_near = jump->in.opcode_map == ZYDIS_OPCODE_MAP_0F && (opcode & 0xf0) == 0x80;
    return is_short || is_near ? (int)(opcode & 0x0e) : -1;
}

// Names the variant of the property by mnemonic and kinds of operands. With registers alone it is
// the mnemonic, unless that stands for constants.
static void writer_names(const struct block_instr *writer, char names[2][32])
{
    bool memory = false, constant = false;
    char mnemonic[16] = "";
    snprintf(mnemonic, sizeof mnemonic, "%s", ZydisMnemonicGetString(writer->in.mnemonic));
    for (int i = 0; i < writer->in.operand_count_visible; i++) {
        memory |= writer->ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY;
        constant |= writer->ops[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    }
    const char *kind = memory ? (constant ? "_mem_imm" : "_mem") : constant ? "_imm" : "_reg";
    snprintf(names[0], sizeof names[0], "%s%s", mnemonic, kind);
    snprintf(names[1], sizeof names[1], "%s", memory ? "" : mnemonic);
}

static const struct property_value *find_value(const struct property_values *measured,
                                               const char *variant, int condition)
{
    for (int i = 0; i < measured->n; i++)
        if (strcmp(measured->points[i].variant, variant) == 0 &&
            (int)measured->points[i].x == condition)
            return &measured->points[i];
    return NULL;
}

int fuse_pair(const struct property_values *measured, const struct block_instr *writer,
              const struct block_instr *jump)
{
    char names[2][32];
    int condition = jump_condition(jump);
    if (condition < 0 || measured->n == 0)
        return -1;
    writer_names(writer, names);
    const struct property_value *value = find_value(measured, names[0], condition);
    if (!value)
        value = find_value(measured, names[1], condition);
    if (!value)
        return -1;
    double least = value->y, most = value->y;
    for (int i = 0; i < measured->n; i++) {
        least = measured->points[i].y < least ? measured->points[i].y : least;
        most = measured->points[i].y > most ? measured->points[i].y : most;
    }
    return most - least > FUSED_LEAST_CLK && value->y < (least + most) / 2;
}

double fuse_mispredicted_clk(const struct property_values *measured)
{
    static const double per_branch = 2; // of random branches every second is predicted wrong
    double least = NAN;
    for (int i = 0; i < measured->n; i++) {
        const struct property_value *random = &measured->points[i];
        const struct property_value *constant =
            strcmp(random->variant, "random") == 0
                ? find_value(measured, "constant", (int)random->x)
                : NULL;
        if (constant)
            least = fmin(least, per_branch * (random->y - constant->y));
    }
    return least > 0 ? least : (double)NAN;
}

double fuse_taken_clk(const struct property_values *measured)
{
    if (measured->n == 0)
        return NAN;
    double *clk = xcalloc((size_t)measured->n, sizeof *clk);
    for (int i = 0; i < measured->n; i++)
        clk[i] = measured->points[i].y;
    quantile_sort(clk, measured->n);
    double least = quantile_of(clk, measured->n, NOISE_SHARE);
    free(clk);
    return least;
}
