// SPDX-License-Identifier: MIT
// Properties: rows of their lists, sweeps, kernels; and what the database gives back.
#include "cpuinfo/cpu_tables.h"
#include "property/property.h"
#include "property/property_machine.h"
#include "property/property_measure.h"
#include "store/store_property.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <math.h>

static const char head[] = "name,title,question,x_unit,y_unit,variants,sweep,by,template,data,"
                           "count,reading,compare,options\n";

static void keep_fault(const struct err *err, void *data)
{
    *(struct err *)data = *err;
}

// Reads a list of one row; the number of faults.
static int read_row(const char *row, struct properties *properties, struct err *err)
{
    char path[] = "/tmp/latput_test_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    fprintf(file, "# Core\n%s%s\n", head, row);
    fclose(file);
    *properties = (struct properties){0};
    *err = (struct err){0};
    int faults = properties_read(path, properties, keep_fault, err);
    unlink(path);
    return faults;
}

static const struct property_machine machine = {
    .cache_bytes = {[BASE_L1D] = 32768, [BASE_L2] = 1048576, [BASE_L3] = 33554432},
    .memory_bytes = 1e9
};

static void test_row(void **state)
{
    (void)state;
    struct properties properties;
    struct err err;
    int faults =
        read_row("rob,Title,Why?,entries,clk,nop zmm:AVX512F:512,linear 16..64 step 16 grain 2 "
                 "refine,bytes: values 1 2,window.inc:window:8,chase 0 bytes=64M stride=4096 "
                 "stagger=64 cursor=3; zero 1 bytes=2*x,4*x,knee add=3,CPUID,copies=2 align=4096 "
                 "cold anew vm=paging",
                 &properties, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(faults, 0);
    assert_int_equal(properties.n, 1);
    const struct property *row = &properties.rows[0];
    assert_string_equal(row->name, "rob");
    assert_int_equal(row->nvariants, 2);
    assert_string_equal(row->variants[1].isa, "AVX512F");
    assert_int_equal(row->variants[1].vec_bits, 512);
    assert_true(row->sweep.refine && row->sweep.grain == 2);
    assert_string_equal(row->by_unit, "bytes");
    assert_int_equal(row->by.nvalues, 2);
    assert_string_equal(row->macro, "window");
    assert_string_equal(row->arguments, ", 8");
    assert_int_equal(row->ndata, 2);
    assert_int_equal(row->data[0].fill.kind, CORE_FILL_CHASE);
    assert_int_equal(row->data[0].fill.cursor, 3);
    assert_int_equal(row->data[0].fill.stagger, 64);
    assert_int_equal(row->data[1].bytes.base, BASE_X);
    assert_true(row->how.reading == READING_KNEE && row->how.add == 3);
    assert_true(row->cold && row->anew && !row->once && row->copies == 2 && row->align == 4096);
    assert_string_equal(row->vm, "paging");
    properties_free(&properties);
}

// clang-format off
static const struct {
    const char *row, *said;
} bad_rows[] = {
    {"1x,T,Q,u,clk,,values 1,,a.inc:b,,,knee,,", "'1x' is no name"},
    {"x,,Q,u,clk,,values 1,,a.inc:b,,,knee,,", "title is missing"},
    {"x,T,Q,u,s,,values 1,,a.inc:b,,,knee,,", "y_unit is clk or ns"},
    {"x,T,Q,u,clk,a a,values 1,,a.inc:b,,,knee,,", "there twice"},
    {"x,T,Q,u,clk,a:AVX9,values 1,,a.inc:b,,,knee,,", "no feature 'AVX9'"},
    {"x,T,Q,u,clk,a::100,values 1,,a.inc:b,,,knee,,", "128, 256 or 512"},
    {"x,T,Q,u,clk,,,,a.inc:b,,,knee,,", "the sweep is missing"},
    {"x,T,Q,u,clk,,values 2 1,,a.inc:b,,,knee,,", "ascend"},
    {"x,T,Q,u,clk,,linear 9..1 step 1,,a.inc:b,,,knee,,", "is no range"},
    {"x,T,Q,u,clk,,linear 1..9,,a.inc:b,,,knee,,", "step is missing"},
    {"x,T,Q,u,clk,,linear 1..9 step 0,,a.inc:b,,,knee,,", "more than 0"},
    {"x,T,Q,u,clk,,linear 1..9 steps 1,,a.inc:b,,,knee,,", "none of step"},
    {"x,T,Q,u,clk,,values 1,by,a.inc:b,,,knee,,", "UNIT: SWEEP"},
    {"x,T,Q,u,clk,,values 1,,../a.inc:b,,,knee,,", "names a file in macros/"},
    {"x,T,Q,u,clk,,values 1,,a.inc:b:%if,,,knee,,", "cannot be given"},
    {"x,T,Q,u,clk,,values 1,,a.inc:b,heap 0 bytes=1,,knee,,", "'heap' is none of"},
    {"x,T,Q,u,clk,,values 1,,a.inc:b,chase 7 bytes=1K,,knee,,", "number of the area"},
    {"x,T,Q,u,clk,,values 1,,a.inc:b,chase 0 stride=64,,knee,,", "bytes= is missing"},
    {"x,T,Q,u,clk,,values 1,,a.inc:b,chase 0 size=64,,knee,,", "none of bytes="},
    {"x,T,Q,u,clk,,values 1,,a.inc:b,chase 0 bytes=1K cursor=16,,knee,,", "out of range"},
    {"x,T,Q,u,clk,,values 1,,a.inc:b,,4*l9,knee,,", "after * stands"},
    {"x,T,Q,u,clk,,values 1,,a.inc:b,,4*x<=y,knee,,", "'y' is no number"},
    {"x,T,Q,u,clk,,values 1,,a.inc:b,,0,knee,,", "count is 0, and it can be 1 to"},
    {"x,T,Q,u,clk,,values 1,,a.inc:b,,3e9,knee,,", "count is 3e+09, and"},
    {"x,T,Q,u,clk,,values 1,,a.inc:b,,1.5,knee,,", "'1.5' is no whole number"},
    {"x,T,Q,u,clk,,values 0 4,,a.inc:b,,x,knee,,", "count is 0, and"},
    {"x,T,Q,u,clk,,linear 1..9 step 1,,a.inc:b,,1G*x,knee,,", "count is 9.66368e+09, and"},
    {"x,T,Q,u,clk,,linear 1..4*l2 step 1,,a.inc:b,,0.5*x,knee,,", "count is 0.5, and"},
    {"x,T,Q,u,clk,,values 1,,a.inc:b,,by,knee,,", "'by' wants a second variable"},
    {"x,T,Q,u,clk,,values 1,,a.inc:b,,,kneel,,", "'kneel' is no reading"},
    {"x,T,Q,u,clk,,values 1,,a.inc:b,,,knee lest=1,,", "no option of a reading"},
    {"x,T,Q,u,clk,a b,linear 1..9 step 1 refine,,a.inc:b,,,knee control=a,,",
     "the sweep cannot refine"},
    {"x,T,Q,u,clk,,values 1,,a.inc:b,,,knee,,align=100", "power of two"},
    {"x,T,Q,u,clk,,values 1,,a.inc:b,,,knee,,copies=0", "from 1 to"},
    {"x,T,Q,u,clk,,values 1,,a.inc:b,,,knee,,warm", "is no option"},
    {"x,T,Q,u,clk,,values 1,,a.inc:b,,,knee,,vm=yes",
     "vm= is paging, placement, trap or clock"},
    {"x,T,Q,u,clk,,values 1,,a.inc:b,,,knee,,corunner=me",
     "corunner= is cpu, sibling, core, all"},
    {"x,T,Q,u,clk,,values 1,,a.inc:b,,,knee,,corunner=cpu", "belong together"},
    {"x,T,Q,u,clk,,cpus,,a.inc:b,,,knee,,", "belong together"},
    {"x,T,Q,u,clk,,cpus 3,,a.inc:b,,,knee,,corunner=cpu", "nothing stands after cpus"},
    {"x,T,Q,u,clk,,values 1,,a.inc:b,,,knee,,on=by", "wants a second variable"},
    {"x,T,Q,u,clk,,values 1,,a.inc:b,,,knee,,permit=write", "permit= is call, discard"},
    {"x,T,Q,u,clk,,values 1,,a.inc:b,zero 0 bytes=4K code,,knee,,", "wants permit=code"},
};
// clang-format on

// Each column has its faults, told with line and caret.
static void test_faults(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad_rows); i++) {
        struct properties properties;
        struct err err;
        assert_int_equal(read_row(bad_rows[i].row, &properties, &err), 1);
        if (!strstr(err.text, bad_rows[i].said) || !strstr(err.text, ":3: ") ||
            !strchr(err.text, '^'))
            fail_msg("%s: '%s'", bad_rows[i].row, err.text);
        assert_int_equal(properties.n, 0);
        properties_free(&properties);
    }
}

