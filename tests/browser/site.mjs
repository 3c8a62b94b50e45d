// SPDX-License-Identifier: MIT
// The page of `latput site` in Chromium, from file:// addresses: that it shows what it should
// without a word on the console or a request to anywhere, that names of strangers stay names, and
// that it can be used without a mouse, without sight and on a phone. Usage: node site.mjs SCRATCH
// SCREENSHOTS; SCRATCH has node_modules, the pages many, unlike, hostile, each, known, slim, false,
// and what latput diff says of unlike. Prints each check that fails; status 1 if any does. Names of
// parts after these two arguments: only those.
import { createRequire } from "node:module";
import { readFileSync, writeFileSync } from "node:fs";
const [scratch, shots, ...wanted] = process.argv.slice(2);
const require = createRequire(`${scratch}/`);
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

let failed = 0,
    checks = 0;
function check(what, ok, seen = "") {
    checks++;
    if (ok) return;
    failed++;
    console.log(`FAILED: ${what}`, seen);
}
const equal = (what, got, expected) =>
    check(
        what,
        JSON.stringify(got) === JSON.stringify(expected),
        `got ${JSON.stringify(got)}, expected ${JSON.stringify(expected)}`,
    );

const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", "--force-color-profile=srgb"],
});

// A page, opened; what the browser complains about is a failure.
async function open(name, query = "", options = {}) {
    const { quiet = false, ...rest } = options;
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...rest });
    context.setDefaultTimeout(120000); // beside other tests
    const page = await context.newPage();
    page.on(
        "console",
        (message) =>
            quiet || check(`${name}${query}: console ${message.type()}`, false, message.text()),
    );
    page.on("pageerror", (error) => check(`${name}${query}: an error`, false, error.stack));
    page.on("dialog", (dialog) => {
        check(`${name}: a dialog`, false, dialog.message());
        dialog.dismiss();
    });
    page.on("request", (request) =>
        check(`${name}: a request`, /^(file:|data:|blob:)/.test(request.url()), request.url()),
    );
    await page.goto(`file://${scratch}/${name}/index.html${query}`);
    await page.waitForFunction(() => document.body.dataset.ready === "yes");
    return page;
}
const count = (page) => page.locator("#count").textContent();
const number = async (page) => Number((await count(page)).split(" ")[0].replaceAll(",", ""));
const firstRows = (page, n) =>
    page
        .locator("#table tbody th.form a")
        .evaluateAll((links, n) => links.slice(0, n).map((link) => link.textContent), n);
const heads = (page) =>
    page
        .locator("#table thead th.cpu")
        .evaluateAll((cells) => cells.map((cell) => cell.dataset.cpu));
async function search(page, text) {
    await page.fill("#search", text);
    return number(page);
}
async function accessible(page, what) {
    await page.evaluate(axe); // through the debugger: the page's own policy would refuse it
    const { violations } = await page.evaluate(() =>
        window.axe.run(document, { resultTypes: ["violations"], preload: false }),
    );
    for (const { id, impact, nodes } of violations)
        check(
            `${what}: axe ${id} (${impact})`,
            impact !== "serious" && impact !== "critical",
            nodes
                .slice(0, 3)
                .map((node) => node.html)
                .join("\n"),
        );
}
// Unfolds the choices: CPUs, columns, extensions.
const unfold = (page) =>
    page.evaluate(() => {
        document.getElementById("choices").open = true;
    });
const shot = (page, name) => page.screenshot({ path: `${shots}/${name}.png` });

