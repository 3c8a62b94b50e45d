// SPDX-License-Identifier: MIT
// uops.info's instructions.xml as a stream: of each instruction its operands, then the measurement
// of one architecture. A document type, which could define entities, is refused.
#include "foreign_internal.h"
#include "libexpat.h"

#include "cpuinfo/cpuinfo.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    XML_BLOCK = 256 << 10,   // bytes read at a time
    XML_TOKEN_MAX = 4 << 20, // longest element or text
    XML_NAME_MAX = 32,
    XML_ARCHITECTURES_MAX = 128,
    XML_TEXT_MAX = 256 // of an attribute that is kept
};

// An operand as latency refers to it.
struct xml_operand {
    int idx;
    bool memory;
    char name[XML_NAME_MAX]; // as latency_table names it: "op1", "op1.mask", "flags", "rax"
};

struct xml_reader {
    struct foreign_table *table;
    struct err *err;
    XML_Parser parser;
    bool failed;
    int depth;
    char wanted[XML_NAME_MAX];
    char architectures[XML_ARCHITECTURES_MAX][XML_NAME_MAX];
    int narchitectures;
    // The instruction under way.
    char string[XML_TEXT_MAX], assembly[XML_NAME_MAX], iform[XML_TEXT_MAX], agen[XML_NAME_MAX],
        extension[XML_NAME_MAX];
    bool masked, zeroing, here; // here: within the wanted architecture
    struct xml_operand operands[2 * FOREIGN_OPERANDS_MAX];
    int noperands, nexplicit;
    bool naming; // the text of the last operand names a register
    struct foreign_row *row;
};

static void xml_fail(struct xml_reader *reader, const char *what)
{
    if (!reader->failed)
        err_set(reader->err, "%s:%lu: %s", reader->table->path,
                (unsigned long)xp.XML_GetCurrentLineNumber(reader->parser), what);
    reader->failed = true;
    xp.XML_StopParser(reader->parser, XML_FALSE);
}

