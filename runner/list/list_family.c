// SPDX-License-Identifier: MIT
// Families of forms; see list_family.h. A family is cut into words once; each variant is a choice
// of mask, width, one alternative per operand, and rounding, from which its fields are written.
#include "list_family.h"

#include "cpuinfo/cpuinfo.h"
#include "util/mem.h"
#include "util/strbuf.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORDS_MAX = OPERANDS_MAX + 1, // operands and a literal {er}; the parser refuses more
    ALTERNATIVES_MAX = 8,         // of one operand
    VARIANTS_MAX = 512,           // of one row; the largest family of the lists has under 50
    CLASS_BYTES = 128,
};

enum { OPTION_WIDTHS, OPTION_MASKS, OPTION_ER, OPTION_SAE, FAMILY_OPTIONS };
static const struct {
    const char *key, *letters; // letters allowed in its value
    bool value;                // a value is required
} family_options[FAMILY_OPTIONS] = {
    [OPTION_WIDTHS] = {"widths", "xyzbwdq", true },
    [OPTION_MASKS] = {"masks",  "kz",      true },
    [OPTION_ER] = {"er",     "xyz",     false},
    [OPTION_SAE] = {"sae",    "xyz",     false},
};

enum mask { MASK_AS_WRITTEN, MASK_MERGE, MASK_ZERO };

struct family_word {
    char access[2]; // "=", "+" or ""
    const char *alternatives[ALTERNATIVES_MAX];
    int nalternatives;
};

struct family {
    const char *const *fields;
    const char *values[FAMILY_OPTIONS]; // NULL: option not given
    const char *options;                // other options
    struct family_word words[WORDS_MAX];
    int nwords;
    struct arena *arena;
    const char *const **rows;
    size_t nrows, capacity;
    struct list_fault *fault;
    int column; // column of the fault
};

// A variant while its fields are written.
struct variant {
    enum mask mask;
    char width; // 'x', 'y', 'z' of vectors, 'b', 'w', 'd', 'q' of general registers; 0: none
    int choice[WORDS_MAX];
    const char *rounding; // "{er}", "{sae}" or NULL
    bool memory, broadcast;
};

const char *list_family_option(int n)
{
    return n < FAMILY_OPTIONS ? family_options[n].key : NULL;
}

// Sets a fault at text[0..len), with `message` after that text. Returns -1.
static int family_fault(struct family *family, int column, const char *text, size_t len,
                        const char *message)
{
    family->column = column;
    return list_fault_set(family->fault, text, "'%.*s'%s", (int)len, text, message);
}

// Returns the index of the family option at text[0..len), -1 for another option. *value is NULL if
// it has none.
static int family_option_find(const char *text, size_t len, const char **value, size_t *value_len)
{
    const char *equals = memchr(text, '=', len);
    size_t key_len = equals ? (size_t)(equals - text) : len;
    *value = equals ? equals + 1 : NULL;
    *value_len = equals ? len - key_len - 1 : 0;
    for (int i = 0; i < FAMILY_OPTIONS; i++)
        if (strlen(family_options[i].key) == key_len &&
            memcmp(family_options[i].key, text, key_len) == 0)
            return i;
    return -1;
}

static int family_option_set(struct family *family, int option, const char *word, size_t len)
{
    const char *value;
    size_t value_len;
    family_option_find(word, len, &value, &value_len);
    bool good = value ? value_len > 0 : !family_options[option].value;
    for (size_t i = 0; good && value && i < value_len; i++)
        good = strchr(family_options[option].letters, value[i]) &&
               !memchr(value + i + 1, value[i], value_len - i - 1);
    if (!good || family->values[option])
        return family_fault(family, LIST_OPTIONS, word, len,
                            good
                                ? " appears twice"
                                : ": widths= and masks= have some of their letters, each once, as "
                                  "in widths=xyz masks=kz or widths=wdq; er and sae may have those "
                                  "of widths");
    family->values[option] = value ? arena_strndup(family->arena, value, value_len) : "";
    return 0;
}

// Separates the options of the family from the others.
static int family_read_options(struct family *family)
{
    struct strbuf others = {0};
    int status = 0;
    for (const char *at = family->fields[LIST_OPTIONS]; *at && status == 0;) {
        size_t len = strcspn(at, " \t"), value_len;
        const char *value;
        int option = len ? family_option_find(at, len, &value, &value_len) : -1;
        if (option >= 0)
            status = family_option_set(family, option, at, len);
        else if (len)
            strbuf_printf(&others, "%s%.*s", others.len ? " " : "", (int)len, at);
        at += len;
        at += strspn(at, " \t");
    }
    family->options = arena_strdup(family->arena, strbuf_text(&others));
    strbuf_free(&others);
    return status;
}

