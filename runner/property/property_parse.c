// SPDX-License-Identifier: MIT
// The grammar of property lists; see property_parse.h. What of it reaches NASM is names and whole
// numbers: a list may be a stranger's.
#include "property_parse.h"

#include "cpuinfo/cpuinfo.h"
#include "list/list_value.h"
#include "util/strbuf.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const base_names[BASE_COUNT] = {"", "x", "by", "l1d", "l1i", "l2", "l3", "cpus"};

// Returns the next word up to one of `ends`, without blanks around it; NULL at the end.
static const char *next_word(struct property_parse *parse, const char **text, const char *ends)
{
    *text += strspn(*text, " \t;");
    parse->at = *text;
    size_t len = strcspn(*text, ends);
    *text += len;
    return len ? arena_strndup(parse->arena, parse->at, len) : NULL;
}

static bool is_name(const char *text, size_t len)
{
    bool good = len > 0 && isalpha((unsigned char)text[0]);
    for (size_t i = 0; i < len && good; i++)
        good = isalnum((unsigned char)text[i]) || text[i] == '_';
    return good;
}

int parse_name(struct property_parse *parse, const char *text)
{
    parse->at = text;
    if (is_name(text, strlen(text)) && strlen(text) <= 60)
        return 0;
    return err_set(parse->err,
                   "'%s' is no name: letters, digits and _, beginning with a letter, at most 60",
                   text);
}

// Parses a plain number: "16", "0.5", "64K".
static int parse_plain(struct property_parse *parse, const char *text, double *number)
{
    static const char suffixes[] = "KMG";
    if (!isdigit((unsigned char)*text))
        return err_set(parse->err, "'%s' is no number", text);
    char *end;
    *number = strtod(text, &end);
    const char *suffix = *end ? strchr(suffixes, *end) : NULL;
    for (long times = suffix ? suffix - suffixes + 1 : 0; times > 0; times--)
        *number *= 1024;
    if (*(suffix ? end + 1 : end) || !(*number <= 1e12))
        return err_set(parse->err, "'%s' is no number", text);
    return 0;
}

int parse_number(struct property_parse *parse, const char *text, struct property_number *number)
{
    *number = (struct property_number){1, BASE_ONE, 0};
    const char *most = strstr(text, "<=");
    if (most) {
        if (parse_plain(parse, most + 2, &number->most) != 0)
            return -1;
        text = arena_strndup(parse->arena, text, (size_t)(most - text));
    }
    const char *star = strchr(text, '*');
    const char *base = star ? star + 1 : text;
    for (int b = BASE_X; b < BASE_COUNT; b++)
        if (strcmp(base, base_names[b]) == 0)
            number->base = (enum property_base)b;
    if (number->base == BASE_ONE && star)
        return err_set(parse->err, "'%s': after * stands x, by, l1d, l1i, l2, l3 or cpus", text);
    if (number->base != BASE_ONE && !star)
        return 0;
    const char *plain = star ? arena_strndup(parse->arena, text, (size_t)(star - text)) : text;
    return parse_plain(parse, plain, &number->factor);
}

static int parse_variant(struct property_parse *parse, const char *word,
                         struct property_variant *variant)
{
    size_t len = strcspn(word, ":");
    const char *isa = word[len] ? word + len + 1 : "", *unknown;
    size_t isa_len = strcspn(isa, ":"), unknown_len;
    variant->name = arena_strndup(parse->arena, word, len);
    variant->isa = arena_strndup(parse->arena, isa, isa_len);
    if (!is_name(word, len) || len > 60)
        return err_set(parse->err, "'%s' is no name of a variant", variant->name);
    if (*variant->isa && isa_check(variant->isa, &unknown, &unknown_len) != 0)
        return err_set(parse->err, "there is no feature '%.*s'", (int)unknown_len, unknown);
    if (!isa[isa_len])
        return 0;
    variant->vec_bits = atoi(isa + isa_len + 1);
    if (variant->vec_bits != 128 && variant->vec_bits != 256 && variant->vec_bits != 512)
        return err_set(parse->err, "the width of vectors is 128, 256 or 512, not '%s'",
                       isa + isa_len + 1);
    return 0;
}

int parse_variants(struct property_parse *parse, const char *text, struct property *property)
{
    size_t capacity = strlen(text) / 2 + 2;
    property->variants = arena_alloc(parse->arena, capacity * sizeof *property->variants);
    for (const char *word; (word = next_word(parse, &text, " "));) {
        struct property_variant *variant = &property->variants[property->nvariants++];
        if (parse_variant(parse, word, variant) != 0)
            return -1;
        for (int i = 0; i < property->nvariants - 1; i++)
            if (strcmp(property->variants[i].name, variant->name) == 0)
                return err_set(parse->err, "the variant '%s' is there twice", variant->name);
    }
    if (!property->nvariants)
        property->variants[property->nvariants++] = (struct property_variant){"", "", 0};
    return 0;
}

