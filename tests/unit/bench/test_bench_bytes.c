// SPDX-License-Identifier: MIT
// Code from outside: digits, listings, text for binutils' assembler, ELF files, and the text that
// bytes become. Nothing is measured.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/bench_elf.h"
#include "bench/bench_gas.h"
#include "bench/bench_input.h"
#include "bench/bench_listing.h"
#include "bench/bench_source.h"
#include "util/scratch.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct arena arena;

static int free_arena(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static void digits_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text, *bytes; // bytes NULL: refused
        size_t len;
    } cases[] = {
        {"480fafc3",             "\x48\x0f\xaf\xc3", 4},
        {"48 0F af\nc3 ",        "\x48\x0f\xaf\xc3", 4},
        {"0x48, 0x0f,0xaf,0xc3", "\x48\x0f\xaf\xc3", 4},
        {"\\x48\\x0f\\xaf\\xc3", "\x48\x0f\xaf\xc3", 4},
        {"480fafc",              NULL,               0},
        {"48zz",                 NULL,               0},
        {" ",                    NULL,               0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct bench_bytes code;
        struct err err = {0};
        int status = bench_bytes_read_hex(cases[i].text, &code, &arena, &err);
        assert_int_equal(status, cases[i].bytes ? 0 : -1);
        if (status != 0) {
            assert_true(*err.text);
            continue;
        }
        assert_int_equal(code.len, cases[i].len);
        assert_memory_equal(code.bytes, cases[i].bytes, code.len);
    }
    assert_true(bench_bytes_is_hex("480fafc3", 8));
    assert_false(bench_bytes_is_hex("480fafc", 7));
    assert_false(bench_bytes_is_hex("fadd", 4));
    assert_false(bench_bytes_is_hex("nop", 3));
    assert_false(bench_bytes_is_hex("", 0));
}

static const char listing[] = "\n"
                              "dot:     file format elf64-x86-64\n"
                              "0000000000001190 <dot>:\n"
                              "    11a0:\tf2 0f 10 04 c7       \tmovsd  (%rdi,%rax,8),%xmm0\n"
                              "    11a5:\t48 c7 44 24 f0 00 00 \tmovq   $0x0,-0x10(%rsp)\n"
                              "    11ac:\t00 00 \n"
                              "    11ae:\t75 f0                \tjne    11a0 <dot+0x10>\n";
static const char annotated[] = " Percent |      Source code & Disassembly of dot\n"
                                "         :\n"
                                "    0.00 :   11a0:   movsd  xmm0,QWORD PTR [rdi+rax*8]\n"
                                "   12.50 :   11a5:   add    rax,0x1   # comment\n"
                                "    0.00 :   11a9:   je     12f0 <out>\n"
                                "    0.00 :   11ab:   jne    11a0 <dot+0x10>\n";

static void listings_are_read(void **state)
{
    (void)state;
    struct bench_listing read;
    struct err err = {0};
    assert_true(bench_text_is_listing(listing));
    assert_true(bench_text_is_listing(annotated));
    // Labels of NASM that are digits, too.
    assert_false(bench_text_is_listing("add: db 90\nface: nop"));
    assert_int_equal(bench_listing_read(listing, 64, &read, &arena, &err), 0);
    assert_int_equal(read.code.len, 16);
    assert_int_equal(read.code.address, 0x11a0);
    assert_null(read.text);
    assert_memory_equal(read.code.bytes + 12, "\0\0\x75\xf0", 4);
    assert_int_equal(bench_listing_read(annotated, 64, &read, &arena, &err), 0);
    assert_string_equal(read.text, "L11a0: movsd  xmm0,QWORD PTR [rdi+rax*8]\n"
                                   "L11a5: add    rax,0x1\n"
                                   "L11a9: je .+1048576\n"
                                   "L11ab: jne L11a0\n");
    assert_int_equal(read.lines[1], 4);
    assert_int_equal(bench_listing_read("10: 90 nop\n20: 90 nop", 64, &read, &arena, &err), -1);
    assert_non_null(strstr(err.text, "2: address 20 after code up to 11"));
    assert_int_equal(bench_listing_read("10: 90 nop\n11: nop", 64, &read, &arena, &err), -1);
    assert_int_equal(bench_listing_read("no code", 64, &read, &arena, &err), -1);
}

