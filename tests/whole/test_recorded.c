// SPDX-License-Identifier: MIT
// Recordings of CPUs by `latput record` in tests/fixtures/recorded/: on each, the inference, the
// predictions and the choice of the canary's floor must do as well as when it was recorded, on
// whatever machine this is. LATPUT_RECORDED names a directory with further recordings. Mixes of a
// Redwood Cove in it are predicted by the table of another core with the same ports, a published
// Sapphire Rapids.
#include "fixtures/lists_fixture.h"
#include "fixtures/pack_fixture.h"

#include "measure/floor.h"
#include "ports/ports_fit.h"
#include "ports/ports_forms.h"
#include "ports/ports_internal.h"
#include "report/report.h"
#include "store/store_ports.h"
#include "util/csvfile.h"
#include "validate/validate.h"

#include <glob.h>
#include <math.h>

enum { TRIALS_MAX = 400, FEW_UOPS = 3 };
static const double SAME_USES = 0.95;  // of the forms with certain ports, from the trials alone
static const double AMBIGUOUS = 0.05;  // of those of few µops, if more than when it was recorded
static const double KNOWN_MIXES = 0.9; // lists may lose a form
static const double ERROR_MORE = 0.01, WITHIN_LESS = 0.01; // than when it was recorded
static const double FLOOR_APART = 0.02;                    // less than the gate allows

struct named_form {
    const char *name;
    int form;
};

struct recording {
    const char *directory;
    struct fixture fixture;
    struct store *store;
    struct arena arena;
    struct stored_port_model model;
    struct stored_port_usages usages;
    struct validate_forms forms;
    struct named_form *names; // of these, by name
};

static int named_compare(const void *a, const void *b)
{
    return strcmp(((const struct named_form *)a)->name, ((const struct named_form *)b)->name);
}

// The run in a pack; what else was recorded is in the directory.
static void recording_open(struct recording *recording, const char *directory, const char *pack)
{
    struct err err = {0};
    int64_t run_id;
    *recording = (struct recording){.directory = directory};
    recording->store = fixture_merged(&recording->fixture, pack, &run_id);
    struct arena *arena = &recording->arena;
    if (store_get_port_model(recording->store, run_id, &recording->model, arena, &err) != 1 ||
        store_get_port_usages(recording->store, run_id, &recording->usages, arena, &err) != 0)
        fail_msg("%s: %s", pack, err.text);
    recording->forms = validate_choose(&recording->model.model, lists_all.rows, lists_all.nrows,
                                       &recording->usages, arena);
    struct validate_forms *forms = &recording->forms;
    recording->names = arena_alloc(arena, ((size_t)forms->n + 1) * sizeof *recording->names);
    for (int i = 0; i < forms->n; i++)
        recording->names[i] = (struct named_form){forms->forms[i].row->form, i};
    qsort(recording->names, (size_t)forms->n, sizeof *recording->names, named_compare);
}

static void recording_close(struct recording *recording)
{
    arena_free(&recording->arena);
    fixture_end(&recording->fixture, recording->store);
}

static void recording_read(const struct recording *recording, const char *name,
                           const struct csv_spec *spec, struct csv_file *file)
{
    struct err err = {0};
    char *path = arena_alloc(&((struct recording *)recording)->arena, 512);
    snprintf(path, 512, "%s/%s", recording->directory, name);
    if (csv_file_read(path, spec, file, &err) != 0)
        fail_msg("%s", err.text);
}

static int form_named(const struct recording *recording, const char *name, size_t len)
{
    char text[512];
    snprintf(text, sizeof text, "%.*s", (int)len, name);
    const struct named_form key = {text, 0};
    const struct named_form *found =
        bsearch(&key, recording->names, (size_t)recording->forms.n, sizeof key, named_compare);
    return found ? found->form : -1;
}

// "2*add r64 r64; 1*nop". false: a form is not known.
static bool mix_read(const struct recording *recording, const char *text, struct port_mix *mix)
{
    *mix = (struct port_mix){.nparts = 0};
    while (*text) {
        char *name;
        int count = (int)strtol(text, &name, 10);
        assert_true(*name == '*' && count > 0 && mix->nparts < PORT_MIX_PARTS_MAX);
        size_t len = strcspn(++name, ";");
        int form = form_named(recording, name, len);
        if (form < 0)
            return false;
        mix->parts[mix->nparts++] = (struct port_part){form, count};
        text = name + len;
        text += strspn(text, "; ");
    }
    return mix->nparts > 0;
}

