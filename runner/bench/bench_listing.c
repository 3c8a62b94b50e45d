// SPDX-License-Identifier: MIT
// Listings of other programs; see bench_listing.h. A line of code is, after what perf annotate has
// in front (a percentage and colons), `address:`, then bytes in pairs of digits, then text. Longer
// instructions go on in the next line, which has no text. All other lines are headings.
#include "bench_listing.h"

#include "util/strbuf.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct listing_line {
    uint64_t address;
    bool digit;        // it begins with one of 0 to 9, as no label does
    const char *bytes; // the first pair of digits
    int nbytes;
    const char *text; // of the instruction
    size_t text_len;
};

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

// Reads `hex:` at *at and goes past it.
static bool take_address(const char **at, const char *end, uint64_t *address)
{
    const char *p = *at;
    uint64_t value = 0;
    for (; p < end && isxdigit((unsigned char)*p) && p - *at < 16; p++)
        value = value << 4 |
                (uint64_t)(isdigit((unsigned char)*p) ? *p - '0'
                                                      : tolower((unsigned char)*p) - 'a' + 10);
    if (p == *at || p == end || *p != ':' || (p + 1 < end && p[1] != ' ' && p[1] != '\t'))
        return false;
    *at = p + 1;
    *address = value;
    return true;
}

// Skips what perf annotate has in front of an address: percentages and colons.
static const char *skip_percent(const char *at, const char *end)
{
    const char *p = at;
    while (p < end && (isdigit((unsigned char)*p) || strchr(" \t.%", *p)))
        p++;
    bool percent = p < end && *p == ':' &&
                   (memchr(at, '.', (size_t)(p - at)) || p == at || skip_blanks(at, p) == p);
    return percent ? skip_blanks(p + 1, end) : at;
}

// Returns whether the line is one of code.
static bool line_read(const char *at, const char *end, struct listing_line *line)
{
    *line = (struct listing_line){.address = 0};
    at = skip_percent(skip_blanks(at, end), end);
    line->digit = at < end && isdigit((unsigned char)*at);
    if (!take_address(&at, end, &line->address))
        return false;
    at = skip_blanks(at, end);
    for (const char *p = at;
         p + 1 < end && isxdigit((unsigned char)p[0]) && isxdigit((unsigned char)p[1]) &&
         (p + 2 == end || isspace((unsigned char)p[2]));
         p = p + 2 < end ? p + 3 : end) {
        line->bytes = line->nbytes ? line->bytes : p;
        line->nbytes++;
        at = p + 2 < end ? p + 3 : end;
    }
    line->text = skip_blanks(at, end);
    const char *stop = line->text;
    while (stop < end && *stop != '#' && *stop != '<')
        stop++;
    while (stop > line->text && isspace((unsigned char)stop[-1]))
        stop--;
    line->text_len = (size_t)(stop - line->text);
    return line->nbytes > 0 || (line->text_len > 0 && isalpha((unsigned char)*line->text));
}

bool bench_text_is_listing(const char *text)
{
    struct listing_line line;
    for (const char *at = text; *at;) {
        const char *end = at + strcspn(at, "\n");
        if (line_read(at, end, &line) && line.digit)
            return true;
        at = end + (*end == '\n');
    }
    return false;
}

struct listing_reader {
    struct bench_listing *listing;
    struct arena *arena;
    uint8_t *bytes;
    size_t len;
    struct listing_line *texts; // lines without bytes
    int *lines;                 // their numbers
    size_t ntexts, texts_room, lines_room;
    uint64_t next; // address of the next instruction
    int number;    // of the line
};

static int reader_take_bytes(struct listing_reader *reader, const struct listing_line *line,
                             struct err *err)
{
    if (reader->len && line->address != reader->next)
        return err_set(err,
                       "%d: address %llx after code up to %llx: give one piece of code without "
                       "gaps",
                       reader->number, (unsigned long long)line->address,
                       (unsigned long long)reader->next);
    if (!reader->len)
        reader->listing->code.address = line->address;
    for (int i = 0; i < line->nbytes; i++) {
        if (reader->len == BENCH_BYTES_MAX)
            return err_set(err, "%d: more than %d bytes of code", reader->number, BENCH_BYTES_MAX);
        const char digits[] = {line->bytes[3 * i], line->bytes[3 * i + 1], '\0'};
        reader->bytes[reader->len++] = (uint8_t)strtoul(digits, NULL, 16);
    }
    reader->next = line->address + (uint64_t)line->nbytes;
    return 0;
}

