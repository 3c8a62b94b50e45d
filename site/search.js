// SPDX-License-Identifier: MIT
// Finds the forms that a search means. All words must match: a class of operand (y, m256, r64,
// {k}), in the order of the operands; isa:, list:, ports:, enc:, rename:, outcome: and a part of
// that; bits:32; change:faster and doubt:yes, of the second CPU shown against the first; lat>5,
// tp<=1, uops=2; jne, shuffle, _mm_add_ps and other names are what data/words.js says; others are
// parts of the mnemonic, the extension or the list. * and ? stand for any characters of the
// mnemonic; - in front means: not. A text that is code, add rax, [rbx], means its forms. Words that
// find nothing so are sought in the headings and titles of lists: saving state.
"use strict";
(() => {
    const { model } = latput;
    const alias = new Map(
        Object.entries({
            xmm: "x",
            ymm: "y",
            zmm: "z",
            imm8: "i8",
            imm16: "i16",
            imm32: "i32",
            imm64: "i64",
        }),
    );
    const base = (operand) => operand.replace(/\{.*/, "").replace(/:.*/, "");
    let tables = null; // texts of the forms that words are compared with

    // Makes them; before the first search, so that the first view does not wait for it.
    function prepare() {
        if (tables) return;
        const forms = model.forms,
            lower = forms.texts.map((text) => text.toLowerCase());
        const operands = new Map(); // number of the text -> operands
        for (const i of new Set(forms.operands))
            operands.set(i, lower[i] === "" ? [] : lower[i].split(" "));
        const classes = new Set();
        for (const list of operands.values())
            for (const operand of list) classes.add(base(operand)).add(operand);
        tables = { lower, operands, classes };
    }

    // Returns a test of a text's number that is evaluated once per text.
    function cached(test) {
        const known = new Map();
        return (i) => {
            let answer = known.get(i);
            if (answer === undefined) known.set(i, (answer = test(i)));
            return answer;
        };
    }

    const contains = (column, part) => {
        const test = cached((i) => tables.lower[i].includes(part));
        return (form) => test(model.forms[column][form]);
    };

    // Returns true if a set of a glob, such as [a-c3], has the character.
    function has(set, character) {
        for (let i = 1; i < set.length - 1; i++)
            if (set[i + 1] === "-" && i + 3 < set.length) {
                if (set[i] <= character && character <= set[i + 2]) return true;
                i += 2;
            } else if (set[i] === character) return true;
        return false;
    }
    // Returns true if a glob matches a whole text. At a mismatch the last star takes one more
    // character, earlier ones need not, so the time is at most the product of the two lengths.
    const parts = new Map(); // glob -> its characters and sets
    function fits(whole, text) {
        if (!parts.has(whole)) parts.set(whole, whole.match(/\[[^\]]+\]|[^]/g) ?? []);
        const glob = parts.get(whole);
        const one = (part, character) =>
            part === "?" || part === character || (part?.length > 1 && has(part, character));
        let at = 0,
            star = -1,
            from = 0; // after the characters that the star takes
        for (let i = 0; i < text.length; ) {
            if (glob[at] === "*") {
                star = at++;
                from = i;
            } else if (one(glob[at], text[i])) {
                at++;
                i++;
            } else if (star >= 0) {
                at = star + 1;
                i = ++from;
            } else {
                return false;
            }
        }
        while (glob[at] === "*") at++;
        return at === glob.length;
    }

    function wildcard(word) {
        const test = cached((i) => fits(word, tables.lower[i]));
        return (form) => test(model.forms.mnemonic[form]);
    }

    // Returns the globs that a word of data/words.js means; undefined: it is none of them.
    function meant(word) {
        const known = model.words?.words ?? new Map();
        const isPattern = (name) => name.includes("*") && fits(name, word);
        return (known.get(word) ?? known.get([...known.keys()].find(isPattern)))?.split(";");
    }
    // Returns a test of the forms that a word means; null: it means none. A glob may begin with an
    // encoding: {vex} vpdpbusd x x x.
    function meaning(word) {
        const tests = meant(word)?.map((text) => {
            const [, enc, glob] = /^(?:\{(\w+)\} )?(.*)$/.exec(text),
                [mnemonic, ...operands] = glob.split(" "),
                rest = cached((i) => fits(operands.join(" "), tables.lower[i])),
                whole = wildcard(glob),
                first = wildcard(mnemonic);
            return (form) =>
                (!enc || model.forms.text("enc", form) === enc) &&
                (whole(form) || (first(form) && rest(model.forms.operands[form])));
        });
        return tests ? (form) => tests.some((test) => test(form)) : null;
    }

    // --- what lists say of forms; found as runner/list/form_described.c does ---

    const fillers = new Set(["a", "and", "by", "for", "from", "of", "the", "to", "with"]);
    const endings = new Set(["s", "es", "ed", "er", "ing", "ly"]);
    const wordsOf = (text) => text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
    function same(heading, asked) {
        const shorter = Math.min(heading.length, asked.length);
        let common = 0;
        while (common < shorter && heading[common] === asked[common]) common++;
        if (common === asked.length) return common === heading.length || common >= 3;
        if (common === heading.length) {
            // "rotated" is another form of "rotate", "addd" is none of "add".
            const rest = asked.slice(common);
            return endings.has(rest) || (rest === "d" && heading.endsWith("e"));
        }
        return common >= 4 && shorter - common <= 2;
    }
    // Returns a test of the forms that words describe; null: they describe none.
    function described(text) {
        const asked = wordsOf(text).filter((word) => !fillers.has(word));
        if (!model.words?.sections || asked.length === 0 || asked.length > 8) return null;
        const { forms } = model,
            said = (text) => {
                const words = wordsOf(text);
                return asked.map((word) => words.some((one) => same(one, word)));
            },
            all = (has) => has.every(Boolean);
        const sections = new Map(); // form -> what its heading says
        for (const [heading, runs] of model.words.sections) {
            const has = said(heading);
            if (has.some(Boolean))
                for (let i = 0; i < runs.length; i += 2)
                    for (let n = 0; n < runs[i + 1]; n++) sections.set(runs[i] + n, has);
        }
        const none = said(""),
            titled = cached((i) => said(model.listTitles.get(forms.texts[i]) ?? "")),
            section = (form) => sections.get(form) ?? none,
            title = (form) => titled(forms.list[form]);
        const levels = [
            (form) => all(section(form)),
            (form) => all(title(form)),
            (form) => all(section(form).map((has, i) => has || title(form)[i])),
        ];
        return levels.find((test) => any(test)) ?? null;
    }
    function any(test) {
        for (let form = 0; form < model.forms.count; form++) if (test(form)) return true;
        return false;
    }

    // --- code: add rax, [rbx]; translated as runner/list/form_glob.c does ---

    function named(names, word) {
        const stem = word.replace(/\d{1,2}(?=[bdw]?$)/, "#");
        return names.get(word) ?? names.get(stem) ?? names.get(`${word}#`);
    }
    // `general`: general registers and numbers become their classes, too.
    function operandGlob(word, general) {
        const { operands, registers } = model.words;
        const known = named(operands, word) ?? (general ? named(registers, word) : undefined);
        if (known !== undefined || !general || !/^\d[\da-fx]*$/.test(word)) return known;
        return word === "1" ? "[i1]*" : "i*";
    }
    const isNumber = (name) => /^\d/.test(name);
    function isRegister(name) {
        const known = !isNumber(name) && operandGlob(name, true) !== undefined;
        return known || /^r\d{1,2}$/.test(name);
    }
    // Returns the parts of an address: [b + i*4 + 8].
    function addressParts(text) {
        const parts = { distance: 0 };
        const term = /([-+]?) *(\w+)(?: *\* *(\w+))?/g;
        for (const [, sign, first, second] of text.matchAll(term)) {
            const swap = isNumber(first) && second && !isNumber(second),
                name = swap ? second : first,
                times = Number((swap ? first : second) ?? 1);
            if (isNumber(name)) parts.distance += (sign === "-" ? -1 : 1) * times * Number(name);
            else if (/^[xyz]mm\d*$/.test(name)) parts.vector = name[0];
            else if (name === "rip" || name === "rel") parts.rip = true;
            else if (!isRegister(name)) parts.symbol = true;
            else if (!parts.base && times === 1) parts.base = true;
            else parts.index = parts.index === 4 || times > 1 ? 4 : 1;
        }
        return parts;
    }
    function addressOfLea({ base, index, rip, symbol, distance }) {
        if (rip) return "agen:rip+d32";
        const near = base && !symbol && distance >= -128 && distance <= 127;
        const far = distance !== 0 || symbol || !base;
        const parts = [base && "b", index && (index === 4 ? "i*4" : "i")];
        return `agen:${[...parts, far && (near ? "d8" : "d32")].filter(Boolean).join("+")}`;
    }
    const MEMORY = "\u0001"; // before the glob of an address
    // Returns a text with globs in the place of addresses. `bare`: those without a size are memory
    // that has none in lists, not that of any size.
    function addresses(text, bare) {
        const sizes = [...model.words.sizes.keys()].join("|");
        const address = `[ ,](?:(${sizes}) )?(?:ptr )?\\[( *([a-z0-9_]+)([ +*-][^\\]]*)?)\\]`;
        return text.replace(new RegExp(address, "g"), (whole, size, inside, first, rest) => {
            const begins = isNumber(first)
                ? /^ *[+*]/.test(rest ?? "")
                : first.length > 1 && (isRegister(first) || first === "rip" || first === "rel");
            if (!begins) return whole;
            const parts = addressParts(inside);
            if (parts.vector) return ` ${MEMORY}vm[36][24]${parts.vector}`;
            if (text.startsWith("lea ")) return ` ${MEMORY}${addressOfLea(parts)}`;
            const any = bare ? "m" : "m*[0-9]"; // no broadcast
            return ` ${MEMORY}${model.words.sizes.get(size) ?? any}`;
        });
    }
    function translate(text, general, bare) {
        const [mnemonic, ...rest] = addresses(text, bare).split(/[ ,]+/);
        const word = (name) => operandGlob(name, general) ?? name;
        const operand = (text) => {
            const [before, memory] = text.split(MEMORY);
            if (memory === undefined) return before.replace(/[a-z0-9]+/g, word);
            const [, glob, marks] = /^([^{]*)(.*)$/.exec(memory);
            return glob + marks.replace(/[a-z0-9]+/g, word);
        };
        return [mnemonic, ...rest.map(operand)].join(" ");
    }
    const readings = [[false], [true], [true, true]];
    // Returns the globs that a text means as code, those with classes last; null: it is none.
    function code(text) {
        const outside = text.replace(/\[[^\]]*\]/g, "[]"); // of brackets: signs of searches
        if (!model.words || /[:<>=]|(^| )-/.test(outside)) return null;
        const [, head, rest] = /^(\w*)(.*)$/.exec(text);
        const heads = rest ? meant(head)?.map((glob) => glob.split(" ", 1)[0]) : undefined;
        // Among registers r8 is one; alone it is a class of lists.
        const others = rest.split(/\W+/).some((word) => named(model.words.registers, word)),
            rests = others || rest.includes("[") ? [rest, rest.replace(/\br8\b/g, "r9")] : [rest];
        const globs = (heads ?? [head]).flatMap((head) =>
            rests.flatMap((rest) => readings.map((reading) => translate(head + rest, ...reading))),
        );
        return globs.at(-1) === `${heads?.at(-1) ?? head}${rest}`.replace(/[ ,]+/g, " ")
            ? null
            : { globs, own: translate(text, true) };
    }
    // Returns the readings of a text: as AT&T writes it, with registers of x87.
    const { att, x87, decoded } = latput.formCode;
    const readingsOf = (text) => (att(text) ?? [text]).flatMap(x87);
    // Returns a test of the forms that code is; null: it is none, or not yet all of one.
    function codeTest(text) {
        const bytes = decoded(text);
        if (bytes) return (form) => bytes.has(form);
        const globs = readingsOf(text).flatMap((reading) => code(reading)?.globs ?? []);
        if (globs.length === 0) return null;
        const { forms } = model,
            found = new Set();
        const mayBe = cached((i) =>
            globs.filter((glob) => fits(`${glob.split(" ", 1)[0]}*`, tables.lower[i])),
        );
        for (let form = 0; form < forms.count; form++) {
            const own = mayBe(forms.mnemonic[form]);
            if (own.length === 0) continue;
            const name = `${forms.text("mnemonic", form)} ${forms.text("operands", form)}`;
            if (own.some((glob) => fits(glob, name.toLowerCase()))) found.add(form);
        }
        return found.size > 0 ? (form) => found.has(form) : null;
    }

    const columns = { lat: "result_latency_max_clk", tp: "rthroughput_clk", uops: "uops" };
    const compare = {
        "<": (a, b) => a < b,
        "<=": (a, b) => a <= b,
        ">": (a, b) => a > b,
        ">=": (a, b) => a >= b,
        "=": (a, b) => Math.abs(a - b) <= 0.02 * Math.max(1, Math.abs(b)),
    };
    // Compares a number with those of any of the shown CPUs.
    function number(match, cpus) {
        const column = columns[match[1]],
            test = compare[match[2]],
            scale = match[1] === "uops" ? 1 : 1000;
        const value = Number(match[3]);
        return (form) =>
            cpus.some(({ table }) => {
                const got = table.number(column, form);
                return got !== null && test(got / scale, value);
            });
    }
    const ofCpu = (column, part, cpus) => (form) =>
        cpus.some(({ table }) => (table.text(column, form) ?? "").toLowerCase().includes(part));

    const judged = (form, [one, two]) =>
        two ? latput.compare.judge(one.table, two.table, form) : null;

    const fields = {
        isa: (part) => contains("isa", part),
        ext: (part) => contains("isa", part),
        list: (part) => contains("list", part),
        enc: (part) => contains("enc", part),
        option: (part) => contains("options", part),
        rename: (part, cpus) => ofCpu("at_rename", part, cpus),
        bits: (part) => (form) => String(model.forms.bits[form]) === part,
        change: (part, cpus) => (form) => judged(form, cpus)?.change === part,
        doubt: (part, cpus) => (form) => judged(form, cpus)?.sure === (part === "no"),
    };

    // Matches operands in the given order, with others between them.
    function operandsTest(words) {
        const matches = (operand, word) =>
            word.startsWith("{")
                ? operand.includes(word)
                : /[*[]/.test(word)
                  ? fits(word, operand) || fits(word, base(operand))
                  : operand === word ||
                  base(operand) === word ||
                  (word === "m" && /^v?m\d/.test(operand));
        const test = cached((i) => {
            let at = 0;
            for (const operand of tables.operands.get(i))
                if (at < words.length && matches(operand, words[at])) {
                    at++;
                    while (
                        at < words.length &&
                        words[at].startsWith("{") &&
                        matches(operand, words[at])
                    )
                        at++; // decorations of the same operand
                }
            return at === words.length;
        });
        return (form) => test(model.forms.operands[form]);
    }

    function wordTest(word, cpus) {
        const field = /^([a-z]+):(.+)$/.exec(word),
            relation = /^(lat|tp|uops)(<=|>=|<|>|=)([\d.]+)$/.exec(word);
        if (relation) return number(relation, cpus);
        if (field && Object.hasOwn(fields, field[1])) return fields[field[1]](field[2], cpus);
        // Texts of CPUs, by the headings of their columns: ports, outcome, note.
        const column = latput.columns.columns.find(
            ({ type, heading }) => field && type === "text" && heading === field[1],
        );
        if (column) return ofCpu(column.name, field[2], cpus);
        if (/[*?]/.test(word)) return wildcard(word);
        const meant = meaning(word);
        if (meant) return meant;
        const tests = ["mnemonic", "isa", "list"].map((column) => contains(column, word));
        return (form) => tests.some((test) => test(form));
    }

    const plain = (text) =>
        text
            .toLowerCase()
            .trim()
            .replace(/(?:\b[c-gs]s:\[|\[[c-gs]s:)(?=\d)/g, "[rip+") // a segment, a number
            .replace(/\b[c-gs]s:\[|\[[c-gs]s:/g, "[")
            .replace(/\{r[nduz]-sae\}/g, "{er}")
            .replace(/(^|\s)(_\w+)\s*\(.*?(\)|$)/g, "$1$2"); // as code calls it
    function words(text) {
        if (text.trim() === "") return [];
        prepare();
        const lower = readingsOf(plain(text)).at(-1),
            known = code(lower);
        return (known?.own ?? lower)
            .split(/[\s,]+/)
            .filter(Boolean)
            .map((written) => {
                const not = written.length > 1 && written.startsWith("-");
                const bare = not ? written.slice(1) : written;
                const word = alias.get(bare) ?? bare;
                const operand =
                    word.startsWith("{") ||
                    tables.classes.has(word) ||
                    word === "m" ||
                    (known !== null && /[*[]/.test(word));
                return { word, not, operand };
            });
    }

    // Returns true if a search asks for forms that are hidden otherwise.
    const asks = {
        absent: (text) => /(^|\s)(outcome|change):/.test(text),
        bits32: (text) => /(^|\s)(bits|change):/.test(text),
    };

    // Returns a predicate on numbers of forms.
    function parse(text, cpus) {
        const phrase = wordsOf(text).join(" "),
            lower = plain(text),
            isWords = /^[a-z][a-z -]*$/.test(lower);
        if (lower === "") return () => true;
        prepare();
        const exact = (isWords && phrase.includes(" ") && meaning(phrase)) || codeTest(lower);
        if (exact) return exact;
        const test = parseWords(text, cpus);
        return isWords && !any(test) ? (described(lower) ?? test) : test;
    }
    function parseWords(text, cpus) {
        const tests = [],
            operands = [];
        for (const { word, not, operand } of words(text)) {
            if (operand && !not) {
                operands.push(word);
                continue;
            }
            const test = operand ? operandsTest([word]) : wordTest(word, cpus);
            tests.push(not ? (form) => !test(form) : test);
        }
        if (operands.length > 0) tests.push(operandsTest(operands));
        return (form) => tests.every((test) => test(form));
    }

    // Ranks a form's mnemonic for a search: 0 it is one of the words, 1 it begins with one, 2 it
    // contains one, 3 something else was found. null: no word can be part of a mnemonic.
    const RANKS = 4;
    function rank(text) {
        const parts = words(text)
            .filter(({ word, not, operand }) => !not && !operand && !/[:<>=*?]/.test(word))
            .map(({ word }) => word);
        if (parts.length === 0) return null;
        const one = (mnemonic, part) =>
            mnemonic === part
                ? 0
                : mnemonic.startsWith(part)
                  ? 1
                  : mnemonic.includes(part)
                    ? 2
                    : RANKS - 1;
        const best = cached((i) => Math.min(...parts.map((part) => one(tables.lower[i], part))));
        return (form) => best(model.forms.mnemonic[form]);
    }

    // --- suggestions for what finds nothing, as runner/util/suggest.c makes them ---

    function distance(a, b) {
        let row = Array.from({ length: b.length + 1 }, (_, i) => i);
        for (let i = 1; i <= a.length; i++) {
            const next = [i];
            for (let j = 1; j <= b.length; j++)
                next[j] = Math.min(
                    row[j] + 1,
                    next[j - 1] + 1,
                    row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1),
                );
            row = next;
        }
        return row[b.length];
    }
    // Returns the search that may be meant by one that finds nothing; null: none is near.
    function suggest(text) {
        prepare();
        const lower = plain(text),
            several = /^[a-z][a-z -]*$/.test(lower),
            asked = several ? lower : lower.split(/[ ,(]/, 1)[0];
        if (asked === "" || asked.length > 48) return null;
        const names = [
            ...Array.from(new Set(model.forms.mnemonic), (i) => tables.lower[i]),
            ...(model.words?.words.keys() ?? []),
            ...[...(model.words?.sections?.keys() ?? [])].map((name) => name.toLowerCase()),
        ].filter((name) => !name.includes("*") && name !== asked);
        // Short words have many neighbours, of which half of the letters must be right.
        let best = null,
            least = Math.min(3, asked.length < 3 ? 2 : Math.ceil((asked.length + 1) / 2));
        for (const name of names) {
            if (Math.abs(name.length - asked.length) >= least) continue;
            const far = distance(asked, name);
            if (far < least && far < Math.max(name.length, asked.length)) {
                least = far;
                best = name;
            }
        }
        return best && best + lower.slice(asked.length);
    }

    const baseNames = "I386|I486|X86_64|CMOV|CX8|CX16";
    const baseIsa = new RegExp(`^(${baseNames}|LAHF_LM|NOPL|PAUSE|TSC)([+](${baseNames}))*$`);
    // Returns the group of view.groups that an extension is in.
    function groupOf(isa) {
        if (/AVX512|AVX10/.test(isa)) return "avx512";
        if (/AVX2|AVX_|FMA|F16C|VAES|VPCLMUL|XOP/.test(isa)) return "avx2";
        if (/AVX/.test(isa)) return "avx";
        if (/SSE/.test(isa)) return "sse";
        if (/MMX|3DNOW/.test(isa)) return "mmx";
        if (/X87/.test(isa)) return "fpu";
        return baseIsa.test(isa) ? "base" : "others";
    }
    function groupTest(wanted) {
        const test = cached((i) => wanted.has(groupOf(model.forms.texts[i])));
        return (form) => test(model.forms.isa[form]);
    }

    latput.search = { prepare, parse, suggest, fits, asks, rank, RANKS, groupOf, groupTest };
})();
