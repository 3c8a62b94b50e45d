// SPDX-License-Identifier: MIT
// Globs on forms; see form_glob.h. Only operands are translated: after the first blank, after a
// star if the name of a register cannot be part of a mnemonic, or at the start of a glob that
// begins with an operand.
#include "form_glob.h"

#include "form_code.h"
#include "form_words.h"
#include "util/mem.h"
#include "util/strbuf.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// Names of operands in manuals and assemblers, and their classes in lists. `#`: a number may
// stand there.
static const struct glob_name {
    char name[8], class[14];
} names[] = {
    {"xmm#",   "x"   },
    {"ymm#",   "y"   },
    {"zmm#",   "z"   },
    {"mm#",    "mm"  },
    {"k#",     "k"   },
    {"tmm#",   "tmm" },
    {"st0",    "st0" },
    {"st#",    "st"  },
    {"reg8",   "r8"  },
    {"reg16",  "r16" },
    {"reg32",  "r32" },
    {"reg64",  "r64" },
    {"imm8",   "i8"  },
    {"imm16",  "i16" },
    {"imm32",  "i32" },
    {"imm64",  "i64" },
    {"mem",    "m*"  },
    {"mem8",   "m8"  },
    {"mem16",  "m16" },
    {"mem32",  "m32" },
    {"mem64",  "m64" },
    {"mem128", "m128"},
    {"mem256", "m256"},
    {"mem512", "m512"},
};

// General registers and their classes; the numbered ones are r8 ... r15, of which r8 is a class.
// Those that are operands of their own, too, become globs of both: rax and r64.
static const struct glob_name registers[] = {
    {"rax", "r[a6][x4]"   },
    {"rbx", "r64"         },
    {"rcx", "r64"         },
    {"rdx", "r64"         },
    {"rsi", "r64"         },
    {"rdi", "r64"         },
    {"rbp", "r64"         },
    {"rsp", "r64"         },
    {"eax", "[er][a3][x2]"},
    {"ebx", "r32"         },
    {"ecx", "r32"         },
    {"edx", "r32"         },
    {"esi", "r32"         },
    {"edi", "r32"         },
    {"ebp", "r32"         },
    {"esp", "r32"         },
    {"r#d", "r32"         },
    {"ax",  "r16"         },
    {"bx",  "r16"         },
    {"cx",  "r16"         },
    {"dx",  "r16"         },
    {"si",  "r16"         },
    {"di",  "r16"         },
    {"bp",  "r16"         },
    {"sp",  "r16"         },
    {"r#w", "r16"         },
    {"al",  "[ar][l8]"    },
    {"bl",  "r8"          },
    {"cl",  "[cr][l8]"    },
    {"dl",  "r8"          },
    {"sil", "r8"          },
    {"dil", "r8"          },
    {"bpl", "r8"          },
    {"spl", "r8"          },
    {"r#b", "r8"          },
    {"ah",  "r8h"         },
    {"bh",  "r8h"         },
    {"ch",  "r8h"         },
    {"dh",  "r8h"         },
    {"r9",  "r64"         },
    {"r10", "r64"         },
    {"r11", "r64"         },
    {"r12", "r64"         },
    {"r13", "r64"         },
    {"r14", "r64"         },
    {"r15", "r64"         },
};

static bool glob_is(const char *word, size_t len, const char *name)
{
    size_t stem = strcspn(name, "#");
    if (len < stem || strncmp(word, name, stem) != 0)
        return false;
    if (!name[stem])
        return len == stem;
    const char *end = name + stem + 1;
    size_t digits = strspn(word + stem, "0123456789");
    return digits <= 2 && (digits > 0 || !*end) && len == stem + digits + strlen(end) &&
           strncmp(word + stem + digits, end, strlen(end)) == 0;
}

// Returns the class that a word means; NULL: the word stays. `general`: general registers and
// numbers, too.
static const char *glob_class(const char *word, size_t len, bool general)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (glob_is(word, len, names[i].name))
            return names[i].class;
    for (size_t i = 0; general && i < ARRAY_LEN(registers); i++)
        if (glob_is(word, len, registers[i].name))
            return registers[i].class;
    // A number is an immediate; shifts have forms for 1.
    bool number = isdigit((unsigned char)*word) && strspn(word, "0123456789abcdefx") >= len;
    return !general || !number ? NULL : len == 1 && *word == '1' ? "[i1]*" : "i*";
}

