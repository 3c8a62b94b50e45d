// SPDX-License-Identifier: MIT
// The state of the page, and its form in the URL: ?search=..&cb_lat=on&cb_zen5=on, the parameters
// of uops.info's table, and view, sort, diff, only, absent,
// bits32 and form.
"use strict";
(() => {
    const { model } = latput;
    const metrics = { lat: "Latency", tp: "1/Throughput", uops: "µops", ports: "Ports" };
    const short = { tp: "1/tput" }; // in the narrow heads of columns
    const facts = { isa: "Extension", list: "List", enc: "Encoding" };
    // Extensions in the groups of uops.info's check boxes.
    const groups = {
        base: "base",
        fpu: "x87",
        mmx: "MMX, 3DNow!",
        sse: "SSE",
        avx: "AVX",
        avx2: "AVX2, FMA, XOP",
        avx512: "AVX-512",
        others: "others",
    };
    const groupNames = Object.keys(groups);
    const views = {
        table: "Instructions",
        compare: "Differences",
        ports: "Ports",
        properties: "Properties",
        cpus: "CPUs and runs",
    };
    // uops.info's names of the families in cpuinfo/cpus.csv.
    const uopsInfo = new Map(
        Object.entries({
            CON: "core2",
            WOL: "core2",
            NHM: "nehalem",
            WSM: "westmere",
            SNB: "sandybridge",
            IVB: "ivybridge",
            HSW: "haswell",
            BDW: "broadwell",
            SKL: "skylake",
            SKX: "skylakex",
            KBL: "skylake",
            CFL: "skylake",
            CNL: "cannonlake",
            CLX: "cascadelake",
            ICL: "icelake",
            TGL: "tigerlake",
            RKL: "rocketlake",
            ADLP: "alderlake_p",
            ADLE: "alderlake_e",
            EMR: "emeraldrapids",
            MTLP: "meteorlake_p",
            MTLE: "meteorlake_e",
            ARLP: "arrowlake_p",
            ARLE: "arrowlake_e",
            BNL: "bonnell",
            AMT: "bonnell",
            GLM: "goldmont",
            GLP: "goldmontplus",
            TRM: "tremont",
            ZENp: "zenplus",
            "ZEN+": "zenplus",
            ZEN2: "zen2",
            ZEN3: "zen3",
            ZEN4: "zen4",
            ZEN5: "zen5",
        }),
    );
    const SHOWN = 3; // number of CPUs shown by default

    const state = {
        view: "table",
        search: "",
        cpus: [],
        metrics: new Set(),
        facts: new Set(),
        groups: new Set(),
        sort: "",
        down: false,
        diff: false,
        only: false,
        absent: false, // also forms that no shown CPU has
        bits32: false, // also forms of 32-bit mode
        form: "",
        by: "",
    };
    const listeners = [];

    const bare = (key) => key.split("@", 1)[0].split(" ", 1)[0].replace(/\?$/, "");
    // Returns uops.info's names of a CPU's family.
    const uopsInfoNames = (cpu) =>
        [...uopsInfo].filter(([, key]) => key === bare(cpu.key)).map(([name]) => name);
    function cpuNamed(name) {
        const wanted = uopsInfo.get(name) ?? name;
        return (
            model.cpus.find((cpu) => cpu.key === wanted) ??
            model.cpus.find((cpu) => bare(cpu.key) === bare(wanted))
        );
    }

    function chosen(params, names, otherwise) {
        const on = names.filter((name) => params.get(`cb_${name}`) === "on");
        return new Set(on.length > 0 ? on : otherwise);
    }

    function read() {
        const params = new URLSearchParams(location.search || location.hash.replace(/^#/, ""));
        const cpus = [];
        for (const [name, value] of params) {
            const cpu = name.startsWith("cb_") && value === "on" ? cpuNamed(name.slice(3)) : null;
            if (cpu && !cpus.includes(cpu)) cpus.push(cpu);
        }
        const measured = model.cpus.filter((cpu) => cpu.forms > 0);
        state.cpus = cpus.length > 0 ? cpus : measured.slice(0, SHOWN);
        state.view = Object.hasOwn(views, params.get("view")) ? params.get("view") : "table";
        state.search = params.get("search") ?? "";
        state.metrics = chosen(params, Object.keys(metrics), Object.keys(metrics));
        const widths = matchMedia("(max-width: 45rem)").matches ? [] : ["isa"];
        state.facts = chosen(
            params,
            Object.keys(facts),
            [...params.keys()].some((key) => key.startsWith("cb_")) ? [] : widths,
        );
        state.groups = chosen(params, groupNames, groupNames);
        const sort = params.get("sort") ?? "";
        state.down = sort.startsWith("-");
        state.sort = state.down ? sort.slice(1) : sort;
        state.diff = params.get("diff") === "on";
        state.only = params.get("only") === "on";
        state.absent = params.get("absent") === "on";
        state.bits32 = params.get("bits32") === "on";
        state.form = params.get("form") ?? "";
        state.by = params.get("by") ?? "";
    }

    function query() {
        const params = new URLSearchParams();
        const put = (name, value) => value && params.set(name, value === true ? "on" : value);
        put("view", state.view === "table" ? "" : state.view);
        put("search", state.search);
        for (const name of [...state.metrics, ...state.facts]) put(`cb_${name}`, true);
        for (const cpu of state.cpus) put(`cb_${cpu.key}`, true);
        if (state.groups.size < groupNames.length)
            for (const name of state.groups) put(`cb_${name}`, true);
        put("sort", state.sort && (state.down ? "-" : "") + state.sort);
        put("diff", state.diff);
        put("only", state.only);
        put("absent", state.absent);
        put("bits32", state.bits32);
        put("form", state.form);
        put("by", state.view === "compare" ? state.by : "");
        return params.toString();
    }

    // A step back returns to the last form or part of the page, not to each letter of a search.
    function write(step) {
        const url = `${location.pathname}?${query()}`;
        if (step) history.pushState(null, "", url);
        else history.replaceState(null, "", url);
    }

    // Browsers limit how often an address may change, so changes wait while somebody types or holds
    // a key.
    let late = 0;
    function change(changes, step = false) {
        Object.assign(state, changes);
        clearTimeout(late);
        const often =
            !step && Object.keys(changes).every((key) => key === "search" || key === "form");
        if (often) late = setTimeout(write, 150, false);
        else write(step);
        for (const listener of listeners) listener(changes);
    }

    addEventListener("popstate", () => {
        clearTimeout(late);
        read();
        for (const listener of listeners) listener(null);
    });

    // The CPUs have the order of the page, whatever order they were chosen in.
    const shown = () => model.cpus.filter((cpu) => state.cpus.includes(cpu));

    latput.view = {
        state,
        begin: read,
        change,
        query,
        shown,
        metrics,
        short,
        facts,
        groups,
        views,
        uopsInfoNames,
        onChange: (listener) => listeners.push(listener),
    };
})();
