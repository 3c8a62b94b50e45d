// SPDX-License-Identifier: MIT
// The events that performance counters can count: the tables cpuinfo/counters/<uarch>.csv, one a
// CPU family, and events given as a raw code. What is written to a counter's control register is
// counter_event_code(); which counters may hold it is in the event. Nothing here touches hardware.
#pragma once

#include "cpuinfo.h"
#include "table_read.h"
#include "util/csvfile.h"

// Highest numbers of a core's counters in tables, plus one.
enum { COUNTERS_FIXED_MAX = 16, COUNTERS_GENERAL_MAX = 32 };

// Ways to program a family's counters: the fields of an event, and their bits.
enum counter_scheme {
    SCHEME_P5,       // Pentium: CESR (MSR 0x11), two counters in one register
    SCHEME_P6,       // PERFEVTSEL at 0x186, no global control; enable bit of counter 0 for both
    SCHEME_NETBURST, // Pentium 4: ESCR and CCCR registers
    SCHEME_ARCH,     // Intel's architectural performance monitoring; its version is in CPUID 0AH
    SCHEME_K7,       // AMD family 6 to 0x14 and 0x16: four counters at 0xc0010000
    SCHEME_AMD15H,   // AMD family 0x15, 0x17 and later: six counters at 0xc0010200
    SCHEME_AMD_V2,   // the same with global control: PerfMonV2, CPUID 0x80000022
    SCHEME_VIA,      // VIA Nano: PERFEVTSEL at 0x186, undocumented events
    SCHEME_COUNT
};

enum counter_kind {
    COUNTER_GENERAL, // a general counter, perhaps also a fixed one
    COUNTER_FIXED,   // a fixed counter only; event and umask are Intel's pseudo encoding
    COUNTER_MSR      // free-running MSR; `event` is its number
};

static const uint32_t COUNTERS_ANY = 0xffffffff; // no restriction

enum { COUNTER_LABEL_BYTES = 256 };

// One event. Strings live as long as the table that it came from.
struct counter_event {
    char label[COUNTER_LABEL_BYTES]; // as the user wrote it, or the id: heading of a column
    const char *id;                  // same for the same thing on every CPU; "" for a raw code
    const char *name;                // published by the vendor; "" for a raw code
    const char *pfm;                 // libpfm4's name; "" if it does not have this encoding
    const char *source, *note;
    enum counter_scheme scheme;
    enum counter_kind kind;
    uint32_t event;    // event select (AMD: 12 bits); COUNTER_MSR: number of the MSR
    uint32_t umask;    // unit mask; 8 bits, Lion Cove and later 16
    unsigned cmask;    // count cycles with at least this many events; 0: count events
    bool inv;          // with cmask: cycles with fewer than that
    bool edge;         // count rising edges of the condition
    bool any;          // Intel: of either thread of the core
    bool pair;         // AMD: can increment by more than 15 a cycle and then needs the next counter
                       // too, with event 0xfff (perf does that by itself)
    bool user, kernel; // asked for by :u and :k; neither: the caller's default
    unsigned select;   // NetBurst: CCCR select
    uint32_t extra_msr;   // MSR that must hold extra_value (perf: config1), or the event counts
    uint64_t extra_value; // something else; 0: none
    uint32_t counters;    // mask of the general counters that can count it; COUNTERS_ANY; 0: none
    int fixed_index;      // fixed counter that counts the same (RDPMC 0x40000000 + n); -1: none
};

struct counter_table {
    const char *uarch;            // from `# applies:`
    const char *version;          // from `# version:`
    const char *source;           // from `# source:`
    const char *applies;          // the rest of `# applies:`: which CPUs, for people
    const char *pfm_model;        // from `# libpfm4:`; "" without it
    enum counter_scheme scheme;   // from `# scheme:`
    int general_counters;         // from cpus.csv or, by counters_load_cpu(), from CPUID;
    int fixed_counters;           // the same. Both 0: not known
    struct counter_event *events; // in the order of the file
    int nevents;
    struct csv_file file; // owns the strings and events
};

// Reads the table of a uarch ("zen5"). Returns 0, or -1 with a message, also where there is none;
// the caller frees with counters_free().
int counters_load(const char *uarch, struct counter_table *table, struct err *err);
// Loads the table for a CPU as it is here: with the numbers of counters that CPUID announces, if it
// does, in place of the numbers in cpus.csv; for an unknown CPU with the architectural events that
// CPUID announces, perhaps none: then raw codes can still be given. Programs that count use this
// one.
int counters_load_cpu(const struct cpu_info *cpu, struct counter_table *table, struct err *err);
// Returns true if one of the table's counters can count the event, or if their number is not known.
// Hypervisors may hide some.
bool counter_fits(const struct counter_table *table, const struct counter_event *event);
// Reads a table from a file. `report`, if not NULL, is called for each fault, and reading goes on
// with the next line; the result is -1 all the same.
int counters_read(const char *path, table_report *report, void *data, struct counter_table *table,
                  struct err *err);
void counters_free(struct counter_table *table);

// Finds an event by id, by published name or by libpfm4's; letter case, and `.` or `:` between the
// parts of a name, make no difference. NULL: there is none. The event belongs to the table.
const struct counter_event *counter_find(const struct counter_table *table, const char *name);

// Reads one event as a user writes it: a name as above, or a raw code as perf writes it (`r1b1`) or
// by fields (`event=0xb1,umask=0x02,cmask=1,inv,edge,any`); then modifiers as libpfm4 has them:
// `:u` user mode, `:k` kernel mode, `:c=N` threshold, `:i` inverted, `:e` edges, `:t` either
// thread. A threshold takes the event off its fixed counter. A name that the table does not have is
// looked up in libpfm4, if that is installed. Returns 0 or -1 with a message.
int counter_parse(const struct counter_table *table, const char *text, struct counter_event *event,
                  struct err *err);

// Parses a list of events, separated by commas; fields of `event=` may follow one another by
// commas, too, and `@name` stands for the events of a named set of the family (counter_names.h).
// *events is allocated and freed by the caller with free(). Returns their number, or -1 (then
// *events is NULL).
int counter_parse_list(const struct counter_table *table, const char *text,
                       struct counter_event **events, struct err *err);

// Returns the event's bits of the control register, without privilege and enable bits: the same as
// perf's `config` for raw events. P5: event and CC field as in the lower half of CESR; CC selects
// the mode, here user mode. NetBurst: ESCR in the lower and CCCR in the upper 32 bits. COUNTER_MSR:
// 0.
uint64_t counter_event_code(const struct counter_event *event);
// Writes the event as text that counter_parse() takes: "event=0xb1,umask=0x02,cmask=1,inv". Returns
// `text`.
const char *counter_event_text(const struct counter_event *event, char *text, size_t size);

const char *counter_scheme_name(enum counter_scheme scheme); // "arch"
