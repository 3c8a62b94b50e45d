// SPDX-License-Identifier: MIT
// A linker for one object and a program that is linked already; see link.h. What NASM writes needs
// few kinds of relocation, and all bounds are checked: the object comes from a user's text.
#include "link.h"

#include "gen.h"
#include "load.h"
#include "object_internal.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINK_SECTIONS_MAX = 64 };

struct link {
    struct object core, object;
    uint64_t at[LINK_SECTIONS_MAX]; // addresses of the object's sections; 0: not placed
    struct section symbols;         // of the object
    struct section table_bytes, text_bytes, data_bytes, user_bytes; // of the object
    uint64_t text, data, user; // numbers of .text, .rodata and latput_user; 0: there is none
    struct load_bytes bytes;
    struct arena *arena;
    struct link_faults *faults;
};

// Kinds of relocation: bytes that are filled in, and which values fit.
enum link_fit { FIT_ALL, FIT_SIGNED, FIT_UNSIGNED, FIT_EITHER };
struct link_kind {
    unsigned type;
    const char *name;
    unsigned bytes;
    bool relative; // to its own place
    enum link_fit fit;
};
static const struct link_kind link_kinds_64[] = {
    {R_X86_64_64,    "R_X86_64_64",    8, false, FIT_ALL     },
    {R_X86_64_32,    "R_X86_64_32",    4, false, FIT_UNSIGNED},
    {R_X86_64_32S,   "R_X86_64_32S",   4, false, FIT_SIGNED  },
    {R_X86_64_16,    "R_X86_64_16",    2, false, FIT_EITHER  },
    {R_X86_64_8,     "R_X86_64_8",     1, false, FIT_EITHER  },
    {R_X86_64_PC64,  "R_X86_64_PC64",  8, true,  FIT_ALL     },
    {R_X86_64_PC32,  "R_X86_64_PC32",  4, true,  FIT_SIGNED  },
    {R_X86_64_PLT32, "R_X86_64_PLT32", 4, true,  FIT_SIGNED  },
    {R_X86_64_PC16,  "R_X86_64_PC16",  2, true,  FIT_SIGNED  },
    {R_X86_64_PC8,   "R_X86_64_PC8",   1, true,  FIT_SIGNED  },
};
static const struct link_kind link_kinds_32[] = {
    {R_386_32,    "R_386_32",    4, false, FIT_ALL   },
    {R_386_16,    "R_386_16",    2, false, FIT_EITHER},
    {R_386_8,     "R_386_8",     1, false, FIT_EITHER},
    {R_386_PC32,  "R_386_PC32",  4, true,  FIT_ALL   },
    {R_386_PLT32, "R_386_PLT32", 4, true,  FIT_ALL   },
    {R_386_PC16,  "R_386_PC16",  2, true,  FIT_SIGNED},
    {R_386_PC8,   "R_386_PC8",   1, true,  FIT_SIGNED},
};

static const struct link_kind *link_find_kind(bool is_64, unsigned type)
{
    const struct link_kind *kinds = is_64 ? link_kinds_64 : link_kinds_32;
    size_t n = is_64 ? ARRAY_LEN(link_kinds_64) : ARRAY_LEN(link_kinds_32);
    for (size_t i = 0; i < n; i++)
        if (kinds[i].type == type)
            return &kinds[i];
    return NULL;
}

static bool link_fits(const struct link_kind *kind, int64_t value)
{
    if (kind->fit == FIT_ALL || kind->bytes == sizeof value)
        return true;
    int64_t half = (int64_t)1 << (8 * kind->bytes - 1);
    int64_t least = kind->fit == FIT_UNSIGNED ? 0 : -half;
    int64_t end = kind->fit == FIT_SIGNED ? half : 2 * half;
    return value >= least && value < end;
}

