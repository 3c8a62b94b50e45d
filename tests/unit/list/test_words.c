// SPDX-License-Identifier: MIT
// The data of words for forms: each word is found, none hides a mnemonic of the lists, and each of
// its globs matches a form.
#include "list/form_described.h"
#include "list/form_glob.h"
#include "list/form_shown.h"
#include "list/form_words.h"
#include "list/select.h"
#include "util/csvfile.h"
#include "util/mem.h"

#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct selection all;
static const char **mnemonics; // sorted

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int setup(void **state)
{
    (void)state;
    char tree[4096];
    struct err err;
    // The tests run from the top of the tree; the tables are found from there.
    if (!getenv("LATPUT_ROOT") && getcwd(tree, sizeof tree))
        setenv("LATPUT_ROOT", tree, 1);
    if (select_rows(NULL, 0, NULL, &all, &err) != 0)
        return -1;
    mnemonics = xcalloc((size_t)all.nrows, sizeof *mnemonics);
    for (int i = 0; i < all.nrows; i++)
        mnemonics[i] = all.rows[i].row->mnemonic;
    qsort(mnemonics, (size_t)all.nrows, sizeof *mnemonics, compare_texts);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    free(mnemonics);
    selection_free(&all);
    return 0;
}

// Returns true if a form of the lists is one of those that the glob means. Most are told apart by
// the beginning of their mnemonics.
static bool is_listed(const char *glob)
{
    char text[600], encoded[640];
    size_t begins = strcspn(glob, "*?[ ");
    for (int i = 0; i < all.nrows; i++) {
        const struct list_row *row = all.rows[i].row;
        if (*glob != '{' && strncmp(glob, row->mnemonic, begins) != 0 &&
            strncmp(glob, row->form, begins) != 0)
            continue;
        snprintf(text, sizeof text, "%s %s", row->mnemonic, row->operands_text);
        snprintf(encoded, sizeof encoded, "{%s} %s", encoding_name(row->enc), text);
        if (fnmatch(glob, row->mnemonic, 0) == 0 || fnmatch(glob, text, 0) == 0 ||
            fnmatch(glob, encoded, 0) == 0 || fnmatch(glob, row->form, 0) == 0)
            return true;
    }
    return false;
}

static bool is_mnemonic(const char *word)
{
    return bsearch(&word, mnemonics, (size_t)all.nrows, sizeof *mnemonics, compare_texts) != NULL;
}

static void check_word(const struct csv_file *file, const struct csv_record *record)
{
    const char *word = record->fields[0];
    if (!strchr(word, '*') && is_mnemonic(word))
        fail_msg("%s:%d: '%s' is a mnemonic", file->path, record->line, word);
    if (!strchr(word, '*') && strcmp(form_word_globs(word), record->fields[1]) != 0)
        fail_msg("%s:%d: '%s' has another line", file->path, record->line, word);
    struct form_globs globs = form_globs_make(&word, 1, true);
    for (int i = 0; i < globs.n && !strchr(word, '*'); i++)
        if (!is_listed(globs.texts[i]))
            fail_msg("%s:%d: no form is '%s'", file->path, record->line, globs.texts[i]);
    form_globs_free(&globs);
}

static void test_data(void **state)
{
    static const char *const columns[] = {"word", "globs"};
    static const struct csv_spec spec = {columns, ARRAY_LEN(columns), 0};
    static const char *const paths[] = {"lists/words/categories.csv", "lists/words/intrinsics.csv"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct csv_file file;
        struct err err = {0};
        if (csv_file_read(paths[i], &spec, &file, &err) != 0)
            fail_msg("%s", err.text);
        for (size_t j = 0; j < file.nrecords; j++)
            check_word(&file, &file.records[j]);
        csv_file_free(&file);
    }
    assert_int_equal(form_words_load(NULL), 0);
}

