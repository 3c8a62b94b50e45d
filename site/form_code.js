// SPDX-License-Identifier: MIT
// One instruction as others write it. search.js uses it. In the order and with the suffixes of AT&T
// (addl %eax, %ebx) it becomes what Intel's assemblers read, as in runner/list/form_code.c. Bytes
// (48 0f af c3) are compared with those of an instance of each form.
"use strict";
(() => {
    const { model } = latput;

    // --- AT&T ---

    const prefixes = /^(?:lock|repn?[ez]?) /;
    const sizes = {
        "": ["bwlq", ["byte", "word", "dword", "qword"]],
        f: ["slqt", ["dword", "qword", "qword", "tword"]], // x87
        fi: ["slq", ["word", "dword", "qword"]], // x87, integers in memory
    };
    // Returns the class of memory that the suffix of a mnemonic says.
    function sizeOf(name) {
        const [letters, words] = sizes[/^fi?|/.exec(name)[0]];
        return name.length > 2 ? words[letters.indexOf(name.at(-1))] : undefined;
    }
    // Splits at commas that are in no parentheses or braces.
    function operandsOf(text) {
        const operands = [""];
        let depth = 0;
        for (const letter of text) {
            if ("({".includes(letter)) depth++;
            else if (")}".includes(letter)) depth--;
            if (letter === "," && depth <= 0) operands.push("");
            else operands[operands.length - 1] += letter;
        }
        return operands.map((operand) => operand.trim());
    }
    // -8(%rax,%rcx,4){1to16} is [rax+rcx*4-8]{1to16}; without parentheses it is an address alone.
    function memory(text, size) {
        const [, away, inside, marks] = /^(?:%..:)?([^({]*)(?:\(([^)]*)\))?([^]*)$/.exec(text);
        const [base, index, factor] = (inside ?? "%rip").split(",").map((part) => part.trim());
        const parts = [base.slice(1), (index ?? "").slice(1) + (factor ? `*${factor}` : "")];
        const sign = away && !away.startsWith("-") ? "+" : "";
        const address = parts.filter(Boolean).join("+") + sign + away;
        return `${size ? `${size} ` : ""}[${address}]${marks}`;
    }
    function operand(text, size) {
        const bare = text.replace(/^\*/, ""); // an indirect branch
        if (bare === "" || bare === "{sae}") return bare;
        if (bare.startsWith("{")) return "{er}";
        if (bare.startsWith("$")) return /^\$(0x)?1$/.test(bare) ? "1" : "i*";
        if (!bare.startsWith("%") || bare.includes(":")) return memory(bare, size);
        const name = bare.slice(1).replace(/^st$/, "st0");
        // r8 is a class of lists, too: another one of these registers is meant.
        return name === "r8" ? "r9" : name.replace(/^st\((\d)\)$/, "st$1");
    }
    // fsub %st,%st(1) is what others call fsubr st1,st0; so with division, and with a pop.
    const reversed = (name) =>
        name.replace(/^(f(?:sub|div))(r?)/, (_, of, r) => of + (r ? "" : "r"));
    // Returns the readings of a text of AT&T: with its suffix, and without it; null: it is none.
    function att(text) {
        if (!/%[a-z]|\$[\w.-]/.test(text)) return null;
        const code = text.replaceAll("{%", "{"), // zmm0{%k1}
            [prefix] = prefixes.exec(code) ?? [""],
            [, name, rest] = /^ *([a-z0-9]*)(.*)$/.exec(code.slice(prefix.length)),
            all = operandsOf(rest),
            extends_ = /^mov[sz]..$/.test(name),
            size = sizeOf(extends_ ? name.slice(0, -1) : name);
        if (name === "") return null;
        const swap = all.length === 2 && all[0] === "%st" && all[1].startsWith("%st("),
            own = swap ? reversed(name) : name,
            bare = !extends_
                ? own.slice(0, -1)
                : name[4] === "l"
                  ? "movsxd"
                  : `${name.slice(0, 4)}x`;
        const put = (name, size) =>
            [prefix + name, ...all.map((one) => operand(one, size)).reverse()].join(" ");
        return extends_ || sizeOf(name) ? [put(own), put(bare, size)] : [put(own)];
    }

    // --- registers of x87 ---

    // Returns the readings of a text with registers of x87: st(1) becomes st1, and beside it st
    // becomes st0, which as the first of two is left out where lists have one operand only.
    function x87(text) {
        if (!/^f\w* .*\bst/.test(text)) return [text];
        const counted = /\bst\(\d\)/.test(text);
        const all = text
            .replace(/\bst\((\d)\)/g, "st$1")
            .replace(/\bst(?!\w)/g, counted ? "st0" : "st");
        return [...new Set([all, all.replace(/ st0[ ,]+(?=st)/, " ")])];
    }

    // --- bytes ---

    function bytesOf(text) {
        const is = /^(?:[ ,]*(?:0x|\\x)?[\da-f]{2})+[ ,]*$/.test(text) && /\d/.test(text);
        const bytes = is ? [...text.matchAll(/(?:0x|\\x)?([\da-f]{2})/g)] : [];
        return bytes.length > 0 && bytes.length <= 15
            ? bytes.map(([, hex]) => parseInt(hex, 16))
            : null;
    }
    // Opcodes by map, as ranges of hexadecimal digits.
    const within = (ranges) => {
        const pairs = ranges.split(" ").map((range) => range.split("-"));
        const list = pairs.map(([from, to]) => [from, to ?? from].map((hex) => parseInt(hex, 16)));
        return (opcode) => list.some(([from, to]) => from <= opcode && opcode <= to);
    };
    const MAP_0F = 1;
    const alone = within("4-9 b c e 30-37 77 80-8f a0-a2 a8-aa c8-cf"); // map 0F, no ModRM
    const withModrm = within("62-63 69 6b 80-8f c0-c1 c6-c7 d0-d3 d8-df f6-f7 fe-ff");
    // The register of ModRM is part of the opcode.
    const groups = {
        0: within("80-83 8f c0-c1 c6-c7 d0-d3 d8-df f6-f7 fe-ff"),
        1: within("0-1 d 18 1c 1e 71-73 ae b9-ba c7"),
        2: within("c6-c7 f3"), // VEX and EVEX
        9: within("1-2 12"), // XOP
        10: within("12"),
    };
    // General registers of eight bits, of which 4 to 7 without REX are ah to bh.
    const eightBits = {
        0: within("0 2 8 a 10 12 18 1a 20 22 28 2a 30 32 38 3a 80 84 86 88 8a c0 c6 d0 d2 f6 fe"),
        1: within("90-9f b0 c0"),
    };
    // Only the second operand of movzx, movsx and crc32 has eight bits.
    const eightBitsRead = { 1: within("b6 be"), 2: within("f0") };

    // Reads prefixes, opcode and vector length. Returns what they say, with `at`, the place after
    // the opcode; null: there is none.
    function head(bytes) {
        const found = { enc: "legacy", map: 0, marks: [], rex: null };
        let at = 0;
        for (; /^(26|2e|36|3e|64|65|66|67|f0|f2|f3)$/.test(bytes[at]?.toString(16)); at++)
            if ([0x66, 0xf0, 0xf2, 0xf3].includes(bytes[at])) found.marks.push(bytes[at]);
        found.marks.sort();
        if (bytes[at] === 0xe3 && bytes.includes(0x67)) found.marks.push("short"); // jecxz
        if (bytes[at] >= 0x40 && bytes[at] < 0x50) found.rex = bytes[at++];
        const [first, a, b, c] = bytes.slice(at);
        if (first === 0xc5) {
            Object.assign(found, { enc: "vex", map: MAP_0F, marks: [a & 3, (a >> 2) & 1] });
            at += 2;
        } else if (first === 0xc4 || (first === 0x8f && (a & 31) > 7)) {
            const marks = [b & 3, (b >> 2) & 1, b >> 7];
            Object.assign(found, { enc: first === 0xc4 ? "vex" : "xop", map: a & 31, marks });
            at += 3;
        } else if (first === 0x62) {
            const marks = [b & 3, b >> 7, c >> 7, (c & 7) > 0];
            Object.assign(found, {
                enc: "evex",
                map: a & 7,
                marks,
                b: (c >> 4) & 1,
                L: (c >> 5) & 3,
            });
            at += 4;
        } else {
            if (found.rex & 8) found.marks.push("w");
            if (first === 0x0f) {
                found.map = { 0x38: 2, 0x3a: 3, 0x0f: 15 }[a] ?? MAP_0F;
                at += found.map === MAP_0F ? 1 : 2;
            }
        }
        // 3DNow! has its opcode at the end.
        if (found.map === 15) return { ...found, opcode: bytes.at(-1), at };
        return at < bytes.length ? { ...found, opcode: bytes[at], at: at + 1 } : null;
    }
    function hasModrm({ enc, map, opcode }) {
        if (enc !== "legacy") return !(map === MAP_0F && opcode === 0x77);
        if (map === 0) return opcode < 0x40 ? (opcode & 7) < 4 : withModrm(opcode);
        return map !== MAP_0F || !alone(opcode);
    }
    // Reads ModRM and what belongs to its address. Returns {mod, reg, rm, address, next}.
    function modrm(bytes, at, rex) {
        const byte = bytes[at++],
            [mod, reg, rm] = [byte >> 6, (byte >> 3) & 7, byte & 7];
        let base = mod < 3,
            index = "",
            wide = mod === 2 ? 4 : mod === 1 ? 1 : 0;
        if (mod < 3 && rm === 4) {
            const sib = bytes[at++];
            if (((sib >> 3) & 7) !== 4 || rex & 2) index = sib >> 6 ? "i*" : "i";
            if (mod === 0 && (sib & 7) === 5) [base, wide] = [false, 4];
        } else if (mod === 0 && rm === 5) {
            [base, wide] = ["rip", 4];
        }
        let away = 0;
        for (let i = wide - 1; i >= 0; i--)
            away = i === wide - 1 ? (bytes[at + i] << 24) >> 24 : (away << 8) | bytes[at + i];
        const near = base === true && away >= -128 && away <= 127,
            far = base !== true || away !== 0;
        const address = `${base}${index}${far ? (near ? "near" : "far") : ""}`;
        return { byte, mod, reg, rm, address, next: at + wide };
    }
    // Codes of x87 and of groups in which all of ModRM is the opcode.
    function wholeModrm({ map, opcode }, { mod, reg, byte }) {
        if (mod < 3) return false;
        if (map === MAP_0F) return opcode === 0x01 || (opcode === 0x1e && byte >= 0xf8);
        const reg7 = { 0xd9: reg > 1, 0xda: reg === 5, 0xdb: reg === 4, 0xde: reg === 3 };
        return map === 0 && (reg7[opcode] ?? (opcode === 0xdf && reg === 4));
    }
    const isHigh = (number, rex) => rex === null && number > 3;
    // Returns what all instances of a form share; null: the bytes are none.
    function signature(bytes) {
        const is = head(bytes);
        if (!is || bytes[is.at - 1] === undefined) return null;
        const { enc, map, marks, rex } = is;
        let { opcode } = is;
        if (!hasModrm(is)) {
            const low = map === 0 ? within("50-5f 91-97 b0-bf") : within("c8-cf");
            const numbered =
                enc === "legacy" && map < 2 && (low(opcode) || (opcode === 0x90 && rex & 1));
            const high = numbered && (opcode & 0xf8) === 0xb0 && isHigh(opcode & 7, rex);
            if (numbered) opcode &= 0xf8;
            return [enc, map, opcode, numbered, high, marks, bytes.length - is.at].join();
        }
        if (is.at >= bytes.length) return null;
        const m = modrm(bytes, is.at, rex),
            register = m.mod === 3;
        if (m.next > bytes.length) return null;
        const extended = enc === "legacy" || enc === "xop" || map < 3,
            group = extended && groups[map]?.(opcode),
            legacy = enc === "legacy";
        const high = [
            legacy && eightBits[map]?.(opcode) && !group && isHigh(m.reg, rex),
            legacy &&
                register &&
                (eightBits[map]?.(opcode) || eightBitsRead[map]?.(opcode)) &&
                isHigh(m.rm, rex),
        ];
        const address = legacy && map === 0 && opcode === 0x8d ? m.address : "",
            length = enc === "evex" ? [is.b, is.b && register ? "" : is.L] : [];
        return [
            ...[enc, map, opcode, marks, register, length, high, address],
            group ? m.reg : "",
            wholeModrm(is, m) ? m.byte : "",
            bytes.length - m.next,
        ].join();
    }

    // Forms by the signature of the instance that data/code.js has of each, and by their name and
    // encoding: such forms differ by options, which bytes do not show. Made once.
    let bySignature = null;
    const byName = new Map();
    const nameOf = (form) =>
        ["mnemonic", "operands", "enc"].map((column) => model.forms[column][form]).join();
    function prepare() {
        bySignature = new Map();
        const put = (map, key, form) =>
            map.has(key) ? map.get(key).push(form) : map.set(key, [form]);
        const { texts, forms } = model.code;
        for (let form = 0; form < model.forms.count; form++) {
            if (model.forms.bits[form] !== 64) continue;
            put(byName, nameOf(form), form);
            const [, [line]] = forms[form],
                [hex] = line === undefined ? [""] : texts[line].split(" ", 1);
            if (hex) put(bySignature, signature(bytesIn(hex)), form);
        }
    }
    const bytesIn = (hex) => hex.match(/../g).map((byte) => parseInt(byte, 16));
    // Returns the forms that bytes are; null: none, or data/code.js has not come yet.
    function decoded(text) {
        const bytes = bytesOf(text);
        if (!bytes || !model.code) return null;
        if (!bySignature) prepare();
        const key = signature(bytes),
            found = (key && bySignature.get(key)) || [];
        return found.length > 0 ? new Set(found.flatMap((form) => byName.get(nameOf(form)))) : null;
    }

    latput.formCode = {
        att,
        x87,
        decoded,
        isBytes: (text) => bytesOf(text.toLowerCase().trim()) !== null,
    };
})();
