// SPDX-License-Identifier: MIT
// Makes a kernel of a file; see bench_source.h. A NASM file becomes the beginning of the kernel's
// init, so that NASM's line numbers lead back to it; its macros are the hooks. A function of a C
// file or an object is linked in and called by the body; its writable data goes to sections of
// their own, and all its other symbols become local, so that none can clash with the core's.
#include "bench_source.h"

#include "bench_input.h"
#include "bench_text.h"
#include "util/paths.h"
#include "util/strbuf.h"
#include "util/subproc.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TOOL_TIMEOUT_MS = 120 * 1000,
    LOOP_UNROLL = 100, // copies that NASM makes where the file has hooks of the loop
    ARGS_MAX = 64,
    CALL_INSTRS = 4,
};

struct reading {
    const struct bench_spec *spec;
    const char *directory;
    struct bench_source *source;
    struct arena *arena;
};

// Returns the absolute path of the directory that a file is in.
static const char *directory_of(const char *path, struct arena *arena)
{
    char *full = realpath(path, NULL);
    if (!full)
        return NULL;
    char *slash = strrchr(full, '/');
    const char *directory = arena_strndup(arena, full, slash > full ? (size_t)(slash - full) : 1);
    free(full);
    return directory;
}

// Returns true if the text defines this macro; *start and *len: its lines.
static bool find_macro(const char *text, const char *name, const char **start, size_t *len)
{
    for (const char *line = text; *line;) {
        size_t bytes = strcspn(line, "\n");
        char word[16], macro[64];
        if (sscanf(line, " %%%15[a-zA-Z] %63[^ \t\n]", word, macro) == 2 &&
            (strcasecmp(word, "macro") == 0 || strcasecmp(word, "imacro") == 0) &&
            strcmp(macro, name) == 0) {
            *start = line + bytes + (line[bytes] == '\n');
            const char *end = strcasestr(*start, "%endmacro");
            *len = end ? (size_t)(end - *start) : strlen(*start);
            return true;
        }
        line += bytes + (line[bytes] == '\n');
    }
    return false;
}

static bool has_macro(const char *text, const char *name)
{
    const char *start;
    size_t len;
    return find_macro(text, name, &start, &len);
}

static int read_pair(struct reading *reading, const char *key, const char *value, int *vec_bits)
{
    struct bench_source *source = reading->source;
    const struct {
        const char *key;
        int least, most, *to;
    } keys[] = {
        {"instances", 1,  BENCH_UNROLL_MAX, &source->kernel.instances},
        {"instrs",    1,  BENCH_UNROLL_MAX, &source->kernel.instrs   },
        {"unroll",    1,  BENCH_UNROLL_MAX, &source->unroll          },
        {"loop",      1,  BENCH_LOOP_MAX,   &source->loop            },
        {"repeat",    1,  BENCH_REPEAT_MAX, &source->repeat          },
        {"bits",      32, 64,               &source->bits            },
        {"vectors",   0,  512,              vec_bits                 },
    };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        char *end;
        long number = strtol(value, &end, 10);
        if (strcmp(key, keys[i].key) != 0)
            continue;
        if (!*value || *end || number < keys[i].least || number > keys[i].most)
            return -1;
        *keys[i].to = (int)number;
        return 0;
    }
    return -1;
}

// Lines `;@ bench key=value ...`.
static int read_contract(struct reading *reading, const char *text, int *vec_bits, struct err *err)
{
    static const char head[] = ";@ bench ";
    int number = 1;
    for (const char *line = text; *line; number++) {
        size_t bytes = strcspn(line, "\n");
        char *pairs =
            strncmp(line, head, sizeof head - 1) == 0
                ? arena_strndup(reading->arena, line + sizeof head - 1, bytes - (sizeof head - 1))
                : NULL;
        char *rest;
        for (char *pair = pairs ? strtok_r(pairs, " \t\r", &rest) : NULL; pair;
             pair = strtok_r(NULL, " \t\r", &rest)) {
            char *equals = strchr(pair, '=');
            if (equals)
                *equals = '\0';
            if (!equals || read_pair(reading, pair, equals + 1, vec_bits) != 0)
                return err_set(
                    err,
                    "%s:%d: '%s%s%s' is none of instances=N, instrs=N, unroll=N, loop=N, "
                    "repeat=N, bits=64|32, vectors=0|128|256|512",
                    reading->spec->file, number, pair, equals ? "=" : "", equals ? equals + 1 : "");
        }
        line += bytes + (line[bytes] == '\n');
    }
    return 0;
}

