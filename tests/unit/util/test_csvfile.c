// SPDX-License-Identifier: MIT
// csv_file_read: what it accepts, and the message for each kind of bad file.
#include "util/csvfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const columns[] = {"name", "value", "note"};
static const struct csv_spec spec = {columns, 3, 1};
static char directory[] = "/tmp/latput-csv-XXXXXX";
static char path[64];

static void write_file(const char *bytes, size_t len)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

static int setup(void **state)
{
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/t.csv", directory);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(directory);
}

static void test_reads_records(void **state)
{
    (void)state;
    static const char text[] = "\xef\xbb\xbf# Title of it \n#\tsource: x\n\n value , name\r\n"
                               "1, one\r\n  # a comment\n\"a,\"\"b\",two\n,\n  3 4 ,\"\xc3\xa9\"";
    write_file(text, sizeof text - 1);
    struct csv_file file;
    struct err err = {0};
    if (csv_file_read(path, &spec, &file, &err))
        fail_msg("%s", err.text);
    assert_int_equal(file.ncomments, 2);
    assert_string_equal(file.comments[0], "Title of it");
    assert_string_equal(file.comments[1], "source: x");
    static const struct {
        int line;
        const char *name, *value;
        int name_column, value_column;
        const char *heading;
    } want[] = {
        {5, "one",      "1",     4, 1, ""         },
        {7, "two",      "a,\"b", 9, 2, "a comment"},
        {8, "",         "",      2, 1, "a comment"},
        {9, "\xc3\xa9", "3 4",   9, 3, "a comment"},
    };
    assert_int_equal(file.nrecords, ARRAY_LEN(want));
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        const struct csv_record *record = &file.records[i];
        assert_int_equal(record->line, want[i].line);
        assert_string_equal(record->heading, want[i].heading);
        assert_string_equal(record->fields[0], want[i].name);
        assert_string_equal(record->fields[1], want[i].value);
        assert_string_equal(record->fields[2], "");
        assert_int_equal(record->field_columns[0], want[i].name_column);
        assert_int_equal(record->field_columns[1], want[i].value_column);
    }
    assert_string_equal(file.records[0].text, "1, one");
    csv_file_free(&file);
}

#define TEXT(s) s, sizeof(s) - 1
static const struct {
    int line;
    const char *bytes;
    size_t len;
    const char *message; // after the path
    // clang-format off
} bad[] = {
    {__LINE__, TEXT(""), ": no header row; it must name the columns: name,value,note"},
    {__LINE__, TEXT("# only a comment\n"), ": no header row"},
    {__LINE__, TEXT("name,colour\n"), ":1: unknown column 'colour'; the columns are: name,value,"
        "note\n  name,colour\n       ^"},
    {__LINE__, TEXT("name\n"), ":1: column 'value' is missing"},
    {__LINE__, TEXT("name,value,name\n"), ":1: column 'name' appears twice\n  name,value,name\n"
        "             ^"},
    {__LINE__, TEXT("name,value\na,b\nc\n"), ":3: 1 fields where the header has 2"},
    {__LINE__, TEXT("name,value\na,b,c\n"), ":2: 3 fields where the header has 2; a field with a "
        "comma needs quotes\n  a,b,c\n      ^"},
    {__LINE__, TEXT("name,value\na,\"b\nc,d\n"), ":2: this quoted field has no closing quote in "
        "its line\n  a,\"b\n    ^"},
    {__LINE__, TEXT("name,value\na,b\"c\n"), ":2: quote inside a field"},
    {__LINE__, TEXT("name,value\na,\"b\"c\n"), ":2: quote inside a field"},
    {__LINE__, TEXT("name,value\na,b\0c\n"), ":2: holds a NUL byte: this is not a text file"},
    {__LINE__, TEXT("\177ELF\2\1\1\0\0\0"), ":1: holds a NUL byte"},
    {__LINE__, TEXT("name,value\n\xc0\xaf,b\n"), ":2: byte 1 (0xc0) is not valid UTF-8"},
    {__LINE__, TEXT("name,value\na,\xed\xa0\x80\n"), ":2: byte 3 (0xed) is not valid UTF-8"},
    {__LINE__, TEXT("name,value\na,\xe2\x82\n"), ":2: byte 3 (0xe2) is not valid UTF-8"},
    {__LINE__, TEXT("name,value\n\xc3\xa9\t,b,c\n"), "needs quotes\n  \xc3\xa9\t,b,c\n   \t   ^"},
};
// clang-format on