async function searching() {
    const page = await open("many");
    // Code means the forms that latput query finds, and so do bytes, once their data are there.
    await search(page, "48 0f af c3");
    await page.waitForFunction(() => latput.table.csv().split("\n").length === 3);
    equal("bytes find their form", await firstRows(page, 1), ["imul r64 r64"]);
    await search(page, "");
    for (const line of readFileSync(`${scratch}/code.tsv`, "utf8").trim().split("\n")) {
        const [code, json] = line.split("\t");
        const found = await page.evaluate((text) => {
            const { forms } = latput.model,
                is = latput.search.parse(text, latput.view.shown());
            return Array.from({ length: forms.count }, (_, form) => form)
                .filter(is)
                .map(forms.id);
        }, code);
        const asked = JSON.parse(json).map(({ form, enc, bits }) => `${form} ${enc}${bits}`);
        check(`${code} is something`, asked.length > 0);
        equal(`${code}, as latput query has it`, found.sort(), asked.sort());
    }
    // Half of it leads there.
    await search(page, "vpermd zmm0{k1}, zmm1");
    check("what begins so", (await number(page)) > 1);
    await search(page, "");
    const all = await number(page);
    check("many forms", all > 1500, all);
    equal("three CPUs", await heads(page), ["many0", "many1", "many2"]);
    check(
        "CPUs are named for people, with a date",
        /^Test many0 · Test, \d{4}-\d\d-\d\d$/.test(
            await page.locator("#table thead th.cpu").first().textContent(),
        ),
    );
    const about = await page.locator("#about").textContent();
    check(
        "the page says what it is, of which CPUs, and when",
        /^Latency, .* [\d,]+ forms, measured on Test many0 · Test \(\d{4}-.*many2 · Test/.test(
            about,
        ),
        about,
    );
    const names = async (text) => (
        await search(page, text),
        page.evaluate(() =>
            latput.table
                .csv()
                .split("\n")
                .slice(1, -1)
                .map((line) => line.split(",")[0]),
        )
    );
    const expect = async (text, fits) => {
        const found = await names(text);
        check(`'${text}' finds`, found.length > 0, found.length);
        check(
            `'${text}' is right`,
            found.every(fits),
            found.filter((name) => !fits(name)).slice(0, 5),
        );
    };
    await expect("vpermd y", (name) => /vpermd .*\by\b/.test(name));
    await expect("m256", (name) => / m256/.test(name));
    await expect("{k}", (name) => name.includes("{k}"));
    await expect("vpermd y, y, m256", (name) => /vpermd y[^ ]* y m256/.test(name));
    await expect("VPERMD zmm", (name) => /vpermd .*\bz\b/.test(name));
    await expect("vp*d z", (name) => /^({.*} )?vp\S*d .*\bz/.test(name));
    await expect(
        "add r64 -adc -xadd -lea",
        (name) => /add/.test(name) && /r64/.test(name) && !/adc|xadd/.test(name),
    );
    await expect("isa:avx2 -{k}", (name) => !name.includes("{k}"));
    await expect("shuffle zmm", (name) => /(shuf|perm|unpck|align).* z/.test(name));
    for (const called of ["_mm256_permutevar8x32_epi32", "_MM256_permutevar8x32_epi32(a, b)"])
        await expect(called, (name) => /^({evex} )?vpermd y y y$/.test(name));
    const mnemonics = async (text) => [
        ...new Set((await names(text)).map((name) => name.replace(/^{.*?} /, "").split(" ")[0])),
    ];
    const [exact, ...others] = await mnemonics("mul");
    equal("what is named comes first", exact, "mul");
    const prefixes = others.findLastIndex((name) => name.startsWith("mul"));
    const parts = others.findIndex((name) => !name.startsWith("mul"));
    check("then what begins so, then what contains it", parts < 0 || prefixes < parts, others);
    check("mul is within others, too", parts >= 0, others);
    check(
        "a sorted column stays sorted",
        await page.evaluate(() => {
            latput.view.change({ search: "mul", sort: "form", down: false });
            const rows = latput.table.csv().split("\n").slice(1, -1);
            latput.view.change({ sort: "" });
            return !rows[0].startsWith("mul ");
        }),
    );
    equal("what is not there", await search(page, "no-such-thing"), 0);
    check("it says so", await page.locator("#nothing").isVisible());
    await page.click("#reset");
    equal("and offers all", await number(page), all);
    const fast = await search(page, "lat>7"),
        slow = await search(page, "lat<=7");
    check("latencies are compared", fast > 0 && slow > 0, [fast, slow]);
    await page.context().close();
}

// Forms that no CPU has, and those of 32-bit mode, come when they are asked for.
async function hiding() {
    const page = await open("unlike");
    const rows = (page) =>
        page.evaluate(() =>
            JSON.parse(latput.table.json()).map((row) => [
                row.bits,
                ...Object.entries(row)
                    .filter(([name]) => name.endsWith(" outcome"))
                    .map(([, outcome]) => outcome),
            ]),
        );
    const shown = await rows(page);
    const had = ([, ...outcomes]) => outcomes.some((outcome) => outcome !== "unsupported");
    check(
        "no 32-bit mode",
        shown.every(([bits]) => bits === 64),
    );
    check("no form that no CPU has", shown.every(had));
    const hidden = Number(/\d+/.exec(await page.locator("#hidden").textContent())[0]);
    await page.click("#hidden");
    const all = await rows(page);
    equal("hidden forms are counted", all.length, shown.length + hidden);
    check(
        "32-bit mode when asked",
        all.some(([bits]) => bits === 32),
    );
    check(
        "all when asked",
        all.some((row) => !had(row)),
    );
    check("in the URL", /absent=on&bits32=on/.test(page.url()), page.url());
    check("nothing is hidden then", await page.locator("#hidden").isHidden());
    await page.context().close();
    const asked = await open("unlike", "?search=bits:32");
    check("a search may ask, too", (await number(asked)) > 0);
    await asked.context().close();
}

// A row that is clicked is marked and stays under the pointer, whatever the panel takes.
async function clicked() {
    const page = await open("many", "", { viewport: { width: 1180, height: 800 } });
    await page.evaluate(() => {
        document.getElementById("scroller").scrollTop = 2000;
    });
    const link = page.locator("#table tbody th.form a").nth(14);
    const name = await link.textContent();
    const top = async () =>
        (await page.locator("#table tbody tr", { hasText: name }).first().boundingBox()).y;
    const before = await top();
    await link.click();
    await page.waitForSelector("#panel .facts");
    equal("the row does not move", await top(), before);
    equal(
        "it is marked",
        await page.locator("#table tr[aria-current] th.form a").allTextContents(),
        [name],
    );
    await page.context().close();
    const again = await open("many", new URL(page.url()).search);
    const row = again.locator("#table tr[aria-current]");
    check("a link leads to the row, too", await row.isVisible());
    await again.context().close();
}

async function width() {
    const forms = `${scratch}/false/data/forms.js`;
    const long = Array(12).fill("r64").join(" ");
    writeFileSync(forms, readFileSync(forms, "utf8").replace('"r64 r64"', `"${long}"`));
    const page = await open("false", "", {
        viewport: { width: 1920, height: 900 },
    });
    const widths = await page
        .locator("#table thead tr:last-child th")
        .evaluateAll((cells) => cells.map((cell) => cell.offsetWidth));
    const cut = await page
        .locator("#table tbody th.form")
        .evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length);
    check("names have the room that there is", widths[0] > 21 * 16 && cut === 0, [widths, cut]);
    await page.context().close();
}

async function sorting() {
    const page = await open("many", "?cb_many0=on&cb_lat=on&cb_tp=on");
    const column = () => page.locator("#table tbody td.tp").allTextContents();
    await page.locator("#table thead th.tp button").click();
    equal("sorted upwards", (await column())[0], "0.25");
    equal(
        "said so",
        await page.locator("#table thead th.tp").getAttribute("aria-sort"),
        "ascending",
    );
    await page.locator("#table thead th.tp button").click();
    equal("sorted downwards", (await column())[0], "1.25");
    check("in the URL", page.url().includes("sort=-tp.many0"), page.url());
    const before = await firstRows(page, 5);
    await page.reload();
    await page.waitForFunction(() => document.body.dataset.ready === "yes");
    equal("as before after a reload", await firstRows(page, 5), before);
    await page.context().close();
}

async function state() {
    // A link as in uops.info's table; a CPU that is not here is left out.
    const page = await open(
        "many",
        "?search=vpermd&cb_lat=on&cb_ports=on&cb_SKL=on&cb_many1=on&cb_measurements=on&cb_avx512=on",
    );
    equal("its columns", await page.locator("#table thead tr:last-child th").allTextContents(), [
        "Instruction",
        "Latency",
        "Ports",
    ]);
    equal("its CPU", await heads(page), ["many1"]);
    check(
        "its extension",
        (await page.evaluate(() => latput.table.csv()))
            .split("\n")
            .slice(1, -1)
            .every((line) => line.includes("AVX512")),
    );
    equal("its search", await page.inputValue("#search"), "vpermd");
    await unfold(page);
    await page.locator("#cpus label", { hasText: "many2" }).click();
    await page.waitForFunction(() => document.querySelectorAll("#table thead th.cpu").length === 2);
    await page.locator("#columns label", { hasText: "Extension" }).click();
    const url = page.url();
    for (const part of [
        "search=vpermd",
        "cb_lat=on",
        "cb_ports=on",
        "cb_isa=on",
        "cb_many1=on",
        "cb_many2=on",
        "cb_avx512=on",
    ])
        check(`the URL has ${part}`, url.includes(part), url);
    const again = await open("many", new URL(url).search);
    equal(
        "another window shows the same",
        await again.locator("#table thead").textContent(),
        await page.locator("#table thead").textContent(),
    );
    equal("the same forms", await firstRows(again, 8), await firstRows(page, 8));
    await page.context().close();
    await again.context().close();
}