static void prefer_spec(const struct bench_spec *spec, struct bench_source *source)
{
    source->bits = spec->bits ? spec->bits : source->bits;
    source->unroll = spec->unroll ? spec->unroll : source->unroll;
    source->loop = spec->loop ? spec->loop : source->loop;
    source->repeat = spec->repeat ? spec->repeat : source->repeat;
    source->kernel.instances = spec->instances ? spec->instances : source->kernel.instances;
}

// Writes init and body of a kernel whose macros are in `text`.
static void write_nasm_kernel(struct reading *reading, const char *text)
{
    struct bench_source *source = reading->source;
    struct strbuf init = {0}, body = {0};
    strbuf_puts(&init, text);
    if (init.len && init.data[init.len - 1] != '\n')
        strbuf_puts(&init, "\n");
    if (has_macro(text, "testdata"))
        strbuf_puts(&init, "section latput_user progbits alloc noexec write align=64\n"
                           "testdata\n");
    // Whatever the file has switched to.
    strbuf_puts(&init, "section .text\ndefault abs\n");
    strbuf_puts(&init,
                bench_text_lines(reading->spec->init ? reading->spec->init : "", reading->arena));
    if (has_macro(text, "testinit"))
        strbuf_puts(&init, "testinit\n");
    const char *code = "testcode";
    if (reading->spec->testcode) {
        code = "latput_testcode";
        strbuf_puts(&init, bench_text_lines(reading->spec->after ? reading->spec->after : "",
                                            reading->arena));
        strbuf_printf(&init, "%%macro %s 0\n%s%%endmacro\n", code,
                      bench_text_lines(reading->spec->testcode, reading->arena));
    }
    bool start = has_macro(text, "testloop"), end = has_macro(text, "testend");
    if (start || end) {
        int copies = source->unroll ? source->unroll : LOOP_UNROLL;
        strbuf_printf(&body, "%s%%rep %d\n%s\n%%endrep\n%s", start ? "testloop\n" : "", copies,
                      code, end ? "testend\n" : "");
        source->kernel.instances *= copies;
        source->kernel.instrs *= copies;
        source->kernel.unrolled = true;
        source->unroll = 1;
    } else {
        strbuf_printf(&body, "%s\n", code);
    }
    source->kernel.init = arena_strdup(reading->arena, strbuf_text(&init));
    source->kernel.body = arena_strdup(reading->arena, strbuf_text(&body));
    strbuf_free(&init);
    strbuf_free(&body);
}

static int read_nasm(struct reading *reading, struct err *err)
{
    const struct bench_spec *spec = reading->spec;
    struct bench_source *source = reading->source;
    const char *start;
    size_t len;
    int vec_bits = -1;
    const char *text = bench_input_text(spec->file, reading->arena, err);
    if (!text)
        return -1;
    if (!find_macro(text, "testcode", &start, &len))
        return err_set(err, "%s: the file defines no macro `testcode`: the code to measure",
                       spec->file);
    // The names in the file determine the contents of registers.
    struct bench_spec as_text = *spec;
    as_text.body = text;
    source->kernel = bench_text_kernel(&as_text, reading->arena);
    source->kernel.instances = 1;
    source->kernel.instrs = bench_text_instructions(arena_strndup(reading->arena, start, len));
    if (source->kernel.instrs == 0)
        source->kernel.instrs = 1;
    if (read_contract(reading, text, &vec_bits, err) != 0)
        return -1;
    if (vec_bits >= 0)
        source->kernel.vec_bits = vec_bits;
    prefer_spec(spec, source);
    source->block_instances = source->kernel.instances;
    source->testcode = arena_strndup(reading->arena, start, len);
    write_nasm_kernel(reading, text);
    source->file = spec->file;
    source->text = text;
    for (const char *at = text; *at; at++)
        source->file_lines += *at == '\n' || at[1] == '\0';
    source->include = directory_of(spec->file, reading->arena);
    return 0;
}

