// SPDX-License-Identifier: MIT
// Units of the resources of a scheduling model, with misleading names, and with nothing but names.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compare/compare_model.h"

#include <string.h>

static const char printed[] =
    "Iterations:        1\n\nDispatch Width:    6\nuOps Per Cycle:    0.33\n"
    "\n\nResources:\n[0]   - CPUPort0\n[1]   - CPUPort1\n"
    "[2]   - CPUPort10\n[3]   - CPUFP0\n[4]   - CPUFP1\n[5]   - CPUFP2\n"
    "[6.0] - CPULoad\n[6.1] - CPULoad\n[7]   - CPUDivider\n\n\n"
    "Resource pressure per iteration:\n[0]    [1]\n";
enum { PORT0 = 1, PORT1 = 2, PORT10 = 4, FP0 = 8, FP1 = 16, FP2 = 32, LOAD = 64, DIVIDER = 128 };

static void units_are_read(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct model model = {.cpu = "cpu"};
    model_read_units(&arena, printed, &model);
    assert_int_equal(model.width, 6);
    assert_int_equal(model.nunits, 8);
    assert_string_equal(model.units[2].name, "CPUPort10");
    assert_int_equal(model.units[2].parts, 1);
    assert_string_equal(model.units[6].name, "CPULoad");
    assert_int_equal(model.units[6].parts, 2);
    struct model none = {.cpu = "cpu"};
    model_read_units(&arena, "error: no such thing\nResources:\n[", &none);
    assert_int_equal(none.nunits + none.width, 0);
    arena_free(&arena);
}

// A class of these resources, which needs so much of units.
static void class_of(struct model *model, const struct model_resource *resources, int n,
                     const struct model_resource *pressure, int npressure)
{
    struct model_class *class = &model->classes[model->nclasses++];
    *class = (struct model_class){.valid = true, .nresources = n, .npressure = npressure};
    memcpy(class->resources, resources, (size_t)n * sizeof *resources);
    memcpy(class->pressure, pressure, (size_t)npressure * sizeof *pressure);
}
#define CLASS(model, resources, pressure)                                                          \
    class_of(model, resources, (int)ARRAY_LEN(resources), pressure, (int)ARRAY_LEN(pressure))

static uint64_t units_of(const struct model *model, const char *name)
{
    for (int c = 0; c < model->nclasses; c++)
        for (int r = 0; r < model->classes[c].nresources; r++)
            if (strcmp(model->classes[c].resources[r].name, name) == 0)
                return model->classes[c].resources[r].units;
    fail_msg("no %s", name);
    return 0;
}

static void resources_are_units(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct model_class classes[8];
    struct model model = {.cpu = "cpu", .classes = classes};
    model_read_units(&arena, printed, &model);
    // CPUFPMul01 is FP0 and FP2; beside it CPUFPAny is known from what is left.
    const struct model_resource mul[] = {
        {.name = "CPUFPMul01", .count = 1}
    };
    const struct model_resource mul_pressure[] = {
        {.name = "CPUFP0", .count = 0.5},
        {.name = "CPUFP2", .count = 0.5}
    };
    CLASS(&model, mul, mul_pressure);
    // No class takes CPUPort0_1 or CPUPort0_10 alone, and beside each other they share CPUPort0.
    const struct model_resource named[] = {
        {.name = "CPUPort0_1",  .count = 1},
        {.name = "CPUPort0_10", .count = 1}
    };
    const struct model_resource named_pressure[] = {
        {.name = "CPUPort0",  .count = 0.66},
        {.name = "CPUPort1",  .count = 0.67},
        {.name = "CPUPort10", .count = 0.67}
    };
    CLASS(&model, named, named_pressure);
    // A resource without a number in its name, beside a load and a divider.
    const struct model_resource any[] = {
        {.name = "CPULoad",    .count = 1},
        {.name = "CPUDivider", .count = 4},
        {.name = "CPUInteger", .count = 2}
    };
    const struct model_resource any_pressure[] = {
        {.name = "CPULoad",    .count = 1},
        {.name = "CPUDivider", .count = 4},
        {.name = "CPUPort0",   .count = 1},
        {.name = "CPUPort1",   .count = 1}
    };
    CLASS(&model, any, any_pressure);
    // Uneven: nothing tells what CPUOdd is.
    const struct model_resource odd[] = {
        {.name = "CPUOdd", .count = 1}
    };
    const struct model_resource odd_pressure[] = {
        {.name = "CPUFP0", .count = 0.75},
        {.name = "CPUFP1", .count = 0.25}
    };
    CLASS(&model, odd, odd_pressure);
    model_resolve(&model);
    assert_int_equal(units_of(&model, "CPUFPMul01"), FP0 | FP2);
    assert_int_equal(units_of(&model, "CPUPort0_1"), PORT0 | PORT1);
    assert_int_equal(units_of(&model, "CPUPort0_10"), PORT0 | PORT10);
    assert_int_equal(units_of(&model, "CPULoad"), LOAD);
    assert_int_equal(units_of(&model, "CPUDivider"), DIVIDER);
    assert_int_equal(units_of(&model, "CPUInteger"), PORT0 | PORT1);
    assert_int_equal(units_of(&model, "CPUOdd"), 0);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_read),
        cmocka_unit_test(resources_are_units),
    };
    return cmocka_run_group_tests_name("units of a model", tests, NULL, NULL);
}
