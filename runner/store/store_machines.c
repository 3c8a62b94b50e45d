// SPDX-License-Identifier: MIT
// See store_machines.h. The views of a database that is read are temporary, so one of its own is in
// the place of run_key, from which all of them have the uarch.
#include "store_machines.h"
#include "store_internal.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// Returns the length of a word of a brand, with the blanks after it, and sets *plain if people say
// it.
static size_t brand_word(const char *at, bool *plain)
{
    static const char *const others[] = {"AMD", "Intel", "Genuine", "CPU", "Processor"};
    size_t len = strcspn(at, " ");
    bool count =
        strspn(at, "0123456789") > 0 && strncmp(at + strspn(at, "0123456789"), "-Core", 5) == 0;
    *plain = !count;
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        *plain &= strlen(others[i]) != len || strncmp(at, others[i], len) != 0;
    return len;
}

const char *store_brand_short(struct arena *arena, const char *brand)
{
    struct strbuf bare = {0}, out = {0};
    size_t len = strcspn(brand, "@"); // a clock follows
    for (size_t i = 0; i < len;)
        if (strncmp(brand + i, "(R)", 3) == 0 || strncmp(brand + i, "(TM)", 4) == 0)
            i += brand[i + 1] == 'R' ? 3 : 4;
        else
            strbuf_put(&bare, brand + i++, 1);
    for (const char *at = strbuf_text(&bare); *at;) {
        bool plain;
        size_t word = brand_word(at, &plain);
        if (word > 0 && plain) {
            strbuf_puts(&out, out.len > 0 ? " " : "");
            strbuf_put(&out, at, word);
        }
        at += word + strspn(at + word, " ");
    }
    const char *kept = arena_strdup(arena, strbuf_text(&out));
    strbuf_free(&bare);
    strbuf_free(&out);
    return kept;
}

// --- names ---

struct machine {
    int64_t cpu_id; // several rows of cpu are one machine: after an update of its microcode
    const char *uarch, *vendor, *brand, *name;
    unsigned signature;
};
struct machines {
    struct machine *all;
    int n;
    size_t room;
    struct arena arena;
};

// Appends the letters and digits of a text in lower case, with '-' for what lies between them.
static void put_word(struct strbuf *out, const char *text)
{
    bool gap = false, any = false;
    for (; *text; text++) {
        bool plain = isascii((unsigned char)*text) && isalnum((unsigned char)*text);
        if (plain && gap && any)
            strbuf_puts(out, "-");
        if (plain)
            strbuf_printf(out, "%c", tolower((unsigned char)*text));
        any |= plain;
        gap = !plain;
    }
}

static bool machine_same(const struct machine *a, const struct machine *b)
{
    return a->signature == b->signature && strcmp(a->uarch, b->uarch) == 0 &&
           strcmp(a->vendor, b->vendor) == 0 && strcmp(a->brand, b->brand) == 0;
}

static bool name_is_shared(const struct machines *machines, int at)
{
    for (int i = 0; i < machines->n; i++)
        if (strcmp(machines->all[i].name, machines->all[at].name) == 0 &&
            !machine_same(&machines->all[i], &machines->all[at]))
            return true;
    return false;
}

// Returns a machine's name with one word more; a word of an empty brand is none.
static const char *name_longer(struct machines *machines, const struct machine *machine, int step)
{
    struct strbuf word = {0};
    const char *name = machine->name;
    if (step == 0)
        put_word(&word, store_brand_short(&machines->arena, machine->brand));
    else if (step == 1)
        strbuf_printf(&word, "%08x", machine->signature);
    else
        put_word(&word, machine->vendor);
    if (word.len > 0)
        name = arena_printf(&machines->arena, "%s%c%s", name, strchr(name, '@') ? '-' : '@',
                            strbuf_text(&word));
    strbuf_free(&word);
    return name;
}

static void machines_name(struct machines *machines)
{
    bool *shared = xcalloc((size_t)machines->n + 1, sizeof *shared);
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < machines->n; i++)
            shared[i] = name_is_shared(machines, i);
        for (int i = 0; i < machines->n; i++)
            if (shared[i])
                machines->all[i].name = name_longer(machines, &machines->all[i], step);
    }
    free(shared);
}