async function panel() {
    const page = await open("known", "?cb_testa=on&cb_testb=on");
    await page.locator("#table a", { hasText: "add r64 r64" }).click();
    const open1 = page.locator("#panel");
    await open1.locator("text=4801D8").or(open1.locator("text=48 01 D8")).first().waitFor();
    const text = await open1.textContent();
    for (const part of [
        "op1",
        "flags",
        "add rax, rbx",
        "not measurable",
        "no chain for this pair",
        "16 of 18",
        "NASM version 2.16.01",
        "Test CPU",
        "0x00b00f21",
        "frequency not fixed",
        "48 01 CB 3 bytes: add rbx, rcx",
        "Addition (int)",
    ])
        check(`the panel has ${part}`, text.includes(part), text.slice(0, 3000));
    await page.waitForSelector("#panel canvas");
    check(
        "samples are told",
        /^16 samples in 2 passes: least 1\.000, median 1\.000, most 1\.000 cycles$/.test(
            await page.getAttribute("#panel canvas", "aria-label"),
        ),
        await page.getAttribute("#panel canvas", "aria-label"),
    );
    equal(
        "the CPUs side by side",
        await page
            .locator("#panel .grid")
            .first()
            .locator("tr")
            .nth(1)
            .locator("td")
            .allTextContents(),
        ["latency", "1.00", "2.00"],
    );
    check(
        "references",
        (await page.locator("#panel a[rel]").evaluateAll((links) => links.map((a) => a.href))).join(
            " ",
        ) ===
            "https://www.felixcloutier.com/x86/#:~:text=ADD https://uops.info/table.html?search=add&cb_lat=on&cb_tp=on&cb_uops=on&cb_ports=on",
    );
    await page.locator("#panel summary", { hasText: "testb" }).click();
    await page.waitForFunction(() =>
        document.querySelectorAll("#panel .of-cpu")[1].textContent.includes("op1"),
    );
    await accessible(page, "panel");
    await shot(page, "panel");
    check("in the URL", page.url().includes("form=add+r64+r64+legacy64"), page.url());
    await page.goBack();
    await page.waitForFunction(() => document.getElementById("panel").hidden);
    await page.goForward();
    await page.waitForFunction(() => !document.getElementById("panel").hidden);
    const again = await open("known", new URL(page.url()).search);
    await again.waitForFunction(
        () => document.querySelector("#panel h2")?.textContent === "add r64 r64",
    );
    await page.context().close();
    await again.context().close();
}

// A pack with results only: no buttons and no menu that lead to nothing.
async function slim() {
    const page = await open("slim", "?form=add+r64+r64");
    const panel = page.locator("#panel");
    await panel.getByText("Provenance").waitFor();
    check("operand pairs", (await panel.locator(".grid tbody tr").count()) > 0);
    equal("no button to nowhere", await panel.getByRole("button", { name: "How" }).count(), 0);
    equal("no menu of nothing", await panel.locator("select").count(), 0);
    equal("why, once", await panel.getByText("has results only").count(), 1);
    check(
        "what failed stays",
        (await panel.textContent()).includes("no chain for this pair"),
        await panel.textContent(),
    );
    await accessible(page, "slim");
    await shot(page, "slim");
    await page.context().close();
    const full = await open("known", "?form=add+r64+r64&cb_testa=on");
    await full.locator("#panel select").waitFor();
    equal("not said of others", await full.getByText("has results only").count(), 0);
    const tests = await full.locator("#panel select option").count();
    for (let at = 0; at < tests; at++) {
        await full.locator("#panel select").selectOption(String(at));
        check("each test of the menu has kernels", await full.getByText("were timed").isVisible());
    }
    await full.context().close();
}

// A form that waits for what it overwrites has a line that says so; another one has none.
async function overwritten() {
    const line = async (form) => {
        const page = await open("false", `?form=${form}+r64+r64`);
        await page.locator("#panel").getByText("How it was measured").waitFor();
        const waits = page.locator("#panel dt", { hasText: "waits for" });
        const told = (await waits.count())
            ? await waits.locator("xpath=following-sibling::dd[1]").textContent()
            : "";
        await accessible(page, form);
        await shot(page, `panel-${form}`);
        await page.context().close();
        return told;
    };
    equal("a false dependency", await line("popcnt"), "op1 (false): ≤4.00");
    equal("none", await line("lzcnt"), "");
}

// Table and panel side by side: what is not in sight can be scrolled to, and a shadow says so.
async function beside() {
    const one = "&cb_many0=on&cb_lat=on&cb_tp=on&cb_uops=on&cb_ports=on&cb_isa=on";
    const seen = (page) =>
        page.evaluate(() => {
            const scroller = document.getElementById("scroller"),
                box = (element) => element.getBoundingClientRect();
            const heads = [...document.querySelectorAll("#table thead tr:last-child th")],
                rows = [...document.querySelectorAll("#table tbody tr:not(.space)")];
            const shown = heads.filter((head) => head.offsetWidth > 0),
                last = shown.at(-1),
                at = heads.indexOf(last);
            return {
                fits: box(last).right <= box(scroller).right + 1,
                inPage: box(document.getElementById("panel")).right <= innerWidth,
                aligned: rows.every(
                    (row) => Math.abs(box(row.children[at]).left - box(last).left) < 1,
                ),
                shadow: getComputedStyle(scroller.parentElement, "::after").content !== "none",
            };
        });
    const ready = (page) => page.waitForSelector("#panel .facts");
    const narrow = await open("many", `?form=add+r64+r64${one}`, {
        viewport: { width: 1180, height: 800 },
    });
    await ready(narrow);
    const all = { fits: true, inPage: true, aligned: true, shadow: false };
    equal("a CPU fits beside the panel", await seen(narrow), all);
    await shot(narrow, "beside");
    await narrow.keyboard.press("Escape");
    await narrow.waitForFunction(() => document.querySelector("#table th.fact")?.offsetWidth > 0);
    check("the rest comes back", (await seen(narrow)).aligned);
    await narrow.context().close();
    // The second CPU is in sight, with as many of its columns as there is room for, under its name.
    for (const [width, columns] of [
        [1024, 2],
        [1440, 3],
        [1920, 4],
    ]) {
        const two = await open("many", `?form=add+r64+r64&cb_many1=on${one}`, {
            viewport: { width, height: 800 },
        });
        await ready(two);
        equal(`two CPUs fit beside the panel, ${width}`, await seen(two), all);
        const names = two.locator("#table thead th.cpu");
        equal(
            `with ${columns} columns each`,
            await names.evaluateAll((cells) => cells.map((cell) => cell.colSpan)),
            [columns, columns],
        );
        // Nor is a longer name cut.
        await two.evaluate(() => {
            for (const cpu of latput.model.cpus) cpu.name = cpu.short = "Sapphire Rapids?";
        });
        await two.setViewportSize({ width, height: 760 }); // the table is laid out anew
        await two.waitForFunction(() =>
            document.querySelector("#table thead .cpu").textContent.startsWith("Sapphire"),
        );
        equal(
            `names of CPUs are whole, ${width}`,
            await names.evaluateAll((cells) =>
                cells.map((cell) => cell.scrollWidth <= cell.clientWidth),
            ),
            [true, true],
        );
        await two.context().close();
    }
    const many = await open("many", `?form=add+r64+r64&cb_many1=on&cb_many2=on${one}`, {
        viewport: { width: 900, height: 800 },
    });
    await ready(many);
    equal("more scrolls", await seen(many), { ...all, fits: false, shadow: true });
    await many.focus("#scroller");
    await many.evaluate(() => {
        document.getElementById("scroller").scrollLeft = 9999;
    });
    await many.waitForFunction(() => !document.querySelector("#view-table.more"));
    equal("to its end", await seen(many), all);
    await accessible(many, "table beside the panel");
    await many.context().close();
}

