#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Code of programs that invents its addresses: pages are mapped where it faults, and what no page
# can be at is refused by name. Many blocks in the same processes.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/../cli/cli.sh"
DB=$SCRATCH/pages.db

bench() { run bench --db "$DB" --give-up 5 --hex "$@"; }
# expect_value LEAST MOST: an instance takes so long.
expect_value() {
    local clk
    clk=$(sed -nE 's/^([0-9.]+) core clk per instance.*/\1/p' "$OUT")
    expect_status 0
    awk -v clk="$clk" -v least="$1" -v most="$2" 'BEGIN { exit !(clk >= least && clk <= most) }' ||
        cli_fail "the value '$clk' is not between $1 and $2"
}
refused() { # REASON HEX
    bench "$2"
    expect_status 1
    expect_err "$1"
}

# A chain of pointers: mov rax, [rax]; and one that goes on where memory leads: the latency of
# loads from the first cache.
bench 488b00
expect_value 2.9 7.1
bench 488b00488b00
expect_value 5.9 14.1
# A sum far from the data area: lea rcx, [rsi*8+0x70000000]; add rcx, rdi; mov rax, [rcx].
bench 488d0cf5000000704801f9488b01
expect_value 0.2 3
# Writes: mov eax, 0x12345678; mov [rax], rcx; and ones that walk on: mov [rdi], rax; add rdi, 320.
bench b878563412488908
expect_value 0.4 2.1
bench 4889074881c740010000
expect_value 0.4 4
# Memory downwards, and across the end of a page: mov rax, [rdi]; sub rdi, 60.
bench 488b074883ef3c
expect_value 0.4 4
# A segment: mov rax, fs:[rax] reads where the base says, mov rax, fs:0x28 what is there.
bench 64488b042528000000
expect_value 0.2 2.1
# Aligned accesses by the stack pointer after pushes: push rbp; push rbx; sub rsp, 0x58;
# movaps [rsp+0x20], xmm0.
bench 55534883ec580f29442420
expect_value 1 20

# mov eax, 16; the vsyscall page; the kernel's half; mov rax, 0x4000000000000000.
refused 'no page can be mapped at 0x10, which is below the least that the system gives' b810000000488b00
refused 'no page can be mapped at 0xf{10}600000, which is .* vsyscall' 48c7c0000060ff488b00
refused 'no page can be mapped at 0xfffff0{11}, which belongs to the system' 48b80000000000f0ffff488b00
refused 'not canonical: a register has 0x40{15}' 48b80000000000000040488b00
# The core's own memory: mov eax, 0x400000; mov [rax], rcx.
refused 'no access to memory at 0x400000, which belongs to the measurement core' b800004000488908
# Too many pages: mov rax, [rdi]; add rdi, 0x100000.
refused 'its addresses go to ever new pages: ' 488b074881c700001000
# Text of the user's keeps its contract.
run bench --db "$DB" --asm 'mov rax, [r14+0x80000]'
expect_status 1
expect_err 'SIGSEGV: no access to memory at 0x[0-9a-f]+, 524288 from the data area'

# Many blocks: each has its own value or reason, whatever the others do.
run merge --db t.db "$TREE/tests/fixtures/quick_run.zip"
expect_status 0
printf '%s\n' 480fafc3 488b00 b810000000488b00 0f0b ebfe 4889 4c0fafff 48ff05a0000000 \
    48ff05a0000000 b878563412488908 >blocks.txt
run explain --db t.db --uarch 'sapphirerapids?' --blocks blocks.txt --format csv
expect_status 1 # predicted only
run validate --db t.db --run 1 --blocks blocks.txt --to rows.csv --format json
expect_status 0
expect_schema validate_blocks "$OUT"
ROWS=rows.csv
row() { # LINE PATTERN
    expect "row of line $1 ($(grep "^$1," "$ROWS"))" grep -qE "^$1,$2" "$ROWS"
}
row 1 ',1,0,[^,]+,chain,[2-5]\.?[0-9]*,,'
row 2 ',1,0,[^,]+,[^,]+,[2-7]\.?[0-9]*,,'
row 3 ',2,.*below the least that the system gives'
row 4 ',1,.*(unsupported|signalled): SIGILL'
row 5 'there is nothing but a jump in the code,'
row 6 'instruction 1: the bytes 48 89 are no instruction'
row 7 ',1,0,[^,]+,chain,[2-5]\.?[0-9]*,,'
row 8 ',1,'
row 9 ',1,'
row 10 ',2,[01],[^,]+,[^,]+,[0-2]\.?[0-9]*,,'
expect "eleven lines" test "$(wc -l <rows.csv)" = 11
# Rows that are there are not measured again, one that was lost is.
cp rows.csv before.csv
run validate --db t.db --run 1 --blocks blocks.txt --to rows.csv
expect_status 0
expect "no row is new" cmp rows.csv before.csv
head -n 8 before.csv >rows.csv
printf '8,,1' >>rows.csv
run validate --db t.db --run 1 --blocks blocks.txt --to rows.csv
expect_status 0
expect_out '^10 blocks of blocks\.txt: 2 refused, 2 not measured, 6 compared$'
expect "all rows" test "$(wc -l <rows.csv)" = 11
expect "the first ones are as they were" cmp <(head -n 8 before.csv) <(head -n 8 rows.csv)
# Other options, by which the numbers would be others: the file is refused and stays.
cp rows.csv before.csv
run explain --db t.db --run 1 --blocks blocks.txt --to rows.csv --predict
expect_status 2
expect_err 'rows\.csv:2: its numbers were made by other settings than these'
expect "the rows are as they were" cmp rows.csv before.csv
# A block that writes after its own places (lea rcx, [rip+0x1000]; mov qword [rcx+0x200], 0) leaves
# the next one what it expects: a chain of pointers, mov rax, [rip+0x1000]; mov rax, [rax]. Text has
# memory of its own: what nobody wrote is 0, not an address, and it has no pages.
printf '%s\n' 488d0d0010000048c7810002000000000000 488b0500100000488b00 \
    'mov rax, [r14+0x9000]; mov rax, [r14+rax] ' 'mov rax, [r14+0x80000]' >apart.txt
run validate --db t.db --run 1 --blocks apart.txt --to apart.csv
expect_status 0
ROWS=apart.csv
row 1 ',2,[0-2],[^,]+,[^,]+,[0-9.]+,,'
row 2 ',2,[01],[^,]+,[^,]+,[0-9.]+,,'
row 3 ',2,[01],[^,]+,[^,]+,[0-9.]+,,'
row 4 ',1,.*SIGSEGV: no access to memory'
run validate --db t.db --run 1 --blocks apart.txt --to apart.csv
expect_status 0

finish
