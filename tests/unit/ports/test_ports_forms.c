// SPDX-License-Identifier: MIT
// Rows of the lists that can be blockers, and how good they are at it.
#include "fixtures/lists_fixture.h"
#include "plan/plan.h"
#include "portrun/portrun_model.h"
#include "ports/ports_forms.h"
#include "store/store_ports.h"

#include <math.h>

static int cost(const char *form)
{
    return ports_form(lists_row(form)).blocker_cost;
}

static void test_candidates(void **state)
{
    (void)state;
    static const char *const good[] = {
        "mov r32 i32",        "lea r64 agen:b", "shlx r64 r64 r64", "imul r64 r64 i8",
        "vpaddb x x x",       "vpaddb y y y",   "vpaddb z z z",     "{evex} vpaddb x x x",
        "vmulps x x x",       "pshufd x x i8",  "kandw k k k",      "mov r64 m64",
        "mov m64 r64",        "vmovaps x m128", "vmovaps m128 x",   "movsx r32 r8",
        "vpaddb x{k}{z} x x", "blsr r64 r64",
    };
    static const char *const bad[] = {
        "add r64 r64",          // reads its destination
        "paddb x x",            // so does every legacy form of two operands
        "add m64 r64",          // reads and writes memory
        "add r64 m64",          // a load and more
        "vpaddb x x m128",      // a load and more
        "push r64",             // moves the stack
        "cmovb r64 r64",        // reads flags
        "adc r64 r64",          // reads flags
        "vpaddb x{k} x x",      // keeps masked elements
        "mov r8 r8",            // keeps the rest of the register
        "mov r16 r16",          // keeps the rest of the register
        "mul r64",              // has fixed registers
        "shl r64 cl",           // has fixed registers
        "xchg r64 r64",         // writes two registers
        "mov m64 i32",          // a store of no register
        "cmp r64 r64",          // writes no register
        "cpuid",                // fixed registers
        "vpgatherdd x vm32x x", // a load by a mask that it clears
    };
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        if (cost(good[i]) < 0)
            print_error("%s should be a candidate\n", good[i]);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (cost(bad[i]) >= 0)
            print_error("%s should be no candidate\n", bad[i]);
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_true(cost(good[i]) >= 0);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(cost(bad[i]), -1);
    int divisions = 0;
    for (int i = 0; i < lists_all.nrows; i++) {
        const struct list_row *row = lists_all.rows[i].row;
        int mine = ports_form(row).blocker_cost;
        if (strcmp(row->mnemonic, "div") == 0 || strcmp(row->mnemonic, "idiv") == 0) {
            assert_int_equal(mine, -1);
            divisions++;
        }
        if (row->bits == 32 || !mix_plannable(row))
            assert_int_equal(mine, -1);
    }
    assert_true(divisions > 0);
}

// The less a form may disturb, the less it costs.
static void test_costs(void **state)
{
    (void)state;
    static const char *const cheaper[][2] = {
        {"vpaddb x x x",        "{evex} vpaddb x x x"},
        {"vpaddb x x x",        "vpaddb y y y"       },
        {"vpaddb y y y",        "vpaddb z z z"       },
        {"vpaddb x x x",        "vaddps x x x"       },
        {"mov r32 i32",         "blsr r64 r64"       },
        {"vpaddb x x x",        "vpaddb x{k}{z} x x" },
        {"mov r32 i32",         "mov r32 m32"        },
        {"mov r32 m32",         "mov m32 r32"        },
        {"vmovdqa m128 x",      "vmovd r32 x"        },
        {"vpshufd x x i8",      "pshufd x x i8"      },
        {"{evex} vpaddb x x x", "vpaddb x{k}{z} x x" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cheaper); i++)
        if (cost(cheaper[i][0]) >= cost(cheaper[i][1]))
            fail_msg("%s costs %d, %s %d", cheaper[i][0], cost(cheaper[i][0]), cheaper[i][1],
                     cost(cheaper[i][1]));
    assert_int_equal(cost("mov r32 i32"), 0);
    assert_int_equal(cost("vpaddb x x x"), 0);
    struct port_form nop = ports_form(lists_row("nop"));
    assert_true(nop.filler_only && nop.blocker_cost >= 0);
    assert_true(isnan(nop.rthroughput_clk));
    assert_string_equal(nop.name, "nop");
    assert_false(ports_form(lists_row("mov r32 i32")).filler_only);
}

// One of each mnemonic and kinds of operands stays, the cheapest, and the cheapest of 512 bits;
// other kinds stay beside them. What only CPUs with APX have takes no legacy form's place.
static void test_thin(void **state)
{
    (void)state;
    static const char *const names[] = {
        "vpaddb z z z",        "vpaddb x x x",
        "{evex} vpaddb x x x", "vpaddb y y y",
        "mov r64 r64",         "mov r32 i32",
        "mov r32 r32",         "add r64 r64",
        "mov r64 m64",         "{nf} imul r32 r32 i32 opcode=evex.np.map4.w0.69.nf",
        "imul r32 r32 i32"};
    static const bool stays[] = {true,  true,  false, false, true, true,
                                 false, false, true,  false, true};
    const struct list_row *rows[ARRAY_LEN(names)];
    struct port_form forms[ARRAY_LEN(names)];
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        rows[i] = lists_row(names[i]);
        forms[i] = ports_form(rows[i]);
    }
    ports_forms_thin(forms, rows, (int)ARRAY_LEN(names));
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if ((forms[i].blocker_cost >= 0) != stays[i])
            fail_msg("%s: cost %d", names[i], forms[i].blocker_cost);
}

