# SPDX-License-Identifier: MIT
# Sourced by tests that take a kit: makes one of this build, once for all of them.
# shellcheck shell=bash

# kit_fixture FILE: copies a kit to it; ends the test as skipped where none can be made.
kit_fixture() {
    local made=$FIXTURES/kit.run
    needs gcc nasm xz
    printf '#include <lzma.h>\n' | gcc -E - >/dev/null 2>&1 ||
        { echo "liblzma-dev is missing" && exit 77; }
    mkdir -p "$FIXTURES"
    (
        flock 9
        [ -e "$made" ] || kit_make "$made" >"$OUT" 2>"$ERR"
    ) 9>"$made.lock" && cp "$made" "$1" && return
    cli_fail "no kit can be made"
    exit 1
}
# Packs it quickly rather than small.
kit_make() {
    make -s -C "$TREE" BUILD="$BUILD" "$BUILD/kit_starter" || return
    # shellcheck disable=SC2046 # files have no blanks
    (cd "$TREE" && find lists macros cpuinfo db/*.sql site -type f ! -name '*.[ch]' |
        LC_ALL=C sort | KIT_XZ=-0 packaging/kit/make "$BUILD" "$1" \
        $(ls "$BUILD"/core??.o "$BUILD"/linked??))
}
