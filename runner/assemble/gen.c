// SPDX-License-Identifier: MIT
// Writes the NASM source of a batch; see gen.h. Each body stands in the file once, and the core
// replicates its machine code, so NASM's time is proportional to the number of tested instructions.
#include "gen.h"

#include "core/core_abi.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Grids of values: latencies are whole cycles; throughputs are a cycle divided by the ports, or by
// the front end's slots; mixes take any time.
static const int gen_grid[] = {[TEST_LATENCY] = 1, [TEST_THROUGHPUT] = 6, [TEST_PORTS] = 0};

enum { GEN_HEAD_LINES = 9 };

static int gen_count_lines(const char *text, size_t len)
{
    int lines = 0;
    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n';
    return lines;
}

int gen_head(int bits, struct strbuf *out)
{
    // The assembler's state is reset for each kernel: the body of another one may have changed it.
    // Addresses are absolute, since bodies and inits are copied elsewhere before they run. The
    // core's symbol stands for operands that can only be an absolute address.
    strbuf_printf(out,
                  "%%macro latput_reset 0\n"
                  "[cpu all]\n"
                  "[bits %d]\n"
                  "[default abs]\n"
                  "[default nobnd]\n"
                  "[section .text]\n"
                  "%%endmacro\n"
                  "latput_reset\n"
                  "extern latput_absolute\n",
                  bits);
    return GEN_HEAD_LINES;
}

static void gen_text(const char *text, struct strbuf *out)
{
    size_t len = strlen(text);
    strbuf_put(out, text, len);
    if (len && text[len - 1] != '\n')
        strbuf_puts(out, "\n");
}

// Writes code that few kernels have; text NULL: none.
static void gen_part(int id, const char *name, const char *text, struct strbuf *out)
{
    if (!text)
        return;
    strbuf_printf(out, "k%d_%s:\n", id, name);
    gen_text(text, out);
    strbuf_printf(out, "k%d_%s_end: nop\n", id, name);
}

const char *gen_part_text(const struct kernel_spec *spec, enum gen_part part)
{
    switch (part) {
    case GEN_INIT:
        return spec->init;
    case GEN_BODY:
        return spec->body;
    case GEN_FINI:
        return spec->fini;
    case GEN_CORUNNER_INIT:
        return spec->corunner ? spec->corunner_init : NULL;
    case GEN_CORUNNER:
        return spec->corunner;
    default:
        return NULL;
    }
}

int gen_part_align(const struct kernel_spec *spec, enum gen_part part)
{
    enum { LOOP_ALIGN = 64 }; // core_code.c
    bool loops = part == GEN_BODY || part == GEN_CORUNNER;
    return loops && spec->align > LOOP_ALIGN ? spec->align : LOOP_ALIGN;
}

bool gen_has_extras(const struct kernel_spec *spec)
{
    return spec->fini || spec->nfills || spec->corunner || spec->align || spec->copies;
}

// Aligns the next part of a kernel as the core aligns its copy. Parts of rows have no padding.
static void gen_align(const struct kernel_spec *spec, enum gen_part part, struct strbuf *out)
{
    if (gen_has_extras(spec))
        strbuf_printf(out, "align %d\n", gen_part_align(spec, part));
}

static void gen_kernel_code(int id, const struct gen_kernel *kernel, struct strbuf *out)
{
    const struct list_row *row = kernel->row;
    const struct kernel_spec *spec = kernel->spec;
    strbuf_printf(out, "; %d: %s, %s\n", id, row->form, spec->shape);
    strbuf_puts(out, "latput_reset\n");
    gen_align(spec, GEN_INIT, out);
    strbuf_printf(out, "k%d_init:\n", id);
    gen_text(spec->init, out);
    if (gen_has_extras(spec))
        strbuf_printf(out, "k%d_init_end: nop\n", id);
    gen_align(spec, GEN_BODY, out);
    // Not a local label: NASM attaches the body's local labels to the last label that is none.
    strbuf_printf(out, "k%d_body:\n", id);
    gen_text(spec->body, out);
    // The nop keeps labels of two kernels from having the same address: the linker blames by
    // address.
    strbuf_printf(out, "k%d_end: nop\n", id);
    gen_part(id, "fini", kernel->spec->fini, out);
    gen_part(id, "corunner_init", kernel->spec->corunner ? kernel->spec->corunner_init : NULL, out);
    gen_part(id, "corunner", kernel->spec->corunner, out);
}

