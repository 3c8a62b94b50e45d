// SPDX-License-Identifier: MIT
// The other parts of the page: the structure of the ports, CPUs with their runs; properties are in
// properties.js, differences in compare.js.
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
                ["forms", run.forms > 0 ? run.forms.toLocaleString("en") : ""],
                ["selection", run.selection || "everything"],
                ["started", run.started_utc],
                ["finished", run.finished_utc ?? "not finished"],
                ["took", run.seconds ? `${Math.round(run.seconds)} s` : ""],
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
                    run.measured_width ? `${run.measured_width} µops per cycle, measured` : "",
                ],
                ["clock", ghz(run.core_hz)],
                ["TSC", ghz(run.tsc_hz)],
                ["frequency", run.frequency],
                ["cycles from", run.backend],
                ["counted", run.counted],
                ["latput", run.version],
                ["assembler", run.nasm_version],
                ["system", run.os_kernel],
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
            run.tables ? h("p", { class: "features hint" }, `Tables: ${run.tables}`) : null,
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
                    h("h3", {}, cpu.name, " ", h("code", { class: "hint" }, cpu.key)),
                    h(
                        "p",
                        {},
                        `${cpu.forms.toLocaleString("en")} forms in ${cpu.runs.length} run${cpu.runs.length === 1 ? "" : "s"}`,
                    ),
                    // Runs that measured forms come first.
                    cpu.runs.toSorted((a, b) => (b.forms > 0) - (a.forms > 0)).map(run),
                ),
            ),
        ];
    }

    // --- ports ---

    // Orders sets as `latput ports` does: first those that there are without wide vectors, of each
    // overlapping ones together, the largest first.
    const isWide = ({ holds }) => holds.startsWith("wide");
    const setsInOrder = (sets) => [
        ...overlapping(sets.filter((set) => !isWide(set))),
        ...overlapping(sets.filter(isWide)),
    ];
    function overlapping(sets) {
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
        // Sets beside wide vectors stand apart.
        const wide = sets.findIndex(isWide),
            at = (line) => top + (line + (wide > 0 && line >= wide ? 0.4 : 0)) * row;
        const width = left + ports.order.length * cell + 8,
            height = at(sets.length) + 8;
        const picture = svg("svg", {
            viewBox: `0 0 ${width} ${height}`,
            width,
            height,
            role: "img",
            class: "ports",
        });
        picture.append(
            svg("title", {}, `${cpu.name}: ${ports.port_count} ports in ${sets.length} sets`),
        );
        const text = (x, y, content, extra = {}) =>
            picture.append(svg("text", { x, y, ...extra }, content));
        ports.order.forEach((port, i) =>
            text(left + i * cell + cell / 2, top - 10, port, {
                "text-anchor": "middle",
                class: "small",
            }),
        );
        sets.forEach((set, line) => {
            text(8, at(line) + 17, set.name);
            ports.order.forEach((port, i) =>
                picture.append(
                    svg("rect", {
                        x: left + i * cell + 2,
                        y: at(line) + 2,
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
    const held = {
        narrow: "vectors, but beside 512 bits",
        wide: "vectors beside 512 bits",
        "wide forms": "forms of 512 bits",
    };
    const deviation = ({ residual }) =>
        `Largest deviation: of the mixes of two sets that were timed to find this structure, the one that fits least takes ${(residual * 100).toFixed(1)} % more or less time than the structure predicts. Each form has a deviation of its own, among its details.`;
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
            h("h3", {}, cpu.name),
            h(
                "p",
                {},
                `${ports.port_count} ports in ${sets.length} sets, ${ports.width} slots per cycle in front of them. Found from throughput: ports that no form distinguishes are symmetric; their order and numbers mean nothing.`,
            ),
            h("p", { class: "hint" }, deviation(ports)),
            h(
                "div",
                {
                    class: "scroll",
                    tabindex: 0,
                    role: "region",
                    "aria-label": `Ports of ${cpu.name}`,
                },
                diagram(cpu, sets),
            ),
            grid(
                "Sets of ports that a µop chooses from",
                [
                    ["set", (set) => set.name],
                    ["size", (set) => String(set.size), "number"],
                    ["ports", (set) => set.ports.join(" ")],
                    ["for", (set) => held[set.holds] ?? ""],
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

    const makers = {
        cpus,
        ports,
        properties: () => latput.properties(),
        compare: () => latput.compare(),
    };
    async function show(place, name) {
        const content = await makers[name]();
        place.replaceChildren(...content.flat(Infinity).filter(Boolean));
    }
    latput.pages = { show, run };
})();
