// SPDX-License-Identifier: MIT
// Sections and symbols of an assembled batch; see object.h. A section `.init_array` in a body would
// run before the system-call filter, and a global `write` would replace that of libc.
#include "object_internal.h"

#include "gen.h"

#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const sections_allowed[] = {"",
                                               ".text",
                                               ".rodata",
                                               ".note.GNU-stack",
                                               ".shstrtab",
                                               ".symtab",
                                               ".strtab",
                                               ".rela.text",
                                               ".rela.rodata",
                                               ".rel.text",
                                               ".rel.rodata",
                                               ".comment",
                                               "latput_user",
                                               ".relalatput_user",
                                               ".rellatput_user",
                                               GEN_TABLE,
                                               ".relalatput_table",
                                               ".rellatput_table"};

int object_read(const char *path, struct object *object, struct err *err)
{
    FILE *file = fopen(path, "r");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        if (file)
            fclose(file);
        return err_set(err, "%s: %s", path, strerror(errno));
    }
    long size = ftell(file);
    rewind(file);
    *object = (struct object){.path = path, .size = size > 0 ? (size_t)size : 0};
    object->bytes = xmalloc(object->size + 1);
    bool whole = fread(object->bytes, 1, object->size, file) == object->size;
    fclose(file);
    if (!whole || object->size < sizeof(Elf64_Ehdr) || memcmp(object->bytes, ELFMAG, SELFMAG) != 0)
        return err_set(err, "%s: is no ELF object", path);
    object->is_64 = object->bytes[EI_CLASS] == ELFCLASS64;
    if (object->is_64) {
        const Elf64_Ehdr *head = (const void *)object->bytes;
        object->table = head->e_shoff;
        object->count = head->e_shnum;
        object->names = head->e_shstrndx;
    } else {
        const Elf32_Ehdr *head = (const void *)object->bytes;
        object->table = head->e_shoff;
        object->count = head->e_shnum;
        object->names = head->e_shstrndx;
    }
    return 0;
}

bool object_section(const struct object *object, uint64_t i, struct section *section)
{
    size_t bytes = object->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
    if (i >= object->count || object->table + (i + 1) * bytes > object->size)
        return false;
    const void *at = object->bytes + object->table + i * bytes;
    if (object->is_64) {
        const Elf64_Shdr *from = at;
        *section =
            (struct section){from->sh_name, from->sh_type, from->sh_offset,  from->sh_size,
                             from->sh_link, from->sh_info, from->sh_entsize, from->sh_addralign};
    } else {
        const Elf32_Shdr *from = at;
        *section =
            (struct section){from->sh_name, from->sh_type, from->sh_offset,  from->sh_size,
                             from->sh_link, from->sh_info, from->sh_entsize, from->sh_addralign};
    }
    return section->type == SHT_NOBITS || section->offset + section->size <= object->size;
}

const char *object_string(const struct object *object, uint64_t table, uint64_t offset)
{
    struct section strings;
    if (!object_section(object, table, &strings) || strings.type != SHT_STRTAB ||
        offset >= strings.size)
        return NULL;
    const char *text = (const char *)object->bytes + strings.offset + offset;
    return memchr(text, 0, strings.size - offset) ? text : NULL;
}

static bool section_allowed(const char *name)
{
    for (size_t i = 0; i < sizeof sections_allowed / sizeof sections_allowed[0]; i++)
        if (strcmp(sections_allowed[i], name) == 0)
            return true;
    return false;
}

bool object_next_symbol(const struct object *object, const struct section *symbols, uint64_t *at,
                        struct symbol *symbol)
{
    size_t bytes = object->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    if (*at + bytes > symbols->size)
        return false;
    const void *entry = object->bytes + symbols->offset + *at;
    const Elf64_Sym *wide = entry;
    const Elf32_Sym *narrow = entry;
    unsigned info = object->is_64 ? wide->st_info : narrow->st_info;
    symbol->name =
        object_string(object, symbols->link, object->is_64 ? wide->st_name : narrow->st_name);
    symbol->where = object->is_64 ? wide->st_shndx : narrow->st_shndx;
    symbol->value = object->is_64 ? wide->st_value : narrow->st_value;
    symbol->local = ELF64_ST_BIND(info) == STB_LOCAL;
    symbol->type = ELF64_ST_TYPE(info);
    *at += bytes;
    return true;
}

