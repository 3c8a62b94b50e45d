// SPDX-License-Identifier: MIT
// Bridges between register classes. The table macros/bridges.csv has single steps; a chain takes
// the shortest way through at most four of them. A point that must hold a definite value (an
// address, an operand of a division) gets it back by two one-cycle instructions that keep the
// dependency: and with zero, then add the value.
#include "plan_internal.h"

#include "util/csvfile.h"
#include "util/paths.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BRIDGE_STEPS_MAX = 4, BRIDGE_RAX = 0 };

// A place at which a bridge starts or ends.
struct node {
    enum chain_class class;
    int bits;         // memory: width; else 0
    const char *kind; // flags: one of them; x87: "st0"; memory: "int", "float"; "": any
};

struct bridge {
    struct node from, to;
    const char *text, *isa;
    double min_clk;
    bool certain;
    bool clobbers_rax;
};

static const struct node bridge_gpr = {.class = CLASS_GPR, .kind = ""};
static struct bridge *bridges;
static size_t nbridges;
static struct err bridges_err;
static int bridges_status;

static bool bridge_parse_node(const char *name, struct node *node)
{
    static const struct {
        const char *name;
        enum chain_class class;
    } classes[] = {
        {"gpr",   CLASS_GPR  },
        {"vec",   CLASS_VEC  },
        {"mask",  CLASS_MASK },
        {"mmx",   CLASS_MMX  },
        {"x87",   CLASS_X87  },
        {"flags", CLASS_FLAGS},
        {"fpsw",  CLASS_FPSW },
    };
    size_t len = strcspn(name, ".");
    *node = (struct node){.kind = name[len] ? name + len + 1 : ""};
    for (size_t i = 0; i < ARRAY_LEN(classes); i++)
        if (strncmp(name, classes[i].name, len) == 0 && classes[i].name[len] == '\0') {
            node->class = classes[i].class;
            return true;
        }
    if (strncmp(name, "mem", 3) != 0)
        return false;
    node->class = CLASS_MEM;
    node->bits = atoi(name + 3);
    return node->bits > 0;
}

// Parses one record of the table; columns as in bridges_read().
static int bridge_parse(const char *path, const struct csv_record *record, struct bridge *bridge,
                        struct err *err)
{
    char *end;
    for (int i = 0; i < 2; i++)
        if (!bridge_parse_node(record->fields[i], i ? &bridge->to : &bridge->from))
            return csv_record_error(path, record, i, err,
                                    "unknown place '%s': gpr, vec, mask, mmx, x87, x87.st0, fpsw, "
                                    "flags, flags.cf, mem8 to mem512, mem64.int, mem64.float",
                                    record->fields[i]);
    bridge->text = record->fields[2];
    bridge->isa = record->fields[3];
    bridge->min_clk = strtod(record->fields[4], &end);
    if (end == record->fields[4] || *end || !(bridge->min_clk >= 0 && bridge->min_clk < 100))
        return csv_record_error(path, record, 4, err,
                                "min_clk must be a number of cycles from 0 to 99");
    bridge->certain = strcmp(record->fields[5], "yes") == 0;
    if (!bridge->certain && strcmp(record->fields[5], "no") != 0)
        return csv_record_error(path, record, 5, err, "certain must be yes or no");
    bridge->clobbers_rax = strcmp(record->fields[6], "rax") == 0;
    if (!bridge->clobbers_rax && *record->fields[6])
        return csv_record_error(path, record, 6, err, "clobbers must be rax or empty");
    return 0;
}

static void bridges_read(void)
{
    static const char *const columns[] = {"from",    "to",      "text",     "isa",
                                          "min_clk", "certain", "clobbers", "note"};
    static struct csv_file file; // owns the text of the table as long as the program runs
    const struct csv_spec spec = {columns, ARRAY_LEN(columns), 1};
    bridges_status = csv_file_read(path_data("macros/bridges.csv"), &spec, &file, &bridges_err);
    if (bridges_status != 0)
        return;
    bridges = xcalloc(file.nrecords + 1, sizeof *bridges);
    for (; nbridges < file.nrecords; nbridges++) {
        bridges_status =
            bridge_parse(file.path, &file.records[nbridges], &bridges[nbridges], &bridges_err);
        if (bridges_status != 0)
            return;
    }
}

int bridges_load(struct err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, bridges_read);
    return bridges_status == 0 ? 0 : err_set(err, "%s", bridges_err.text);
}