// Returns the predicted time of a mix without some concepts, a bit each.
static double mix_clk(struct recording *recording, const struct port_mix *mix, unsigned without)
{
    const struct port_usage *usages[PORT_MIX_PARTS_MAX];
    int counts[PORT_MIX_PARTS_MAX];
    for (int i = 0; i < mix->nparts; i++) {
        usages[i] = &recording->forms.forms[mix->parts[i].form].usage;
        counts[i] = mix->parts[i].count;
    }
    recording->model.model.without = without;
    return port_predict(&recording->model.model, usages, counts, mix->nparts);
}

struct figures {
    int n, within;
    double error;
};

static void figures_add(struct figures *figures, double measured, double predicted)
{
    double error = fabs(predicted - measured) / measured;
    figures->n++;
    figures->error += error;
    figures->within += error <= 0.1;
}

// Adds a measured mix as it is predicted without each concept.
static void without_add(struct figures without[PORT_CONCEPTS], struct recording *recording,
                        const struct port_mix *mix, double measured)
{
    for (int i = 0; i < PORT_CONCEPTS; i++)
        figures_add(&without[i], measured, mix_clk(recording, mix, 1u << i));
}

static void without_print(const struct figures without[PORT_CONCEPTS])
{
    for (int i = 0; i < PORT_CONCEPTS; i++)
        print_message("  without %s: error %.2f %%, within 10 %%: %.1f\n",
                      port_concept_name((enum port_concept)i),
                      100 * without[i].error / without[i].n,
                      100.0 * without[i].within / without[i].n);
}

static void judge_mixes(struct recording *recording, const char *name)
{
    static const char *const columns[] = {
        "mix",       "measured_clk", "predicted_clk", "vector_bits", "ambiguous", "front_clk",
        "ports_clk", "unit_clk",     "unit",          "unknown_clk", "side_clk"};
    const struct csv_spec spec = {columns, ARRAY_LEN(columns), 6}; // recordings of older versions
                                                                   // have no bounds
    struct figures then = {0}, now = {0}, without[PORT_CONCEPTS] = {0};
    struct csv_file file;
    recording_read(recording, name, &spec, &file);
    for (size_t i = 0; i < file.nrecords; i++) {
        const char *const *fields = file.records[i].fields;
        struct port_mix mix;
        if (!mix_read(recording, fields[0], &mix))
            continue;
        figures_add(&then, atof(fields[1]), atof(fields[2]));
        figures_add(&now, atof(fields[1]), mix_clk(recording, &mix, 0));
        without_add(without, recording, &mix, atof(fields[1]));
    }
    print_message("%s/%s: %d of %zu mixes, error %.2f %% (then %.2f), within 10 %%: %.1f (%.1f)\n",
                  recording->directory, name, now.n, file.nrecords, 100 * now.error / now.n,
                  100 * then.error / then.n, 100.0 * now.within / now.n,
                  100.0 * then.within / then.n);
    without_print(without);
    assert_true(now.n > KNOWN_MIXES * (double)file.nrecords);
    assert_true(now.error <= then.error + ERROR_MORE * now.n);
    assert_true(now.within >= then.within - WITHIN_LESS * now.n);
    csv_file_free(&file);
}

