// SPDX-License-Identifier: MIT
// When two CPUs differ in a form: the rules of `latput diff` (runner/diff/diff.c). Both are held
// against tests/fixtures/diff_cases.csv. A table has number(column, form), text(column, form) and
// family, in which names of ports mean something; null: in none.
"use strict";
latput.differs = (() => {
    const { tolerance, least, columns } = latput.columns;
    const tests = (table, form) => table.text("tests", form) ?? "";
    const outcome = (table, form) => table.text("outcome", form);
    const isUpper = (table, { bound }, form) =>
        bound !== null && table.text(bound, form) === "upper";
    const sized = columns.filter(({ differs }) => differs === "size");

    // Returns a value of a column with the ends of its range.
    function valueOf(column, table, form) {
        const least = table.number(column.name, form);
        return { least, most: (column.most && table.number(column.most, form)) ?? least };
    }
    // Ranges differ if they have nothing in common. A value that was not asked for differs from
    // nothing; one that was asked for and is missing does.
    function sizes(column, a, b, form) {
        const [one, two] = [a, b].map((table) => valueOf(column, table, form));
        if (one.least === null && two.least === null) return false;
        if (one.least === null || two.least === null)
            return tests(one.least === null ? a : b, form).includes(column.asked);
        const [less, more] = one.least <= two.least ? [one, two] : [two, one];
        return more.least - less.most > Math.max(least, tolerance * more.least);
    }
    // Two bounds may both be larger than the truth.
    function known(column, a, b, form) {
        const [one, two] = [a, b].map((table) => table.number(column.name, form));
        return (
            one !== null &&
            two !== null &&
            one !== two &&
            ![a, b].some((table) => isUpper(table, column, form))
        );
    }
    // Names mean something within one family, and ambiguous ones differ from nothing.
    function names({ name }, a, b, form) {
        const [one, two] = [a, b].map((table) => table.text(name, form));
        const sure = (text) => text !== null && !text.includes("?");
        return sure(one) && sure(two) && a.family !== null && a.family === b.family && one !== two;
    }
    // Outcomes follow from latency and throughput, so they are compared if both sides asked for the
    // same; but a form that a CPU does not have always counts.
    function outcomes(column, a, b, form) {
        const same = ["L", "T"].every(
            (kind) => tests(a, form).includes(kind) === tests(b, form).includes(kind),
        );
        return (
            outcome(a, form) !== outcome(b, form) &&
            (same || [a, b].some((table) => outcome(table, form) === "unsupported"))
        );
    }
    const rules = { size: sizes, known, family: names, asked: outcomes, not: () => false };
    const value = (column, a, b, form) => rules[column.differs](column, a, b, form);

    // Returns true if the sides allow no common value: bounds allow everything below, values their
    // spread, means anything.
    function isSure(column, a, b, form) {
        const of = (table) => ({
            ...valueOf(column, table, form),
            spread: column.spread === null ? 0 : (table.number(column.spread, form) ?? 0),
            vague: column.mark
                ? Boolean(table.text(column.mark, form))
                : column.bound !== null && table.text(column.bound, form) === "average",
            upper: isUpper(table, column, form),
        });
        const [less, more] = [of(a), of(b)].sort((one, two) => one.least - two.least);
        return (
            !less.vague &&
            !more.vague &&
            !more.upper &&
            less.spread + more.spread < more.least - less.most
        );
    }

    // Returns {change, sure, by} for a form of both tables, {} if neither CPU has it; by: the value
    // that differs most surely, [kind, value here, value there], if one does.
    function judge(a, b, form) {
        const lacks = [a, b].map((table) => outcome(table, form) === "unsupported");
        if (lacks[0] && lacks[1]) return {};
        if (lacks[0] !== lacks[1]) {
            const by = (lacks[0] ? a : b).text("refused_by", form);
            const near = by === "hypervisor?" && a.family !== null && a.family === b.family;
            if (by === "system" || near) return { change: "kept", sure: !near };
            return { change: lacks[0] ? "new" : "gone", sure: true };
        }
        const ways = new Set(),
            doubtful = new Set();
        let by = null,
            missing = columns.some(
                (column) => column.differs === "asked" && value(column, a, b, form),
            );
        const ratio = ([, one, two]) => Math.abs(Math.log(two / one));
        for (const column of sized.filter((column) => value(column, a, b, form))) {
            const [one, two] = [a, b].map((table) => table.number(column.name, form));
            if (one === null || two === null) {
                missing = true;
                continue;
            }
            const sure = isSure(column, a, b, form);
            (sure ? ways : doubtful).add(two < one ? "faster" : "slower");
            const found = [column.asked, one, two];
            if (sure && one > 0 && two > 0 && (!by || ratio(found) > ratio(by))) by = found;
        }
        const found = ways.size > 0 ? ways : doubtful;
        if (found.size > 0)
            return { change: found.size > 1 ? "mixed" : [...found][0], sure: ways.size > 0, by };
        const ports = columns.some(
            (column) => ["known", "family"].includes(column.differs) && value(column, a, b, form),
        );
        return { change: ports ? "ports" : missing ? "outcome" : "same", sure: true };
    }
    return { value, judge };
})();