// Returns true if the bridge fits the row: legacy SSE and VEX instructions do not mix, and of
// AVX-512 only extensions that the row itself needs can be assumed.
static bool bridge_usable(const struct bridge *bridge, const struct draft *draft)
{
    const struct row_plan *rp = draft->rp;
    const char *isa = bridge->isa;
    if (bridge->clobbers_rax && !draft->clobbers_rax)
        return false;
    // The x87 stack and the MMX registers share their storage.
    if (strcmp(isa, rp->x87 ? "MMX" : "X87") == 0)
        return false;
    // Bridges with 64-bit general-purpose registers. (No other place has a view of 64 bits.)
    if (rp->row->bits == 32 && strstr(bridge->text, ":64}"))
        return false;
    if (strncmp(isa, "SSE", 3) == 0)
        return !rp->avx;
    if (strncmp(isa, "AVX", 3) != 0)
        return true;
    if (strncmp(isa, "AVX512", 6) != 0)
        return rp->avx;
    return rp->avx && strstr(rp->row->isa, strcmp(isa, "AVX512F") == 0 ? "AVX512" : isa);
}

static bool bridge_fits(const struct node *offered, const struct node *wanted)
{
    if (offered->class != wanted->class || offered->bits != wanted->bits)
        return false;
    return !*offered->kind || strcmp(offered->kind, wanted->kind) == 0;
}

// Finds `steps` bridges that lead from one node to the other.
static bool bridge_find(const struct draft *draft, const struct node *from, const struct node *to,
                        int steps, const struct bridge **way)
{
    for (size_t i = 0; i < nbridges; i++) {
        const struct bridge *bridge = &bridges[i];
        if (!bridge_usable(bridge, draft) || !bridge_fits(&bridge->from, from))
            continue;
        if (steps == 1 ? !bridge_fits(&bridge->to, to) : bridge->to.class == CLASS_FLAGS)
            continue;
        way[0] = bridge;
        if (steps == 1 || bridge_find(draft, &bridge->to, to, steps - 1, way + 1))
            return true;
    }
    return false;
}

static struct node bridge_node(const struct draft *draft, int index, bool source)
{
    const struct row_plan *rp = draft->rp;
    const struct point *point = &rp->points[index];
    struct node node = {.class = point->class, .kind = ""};
    if (point->class == CLASS_MEM) {
        node.bits = point->bits;
        if (rp->x87)
            node.kind = rp->row->element == ELEMENT_INT ? "int" : "float";
    }
    if (point->class == CLASS_X87 && draft->reg[index] == 0)
        node.kind = "st0";
    if (point->class == CLASS_FLAGS) {
        node.kind = point->op->text;
        // For results in all flags: a flag that stays 0 keeps the chain's values simple. As a
        // source, all flags are only reached by a bridge that writes all.
        if (!source && strcmp(node.kind, "flags") == 0)
            node.kind = draft->flag ? draft->flag : rp->row->element == ELEMENT_INT ? "cf" : "pf";
    }
    return node;
}

// Writes a place. Of memory `reg` is the displacement: that of an operand at the ends of the way, a
// place of its own between them.
static void bridge_put_place(const struct draft *draft, const struct node *node, int reg, int bits,
                             struct strbuf *out)
{
    const struct row_plan *rp = draft->rp;
    static const enum operand_kind kinds[CLASS_COUNT] = {
        [CLASS_GPR] = OPERAND_GPR, [CLASS_VEC] = OPERAND_VEC, [CLASS_MASK] = OPERAND_MASK,
        [CLASS_MMX] = OPERAND_MMX, [CLASS_X87] = OPERAND_X87,
    };
    if (node->class == CLASS_MEM) {
        const struct operand memory = {.kind = OPERAND_MEM, .bits = node->bits};
        // By the register that the operand's address has, since CPUs may find stores by it.
        render_memory(&memory, rp->no_rex ? rp->data_reg : rp->base_reg, rp->row->bits, reg, out);
        return;
    }
    if (!bits)
        bits = node->class == CLASS_VEC ? rp->vec_bits : rp->row->bits;
    render_register(kinds[node->class], reg, bits, false, out);
}

// Returns true if the register has a name at this width: in 32-bit mode only the first four
// general-purpose registers have one for their low byte.
static bool bridge_has_view(const struct row_plan *rp, const struct node *node, int reg, int bits)
{
    return node->class != CLASS_GPR || bits != 8 || rp->row->bits == 64 || reg < 4;
}

