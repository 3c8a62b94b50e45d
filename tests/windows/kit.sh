#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The kit for Windows (windows/README.md), by itself, under wine: check, bench, run, query, property
# and pack; outcomes in the words of Linux; machine code that is Linux's; a run that is killed goes
# on; packs that Linux merges; nothing stays behind. Times mean nothing here; compare.sh is about
# those.
# Usage: as outcomes.sh. It takes sources of Debian (windows/kit/libraries).
# shellcheck source=tests/windows/wine.sh
. "$(dirname "$0")/wine.sh"
kit_needed

# left: directories of kits that are still there.
left() { find "$WINEPREFIX/drive_c/" -type d -name 'latput-kit-*' | wc -l; }

kit check integer_arithmetic
expect_status 0
expect_err '^1 list, [0-9]+ rows, 0 problems'
kit check integer_arithmetics
expect_status 2
expect_err "there is no list 'integer_arithmetics'"
kit cpu
expect_status 0
expect "a directory of a kit stays" [ "$(left)" = 0 ]

# A list of one's own, which NASM assembles there, and names with backslashes.
mkdir "$SCRATCH/at/mine"
cat >"$SCRATCH/at/mine/forms.csv" <<'LIST'
mnemonic,operands,implicit,isa,tests,options
ud2,,,X86_64,T,
hlt,,,X86_64,T,
add,+r64 r64,=flags,X86_64,,
imul,=r64 r64 i8,=flags,X86_64,,
vpermd,=y y y,,AVX2,,
LIST
kit check 'mine\forms.csv'
expect_status 0
printf 'mnemonic,operands,implicit,isa,tests,options\nadd,+r64 q,=flags,X86_64,,\n' \
    >"$SCRATCH/at/mine/bad.csv"
kit check 'mine\bad.csv'
expect_status 2
expect_err '^mine/bad.csv:2: '

# said REGEX CODE: what bench says about code that has no time.
said() {
    local regex=$1 code=$2
    kit bench --db none --repeat 2 --give-up 3 "$code"
    expect_status 1
    expect_err "$regex"
}
said 'unsupported: SIGILL: the CPU refuses' 'ud2'
said 'signalled: SIGSEGV: no access to memory at 0x10;' 'mov rax, [abs 0x10]'
said 'signalled: SIGFPE: division error' 'xor ecx, ecx; div ecx'
said 'signalled: the code ended the measuring process' 'mov rsp, 16; push rax'
said 'timed_out: the code did not return within 2000 ms' 'again: jmp again'
kit bench --db none 'add rax'
expect_err 'asm_failed|invalid combination'

# It is said what there is not on Windows.
kit stat -- nothing
expect_status 2
expect_err 'stat: not on Windows'
kit explain 'add rax, rax'
expect_status 2
expect_err 'explain: not on Windows'
kit bench --db none --bits 32 nop
expect_status 3
expect_err 'rows of 32-bit mode are not for Windows'

# The memory of this machine is known, of which 272 MiB are needed.
kit property --db property.db misses_in_flight
expect_out 'Memory-level parallelism'
expect "it is not skipped" [ "$(grep -c 'may be used' "$OUT")" = 0 ]

# Kernels are the same, byte by byte, as those of Linux; some are asked again at random.
codes() {
    sqlite3 "$1" "SELECT form, kind, src, dst, variant, shape, instances, code_bytes, hex(code)
        FROM kernel JOIN test USING (test_id) JOIN run_form USING (run_form_id)
        JOIN form USING (form_id) WHERE code IS NOT NULL" | sort -u
}
kit run --quiet --tests LT --give-up 3 'mine\forms.csv'
kit query --format csv --where "mnemonic in ('ud2','hlt')"
expect_out '^[^,]*,ud2,.*unsupported'
expect_out '^[^,]*,hlt,.*signalled'
run run --quiet --db "$SCRATCH/linux.db" --results none --tests LT --give-up 3 \
    "$SCRATCH/at/mine/forms.csv"
codes "$SCRATCH/at/latput.db" >"$SCRATCH/codes.windows"
codes "$SCRATCH/linux.db" >"$SCRATCH/codes.linux"
same=$(comm -12 "$SCRATCH"/codes.{windows,linux} | wc -l)
expect "machine code, of some kernels" [ "$same" -ge 12 ]
cat "$SCRATCH"/codes.{windows,linux} | sort -u | sed 's/|[^|]*$//' | uniq -d >"$OUT"
CLI_COMMAND="kernels with other machine code"
expect_no_out

# Its pack is one of this CPU, which says where it was measured.
kit pack --output run.tar.xz
expect_status 0
run merge --db "$SCRATCH/merged" "$SCRATCH/at/run.tar.xz"
expect_status 0
sqlite3 "$SCRATCH/merged" 'SELECT backend, os_kernel, brand FROM run JOIN cpu USING (cpu_id)' \
    >"$OUT"
expect_out '^tsc.Windows [0-9.]+ as wine has it, [0-9]'
expect "no mark" [ "$(grep -c simulated "$OUT")" = 0 ]
kit merge --db merged.db run.tar.xz
expect_status 0

# A run is killed, and goes on where it was. While it measures nobody else goes on with it. What it
# left behind the next kit removes. Its lists take seconds after the first rows are stored.
lists=(integer_arithmetic avx_integer)
env -C "$SCRATCH/at" wine "$KIT" run --quiet --db killed.db --results none --tests LT --give-up 3 \
    "${lists[@]}" </dev/null >"$OUT" 2>"$ERR" &
pid=$!
# Locks of wine are none for programs of Linux, which so must not open the database meanwhile.
measured() { [ "$(stat -c %s "$SCRATCH/at/killed.db-wal")" -gt 500000 ]; }
await measured
kit run --quiet --db killed.db --results none --tests LT --resume "${lists[@]}"
expect_status 2
expect_err 'another process is measuring run 1'
expect "kits have no directories" [ "$(left)" = 1 ]
kill -9 "$pid"
wait "$pid" 2>/dev/null
expect "nothing stays of a kit that was killed" [ "$(left)" != 0 ]
alone() { ! pgrep -f '/latput-kit-[0-9a-f]*/machine/core' >/dev/null; }
await alone
had=$(sqlite3 "$SCRATCH/at/killed.db" 'PRAGMA integrity_check; SELECT count(*) FROM run_form')
CLI_COMMAND="the database of a run that was killed"
[[ $had =~ ^ok ]] || cli_fail "it is damaged: $had"
kit run --quiet --db killed.db --results none --tests LT --give-up 3 --resume "${lists[@]}"
expect_err '\([1-9][0-9]* from before\)'
expect "a directory of a kit stays" [ "$(left)" = 0 ]
sqlite3 "$SCRATCH/at/killed.db" 'SELECT count(*), finished_utc IS NOT NULL FROM run GROUP BY 2' \
    >"$OUT"
expect_out '^1.1$'

# A file that was cut short, or altered, is refused.
head -c 8000000 "$KIT" >"$SCRATCH/cut.exe"
KIT=$SCRATCH/cut.exe kit cpu
expect_status 3
expect_err 'its archive is missing: the file was cut short'
{ head -c 8000000 "$KIT" && printf X && tail -c +8000002 "$KIT"; } >"$SCRATCH/altered.exe"
KIT=$SCRATCH/altered.exe kit cpu
expect_status 3
expect_err 'the file is damaged'
finish
