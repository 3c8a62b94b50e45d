#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latput ports and validate: what they are given, and a database of known content. Nothing is
# measured, unless LATPUT_TEST_PORTS=1: that takes half a minute and a quiet machine.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
fixture ports.db
fixture known.db bare.db

run ports --db ports.db --uarch testa
expect_status 0
expect_out '^Test testa \(testa\), Test CPU; run [0-9]+, 20[0-9-]+, latput 1'
expect_out '^6 ports in 3 sets, 8 slots per cycle'
# Stored names, in the order that people count.
expect_out '^set +size +ALU0 +ALU2 +ALU10 +u2 +u4 +u5 '
expect_out '^SHIFT +2 .* 14  shlx r64 r64 r64$'
expect_out '^unit DIV: not pipelined; div r64 keeps it busy for 5.0 cycles;$'
expect_out '^  vdivpd z z z needs all its parts, for 9.5$'
run ports --db ports.db --run 1
expect_status 0
expect_out '\(testa\), Test CPU; run 1, ' # the run's uarch, whatever machine this is
run ports --db ports.db --run 1 --format json
expect_status 0
expect_out '"uarch": "testa", "width": 8, "port_count": 6'
expect "valid JSON" test "$(sqlite3 :memory: "SELECT json_valid(readfile('$OUT'))")" = 1
run ports --db ports.db --run 1 --svg ports.svg
expect_status 0
expect "a diagram" grep -q '>SHIFT</text>' ports.svg
expect "names of ports in it" grep -q '>ALU10</text>' ports.svg
if has xmllint; then
    expect "well-formed" xmllint --noout ports.svg
fi
run ports --db ports.db --run 1 --svg /proc/nowhere/ports.svg
expect_status 3
expect_err '/proc/nowhere/ports\.svg: cannot be written: No such file'

# A row names the run of its ports where that is not its own.
run query --db ports.db add
expect_out '^testa +add r64 m64 .* 3/1$'
expect_out '^testa +add r64 r64 .* 3$'

# A database without ports, a run without, none at all.
run ports --db bare.db --uarch testa
expect_status 2
expect_no_out
expect_err "bare.db: no run of 'testa' has found its ports$"
for command in ports validate; do # of this machine
    run "$command" --db bare.db
    expect_status 3
    expect_no_out
    expect_err "bare.db: no run of '.*' has found its ports; latput run finds them"
done
run ports --db bare.db --run 1
expect_status 2
expect_err 'run 1 has not found its ports'
uarch=$("$LATPUT" cpu --format json | grep -o '"uarch": *"[^"]*"' | head -n 1 | cut -d '"' -f 4)
sqlite3 bare.db "DROP TRIGGER cpu_no_update; UPDATE cpu SET uarch = rtrim('$uarch', '?'),
    inferred = '$uarch' LIKE '%?'"
run validate --db bare.db --run 1
expect_status 2
expect_err 'run 1 has not found its ports'
run validate --db ports.db --run 1
expect_status 2
expect_err "run 1 is of 'testa': this machine, '.*', cannot test it"
for command in ports validate; do
    run "$command" --db missing.db
    expect_status 3
    expect_err 'missing.db: there is no such database'
    echo 'no database' >text.db
    run "$command" --db text.db
    expect_status 2
    expect_err 'text.db: is not a latput database'
    run "$command" --db ports.db --run 99
    expect_status 2
    expect_err 'has no run 99'
    run "$command" --db ports.db --run x
    expect_status 2
    run "$command" --format xml
    expect_status 2
    expect_err "unknown format 'xml'; there are table and json"
    run "$command" operand
    expect_status 2
    expect_err "unexpected argument 'operand'"
    for cpu in x -1 '' 99999999999; do
        run "$command" --cpu "$cpu"
        expect_status 2
        expect_err '\-\-cpu'
    done
    run "$command" --no-such-option
    expect_status 2
done
run ports --db ports.db --uarch zen99
expect_status 2
expect_err "no results of the uarch 'zen99'"
run ports --discover --run 1
expect_status 2
expect_err 'run does nothing beside --discover'
for mixes in 1 x 1000001 ''; do
    run validate --mixes "$mixes"
    expect_status 2
    expect_err '\-\-mixes .*from 2 to 1000000'
done
for seed in -1 x 99999999999999999999; do
    run validate --seed "$seed"
    expect_status 2
    expect_err '\-\-seed .*not a number'
done

run validate --db ports.db --run 1 --forms
expect_status 2
run record --db ports.db --run 1
expect_status 2
expect_err '--output DIR is missing'
run record --db ports.db --run 1 --output recording
expect_status 2
expect_err "run 1 is of 'testa': this machine, '.*', cannot test it"
expect "nothing is made" test ! -e recording
run record --db missing.db --output recording
expect_status 3
for option in --mixes --pairs; do
    run record --output recording "$option" 1
    expect_status 2
    expect_err "\\$option .*from 2 to 100000"
done
run validate --db ports.db --run 1 --against uica
expect_status 2
expect_err '\-\-against uica: not known; there is llvm-mca'
# Mixes of a file: nothing is timed, so it may be the table of any CPU. This one has no form that
# mixes are drawn from.
printf 'mix,measured_clk\n1*add r64 r64; 2*div r64,9\n1*ud2,1\n' >mixes.csv
run validate --db ports.db --run 1 --again mixes.csv
expect_status 2
expect_err 'mixes.csv: fewer than 2 mixes are of forms that this table has ports of'
run validate --db ports.db --run 1 --again missing.csv
expect_status 2
expect_err 'missing.csv: .*No such file'
printf 'mix,measured_clk\n1*shlx r64 r64 r64,x\n' >mixes.csv
run validate --db ports.db --run 1 --again mixes.csv
expect_status 2
expect_err 'mixes.csv:2: measured_clk is not a number'
run validate --db ports.db --again mixes.csv --against llvm-mca
expect_status 2
for option in --mixes --seed; do
    run validate --db ports.db --run 1 --again mixes.csv "$option" 3
    expect_status 2
    expect_err "^latput validate: $option does nothing beside --again$"
done
run validate --db ports.db --run 1 --again mixes.csv --ratios
expect_status 2
expect_err 'ratios does nothing beside --again$'
run validate --db ports.db --run 1 --without paths,forks
expect_status 2
expect_err "\-\-without forks: 'forks' is no concept"
run validate --help
expect_out '^ +--forms GLOB '
expect_out '^ +--all FILE '

if [ "${LATPUT_TEST_PORTS:-}" = 1 ]; then
    run ports --discover --format json
    expect_schema ports "$OUT"
    expect_status 0
    expect "valid JSON" test "$(sqlite3 :memory: "SELECT json_valid(readfile('$OUT'))")" = 1
fi
finish