// Writes the kernel's data, as struct core_fill.
static void gen_kernel_fills(int id, const struct kernel_spec *spec, struct strbuf *out)
{
    strbuf_printf(out, "k%d_fills:\n", id);
    for (int i = 0; i < spec->nfills; i++) {
        const struct core_fill *fill = &spec->fills[i];
        strbuf_printf(out,
                      "dd %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32
                      ", %" PRIu32 ", 0\n"
                      "dq 0x%" PRIx64 ", 0x%" PRIx64 "\n",
                      fill->kind, fill->area, fill->cursor, fill->stride, fill->stagger,
                      fill->frames, fill->flags, fill->bytes, fill->seed);
    }
}

// Writes an address, 64 bits wide in both modes; 0 if the kernel has no such code.
static void gen_address(int id, const char *name, bool has, int bits, struct strbuf *out)
{
    const char *high = bits == 32 ? ", 0" : "";
    if (has)
        strbuf_printf(out, "k%d_%s%s", id, name, high);
    else
        strbuf_printf(out, "0%s", high);
}

static void gen_length(int id, const char *name, bool has, struct strbuf *out)
{
    if (has)
        strbuf_printf(out, "k%d_%s_end-k%d_%s, ", id, name, id, name);
    else
        strbuf_puts(out, "0, ");
}

// Writes the end of struct core_kernel, which only properties use.
static void gen_kernel_extras(int id, const struct kernel_spec *spec, int bits, struct strbuf *out)
{
    const char *wide = bits == 32 ? "dd " : "dq ";
    // Nearly all kernels have none, and NASM takes its time for every line.
    if (!gen_has_extras(spec)) {
        strbuf_puts(out, "dq 0, 0, 0, 0, 0, 0, 0, 0\n");
        return;
    }
    strbuf_puts(out, wide);
    gen_address(id, "fini", spec->fini, bits, out);
    strbuf_puts(out, ", ");
    gen_address(id, "fills", spec->nfills, bits, out);
    strbuf_puts(out, "\ndd ");
    gen_length(id, "fini", spec->fini, out);
    strbuf_printf(out, "%d, %d, %d\n%s", spec->nfills, spec->align, spec->copies, wide);
    gen_address(id, "corunner", spec->corunner, bits, out);
    strbuf_puts(out, ", ");
    gen_address(id, "corunner_init", spec->corunner, bits, out);
    strbuf_puts(out, "\ndd ");
    gen_length(id, "corunner", spec->corunner, out);
    gen_length(id, "corunner_init", spec->corunner, out);
    strbuf_printf(out, "%d, %d\n", spec->corunner_from, spec->corunner_to);
}

static uint32_t gen_flags(const struct gen_kernel *kernel)
{
    const struct kernel_spec *spec = kernel->spec;
    return (kernel->row->permission ? (uint32_t)CORE_PERMISSION : 0) |
           (spec->unrolled ? (uint32_t)CORE_UNROLLED : 0) |
           (spec->clear_upper ? (uint32_t)CORE_CLEAR_UPPER : 0) |
           (spec->stream ? (uint32_t)CORE_STREAM : 0) | (spec->once ? (uint32_t)CORE_ONCE : 0) |
           (spec->cold ? (uint32_t)CORE_COLD : 0) |
           (kernel->row->ring0 ? (uint32_t)CORE_RING0 : 0) |
           (kernel->composed ? (uint32_t)CORE_COMPOSED : 0);
}

// Returns the kernel's entry without addresses, lengths and its end.
static struct core_kernel gen_entry(int id, const struct gen_kernel *kernel)
{
    const struct kernel_spec *spec = kernel->spec;
    return (struct core_kernel){.id = (uint32_t)id,
                                .instances = (uint32_t)spec->instances,
                                .instrs = (uint32_t)spec->instrs,
                                .flags = gen_flags(kernel),
                                .vec_bits = (uint32_t)spec->vec_bits,
                                .grid = (uint32_t)gen_grid[kernel->test->kind],
                                .vec_fill = spec->vec_fill,
                                .mem_fill = spec->mem_fill,
                                .gpr_fill = spec->gpr_fill,
                                .mask_fill = spec->mask_fill};
}