static void judge_floor(const struct recording *recording)
{
    static const char *const counts[] = {"window", "canary", "bin", "samples"};
    static const char *const floors[] = {"canary", "clk_per_instr", "issue_width"};
    const struct csv_spec counts_spec = {counts, ARRAY_LEN(counts), 0};
    const struct csv_spec floors_spec = {floors, ARRAY_LEN(floors), 0};
    struct csv_file file;
    struct exec_floor *windows = calloc(FLOOR_WINDOWS, sizeof *windows);
    assert_non_null(windows);
    recording_read(recording, "canary.csv", &counts_spec, &file);
    for (size_t i = 0; i < file.nrecords; i++) {
        const char *const *fields = file.records[i].fields;
        int window = atoi(fields[0]), canary = atoi(fields[1]), bin = atoi(fields[2]);
        assert_in_range(window, 0, FLOOR_WINDOWS - 1);
        assert_in_range(canary, 0, CORE_CANARIES - 1);
        assert_in_range(bin, 0, CORE_FLOOR_BINS - 1);
        windows[window].counts[canary][bin] = (uint32_t)atoi(fields[3]);
    }
    csv_file_free(&file);
    recording_read(recording, "floor.csv", &floors_spec, &file);
    assert_int_equal(file.nrecords, 1);
    double clk = atof(file.records[0].fields[1]);
    int width = atoi(file.records[0].fields[2]);
    csv_file_free(&file);
    const struct floor_witness witness = {.claimed = width, .allowed = UINT64_C(1) << width};
    struct canary_floor floor;
    struct err seen = {0};
    enum floor_trust trust = floor_choose(windows, &witness, &floor, &seen);
    print_message("%s: %s\n", recording->directory, seen.text);
    if (trust != FLOOR_GUESS) { // a disturbed core may hide it; a wrong floor is worse
        assert_int_equal(floor.issue_width, width);
        assert_true(fabs(floor.clk_per_instr / clk - 1) < FLOOR_APART);
    }
    free(windows);
}

// The trials of a form beside the classes of a map.
static int trials_read(const struct recording *recording, const struct stored_form *form,
                       const char *const *names, int nnames, struct port_trials *trials)
{
    struct port_trial *array = trials->trials;
    sqlite3_stmt *stmt;
    assert_int_equal(
        sqlite3_prepare_v2(recording->store->db,
                           "SELECT blocker, instances, blockers, clk FROM port_trial "
                           "JOIN run_form USING (run_form_id) JOIN form USING (form_id) "
                           "WHERE form.form = ?1 AND form.enc = ?2 AND form.bits = ?3 "
                           "ORDER BY port_trial.position",
                           -1, &stmt, NULL),
        SQLITE_OK);
    sqlite3_bind_text(stmt, 1, form->form, -1, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 2, form->enc, -1, SQLITE_STATIC);
    sqlite3_bind_int(stmt, 3, form->bits);
    while (sqlite3_step(stmt) == SQLITE_ROW && trials->n < TRIALS_MAX) {
        int class = 0;
        while (class < nnames &&
               strcmp(names[class], (const char *)sqlite3_column_text(stmt, 0)) != 0)
            class ++;
        double clk = sqlite3_column_type(stmt, 3) == SQLITE_NULL ? (double)NAN
                                                                 : sqlite3_column_double(stmt, 3);
        int instances = sqlite3_column_int(stmt, 1);
        if (!isnan(clk) && instances > 0)
            trials->shared_clk = fmin(trials->shared_clk, clk / instances);
        if (class < nnames)
            array[trials->n++] = (struct port_trial){class, instances, sqlite3_column_int(stmt, 2),
                                                     clk, (double)NAN};
    }
    sqlite3_finalize(stmt);
    return trials->n;
}

