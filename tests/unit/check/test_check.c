// SPDX-License-Identifier: MIT
// Check: rows that are right have no problem, and each way of being wrong is found: what NASM
// refuses, what it silently encodes as something else, wrong access, wrong flags, duplicates.
#include "check/check.h"
#include "llvm/llvm_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define HEADER "mnemonic,operands,implicit,isa,tests,options\n"

static char directory[] = "/tmp/latput-check-test-XXXXXX";
static char path[96], selection[96];

static int setup(void **state)
{
    (void)state;
    if (!getenv("LATPUT_ROOT"))
        setenv("LATPUT_ROOT", ".", 1);
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/mini.csv", directory);
    snprintf(selection, sizeof selection, "%s/selection", directory);
    if (mkdir(selection, 0700) != 0)
        return -1;
    snprintf(selection, sizeof selection, "%s/selection/quick.csv", directory);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    unlink(selection);
    snprintf(selection, sizeof selection, "%s/selection", directory);
    return rmdir(selection) | rmdir(directory);
}

static void write_list(const char *to, const char *rows)
{
    FILE *f = fopen(to, "w");
    assert_non_null(f);
    fprintf(f, "%s%s\n", HEADER, rows);
    assert_int_equal(fclose(f), 0);
}

static void run_check(const char *const *paths, int npaths, bool complete, struct check *check)
{
    struct err err = {0};
    if (check_lists(paths, npaths, complete, check, &err) != 0)
        fail_msg("%s", err.text);
}

// Rows in which decoder and list agree.
static const char good_rows[] = "add,+r32 r32,=flags,I386,,\n"
                                "adc,+r64 m64,cf =flags,X86_64,,\n"
                                "shl,+r64 cl,+flags,X86_64,,\n"
                                "rcl,+r64 1,+cf =of,X86_64,,\n"
                                "inc,+r8h,=zf =sf =pf =af =of,I386,,\n"
                                "lea,=r64 agen:b+i*4+d8,,X86_64,,\n"
                                "lea,=r32 agen:i*8+d32,,I386,,\n"
                                "mov,=r32 i32,,I386,,\n"
                                "mov,=al moffs8,,I386,,\n"
                                "mul,r8,al =ax =flags,I386,,\n"
                                "cbw,,=ax al,I386,,\n"
                                "setae,=r8,cf,I386,,\n"
                                "cmovg,+r32 r32,zf sf of,CMOV,,\n"
                                "lock cmpxchg,+m32 r32,+eax =flags,I486,,\n"
                                "movdir64b,r64 m512,,MOVDIR64B,,pointer=op1\n"
                                "fadd,+st0 st,=fpsw,X87,,type=f80\n"
                                "paddb,+mm m64,,MMX,,\n"
                                "blendvps,+x x,xmm0,SSE4_1,,type=f32\n"
                                "sqrtsd,+x x,,SSE2,,type=f64\n"
                                "vpgatherdd,+z{k} vm32z,,AVX512F,,\n"
                                "vgatherdps,+y vm32y +y,,AVX2,,type=f32\n"
                                "vaddps,=z{k}{z} z m32{1to16},,AVX512F,,type=f32\n"
                                "vaddps,+z{k} z z {er},,AVX512F,,type=f32\n"
                                "vcmpps,=k{k} z z i8 {sae},,AVX512F,,type=f32\n"
                                "vcompressps,=m512{k} z,,AVX512F,,type=f32\n"
                                "{evex} vaddps,=x x x,,AVX512F+AVX512VL,,type=f32\n"
                                "vxorps,=x x x,,AVX,,type=f32 same\n"
                                "kaddw,=k k k,,AVX512DQ,,\n"
                                "vfmaddps,=x x x x,,FMA4,,type=f32";

static void test_good_rows(void **state)
{
    (void)state;
    const char *const paths[] = {path};
    struct check check;
    write_list(path, good_rows);
    run_check(paths, 1, false, &check);
    check_print(&check, stdout);
    assert_int_equal(check.nproblems, 0);
    assert_int_equal(check.nrows, 29);
    check_free(&check);
}