// Writes one struct core_kernel; its size and order are asserted in core/core_abi.h.
static void gen_kernel_entry(int id, const struct gen_kernel *kernel, int bits, struct strbuf *out)
{
    const struct core_kernel entry = gen_entry(id, kernel);
    // 32-bit objects have no relocations of 64 bits.
    strbuf_printf(out, bits == 32 ? "dd k%d_body, 0, k%d_init, 0\n" : "dq k%d_body, k%d_init\n", id,
                  id);
    strbuf_printf(out,
                  "dd k%d_end-k%d_body, k%d_%s-k%d_init, %" PRIu32 ", %" PRIu32 ", %" PRIu32
                  ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 "\n",
                  id, id, id, gen_has_extras(kernel->spec) ? "init_end" : "body", id, entry.id,
                  entry.instances, entry.instrs, entry.flags, entry.vec_bits, entry.grid);
    strbuf_printf(out, "dq 0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64 "\n",
                  entry.vec_fill, entry.mem_fill, entry.gpr_fill, entry.mask_fill);
    gen_kernel_extras(id, kernel->spec, bits, out);
}

static uint64_t gen_part_bytes(const struct gen_code *code, enum gen_part part)
{
    uint64_t bytes = 0;
    for (size_t i = part ? code->ends[part - 1] : 0; i < code->ends[part]; i++)
        bytes += code->pieces[i].len * code->pieces[i].times;
    return bytes;
}

// Sets places and lengths of the parts of a kernel whose code begins at `at`. Returns its end.
static uint64_t gen_place_parts(const struct gen_code *code, uint64_t at, uint64_t code_at,
                                struct core_kernel *entry)
{
    uint64_t places[GEN_PARTS], bytes[GEN_PARTS];
    for (enum gen_part part = 0; part < GEN_PARTS; part++) {
        places[part] = at;
        bytes[part] = gen_part_bytes(code, part);
        at += bytes[part];
    }
    entry->init = places[GEN_INIT];
    entry->body = places[GEN_BODY];
    entry->init_bytes = (uint32_t)bytes[GEN_INIT];
    entry->body_bytes = (uint32_t)bytes[GEN_BODY];
    entry->fini_bytes = (uint32_t)bytes[GEN_FINI];
    entry->corunner_bytes = (uint32_t)bytes[GEN_CORUNNER];
    entry->corunner_init_bytes = (uint32_t)bytes[GEN_CORUNNER_INIT];
    if (entry->fini_bytes)
        entry->fini = code_at + places[GEN_FINI];
    if (entry->corunner_bytes) {
        entry->corunner = code_at + places[GEN_CORUNNER];
        entry->corunner_init = code_at + places[GEN_CORUNNER_INIT];
    }
    return at;
}

static void gen_set_extras(const struct kernel_spec *spec, uint64_t fills_at,
                           struct core_kernel *entry)
{
    entry->fills = spec->nfills ? fills_at : 0;
    entry->nfills = (uint32_t)spec->nfills;
    entry->align = (uint32_t)spec->align;
    entry->copies = (uint32_t)spec->copies;
    entry->corunner_from = (uint32_t)spec->corunner_from;
    entry->corunner_to = (uint32_t)spec->corunner_to;
}

void gen_write_table(const struct gen_kernel *kernels, int nkernels,
                     const struct gen_addresses *addresses, struct strbuf *out)
{
    uint64_t at = 0, fills_at = addresses->table_at;
    for (int i = 0; i < nkernels; i++)
        fills_at += kernels[i].composed ? sizeof(struct core_kernel) : 0;
    for (int i = 0; i < nkernels; i++) {
        if (!kernels[i].composed)
            continue;
        struct core_kernel entry = gen_entry(i, &kernels[i]);
        at = gen_place_parts(kernels[i].composed, at, addresses->code_at, &entry);
        gen_set_extras(kernels[i].spec, fills_at, &entry);
        fills_at += (size_t)kernels[i].spec->nfills * sizeof(struct core_fill);
        strbuf_put(out, (const char *)&entry, sizeof entry);
    }
    for (int i = 0; i < nkernels; i++)
        if (kernels[i].composed && kernels[i].spec->nfills)
            strbuf_put(out, (const char *)kernels[i].spec->fills,
                       (size_t)kernels[i].spec->nfills * sizeof(struct core_fill));
}

