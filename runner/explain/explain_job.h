// SPDX-License-Identifier: MIT
// Blocks of code that a user wants explained, from their text or file to explanation and
// measurement. One table of results serves all of them.
#pragma once

#include "bench/bench.h"
#include "bench/bench_bytes.h"
#include "bench/bench_code.h"
#include "explain_image.h"
#include "explain_print.h"
#include "explain_rounds.h"
#include "util/text_table.h"

enum { EXPLAIN_LOOPS_ALL = -1 };
struct explain_request {
    struct bench_spec spec;
    const char *blocks;        // file with one block per line; NULL: the code or file of `spec`
    const char *to;            // with them: file for the rows, as CSV; NULL: standard output
    const char *db;            // NULL: the default one
    int loop;                  // number of the loop, from 1; 0: not given; EXPLAIN_LOOPS_ALL
    const char *path;          // branches of a function that are taken, as code_path_parse(); NULL
    bool listing;              // of the whole function, with all its loops
    bool predict;              // measure nothing
    bool measure;              // measure missing forms first
    enum report_format format; // table or JSON
};

struct explain_job {
    const char *body, *init;
    const char *hex;  // instead of the body: machine code in hexadecimal digits
    const char *name; // of the function that it is a loop of; NULL
    // Machine code from outside: explain_job_prepare() has bench_bytes.h make `body` and `init` of
    // it, with so many copies; `looped`, `linked`: as there.
    int copies; // 0: it is none, or not prepared
    bool looped, linked;
    bool foreign;               // code of a program, which may invent addresses
    struct bench_bytes bytes;   // of code from outside
    double weight;              // of a line of machine code; else 1
    const char *source;         // of a line: as much of it as is told; NULL
    int line;                   // line in the file of blocks, or number of the loop; 0: neither
    const char *title;          // with --file: the place of the block; else NULL
    bool function;              // the block is a loop of a function
    struct code_loop loop;      // that, or one of an executable or library
    int instances;              // with --file: divisor of a measurement for one run of the block
    struct explain_place place; // with --file
    const uint8_t *code;
    size_t len;
    int bits;
    const char *refused; // reason if it cannot be explained; NULL
    struct block block;  // without its instructions, which are read again
};
struct explain_work {
    const struct explain_request *request;
    struct code_path path; // that of the request
    struct explain_job *jobs;
    int njobs;
    bool many;         // a row each
    bool listed;       // jobs are loops of a file, of which none was chosen
    struct block seen; // instructions of all jobs, without those that need the same rows of the
                       // tables
    size_t seen_room;
    struct store *store;
    const char *uarch;
    int64_t run_id;       // 0: the best runs
    const char *settings; // of rows: explain_settings(); NULL: not made
    struct explain_table table;
    char *directory; // for files made on the way
    struct arena arena;
};

struct explain_result {
    struct explanation explanation;
    struct explain_measured measured;
    bool has_measured;
    struct explain_source source;
};

// Makes a job of a loop of a function at an address; `name` NULL: it has none.
void explain_job_loop(struct explain_work *work, const struct image_loop *loop, int bits,
                      int number, struct explain_job *job);
// Keeps that the table must have the block's instructions.
void explain_work_see(struct explain_work *work, const struct block *block);
// Makes the call of a file's function, with its place, and finds its loops on the request's path.
int explain_job_call(struct explain_work *work, const struct bench_code *code,
                     struct explain_place *place, struct code_loops *loops, struct err *err);
// Lists the blocks. Returns 0, or -1 with a message about the user's file.
int explain_jobs_read(struct explain_work *work, struct err *err);
// Reads the path of the request. Returns it, NULL if there is none; *wrong: it is none, *err says
// why.
struct code_path *explain_work_path(struct explain_work *work, bool *wrong, struct err *err);
// Assembles and decodes them; what is wrong with one is in job->refused.
int explain_jobs_assemble(struct explain_work *work, struct err *err);
// Loads the table for all blocks from work->store, after measuring missing forms where that was
// requested.
int explain_work_load(struct explain_work *work, struct err *err);
// Makes the text of a block from outside; what is wrong with it is in job->refused. The arena owns
// the text: a file may have any number of blocks.
int explain_job_prepare(struct explain_work *work, struct explain_job *job, struct arena *arena,
                        struct err *err);
// Predicts a block; the arena owns the explanation.
int explain_job_predict(const struct explain_work *work, const struct explain_job *job,
                        struct explain_result *result, struct arena *arena, struct err *err);
// Returns what bench is asked for the block.
struct bench_spec explain_job_spec(const struct explain_work *work, const struct explain_job *job);
// Fills the places that are to be counted to know the rounds of a function's loop: up to `most`.
// Returns their number; 0: it cannot be counted.
int explain_job_places(const struct explain_job *job, const struct block *block,
                       struct explain_count *counts, int most);
// Explains a block that is prepared; the arena owns the result.
int explain_job_explain(const struct explain_work *work, const struct explain_job *job,
                        struct explain_result *result, struct arena *arena, struct err *err);
void explain_work_free(struct explain_work *work); // all but the store