// Appends instructions separated by `;`.
static void bridge_put_lines(struct draft *draft, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, ";");
        draft_line(draft, "%.*s", (int)len, text);
        text += len + strspn(text + len, "; ");
    }
}

// Appends the bridge's instructions with the placeholders {from} {from:BITS} {to} {to:BITS} {to+1}
// filled.
static void bridge_put(struct draft *draft, const struct bridge *bridge, int from, int to)
{
    struct strbuf line = {0};
    for (const char *at = bridge->text; *at;) {
        size_t len = strcspn(at, "{");
        strbuf_put(&line, at, len);
        at += len;
        if (!*at)
            break;
        bool is_to = strncmp(at, "{to", 3) == 0;
        const char *colon = at + (is_to ? 3 : 5);
        int bits = *colon == ':' ? atoi(colon + 1) : 0;
        draft->out_of_regs |= !bridge_has_view(draft->rp, is_to ? &bridge->to : &bridge->from,
                                               is_to ? to : from, bits);
        int above = *colon == '+' ? atoi(colon) : 0;
        bridge_put_place(draft, is_to ? &bridge->to : &bridge->from, (is_to ? to : from) + above,
                         bits, &line);
        at += strcspn(at, "}");
        at += *at == '}';
    }
    bridge_put_lines(draft, strbuf_text(&line));
    strbuf_free(&line);
    draft->extra_clk += bridge->min_clk;
    draft->certain &= bridge->certain;
}

// Returns the x87 register's number after an instruction that has pushed: it lies deeper.
static int bridge_x87(const struct draft *draft, int reg)
{
    return draft->rp->x87_moves > 0 ? reg + draft->rp->x87_moves : reg;
}

// Restores the constant by a conditional move whose condition is true: it waits for both sources.
static void bridge_restore_x87(struct draft *draft, int constant, int from, int to)
{
    bool in_place = from == 0 && to == 0;
    if (!in_place)
        draft_line(draft, "fld st%d", from);
    draft_line(draft, "stc");
    draft_line(draft, "fcmovb st0, st%d", bridge_x87(draft, constant) + !in_place);
    if (!in_place)
        draft_line(draft, "fstp st%d", to + 1);
    draft->certain = false;
    draft->extra_clk += 1;
}

// Both instructions take one cycle on every x86-64 CPU.
static void bridge_restore_gpr(struct draft *draft, int constant, int from, int to)
{
    draft_line(draft, "and %s, %s", draft_gpr(draft, from), draft_gpr(draft, draft_zero(draft)));
    draft_line(draft, "lea %s, [%s+%s]", draft_gpr(draft, to), draft_gpr(draft, from),
               draft_gpr(draft, constant));
    draft->extra_clk += 2;
}

// Restores the value that the point needs, in dependence on `from`.
static void bridge_restore(struct draft *draft, int s, int from, int to)
{
    const struct point *source = &draft->rp->points[s];
    int constant = draft_constant(draft, s);
    if (source->class == CLASS_MASK) {
        draft_line(draft, "korw k%d, k%d, k%d", to, from, constant);
        draft->certain = false;
        draft->extra_clk += 1;
    } else if (source->class == CLASS_VEC) {
        char kind = source->bits == 256 ? 'y' : 'x';
        draft_line(draft, "vpor %cmm%d, %cmm%d, %cmm%d", kind, to, kind, from, kind, constant);
        draft->certain = false;
        draft->extra_clk += 1;
    } else if (draft->rp->x87 && source->class != CLASS_GPR) {
        bridge_restore_x87(draft, constant, from, to);
    } else {
        bridge_restore_gpr(draft, constant, from, to);
    }
}

static int bridge_middle(struct draft *draft, enum chain_class class)
{
    if (draft->bridge_reg[class] < 0)
        draft->bridge_reg[class] = draft_take_bridge(draft, class);
    int reg = draft->bridge_reg[class];
    return class == CLASS_X87 ? bridge_x87(draft, reg) : reg;
}

// Returns true if rax may be overwritten between the instruction and the source of the next one.
static bool bridge_rax_is_free(const struct draft *draft, int s)
{
    const struct row_plan *rp = draft->rp;
    for (int i = 0; i < rp->npoints; i++) {
        const struct point *point = &rp->points[i];
        if (draft->value_reg[i] == BRIDGE_RAX && point->class == CLASS_GPR)
            return false;
        // Points that are also written are chained, or broken in front of the instruction.
        if (i != s && point->class == CLASS_GPR && draft->reg[i] == BRIDGE_RAX && point->read &&
            !point->written)
            return false;
    }
    return draft->fill_reg[CLASS_GPR] != BRIDGE_RAX && draft->bridge_reg[CLASS_GPR] != BRIDGE_RAX &&
           draft->zero_gpr != BRIDGE_RAX && draft->memory_gpr != BRIDGE_RAX;
}