async function keyboard() {
    const page = await open("many");
    await page.keyboard.press("/");
    await page.keyboard.type("vpermd");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    const rows = await firstRows(page, 2);
    const opened = (name) =>
        page.waitForFunction(
            (name) => document.querySelector("#panel h2")?.textContent === name,
            name,
        );
    await opened(rows[0]); // one press leads to the first row
    await page.keyboard.press("ArrowDown");
    await opened(rows[1]);
    await page.keyboard.press("Escape");
    check("Esc closes the details", await page.locator("#panel").isHidden());
    await page.keyboard.press("End");
    await page.waitForFunction(() => document.querySelector("#table tr.current") !== null);
    const all = await number(page);
    equal(
        "End goes there",
        await page.locator("#table tr.current").getAttribute("aria-rowindex"),
        String(all + 1),
    );
    equal(
        "rows are counted",
        await page.locator("#table").getAttribute("aria-rowcount"),
        String(all + 2),
    );
    await page.keyboard.press("?");
    check("? explains", await page.locator("#help").isVisible());
    await accessible(page, "help");
    await page.context().close();
}

async function scrolling() {
    const page = await open("many");
    const seen = await page.evaluate(async () => {
        const scroller = document.getElementById("scroller");
        scroller.scrollTop = scroller.scrollHeight / 2;
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        const box = scroller.getBoundingClientRect(),
            at = document.elementFromPoint(box.left + 20, box.top + box.height / 2);
        return {
            rows: document.querySelectorAll("#table tbody tr").length,
            at: Number(at.closest("tr")?.getAttribute("aria-rowindex")),
        };
    });
    const all = await number(page);
    check("the middle is shown", Math.abs(seen.at - all / 2) < 60, [seen, all]);
    check("few rows are elements", seen.rows < 120, seen.rows);
    await page.context().close();
}

async function differences() {
    const page = await open("many", "?cb_many0=on&cb_many1=on&cb_lat=on&cb_tp=on");
    equal("nothing is marked unasked", await page.locator("#table td.more").count(), 0);
    await page.locator("#compare label", { hasText: "only forms" }).click();
    const rows = await page.evaluate(() => latput.table.csv().split("\n").slice(1, -1).length);
    check(
        "some differ",
        rows > 100 && rows < 0.9 * (await page.evaluate(() => latput.model.forms.count)),
        rows,
    );
    const marked = await page
        .locator("#table tbody tr:not(.space)")
        .evaluateAll(
            (all) => all.filter((row) => row.querySelector(".more, .less, .unlike")).length,
        );
    equal(
        "each row shown has a mark",
        marked,
        await page.locator("#table tbody tr:not(.space)").count(),
    );
    check(
        "not by colour alone",
        (await page.locator("#table td.more").first().textContent()).includes("▲"),
    );
    await accessible(page, "differences");
    await shot(page, "differences");
    const summary = await open("unlike", "?view=compare&cb_many0=on&cb_many1=on");
    for (const by of ["list", "isa"]) {
        const [diff] = JSON.parse(readFileSync(`${scratch}/diff-${by}.json`, "utf8"));
        const expected = diff.classes;
        const got = await summary.evaluate(
            (by) =>
                [
                    ...latput.compare.classes(
                        ...["many0", "many1"].map((key) =>
                            latput.model.cpus.find((cpu) => cpu.key === key),
                        ),
                        by,
                    ),
                ].map(([name, group]) => [name || "all", group]),
            by,
        );
        const counts = new Map(got);
        for (const { class: name, forms, in_doubt: doubt, ...rest } of expected)
            for (const [change, n] of Object.entries({ forms, doubt, ...rest })) {
                if (change.endsWith("_ratio")) continue;
                const shown = counts.get(name)?.[change] ?? 0;
                equal(`${name}: ${change}, as latput diff has it`, shown, n);
            }
        equal(`classes by ${by}`, counts.size, expected.length);
    }
    await summary.locator("select").nth(2).selectOption("1");
    await summary.waitForFunction(() => location.search.includes("by=isa"));
    check(
        "classes are extensions",
        (await summary.locator(".grid tbody").first().textContent()).includes("AVX2"),
    );
    // Each number leads to as many forms; the largest changes lead to their form.
    const counts = summary.locator(".grid").first().locator("tbody tr").first().locator("button");
    for (let at = 0; at < (await counts.count()); at++) {
        const told = (await counts.nth(at).textContent()).replaceAll(",", "");
        await counts.nth(at).click();
        await summary.locator("#scroller").waitFor();
        equal("a number of the summary leads to its forms", await number(summary), Number(told));
        await summary.goBack();
        await summary.waitForFunction(() => latput.view.state.view === "compare");
        await counts.first().waitFor();
    }
    for (const name of ["Gains", "Losses"]) {
        const largest = summary
            .locator(".grid", { hasText: new RegExp(`${name} on`) })
            .locator("tbody tr");
        const factors = await largest.locator("td:last-child").allTextContents();
        check(`${name}: up to twenty`, factors.length > 0 && factors.length <= 20, factors);
        check(
            `${name}: the largest first`,
            factors.every((factor, i) => i === 0 || Number(factor) <= Number(factors[i - 1])),
            factors,
        );
    }
    await shot(summary, "differences-by-class");
    await accessible(summary, "summary of differences");
    await page.context().close();
    await summary.context().close();
}

