// SPDX-License-Identifier: MIT
// NASM and the linker; see assemble.h. A refused kernel must not cost the batch: messages are
// traced back to kernels by their source line (NASM) or by the label of the function that the
// linker names; the guilty kernels are left out and the tools run again.
#include "assemble.h"

#include "compose.h"
#include "link.h"
#include "load.h"
#include "object.h"
#include "util/clock.h"
#include "util/paths.h"
#include "util/scratch.h"
#include "util/spent.h"
#include "util/subproc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    BUILD_TIMEOUT_MS = 600 * 1000,
    // NASM reports parse errors before undefined symbols, and the linker cuts repetitions short, so
    // the faults of one batch may take several rounds to appear.
    BUILD_ROUNDS_MAX = 10,
    NASM_MAJOR_MIN = 2,
    NASM_MINOR_MIN = 15, // the first with the warning class label-orphan
};

struct assembly {
    struct gen_kernel *kernels;
    int nkernels;
    const struct assemble_options *options;
    struct arena *arena;
    struct program *program;
    char *source, *object, *executable; // file names within the directory
    char *code, *table;                 // files of composed kernels
    char *expanded;                     // what the preprocessor made of the source
    bool composed;                      // at least one kernel is
    bool loaded;                        // all are: neither assembler nor linker is needed
};

static const char build_remedy[] = "install the packages nasm and binutils (for a file of one's "
                                   "own also gcc and libc6-dev), or run ./install-deps.sh";

static char *assemble_path(const struct assembly *build, const char *name)
{
    return arena_printf(build->arena, "%s/%s", build->options->directory, name);
}

static int assemble_write(const struct assembly *build, const char *name, const struct strbuf *text,
                          struct err *err)
{
    const char *path = assemble_path(build, name);
    FILE *file = fopen(path, "we");
    if (!file && scratch_is_gone(path, err))
        return -1;
    if (!file)
        return err_set(err, "%s: cannot write: %s", path, strerror(errno));
    bool written = fwrite(strbuf_text(text), 1, text->len, file) == text->len;
    if (fclose(file) != 0 || !written)
        return err_set(err, "%s: cannot write: %s (is the disk full?)", path, strerror(errno));
    return 0;
}

static int assemble_bits(const struct assembly *build)
{
    return build->options->bits == 32 ? 32 : 64;
}

static int assemble_write_source(const struct assembly *build, struct err *err)
{
    struct strbuf text = {0};
    gen_write(build->kernels, build->nkernels, assemble_bits(build),
              build->composed ? build->options->stem : NULL, &text);
    int status = assemble_write(build, build->source, &text, err);
    strbuf_free(&text);
    return status;
}

static void assemble_fail(const struct assembly *build, int id, enum outcome outcome,
                          const char *detail, size_t len)
{
    struct program *program = build->program;
    build->kernels[id].left_out = true;
    program->failures[program->nfailures++] = (struct assemble_failure){
        .kernel = id, .outcome = outcome, .detail = arena_strndup(build->arena, detail, len)};
}

static int assemble_kernel_of_line(const struct assembly *build, int line)
{
    int low = 0, high = build->nkernels - 1;
    while (low <= high) {
        // Kernels that were left out or composed have no lines; step down to one that has.
        int middle = (low + high) / 2, at = middle;
        while (at >= low && build->kernels[at].first_line == 0)
            at--;
        if (at < low)
            low = middle + 1;
        else if (line < build->kernels[at].first_line)
            high = at - 1;
        else if (line > build->kernels[at].last_line)
            low = middle + 1;
        else
            return at;
    }
    return -1;
}

// Kernels blamed in this round, so that a kernel with several messages fails once and is looked up
// by the lines of the round's source.
struct blame {
    int kernel;
    const char *text;
    size_t len;
    int line;
};

static const char build_in_macro[] = "... from macro";