static int run_tool(const struct reading *reading, const char *const argv[], const char *what,
                    bool *refused, struct err *err)
{
    const struct subproc_options options = {.timeout_ms = TOOL_TIMEOUT_MS};
    struct subproc_result result;
    if (subproc_run(argv, &options, &result, err) != 0)
        return -1;
    int status = 0;
    if (result.timed_out)
        status = err_set(err, "%s: %s took more than two minutes", reading->spec->file, argv[0]);
    else if (result.exit_status != 0 || result.signal) {
        size_t len = strlen(result.err);
        while (len && isspace((unsigned char)result.err[len - 1]))
            len--;
        status = err_set(err, "%s: %s\n%.*s", reading->spec->file, what,
                         (int)(len < 1500 ? len : 1500), result.err);
        *refused = true;
    }
    subproc_result_free(&result);
    return status;
}

// Compiles with options that fit the core's static program; the user's come last.
static int compile(struct reading *reading, const char *object, bool *refused, struct err *err)
{
    const char *argv[ARGS_MAX] = {
        "cc", "-O2", "-g", "-fno-pie", "-fno-stack-protector", "-fcf-protection=none"};
    size_t n = 6;
    if (reading->source->bits == 32)
        argv[n++] = "-m32";
    char *flags = arena_strdup(reading->arena, reading->spec->cflags ? reading->spec->cflags : "");
    char *rest;
    for (char *flag = strtok_r(flags, " \t", &rest); flag; flag = strtok_r(NULL, " \t", &rest)) {
        if (n + 6 > ARGS_MAX) {
            *refused = true;
            return err_set(err, "too many compiler options");
        }
        argv[n++] = flag;
    }
    argv[n++] = "-c";
    argv[n++] = "-o";
    argv[n++] = object;
    argv[n] = reading->spec->file;
    return run_tool(reading, argv, "the compiler refuses it", refused, err);
}

// Gathers the writable data of the object and makes all symbols but the function local.
static int isolate(struct reading *reading, const char *from, bool *refused, struct err *err)
{
    const char *object = arena_printf(reading->arena, "%s/user.o", reading->directory);
    const char *const gather[] = {"ld",
                                  "-m",
                                  reading->source->bits == 32 ? "elf_i386" : "elf_x86_64",
                                  "-r",
                                  "--force-group-allocation",
                                  "-T",
                                  path_data("macros/bench_object.ld"),
                                  "-o",
                                  object,
                                  from,
                                  NULL};
    const char *rename =
        arena_printf(reading->arena, "--redefine-sym=%s=latput_function", reading->spec->symbol);
    const char *const hide[] = {"objcopy", rename, "--keep-global-symbol=latput_function", object,
                                NULL};
    reading->source->object = object;
    if (run_tool(reading, gather, "the linker refuses it", refused, err) != 0)
        return -1;
    return run_tool(reading, hide, "objcopy refuses it", refused, err);
}

static int call_write(struct reading *reading, struct err *err)
{
    struct bench_source *source = reading->source;
    const struct bench_spec *spec = reading->spec;
    struct bench_call call;
    if (bench_call_make(spec, source->bits, reading->directory, &call, reading->arena, err) != 0)
        return -1;
    source->kernel = (struct kernel_spec){
        .shape = "bench",
        .body = arena_printf(reading->arena, "%s%s", spec->mode == BENCH_LATENCY ? "lfence\n" : "",
                             call.call),
        // The x87 stack is as a function expects it.
        .init = arena_printf(reading->arena, "extern latput_function\nemms\n%s", call.init),
        .instances = spec->instances ? spec->instances : 1,
        .instrs = CALL_INSTRS,
        .gpr_fill = 1};
    source->function = spec->symbol;
    source->block_instances = source->kernel.instances;
    return 0;
}

static int read_object(struct reading *reading, bool is_source, bool *refused, struct err *err)
{
    const struct bench_spec *spec = reading->spec;
    prefer_spec(spec, reading->source);
    if (!spec->symbol || !*spec->symbol) {
        *refused = true;
        return err_set(err, "%s: which function is to be measured? Name it with --symbol",
                       spec->file);
    }
    if (call_write(reading, err) != 0) {
        *refused = true;
        return -1;
    }
    if (spec->object) {
        reading->source->object = spec->object;
        return 0;
    }
    const char *object = spec->file;
    if (access(object, R_OK) != 0) {
        *refused = true;
        return err_set(err, "%s: cannot read: %s", object, strerror(errno));
    }
    if (is_source) {
        reading->source->text = bench_input_text(object, reading->arena, err);
        if (!reading->source->text)
            return -1;
        object = arena_printf(reading->arena, "%s/source.o", reading->directory);
        if (compile(reading, object, refused, err) != 0)
            return -1;
    }
    return isolate(reading, object, refused, err);
}