// Writes many copies of a piece at once.
static void gen_put_piece(const struct gen_piece *piece, FILE *file)
{
    char block[16384];
    size_t most = piece->len <= sizeof block ? sizeof block / piece->len : 0;
    if (piece->times == 1 || most == 0) {
        for (uint64_t i = 0; i < piece->times; i++)
            fwrite(piece->bytes, 1, piece->len, file);
        return;
    }
    most = piece->times < most ? (size_t)piece->times : most;
    for (size_t i = 0; i < most; i++)
        memcpy(block + i * piece->len, piece->bytes, piece->len);
    for (uint64_t left = piece->times; left > 0; left -= most) {
        most = left < most ? (size_t)left : most;
        fwrite(block, piece->len, most, file);
    }
}

bool gen_put_code(const struct gen_kernel *kernels, int nkernels, FILE *file)
{
    for (int i = 0; i < nkernels; i++) {
        const struct gen_code *code = kernels[i].composed;
        for (size_t p = 0; code && p < code->ends[GEN_PARTS - 1]; p++)
            gen_put_piece(&code->pieces[p], file);
    }
    return !ferror(file);
}

// Lines between which the parts stand; no instruction is called so.
#define GEN_PART_MARK "latput_part"

static bool gen_is_expanded(const struct gen_kernel *kernel, enum gen_part part)
{
    return !kernel->left_out && !kernel->composed && gen_part_text(kernel->spec, part);
}

void gen_write_unexpanded(const struct gen_kernel *kernels, int nkernels, struct strbuf *out)
{
    for (int i = 0; i < nkernels; i++)
        for (enum gen_part part = 0; part < GEN_PARTS; part++) {
            if (!gen_is_expanded(&kernels[i], part))
                continue;
            strbuf_printf(out, GEN_PART_MARK " %d %d\n", i, part);
            gen_text(gen_part_text(kernels[i].spec, part), out);
        }
    strbuf_puts(out, GEN_PART_MARK " end\n");
}

// Takes the lines from *text up to the next mark, where it is left.
static const char *gen_take_lines(const char **text, struct strbuf *lines, struct arena *arena)
{
    strbuf_clear(lines);
    while (**text) {
        const char *line = *text + strspn(*text, " \t");
        size_t len = strcspn(line, "\n");
        if (strncmp(line, GEN_PART_MARK " ", strlen(GEN_PART_MARK " ")) == 0)
            break;
        if (len && strncmp(line, "%line ", strlen("%line ")) != 0) {
            strbuf_put(lines, line, len);
            strbuf_puts(lines, "\n");
        }
        *text = line + len + (line[len] == '\n');
    }
    return arena_strndup(arena, strbuf_text(lines), lines->len);
}

// Reads the numbers of the mark that *text begins with, and goes past it. Returns false at the
// last one.
static bool gen_take_mark(const char **text, long *kernel, long *part)
{
    char *end;
    const char *at = *text + strspn(*text, " \t");
    if (strncmp(at, GEN_PART_MARK " ", strlen(GEN_PART_MARK " ")) != 0)
        return false;
    at += strlen(GEN_PART_MARK " ");
    *kernel = strtol(at, &end, 10);
    if (end == at)
        return false;
    *part = strtol(end, &end, 10);
    *text = end + (*end == '\n');
    return true;
}

// Returns true if each part that the preprocessor was given came back under its mark: a macro may
// swallow one, whose lines then lie in the part before it.
static bool gen_all_taken(const struct gen_kernel *kernels, int nkernels)
{
    for (int i = 0; i < nkernels; i++)
        for (enum gen_part part = 0; part < GEN_PARTS; part++)
            if (gen_is_expanded(&kernels[i], part) &&
                (!kernels[i].expanded || !kernels[i].expanded[part]))
                return false;
    return true;
}