async function downloads() {
    const page = await open("many", "?search=vpermd&cb_many0=on&cb_many1=on&cb_lat=on");
    await unfold(page);
    const saved = async (name) => {
        const [download] = await Promise.all([
            page.waitForEvent("download"),
            page.getByRole("button", { name }).click(),
        ]);
        return readFileSync(await download.path(), "utf8");
    };
    const csv = await saved("Save as CSV"),
        json = JSON.parse(await saved("Save as JSON")),
        n = await number(page);
    equal("lines of CSV", csv.trim().split("\n").length, n + 1);
    equal("objects of JSON", json.length, n);
    check(
        "their values",
        json.every((form) => form["many0 latency_min_clk"] >= 1 && form["many0 outcome"] === "ok"),
        json[0],
    );
    check(
        "only what is shown",
        !("many0 rthroughput_clk" in json[0]) && !("many2 outcome" in json[0]),
        json[0],
    );
    const [database] = await Promise.all([
        page.waitForEvent("download").catch(() => null),
        page.getByRole("link", { name: "Database" }).click(),
    ]);
    check(
        "the database",
        database !== null &&
            readFileSync(await database.path())
                .subarray(0, 15)
                .toString() === "SQLite format 3",
    );
    await page.context().close();
}

async function hostile() {
    const page = await open("hostile");
    await page.evaluate(() => {
        window.hostile = () => {
            window.wasHostile = true;
        };
    });
    check(
        "markup is text",
        (await page.locator("#table").textContent()).includes(
            "</script><img src=x onerror=hostile()>",
        ),
    );
    for (const view of ["ports", "cpus"]) {
        await page.locator(`nav a[href="?view=${view}"]`).click();
        await page.waitForFunction(() => !document.getElementById("view-page").hidden);
    }
    check(
        "a warning, too",
        (await page.locator("#view-page").textContent()).includes("</script><img src=x"),
    );
    await page.locator("nav a", { hasText: "Instructions" }).click();
    for (const link of await page.locator("#table tbody th.form a").all()) {
        await link.click();
        await page.waitForSelector("#panel .facts");
        await page.locator("#panel").getByText("How it was measured").waitFor();
    }
    for (const text of [
        "</script>",
        "<img",
        "__proto__",
        "constructor",
        "isa:</script>",
        "(",
        "[",
        "\\",
        "a{999}",
        "*?*",
    ])
        await search(page, text);
    await search(page, "__proto__");
    equal("names of objects are names", await number(page), 1);
    const csv = await page.evaluate(() => {
        document.querySelector("#search").value = "";
        latput.view.change({ search: "" });
        return latput.table.csv();
    });
    check("no formulas", !/^[=+@-]/m.test(csv) && csv.includes("'=cmd"), csv);
    const found = await page.evaluate(() => ({
        images: document.querySelectorAll("img, iframe, object, embed, svg[onload]").length,
        ran: window.wasHostile === true,
        handlers: [...document.querySelectorAll("*")].filter((element) =>
            [...element.attributes].some(
                ({ name, value }) =>
                    name.startsWith("on") || (/^\s*javascript:/i.test(value) && name === "href"),
            ),
        ).length,
    }));
    equal("nothing of it is there", found, { images: 0, ran: false, handlers: 0 });
    await page.context().close();
    // The last wall: what got into the page all the same would not run.
    const walled = await open("hostile", "", { quiet: true });
    const ran = await walled.evaluate(async () => {
        const script = document.createElement("script");
        script.textContent = "window.ran = 1";
        document.body.append(script);
        const image = document.createElement("div");
        image.innerHTML =
            "<img src='data:,' onerror='window.ran = 2'><button onclick='window.ran = 3'></button>";
        document.body.append(image);
        image.querySelector("button").click();
        await new Promise((resolve) => setTimeout(resolve, 200));
        return window.ran ?? 0;
    });
    equal("the policy stops scripts of others", ran, 0);
    await walled.context().close();
    const evil = await open(
        "known",
        "?search=%3Cimg%20src=x%20onerror=alert(1)%3E&form=%3Cimg%20src=x%20onerror=alert(1)%3E&sort=__proto__.x&view=__proto__&cb___proto__=on",
    );
    check(
        "a hostile link shows texts",
        (await evil.locator("#panel").textContent()).includes("<img src=x"),
    );
    await evil.context().close();
}

// A stranger's text in every text column: in no view does anything of it run, or become an element.
async function everyColumn() {
    const page = await open("each");
    await page.evaluate(() => {
        window.hostile = () => {
            window.wasHostile = true;
        };
    });
    let seen = "";
    const look = async (what) => {
        seen += await page.evaluate(() => document.body.textContent);
        const found = await page.evaluate(() => ({
            ran: window.wasHostile === true,
            elements: document.querySelectorAll(
                "img, iframe, object, embed, base, [onerror], [onload], svg[onload], body script",
            ).length,
            links: [...document.querySelectorAll("a[href], [src], [action]")].filter((element) =>
                ["href", "src", "action"].some((name) =>
                    /^\s*(javascript|data|vbscript):/i.test(element.getAttribute(name) ?? ""),
                ),
            ).length,
        }));
        equal(`nothing runs in ${what}`, found, { ran: false, elements: 0, links: 0 });
    };
    await look("the table");
    for (const link of await page.locator("#table tbody th.form a").all()) {
        await link.click();
        await page.waitForSelector("#panel .facts");
        for (const part of await page.locator("#panel details").all())
            await part.evaluate((element) => {
                element.open = true;
            });
        await page.waitForTimeout(100);
        await look("the panel");
    }
    for (const view of ["compare", "ports", "properties", "cpus"]) {
        await page.locator(`nav a[href="?view=${view}"]`).click();
        await page.waitForFunction(
            (view) =>
                location.search.includes(`view=${view}`) &&
                !document.getElementById("view-page").hidden &&
                document.querySelector("#view-page h2"),
            view,
        );
        await look(view);
    }
    for (const part of ["</script><img src=x", "<svg onload=hostile()>", "{{`${hostile()}`"])
        check(`${part} is told as it is`, seen.includes(part), seen.length);
    await page.context().close();
}

async function looks() {
    for (const colorScheme of ["light", "dark"]) {
        const page = await open(
            "many",
            "?cb_many0=on&cb_many1=on&cb_lat=on&cb_tp=on&cb_uops=on&cb_ports=on&cb_isa=on&diff=on",
            { colorScheme },
        );
        await accessible(page, `table, ${colorScheme}`);
        await shot(page, `table-${colorScheme}`);
        await page.locator("#views a", { hasText: "CPUs" }).click();
        await page.waitForFunction(() => document.querySelector("#view-page h2"));
        await accessible(page, `CPUs, ${colorScheme}`);
        await shot(page, `cpus-${colorScheme}`);
        await page.context().close();
    }
    const phone = await open("many", "?search=vshuf*", {
        viewport: { width: 360, height: 740 },
        isMobile: true,
        hasTouch: true,
        deviceScaleFactor: 2,
    });
    check(
        "the page is as wide as a phone",
        await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
    );
    equal(
        "names are whole, in rows of one height",
        await phone.locator("#table tbody tr[data-form]").evaluateAll((rows) => {
            const name = (row) => row.querySelector("th.form");
            return [
                rows.filter((row) => name(row).scrollWidth > name(row).clientWidth).length,
                rows.filter((row) => name(row).classList.contains("two")).length > 0,
                [...new Set(rows.map((row) => Math.round(row.getBoundingClientRect().height)))],
            ];
        }),
        [0, true, [28]],
    );
    check("rows can be seen", (await phone.locator("#scroller").boundingBox()).height > 300);
    await shot(phone, "phone");
    await phone.locator("#table tbody th.form a").nth(3).tap();
    await phone.waitForSelector("#panel .facts");
    const box = await phone.locator("#panel").boundingBox();
    check("details take the whole of it", box.width >= 355 && box.height >= 730, box);
    await accessible(phone, "phone");
    await shot(phone, "phone-panel");
    await phone.context().close();
}

