# SPDX-License-Identifier: MIT
# Condenses the output of `latput asm` for people: per test one kernel of each kind (dense; the
# first filled of a row; of throughputs the first without and with breakers of dependencies). One
# line per link, its instructions separated by semicolons; the first two links, or one (8 x) if all
# are alike; the contents of registers and memory where they change.
function kept(    name, shape) {
    name = $0; sub(/, [^,]*$/, "", name)
    shape = $0; sub(/.*, /, "", shape)
    row = name; sub(/: (latency|throughput).*/, "", row)
    if (shape == "filled") return !seen[row, "filled"]++
    sub(/^(n|loop)[0-9]+/, "n", shape)
    return !seen[name, shape]++
}
# Instructions `from` to `to` on as few lines of 100 columns as they need.
function print_list(before, line, from, to,    at, text, out) {
    out = before
    for (at = from; at <= to; at++) {
        text = line[at]
        sub(/^ +/, "", text)
        text = text (at < to ? "; " : "")
        if (length(out text) > 100 && out != before) {
            sub(/ $/, "", out)
            print out
            out = "          "
        }
        out = out text
    }
    print out
}
# Prints the first two links of n lines, with as many equal links as there are instances; all if
# there is one.
function print_links(line, n,    at, per, alike) {
    per = n / instances
    if (per != int(per) || instances == 1) { print_list("    ", line, 1, n); return }
    alike = 1
    for (at = per + 1; at <= n; at++) if (line[at] != line[at - per]) alike = 0
    print_list(alike ? "    " instances " x " : "    ", line, 1, per)
    if (!alike) print_list("    ", line, per + 1, 2 * per)
}
function print_kernel() {
    if (!keep) return
    if (row != last_row) print ""
    last_row = row
    print head ": " counts
    if (fill != last) print "  with " fill
    last = fill
    if (ninit) print_list("  init: ", init, 1, ninit)
    print_links(body, nbody)
}
/^; .*: (latency|throughput)[^:]*$/ {
    head = substr($0, 3)
    keep = kept()
    part = ninit = nbody = 0
    next
}
/^; [0-9]+ instances?, / {
    counts = substr($0, 3)
    instances = $2
    sub(/ cycles of bridges are subtracted from each/, " clk of bridges", counts)
    next
}
/^; registers / { fill = substr($0, 3); next }
/^\.init:$/ { part = 1; next }
/^\.body:$/ { part = 2; next }
/^$/ { if (part) print_kernel(); part = 0; next }
part == 1 { init[++ninit] = $0; next }
part == 2 { body[++nbody] = $0; next }
{ print substr($0, 3) }