// Each has exactly one problem, that of its row.
static const struct {
    int line;
    const char *row, *message;
    // clang-format off
} bad_rows[] = {
    {__LINE__, "seamcall,,,I386,,",
        "NASM does not know the mnemonic 'seamcall': it would take it for a label"},
    {__LINE__, "seamcall,r32,,I386,,", "NASM refuses 'seamcall ebx': "},
    {__LINE__, "vaddps,=z z y,,AVX512F,,", "NASM refuses 'vaddps zmm1, zmm4, ymm2': "},
    {__LINE__, "mov,=m32 m32,,I386,,", "NASM refuses"},
    {__LINE__, "resb,i8,,I386,,", "there is no instruction 'resb'"},
    {__LINE__, "vaddps,=x x x,,AVX512F+AVX512VL,,", "the encoding is vex, where the isa"},
    {__LINE__, "vaddps,=x x x,,SSE,,", "where the isa 'SSE' means legacy"},
    {__LINE__, "{evex} vcvtusi2ss,=x x r64,,AVX512F,,enc=vex", NULL},
    {__LINE__, "add,+r32 i32:5,=flags,I386,,", "the constant is encoded in 8 bits"},
    {__LINE__, "add,r32 r32,=flags,I386,,",
        "this operand is read here; for the decoder it is read " "and written"},
    {__LINE__, "add,=r32 r32,=flags,I386,,", "this operand is written here; for the decoder it is"},
    {__LINE__, "mov,+m32 r32,,I386,,", "this operand is read and written here; for the decoder it "
        "is written"},
    {__LINE__, "add,+r32 r32,,I386,,",
        "flags here: none; for the decoder: =cf =pf =af =zf =sf =of"},
    {__LINE__, "inc,+r32,=flags,I386,,", "flags here: =cf =pf"},
    {__LINE__, "cmovb,+r32 r32,zf,CMOV,,", "flags here: zf; for the decoder: cf"},
    {__LINE__, "mul,r32,+eax =flags,I386,,",
        "implicit edx is missing; for the decoder it is written"},
    {__LINE__, "mul,r32,+eax +edx =flags,I386,,", "implicit 'edx' is read and written here"},
    {__LINE__, "mul,r32,+eax =rdx =flags,I386,,", "implicit 'rdx' is edx for the decoder"},
    {__LINE__, "bswap,+r32,+rcx,I486,,", "implicit 'rcx' is not touched for the decoder"},
    {__LINE__, "vaddps,=z{k} z z,,AVX512F,,",
        "this operand is written here; for the decoder it is"},
    {__LINE__, "cmpps,+x x i8,,SSE,,type=f32 bits=32", NULL},
    {__LINE__, "nop,,,I386,,macro=absent.inc:body", "there is no file"},
    {__LINE__, "nop,,,I386,,macro=body", "macro=FILE.inc:NAME:ARGUMENT... names a file"},
    {__LINE__, "nop,,,I386,,macro=../x.inc:body", "macro=FILE.inc:NAME:ARGUMENT... names a file"},
};
// clang-format on

static void test_bad_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad_rows); i++) {
        const char *const paths[] = {path};
        struct check check;
        char where[128];
        write_list(path, bad_rows[i].row);
        run_check(paths, 1, false, &check);
        snprintf(where, sizeof where, "%s:2: ", path);
        size_t wanted = bad_rows[i].message ? 1 : 0;
        const char *text = check.nproblems ? check.problems[0].text : "";
        if (check.nproblems != wanted)
            fail_msg("case of line %d has %zu problems: %s", bad_rows[i].line, check.nproblems,
                     text);
        if (wanted && (strncmp(text, where, strlen(where)) != 0 ||
                       !strstr(text, bad_rows[i].message) || !strchr(text, '^')))
            fail_msg("case of line %d: message is: %s", bad_rows[i].line, text);
        check_free(&check);
    }
}

// One refused row must not hide the others, and all are printed in the order of the lines.
static void test_all_problems_in_order(void **state)
{
    (void)state;
    static const int lines[] = {2, 3, 5, 6, 7, 9};
    const char *const paths[] = {path};
    struct check check;
    write_list(path, "add,+r32 r32,,I386,,\n"
                     "seamcall,,,I386,,\n"
                     "add,+r64 r64,=flags,X86_64,,\n"
                     "add,+r33 r64,=flags,X86_64,,\n"
                     "mov,=m32 m32,,I386,,\n"
                     "tdcall,,,I386,,\n"
                     "sub,+r32 r32,=flags,I386,,\n"
                     "add,+r64 r64,=flags,X86_64,,");
    run_check(paths, 1, false, &check);
    FILE *out = tmpfile();
    assert_non_null(out);
    check_print(&check, out);
    rewind(out);
    assert_int_equal(check.nproblems, ARRAY_LEN(lines));
    size_t found = 0;
    char line[512];
    while (fgets(line, sizeof line, out))
        if (strncmp(line, path, strlen(path)) == 0) {
            assert_true(found < ARRAY_LEN(lines));
            assert_int_equal(atoi(line + strlen(path) + 1), lines[found++]);
        }
    fclose(out);
    assert_int_equal(found, ARRAY_LEN(lines));
    assert_non_null(strstr(check.problems[5].text, "is already in"));
    check_free(&check);
}

