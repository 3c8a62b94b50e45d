// SPDX-License-Identifier: MIT
// Reads the script of a core made of text; see text_script.h.
#include "text_script.h"

#include <ctype.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A line, and how far it has been read.
struct line {
    const char *path;
    int number;
    char *at;
    void (*fail)(const char *text);
    struct text_script *script;
};

__attribute__((format(printf, 2, 3))) static _Noreturn void line_wrong(const struct line *line,
                                                                       const char *format, ...)
{
    char text[120], whole[400];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    const char *name = strrchr(line->path, '/');
    snprintf(whole, sizeof whole, "%s:%d: %s", name ? name + 1 : line->path, line->number, text);
    line->fail(whole);
    abort(); // it does not return
}

// The next word, or what stands in quotation marks; NULL at the end.
static char *line_word(struct line *line)
{
    while (isspace((unsigned char)*line->at))
        line->at++;
    if (!*line->at || *line->at == '#')
        return NULL;
    bool quoted = *line->at == '"';
    char *word = line->at + quoted, *end = word;
    while (*end && (quoted ? *end != '"' : !isspace((unsigned char)*end)))
        end++;
    if (quoted && !*end)
        line_wrong(line, "the quotation mark is not closed");
    line->at = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

static const char *line_need(struct line *line, const char *what)
{
    const char *word = line_word(line);
    if (!word)
        line_wrong(line, "%s is missing", what);
    return word;
}

static double line_number(struct line *line, const char *what)
{
    const char *word = line_need(line, what);
    char *end;
    double number = strtod(word, &end);
    if (end == word || *end || !isfinite(number) || number < 0)
        line_wrong(line, "%s is no number: %s", what, word);
    return number;
}

// A number that may be missing: 0.
static double line_option(struct line *line, const char *what)
{
    while (*line->at == ' ' || *line->at == '\t')
        line->at++;
    return *line->at && *line->at != '#' ? line_number(line, what) : 0;
}

static void line_pattern(struct line *line, char pattern[64])
{
    const char *word = line_need(line, "the pattern");
    if (strlen(word) >= 64)
        line_wrong(line, "the pattern is too long");
    strcpy(pattern, word);
}

static int line_next(struct line *line, int *n)
{
    if (*n == TEXT_LINES)
        line_wrong(line, "more than %d lines of this kind", TEXT_LINES);
    return (*n)++;
}

// "2*p01+p5": µops by ports; a port is a hexadecimal digit.
static void uses_read(struct line *line, const char *word, struct text_uses *uses)
{
    *uses = (struct text_uses){0};
    if (strcmp(word, "none") == 0)
        return;
    for (const char *at = word; *at;) {
        char *end;
        double uops = 1;
        uint32_t set = 0;
        if (*at != 'p') {
            uops = strtod(at, &end);
            at = end != at && *end == '*' ? end + 1 : "";
        }
        if (*at == 'p')
            for (at++; isxdigit((unsigned char)*at); at++)
                set |= 1U << (*at <= '9' ? *at - '0' : (*at | 32) - 'a' + 10);
        if (!set || uses->n == TEXT_USES || (*at && *at != '+') || !(uops > 0))
            line_wrong(line, "µops are written as 2*p01+p5: %s", word);
        uses->sets[uses->n] = set;
        uses->uops[uses->n++] = uops;
        at += *at == '+';
    }
}

static void read_width(struct line *line)
{
    line->script->width = line_number(line, "the width");
}

static void read_overhead(struct line *line)
{
    line->script->overhead_clk = line_number(line, "the number of cycles");
}

static void read_fill(struct line *line)
{
    line->script->fill_clk = line_number(line, "the number of cycles");
}

static void read_noise(struct line *line)
{
    line->script->noise = line_number(line, "the share");
}

static void read_clock(struct line *line)
{
    line->script->least_hz = line->script->most_hz =
        line_number(line, "the frequency in GHz") * 1e9;
    if (!(line->script->least_hz > 0))
        line_wrong(line, "the frequency is 0");
}

static void read_drift(struct line *line)
{
    struct text_script *script = line->script;
    script->least_hz = line_number(line, "the least frequency in GHz") * 1e9;
    script->most_hz = line_number(line, "the highest frequency in GHz") * 1e9;
    script->drift_ms = line_number(line, "the time in ms");
    if (!(script->least_hz > 0) || script->most_hz < script->least_hz || !(script->drift_ms > 0))
        line_wrong(line, "the clock goes from a frequency to a higher one, in some time");
}

static void read_jump(struct line *line)
{
    read_drift(line);
    line->script->jumps = true;
}

static void read_neighbour(struct line *line)
{
    line->script->busy_ms = line_number(line, "the time in ms");
    line->script->every_ms = line_number(line, "the period in ms");
    line->script->busy_from_ms = line_option(line, "the begin in ms");
    if (line->script->busy_ms > line->script->every_ms)
        line_wrong(line, "the time is longer than its period");
}

// loud PROCESSES KERNELS
static void read_loud(struct line *line)
{
    line->script->loud_line = line->number;
    line->script->loud_processes = (int)line_number(line, "the number of processes");
    line->script->loud_kernels = (int)line_number(line, "the least number of kernels");
}

static void read_interrupt(struct line *line)
{
    line->script->interrupt_ms = line_number(line, "the period in ms");
    line->script->interrupt_us = line_number(line, "the time in µs");
}

static void read_evicts(struct line *line)
{
    line->script->evicting_bytes = line_number(line, "the bytes of code");
    line->script->evicted_clk = line_number(line, "the cycles");
}

static void read_touch(struct line *line)
{
    line->script->touch_clk = line_number(line, "the number of cycles");
}

static void read_pace(struct line *line)
{
    line->script->pace_ms = line_number(line, "the time in ms");
}

static void read_load(struct line *line)
{
    uses_read(line, line_need(line, "the ports"), &line->script->load);
    line->script->load_clk = line_number(line, "the latency");
}

static void read_store(struct line *line)
{
    uses_read(line, line_need(line, "the ports"), &line->script->store);
    line->script->forward_clk = line_number(line, "the latency of forwarding");
}

static void read_loop(struct line *line)
{
    uses_read(line, line_need(line, "the ports"), &line->script->loop);
}

// form PATTERN PORTS LATENCY [slots N] [from OPERAND LATENCY]...
static void read_form(struct line *line)
{
    struct text_form *form = &line->script->forms[line_next(line, &line->script->nforms)];
    *form = (struct text_form){.slots = -1};
    line_pattern(line, form->pattern);
    uses_read(line, line_need(line, "the ports"), &form->uses);
    form->latency_clk = line_number(line, "the latency");
    for (const char *word; (word = line_word(line));) {
        if (strcmp(word, "slots") == 0) {
            form->slots = line_number(line, "the number of slots");
        } else if (strcmp(word, "from") == 0) {
            double operand = line_number(line, "the operand");
            if (operand < 1 || operand > TEXT_OPERANDS)
                line_wrong(line, "operands are 1 to %d", TEXT_OPERANDS);
            form->from_clk[(int)operand - 1] = line_number(line, "the latency");
        } else {
            line_wrong(line, "a form has slots and from, not %s", word);
        }
    }
}

static void read_idiom(struct line *line)
{
    line_pattern(line, line->script->idioms[line_next(line, &line->script->nidioms)]);
}

static void read_move(struct line *line)
{
    line_pattern(line, line->script->moves[line_next(line, &line->script->nmoves)]);
}

static void read_lacks(struct line *line)
{
    line_pattern(line, line->script->lacks[line_next(line, &line->script->nlacks)]);
}

static bool line_once(struct line *line)
{
    const char *word = line_word(line);
    if (word && strcmp(word, "once") != 0)
        line_wrong(line, "only `once` may follow here, not %s", word);
    return word;
}

// state PATTERN FACTOR SHARE [registers|fillers|copies|wild|r16-r31|early MS [once]]
static void read_state(struct line *line)
{
    static const char *const whens[] = {"registers", "fillers", "copies",
                                        "wild",      "r16-r31", "early"};
    struct text_state *state = &line->script->states[line_next(line, &line->script->nstates)];
    *state = (struct text_state){.line = line->number};
    line_pattern(line, state->pattern);
    state->factor = line_number(line, "the factor");
    state->share = line_number(line, "the share");
    const char *word = line_word(line);
    for (int i = 0; word && i < 6 && !state->when; i++)
        state->when = strcmp(whens[i], word) == 0 ? (enum text_when)(i + 1) : TEXT_ALWAYS;
    if (word && !state->when)
        line_wrong(line,
                   "a state may have registers, fillers, copies, wild, r16-r31 or early, not %s",
                   word);
    if (state->when == TEXT_EARLY) {
        state->early_ms = line_number(line, "the time in ms");
        state->once = line_once(line);
    }
}

// A size in bytes that is a power of two.
static double line_bytes(struct line *line)
{
    double bytes = line_number(line, "the size in bytes");
    if (!(bytes >= 1) || bytes > 4096 || exp2(round(log2(bytes))) != bytes)
        line_wrong(line, "the size is no power of two");
    return bytes;
}

static void read_renames(struct line *line)
{
    line->script->renamed_bytes = line_bytes(line);
    line->script->beside_clk = line_number(line, "the latency");
}

static void read_leave(struct line *line)
{
    line->script->leave_bytes = line_bytes(line);
}

static void read_memory(struct line *line)
{
    if (line->script->nlevels == TEXT_LEVELS)
        line_wrong(line, "more than %d levels of memory", TEXT_LEVELS);
    struct text_level *level = &line->script->levels[line->script->nlevels++];
    level->bytes = line_number(line, "the size in bytes");
    level->clk = line_number(line, "the latency");
}

// Returns the index of the next word in a table of words.
static int line_choice(struct line *line, const char *const names[], int n, const char *what)
{
    const char *word = line_need(line, what);
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], word) == 0)
            return i;
    line_wrong(line, "%s is not known: %s", what, word);
}