// CPUs that take part, on a machine with two cores of two threads.
static void test_places(void **state)
{
    (void)state;
    static const struct property_machine smt = {
        .cpus = {{3, 1, -1}, {1, 1, -1}, {0, 0, -1}, {2, 0, -1}},
        .ncpus = 4,
    };
    static const struct {
        const char *sweep, *by, *options;
        double x, at;
        int measuring, n, first; // n -1: none
    } cases[] = {
        {"values 1", "",          "corunner=sibling",   1, 0, 3, 1,  1},
        {"values 1", "",          "corunner=core",      1, 0, 3, 1,  0},
        {"values 1", "",          "corunner=all",       1, 0, 3, 3,  1},
        {"values 1", "",          "corunner=threads",   1, 0, 3, 0,  0},
        {"values 3", "",          "corunner=threads",   3, 0, 3, 2,  1},
        {"cpus",     "CPU: cpus", "corunner=cpu on=by", 2, 0, 0, 1,  2},
        {"cpus",     "CPU: cpus", "corunner=cpu on=by", 2, 2, 2, -1, 2},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct properties properties;
        struct err err;
        char text[200];
        int measuring = -1, cpus[CORE_CORUNNERS_MAX];
        snprintf(text, sizeof text, "x,T,Q,u,clk,,%s,%s,a.inc:b,,,knee,,%s", cases[i].sweep,
                 cases[i].by, cases[i].options);
        assert_int_equal(read_row(text, &properties, &err), 0);
        const struct property_point point = {cases[i].x, cases[i].at};
        assert_int_equal(property_places(&properties.rows[0], &smt, &point, &measuring, cpus, &err),
                         cases[i].n);
        assert_int_equal(measuring, cases[i].measuring);
        if (cases[i].n > 0)
            assert_int_equal(cpus[0], cases[i].first);
        assert_string_equal(err.text, "");
        properties_free(&properties);
    }
}