// Finds a section with bytes in the object by its name. Returns its number; 0: there is none.
static uint64_t link_find_section(const struct object *object, const char *wanted,
                                  struct section *section)
{
    for (uint64_t i = 1; i < object->count && i < LINK_SECTIONS_MAX; i++) {
        struct section at;
        const char *name =
            object_section(object, i, &at) ? object_string(object, object->names, at.name) : NULL;
        if (name && strcmp(name, wanted) == 0 && at.type == SHT_PROGBITS) {
            *section = at;
            return i;
        }
    }
    return 0;
}

static int link_place(struct link *link, struct err *err)
{
    uint64_t table = link_find_section(&link->object, GEN_TABLE, &link->table_bytes);
    link->text = link_find_section(&link->object, ".text", &link->text_bytes);
    link->data = link_find_section(&link->object, ".rodata", &link->data_bytes);
    link->user = link_find_section(&link->object, "latput_user", &link->user_bytes);
    if (!table || !link->text)
        return err_set(err, "%s: is no assembled batch", link->object.path);
    link->at[table] = LOAD_TABLE;
    link->at[link->text] = LOAD_CODE;
    uint64_t end = LOAD_CODE + link->text_bytes.size, align = 1;
    if (link->data) {
        align = link->data_bytes.align ? link->data_bytes.align : 1;
        end = (end + align - 1) / align * align;
        link->at[link->data] = end;
        end += link->data_bytes.size;
    }
    if (link->user)
        link->at[link->user] = LOAD_USER;
    if (link->table_bytes.size > LOAD_USER - LOAD_TABLE || end > LOAD_END || align > LOAD_CODE ||
        link->user_bytes.size > LOAD_CODE - LOAD_USER || link->user_bytes.align > LOAD_USER)
        return err_set(err, "%s: is more than a program holds; measure fewer kernels at a time",
                       link->object.path);
    return 0;
}

// Finds a global symbol of the core. What the program would choose at its start is not there.
static bool link_find_in_core(const struct link *link, const char *name, uint64_t *value)
{
    struct section symbols;
    struct symbol symbol;
    for (uint64_t i = 0; i < link->core.count; i++) {
        if (!object_section(&link->core, i, &symbols) || symbols.type != SHT_SYMTAB)
            continue;
        for (uint64_t at = 0; object_next_symbol(&link->core, &symbols, &at, &symbol);)
            if (!symbol.local && symbol.where != SHN_UNDEF && symbol.type != STT_GNU_IFUNC &&
                symbol.type != STT_TLS && symbol.name && strcmp(symbol.name, name) == 0) {
                *value = symbol.value;
                return true;
            }
    }
    return false;
}

// Addresses of the object's symbols, found when they are needed.
struct link_symbol {
    bool known, found;
    uint64_t address;
    const char *name;
};

static const struct link_symbol *link_symbol(const struct link *link, uint64_t number,
                                             struct link_symbol *known)
{
    uint64_t at = number * link->symbols.entry;
    struct symbol symbol;
    if (known->known)
        return known;
    known->known = true;
    if (!object_next_symbol(&link->object, &link->symbols, &at, &symbol))
        return known;
    known->name = symbol.name && *symbol.name ? symbol.name : "a section";
    if (symbol.where == SHN_UNDEF) {
        known->found = symbol.name && link_find_in_core(link, symbol.name, &known->address);
    } else if (symbol.where == SHN_ABS) {
        known->found = true;
        known->address = symbol.value;
    } else if (symbol.where < LINK_SECTIONS_MAX && link->at[symbol.where]) {
        known->found = true;
        known->address = link->at[symbol.where] + symbol.value;
    }
    return known;
}

// Returns the last label of a kernel at or before the offset in .text.
static const char *link_label(const struct link *link, uint64_t offset)
{
    struct symbol symbol;
    const char *label = "";
    uint64_t best = 0;
    for (uint64_t at = 0; object_next_symbol(&link->object, &link->symbols, &at, &symbol);) {
        bool ours = symbol.name && symbol.name[0] == 'k' && symbol.name[1] >= '0' &&
                    symbol.name[1] <= '9' && strchr(symbol.name, '_');
        if (!ours || symbol.where != link->text || symbol.value > offset || symbol.value < best)
            continue;
        best = symbol.value;
        label = symbol.name;
    }
    return label;
}