static int parse_range(struct property_parse *parse, const char *word, struct property_sweep *sweep)
{
    const char *dots = word ? strstr(word, "..") : NULL;
    if (!dots)
        return err_set(parse->err, "a range is wanted, such as 16..720");
    const char *from = arena_strndup(parse->arena, word, (size_t)(dots - word));
    if (parse_number(parse, from, &sweep->from) != 0 ||
        parse_number(parse, dots + 2, &sweep->to) != 0)
        return -1;
    bool own = sweep->from.base == BASE_X || sweep->from.base == BASE_BY ||
               sweep->to.base == BASE_X || sweep->to.base == BASE_BY;
    if (own || (sweep->from.base == sweep->to.base && sweep->from.factor >= sweep->to.factor))
        return err_set(parse->err, "'%s' is no range", word);
    return 0;
}

static int parse_values(struct property_parse *parse, const char *text,
                        struct property_sweep *sweep)
{
    for (const char *word; (word = next_word(parse, &text, " "));) {
        double *value = &sweep->values[sweep->nvalues];
        if (sweep->nvalues == SWEEP_VALUES_MAX)
            return err_set(parse->err, "more than %d values", SWEEP_VALUES_MAX);
        if (parse_plain(parse, word, value) != 0)
            return -1;
        if (*value != floor(*value) || (sweep->nvalues && *value <= value[-1]))
            return err_set(parse->err, "values are whole numbers and ascend");
        sweep->nvalues++;
    }
    return sweep->nvalues ? 0 : err_set(parse->err, "values are missing");
}

// Parses the end of a range: step S, per N, grain G, refine.
static int parse_steps(struct property_parse *parse, const char *text, struct property_sweep *sweep)
{
    const char *step_word = sweep->rule == SWEEP_LINEAR ? "step" : "per";
    for (const char *word; (word = next_word(parse, &text, " "));) {
        double *number = strcmp(word, step_word) == 0 ? &sweep->step
                         : strcmp(word, "grain") == 0 ? &sweep->grain
                                                      : NULL;
        if (strcmp(word, "refine") == 0) {
            sweep->refine = true;
            continue;
        }
        if (!number)
            return err_set(parse->err, "'%s' is none of %s, grain and refine", word, step_word);
        const char *value = next_word(parse, &text, " ");
        if (parse_plain(parse, value ? value : "", number) != 0)
            return -1;
        if (!(*number > 0))
            return err_set(parse->err, "%s is more than 0", word);
    }
    return sweep->step > 0 ? 0 : err_set(parse->err, "%s is missing", step_word);
}

int parse_sweep(struct property_parse *parse, const char *text, struct property_sweep *sweep)
{
    *sweep = (struct property_sweep){.grain = 1};
    const char *rule = next_word(parse, &text, " ");
    if (!rule)
        return 0;
    if (strcmp(rule, "values") == 0) {
        sweep->rule = SWEEP_VALUES;
        return parse_values(parse, text, sweep);
    }
    if (strcmp(rule, "cpus") == 0) {
        sweep->rule = SWEEP_CPUS;
        return next_word(parse, &text, " ") ? err_set(parse->err, "nothing stands after cpus") : 0;
    }
    sweep->rule = strcmp(rule, "linear") == 0      ? SWEEP_LINEAR
                  : strcmp(rule, "geometric") == 0 ? SWEEP_GEOMETRIC
                                                   : SWEEP_NONE;
    if (sweep->rule == SWEEP_NONE)
        return err_set(parse->err, "'%s' is none of linear, geometric, values and cpus", rule);
    const char *range = next_word(parse, &text, " ");
    return parse_range(parse, range, sweep) == 0 ? parse_steps(parse, text, sweep) : -1;
}

int parse_template(struct property_parse *parse, const char *text, struct property *property)
{
    struct list_fault fault = {.at = text};
    if (list_value_macro(text, strlen(text), &fault) != 0) {
        parse->at = fault.at;
        return err_set(parse->err, "%s", fault.text);
    }
    size_t file = strcspn(text, ":"), name = strcspn(text + file + 1, ":");
    property->file = arena_strndup(parse->arena, text, file);
    property->macro = arena_strndup(parse->arena, text + file + 1, name);
    property->arguments = "";
    for (const char *at = text + file + 1 + name; *at == ':';) {
        size_t len = strcspn(at + 1, ":");
        property->arguments =
            arena_printf(parse->arena, "%s, %.*s", property->arguments, (int)len, at + 1);
        at += 1 + len;
    }
    return 0;
}

