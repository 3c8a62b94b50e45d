#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws basic blocks of installed programs and libraries, as objdump reads them here and now, for
`latput validate --blocks`. Nothing of them is kept in the tree. docs/figures/explain.csv is what
that printed of such blocks.

    tests/explain_corpus.py --to BLOCKS.csv [--blocks N] [--seed S] [--half found | apart] FILE...

Each file gives as many blocks of 3 to 40 instructions without calls and jumps. Half of all blocks,
by a hash of their bytes, are kept apart: the model is judged by them, and learnt of the others.
"""
import argparse
import hashlib
import random
import re
import subprocess

LINE = re.compile(r"^\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*(?:\t(.*))?$")
# Ends a block.
ENDS = re.compile(
    r"^(bnd |notrack )?(j|call|ret|loop|hlt|int|syscall|sysenter|ud[012]|iret|leave|enter)")
# What the system, another thread or the program's own segment answers, and what is no code.
UNFIT = re.compile(r"\bfs:|\bgs:|^(xgetbv|cpuid|rdtsc|rdpmc|xsave|xrstor|xbegin|xend|xabort"
                   r"|endbr|\(bad\)|std|lfence|pause)")


def blocks_of(path):
    """Straight runs of instructions between jumps and their targets, as digits."""
    text = subprocess.run(["objdump", "-d", "-w", "-M", "intel", path],
                          capture_output=True, text=True, check=True).stdout
    code, targets = [], set()
    for line in text.splitlines():
        match = LINE.match(line)
        if match:
            words = (match[3] or "(bad)").split("#")[0].strip()
            code.append((int(match[1], 16), match[2].replace(" ", ""), words))
            jump = re.match(r"^(?:bnd )?j\w+ +([0-9a-f]+)", words)
            if jump:
                targets.add(int(jump[1], 16))
        elif line.endswith(">:"):
            code.append((-1, "", "ret"))
    block, fit = [], True
    for address, digits, words in code + [(-1, "", "ret")]:
        if address in targets or ENDS.match(words):
            if 3 <= len(block) <= 40 and fit:
                yield "".join(block)
            block, fit = [], True
        if not ENDS.match(words):
            block.append(digits)
            fit = fit and not UNFIT.search(words)


def kept_apart(block):
    return hashlib.sha256(bytes.fromhex(block)).digest()[0] & 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--blocks", type=int, default=700)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--half", choices=["found", "apart"])
    parser.add_argument("--to", required=True)
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    chosen, dice = set(), random.Random(args.seed)
    share = -(-args.blocks // len(args.files))
    for path in args.files:
        found = sorted({block for block in blocks_of(path)
                        if args.half is None or kept_apart(block) == (args.half == "apart")})
        chosen.update(dice.sample(found, min(share, len(found))))
    chosen = sorted(chosen)
    dice.shuffle(chosen)
    with open(args.to, "w") as file:
        file.write("\n".join(["hex", *chosen]) + "\n")
    print(len(chosen), "blocks")


if __name__ == "__main__":
    main()
