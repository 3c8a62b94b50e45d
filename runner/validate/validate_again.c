// SPDX-License-Identifier: MIT
// Mixes measured before, from a file that validate_csv() wrote or with a run, predicted by a table.
#include "util/csvfile.h"
#include "validate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const columns[] = {"mix",       "measured_clk", "predicted_clk", "vector_bits",
                                      "ambiguous", "front_clk",    "ports_clk",     "unit_clk",
                                      "unit",      "unknown_clk",  "side_clk"};
enum { COLUMNS_OPTIONAL = 9 };
enum { COLUMN_MIX, COLUMN_MEASURED };

struct named_form {
    const char *name;
    int form; // index of the form
};

static int named_compare(const void *a, const void *b)
{
    return strcmp(((const struct named_form *)a)->name, ((const struct named_form *)b)->name);
}

static struct named_form *forms_by_name(const struct validate_forms *forms)
{
    struct named_form *named = xcalloc((size_t)forms->n + 1, sizeof *named);
    for (int i = 0; i < forms->n; i++)
        named[i] = (struct named_form){forms->forms[i].row->form, i};
    qsort(named, (size_t)forms->n, sizeof *named, named_compare);
    return named;
}

enum mix_parsed { MIX_GOOD, MIX_UNKNOWN, MIX_BAD };

// Parses one part, "2*vaddps x x x", of `length` bytes.
static enum mix_parsed part_parse(const char *text, size_t length, const struct named_form *named,
                                  int n, struct port_part *part)
{
    char *end, *copy = xcalloc(length + 1, 1);
    memcpy(copy, text, length);
    errno = 0;
    long count = strtol(copy, &end, 10);
    bool good =
        !errno && end > copy && *end == '*' && end[1] && count >= 1 && count <= PORT_MIX_BODY;
    const struct named_form key = {good ? end + 1 : "", 0};
    const struct named_form *found =
        good ? bsearch(&key, named, (size_t)n, sizeof *named, named_compare) : NULL;
    if (found)
        *part = (struct port_part){found->form, (int)count};
    free(copy);
    return found ? MIX_GOOD : good ? MIX_UNKNOWN : MIX_BAD;
}

static enum mix_parsed mix_parse(const char *text, const struct named_form *named, int n,
                                 struct port_mix *mix)
{
    *mix = (struct port_mix){.nparts = 0};
    enum mix_parsed all = MIX_GOOD;
    for (bool more = true; more;) {
        const char *end = strstr(text, "; ");
        more = end != NULL;
        size_t length = more ? (size_t)(end - text) : strlen(text);
        enum mix_parsed one = mix->nparts == PORT_MIX_PARTS_MAX
                                  ? MIX_BAD
                                  : part_parse(text, length, named, n, &mix->parts[mix->nparts++]);
        if (one == MIX_BAD)
            return MIX_BAD;
        all = one == MIX_UNKNOWN ? MIX_UNKNOWN : all;
        text = more ? end + 2 : text;
    }
    return all;
}

static int record_parse(const struct csv_file *file, const struct csv_record *record,
                        double *measured_clk, struct err *err)
{
    char *end;
    errno = 0;
    *measured_clk = strtod(record->fields[COLUMN_MEASURED], &end);
    if (errno || end == record->fields[COLUMN_MEASURED] || *end || !(*measured_clk > 0) ||
        *measured_clk > 1e9)
        return csv_record_error(file->path, record, COLUMN_MEASURED, err,
                                "measured_clk is not a number of cycles above 0");
    return 0;
}

// Predicts a mix and takes it, if it is of forms with ports.
static void mix_take(const struct validate_again *again, enum mix_parsed parsed,
                     double measured_clk, struct validate_mixes *mixes)
{
    struct validate_mix *to = &mixes->mixes[mixes->n];
    mixes->unknown += parsed == MIX_UNKNOWN;
    if (parsed != MIX_GOOD)
        return;
    to->measured_clk = measured_clk;
    to->predicted_clk = validate_predict(again->forms, again->model, &to->mix);
    mixes->n += to->predicted_clk > 0;
}

int validate_stored(const struct validation *stored, const struct validate_again *again,
                    struct arena *arena, struct validate_mixes *mixes, struct err *err)
{
    struct named_form *named = forms_by_name(again->forms);
    int status = 0;
    *mixes = (struct validate_mixes){
        .mixes = arena_alloc(arena, ((size_t)stored->nworst + 1) * sizeof *mixes->mixes)};
    for (int i = 0; i < stored->nworst && status == 0; i++) {
        const struct validation_mix *mix = &stored->worst[i];
        enum mix_parsed parsed =
            mix_parse(mix->text, named, again->forms->n, &mixes->mixes[mixes->n].mix);
        if (parsed == MIX_BAD || !(mix->measured_clk > 0))
            status = err_set(err, "'%.100s' is no mix, or has no time", mix->text);
        else
            mix_take(again, parsed, mix->measured_clk, mixes);
    }
    free(named);
    return status;
}

int validate_again(const char *path, const struct validate_again *again, struct arena *arena,
                   struct validate_mixes *mixes, struct err *err)
{
    const struct csv_spec spec = {columns, ARRAY_LEN(columns), COLUMNS_OPTIONAL};
    struct csv_file file;
    *mixes = (struct validate_mixes){.n = 0};
    if (csv_file_read(path, &spec, &file, err) != 0)
        return -1;
    struct named_form *named = forms_by_name(again->forms);
    mixes->mixes = arena_alloc(arena, (file.nrecords + 1) * sizeof *mixes->mixes);
    int status = 0;
    for (size_t i = 0; i < file.nrecords && status == 0; i++) {
        const struct csv_record *record = &file.records[i];
        double measured_clk = 0;
        enum mix_parsed parsed = mix_parse(record->fields[COLUMN_MIX], named, again->forms->n,
                                           &mixes->mixes[mixes->n].mix);
        status = record_parse(&file, record, &measured_clk, err);
        if (status == 0 && parsed == MIX_BAD)
            status = csv_record_error(file.path, record, COLUMN_MIX, err,
                                      "a mix is 1 to %d forms as \"2*add r64 r64; 1*nop\"",
                                      PORT_MIX_PARTS_MAX);
        if (status == 0)
            mix_take(again, parsed, measured_clk, mixes);
    }
    if (status == 0 && mixes->n < 2)
        status =
            err_set(err, "%s: fewer than 2 mixes are of forms that this table has ports of", path);
    free(named);
    csv_file_free(&file);
    return status;
}
