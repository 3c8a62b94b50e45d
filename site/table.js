// SPDX-License-Identifier: MIT
// The table of forms. Only the rows in sight are elements, so that it can have all forms of all
// CPUs.
"use strict";
(() => {
    const { model, view, h, clk, marked, differs: rules } = latput;
    const { state } = view;
    const ROW = 28; // pixels; style.css has the same
    const SPARE = 8; // rows kept above and below those in sight
    const scroller = document.getElementById("scroller"),
        table = document.getElementById("table");
    let rows = new Int32Array(0); // forms in their order
    let columns = [],
        body,
        above,
        below,
        pool = [],
        first = -1,
        current = -1,
        letters = 0; // of a name that its column has room for; 0: not known

    // --- values ---

    const near = (one, two) => Math.abs(two - one) <= latput.columns.tolerance * two;
    // Returns the latency to the result: "1.00 – 5.00", the least and the most of its pairs, each
    // from the beginning to the end of its range; "10.00 / 13.00" for fast and slow data.
    function latency(cpu, form) {
        const { table } = cpu,
            number = (name) => table.number(`result_latency_${name}`, form),
            bound = (name) => table.text(`result_latency_${name}`, form);
        if (number("clk") === null) return rename(cpu, form);
        const value = (clks, of) => {
            const known = bound(of);
            return marked(clk(clks), known === "upper", known === "average" ? "~" : null);
        };
        const range = (least, most, slow) => {
            const one = value(least, `${slow}bound`);
            return near(least, most) ? one : `${one} – ${value(most, `${slow}max_bound`)}`;
        };
        const fast = range(number("clk"), number("max_most_clk") ?? number("max_clk"), ""),
            slow = number("slow_clk");
        return slow === null ||
            (near(number("clk"), slow) && near(number("max_clk"), number("slow_max_clk")))
            ? fast
            : `${fast} / ${range(slow, number("slow_max_clk"), "slow_")}`;
    }
    function throughput(cpu, form) {
        const { table } = cpu,
            fast = table.number("rthroughput_clk", form),
            slow = table.number("rthroughput_slow_clk", form);
        const value = (clks, bound) => marked(clk(clks), table.text(bound, form) === "upper", null),
            one = value(fast, "rthroughput_fast_bound"),
            two = value(slow, "rthroughput_slow_bound");
        return one && two && !near(fast, slow) ? `${one} / ${two}` : one;
    }
    const uopsUpper = ({ table }, form) => table.text("uops_bound", form) === "upper";
    function uops(cpu, form) {
        return marked(String(cpu.table.number("uops", form) ?? ""), uopsUpper(cpu, form), null);
    }
    const rename = ({ table }, form) => table.text("at_rename", form) ?? "";
    // Names the ports, and what is done at rename instead.
    function ports(cpu, form) {
        const text = cpu.table.text("ports", form);
        return [text === "" ? "none" : text, rename(cpu, form)].filter(Boolean).join(", ");
    }
    // Columns of a table of others (site --beside), and ours with theirs: "3.00 (3.12)".
    const their = latput.columns.columns.filter(({ name }) => name.startsWith("their_"));
    function theirs({ table }, { name, type, bound }, form) {
        if (type !== "clk") return table.text(name, form) ?? "";
        const upper = bound !== null && table.text(bound, form) === "upper";
        return marked(clk(table.number(name, form)), upper, null);
    }
    function withTheirs(ours, name) {
        const column = their.find((one) => one.name === name);
        if (!column) return ours;
        return (cpu, form) => {
            const text = ours(cpu, form),
                second = theirs(cpu, column, form);
            return text && second ? `${text} (${second})` : text;
        };
    }
    const metricText = {
        lat: withTheirs(latency, "their_latency_clk"),
        tp: withTheirs(throughput, "their_rthroughput_clk"),
        uops,
        ports: withTheirs(ports, "their_ports"),
    };
    // Returns the reason for a missing value.
    function missing(cpu, form, metric) {
        if (!cpu.table.has(form)) return ["", "not measured on this CPU"];
        const outcome = cpu.table.text("outcome", form),
            tests = cpu.table.text("tests", form) ?? "";
        const asked = tests.includes({ lat: "L", tp: "T", uops: "P", ports: "P" }[metric]);
        if (!asked && outcome !== "unsupported") return ["", "not asked in any run"];
        if (metric === "uops" || metric === "ports") {
            const note = cpu.table.text("note", form) ?? "",
                why = /no ports, ([^;]*)/.exec(note)?.[1];
            return [metric === "ports" && why ? why : "", note || outcome];
        }
        // Once per form and CPU is enough.
        const word = metric === "tp" && state.metrics.has("lat") ? "–" : outcome.replace("_", " ");
        return outcome === "ok" ? ["–", "has none"] : [word, outcome];
    }

    // --- differences: as `latput diff` finds them ---

    const columnsOf = (test) => latput.columns.columns.filter(test);
    const compared = {
        lat: columnsOf(({ differs, asked }) => differs === "size" && asked === "L"),
        tp: columnsOf(({ differs, asked }) => differs === "size" && asked === "T"),
        uops: columnsOf(({ differs }) => differs === "known"),
        ports: columnsOf(({ differs }) => differs === "family"),
    };
    // Returns -1 for less than on the first CPU, 1 for more, 2 for both or no longer a number; 0
    // for the same.
    function difference(base, cpu, form, metric) {
        if (cpu === base || !base.table.has(form) || !cpu.table.has(form)) return 0;
        let sign = 0;
        for (const column of compared[metric]) {
            if (!rules.value(column, base.table, cpu.table, form)) continue;
            const [a, b] = [base, cpu].map(({ table }) =>
                column.type === "text" ? Infinity : table.number(column.name, form),
            );
            if (a === null || b === null) continue;
            const way = b < a ? -1 : a < b ? 1 : 2;
            sign = sign === 0 || sign === way ? way : 2;
        }
        return sign;
    }
    // Returns true if the forms differ, also if only one of the CPUs has it.
    function differs(base, cpu, form) {
        const outcome = (c) => c.table.text("outcome", form);
        if (!base.table.has(form) || !cpu.table.has(form)) return false;
        return (
            [...state.metrics].some((metric) => difference(base, cpu, form, metric) !== 0) ||
            (outcome(base) === "unsupported") !== (outcome(cpu) === "unsupported")
        );
    }

    // --- columns ---

    function makeColumns() {
        columns = [
            {
                id: "form",
                label: "Instruction",
                kind: "form",
                text: (form) => model.forms.name(form),
            },
        ];
        for (const fact of Object.keys(view.facts))
            if (state.facts.has(fact))
                columns.push({
                    id: fact,
                    label: view.facts[fact],
                    kind: "fact",
                    text: (form) => model.forms.text(fact, form),
                });
        for (const cpu of view.shown())
            for (const metric of Object.keys(view.metrics))
                if (state.metrics.has(metric))
                    columns.push({
                        id: `${metric}.${cpu.key}`,
                        label: view.short[metric] ?? view.metrics[metric],
                        kind: metric,
                        cpu,
                        metric,
                    });
    }

    function header(column) {
        const sorted = state.sort === column.id;
        const arrow = sorted ? (state.down ? " ↓" : " ↑") : "";
        return h(
            "th",
            {
                scope: "col",
                class: column.kind,
                "aria-sort": sorted ? (state.down ? "descending" : "ascending") : null,
            },
            h("button", { type: "button", onclick: () => sortBy(column.id) }, column.label + arrow),
        );
    }
    function sortBy(id) {
        const down = state.sort === id && !state.down;
        view.change(
            state.sort === id && state.down ? { sort: "", down: false } : { sort: id, down },
        );
    }

    function build() {
        const cpus = view.shown(),
            own = columns.filter((column) => !column.cpu);
        const each = state.metrics.size;
        const group =
            each > 0 && cpus.length > 0
                ? h(
                      "tr",
                      {},
                      own.map((column) => h("td", { class: column.kind })),
                      cpus.map((cpu) =>
                          h("th", {
                              scope: "colgroup",
                              class: "cpu",
                              title: doubtful(cpu) || cpu.key,
                              "data-cpu": cpu.key,
                          }),
                      ),
                  )
                : null;
        const head = h("thead", {}, group, h("tr", {}, columns.map(header)));
        above = h(
            "tr",
            { class: "space", "aria-hidden": true },
            h("td", { colspan: columns.length }),
        );
        below = above.cloneNode(true);
        body = h("tbody", {}, above, below);
        pool = [];
        first = -1;
        table.replaceChildren(
            h(
                "caption",
                { class: "hidden" },
                "Instructions, with what was measured of each on the CPUs chosen",
            ),
            h(
                "colgroup",
                {},
                columns.map((column) => h("col", { class: column.kind })),
            ),
            head,
            body,
        );
        fit();
    }
    // Widths of columns in rem, at least. Names are shorter on a phone and beside an open panel.
    const phone = matchMedia("(max-width: 45rem)");
    const widths = { form: 17, fact: 9, lat: 6.5, tp: 5.5, uops: 3.8, ports: 10 };
    const numbers = ["lat", "tp", "uops"];
    // Numbers of fast and slow data stand in two lines of small type where one would be long: they
    // would take the room of the next CPU.
    const LONG = 13, // letters
        SMALL = 0.8; // of the size of type; style.css has the same
    function linesOf(text) {
        const at = text.length > LONG ? text.indexOf(" / ") : -1;
        return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
    }
    // Returns about how wide a text is, in half digits.
    function weight(text) {
        let sum = 0;
        for (const letter of text)
            sum += letter === "." || letter === " " ? 1 : letter >= "0" && letter <= "9" ? 2 : 2.5;
        return sum;
    }
    const widthOf = (text, widthOfLine) => {
        const lines = linesOf(text);
        return Math.max(...lines.map(widthOfLine)) * (lines.length > 1 ? SMALL : 1);
    };
    // The columns of a CPU that a text follows from, by the beginnings of their names.
    const FOLLOWS = {
        lat: ["result_latency_", "their_latency"],
        tp: ["rthroughput_", "their_rthroughput"],
        uops: ["uops"],
        ports: ["ports", "their_ports", "note"],
    };
    // Returns forms among which each text of a column is: that of one CPU, or a fact.
    function formsOfTexts({ id, kind, cpu }) {
        if (cpu) {
            const begins = [...FOLLOWS[kind], "at_rename", "outcome", "tests"];
            return cpu.table.kinds(
                latput.columns.columns
                    .map(({ name }) => name)
                    .filter((name) => begins.some((begin) => name.startsWith(begin)))
                    .filter((name) => !/_spread_clk$|_run_id$/.test(name)),
            );
        }
        const of = model.forms[id];
        return new Map(Array.from(of, (text, form) => [text, form])).values();
    }
    // Returns the longest name.
    function longestName() {
        const { forms } = model,
            lengths = forms.texts.map((text) => text.length);
        let most = -1,
            longest = 0;
        for (let form = 0; form < forms.count; form++) {
            const own = lengths[forms.mnemonic[form]] + lengths[forms.operands[form]];
            if (own > most) [most, longest] = [own, form];
        }
        return forms.name(longest);
    }
    // Returns a column's widest number and widest text without one, such as a reason: letters
    // differ more in width than weight() knows.
    const widest = new Map();
    function widestOf(column) {
        const { id, kind, cpu, metric, text } = column;
        // A reason stands at the first of two columns.
        const key = `${id} ${metric === "tp" && state.metrics.has("lat")}`;
        if (kind === "form" && !widest.has(key)) widest.set(key, [longestName(), ""]);
        if (!widest.has(key)) {
            const all = cpu
                ? (form) => metricText[kind](cpu, form) || missing(cpu, form, metric)[0]
                : text;
            const most = [-1, -1],
                found = ["", ""];
            for (const form of formsOfTexts(column)) {
                const one = all(form),
                    own = numbers.includes(kind) ? widthOf(one, weight) : one.length,
                    which = /\d/.test(one) ? 0 : 1;
                if (own > most[which]) [most[which], found[which]] = [own, one];
            }
            widest.set(key, found);
        }
        return widest.get(key);
    }
    // Returns how many rem a column uses: of numbers exactly, of others by half a rem a letter.
    const canvas = document.createElement("canvas").getContext("2d");
    function used(column) {
        const mark = column.cpu && state.diff ? " ▲" : "",
            texts = widestOf(column).map((text) => text + mark),
            padding = phone.matches ? 0.8 : 1.1;
        if (!numbers.includes(column.kind))
            return Math.min(Math.max(...texts.map((text) => text.length)), 64) * 0.53 + padding;
        const style = getComputedStyle(table);
        canvas.font = `${style.fontSize} ${style.fontFamily}`;
        const drawn = (line) => canvas.measureText(line).width;
        return Math.max(...texts.map((text) => widthOf(text, drawn))) / remOf() + padding;
    }
    const remOf = () => parseFloat(getComputedStyle(document.documentElement).fontSize);
    const beside = () => !phone.matches && document.body.classList.contains("with-panel");
    // Returns the least width of a column: numbers and reasons are never cut, names and ports may
    // be.
    function leastOf(column) {
        if (column.kind === "form") return phone.matches ? 10.5 : beside() ? 12 : widths.form;
        const own = numbers.includes(column.kind) ? used(column) : 0;
        return Math.max(widths[column.kind], own);
    }
    const sum = (values) => values.reduce((a, b) => a + b, 0);
    // The panel has these, too: the table leaves them out beside it, in this order, until all CPUs
    // are in sight.
    const LEFT_OUT = ["fact", "ports", "uops", "tp"];
    function leaveOut(room) {
        const out = [];
        const kept = () => columns.filter(({ kind }) => !out.includes(kind));
        if (beside())
            for (const kind of LEFT_OUT)
                if (
                    sum(kept().map(leastOf)) > room &&
                    (kind === "fact" || kept().some((one) => one.cpu && one.kind !== kind))
                )
                    out.push(kind);
        return out;
    }
    // Gives columns the room that there is. What is too wide can be scrolled to, which a shadow
    // shows.
    function fit() {
        const room = scroller.clientWidth / remOf(),
            out = leaveOut(room),
            least = columns.map((column) => (out.includes(column.kind) ? 0 : leastOf(column)));
        const spare = Math.max(0, room - sum(least)),
            wishes = columns.map((column, i) =>
                least[i] > 0 && !phone.matches ? Math.max(0, used(column) - least[i]) : 0,
            );
        const share = Math.min(1, spare / Math.max(1, sum(wishes)));
        const cols = table.querySelectorAll("col"),
            own = least.map((width, i) => width + wishes[i] * share);
        own.forEach((width, i) => (cols[i].style.width = `${width}rem`));
        for (const kind of LEFT_OUT) table.classList.toggle(`no-${kind}`, out.includes(kind));
        nameCpus(out);
        table.style.width = `${sum(own)}rem`;
        letters = 0;
        shade();
    }
    // Names the CPUs above their columns, shortly where there is little room.
    function nameCpus(out) {
        const each = [...state.metrics].filter((metric) => !out.includes(metric)).length,
            short = each < 2 || each < state.metrics.size,
            cpus = view.shown();
        table.querySelectorAll("thead .cpu").forEach((cell, i) => {
            cell.colSpan = each;
            cell.replaceChildren(
                short ? cpus[i].short : cpus[i].name,
                short ? "" : h("span", { class: "doubt" }, `, ${cpus[i].date}`),
            );
        });
    }
    function shade() {
        const hidden = scroller.scrollWidth - scroller.clientWidth - scroller.scrollLeft;
        scroller.parentElement.classList.toggle("more", hidden > 1);
    }
    const doubtful = (cpu) =>
        cpu.runs[0]?.decided === "inferred"
            ? `The CPU claims to be a ${cpu.runs[0].claimed_uarch}`
            : "";

    // --- rows ---

    function makeRow() {
        const words = [h("span"), h("span")]; // the mnemonic, and its operands
        const onclick = (event) => follow(event, Number(event.target.closest("tr").dataset.form));
        const link = h("a", { onclick }, words);
        const option = h("span", { class: "option" });
        const cells = columns.map((column) =>
            column.kind === "form"
                ? h("th", { scope: "row", class: "form" }, link, option)
                : h("td", { class: column.kind }),
        );
        const row = h("tr", {}, cells);
        row.addEventListener("click", (event) => {
            if (!event.target.closest("a") && !getSelection().toString())
                open(Number(row.dataset.form));
        });
        return { row, link, words, option, cells };
    }
    function follow(event, form) {
        // With one of these keys the browser opens the link in another tab or window.
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        open(form);
    }
    function open(form) {
        current = rows.indexOf(form);
        view.change({ form: model.forms.id(form) }, true);
        draw(true);
    }

    // The content of an element is kept beside it: reading the element takes longer than most
    // changes.
    const set = (cell, text, title, kind) => {
        const was = (cell.shown ??= { text: "", title: "", kind: cell.className });
        if (was.text !== text) cell.textContent = was.text = text;
        if (was.title !== title) cell.title = was.title = title;
        if (was.kind !== kind) cell.className = was.kind = kind;
    };
    const arrows = { "-1": " ▼", 1: " ▲", 2: " ≠" };
    function fillCell(cell, column, form, base) {
        if (!column.cpu) {
            const text = column.text(form);
            return set(cell, text, text, column.kind);
        }
        let text = metricText[column.kind](column.cpu, form),
            title = "";
        // The ports say it, if they are shown.
        if (column.kind === "lat" && text !== "" && !state.metrics.has("ports"))
            text = [...new Set([text, rename(column.cpu, form)])].filter(Boolean).join(" ");
        if (text === "") {
            [text, title] = missing(column.cpu, form, column.metric);
            return set(cell, text, title, `${column.kind} none`);
        }
        const change = base ? difference(base, column.cpu, form, column.metric) : 0;
        title = change
            ? `${text}, ${{ "-1": "less than", 1: "more than", 2: "unlike" }[change]} on ${base.name}`
            : text;
        text += arrows[change] ?? "";
        const lines = numbers.includes(column.kind) ? linesOf(text) : [text];
        set(
            cell,
            lines.join("\n"),
            title,
            column.kind +
                (lines.length > 1 ? " two" : "") +
                (change ? { "-1": " less", 1: " more", 2: " unlike" }[change] : ""),
        );
    }
    // Returns how many letters one line of a name's cell has room for.
    function lettersOf(cell) {
        const style = getComputedStyle(cell),
            padding = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
        canvas.font = `${style.fontSize} ${style.fontFamily}`;
        return Math.floor((cell.clientWidth - padding) / canvas.measureText("0").width);
    }
    // A name that is too long for its column stands in two lines of small type.
    function fillName(item, form) {
        const { forms } = model,
            name = forms.name(form),
            operands = forms.text("operands", form),
            options = forms.text("options", form),
            whole = options ? `${name} ${options}` : name,
            end = name.length - (operands ? operands.length + 1 : 0);
        item.form = form;
        item.letters = letters;
        item.row.dataset.form = form;
        item.link.title = whole;
        item.link.href = `?form=${encodeURIComponent(forms.id(form))}`;
        set(item.words[0], name.slice(0, end), "", "");
        set(item.words[1], name.slice(end), "", "");
        set(item.option, options ? ` ${options}` : "", "", "option");
        item.cells[0].className = whole.length > letters ? "form two" : "form";
    }
    function fillRow(item, at, base) {
        const form = rows[at];
        if (item.form !== form || item.letters !== letters) fillName(item, form);
        if (item.at !== at) item.row.setAttribute("aria-rowindex", (item.at = at) + 2);
        item.row.className = at === current ? "current" : at % 2 ? "odd" : "";
        if (at === current) item.row.setAttribute("aria-current", "true");
        else item.row.removeAttribute("aria-current");
        columns.forEach(
            (column, i) => column.kind === "form" || fillCell(item.cells[i], column, form, base),
        );
    }

    function draw(force) {
        const start = Math.max(
            0,
            Math.min(Math.floor(scroller.scrollTop / ROW) - SPARE, rows.length - 1),
        );
        const end = Math.min(
            rows.length,
            start + Math.ceil(scroller.clientHeight / ROW) + 2 * SPARE,
        );
        if (start === first && !force && pool.length === end - start && letters > 0) return;
        first = start;
        while (pool.length < end - start) {
            const item = makeRow();
            pool.push(item);
            below.before(item.row);
        }
        while (pool.length > end - start) pool.pop().row.remove();
        if (letters === 0 && pool.length > 0) letters = lettersOf(pool[0].cells[0]);
        const base = state.diff && view.shown().length > 1 ? view.shown()[0] : null;
        pool.forEach((item, i) => fillRow(item, start + i, base));
        above.firstChild.style.height = `${start * ROW}px`;
        below.firstChild.style.height = `${(rows.length - end) * ROW}px`;
        above.hidden = start === 0;
        below.hidden = end === rows.length;
    }

    // --- which rows, in which order ---

    function sortKey() {
        const [name, ...rest] = state.sort.split("."),
            cpu = view.shown().find((one) => one.key === rest.join("."));
        if (cpu && name === "ports") return (form) => ports(cpu, form) || null;
        if (cpu)
            return (form) =>
                cpu.table.number(
                    { lat: "result_latency_max_clk", tp: "rthroughput_clk", uops: "uops" }[name],
                    form,
                );
        return Object.hasOwn(view.facts, name) ? (form) => model.forms.text(name, form) : null;
    }
    // Sorts exact matches of a search before partial ones: imul before fimul.
    function ranked(list) {
        const { rank, RANKS } = latput.search,
            of = rank(state.search);
        if (!of) return list;
        const groups = Array.from({ length: RANKS }, () => []);
        for (const form of list) groups[of(form)].push(form);
        return groups.flat();
    }
    function sorted(list) {
        const key = sortKey(),
            sign = state.down ? -1 : 1;
        if (!key && state.sort !== "form") return ranked(list);
        if (!key) return state.down ? list.reverse() : list;
        const keys = new Map(list.map((form) => [form, key(form)]));
        return list.sort((a, b) => {
            const one = keys.get(a),
                two = keys.get(b);
            // Forms without a value come last.
            if (one === null || two === null) return (one === null) - (two === null);
            return sign * (one < two ? -1 : one > two ? 1 : 0);
        });
    }
    const lacks = ({ table }, form) =>
        !table.has(form) || table.text("outcome", form) === "unsupported";
    // The state of each form on the CPUs shown: a search finds known ones unasked. It is kept from
    // letter to letter.
    const [UNKNOWN, KNOWN, ABSENT, BITS32] = [0, 1, 2, 3];
    let kinds = { cpus: [], of: null };
    function kindsOn(cpus) {
        if (
            kinds.of &&
            cpus.length === kinds.cpus.length &&
            cpus.every((cpu, i) => cpu === kinds.cpus[i])
        )
            return kinds.of;
        const of = new Uint8Array(model.forms.count);
        for (let form = 0; form < of.length; form++)
            if (cpus.some(({ table }) => table.has(form)))
                of[form] =
                    model.forms.bits[form] === 32
                        ? BITS32
                        : cpus.every((cpu) => lacks(cpu, form))
                          ? ABSENT
                          : KNOWN;
        kinds = { cpus, of };
        return of;
    }
    function select() {
        const cpus = view.shown(),
            matches = latput.search.parse(state.search, cpus);
        const asked = Object.fromEntries(
            Object.entries(latput.search.asks).map(([name, asks]) => [
                name,
                state[name] || asks(state.search),
            ]),
        );
        const grouped =
            state.groups.size < Object.keys(view.groups).length
                ? latput.search.groupTest(state.groups)
                : null;
        const list = [],
            hidden = [0, 0, 0, 0],
            shown = [false, true, asked.absent, asked.bits32],
            of = kindsOn(cpus);
        for (let form = 0; form < of.length; form++)
            if (
                of[form] !== UNKNOWN &&
                (!grouped || grouped(form)) &&
                matches(form) &&
                (!state.only || cpus.some((cpu) => differs(cpus[0], cpu, form)))
            ) {
                if (shown[of[form]]) list.push(form);
                else hidden[of[form]]++;
            }
        rows = Int32Array.from(sorted(list));
        table.setAttribute("aria-rowcount", rows.length + 2);
        tell(hidden[ABSENT], hidden[BITS32]);
    }
    function tell(absent, bits32) {
        const byId = (id) => document.getElementById(id),
            number = (n) => n.toLocaleString("en");
        const n = absent + bits32;
        byId("nothing").hidden = rows.length > 0;
        const near = rows.length > 0 ? null : latput.search.suggest(state.search);
        byId("suggested").hidden = near === null;
        byId("suggested").textContent = `Search ${near} instead`;
        byId("suggested").onclick = () => view.change({ search: near });
        byId("count").textContent = `${number(rows.length)} of ${number(model.forms.count)} forms`;
        byId("hidden").hidden = n === 0;
        byId("hidden").textContent = `Show ${number(n)} hidden`;
        byId("hidden").title =
            `${number(absent)} that no CPU shown has, ${number(bits32)} of 32-bit mode`;
    }

    function update(rebuild) {
        if (rebuild) {
            makeColumns();
            build();
        }
        const form = current >= 0 ? rows[current] : latput.panel.formNamed(state.form);
        select();
        const was = current;
        current = form >= 0 ? rows.indexOf(form) : -1;
        if (!rebuild) scroller.scrollTop = 0;
        if (was < 0 && current >= 0) {
            if (first < 0) draw(true); // before that the table is not as high as it will be
            scroller.scrollTop = current * ROW - scroller.clientHeight / 2;
        }
        draw(true);
    }

    // --- keyboard: the scroller has the focus, one row is the current one ---

    // Scrolls as little as brings the current row in sight.
    function inSight() {
        const head = table.tHead.offsetHeight,
            top = current * ROW;
        if (top < scroller.scrollTop) scroller.scrollTop = top;
        else if (top + ROW > scroller.scrollTop + scroller.clientHeight - head)
            scroller.scrollTop = top + ROW - scroller.clientHeight + head;
    }
    function move(to) {
        current = Math.max(0, Math.min(rows.length - 1, to));
        inSight();
        draw(true);
        if (state.form && rows.length > 0) view.change({ form: model.forms.id(rows[current]) });
    }
    scroller.addEventListener("keydown", (event) => {
        const page = Math.max(1, Math.floor(scroller.clientHeight / ROW) - 2);
        const to = {
            ArrowDown: current + 1,
            ArrowUp: current - 1,
            PageDown: current + page,
            PageUp: current - page,
            Home: 0,
            End: rows.length - 1,
        }[event.key];
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if (to !== undefined) {
            event.preventDefault();
            move(to);
        } else if (event.key === "Enter" && event.target === scroller && current >= 0) {
            open(rows[current]);
        }
    });
    let asked = false;
    scroller.addEventListener("scroll", () => {
        if (asked) return;
        asked = true;
        requestAnimationFrame(() => {
            asked = false;
            draw(false);
            shade();
        });
    });
    new ResizeObserver(() => {
        if (!table.tHead) return;
        fit();
        draw(false);
    }).observe(scroller);

    // --- what is shown, as a file ---

    function cellsOf(form) {
        const object = { instruction: model.forms.name(form) };
        const put = (name, value) => {
            object[name] = value;
        };
        for (const fact of ["enc", "isa", "bits", "options", "list"])
            put(fact, fact === "bits" ? model.forms.bits[form] : model.forms.text(fact, form));
        const value = (cpu, column) =>
            cpu.table.number(column, form) === null ? null : cpu.table.number(column, form) / 1000;
        for (const cpu of view.shown()) {
            const { table } = cpu,
                name = (what) => `${cpu.key} ${what}`;
            if (state.metrics.has("lat")) {
                put(name("latency_min_clk"), value(cpu, "latency_min_clk"));
                put(name("latency_max_clk"), value(cpu, "latency_max_clk"));
                put(name("latency_bound"), table.text("latency_bound", form));
                put(name("latency_max_bound"), table.text("latency_max_bound", form));
                for (const { name: of, type } of latput.columns.columns)
                    if (of.startsWith("result_"))
                        put(name(of), type === "clk" ? value(cpu, of) : table.text(of, form));
            }
            if (state.metrics.has("tp"))
                put(name("rthroughput_clk"), value(cpu, "rthroughput_clk"));
            if (state.metrics.has("uops")) put(name("uops"), table.number("uops", form));
            if (state.metrics.has("ports")) put(name("ports"), table.text("ports", form));
            put(name("at_rename"), table.text("at_rename", form));
            put(name("outcome"), table.text("outcome", form));
            for (const { name: of, type } of their)
                put(name(of), type === "clk" ? value(cpu, of) : table.text(of, form));
        }
        return object;
    }
    // Quotes a text that spreadsheets would take for a formula.
    function csvCell(value) {
        let text = value === null ? "" : String(value);
        if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
        return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    }
    function csv() {
        const objects = [...rows].map(cellsOf);
        const names = objects.length > 0 ? Object.keys(objects[0]) : [];
        return [names, ...objects.map((object) => names.map((name) => object[name]))]
            .map((line) => line.map(csvCell).join(",") + "\n")
            .join("");
    }
    const json = () => JSON.stringify([...rows].map(cellsOf), null, 1) + "\n";

    latput.table = {
        update,
        csv,
        json,
        latency,
        throughput,
        uops,
        ports,
        difference,
        rename,
        focus: () => scroller.focus(),
        // From the search: the first row is the current one.
        enter: () => {
            scroller.focus();
            move(0);
        },
    };
})();
