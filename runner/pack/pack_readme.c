// SPDX-License-Identifier: MIT
// README.txt of a pack: its CPU, its content, and how to read it.
#include "pack_content.h"

#include "cpuinfo/cpuinfo.h"
#include "store/store_read.h"
#include "util/mem.h"
#include "util/text.h"

#include <ctype.h>
#include <string.h>

enum { README_WIDTH = 80, README_NAME_WIDTH = 24 };

// The members in the order of their use.
// clang-format off
static const struct readme_member {
    const char *name, *what;
} readme_members[] = {
    {"table.html", "all instructions as one page for a browser: filter, sort"},
    {"tables/", "the same as text, one file per list of instructions"},
    {"info.txt", "the machine, how it was measured, what may be in doubt, the execution ports"},
    {"ports.svg", "a picture of the execution ports: which sets of them µops choose from"},
    {"instruction_table.csv", "one row per form: latency, throughput, µops, ports"},
    {"instruction_table.json", "the same as JSON"},
    {"latency_table.csv", "one row per pair of operands: the latency from one to the other"},
    {"latency_table.json", "the same as JSON"},
    {"false_dependency_table.csv", "one row per operand that is overwritten: the wait for its old "
                                   "content; 0: none"},
    {"false_dependency_table.json", "the same as JSON"},
    {"port_table.csv", "one row per form: its ports, units it waits for, how well they fit"},
    {"port_table.json", "the same as JSON"},
    {"failure_table.csv", "tests without a value, with the reasons"},
    {"bench_table.csv", "one row per piece of the owner's code"},
    {"bench_table.json", "the same as JSON"},
    {"bench_repetition_table.csv", "each repetition of these pieces"},
    {"run.db", "all of this and what it follows from, as an SQLite database"},
};
// clang-format on

static bool readme_has(const struct pack *pack, const char *name)
{
    for (int i = 0; i < pack->nmembers; i++)
        if (strncmp(pack->members[i].name, name, strlen(name)) == 0 || strcmp(name, "run.db") == 0)
            return true;
    return false;
}

static void readme_paragraph(struct strbuf *out, const char *text)
{
    strbuf_puts(out, "\n");
    text_wrap(out, text, 0, README_WIDTH);
}

static void readme_members_put(struct strbuf *out, const struct pack *pack)
{
    strbuf_puts(out, "\nWhat is in it\n\n");
    for (size_t i = 0; i < ARRAY_LEN(readme_members); i++) {
        if (!readme_has(pack, readme_members[i].name))
            continue;
        strbuf_printf(out, "  %-*s", README_NAME_WIDTH + 4, readme_members[i].name);
        text_wrap(out, readme_members[i].what, README_NAME_WIDTH + 6, README_WIDTH);
    }
    strbuf_printf(out, "  %-*s", README_NAME_WIDTH + 4, "MANIFEST");
    strbuf_puts(out, "the sha256 of each file; sha256sum -c MANIFEST\n");
}

static void readme_slim(struct strbuf *out)
{
    readme_paragraph(out, "This pack is slim: it has results only, to thousandths of a cycle. The "
                          "kernels that were timed, their samples and the timings behind the ports "
                          "were left out, and so were the tables as text. The SQLite database has "
                          "them all in its views instruction_table, latency_table, port_table, "
                          "false_dependency_table and failure_table; latput writes them as text, "
                          "CSV, JSON or as a web page.");
}

static void readme_how(struct strbuf *out)
{
    strbuf_puts(out, "\nHow to read it\n");
    readme_paragraph(out, "Numbers are cycles of the core's clock, not of the time-stamp counter. "
                          "Latency goes from an operand that is read to one that is written; for "
                          "several pairs, tables have the least and the most of them. 1/tput is "
                          "the cycles per instruction when many independent ones run; slow the "
                          "same for slow operands (division).");
    readme_paragraph(out, "≤ marks an upper bound, ~ the mean of executions that differ, * the "
                          "fastest of several steady states. 2*A+1*B means two µops on any port of "
                          "the set A and one on a port of B; a ? after it: other ports explain the "
                          "timings about as well. Tests that were unstable, or that no code can "
                          "answer, have no number but an outcome; failure_table.csv has the "
                          "reasons.");
    readme_paragraph(out,
                     "A form is known by (form, enc, bits): mnemonic with operands as latput's "
                     "lists write them, encoding, mode. (mnemonic, operands, enc) is shared "
                     "by forms that differ in their options or in the mode.");
    strbuf_puts(out, "\nWith latput:\n\n"
                     "  latput merge FILE --db some.db       into a database of yours\n"
                     "  latput query --db some.db 'add *'    ask it\n");
}

// Writes a sentence of facts from the run's row.
static void readme_machine(struct strbuf *out, struct store_rows *run, int nruns)
{
    struct strbuf text = {0};
    const char *started = store_text_of(run, "started_utc");
    const char *hypervisor = store_text_of(run, "hypervisor");
    strbuf_printf(&text,
                  "Latency, reciprocal throughput, µops and execution ports of x86 "
                  "instructions, as latput %s measured them on %.10s on a machine that "
                  "calls itself %s.",
                  store_text_of(run, "version"), started, store_text_of(run, "brand"));
    strbuf_printf(&text, " Its microarchitecture is filed as %s (%s)", store_text_of(run, "uarch"),
                  store_text_of(run, "uarch_name"));
    if (strchr(store_text_of(run, "uarch"), '?'))
        strbuf_puts(&text, ": the ? says that measurements contradict what its CPUID claims, and "
                           "fit this one");
    const char *label = store_rows_text(run, store_rows_column(run, "label"));
    if (*label)
        strbuf_printf(&text, "; @%s is the name that its owner gave the machine", label);
    strbuf_printf(&text, ". It ran %s%s",
                  *hypervisor ? "as a virtual machine under " : "without a hypervisor", hypervisor);
    const char *kernel = store_text_of(run, "os_kernel");
    strbuf_printf(&text, ", %s%s.", isdigit((unsigned char)*kernel) ? "Linux " : "", kernel);
    if (strcmp(store_text_of(run, "backend"), "text") == 0)
        strbuf_puts(&text, " Nothing was measured: it is a simulation, a core made of text.");
    else if (strncmp(store_text_of(run, "brand"), CPU_SIMULATED, strlen(CPU_SIMULATED)) == 0)
        strbuf_puts(&text, " Files stood for parts of the machine: these are no results of a CPU.");
    if (nruns > 1)
        strbuf_printf(&text, " The tables have the best answers of %d runs.", nruns);
    text_wrap(out, strbuf_text(&text), 0, README_WIDTH);
    strbuf_free(&text);
}

int pack_readme(const struct pack *pack, struct store *store, int nruns, struct strbuf *out,
                struct err *err)
{
    const struct store_filter filter = {.run_id = nruns};
    struct store_rows *run = store_rows_open(store, STORE_VIEW_RUN, &filter, err);
    int got = run ? store_rows_next(run, err) : -1;
    if (got > 0) {
        readme_machine(out, run, nruns);
        if (pack->slim)
            readme_slim(out);
        readme_members_put(out, pack);
        readme_how(out);
    }
    store_rows_close(run);
    return got < 0 ? -1 : 0;
}