static void link_add_fault(struct link *link, uint64_t section, uint64_t offset, const char *detail)
{
    struct link_faults *faults = link->faults;
    if (faults->n == faults->capacity) {
        size_t capacity = faults->capacity ? 2 * faults->capacity : 16;
        struct link_fault *items = arena_alloc(link->arena, capacity * sizeof *items);
        if (faults->n)
            memcpy(items, faults->items, faults->n * sizeof *items);
        faults->items = items;
        faults->capacity = capacity;
    }
    const char *label = section == link->text ? link_label(link, offset) : "";
    faults->items[faults->n++] = (struct link_fault){arena_strdup(link->arena, label), detail};
}

struct link_relocation {
    uint64_t offset, symbol;
    unsigned type;
    int64_t addend;
};

static struct link_relocation link_read_relocation(const struct link *link,
                                                   const struct section *relocations, uint64_t at)
{
    const void *from = link->object.bytes + relocations->offset + at;
    const Elf64_Rela *wide = from;
    const Elf32_Rel *narrow = from;
    if (link->object.is_64)
        return (struct link_relocation){wide->r_offset, ELF64_R_SYM(wide->r_info),
                                        (unsigned)ELF64_R_TYPE(wide->r_info), wide->r_addend};
    return (struct link_relocation){narrow->r_offset, ELF32_R_SYM(narrow->r_info),
                                    ELF32_R_TYPE(narrow->r_info), 0};
}

// Returns what stands in a place of 32-bit code, where the addend is.
static int64_t link_read_addend(const unsigned char *place, unsigned bytes)
{
    uint64_t value = 0;
    memcpy(&value, place, bytes); // little-endian
    unsigned shift = 64 - 8 * bytes;
    return (int64_t)(value << shift) >> shift;
}

// Fills in one address. Returns a fault, or NULL.
static const char *link_relocate(const struct link *link, const struct link_relocation *relocation,
                                 const struct section *target, uint64_t target_at,
                                 struct link_symbol *known)
{
    const struct link_kind *kind = link_find_kind(link->object.is_64, relocation->type);
    const struct link_symbol *symbol = link_symbol(link, relocation->symbol, known);
    const char *name = symbol->name ? symbol->name : "?";
    if (!symbol->found)
        return arena_printf(link->arena, "undefined reference to `%s'", name);
    if (!kind || relocation->offset > target->size ||
        kind->bytes > target->size - relocation->offset)
        return arena_printf(link->arena, "relocation of type %u against `%s' is not supported",
                            relocation->type, name);
    unsigned char *place = link->object.bytes + target->offset + relocation->offset;
    int64_t addend = link->object.is_64 ? relocation->addend : link_read_addend(place, kind->bytes);
    uint64_t value = symbol->address + (uint64_t)addend;
    if (kind->relative)
        value -= target_at + relocation->offset;
    if (!link_fits(kind, (int64_t)value))
        return arena_printf(link->arena, "relocation truncated to fit: %s against `%s'", kind->name,
                            name);
    memcpy(place, &value, kind->bytes);
    return NULL;
}

// Fills in the addresses of a section with relocations.
static int link_relocate_section(struct link *link, const struct section *relocations,
                                 struct link_symbol *known, struct err *err)
{
    struct section target;
    uint64_t number = relocations->info, nsymbols = link->symbols.size / link->symbols.entry;
    size_t entry = link->object.is_64 ? sizeof(Elf64_Rela) : sizeof(Elf32_Rel);
    bool placed = number < LINK_SECTIONS_MAX && link->at[number] &&
                  object_section(&link->object, number, &target);
    if (!placed || relocations->entry != entry ||
        relocations->type != (link->object.is_64 ? SHT_RELA : SHT_REL))
        return err_set(err, "%s: has relocations that are not understood", link->object.path);
    for (uint64_t at = 0; at + entry <= relocations->size; at += entry) {
        const struct link_relocation relocation = link_read_relocation(link, relocations, at);
        if (relocation.symbol >= nsymbols)
            return err_set(err, "%s: is a damaged ELF object", link->object.path);
        const char *fault =
            link_relocate(link, &relocation, &target, link->at[number], &known[relocation.symbol]);
        if (fault)
            link_add_fault(link, number, relocation.offset, fault);
    }
    return 0;
}

