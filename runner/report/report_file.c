// SPDX-License-Identifier: MIT
// Writes the text files of a run; see report.h. No incomplete file ever has its final name.
#include "report.h"

#include "sheet/sheet.h"

#include "store/store_ports.h"
#include "store/store_property.h"
#include "store/store_run.h"
#include "util/file_write.h"
#include "util/mem.h"
#include "util/scratch.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

char *report_list_stem(const char *list)
{
    static const char *const taken[] = {"info", "properties"};
    struct strbuf stem = {0};
    for (const char *at = list; *at; at++)
        strbuf_printf(&stem, isalnum((unsigned char)*at) || strchr("_-", *at) ? "%c" : "+%02X",
                      (unsigned char)*at);
    for (size_t i = 0; i < ARRAY_LEN(taken); i++)
        if (strcmp(list, taken[i]) == 0)
            strbuf_puts(&stem, "+");
    char *text = xstrdup(strbuf_text(&stem));
    strbuf_free(&stem);
    return text;
}

static int report_write_list(struct store *store, int64_t run_id, const char *directory,
                             const char *list, bool best, struct err *err)
{
    struct strbuf text = {0};
    char *stem = report_list_stem(list);
    char *path = xasprintf("%s/%s.txt", directory, stem);
    int result = best ? report_list_text_best(store, run_id, list, &text, err)
                      : report_list_text(store, run_id, list, &text, err);
    if (result == 0)
        result = file_write(path, strbuf_text(&text), text.len, err);
    strbuf_free(&text);
    free(path);
    free(stem);
    return result;
}

// Writes the diagram of the ports, if the run has one.
static int report_write_diagram(struct store *store, int64_t run_id, const char *directory,
                                struct err *err)
{
    struct arena arena = {0};
    struct stored_port_model model;
    struct strbuf svg = {0};
    int result = store_get_port_model(store, run_id, &model, &arena, err);
    if (result == 1) {
        char *path = xasprintf("%s/ports.svg", directory);
        report_ports_svg(&model, "Execution ports", &svg);
        result = file_write(path, strbuf_text(&svg), svg.len, err);
        strbuf_free(&svg);
        free(path);
    }
    arena_free(&arena);
    return result;
}

// Writes info.txt, with the ports of ports_run_id if the run has none of its own.
static int report_write_info(struct store *store, int64_t run_id, int64_t ports_run_id,
                             const char *directory, struct err *err)
{
    struct strbuf info = {0};
    char *path = xasprintf("%s/info.txt", directory);
    int result = report_info_text(store, run_id, &info, err);
    if (result == 0 && ports_run_id && ports_run_id != run_id) {
        strbuf_printf(&info,
                      "\n"
                      "This run did not look for ports. The newest run that did is run %" PRId64
                      " of the database:\n",
                      ports_run_id);
        result = report_run_ports(store, ports_run_id, &info, err);
    }
    if (result == 0)
        result = file_write(path, strbuf_text(&info), info.len, err);
    strbuf_free(&info);
    free(path);
    return result;
}

// Writes properties.txt: of this run or, with the best of all runs, of the newest on its CPU that
// has properties; nothing if there is none.
static int report_write_properties(struct store *store, int64_t run_id, const char *directory,
                                   bool best, struct err *err)
{
    struct arena arena = {0};
    struct sheet_cpu cpu;
    int found = sheet_cpu_load(store, run_id, &cpu, &arena, err) == 0 ? cpu.nproperties > 0 : -1;
    if (found >= 0 && best)
        found = store_newest_properties(store, cpu.whose.uarch, NULL, &run_id, err);
    if (found > 0 && run_id != cpu.whose.run_id)
        found = sheet_cpu_load(store, run_id, &cpu, &arena, err) == 0 ? 1 : -1;
    if (found > 0)
        found = sheet_write(&cpu, directory, err);
    arena_free(&arena);
    return found;
}

static int report_write_all(struct store *store, int64_t run_id, const char *directory, bool best,
                            struct err *err)
{
    if (scratch_keep_directory(directory, err) != 0)
        return -1;
    char *lists = best ? store_listed(store, run_id, err) : store_run_lists(store, run_id, err);
    if (!lists)
        return -1;
    int64_t ports_run_id = 0;
    int result = best ? report_ports_run(store, run_id, &ports_run_id, err) : 0;
    if (result >= 0)
        result = report_write_info(store, run_id, result ? ports_run_id : 0, directory, err);
    if (result == 0)
        result = report_write_diagram(store, run_id, directory, err);
    if (result == 0)
        result = report_write_properties(store, run_id, directory, best, err);
    if (result == 0 && best)
        result = store_listed_begin(store, run_id, err);
    for (const char *list = lists; *list && result == 0; list += strlen(list) + 1)
        result = report_write_list(store, run_id, directory, list, best, err);
    free(lists);
    return result;
}

int report_write(struct store *store, int64_t run_id, const char *directory, struct err *err)
{
    return report_write_all(store, run_id, directory, false, err);
}

int report_write_best(struct store *store, int64_t run_id, const char *directory, struct err *err)
{
    return report_write_all(store, run_id, directory, true, err);
}