static int read_text(struct reading *reading, struct err *err)
{
    const struct bench_spec *spec = reading->spec;
    struct bench_breakers *breakers = &reading->source->breakers;
    struct bench_spec broken = *spec;
    *breakers = (struct bench_breakers){.init = "", .body = ""};
    if (spec->mode == BENCH_THROUGHPUT) {
        if (bench_break_chains(spec, reading->directory, breakers, reading->arena, err) != 0)
            return -1;
        const char *init = bench_text_lines(spec->init ? spec->init : "", reading->arena);
        broken.init = arena_printf(reading->arena, "%s%s", init, breakers->init);
        broken.body = arena_printf(reading->arena, "%s%s", breakers->body, spec->body);
    }
    reading->source->kernel = bench_text_kernel(&broken, reading->arena);
    prefer_spec(spec, reading->source);
    return 0;
}

// Makes the kernel of machine code by way of text.
static int read_bytes(struct reading *reading, const struct bench_bytes *code, struct err *err)
{
    struct bench_source *source = reading->source;
    struct bench_spec as_text = *reading->spec;
    struct bench_bytes_text text;
    if (bench_bytes_text(code, as_text.init, &text, reading->arena, err) != 0)
        return -1;
    if (as_text.mode == BENCH_THROUGHPUT && text.linked)
        return err_set(err, "chains cannot be broken in code that uses r14, r15, rsp or rip");
    struct reading again = {&as_text, reading->directory, source, reading->arena};
    as_text.file = NULL;
    as_text.body = text.body;
    as_text.init = text.init;
    as_text.instances = text.copies * (as_text.instances ? as_text.instances : 1);
    if (text.looped && !as_text.unroll)
        as_text.unroll = 1;
    source->looped = text.looped && as_text.unroll == 1;
    as_text.bits = code->bits;
    source->text = text.body;
    source->bytes = true;
    source->invents = code->own;
    return read_text(&again, err);
}

static int read_any(struct reading *reading, bool *refused, struct err *err)
{
    const struct bench_spec *spec = reading->spec;
    struct bench_bytes code;
    struct bench_reading outside = {reading->directory, reading->arena, false};
    int foreign = bench_input_read(spec, &outside, &code, err);
    *refused = outside.refused;
    if (foreign > 0) {
        *refused = true;
        return read_bytes(reading, &code, err);
    }
    if (foreign < 0)
        return -1;
    *refused = false;
    reading->source->invents = spec->foreign;
    reading->source->looped = spec->looped;
    if (!spec->file)
        return read_text(reading, err);
    const char *dot = strrchr(spec->file, '.');
    if (dot && strcmp(dot, ".c") == 0)
        return read_object(reading, true, refused, err);
    if (dot && strcmp(dot, ".o") == 0)
        return read_object(reading, false, refused, err);
    *refused = true;
    if (spec->mode == BENCH_THROUGHPUT)
        return err_set(err,
                       "%s: chains can be broken in code given as text only; in a file write "
                       "copies that do not depend on each other",
                       spec->file);
    if (dot && (strcmp(dot, ".nasm") == 0 || strcmp(dot, ".asm") == 0))
        return read_nasm(reading, err);
    return err_set(
        err,
        "%s: is no listing of objdump or perf, no executable, and its name does not end in "
        ".nasm, .asm, .s, .c or .o",
        spec->file);
}

int bench_source_read(const struct bench_spec *spec, const char *directory,
                      struct bench_source *source, struct arena *arena, bool *refused,
                      struct err *err)
{
    struct reading reading = {spec, directory, source, arena};
    *source = (struct bench_source){0};
    *refused = false;
    int status = read_any(&reading, refused, err);
    if (status == 0)
        *refused = false; // what fails later is not the input's fault
    return status;
}

int bench_source_width(const struct bench_source *source, int issue_width)
{
    return source->looped ? 0 : issue_width;
}