// Judges the fit of the stored trials.
static void judge_inference(const struct recording *recording)
{
    struct arena arena = {0};
    struct err err = {0};
    struct stored_throughputs throughputs;
    int certain = 0, same = 0, few = 0, ambiguous = 0, were = 0;
    struct port_model maps[2];
    const char *names[2][PORT_CLASSES_MAX];
    struct port_trial array[TRIALS_MAX];
    assert_int_equal(store_get_throughputs(recording->store, 1, &throughputs, &arena, &err), 0);
    ports_model_map(&recording->model.model, PORTS_NARROW, false, &maps[0], names[0]);
    ports_model_map(&recording->model.model, PORTS_WIDE, false, &maps[1], names[1]);
    for (int i = 0; i < recording->usages.n; i++) {
        const struct stored_port_usage *stored = &recording->usages.usages[i];
        const struct selected_row *row = NULL;
        for (int r = 0; r < lists_all.nrows && !row; r++)
            if (lists_all.rows[r].row->bits == 64 && stored->form.bits == 64 &&
                strcmp(lists_all.rows[r].row->form, stored->form.form) == 0)
                row = &lists_all.rows[r];
        double clk = stored_throughput_clk(&throughputs, &stored->form);
        struct port_trials trials = {.alone_clk = clk,
                                     .best_clk = clk,
                                     .shared_clk = (double)NAN,
                                     .slots = stored->usage.front.slots,
                                     .slots_mixed = (double)NAN,
                                     .counted_uops = (double)NAN,
                                     .counted_total = (double)NAN,
                                     .trials = array};
        if (stored->usage.outcome != OUTCOME_OK || !row || isnan(clk))
            continue;
        bool wide = ports_form_bits(row->row) >= PORT_WIDE_BITS;
        const struct port_model *map = &maps[wide];
        if (trials_read(recording, &stored->form, names[wide], map->nclasses, &trials) == 0)
            continue;
        struct port_usage usage = port_fit(map, &trials);
        few += usage.uses.uops <= FEW_UOPS;
        were += stored->usage.uses.uops <= FEW_UOPS && stored->usage.ambiguous;
        ambiguous += usage.uses.uops <= FEW_UOPS && usage.ambiguous;
        certain += !stored->usage.ambiguous;
        same += !stored->usage.ambiguous && port_uses_same(&usage.uses, &stored->usage.uses);
    }
    print_message("%s: %d of %d forms have the same ports, of those of few uops %d are ambiguous "
                  "(then %d)\n",
                  recording->directory, same, certain, ambiguous, were);
    assert_true(certain > 50);
    assert_true(same >= SAME_USES * certain);
    assert_true(ambiguous <= fmax(were, AMBIGUOUS * few));
    arena_free(&arena);
}

// Checks that the legend explains a table of ports.
static void judge_legend(struct recording *recording)
{
    struct strbuf text = {0};
    struct err err = {0};
    int nlists = atoi(fixture_ask(recording->store->db, "SELECT count(*) FROM list"));
    for (int l = 0; l < nlists; l++) {
        char *sql = xasprintf("SELECT name FROM list ORDER BY name LIMIT 1 OFFSET %d", l);
        const char *list = arena_strdup(&recording->arena, fixture_ask(recording->store->db, sql));
        assert_int_equal(report_list_text(recording->store, 1, list, &text, &err), 0);
        free(sql);
    }
    for (size_t i = 0; i < text.len; i++) // lines are wrapped
        text.data[i] = text.data[i] == '\n' ? ' ' : text.data[i];
    const char *legend = strstr(strbuf_text(&text), " p1/p5 any of these ports");
    bool joined = false;
    for (int i = 0; i < recording->usages.n; i++) {
        struct strbuf ports = {0};
        port_usage_text(&recording->model.model, &recording->usages.usages[i].usage, &ports);
        joined |= recording->usages.usages[i].usage.outcome == OUTCOME_OK &&
                  strchr(strbuf_text(&ports), '/') != NULL;
        strbuf_free(&ports);
    }
    assert_int_equal(legend != NULL, joined);
    strbuf_free(&text);
}

static void judge(const char *directory)
{
    struct recording recording;
    char zip[512];
    snprintf(zip, sizeof zip, "%s/run.zip", directory);
    recording_open(&recording, directory, zip);
    judge_mixes(&recording, "pairs.csv");
    judge_mixes(&recording, "mixes.csv");
    judge_floor(&recording);
    judge_inference(&recording);
    judge_legend(&recording);
    recording_close(&recording);
}

static void test_recorded(void **state)
{
    (void)state;
    glob_t found;
    assert_int_equal(glob("tests/fixtures/recorded/*/run.zip", 0, NULL, &found), 0);
    const char *more = getenv("LATPUT_RECORDED");
    if (more && *more) {
        char *pattern = xasprintf("%s/*/run.zip", more);
        int status = glob(pattern, GLOB_APPEND, NULL, &found);
        assert_true(status == 0 || status == GLOB_NOMATCH);
        free(pattern);
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        *strrchr(found.gl_pathv[i], '/') = 0;
        judge(found.gl_pathv[i]);
    }
    globfree(&found);
}

// --- a Redwood Cove, recorded elsewhere ---

static const char SAME_PORTS[] = "results/published/"
                                 "GenuineIntel-000A0678-sapphirerapids_-2026-11-22-"
                                 "0.1.0+gd512d80.tar.xz";
