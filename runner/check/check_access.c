// SPDX-License-Identifier: MIT
// Compares access marks with the decoder. The rules of translation: a conditional write of a
// register keeps its old content, so it is read and written (`+`); one of memory is only a write,
// since a store that does not happen reads nothing. Flags that are undefined afterwards count as
// written. Memory at implicit addresses is not part of a row, its base register is. Implicit parts
// of one register (al and ax of `mul r8`) count as one.
#include "check_access.h"

#include <string.h>

enum { IMPLICIT_DECODED_MAX = 24 };

struct implicit_access {
    struct register_id id;
    const char *name;
    int access;
    int parts; // number of accesses merged
};

struct register_id decode_register_id(const struct decode *decode, ZydisRegister reg)
{
    static const struct {
        ZydisRegisterClass class;
        enum operand_kind kind;
    } kinds[] = {
        {ZYDIS_REGCLASS_GPR8,    OPERAND_GPR  },
        {ZYDIS_REGCLASS_GPR16,   OPERAND_GPR  },
        {ZYDIS_REGCLASS_GPR32,   OPERAND_GPR  },
        {ZYDIS_REGCLASS_GPR64,   OPERAND_GPR  },
        {ZYDIS_REGCLASS_X87,     OPERAND_X87  },
        {ZYDIS_REGCLASS_MMX,     OPERAND_MMX  },
        {ZYDIS_REGCLASS_XMM,     OPERAND_VEC  },
        {ZYDIS_REGCLASS_YMM,     OPERAND_VEC  },
        {ZYDIS_REGCLASS_ZMM,     OPERAND_VEC  },
        {ZYDIS_REGCLASS_TMM,     OPERAND_TILE },
        {ZYDIS_REGCLASS_MASK,    OPERAND_MASK },
        {ZYDIS_REGCLASS_SEGMENT, OPERAND_SEG  },
        {ZYDIS_REGCLASS_BOUND,   OPERAND_BOUND},
    };
    if (reg == ZYDIS_REGISTER_MXCSR)
        return (struct register_id){.kind = OPERAND_MXCSR, .bits = 32};
    if (reg == ZYDIS_REGISTER_X87STATUS)
        return (struct register_id){.kind = OPERAND_FPSW, .bits = 16};
    struct register_id id = {.kind = OPERAND_KIND_COUNT};
    ZydisRegisterClass class = ZydisRegisterGetClass(reg);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (kinds[i].class == class) {
            id.kind = kinds[i].kind;
            id.number = ZydisRegisterGetId(reg);
            id.bits = ZydisRegisterGetWidth(decode->mode, reg);
        }
    if (class == ZYDIS_REGCLASS_GPR8 && id.number >= 4) { // al cl dl bl ah ch dh bh spl ...
        id.high8 = id.number < 8;
        id.number -= 4;
    }
    return id;
}

static const char *access_name(int access)
{
    static const char *const names[] = {"not touched", "read", "written", "read and written"};
    return names[access & (ACCESS_READ | ACCESS_WRITE)];
}