// Translates one word of a glob, which ends before `rest`.
static void glob_word(struct strbuf *out, const char *word, size_t len, bool operand, bool general)
{
    bool star = out->len > 0 && out->data[out->len - 1] == '*';
    const char *class = operand || star ? glob_class(word, len, general) : NULL;
    if (!class) {
        strbuf_put(out, word, len);
        return;
    }
    // For "*ymm*": an operand begins with it.
    strbuf_printf(out, "%s%s", star ? " " : "", class);
}

// The sizes that assemblers write before memory, perhaps with "ptr", and its classes.
static const struct glob_name sizes[] = {
    {"byte",  "m8"  },
    {"word",  "m16" },
    {"dword", "m32" },
    {"qword", "m64" },
    {"oword", "m128"},
    {"yword", "m256"},
    {"zword", "m512"},
};

// Removes a word from the end of the glob, with the blank after it. Returns false if it is not
// there.
static bool glob_take_back(struct strbuf *out, const char *word)
{
    size_t len = strlen(word) + 1;
    if (out->len <= len || out->data[out->len - 1] != ' ' || out->data[out->len - len - 1] != ' ' ||
        strncmp(out->data + out->len - len, word, len - 1) != 0)
        return false;
    out->len -= len;
    out->data[out->len] = '\0';
    return true;
}

// The parts of an address.
struct address {
    bool base, index, scaled, rip;
    char vector;   // the letter of an index of many; 0: none
    long distance; // constant that is added
    bool symbol;   // so is a name, of which the value is not known
};
struct glob_part {
    const char *at;
    size_t len;
};

static bool part_is(struct glob_part part, const char *name)
{
    return glob_is(part.at, part.len, name);
}

static bool part_is_number(struct glob_part part)
{
    return isdigit((unsigned char)*part.at);
}

static bool part_is_register(struct glob_part part)
{
    return (!part_is_number(part) && glob_class(part.at, part.len, true)) || part_is(part, "r#") ||
           part_is(part, "rsp") || part_is(part, "esp");
}

static struct glob_part take_part(const char **at)
{
    *at += strspn(*at, " ");
    struct glob_part part = {*at, 0};
    while (isalnum((unsigned char)part.at[part.len]) || part.at[part.len] == '_')
        part.len++;
    *at += part.len;
    *at += strspn(*at, " ");
    return part;
}

// Adds a part, `times` a number (1: as it is).
static void address_add(struct address *address, struct glob_part part, long times)
{
    if (part_is_number(part))
        address->distance += times * strtol(part.at, NULL, 0);
    else if (part_is(part, "xmm#") || part_is(part, "ymm#") || part_is(part, "zmm#"))
        address->vector = *part.at;
    else if (part_is(part, "rip") || part_is(part, "rel"))
        address->rip = true;
    else if (!part_is_register(part))
        address->symbol = true;
    else if (!address->base && times == 1)
        address->base = true;
    else {
        address->index = true;
        address->scaled |= times > 1;
    }
}

// Reads what brackets hold.
static struct address address_read(const char *at)
{
    struct address address = {0};
    while (*at && *at != ']') {
        bool minus = *at == '-';
        at += strspn(at, "+- ");
        struct glob_part part = take_part(&at), factor = {"1", 1};
        if (*at == '*') {
            at++;
            factor = take_part(&at);
        }
        if (part_is_number(part) && !part_is_number(factor)) {
            struct glob_part number = part;
            part = factor;
            factor = number;
        }
        if (part.len > 0)
            address_add(&address, part, strtol(factor.at, NULL, 0) * (minus ? -1 : 1));
        else if (*at && *at != ']')
            at++;
    }
    return address;
}