static int machines_read(struct store *store, struct machines *machines, struct err *err)
{
    sqlite3_stmt *stmt =
        store_bind(store, err,
                   "SELECT DISTINCT run_key.cpu_id, run_key.uarch, vendor, brand, signature "
                   "FROM run_key JOIN cpu USING (cpu_id) ORDER BY 2, 1",
                   "");
    int got;
    if (!stmt)
        return -1;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct arena *arena = &machines->arena;
        machines->all =
            xgrow(machines->all, &machines->room, (size_t)machines->n + 1, sizeof *machines->all);
        struct machine *machine = &machines->all[machines->n++];
        *machine = (struct machine){.cpu_id = sqlite3_column_int64(stmt, 0),
                                    .uarch = arena_strdup(arena, store_text(stmt, 1)),
                                    .vendor = arena_strdup(arena, store_text(stmt, 2)),
                                    .brand = arena_strdup(arena, store_text(stmt, 3)),
                                    .signature = (unsigned)sqlite3_column_int64(stmt, 4)};
        machine->name = machine->uarch;
    }
    return store_rows_end(store, stmt, got, err);
}

// Puts the names in the place of uarchs. CPUs that no table knows have a key of their own for each
// signature, which stays where they have no name.
static int machines_put(struct store *store, const struct machines *machines, struct err *err)
{
    int result = store_script(store, err,
                              "CREATE TEMP TABLE run_named AS SELECT *, uarch AS divided "
                              "FROM run_key; DROP VIEW temp.run_key; "
                              "CREATE TEMP VIEW run_key AS SELECT run_id, uuid, cpu_id, uarch, "
                              "uarch_key, started_utc, finished_utc FROM run_named",
                              "keep its machines apart");
    for (int i = 0; i < machines->n && result == 0; i++) {
        const struct machine *machine = &machines->all[i];
        if (strcmp(machine->name, machine->uarch) != 0)
            result = store_execute(store, err,
                                   "UPDATE temp.run_named SET uarch = ?1, uarch_key = ?1 "
                                   "WHERE divided = ?2 AND cpu_id = ?3",
                                   "ssi", machine->name, machine->uarch, machine->cpu_id);
    }
    return result;
}

int store_machines_apart(struct store *store, struct err *err)
{
    struct machines machines = {.n = 0};
    assert(store->mode == STORE_READ);
    int result = machines_read(store, &machines, err);
    bool any = false;
    if (result == 0)
        machines_name(&machines);
    for (int i = 0; i < machines.n; i++)
        any |= strcmp(machines.all[i].name, machines.all[i].uarch) != 0;
    if (result == 0 && any && !store->divided) {
        store_temporary_begin(store);
        result = machines_put(store, &machines, err);
        store_temporary_end(store);
        store->divided = result == 0;
    }
    free(machines.all);
    arena_free(&machines.arena);
    return result;
}

char *store_machines(struct store *store, struct err *err)
{
    return store_texts(store,
                       store->divided ? store_bind(store, err,
                                                   "SELECT DISTINCT divided, uarch "
                                                   "FROM temp.run_named ORDER BY uarch",
                                                   "")
                                      : store_bind(store, err,
                                                   "SELECT DISTINCT uarch, uarch AS machine "
                                                   "FROM run_key ORDER BY uarch",
                                                   ""),
                       err);
}

char *store_machine_newest(struct store *store, const char *uarch, struct err *err)
{
    assert(store->divided);
    sqlite3_stmt *stmt =
        store_bind(store, err,
                   "SELECT named.uarch FROM temp.run_named AS named JOIN run USING (run_id) "
                   "WHERE divided = ?1 ORDER BY NOT " STORE_RUN_IS_OWN
                   ", run.finished_utc IS NULL, run.started_utc DESC, run_id DESC LIMIT 1",
                   "s", uarch);
    return store_texts(store, stmt, err);
}
