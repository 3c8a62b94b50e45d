#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The SQLite extension in the sqlite3 shell on a core made of text: rows of a snippet, all outcomes
# as rows, what is refused, and that no view of a database can measure.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "${BASH_SOURCE[0]}")/cli.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"
text_machine quiet <<'FAULTS'
fault ud2 signal ILL
fault "jmp *" hang
fault "div *" signal FPE
fault syscall signal SYS
fault "mov m32 r32" signal SEGV
FAULTS
if ! command -v sqlite3 >/dev/null; then
    echo "there is no sqlite3 shell: install sqlite3"
    exit 77
fi
if [ \
    "$(sqlite3 :memory: \
    "SELECT count(*) FROM pragma_compile_options WHERE compile_options = 'OMIT_LOAD_EXTENSION'")" != 0 ]; then
    echo "this sqlite3 shell cannot load extensions"
    exit 77
fi
preload=
if nm -D "$BUILD/latput_sqlite.so" 2>/dev/null | grep -q __asan_init; then
    # The shell itself has no sanitizer. Its own leaks are not ours.
    preload=$(gcc -print-file-name=libasan.so)
    export ASAN_OPTIONS=detect_leaks=0
fi

# sql STATEMENT [DATABASE]: in a shell that has loaded the extension; as run().
sql() {
    LD_PRELOAD=$preload sqlite3 -bail -cmd ".load $BUILD/latput_sqlite" "${2:-:memory:}" "$1" \
        >"$OUT" 2>"$ERR" </dev/null
    STATUS=$?
    CLI_COMMAND="sqlite3: $1"
}

CLI_COMMAND='sqlite3 without the extension'
sqlite3 :memory: "SELECT * FROM latput_bench('nop')" >"$OUT" 2>"$ERR"
STATUS=$?
expect "off unless loaded" grep -q 'no such table' "$ERR"

sql "SELECT repetition, pass, cold, accepted, tried, tsc > 0, round(instance_clk, 2),
     round(summary_clk, 2), outcome
     FROM latput_bench('imul rax, rax', 'latency', NULL, NULL, NULL, 4) WHERE pass = 1"
expect_status 0
expect "five repetitions" test "$(cat "$OUT")" = "0|1|1|1|1|1|3.0|3.0|ok
$(printf '%d|1|0|1|1|1|3.0|3.0|ok\n' 1 2 3 4)"
sql "SELECT DISTINCT round(summary_clk, 2), outcome FROM latput_bench('imul rax, rcx', 'throughput')"
expect_out '^1\.0\|ok$'

# Codes and parameters from a table; parameters by name.
sql "CREATE TABLE t(code, mode, init); INSERT INTO t VALUES ('ud2', 'latency', NULL),
     ('mov rax, [rax]', 'throughput', 'mov rax, r14; mov [r14], r14'),
     ('xor eax, eax; mov [rax], eax', NULL, NULL);
     SELECT DISTINCT t.code, outcome FROM t, latput_bench(t.code, t.mode, t.init);
     SELECT count(*) FROM latput_bench
     WHERE code = 'nop' AND repeat = 3 AND pass = 1 AND unroll = 100 AND loop = 50;
     SELECT DISTINCT b.mode, b.init, b.outcome <> 'signalled' FROM t JOIN latput_bench b
     ON b.code = t.code AND b.mode IS t.mode AND b.init IS t.init WHERE t.init IS NOT NULL"
expect_status 0
expect_out '^ud2\|unsupported$'
expect_out '^mov rax, \[rax\]\|ok$'
expect_out '^xor eax, eax; mov \[rax\], eax\|signalled$'
expect_out '^4$'
expect_out '^throughput\|mov rax, r14; mov \[r14\], r14\|1$'

# A crash, a hang and a refusal are one row each, with their reason and without numbers.
sql "SELECT outcome, summary_clk IS NULL, tsc IS NULL, detail FROM latput_bench('bogus rax')"
expect_status 0
expect_out '^asm_failed\|1\|1\|.'
sql "SELECT outcome, detail FROM latput_bench('jmp \$')"
expect_status 0
expect_out '^timed_out\|'
sql "SELECT outcome, detail FROM latput_bench('mov eax, 57; syscall')"
expect_status 0
expect_out '^signalled\|.*system call'
sql "SELECT outcome, detail FROM latput_bench('fadd st0, st1', 'throughput')"
expect_out '^not_measurable\|.*x87'
sql \
    "SELECT DISTINCT outcome, json_extract(counts, '\$.page-faults') IS NOT NULL FROM latput_bench('nop') WHERE events = 'page-faults'"
expect "counts as JSON, or no counters" grep -qE '^(ok|unstable)\|1$|perf|counter' "$OUT" "$ERR"

# The example of docs/LIBRARY.md gives the table below it, but for the spread.
awk '/^```/ { on = $0 == "```sql"; next } on && !/^\.load/' "$TREE/docs/LIBRARY.md" >example.sql
sql "$(cat example.sql)"
expect_status 0
cut -d '|' -f 1-3,5- "$OUT" >printed
sed -n 's/^│ *\(.*[^ ]\) *│$/\1/p' "$TREE/docs/LIBRARY.md" | sed 's/ *│ */|/g; 1d' |
    cut -d '|' -f 1-3,5- >shown
expect "five snippets" test "$(wc -l <shown)" = 5
expect "what it shows: $(diff shown printed)" cmp -s shown printed

# Refusals, with the reason.
expect_refused() {
    [ "$STATUS" != 0 ] || cli_fail "should be refused"
    expect_err "latput_bench: .*$1"
}
echo 'a secret' >secret
sql "SELECT * FROM latput_bench('incbin \"$SCRATCH/secret\"')"
expect_refused "'incbin' is not allowed"
sql "SELECT * FROM latput_bench('nop', 'latency', '%include \"$SCRATCH/secret\"')"
expect_refused "init: '%'"
sql "SELECT * FROM latput_bench('section .init_array')"
expect_refused "'section'"
sql "SELECT * FROM latput_bench('nop', 'both')"
expect_refused "no mode 'both'"
sql "SELECT * FROM latput_bench"
expect_refused 'which code'
sql "SELECT * FROM latput_bench('nop') WHERE bits = 16"
expect_refused '16 bits'
sql "SELECT * FROM latput_bench('nop') WHERE repeat = 1000000000000"
expect_refused 'repeat'
sql "SELECT * FROM latput_bench('nop') WHERE cpu = 100000"
expect_refused 'CPU 100000'

# A database from a stranger cannot measure: neither by a view nor by a trigger.
sqlite3 foreign.db "CREATE TABLE x(a); CREATE VIEW v AS SELECT outcome FROM latput_bench('nop');
    CREATE TRIGGER r AFTER INSERT ON x
    BEGIN INSERT INTO x SELECT outcome FROM latput_bench('nop'); END"
sql "SELECT * FROM v" foreign.db
expect "no view" grep -q 'unsafe use of virtual table' "$ERR"
sql "INSERT INTO x VALUES (1)" foreign.db
expect "no trigger" grep -q 'unsafe use of virtual table' "$ERR"
# Text ends at a NUL: what comes after it would be left out in silence.
sql "SELECT * FROM latput_bench('nop' || char(0) || 'syscall')"
expect_err 'latput_bench: a text has a NUL'
sql "SELECT * FROM latput_bench('nop', 'latency' || char(0) || 'x')"
expect_err 'latput_bench: a text has a NUL'
finish