static int access_of_actions(ZydisOperandActions actions, bool memory)
{
    int access = 0;
    if (actions & ZYDIS_OPERAND_ACTION_MASK_READ)
        access |= ACCESS_READ;
    if (actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
        access |= ACCESS_WRITE;
    bool conditional =
        (actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == ZYDIS_OPERAND_ACTION_CONDWRITE;
    if (conditional && !memory)
        access |= ACCESS_READ;
    return access;
}

void decode_check_access(const struct decode *decode, int i, const ZydisDecodedOperand *op)
{
    const struct operand *operand = &decode->code->row->ops[i];
    char field[32];
    if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE || operand->kind == OPERAND_AGEN)
        return;
    int access = access_of_actions(op->actions, op->type == ZYDIS_OPERAND_TYPE_MEMORY);
    if (access == operand->access)
        return;
    snprintf(field, sizeof field, "%s.access", operand->name);
    decode->problem(decode, field, "this operand is %s here; for the decoder it is %s",
                    access_name(operand->access), access_name(access));
}

static bool register_ids_equal(const struct register_id *a, const struct register_id *b)
{
    return a->kind == b->kind && a->number == b->number;
}

// Adds an access to the list; accesses to (parts of) one register are merged.
static int implicit_add(struct implicit_access *list, int n, struct register_id id,
                        const char *name, int access)
{
    for (int i = 0; i < n; i++)
        if (register_ids_equal(&list[i].id, &id)) {
            list[i].access |= access;
            list[i].parts++;
            return n;
        }
    if (n < IMPLICIT_DECODED_MAX)
        list[n++] = (struct implicit_access){id, name, access, 1};
    return n;
}

static int implicit_add_decoded(struct implicit_access *list, int n, const struct decode *decode,
                                ZydisRegister reg, int access)
{
    struct register_id id = decode_register_id(decode, reg);
    if (id.bits == 0 || id.kind == OPERAND_SEG)
        return n; // the instruction pointer, control registers, ...
    return implicit_add(list, n, id, ZydisRegisterGetString(reg), access);
}

// Returns true if the register is a written operand: movdir64b has one as base of its hidden
// memory.
static bool implicit_is_visible(const struct decode *decode, ZydisRegister reg)
{
    for (int i = 0; i < decode->in.operand_count_visible; i++)
        if (decode->ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER && decode->ops[i].reg.value == reg)
            return true;
    return false;
}

static int implicit_decoded(const struct decode *decode, struct implicit_access *list)
{
    int n = 0;
    for (int i = 0; i < decode->in.operand_count; i++) {
        const ZydisDecodedOperand *op = &decode->ops[i];
        if (op->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN && !decode->unwritten[i])
            continue;
        if (op->type == ZYDIS_OPERAND_TYPE_REGISTER)
            n = implicit_add_decoded(list, n, decode, op->reg.value,
                                     access_of_actions(op->actions, false));
        if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && !implicit_is_visible(decode, op->mem.base))
            n = implicit_add_decoded(list, n, decode, op->mem.base, ACCESS_READ);
        if (op->type == ZYDIS_OPERAND_TYPE_MEMORY)
            n = implicit_add_decoded(list, n, decode, op->mem.index, ACCESS_READ);
    }
    return n;
}

static int implicit_of_row(const struct list_row *row, struct implicit_access *list)
{
    int n = 0;
    for (int i = 0; i < row->nimplicit; i++) {
        const struct operand *op = &row->implicit[i];
        struct register_id id = {op->kind, op->fixed >= 0 ? op->fixed : 0, op->bits, op->high8};
        if (op->kind != OPERAND_FLAGS)
            n = implicit_add(list, n, id, op->name, op->access);
    }
    return n;
}

static void implicit_compare(const struct decode *decode, const struct implicit_access *here,
                             const struct implicit_access *there)
{
    if (here->parts == 1 && there->parts == 1 && here->id.bits != there->id.bits)
        decode->problem(decode, here->name, "implicit '%s' is %s for the decoder", here->name,
                        there->name);
    else if (here->access != there->access)
        decode->problem(decode, here->name, "implicit '%s' is %s here; for the decoder it is %s",
                        here->name, access_name(here->access), access_name(there->access));
}

void decode_check_implicit(const struct decode *decode)
{
    struct implicit_access decoded[IMPLICIT_DECODED_MAX], written[IMPLICIT_DECODED_MAX];
    int ndecoded = implicit_decoded(decode, decoded);
    int nwritten = implicit_of_row(decode->code->row, written);
    for (int i = 0; i < nwritten; i++) {
        int j = 0;
        while (j < ndecoded && !register_ids_equal(&decoded[j].id, &written[i].id))
            j++;
        if (j < ndecoded)
            implicit_compare(decode, &written[i], &decoded[j]);
        else
            decode->problem(decode, written[i].name, "implicit '%s' is not touched for the decoder",
                            written[i].name);
    }
    for (int j = 0; j < ndecoded; j++) {
        int i = 0;
        while (i < nwritten && !register_ids_equal(&decoded[j].id, &written[i].id))
            i++;
        if (i == nwritten)
            decode->problem(decode, decoded[j].name,
                            "implicit %s is missing; for the decoder it is %s", decoded[j].name,
                            access_name(decoded[j].access));
    }
}