// Lines go from the measuring kind of core to all; everything else stays among its own.
static void test_kinds(void **state)
{
    (void)state;
    struct cpu_kinds kinds;
    struct properties properties;
    struct swept_property result;
    struct arena arena = {0};
    struct err err;
    double values[SWEEP_POINTS_MAX], limit;
    int measuring, cpus[CORE_CORUNNERS_MAX];
    static const char told[] =
        "CPUs 0-3,12-13 are meteorlake_p, 4-11 meteorlake_e, 14-15 meteorlake_lpe";
    if (cpu_kinds_load("tests/fixtures/cpu/meteorlake.cpuid", &kinds, &err) != 0)
        fail_msg("%s", err.text);
    const struct cpu_info *cpu = &kinds.kinds[1].cpu;
    struct property_machine hybrid = property_machine_find("/nowhere", cpu, &kinds, 9);
    assert_int_equal(read_row("x,T,Q,CPU,ns,,cpus,CPU: cpus,a.inc:b,,,matrix,,corunner=cpu on=by",
                              &properties, &err),
                     0);
    struct property *row = &properties.rows[0];
    assert_int_equal(property_points(row, &hybrid, values, &limit, &err), 16);
    for (int i = 0; i < 16; i++)
        assert_int_equal((int)values[i], i);
    assert_int_equal(property_by_points(row, &hybrid, values), 8);
    assert_int_equal((int)values[0], 4);
    const struct property_point point = {14, 5};
    assert_int_equal(property_places(row, &hybrid, &point, &measuring, cpus, &err), 1);
    assert_int_equal(measuring, 5);
    assert_int_equal(cpus[0], 14);
    assert_int_equal(property_begin(row, &hybrid, cpu, &arena, &result), 8 * 16 - 8);
    assert_string_equal(result.detail, told);
    row->corunner = CORUNNER_ALL;
    row->on_by = false;
    assert_int_equal(property_places(row, &hybrid, &point, &measuring, cpus, &err), 7);
    assert_int_equal(measuring, 9);
    for (int i = 0; i < 7; i++)
        assert_in_range(cpus[i], 4, 11);
    kinds.n = 1;
    hybrid = property_machine_find("/nowhere", &kinds.kinds[0].cpu, &kinds, 3);
    assert_int_equal(hybrid.nothers, 0);
    assert_string_equal(hybrid.kinds, "");
    kinds.n = 3;
    properties_free(&properties);
    cpu_kinds_free(&kinds);
    arena_free(&arena);
}

