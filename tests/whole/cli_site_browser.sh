#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The page of latput site in a real browser (tests/browser/site.mjs). Skipped where there is no
# Chromium, or no npm that can install the two packages that drive it and look for what keeps people
# out. SCREENSHOTS=DIR keeps pictures of the page.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/../cli/cli.sh"
# shellcheck source=tests/browser/browser.sh
. "$TREE/tests/browser/browser.sh"
# shellcheck source=tests/cli/text.sh
. "$TREE/tests/cli/text.sh"
browser_begin || exit

"$BUILD/tests/test_site" many many.db 3 avx_shuffle avx512_shuffle integer_arithmetic \
    integer_multiply_divide address_calculation fence_and_cache gather_scatter || exit 99
"$BUILD/tests/test_site" many unlike.db 2 integer_arithmetic avx_shuffle legacy_32bit || exit 99
sqlite3 unlike.db <"$TREE/tests/fixtures/unlike.sql" || exit 99
sqlite3 unlike.db "UPDATE result SET outcome = 'unsupported', detail = '', value_clk = NULL,
    dense_clk = NULL, filled_clk = NULL, spread_clk = NULL WHERE test_id IN
    (SELECT test_id FROM test WHERE run_form_id % 1000000 = 7)" || exit 99
for by in list isa; do
    run diff --db unlike.db --by $by --format json many0 many1
    cp "$OUT" "diff-$by.json"
done
# Code as people write it, and the forms that latput query finds.
while IFS= read -r code; do
    run query --db many.db --uarch many0 --format json "$code"
    expect_status 0
    printf '%s\t%s\n' "$code" "$(tr -d '\n' <"$OUT")"
done >code.tsv <<'EOF'
add rax, [rbx]
adc al, 5
ADD  QWORD PTR [rsp+8],r9
imul r15, qword [r8 + 16], 100
sub ecx, dword ptr [rax+8*rcx]
sub rsp, 8
add r9d, [rel table]
lea rax, [rbx+rcx*4+8]
lea r10d, [8*r9 + r8 - 0x100]
prefetcht0 [rax]
vpgatherdd ymm0, [rax+ymm1*4], ymm2
vpscatterqq [zmm1*8 + rax]{k1}, zmm0
vpermd ymm1, ymm2, [rdi]
vpermd zmm0{k1}, zmm1, [rax]
vshufps xmm0, xmm1, xmm2, 0
shuffle zmm0, zmm1, zmm2
_mm_shuffle_epi8(a, b)
addl %eax, %ebx
imulq $100, 16(%r8), %r15
vpermd (%rdi), %ymm2, %ymm1
adcl $5, %ecx
lea -8(%rbx,%rcx,4), %rax
48 0f af c3
4c 01 00
48 83 c0 05
c4 e2 6d 36 0f
62 f2 75 c9 36 c2
48 8d 44 88 08
8d 1c 3e
EOF
"$BUILD/tests/test_site" hostile hostile.db || exit 99
"$BUILD/tests/test_site" make known.db || exit 99
cp known.db each.db
sqlite3 each.db <"$TREE/tests/fixtures/hostile_columns.sql" >each.sql || exit 99
sqlite3 each.db <each.sql || exit 99
cp known.db finished.db # only finished runs are packed
sqlite3 finished.db 'UPDATE run SET finished_utc = started_utc' || exit 99
run pack --db finished.db --slim --output slim.tar.xz
expect_status 0
run merge --db slim.db slim.tar.xz
expect_status 0
printf '%s\n' mnemonic,operands,implicit,isa,tests,options popcnt,=r64\ r64,=flags,POPCNT,LT, \
    lzcnt,=r64\ r64,=flags,LZCNT,LT, >forms.csv
text_machine machine <<<'form "popcnt *" p0 3 from 1 4'
run run forms.csv --db false.db --results none --quiet
expect_status 0
for name in many unlike hostile each known slim false; do
    more=--title=latput
    [[ $name != hostile && $name != each ]] || more=--no-database # a copy has no malformed values
    run site --db "$name.db" --output "$name" "$more"
    expect_status 0
done
SCREENSHOTS=${SCREENSHOTS:-$SCRATCH/shots}
mkdir -p "$SCREENSHOTS"
expect "all is well in the browser" node "$TREE/tests/browser/site.mjs" "$SCRATCH" "$SCREENSHOTS"
finish
