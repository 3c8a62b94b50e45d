// SPDX-License-Identifier: MIT
// Declarations shared by the files of site/: CPUs, texts that are written once, rows of views side
// by side, and the files of the page.
#pragma once

#include "site.h"

#include "store/store_read.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/strbuf.h"

#include <stddef.h>
#include <stdint.h>

enum { SITE_CHUNK = 128 };        // forms whose details are in one file
#define SITE_DATABASE "latput.db" // name of the copy

// --- texts by number (site_texts.c) ---

struct site_texts {
    const char **texts;
    size_t ntexts, capacity;
    uint32_t *slots; // open addressing: number of the text plus 1, 0: free
    size_t nslots;
    struct arena arena;
};
// Returns the number of a text, which is added if it is new.
int site_text(struct site_texts *texts, const char *text);
void site_texts_json(const struct site_texts *texts, struct json *json); // writes an array
void site_texts_clear(struct site_texts *texts);                         // frees all

// --- CPUs (site_cpus.c) ---

struct site_run {
    int64_t run_id;
    int cpu; // index
};
// A machine: all runs on one kind of CPU (vendor, brand, signature) of a uarch.
struct site_cpu {
    const char *key;     // uarch, as store_machines_apart() has it
    const char *machine; // its brand as people say it: "EPYC 9B45"; may be ""
    const char *file;    // beginning of its files' names
    const char *vendor;
    int64_t family, model;
    int64_t ports_run_id; // the newest run with a structure of ports; 0: none
    int forms;
};
struct site_cpus {
    struct site_cpu *cpus;
    int ncpus;
    struct site_run *runs; // newest first
    int nruns;
    size_t runs_capacity, cpus_capacity;
    struct arena arena;
};
// Reads the CPUs of these uarchs (NULL: all), with commas between them.
int site_cpus_read(struct store *store, const char *uarchs, struct site_cpus *cpus,
                   struct err *err);
int site_cpu_of_run(const struct site_cpus *cpus, int64_t run_id); // -1: none
// Writes members of an object: the CPU with its runs, their warnings and its ports.
int site_cpu_json(struct store *store, const struct site_cpus *cpus, int cpu, struct json *json,
                  struct err *err);
void site_cpus_free(struct site_cpus *cpus);

// --- rows of a view, in the order of forms (site_stream.c) ---

// The identity of a form, by which the rows of all views are ordered.
struct site_form {
    const char *mnemonic, *operands, *form, *enc;
    int64_t bits;
};
struct site_stream {
    struct store_rows *rows;
    int mnemonic, operands, form, enc, bits, run_id; // numbers of columns
    struct site_form at; // identity of the current row; its texts are valid until the next
    int64_t run;         // run of the current row
    bool more;           // there is a current row
};
int site_stream_open(struct site_stream *stream, struct store *store, enum store_view view,
                     const struct store_filter *filter, struct err *err);
int site_stream_next(struct site_stream *stream, struct err *err); // 0 or -1; *more
void site_stream_close(struct site_stream *stream);
int site_form_compare(const struct site_form *a, const struct site_form *b);
// Returns true if a value has a number of thousandths: it is finite, and no nonsense of strangers.
bool site_has_thousandths(double value);
// Writes a value in thousandths of a cycle; null if it has none.
void site_thousandths(struct json *json, double value);

// --- forms and their values (site_table.c) ---

// All forms in order, owned by the arena.
struct site_forms {
    struct site_form *forms;
    size_t nforms, capacity;
    struct arena arena;
};

// --- files (site_file.c) ---

// Files that wait in a scratch directory of `directory` until all are written: a page that cannot
// be finished leaves the one before it as it was.
struct site_files {
    const char *directory;
    struct site_counts *counts;
    char *waiting; // the scratch directory
    char **names;  // of its files, as they will be called
    size_t nnames, capacity;
};
// Makes the directories. Returns 0, or -1 with a message.
int site_files_begin(struct site_files *files, struct err *err);
// Gives the files their names, unless `result` is -1, and frees everything. Returns 0 or -1.
int site_files_end(struct site_files *files, int result, struct err *err);
// Writes a script that hands `value`, a JSON value, to the page under the name `kind`: as a text,
// since browsers read JSON several times as fast as an expression.
int site_file_script(struct site_files *files, const char *name, const char *kind,
                     const struct strbuf *value, struct err *err);
// Copies the page's own files from the data root.
int site_file_sources(struct site_files *files, struct err *err);
// Writes a database of the same runs, without samples.
int site_file_database(struct site_files *files, struct store *store, const struct site_cpus *cpus,
                       struct err *err);

// Writes data/forms.js and data/cpu_CPU.js per CPU; *forms: the forms in them.
int site_table_write(struct store *store, struct site_files *files, struct site_cpus *cpus,
                     struct site_forms *forms, struct err *err);
// Writes data/cpu_CPU.NNN.js: the details of SITE_CHUNK forms each (site_detail.c).
int site_detail_write(struct store *store, struct site_files *files, const struct site_cpus *cpus,
                      const struct site_forms *forms, bool samples, struct err *err);

// Writes machine code in hexadecimal as elements of a JSON array, numbers of `texts`: one "CODE
// ASSEMBLY" per instruction (site_asm.c).
void site_asm_json(const char *hex, int bits, struct site_texts *texts, struct json *json);

// Writes data/code.js: per form, the heading of its rows in the lists and an instance of it, as
// site_asm_json() does. Without NASM or the lists these are empty, and *err says why
// (site_code.c). Appends to `sections` an object for searches: of each heading its forms, as
// numbers of a first one and of how many.
int site_code_write(struct site_files *files, const struct site_forms *forms,
                    struct strbuf *sections, struct err *err);

// Writes data/columns.js: the records of the table's columns, and the tolerance of differences
// (site_columns.c).
int site_columns_write(struct site_files *files, struct err *err);

// Writes an object: properties of the pipeline with their curves, and the fact sheets of CPUs
// (site_property.c).
int site_property_json(struct store *store, const struct site_cpus *cpus, struct json *json,
                       int *nproperties, struct err *err);