// Appends the address that lea computes, in the words of lists.
static void address_put_parts(struct strbuf *out, const struct address *address)
{
    bool near = address->base && !address->symbol && labs(2 * address->distance + 1) < 256;
    strbuf_puts(out, address->rip ? "agen:rip+d32" : "agen:");
    if (address->rip)
        return;
    strbuf_printf(out, "%s%s%s", address->base ? "b" : "",
                  address->base && address->index ? "+" : "", address->index ? "i" : "");
    strbuf_puts(out, address->scaled ? "*4" : "");
    if (address->distance || address->symbol || !address->base)
        strbuf_printf(out, "%s%s", address->base || address->index ? "+" : "", near ? "d8" : "d32");
}

// Returns true if this is an address and no set of characters, which a glob may have, too: it
// begins with the name of a register, or with a number that is added or a factor.
static bool is_address(const char *at)
{
    const char *next = at + 1;
    struct glob_part part = take_part(&next);
    if (part.len > 0 && part_is_number(part))
        return *next == '+' || *next == '*';
    return part.len > 1 && strchr(" +-*]", part.at[part.len]) &&
           (part_is_register(part) || part_is(part, "rip") || part_is(part, "rel"));
}

// Returns true if the glob begins with lea, perhaps after an encoding.
static bool glob_is_lea(const char *glob)
{
    glob += *glob == '{' ? strcspn(glob, " ") : 0;
    return strncmp(glob + strspn(glob, " "), "lea ", 4) == 0;
}

// Translates an address that is an operand, such as [rax + 8*rcx]. Returns its length, else 0.
// `bare`: without a size it means memory that has none in lists, not memory of any size.
static size_t glob_memory(struct strbuf *out, const char *at, bool bare)
{
    const char *end = strchr(at, ']'), *class = bare ? "m" : "m*[0-9]"; // no broadcast
    if (!end || !is_address(at) || out->len == 0 || out->data[out->len - 1] != ' ')
        return 0;
    glob_take_back(out, "ptr");
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        if (glob_take_back(out, sizes[i].name))
            class = sizes[i].class;
    const struct address parts = address_read(at + 1);
    if (parts.vector)
        strbuf_printf(out, "vm[36][24]%c", parts.vector);
    else if (glob_is_lea(out->data))
        address_put_parts(out, &parts);
    else
        strbuf_puts(out, class);
    return (size_t)(end - at) + 1;
}

// Returns true if a glob begins with an operand, as "zmm{k}" and "ymm, m256" do: no mnemonic has
// such a name. It is then matched with the operands.
static bool glob_is_operand(const char *glob, bool general)
{
    size_t len = 0;
    while (isalnum((unsigned char)glob[len]))
        len++;
    if (!strchr(" ,{", glob[len])) // k* may be mnemonics
        return false;
    bool found = glob_class(glob, len, general) != NULL;
    for (const struct glob_name *at = names; at < names + ARRAY_LEN(names) && !found; at++)
        found = glob_is(glob, len, at->class);
    return found;
}

