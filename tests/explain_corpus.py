#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How well `latput explain` predicts real code: basic blocks of installed programs and libraries,
disassembled here and now by objdump, predicted, measured, and put beside llvm-mca where that is
installed. Nothing of them is kept in the tree. docs/figures/explain.csv is made by this.

    tests/explain_corpus.py draw --to CORPUS [--blocks N] [--seed S] FILE...
    tests/explain_corpus.py [--db FILE] measure CORPUS [--piece N] [--times N]
    tests/explain_corpus.py [--db FILE] compare CORPUS [--blocks N] [--mca NAME] [--worst N]

A corpus is a file of JSON, a block a line. `measure` measures the next N of it that were not, and
ends with 0 where there were some, so that a shared machine is asked for a minute at a time.
`compare` measures nothing. Half of the blocks, by a hash of their text, are kept apart: the model is
judged by them, and learnt of the others.
"""
import argparse
import hashlib
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


def explain(args, blocks, *options):
    """What latput explain says of each block, in order."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(line_of(block) for block in blocks) + "\n")
        file.flush()
        command = [args.latput, "explain", "--blocks", file.name, "--format", "json", *options]
        if args.db:
            command += ["--db", args.db]
        result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode > 1:  # 1: some blocks are refused, which their rows say
        sys.exit(result.stderr.strip() or f"latput explain ended with {result.returncode}")
    return json.loads(result.stdout)


def mca(program, cpu, block):
    """Cycles a copy by llvm-mca; None where it cannot say."""
    text = ".intel_syntax noprefix\n" + "\n".join(words for _, words in block) + "\n"
    result = subprocess.run([program, "-mcpu=" + cpu, "-iterations=1000"], input=text,
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


def draw(args):
    chosen, dice = [], random.Random(args.seed)
    share = -(-args.blocks // len(args.files))
    for path in args.files:
        found = {tuple(words for _, words in block): block
                 for block in blocks_of(path) if fit(block)}
        keys = sorted(found)
        chosen += [found[key] for key in dice.sample(keys, min(share, len(keys)))]
    dice.shuffle(chosen)
    corpus_write(args.to, [{"block": block} for block in chosen])


def corpus_read(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def corpus_write(path, corpus):
    with open(path, "w") as file:
        for entry in corpus:
            file.write(json.dumps(entry) + "\n")


def measure(args):
    corpus = corpus_read(args.corpus)

    def waits(entry):
        return entry.get("measured", 1) and entry.get("times", 0) < args.times

    waiting = [entry for entry in corpus if waits(entry)][:args.piece]
    if not waiting:
        sys.exit("all blocks are measured")
    for entry, row in zip(waiting, explain(args, [entry["block"] for entry in waiting])):
        values = [entry.get("measured"), row.get("measured_clk")]
        # What disturbs a core makes it slower, never faster.
        entry["measured"] = min((clk for clk in values if clk), default=None)
        entry["failure"] = row.get("refused") or row.get("failure")
        entry["times"] = entry.get("times", 0) + 1
    corpus_write(args.corpus, corpus)
    print(sum(bool(waits(entry)) for entry in corpus), "blocks are left")


def compare(args):
    corpus = [entry for entry in corpus_read(args.corpus) if "measured" in entry]
    reasons = {}
    for entry in corpus:
        if not entry["measured"]:
            reason = (entry["failure"] or "no value").split(":")[0]
            reasons[reason] = reasons.get(reason, 0) + 1
    print(f"{len(corpus)} blocks; not measured:", reasons)
    done = [entry for entry in corpus if entry["measured"]][:args.blocks]
    for entry, row in zip(done, explain(args, [entry["block"] for entry in done], "--predict")):
        entry.update(row)
    compare_print(args, done)


def pairs_of(entries):
    return [(entry["predicted_clk"], entry["measured"]) for entry in entries]


def kept_apart(entry):
    text = "\n".join(words for _, words in entry["block"])
    return hashlib.sha256(text.encode()).digest()[0] & 1


def compare_print(args, done):
    print("| predicted by | blocks | within 10 % | mean error |\n|---|---|---|---|")
    figures("latput explain", pairs_of(done))
    figures("the same, nothing assumed", pairs_of(e for e in done if not e["assumed"]))
    figures("the half kept apart", pairs_of(e for e in done if kept_apart(e)))
    figures("the other half", pairs_of(e for e in done if not kept_apart(e)))
    for limit in sorted({entry["limit"] for entry in done}):
        figures(f"where the {limit} decides", pairs_of(e for e in done if e["limit"] == limit))
    llvm_mca = shutil.which("llvm-mca-19") or shutil.which("llvm-mca")
    if llvm_mca:
        other = [(mca(llvm_mca, args.mca, entry["block"]), entry) for entry in done]
        other = [(clk, entry) for clk, entry in other if clk]
        figures("llvm-mca", [(clk, entry["measured"]) for clk, entry in other])
        figures("latput explain on the same", pairs_of(entry for _, entry in other))
    else:
        print("llvm-mca is not installed")
    done.sort(key=lambda entry: -abs(entry["predicted_clk"] / entry["measured"] - 1))
    for entry in done[:args.worst]:
        print(f"\n{entry['predicted_clk']:.2f} predicted ({entry['limit']}), "
              f"{entry['measured']:.2f} measured, {entry['assumed']} assumed")
        for _, words in entry["block"]:
            print("   ", words)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--latput", default=TREE + "/build/latput")
    parser.add_argument("--db")
    parts = parser.add_subparsers(required=True)
    part = parts.add_parser("draw")
    part.set_defaults(run=draw)
    part.add_argument("--blocks", type=int, default=480)
    part.add_argument("--seed", type=int, default=1)
    part.add_argument("--to", required=True)
    part.add_argument("files", nargs="+")
    part = parts.add_parser("measure")
    part.set_defaults(run=measure)
    part.add_argument("--piece", type=int, default=40)
    part.add_argument("--times", type=int, default=1, help="the fastest of so many counts")
    part.add_argument("corpus")
    part = parts.add_parser("compare")
    part.set_defaults(run=compare)
    part.add_argument("--blocks", type=int, default=300)
    part.add_argument("--mca", default="native", help="-mcpu of llvm-mca")
    part.add_argument("--worst", type=int, default=0, help="print so many of the worst")
    part.add_argument("corpus")
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