// Checks that er=y is one of widths=.
static int family_check_widths(struct family *family)
{
    const char *widths = family->values[OPTION_WIDTHS];
    for (int i = OPTION_ER; i <= OPTION_SAE; i++) {
        const char *value = family->values[i] ? family->values[i] : "";
        if (*value && (!widths || strspn(value, widths) != strlen(value)))
            return family_fault(
                family, LIST_OPTIONS, strstr(family->fields[LIST_OPTIONS], family_options[i].key),
                strlen(family_options[i].key), "= names a width that widths= does not have");
    }
    return 0;
}

static int family_read_word(struct family *family, const char *text, size_t len)
{
    struct family_word *word = &family->words[family->nwords++];
    const char *at = text, *end = text + len;
    if (*at == '=' || *at == '+')
        word->access[0] = *at++;
    for (;; at++) {
        size_t n = strcspn(at, "/");
        n = n < (size_t)(end - at) ? n : (size_t)(end - at);
        if (n == 0 || n >= CLASS_BYTES / 2 || word->nalternatives == ALTERNATIVES_MAX)
            return family_fault(family, LIST_OPERANDS, text, len,
                                ": up to eight classes with one '/' between");
        word->alternatives[word->nalternatives++] = arena_strndup(family->arena, at, n);
        at += n;
        if (at == end)
            return 0;
    }
}

static int family_read_words(struct family *family)
{
    for (const char *at = family->fields[LIST_OPERANDS]; *at;) {
        size_t len = strcspn(at, " \t");
        if (len && family->nwords == WORDS_MAX)
            return family_fault(family, LIST_OPERANDS, at, len, " is an operand too many");
        if (len && family_read_word(family, at, len))
            return -1;
        at += len;
        at += strspn(at, " \t");
    }
    return 0;
}

// Returns the bits of the part of a width that the end of a class names: all, a half, a quarter, an
// eighth; 0 if it names none.
static int class_bits(const char *end, char width)
{
    static const char parts[] = "hqe";
    int bits = width == 'x' ? 128 : width == 'y' ? 256 : 512;
    if (!*end || *end == '{')
        return bits;
    const char *part = strchr(parts, *end);
    return part && (!end[1] || end[1] == '{') ? bits >> (part - parts + 1) : 0;
}

// Returns the bits of general-purpose registers of this width; 0: it is one of vectors.
static int class_general_bits(char width)
{
    static const char widths[] = "bwdq";
    const char *at = width ? strchr(widths, width) : NULL;
    return at ? 8 << (at - widths) : 0;
}

// Returns true if the class follows the width of general-purpose registers; writes its name.
static bool class_at_general(const char *class, int bits, char *out)
{
    if (strcmp(class, "g") == 0)
        return snprintf(out, CLASS_BYTES, "r%d", bits) > 0;
    if (strcmp(class, "mg") == 0)
        return snprintf(out, CLASS_BYTES, "m%d", bits) > 0;
    if (strcmp(class, "ig") == 0) // no instruction of more than one operand has one of 64 bits
        return snprintf(out, CLASS_BYTES, "i%d", bits > 32 ? 32 : bits) > 0;
    return false;
}

static char class_register(int bits)
{
    return bits == 512 ? 'z' : bits == 256 ? 'y' : 'x';
}

// Returns true if the class follows the width; writes its name at this width, without decoration.
static bool class_at_width(const char *class, char width, char *out)
{
    int bits, element, skip = 0;
    if (class_general_bits(width))
        return class_at_general(class, class_general_bits(width), out);
    if (sscanf(class, "vm%2dv%n", &element, &skip) == 1 && skip &&
        (bits = class_bits(class + skip, width)))
        return snprintf(out, CLASS_BYTES, "vm%d%c", element, class_register(bits)) > 0;
    if (class[0] == 'v' && (bits = class_bits(class + 1, width)))
        return snprintf(out, CLASS_BYTES, "%c", class_register(bits)) > 0;
    if (class[0] == 'm' && class[1] == 'v' && (bits = class_bits(class + 2, width)))
        return snprintf(out, CLASS_BYTES, "m%d", bits) > 0;
    if (sscanf(class, "b%2d%n", &element, &skip) == 1 && skip && element >= 8 && element <= 64 &&
        (bits = class_bits(class + skip, width)))
        return snprintf(out, CLASS_BYTES, "m%d{1to%d}", element, bits / element) > 0;
    return false;
}

static bool class_is_memory(const char *class)
{
    return (class[0] == 'm' &&
            (isdigit((unsigned char)class[1]) || !class[1] || class[1] == '{')) ||
           strncmp(class, "vm", 2) == 0 || strncmp(class, "agen", 4) == 0 ||
           strncmp(class, "moffs", 5) == 0;
}