// A missing CPU is reported with the reason.
static void test_no_places(void **state)
{
    (void)state;
    static const struct property_machine alone = {.cpus = {{0, 0, -1}}, .ncpus = 1};
    static const struct property_machine two = {
        .cpus = {{0, 0, -1}, {1, 1, -1}},
          .ncpus = 2
    };
    struct properties properties;
    struct err err;
    int measuring, cpus[CORE_CORUNNERS_MAX];
    const struct property_point point = {1, 0};
    assert_int_equal(
        read_row("x,T,Q,u,clk,,values 1,,a.inc:b,,,knee,,corunner=sibling", &properties, &err), 0);
    assert_int_equal(property_places(&properties.rows[0], &two, &point, &measuring, cpus, &err),
                     -1);
    assert_non_null(strstr(err.text, "no other thread of the core"));
    assert_int_equal(property_places(&properties.rows[0], &alone, &point, &measuring, cpus, &err),
                     -1);
    assert_non_null(strstr(err.text, "two CPUs"));
    properties_free(&properties);
}

static void test_sweeps(void **state)
{
    (void)state;
    static const struct {
        const char *sweep;
        double first, second, last;
        int n;
    } sweeps[] = {
        {"values 3 5 8",                       3,    5,    8,     3},
        {"linear 16..64 step 16",              16,   32,   64,    4},
        {"linear 1..10 step 2.5 grain 2",      2,    4,    8,     4}, // 1 3.5 6 8.5: grains
        {"linear 1..12 step 4 grain 4",        4,    8,    12,    3}, // never none of them
        {"geometric 1K..8K per 1",             1024, 2048, 8192,  4},
        {"geometric 4K..2*l1d per 2 grain 64", 4096, 5824, 65536, 9},
        {"geometric 1..4 per 8",               1,    2,    4,     4}, // each x once
    };
    for (size_t i = 0; i < ARRAY_LEN(sweeps); i++) {
        char row[256];
        struct properties properties;
        struct err err;
        double *values = calloc(SWEEP_POINTS_MAX, sizeof *values), limit;
        snprintf(row, sizeof row, "x,T,Q,u,clk,,%s,,a.inc:b,,,knee,,", sweeps[i].sweep);
        assert_int_equal(read_row(row, &properties, &err), 0);
        int n = property_points(&properties.rows[0], &machine, values, &limit, &err);
        assert_int_equal(n, sweeps[i].n);
        assert_true(values[0] == sweeps[i].first && values[1] == sweeps[i].second);
        assert_true(values[n - 1] == sweeps[i].last && isnan(limit));
        free(values);
        properties_free(&properties);
    }
}

// Points that do not fit into memory are left out, with a note; no points at all are refused with
// the reason.
static void test_memory(void **state)
{
    (void)state;
    struct properties properties;
    struct err err;
    double *values = calloc(SWEEP_POINTS_MAX, sizeof *values), limit;
    struct property_machine small = machine;
    assert_int_equal(read_row("x,T,Q,u,clk,,geometric 1K..1G per 1,,a.inc:b,chase 0 bytes=x,,"
                              "plateaus,,",
                              &properties, &err),
                     0);
    small.memory_bytes = 1e6;
    int n = property_points(&properties.rows[0], &small, values, &limit, &err);
    assert_true(n == 10 && limit == 524288 && values[n - 1] == limit);
    small.memory_bytes = 1000;
    assert_int_equal(property_points(&properties.rows[0], &small, values, &limit, &err), 0);
    assert_non_null(strstr(err.text, "MiB of memory"));
    properties_free(&properties);
    assert_int_equal(
        read_row("x,T,Q,u,clk,,geometric 1K..4*l1i per 1,,a.inc:b,,,knee,,", &properties, &err), 0);
    assert_int_equal(property_points(&properties.rows[0], &machine, values, &limit, &err), 0);
    assert_non_null(strstr(err.text, "cache"));
    properties_free(&properties);
    free(values);
}