static void test_selections(void **state)
{
    (void)state;
    static const struct {
        const char *row, *message;
    } cases[] = {
        {"add,+r32 r32,=flags,I386,T,", NULL                                     },
        {"sub,+r32 r32,=flags,I386,,",  "'sub r32 r32' is in none of lists/*.csv"},
        {"add,=r32 r32,=flags,I386,,",  "differs from the same form in"          },
        {"add,+r32 r32,,I386,,",        "differs from the same form in"          },
        {"add,+r32 r32,=flags,I486,,",  "differs from the same form in"          },
        {"shl,+r64 cl,+flags,X86_64,,", "differs from the same form in"          },
    };
    const char *const paths[] = {path, selection};
    write_list(path, "add,+r32 r32,=flags,I386,,\n"
                     "shl,+r64 cl,+flags,X86_64,,small=op2");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct check check;
        write_list(selection, cases[i].row);
        run_check(paths, 2, true, &check);
        const char *text = NULL;
        for (size_t j = 0; j < check.nproblems; j++) // the others: exceptions that are not needed
            if (strncmp(check.problems[j].text, selection, strlen(selection)) == 0)
                text = check.problems[j].text;
        if (cases[i].message && (!text || !strstr(text, cases[i].message)))
            fail_msg("'%s': %s", cases[i].row, text ? text : "no problem");
        if (!cases[i].message)
            assert_null(text);
        check_free(&check);
    }
}

// An exception that no row needs is reported when all lists are checked.
static void test_unused_exceptions(void **state)
{
    (void)state;
    const char *const paths[] = {path};
    struct check check;
    write_list(path, "add,+r32 r32,=flags,I386,,");
    run_check(paths, 1, true, &check);
    assert_true(check.nproblems > 10);
    assert_non_null(strstr(check.problems[0].text, "no row needs this exception; remove it"));
    check_free(&check);
    run_check(paths, 1, false, &check);
    assert_int_equal(check.nproblems, 0);
    check_free(&check);
}

static void test_coverage(void **state)
{
    (void)state;
    const char *const paths[] = {path};
    struct check check;
    struct err err = {0};
    char text[512] = "";
    write_list(path, "add,+r32 r32,=flags,I386,,\n"
                     "lea,=r64 agen:b+i*4+d8,,X86_64,,\n"
                     "vaddps,=z{k}{z} z z {er},,AVX512F,,type=f32\n"
                     "prefetcht0,m,,SSE,,");
    run_check(paths, 1, false, &check);
    FILE *table = fopen(selection, "w"), *out = tmpfile();
    assert_non_null(table);
    assert_non_null(out);
    fputs("iclass\tform\tenc\tisa_set\texec_status\n"
          "ADD\tadd r32,r32\tlegacy\tI86\tok\n"
          "SUB\tsub r32,r32\tlegacy\tI86\tok\n"
          "SUB\tsub r64,r64\tlegacy\tI86\tSIGILL #UD\n"
          "LEA\tlea r64,agen(B_IS_D8)\tlegacy\tI86\tok\n"
          "PREFETCHT0\tprefetcht0 m512\tlegacy\tSSE\tok\n"
          "VADDPS\tvaddps z{k}{z},z,z,{er}\tevex\tAVX512F_512\tok\n",
          table);
    assert_int_equal(fclose(table), 0);
    assert_int_equal(check_coverage(&check, selection, true, out, &err), 0);
    rewind(out);
    assert_true(fread(text, 1, sizeof text - 1, out) > 0);
    assert_non_null(strstr(text, "missing\tI86\tlegacy\tsub r32,r32\n"));
    assert_non_null(strstr(text, "     2 of      3\nSSE"));
    assert_non_null(strstr(text, "     4 of      5\n"));
    fclose(out);
    assert_int_equal(check_coverage(&check, "/nonexistent", false, stdout, &err), -1);
    assert_non_null(strstr(err.text, "/nonexistent: cannot be read"));
    write_list(selection, "add,+r32 r32,=flags,I386,,");
    assert_int_equal(check_coverage(&check, selection, false, stdout, &err), -1);
    assert_non_null(strstr(err.text, "column 'form' is missing"));
    check_free(&check);
}