static bool class_is_vector(const char *class)
{
    return strchr("xyz", class[0]) && (!class[1] || class[1] == '{');
}

// Adds the variant's mask to the destination; false: it cannot have one.
static bool variant_mask(const struct variant *variant, char *access, char *class)
{
    bool masked = strstr(class, "{k}"), zeroed = strstr(class, "{z}");
    size_t len = strlen(class);
    if (variant->mask == MASK_AS_WRITTEN)
        return true;
    if (zeroed || (variant->mask == MASK_MERGE && masked) ||
        (variant->mask == MASK_ZERO && !class_is_vector(class)))
        return false;
    snprintf(class + len, CLASS_BYTES - len, "%s%s", masked ? "" : "{k}",
             variant->mask == MASK_ZERO ? "{z}" : "");
    // With merging, elements that the mask leaves out keep the old content, which is thus read.
    if (class_is_vector(class) && variant->mask == MASK_MERGE)
        *access = '+';
    else if (masked)
        *access = '=';
    return true;
}

// Adds one operand to the text; false: there is no such variant.
static bool variant_operand(const struct family *family, struct variant *variant, int i,
                            struct strbuf *text)
{
    const struct family_word *word = &family->words[i];
    const char *alternative = word->alternatives[variant->choice[i]];
    char class[CLASS_BYTES], access[2] = {word->access[0]};
    if (variant->width && class_at_width(alternative, variant->width, class)) {
        const char *decoration = strchr(alternative, '{');
        size_t len = strlen(class);
        snprintf(class + len, sizeof class - len, "%s", decoration ? decoration : "");
    } else {
        snprintf(class, sizeof class, "%s", alternative);
    }
    if (i == 0 && !variant_mask(variant, access, class))
        return false;
    variant->memory = variant->memory || class_is_memory(class);
    variant->broadcast = variant->broadcast || strstr(class, "{1to");
    strbuf_printf(text, "%s%s%s", i ? " " : "", access, class);
    return true;
}

// Returns the mnemonic, with {evex} only if the form would also exist in VEX.
static const char *variant_mnemonic(const struct family *family, const struct variant *variant,
                                    const char *operands)
{
    static const char prefix[] = "{evex} ";
    const char *mnemonic = family->fields[LIST_MNEMONIC];
    bool only =
        variant->width == 'z' || variant->rounding || variant->broadcast || strstr(operands, "{k}");
    return only && strncmp(mnemonic, prefix, sizeof prefix - 1) == 0 ? mnemonic + sizeof prefix - 1
                                                                     : mnemonic;
}

// Returns the isa with the features that it needs for vectors below 512 bits (a column of
// features.csv).
static const char *variant_isa(const struct family *family, const struct variant *variant)
{
    const char *isa = family->fields[LIST_ISA], *needed = NULL;
    char name[64];
    bool narrow = variant->width == 'x' || variant->width == 'y';
    for (const char *at = isa; narrow && *at && !needed;) {
        size_t len = strcspn(at, "+");
        snprintf(name, sizeof name, "%.*s", (int)len, at);
        needed = feature_narrow(feature_find(name));
        at += len + (at[len] == '+');
    }
    for (const char *at = isa; needed && *at;) {
        size_t len = strcspn(at, "+");
        if (strlen(needed) == len && memcmp(at, needed, len) == 0)
            return isa;
        at += len + (at[len] == '+');
    }
    return needed ? arena_printf(family->arena, "%s+%s", isa, needed) : isa;
}

// Returns the options with the size of general-purpose registers in place of `os` in opcode=: the
// prefix 66 or none, and W.
static const char *variant_options(const struct family *family, const struct variant *variant)
{
    static const char size[] = ".os";
    const char *at = strstr(family->options, "opcode=");
    if (!class_general_bits(variant->width) || !at)
        return family->options;
    const char *prefix = variant->width == 'w' ? ".66" : ".np";
    const char *w = variant->width == 'q' ? ".w1" : ".w0";
    struct strbuf text = {0};
    strbuf_put(&text, family->options, (size_t)(at - family->options));
    for (int word = 0; *at && *at != ' '; word++) {
        size_t len = 1 + strcspn(at + 1, ". ");
        if (len == sizeof size - 1 && memcmp(at, size, len) == 0)
            strbuf_puts(&text, word == 1 ? prefix : w);
        else
            strbuf_put(&text, at, len);
        at += len;
    }
    strbuf_puts(&text, at);
    const char *options = arena_strdup(family->arena, strbuf_text(&text));
    strbuf_free(&text);
    return options;
}

