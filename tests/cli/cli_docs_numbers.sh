#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Numbers that documents quote are those of the code. A line a number: document, the words around it
# (a regular expression, in which # is the number), the name of the constant in the code, and by
# what that is to be multiplied. Who changes a number or a name is told of the other place.
# shellcheck disable=SC2016 # grave accents are of Markdown
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

numbers='
README.md         |more than # % of the tests unstable            |UNSTABLE_PERCENT_MAX |1
README.md         |moment for # seconds, tests are recorded       |give_up_s            |1
runner/README.md  |batches of about # kernels                     |BATCH_KERNELS        |1
runner/core/README.md|while the process computed, or slept, for # seconds|hang_ms           |0.001
docs/LIBRARY.md   |did not return within # ms                     |hang_ms              |1
docs/MEASUREMENT.md|the canary from the floor, at most . # %      |canary_tolerance     |100
docs/MEASUREMENT.md|calibrations before and after, at most . # %  |calib_tolerance      |100
docs/MEASUREMENT.md|before it is given up . #                     |requeues             |1
docs/MEASUREMENT.md|gives up after \(`--give-up`\) . # s          |give_up_ms           |0.001
docs/MEASUREMENT.md|is doubted after . # s                        |DOUBT_MS             |0.001
docs/MEASUREMENT.md|It has # rounds for each                      |ROUNDS_PER_WIDTH     |1
docs/MEASUREMENT.md|counts when # rounds that pass                |CONFIRM_ROUNDS_LEAST |1
docs/MEASUREMENT.md|looks # ms apart, all                         |LOOKS_APART_MS       |1
docs/MEASUREMENT.md|the same for `bench` . # s                    |GIVE_UP_DEFAULT_MS   |0.001
docs/MEASUREMENT.md|first passes of a short batch . # ms          |pass_gap_ms          |1
docs/MEASUREMENT.md|the same, of ports . # ms                     |PASS_GAP_MS          |1
docs/MEASUREMENT.md|looks at a disturbed core included . #        |tries                |1
docs/MEASUREMENT.md|width of a state, relative . # %              |CORE_STATE_WIDTH     |100
docs/MEASUREMENT.md|width of a state, in cycles . #               |CORE_STATE_WIDTH_CLK |1
docs/MEASUREMENT.md|share of a state; of a chain . # %            |STATE_SHARE          |100
docs/MEASUREMENT.md|may have a state of # %                       |STATE_SHARE_LEAST    |100
docs/MEASUREMENT.md|closer to the value are one with it . # %     |STATE_APART          |100
docs/MEASUREMENT.md|of the issue width on . # %                   |FRONT_END_BOUND      |100
docs/MEASUREMENT.md|width of a canary.s state . # %               |STATE_WIDTH          |100
docs/MEASUREMENT.md|a canary needs of the width . # %             |FULL_WIDTH           |100
docs/MEASUREMENT.md|kernels of a batch . #                          |BATCH_KERNELS        |1
docs/PORTS.md     |Candidates are within # %                      |PORT_SAME            |100
docs/PORTS.md     |of that and below # %                          |PORT_RENAME_SHARE    |100
docs/PORTS.md     |passes a value on in less than # cycles        |PORT_ELIMINATED_CLK  |1
docs/PORTS.md     |exist or new ones; # partial                   |BEAM_WIDTH           |1
docs/PORTS.md     |may take # kernels                             |PORTRUN_KERNELS_MOST|1
docs/PORTS.md     |that shows at most # µops is settled           |PORT_NOISE_BEST      |1
docs/PORTS.md     |# for each µop beyond what slots allow         |LIMIT_COST           |1
docs/PORTS.md     |slots allow, # for each more or less           |UOP_COST             |1
docs/PORTS.md     |another answer costs less than # more          |PORT_NOISE_BEST      |1
docs/PORTS.md     |one trial is more than # µops from             |RESIDUAL_MAX         |1
docs/PORTS.md     |the ports make the form over # % slower        |PORT_EXCESS          |100
docs/PORTS.md     |A form of # cycles or more that takes          |BUSY_MIN_CLK         |1
docs/PORTS.md     |makes the error of # mixes                     |MIXES                |1
docs/PORTS.md     |A trial that shows # µops less                 |PORT_NOISE           |1
docs/PORTS.md     |in which more than # % of these differ         |DIFFER_MOST          |100
'
# The code without comments, and each document without its line breaks.
find "$TREE/runner" "$TREE/library" -name '*.[ch]' -exec sed 's|//.*||' {} + >code
quoted() { tr -s ' \n' '  ' <"$TREE/$1" | grep -oE "${2//#/[0-9][0-9,.]*}" | head -n 1; }
# The values that the constant has in the code: a name may be used in two rooms.
values() {
    grep -oE "(\b$1 =|#define $1) [0-9][0-9.]*" code | sed 's/.* //' |
        awk -v by="$2" '{ printf "%g\n", $1 * by }' | sort -u
}
checked=0
while IFS='|' read -r document words name by; do
    [ -n "$document" ] || continue
    document=${document%% *} name=${name%% *}
    words=${words%"${words##*[! ]}"}
    CLI_COMMAND="$document: \"$words\", $name"
    text=$(quoted "$document" "$words")
    number=$(sed -E "s/^${words%%#*}//; s/${words#*#}\$//; s/,//g" <<<"$text")
    if [ -z "$text" ]; then
        cli_fail "the document does not say that any more"
    elif ! values "$name" "$by" | grep -qxF "$number"; then
        cli_fail "the document has '$number', the code $(values "$name" "$by" | xargs)"
    fi
    checked=$((checked + 1))
done <<<"$numbers"
expect "all numbers were looked at" test "$checked" -ge 35
# Manuals, not diaries: no dates (but the example of a time in OUTPUT.md, and what commands print of
# a run) and no commits.
date='(^|[^0-9a-zA-Z])20[0-9]{2}-[0-9]{2}-[0-9]{2}'
commit='(^|[ (`])([0-9]+[a-f]|[a-f]+[0-9])[0-9a-f]{5,}([ ,.;:)`]|$)'
diary=$(cd "$TREE" && grep -nE "$date|$commit" docs/*.md runner/README.md runner/core/README.md \
    CHANGELOG.md | grep -v -e '`_utc`' -e ', latput [0-9.]*$') || :
CLI_COMMAND='dates and commits in documents'
expect "there are none: $diary" test -z "$diary"
# The number of forms: the rows that all lists expand to, after one that names the columns.
forms=$(("$("$LATPUT" check --expand | wc -l)" - 1))
expect "README.md says $forms forms" grep -q "^The full suite, ${forms%???},${forms: -3} forms," \
    "$TREE/README.md"
# The newest schema, in the schema and in the migrations.
newest=$(basename "$(printf '%s\n' "$TREE"/db/migrations/*.sql | tail -n 1)")
expect "the last migration is the schema" test \
    "$(sed -nE 's/^PRAGMA user_version = ([0-9]+);.*/\1/p' \
    "$TREE/db/migrations/$newest")" = "$((10#${newest%%_*}))"
finish
