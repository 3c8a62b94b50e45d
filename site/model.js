// SPDX-License-Identifier: MIT
// The data files, as the rest of the page sees them. Every file in data/ passes its value, as JSON,
// to latput.put(KIND, TEXT); docs/SITE.md describes the values. Texts from them are foreign: they
// become text nodes and attributes, never markup.
"use strict";
const latput = {};
(() => {
    const model = { index: null, forms: null, cpus: [], properties: null, words: null, code: null };
    const early = []; // tables that came before the forms
    const loaded = new Map(); // file -> promise
    const details = new Map(); // "cpu/chunk" -> value

    // Loads a script of the page's own directory; resolves when it has run.
    function load(file) {
        if (!loaded.has(file))
            loaded.set(
                file,
                new Promise((resolve, reject) => {
                    const script = document.createElement("script");
                    script.src = file;
                    script.async = true;
                    script.onload = () => resolve();
                    script.onerror = () => {
                        loaded.delete(file);
                        reject(new Error(`${file} is missing beside this page`));
                    };
                    document.head.append(script);
                }),
            );
        return loaded.get(file);
    }

    const dataFile = (name) => `data/${encodeURIComponent(name)}.js`;

    // Adds what people call CPUs: `family` (Zen 5), `name` with the machine (Zen 5 · EPYC 9B45),
    // `short`, the family where no other CPU is of it, and `date`, that of the newest run that
    // has forms, or of the newest.
    function nameCpus(cpus) {
        for (const cpu of cpus) {
            const [run] = cpu.runs;
            const family = (run?.uarch_name || cpu.key).replace(/, inferred$| \(.*$/g, "");
            cpu.family = family + (cpu.key.split("@", 1)[0].endsWith("?") ? "?" : "");
            cpu.name = [cpu.family, cpu.machine].filter(Boolean).join(" · ");
            const withForms = cpu.runs.filter((run) => run.forms > 0),
                dates = (withForms.length > 0 ? withForms : cpu.runs).map((run) =>
                    (run.started_utc ?? "").slice(0, 10),
                );
            cpu.date = dates.sort().at(-1) ?? "";
        }
        const shared = (cpu, name) =>
            cpus.some((other) => other !== cpu && other[name] === cpu[name]);
        for (const cpu of cpus.filter((cpu) => shared(cpu, "name"))) cpu.unlike = cpu.key;
        for (const cpu of cpus) cpu.name = cpu.unlike ?? cpu.name;
        for (const cpu of cpus) cpu.short = shared(cpu, "family") ? cpu.name : cpu.family;
    }

    function putIndex(index) {
        model.index = index;
        model.cpus = index.cpus.map((cpu, at) => ({ ...cpu, at, table: null }));
        nameCpus(model.cpus);
        model.listTitles = new Map(index.lists);
        latput.view.begin(); // selects the shown CPUs, so that their files are requested now
        for (const cpu of latput.view.shown()) loadCpu(cpu);
    }

    // Returns a column of a data file as an array of numbers, NaN for null. [N] in it is N more of
    // the value before.
    function column(runs, count) {
        const values = new Float64Array(count);
        let at = 0,
            last = NaN;
        for (const one of runs)
            if (one !== null && typeof one === "object")
                values.fill(last, at, (at += one[0]));
            else values[at++] = last = one ?? NaN;
        return values;
    }

    function putForms(forms) {
        for (const name of Object.keys(forms))
            if (name !== "texts" && name !== "count")
                forms[name] = column(forms[name], forms.count);
        const text = (i) => forms.texts[i];
        const prefix = (i) =>
            forms.form[i] >= 0 && text(forms.form[i]).startsWith("{")
                ? `${text(forms.form[i]).split(" ", 1)[0]} `
                : "";
        forms.name = (i) =>
            prefix(i) +
            text(forms.mnemonic[i]) +
            (text(forms.operands[i]) ? " " + text(forms.operands[i]) : "");
        // Identity of a form in a link: as in the lists, with the encoding and the mode.
        forms.id = (i) => {
            const form = forms.form[i] < 0 ? forms.name(i) : text(forms.form[i]);
            return `${form} ${text(forms.enc[i])}${forms.bits[i]}`;
        };
        forms.text = (column, i) => text(forms[column][i]);
        model.forms = forms;
        for (const table of early.splice(0)) putCpu(table);
    }

    // Stores a CPU's table, with its rows by form: -1 if it has none.
    function putCpu(table) {
        if (!model.forms) {
            early.push(table);
            return;
        }
        const row = new Int32Array(model.forms.count).fill(-1),
            forms = column(table.step, table.rows); // of the rows
        for (let i = 0, form = 0; i < table.rows; i++) {
            forms[i] = form += forms[i];
            row[form] = i;
        }
        // A first view needs half of the columns.
        const columns = new Map();
        const columnOf = (name) => {
            if (!columns.has(name)) columns.set(name, column(table[name], table.rows));
            return columns.get(name);
        };
        const get = (name, form) => {
            const value = row[form] < 0 ? NaN : columnOf(name)[row[form]];
            return Number.isNaN(value) ? null : value;
        };
        // Returns a form of each kind: one that differs from the others in one of these columns.
        const kinds = (names) => {
            const of = names.map(columnOf),
                hashes = new Int32Array(table.rows),
                seen = new Map(), // a row by hash
                found = [];
            const same = (one, two) => of.every((values) => Object.is(values[one], values[two]));
            for (const values of of)
                for (let i = 0; i < hashes.length; i++)
                    hashes[i] = Math.imul(hashes[i] ^ values[i], 16777619); // as FNV-1
            for (let i = 0; i < hashes.length; i++) {
                const like = seen.get(hashes[i]);
                if (like !== undefined && same(like, i)) continue;
                seen.set(hashes[i], i);
                found.push(forms[i]);
            }
            return found;
        };
        model.cpus[table.cpu].table = {
            kinds,
            has: (form) => row[form] >= 0,
            family: model.cpus[table.cpu].ports_family,
            // Thousandths of a cycle, or whole numbers; null: none.
            number: get,
            text: (name, form) => {
                const i = get(name, form);
                return i === null || i < 0 ? null : table.texts[i];
            },
        };
    }

    function putDetail(value) {
        details.set(`${value.cpu}/${value.chunk}`, value);
    }

    function putProperties(value) {
        const rows = (view) =>
            view.rows.map((row) =>
                Object.fromEntries(
                    view.columns.map((name, i) => [
                        name,
                        Array.isArray(row[i]) ? value.texts[row[i][0]] : row[i],
                    ]),
                ),
            );
        model.properties = {
            table: rows(value.table),
            points: rows(value.points),
            sheets: value.sheets ?? [],
        };
    }

    latput.put = (kind, text) => {
        ({
            columns: (value) => (latput.columns = value),
            index: putIndex,
            forms: putForms,
            cpu: putCpu,
            detail: putDetail,
            properties: putProperties,
            code: (value) => (model.code = value),
            words: (value) =>
                (model.words = Object.fromEntries(
                    Object.entries(value).map(([name, of]) => [name, new Map(Object.entries(of))]),
                )),
        })[kind](JSON.parse(text));
    };

    // forms.js comes with the page; a CPU's file may be faster.
    function loadCpu(cpu) {
        cpu.loading ??= Promise.all([load("data/forms.js"), load(dataFile(cpu.file))]);
        return cpu.loading;
    }
    // The script element of the page counts as a request.
    loaded.set(
        "data/forms.js",
        new Promise((resolve) => {
            const put = latput.put;
            latput.put = (kind, text) => {
                put(kind, text);
                if (kind === "forms") {
                    latput.put = put;
                    resolve();
                }
            };
        }),
    );

    // Resolves to a form's details on a CPU: {pairs, overwritten, kernels, ports, trials}, each an
    // array of objects.
    async function detail(cpu, form) {
        const chunk = Math.floor(form / model.index.chunk),
            key = `${cpu.at}/${chunk}`;
        if (!details.has(key)) await load(dataFile(`${cpu.file}.${chunk}`));
        const value = details.get(key),
            rows = value.forms[form] ?? {};
        const result = {};
        for (const [part, columns] of Object.entries(value.columns))
            result[part] = (rows[part] ?? []).map((row) => {
                const object = {};
                columns.forEach(([name, cell], i) => {
                    object[name] =
                        row[i] === null ? null : cell === 0 ? value.texts[row[i]] : row[i];
                });
                if (row.length > columns.length)
                    object.code = row[columns.length].map((i) => value.texts[i]);
                if (row.length > columns.length + 1) object.passes = row[columns.length + 1];
                return object;
            });
        return result;
    }

    // --- numbers as people read them, from thousandths: as the tables of `latput query` ---
    function clk(thousandths) {
        if (thousandths === null || thousandths === undefined) return "";
        const value = thousandths / 1000,
            size = Math.abs(value);
        return value.toFixed(
            size > 0 && size < 0.0995 ? 3 : size < 99.995 ? 2 : size < 999.95 ? 1 : 0,
        );
    }
    const marked = (number, upper, mark) =>
        number === ""
            ? ""
            : (upper ? "≤" : "") +
              (mark?.includes("~") ? "~" : "") +
              number +
              (mark?.includes("*") ? "*" : "");

    // --- elements: texts are texts ---
    function h(tag, properties = {}, ...children) {
        const element = document.createElement(tag);
        for (const [name, value] of Object.entries(properties ?? {}))
            if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
            else if (name === "class") element.className = value;
            else if (value === true) element.setAttribute(name, "");
            else if (value !== false && value !== null && value !== undefined)
                element.setAttribute(name, value);
        element.append(
            ...children
                .flat(Infinity)
                .filter((child) => child !== null && child !== undefined && child !== ""),
        );
        return element;
    }
    function svg(tag, attributes = {}, ...children) {
        const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
        for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
        element.append(...children);
        return element;
    }

    Object.assign(latput, { model, load, loadCpu, detail, clk, marked, h, svg });
})();
