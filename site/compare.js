// SPDX-License-Identifier: MIT
// Two CPUs by class of instruction: numbers of forms that are faster, slower, new and gone, and how
// many of these are in doubt.
"use strict";
(() => {
    const { model, view, h, clk, differs } = latput;
    const { state } = view;
    const { grid } = latput.panel;

    // Keeps what was judged of the last pair: a search asks for all forms at each letter.
    let kept = { a: null, b: null, forms: [] };
    function judge(a, b, form) {
        if (kept.a !== a || kept.b !== b) kept = { a, b, forms: [] };
        return (kept.forms[form] ??= a.has(form) && b.has(form) ? differs.judge(a, b, form) : {});
    }

    // Maps each class to its numbers of forms; "" is all of them.
    function classes(a, b, fact) {
        const groups = new Map([["", { forms: 0, doubt: 0 }]]);
        for (let form = 0; form < model.forms.count; form++) {
            if (!a.table.has(form) || !b.table.has(form)) continue;
            const { change, sure } = judge(a.table, b.table, form);
            if (!change) continue;
            const name = model.forms.text(fact, form) || "-";
            if (!groups.has(name)) groups.set(name, { forms: 0, doubt: 0 });
            for (const group of [groups.get(""), groups.get(name)]) {
                group.forms++;
                group[change] = (group[change] ?? 0) + 1;
                if (!sure) group.doubt++;
            }
        }
        return groups;
    }

    const choice = (label, options, chosen, change) =>
        h(
            "label",
            {},
            `${label} `,
            h(
                "select",
                { onchange: (event) => change(Number(event.target.value)) },
                options.map((name, i) => h("option", { value: i, selected: i === chosen }, name)),
            ),
        );

    // Makes a number that leads to its forms.
    function count(pair, fact, row, word) {
        const n = row[word === "doubt:yes" ? "doubt" : word.replace("change:", "")];
        if (!n) return "";
        const search = [row.name && `${fact}:${row.name.toLowerCase()}`, word];
        const change = {
            view: "table",
            cpus: pair,
            diff: true,
            absent: true,
            bits32: true,
            search: search.filter(Boolean).join(" "),
        };
        return h(
            "button",
            { type: "button", class: "plain", onclick: () => view.change(change, true) },
            n.toLocaleString("en"),
        );
    }

    function table(pair, fact) {
        const groups = [...classes(...pair, fact)]
            .map(([name, group]) => ({ name, ...group }))
            .sort((one, two) => (one.name < two.name ? -1 : 1));
        const number = (heading, word) => [
            heading,
            (row) => count(pair, fact, row, word),
            "number",
        ];
        const columns = [
            [fact === "isa" ? "extension" : "list", (row) => row.name || "all"],
            ["forms", (row) => row.forms.toLocaleString("en"), "number"],
            number("faster", "change:faster"),
            number("slower", "change:slower"),
            number("mixed", "change:mixed"),
            number("of these in doubt", "doubt:yes"),
            number("other µops or ports", "change:ports"),
            number("new", "change:new"),
            number("gone", "change:gone"),
            number("kept from programs", "change:kept"),
            number("a value on one only", "change:outcome"),
            number("the same", "change:same"),
        ];
        return grid(`${pair[1].name} against ${pair[0].name}: numbers of forms`, columns, groups);
    }

    // The forms that gain or lose most by one value that is sure, one of each mnemonic.
    const LARGEST = 20;
    function largest(pair, change) {
        const rows = [];
        for (let form = 0; form < model.forms.count; form++) {
            const found = judge(...pair.map((cpu) => cpu.table), form);
            if (found.change === change && found.by && model.forms.bits[form] === 64)
                rows.push({ form, by: found.by });
        }
        const factor = ({ by: [, one, two] }) => Math.max(one / two, two / one);
        const seen = new Set();
        const first = ({ form }) => {
            const mnemonic = model.forms.mnemonic[form];
            return !seen.has(mnemonic) && seen.add(mnemonic);
        };
        return rows
            .sort((one, two) => factor(two) - factor(one))
            .filter(first)
            .slice(0, LARGEST)
            .map((row) => ({ ...row, factor: factor(row) }));
    }
    function extremes(pair, change, caption) {
        const open = (form) => ({
            view: "table",
            cpus: pair,
            diff: true,
            search: model.forms.text("mnemonic", form),
            form: model.forms.id(form),
        });
        const link = ({ form }) =>
            h(
                "button",
                {
                    type: "button",
                    class: "plain form",
                    onclick: () => view.change(open(form), true),
                },
                model.forms.name(form),
            );
        return grid(
            caption,
            [
                ["instruction", link],
                ["by", ({ by: [kind] }) => (kind === "L" ? "latency" : "1/tput")],
                [pair[0].short, ({ by: [, one] }) => clk(one), "number"],
                [pair[1].short, ({ by: [, , two] }) => clk(two), "number"],
                ["times", ({ factor }) => factor.toFixed(1), "number"],
            ],
            largest(pair, change),
        );
    }

    latput.compare = async () => {
        const choices = model.cpus.filter((cpu) => cpu.forms > 0),
            shown = view.shown();
        const first = shown[0] ?? choices[0];
        const pair = [first, shown[1] ?? choices.find((cpu) => cpu !== first)];
        await Promise.all(pair.map(latput.loadCpu));
        const names = choices.map((cpu) => cpu.name),
            fact = state.by === "isa" ? "isa" : "list";
        const pick = (label, at) =>
            choice(label, names, choices.indexOf(pair[at]), (i) =>
                view.change({ cpus: pair.map((cpu, j) => (j === at ? choices[i] : cpu)) }),
            );
        return [
            h("h2", {}, "Differences"),
            h(
                "p",
                {},
                pick("Compare", 0),
                pick(" and", 1),
                choice(" by", ["list", "extension"], fact === "isa" ? 1 : 0, (i) =>
                    view.change({ by: i ? "isa" : "" }),
                ),
            ),
            h(
                "p",
                { class: "hint" },
                "Latency and throughput; what differs by less than 2 % is the same. Names of ports are compared within one CPU family only. In doubt is what rests on upper bounds (≤), means (~) or one of several steady states (*), or lies within the spread of the samples. The order of CPUs is that of the page.",
            ),
            h(
                "div",
                { class: "matrices" },
                table(pair, fact),
                h(
                    "div",
                    {},
                    h(
                        "p",
                        { class: "hint" },
                        `The ${LARGEST} largest of each, by the value that changes most and is sure:`,
                        " one form of each mnemonic, in 64-bit mode.",
                    ),
                    extremes(pair, "faster", `Gains on ${pair[1].name}`),
                    extremes(pair, "slower", `Losses on ${pair[1].name}`),
                ),
            ),
        ];
    };
    latput.compare.judge = judge;
    latput.compare.classes = classes;
})();
