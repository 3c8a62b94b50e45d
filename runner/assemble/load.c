// SPDX-License-Identifier: MIT
#include "load.h"

#include "core/core_abi.h"
#include "util/mem.h"
#include "util/paths.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LOAD_PAGE = 4096 };

const char *load_core(int bits)
{
    return path_library(bits == 32 ? "linked32" : "linked64");
}

struct load_image {
    unsigned char *bytes;
    size_t size;
};

// Returns true if the headers lie in the file.
static bool load_is_program(const struct load_image *image)
{
    const Elf64_Ehdr *wide = (const void *)image->bytes;
    const Elf32_Ehdr *narrow = (const void *)image->bytes;
    if (image->size < sizeof *wide || memcmp(image->bytes, ELFMAG, SELFMAG) != 0)
        return false;
    if (image->bytes[EI_CLASS] == ELFCLASS64)
        return wide->e_phoff + wide->e_phnum * sizeof(Elf64_Phdr) <= image->size &&
               wide->e_shoff + wide->e_shnum * sizeof(Elf64_Shdr) <= image->size;
    return narrow->e_phoff + narrow->e_phnum * sizeof(Elf32_Phdr) <= image->size &&
           narrow->e_shoff + narrow->e_shnum * sizeof(Elf32_Shdr) <= image->size;
}

static int load_read(const char *path, struct load_image *image, struct err *err)
{
    FILE *file = fopen(path, "r");
    struct stat status;
    if (!file || fstat(fileno(file), &status) != 0) {
        if (file)
            fclose(file);
        return err_set(err, "%s: %s", path, strerror(errno));
    }
    image->size = (size_t)status.st_size;
    image->bytes = xmalloc(image->size + 1);
    bool whole = fread(image->bytes, 1, image->size, file) == image->size;
    fclose(file);
    if (!whole || !load_is_program(image))
        return err_set(err, "%s: is no program of this machine", path);
    return 0;
}

// A section that is filled: where it lies in the file and in memory.
struct load_place {
    uint64_t address, offset, bytes;
    bool executable;
};

