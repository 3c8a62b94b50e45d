// SPDX-License-Identifier: MIT
// Curves and samples, drawn by uPlot in the colours of the page. The library is loaded when there
// is something to draw; each canvas has a description in words for people who cannot see it.
"use strict";
(() => {
    const { h } = latput;

    // Draws a plot. `make` gets a function from the name of a colour in style.css to the colour,
    // and the common options of axes; it returns uPlot's options, with the data among them.
    async function plot(place, words, make) {
        await latput.load("vendor/uPlot.iife.min.js");
        if (!document.getElementById("uplot-style"))
            document.head.append(
                h("link", { id: "uplot-style", rel: "stylesheet", href: "vendor/uPlot.min.css" }),
            );
        const style = getComputedStyle(place),
            color = (name) => style.getPropertyValue(name).trim();
        const line = { stroke: color("--line"), width: 1 };
        const { data, ...options } = make(color, {
            stroke: color("--text"),
            grid: line,
            ticks: line,
        });
        new uPlot({ width: Math.max(240, place.clientWidth - 8), ...options }, data, place);
        const canvas = place.querySelector("canvas");
        canvas.setAttribute("role", "img");
        canvas.setAttribute("aria-label", words);
    }
    latput.plot = plot;
})();