static int object_check_symbols(const struct object *object, const struct section *section,
                                struct err *err)
{
    struct symbol symbol;
    for (uint64_t at = 0; object_next_symbol(object, section, &at, &symbol);) {
        if (symbol.local || symbol.where == SHN_UNDEF)
            continue;
        if (!symbol.name || strncmp(symbol.name, "latput_", 7) != 0)
            return err_set(err,
                           "the assembled code defines the global symbol '%s'; it may use local "
                           "labels only",
                           symbol.name ? symbol.name : "?");
    }
    return 0;
}

int assemble_object_check(const char *path, struct err *err)
{
    struct object object = {0};
    int status = object_read(path, &object, err);
    for (uint64_t i = 0; i < object.count && status == 0; i++) {
        struct section section;
        const char *name = object_section(&object, i, &section)
                               ? object_string(&object, object.names, section.name)
                               : NULL;
        if (!name)
            status = err_set(err, "%s: is a damaged ELF object", path);
        else if (!section_allowed(name))
            status = err_set(
                err, "the assembled code has a section '%s'; it may use .text and .rodata", name);
        else if (section.type == SHT_SYMTAB)
            status = object_check_symbols(&object, &section, err);
    }
    free(object.bytes);
    return status;
}

// Places of the labels: at[i] for label i, MARK_NONE if there is none.
#define MARK_NONE UINT64_MAX
struct marked {
    uint64_t *at;
    size_t n;
    uint64_t section; // of all labels; 0: of none yet
};

static bool object_place_mark(struct marked *marked, const struct symbol *symbol)
{
    if (!symbol->name)
        return false;
    if (strncmp(symbol->name, BUILD_MARK, strlen(BUILD_MARK)) != 0)
        return true;
    char *end;
    unsigned long number = strtoul(symbol->name + strlen(BUILD_MARK), &end, 10);
    if (*end || number > marked->n || (marked->section && marked->section != symbol->where))
        return false;
    marked->section = symbol->where;
    marked->at[number] = symbol->value;
    return true;
}

static bool object_place_marks(const struct object *object, const struct section *symbols,
                               struct marked *marked)
{
    struct symbol symbol;
    for (uint64_t at = 0; object_next_symbol(object, symbols, &at, &symbol);)
        if (!object_place_mark(marked, &symbol))
            return false;
    return true;
}

static bool object_cut_marks(const struct object *object, const struct marked *marked,
                             struct assemble_mark *marks)
{
    struct section in;
    if (marked->at[marked->n] == MARK_NONE || !object_section(object, marked->section, &in) ||
        in.type != SHT_PROGBITS || marked->at[marked->n] != in.size)
        return false;
    uint64_t end = in.size;
    for (size_t i = marked->n; i-- > 0;) {
        if (marked->at[i] == MARK_NONE)
            continue;
        if (marked->at[i] > end)
            return false;
        marks[i] = (struct assemble_mark){object->bytes + in.offset + marked->at[i],
                                          end - marked->at[i], false};
        end = marked->at[i];
    }
    return end == 0;
}

// Marks the last label at or before the offset as relocated.
static void object_relocate_mark(const struct marked *marked, uint64_t offset,
                                 struct assemble_mark *marks)
{
    for (size_t i = marked->n; i-- > 0;)
        if (marked->at[i] != MARK_NONE && marked->at[i] <= offset) {
            marks[i].relocated = true;
            return;
        }
}

static bool object_relocate_marks(const struct object *object, const struct section *relocations,
                                  const struct marked *marked, struct assemble_mark *marks)
{
    if (relocations->entry != (object->is_64 ? sizeof(Elf64_Rela) : sizeof(Elf32_Rel)))
        return false;
    for (uint64_t at = 0; at + relocations->entry <= relocations->size; at += relocations->entry) {
        const void *from = object->bytes + relocations->offset + at;
        const Elf64_Rela *wide = from;
        const Elf32_Rel *narrow = from;
        object_relocate_mark(marked, object->is_64 ? wide->r_offset : narrow->r_offset, marks);
    }
    return true;
}

