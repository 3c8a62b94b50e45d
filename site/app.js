// SPDX-License-Identifier: MIT
// The controls of the page, and which part of it is shown.
"use strict";
(() => {
    const { model, view, h, table } = latput;
    const { state } = view;
    const byId = (id) => document.getElementById(id);
    const search = byId("search");

    // --- controls ---

    function box(label, checked, change, title) {
        return h(
            "label",
            { class: "box", title },
            h("input", {
                type: "checkbox",
                checked,
                onchange: (event) => change(event.target.checked),
            }),
            ` ${label}`,
        );
    }
    const toggled = (set, name, on) => {
        const copy = new Set(set);
        if (on) copy.add(name);
        else copy.delete(name);
        return copy;
    };
    const fieldset = (id, ...content) =>
        byId(id).replaceChildren(byId(id).querySelector("legend"), ...content);

    function cpuTitle(cpu) {
        const run = cpu.runs[0] ?? {};
        return `${cpu.key}: ${run.uarch_name ?? ""}, ${run.brand ?? ""}, ${cpu.date}${run.decided === "inferred" ? `; claims to be ${run.claimed_uarch}` : ""}`;
    }
    function controls() {
        fieldset(
            "cpus",
            ...model.cpus
                .filter((cpu) => cpu.forms > 0)
                .map((cpu) =>
                    box(
                        cpu.name,
                        state.cpus.includes(cpu),
                        (on) => chooseCpu(cpu, on),
                        cpuTitle(cpu),
                    ),
                ),
        );
        fieldset(
            "columns",
            ...["metrics", "facts"].flatMap((kind) =>
                Object.entries(view[kind]).map(([name, label]) =>
                    box(label, state[kind].has(name), (on) =>
                        view.change({ [kind]: toggled(state[kind], name, on) }),
                    ),
                ),
            ),
        );
        fieldset(
            "groups",
            ...Object.entries(view.groups).map(([name, label]) =>
                box(label, state.groups.has(name), (on) =>
                    view.change({ groups: toggled(state.groups, name, on) }),
                ),
            ),
        );
        const one = view.shown().length < 2;
        const first = view.shown()[0]?.name ?? "";
        fieldset(
            "compare",
            box("mark them", state.diff, (on) => view.change({ diff: on }), `against ${first}`),
            box("only forms that differ", state.only, (on) =>
                view.change({ only: on, diff: on || state.diff }),
            ),
            h("span", { class: "hint" }, one ? "of two CPUs or more" : `from ${first}`),
        );
        fieldset(
            "also",
            box("what no CPU shown has", state.absent, (on) => view.change({ absent: on })),
            box("32-bit mode", state.bits32, (on) => view.change({ bits32: on })),
        );
        for (const input of byId("compare").querySelectorAll("input")) input.disabled = one;
        if (document.activeElement !== search) search.value = state.search;
    }
    async function chooseCpu(cpu, on) {
        if (on) await latput.loadCpu(cpu);
        view.change({ cpus: on ? [...state.cpus, cpu] : state.cpus.filter((one) => one !== cpu) });
    }

    // The choices are in sight at the first look at the page. They are folded when the search or
    // the table is used, and from then on as the reader left them, at later visits, too.
    const choices = byId("choices"),
        KEPT = "latput choices";
    let first = false;
    function kept(value) {
        // A browser may keep nothing, and says so by an error.
        try {
            if (value) localStorage.setItem(KEPT, value);
            return localStorage.getItem(KEPT);
        } catch {
            return null;
        }
    }
    function beginChoices() {
        const narrow = matchMedia("(max-width: 60rem)").matches;
        first = !narrow && kept() === null && !state.search && !state.form;
        choices.open = first || (!narrow && kept() === "open");
        choices.querySelector("summary").addEventListener("click", () => {
            first = false;
            kept(choices.open ? "folded" : "open"); // what the click makes of it
        });
        byId("scroller").addEventListener("scroll", foldChoices);
    }
    function foldChoices() {
        const scroller = byId("scroller");
        if (!first || (scroller.scrollTop === 0 && !state.search)) return;
        first = false;
        kept("folded");
        const top = scroller.offsetTop;
        choices.open = false;
        // The rows stay where they are if there is something above them.
        scroller.scrollTop -= top - scroller.offsetTop;
    }

    function save(name, type, text) {
        const link = h("a", {
            href: URL.createObjectURL(new Blob([text], { type })),
            download: name,
        });
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    }
    function downloads() {
        byId("downloads").replaceChildren(
            h(
                "button",
                { type: "button", onclick: () => save("latput.csv", "text/csv", table.csv()) },
                "Save as CSV",
            ),
            h(
                "button",
                {
                    type: "button",
                    onclick: () => save("latput.json", "application/json", table.json()),
                },
                "Save as JSON",
            ),
            model.index.database
                ? h(
                      "a",
                      { href: model.index.database, download: true, class: "button" },
                      "Database (SQLite)",
                  )
                : "",
        );
    }

    // --- parts ---

    const partLink = (name, label) =>
        h(
            "a",
            {
                href: `?view=${name}`,
                "aria-current": state.view === name ? "page" : null,
                onclick: (event) => {
                    event.preventDefault();
                    view.change({ view: name, form: "" }, true);
                },
            },
            // A phone has room for the first word only.
            /^\S+/.exec(label)[0],
            h("span", { class: "rest" }, label.replace(/^\S+/, "")),
        );
    function navigation() {
        const parts = Object.entries(view.views).filter(
            ([name]) =>
                (name !== "properties" || model.index.properties > 0) &&
                (name !== "compare" || model.cpus.filter((cpu) => cpu.forms > 0).length > 1),
        );
        byId("views").replaceChildren(...parts.map(([name, label]) => partLink(name, label)));
        const current = document.querySelector("#views [aria-current]");
        current?.scrollIntoView({ block: "nearest", inline: "nearest" });
    }

    let shows = 0;
    async function show(changes) {
        const own = ++shows;
        const is = state.view === "table";
        // The letters of a search have to be quick.
        if (is && changes && Object.keys(changes).every((key) => key === "search")) {
            table.update(false);
            return;
        }
        if (changes === null) await Promise.all(view.shown().map(latput.loadCpu));
        if (own !== shows) return; // something else was asked for meanwhile
        byId("view-table").hidden = byId("controls").hidden = byId("about").hidden = !is;
        byId("view-page").hidden = is;
        navigation();
        const only = changes && Object.keys(changes).every((key) => key === "form");
        if (is && !only) {
            controls();
            table.update(
                changes === null ||
                    ["cpus", "metrics", "facts", "sort", "diff", "view"].some(
                        (key) => key in changes,
                    ),
            );
        } else if (!is && !only) {
            await latput.pages.show(byId("view-page"), state.view);
        }
        await latput.panel.show();
    }
    view.onChange((changes) => show(changes).catch(complain));

    // --- help ---

    const keys = [
        ["/", "to the search"],
        ["↓ ↑ PgDn PgUp Home End", "through the table, when it has the focus"],
        ["↓ in the search", "to the first row found"],
        ["Enter", "details of the current form"],
        ["Esc", "closes the details; empties the search"],
        ["?", "this help"],
    ];
    const words = [
        [
            "vpermd y",
            "a mnemonic and a class of operands: r64 m256 x y z k i8 …, in their order; m is any memory",
        ],
        ["{k}  {1to16}", "operands with this decoration"],
        [
            "add rax, [rbx]  addl %eax, %ebx  48 0f af c3",
            "the forms that code or bytes are, as latput query says",
        ],
        ["vp*d", "a pattern of the whole mnemonic"],
        ["jne  jcc  shuffle  _mm_add_ps", "other names, kinds of work, intrinsics"],
        [
            "avx2  crypto",
            "part of a mnemonic, an extension or a list; isa:avx2 list:crypto enc:evex say which",
        ],
        ["lat>5 tp<=0.5 uops=2", "on any of the CPUs shown"],
        ["ports:p5 outcome:unstable rename:idiom", "what they contain"],
        [
            "change:faster doubt:no",
            "on the second CPU shown against the first: faster slower mixed ports new gone kept outcome same",
        ],
        ["-m  -{k}", "without"],
    ];
    const marks = [
        ...latput.columns.marks,
        ["▼ ▲", "less, more than on the first CPU shown, by more than 2 %"],
    ];
    const meanings = latput.columns.columns
        .filter(({ heading }) => heading !== null)
        .map(({ heading, says }) => [heading, says]);
    function help() {
        const list = (items) =>
            h(
                "dl",
                {},
                items.map(([term, text]) => [h("dt", {}, term), h("dd", {}, text)]),
            );
        const dialog = byId("help");
        dialog.replaceChildren(
            h(
                "div",
                { class: "top" },
                h("h2", { id: "help-title", tabindex: -1, autofocus: true }, "Help"),
                h("button", { type: "button", onclick: () => dialog.close() }, "Close"),
            ),
            h("h3", {}, "Search"),
            list(words),
            h("h3", {}, "Marks"),
            list(marks),
            h("h3", {}, "Values"),
            list(meanings),
            h("h3", {}, "Keys"),
            list(keys),
            h(
                "p",
                {},
                `Made by latput ${model.index.version}. Latency: cycles from an operand read to one written, least to most over all pairs. 1/Throughput: cycles per instruction, of independent ones.`,
            ),
        );
        dialog.showModal();
        dialog.scrollTop = 0;
    }

    // --- begin ---

    function complain(error) {
        byId("count").textContent = error.message;
        throw error;
    }
    function events() {
        search.addEventListener("input", () => {
            view.change({ search: search.value });
            foldChoices();
            codeFor(search.value).catch(complain);
        });
        byId("controls").addEventListener("submit", (event) => event.preventDefault());
        byId("hidden").addEventListener("click", () => view.change({ absent: true, bits32: true }));
        byId("reset").addEventListener("click", () => {
            search.value = "";
            view.change({
                search: "",
                only: false,
                absent: false,
                groups: new Set(Object.keys(view.groups)),
            });
        });
        byId("help-open").addEventListener("click", help);
        search.addEventListener("keydown", (event) => {
            if (event.key === "ArrowDown") {
                event.preventDefault();
                table.enter();
            }
        });
        addEventListener("keydown", (event) => {
            const typing =
                event.target.matches("input, textarea, select") && event.target.type !== "checkbox";
            if (event.key === "/" && !typing) {
                event.preventDefault();
                search.focus();
            } else if (event.key === "?" && !typing) {
                help();
            } else if (event.key === "Escape" && !byId("help").open && state.form) {
                view.change({ form: "" }, true);
                table.focus();
            }
        });
    }

    // Loads what a search for bytes is compared with, and searches again.
    async function codeFor(text) {
        if (model.code || !latput.formCode.isBytes(text)) return;
        await latput.load("data/code.js");
        if (state.search === text) await show({ search: text });
    }

    // Says what this page is, of which CPUs and when they were measured.
    function about() {
        const measured = model.cpus.filter((cpu) => cpu.forms > 0),
            shown = measured.slice(0, 3);
        const names = shown.map((cpu) => `${cpu.name} (${cpu.date})`);
        if (measured.length > shown.length) names.push(`${measured.length - shown.length} more`);
        const last = names.pop() ?? "no CPU";
        byId("about").replaceChildren(
            "Latency, throughput and ports of x86 instructions, ",
            `${model.forms.count.toLocaleString("en")} forms, measured on `,
            names.length > 0 ? `${names.join(", ")} and ${last}` : last,
            ". ",
            partLink("cpus", "How, and on what"),
        );
    }

    async function begin() {
        byId("title").textContent = model.index.title;
        document.title = model.index.title;
        beginChoices();
        about();
        downloads();
        events();
        search.value = state.search;
        await Promise.all(view.shown().map(latput.loadCpu));
        if (state.search) await latput.load("data/words.js");
        await show(null);
        document.body.dataset.ready = "yes";
        performance.mark("latput-ready");
        await latput.load("data/words.js");
        latput.search.prepare();
        if (state.search) await show(null);
        await codeFor(state.search);
    }
    begin().catch(complain);
})();
