#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How well `latput explain` predicts real code: basic blocks of installed programs and libraries,
disassembled here and now by objdump, predicted, measured, and put beside llvm-mca where that is
installed. Nothing of them is kept. The table in docs/EXPLAIN.md is made by this.

    tests/explain_corpus.py [--blocks N] [--seed S] [--db FILE] [--mca NAME] [--worst N] FILE...
"""
import argparse
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile

TREE = __file__.rsplit("/", 2)[0]
LINE = re.compile(r"^\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*(?:\t(.*))?$")
REGISTERS = ["rax", "rcx", "rdx", "rbx", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11",
             "r12", "r13"]
NARROW = {name: name for name in REGISTERS}
for name in REGISTERS[:7]:
    NARROW["e" + name[1:]] = name
for number in range(8, 14):
    NARROW[f"r{number}d"] = f"r{number}"
# Ends a block, or cannot be measured in a loop away from its program.
ENDS = re.compile(
    r"^(bnd |notrack )?(j|call|ret|loop|hlt|int|syscall|sysenter|ud[012]|iret|leave|enter)")
UNFIT = re.compile(
    r"r1[45]|rip|[defgcs]s:|^(rep|lock|div|idiv|push|pop|xgetbv|cpuid|rdtsc|f|x?save"
    r"|xrstor|emms|std|cld|mfence|lfence|sfence|pause|endbr|\(bad\)|xabort|xbegin|xend|clflush"
    r"|prefetch|movnt|data16|cs )|rsp,|\be?sp\b"
    r"|\bspl\b|<|vzero")


def blocks_of(path):
    """Straight runs of instructions between jumps and their targets: lists of (bytes, text)."""
    text = subprocess.run(["objdump", "-d", "-w", "-M", "intel", path],
                          capture_output=True, text=True, check=True).stdout
    code, targets = [], set()
    for line in text.splitlines():
        match = LINE.match(line)
        if match:
            words = (match[3] or "(bad)").split("#")[0].strip()
            code.append((int(match[1], 16), match[2].split(), words))
            jump = re.match(r"^(?:bnd )?j\w+ +([0-9a-f]+)", code[-1][2])
            if jump:
                targets.add(int(jump[1], 16))
        elif line.endswith(">:"):
            code.append((-1, [], "ret"))
    block = []
    for address, data, words in code + [(-1, [], "ret")]:
        if address in targets or ENDS.match(words):
            if 3 <= len(block) <= 40:
                yield block
            block = []
        if not ENDS.match(words):
            block.append((data, words))


def fit(block):
    return not any(UNFIT.search(words) for _, words in block)


def initial(block):
    """Text that makes addresses valid: bases lie apart in the data area, what only scales
    is small."""
    text = " ".join(words for _, words in block)
    bases, indices = set(), set()
    for inside in re.findall(r"\[([^\]]*)\]", text):
        registers = [part for part in re.split(r"[-+]", inside)]
        for position, part in enumerate(registers):
            name = NARROW.get(part.split("*")[0])
            if name:
                (indices if "*" in part or position else bases).add(name)
    lines = []
    if re.search(r"[xyz]mm", text):
        widest = "z" if "zmm" in text else "y" if "ymm" in text else "x"
        single = re.search(r"\w[ps]s\b", text)
        move = "movaps" if single else "movapd"
        lines.append(f"{'v' if widest != 'x' else ''}{move} {widest}mm0, {widest}mm0")
    else:
        lines += ["lea rax, [r14+1088]", "xor ecx, ecx", ".fill: mov [r14+rcx*8], rax", "inc ecx",
                  "cmp ecx, 8000", "jb .fill"]
    for number, name in enumerate(REGISTERS):
        if name in bases:
            lines.append(f"lea {name}, [r14+{number * 4352 + 512}]")
        elif name in indices:
            lines.append(f"xor {name}, {name}")
        else:
            lines.append(f"mov {name}, 1")
    return "; ".join(lines)


def line_of(block):
    code = ("db " + ", ".join("0x" + byte for byte in data) for data, _ in block)
    return initial(block) + " | " + "; ".join(code)


def explain(args, blocks):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(line_of(block) for block in blocks) + "\n")
        file.flush()
        command = [args.latput, "explain", "--blocks", file.name, "--format", "json"]
        if args.db:
            command += ["--db", args.db]
        result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(result.stderr.strip() or f"latput explain ended with {result.returncode}")
    return {row["line"] - 1: row for row in json.loads(result.stdout)}


def mca(args, block):
    """Cycles a copy by llvm-mca; None where it cannot say."""
    text = ".intel_syntax noprefix\n" + "\n".join(words for _, words in block) + "\n"
    result = subprocess.run([args.llvm_mca, "-mcpu=" + args.mca, "-iterations=1000"], input=text,
                            capture_output=True, text=True)
    match = re.search(r"Total Cycles: +(\d+)", result.stdout)
    return int(match[1]) / 1000 if match and result.returncode == 0 else None


def figures(name, pairs):
    if not pairs:
        return
    errors = [abs(predicted - measured) / measured for predicted, measured in pairs]
    within = sum(error <= 0.10 for error in errors)
    print(f"| {name} | {len(pairs)} | {100 * within / len(pairs):.1f} % "
          f"| {100 * sum(errors) / len(errors):.1f} % |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--blocks", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--db")
    parser.add_argument("--latput", default=TREE + "/build/latput")
    parser.add_argument("--mca", default="native", help="-mcpu of llvm-mca")
    parser.add_argument("--worst", type=int, default=0, help="print so many of the worst")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    args.llvm_mca = shutil.which("llvm-mca-19") or shutil.which("llvm-mca")
    chosen, dice = [], random.Random(args.seed)
    share = -(-args.blocks * 8 // 5 // len(args.files))
    for path in args.files:
        found = {tuple(words for _, words in block): block
                 for block in blocks_of(path) if fit(block)}
        keys = sorted(found)
        chosen += [found[key] for key in dice.sample(keys, min(share, len(keys)))]
    dice.shuffle(chosen)
    rows = explain(args, chosen)
    done = [(chosen[i], row) for i, row in sorted(rows.items()) if row.get("measured_clk")]
    left = [row for row in rows.values() if not row.get("measured_clk")]
    reasons = {}
    for row in left:
        reason = row.get("refused") or (row.get("failure") or "no value").split(":")[0]
        reasons[reason] = reasons.get(reason, 0) + 1
    print(f"{len(chosen)} blocks, {len(done)} of them measured; not:", reasons)
    done = done[:args.blocks]
    print("| predicted by | blocks | within 10 % | mean error |\n|---|---|---|---|")
    figures("latput explain", [(row["predicted_clk"], row["measured_clk"]) for _, row in done])
    figures("the same, nothing assumed",
            [(row["predicted_clk"], row["measured_clk"]) for _, row in done if not row["assumed"]])
    for limit in sorted({row["limit"] for _, row in done}):
        figures(f"where the {limit} decides",
                [(row["predicted_clk"], row["measured_clk"])
                 for _, row in done if row["limit"] == limit])
    if args.llvm_mca:
        pairs = [(mca(args, block), row) for block, row in done]
        pairs = [(clk, row) for clk, row in pairs if clk]
        figures("llvm-mca", [(clk, row["measured_clk"]) for clk, row in pairs])
        figures("latput explain on the same",
                [(row["predicted_clk"], row["measured_clk"]) for _, row in pairs])
    else:
        print("llvm-mca is not installed")
    done.sort(key=lambda item: -abs(item[1]["predicted_clk"] / item[1]["measured_clk"] - 1))
    for block, row in done[:args.worst]:
        print(f"\n{row['predicted_clk']:.2f} predicted ({row['limit']}), "
              f"{row['measured_clk']:.2f} measured, {row['assumed']} assumed")
        for _, words in block:
            print("   ", words)


if __name__ == "__main__":
    main()