// Intrinsics find the forms that manuals have for them, and others say why they find none.
static void test_intrinsics(void **state)
{
    static const struct {
        const char *name, *glob;
    } cases[] = {
        {"_mm_dpbusd_epi32",      "{evex} vpdpbusd x x x"},
        {"_mm_dpbusd_avx_epi32",  "{vex} vpdpbusd x x x" },
        {"_mulx_u64",             "mulx r64 r64 r64"     },
        {"_bextr_u64",            "bextr r64 r64 r64"    },
        {"_mm_sqrt_sd",           "sqrtsd x x"           },
        {"_mm_sha256rnds2_epu32", "sha256rnds2 x x"      },
        {"__rolq",                "rol r64 cl"           },
        {"_mm_packs_pi16",        "packsswb mm mm"       },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *globs = form_word_globs(cases[i].name);
        if (!globs || !strstr(globs, cases[i].glob))
            fail_msg("%s has %s", cases[i].name, globs ? globs : "nothing");
        assert_null(form_word_no_form(cases[i].name));
    }
    assert_non_null(strstr(form_word_no_form("_mm_set_epi32"), "several instructions: "));
    assert_null(form_word_globs("_mm_set_epi32"));
    assert_null(form_word_no_form("_mm_nothing"));
    assert_null(form_word_no_form("add"));
}

// At least 99 of 100 intrinsics that are one instruction find their form.
static void test_intrinsics_share(void **state)
{
    static const char *const columns[] = {"word", "reason"};
    static const struct csv_spec spec = {columns, ARRAY_LEN(columns), 0};
    (void)state;
    struct csv_file file;
    struct err err = {0};
    const char *globs;
    size_t found = 0, missing = 0;
    for (size_t i = 0; form_word(i, &globs); i++)
        found += form_word(i, &globs)[0] == '_';
    if (csv_file_read("lists/words/no_form.csv", &spec, &file, &err) != 0)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < file.nrecords; i++)
        missing += strncmp(file.records[i].fields[1], "not ", 4) == 0;
    csv_file_free(&file);
    assert_true(found > 6000);
    assert_true(99 * missing < found);
}

// Words as people write them, and the globs that they become.
static void test_globs(void **state)
{
    static const struct {
        const char *word, *globs;
    } cases[] = {
        {"JNE",                 "jnz"                              },
        {"jne rel8",            "jnz rel8"                         },
        {"cmovcc rax, rbx",     "cmov* rax rbx|cmov* r[a6][x4] r64"},
        {"shl rax, cl",         "shl rax cl|shl r[a6][x4] [cr][l8]"},
        {"cmpltps xmm0, xmm1",  "cmpps x x"                        },
        {"_mm_add_ps",          "addps x x|vaddps x x x"           },
        {"_MM_ADD_PS(a, b)",    "addps x x|vaddps x x x"           },
        {"_mm_add_ps_",         "_mm_add_ps_"                      },
        {"movabs",              "mov r64 i64*"                     },
        {"*jne",                "*jne"                             },
        {"jne*",                "jne*"                             },
        {"shuffled",            "shuffled"                         },
        {"Population  Count",   "popcnt|vpopcnt*"                  },
        {"carry-less multiply", "*pclmul*"                         },
        {"population",          "population"                       },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char joined[256] = "";
        struct form_globs globs = form_globs_make(&cases[i].word, 1, true);
        for (int j = 0; j < globs.n; j++) {
            strcat(joined, j ? "|" : "");
            strcat(joined, globs.texts[j]);
        }
        assert_string_equal(joined, cases[i].globs);
        form_globs_free(&globs);
    }
}

// Returns the hint for a glob that no form matches, where add and vpaddd are the only mnemonics.
static const char *hint_for(const char *glob)
{
    static char hint[96];
    struct suggestion near = form_suggest(glob);
    suggest_offer(&near, "add");
    suggest_offer(&near, "vpaddd");
    form_words_offer(&near);
    return suggest_text(&near, hint, sizeof hint);
}

static void test_hint(void **state)
{
    (void)state;
    assert_string_equal(hint_for("_mm_ad_ps"), "; did you mean '_mm_add_ps'?");
    assert_string_equal(hint_for("shufle"), "; did you mean 'shuffle'?");
    assert_string_equal(hint_for("vpadddd xmm0, xmm1, xmm2"), "; did you mean 'vpaddd'?");
    assert_string_equal(hint_for("populaton count"), "; did you mean 'population count'?");
    assert_string_equal(hint_for(""), "");
    // Never the word itself.
    assert_string_equal(hint_for("shuffle"), "");
    assert_string_equal(hint_for("add"), "");
}

