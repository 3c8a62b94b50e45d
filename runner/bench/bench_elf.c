// SPDX-License-Identifier: MIT
// A reader of ELF files of strangers; see bench_elf.h.
#include "bench_elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECTIONS_MAX = 1 << 16 };

// A field of a structure in files of 64 and of 32 bits.
struct elf_place {
    size_t at[2], size[2];
};
#define PLACE(of, field)                                                                           \
    {                                                                                              \
        {offsetof(Elf64_##of, field), offsetof(Elf32_##of, field)},                                \
        {                                                                                          \
            sizeof((Elf64_##of *)0)->field, sizeof((Elf32_##of *)0)->field                         \
        }                                                                                          \
    }

struct elf_section {
    uint64_t name, type, flags, address, offset, size, link, entry;
};

bool bench_elf_is_linked(const char *path)
{
    unsigned char head[EI_NIDENT + 2];
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool whole = fread(head, 1, sizeof head, file) == sizeof head;
    fclose(file);
    return whole && memcmp(head, ELFMAG, SELFMAG) == 0 &&
           (head[EI_NIDENT] == ET_EXEC || head[EI_NIDENT] == ET_DYN);
}

static bool elf_has(const struct bench_elf *elf, uint64_t offset, uint64_t len)
{
    return offset <= elf->size && len <= elf->size - offset;
}

// Reads fields of a structure of the file, which must have its bytes.
static void elf_read(const struct bench_elf *elf, const uint8_t *from,
                     const struct elf_place *places, size_t n, uint64_t *values)
{
    int narrow = elf->bits == 32;
    for (size_t i = 0; i < n; i++) {
        values[i] = 0;
        memcpy(&values[i], from + places[i].at[narrow], places[i].size[narrow]);
    }
}

static int elf_head(struct bench_elf *elf, struct err *err)
{
    enum { MACHINE, TYPE, SECTIONS, NSECTIONS, NAMES, FIELDS };
    static const struct elf_place places[FIELDS] = {PLACE(Ehdr, e_machine), PLACE(Ehdr, e_type),
                                                    PLACE(Ehdr, e_shoff), PLACE(Ehdr, e_shnum),
                                                    PLACE(Ehdr, e_shstrndx)};
    uint64_t head[FIELDS];
    if (!elf_has(elf, 0, sizeof(Elf32_Ehdr)) || memcmp(elf->bytes, ELFMAG, SELFMAG) != 0)
        return err_set(err, "%s: is no ELF file", elf->path);
    elf->bits = elf->bytes[EI_CLASS] == ELFCLASS64 ? 64 : 32;
    if (elf->bits == 64 && !elf_has(elf, 0, sizeof(Elf64_Ehdr)))
        return err_set(err, "%s: is a damaged ELF file: its head is cut", elf->path);
    elf_read(elf, elf->bytes, places, FIELDS, head);
    if (elf->bytes[EI_DATA] != ELFDATA2LSB ||
        head[MACHINE] != (elf->bits == 64 ? EM_X86_64 : EM_386))
        return err_set(err, "%s: is not for x86", elf->path);
    elf->sections = head[SECTIONS];
    elf->nsections = head[NSECTIONS];
    elf->names = head[NAMES];
    elf->object = head[TYPE] == ET_REL;
    return 0;
}

int bench_elf_open(const char *path, struct bench_elf *elf, struct err *err)
{
    struct stat status;
    *elf = (struct bench_elf){.path = path};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set(err, "%s: cannot read: %s", path, strerror(errno));
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0) {
        close(fd);
        return err_set(err, "%s: is no ELF file", path);
    }
    elf->size = (size_t)status.st_size;
    void *bytes = mmap(NULL, elf->size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        return err_set(err, "%s: cannot read: %s", path, strerror(errno));
    elf->bytes = bytes;
    if (elf_head(elf, err) == 0)
        return 0;
    bench_elf_close(elf);
    return -1;
}

void bench_elf_close(struct bench_elf *elf)
{
    if (elf->bytes)
        munmap((void *)(uintptr_t)elf->bytes, elf->size);
    elf->bytes = NULL;
}

// Reads a section's header. Returns false if it lies outside of the file, or says so of its bytes.
static bool elf_section(const struct bench_elf *elf, uint64_t i, struct elf_section *section)
{
    static const struct elf_place places[] = {PLACE(Shdr, sh_name),   PLACE(Shdr, sh_type),
                                              PLACE(Shdr, sh_flags),  PLACE(Shdr, sh_addr),
                                              PLACE(Shdr, sh_offset), PLACE(Shdr, sh_size),
                                              PLACE(Shdr, sh_link),   PLACE(Shdr, sh_entsize)};
    uint64_t v[ARRAY_LEN(places)];
    size_t bytes = elf->bits == 64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
    if (i >= elf->nsections || i >= SECTIONS_MAX || elf->sections > elf->size ||
        !elf_has(elf, elf->sections + i * bytes, bytes))
        return false;
    elf_read(elf, elf->bytes + elf->sections + i * bytes, places, ARRAY_LEN(places), v);
    *section = (struct elf_section){v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]};
    return section->type == SHT_NOBITS || elf_has(elf, section->offset, section->size);
}

// Returns a string of a table of strings; NULL if it does not end in it.
static const char *elf_string(const struct bench_elf *elf, uint64_t table, uint64_t offset)
{
    struct elf_section strings;
    if (!elf_section(elf, table, &strings) || strings.type != SHT_STRTAB || offset >= strings.size)
        return NULL;
    const char *text = (const char *)elf->bytes + strings.offset + offset;
    return memchr(text, 0, strings.size - offset) ? text : NULL;
}

static bool section_is_code(const struct bench_elf *elf, const struct elf_section *section)
{
    if (section->type != SHT_PROGBITS || !(section->flags & SHF_EXECINSTR))
        return false;
    const char *name = elf->object ? elf_string(elf, elf->names, section->name) : NULL;
    return !elf->object || (name && strcmp(name, ".text") == 0);
}

int bench_elf_code(const struct bench_elf *elf, uint64_t from, uint64_t to,
                   struct bench_bytes *code, struct err *err)
{
    struct elf_section section;
    if (to <= from)
        return err_set(err, "%s: from 0x%" PRIx64 " to 0x%" PRIx64 " is nothing", elf->path, from,
                       to);
    for (uint64_t i = 0; i < elf->nsections && elf_section(elf, i, &section); i++) {
        uint64_t at = from - section.address;
        if (!section_is_code(elf, &section) || from < section.address || at >= section.size ||
            to - from > section.size - at)
            continue;
        *code = (struct bench_bytes){
            elf->bytes + section.offset + at, (size_t)(to - from), from, elf->bits, true, 0};
        return 0;
    }
    return err_set(err, "%s: no section of code has 0x%" PRIx64 " to 0x%" PRIx64, elf->path, from,
                   to);
}

static int function_compare(const void *a, const void *b)
{
    const struct bench_elf_function *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

struct function_list {
    struct bench_elf_function *functions;
    size_t n, room;
};

static void list_add(struct function_list *list, struct bench_elf_function function)
{
    list->functions = xgrow(list->functions, &list->room, list->n + 1, sizeof *list->functions);
    list->functions[list->n++] = function;
}

// Adds the functions of a table of symbols.
static void list_symbols(const struct bench_elf *elf, const struct elf_section *table,
                         struct function_list *list)
{
    enum { NAME, VALUE, SIZE, INFO, FIELDS };
    static const struct elf_place places[FIELDS] = {PLACE(Sym, st_name), PLACE(Sym, st_value),
                                                    PLACE(Sym, st_size), PLACE(Sym, st_info)};
    uint64_t symbol[FIELDS];
    size_t bytes = elf->bits == 64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    for (uint64_t at = 0; at + bytes <= table->size && list->n < BENCH_ELF_FUNCTIONS_MAX;
         at += bytes) {
        elf_read(elf, elf->bytes + table->offset + at, places, FIELDS, symbol);
        if (ELF64_ST_TYPE(symbol[INFO]) != STT_FUNC || symbol[SIZE] == 0)
            continue;
        const char *text = elf_string(elf, table->link, symbol[NAME]);
        if (text && *text)
            list_add(list, (struct bench_elf_function){text, symbol[VALUE], symbol[SIZE]});
    }
}

int bench_elf_functions(const struct bench_elf *elf, bool named,
                        struct bench_elf_functions *functions, struct arena *arena, struct err *err)
{
    struct function_list list = {.functions = NULL};
    struct elf_section section;
    for (uint64_t i = 0; i < elf->nsections && elf_section(elf, i, &section); i++)
        // Exported functions are a small part of the code.
        if (section.type == SHT_SYMTAB || (named && section.type == SHT_DYNSYM))
            list_symbols(elf, &section, &list);
    bool stripped = list.n == 0 && !named;
    for (uint64_t i = 0; stripped && i < elf->nsections && elf_section(elf, i, &section); i++)
        if (section_is_code(elf, &section) && section.size > 0)
            list_add(&list, (struct bench_elf_function){NULL, section.address, section.size});
    if (list.n == 0)
        return err_set(err, "%s: there is no code in it, or the file is damaged", elf->path);
    qsort(list.functions, list.n, sizeof *list.functions, function_compare);
    functions->functions = arena_alloc(arena, list.n * sizeof *list.functions);
    memcpy(functions->functions, list.functions, list.n * sizeof *list.functions);
    functions->n = list.n;
    free(list.functions);
    return 0;
}

int bench_elf_range(const char *text, uint64_t *from, uint64_t *to, struct err *err)
{
    char *end, *last;
    errno = 0;
    *from = strtoull(text, &end, 16);
    bool dots = end != text && strncmp(end, "..", 2) == 0;
    *to = dots ? strtoull(end + 2, &last, 16) : 0;
    if (!dots || last == end + 2 || *last || errno || *to <= *from)
        return err_set(err,
                       "--address cannot be '%s': A..B, two hexadecimal addresses of objdump -d, "
                       "the second after the last byte",
                       text);
    return 0;
}

static bool section_is_called(const struct bench_elf *elf, const struct elf_section *section,
                              const char *called)
{
    const char *name = elf_string(elf, elf->names, section->name);
    return name && strcmp(name, called) == 0;
}

// Returns a name that the file has not defined; NULL: none.
static const char *elf_undefined(const struct bench_elf *elf)
{
    enum { NAME, SECTION, FIELDS };
    static const struct elf_place places[FIELDS] = {PLACE(Sym, st_name), PLACE(Sym, st_shndx)};
    uint64_t symbol[FIELDS];
    size_t bytes = elf->bits == 64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    struct elf_section table;
    for (uint64_t i = 0; i < elf->nsections && elf_section(elf, i, &table); i++)
        for (uint64_t at = 0; table.type == SHT_SYMTAB && at + bytes <= table.size; at += bytes) {
            elf_read(elf, elf->bytes + table.offset + at, places, FIELDS, symbol);
            const char *name = elf_string(elf, table.link, symbol[NAME]);
            if (symbol[SECTION] == SHN_UNDEF && name && *name)
                return name;
        }
    return NULL;
}

int bench_elf_text(const char *path, struct bench_bytes *code, struct bench_reading *reading,
                   struct err *err)
{
    struct bench_elf elf;
    struct elf_section section;
    int bits = code->bits, status = 0;
    if (bench_elf_open(path, &elf, err) != 0)
        return -1;
    *code = (struct bench_bytes){.bits = bits};
    for (uint64_t i = 0; i < elf.nsections && elf_section(&elf, i, &section); i++) {
        bool text = section_is_called(&elf, &section, ".text");
        if (section.size && (section_is_called(&elf, &section, ".rela.text") ||
                             section_is_called(&elf, &section, ".rel.text"))) {
            reading->refused = true;
            const char *name = elf_undefined(&elf);
            status = name ? err_set(err,
                                    "the text names '%.60s', which is no register and no label of "
                                    "it",
                                    name)
                          : err_set(err, "the text calls, or jumps to, what is not in it: leave "
                                         "that out, or give the bytes, too");
        }
        if (!text || section.type != SHT_PROGBITS || !section.size ||
            section.size > BENCH_BYTES_MAX)
            continue;
        uint8_t *copy = arena_alloc(reading->arena, section.size);
        memcpy(copy, elf.bytes + section.offset, section.size);
        code->bytes = copy;
        code->len = section.size;
    }
    bench_elf_close(&elf);
    if (status == 0 && !code->len) {
        reading->refused = true;
        return err_set(err, "there is no instruction in the text, or more than 64 KiB of code");
    }
    return status;
}
