#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The tables of lists/properties/README.md that say which row answers a question name rows that are
# there, and say why where there is none; each of the 37 scripts of the older suite has its line.
set -eu
cd "$(dirname "$0")/../.."
readme=lists/properties/README.md
rows=" $(grep -hv '^#\|^name,' lists/properties/*.csv | cut -d, -f1 | tr '\n' ' ')"
fail=0
while IFS='|' read -r _ question names remarks _; do
    for name in ${names//[\`,]/ }; do
        case $name in
        -)
            [ -n "${remarks// /}" ] || { echo "$readme:$question: no row, and no reason" &&
                fail=1; }
            ;;
        *)
            [[ $rows == *" $name "* ]] || { echo "$readme:$question: there is no row $name" &&
                fail=1; }
            ;;
        esac
    done
done < <(sed -n '/^| script | row/,$p' "$readme" | grep '^|' |
    grep -v '^|-\|^| script \|^| question ')
scripts=$(sed -n '/^| script | row/,/^$/p' "$readme" | grep -c '^| [A-Za-z_]* | [-`]')
[ "$scripts" = 37 ] || { echo "$readme: $scripts scripts instead of 37" && fail=1; }
exit "$fail"
