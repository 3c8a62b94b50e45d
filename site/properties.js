// SPDX-License-Identifier: MIT
// Properties of the pipeline: conclusions in words, and points as curves with all CPUs on one axis,
// or as a matrix if there are two variables or too many variants for curves.
"use strict";
(() => {
    const { model, h } = latput;
    const { grid } = latput.panel;

    const number = (value, digits = 4) =>
        typeof value !== "number" || Number.isInteger(value)
            ? String(value ?? "")
            : String(Number(value.toPrecision(digits)));
    const words = (...parts) =>
        parts.filter((part) => part !== "" && part !== null && part !== undefined).join(" ");
    const inOrder = (a, b) => a.localeCompare(b, "en", { numeric: true });
    const cpuOfRun = (id) => model.cpus.find((cpu) => cpu.runs.some((one) => one.run_id === id));
    const nameOfRun = (id) => cpuOfRun(id)?.short ?? "";
    const placeOf = (name) => model.cpus.findIndex((cpu) => cpu.short === name);
    const inPlace = (a, b) => placeOf(a) - placeOf(b);
    const startOfRun = (id) => cpuOfRun(id).runs.find((one) => one.run_id === id).started_utc ?? "";
    const dateOfRun = (id) => startOfRun(id).slice(0, 10);

    // --- curves ---

    const COLORS = 6; // --series-N of style.css
    const dashes = [undefined, [8, 4], [2, 3], [12, 3, 2, 3], [16, 5], [2, 8], [8, 3, 2, 3, 2, 3]];

    // Gives CPUs colours, the same in all plots, and variants dashes; where one CPU is alone, its
    // variants get both.
    function looks(lines) {
        const variants = [...new Set(lines.map((line) => line.variant))],
            cpus = [...new Set(lines.map((line) => line.cpu))];
        return lines.map((line) => {
            const variant = variants.indexOf(line.variant),
                cpu = placeOf(line.cpu);
            const color = cpus.length > 1 ? cpu : variant,
                dash = cpus.length > 1 ? variant : Math.floor(variant / COLORS);
            return { color: color % COLORS, dash: dashes[dash % dashes.length] };
        });
    }
    // Returns true if sorted heights grow by factors: most of them are at the low end.
    function steepFrom(sorted) {
        const [least, most] = [sorted[0], sorted.at(-1)],
            middle = sorted[Math.floor(sorted.length / 2)];
        return least > 0 && most / least > 16 && (middle - least) / (most - least) < 0.15;
    }
    // Returns true if the values of a sweep grow by factors: their gaps are more even on a
    // logarithmic axis. Points that were refined between them change little of that.
    function byFactors(sorted) {
        const positive = sorted.filter((value) => value > 0);
        if (sorted[0] < 0 || positive.length < 3 || positive.at(-1) < 8 * positive[0]) return false;
        const unevenness = (values) =>
            values
                .slice(1)
                .map((value, i) => ((value - values[i]) / (values.at(-1) - values[0])) ** 2)
                .reduce((a, b) => a + b, 0);
        return unevenness(positive.map(Math.log)) < unevenness(positive);
    }
    // The axis of such values: powers of two, at most ten; where zero is among them, it stands
    // before the least of the others.
    function logarithmic(x) {
        const least = x.find((value) => value > 0),
            from = Math.ceil(Math.log2(least)),
            to = Math.floor(Math.log2(x.at(-1))),
            step = Math.ceil((to - from + 1) / 10);
        const powers = [];
        for (let power = from; power <= to; power += step) powers.push(2 ** power);
        return {
            scale: x[0] > 0 ? { distr: 3, log: 2 } : { distr: 4, asinh: least },
            splits: x[0] > 0 ? powers : [0, ...powers],
        };
    }
    // Writes powers of two as the sweeps have them: 4K, 16M.
    const binary = (value) => {
        const at = value > 0 ? [3, 2, 1].find((n) => value % 1024 ** n === 0) : undefined;
        return at ? value / 1024 ** at + "KMG"[at - 1] : number(value);
    };
    // The axis begins at zero, so that noise does not look like mountains.
    const linear = { range: (_, from, to) => [Math.min(0, from), to > 0 ? to * 1.06 : to + 1] };
    // Returns where curves have steps, as their conclusions say: {line, x, low, high}.
    function stepsOf(lines, rows) {
        const steps = [];
        lines.forEach((line, i) => {
            for (const row of rows)
                if (
                    nameOfRun(row.run_id) === line.cpu &&
                    (row.variant ?? "") === line.variant &&
                    row.unit === line.points[0].x_unit &&
                    /^(end \d+|knee)$/.test(row.conclusion ?? "") &&
                    typeof row.value === "number"
                )
                    steps.push({
                        line: i,
                        x: row.value,
                        low: row.low ?? row.value,
                        high: row.high ?? row.value,
                    });
        });
        return steps;
    }
    // Draws each step as an upright line, with its interval as a band.
    function drawSteps(steps, strokes) {
        return ({ ctx, bbox, scales, valToPos }) => {
            ctx.save();
            ctx.beginPath();
            ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
            ctx.clip();
            for (const { line, x, low, high } of steps) {
                const at = (value) => valToPos(value, "x", true);
                if (x < scales.x.min || x > scales.x.max) continue;
                ctx.globalAlpha = 0.16;
                ctx.fillStyle = strokes[line];
                ctx.fillRect(at(low), bbox.top, Math.max(1, at(high) - at(low)), bbox.height);
                ctx.globalAlpha = 0.8;
                ctx.fillRect(at(x) - 0.5, bbox.top, 1, bbox.height);
            }
            ctx.restore();
        };
    }
    function curve(place, lines, rows) {
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
        const [{ x_unit: unit, y_unit: measure }] = lines[0].points;
        const look = looks(lines);
        const heights = lines.map((line) => line.points.map(({ y }) => y).sort((a, b) => a - b)),
            steep = heights.every(([low]) => low > 0) && heights.some(steepFrom);
        const factors = byFactors(x) ? logarithmic(x) : null,
            labels = (_, splits) => splits.map((at) => (at === null ? null : binary(at)));
        const steps = stepsOf(lines, rows);
        const words = [
            `Curves of ${lines.map((line) => line.label || measure).join(", ")}`,
            factors ? "horizontal axis logarithmic" : "horizontal axis linear",
            ...steps.map(
                ({ line, x }) => `step of ${lines[line].label || measure} at ${binary(x)}`,
            ),
            "the points are in the table below",
        ].join("; ");
        return latput.plot(place, words, (color, axis) => ({
            data,
            beside: {
                x: (at) => `${binary(at)} ${unit ?? ""}`,
                y: (at) => `${number(at)} ${measure ?? ""}`,
            },
            hooks: {
                drawClear: [
                    drawSteps(
                        steps,
                        look.map((one) => color(`--series-${one.color}`)),
                    ),
                ],
            },
            height: 280,
            scales: {
                x: { time: false, ...factors?.scale },
                y: steep ? { distr: 3 } : linear,
            },
            series: [
                { label: unit || "x" },
                ...lines.map((line, i) => ({
                    label: line.label || measure || "y",
                    stroke: color(`--series-${look[i].color}`),
                    dash: look[i].dash,
                    width: 2,
                    spanGaps: true,
                    points: { show: x.length < 80, size: 4 },
                })),
            ],
            axes: [
                {
                    ...axis,
                    label: unit || "",
                    ...(factors ? { splits: () => factors.splits, values: labels } : {}),
                },
                { ...axis, size: 62, label: measure || "" },
            ],
            legend: {
                live: false,
                markers: { dash: (_, i) => (i > 0 && look[i - 1].dash ? "dashed" : "solid") },
            },
        }));
    }
    // Plots are drawn when they come near: a page has some fifty.
    const drawers = new WeakMap();
    const near = new IntersectionObserver(
        (entries) => {
            for (const { isIntersecting, target } of entries)
                if (isIntersecting) {
                    near.unobserve(target);
                    drawers.get(target)();
                }
        },
        { rootMargin: "600px" },
    );
    function curves(lines, rows) {
        const place = h("div", { class: "plot" });
        drawers.set(place, () => curve(place, lines, rows));
        near.observe(place);
        const said = [
            stepsOf(lines, rows).length > 0 &&
                "Upright lines are the steps that were found, with their intervals of 95 %.",
            lines.length > 1 && "A click on a name hides its curve.",
        ].filter(Boolean);
        return [place, said.length > 0 ? h("p", { class: "hint" }, said.join(" ")) : null];
    }

    // --- matrices ---

    // Makes a matrix. A line is one of `down`, [name, points]; the colour is the ratio of a value
    // to the least one, full at twice or at the largest.
    function matrix(caption, down) {
        const points = down.flatMap(([, all]) => all),
            values = points.map((point) => point.y);
        const across = [...new Set(points.map((point) => point.x))].sort((a, b) => a - b);
        const low = values.reduce((a, b) => Math.min(a, b)),
            high = values.reduce((a, b) => Math.max(a, b));
        const full = low > 0 ? Math.log(Math.max(high / low, 2)) : high - low || 1;
        const share = (y) => (low > 0 ? Math.log(y / low) : y - low) / full;
        const cell = (row, x) => {
            const point = row.get(x);
            if (!point) return "";
            const element = h("span", { class: "heat" }, number(point.y, 3));
            element.style.backgroundColor = `color-mix(in srgb, var(--on) ${share(point.y) * 45}%, transparent)`;
            return element;
        };
        return grid(
            caption,
            [
                ["", ([name]) => name, "number"],
                ...across.map((x) => [number(x), ([, row]) => cell(row, x), "number"]),
            ],
            down.map(([name, all]) => [name, new Map(all.map((point) => [point.x, point]))]),
        );
    }
    // Names the axes of a matrix, or the quantities of a curve.
    const units = ({ x_unit: x, y_unit: y, by_unit: by }) =>
        words(y, x && `by ${x}`, by && `(across) and ${by} (down)`);
    const caption = (line) => [line.label, units(line.points[0])].filter(Boolean).join(": ");
    const byRow = (line) =>
        [...Map.groupBy(line.points, (point) => point.by_x)].sort(([a], [b]) => a - b);

    // --- one property ---

    // Keeps the conclusions of one run of each CPU, the newest: what is said and what is drawn are
    // of the same run.
    function ofOneRun(rows) {
        const runs = new Map();
        const age = (run) => startOfRun(run).padEnd(24) + String(run).padStart(20);
        for (const { run_id: run } of rows) {
            const cpu = cpuOfRun(run);
            if (cpu && !(runs.has(cpu) && age(runs.get(cpu)) > age(run))) runs.set(cpu, run);
        }
        return rows.filter(({ run_id: run }) => runs.get(cpuOfRun(run)) === run);
    }
    // Returns the points of the runs that the conclusions belong to, one line per variant.
    function linesOf(name, rows, points) {
        const lines = [];
        for (const run of new Set(rows.map((row) => row.run_id)))
            for (const [variant, all] of points.get(`${run} ${name}`) ?? []) {
                const good = all.filter(
                    ({ x, y }) => typeof x === "number" && typeof y === "number",
                );
                if (good.length > 1) lines.push(line(nameOfRun(run), variant, good));
            }
        return lines.sort((a, b) => inOrder(a.variant, b.variant));
    }
    // A variant does not read as part of the CPU's name: Zen 5 (16).
    const labelOf = (cpu, variant) => (cpu && variant ? `${cpu} (${variant})` : cpu || variant);
    const line = (cpu, variant, points) => ({
        cpu,
        variant: variant ?? "",
        label: labelOf(cpu, variant),
        points: points.sort((a, b) => a.x - b.x),
        plane: typeof points[0].by_x === "number", // two variables
    });
    // Separates the lines by the second variable if conclusions are drawn for each of its values.
    function apart(lines, rows) {
        const concluded = new Set(rows.map((row) => row.variant ?? ""));
        return lines.flatMap((one) => {
            const parts = one.plane
                ? byRow(one).map(([by, points]) => ({
                      ...line(one.cpu, words(one.variant, by), points),
                      label: labelOf(one.cpu, words(one.variant, by, points[0].by_unit)),
                      plane: false,
                  }))
                : [];
            return parts.some((part) => concluded.has(part.variant)) ? parts : [one];
        });
    }
    // Returns true if many variants have cells that are compared with each other, for a matrix.
    function crowded(lines, rows) {
        const cells = rows.some((row) => /^cells\b/.test(row.conclusion ?? ""));
        const across = new Set(lines.flatMap((one) => one.points.map((point) => point.x)));
        return cells && lines.length > 1 && across.size <= 2 * lines.length;
    }
    function pictures(lines, rows) {
        const matrices = [],
            planes = lines.filter((one) => one.plane),
            rest = [];
        for (const [cpu, own] of Map.groupBy(
            lines.filter((one) => !one.plane),
            (one) => one.cpu,
        ))
            if (crowded(own, rows)) {
                const down = own.map((one) => [one.variant, one.points]);
                matrices.push(matrix(words(cpu && `${cpu}:`, units(own[0].points[0])), down));
            } else {
                rest.push(...own);
            }
        for (const one of planes)
            matrices.push(
                matrix(
                    caption(one),
                    byRow(one).map(([by, points]) => [number(by), points]),
                ),
            );
        return [
            rest.length > 0
                ? curves(
                      rest.sort((a, b) => inPlace(a.cpu, b.cpu) || inOrder(a.label, b.label)),
                      rows,
                  )
                : null,
            matrices.length > 0 ? h("div", { class: "matrices" }, matrices) : null,
        ];
    }
    const folded = (title, content) => h("details", {}, h("summary", {}, title), content);
    const range = (row) =>
        row.low === null || row.low === undefined ? "" : `${number(row.low)} – ${number(row.high)}`;
    function found(rows) {
        return grid(
            "What was found",
            [
                ["CPU", (row) => nameOfRun(row.run_id)],
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
        );
    }
    function pointTable(lines) {
        const flat = lines.flatMap((one) =>
            one.points.map((point) => ({ label: one.label, ...point })),
        );
        return folded(
            `${flat.length} points`,
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
        );
    }
    // Writes one line per variant; CPUs side by side.
    function sentences(rows) {
        const said = rows.filter((row) => row.sentence);
        const cpus = [...new Set(said.map((row) => nameOfRun(row.run_id)))].sort(inPlace);
        const variants = [...Map.groupBy(said, (row) => row.variant ?? "")].sort(([a], [b]) =>
            inOrder(a, b),
        );
        const of = (own, cpu) => own.find((row) => nameOfRun(row.run_id) === cpu)?.sentence ?? "";
        if (variants.some(([variant]) => variant !== ""))
            return grid(
                "In words",
                [
                    ["variant", ([variant]) => variant],
                    ...cpus.map((cpu) => [cpu, ([, own]) => of(own, cpu), "wide"]),
                ],
                variants,
            );
        return h(
            "dl",
            { class: "facts" },
            variants.flatMap(([, own]) =>
                cpus.map((cpu) => [h("dt", {}, cpu), h("dd", {}, of(own, cpu))]),
            ),
        );
    }
    const origin = (rows) => {
        const runs = [...new Set(rows.map((row) => row.run_id))];
        const words = runs.map((run) => `run ${run} of ${nameOfRun(run)}, ${dateOfRun(run)}`);
        return h("p", { class: "hint" }, `What is said and drawn is of ${words.join("; ")}.`);
    };
    const titleOf = (name, rows) => rows.find((row) => row.title)?.title ?? name;
    function property(name, rows, points) {
        rows = ofOneRun(rows);
        const lines = apart(linesOf(name, rows, points), rows);
        const title = titleOf(name, rows);
        const flat = lines.filter((one) => !one.plane);
        const said = rows.some((row) => row.sentence);
        const question = rows.find((row) => row.question)?.question;
        const heading = h("h3", { tabindex: -1 }, title);
        if (title !== name) heading.append(" ", h("code", { class: "hint" }, name));
        const element = h(
            "article",
            {},
            heading,
            question ? h("p", { class: "question" }, question) : null,
            said ? sentences(rows) : null,
            pictures(lines, rows),
            said ? folded(`Values and confidence: ${rows.length}`, found(rows)) : found(rows),
            origin(rows),
            flat.length > 0 ? pointTable(flat) : null,
        );
        return { name, title, group: rows.find((row) => row.grp)?.grp ?? "", element, heading };
    }

    // --- the index, which stays in view ---

    // Sections have no anchors of their own, since the address holds the state of the whole page.
    // Where there is no room beside the sections, the index is folded above them.
    const narrow = matchMedia("(max-width: 60rem)");
    function contents(parts) {
        const links = new Map(); // heading -> its link
        const link = ({ name, title, heading }) => {
            const element = h(
                "a",
                {
                    href: `?view=properties#${encodeURIComponent(name)}`,
                    onclick: (event) => {
                        event.preventDefault();
                        if (narrow.matches) index.open = false;
                        heading.scrollIntoView({ block: "start" });
                        heading.focus({ preventScroll: true });
                    },
                },
                title,
            );
            links.set(heading, element);
            return h("li", {}, element);
        };
        const here = h("span", { class: "here" }),
            groups = [...Map.groupBy(parts, (part) => part.group)].map(([group, own]) => [
                h("h3", {}, group.replaceAll("_", " ") || "all"),
                h("ul", {}, own.map(link)),
            ]);
        const index = h(
            "details",
            { open: !narrow.matches },
            h("summary", {}, "Index", here),
            h("div", { class: "groups" }, groups),
        );
        const element = h("nav", { class: "contents", "aria-label": "Properties" }, index);
        element.follow = () => {
            // The lowest heading above the middle of the first lines; two may be side by side.
            const limit = page.getBoundingClientRect().top + 90;
            let [at, most] = [undefined, -Infinity];
            for (const heading of links.keys()) {
                const { top } = heading.getBoundingClientRect();
                if (top <= limit && top > most) [at, most] = [heading, top];
            }
            for (const [heading, one] of links)
                if (heading === at) one.setAttribute("aria-current", "true");
                else one.removeAttribute("aria-current");
            here.textContent = at ? `: ${links.get(at).textContent}` : "";
            const [one, list] = [links.get(at), index.lastChild];
            if (one && index.open)
                list.scrollTop = one.offsetTop - list.offsetTop - list.clientHeight / 2;
        };
        return element;
    }
    // Marks the section in sight, once a frame.
    let shownIndex = null,
        asked = false;
    const page = document.getElementById("view-page");
    page.addEventListener("scroll", () => {
        if (asked || !shownIndex?.isConnected) return;
        asked = true;
        requestAnimationFrame(() => {
            asked = false;
            shownIndex.follow();
        });
    });

    // --- the fact sheet ---

    function fact(found) {
        if (!found) return "";
        const more = [
            found.interval && `${found.interval}`,
            found.published && `published: ${found.published}`,
            found.confidence !== null && found.confidence < 0.6 && "low confidence",
            found.source,
        ].filter(Boolean);
        return [
            found.text,
            h("small", { class: "hint" }, more.length > 0 ? ` ${more.join("; ")}` : ""),
        ];
    }
    // Puts what people look for first side by side, as `latput cpu --sheet` has it.
    function sheet(sheets) {
        const known = sheets.filter(({ run_id: run }) => cpuOfRun(run));
        if (known.length === 0) return null;
        const lines = new Map(); // "group fact" -> [group, fact, of each CPU]
        known.forEach(({ facts }, i) => {
            for (const one of facts) {
                const key = JSON.stringify([one.group, one.fact]);
                if (!lines.has(key)) lines.set(key, [one.group, one.fact, []]);
                lines.get(key)[2][i] = one;
            }
        });
        let last = "";
        const name = ([group, fact]) => {
            const shown = group === last ? "" : h("strong", {}, group);
            last = group;
            return h("span", {}, shown, fact);
        };
        const head = ({ run_id: run }) => `${nameOfRun(run)}, ${dateOfRun(run)}`;
        const table = grid(
            "With intervals of 95 %, and what others publish",
            [["", name], ...known.map((one, i) => [head(one), ([, , of]) => fact(of[i]), "wide"])],
            [...lines.values()],
            { class: "sheet" },
        );
        // On a phone the curves would come after thousands of pixels of facts.
        return h(
            "details",
            { class: "facts-first", open: !narrow.matches },
            h("summary", {}, `Fact sheet: ${lines.size} facts`),
            table,
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
        // In the order of the index: by group.
        const own = [...names].map(([name, rows]) => property(name, rows, points)),
            parts = [...Map.groupBy(own, (part) => part.group).values()].flat();
        shownIndex = parts.length > 1 ? contents(parts) : null;
        return [
            h("h2", {}, "Properties of the pipeline"),
            h(
                "div",
                { class: "indexed" },
                shownIndex,
                h(
                    "div",
                    {},
                    sheet(model.properties.sheets),
                    h(
                        "div",
                        { class: "parts" },
                        parts.map((part) => part.element),
                    ),
                ),
            ),
        ];
    }
    latput.properties = properties;
})();
