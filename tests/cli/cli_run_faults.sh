#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Faults of bodies and of the measuring process, on a core made of text: each costs the outcome of
# its own form, and no other one.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
. "$TREE/tests/cli/text.sh"

cat >forms.csv <<'LIST'
mnemonic,operands,implicit,isa,tests,options
add,+r64 r64,=flags,X86_64,T,
mulss,+x x,,SSE,T,
imul,+r64 r64,=flags,X86_64,T,
LIST

# suffers SCRIPT-LINE STATUS OUTCOME DETAIL: what a run says of mulss, where this befalls it; the
# other two have the values that they always have.
suffers() {
    local status=$2
    text_machine suffers <<<"$1"
    rm -f run.db
    run run forms.csv --db run.db --results none --quiet --tests T
    CLI_COMMAND="$1"
    expect_status "$status"
    expect "the others" test "$(sqlite3 run.db "select group_concat(printf('%s %.2f', mnemonic,
        rthroughput_clk), ', ') from (select * from instruction_table where mnemonic <> 'mulss'
        order by mnemonic)")" = 'add 0.25, imul 1.00'
    expect "outcome and reason" test "$(sqlite3 run.db "select outcome || ': ' || detail
        from failure_table")" = "$3: $4"
    expect "database intact" test "$(sqlite3 run.db 'pragma integrity_check')" = ok
}
suffers 'fault "mulss *" signal ILL' 0 unsupported 'SIGILL: the CPU refuses the instruction'
suffers 'lacks SSE' 0 unsupported 'SIGILL: the CPU refuses the instruction'
suffers 'fault "mulss *" signal FPE' 1 signalled \
    'SIGFPE: division error or unmasked floating-point exception'
suffers 'fault "mulss *" signal SEGV' 1 signalled 'SIGSEGV: no access to memory at 0x0'
suffers 'fault "mulss *" write' 0 not_measurable \
    'the body writes over the memory of the measurement core'
suffers 'fault "mulss *" exit 3' 1 signalled 'the body ended the measuring process (exit status 3)'
suffers 'fault "mulss *" hang' 1 timed_out 'the body did not return within 2000 ms'
suffers 'fault "mulss *" kill' 1 unstable 'something outside ended the measuring process by SIGKILL (another program, or a lack of memory), 5 times in a row'

# Two forms are tried of a feature that the CPU does not announce. What they refuse decides for all
# of them; a hypervisor may hide a feature that works. Legacy encodings are tried each.
cat >hidden.csv <<'LIST'
mnemonic,operands,implicit,isa,tests,options
vfmaddps,=x x x x,,FMA4,,
vfmaddpd,=x x x x,,FMA4,,
vfmaddss,=x x x x,,FMA4,,
vfmaddsd,=x x x x,,FMA4,,
pfadd,+mm mm,,3DNOW,T,
pfsub,+mm mm,,3DNOW,T,
pfmul,+mm mm,,3DNOW,T,
add,+r64 r64,=flags,X86_64,T,
LIST
hidden() {
    rm -f run.db
    run run hidden.csv --db run.db --results none --quiet --tests LT
    expect_status 0
    expect "tests and reasons" test "$(sqlite3 run.db 'select count(*), detail from failure_table
        group by detail order by detail')" = "$1"
}
text_machine lacking <<<''
# shellcheck disable=SC2016 # these are no commands
tried='`vfmaddps x x x x` and `vfmaddsd x x x x`, which were tried'
hidden "3|SIGILL: the CPU refuses the instruction
4|the CPU does not announce FMA4, and refuses $tried"
text_machine hiding <<<'fault "vfmaddsd *" signal ILL'
sed -i '/lacks FMA4/d' hiding/core.text
hidden '8|SIGILL: the CPU refuses the instruction'

# A disturbance from outside that comes once costs nothing.
heals() {
    text_machine heals <<<"$1"
    rm -f run.db heals/once.*
    run run forms.csv --db run.db --results none --quiet --tests T
    CLI_COMMAND="$1"
    expect_status 0
    expect "all values" test "$(sqlite3 run.db "select group_concat(printf('%s %.2f', mnemonic,
        rthroughput_clk), ', ') from (select * from instruction_table order by mnemonic)")" = \
        'add 0.25, imul 1.00, mulss 0.50'
    # A fault that comes once is asked once more on the spot, not put aside for the end of the run.
    expect "nothing was retried at the end" test "$(grep -c retried "$ERR")" = 0
}
heals 'fault "mulss *" kill once'
heals 'fault "mulss *" hang once'
heals 'fault "mulss *" exit 3 once'
heals 'record 21 half once'
heals 'record 21 silent once'
text_machine held <<<'pace 3'
# hold: stops a measuring process for a second.
stop_one() { held=$(started "$LATPUT_MACHINE/core") && kill -STOP "$held"; }
hold() { await stop_one && sleep 1 && kill -CONT "$held"; }
hold &
holds=$!
run run forms.csv --db held.db --results none --quiet --tests T
expect_status 0
wait "$holds"
expect "it was held" test $? = 0

# Records that cannot be: the process is ended, and what was under way costs the form its value; the
# others have theirs. The 21st record is the first timing, of one of nine kernels.
says() {
    text_machine says <<<"record 21 $1 once"
    rm -f run.db says/once.*
    run run forms.csv --db run.db --results none --quiet --tests T
    CLI_COMMAND="record 21 $1"
    expect_status "$2"
    expect "what was under way" test "$(sqlite3 run.db "select count(*) || ': ' || max(detail)
        from failure_table")" = "1: $3"
    expect "the others" test "$(sqlite3 run.db "select count(*) from instruction_table where
        printf('%s %.2f', mnemonic, rthroughput_clk) in
        ('add 0.25', 'imul 1.00', 'mulss 0.50')")" = 2
}
over='the measuring process was taken over'
says unknown 0 "$over: it is of no known type"
says foreign 0 "$over: it names a kernel that there is not"
says twice 0 "$over: it begins a pass out of order"

# None at all, and none of a version that fits.
text_machine mute <<<'record 1 silent'
run run forms.csv --db mute.db --results none --quiet --tests T
expect_status 3
expect_err 'ended before it measured anything \(exit status 0, signal 0\), 3 times'
text_machine old <<<''
"$BUILD/tests/core_text" "$BUILD/latput" 3< <(head -c 1000 /dev/zero) 4>record
expect "a core of another version says so" \
    grep -qa 'the core and the runner are of different versions; build again' record
finish