static void directives_are_refused(void **state)
{
    (void)state;
    static const char *const good[] = {
        "imul %rbx, %rax; add %rcx, %rax # comment; .incbin\nx: dec %eax; jne x", "rep movsb",
        "1: {evex} vaddps %xmm0, %xmm1, %xmm2", "lock addl $1, 8(%rdi)", ""};
    static const char *const bad[] = {"nop; .incbin \"/etc/passwd\"",
                                      "x: .include \"a\"",
                                      ".rept 1000000000",
                                      "\n\n.macro a",
                                      "a = 5",
                                      ". = . + 1000000",
                                      "movb $'a', %al",
                                      "nop \\a",
                                      "x: y: .byte 1",
                                      "nop\r.byte 1"};
    struct err err = {0};
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        if (bench_gas_check(good[i], &err) != 0)
            fail_msg("%s: %s", good[i], err.text);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (bench_gas_check(bad[i], &err) == 0)
            fail_msg("'%s' passes", bad[i]);
    assert_int_equal(bench_gas_check("nop\nnop; .incbin \"x\"", &err), -1);
    assert_int_equal(strncmp(err.text, "2: '.incbin'", 12), 0);
    assert_true(bench_text_is_att("add %rax, %rbx"));
    assert_false(bench_text_is_att("%rep 3\n%endrep"));
    assert_false(bench_text_is_att("mov eax, %1"));
    assert_true(bench_text_is_intel("inc rax\nadd eax, DWORD PTR [rdi]"));
    assert_true(bench_text_is_intel("movzx eax, byte ptr[rdi]"));
    assert_false(bench_text_is_intel("mov eax, dword [ptr]"));
    assert_false(bench_text_is_intel("ptr: dec dword [ptr + 8]"));
}

static int assembled(const char *text, enum bench_syntax syntax, struct bench_bytes *code,
                     bool *refused, struct err *err)
{
    char *directory = scratch_begin(err);
    assert_non_null(directory);
    *code = (struct bench_bytes){.bits = 64};
    struct bench_reading reading = {directory, &arena, false};
    int status = bench_gas_assemble(&reading, text, NULL, syntax, code, err);
    *refused = reading.refused;
    scratch_end(directory, false);
    return status;
}

static void text_is_assembled(void **state)
{
    (void)state;
    struct bench_bytes code;
    struct err err = {0};
    bool refused;
    assert_int_equal(assembled("imul %rbx, %rax", BENCH_ATT, &code, &refused, &err), 0);
    assert_int_equal(code.len, 4);
    assert_memory_equal(code.bytes, "\x48\x0f\xaf\xc3", 4);
    assert_int_equal(assembled("imul rax, rbx", BENCH_INTEL, &code, &refused, &err), 0);
    assert_memory_equal(code.bytes, "\x48\x0f\xaf\xc3", 4);
    assert_int_equal(assembled("nop\nfoo %rax", BENCH_ATT, &code, &refused, &err), -1);
    assert_true(refused);
    assert_int_equal(strncmp(err.text, "2: as says: ", 12), 0);
    assert_int_equal(assembled("call printf", BENCH_ATT, &code, &refused, &err), -1);
    assert_true(refused);
}

static int made(const char *hex, bool own, struct bench_bytes_text *text, struct err *err)
{
    struct bench_bytes code = {.bits = 64};
    assert_int_equal(bench_bytes_read_hex(hex, &code, &arena, err), 0);
    code.own = own;
    return bench_bytes_text(&code, NULL, text, &arena, err);
}

