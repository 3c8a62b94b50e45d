// SPDX-License-Identifier: MIT
#include "conclude_question.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// An option: a flag where `flag` is set, else a number, else a name.
struct option {
    const char *name;
    size_t flag, number; // offsets in struct conclude_question; 0: it is none
};

// The first field is no option, so no offset of one is 0.
// clang-format off
static const struct option options[] = {
    {"geometric", offsetof(struct conclude_question, geometric), 0},
    {"falls", offsetof(struct conclude_question, falls), 0},
    {"bends", offsetof(struct conclude_question, bends), 0},
    {"fastest", offsetof(struct conclude_question, fastest), 0},
    {"least", 0, offsetof(struct conclude_question, least_step)},
    {"factor", 0, offsetof(struct conclude_question, factor)},
    {"add", 0, offsetof(struct conclude_question, add)},
    {"control", 0, 0},
};
// clang-format on

static int option_number(const char *word, const char *value, double *number, struct err *err)
{
    char *end;
    *number = strtod(value, &end);
    if (end == value || *end || !isfinite(*number))
        return err_set(err, "'%s' needs a number", word);
    return 0;
}

static int option_read(const char *word, struct conclude_question *question, struct arena *arena,
                       struct err *err)
{
    size_t len = strcspn(word, "=");
    for (size_t i = 0; i < ARRAY_LEN(options); i++) {
        const struct option *option = &options[i];
        if (strlen(option->name) != len || strncmp(option->name, word, len) != 0)
            continue;
        if (option->flag) {
            *(bool *)((char *)question + option->flag) = true;
            return word[len] ? err_set(err, "'%s' takes no value", option->name) : 0;
        }
        if (!word[len] || !word[len + 1])
            return err_set(err, "'%s' wants a value: %s=...", option->name, option->name);
        if (option->number)
            return option_number(option->name, word + len + 1,
                                 (double *)(void *)((char *)question + option->number), err);
        question->control = arena_strdup(arena, word + len + 1);
        return 0;
    }
    return err_set(err,
                   "'%s' is no option of a reading; there are geometric, falls, bends, fastest, "
                   "least=, factor=, add= and control=",
                   word);
}

int conclude_question_read(const char *text, struct conclude_question *question,
                           struct arena *arena, const char **at, struct err *err)
{
    *question = (struct conclude_question){.reading = READING_KNEE};
    bool first = true;
    for (*at = text; **at; first = false) {
        *at += strspn(*at, " ");
        size_t len = strcspn(*at, " ");
        if (!len)
            break;
        const char *word = arena_strndup(arena, *at, len);
        int reading = first ? reading_parse(word) : 0;
        if (reading < 0)
            return err_set(err,
                           "'%s' is no reading; there are knee, plateaus, slope, difference, "
                           "ratio, matrix, distribution, level and grid",
                           word);
        if (first)
            question->reading = (enum reading)reading;
        else if (option_read(word, question, arena, err) != 0)
            return -1;
        *at += len;
    }
    return first ? err_set(err, "how it is read is missing, such as knee") : 0;
}