static bool object_find_marks(const struct object *object, struct marked *marked,
                              struct assemble_mark *marks)
{
    struct section section;
    for (uint64_t i = 0; i < object->count; i++)
        if (!object_section(object, i, &section) ||
            (section.type == SHT_SYMTAB && !object_place_marks(object, &section, marked)))
            return false;
    if (!object_cut_marks(object, marked, marks))
        return false;
    for (uint64_t i = 0; i < object->count; i++)
        if (object_section(object, i, &section) &&
            (section.type == SHT_RELA || section.type == SHT_REL) &&
            !object_relocate_marks(object, &section, marked, marks))
            return false;
    return true;
}

void *assemble_object_marks(const char *path, size_t n, struct assemble_mark *marks)
{
    struct object object = {0};
    struct err err;
    struct marked marked = {.at = xmalloc((n + 1) * sizeof *marked.at), .n = n};
    for (size_t i = 0; i <= n; i++)
        marked.at[i] = MARK_NONE;
    bool found =
        object_read(path, &object, &err) == 0 && object_find_marks(&object, &marked, marks);
    free(marked.at);
    if (!found) {
        free(object.bytes);
        return NULL;
    }
    return object.bytes;
}

// Finds the bytes of the symbol in its section. Returns false if it is not in this table.
static bool object_find(const struct object *object, const struct section *symbols,
                        const char *name, const uint8_t **bytes, size_t *len)
{
    size_t entry = object->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    for (uint64_t at = 0; at + entry <= symbols->size; at += entry) {
        const void *from = object->bytes + symbols->offset + at;
        const Elf64_Sym *wide = from;
        const Elf32_Sym *narrow = from;
        uint64_t value = object->is_64 ? wide->st_value : narrow->st_value,
                 size = object->is_64 ? wide->st_size : narrow->st_size;
        const char *called =
            object_string(object, symbols->link, object->is_64 ? wide->st_name : narrow->st_name);
        struct section in;
        if (!called || strcmp(called, name) != 0 ||
            !object_section(object, object->is_64 ? wide->st_shndx : narrow->st_shndx, &in) ||
            in.type != SHT_PROGBITS || size > in.size || value > in.size - size)
            continue;
        *bytes = object->bytes + in.offset + value;
        *len = (size_t)size;
        return true;
    }
    return false;
}

// Finds a function's code. *code lies in the object's bytes, which the caller frees in either case.
static int object_function(const char *path, const char *name, struct object *object,
                           const uint8_t **code, size_t *len, struct err *err)
{
    bool found = false;
    if (object_read(path, object, err) != 0)
        return -1;
    for (uint64_t i = 0; i < object->count && !found; i++) {
        struct section section;
        found = object_section(object, i, &section) && section.type == SHT_SYMTAB &&
                object_find(object, &section, name, code, len);
    }
    if (!found)
        err_set(err, "%s: there is no function '%s' in it", path, name);
    else if (*len == 0)
        err_set(err, "%s: the function '%s' does not say how long it is", path, name);
    return found && *len > 0 ? 0 : -1;
}

int assemble_object_function(const char *path, const char *name, const uint8_t **code, size_t *len,
                             struct arena *arena, struct err *err)
{
    struct object object = {0};
    int status = object_function(path, name, &object, code, len, err);
    if (status == 0) {
        uint8_t *copy = arena_alloc(arena, *len);
        memcpy(copy, *code, *len);
        *code = copy;
    }
    free(object.bytes);
    return status;
}

int assemble_object_replace(const char *path, const char *name, const struct assemble_patch *patch,
                            const char *to, struct err *err)
{
    struct object object = {0};
    const uint8_t *code = NULL;
    size_t room = 0;
    int status = object_function(path, name, &object, &code, &room, err);
    if (status == 0 && (patch->at > room || patch->len > room - patch->at))
        status = err_set(err, "%s: the function '%s' has no %zu bytes at +0x%zx", path, name,
                         patch->len, patch->at);
    if (status == 0) {
        memcpy(object.bytes + (code - object.bytes) + patch->at, patch->bytes, patch->len);
        FILE *file = fopen(to, "w");
        bool whole = file && fwrite(object.bytes, 1, object.size, file) == object.size;
        if ((file && fclose(file) != 0) || !whole)
            status = err_set(err, "%s: cannot be written: %s", to, strerror(errno));
    }
    free(object.bytes);
    return status;
}
