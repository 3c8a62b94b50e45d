// SPDX-License-Identifier: MIT
// The other parts of the page: the structure of the ports, properties with their curves, CPUs with
// their runs; differences are in compare.js.
"use strict";
(() => {
    const { model, view, h, svg } = latput;
    const { facts, grid } = latput.panel;

    // --- CPUs and runs ---

    const hex = (number, digits = 0) => `0x${Number(number).toString(16).padStart(digits, "0")}`;
    const ghz = (hz) => (hz ? `${(hz / 1e9).toFixed(3)} GHz` : "");
    const decided = {
        claim: "its own claim, which nothing contradicts",
        inferred: "what was measured and announced, against its claim",
        override: "the user",
        unknown: "nobody: the tables do not know it",
    };
    function run(run) {
        return h(
            "section",
            { class: `run ${run.decided}` },
            h("h4", {}, `Run ${run.run_id}, ${(run.started_utc ?? "").slice(0, 10)}`),
            run.decided === "inferred"
                ? h(
                      "p",
                      { class: "bad" },
                      `Claims to be a ${run.claimed_uarch}, filed as ${run.uarch}: ${run.evidence}`,
                  )
                : null,
            facts([
                ["CPU", run.brand || run.vendor],
                ["family", run.uarch_name],
                ["claimed", run.claimed_uarch],
                ["believed", `${run.uarch}, by ${decided[run.decided] ?? run.decided}`],
                [
                    "signature",
                    `${hex(run.signature, 8)} (family ${hex(run.family)}, model ${hex(run.model)}, stepping ${run.stepping})`,
                ],
                ["microcode", run.microcode ? hex(run.microcode) : "unknown"],
                ["hypervisor", run.hypervisor || "none seen"],
                [
                    "dispatch",
                    run.measured_width ? `${run.measured_width} µops a cycle, measured` : "",
                ],
                ["clock", ghz(run.core_hz)],
                ["TSC", ghz(run.tsc_hz)],
                ["frequency", run.frequency],
                ["cycles from", run.backend],
                ["counted", run.counted],
                ["latput", run.version],
                ["assembler", run.nasm_version],
                ["system", run.os_kernel],
                ["tables", run.tables],
                ["selection", run.selection || "everything"],
                ["forms", String(run.forms ?? "")],
                ["started", run.started_utc],
                ["finished", run.finished_utc ?? "not finished"],
                ["took", run.seconds ? `${Math.round(run.seconds)} s` : ""],
            ]),
            run.warnings.map((warning) =>
                h(
                    "p",
                    { class: "warning" },
                    h("strong", {}, "Warning: "),
                    warning.text,
                    warning.remedy ? h("span", { class: "hint" }, ` — ${warning.remedy}`) : "",
                ),
            ),
            h(
                "details",
                {},
                h("summary", {}, "Features"),
                h("p", { class: "features" }, run.features),
            ),
        );
    }
    function cpus() {
        return [
            h("h2", {}, "CPUs and runs"),
            h("p", { class: "hint" }, `Made by latput ${model.index.version}.`),
            model.cpus.map((cpu) =>
                h(
                    "article",
                    {},
                    h("h3", {}, cpu.key),
                    h(
                        "p",
                        {},
                        `${cpu.forms.toLocaleString("en")} forms in ${cpu.runs.length} run${cpu.runs.length === 1 ? "" : "s"}`,
                    ),
                    cpu.runs.map((one) => run(one)),
                ),
            ),
        ];
    }

    // --- ports ---

    // Sets that hang together side by side, the largest of each group first.
    function setsInOrder(sets) {
        const left = sets.toReversed(),
            order = [];
        while (left.length > 0) {
            const [first] = left,
                group = left.filter((set) => set.ports.some((port) => first.ports.includes(port)));
            group.sort(
                (a, b) => b.size - a.size || a.name.localeCompare(b.name, "en", { numeric: true }),
            );
            order.push(...group);
            left.splice(0, left.length, ...left.filter((set) => !group.includes(set)));
        }
        return order;
    }
    function diagram(cpu, sets) {
        const { ports } = cpu,
            left = 110,
            top = 34,
            cell = 44,
            row = 26;
        const width = left + ports.order.length * cell + 8,
            height = top + sets.length * row + 8;
        const picture = svg("svg", {
            viewBox: `0 0 ${width} ${height}`,
            width,
            height,
            role: "img",
            class: "ports",
        });
        picture.append(svg("title", {}, `${cpu.key}: ${ports.port_count} ports in ${sets.length} sets`));
        const text = (x, y, content, extra = {}) =>
            picture.append(svg("text", { x, y, ...extra }, content));
        ports.order.forEach((port, i) =>
            text(left + i * cell + cell / 2, top - 10, port, {
                "text-anchor": "middle",
                class: "small",
            }),
        );
        sets.forEach((set, line) => {
            text(8, top + line * row + 17, set.name);
            ports.order.forEach((port, i) =>
                picture.append(
                    svg("rect", {
                        x: left + i * cell + 2,
                        y: top + line * row + 2,
                        width: cell - 4,
                        height: row - 4,
                        rx: 3,
                        class: set.ports.includes(port) ? "on" : "off",
                    }),
                ),
            );
        });
        return picture;
    }
    function portsOf(cpu) {
        const { ports } = cpu,
            sets = setsInOrder(ports.sets);
        const forms = (name) =>
            h(
                "button",
                {
                    type: "button",
                    onclick: () =>
                        view.change(
                            {
                                view: "table",
                                search: `ports:${name.toLowerCase()}`,
                                cpus: view.state.cpus.includes(cpu)
                                    ? view.state.cpus
                                    : [...view.state.cpus, cpu],
                            },
                            true,
                        ),
                },
                "forms",
            );
        return h(
            "article",
            {},
            h("h3", {}, cpu.key),
            h(
                "p",
                {},
                `${ports.port_count} ports in ${sets.length} sets, ${ports.width} slots a cycle in front of them. Found from throughput: ports that no form tells apart are symmetric. Largest deviation of a pair of sets: ${(ports.residual * 100).toFixed(1)} %.`,
            ),
            h(
                "div",
                {
                    class: "scroll",
                    tabindex: 0,
                    role: "region",
                    "aria-label": `Ports of ${cpu.key}`,
                },
                diagram(cpu, sets),
            ),
            grid(
                "Sets of ports that a µop chooses from",
                [
                    ["set", (set) => set.name],
                    ["size", (set) => String(set.size), "number"],
                    ["ports", (set) => set.ports.join(" ")],
                    ["forms of one µop", (set) => String(set.forms), "number"],
                    ["occupied by", (set) => set.blocker],
                    ["", (set) => forms(set.name)],
                ],
                sets,
            ),
            ports.units.length > 0
                ? grid(
                      "Units that forms wait for beside ports",
                      [
                          ["unit", (unit) => unit.name],
                          ["kind", (unit) => unit.kind],
                          ["kept busy by", (unit) => unit.blocker],
                          ["for cycles", (unit) => unit.busy_clk.toFixed(1), "number"],
                      ],
                      ports.units,
                  )
                : null,
            ports.hidden.length > 0
                ? h(
                      "p",
                      { class: "hint" },
                      `Only counters show what uses ${ports.hidden.map((set) => `${set.name} (${set.ports.join(" ")})`).join(", ")}: as many ports as slots.`,
                  )
                : null,
        );
    }
    function ports() {
        const known = model.cpus.filter((cpu) => cpu.ports);
        return [
            h("h2", {}, "Execution ports"),
            known.length > 0
                ? known.map(portsOf)
                : h(
                      "p",
                      {},
                      "No run has looked for ports yet; latput run does unless --tests says otherwise.",
                  ),
        ];
    }

    // --- properties ---

    const number = (value) =>
        typeof value !== "number" || Number.isInteger(value)
            ? String(value ?? "")
            : String(Number(value.toPrecision(4)));
    const cpuOfRun = (id) => model.cpus.find((cpu) => cpu.runs.some((one) => one.run_id === id));
    async function curve(place, lines) {
        await latput.load("vendor/uPlot.iife.min.js");
        if (!document.getElementById("uplot-style"))
            document.head.append(
                h("link", { id: "uplot-style", rel: "stylesheet", href: "vendor/uPlot.min.css" }),
            );
        const style = getComputedStyle(document.body),
            color = (name) => style.getPropertyValue(name).trim();
        const x = [...new Set(lines.flatMap((line) => line.points.map((point) => point.x)))].sort(
            (a, b) => a - b,
        );
        const data = [
            x,
            ...lines.map((line) => {
                const at = new Map(line.points.map((point) => [point.x, point.y]));
                return x.map((value) => at.get(value) ?? null);
            }),
        ];
        const series = [
            { label: "x" },
            ...lines.map((line, i) => ({
                label: line.label,
                stroke: color(`--series-${i % 6}`),
                dash: i > 5 ? [6, 4] : undefined,
                width: 2,
                spanGaps: true,
                points: { show: x.length < 80, size: 4 },
            })),
        ];
        const axis = {
            stroke: color("--text"),
            grid: { stroke: color("--line") },
            ticks: { stroke: color("--line") },
        };
        const logarithmic = x[0] > 0 && x[x.length - 1] / x[0] > 200;
        new uPlot(
            {
                width: Math.max(280, place.clientWidth - 8),
                height: 280,
                scales: { x: { time: false, distr: logarithmic ? 3 : 1, log: 2 } },
                series,
                axes: [
                    { ...axis, label: lines[0].points[0].x_unit || "" },
                    { ...axis, size: 62, label: lines[0].points[0].y_unit || "" },
                ],
            },
            data,
            place,
        );
        place.querySelector("canvas").setAttribute("role", "img");
        place
            .querySelector("canvas")
            .setAttribute(
                "aria-label",
                `Curves of ${lines.map((line) => line.label).join(", ")}; the points are in the table below`,
            );
    }
    const range = (row) =>
        row.low === null || row.low === undefined ? "" : `${number(row.low)} – ${number(row.high)}`;
    // Two variables: a line of the table is one value of the second.
    function matrix(line) {
        const across = [...new Set(line.points.map((point) => point.x))].sort((a, b) => a - b);
        const down = Map.groupBy(line.points, (point) => point.by_x);
        const values = line.points.map((point) => point.y);
        const low = Math.min(...values);
        const high = Math.max(...values);
        const cell = (row, x) => {
            const point = row.get(x);
            const element = h("span", { class: "heat" }, point ? number(point.y) : "");
            const share = point && high > low ? (point.y - low) / (high - low) : 0;
            element.style.backgroundColor = `color-mix(in srgb, var(--on) ${share * 45}%, transparent)`;
            return element;
        };
        const rows = [...down]
            .sort(([a], [b]) => a - b)
            .map(([by, points]) => [by, new Map(points.map((point) => [point.x, point]))]);
        return grid(
            line.label,
            [
                ["", ([by]) => number(by), "number"],
                ...across.map((x) => [number(x), ([, row]) => cell(row, x), "number"]),
            ],
            rows,
        );
    }
    // The curves of the runs that the conclusions are of, a variant each.
    function linesOf(name, rows, points) {
        const lines = [];
        for (const run of new Set(rows.map((row) => row.run_id)))
            for (const [variant, all] of points.get(`${run} ${name}`) ?? []) {
                const good = all.filter(
                    ({ x, y }) => typeof x === "number" && typeof y === "number",
                );
                const label = [cpuOfRun(run)?.key, variant].filter(Boolean).join(" ");
                if (good.length > 1) lines.push({ label, points: good.sort((a, b) => a.x - b.x) });
            }
        return lines;
    }
    function property(name, rows, points) {
        const place = h("div", { class: "plot" });
        const lines = linesOf(name, rows, points);
        const plane = (line) =>
            line.points.some((point) => point.by_x !== null && point.by_x !== undefined);
        const curves = lines.filter((line) => !plane(line) && line.points.length > 1);
        if (curves.length > 0) requestAnimationFrame(() => curve(place, curves));
        const flat = lines
            .filter((line) => !plane(line))
            .flatMap((line) => line.points.map((point) => ({ label: line.label, ...point })));
        const of = (row) => cpuOfRun(row.run_id)?.key ?? "";
        const said = new Set(
            rows
                .filter((row) => row.sentence)
                .map(
                    (row) => [of(row), row.variant].filter(Boolean).join(" ") + `: ${row.sentence}`,
                ),
        );
        const title = rows.find((row) => row.title)?.title;
        return h(
            "article",
            {},
            h("h3", {}, title ? `${name}: ${title}` : name),
            [...said].map((sentence) => h("p", {}, sentence)),
            grid(
                "What was found",
                [
                    ["CPU", of],
                    ["variant", (row) => row.variant],
                    ["", (row) => row.conclusion],
                    ["value", (row) => number(row.value), "number"],
                    ["range", range, "number"],
                    ["unit", (row) => row.unit],
                    ["confidence", (row) => number(row.confidence), "number"],
                    ["outcome", (row) => (row.outcome === "ok" ? "" : row.outcome)],
                    ["run", (row) => number(row.run_id), "number"],
                ],
                rows,
            ),
            curves.length > 0 ? place : null,
            lines.filter(plane).map(matrix),
            flat.length > 0
                ? h(
                      "details",
                      {},
                      h("summary", {}, `${flat.length} points`),
                      grid(
                          "Points of the curves",
                          [
                              ["curve", (row) => row.label],
                              [flat[0].x_unit || "x", (row) => number(row.x), "number"],
                              [flat[0].y_unit || "y", (row) => number(row.y), "number"],
                              ["samples", (row) => number(row.samples), "number"],
                          ],
                          flat,
                      ),
                  )
                : null,
        );
    }
    async function properties() {
        await latput.load("data/properties.js");
        const points = new Map(); // "run property" -> variant -> points
        for (const point of model.properties.points) {
            const key = `${point.run_id} ${point.property}`;
            if (!points.has(key)) points.set(key, new Map());
            const variants = points.get(key);
            if (!variants.has(point.variant)) variants.set(point.variant, []);
            variants.get(point.variant).push(point);
        }
        const names = Map.groupBy(model.properties.table, (row) => row.property);
        return [
            h("h2", {}, "Properties of the pipeline"),
            [...names].map(([name, rows]) => property(name, rows, points)),
        ];
    }

    const makers = { cpus, ports, properties, compare: () => latput.compare() };
    async function show(place, name) {
        const content = await makers[name]();
        place.replaceChildren(...content.flat(Infinity).filter(Boolean));
    }
    latput.pages = { show, run };
})();
