// SPDX-License-Identifier: MIT
// Times the page of `latput site` in headless Chromium: the first view, from the address to the
// table on the screen, and searches, from the letter to the rows that it leaves. Usage: node
// bench.mjs SCRATCH PAGE; SCRATCH has node_modules. Prints the medians; status 1 if a first view
// takes longer than a second, or any of the searches longer than 50 ms.
import { createRequire } from "node:module";
const [scratch, directory] = process.argv.slice(2);
const { chromium } = createRequire(`${scratch}/`)("playwright-core");
const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox"],
});
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

async function open(query) {
    const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
    const page = await context.newPage();
    await page.goto(`file://${directory}/index.html${query}`);
    await page.waitForFunction(() => document.body.dataset.ready === "yes");
    // Painted: two frames behind the mark.
    const painted = await page.evaluate(
        () =>
            new Promise((resolve) => {
                const begun = performance.now();
                const ready = performance.getEntriesByName("latput-ready")[0].startTime;
                requestAnimationFrame(() =>
                    requestAnimationFrame(() => resolve(ready + performance.now() - begun)),
                );
            }),
    );
    return { page, painted };
}
const cpus = await (async () => {
    const { page } = await open("");
    const keys = await page.evaluate(() => latput.model.cpus.map((cpu) => cpu.key));
    await page.context().close();
    return keys;
})();
const all = `?${cpus.map((key) => `cb_${encodeURIComponent(key)}=on`).join("&")}`;
const views = [];
for (let i = 0; i < 5; i++) {
    const { page, painted } = await open(all);
    views.push(painted);
    await page.context().close();
}

const { page } = await open(all);
const words = ["v", "vp", "vpermd", "vpermd y", "m256", "{k}", "add r64", "avx2", "lat>5", ""];
const times = await page.evaluate(async (words) => {
    const search = document.getElementById("search");
    const times = [];
    for (let round = 0; round < 3; round++)
        for (const word of words) {
            search.value = word;
            const begun = performance.now();
            search.dispatchEvent(new Event("input"));
            document.getElementById("scroller").getBoundingClientRect(); // laid out
            times.push(performance.now() - begun);
            await new Promise((resolve) => setTimeout(resolve, 30));
        }
    return times;
}, words);
const forms = await page.evaluate(() => latput.model.forms.count);
await browser.close();
const view = median(views),
    each = words.map((_, i) => median(times.filter((_, at) => at % words.length === i))),
    slowest = Math.max(...each);
console.log(
    `  page of ${forms} forms of ${cpus.length} CPUs: first view ${view.toFixed(0)} ms, ` +
        `search ${median(times).toFixed(1)} ms (slowest: '${words[each.indexOf(slowest)]}', ` +
        `${slowest.toFixed(1)} ms)`,
);
process.exit(view < 1000 && slowest < 50 ? 0 : 1);