bool gen_take_expanded(struct gen_kernel *kernels, int nkernels, const char *text,
                       struct arena *arena)
{
    struct strbuf lines = {0};
    long kernel, part;
    bool whole = true;
    gen_take_lines(&text, &lines, arena);
    while (whole && gen_take_mark(&text, &kernel, &part)) {
        whole = kernel >= 0 && kernel < nkernels && part >= 0 && part < GEN_PARTS;
        if (!whole)
            break;
        const char **parts = kernels[kernel].expanded;
        if (!parts)
            parts = arena_alloc(arena, GEN_PARTS * sizeof *parts);
        parts[part] = gen_take_lines(&text, &lines, arena);
        kernels[kernel].expanded = parts;
    }
    strbuf_free(&lines);
    return whole && strcmp(text, GEN_PART_MARK " end\n") == 0 && gen_all_taken(kernels, nkernels);
}

// Writes the table, in the order of ids; adjacent entries of composed kernels come at once.
static void gen_table(const struct gen_kernel *kernels, int nkernels, int bits, const char *stem,
                      struct strbuf *out)
{
    size_t composed = 0;
    for (int i = 0; i < nkernels;) {
        size_t from = composed;
        for (; i < nkernels && kernels[i].composed; i++)
            composed++;
        if (composed > from)
            strbuf_printf(out, "incbin \"%s.table\", %zu, %zu\n", stem,
                          from * sizeof(struct core_kernel),
                          (composed - from) * sizeof(struct core_kernel));
        for (; i < nkernels && !kernels[i].composed; i++)
            if (!kernels[i].left_out)
                gen_kernel_entry(i, &kernels[i], bits, out);
    }
}

void gen_write(struct gen_kernel *kernels, int nkernels, int bits, const char *stem,
               struct strbuf *out)
{
    size_t seen = out->len;
    int line = 1;
    int written = 0;
    gen_head(bits, out);
    // First, at the address that the linked core knows.
    strbuf_puts(out, "global latput_code\nlatput_code:\n");
    if (stem)
        strbuf_printf(out, "incbin \"%s.code\"\n", stem);
    for (int i = 0; i < nkernels; i++) {
        kernels[i].first_line = kernels[i].last_line = 0;
        written += !kernels[i].left_out;
        if (kernels[i].left_out || kernels[i].composed)
            continue;
        line += gen_count_lines(out->data + seen, out->len - seen);
        seen = out->len;
        kernels[i].first_line = line;
        gen_kernel_code(i, &kernels[i], out);
        line += gen_count_lines(out->data + seen, out->len - seen);
        seen = out->len;
        kernels[i].last_line = line - 1;
    }
    strbuf_printf(out,
                  "latput_reset\n"
                  "section " GEN_TABLE " progbits alloc noexec nowrite align=16\n"
                  "global latput_kernels, latput_kernel_count\n"
                  "latput_kernel_count: dd %d\n"
                  "dd 0, 0, 0\n"
                  "latput_kernels:\n",
                  written);
    gen_table(kernels, nkernels, bits, stem, out);
    for (int i = 0; i < nkernels; i++)
        if (!kernels[i].left_out && kernels[i].spec->nfills)
            gen_kernel_fills(i, kernels[i].spec, out);
    strbuf_puts(out, "section .note.GNU-stack noalloc noexec nowrite progbits\n");
}

static int gen_text_lines(const char *text)
{
    size_t len = strlen(text);
    return gen_count_lines(text, len) + (len && text[len - 1] != '\n');
}

struct gen_place gen_find_place(const struct gen_kernel *kernel, int line)
{
    bool extras = gen_has_extras(kernel->spec); // lines that gen_kernel_code() writes there
    int before_init = extras ? 4 : 3, before_body = extras ? 3 : 1;
    int init_lines = gen_text_lines(kernel->spec->init);
    int body_lines = gen_text_lines(kernel->spec->body);
    line -= kernel->first_line + before_init;
    if (line >= 0 && line < init_lines)
        return (struct gen_place){true, line + 1};
    line -= init_lines + before_body;
    if (line >= 0 && line < body_lines)
        return (struct gen_place){false, line + 1};
    return (struct gen_place){false, 0};
}
