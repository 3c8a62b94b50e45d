// SPDX-License-Identifier: MIT
// Holds the page's rule of differences (site/differs.js) against tests/fixtures/diff_cases.csv.
// Usage: node diff_cases.mjs PAGE CASES; PAGE is a directory that `latput site` wrote.
import { readFileSync } from "node:fs";
import { runInThisContext } from "node:vm";

const [page, cases] = process.argv.slice(2);
globalThis.latput = { put: (kind, text) => (latput[kind] = JSON.parse(text)) };
for (const file of ["data/columns.js", "differs.js"])
    runInThisContext(readFileSync(`${page}/${file}`, "utf8"), file);

const usual =
    "rthroughput_clk=1 result_latency_clk=4 result_latency_max_clk=4 uops=1 ports=1*A tests=LTP outcome=ok family=zen5";
function table(given) {
    const settings = new Map(
        `${usual} ${given}`
            .split(" ")
            .filter(Boolean)
            .map((word) => word.split("=")),
    );
    const get = (name) => (settings.get(name) ?? "-") === "-" ? null : settings.get(name);
    const types = new Map(latput.columns.columns.map((own) => [own.name, own.type]));
    return {
        number: (name) => {
            const text = get(name);
            if (text === null) return null;
            return types.get(name) === "clk" ? Math.round(Number(text) * 1000) : Number(text);
        },
        text: (name) => (get(name) === "none" ? "" : get(name)),
        family: get("family"),
    };
}

let failed = 0,
    tried = 0;
for (const line of readFileSync(cases, "utf8").split("\n")) {
    if (line === "" || line.startsWith("#") || line.startsWith("what,")) continue;
    const [what, a, b, change, sure, ratio] = line.split(",");
    const got = latput.differs.judge(table(a), table(b), 0);
    // The page has the ratio of what is sure.
    const by = got.by ? (got.by[2] / got.by[1]).toFixed(3) : "",
        sought = ratio && sure === "sure" ? Number(ratio).toFixed(3) : "";
    tried++;
    if (got.change === change && got.sure === (sure === "sure") && by === sought) continue;
    failed++;
    console.log(`${what}: ${got.change}, ${got.sure}, ${by}; expected ${change}, ${sure}, ${sought}`);
}
console.log(`${tried} cases, ${failed} fail`);
process.exit(failed > 0 || tried < 30 ? 1 : 0);