// Makes properties of two CPUs: a curve; variants that are compared with each other; values of a
// second variable with a conclusion each.
function propertiesOf(run) {
    const texts = [],
        text = (string) => [(texts.indexOf(string) + 1 || texts.push(string)) - 1];
    const table = [],
        points = [];
    const asked = "How long does a <load> take?";
    const conclude = (file, name, group, variant, conclusion, value, unit = "clk") =>
        table.push([
            ...[name, group, variant, conclusion, unit, `${conclusion} ${value}`, asked].map(text),
            value,
            run(file),
        ]);
    const point = (file, name, variant, x, y, by = null, x_unit = "bytes") =>
        points.push([run(file), text(name), text(variant), x, y, by, text(x_unit), text("clk")]);
    ["testa", "testb"].forEach((file, c) => {
        conclude(file, "cache_latency", "memory", "l1 <i>", "grows", 5 + c);
        conclude(file, "cache_latency", "memory", "l1 <i>", "end 1", 8, "bytes");
        [1, 2, 4, 8, 512, 1024].forEach((x, i) =>
            point(file, "cache_latency", "l1 <i>", x, i * (c + 1)),
        );
        conclude(file, "fusion", "front_end", "", "cells 1", 4);
        for (const variant of ["add_8", "add_16", "cmp"])
            for (const x of [0, 2])
                point(file, "fusion", variant, x, variant === "cmp" ? 1 : 2 + x);
        for (const x of [0, 32, 64, 256, 1024, 8192]) point(file, "strings", "movsb", x, x);
        for (let x = 8; x <= 400; x += 8) point(file, "queues", "", x, x);
        conclude(file, "strings", "memory", "movsb", "slope", 1);
        conclude(file, "queues", "memory", "", "knee", 100, "bytes");
        for (const by of [16, 8]) {
            conclude(file, "branches", "branches", `jmp ${by}`, "level 1", by / 8);
            for (const x of [4, 4096]) point(file, "branches", "jmp", x, x / by, by);
        }
    });
    conclude("old", "fusion", "front_end", "", "cells 1", 210);
    for (const x of [0, 2]) point("old", "fusion", "add_8", x, 210);
    const columns = ["property", "grp", "variant", "conclusion", "unit", "sentence", "question"];
    const units = ["x_unit", "y_unit"];
    const facts = (text) => [
        {
            group: "Core",
            fact: "Reorder buffer <i>",
            text,
            interval: "446 to 449",
            published: "448",
            confidence: 1,
        },
    ];
    return {
        texts,
        sheets: ["testa", "testb"].map((file, c) => ({
            run_id: run(file),
            facts: facts(`${440 + c} µops`),
        })),
        table: { columns: [...columns, "value", "run_id"], rows: table },
        points: {
            columns: ["run_id", "property", "variant", "x", "y", "by_x", ...units],
            rows: points,
        },
    };
}
// A structure of ports and properties, as the views would give them.
async function ports() {
    const index = `${scratch}/known/data/index.js`,
        text = readFileSync(index, "utf8");
    const structure = {
        uarch: "testa",
        width: 4,
        ports: 3,
        residual: 0.01,
        binding: 0,
        filler: "nop",
        order: ["p0", "p1", "<b>p2"],
        hidden: [],
        probes: [],
        sets: [
            { name: "A1", size: 1, ports: ["p0"], forms: 2, blocker: "imul", holds: "always" },
            {
                name: "A3",
                size: 3,
                ports: ["p0", "p1", "<b>p2"],
                forms: 9,
                blocker: "add",
                holds: "always",
            },
            {
                name: "A2.512",
                size: 2,
                ports: ["p0", "p1"],
                forms: 3,
                blocker: "vaddps",
                holds: "wide",
            },
        ],
        units: [{ name: "U1", blocker: "div r64", kind: "not pipelined", busy_clk: 6 }],
    };
    const put = (kind, value) =>
        `latput.put("${kind}",'${JSON.stringify(value).replaceAll(/[\\']/g, "\\$&")}');\n`;
    const json = text.slice(text.indexOf("'") + 1, text.lastIndexOf("'")),
        known = JSON.parse(json.replaceAll(/\\(.)/g, "$1"));
    const cpu = (file) => known.cpus.find((cpu) => cpu.file === `cpu_${file}`);
    const run = (file) => cpu(file).runs[0].run_id;
    // A run from before, whose conclusions and points are not to be mixed with the newest one's.
    cpu("testa").runs.push({ ...cpu("testa").runs[0], run_id: 77, started_utc: "2001-01-01" });
    // The newest run has properties only.
    const withForms = cpu("testa").runs[0];
    cpu("testa").runs.unshift({ ...withForms, run_id: 78, forms: 0, tables: "cpus:12" });
    cpu("testa").ports = structure;
    known.properties = 1;
    writeFileSync(index, put("index", known));
    writeFileSync(
        `${scratch}/known/data/properties.js`,
        put(
            "properties",
            propertiesOf((file) => (file === "old" ? 77 : run(file))),
        ),
    );
    const page = await open("known", "?view=ports");
    equal("a picture of sets and ports", await page.locator("svg.ports rect.on").count(), 6);
    equal(
        "sets in the order of latput ports: those beside wide vectors last",
        await page.locator("svg.ports text:not(.small)").allTextContents(),
        ["A3", "A1", "A2.512"],
    );
    check(
        "what the deviation is",
        (await page.locator("article").textContent()).includes(
            "the one that fits least takes 1.0 % more or less time than the structure predicts",
        ),
    );
    check("with names", (await page.locator("svg.ports").textContent()).includes("<b>p2"));
    await accessible(page, "ports");
    await page.locator("nav a", { hasText: "Properties" }).click();
    equal(
        "the fact sheet comes first, CPUs side by side",
        await page.locator("#view-page .grid").first().locator("tbody td").allTextContents(),
        [
            "CoreReorder buffer <i>",
            "440 µops 446 to 449; published: 448",
            "441 µops 446 to 449; published: 448",
        ],
    );
    const part = (title) => page.locator("article", { hasText: title });
    const curve = (title) => part(title).locator(".plot canvas").getAttribute("aria-label");
    check(
        "curves of both CPUs",
        /Test testa \(l1 <i>\), Test testb \(l1 <i>\)/.test(await curve("cache_latency")),
        await curve("cache_latency"),
    );
    check(
        "steps are drawn where they were found",
        /step of Test testa \(l1 <i>\) at 8; step of Test testb \(l1 <i>\) at 8;/.test(
            await curve("cache_latency"),
        ),
        await curve("cache_latency"),
    );
    check(
        "what was measured",
        (await part("cache_latency").textContent()).includes("How long does a <load> take?"),
    );
    await part("cache_latency")
        .locator(".u-over")
        .hover({ position: { x: 200, y: 80 } });
    const beside = await part("cache_latency").locator(".beside").textContent();
    check(
        "values of all curves beside the cursor",
        /bytes.*Test testa \(l1 <i>\): \d+ clk.*Test testb \(l1 <i>\): \d+ clk/.test(beside),
        beside,
    );
    check(
        "what is said and drawn is of one run",
        !(await part("fusion").textContent()).includes("210"),
        await part("fusion").textContent(),
    );
    check("what was found", (await part("cache_latency").textContent()).includes("grows"));
    // A variant does not read as part of the CPU's name.
    equal(
        "variants have a column of their own",
        await part("cache_latency").locator(".grid").first().locator("tr").allInnerTexts(),
        ["variant\tTest testa\tTest testb", "l1 <i>\tgrows 5\tgrows 6"],
    );
    for (const [title, axis] of [
        ["cache_latency", "logarithmic"],
        ["strings", "logarithmic"], // with a zero
        ["queues", "linear"],
    ]) {
        await part(title).scrollIntoViewIfNeeded();
        check(
            `the axis of ${title}`,
            (await curve(title)).includes(`horizontal axis ${axis}`),
            await curve(title),
        );
    }
    equal("groups of properties", await page.locator("#view-page nav h3").allTextContents(), [
        "memory",
        "front end",
        "branches",
    ]);
    await page.locator("#view-page nav a", { hasText: "branches" }).click();
    check("a link leads there", await part("branches").locator("h3").isVisible());
    check("and stays in this part", page.url().includes("view=properties"), page.url());
    check(
        "a curve for each value that has a conclusion, in the order of numbers",
        (await curve("branches")).includes(
            "a (jmp 8), Test testa (jmp 16), Test testb (jmp 8), Test testb (jmp 16)",
        ),
        await curve("branches"),
    );
    equal(
        "CPUs side by side",
        await part("branches").locator(".grid").first().locator("th").allTextContents(),
        ["variant", "Test testa", "Test testb"],
    );
    const matrices = part("fusion").locator(".matrices .grid");
    equal("a matrix of variants for each CPU", await matrices.count(), 2);
    equal("its lines", await matrices.first().locator("tbody td:first-child").allTextContents(), [
        "add_8",
        "add_16",
        "cmp",
    ]);
    const shades = await matrices
        .first()
        .locator(".heat")
        .evaluateAll((cells) => cells.map((cell) => cell.style.backgroundColor));
    check("the least has no colour", shades.at(-1).includes(" 0%"), shades);
    check("others have", new Set(shades).size === 3, shades);
    await accessible(page, "properties");
    await shot(page, "properties");
    await page.locator("#views a", { hasText: "CPUs" }).click();
    const first = page.locator("article").first();
    equal(
        "runs that have forms come first",
        await first.locator("h4").first().innerText(),
        `Run ${withForms.run_id}, ${withForms.started_utc.slice(0, 10)}`,
    );
    equal(
        "hashes come last",
        await first.locator(".run").last().locator(":scope > *").last().innerText(),
        "Tables: cpus:12",
    );
    await page.context().close();
    await indexed();
}