static const double TSV_WITHIN = 0.9, TSV_ERROR = 0.04; // tables of two runs, of two cores
static const double WIDTHS_OFF = 0.08; // of the pairs of a 512-bit form and a narrower vector form

// Returns true if a vector of 512 bits stands beside a narrower one.
static bool mix_of_widths(const struct recording *recording, const struct port_mix *mix)
{
    bool wide = false, narrow = false;
    for (int p = 0; p < mix->nparts; p++) {
        int bits = ports_form_bits(recording->forms.forms[mix->parts[p].form].row);
        wide |= bits >= PORT_WIDE_BITS;
        narrow |= bits > 0 && bits < PORT_WIDE_BITS;
    }
    return wide && narrow;
}

// The fields of a line of `n`, between tabs. false: it has another number.
static bool tsv_split(char *line, const char **fields, int n)
{
    int at = 0;
    line[strcspn(line, "\n")] = 0;
    for (char *next = line; next && at < n; at++) {
        fields[at] = strsep(&next, "\t");
        if (at == n - 1 && next)
            return false;
    }
    return at == n;
}

// Mixes: text and cycles; or pairs: number and form, twice, and cycles; and what was predicted.
static void judge_tsv(struct recording *recording, FILE *file, bool pairs)
{
    enum { MIX = 3, PAIR = 6 };
    struct figures all = {0}, widths = {0}, without[PORT_CONCEPTS] = {0};
    char line[2048], text[2048];
    int lines = 0, columns = pairs ? PAIR : MIX;
    assert_non_null(fgets(line, sizeof line, file));
    for (; fgets(line, sizeof line, file); lines++) {
        const char *fields[PAIR];
        struct port_mix mix;
        assert_true(tsv_split(line, fields, columns));
        if (pairs)
            snprintf(text, sizeof text, "%s*%s; %s*%s", fields[0], fields[1], fields[2], fields[3]);
        if (!mix_read(recording, pairs ? text : fields[0], &mix))
            continue;
        double clk = atof(fields[columns - 2]), predicted_clk = mix_clk(recording, &mix, 0);
        if (!pairs)
            without_add(without, recording, &mix, clk);
        figures_add(&all, clk, predicted_clk);
        if (mix_of_widths(recording, &mix))
            figures_add(&widths, clk, predicted_clk);
    }
    double off = 1 - (double)widths.within / widths.n;
    print_message("%s: %d of %d %s of a Redwood Cove, error %.2f %%, within 10 %%: %.1f; of %d of "
                  "512 bits and less %.1f %% are not\n",
                  recording->directory, all.n, lines, pairs ? "pairs" : "mixes",
                  100 * all.error / all.n, 100.0 * all.within / all.n, widths.n, 100 * off);
    if (!pairs)
        without_print(without);
    assert_true(all.n > KNOWN_MIXES * lines);
    assert_true(all.within >= TSV_WITHIN * all.n);
    assert_true(all.error <= TSV_ERROR * all.n);
    assert_true(!pairs || off <= WIDTHS_OFF);
}

// Opens a table of LATPUT_RECORDED; NULL: there is none.
static FILE *recorded_table(const char *name)
{
    const char *directory = getenv("LATPUT_RECORDED");
    char *path = xasprintf("%s/%s", directory ? directory : "", name);
    FILE *file = directory ? fopen(path, "r") : NULL;
    free(path);
    return file;
}

static void test_redwood_cove(void **state)
{
    (void)state;
    struct recording recording;
    FILE *files[] = {recorded_table("redwoodcove_mixes.tsv"),
                     recorded_table("redwoodcove_pairs.tsv")};
    if (!files[0] || !files[1]) {
        for (int f = 0; f < 2; f++)
            if (files[f])
                fclose(files[f]);
        print_message("LATPUT_RECORDED names no directory with redwoodcove_*.tsv\n");
        skip();
    }
    recording_open(&recording, SAME_PORTS, SAME_PORTS);
    for (int pairs = 0; pairs < 2; pairs++) {
        judge_tsv(&recording, files[pairs], pairs);
        fclose(files[pairs]);
    }
    recording_close(&recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_recorded),
                                       cmocka_unit_test(test_redwood_cove)};
    return cmocka_run_group_tests(tests, lists_setup, lists_teardown);
}