// Words of headings and titles, a form that they describe, and one that they do not.
static void test_described(void **state)
{
    static const struct {
        const char *text, *one, *other;
    } cases[] = {
        {"checksum",                  "crc32",     "popcnt"},
        {"Conditional  moves",        "cmovb",     "setb"  }, // the heading, not the title
        {"carry-less multiplication", "pclmulqdq", "aesenc"},
        {"multiply signed",           "imul",      "mul"   },
        {"division of the signed",    "idiv",      "div"   },
        {"saving state",              "xsave",     "crc32" },
        {"exchange and add",          "xadd",      "add"   },
        {"rotated",                   "rol",       "add"   },
        {"addd",                      NULL,        "xadd"  },
        {"check",                     "bndcl",     "bndmov"},
        {"checks sum",                NULL,        "crc32" },
        {"stat",                      "xsave",     "crc32" },
        {"chec-ksum",                 NULL,        "crc32" },
        {"checksum*",                 NULL,        "crc32" },
        {"rax checksum",              NULL,        "crc32" },
        {"the",                       NULL,        "crc32" },
        {"a b c d e f g h i j k",     NULL,        "crc32" },
        {"",                          NULL,        "crc32" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct described by = form_described_find(all.lists, all.nlists, cases[i].text);
        bool one = false, other = false;
        for (int j = 0; j < all.nrows && by.nwords > 0; j++)
            if (form_described_is(&by, all.rows[j].list, all.rows[j].row)) {
                one |= cases[i].one && strcmp(all.rows[j].row->mnemonic, cases[i].one) == 0;
                other |= strcmp(all.rows[j].row->mnemonic, cases[i].other) == 0;
            }
        if (one != (cases[i].one != NULL) || other || (!cases[i].one && by.nwords > 0))
            fail_msg("'%s' describes other forms", cases[i].text);
    }
}

// Names for people tell all forms apart as the lists' own names do, and have no options for the
// assembler in them.
static void test_shown_data(void **state)
{
    (void)state;
    struct strbuf name = {0};
    char **names = xcalloc((size_t)all.nrows, sizeof *names);
    struct err err = {0};
    if (form_shown_load(&err) != 0)
        fail_msg("%s", err.text);
    for (int i = 0; i < all.nrows; i++) {
        const struct list_row *row = all.rows[i].row;
        const char *shown = form_shown(row->form, &name);
        if (strchr(shown, '%') || strstr(shown, "macro=") || strstr(shown, "opcode="))
            fail_msg("'%s' is shown as '%s'", row->form, shown);
        names[i] = xasprintf("%s (%s)", shown, encoding_name(row->enc));
    }
    qsort(names, (size_t)all.nrows, sizeof *names, compare_texts);
    for (int i = 0; i + 1 < all.nrows; i++)
        if (strcmp(names[i], names[i + 1]) == 0)
            fail_msg("two forms are shown as '%s'", names[i]);
    for (int i = 0; i < all.nrows; i++)
        free(names[i]);
    free(names);
    strbuf_free(&name);
}

static void test_shown(void **state)
{
    // clang-format off
    static const struct {
        const char *form, *shown, *plain;
    } cases[] = {
        {"add r64 r64", "add r64 r64", "add r64 r64"},
        {"rep movsb macro=string.inc:string_rep:rep:movsb:256:0:0",
            "rep movsb, 256 bytes", "rep movsb 256 bytes"},
        {"rep stosq macro=string.inc:string_rep:rep:stosq:1:0:0",
            "rep stosq, 1 qword", "rep stosq 1 qword"},
        {"rep movsb macro=string.inc:string_rep:rep:movsb:1024:4:0",
            "rep movsb, 1024 bytes, source 4 off a line",
            "rep movsb 1024 bytes source 4 off a line"},
        {"enter i16 i8:2 bits=32 macro=legacy.inc:legacy_enter:2",
            "enter i16 i8:2 bits=32", "enter i16 i8:2 bits=32"},
        {"adc r16 r16 opcode=legacy.66.00.w0.13",
            "adc r16 r16, opcode 13", "adc r16 r16 opcode 13"},
        {"vaddph x x x opcode=evex.np.map5.w0.58", "vaddph x x x", "vaddph x x x"},
        {"nop macro=x.inc", "nop", "nop"},
    };
    // clang-format on
    (void)state;
    struct strbuf name = {0};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_string_equal(form_shown(cases[i].form, &name), cases[i].shown);
        assert_string_equal(form_shown_plain(cases[i].form, &name), cases[i].plain);
    }
    strbuf_free(&name);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data),       cmocka_unit_test(test_globs),
        cmocka_unit_test(test_hint),       cmocka_unit_test(test_shown_data),
        cmocka_unit_test(test_shown),      cmocka_unit_test(test_described),
        cmocka_unit_test(test_intrinsics), cmocka_unit_test(test_intrinsics_share),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