// Parses an attribute of an area. Returns false if the word is none.
static bool parse_data_flag(const char *word, struct property_data *data)
{
    static const struct {
        const char *name;
        uint32_t flag;
    } flags[] = {
        {"shared", CORE_FILL_SHARED},
        {"code",   CORE_FILL_CODE  },
        {"small",  CORE_FILL_SMALL },
    };
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (strcmp(flags[i].name, word) == 0) {
            data->fill.flags |= flags[i].flag;
            return true;
        }
    return false;
}

// Parses KEY=VALUE of data.
static int parse_data_option(struct property_parse *parse, const char *word,
                             struct property_data *data)
{
    static const char *const names[] = {"bytes", "stride", "stagger", "cursor", "frames", "seed"};
    size_t len = strcspn(word, "="), which = 0;
    if (parse_data_flag(word, data))
        return 0;
    while (which < ARRAY_LEN(names) &&
           (strlen(names[which]) != len || strncmp(names[which], word, len) != 0))
        which++;
    if (which == ARRAY_LEN(names) || !word[len])
        return err_set(
            parse->err,
            "'%s' is none of bytes=, stride=, stagger=, cursor=, frames=, seed=, shared, code and "
            "small",
            word);
    if (which < 2)
        return parse_number(parse, word + len + 1, which ? &data->stride : &data->bytes);
    double number = 0;
    if (parse_plain(parse, word + len + 1, &number) != 0)
        return -1;
    if (number != floor(number) || number > UINT32_MAX ||
        (which == 3 && number >= CORE_CURSORS_MAX))
        return err_set(parse->err, "'%s' is out of range", word);
    uint32_t *const numbers[] = {NULL, NULL, &data->fill.stagger, &data->fill.cursor,
                                 &data->fill.frames};
    if (which == 5)
        data->fill.seed = (uint64_t)number;
    else
        *numbers[which] = (uint32_t)number;
    return 0;
}

// Parses one item: KIND AREA KEY=VALUE ...
static int parse_datum(struct property_parse *parse, const char *item, const char *base,
                       struct property_data *data)
{
    static const char *const kinds[CORE_FILL_KINDS] = {"zero", "chase", "chase_linear", "random",
                                                       "chase_pages"};
    const char *text = item;
    const char *kind = next_word(parse, &text, " ");
    while (kind && data->fill.kind < CORE_FILL_KINDS && strcmp(kinds[data->fill.kind], kind) != 0)
        data->fill.kind++;
    const char *area = kind ? next_word(parse, &text, " ") : NULL;
    parse->at = base + (parse->at - item);
    if (!kind || data->fill.kind == CORE_FILL_KINDS)
        return err_set(parse->err,
                       "'%s' is none of zero, chase, chase_linear, chase_pages and random",
                       kind ? kind : "");
    if (!area || strlen(area) != 1 || *area < '0' || *area >= '0' + CORE_AREAS_MAX)
        return err_set(parse->err, "after %s stands the number of the area, 0 to %d", kind,
                       CORE_AREAS_MAX - 1);
    data->fill.area = data->fill.cursor = (uint32_t)(*area - '0');
    data->fill.seed = data->fill.area + 1;
    data->stride = (struct property_number){CORE_LINE, BASE_ONE, 0};
    for (const char *word; (word = next_word(parse, &text, " "));)
        if (parse_data_option(parse, word, data) != 0) {
            parse->at = base + (parse->at - item);
            return -1;
        }
    return data->bytes.factor > 0 ? 0 : err_set(parse->err, "bytes= is missing");
}

int parse_data(struct property_parse *parse, const char *text, struct property *property)
{
    for (const char *item; (item = next_word(parse, &text, ";"));) {
        const char *base = parse->at;
        if (property->ndata == CORE_FILLS_MAX)
            return err_set(parse->err, "more than %d data", CORE_FILLS_MAX);
        if (parse_datum(parse, item, base, &property->data[property->ndata++]) != 0)
            return -1;
    }
    return 0;
}

struct option {
    const char *name;
    bool *flag;
    int *number;
    uint64_t *pattern;
    int least, most;
};

static int parse_option(struct property_parse *parse, const struct option *option,
                        const char *value)
{
    if (option->flag) {
        *option->flag = true;
        return *value ? err_set(parse->err, "%s takes no value", option->name) : 0;
    }
    char *end;
    unsigned long long number = strtoull(*value ? value + 1 : "", &end, 0);
    if (!*value || !isdigit((unsigned char)value[1]) || *end)
        return err_set(parse->err, "%s wants a whole number: %s=N", option->name, option->name);
    if (strcmp(option->name, "align") == 0 && number & (number - 1))
        return err_set(parse->err, "align is a power of two");
    if (option->pattern) {
        *option->pattern = number;
        return 0;
    }
    if (number < (unsigned long long)option->least || number > (unsigned long long)option->most)
        return err_set(parse->err, "%s is from %d to %d", option->name, option->least,
                       option->most);
    if (option->number)
        *option->number = (int)number;
    return 0;
}