static void bytes_become_text(void **state)
{
    (void)state;
    struct bench_bytes_text text;
    struct err err = {0};
    assert_int_equal(made("488b07", true, &text, &err), 0); // mov rax, [rdi]
    assert_string_equal(text.body, "db 0x48, 0x8b, 0x07\n");
    assert_non_null(strstr(text.init, "lea rdi, [r14+"));
    assert_int_equal(text.copies, 1);
    assert_false(text.linked);
    // add rax, [rip+0x10]: an address of its own; the immediate stays behind it.
    assert_int_equal(made("48810510000000aabbcc0d", true, &text, &err), 0);
    assert_string_equal(text.body, "db 0x48, 0x81, 0x04, 0x25\ndd latput_far0 + 0\n"
                                   "db 0xaa, 0xbb, 0xcc, 0x0d\n");
    assert_true(text.linked);
    assert_non_null(strstr(text.init, "mov rax, latput_far0 + 64\nmov ecx, 64\n"
                                      ".far: mov [latput_far0+rcx*8-8], rax\n"));
    // lea rdi, [rip+0x780f2] stays what it is; lea rax, [rip+0x10]; mov ecx, [rax] has its place.
    assert_int_equal(made("488d3df2800700", true, &text, &err), 0);
    assert_string_equal(text.body, "db 0x48, 0x8d, 0x3d, 0xf2, 0x80, 0x07, 0x00\n");
    assert_false(text.linked);
    assert_int_equal(made("488d05100000008b08", true, &text, &err), 0);
    assert_string_equal(text.body, "db 0x48, 0x8d, 0x04, 0x25\ndd latput_far0 + 0\n"
                                   "db 0x8b, 0x08\n");
    // inc r15; a push: exchanges of registers, and no more copies than the stack has room for.
    assert_int_equal(made("49ffc7", true, &text, &err), 0);
    assert_true(text.copies > 100);
    assert_non_null(strstr(text.body, "mov r15, [latput_kept0+8]"));
    assert_int_equal(made("4881ec00100000", true, &text, &err), 0); // sub rsp, 4096
    assert_int_equal(text.copies, 6);
    assert_int_equal(made("5058", true, &text, &err), 0); // push rax; pop rax
    assert_int_equal(text.copies, 1);
    // A loop loses its comparison and its jump; another exit falls through.
    assert_int_equal(made("4883c00184db740439c875f4", true, &text, &err), 0);
    assert_true(text.looped);
    assert_string_equal(text.body, "db 0x48, 0x83, 0xc0, 0x01\ndb 0x84, 0xdb\ndb 0x74, 0x00\n");
    static const char *const refused[] = {"4889", "c3",     "e800000000",   "0f05", "eb00",
                                          "75fe", "750090", "7402900f1f00", "cd80", "ff27"};
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (made(refused[i], true, &text, &err) == 0)
            fail_msg("%s passes: %s", refused[i], text.body);
    // Text of the user's may jump within itself, but not out of it.
    assert_int_equal(made("ffc875fc", false, &text, &err), 0);
    assert_string_equal(text.body, "db 0xff, 0xc8\ndb 0x75, 0xfc\n");
    assert_int_equal(made("7510", false, &text, &err), -1);
}