static int signal_read(struct line *line)
{
    static const struct {
        const char *name;
        int number;
    } signals[] = {
        {"ILL",  SIGILL },
        {"SEGV", SIGSEGV},
        {"BUS",  SIGBUS },
        {"FPE",  SIGFPE },
        {"TRAP", SIGTRAP},
        {"SYS",  SIGSYS },
    };
    const char *word = line_need(line, "the signal");
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (strcmp(signals[i].name, word) == 0)
            return signals[i].number;
    line_wrong(line, "no body raises the signal %s", word);
}

// fault PATTERN KIND [VALUE] [once]
static void read_fault(struct line *line)
{
    static const char *const kinds[] = {"signal", "exit", "kill", "stop", "hang", "write"};
    struct text_fault *fault = &line->script->faults[line_next(line, &line->script->nfaults)];
    *fault = (struct text_fault){.line = line->number};
    line_pattern(line, fault->pattern);
    fault->kind = (enum text_fault_kind)line_choice(line, kinds, 6, "the fault");
    if (fault->kind == TEXT_SIGNAL)
        fault->value = signal_read(line);
    else if (fault->kind == TEXT_EXIT)
        fault->value = (int)line_number(line, "the exit status");
    fault->once = line_once(line);
}

// record NUMBER KIND [once]
static void read_record(struct line *line)
{
    static const char *const kinds[] = {"half", "twice", "unknown", "foreign", "silent"};
    struct text_record *record = &line->script->records[line_next(line, &line->script->nrecords)];
    record->line = line->number;
    record->number = (long)line_number(line, "the number of the record");
    record->kind = (enum text_record_kind)line_choice(line, kinds, 5, "what befalls it");
    record->once = line_once(line);
}