// Each view in light and dark, with all of its parts unfolded.
async function schemes() {
    for (const colorScheme of ["light", "dark"]) {
        const views = {
            details: "?form=add+r64+r64",
            differences: "?view=compare&cb_testa=on&cb_testb=on",
            ports: "?view=ports",
            properties: "?view=properties",
            "CPUs and runs": "?view=cpus",
        };
        for (const [name, query] of Object.entries(views)) {
            const page = await open("known", query, { colorScheme });
            await page.waitForSelector(name === "details" ? "#panel .facts" : "#view-page h2");
            for (const part of await page.locator("details").all())
                await part.evaluate((element) => (element.open = true));
            await accessible(page, `${name}, ${colorScheme}`);
            await shot(page, `${name.replaceAll(" ", "-")}-${colorScheme}`);
            if (name === "details") {
                await page.locator("#help-open").click();
                await accessible(page, `help, ${colorScheme}`);
            }
            await page.context().close();
        }
    }
}

// The index of the properties stays in view, and curves come early on a phone.
async function indexed() {
    for (const width of [390, 1024, 1440, 1920]) {
        const page = await open("known", "?view=properties", { viewport: { width, height: 800 } });
        const phone = width < 960;
        equal(
            `facts are unfolded where there is room, ${width}`,
            await page.locator("details.facts-first").getAttribute("open"),
            phone ? null : "",
        );
        const [top, height] = await page
            .locator(".plot")
            .first()
            .evaluate((plot) => [plot.getBoundingClientRect().top, innerHeight]);
        if (phone) check("a curve is in sight at once", top < height, [top, height]);
        const at = () =>
            page.evaluate(() => {
                const box = document.querySelector("nav.contents").getBoundingClientRect();
                return {
                    inView: box.bottom > 60 && box.top < innerHeight - 20,
                    here: [...document.querySelectorAll("nav.contents [aria-current]")].map(
                        (link) => link.textContent,
                    ),
                    said: document.querySelector("nav.contents .here").textContent,
                };
            });
        check(`the index is in view, ${width}`, (await at()).inView, await at());
        // At the widest two sections are side by side.
        for (const heading of width < 1920 ? ["strings", "fusion"] : ["cache_latency", "queues"]) {
            await page.evaluate((name) => {
                const all = [...document.querySelectorAll("#view-page h3")];
                all.find((one) => one.textContent === name).scrollIntoView({ block: "start" });
            }, heading);
            await page
                .waitForFunction(
                    (name) =>
                        document.querySelector("nav.contents [aria-current]")?.textContent === name,
                    heading,
                    { timeout: 5000 },
                )
                .catch(() => {});
            equal(`the index follows, ${width}`, await at(), {
                inView: true,
                here: [heading],
                said: `: ${heading}`,
            });
        }
        if (phone) {
            await page.locator("nav.contents summary").click();
            await page.locator("nav.contents a", { hasText: "queues" }).click();
            check(
                "the index folds again",
                !(await page.locator("nav.contents ul").first().isVisible()),
            );
        }
        await accessible(page, `properties, ${width}`);
        await page.context().close();
    }
}