static const struct {
    const char *name;
    ZydisAccessedFlagsMask mask;
} flag_names[] = {
    {"cf", ZYDIS_CPUFLAG_CF},
    {"pf", ZYDIS_CPUFLAG_PF},
    {"af", ZYDIS_CPUFLAG_AF},
    {"zf", ZYDIS_CPUFLAG_ZF},
    {"sf", ZYDIS_CPUFLAG_SF},
    {"of", ZYDIS_CPUFLAG_OF},
    {"df", ZYDIS_CPUFLAG_DF},
};

static ZydisAccessedFlagsMask flags_known(void)
{
    ZydisAccessedFlagsMask known = 0;
    for (size_t i = 0; i < ARRAY_LEN(flag_names); i++)
        known |= flag_names[i].mask;
    return known;
}

static ZydisAccessedFlagsMask flags_of_operand(const struct operand *operand)
{
    if (strcmp(operand->name, "flags") == 0)
        return flags_known() & ~(ZydisAccessedFlagsMask)ZYDIS_CPUFLAG_DF;
    for (size_t i = 0; i < ARRAY_LEN(flag_names); i++)
        if (strcmp(operand->name, flag_names[i].name) == 0)
            return flag_names[i].mask;
    return 0;
}

// Writes "cf =of +zf" into `text`; "none" if empty.
static const char *flags_text(ZydisAccessedFlagsMask read, ZydisAccessedFlagsMask written,
                              char *text, size_t size)
{
    size_t used = 0;
    snprintf(text, size, "none");
    for (size_t i = 0; i < ARRAY_LEN(flag_names); i++) {
        bool r = read & flag_names[i].mask, w = written & flag_names[i].mask;
        if (r || w)
            used += (size_t)snprintf(text + used, size - used, "%s%s%s", used ? " " : "",
                                     r && w ? "+"
                                     : w    ? "="
                                            : "",
                                     flag_names[i].name);
    }
    return text;
}

// Returns true if the flags may stay unwritten, by the decoder: a shift by a count of 0.
static bool flags_conditional(const struct decode *decode)
{
    for (int i = 0; i < decode->in.operand_count; i++) {
        const ZydisDecodedOperand *op = &decode->ops[i];
        if (op->type == ZYDIS_OPERAND_TYPE_REGISTER &&
            ZydisRegisterGetClass(op->reg.value) == ZYDIS_REGCLASS_FLAGS)
            return (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) ==
                   ZYDIS_OPERAND_ACTION_CONDWRITE;
    }
    return false;
}

void decode_check_flags(const struct decode *decode)
{
    const struct list_row *row = decode->code->row;
    ZydisAccessedFlagsMask read = 0, written = 0, row_read = 0, row_written = 0;
    const ZydisAccessedFlags *flags = decode->in.cpu_flags;
    char here[64], there[64];
    if (flags) {
        read = flags->tested & flags_known();
        written =
            (flags->modified | flags->set_0 | flags->set_1 | flags->undefined) & flags_known();
        if (flags_conditional(decode))
            read |= written;
    }
    for (int i = 0; i < row->nimplicit; i++) {
        ZydisAccessedFlagsMask mask = flags_of_operand(&row->implicit[i]);
        row_read |= row->implicit[i].access & ACCESS_READ ? mask : 0;
        row_written |= row->implicit[i].access & ACCESS_WRITE ? mask : 0;
    }
    if (read != row_read || written != row_written)
        decode->problem(decode, "flags", "flags here: %s; for the decoder: %s",
                        flags_text(row_read, row_written, here, sizeof here),
                        flags_text(read, written, there, sizeof there));
}