static const struct {
    const char *word;
    void (*read)(struct line *line);
} words[] = {
    {"width",     read_width    },
    {"overhead",  read_overhead },
    {"fill",      read_fill     },
    {"noise",     read_noise    },
    {"clock",     read_clock    },
    {"drift",     read_drift    },
    {"jump",      read_jump     },
    {"neighbour", read_neighbour},
    {"loud",      read_loud     },
    {"interrupt", read_interrupt},
    {"evicts",    read_evicts   },
    {"touch",     read_touch    },
    {"pace",      read_pace     },
    {"load",      read_load     },
    {"store",     read_store    },
    {"loop",      read_loop     },
    {"form",      read_form     },
    {"idiom",     read_idiom    },
    {"move",      read_move     },
    {"lacks",     read_lacks    },
    {"state",     read_state    },
    {"memory",    read_memory   },
    {"renames",   read_renames  },
    {"leave",     read_leave    },
    {"fault",     read_fault    },
    {"record",    read_record   },
};

static void line_read(struct line *line)
{
    const char *word = line_word(line);
    if (!word)
        return;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i].word, word) == 0) {
            words[i].read(line);
            if ((word = line_word(line)))
                line_wrong(line, "nothing is expected here, but there is %s", word);
            return;
        }
    line_wrong(line, "no line of a script begins with %s", word);
}

void text_script_read(const char *path, struct text_script *script, void (*fail)(const char *text))
{
    static char text[1 << 16];
    struct line line = {.path = path, .fail = fail, .script = script};
    *script = (struct text_script){.overhead_clk = 40, .least_hz = 3e9, .most_hz = 3e9};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t bytes = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (bytes < 0 || bytes == (ssize_t)sizeof text - 1)
        line_wrong(&line, "the script cannot be read, or is too long");
    close(fd);
    text[bytes] = '\0';
    for (char *at = text, *end; *at; at = end) {
        end = strchr(at, '\n');
        end = end ? end : at + strlen(at);
        if (*end)
            *end++ = '\0';
        line.number++;
        line.at = at;
        line_read(&line);
    }
    if (!(script->width > 0))
        line_wrong(&line, "no line says the width");
}

// Most patterns begin with a letter, and most names with another.
bool text_script_match(const char *pattern, const char *name, const char *valued)
{
    if (!strchr("*?[\\", *pattern) && *pattern != *name)
        return false;
    return fnmatch(pattern, strchr(pattern, '=') ? valued : name, 0) == 0;
}

const struct text_form *text_script_form(const struct text_script *script, const char *name,
                                         const char *valued)
{
    for (int i = script->nforms - 1; i >= 0; i--)
        if (text_script_match(script->forms[i].pattern, name, valued))
            return &script->forms[i];
    return NULL;
}

bool text_script_fits(const char (*patterns)[64], int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (text_script_match(patterns[i], name, name))
            return true;
    return false;
}