static int reader_take(struct listing_reader *reader, const struct listing_line *line,
                       struct err *err)
{
    bool bytes = line->nbytes > 0;
    if (bytes ? reader->ntexts > 0 : reader->len > 0)
        return err_set(err, "%d: some lines have the bytes of their instructions, and some do not",
                       reader->number);
    if (bytes)
        return reader_take_bytes(reader, line, err);
    if (reader->ntexts >= BENCH_BYTES_MAX)
        return err_set(err, "%d: more than %d instructions", reader->number, BENCH_BYTES_MAX);
    reader->texts =
        xgrow(reader->texts, &reader->texts_room, reader->ntexts + 1, sizeof *reader->texts);
    reader->lines =
        xgrow(reader->lines, &reader->lines_room, reader->ntexts + 1, sizeof *reader->lines);
    reader->lines[reader->ntexts] = reader->number;
    reader->texts[reader->ntexts++] = *line;
    return 0;
}

static bool reader_has(const struct listing_reader *reader, uint64_t address)
{
    for (size_t i = 0; i < reader->ntexts; i++)
        if (reader->texts[i].address == address)
            return true;
    return false;
}

// Writes a line's text. A jump goes to the label of its target, or past all of the code.
static void reader_put_text(const struct listing_reader *reader, const struct listing_line *line,
                            struct strbuf *out)
{
    size_t word = 0;
    while (word < line->text_len && !isspace((unsigned char)line->text[word]))
        word++;
    strbuf_printf(out, "L%llx: ", (unsigned long long)line->address);
    if (*line->text != 'j') {
        strbuf_printf(out, "%.*s\n", (int)line->text_len, line->text);
        return;
    }
    uint64_t target = strtoull(line->text + word, NULL, 16);
    strbuf_printf(out, "%.*s ", (int)word, line->text);
    if (reader_has(reader, target))
        strbuf_printf(out, "L%llx\n", (unsigned long long)target);
    else
        strbuf_printf(out, ".+%d\n", 1 << 20);
}

static int reader_end(struct listing_reader *reader, int bits, struct err *err)
{
    struct bench_listing *listing = reader->listing;
    if (!reader->len && !reader->ntexts)
        return err_set(err, "there is no line of code in the listing");
    if (reader->ntexts) {
        struct strbuf text = {0};
        int *lines = arena_alloc(reader->arena, (reader->ntexts + 1) * sizeof *lines);
        memcpy(lines, reader->lines, reader->ntexts * sizeof *lines);
        lines[reader->ntexts] = reader->number; // the end of the text
        for (size_t i = 0; i < reader->ntexts; i++)
            reader_put_text(reader, &reader->texts[i], &text);
        listing->text = arena_strndup(reader->arena, strbuf_text(&text), text.len);
        listing->lines = lines;
        strbuf_free(&text);
    }
    listing->code.bytes = reader->bytes;
    listing->code.len = reader->len;
    listing->code.bits = bits;
    listing->code.own = true;
    return 0;
}

int bench_listing_read(const char *text, int bits, struct bench_listing *listing,
                       struct arena *arena, struct err *err)
{
    struct listing_reader reader = {
        .listing = listing, .arena = arena, .bytes = arena_alloc(arena, BENCH_BYTES_MAX)};
    *listing = (struct bench_listing){.text = NULL};
    int status = 0;
    for (const char *at = text; *at && status == 0;) {
        const char *end = at + strcspn(at, "\n");
        struct listing_line line;
        reader.number++;
        if (line_read(at, end, &line))
            status = reader_take(&reader, &line, err);
        at = end + (*end == '\n');
    }
    if (status == 0)
        status = reader_end(&reader, bits, err);
    free(reader.texts);
    free(reader.lines);
    return status;
}
