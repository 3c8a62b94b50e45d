// SPDX-License-Identifier: MIT
// Makes the content of a pack; see pack_content.h. All of it comes from the extracted database,
// whose runs have the numbers 1, 2, ...
#include "pack_content.h"

#include "pack.h"
#include "report/report.h"
#include "store/store_ports.h"
#include "store/store_read.h"
#include "store/store_run.h"
#include "util/mem.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct strbuf *pack_add(struct pack *pack, const char *name)
{
    assert(pack->nmembers < PACK_MEMBERS_MAX);
    struct pack_member *member = &pack->members[pack->nmembers++];
    member->name = xstrdup(name);
    return &member->content;
}

void pack_free(struct pack *pack)
{
    for (int i = 0; i < pack->nmembers; i++) {
        free(pack->members[i].name);
        strbuf_free(&pack->members[i].content);
    }
    free(pack);
}

struct pack_table {
    const char *name;
    enum store_view view;
    enum report_format format;
    bool always; // also without rows
};
static const struct pack_table tables[] = {
    {"instruction_table.csv",       STORE_VIEW_INSTRUCTION, REPORT_CSV,  true },
    {"instruction_table.json",      STORE_VIEW_INSTRUCTION, REPORT_JSON, true },
    {"latency_table.csv",           STORE_VIEW_LATENCY,     REPORT_CSV,  true },
    {"latency_table.json",          STORE_VIEW_LATENCY,     REPORT_JSON, true },
    {"false_dependency_table.csv",  STORE_VIEW_FALSE,       REPORT_CSV,  false},
    {"false_dependency_table.json", STORE_VIEW_FALSE,       REPORT_JSON, false},
    {"failure_table.csv",           STORE_VIEW_FAILURE,     REPORT_CSV,  true },
    {"port_table.csv",              STORE_VIEW_PORT,        REPORT_CSV,  false},
    {"port_table.json",             STORE_VIEW_PORT,        REPORT_JSON, false},
    {"bench_table.csv",             STORE_VIEW_BENCH,       REPORT_CSV,  false},
    {"bench_table.json",            STORE_VIEW_BENCH,       REPORT_JSON, false},
    {"bench_repetition_table.csv",  STORE_VIEW_REPETITION,  REPORT_CSV,  false},
};

static int pack_add_rows(struct pack *pack, struct store *store, const struct pack_table *table,
                         struct err *err)
{
    struct strbuf text = {0};
    int64_t nrows;
    const struct report_query query = {.view = table->view, .format = table->format};
    int status = report_rows(store, &query, &text, NULL, &nrows, err);
    if (status == 0 && (table->always || nrows > 0))
        *pack_add(pack, table->name) = text;
    else
        strbuf_free(&text);
    return status;
}

static bool pack_has(const struct pack *pack, const char *name)
{
    for (int i = 0; i < pack->nmembers; i++)
        if (strcmp(pack->members[i].name, name) == 0)
            return true;
    return false;
}

static int pack_add_list(struct pack *pack, struct store *store, int64_t run_id, const char *list,
                         struct err *err)
{
    char *stem = report_list_stem(list);
    char *name = xasprintf("tables/%s.txt", stem);
    int result = 0;
    if (pack_has(pack, name)) // made from a newer run already
        result = 0;
    else if (!pack_is_member(name) || pack->nmembers + PACK_MEMBERS_BESIDE >= PACK_MEMBERS_MAX)
        result = err_set(err, "%s: the list '%s' has no place in a pack", store_path(store), list);
    else
        result = report_list_text_best(store, run_id, list, pack_add(pack, name), err);
    free(name);
    free(stem);
    return result;
}

static int pack_add_lists(struct pack *pack, struct store *store, int64_t run_id, struct err *err)
{
    char *lists = store_run_lists(store, run_id, err);
    int result = lists ? 0 : -1;
    for (const char *list = lists; result == 0 && *list; list += strlen(list) + 1)
        result = pack_add_list(pack, store, run_id, list, err);
    free(lists);
    return result;
}

// Describes each run, the newest first.
static int pack_add_info(struct pack *pack, struct store *store, int nruns, struct err *err)
{
    struct strbuf *info = pack_add(pack, "info.txt");
    int result = 0;
    for (int run = nruns; run >= 1 && result == 0; run--) {
        if (nruns > 1)
            strbuf_printf(info, "%sRun %d of %d\n\n", run < nruns ? "\n\n" : "", run, nruns);
        result = report_info_text(store, run, info, err);
    }
    return result;
}

static int pack_add_picture(struct pack *pack, struct store *store, int64_t run_id, struct err *err)
{
    struct arena arena = {0};
    struct stored_port_model model;
    int64_t ports_run_id = 0;
    int result = report_ports_run(store, run_id, &ports_run_id, err);
    if (result == 1)
        result = store_get_port_model(store, ports_run_id, &model, &arena, err);
    if (result == 1)
        report_ports_svg(&model, "Execution ports", pack_add(pack, "ports.svg"));
    arena_free(&arena);
    return result < 0 ? -1 : 0;
}

static int pack_add_file(struct pack *pack, const char *name, const char *path, struct err *err)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return err_set(err, "%s: %s", path, strerror(errno));
    struct strbuf *content = pack_add(pack, name);
    char bytes[65536];
    size_t got;
    while ((got = fread(bytes, 1, sizeof bytes, file)) > 0)
        strbuf_put(content, bytes, got);
    int bad = ferror(file);
    fclose(file);
    return bad ? err_set(err, "%s: cannot be read", path) : 0;
}

static int pack_add_tables(struct pack *pack, struct store *store, int nruns, struct err *err)
{
    int result = store_listed_begin(store, nruns, err);
    for (size_t i = 0; i < ARRAY_LEN(tables) && result == 0; i++)
        result = pack_add_rows(pack, store, &tables[i], err);
    for (int run = nruns; run >= 1 && result == 0; run--)
        result = pack_add_lists(pack, store, run, err);
    return result;
}

static int pack_add_page(struct pack *pack, struct store *store, int nruns, struct err *err)
{
    struct strbuf page = {0};
    int64_t nrows = 0;
    int result = report_page(store, nruns, &page, &nrows, err);
    if (result == 0 && nrows > 0)
        *pack_add(pack, "table.html") = page;
    else
        strbuf_free(&page);
    return result;
}

static int pack_add_all(struct pack *pack, struct store *store, int nruns, struct err *err)
{
    if ((!pack->slim && pack_add_tables(pack, store, nruns, err) != 0) ||
        pack_add_info(pack, store, nruns, err) != 0 ||
        pack_add_picture(pack, store, nruns, err) != 0 ||
        (!pack->slim && pack_add_page(pack, store, nruns, err) != 0))
        return -1;
    struct strbuf readme = {0};
    int result = pack_readme(pack, store, nruns, &readme, err);
    *pack_add(pack, "README.txt") = readme;
    return result;
}

int pack_collect(struct pack *pack, const char *database, int nruns, struct err *err)
{
    struct store *store;
    if (store_open(database, STORE_READ, &store, err) != 0)
        return -1;
    int result = pack_add_all(pack, store, nruns, err);
    store_close(store);
    return result == 0 ? pack_add_file(pack, "run.db", database, err) : -1;
}