// Memory counts where it is a vector of the widest.
static void test_bits(void **state)
{
    (void)state;
    static const struct {
        const char *form;
        int bits;
    } forms[] = {
        {"vfpclasspd k m512 i8",  512},
        {"vcvtpd2ps y m64{1to8}", 512},
        {"vaddps x x m128",       128},
        {"vcvtpd2ps x m256",      128},
        {"pabsb mm mm",           64 },
        {"andn r64 r64 m64",      0  },
        {"kmovq k m64",           0  },
    };
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        if (ports_form_bits(lists_row(forms[i].form)) != forms[i].bits)
            fail_msg("%s", forms[i].form);
}

// Numbers of the x87 stack are none once an MMX register was written.
static void test_x87_beside_mmx(void **state)
{
    (void)state;
    const struct port_form mmx = ports_form(lists_row("pabsb mm mm"));
    const struct port_form add = ports_form(lists_row("fadd m32"));
    const struct port_form free_one = ports_form(lists_row("ffree st"));
    const struct port_form vector = ports_form(lists_row("vpabsb x x"));
    assert_false(port_forms_mix(&mmx, &add));
    assert_false(port_forms_mix(&add, &mmx));
    assert_true(port_forms_mix(&mmx, &free_one));
    assert_true(port_forms_mix(&vector, &add));
    assert_true(mmx.blocker_cost > vector.blocker_cost);
}

// The effect of a form on the upper halves of vector registers decides what it is timed beside.
static void test_upper(void **state)
{
    (void)state;
    static const struct {
        const char *form;
        enum port_upper upper;
    } forms[] = {
        {"add r64 r64",          UPPER_NONE  },
        {"addps x x",            UPPER_LEGACY},
        {"vaddps x x x",         UPPER_NONE  },
        {"vaddps y y y",         UPPER_WIDE  },
        {"vcvtpd2dq x m256",     UPPER_WIDE  },
        {"vdivps x x m32{1to4}", UPPER_NONE  },
    };
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        if (ports_form_upper(lists_row(forms[i].form)) != forms[i].upper)
            fail_msg("%s", forms[i].form);
    struct port_form legacy = ports_form(lists_row("addps x x")),
                     narrow = ports_form(lists_row("vaddps x x x")),
                     wide = ports_form(lists_row("vaddps y y y"));
    assert_true(port_forms_mix(&legacy, &legacy));
    assert_true(port_forms_mix(&legacy, &narrow));
    assert_true(port_forms_mix(&narrow, &wide));
    assert_true(port_forms_mix(&wide, &wide));
    assert_false(port_forms_mix(&legacy, &wide));
    assert_false(port_forms_mix(&wide, &legacy));
}

// Memory that is a kind of its own among siblings.
static void test_memory(void **state)
{
    (void)state;
    static const struct {
        const char *form;
        bool memory, wide, stores;
    } forms[] = {
        {"add r64 r64",            false, false, false},
        {"add m64 r64",            true,  false, true },
        {"cmp m64 r64",            true,  false, false},
        {"vaddps z z z",           false, false, false},
        {"vaddps z z m512",        true,  true,  false},
        {"vaddps z z m32{1to16}",  true,  false, false},
        {"vmovdqa64 m512 z",       true,  true,  true },
        {"vscatterdps vm32x{k} x", true,  false, true },
        {"movsb",                  false, false, true }, // by its pointers
        {"push r64",               false, false, true }, // on the stack
        {"push m64",               true,  false, true },
        {"pop r64",                false, false, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct port_form form = ports_form(lists_row(forms[i].form));
        if (form.memory != forms[i].memory || form.memory_wide != forms[i].wide ||
            form.stores != forms[i].stores)
            fail_msg("%s", forms[i].form);
    }
}

// A stored model of a time when legacy forms stood beside wide vectors is not used again; one whose
// unit has legacy forms only is.
static void test_legacy_unit(void **state)
{
    (void)state;
    static const char *const names[] = {"paddb x x", "divps x x", "sha1rnds4 x x i8",
                                        "vpaddb x x x", "vdivps x x x"};
    const struct list_row *rows[ARRAY_LEN(names)];
    struct port_form made[ARRAY_LEN(names)];
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        rows[i] = lists_row(names[i]);
        made[i] = ports_form(rows[i]);
    }
    static const struct {
        const char *class, *unit;
        int measured; // the first of them have a throughput
        bool used;
    } models[] = {
        {"vpaddb x x x", "vdivps x x x",     5, true },
        {"vpaddb x x x", "divps x x",        5, false},
        {"vpaddb x x x", "sha1rnds4 x x i8", 5, true },
        {"paddb x x",    "divps x x",        3, true }, // a CPU without AVX
    };
    for (size_t i = 0; i < ARRAY_LEN(models); i++) {
        const struct portrun_forms forms = {rows, made, ARRAY_LEN(names), ARRAY_LEN(names), NULL};
        for (size_t f = 0; f < ARRAY_LEN(names); f++)
            made[f].rthroughput_clk = (int)f < models[i].measured ? 1 : (double)NAN;
        struct port_model model;
        const struct stored_port_model stored = {
            .model = {.nclasses = 1,              .nunits = 1, .units = {{.name = "U1"}}},
            .filler = "",
            .class_blockers = {models[i].class},
            .unit_blockers = {models[i].unit           },
            .unit_wholes = {""            },
        };
        assert_int_equal(portrun_model_of_stored(&forms, &stored, &model), models[i].used);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_candidates),     cmocka_unit_test(test_costs),
        cmocka_unit_test(test_thin),           cmocka_unit_test(test_upper),
        cmocka_unit_test(test_x87_beside_mmx), cmocka_unit_test(test_bits),
        cmocka_unit_test(test_memory),         cmocka_unit_test(test_legacy_unit),
    };
    return cmocka_run_group_tests(tests, lists_setup, lists_teardown);
}