// Appends the shortest way from a place in register `at` to another (`to`: its register; -1: any;
// of memory these are displacements). Returns the register in which the way ends, -1 if there is
// none.
static int bridge_walk(struct draft *draft, const struct node *from, int at,
                       const struct node *goal, int to)
{
    const struct bridge *way[BRIDGE_STEPS_MAX];
    int steps = 1;
    while (steps <= BRIDGE_STEPS_MAX && !bridge_find(draft, from, goal, steps, way))
        steps++;
    if (steps > BRIDGE_STEPS_MAX)
        return -1;
    for (int i = 0; i < steps; i++)
        if (way[i]->clobbers_rax)
            draft->used[CLASS_GPR] |= 1u << BRIDGE_RAX;
    for (int i = 0; i < steps; i++) {
        enum chain_class class = way[i]->to.class;
        int next = i == steps - 1 ? to : -1;
        if (class == CLASS_FLAGS || class == CLASS_FPSW)
            next = 0;
        else if (next < 0)
            next = class == CLASS_MEM ? DATA_SCRATCH : bridge_middle(draft, class);
        if (class == CLASS_FLAGS)
            draft->flags_at = draft->body.len;
        bridge_put(draft, way[i], at, next);
        at = next;
    }
    return at;
}

// Returns true if x87 memory would get flags or a status word: read as a floating-point number,
// they are a denormal, for which many CPUs take an assist, or zero.
static bool bridge_mistypes(const struct row_plan *rp, const struct point *result,
                            const struct point *source)
{
    return rp->x87 && rp->row->element != ELEMENT_INT && result->class != CLASS_X87 &&
           source->class == CLASS_MEM && source->bits <= rp->row->bits &&
           source->need == NEED_NOTHING;
}

// Goes to memory by way of a general-purpose register, which gets what the memory held.
static bool bridge_write_number(struct draft *draft, const struct node *from, int at,
                                const struct node *to)
{
    if (from->class != CLASS_GPR)
        at = bridge_walk(draft, from, at, &bridge_gpr, -1);
    if (at < 0)
        return false;
    if (draft->memory_gpr < 0) {
        uint64_t bits = to->bits < 64 ? (UINT64_C(1) << to->bits) - 1 : UINT64_MAX;
        draft->memory_gpr = draft_take_helper(draft, CLASS_GPR);
        draft_init_line(draft, "mov %s, 0x%" PRIx64, draft_gpr(draft, draft->memory_gpr),
                        draft->rp->mem_fill & bits);
    }
    bridge_restore_gpr(draft, draft->memory_gpr, at, at);
    return bridge_walk(draft, &bridge_gpr, at, to, draft->disp) >= 0;
}

bool bridge_write(struct draft *draft, int d, int s)
{
    const struct row_plan *rp = draft->rp;
    const struct point *source = &rp->points[s], *result = &rp->points[d];
    static const struct node x87 = {.class = CLASS_X87, .kind = ""};
    struct node from = bridge_node(draft, d, false), to = bridge_node(draft, s, true);
    int at = result->class == CLASS_MEM ? draft->disp : draft->reg[d];
    int goal = source->class == CLASS_MEM ? draft->disp : draft->reg[s];
    draft->clobbers_rax = bridge_rax_is_free(draft, s);
    if (source->class == CLASS_X87)
        goal = bridge_x87(draft, goal);
    if (bridge_mistypes(rp, result, source))
        return bridge_write_number(draft, &from, at, &to);
    if (source->need == NEED_NOTHING) {
        bool there = source->class == CLASS_X87 && result->class == CLASS_X87 && at == goal;
        return there || bridge_walk(draft, &from, at, &to, goal) >= 0;
    }
    // A definite value is restored in a register of its class; for memory, in another register.
    const struct node *maker = source->class != CLASS_MEM ? &to : rp->x87 ? &x87 : &bridge_gpr;
    if (result->class != maker->class)
        at = bridge_walk(draft, &from, at, maker, -1);
    if (at < 0)
        return false;
    if (source->class != CLASS_MEM) {
        bridge_restore(draft, s, at, goal);
        return true;
    }
    bridge_restore(draft, s, at, at);
    return bridge_walk(draft, maker, at, &to, goal) >= 0;
}