// Makes the section and the segment at the address so long, and has them begin at the offset in
// the file. Returns false if there is no such segment. For both classes of ELF, by the names that
// their structures share.
#define LOAD_PLACE(CLASS)                                                                          \
    static bool load_place_##CLASS(unsigned char *bytes, const struct load_place *place)           \
    {                                                                                              \
        const Elf##CLASS##_Ehdr *head = (const void *)bytes;                                       \
        Elf##CLASS##_Phdr *segments = (void *)(bytes + head->e_phoff);                             \
        Elf##CLASS##_Shdr *sections = (void *)(bytes + head->e_shoff);                             \
        bool found = false;                                                                        \
        for (int i = 0; i < head->e_shnum; i++)                                                    \
            if (sections[i].sh_addr == place->address) {                                           \
                sections[i].sh_offset = (Elf##CLASS##_Off)place->offset;                           \
                sections[i].sh_size = (Elf##CLASS##_Word)place->bytes;                             \
            }                                                                                      \
        for (int i = 0; i < head->e_phnum; i++)                                                    \
            if (segments[i].p_type == PT_LOAD && segments[i].p_vaddr == place->address) {          \
                segments[i].p_offset = (Elf##CLASS##_Off)place->offset;                            \
                segments[i].p_filesz = segments[i].p_memsz = (Elf##CLASS##_Word)place->bytes;      \
                segments[i].p_flags |= place->executable ? PF_X : 0;                               \
                found = true;                                                                      \
            }                                                                                      \
        return found;                                                                              \
    }
LOAD_PLACE(64)
LOAD_PLACE(32)

static bool load_place(const struct load_image *image, const struct load_place *place)
{
    assert(image->bytes); // it was read
    return image->bytes[EI_CLASS] == ELFCLASS64 ? load_place_64(image->bytes, place)
                                                : load_place_32(image->bytes, place);
}

static uint64_t load_page_up(uint64_t offset)
{
    return (offset + LOAD_PAGE - 1) / LOAD_PAGE * LOAD_PAGE;
}

static void load_put_zeros(FILE *file, uint64_t from, uint64_t to)
{
    static const char zeros[LOAD_PAGE];
    fwrite(zeros, 1, (size_t)(to - from), file);
}

static uint64_t load_code_bytes(const struct gen_kernel *kernels, int nkernels)
{
    uint64_t bytes = 0;
    for (int i = 0; i < nkernels; i++) {
        const struct gen_code *code = kernels[i].composed;
        for (size_t p = 0; code && p < code->ends[GEN_PARTS - 1]; p++)
            bytes += code->pieces[p].len * code->pieces[p].times;
    }
    return bytes;
}

bool load_fits(const struct gen_kernel *kernels, int nkernels)
{
    uint64_t table = LOAD_HEAD;
    for (int i = 0; i < nkernels; i++)
        table +=
            sizeof(struct core_kernel) + (size_t)kernels[i].spec->nfills * sizeof(struct core_fill);
    return table <= LOAD_USER - LOAD_TABLE &&
           load_code_bytes(kernels, nkernels) <= LOAD_END - LOAD_CODE;
}

// A table, code and data for the sections: the code of kernels, or bytes.
struct load_parts {
    const struct strbuf *table, *code; // code NULL: that of the kernels
    const struct strbuf *user;         // NULL: none
    const struct gen_kernel *kernels;
    int nkernels;
};

static uint64_t load_user_bytes(const struct load_parts *parts)
{
    return parts->user ? parts->user->len : 0;
}

// Writes the image, the table, data that a snippet may write, and the code.
static bool load_put(const struct load_image *image, const struct load_parts *parts,
                     const uint64_t at[3], FILE *file)
{
    uint64_t user = load_user_bytes(parts);
    fwrite(image->bytes, 1, image->size, file);
    load_put_zeros(file, image->size, at[0]);
    fwrite(parts->table->data, 1, parts->table->len, file);
    load_put_zeros(file, at[0] + parts->table->len, at[1]);
    if (user)
        fwrite(parts->user->data, 1, user, file);
    load_put_zeros(file, at[1] + user, at[2]);
    if (!parts->code)
        return gen_put_code(parts->kernels, parts->nkernels, file);
    return fwrite(strbuf_text(parts->code), 1, parts->code->len, file) == parts->code->len;
}

static int load_write_parts(const char *core, const struct load_parts *parts, const char *to,
                            struct err *err)
{
    struct load_image image = {0};
    if (load_read(core, &image, err) != 0) {
        free(image.bytes);
        return -1;
    }
    uint64_t user_bytes = load_user_bytes(parts), at[3] = {load_page_up(image.size)};
    at[1] = load_page_up(at[0] + parts->table->len);
    at[2] = load_page_up(at[1] + user_bytes);
    uint64_t bytes =
        parts->code ? parts->code->len : load_code_bytes(parts->kernels, parts->nkernels);
    const struct load_place table = {LOAD_TABLE, at[0], parts->table->len, false};
    const struct load_place user = {LOAD_USER, at[1], user_bytes, false};
    // The core copies composed code before it runs; other code may run where it lies.
    const struct load_place code = {LOAD_CODE, at[2], bytes ? bytes : 1, parts->code};
    int status = 0;
    if (!load_place(&image, &table) || !load_place(&image, &code) ||
        (user_bytes && !load_place(&image, &user)))
        status = err_set(err, "%s: has no room for kernels", core);
    FILE *file = status == 0 ? fopen(to, "we") : NULL;
    bool written = file && load_put(&image, parts, at, file) && fchmod(fileno(file), S_IRWXU) == 0;
    if ((file && fclose(file) != 0) || (!written && status == 0))
        status = err_set(err, "%s: cannot write: %s (is the disk full?)", to, strerror(errno));
    free(image.bytes);
    return status;
}

int load_write(const char *core, const struct gen_kernel *kernels, int nkernels, const char *to,
               struct err *err)
{
    struct strbuf table = {0};
    uint32_t head[LOAD_HEAD / sizeof(uint32_t)] = {0};
    const struct gen_addresses addresses = {LOAD_TABLE + LOAD_HEAD, LOAD_CODE};
    for (int i = 0; i < nkernels; i++)
        head[0] += kernels[i].composed != NULL;
    strbuf_put(&table, (const char *)head, sizeof head);
    gen_write_table(kernels, nkernels, &addresses, &table);
    const struct load_parts parts = {.table = &table, .kernels = kernels, .nkernels = nkernels};
    int status = load_write_parts(core, &parts, to, err);
    strbuf_free(&table);
    return status;
}

int load_write_bytes(const char *core, const struct load_bytes *bytes, const char *to,
                     struct err *err)
{
    const struct load_parts parts = {
        .table = &bytes->table, .code = &bytes->code, .user = &bytes->user};
    return load_write_parts(core, &parts, to, err);
}