// The sweep's adaptation to a machine's caches is reported with its points.
static void test_count(void **state)
{
    (void)state;
    static const struct {
        const char *columns, *said;
    } cases[] = {
        {"linear 1..9 step 1,,a.inc:b,,1G*l1d",        "count is 3.51844e+13 at x = 1, and"},
        {"linear 1..9 step 1,,a.inc:b,,4*l1i",         "count is nan at x = 1, and"        },
        {"linear 4*l1d..8*l1d step 1,,a.inc:b,,16K*x", "count is 2.14748e+09 at x = 131072"},
        {"linear 1..9 step 1,,a.inc:b,,1G*l1d<=8",     NULL                                },
    };
    double *values = calloc(SWEEP_POINTS_MAX, sizeof *values), limit;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct properties properties;
        struct err err;
        char row[256];
        snprintf(row, sizeof row, "x,T,Q,u,clk,,%s,knee,,", cases[i].columns);
        assert_int_equal(read_row(row, &properties, &err), 0);
        int n = property_points(&properties.rows[0], &machine, values, &limit, &err);
        assert_true((n == 0) == (cases[i].said != NULL));
        if (cases[i].said)
            assert_non_null(strstr(err.text, cases[i].said));
        properties_free(&properties);
    }
    free(values);
}

static void test_kernel(void **state)
{
    (void)state;
    struct properties properties;
    struct err err;
    struct arena arena = {0};
    assert_int_equal(read_row("x,T,Q,u,clk,a,values 7,b: values 3,t.inc:m:9,chase 1 bytes=4*x "
                              "stride=by,2*x<=15,knee,,once",
                              &properties, &err),
                     0);
    const struct property *row = &properties.rows[0];
    struct kernel_spec spec = property_kernel(row, &row->variants[0], &machine, 7, 3, &arena);
    assert_non_null(strstr(spec.body, "%ifmacro m_body 3-*\nm_body a, 7, 3, 9\n%else\n%error "));
    assert_non_null(strstr(spec.init, "%include \"t.inc\"\n"));
    assert_non_null(strstr(spec.init, "%ifmacro m_init 3-*\nm_init a, 7, 3, 9\n%endif\n"));
    assert_non_null(strstr(spec.fini, "m_fini a, 7, 3, 9\n"));
    assert_int_equal(spec.instances, 14);
    spec = property_kernel(row, &row->variants[0], &machine, 8, 3, &arena);
    assert_int_equal(spec.instances, 15);
    spec = property_kernel(row, &row->variants[0], &machine, 7, 3, &arena);
    assert_int_equal(spec.nfills, 1);
    assert_true(spec.fills[0].bytes == 28 && spec.fills[0].stride == 3 && spec.once);
    arena_free(&arena);
    properties_free(&properties);
}

// The older word `company` still works, with the macros of that name.
static void test_kernel_corunner(void **state)
{
    (void)state;
    static const char *const words[] = {"corunner", "company"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        struct properties properties;
        struct err err;
        struct arena arena = {0};
        char row[100], call[100];
        snprintf(row, sizeof row, "x,T,Q,u,clk,a,values 7,,t.inc:m,,,level,,%s=core", words[i]);
        assert_int_equal(read_row(row, &properties, &err), 0);
        const struct property *property = &properties.rows[0];
        assert_int_equal(property->corunner, CORUNNER_CORE);
        struct kernel_spec spec =
            property_kernel(property, &property->variants[0], &machine, 7, NAN, &arena);
        snprintf(call, sizeof call, "%%ifmacro m_%s 3-*\nm_%s a, 7, 0\n%%else\n%%error ", words[i],
                 words[i]);
        assert_non_null(strstr(spec.corunner, call));
        snprintf(call, sizeof call, "%%ifmacro m_%s_init 3-*\nm_%s_init a, 7, 0\n%%endif\n",
                 words[i], words[i]);
        assert_string_equal(spec.corunner_init, call);
        arena_free(&arena);
        properties_free(&properties);
    }
}

static void write_file(const char *root, const char *name, const char *text)
{
    char *path = xasprintf("%s/%s", root, name);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        char *directory = xasprintf("mkdir -p '%.*s'", (int)(slash - path), path);
        assert_int_equal(system(directory), 0); // NOLINT(cert-env33-c): a test's own directory
        free(directory);
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    free(path);
}