// Parses a word of a list after `name=`, into its number *number.
static int parse_choice(struct property_parse *parse, const char *value, const char *const *choices,
                        size_t n, int *number)
{
    struct strbuf text = {0};
    for (size_t i = 0; i < n; i++) {
        if (*value == '=' && strcmp(value + 1, choices[i]) == 0) {
            *number = (int)i;
            strbuf_free(&text);
            return 0;
        }
        strbuf_printf(&text, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " or ", choices[i]);
    }
    err_set(parse->err, "%.*s= is %s", (int)strcspn(parse->at, "="), parse->at, strbuf_text(&text));
    strbuf_free(&text);
    return -1;
}

// Options whose values are words. 1: the word is none of them.
static int parse_word_option(struct property_parse *parse, const char *word, size_t len,
                             struct property *property)
{
    static const char *const vm[] = {"paging", "placement", "trap", "clock"};
    static const char *const corunner[] = {"cpu", "sibling", "core", "all", "threads"};
    static const char *const on[] = {"by"};
    static const char *const permits[] = {"call", "discard", "signal", "code"};
    int number = 0, status = 1;
    if (len == 2 && strncmp(word, "vm", len) == 0) {
        status = parse_choice(parse, word + len, vm, ARRAY_LEN(vm), &number);
        property->vm = vm[number];
    } else if ((len == 8 && strncmp(word, "corunner", len) == 0) ||
               (len == 7 && strncmp(word, "company", len) == 0)) {
        status = parse_choice(parse, word + len, corunner, ARRAY_LEN(corunner), &number);
        property->corunner_macro = arena_strndup(parse->arena, word, len);
        property->corunner = (enum property_corunner)(CORUNNER_CPU + number);
    } else if (len == 2 && strncmp(word, "on", len) == 0) {
        status = parse_choice(parse, word + len, on, ARRAY_LEN(on), &number);
        property->on_by = true;
    } else if (len == 6 && strncmp(word, "permit", len) == 0) {
        status = parse_choice(parse, word + len, permits, ARRAY_LEN(permits), &number);
        property->permits |= 1u << number;
    }
    return status;
}

// Checks the options, sweeps and data that need each other.
static int check_options(struct property_parse *parse, const struct property *property)
{
    for (int i = 0; i < property->ndata; i++)
        if (property->data[i].fill.flags & CORE_FILL_CODE &&
            !(property->permits & CORE_PERMIT_CODE))
            return err_set(parse->err, "data that is code wants permit=code");
    if (property->on_by && property->by.rule != SWEEP_CPUS)
        return err_set(parse->err, "on=by wants a second variable that goes over cpus");
    if ((property->corunner == CORUNNER_CPU) != (property->sweep.rule == SWEEP_CPUS))
        return err_set(parse->err, "corunner=cpu and a sweep over cpus belong together");
    return 0;
}

int parse_options(struct property_parse *parse, const char *text, struct property *property)
{
    // clang-format off
    const struct option options[] = {
        {"once", &property->once, NULL, NULL, 0, 0},
        {"cold", &property->cold, NULL, NULL, 0, 0},
        {"quick", &property->quick, NULL, NULL, 0, 0},
        {"clear_upper", &property->clear_upper, NULL, NULL, 0, 0},
        {"anew", &property->anew, NULL, NULL, 0, 0},
        {"copies", NULL, &property->copies, NULL, 1, 1000000},
        {"align", NULL, &property->align, NULL, 1, 1 << 21},
        {"seconds", NULL, &property->seconds, NULL, 1, 600},
        {"window", NULL, &property->window_us, NULL, 1, 100000},
        {"gpr", NULL, NULL, &property->gpr_fill, 0, 0},
        {"vec", NULL, NULL, &property->vec_fill, 0, 0},
    };
    // clang-format on
    for (const char *word; (word = next_word(parse, &text, " "));) {
        size_t len = strcspn(word, "="), i = 0;
        while (i < ARRAY_LEN(options) &&
               (strlen(options[i].name) != len || strncmp(options[i].name, word, len) != 0))
            i++;
        int other = parse_word_option(parse, word, len, property);
        if (other < 0)
            return -1;
        if (other == 0)
            continue;
        if (i == ARRAY_LEN(options))
            return err_set(
                parse->err,
                "'%s' is no option; there are once, cold, quick, clear_upper, anew, vm=, "
                "corunner=, on=, permit=, copies=, align=, seconds=, window=, gpr= and "
                "vec=",
                word);
        if (parse_option(parse, &options[i], word + len) != 0)
            return -1;
    }
    return check_options(parse, property);
}
