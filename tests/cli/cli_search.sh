#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The page's search over a model of a few forms, without a browser: what wildcards mean, and that
# they take no time on names that are made for it. Skipped where there is no node.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"

command -v node >/dev/null || { echo "there is no node"; exit 77; }
cat >search.mjs <<'JS'
import { readFileSync } from "node:fs";
import vm from "node:vm";
const long = "a".repeat(200);
const names = ["vpaddd", "paddd", "VPADDQ", "v", "a.b", "a+b", "cmov\u00fc", "abcabcd", long];
const texts = ["", ...names];
const forms = { texts, mnemonic: names.map((_, i) => i + 1) };
for (const column of ["operands", "isa", "list", "enc", "options"])
    forms[column] = names.map(() => 0);
const context = vm.createContext({ latput: { model: { forms } } });
vm.runInContext(readFileSync(process.argv[2], "utf8"), context);
const search = (text) => {
    const test = context.latput.search.parse(text, []);
    return names.filter((_, form) => test(form)).join(" ");
};
for (const [text, expected] of [
    ["vp*d", "vpaddd"],
    ["*addd", "vpaddd paddd"],
    ["vpadd?", "vpaddd VPADDQ"],
    ["?", "v"],
    ["v*", "vpaddd VPADDQ v"],
    ["v?*", "vpaddd VPADDQ"],
    ["**add**", "vpaddd paddd VPADDQ"],
    ["a?b", "a.b a+b"],
    ["a.b*", "a.b"],
    ["a+*", "a+b"],
    ["*abcd", "abcabcd"],
    ["*bca*c?", "abcabcd"],
    ["*abc", ""],
    ["cmov?", "cmov\u00fc"],
    ["p*x", ""],
    ["-*a*", "v cmov\u00fc"],
    [`${"a*".repeat(12)}b`, ""],
    [`${"*a".repeat(100)}*`, long],
    [`${"*a".repeat(201)}*`, ""],
    [`${"*?a".repeat(30)}*b`, ""],
]) {
    const start = Date.now(),
        got = search(text);
    if (got !== expected) console.log(`${text}: got '${got}', expected '${expected}'`);
    if (Date.now() - start > 1000) console.log(`${text}: took ${Date.now() - start} ms`);
}
JS
# A test that would not end ends, too.
timeout 60 node search.mjs "$TREE/site/search.js" >wrong 2>&1
expect "the search ends" test $? = 0
cat wrong
expect "wildcards mean what they should" test ! -s wrong

finish