static bool build_message_counts(const char *text, size_t len)
{
    static const char *const prefixes[] = {"error: ", "fatal: ", build_in_macro};
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (len > strlen(prefixes[i]) && strncmp(text, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

// Reads NASM's messages, `file:line: error: text`. Returns how many kernels were left out.
static int assemble_blame_nasm(const struct assembly *build, const char *messages)
{
    size_t prefix = strlen(build->source);
    struct blame *blames = xcalloc((size_t)build->nkernels + 1, sizeof *blames);
    struct blame *last = NULL; // kernel that following lines "... from macro" belong to
    for (const char *at = messages; *at;) {
        size_t len = strcspn(at, "\n");
        if (len > prefix && strncmp(at, build->source, prefix) == 0 && at[prefix] == ':') {
            char *text;
            long line = strtol(at + prefix + 1, &text, 10);
            if (text < at + len && *text == ':')
                text++;
            text += strspn(text, " ");
            size_t rest = text < at + len ? (size_t)(at + len - text) : 0;
            if (last && rest > strlen(build_in_macro) &&
                strncmp(text, build_in_macro, strlen(build_in_macro)) == 0) {
                last->line = (int)line; // from the outermost macro inwards
                at += len + (at[len] == '\n');
                continue;
            }
            last = NULL;
            int kernel = assemble_kernel_of_line(build, (int)line);
            if (kernel >= 0 && build_message_counts(text, rest) && !blames[kernel].text) {
                last = &blames[kernel];
                *last = (struct blame){kernel, text, rest, (int)line};
            }
        }
        at += len + (at[len] == '\n');
    }
    int blamed = 0;
    for (int i = 0; i < build->nkernels; i++)
        if (blames[i].text) {
            size_t skip = strncmp(blames[i].text, "error: ", 7) == 0 ? 7 : 0;
            struct gen_place place = gen_find_place(&build->kernels[i], blames[i].line);
            assemble_fail(build, i, OUTCOME_ASM_FAILED, blames[i].text + skip,
                          blames[i].len - skip);
            build->program->failures[build->program->nfailures - 1].place = place;
            blamed++;
        }
    free(blames);
    return blamed;
}

// Blames the kernel for a fault in the user's object, with the first line that says what it is.
static int assemble_blame_object(const struct assembly *build, const char *messages)
{
    static const char *const faults[] = {"undefined reference", "multiple definition", "relocation",
                                         "incompatible"};
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        const char *fault = strstr(messages, faults[i]);
        if (fault) {
            assemble_fail(build, 0, OUTCOME_LINK_FAILED, fault, strcspn(fault, "\n"));
            return 1;
        }
    }
    return 0;
}

// Leaves out the kernels with faults. Returns how many.
static int assemble_blame_links(const struct assembly *build, const struct link_faults *faults)
{
    int blamed = 0;
    for (size_t i = 0; i < faults->n; i++) {
        const struct link_fault *fault = &faults->items[i];
        char *end;
        long id = *fault->label ? strtol(fault->label + 1, &end, 10) : -1;
        if (id < 0 || id >= build->nkernels || *end != '_' || build->kernels[id].left_out)
            continue;
        assemble_fail(build, (int)id, OUTCOME_LINK_FAILED, fault->detail, strlen(fault->detail));
        blamed++;
    }
    return blamed;
}

static int assemble_kernels_left(const struct assembly *build)
{
    int left = 0;
    for (int i = 0; i < build->nkernels; i++)
        left += !build->kernels[i].left_out;
    return left;
}

// Runs a tool and adds its time to `what`. `readable`: as in struct subproc_options.
static int assemble_tool(const struct assembly *build, const char *const argv[],
                         const char *const *readable, enum spent_on what,
                         struct subproc_result *result, struct err *err)
{
    double start_s = clock_now_s();
    struct subproc_options options = {.cwd = build->options->directory,
                                      .timeout_ms = BUILD_TIMEOUT_MS,
                                      .tool = true,
                                      .readable = readable};
    if (subproc_run(argv, &options, result, err) != 0)
        return err_prefix(err, "building test programs: ");
    spent_add_time(what, start_s);
    if (result->timed_out || result->signal) {
        err_set(err, "%s %s while building test programs in %s", argv[0],
                result->timed_out ? "took more than ten minutes" : "crashed",
                build->options->directory);
        subproc_result_free(result);
        return -1;
    }
    return 0;
}

static int assemble_tool_error(const struct assembly *build, const char *tool, const char *messages,
                               struct err *err)
{
    // Bytes of messages that are shown: the first lines suffice; a batch can produce thousands.
    enum { SHOWN = 600 };
    size_t len = strlen(messages);
    struct statvfs disk;
    if (scratch_is_gone(build->options->directory, err))
        return -1;
    bool full = strstr(messages, strerror(ENOSPC)) ||
                (statvfs(build->options->directory, &disk) == 0 &&
                 (disk.f_bavail == 0 || (disk.f_files > 0 && disk.f_favail == 0)));
    return err_set(err, "%s failed on %s/%s: %.*s%s\n%s", tool, build->options->directory,
                   build->source, (int)(len < SHOWN ? len : SHOWN), messages,
                   len > SHOWN ? " [...]" : "",
                   full ? "the disk that this is on is full; set TMPDIR to a directory of another"
                        : build_remedy);
}

// Runs NASM once on the source: into the object, or, with `expand`, through the preprocessor only.
static int build_nasm(const struct assembly *build, bool expand, struct subproc_result *result,
                      struct err *err)
{
    const char *include = arena_printf(build->arena, "-I%s/", path_data("macros"));
    const char *format = build->options->bits == 32 ? "elf32" : "elf64";
    const char *own = build->options->include;
    const char *include_own = own ? arena_printf(build->arena, "-I%s/", own) : include;
    // Every warning is an error: NASM warns where it encodes something else than what was written.
    const char *const command[] = {"nasm",
                                   "-f",
                                   format,
                                   "-w+error",
                                   "-w+error=label-orphan",
                                   include,
                                   include_own,
                                   "-o",
                                   expand ? build->expanded : build->object,
                                   build->source,
                                   expand ? "-E" : NULL,
                                   NULL};
    // A user's own file may include anything, so reading is not confined.
    const char *const readable[] = {path_data("macros"), NULL};
    return assemble_tool(build, command, own ? NULL : readable, SPENT_ASSEMBLING, result, err);
}

// Assembles, leaving out kernel after kernel. Returns 0 also if none is left.
static int assemble_run_nasm(const struct assembly *build, struct err *err)
{
    for (int round = 0; round < BUILD_ROUNDS_MAX; round++) {
        if (assemble_kernels_left(build) == 0)
            return 0;
        if (assemble_write_source(build, err) != 0)
            return -1;
        struct subproc_result result;
        if (build_nasm(build, false, &result, err) != 0)
            return -1;
        bool done = result.exit_status == 0;
        int blamed = done ? 0 : assemble_blame_nasm(build, result.err);
        if (!done && blamed == 0)
            assemble_tool_error(build, "nasm", result.err, err);
        subproc_result_free(&result);
        if (done)
            return 0;
        if (blamed == 0)
            return -1;
    }
    return err_set(err, "%s/%s: new faults after %d rounds of leaving out rows that NASM refuses",
                   build->options->directory, build->source, BUILD_ROUNDS_MAX);
}

// Assembles the lines, without those that NASM refuses. Returns 1 if done, 0 if composing is not
// possible.
static int build_lines(const struct assembly *build, struct compose *compose, struct err *err)
{
    for (int round = 0; round < BUILD_ROUNDS_MAX; round++) {
        struct strbuf text = {0};
        size_t written = compose_write(compose, assemble_bits(build), &text);
        int status = written ? assemble_write(build, build->source, &text, err) : 0;
        strbuf_free(&text);
        if (!written || status != 0)
            return status;
        struct subproc_result result;
        if (build_nasm(build, false, &result, err) != 0)
            return -1;
        bool done = result.exit_status == 0;
        size_t refused = done ? 0 : compose_refuse(compose, build->source, result.err);
        subproc_result_free(&result);
        if (done || refused == 0)
            return done;
    }
    return 0;
}

// Reads a file that NASM has written; NULL: there is none.
static char *build_read(const char *path, struct arena *arena)
{
    FILE *file = fopen(path, "r");
    struct stat status;
    if (!file)
        return NULL;
    size_t size = fstat(fileno(file), &status) == 0 ? (size_t)status.st_size : 0;
    char *text = arena_alloc(arena, size + 1);
    bool whole = fread(text, 1, size, file) == size;
    fclose(file);
    return whole ? text : NULL;
}

static bool build_wants_expansion(const struct assembly *build)
{
    for (int i = 0; i < build->nkernels; i++) {
        const struct gen_kernel *kernel = &build->kernels[i];
        if (!kernel->left_out && !kernel->composed && gen_has_extras(kernel->spec))
            return true;
    }
    return false;
}

// Has the preprocessor expand the macros of kernels that have more than lines; NASM itself would do
// that again in each of its passes. What it refuses stays as it is.
static int build_expand(const struct assembly *build, struct arena *arena, struct err *err)
{
    struct strbuf text = {0};
    gen_write_unexpanded(build->kernels, build->nkernels, &text);
    int status = assemble_write(build, build->source, &text, err);
    strbuf_free(&text);
    struct subproc_result result;
    if (status != 0 || build_nasm(build, true, &result, err) != 0)
        return -1;
    const char *expanded =
        result.exit_status == 0 ? build_read(assemble_path(build, build->expanded), arena) : NULL;
    subproc_result_free(&result);
    if (!expanded || !gen_take_expanded(build->kernels, build->nkernels, expanded, arena))
        for (int i = 0; i < build->nkernels; i++)
            build->kernels[i].expanded = NULL;
    return 0;
}

// Returns true if all kernels that are left are composed.
static bool build_all_composed(const struct assembly *build)
{
    for (int i = 0; i < build->nkernels; i++)
        if (!build->kernels[i].left_out && !build->kernels[i].composed)
            return false;
    return true;
}

// Composes the kernels that are not. Sets build->composed if a program can be made with some.
static int build_compose(struct assembly *build, struct err *err)
{
    struct arena arena = {0};
    int status = build_wants_expansion(build) ? build_expand(build, &arena, err) : 0;
    struct compose *compose = compose_new(build->kernels, build->nkernels);
    int done = status == 0 ? build_lines(build, compose, err) : -1;
    const char *object = assemble_path(build, build->object);
    struct err refused;
    if (done == 1 && assemble_object_check(object, &refused) == 0)
        compose_take(compose, object, build->arena);
    compose_free(compose);
    for (int i = 0; i < build->nkernels; i++)
        build->kernels[i].expanded = NULL; // they are the arena's
    arena_free(&arena);
    return done < 0 ? -1 : 0;
}

// Writes code and entries of composed kernels, for NASM to include.
static int build_write_composed(const struct assembly *build, struct err *err)
{
    static const struct gen_addresses none;
    struct strbuf table = {0};
    const char *path = assemble_path(build, build->code);
    gen_write_table(build->kernels, build->nkernels, &none, &table);
    int status = assemble_write(build, build->table, &table, err);
    FILE *file = status == 0 ? fopen(path, "we") : NULL;
    bool written = file && gen_put_code(build->kernels, build->nkernels, file);
    if ((file && fclose(file) != 0) || (!written && status == 0))
        status = err_set(err, "%s: cannot write: %s (is the disk full?)", path, strerror(errno));
    strbuf_free(&table);
    return status;
}

// Composes the kernels that can be composed. If none can, all are assembled as they are, which also
// finds their faults.
static int assemble_compose(struct assembly *build, struct err *err)
{
    if (!build_all_composed(build) && build_compose(build, err) != 0)
        return -1;
    build->loaded = !build->options->object && build_all_composed(build) &&
                    load_fits(build->kernels, build->nkernels);
    for (int i = 0; i < build->nkernels && !build->loaded; i++) {
        // NASM's table of composed kernels has no places of what only properties have.
        struct gen_kernel *kernel = &build->kernels[i];
        kernel->composed = gen_has_extras(kernel->spec) ? NULL : kernel->composed;
        build->composed |= kernel->composed != NULL;
    }
    return build->composed ? build_write_composed(build, err) : 0;
}

enum { LINK_ARGS_MAX = 16 };

// Links with a user's object, which may need more of the C library, by the compiler.
static void assemble_link_user(const struct assembly *build, const char *argv[LINK_ARGS_MAX])
{
    bool is_32 = build->options->bits == 32;
    const char *const words[] = {"cc",
                                 is_32 ? "-m32" : "-m64",
                                 "-static",
                                 "-no-pie",
                                 "-Wl,-z,noexecstack",
                                 "-o",
                                 build->executable,
                                 build->object,
                                 build->options->object,
                                 path_library(is_32 ? "core32.o" : "core64.o"),
                                 "-lm",
                                 NULL};
    memcpy(argv, words, sizeof words);
}

// Links once with the user's object. 1: linked; 0: the kernel is at fault; -1: error.
static int assemble_link_object(const struct assembly *build, struct err *err)
{
    const char *argv[LINK_ARGS_MAX];
    assemble_link_user(build, argv);
    struct subproc_result result;
    if (assemble_tool(build, argv, NULL, SPENT_LINKING, &result, err) != 0)
        return -1;
    int status = 1;
    if (result.exit_status != 0) {
        status = assemble_blame_object(build, result.err) > 0 ? 0 : -1;
        if (status < 0)
            assemble_tool_error(build, "the linker", result.err, err);
    }
    subproc_result_free(&result);
    return status;
}

// Links once. 1: linked; 0: some kernels were left out, assemble again; -1: error.
static int assemble_link(const struct assembly *build, struct err *err)
{
    if (build->options->object)
        return assemble_link_object(build, err);
    double start_s = clock_now_s();
    struct link_faults faults;
    int status = link_write(load_core(assemble_bits(build)), assemble_path(build, build->object),
                            assemble_path(build, build->executable), build->arena, &faults, err);
    spent_add_time(SPENT_LINKING, start_s);
    if (status < 0 && scratch_is_gone(build->options->directory, err))
        return -1;
    if (status > 0 && assemble_blame_links(build, &faults) == 0)
        return err_set(err, "%s/%s: cannot be linked: %s", build->options->directory, build->source,
                       faults.items[0].detail);
    return status < 0 ? -1 : status == 0;
}

static int assemble_load(const struct assembly *build, struct err *err)
{
    if (assemble_kernels_left(build) == 0)
        return 0;
    double start_s = clock_now_s();
    build->program->path = assemble_path(build, build->executable);
    int status = load_write(load_core(assemble_bits(build)), build->kernels, build->nkernels,
                            build->program->path, err);
    spent_add_time(SPENT_LINKING, start_s);
    if (status != 0)
        scratch_is_gone(build->options->directory, err);
    return status;
}

static int assemble_rounds(const struct assembly *build, struct err *err)
{
    for (int round = 0; round < BUILD_ROUNDS_MAX; round++) {
        if (assemble_run_nasm(build, err) != 0)
            return -1;
        if (assemble_kernels_left(build) == 0)
            return 0;
        if (assemble_object_check(assemble_path(build, build->object), err) != 0)
            return -1;
        int linked = assemble_link(build, err);
        if (linked < 0)
            return -1;
        if (linked) {
            build->program->path = assemble_path(build, build->executable);
            return 0;
        }
    }
    return err_set(err, "%s/%s: new faults after %d rounds of leaving out rows that do not link",
                   build->options->directory, build->source, BUILD_ROUNDS_MAX);
}

static struct assembly assembly_begin(struct gen_kernel *kernels, int nkernels,
                                      const struct assemble_options *options, struct arena *arena,
                                      struct program *program)
{
    return (struct assembly){.kernels = kernels,
                             .nkernels = nkernels,
                             .options = options,
                             .arena = arena,
                             .program = program,
                             .source = arena_printf(arena, "%s.asm", options->stem),
                             .object = arena_printf(arena, "%s.o", options->stem),
                             .executable = arena_strdup(arena, options->stem),
                             .code = arena_printf(arena, "%s.code", options->stem),
                             .table = arena_printf(arena, "%s.table", options->stem),
                             .expanded = arena_printf(arena, "%s.i", options->stem)};
}

static void assembly_end(const struct assembly *build)
{
    const char *const made[] = {build->source, build->object, build->code, build->table,
                                build->expanded};
    for (size_t i = 0; i < ARRAY_LEN(made) && !build->options->keep; i++)
        unlink(assemble_path(build, made[i]));
}

int assemble_program(struct gen_kernel *kernels, int nkernels,
                     const struct assemble_options *options, struct arena *arena,
                     struct program *program, struct err *err)
{
    struct assembly build = assembly_begin(kernels, nkernels, options, arena, program);
    *program = (struct program){0};
    program->failures = arena_alloc(arena, ((size_t)nkernels + 1) * sizeof *program->failures);
    int status = options->compose ? assemble_compose(&build, err) : 0;
    if (status == 0)
        status = build.loaded ? assemble_load(&build, err) : assemble_rounds(&build, err);
    assembly_end(&build);
    return status;
}

int assemble_lines(struct gen_kernel *kernels, int nkernels, const struct assemble_options *options,
                   struct arena *arena, struct err *err)
{
    struct assembly build = assembly_begin(kernels, nkernels, options, arena, NULL);
    int status = build_compose(&build, err);
    assembly_end(&build);
    return status;
}

int assemble_nasm_version(char *text, size_t size, struct err *err)
{
    const char *const argv[] = {"nasm", "-v", NULL};
    const struct subproc_options options = {.tool = true};
    struct subproc_result result;
    if (subproc_run(argv, &options, &result, err) != 0)
        return -1;
    int major = 0, minor = 0;
    int status = 0;
    snprintf(text, size, "%.*s", (int)strcspn(result.out, "\n"), result.out);
    if (sscanf(text, "NASM version %d.%d", &major, &minor) != 2)
        status = err_set(err, "`nasm -v` printed \"%s\", which is no NASM version; %s", text,
                         build_remedy);
    else if (major < NASM_MAJOR_MIN || (major == NASM_MAJOR_MIN && minor < NASM_MINOR_MIN))
        status = err_set(err, "%s is too old, latput needs %d.%d or later; %s", text,
                         NASM_MAJOR_MIN, NASM_MINOR_MIN, build_remedy);
    subproc_result_free(&result);
    return status;
}
