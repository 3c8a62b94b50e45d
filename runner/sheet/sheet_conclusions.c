// SPDX-License-Identifier: MIT
// All conclusions of a run: one line per value, with its interval, its unit and how sure it is; see
// sheet.h.
#include "sheet.h"

#include "conclude/conclude_question.h"
#include "util/text.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 80, NAME = 26, SURE = 75, INDENT = 2 };
enum { KIB = 1 << 10, MIB = 1 << 20 };

// Groups with their titles, in the order in which readers look for them; other groups come last.
static const struct {
    const char *name, *title;
} GROUPS[] = {
    {"front_end",   "Front end"             },
    {"branches",    "Branches"              },
    {"core",        "Core"                  },
    {"data",        "Data that make it slow"},
    {"memory",      "Memory"                },
    {"interaction", "Interaction"           },
};

// Reasons why a number means little on a virtual machine, by the row's option vm=.
static const struct {
    const char *name, *note;
} NOTES[] = {
    {"paging",    "sizes hold, but misses cost more: the hypervisor's page tables are walked, too"},
    {"placement", "the hypervisor says which cores these are, and may change it"                  },
    {"trap",      "the hypervisor answers this, not the CPU"                                      },
    {"clock",     "the host decides the clock's speed"                                            },
};

static int width_of(const char *text)
{
    return text_width(text, strlen(text));
}

// Writes a name at an indent, a wrapped text in the middle and a word at the right.
static void put_line(struct strbuf *out, int indent, const char *name, const char *text,
                     const char *word)
{
    strbuf_printf(out, "%*s%s", indent, "", name);
    int used = indent + width_of(name);
    if (used > NAME)
        strbuf_puts(out, "\n");
    strbuf_printf(out, "%*s", used > NAME ? NAME + 2 : NAME + 2 - used, "");
    struct strbuf wrapped = {0};
    text_wrap(&wrapped, text, NAME + 2, *word ? SURE - 1 : WIDTH);
    const char *first = strbuf_text(&wrapped);
    size_t len = strcspn(first, "\n");
    strbuf_put(out, first, len);
    if (*word)
        strbuf_printf(out, "%*s%s", SURE - NAME - 2 - text_width(first, len), "", word);
    strbuf_puts(out, first + len);
    strbuf_free(&wrapped);
}

const char *sheet_interval(double low, double high, const char *unit, struct arena *arena)
{
    bool bytes = strcmp(unit, "bytes") == 0;
    const char *from = conclude_quantity(arena, low, bytes ? unit : "");
    const char *to = conclude_quantity(arena, high, bytes ? unit : "");
    if (strcmp(from, to) == 0)
        return "";
    if (bytes && low >= KIB && low < MIB && high >= MIB && high < 10 * MIB)
        to = arena_printf(arena, "%.0f KiB", high / KIB);
    // For "25 to 40 KiB": a common unit is written once.
    const char *blank = strchr(from, ' ');
    if (blank && strchr(to, ' ') && strcmp(blank, strchr(to, ' ')) == 0)
        from = arena_strndup(arena, from, (size_t)(blank - from));
    return arena_printf(arena, "%s to %s", from, to);
}

// Returns "16.2 clk (15.9 to 16.6)", with the interval if it says more than the value.
static const char *value_text(const struct conclusion_value *value, struct arena *arena)
{
    const char *text = conclude_quantity(arena, value->value, value->unit);
    const char *interval = sheet_interval(value->low, value->high, value->unit, arena);
    return *interval ? arena_printf(arena, "%s (%s)", text, interval) : text;
}

static bool ends_level(const struct conclusion *conclusion, int at)
{
    return at < conclusion->nvalues && strncmp(conclusion->values[at].label, "end", 3) == 0;
}

// Writes the end of the sentence, after the values: doubts, or that it continues to grow.
static void put_rest(struct strbuf *out, const struct conclusion *conclusion)
{
    static const char *const beginnings[] = {"; in doubt: ", ", then it "};
    for (size_t i = 0; i < ARRAY_LEN(beginnings); i++) {
        const char *rest = strstr(conclusion->sentence, beginnings[i]);
        if (rest) {
            put_line(out, INDENT + 2, "", rest + 2, "");
            return;
        }
    }
}

static bool is_doubt(const struct conclusion_value *value)
{
    return strcmp(value->label, "doubt") == 0;
}

// Writes one line per level: "5 clk up to 48 KiB (44 KiB to 50 KiB)".
static void put_levels(struct strbuf *out, const char *name, const struct conclusion *conclusion,
                       struct arena *arena)
{
    const char *word = confidence_word(conclusion->confidence);
    for (int i = 0; i < conclusion->nvalues; i++) {
        const struct conclusion_value *level = &conclusion->values[i];
        if (is_doubt(level))
            break;
        const char *text = conclude_quantity(arena, level->value, level->unit);
        if (ends_level(conclusion, i + 1))
            text = arena_printf(arena, "%s up to %s", text,
                                value_text(&conclusion->values[++i], arena));
        else if (i)
            text = arena_printf(arena, "%s beyond", text);
        put_line(out, INDENT + 2, name, text, word);
        name = word = "";
    }
    put_rest(out, conclusion);
}