// The least of what the system has and what the groups above allow.
static void test_machine(void **state)
{
    (void)state;
    char root[] = "/tmp/latput_test_XXXXXX";
    assert_non_null(mkdtemp(root));
    assert_true(property_memory_free(root) > 1e6); // no files: by sysconf()
    write_file(root, "proc/meminfo", "MemTotal: 9 kB\nMemAvailable:  4000000 kB\n");
    assert_true(property_memory_free(root) == 4000000 * 1024.0);
    write_file(root, "proc/self/cgroup", "0::/a/b\n");
    write_file(root, "sys/fs/cgroup/a/b/memory.max", "max\n");
    write_file(root, "sys/fs/cgroup/a/b/memory.current", "100\n");
    assert_true(property_memory_free(root) == 4000000 * 1024.0);
    write_file(root, "sys/fs/cgroup/a/memory.max", "1000000\n");
    write_file(root, "sys/fs/cgroup/a/memory.current", "400000\n");
    assert_true(property_memory_free(root) == 600000);
    // Both hierarchies: the older one says less, in the group as a container sees it.
    write_file(root, "proc/self/cgroup",
               "5:cpu,memory:/docker/1f\n3:pids,memory2:/c\n1:name=systemd:/a/b\n0::/a/b\n");
    assert_true(property_memory_free(root) == 600000);
    write_file(root, "sys/fs/cgroup/memory/c/memory.limit_in_bytes", "9\n");
    write_file(root, "sys/fs/cgroup/memory/c/memory.usage_in_bytes", "8\n");
    write_file(root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "500000\n");
    write_file(root, "sys/fs/cgroup/memory/memory.usage_in_bytes", "100000\n");
    assert_true(property_memory_free(root) == 400000);
    write_file(root, "sys/fs/cgroup/memory/docker/1f/memory.limit_in_bytes", "30000\n");
    write_file(root, "sys/fs/cgroup/memory/docker/1f/memory.usage_in_bytes", "10000\n");
    assert_true(property_memory_free(root) == 20000);
    write_file(root, "proc/self/cgroup", "5:memory:/\n");
    assert_true(property_memory_free(root) == 400000);
    char *remove = xasprintf("rm -r '%s'", root);
    assert_int_equal(system(remove), 0); // NOLINT(cert-env33-c): a test's own directory
    free(remove);
}

// The lists of the tree can be read, and every property has points.
static void test_tree(void **state)
{
    (void)state;
    struct properties properties;
    struct err err;
    if (properties_load(&properties, &err) != 0)
        fail_msg("%s", err.text);
    static struct cpu_info cpu;
    assert_true(properties.n > 40);
    for (int i = 0; i < properties.n; i++) {
        struct arena arena = {0};
        struct swept_property result;
        property_begin(&properties.rows[i], &machine, &cpu, &arena, &result);
        bool held = result.outcome != OUTCOME_OK || result.npoints > 0;
        if (!held)
            fail_msg("%s has no points", properties.rows[i].name);
        arena_free(&arena);
    }
    properties_free(&properties);
}

// Properties in cpuinfo/core_sizes.csv, which distinguish cores, exist.
static void test_core_sizes(void **state)
{
    (void)state;
    const struct size_table *sizes = sizes_table();
    struct properties properties;
    struct err err;
    if (properties_load(&properties, &err) != 0)
        fail_msg("%s", err.text);
    assert_true(sizes->nrows > 50);
    for (int i = 0; i < sizes->nrows; i++) {
        const struct size_row *row = &sizes->rows[i];
        bool found = false;
        for (int p = 0; p < properties.n && !found; p++)
            for (int v = 0; v < properties.rows[p].nvariants && !found; v++)
                found = strcmp(properties.rows[p].name, row->property) == 0 &&
                        strcmp(properties.rows[p].variants[v].name, row->variant) == 0;
        if (!found)
            fail_msg("there is no %s with a variant '%s'", row->property, row->variant);
    }
    properties_free(&properties);
}

int main(void)
{
    struct err err = {0};
    if (cpuinfo_load(&err) != 0)
        return 99;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_row),        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_places),     cmocka_unit_test(test_no_places),
        cmocka_unit_test(test_kinds),      cmocka_unit_test(test_sweeps),
        cmocka_unit_test(test_memory),     cmocka_unit_test(test_count),
        cmocka_unit_test(test_kernel),     cmocka_unit_test(test_kernel_corunner),
        cmocka_unit_test(test_machine),    cmocka_unit_test(test_tree),
        cmocka_unit_test(test_core_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
