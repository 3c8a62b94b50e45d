// SPDX-License-Identifier: MIT
// The details of one form: what CPUs have of it side by side, and a section for each CPU that is
// shown.
"use strict";
(() => {
    const { model, view, h, clk, marked } = latput;
    const { state } = view;
    const panel = document.getElementById("panel");
    let ids = null,
        showing = "",
        request = 0;

    const formNamed = (id) => {
        if (id === "") return undefined;
        ids ??= new Map(
            Array.from({ length: model.forms.count }, (_, form) => [model.forms.id(form), form]),
        );
        return ["", " legacy64", " vex64", " evex64", " xop64", " legacy32"]
            .map((end) => ids.get(id + end))
            .find((form) => form !== undefined);
    };

    // Makes a table. Columns: [heading, function of a row that gives a text or an element, class];
    // columns that stay empty are left out.
    function grid(caption, columns, rows, more = {}) {
        const cells = rows.map((row) => columns.map(([, value]) => value(row) ?? ""));
        const used = columns.map((_, i) => cells.some((line) => line[i] !== ""));
        return h(
            "div",
            { class: "grid", tabindex: 0, role: "group", "aria-label": caption },
            h(
                "table",
                more,
                h("caption", {}, caption),
                h(
                    "thead",
                    {},
                    h(
                        "tr",
                        {},
                        columns.map(([name, , kind], i) =>
                            !used[i]
                                ? null
                                : name
                                  ? h("th", { scope: "col", class: kind }, name)
                                  : h("td", { class: kind }),
                        ),
                    ),
                ),
                h(
                    "tbody",
                    {},
                    cells.map((line) =>
                        h(
                            "tr",
                            {},
                            line.map((value, i) =>
                                used[i] ? h("td", { class: columns[i][2] }, value) : null,
                            ),
                        ),
                    ),
                ),
            ),
        );
    }
    // Makes a table with a column for each CPU. Lines: [what it is, function of a CPU's number].
    function sideBySide(caption, cpus, lines) {
        const heads = cpus.map((cpu, i) => [cpu.short, ([, value]) => value(i), "number"]);
        const all = (value) => cpus.map((_, i) => value(i) ?? "");
        return grid(
            caption,
            [["", ([name]) => name], ...heads],
            lines.filter(([, value]) => all(value).some((text) => text !== "")),
            { class: "cpus" },
        );
    }
    const facts = (items) =>
        h(
            "dl",
            { class: "facts" },
            items
                .filter(([, value]) => value !== "" && value !== null && value !== undefined)
                .map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
        );
    const of = (accepted, tried) => (accepted === null || !tried ? "" : `${accepted} of ${tried}`);
    const outcome = (row) =>
        row.outcome === "ok"
            ? ""
            : (row.outcome ?? "").replace("_", " ") + (row.detail ? `: ${row.detail}` : "");

    // --- samples ---

    const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
    function plot(place, passes) {
        const all = passes.flatMap(([, , , values]) => values);
        const x = all.map((_, i) => i + 1);
        const low = Math.min(...all) / 1000,
            high = Math.max(...all) / 1000,
            room = Math.max((high - low) * 0.1, 0.01);
        const words = `${all.length} samples in ${passes.length} passes: least ${low.toFixed(3)}, median ${(median(all) / 1000).toFixed(3)}, most ${high.toFixed(3)} cycles`;
        return latput.plot(place, words, (color, axis) => {
            const series = [{ label: "sample" }],
                data = [x];
            let from = 0;
            passes.forEach(([pass, , , values], i) => {
                data.push(
                    all.map((value, at) =>
                        at >= from && at < from + values.length ? value / 1000 : null,
                    ),
                );
                from += values.length;
                const stroke = color(`--series-${i % 6}`);
                series.push({
                    label: `pass ${pass}`,
                    stroke,
                    paths: () => null,
                    points: { show: true, size: 6, fill: stroke, stroke },
                });
            });
            return {
                data,
                height: 220,
                scales: {
                    x: { time: false, range: [0, all.length + 1] },
                    y: { range: [low - room, high + room] },
                },
                series,
                axes: [
                    { ...axis, label: "sample" },
                    { ...axis, label: "cycles", size: 62 },
                ],
                legend: { show: passes.length > 1, live: false },
                cursor: { drag: { x: false, y: false } },
            };
        });
    }

    // --- kernels of a test ---

    const testName = (test) =>
        (test.kind === "latency" ? `latency ${test.src} → ${test.dst}` : test.kind) +
        (test.variant ? ` (${test.variant})` : "");
    function listing(kernel) {
        const cut = kernel.code_bytes > 64;
        return h(
            "div",
            { class: "grid", tabindex: 0, role: "group", "aria-label": "Machine code" },
            h(
                "table",
                { class: "code" },
                h(
                    "caption",
                    {},
                    `Body of kernel ${kernel.shape}: ${kernel.code_bytes} bytes${cut ? ", the first 64 of which are kept" : ""}`,
                ),
                h(
                    "thead",
                    { class: "hidden" },
                    h(
                        "tr",
                        {},
                        h("th", { scope: "col" }, "bytes"),
                        h("th", { scope: "col" }, "instruction"),
                    ),
                ),
                h(
                    "tbody",
                    {},
                    kernel.code.map((line) => {
                        const space = line.indexOf(" "),
                            text = line.slice(space + 1);
                        return h(
                            "tr",
                            {},
                            h("td", {}, line.slice(0, space).replace(/../g, "$& ").trim()),
                            h("td", {}, text || (cut ? "… (cut)" : "")),
                        );
                    }),
                ),
            ),
        );
    }
    function kernels(rows) {
        const [test] = rows,
            content = [];
        const deciding = rows.find((row) => row.decides);
        if (test.test_outcome !== "ok")
            content.push(
                h(
                    "p",
                    { class: "bad" },
                    `${test.test_outcome.replace("_", " ")}: ${test.test_detail}`,
                ),
            );
        content.push(
            grid(
                "Kernels that were timed",
                [
                    ["kernel", (row) => row.shape + (row.decides ? " ✓" : "")],
                    ["cycles/instance", (row) => clk(row.instance_clk), "number"],
                    ["outcome", outcome, "wide"],
                    ["bridges", (row) => (row.extra_clk ? clk(row.extra_clk) : ""), "number"],
                    ["spread", (row) => clk(row.spread_clk), "number"],
                    ["accepted", (row) => of(row.accepted, row.tried), "number"],
                    ["instances", (row) => String(row.instances ?? ""), "number"],
                    ["instructions", (row) => String(row.instrs ?? ""), "number"],
                ],
                rows,
            ),
        );
        if (deciding?.code?.length > 0) content.push(listing(deciding));
        if (deciding?.passes?.length > 0) {
            const place = h("div", { class: "plot" });
            content.push(
                h(
                    "h4",
                    {},
                    "Samples, in the order of measuring" +
                        (deciding.extra_clk ? ", bridges taken off" : ""),
                ),
                place,
            );
            requestAnimationFrame(() => plot(place, deciding.passes));
        } else if (deciding) {
            content.push(
                h("p", { class: "hint" }, "The samples are not in the data of this page."),
            );
        }
        return content;
    }
    // Only tests with kernels are shown here; a test with a value but none comes from a slim pack,
    // others are listed among those without a result.
    const hasKernel = (row) => row.shape !== null;
    const resultsOnly = (detail) =>
        detail.kernels.some((row) => !hasKernel(row) && row.test_outcome === "ok") ||
        (detail.pairs.some((row) => row.outcome === "ok") &&
            !detail.kernels.some((row) => hasKernel(row) && row.kind === "latency"));
    const slim = () =>
        h(
            "p",
            { class: "hint" },
            "The pack that this comes from has results only: no kernels, samples or mixes.",
        );
    function tests(detail) {
        const groups = Object.values(Object.groupBy(detail.kernels.filter(hasKernel), testName));
        if (groups.length === 0) return null;
        const place = h("div", { class: "kernels" });
        const draw = (at) => place.replaceChildren(...kernels(groups[at]));
        const choice = h(
            "select",
            { onchange: (event) => draw(Number(event.target.value)) },
            groups.map((group, i) =>
                h(
                    "option",
                    { value: i },
                    testName(group[0]) +
                        (group[0].test_outcome === "ok"
                            ? ""
                            : ` — ${group[0].test_outcome.replace("_", " ")}`),
                ),
            ),
        );
        draw(0);
        const element = h(
            "div",
            {},
            h("h3", {}, "How it was measured"),
            h("label", { class: "choice" }, "Test ", choice),
            place,
        );
        element.choose = (name) => {
            const at = groups.findIndex((group) => testName(group[0]) === name);
            choice.value = at;
            draw(at);
            element.scrollIntoView({ block: "start", behavior: "smooth" });
        };
        return element;
    }

    // --- the parts of a section ---

    // Returns the latency of a pair as the table has it; the ends of a range say more than "*".
    const pairLatency = (row) =>
        row.latency_most_clk === null
            ? marked(clk(row.latency_clk), row.bound === "upper", row.mark)
            : `${clk(row.latency_clk)}–${clk(row.latency_most_clk)}`;

    function pairs(detail, choose) {
        const range = (row) =>
            row.least_clk !== null && row.most_clk !== null && row.most_clk !== row.least_clk
                ? `${clk(row.least_clk)} – ${clk(row.most_clk)}`
                : "";
        const kernelOf = (row) => testName({ kind: "latency", ...row });
        const shown = new Set(detail.kernels.filter(hasKernel).map(testName));
        return detail.pairs.length === 0
            ? null
            : [
                  h("h3", {}, "Latency of each operand pair"),
                  grid(
                      "Cycles from an operand read to one written",
                      [
                          ["from", (row) => row.src],
                          ["to", (row) => row.dst],
                          ["data", (row) => row.variant],
                          ["latency", pairLatency, "number"],
                          ["outcome", outcome, "wide"],
                          ["bound", (row) => (row.outcome === "ok" ? row.bound : "")],
                          ["spread", (row) => clk(row.spread_clk), "number"],
                          ["states", range, "number"],
                          ["shares", (row) => row.states_seen],
                          ["dense", (row) => clk(row.dense_clk), "number"],
                          ["filled", (row) => clk(row.filled_clk), "number"],
                          ["accepted", (row) => of(row.accepted, row.tried), "number"],
                          [
                              "",
                              (row) =>
                                  shown.has(kernelOf(row))
                                      ? h(
                                            "button",
                                            {
                                                type: "button",
                                                "aria-label": `How ${kernelOf(row)} was measured`,
                                                onclick: () => choose(kernelOf(row)),
                                            },
                                            "how",
                                        )
                                      : "",
                          ],
                      ],
                      detail.pairs,
                  ),
              ];
    }
    // Names operands that the form waits for although it overwrites them.
    const falsely = (detail) =>
        detail.overwritten
            .map(
                (row) =>
                    `${row.operand} (false): ${marked(clk(row.latency_clk), row.bound === "upper", row.mark)}`,
            )
            .join(", ");
    function ports(detail) {
        const [use] = detail.ports;
        if (!use) return h("p", { class: "hint" }, "No run has looked for the ports of this form.");
        const number = (value) => (value === null ? "" : clk(value));
        const trials = grid(
            "Mixes that were timed: the form beside one that occupies a set of ports",
            [
                ["beside", (row) => row.blocker],
                ["which is", (row) => row.blocker_form],
                ["instances", (row) => String(row.instances), "number"],
                ["blockers", (row) => String(row.blockers), "number"],
                ["cycles", (row) => clk(row.clk), "number"],
                ["outcome", outcome, "wide"],
                ["spread", (row) => clk(row.spread_clk), "number"],
                ["µops seen there", (row) => clk(row.uops), "number"],
                ["counted", (row) => row.counted],
            ],
            detail.trials,
        );
        return [
            h("h3", {}, "Ports"),
            facts([
                [
                    "ports",
                    use.outcome === "ok"
                        ? (use.ports || "none") + (use.ambiguous ? " ?" : "")
                        : outcome(use),
                ],
                ["slots of dispatch", number(use.slots)],
                ["slots among others", number(use.slots_mixed)],
                ["front end stalls", use.stall_clk ? `${clk(use.stall_clk)} cycles` : ""],
                ["unit", use.unit],
                ["busy for", use.busy_clk ? `${clk(use.busy_clk)} cycles` : ""],
                ["paths", use.paths],
                [
                    "longer where decoded",
                    use.decode_clk ? `${clk(use.decode_clk)} cycles: length-changing prefix` : "",
                ],
                ["method", use.method],
                ["largest deviation", use.residual === null ? "" : `${clk(use.residual)} µops`],
                ["run", String(use.run_id)],
            ]),
            use.ambiguous
                ? h("p", { class: "hint" }, "Another usage explains these timings about as well.")
                : null,
            detail.trials.length > 0
                ? h(
                      "details",
                      {},
                      h("summary", {}, `Evidence: ${detail.trials.length} mixes`),
                      trials,
                  )
                : null,
        ];
    }
    function failures(detail) {
        const seen = new Map(
            detail.kernels
                .filter((row) => row.test_outcome !== "ok")
                .map((row) => [testName(row), row]),
        );
        const rows = [...seen].map(([name, row]) => ({
            name,
            outcome: row.test_outcome,
            detail: row.test_detail,
        }));
        if (detail.ports[0] && detail.ports[0].outcome !== "ok")
            rows.push({
                name: "ports",
                outcome: detail.ports[0].outcome,
                detail: detail.ports[0].detail,
            });
        return rows.length === 0
            ? null
            : [
                  h("h3", {}, "Tried without a result"),
                  grid(
                      "Tests that have no value, and why",
                      [
                          ["test", (row) => row.name],
                          ["outcome", (row) => row.outcome.replace("_", " ")],
                          ["why", (row) => row.detail, "wide"],
                      ],
                      rows,
                  ),
              ];
    }
    // Lists everything that a run says about the origin of its numbers.
    function provenance(cpu, numbers) {
        return numbers
            .map((number) => cpu.runs.find((run) => run.run_id === number))
            .filter(Boolean)
            .map((run) => latput.pages.run(run, cpu));
    }

    // Columns that have no cell of their own above.
    const others = latput.columns.columns.filter(
        ({ name, heading, differs }) =>
            heading !== null &&
            !["size", "known", "family"].includes(differs) &&
            !["at_rename", "run_id"].includes(name),
    );
    const upper = ({ bound }, table, form) => bound !== null && table.text(bound, form) === "upper";
    const otherText = (column, { table }, form) => {
        const { name, type } = column;
        if (type === "text") return table.text(name, form);
        if (type !== "clk") return String(table.number(name, form) ?? "");
        return marked(clk(table.number(name, form)), upper(column, table, form), null);
    };

    // Returns the ports, with their run where it is not that of the other values.
    function portsOfRun(cpu, form) {
        const [run, of] = ["run_id", "ports_run_id"].map((name) => cpu.table.number(name, form));
        const text = latput.table.ports(cpu, form);
        return text && of !== null && of !== run
            ? `${text} (of run ${of}, as the µops; all else of run ${run})`
            : text;
    }

    async function section(cpu, form, place) {
        const { table } = cpu;
        if (!table.has(form)) {
            place.replaceChildren(h("p", { class: "hint" }, "Not measured on this CPU."));
            return;
        }
        const detail = await latput.detail(cpu, form),
            how = tests(detail);
        const runs = [
            ...new Set([
                table.number("run_id", form),
                ...detail.pairs.map((row) => row.run_id),
                ...detail.kernels.map((row) => row.run_id),
                table.number("ports_run_id", form),
            ]),
        ].filter((run) => run !== null);
        place.replaceChildren(
            ...[
                facts([
                    ["latency", latput.table.latency(cpu, form)],
                    ["waits for", falsely(detail)],
                    ["cycles per instruction", latput.table.throughput(cpu, form)],
                    ["spread of that", clk(table.number("rthroughput_spread_clk", form))],
                    ["µops", latput.table.uops(cpu, form)],
                    ["ports", portsOfRun(cpu, form)],
                    ["done at rename", latput.table.rename(cpu, form)],
                    ...others.map((column) => [column.heading, otherText(column, cpu, form)]),
                ]),
                pairs(detail, (name) => how?.choose(name)),
                ports(detail),
                failures(detail),
                how,
                resultsOnly(detail) ? slim() : null,
                h(
                    "details",
                    {},
                    h(
                        "summary",
                        {},
                        `Provenance: run${runs.length > 1 ? "s" : ""} ${runs.join(", ")}`,
                    ),
                    provenance(cpu, runs),
                ),
            ]
                .flat(Infinity)
                .filter(Boolean),
        );
    }

    // --- the CPUs side by side ---

    const pairName = ({ src, dst, variant }) => `${src} → ${dst}${variant ? ` (${variant})` : ""}`;
    const pairValue = (row) => (row ? pairLatency(row) : "");
    // Lets a text of ports be broken between them only.
    const breakable = (text) =>
        text && text.split("+").flatMap((part, i) => (i > 0 ? [h("wbr"), `+${part}`] : [part]));
    async function beside(cpus, form, place) {
        const has = cpus.filter((cpu) => cpu.table.has(form));
        if (has.length < 2) return;
        const { latency, throughput, uops, ports } = latput.table;
        const line = (name, value) => [name, (i) => value(has[i], form)];
        place.append(
            sideBySide("Side by side, in cycles", has, [
                line("latency", latency),
                line("1/throughput", throughput),
                line("µops", uops),
                line("ports", (cpu) => breakable(ports(cpu, form))),
                ...others.map((column) =>
                    line(column.heading, (cpu) => {
                        const text = otherText(column, cpu, form);
                        return column.differs === "asked" && text === "ok" ? "" : text;
                    }),
                ),
            ]),
        );
        const details = await Promise.all(has.map((cpu) => latput.detail(cpu, form)));
        const pairs = details.map(
            (detail) => new Map(detail.pairs.map((row) => [pairName(row), pairValue(row)])),
        );
        const names = [...new Set(pairs.flatMap((own) => [...own.keys()]))];
        if (names.length > 0)
            place.append(
                sideBySide(
                    "Latency of each operand pair",
                    has,
                    names.map((name) => [name, (i) => pairs[i].get(name)]),
                ),
            );
    }

    // --- the bytes, and what others say ---

    // Says what the form is for, its bytes, and the intrinsics that become it.
    async function encoded(form, place) {
        await Promise.all(["code", "words"].map((name) => latput.load(`data/${name}.js`)));
        const { texts, forms } = model.code,
            [section, [line]] = forms[form],
            list = model.forms.text("list", form),
            title = model.listTitles.get(list) ?? list;
        const [hex, ...text] = (line === undefined ? "" : texts[line]).split(" "),
            n = hex.length / 2,
            functions = intrinsics(form);
        place.replaceChildren(
            h("p", {}, texts[section] ? `${texts[section]} (${title})` : title),
            n > 0
                ? h(
                      "p",
                      {},
                      h("code", {}, hex.replace(/../g, "$& ").trim()),
                      h("span", { class: "hint" }, ` ${n} byte${n === 1 ? "" : "s"}: `),
                      h("code", {}, text.join(" ")),
                  )
                : "",
            functions.length > 0
                ? h(
                      "details",
                      { open: functions.length <= 4 },
                      h("summary", {}, `Intrinsics: ${functions.length}`),
                      functions.map((name) => [h("code", {}, name), " "]),
                  )
                : "",
        );
    }
    // Returns operands with a register in the place of memory, as intrinsics have them: of its
    // size, of a broadcast or a part of a vector that of another operand.
    function inRegisters(operands) {
        const vectors = operands.map((operand) => operand[0]).filter((name) => /[xyz]/.test(name));
        const general = operands.some((operand) => /^r\d/.test(operand));
        return operands.map((operand) => {
            const [, bits, rest] = /^m(\d+)(.*)$/.exec(operand) ?? [];
            if (!bits) return operand;
            if (general && vectors.length === 0) return `r${bits}`;
            const whole = { 128: "x", 256: "y", 512: "z" }[bits];
            return whole ?? (rest ? (vectors.sort().at(-1) ?? operand) : "x");
        });
    }
    let functionsOf = null; // mnemonic -> [operands as a glob, intrinsic, encoding or undefined]
    function intrinsics(form) {
        if (!functionsOf) {
            functionsOf = new Map();
            for (const [word, globs] of model.words.words)
                for (const glob of word.startsWith("_") ? globs.split(";") : []) {
                    const [, enc, mnemonic, rest] = /^(?:\{(\w+)\} )?(\S+) ?(.*)$/.exec(glob);
                    if (!functionsOf.has(mnemonic)) functionsOf.set(mnemonic, []);
                    functionsOf.get(mnemonic).push([rest, word, enc]);
                }
        }
        const known = functionsOf.get(model.forms.text("mnemonic", form)) ?? [],
            operands = model.forms.text("operands", form);
        const own = model.forms.text("enc", form),
            of = (text) =>
                known
                    .filter(([, , enc]) => (enc ?? own) === own)
                    .filter(([glob]) => latput.search.fits(glob, text))
                    .map(([, word]) => word);
        const exact = of(operands);
        return exact.length > 0 ? exact : of(inRegisters(operands.split(" ")).join(" "));
    }
    // The manuals have one entry for all conditions, and none of its own for most forms of VEX.
    function manualName(mnemonic) {
        const condition = /^(j|cmov|set)(?!mp|cxz|ecxz|rcxz)/.exec(mnemonic);
        if (condition) return condition[1] === "j" ? "Jcc" : `${condition[1].toUpperCase()}cc`;
        const plain = mnemonic.replace(/^v/, "");
        return (model.forms.texts.includes(plain) ? plain : mnemonic).toUpperCase();
    }
    function references(form) {
        const mnemonic = model.forms.text("mnemonic", form);
        const families = view.shown().flatMap((cpu) => view.uopsInfoNames(cpu).slice(0, 1));
        const wanted = ["lat", "tp", "uops", "ports", ...families].map((name) => `&cb_${name}=on`);
        const link = (href, text) => h("a", { href, rel: "external noreferrer" }, text);
        return h(
            "p",
            { class: "hint" },
            "Elsewhere: ",
            link(
                `https://www.felixcloutier.com/x86/#:~:text=${encodeURIComponent(manualName(mnemonic))}`,
                "manual (felixcloutier.com)",
            ),
            ", ",
            link(
                `https://uops.info/table.html?search=${encodeURIComponent(mnemonic)}${wanted.join("")}`,
                "uops.info",
            ),
        );
    }

    function sections(form) {
        return view.shown().map((cpu, at) => {
            const place = h("div", { class: "section" }, h("p", { class: "hint" }, "Loading …"));
            const fill = () =>
                section(cpu, form, place).catch((error) =>
                    place.replaceChildren(h("p", { class: "bad" }, error.message)),
                );
            const element = h(
                "details",
                { class: "of-cpu", open: at === 0 },
                h(
                    "summary",
                    {},
                    h("strong", {}, cpu.name),
                    ` (${cpu.date}) `,
                    latput.table && cpu.table.has(form) ? summary(cpu, form) : "not measured",
                ),
                place,
            );
            let filled = at === 0;
            element.addEventListener("toggle", () => {
                if (element.open && !filled) fill();
                filled ||= element.open;
            });
            return { element, fill: at === 0 ? fill : async () => {} };
        });
    }
    const summary = (cpu, form) =>
        [
            ["latency", latput.table.latency],
            ["1/tput", latput.table.throughput],
            ["ports", latput.table.ports],
        ]
            .map(([name, value]) => [name, value(cpu, form)])
            .filter(([, value]) => value !== "")
            .map((pair) => pair.join(" "))
            .join(" · ");

    async function show() {
        const key = state.form && `${state.form} ${view.shown().map((cpu) => cpu.key)}`,
            own = ++request;
        document.body.classList.toggle("with-panel", state.form !== "" && state.view === "table");
        panel.hidden = state.form === "" || state.view !== "table";
        if (panel.hidden || key === showing) return;
        showing = key;
        const form = formNamed(state.form);
        const close = h(
            "button",
            {
                type: "button",
                class: "close",
                "aria-label": "Close details",
                onclick: () => {
                    view.change({ form: "" }, true);
                    latput.table.focus();
                },
            },
            "✕",
        );
        if (form === undefined) {
            panel.replaceChildren(
                close,
                h("h2", {}, state.form),
                h("p", { class: "bad" }, "This page has no such form."),
            );
            return;
        }
        const { forms } = model,
            cpus = view.shown(),
            encoding = h("div", { class: "encoding" }),
            comparison = h("div", {}),
            parts = sections(form);
        panel.replaceChildren(
            close,
            h("h2", { tabindex: -1 }, forms.name(form)),
            h(
                "p",
                { class: "hint" },
                [
                    forms.text("isa", form).replaceAll("+", " + "),
                    forms.text("enc", form),
                    `${forms.bits[form]}-bit mode`,
                    forms.text("options", form),
                ]
                    .filter(Boolean)
                    .join(" · "),
            ),
            encoding,
            comparison,
            references(form),
            ...parts.map((part) => part.element),
        );
        panel.scrollTop = 0;
        await encoded(form, encoding).catch(() => {});
        await beside(cpus, form, comparison).catch(() => {});
        for (const part of parts) if (own === request) await part.fill();
    }

    latput.panel = { show, facts, grid, formNamed };
})();