// Nothing that decides is cut or out of sight, whatever the width.
async function inSight() {
    const cutCells = (page) =>
        page
            .locator("#table tbody td:is(.lat, .tp, .uops)")
            .evaluateAll((cells) =>
                cells
                    .filter((cell) => cell.scrollWidth > cell.clientWidth)
                    .map((cell) => cell.title),
            );
    // The longest numbers that there may be.
    for (const cpu of ["many0", "many1"]) {
        const file = `${scratch}/unlike/data/cpu_${cpu}.js`,
            text = readFileSync(file, "utf8");
        // All values, not how many more of them there are.
        const value = (one) => (one.startsWith("[") ? one : "98765432");
        const long = (_, name, values) => name + values.replace(/\[\d+\]|\d+/g, value);
        writeFileSync(
            file,
            text.replace(/("result_latency_\w*clk":\[)((?:\[\d+\]|[^[\]])*)/g, long),
        );
    }
    for (const width of [390, 1024, 1440, 1920]) {
        const page = await open("unlike", "?search=outcome:", { viewport: { width, height: 800 } });
        await page.fill("#search", "");
        await page.locator("#hidden").evaluate((button) => button.click());
        equal(`numbers and reasons are not cut, ${width}`, await cutCells(page), []);
        const outside = await page.evaluate(
            () =>
                [...document.querySelectorAll("#views a, #help-open, h1")]
                    .map((element) => element.getBoundingClientRect())
                    .filter((box) => box.left < 0 || box.right > innerWidth || box.width === 0)
                    .length,
        );
        equal(`the header is whole, ${width}`, outside, 0);
        check("and low", (await page.locator("header").boundingBox()).height < 70);
        await page.locator("#help-open").click();
        equal(
            `help opens at its top, ${width}`,
            await page.evaluate(() => {
                const help = document.getElementById("help"),
                    close = help.querySelector("button").getBoundingClientRect();
                return [help.scrollTop, close.top >= 0 && close.bottom < innerHeight];
            }),
            [0, true],
        );
        await page.context().close();
    }
    const page = await open("many");
    const range = (low, high) =>
        page.evaluate(
            ([low, high]) =>
                latput.table.throughput(
                    {
                        table: {
                            number: (name) => (name === "rthroughput_clk" ? low : high),
                            text: (name) => (name === "rthroughput_fast_bound" ? "upper" : "exact"),
                        },
                    },
                    0,
                ),
            [low, high],
        );
    // Text that is cut ends with …, so no range has it.
    equal("fast and slow", await range(4000, 8010), "≤4.00 / 8.01");
    equal("the same", await range(4000, 4010), "≤4.00");
    // The reason of an operand pair stands whole in the panel.
    await page.evaluate(() => {
        const own = latput.detail;
        latput.detail = async (...of) => {
            const detail = await own(...of);
            Object.assign(detail.pairs[0], {
                outcome: "not_measurable",
                detail: "no dependency shows: the chain takes no longer than what closes it",
                latency_clk: null,
            });
            return detail;
        };
    });
    await search(page, "add r64 r64");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    const reason = page.locator("#panel .section td.wide", { hasText: "what closes it" }).first();
    const [box, panel] = await Promise.all(
        [reason, page.locator("#panel")].map((one) => one.boundingBox()),
    );
    const whyNone = await page.evaluate(() => {
        const { table } = latput.model.cpus[0],
            own = table.text,
            made = { note: "with a call; no ports, locked", ports: null, tests: "LTP" };
        table.text = (column, form) => (column in made ? made[column] : own(column, form));
        latput.view.change({ form: "", search: "add r64" });
        return document.querySelector("#table tbody td.ports").textContent;
    });
    equal("why a form has no ports", whyNone, "locked");
    check("a reason is not cut", box.x + box.width <= panel.x + panel.width, [box, panel]);
    await page.context().close();
}

// Choices are in sight at the first look, and folded when the page is used.
async function folding() {
    const page = await open("many");
    const isOpen = () => page.evaluate(() => document.getElementById("choices").open);
    const again = async () => {
        await page.reload();
        await page.waitForFunction(() => document.body.dataset.ready === "yes");
    };
    check("choices at the first look", await isOpen());
    await page.locator("#scroller").evaluate((scroller) => (scroller.scrollTop = 4000));
    await page.waitForFunction(() => !document.getElementById("choices").open);
    await again();
    check("folded at the next", !(await isOpen()));
    await page.locator("#choices summary").click();
    await page.fill("#search", "add");
    check("what the reader unfolds stays", await isOpen());
    await page.fill("#search", "");
    await again();
    check("at later visits, too", await isOpen());
    await page.context().close();
    const typed = await open("many");
    await typed.fill("#search", "add");
    check(
        "a search folds them",
        await typed.evaluate(() => !document.getElementById("choices").open),
    );
    await typed.context().close();
    const linked = await open("many", "?search=add");
    check(
        "a link to a search has them folded",
        await linked.evaluate(() => !document.getElementById("choices").open),
    );
    await linked.context().close();
}

// A first view takes less than a second, a search less than 50 ms, of the CPU: so whatever else the
// machine does.
async function quick() {
    const page = await open("many", "?cb_many0=on&cb_many1=on&cb_many2=on");
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    const spent = async () => {
        const { metrics } = await session.send("Performance.getMetrics");
        return metrics.find(({ name }) => name === "TaskDuration").value * 1000;
    };
    let begun = await spent();
    await page.reload();
    await page.waitForFunction(() => document.body.dataset.ready === "yes");
    const view = (await spent()) - begun;
    check("a first view takes less than a second", view > 0 && view < 1000, view);
    const ROUNDS = 5;
    for (const word of ["v", "vpermd y", "m256", "add rax, [rbx]", "addl %eax, %ebx", "lat>5"]) {
        begun = await spent();
        await page.evaluate(
            async ([word, rounds]) => {
                const search = document.getElementById("search");
                for (let i = 0; i < rounds; i++)
                    for (const text of ["", word]) {
                        search.value = text;
                        search.dispatchEvent(new Event("input"));
                        await new Promise(requestAnimationFrame);
                    }
            },
            [word, ROUNDS],
        );
        const each = ((await spent()) - begun) / (2 * ROUNDS);
        check(`a search for ${word} takes less than 50 ms`, each > 0 && each < 50, each);
    }
    await page.context().close();
}

for (const part of [
    searching,
    hiding,
    clicked,
    sorting,
    state,
    panel,
    overwritten,
    slim,
    beside,
    keyboard,
    scrolling,
    differences,
    downloads,
    hostile,
    everyColumn,
    looks,
    ports,
    schemes,
    inSight,
    folding,
    quick,
    width,
].filter(({ name }) => wanted.length === 0 || wanted.includes(name)))
    await part().catch((error) => check(part.name, false, error.stack));
await browser.close();
console.log(`${checks} checks, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