static void test_refuses_bad_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        write_file(bad[i].bytes, bad[i].len);
        struct csv_file file;
        struct err err = {0};
        if (csv_file_read(path, &spec, &file, &err) != -1)
            fail_msg("case of line %d was accepted", bad[i].line);
        if (strncmp(err.text, path, strlen(path)) != 0 || !strstr(err.text, bad[i].message))
            fail_msg("case of line %d: message is: %s", bad[i].line, err.text);
    }
}

static void test_refuses_what_is_no_file(void **state)
{
    (void)state;
    struct csv_file file;
    struct err err = {0};
    assert_int_equal(csv_file_read("/nonexistent/x.csv", &spec, &file, &err), -1);
    assert_string_equal(err.text, "/nonexistent/x.csv: cannot be read: No such file or directory");
    assert_int_equal(csv_file_read("/", &spec, &file, &err), -1);
    assert_string_equal(err.text, "/: is a directory; name the CSV files in it");
    if (geteuid() != 0) { // root reads everything
        write_file(TEXT("name,value\n"));
        assert_int_equal(chmod(path, 0), 0);
        assert_int_equal(csv_file_read(path, &spec, &file, &err), -1);
        assert_non_null(strstr(err.text, "cannot be read: Permission denied"));
        assert_int_equal(chmod(path, 0600), 0);
    }
}

static void test_refuses_gigantic_file(void **state)
{
    (void)state;
    write_file(TEXT("name,value\n"));
    assert_int_equal(truncate(path, 65L * 1024 * 1024), 0); // sparse: takes no room
    struct csv_file file;
    struct err err = {0};
    assert_int_equal(csv_file_read(path, &spec, &file, &err), -1);
    assert_non_null(strstr(err.text, "larger than 64 MiB"));
}

static void test_message_of_long_line_is_short(void **state)
{
    (void)state;
    char line[5000];
    memset(line, 'x', sizeof line);
    line[2499] = '!';
    line[sizeof line - 1] = '\0';
    struct err err = {0};
    const struct csv_place within = {"p", 7, line, 2500}, beyond = {"p", 7, "abc", 99};
    assert_int_equal(csv_error_at(&within, &err, "wrong"), -1);
    assert_int_equal(err.line, 7);
    assert_int_equal(err.column, 2500);
    assert_true(strlen(err.text) < 300);
    const char *shown = strchr(err.text, '\n') + 1, *below = strchr(shown, '\n') + 1;
    assert_int_equal(strchr(below, '^') - below, strchr(shown, '!') - shown);
    csv_error_at(&beyond, &err, "beyond");
    assert_string_equal(err.text, "p:7: beyond\n  abc\n     ^");
}

static void test_messages_of_a_record_point_at_its_field(void **state)
{
    (void)state;
    static const char *const fields[] = {"ab", "cde", ""};
    static const int field_columns[] = {1, 5, 8};
    const struct csv_record record = {3, "ab, cde,", fields, field_columns, ""};
    struct err err = {0};
    assert_int_equal(csv_record_error("p", &record, 1, &err, "no %s", "number"), -1);
    assert_string_equal(err.text, "p:3: no number\n  ab, cde,\n      ^");
    assert_int_equal(csv_record_error("p", &record, -1, &err, "twice"), -1);
    assert_string_equal(err.text, "p:3: twice\n  ab, cde,\n  ^");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_records),
        cmocka_unit_test(test_refuses_bad_files),
        cmocka_unit_test(test_refuses_what_is_no_file),
        cmocka_unit_test(test_refuses_gigantic_file),
        cmocka_unit_test(test_message_of_long_line_is_short),
        cmocka_unit_test(test_messages_of_a_record_point_at_its_field),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