// Registers begin with addresses where code gets its addresses from them, and where they make its
// accesses aligned; places of several codes in one program have names of their own.
static void addresses_are_found(void **state)
{
    (void)state;
    struct bench_bytes_text text;
    struct err err = {0};
    // mov rdx, rax; mov rdx, [rdx]
    assert_int_equal(made("4889c2488b12", true, &text, &err), 0);
    assert_non_null(strstr(text.init, "lea rax, [r14+512]"));
    assert_int_equal(text.first[0].kind, BENCH_REGISTER_DATA);
    assert_int_equal(text.first[0].value, 512);
    assert_int_equal(text.first[3].kind, BENCH_REGISTER_AS_TEXT);
    // add rdx, rcx; mov rax, [rdx+rsi*8]: what is added and what scales are 0.
    assert_int_equal(made("4801ca488b04f2", true, &text, &err), 0);
    assert_non_null(strstr(text.init, "xor rcx, rcx"));
    assert_non_null(strstr(text.init, "xor rsi, rsi"));
    assert_int_equal(text.first[1].kind, BENCH_REGISTER_NUMBER);
    // movaps [rsp+0x30], xmm5; then the beginning of a function, whose pushes move it by 104.
    assert_int_equal(made("0f296c2430", true, &text, &err), 0);
    assert_non_null(strstr(text.init, "lea rsp, [r14+33024]"));
    assert_int_equal(made("55534883ec580f29442420", true, &text, &err), 0);
    assert_non_null(strstr(text.init, "lea rsp, [r14+33032]"));
    assert_non_null(strstr(text.body, "lea rsp, [rsp+104]"));
    // movaps xmm0, [rbx+8]
    assert_int_equal(made("0f284308", true, &text, &err), 0);
    assert_non_null(strstr(text.init, "lea rbx, [r14+520]"));
    // mov eax, [rip+0x101]; movdqa xmm5, [rip+0x201]: the aligned one decides.
    assert_int_equal(made("8b0501010000660f6f2d01020000", true, &text, &err), 0);
    assert_non_null(strstr(text.body, "dd latput_far0 + 56"));
    assert_non_null(strstr(text.body, "dd latput_far0 + 320"));
    // Numbers in memory, unless a register is loaded: then they are addresses, and count as 0.
    assert_int_equal(made("f20f1007", true, &text, &err), 0); // movsd xmm0, [rdi]
    assert_null(strstr(text.init, "ldmxcsr"));
    assert_int_equal(made("f20f1007488b06", true, &text, &err), 0); // and mov rax, [rsi]
    assert_non_null(strstr(text.init, "ldmxcsr [r14]"));
    struct bench_bytes code = {.bits = 64};
    assert_int_equal(bench_bytes_read_hex("8b0501000000", &code, &arena, &err), 0);
    code.number = 7;
    assert_int_equal(bench_bytes_text(&code, NULL, &text, &arena, &err), 0);
    assert_non_null(strstr(text.init, "latput_far7:"));
}

static void put_file(const char *path, const void *bytes, size_t len)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

// Each byte of the heads of this test's own program is changed, and the file is cut: the reader
// says no, or something, and stays inside of the file.
static void damaged_files_are_told(void **state)
{
    (void)state;
    static uint8_t bytes[1 << 20];
    char path[] = "/tmp/test_bench_bytes.XXXXXX";
    FILE *self = fopen("/proc/self/exe", "r");
    int fd = mkstemp(path);
    assert_true(self && fd >= 0);
    size_t len = fread(bytes, 1, sizeof bytes, self);
    fclose(self);
    const size_t sizes[] = {0, 3, 17, sizeof(Elf64_Ehdr) - 1, sizeof(Elf64_Ehdr), len / 2, len};
    for (size_t i = 0; i < ARRAY_LEN(sizes) + sizeof(Elf64_Ehdr); i++) {
        struct bench_elf elf;
        struct bench_elf_functions functions;
        struct bench_bytes code;
        struct err err = {0};
        size_t at = i < ARRAY_LEN(sizes) ? 0 : i - ARRAY_LEN(sizes);
        if (i >= ARRAY_LEN(sizes))
            bytes[at] ^= 0xff;
        put_file(path, bytes, i < ARRAY_LEN(sizes) ? sizes[i] : len);
        if (i >= ARRAY_LEN(sizes))
            bytes[at] ^= 0xff;
        if (bench_elf_open(path, &elf, &err) != 0) {
            assert_true(*err.text);
            continue;
        }
        if (bench_elf_functions(&elf, false, &functions, &arena, &err) != 0)
            assert_true(*err.text);
        assert_int_equal(bench_elf_code(&elf, 16, UINT64_MAX, &code, &err), -1);
        bench_elf_close(&elf);
    }
    close(fd);
    remove(path);
}