// Writes a variant, if it exists.
static int family_add(struct family *family, struct variant *variant)
{
    struct strbuf operands = {0};
    bool there = true;
    variant->memory = variant->broadcast = false;
    for (int i = 0; i < family->nwords && there; i++)
        there = variant_operand(family, variant, i, &operands);
    if (variant->rounding)
        strbuf_printf(&operands, " %s", variant->rounding);
    if (there && !(variant->rounding && variant->memory)) {
        const char **fields = arena_alloc(family->arena, LIST_COLUMNS * sizeof *fields);
        memcpy(fields, family->fields, LIST_COLUMNS * sizeof *fields);
        fields[LIST_OPERANDS] = arena_strdup(family->arena, strbuf_text(&operands));
        fields[LIST_MNEMONIC] = variant_mnemonic(family, variant, fields[LIST_OPERANDS]);
        fields[LIST_ISA] = variant_isa(family, variant);
        fields[LIST_OPTIONS] = variant_options(family, variant);
        family->rows =
            xgrow(family->rows, &family->capacity, family->nrows + 1, sizeof *family->rows);
        family->rows[family->nrows++] = fields;
    }
    strbuf_free(&operands);
    if (family->nrows <= VARIANTS_MAX)
        return 0;
    family->column = LIST_OPERANDS;
    return list_fault_set(family->fault, family->fields[LIST_OPERANDS],
                          "the row stands for more than %d forms", VARIANTS_MAX);
}

// Steps to the next choice of alternatives, the last operand's first; false after the last choice.
static bool variant_next_choice(const struct family *family, struct variant *variant)
{
    for (int i = family->nwords - 1; i >= 0; i--) {
        if (++variant->choice[i] < family->words[i].nalternatives)
            return true;
        variant->choice[i] = 0;
    }
    return false;
}

// Adds all variants with one mask, one rounding and these widths ("": the row has none).
static int family_add_widths(struct family *family, enum mask mask, const char *widths,
                             const char *rounding)
{
    size_t before = family->nrows;
    const char *width = widths;
    do {
        struct variant variant = {.mask = mask, .width = *width, .rounding = rounding};
        do {
            if (family_add(family, &variant))
                return -1;
        } while (variant_next_choice(family, &variant));
    } while (*width && *++width);
    if (family->nrows > before)
        return 0;
    const char *options = family->fields[LIST_OPTIONS];
    return family_fault(family, LIST_OPTIONS, options, strlen(options),
                        rounding ? ": no variant is between registers, which rounding needs"
                        : mask == MASK_MERGE ? ": the destination cannot have the mask k"
                                             : ": the destination cannot have the mask z");
}

static int family_add_masks(struct family *family, const char *widths, const char *rounding)
{
    const char *masks = family->values[OPTION_MASKS] ? family->values[OPTION_MASKS] : "";
    if (family_add_widths(family, MASK_AS_WRITTEN, widths, rounding) ||
        (strchr(masks, 'k') && family_add_widths(family, MASK_MERGE, widths, rounding)))
        return -1;
    return strchr(masks, 'z') ? family_add_widths(family, MASK_ZERO, widths, rounding) : 0;
}

static int family_add_all(struct family *family)
{
    const char *widths = family->values[OPTION_WIDTHS] ? family->values[OPTION_WIDTHS] : "";
    if (family_add_masks(family, widths, NULL))
        return -1;
    for (int i = OPTION_ER; i <= OPTION_SAE; i++) {
        const char *value = family->values[i];
        if (value &&
            family_add_masks(family, *value ? value : widths, i == OPTION_ER ? "{er}" : "{sae}"))
            return -1;
    }
    return 0;
}

static int family_expand(struct family *family)
{
    if (family_check_widths(family) || family_read_words(family))
        return -1;
    return family_add_all(family);
}

int list_family_expand(const char *const *fields, struct arena *arena, struct list_family *out,
                       int *column, struct list_fault *fault)
{
    struct family family = {.fields = fields, .arena = arena, .fault = fault};
    int status = family_read_options(&family);
    bool options = false;
    for (int i = 0; i < FAMILY_OPTIONS; i++)
        options = options || family.values[i];
    out->family = options || strchr(fields[LIST_OPERANDS], '/');
    if (status == 0 && out->family) {
        status = family_expand(&family);
    } else if (status == 0) {
        family.rows = xgrow(NULL, &family.capacity, 1, sizeof *family.rows);
        family.rows[family.nrows++] = fields;
    }
    out->nrows = (int)family.nrows;
    out->rows = arena_alloc(arena, (family.nrows + 1) * sizeof *out->rows);
    if (family.nrows)
        memcpy(out->rows, family.rows, family.nrows * sizeof *out->rows);
    free(family.rows);
    *column = family.column;
    return status;
}