static char *glob_translate(const char *glob, bool forms, bool general, bool bare)
{
    struct strbuf out = {0};
    bool operand = false;
    strbuf_puts(&out, "");
    char *lower = xstrdup(glob);
    for (char *at = lower; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    bool among = forms && glob_is_operand(lower, general);
    if (among) {
        strbuf_puts(&out, "* ");
        operand = true;
    }
    for (const char *at = lower; *at;) {
        size_t len = 0;
        while (isalnum((unsigned char)at[len]))
            len++;
        if (forms && len) {
            glob_word(&out, at, len, operand, general);
            at += len;
            continue;
        }
        len = forms && *at == '[' ? glob_memory(&out, at, bare) : 0;
        if (len) {
            at += len;
            continue;
        }
        bool blank = forms && (*at == ' ' || *at == ',');
        operand |= blank;
        if (!blank || out.len == 0 || out.data[out.len - 1] != ' ')
            strbuf_put(&out, blank ? " " : at, 1);
        at++;
    }
    if (among)
        strbuf_puts(&out, "*");
    free(lower);
    return out.data;
}

// Adds a glob, and its other readings if it has some.
static void globs_add(struct form_globs *globs, size_t *capacity, const char *glob, bool forms)
{
    enum { READINGS = 3 };
    globs->texts = xgrow(globs->texts, capacity, (size_t)globs->n + READINGS, sizeof *globs->texts);
    for (int i = 0; i < (forms ? READINGS : 1); i++) {
        char *reading = glob_translate(glob, forms, i > 0, i > 1);
        if (i > 0 && strcmp(reading, globs->texts[globs->n - 1]) == 0)
            free(reading);
        else
            globs->texts[globs->n++] = reading;
    }
}

// Returns a text in lower case, each hyphen a blank and single blanks between words.
static char *glob_phrase(const char *text)
{
    struct strbuf out = {0};
    strbuf_puts(&out, "");
    for (const char *at = text; *at; at++) {
        bool blank = *at == ' ' || *at == '-';
        if (!blank)
            strbuf_put(&out, &(char){(char)tolower((unsigned char)*at)}, 1);
        else if (out.len > 0 && out.data[out.len - 1] != ' ')
            strbuf_puts(&out, " ");
    }
    if (out.len > 0 && out.data[out.len - 1] == ' ')
        strbuf_cut(&out, out.len - 1);
    return out.data;
}

// Returns the globs that all of a glob or its first word means, or NULL, and what follows it, which
// is nothing if that is how code calls a function.
static const char *glob_meaning(const char *glob, const char **rest)
{
    char *phrase = glob_phrase(glob);
    size_t len = 0;
    while (isalnum((unsigned char)glob[len]) || glob[len] == '_')
        len++;
    *rest = "";
    const char *means = strchr(phrase, ' ') ? form_word_globs(phrase) : NULL;
    if (!means && len > 0 && strchr(" ,(", glob[len])) {
        phrase[len] = '\0';
        *rest = glob[len] == '(' ? "" : glob + len;
        means = form_word_globs(phrase);
    }
    free(phrase);
    return means;
}

// Returns the length of a segment before an address, with its colon: 3 for "fs:[0]"; else 0.
static size_t glob_segment(const char *at)
{
    return strchr("cdefgs", *at) && *at && at[1] == 's' && at[2] == ':' ? 3 : 0;
}

// Returns the text in lower case, and as code without segments, and with a register in an address
// that is a number: [fs:0x28] and fs:[0x28] become [rip+0x28]. {rn-sae} becomes {er}, as lists call
// it.
static char *glob_code(const char *text)
{
    struct strbuf out = {0};
    char *lower = xstrdup(text);
    strbuf_puts(&out, "");
    for (char *at = lower; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    for (const char *at = lower; *at;) {
        bool begins = at == lower || !isalnum((unsigned char)at[-1]),
             inside = out.len > 0 && out.data[out.len - 1] == '[';
        size_t len = begins ? glob_segment(at) : 0;
        if (len > 0 && (inside || at[len] == '[')) {
            at += inside ? len : len + 1;
            strbuf_puts(&out, inside ? "" : "[");
            strbuf_puts(&out, isdigit((unsigned char)*at) ? "rip+" : "");
        } else if (strncmp(at, "{r", 2) == 0 && at[2] && strchr("nduz", at[2]) &&
                   strncmp(at + 3, "-sae}", 5) == 0) {
            strbuf_puts(&out, "{er}");
            at += strlen("{rn-sae}");
        } else {
            strbuf_put(&out, at++, 1);
        }
    }
    free(lower);
    return out.data;
}

// Returns the text with another register in the place of r8, where others or addresses show that it
// is code; alone it is a class of lists. NULL: it has none, or is none.
static char *glob_numbered(const char *text)
{
    struct strbuf out = {0};
    bool code = strchr(text, '[') != NULL, has = false;
    for (const char *at = text + strcspn(text, " "); *at;) {
        size_t len = 0;
        while (isalnum((unsigned char)at[len]))
            len++;
        has |= glob_is(at, len, "r8");
        for (size_t i = 0; i < ARRAY_LEN(registers) && !code && len > 0; i++)
            code = glob_is(at, len, registers[i].name);
        at += len > 0 ? len : 1;
    }
    if (!code || !has)
        return NULL;
    for (const char *at = text; *at; at++) {
        bool whole = strncmp(at, "r8", 2) == 0 && !isalnum((unsigned char)at[2]) && at > text &&
                     !isalnum((unsigned char)at[-1]);
        strbuf_puts(&out, whole ? "r9" : "");
        at += whole;
        strbuf_put(&out, at, whole ? 0 : 1);
    }
    return out.data;
}

// Adds what a glob means, or the glob.
static void globs_put(struct form_globs *made, size_t *capacity, const char *glob)
{
    const char *rest, *means = glob_meaning(glob, &rest);
    if (!means)
        globs_add(made, capacity, glob, true);
    while (means && *means) {
        size_t len = strcspn(means, ";");
        // Operands that are given replace the word's.
        int kept = (int)(*rest ? strcspn(means, " ;") : len);
        char *own = xasprintf("%.*s%s", kept, means, rest);
        globs_add(made, capacity, own, true);
        free(own);
        means += len + (means[len] == ';');
    }
}

// Returns the text with registers of x87 as lists have them: st(1) becomes st1, and beside it st
// becomes st0, which as the first of two is left out where lists have one operand only (`bare`).
// NULL: it has none.
static char *glob_x87(const char *text, bool bare)
{
    const char *name = *text == '{' ? text + strcspn(text, " ") : text;
    name += strspn(name, " ");
    const char *first = name + strcspn(name, " ");
    if (*name != 'f' || !strstr(first, " st"))
        return NULL;
    struct strbuf out = {0};
    bool counted = strstr(first, "st(") != NULL;
    for (const char *at = text; *at;) {
        bool word = at > text && !isalnum((unsigned char)at[-1]) && strncmp(at, "st", 2) == 0;
        if (word && at[2] == '(' && isdigit((unsigned char)at[3]) && at[4] == ')') {
            strbuf_printf(&out, "st%c", at[3]);
            at += strlen("st(0)");
        } else {
            bool top = word && counted && !isalnum((unsigned char)at[2]);
            strbuf_put(&out, at, top ? 2 : 1);
            strbuf_puts(&out, top ? "0" : "");
            at += top ? 2 : 1;
        }
    }
    char *top = bare && out.data ? strstr(out.data, " st0") : NULL;
    const char *next = top ? top + 4 + strspn(top + 4, " ,") : NULL;
    if (top && next > top + 4 && strncmp(next, "st", 2) == 0)
        memmove(top + 1, next, strlen(next) + 1);
    return out.data;
}

// Adds what a glob or an instruction means, which may be one of x87.
static void globs_put_code(struct form_globs *made, size_t *capacity, const char *glob)
{
    char *x87 = glob_x87(glob, false), *bare = glob_x87(glob, true);
    globs_put(made, capacity, x87 ? x87 : glob);
    if (x87 && bare && strcmp(bare, x87) != 0)
        globs_put(made, capacity, bare);
    free(x87);
    free(bare);
}

// Adds a glob as people write it, which may be code.
static void globs_put_text(struct form_globs *made, size_t *capacity, const char *text)
{
    char *others = form_code_globs(text), *rest = others, *one;
    while ((one = strsep(&rest, ";")))
        globs_put_code(made, capacity, one);
    char *code = others ? NULL : glob_code(text), *numbered = code ? glob_numbered(code) : NULL;
    if (code)
        globs_put_code(made, capacity, code);
    if (numbered)
        globs_put(made, capacity, numbered);
    free(others);
    free(code);
    free(numbered);
}

struct form_globs form_globs_make(const char *const *globs, int n, bool forms)
{
    struct form_globs made = {NULL, 0};
    size_t capacity = 0;
    for (int i = 0; i < n; i++)
        if (forms)
            globs_put_text(&made, &capacity, globs[i]);
        else
            globs_add(&made, &capacity, globs[i], false);
    return made;
}

void form_globs_free(struct form_globs *globs)
{
    for (int i = 0; i < globs->n; i++)
        free(globs->texts[i]);
    free(globs->texts);
}

const char *form_glob_name(enum glob_names kind, size_t i, const char **glob)
{
    static const struct {
        const struct glob_name *names;
        size_t n;
    } kinds[] = {
        [GLOB_OPERANDS] = {names,     ARRAY_LEN(names)    },
        [GLOB_REGISTERS] = {registers, ARRAY_LEN(registers)},
        [GLOB_SIZES] = {sizes,     ARRAY_LEN(sizes)    },
    };
    if (i >= kinds[kind].n)
        return NULL;
    *glob = kinds[kind].names[i].class;
    return kinds[kind].names[i].name;
}