static void functions_are_found(void **state)
{
    (void)state;
    struct bench_elf elf;
    struct bench_elf_functions functions;
    struct err err = {0};
    const struct bench_elf_function *found = NULL;
    uint64_t from, to;
    assert_true(bench_elf_is_linked("/proc/self/exe"));
    assert_int_equal(bench_elf_open("/proc/self/exe", &elf, &err), 0);
    assert_int_equal(bench_elf_functions(&elf, true, &functions, &arena, &err), 0);
    for (size_t i = 0; i < functions.n; i++)
        if (strcmp(functions.functions[i].name, "bench_bytes_read_hex") == 0)
            found = &functions.functions[i];
    assert_non_null(found);
    struct bench_bytes code;
    assert_int_equal(bench_elf_code(&elf, found->address, found->address + found->len, &code, &err),
                     0);
    assert_int_equal(code.bits, 64);
    bench_elf_close(&elf);
    assert_int_equal(bench_elf_range("11a0..0x11b7", &from, &to, &err), 0);
    assert_int_equal(from, 0x11a0);
    assert_int_equal(to, 0x11b7);
    assert_int_equal(bench_elf_range("11a0", &from, &to, &err), -1);
    assert_int_equal(bench_elf_range("11b7..11a0", &from, &to, &err), -1);
    assert_int_equal(bench_elf_range("a..bz", &from, &to, &err), -1);
}

// Arguments that are asked for come last, the default ones give way to registers of init.
static void calls_are_made(void **state)
{
    (void)state;
#define CALL_64 "mov eax, latput_function\ncall rax\n"
#define DEFAULT_64 "mov rdi, r14\nmov rsi, 65536\n"
#define KEPT "call [latput_entry]\n"
    // clang-format off
    static const struct {
        const char *args, *init, *call; // call NULL: refused
        int bits;
    } cases[] = {
        {NULL, NULL, DEFAULT_64 CALL_64, 64},
        {"data+64, data-8 , 0x10", NULL,
         "lea rdi, [r14+64]\nlea rsi, [r14+-8]\nmov rdx, 16\n" CALL_64, 64},
        {"data, 7", NULL,
         "sub esp, 8\npush dword 7\npush ebp\nmov eax, latput_function\ncall eax\nadd esp, 16\n",
         32},
        {NULL, "mov esi, 10; mov [r14], rsi", DEFAULT_64 "mov rsi, [latput_kept+0]\n" KEPT, 64},
        {"5", "mov edi, 10; vxorps ymm3, ymm3, ymm3",
         "mov rdi, [latput_kept+0]\nvmovups ymm3, [latput_kept+64]\nmov rdi, 5\n" KEPT, 64},
        {"5", "mov ecx, 10",
         "sub esp, 12\npush dword 5\nmov ecx, [latput_kept+0]\n" KEPT "add esp, 16\n", 32},
        {NULL, "mov r14d, 1; push rax; pop r15", DEFAULT_64 CALL_64, 64},
        {"1, 2, 3, 4, 5, 6, 7", NULL, NULL, 64},
        {"data, ", NULL, NULL, 64},
        {"datum", NULL, NULL, 64},
        {"data+", NULL, NULL, 64},
        {"data+9999999999", NULL, NULL, 64},
        {"1; syscall", NULL, NULL, 64},
    };
    // clang-format on
    struct err err = {0};
    char *directory = scratch_begin(&err);
    assert_non_null(directory);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct bench_spec spec = {.args = cases[i].args, .init = cases[i].init};
        struct bench_call call;
        int status = bench_call_make(&spec, cases[i].bits, directory, &call, &arena, &err);
        assert_int_equal(status, cases[i].call ? 0 : -1);
        if (status == 0)
            assert_string_equal(call.call, cases[i].call);
        else
            assert_true(*err.text);
    }
    scratch_end(directory, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_are_read),        cmocka_unit_test(listings_are_read),
        cmocka_unit_test(directives_are_refused), cmocka_unit_test(text_is_assembled),
        cmocka_unit_test(bytes_become_text),      cmocka_unit_test(damaged_files_are_told),
        cmocka_unit_test(addresses_are_found),    cmocka_unit_test(functions_are_found),
        cmocka_unit_test(calls_are_made),
    };
    return cmocka_run_group_tests(tests, NULL, free_arena);
}
