#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput.h and liblatput as users have them: the header in C11 and C++17 with each compiler at hand
# and no warning, linked with the archive and with the shared library, and found after `make
# install`.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "${BASH_SOURCE[0]}")/../cli/cli.sh"
ERR_WARNINGS=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Werror -O2)
libs=(-lcsv -lm -pthread)
compiled=0

# compile COMMAND...: must succeed without a word.
compile() {
    CLI_COMMAND="$*"
    "$@" >"$OUT" 2>"$ERR"
    STATUS=$?
    expect_status 0
    expect_no_out
    compiled=$((compiled + 1))
}

# The header alone, in both languages: no library is linked.
cat >stamp.c <<'C'
#include <latput.h>
#include <stdio.h>
int main(void)
{
    double overhead = latput_overhead();
    uint64_t begin = latput_begin();
    unsigned value = 3;
    LATPUT_KEEP(value);
    uint64_t end = latput_end();
    return printf("%u %.1f %.1f\n", value, overhead, (double)(end - begin)) < 0 || overhead <= 0;
}
C
cp stamp.c stamp.cpp
cat >measure.cpp <<'C'
#include <latput.h>
#include <cstdio>
#include <vector>
static void sum(void *data)
{
    const std::vector<int> &values = *static_cast<std::vector<int> *>(data);
    int total = 0;
    for (int value : values)
        total += value;
    LATPUT_KEEP(total);
}
int main()
{
    std::vector<int> values(1000, 1);
    latput_test test = {};
    test.test = sum;
    test.data = &values;
    test.repetitions = 20;
    latput_result result;
    latput_measure(&test, &result);
    std::puts(result.message); // of fewer repetitions, or of no core cycles, where it is so
    for (int i = 0; i < result.ncolumns; i++)
        std::printf("%s %.1f\n", result.columns[i].name, result.columns[i].summary.median);
    latput_result_free(&result);
    return 0;
}
C
# Programs without a sanitizer cannot be linked with a library that has one.
sanitize=()
if nm "$BUILD/liblatput.a" 2>/dev/null | grep -q __asan_init; then
    sanitize=(-fsanitize=address -fsanitize=undefined)
fi
for compilers in 'gcc g++' 'clang clang++'; do
    read -r c cpp <<<"$compilers"
    if command -v "$c" >/dev/null; then
        compile "$c" -std=c11 "${ERR_WARNINGS[@]}" -I "$TREE/include" stamp.c -o "stamp.$c"
        expect "runs" "./stamp.$c"
        # A library with gcc's sanitizer does not go with clang's.
        [ "${#sanitize[@]}" = 0 ] || [ "$c" = gcc ] || continue
        compile "$c" -std=c11 "${ERR_WARNINGS[@]}" "${sanitize[@]}" -I "$TREE/include" \
            "$TREE/tests/fixtures/examples/linearity.c" "$BUILD/liblatput.a" "${libs[@]}" -o \
            "linearity.$c"
        compile "$c" -std=c11 "${ERR_WARNINGS[@]}" "${sanitize[@]}" -I "$TREE/include" \
            "$TREE/tests/fixtures/examples/measure.c" "$BUILD/liblatput.a" "${libs[@]}" -o \
            "measure.$c"
        "./measure.$c" no_such_event >"$OUT" 2>"$ERR"
        [ -d /usr/share/latput ] || [ -d /usr/local/share/latput ] ||
            expect_err 'measured without counters: .*LATPUT_ROOT'
        LATPUT_ROOT=$TREE "./measure.$c" no_such_event >"$OUT" 2>"$ERR"
        expect_err "measured without counters: .*no_such_event"
        grep -q '^no core cycles' "$ERR" || expect_out '^clk +-?[0-9.]+|^0 repetitions'
    fi
    if command -v "$cpp" >/dev/null && echo '#include <vector>' |
        "$cpp" -x c++ -fsyntax-only - 2>/dev/null; then
        compile "$cpp" -std=c++17 "${ERR_WARNINGS[@]}" -I "$TREE/include" stamp.cpp -o "stamp.$cpp"
        expect "runs" "./stamp.$cpp"
        [ "${#sanitize[@]}" = 0 ] || [ "$cpp" = g++ ] || continue
        compile "$cpp" -std=c++17 "${ERR_WARNINGS[@]}" "${sanitize[@]}" -I "$TREE/include" \
            measure.cpp -L "$BUILD" -llatput "-Wl,-rpath,$BUILD" -o "measure.$cpp"
        "./measure.$cpp" >"$OUT" 2>"$ERR"
        STATUS=$?
        expect_status 0
        expect_out '^clk -?[0-9.]+$|disturbed|^no core cycles'
    fi
done
expect "some compiler" test "$compiled" -ge 2
if echo 'int main(void) { return 0; }' | gcc -m32 -x c -o probe32 - 2>/dev/null && ./probe32; then
    compile gcc -m32 -std=c11 "${ERR_WARNINGS[@]}" -I "$TREE/include" stamp.c -o stamp32
    expect "runs" ./stamp32
fi

# The archive has no symbols but those of latput.h.
nm -g --defined-only "$BUILD/liblatput.a" | awk 'NF == 3 { print $3 }' | grep -v '^latput_' |
    grep -v '^__[oa][ds][ra][n_]' >foreign
expect "no foreign symbols" test ! -s foreign

# Found by pkg-config, or by hand, after make install; not with the compiler of another build.
if [ "${#sanitize[@]}" = 0 ]; then
    CLI_COMMAND='make install'
    make -s -C "$TREE" install "BUILD=${BUILD#"$TREE"/}" PREFIX="$SCRATCH/prefix" >"$OUT" 2>"$ERR"
    STATUS=$?
    expect_status 0
    expect "latput.pc" grep -qx "prefix=$SCRATCH/prefix" prefix/lib/pkgconfig/latput.pc
    expect "Libs" grep -q '^Libs: .*-llatput' prefix/lib/pkgconfig/latput.pc
    flags=("-I$SCRATCH/prefix/include" "-L$SCRATCH/prefix/lib" -llatput)
    if command -v pkg-config >/dev/null; then
        read -ra flags < <(PKG_CONFIG_PATH=$SCRATCH/prefix/lib/pkgconfig pkg-config --cflags \
            --libs latput)
    fi
    cat >counters.c <<'C'
#include <latput.h>
#include <stdio.h>
int main(void)
{
    char error[512] = "";
    struct latput_counters *counters = latput_counters_open("no_such_event", error, sizeof error);
    printf("%s\n", error);
    return counters != NULL;
}
C
    compile gcc -O2 counters.c "${flags[@]}" -o counters
    # Only with the tables of the installed tree can it say that there is no such event.
    LD_LIBRARY_PATH=$SCRATCH/prefix/lib ./counters >"$OUT" 2>"$ERR"
    STATUS=$?
    expect_status 0
    expect_out "no_such_event"
    if command -v sqlite3 >/dev/null; then
        sqlite3 -cmd ".load prefix/lib/latput_sqlite" :memory: \
            "SELECT outcome FROM latput_bench('ud2')" \
            >"$OUT" 2>"$ERR"
        STATUS=$?
        expect_status 0
        expect_out '^unsupported$'
    fi
fi
finish
