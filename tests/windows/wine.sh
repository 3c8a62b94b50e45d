# SPDX-License-Identifier: MIT
# Sourced by tests of measuring on Windows: begins wine with a prefix of its own in $SCRATCH, and
# has latput measure there. Status 77: something that it takes is missing.
# shellcheck shell=bash
# shellcheck source=tests/cli/cli.sh
. "$(dirname "${BASH_SOURCE[0]}")/../cli/cli.sh"
needs wine wineserver x86_64-w64-mingw32-gcc sqlite3
make -s -C "$TREE" BUILD="$BUILD" windows || exit 1
HOST=$BUILD/windows/latput-windows.exe FAR=$BUILD/windows/latput-windows
export WINEPREFIX=$SCRATCH/wine WINEDEBUG=-all
libraries=$(find /usr/lib /opt -path '*/x86_64-windows/kernel32.dll' 2>/dev/null | head -n 1)
[ -n "$libraries" ] || { echo "wine has no libraries of 64 bits" && exit 77; }

# A console program needs the libraries only, not the minute of installing a whole Windows.
mkdir -p "$WINEPREFIX/dosdevices" "$WINEPREFIX/drive_c/windows"
echo disable >"$WINEPREFIX/.update-timestamp"
ln -s ../drive_c "$WINEPREFIX/dosdevices/c:"
ln -s / "$WINEPREFIX/dosdevices/z:"
ln -s "${libraries%/*}" "$WINEPREFIX/drive_c/windows/system32"

# The server stays for the whole test. Begun by a measuring process, it would take time from it.
wine_end() {
    wineserver -k
    rm -rf "$SCRATCH"
}
trap wine_end EXIT
wineserver -p >/dev/null 2>&1 </dev/null

# windows ARGS...: runs latput with the machine that wine makes, as `run` does.
windows() { far wine "$HOST" -- "$@"; }
# kit ARGS...: runs the kit for Windows, by itself, in $SCRATCH/at; kit_needed makes it before.
kit_needed() {
    make -s -C "$TREE" BUILD="$BUILD" windows-libraries ||
        { echo "the sources of what the kit needs cannot be had (deb-src)" && exit 77; }
    KIT=$(make -s -C "$TREE" BUILD="$BUILD" windows-kit | tail -n 1)
    [ -s "$KIT" ] || exit 1
    export KIT
    mkdir -p "$SCRATCH/at"
    export -n LATPUT_DB
    TMP_OF_KITS=$WINEPREFIX/drive_c/tmp
    mkdir "$TMP_OF_KITS"
    export TMP='C:\tmp' TEMP='C:\tmp'
}
kit() {
    env -C "$SCRATCH/at" wine "$KIT" "$@" >"$OUT" 2>"$ERR" </dev/null
    STATUS=$?
    CLI_COMMAND="the kit for Windows: $*"
}
# far COMMAND... -- ARGS...: the same by another way there.
far() {
    "$FAR" "$@" >"$OUT" 2>"$ERR" </dev/null
    STATUS=$?
    CLI_COMMAND="latput-windows $*"
}