static void put_ok(struct strbuf *out, const char *name, const struct conclusion *conclusion,
                   enum reading reading, struct arena *arena)
{
    const char *word = confidence_word(conclusion->confidence);
    switch (reading) {
    case READING_PLATEAUS:
        put_levels(out, name, conclusion, arena);
        return;
    case READING_DIFFERENCE:
    case READING_RATIO:
        for (int i = 0; i < conclusion->nvalues && !is_doubt(&conclusion->values[i]); i++)
            put_line(out, INDENT + 2, conclusion->values[i].label,
                     value_text(&conclusion->values[i], arena), i ? "" : word);
        put_rest(out, conclusion);
        return;
    case READING_KNEE:
    case READING_SLOPE:
    case READING_LEVEL:
        if (reading == READING_LEVEL && conclusion->nvalues > 1)
            break;
        put_line(out, INDENT + 2, name, value_text(&conclusion->values[0], arena), word);
        return;
    default:
        break;
    }
    put_line(out, INDENT + 2, name, conclusion->sentence, word);
}

static enum reading reading_of(const struct swept_property *property, struct arena *arena)
{
    struct conclude_question question;
    const char *at;
    struct err err;
    if (conclude_question_read(property->reading, &question, arena, &at, &err) != 0)
        return READING_COUNT;
    return question.reading;
}

static void put_conclusions(struct strbuf *out, const struct swept_property *property,
                            struct arena *arena)
{
    enum reading reading = reading_of(property, arena);
    for (int i = 0; i < property->nconclusions; i++) {
        const struct conclusion *conclusion = &property->conclusions[i];
        if (conclusion->outcome == CONCLUSION_OK) {
            put_ok(out, conclusion->variant, conclusion, reading, arena);
            continue;
        }
        const char *text = conclusion->sentence;
        if (conclusion->outcome == CONCLUSION_UNSTABLE)
            text = arena_printf(arena, "unstable: %s", text);
        else if (conclusion->outcome == CONCLUSION_AMBIGUOUS)
            text = arena_printf(arena, "not clear: %s", text);
        put_line(out, INDENT + 2, conclusion->variant, text, "");
    }
    for (int i = 0; i < property->nvariants; i++)
        if (property->variants[i].outcome != OUTCOME_OK && *property->variants[i].name)
            put_line(out, INDENT + 2, property->variants[i].name,
                     outcome_name(property->variants[i].outcome), "");
    if (property->nconclusions == 0)
        put_line(out, INDENT + 2, "",
                 arena_printf(arena, "%s%s%s", outcome_name(property->outcome),
                              *property->detail ? ": " : "", property->detail),
                 "");
}

static void put_property(struct strbuf *out, const struct swept_property *property,
                         bool virtual_machine)
{
    struct arena arena = {0};
    strbuf_printf(out, "%*s%s\n", INDENT, "", property->title);
    put_conclusions(out, property, &arena);
    for (size_t i = 0; virtual_machine && i < ARRAY_LEN(NOTES); i++)
        if (strcmp(property->vm, NOTES[i].name) == 0)
            put_line(out, INDENT + 2, "on a virtual machine", NOTES[i].note, "");
    arena_free(&arena);
}

// Returns the index of a group in GROUPS; after the last if it is not there.
static size_t find_group(const char *grp)
{
    for (size_t i = 0; i < ARRAY_LEN(GROUPS); i++)
        if (strcmp(GROUPS[i].name, grp) == 0)
            return i;
    return ARRAY_LEN(GROUPS);
}

static void put_group(struct strbuf *out, const struct swept_property *properties, int n,
                      size_t group, bool virtual_machine)
{
    const char *title = group < ARRAY_LEN(GROUPS) ? GROUPS[group].title : "Others";
    for (int i = 0; i < n; i++) {
        if (find_group(properties[i].grp) != group)
            continue;
        if (title)
            strbuf_printf(out, "\n%s\n", title);
        title = NULL;
        put_property(out, &properties[i], virtual_machine);
    }
}

void sheet_put_conclusions(const struct swept_property *properties, int n, bool virtual_machine,
                           struct strbuf *out)
{
    for (size_t i = 0; i <= ARRAY_LEN(GROUPS); i++)
        put_group(out, properties, n, i, virtual_machine);
    strbuf_puts(out, "\n");
    text_wrap(
        out,
        "Intervals have 95 % confidence by resampling. The word at the right says how many of "
        "the resampled curves lead to the same conclusion: high, nine of ten and more; fair, "
        "six and more; low.",
        0, WIDTH);
}
