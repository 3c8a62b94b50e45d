#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# No comment opens with a relative clause ("What ...", "Whether ..."): a sentence has its subject
# first. Above a function stands a verb in the third person, above a field a noun. Prints the
# comments that do, and fails if there is one. Migrations stay as they were released.
# Usage: tests/headless.sh FILE...
set -eu

# shellcheck disable=SC2016 # the program is awk's
openings='
FILENAME ~ /^db\/migrations\// { next }
FNR == 1 { inside = 0 }
!/^ *(\/\/|#|--|;)/ || /SPDX-License-Identifier/ || /^#!/ || /^# shellcheck/ { inside = 0; next }
!inside && $2 ~ /^(What|Whether|How|Of|Where|Who|Whom|Whose|Which|Why|As|That|Those)$/ {
    print FILENAME ":" FNR ": the subject comes first, not \"" $2 "\""
    found = 1
}
{ inside = 1 }
END { exit found }'
awk "$openings" "$@"