static int link_relocate_all(struct link *link, struct err *err)
{
    struct section section;
    size_t entry = link->object.is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    for (uint64_t i = 0; i < link->object.count; i++)
        if (object_section(&link->object, i, &section) && section.type == SHT_SYMTAB)
            link->symbols = section;
    if (link->symbols.entry != entry)
        return err_set(err, "%s: has no symbols", link->object.path);
    struct link_symbol *known = xcalloc((size_t)(link->symbols.size / entry) + 1, sizeof *known);
    int status = 0;
    for (uint64_t i = 0; i < link->object.count && status == 0; i++)
        if (object_section(&link->object, i, &section) &&
            (section.type == SHT_RELA || section.type == SHT_REL))
            status = link_relocate_section(link, &section, known, err);
    free(known);
    return status;
}

// The core expects the number of kernels and their table at the begin of the section, and code at
// that of its own: a text that has put something in front of them is refused.
static int link_check_symbols(const struct link *link, struct err *err)
{
    static const struct {
        const char *name;
        uint64_t address;
    } expected[] = {
        {"latput_kernel_count", LOAD_TABLE            },
        {"latput_kernels",      LOAD_TABLE + LOAD_HEAD},
        {"latput_code",         LOAD_CODE             },
    };
    size_t found = 0;
    struct symbol symbol;
    for (uint64_t at = 0; object_next_symbol(&link->object, &link->symbols, &at, &symbol);)
        for (size_t i = 0; i < ARRAY_LEN(expected); i++)
            found += symbol.name && !symbol.local && strcmp(symbol.name, expected[i].name) == 0 &&
                     symbol.where < LINK_SECTIONS_MAX && link->at[symbol.where] &&
                     link->at[symbol.where] + symbol.value == expected[i].address;
    if (found == ARRAY_LEN(expected))
        return 0;
    return err_set(err, "the assembled code has bytes in a section of latput's own; it may use "
                        ".text, .rodata and latput_user");
}

static void link_gather(struct link *link)
{
    const char *bytes = (const char *)link->object.bytes;
    const struct section *table = &link->table_bytes, *text = &link->text_bytes,
                         *data = &link->data_bytes;
    strbuf_put(&link->bytes.table, bytes + table->offset, (size_t)table->size);
    strbuf_put(&link->bytes.code, bytes + text->offset, (size_t)text->size);
    if (link->user)
        strbuf_put(&link->bytes.user, bytes + link->user_bytes.offset,
                   (size_t)link->user_bytes.size);
    if (!link->data)
        return;
    while (LOAD_CODE + link->bytes.code.len < link->at[link->data])
        strbuf_put(&link->bytes.code, "", 1);
    strbuf_put(&link->bytes.code, bytes + data->offset, (size_t)data->size);
}

int link_write(const char *core, const char *object, const char *to, struct arena *arena,
               struct link_faults *faults, struct err *err)
{
    struct link link = {.arena = arena, .faults = faults};
    *faults = (struct link_faults){0};
    int status = object_read(core, &link.core, err);
    if (status == 0)
        status = object_read(object, &link.object, err);
    if (status == 0 && link.core.is_64 != link.object.is_64)
        status = err_set(err, "%s: is of another mode than %s", object, core);
    if (status == 0)
        status = link_place(&link, err);
    if (status == 0)
        status = link_relocate_all(&link, err);
    if (status == 0)
        status = link_check_symbols(&link, err);
    if (status == 0 && faults->n > 0)
        status = 1;
    if (status == 0) {
        link_gather(&link);
        status = load_write_bytes(core, &link.bytes, to, err);
    }
    strbuf_free(&link.bytes.table);
    strbuf_free(&link.bytes.code);
    strbuf_free(&link.bytes.user);
    free(link.core.bytes);
    free(link.object.bytes);
    return status;
}
