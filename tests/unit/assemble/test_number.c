// SPDX-License-Identifier: MIT
// Numbers after `times`, as NASM's preprocessor leaves them.
#include "assemble/number.h"
#include "util/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
        const char *after;
    } cases[] = {
        {"3 nop",                       3,   "nop"    },
        {"(4096 + 64 - 5) / 8 dq 0xcc", 519, "dq 0xcc"},
        {"(4096 + 64 - 5) % 8 db 0xcc", 3,   "db 0xcc"},
        {"((57) - 8) %% 9 / 4 db 0",    1,   "db 0"   },
        {"2 + 3 * 4 nop",               14,  "nop"    },
        {"20 - 5 - 5 nop",              10,  "nop"    },
        {"0x10*(2+-1) nop",             16,  "nop"    },
        {"5 - 7 nop",                   -2,  "nop"    },
        {"17",                          17,  ""       },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t value = 0;
        const char *text = cases[i].text, *after = number_read(text, text + strlen(text), &value);
        if (!after || value != cases[i].value || strcmp(after, cases[i].after) != 0)
            fail_msg("%s: %ld, after it '%s'", text, (long)value, after ? after : "nothing");
    }
}

// Texts that are no number here, or another one to NASM.
static void test_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",           "nop",
        "(3 nop",     "3) nop",
        "1 << 2 nop", "10b nop",
        "1 / 0 nop",  "$-$$ nop",
        "..@2 nop",   "3 ? 1 : 2 nop",
        "- nop",      "5 & 1 nop",
        "0xfh nop",   "99999 * 99999 nop",
        "-7 % 4 nop", "((((((((((((((((((((((((((((((((((((1",
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t value = 0;
        if (number_read(cases[i], cases[i] + strlen(cases[i]), &value))
            fail_msg("%s is %ld", cases[i], (long)value);
    }
}

// Nothing after the end is read.
static void test_end(void **state)
{
    (void)state;
    int64_t value = 0;
    static const char text[] = "12 + 34 nop";
    const char *after = number_read(text, text + 2, &value);
    assert_ptr_equal(after, text + 2);
    assert_int_equal(value, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
