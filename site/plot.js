// SPDX-License-Identifier: MIT
// Curves and samples, drawn by uPlot in the colours of the page. The library is loaded when there
// is something to draw; each canvas has a description in words for people who cannot see it.
"use strict";
(() => {
    const { h } = latput;

    // Makes a box beside the cursor with the value of each series at the nearest of its own points.
    // `beside` has functions that write an x and a y.
    function box(beside) {
        const words = h("div", { class: "beside", "aria-hidden": true });
        const nearest = (values, at) => {
            for (let d = 0; d < values.length; d++)
                for (const i of [at - d, at + d]) if (values[i] ?? null) return values[i];
            return null;
        };
        function move(u) {
            const { idx, left, top } = u.cursor;
            words.hidden = idx === null || idx === undefined || left < 0;
            if (words.hidden) return;
            const lines = u.series.slice(1).map((series, i) => {
                const value = series.show ? nearest(u.data[i + 1], idx) : null;
                if (value === null) return "";
                const mark = h("span", { class: "swatch" }, "▬ ");
                mark.style.color = series.stroke();
                return h("div", {}, mark, `${series.label}: ${beside.y(value)}`);
            });
            words.replaceChildren(
                h("strong", {}, beside.x(u.data[0][idx])),
                ...lines.filter(Boolean),
            );
            const over = u.over.getBoundingClientRect(),
                right = left > over.width / 2;
            words.style.left = right ? "" : `${left + 14}px`;
            words.style.right = right ? `${over.width - left + 14}px` : "";
            words.style.top = `${Math.max(0, Math.min(top, over.height - words.offsetHeight))}px`;
        }
        return { hooks: { init: (u) => u.over.append(words), setCursor: move } };
    }

    // Draws a plot. `make` gets a function from the name of a colour in style.css to the colour,
    // and the common options of axes; it returns uPlot's options, with the data among them, and
    // `beside` where the cursor shows values.
    async function plot(place, words, make) {
        await latput.load("vendor/uPlot.iife.min.js");
        if (!document.getElementById("uplot-style"))
            document.head.append(
                h("link", { id: "uplot-style", rel: "stylesheet", href: "vendor/uPlot.min.css" }),
            );
        const style = getComputedStyle(place),
            color = (name) => style.getPropertyValue(name).trim();
        const line = { stroke: color("--line"), width: 1 };
        const { data, beside, ...options } = make(color, {
            stroke: color("--text"),
            grid: line,
            ticks: line,
        });
        if (beside) options.plugins = [box(beside)];
        new uPlot({ width: Math.max(240, place.clientWidth - 8), ...options }, data, place);
        const canvas = place.querySelector("canvas");
        canvas.setAttribute("role", "img");
        canvas.setAttribute("aria-label", words);
    }
    latput.plot = plot;
})();
