#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The page's search over a model of a few forms, without a browser: what wildcards mean, and that
# they take no time on names that are made for it; words of headings, phrases, code, encodings, and
# suggestions. Skipped where there is no node.
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
const columns = { columns: [{ name: "note", type: "text", heading: "note" }] };
const context = vm.createContext({ latput: { model: { forms }, columns } });
const files = process.argv.slice(2).map((file) => readFileSync(file, "utf8"));
for (const file of files) vm.runInContext(file, context);
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

const rows = [
    ["cmovz", "r64 r64", "legacy", "conditional"],
    ["setz", "r8", "legacy", "conditional"],
    ["add", "r64 r64", "legacy", "arithmetic"],
    ["add", "r8 r8", "legacy", "arithmetic"],
    ["mov", "r64 m64", "legacy", "moves"],
    ["vaddps", "z z z {er}", "evex", "moves"],
    ["vpdpbusd", "x x x", "evex", "dots"],
    ["vpdpbusd", "x x x", "vex", "dots"],
    ["crc32", "r32 r8", "legacy", "arithmetic"],
    ["add", "r32 r32", "legacy", "moves"],
    ["fadd", "st", "legacy", "moves"],
    ["fsubr", "st st0", "legacy", "moves"],
    ["movzx", "r32 m8", "legacy", "moves"],
];
const all = [...new Set(["", ...rows.flat()])],
    model = {
        forms: { texts: all, count: rows.length, text: (name, i) => all[model.forms[name][i]] },
        listTitles: new Map([
            ["conditional", "Conditional moves and sets"],
            ["arithmetic", "Integer addition and the rest"],
        ]),
        words: {
            words: new Map([
                ["dot product", "vpdp*"],
                ["_mm_dpbusd_avx_epi32", "{vex} vpdpbusd x x x"],
                ["conditional", "cmov*;set*"],
            ]),
            sections: new Map([
                ["Conditional move", [0, 1]],
                ["Conditional set", [1, 1]],
                ["Addition", [2, 2]],
                ["Division", []],
                ["Checksum", [8, 1]],
            ]),
            operands: new Map([["zmm#", "z"], ["xmm#", "x"], ["st0", "st0"], ["st#", "st"]]),
            registers: new Map([
                ["rax", "r[a6][x4]"],
                ["r9", "r64"],
                ["eax", "r32"],
                ["rdi", "r64"],
            ]),
            sizes: new Map([["qword", "m64"], ["byte", "m8"]]),
        },
    };
["mnemonic", "operands", "enc", "list"].forEach((column, c) => {
    model.forms[column] = rows.map((row) => all.indexOf(row[c]));
});
for (const column of ["isa", "options"]) model.forms[column] = rows.map(() => 0);
const other = vm.createContext({ latput: { model, columns } });
for (const file of files) vm.runInContext(file, other);
const { parse, suggest } = other.latput.search;
for (const [text, expected] of [
    ["conditional move", "0"],
    ["Conditional Moves", "0"],
    ["conditional", "0 1"],
    ["checksum", "8"],
    ["checksums of", "8"],
    ["integer rest", "2 3 8"],
    ["check sums", ""],
    ["conditional moved", "0"],
    ["integer restd", ""],
    ["dot-product", "6 7"],
    ["_mm_dpbusd_avx_epi32", "7"],
    ["add", "2 3 5 9 10"],
    ["add rax, r8", "2"],
    ["add r8, r8", "3"],
    ["mov rax, fs:[0]", "4"],
    ["mov rax, [gs:0x28]", "4"],
    ["vaddps zmm0, zmm1, zmm2, {rn-sae}", "5"],
    ["vaddps {rn-sae}, %zmm1, %zmm2, %zmm0", "5"],
    ["addl %eax, %eax", "9"],
    ["ADD %EAX,%EAX", "9"],
    ["addq %r8, %rax", "2"],
    ["movzbl (%rdi), %eax", "12"],
    ["mov %fs:0x28, %rax", "4"],
    ["fadd %st(1), %st", "10"],
    ["fadd st0, st1", "10"],
    ["fadd st(1)", "10"],
    ["fsub %st, %st(1)", "11"],
    ["addl %eax", "9"],
    ["add %a((((,%b){{{{", ""],
    ["%", ""],
    ["48 0f zz", ""],
]) {
    const test = parse(text, []),
        got = rows.map((_, i) => i).filter((i) => test(i)).join(" ");
    if (got !== expected) console.log(`${text}: got '${got}', expected '${expected}'`);
}
for (const [text, expected] of [
    ["vpdpbsd", "vpdpbusd"],
    ["vpdpbsd xmm0, xmm1", "vpdpbusd xmm0, xmm1"],
    ["dot prodct", "dot product"],
    ["conditonal move", "conditional move"],
    ["_mm_dpbusd_axv_epi32", "_mm_dpbusd_avx_epi32"],
    ["vpdpbusd", null],
    ["qqqq", null],
    ["", null],
    ["v".repeat(100), null],
]) {
    const got = suggest(text);
    if (got !== expected) console.log(`${text}: suggests '${got}', not '${expected}'`);
}
JS
# A test that would not end ends, too.
timeout 60 node search.mjs "$TREE/site/form_code.js" "$TREE/site/search.js" >wrong 2>&1
expect "the search ends" test $? = 0
cat wrong
expect "wildcards mean what they should" test ! -s wrong

finish
