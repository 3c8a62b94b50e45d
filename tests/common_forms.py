#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds what `latput query` says of common forms against tests/fixtures/common_forms.csv.

Usage: common_forms.py TABLE QUERY.csv. The row of a form names what differs and why; a difference
without a reason is an error, and so is a reason without a difference, a CPU without rows, and less
than forty forms of one. Numbers: the largest latency to the result, with fast or slow data."""
import csv
import sys

FORMS_LEAST = 40


def number(text):
    return float(text) if text else None


def agrees(expected, values, upper):
    """Whether a number lies among measured ones, or somewhat below upper bounds."""
    known = [value for value in values if value is not None]
    if not known:
        return False
    apart = 0.03 * max(known) + 0.05
    least = min(known) / 2 if upper else min(known)
    return least - apart <= expected <= max(known) + apart


def differing(row, got):
    """Names the columns in which the form is not what the source says."""
    of = {
        "latency": [number(got[name]) for name in (
            "result_latency_max_clk", "result_latency_max_most_clk",
            "result_latency_slow_max_clk")],
        "throughput": [number(got["rthroughput_clk"]), number(got["rthroughput_slow_clk"])],
        "uops": [number(got["uops"])],
    }
    bounds = {"latency": "result_latency_max_bound", "throughput": "rthroughput_bound",
              "uops": "uops_bound"}
    found = [name for name, values in of.items() if row[name] and not agrees(
        float(row[name]), values, got[bounds[name]] == "upper")]
    return found + ["ports"] * (row["ports"] not in ("", got["ports"]))


def main(table, query):
    known, seen, wrong = {}, {}, []
    for got in csv.DictReader(open(query, newline="")):
        if got["outcome"] != "unsupported":
            known.setdefault((got["uarch"], got["form"]), got)
    rows = list(csv.DictReader(line for line in open(table, newline="") if line[0] != "#"))
    for row in rows:
        seen.setdefault(row["cpu"], set()).add(row["form"])
        got = known.get((row["cpu"], row["form"]))
        differs = " ".join(differing(row, got)) if got else "no such row"
        if differs != row["differs"]:
            wrong.append(f"{row['cpu']} {row['form']}: '{differs}' differs, not '{row['differs']}'")
        if bool(row["differs"]) != bool(row["why"]) or not row["source"]:
            wrong.append(f"{row['cpu']} {row['form']}: a difference has a reason, a row a source")
    for cpu in {cpu for cpu, _ in known}:
        if len(seen.get(cpu, ())) < FORMS_LEAST:
            wrong.append(f"{cpu}: {len(seen.get(cpu, ()))} forms, {FORMS_LEAST} at least")
    print("\n".join(wrong) if wrong else f"{len(rows)} rows")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
