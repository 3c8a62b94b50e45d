// SPDX-License-Identifier: MIT
// Two CPUs by class of instruction: numbers of forms that are faster, slower, new and gone, and how
// many of these are in doubt. The rules are those of `latput diff` (runner/report/diff.c).
"use strict";
(() => {
    const { model, view, h, clk } = latput;
    const { state } = view;
    const { grid } = latput.panel;

    const values = [
        { column: "latency_min_clk", bound: "latency_bound", mark: "latency_min_mark", kind: "L" },
        {
            column: "latency_max_clk",
            bound: "latency_max_bound",
            mark: "latency_max_mark",
            kind: "L",
        },
        { column: "rthroughput_clk", bound: "rthroughput_bound", kind: "T" },
        { column: "rthroughput_slow_clk", bound: "rthroughput_bound", kind: "T" },
    ];

    // Returns the range that a CPU allows for one of these values; null if it has none.
    function allowed(table, form, { column, bound, mark, kind }) {
        const value = table.number(column, form);
        if (value === null) return null;
        const spread = kind === "T" ? (table.number("rthroughput_spread_clk", form) ?? 0) : 0;
        return {
            value,
            least: table.text(bound, form) === "upper" ? -Infinity : value - spread,
            most: value + spread,
            vague: Boolean(mark && table.text(mark, form)),
        };
    }
    const apart = (one, two) =>
        Math.abs(one - two) > Math.max(5, 0.02 * Math.max(Math.abs(one), Math.abs(two)));

    function outcomesDiffer(a, b, form) {
        const tests = (table) => table.text("tests", form) ?? "";
        return (
            a.text("outcome", form) !== b.text("outcome", form) &&
            ["L", "T"].every((kind) => tests(a).includes(kind) === tests(b).includes(kind))
        );
    }

    // Returns {change, sure, by} for a form of both tables, {} if neither CPU has it; by: the value
    // that differs most surely, [kind, value here, value there], if one does.
    function judgeAnew(a, b, form) {
        const lacks = [a, b].map((table) => table.text("outcome", form) === "unsupported");
        if (lacks[0] && lacks[1]) return {};
        if (lacks[0] !== lacks[1]) return { change: lacks[0] ? "new" : "gone", sure: true };
        const ways = new Set(),
            doubtful = new Set();
        let by = null;
        const ratio = ([, one, two]) => Math.abs(Math.log(two / one));
        let missing = outcomesDiffer(a, b, form);
        for (const value of values) {
            const one = allowed(a, form, value),
                two = allowed(b, form, value);
            if (!one && !two) continue;
            if (!one || !two) {
                missing ||= ((one ? b : a).text("tests", form) ?? "").includes(value.kind);
                continue;
            }
            if (!apart(one.value, two.value)) continue;
            const [less, more] = one.value < two.value ? [one, two] : [two, one];
            const sure = !less.vague && !more.vague && less.most < more.least;
            (sure ? ways : doubtful).add(two.value < one.value ? "faster" : "slower");
            const found = [value.kind, one.value, two.value];
            if (sure && one.value > 0 && two.value > 0 && (!by || ratio(found) > ratio(by)))
                by = found;
        }
        const found = ways.size > 0 ? ways : doubtful;
        if (found.size > 0)
            return { change: found.size > 1 ? "mixed" : [...found][0], sure: ways.size > 0, by };
        const uops = [a, b].map((table) => table.number("uops", form));
        const upper = [a, b].some((table) => table.text("uops_bound", form) === "upper");
        if (!upper && uops[0] !== null && uops[1] !== null && uops[0] !== uops[1])
            return { change: "ports", sure: true };
        return { change: missing ? "outcome" : "same", sure: true };
    }

    // Keeps what was judged of the last pair: a search asks for all forms at each letter.
    let kept = { a: null, b: null, forms: [] };
    function judge(a, b, form) {
        if (kept.a !== a || kept.b !== b) kept = { a, b, forms: [] };
        return (kept.forms[form] ??= a.has(form) && b.has(form) ? judgeAnew(a, b, form) : {});
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
            number("other µops", "change:ports"),
            number("new", "change:new"),
            number("gone", "change:gone"),
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
                "Latency and throughput; what differs by less than 2 % is the same. In doubt is what rests on upper bounds (≤), means (~) or one of several steady states (*), or lies within the spread of the samples. The order of CPUs is that of the page.",
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