// Rows of each encoding of opcode=, whose code has no displacement.
static const char *const opcode_rows[] = {
    "adc,=r64 r64 r64,cf =flags,APX_F+APX_NCI_NDD_NF,,opcode=evex.np.map4.w1.11.vmr.nd",
    "{nf} add,+r64 m64,,APX_F+APX_NCI_NDD_NF,,opcode=evex.np.map4.w1.03.nf",
    "ccmpb,r64 i8,cf =flags,APX_F+APX_NCI_NDD_NF,,opcode=evex.np.map4.w1.83./7.scc2.dfv0",
    "vminmaxps,=z{k}{z} z m32{1to16} i8,,AVX10_2,,type=f32 opcode=evex.66.0f3a.w0.52",
    "vminmaxps,=x x x i8,,AVX10_2,,type=f32 opcode=evex.66.0f3a.w0.52",
    "vsha512rnds2,+y y x,,SHA512,,opcode=vex.f2.0f38.w0.cb",
    "pushp,r64,,APX_F,,stack=-8 opcode=rex2.np.00.w1.50.o",
};

// Returns the rows of opcode_rows, checked and good.
static void check_opcode_rows(struct check *check)
{
    const char *const paths[] = {path};
    char rows[2048] = "";
    for (size_t i = 0; i < sizeof opcode_rows / sizeof opcode_rows[0]; i++)
        snprintf(rows + strlen(rows), sizeof rows - strlen(rows), "%s\n", opcode_rows[i]);
    write_list(path, rows);
    run_check(paths, 1, false, check);
    check_print(check, stdout);
    assert_int_equal(check->nproblems, 0);
    assert_int_equal(check->ncodes, sizeof opcode_rows / sizeof opcode_rows[0]);
}

// Each wrong bit of machine code that the decoder does not know is found.
static void test_wrong_bits(void **state)
{
    (void)state;
    struct check check;
    check_opcode_rows(&check);
    for (int i = 0; i < check.ncodes; i++) {
        const struct check_code *code = &check.codes[i];
        for (size_t bit = 0; bit < 8 * code->len; bit++) {
            unsigned char bytes[16];
            memcpy(bytes, check.bytes + code->offset, code->len);
            bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
            check.nproblems = 0;
            check_prefix(&check, code, bytes);
            bool told = check.nproblems == 1 && strstr(check.problems[0].text, " [prefix]");
            if (!told)
                fail_msg("%s: bit %zu of byte %zu", opcode_rows[i], bit % 8, bit / 8);
        }
    }
    check_free(&check);
}

// LLVM names another register for each wrong bit of the three in the reg field, and nothing for the
// code as it is.
static void test_llvm(void **state)
{
    (void)state;
    enum { RIGHT = 1, WRONG = 3 };
    struct check check;
    struct err err;
    check_opcode_rows(&check);
    const struct check_code right = check.codes[0]; // adc: the ModR/M byte is the last one
    struct check_code codes[RIGHT + WRONG];
    unsigned char bytes[(RIGHT + WRONG) * 16];
    for (int i = 0; i < RIGHT + WRONG; i++) {
        codes[i] = right;
        codes[i].offset = (size_t)i * right.len;
        memcpy(bytes + codes[i].offset, check.bytes + right.offset, right.len);
        if (i >= RIGHT)
            bytes[codes[i].offset + right.len - 1] ^= (unsigned char)(8 << (i - RIGHT));
    }
    check.codes = codes;
    check.ncodes = RIGHT + WRONG;
    check.bytes = bytes;
    int known = llvm_check(&check, &err);
    if (known == 0) { // no LLVM that knows these
        check_free(&check);
        skip();
    }
    assert_int_equal(known, RIGHT + WRONG);
    assert_int_equal(check.nproblems, WRONG);
    for (int i = 0; i < WRONG; i++)
        assert_non_null(strstr(check.problems[i].text, "[llvm]"));
    check_free(&check);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_rows),
        cmocka_unit_test(test_bad_rows),
        cmocka_unit_test(test_all_problems_in_order),
        cmocka_unit_test(test_selections),
        cmocka_unit_test(test_unused_exceptions),
        cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_wrong_bits),
        cmocka_unit_test(test_llvm),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
