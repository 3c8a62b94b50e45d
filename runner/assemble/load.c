// SPDX-License-Identifier: MIT
#include "load.h"

#include "core/core_abi.h"
#include "util/mem.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Addresses between the core, below 8 MiB, and the memory of corunners (core_layout.inc).
#define LOAD_TABLE 0x00800000
#define LOAD_CODE 0x02000000
#define LOAD_END 0x5e000000
enum { LOAD_HEAD = 16, LOAD_PAGE = 4096 }; // bytes in front of the table, with the count
const char load_table_start[] = "--section-start=latput_table=0x00800000",
           load_code_start[] = "--section-start=latput_code=0x02000000";

void load_write_source(struct strbuf *out)
{
    strbuf_puts(out, "section latput_table progbits alloc noexec nowrite align=4096\n"
                     "global latput_kernels, latput_kernel_count, latput_code\n"
                     "latput_kernel_count: dd 0, 0, 0, 0\n"
                     "latput_kernels: dd 0\n"
                     "section latput_code progbits alloc noexec nowrite align=4096\n"
                     "latput_code: dd 0\n"
                     "section .note.GNU-stack noalloc noexec nowrite progbits\n");
}

struct load_image {
    unsigned char *bytes;
    size_t size;
};

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
    const Elf64_Ehdr *head = (const void *)image->bytes;
    if (!whole || image->size < sizeof *head || memcmp(image->bytes, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64 ||
        head->e_phoff + head->e_phnum * sizeof(Elf64_Phdr) > image->size ||
        head->e_shoff + head->e_shnum * sizeof(Elf64_Shdr) > image->size)
        return err_set(err, "%s: is no program of this machine", path);
    return 0;
}

// Makes the section and the segment at an address so long, and has them begin at the offset in the
// file. Returns false if there is no such segment.
static bool load_place(const struct load_image *image, uint64_t address, uint64_t offset,
                       uint64_t bytes)
{
    assert(image->bytes); // it was read
    const Elf64_Ehdr *head = (const void *)image->bytes;
    Elf64_Phdr *segments = (void *)(image->bytes + head->e_phoff);
    Elf64_Shdr *sections = (void *)(image->bytes + head->e_shoff);
    bool found = false;
    for (int i = 0; i < head->e_shnum; i++)
        if (sections[i].sh_addr == address) {
            sections[i].sh_offset = offset;
            sections[i].sh_size = bytes;
        }
    for (int i = 0; i < head->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD && segments[i].p_vaddr == address) {
            segments[i].p_offset = offset;
            segments[i].p_filesz = segments[i].p_memsz = bytes;
            found = true;
        }
    return found;
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
    return table <= LOAD_CODE - LOAD_TABLE &&
           load_code_bytes(kernels, nkernels) <= LOAD_END - LOAD_CODE;
}

// Writes the image, the table, and the code.
static bool load_put(const struct load_image *image, const struct strbuf *table,
                     const struct gen_kernel *kernels, int nkernels, FILE *file)
{
    uint64_t table_at = load_page_up(image->size), table_end = table_at + table->len,
             code_at = load_page_up(table_end);
    fwrite(image->bytes, 1, image->size, file);
    load_put_zeros(file, image->size, table_at);
    fwrite(table->data, 1, table->len, file);
    load_put_zeros(file, table_end, code_at);
    return gen_put_code(kernels, nkernels, file);
}

static int load_write_file(const struct load_image *image, const struct strbuf *table,
                           const struct gen_kernel *kernels, int nkernels, const char *to,
                           struct err *err)
{
    FILE *file = fopen(to, "we");
    bool written = file && load_put(image, table, kernels, nkernels, file) &&
                   fchmod(fileno(file), S_IRWXU) == 0;
    if ((file && fclose(file) != 0) || !written)
        return err_set(err, "%s: cannot write: %s (is the disk full?)", to, strerror(errno));
    return 0;
}

int load_write(const char *core, const struct gen_kernel *kernels, int nkernels, const char *to,
               struct err *err)
{
    struct load_image image = {0};
    struct strbuf table = {0};
    uint32_t head[LOAD_HEAD / sizeof(uint32_t)] = {0};
    const struct gen_addresses addresses = {LOAD_TABLE + LOAD_HEAD, LOAD_CODE};
    for (int i = 0; i < nkernels; i++)
        head[0] += kernels[i].composed != NULL;
    strbuf_put(&table, (const char *)head, sizeof head);
    gen_write_table(kernels, nkernels, &addresses, &table);
    int status = load_read(core, &image, err);
    uint64_t table_at = load_page_up(image.size), code_at = load_page_up(table_at + table.len),
             bytes = load_code_bytes(kernels, nkernels);
    if (status == 0 && (!load_place(&image, LOAD_TABLE, table_at, table.len) ||
                        !load_place(&image, LOAD_CODE, code_at, bytes ? bytes : 1)))
        status = err_set(err, "%s: has no room for kernels", core);
    if (status == 0)
        status = load_write_file(&image, &table, kernels, nkernels, to, err);
    strbuf_free(&table);
    free(image.bytes);
    return status;
}