static const char *xml_attribute(const char *const *attributes, const char *name)
{
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

static bool xml_is(const char *const *attributes, const char *name)
{
    const char *value = xml_attribute(attributes, name);
    return value && strcmp(value, "1") == 0;
}

static void xml_copy(const char *const *attributes, const char *name, char *to, size_t size)
{
    const char *value = xml_attribute(attributes, name);
    snprintf(to, size, "%s", value ? value : "");
}

static void xml_instruction(struct xml_reader *reader, const char *const *attributes)
{
    reader->row = NULL;
    reader->noperands = reader->nexplicit = 0;
    xml_copy(attributes, "string", reader->string, sizeof reader->string);
    xml_copy(attributes, "asm", reader->assembly, sizeof reader->assembly);
    xml_copy(attributes, "iform", reader->iform, sizeof reader->iform);
    xml_copy(attributes, "agen", reader->agen, sizeof reader->agen);
    xml_copy(attributes, "extension", reader->extension, sizeof reader->extension);
    reader->masked = xml_is(attributes, "mask");
    reader->zeroing = xml_is(attributes, "zeroing");
}

// --- operands as latencies name them ---

static void xml_operand(struct xml_reader *reader, const char *const *attributes)
{
    const char *idx = xml_attribute(attributes, "idx"), *type = xml_attribute(attributes, "type");
    const char *name = xml_attribute(attributes, "name");
    if (!idx || !type || reader->noperands == (int)ARRAY_LEN(reader->operands))
        return;
    struct xml_operand *operand = &reader->operands[reader->noperands++];
    *operand = (struct xml_operand){
        .idx = atoi(idx), .memory = strcmp(type, "mem") == 0 || strcmp(type, "agen") == 0};
    reader->naming = false;
    if (strcmp(type, "flags") == 0)
        strcpy(operand->name, "flags");
    else if (xml_is(attributes, "suppressed") ||
             (name && islower((unsigned char)*name) && strncmp(name, "op", 2) != 0)) {
        // The text names it, in latput's own the attribute.
        reader->naming = true;
        if (name && islower((unsigned char)*name))
            snprintf(operand->name, sizeof operand->name, "%s", name);
    } else if (reader->masked && reader->nexplicit == 1 && !strstr(reader->operands[0].name, ".") &&
               reader->noperands == 2)
        strcpy(operand->name, "op1.mask");
    else
        snprintf(operand->name, sizeof operand->name, "op%d", ++reader->nexplicit);
}

static void xml_text(void *data, const char *text, int len)
{
    struct xml_reader *reader = data;
    struct xml_operand *operand =
        reader->noperands ? &reader->operands[reader->noperands - 1] : NULL;
    if (!reader->naming || !operand || operand->name[0] || len <= 0)
        return;
    size_t n = 0;
    for (int i = 0; i < len && n + 1 < sizeof operand->name && isalnum((unsigned char)text[i]); i++)
        operand->name[n++] = (char)tolower((unsigned char)text[i]);
    operand->name[n] = '\0';
}

// --- the form ---

// Makes classes of "B_IS_D8", the parts of an address.
static bool xml_address(const char *agen, char *class)
{
    static const struct {
        const char *part, *class;
    } parts[] = {
        {"B",   "b"  },
        {"I",   "i"  },
        {"IS",  "i*4"},
        {"D8",  "d8" },
        {"D32", "d32"},
        {"R",   "rip"}
    };
    strcpy(class, "agen:");
    for (const char *at = agen; *at;) {
        size_t len = strcspn(at, "_");
        const char *found = NULL;
        for (size_t i = 0; i < ARRAY_LEN(parts); i++)
            if (strlen(parts[i].part) == len && strncmp(parts[i].part, at, len) == 0)
                found = parts[i].class;
        if (!found || strlen(class) > 20)
            return false;
        if (at != agen)
            strcat(class, "+");
        strcat(class, found);
        at += len + (at[len] == '_');
    }
    return *agen != '\0';
}

// Makes the class of an operand of the name: "M32_1to8" is m32{1to8}, "R8l" is r8.
static const char *xml_class(const struct xml_reader *reader, const char *token, char class[64])
{
    static const char *const same[][2] = {
        {"XMM", "x"  },
        {"YMM", "y"  },
        {"ZMM", "z"  },
        {"R8l", "r8" },
        {"M0",  "m"  },
        {"R8h", "r8h"}
    };
    const char *broadcast = strstr(token, "_1to");
    for (size_t i = 0; i < ARRAY_LEN(same); i++)
        if (strcmp(token, same[i][0]) == 0)
            return strcpy(class, same[i][1]);
    if (strncmp(token, "VSIB_", 5) == 0) {
        const char *kind = strstr(reader->assembly, "THER"); // of gather; scatter has TTER
        kind = kind ? kind : strstr(reader->assembly, "TTER");
        kind = kind ? kind : strcasestr(reader->assembly, "ther");
        kind = kind ? kind : strcasestr(reader->assembly, "tter");
        bool quad = kind && toupper((unsigned char)kind[4]) == 'Q';
        snprintf(class, 64, "vm%d%c", quad ? 64 : 32, tolower((unsigned char)token[5]));
        return class;
    }
    if (strcmp(token, "AGEN") == 0)
        return xml_address(reader->agen, class) ? class : NULL;
    if (broadcast)
        snprintf(class, 64, "%.*s{%.12s}", (int)(broadcast - token), token, broadcast + 1);
    else
        snprintf(class, 64, "%.40s", token);
    for (char *c = class; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return strcmp(class, "0") == 0 ? NULL : class;
}

static const char *xml_operands_set(struct xml_reader *reader)
{
    static const char why[] = "operands of values that the forms of the lists do not have";
    char class[96];
    char *save = NULL, *open = strchr(reader->string, '('), text[XML_TEXT_MAX];
    snprintf(text, sizeof text, "%s", open ? open + 1 : "");
    int n = 0;
    for (char *token = strtok_r(text, "(), ", &save); token;
         token = strtok_r(NULL, "(), ", &save), n++) {
        if (reader->masked && n == 1 && strcmp(token, "K") == 0)
            continue;
        if (!xml_class(reader, token, class))
            return why;
        if (reader->masked && n == 0)
            strcat(class, reader->zeroing ? "{k}{z}" : "{k}");
        foreign_operand_add(reader->table, reader->row, class, -1);
    }
    size_t name = strcspn(reader->string, " (");
    if (name > 3 && strncmp(reader->string + name - 3, "_ER", 3) == 0)
        foreign_operand_add(reader->table, reader->row, "{er}", -1);
    if (name > 4 && strncmp(reader->string + name - 4, "_SAE", 4) == 0)
        foreign_operand_add(reader->table, reader->row, "{sae}", -1);
    return NULL;
}

static void xml_row_begin(struct xml_reader *reader)
{
    struct foreign_table *table = reader->table;
    reader->row = foreign_row_add(table, (int)xp.XML_GetCurrentLineNumber(reader->parser),
                                  reader->string, reader->err);
    if (!reader->row) {
        reader->failed = true;
        xp.XML_StopParser(reader->parser, XML_FALSE);
        return;
    }
    const char *assembly = reader->assembly, *end = strrchr(reader->iform, '_');
    while (*assembly == '{') {
        assembly += strcspn(assembly, "}");
        assembly += *assembly == '}';
        assembly += strspn(assembly, " ");
    }
    foreign_mnemonic_set(table, reader->row, assembly, strlen(assembly));
    if (*reader->row->mnemonic == 'v')
        reader->row->enc = strcmp(reader->extension, "AVX512EVEX") == 0 ? "evex" : "vex";
    if (end && strlen(end) == 3 && isxdigit((unsigned char)end[1]) &&
        isxdigit((unsigned char)end[2]))
        reader->row->opcode = (int)strtol(end + 1, NULL, 16);
    reader->row->why = xml_operands_set(reader);
}

// --- values ---

static void xml_measurement(struct xml_reader *reader, const char *const *attributes)
{
    static const char *const throughputs[] = {"TP_unrolled", "TP_loop", "TP"};
    struct foreign_value value = {.quantity = FOREIGN_THROUGHPUT, .most = -1};
    const char *uops = xml_attribute(attributes, "uops");
    const char *ports = xml_attribute(attributes, "ports");
    xml_row_begin(reader);
    if (!reader->row)
        return;
    for (size_t i = 0; i < ARRAY_LEN(throughputs); i++) {
        const char *text = xml_attribute(attributes, throughputs[i]);
        double clk;
        bool upper = false;
        if (text && foreign_number(reader->table, reader->row->line, text, &clk, &upper) == 0 &&
            (value.most < 0 || clk < value.most)) {
            value.least = value.most = clk;
            value.upper = upper;
        }
    }
    if (value.most >= 0)
        foreign_value_add(reader->table, reader->row, value);
    if (uops)
        foreign_value_text(reader->table, reader->row, FOREIGN_UOPS, uops);
    if (ports && *ports)
        foreign_ports_add(reader->table, reader->row, ports);
}

static const struct xml_operand *xml_operand_find(const struct xml_reader *reader, const char *idx)
{
    for (int i = 0; idx && i < reader->noperands; i++)
        if (reader->operands[i].idx == atoi(idx) && reader->operands[i].name[0])
            return &reader->operands[i];
    return NULL;
}

// Adds the latency that an attribute has, and its mark. `part`: of the source, ".base"; NULL: none.
static void xml_latency_add(struct xml_reader *reader, const struct xml_operand *ends[2],
                            const char *const *attributes, const char *name, const char *part)
{
    struct foreign_table *table = reader->table;
    struct foreign_value value = {.quantity = FOREIGN_LATENCY, .rounding = 0.5};
    char bound[64];
    bool range = strcmp(name, "max_cycles") == 0;
    const char *text = xml_attribute(attributes, name);
    const char *least = range ? xml_attribute(attributes, "min_cycles") : NULL;
    if (!text || foreign_number(table, reader->row->line, text, &value.most, &value.upper) != 0)
        return;
    value.least = value.most;
    if (least)
        foreign_number(table, reader->row->line, least, &value.least, &value.upper);
    snprintf(bound, sizeof bound, "%s_is_upper_bound", name);
    value.upper = value.upper || xml_is(attributes, bound);
    bool data = part && strcmp(part, ".data") == 0;
    value.src = arena_printf(&table->arena, "%s%s", ends[0]->name,
                             !part                      ? ""
                             : ends[0]->memory || !data ? part
                                                        : "");
    value.dst = arena_printf(&table->arena, "%s%s", ends[1]->name, ends[1]->memory ? ".data" : "");
    foreign_value_add(table, reader->row, value);
}

static void xml_latency(struct xml_reader *reader, const char *const *attributes)
{
    static const char *const parts[][2] = {
        {"cycles",            NULL    },
        {"max_cycles",        NULL    },
        {"cycles_addr",       ".base" },
        {"cycles_addr_index", ".index"},
        {"cycles_mem",        ".data" }
    };
    const struct xml_operand *ends[2] = {
        xml_operand_find(reader, xml_attribute(attributes, "start_op")),
        xml_operand_find(reader, xml_attribute(attributes, "target_op"))};
    if (!ends[0] || !ends[1]) {
        foreign_tell(reader->table, reader->row->line,
                     "a latency between operands that are not named");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        xml_latency_add(reader, ends, attributes, parts[i][0], parts[i][1]);
}

// --- elements ---

static void xml_architecture(struct xml_reader *reader, const char *const *attributes)
{
    const char *name = xml_attribute(attributes, "name");
    int i = 0;
    reader->here = name && strcasecmp(name, reader->wanted) == 0;
    while (name && i < reader->narchitectures &&
           strncmp(reader->architectures[i], name, XML_NAME_MAX - 1) != 0)
        i++;
    if (name && i == reader->narchitectures && i < XML_ARCHITECTURES_MAX)
        snprintf(reader->architectures[reader->narchitectures++], XML_NAME_MAX, "%s", name);
}

static void xml_begin(void *data, const char *element, const char **attributes)
{
    struct xml_reader *reader = data;
    const char *const *given = (const char *const *)attributes;
    if (++reader->depth > FOREIGN_DEPTH_MAX) {
        xml_fail(reader, "elements are deeper within each other than such a table has them");
        return;
    }
    if (strcmp(element, "instruction") == 0)
        xml_instruction(reader, given);
    else if (strcmp(element, "operand") == 0)
        xml_operand(reader, given);
    else if (strcmp(element, "architecture") == 0)
        xml_architecture(reader, given);
    else if (strcmp(element, "measurement") == 0 && reader->here)
        xml_measurement(reader, given);
    else if (strcmp(element, "latency") == 0 && reader->here && reader->row)
        xml_latency(reader, given);
}

static void xml_end(void *data, const char *element)
{
    struct xml_reader *reader = data;
    reader->depth--;
    reader->naming = false;
    if (strcmp(element, "architecture") == 0)
        reader->here = false;
    if (strcmp(element, "measurement") == 0)
        reader->row = NULL;
}

static void xml_doctype(void *data, const char *name, const char *system, const char *public,
                        int internal)
{
    (void)name, (void)system, (void)public, (void)internal;
    xml_fail(data, "a document type, which such a table has not: its entities are not believed");
}

static void xml_blocks(struct xml_reader *reader, FILE *file)
{
    long long fed = 0;
    for (bool last = false; !last && !reader->failed;) {
        void *block = xp.XML_GetBuffer(reader->parser, XML_BLOCK);
        size_t got = block ? fread(block, 1, XML_BLOCK, file) : 0;
        last = got < XML_BLOCK;
        fed += (long long)got;
        if (!block || ferror(file)) {
            xml_fail(reader, block ? strerror(errno) : "out of memory");
            return;
        }
        if (xp.XML_ParseBuffer(reader->parser, (int)got, last) == XML_STATUS_ERROR)
            xml_fail(reader, xp.XML_ErrorString(xp.XML_GetErrorCode(reader->parser)));
        else if (!last && fed - xp.XML_GetCurrentByteIndex(reader->parser) > XML_TOKEN_MAX)
            xml_fail(reader, "an element longer than any of such a table");
    }
}

static int xml_pass(const char *path, struct xml_reader *reader, struct err *err)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return err_set(err, "%s: %s", path, strerror(errno));
    reader->parser = xp.XML_ParserCreate(NULL);
    reader->depth = 0;
    xp.XML_SetUserData(reader->parser, reader);
    xp.XML_SetElementHandler(reader->parser, xml_begin, xml_end);
    xp.XML_SetCharacterDataHandler(reader->parser, xml_text);
    xp.XML_SetStartDoctypeDeclHandler(reader->parser, xml_doctype);
    xml_blocks(reader, file);
    xp.XML_ParserFree(reader->parser);
    fclose(file);
    return reader->failed ? -1 : 0;
}

static int xml_none(const struct xml_reader *reader, const char *cpu, struct err *err)
{
    struct strbuf names = {0};
    for (int i = 0; i < reader->narchitectures; i++)
        strbuf_printf(&names, "%s%s", i ? ", " : "", reader->architectures[i]);
    err_set(err, "%s: has nothing of %s, but of %s; say of which with --theirs",
            reader->table->path, cpu, names.len ? strbuf_text(&names) : "no architecture");
    strbuf_free(&names);
    return -1;
}

int foreign_read_uops_info(const char *path, const char *cpu, struct foreign_table *table,
                           struct err *err)
{
    struct xml_reader *reader = xcalloc(1, sizeof *reader);
    struct err ignored;
    const char *uarch = cpu ? cpu_uarch_called(cpu, &ignored) : NULL;
    const char *name = cpu_other_name(uarch ? uarch : cpu ? cpu : "", CPU_NAME_UOPS_INFO);
    char key[XML_NAME_MAX];
    cpu_uarch_key(cpu ? cpu : "", key, sizeof key);
    reader->table = table;
    reader->err = err;
    snprintf(reader->wanted, sizeof reader->wanted, "%s", name && *name ? name : key);
    int status = libexpat_load(err);
    if (status == 0)
        status = xml_pass(path, reader, err);
    if (status == 0 && table->nrows == 0 && reader->narchitectures == 1) { // no other is there
        snprintf(reader->wanted, sizeof reader->wanted, "%s", reader->architectures[0]);
        status = xml_pass(path, reader, err);
    }
    if (status == 0 && table->nrows == 0)
        status = xml_none(reader, cpu ? cpu : "", err);
    table->cpu = arena_strdup(&table->arena, reader->wanted);
    foreign_uarch_set(table, table->cpu);
    free(reader);
    return status;
}
