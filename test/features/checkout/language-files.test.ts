import { execFileSync, spawn } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { second } from "../../../src/kernel/clock.ts";
import {
  counted,
  fill,
  fillCounted,
  formatDuration,
  formatPrice,
  formatTime,
  type Catalogue,
  type TextKey,
} from "../../../src/features/checkout/page/catalogue.ts";
import { english } from "../../../src/features/checkout/page/generated/english.ts";
import {
  checkLanguages,
  parseLanguage,
} from "../../../src/features/checkout/page/language-file.ts";
import { chooseLanguage } from "../../../src/features/checkout/page/language-tags.ts";
import { openLanguages, type Languages } from "../../../src/features/checkout/page/languages.ts";
import { makeLinkPage, makePosterPage } from "../../../src/features/checkout/page/link-pages.ts";
import { makeVerifyPage } from "../../../src/features/checkout/page/verify-page.ts";
import { aHash, anInvoice, aPayment, checkoutId, openLab, startOfTime, type Lab } from "./lab.ts";
import { en, shippedLanguages } from "./shipped-languages.ts";

const dutch = "lang: nl\ndir: ltr\nname: Nederlands\n";

/** Returns what is wrong with a file of Dutch, or of another language. */
function problemsOf(text: string, lang = "nl", isNew = true): string[] {
  const parsed = parseLanguage(lang, text, isNew);
  if (parsed.ok) return [];
  return parsed.problems.map(({ path, line, message }) => `${path}:${String(line)} ${message}`);
}

describe("a file of a language", () => {
  it("has all its mistakes listed at once, unknown entries among them", () => {
    const text =
      "payTwo: &a x\nname: Nederlands\npayTo: *a\nconfirmationCount: { otehr: x }\n__proto__: x\n";
    expect(problemsOf(text)).to.deep.equal([
      "payTwo:1 is not a known entry; did you mean payTo?",
      "__proto__:5 is not a known entry",
      "confirmationCount.otehr:4 must have the placeholders {current}, {required}, as in English, not none",
      "confirmationCount.otehr:4 is not a plural form of this language, which has one, other",
      "confirmationCount.other:4 is missing: it is for all other numbers",
      "dir:1 is missing: write ltr or rtl",
    ]);
  });

  it("has only its name listed if that is wrong", () => {
    expect(problemsOf(dutch, "NL.yml")).to.deep.equal([
      ":1 must be named by the tag of a language and .yaml, such as nl.yaml or pt-BR.yaml",
    ]);
  });

  it("has the texts that its author wants to give", () => {
    expect(problemsOf(`${dutch}payTo: Betaling aan\n`)).to.deep.equal([]);
    expect(problemsOf("payTo: Zahlung\n", "de", false)).to.deep.equal([]);
    expect(problemsOf("", "de", false)).to.deep.equal([]);
    expect(problemsOf("payTitle: '{merchant}: {amount}, {amount}'", "de", false)).to.deep.equal([]);
    expect(problemsOf("purpose: 'به‌خاطرِ \u200f1'", "fa", false)).to.deep.equal([]);
  });

  const placeholders = "must have the placeholders {amount}, {merchant}, as in English, not";
  for (const [about, text, problem] of [
    ["is empty", "", "dir:1 is missing: write ltr or rtl"],
    [
      "has no name",
      "dir: ltr\n",
      "name:1 is missing: write the language's name in the language itself",
    ],
    ["holds a list", "- payTo\n", ":1 must be a mapping"],
    ["is not YAML", `${dutch}payTo: "x\n`, /^:\d is not valid YAML: Missing closing "quote/],
    [
      "has a text twice",
      `${dutch}payTo: x\npayTo: y\n`,
      ":5 is not valid YAML: Map keys must be unique",
    ],
    [
      "is two documents",
      `${dutch}---\n${dutch}`,
      /^:\d is not valid YAML: Source contains multiple/,
    ],
    [
      "multiplies itself by aliases",
      `${dutch}payTo: &a [x,x,x,x,x,x,x,x,x,x]\norder: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nprice: [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n`,
      ":1 uses too many YAML aliases",
    ],
    [
      "nests its texts without limit",
      `${dutch}payTo: ${"[".repeat(2_500)}${"]".repeat(2_500)}\n`,
      ":1 is nested more than 100 levels deep",
    ],
    [
      "uses an alias of nothing",
      `${dutch}payTo: *nothing\nnothing: &nothing x\n`,
      ":4 uses the alias *nothing, but nothing before it is named &nothing: a text that begins with * must be in quotes",
    ],
    [
      "gives a key by an alias of nothing",
      `${dutch}? *__proto__\n: x\n`,
      ":4 uses the alias *__proto__, but nothing before it is named &__proto__: a text that begins with * must be in quotes",
    ],
    [
      "has forms twice",
      `${dutch}confirmationCount:\n  other: x\n  other: y\n`,
      ":6 is not valid YAML: Map keys must be unique",
    ],
    [
      "joins a number to a mapping",
      `%YAML 1.1\n---\n${dutch}<<: 5\n`,
      /^:1 is not valid YAML: Merge sources must be/,
    ],
    ["holds itself", "--- &a\nlang: *a\n", "lang:2 must be text"],
    [
      "has an unknown text",
      `${dutch}payTwo: x\n`,
      "payTwo:4 is not a known entry; did you mean payTo?",
    ],
    [
      "has a text without quotes with a colon",
      `${dutch}payTo: Let op: betaal aan\n`,
      /^:4 is not valid YAML: Nested mappings.*; a text with ": " must be in quotes$/,
    ],
    ["has a name of objects", `${dutch}__proto__: x\n`, "__proto__:4 is not a known entry"],
    ["has a number for a text", `${dutch}payTo: 12\n`, "payTo:4 must be text"],
    ["has a list for a text", `${dutch}payTo: [x]\n`, "payTo:4 must be text"],
    ["has nothing for a text", `${dutch}payTo:\n`, "payTo:4 must be text"],
    [
      "has forms of a text without a number",
      `${dutch}payTo: { other: x }\n`,
      "payTo:4 must be text",
    ],
    [
      "has an empty text",
      `${dutch}payTo: " "\n`,
      "payTo:4 is empty: write a text, or remove the entry",
    ],
    [
      "has a text that nobody sees",
      `${dutch}payTo: "\u200b\u2060"\n`,
      "payTo:4 has no visible character: write a text, or remove the entry",
    ],
    [
      "has a name that nobody sees",
      'dir: ltr\nname: "\u200b"\n',
      "name:2 has no visible character: write a text, or remove the entry",
    ],
    [
      "has a long text",
      `${dutch}payTo: ${"x".repeat(1_001)}\n`,
      "payTo:4 must be at most 1000 characters",
    ],
    [
      "lacks a placeholder",
      `${dutch}payTitle: "{amount}"\n`,
      `payTitle:4 ${placeholders} {amount}`,
    ],
    ["has none", `${dutch}payTitle: x\n`, `payTitle:4 ${placeholders} none`],
    [
      "misspells a placeholder",
      `${dutch}payTitle: "{amuont} {merchant}"\n`,
      `payTitle:4 ${placeholders} {amuont}, {merchant}`,
    ],
    [
      "has one placeholder more",
      `${dutch}payTo: "{constructor}"\n`,
      "payTo:4 must have no placeholder, as in English, not {constructor}",
    ],
    [
      "has a brace alone",
      `${dutch}payTo: "x {"\n`,
      "payTo:4 has a brace that belongs to no placeholder: remove it",
    ],
    [
      "turns an amount around",
      `${dutch}price: "\\u202e{amount}"\n`,
      "price:4 has the character U+202E, which may change how amounts look: remove it",
    ],
    [
      "ends an isolation",
      `${dutch}price: "\\u2069{amount}"\n`,
      "price:4 has the character U+2069, which may change how amounts look: remove it",
    ],
    [
      "has a control character",
      `${dutch}payTo: "a\\0b"\n`,
      "payTo:4 has the character U+0000, which may change how amounts look: remove it",
    ],
    [
      "has half a character",
      `${dutch}mailSubject: "\\ud800 {reference}"\n`,
      "mailSubject:4 has the character U+D800, which may change how amounts look: remove it",
    ],
    [
      "names another language",
      "lang: de\ndir: ltr\nname: x\n",
      "lang:1 must be nl, like the name of the file",
    ],
    ["has no direction of text", "dir: up\nname: x\n", "dir:1 must be ltr or rtl"],
  ] as const) {
    it(`is refused if it ${about}`, () => {
      const [found] = problemsOf(text);
      if (typeof problem === "string") expect(found).to.equal(problem);
      else expect(found).to.match(problem);
    });
  }

  it("has up to 20 mistakes listed, and the number of the others", () => {
    const unknown = (count: number) =>
      Array.from({ length: count }, (_, n) => `k${String(n)}: x\n`).join("");
    expect(problemsOf(dutch + unknown(20))).to.have.length(20);
    const more = problemsOf(dutch + unknown(21));
    expect(more.slice(-2)).to.deep.equal([
      "k19:23 is not a known entry",
      ":1 has one more problem",
    ]);
    // As many as a file may have. Each kind of mistake counts, whether the schema finds it or what reads the texts.
    const text = `${unknown(25_000)}payTitle: x\n`;
    const most = problemsOf(text);
    expect(most.slice(-2)).to.deep.equal([
      "k19:20 is not a known entry",
      ":1 has 24983 more problems",
    ]);
    expect(problemsOf(dutch + unknown(25_000) + unknown(25)).at(-1)).to.equal(
      ":1 has 5 more problems",
    );
    const aliases = Array.from({ length: 10_000 }, (_, n) => `k${String(n)}: *a\n`).join("");
    expect(problemsOf(dutch + aliases)).to.have.length(21);
  });

  it("has a name that is the tag of a language", () => {
    const complete = "dir: ltr\nname: x\n";
    for (const [lang, problem] of [
      ["pt-PT", undefined],
      ["zh-Hant", undefined],
      ["pt-pt", ":1 must be named pt-PT.yaml"],
      ["iw", ":1 must be named he.yaml"],
      ["ar-u-nu-arab", ":1 must be named ar.yaml, without extension or private use"],
      ["de-u-co-phonebk", ":1 must be named de.yaml, without extension or private use"],
      ["ar-EG-x-foo", ":1 must be named ar-EG.yaml, without extension or private use"],
      ["en-t-ja", ":1 must be named en.yaml, without extension or private use"],
      ["en-a-bbb", ":1 must be named en.yaml, without extension or private use"],
      ["de-DE-1996", undefined],
      ["ca-ES-valencia", undefined],
      ["dutch-language", ":1 is for a language whose numbers and dates this Node.js cannot write"],
      [
        "nl_NL",
        ":1 must be named by the tag of a language and .yaml, such as nl.yaml or pt-BR.yaml",
      ],
      [
        "nl.yml",
        ":1 must be named by the tag of a language and .yaml, such as nl.yaml or pt-BR.yaml",
      ],
      ["x-y", ":1 must be named by the tag of a language and .yaml, such as nl.yaml or pt-BR.yaml"],
    ] as const) {
      expect(problemsOf(complete, lang)[0], lang).to.equal(problem);
    }
  });

  it("is refused if pages could not be formatted in its language", () => {
    const variants = Array.from({ length: 40 }, (_, n) => `v${String(n).padStart(4, "0")}`);
    const langs = [
      ...["ar-EG", "ar-u-nu-arab", "ar-EG-x-foo", "ar-t-de", "de-u-co-phonebk", "de-a-bbb"],
      // Intl refuses tags from a certain length.
      ...variants.map((_, n) => ["de", ...variants.slice(0, n)].join("-")),
    ];
    for (const lang of langs) {
      if (problemsOf("dir: ltr\nname: x\n", lang).length > 0) continue;
      const text = { ...en, lang };
      expect(formatTime(text, startOfTime), lang).to.contain("2026");
      expect(formatDuration(text, 5 * second), lang).to.contain("5");
      expect(formatPrice(text, "25.00", "EUR"), lang).to.match(/25[,.٫]00/);
    }
  });

  it("may have plural forms of a text with a counted number, of which one is for all other numbers", () => {
    const forms = (given: string) => problemsOf(`confirmationCount: { ${given} }\n`, "ru", false);
    const text = '"{current} {required}"';
    expect(forms(`one: ${text}, few: ${text}, many: ${text}, other: ${text}`)).to.deep.equal([]);
    expect(forms(`other: ${text}`)).to.deep.equal([]);
    expect(forms(`one: ${text}`)).to.deep.equal([
      "confirmationCount.other:1 is missing: it is for all other numbers",
    ]);
    expect(forms(`two: ${text}, other: ${text}`)).to.deep.equal([
      "confirmationCount.two:1 is not a plural form of this language, which has few, many, one, other",
    ]);
    expect(forms(`one: "{current}", other: ${text}`)).to.deep.equal([
      "confirmationCount.one:1 must have the placeholders {current}, {required}, as in English, not {current}",
    ]);
    expect(forms(`other: 5`)).to.deep.equal(["confirmationCount.other:1 must be text"]);
  });
});

describe("the check of all files of languages", () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "till-languages-"));
    cpSync(new URL("../../../config/languages/", import.meta.url), folder, { recursive: true });
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const checked = (own: string | null = null) =>
    checkLanguages(own, pathToFileURL(`${folder}/`)).map(({ name, message }) =>
      `${name} ${message}`.replaceAll(folder, "F"),
    );

  /** Replaces the line of a text; its number. */
  function change(lang: string, key: keyof typeof english, line: string): number {
    const path = join(folder, `${lang}.yaml`);
    const lines = readFileSync(path, "utf8").split("\n");
    const at = lines.findIndex((each) => each.startsWith(`${key}:`));
    lines[at] = line;
    writeFileSync(path, lines.join("\n"));
    return at + 1;
  }

  it("accepts the shipped ones as they are, and texts of translations that an operator has changed", () => {
    expect(checkLanguages(null)).to.deep.equal([]);
    change("de", "payTo", "payTo: Geld an");
    expect(checked()).to.deep.equal([]);
  });

  it("names each file and line, and what to do", () => {
    const at = change("de", "payTitle", 'payTitle: "Zahle <b>{amont}"');
    rmSync(join(folder, "fr.yaml"));
    writeFileSync(join(folder, "it.yaml"), Buffer.from("payTo: \xe9\n", "latin1"));
    writeFileSync(join(folder, "nl.yaml"), dutch);
    // Of editors and systems, which no page reads.
    for (const other of [".nl.yaml.swp", ".DS_Store", "nl.yaml~"])
      writeFileSync(join(folder, other), "");
    const name = change("ja", "name", "name: 日本");
    const english = change("en", "payTo", "payTo: Pay");
    change("en", "purpose", "");
    const own = join(folder, "own");
    mkdirSync(own);
    writeFileSync(join(own, "de.yaml"), "payTwo: x\n");
    const told = checked(own);
    rmSync(own, { recursive: true });
    const stale =
      "differs from what the program was built with: restore the file, or run npm run docs after a change of the sources";
    const alien =
      "is not a language of the program: move it to the folder that TILL_LANGUAGES_FOLDER names, or run npm run docs if it is one of the sources";
    expect(told).to.have.members([
      `payTitle in F/de.yaml:${String(at)} must have the placeholders {amount}, {merchant}, as in English, not {amont}`,
      "F/fr.yaml:1 cannot be read (ENOENT): restore the file",
      "F/it.yaml:1 is not UTF-8 text: save it as UTF-8: restore the file",
      `name in F/ja.yaml:${String(name)} ${stale}`,
      `payTo in F/en.yaml:${String(english)} ${stale}`,
      `purpose in F/en.yaml:1 ${stale}`,
      `F/nl.yaml ${alien}`,
      "payTwo in F/own/de.yaml:1 is not a known entry; did you mean payTo?",
    ]);
  });

  it("says so if the whole folder is missing", () => {
    rmSync(folder, { recursive: true });
    expect(checked()).to.have.length(shippedLanguages.offered.length);
    mkdirSync(folder);
  });
});

describe("the merchant's own folder of languages", () => {
  let folder: string;
  let problems: string[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "till-languages-"));
    problems = [];
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  /** Returns the languages with these files. */
  function opened(files: Readonly<Record<string, string>>, path = folder): Languages {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return openLanguages(path, ({ name, message }) => problems.push(`${name} ${message}`));
  }

  it("adds a language, whose missing texts are those in English", () => {
    const languages = opened({ "nl.yaml": `${dutch}payTo: Betaling aan\n`, "README.md": "x" });
    expect(problems).to.deep.equal([]);
    expect(languages.textsOf("nl")).to.include({
      lang: "nl",
      dir: "ltr",
      name: "Nederlands",
      payTo: "Betaling aan",
      purpose: english.purpose,
    });
    const names = languages.offered.map(({ name }) => name);
    expect(names.slice(4, 8)).to.deep.equal([
      ...["Français", "Italiano", "Nederlands", "Português (Brasil)"],
    ]);
    expect(names).to.have.length(shippedLanguages.offered.length + 1);
    expect(chooseLanguage(languages, "nl-BE,fr;q=0.9")).to.equal("nl");
    expect(languages.textsOf("de").offered).to.deep.equal(languages.offered);
  });

  it("replaces texts of a shipped language and leaves the others, also in English", () => {
    const languages = opened({
      "de.yaml": 'payTo: "Geld an"\n',
      "en.yaml": "name: English (UK)\npurpose: Purpose\n",
      "nl.yaml": dutch,
    });
    expect(problems).to.deep.equal([]);
    const { offered: _, ...shipped } = shippedLanguages.textsOf("de");
    expect(languages.textsOf("de")).to.deep.include({ ...shipped, payTo: "Geld an" });
    expect(languages.textsOf("en")).to.include({ purpose: "Purpose", payTo: english.payTo });
    expect(languages.textsOf("nl")).to.include({ purpose: "Purpose", payTo: english.payTo });
    expect(languages.offered).to.deep.include({ lang: "en", name: "English (UK)" });
  });

  it("is not used where a file is faulty: the shipped texts stay, and a new language is not offered", () => {
    const languages = opened({
      "nl.yaml": "payTo: Betaling aan\n",
      "de.yaml": "payTo: Geld an\npayTitle: x\n",
      "it.yaml": "payTo: A\n",
      "sv.yml": "dir: ltr\nname: Svenska\n",
    });
    expect(problems.map((each) => each.replaceAll(folder, "F"))).to.have.members([
      "payTitle in F/de.yaml:2 must have the placeholders {amount}, {merchant}, as in English, not none",
      "dir in F/nl.yaml:1 is missing: write ltr or rtl",
      "name in F/nl.yaml:1 is missing: write the language's name in the language itself",
      "F/sv.yml:1 must be named by the tag of a language and .yaml, such as nl.yaml or pt-BR.yaml",
    ]);
    const shipped = shippedLanguages.textsOf("de");
    expect(languages.textsOf("de")).to.deep.include({ payTo: shipped.payTo });
    expect(languages.textsOf("it").payTo).to.equal("A");
    expect(languages.offered).to.deep.equal(shippedLanguages.offered);
  });

  it("may be missing, hold too much, and hold what cannot be read, without keeping the pages away", () => {
    const missing = opened({}, join(folder, "none"));
    expect(missing.offered).to.deep.equal(shippedLanguages.offered);
    mkdirSync(join(folder, "fr.yaml"));
    symlinkSync(join(folder, "nowhere"), join(folder, "es.yaml"));
    opened({ "nl.yaml": `${dutch}# ${"x".repeat(262_144)}\n` });
    expect(problems.map((each) => each.replaceAll(folder, "F"))).to.have.members([
      "F/none cannot be read as a folder of languages (ENOENT)",
      "F/es.yaml:1 cannot be read (ENOENT)",
      "F/fr.yaml:1 is not a regular file: remove it from the folder",
      "F/nl.yaml:1 is larger than 256 KiB",
    ]);
    problems = [];
    opened(Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`${String(n)}.yaml`, ""])));
    expect(problems).to.deep.equal([`${folder} has more than 200 files of languages`]);
  });

  it("is not kept waiting by a pipe or a device", () => {
    const pipe = join(folder, "nl.yaml");
    execFileSync("sh", ["-c", 'mkfifo "$0"', pipe]);
    symlinkSync("/dev/null", join(folder, "it.yaml"));
    // Writes once something reads the pipe, so that a reader is not kept waiting either.
    const writer = spawn("sh", ["-c", 'echo x > "$0"', pipe], { stdio: "ignore" });
    try {
      expect(opened({}).offered).to.deep.equal(shippedLanguages.offered);
    } finally {
      writer.kill();
    }
    expect(problems.map((each) => each.replaceAll(folder, "F"))).to.have.members([
      "F/it.yaml:1 is not a regular file: remove it from the folder",
      "F/nl.yaml:1 is not a regular file: remove it from the folder",
    ]);
  });

  it("is independent of a shipped file that is damaged: its texts are in English", () => {
    const own = join(folder, "own");
    mkdirSync(own);
    writeFileSync(join(own, "de.yaml"), "payTo: Geld an\n");
    writeFileSync(join(folder, "de.yaml"), "payTo: [\n");
    writeFileSync(join(folder, "en.yaml"), `payTitle: "${"x".repeat(300_000)}"\n`);
    const languages = openLanguages(
      own,
      ({ name, message }) => problems.push(`${name} ${message}`),
      pathToFileURL(`${folder}/`),
    );
    expect(problems).to.deep.equal([]);
    const { purpose, payTitle } = english;
    expect(languages.textsOf("de")).to.include({ lang: "de", payTo: "Geld an", purpose });
    expect(languages.textsOf("en")).to.include({ payTitle, dir: "ltr", name: "English" });
    // The page says which language it is in.
    expect(languages.textsOf("ja")).to.include({ lang: "en", name: "English", purpose });
    expect(languages.offered).to.deep.equal(shippedLanguages.offered);
    const said = problems.map((each) => each.replaceAll(folder, "F"));
    // The English texts are a part of the program: no page reads their file.
    expect(said.filter((each) => each.includes("en.yaml"))).to.deep.equal([]);
    expect(said[0]).to.match(/^F\/de\.yaml:\d is not valid YAML/);
    expect(said.at(-1)).to.equal("F/ja.yaml:1 cannot be read (ENOENT)");
    // Told once, not with each page.
    expect(languages.textsOf("ja")).to.include({ purpose });
    expect(problems).to.have.length(said.length);
  });

  it("waits for a shipped file that cannot be read for a moment", () => {
    const shipped = new URL("../../../config/languages/", import.meta.url);
    const own = join(folder, "own");
    mkdirSync(own);
    writeFileSync(join(own, "it-CH.yaml"), "payTo: Conto\n");
    for (const name of ["en.yaml", "fr.yaml"])
      copyFileSync(new URL(name, shipped), join(folder, name));
    // Neither is the file of a language.
    mkdirSync(join(folder, "it.yaml"));
    writeFileSync(join(folder, "fr.yaml"), Buffer.from("payTo: \xe9\n", "latin1"));
    const languages = openLanguages(
      own,
      ({ name, message }) => problems.push(`${name} ${message}`),
      pathToFileURL(`${folder}/`),
    );
    const { purpose } = english;
    for (const _page of ["first", "second"]) {
      expect(languages.textsOf("it")).to.include({ lang: "en", dir: "ltr", purpose });
      expect(languages.textsOf("it-CH")).to.include({ lang: "it-CH", payTo: "Conto", purpose });
      expect(languages.textsOf("fr")).to.include({ lang: "en", purpose });
    }
    expect(problems.map((each) => each.replaceAll(folder, "F"))).to.deep.equal([
      "F/it.yaml:1 is not a regular file: remove it from the folder",
      "F/fr.yaml:1 is not UTF-8 text: save it as UTF-8",
    ]);
    rmSync(join(folder, "it.yaml"), { recursive: true });
    for (const name of ["it.yaml", "fr.yaml"])
      copyFileSync(new URL(name, shipped), join(folder, name));
    const { purpose: italian } = shippedLanguages.textsOf("it");
    expect(languages.textsOf("it-CH")).to.include({ payTo: "Conto", purpose: italian });
    for (const lang of ["it", "fr"]) {
      expect(languages.textsOf(lang)).to.deep.include({
        ...shippedLanguages.textsOf(lang),
        offered: languages.offered,
      });
    }
    // Once read, a file is not read again.
    rmSync(join(folder, "it.yaml"));
    expect(languages.textsOf("it")).to.include({ lang: "it", purpose: italian });
    expect(problems).to.have.length(2);
  });

  it("holds texts in UTF-8, with or without a byte order mark", () => {
    writeFileSync(join(folder, "da.yaml"), Buffer.from(`${dutch}payTo: Beløb`, "latin1"));
    writeFileSync(join(folder, "sv.yaml"), Buffer.from(`\ufeff${dutch}`, "utf16le"));
    const languages = opened({ "nl.yaml": `\ufeff${dutch}payTo: Aan wie?\n` });
    expect(problems.map((each) => each.replaceAll(folder, "F"))).to.deep.equal([
      "F/da.yaml:1 is not UTF-8 text: save it as UTF-8",
      "F/sv.yaml:1 is not UTF-8 text: save it as UTF-8",
    ]);
    expect(languages.textsOf("nl")).to.include({ payTo: "Aan wie?", name: "Nederlands" });
  });

  it("completes a region's file by the language's, in the same script, and then by English", () => {
    const german = shippedLanguages.textsOf("de");
    const languages = opened({
      "de.yaml": "payTo: Geld an\n",
      "de-AT.yaml": "purpose: Wofür\n",
      "de-CH.yaml": "",
      "pt-PT.yaml": "payTo: Para\n",
      "nl.yaml": `${dutch}payTo: Aan\n`,
      "nl-BE.yaml": "purpose: Waarvoor\n",
      "fa.yaml": "dir: rtl\nname: فارسی\n",
      "fa-AF.yaml": "payTo: به\n",
      "sr.yaml": "dir: ltr\nname: Српски\npayTo: Плаћање\n",
      "sr-Latn.yaml": "dir: ltr\nname: Srpski\n",
      "sr-Latn-ME.yaml": "purpose: Za\n",
      "zh-Hant.yaml": "dir: ltr\nname: 繁體中文\npayTo: 付款給\n",
      "zh-HK.yaml": "purpose: 用途\n",
      "zh-Hans-SG.yaml": "purpose: 用途\n",
      "en-AU.yaml": "purpose: Aim\n",
    });
    expect(problems).to.deep.equal([]);
    const { order, amountToPay } = english;
    for (const [lang, texts] of Object.entries({
      "de-AT": { dir: "ltr", payTo: "Geld an", purpose: "Wofür", order: german.order },
      "de-CH": { payTo: "Geld an", purpose: german.purpose, name: "Deutsch (Schweiz)" },
      "pt-PT": { payTo: "Para", order: shippedLanguages.textsOf("pt-BR").order },
      "nl-BE": { payTo: "Aan", purpose: "Waarvoor", order, name: "Nederlands (België)" },
      "fa-AF": { dir: "rtl", payTo: "به", order },
      "sr-Latn-ME": { dir: "ltr", purpose: "Za", payTo: english.payTo },
      "zh-HK": { payTo: "付款給", purpose: "用途", amountToPay },
      "zh-Hans-SG": { purpose: "用途", payTo: shippedLanguages.textsOf("zh-Hans").payTo },
      "en-AU": { purpose: "Aim", payTo: english.payTo },
    })) {
      expect(languages.textsOf(lang), lang).to.include({ lang, ...texts });
    }
    // Without a word of its own, a page is one of the language that it is written in.
    expect(languages.textsOf("sr-Latn")).to.include({ lang: "en", payTo: english.payTo });
    expect(languages.offered).to.deep.include.members([
      { lang: "de-AT", name: "Deutsch (Österreich)" },
      { lang: "pt-PT", name: "Português (Portugal)" },
    ]);
  });

  it("completes no region's file by a faulty one, and asks for what is then missing", () => {
    const languages = opened({
      "fa.yaml": "dir: rtl\n",
      "fa-AF.yaml": "payTo: به\n",
      "nl-BE.yaml": "payTo: Aan\n",
      "nl-NL.yaml": dutch.replace("lang: nl\n", ""),
      "sr.yaml": "dir: ltr\nname: Српски\n",
      "sr-Latn.yaml": "payTo: Za\n",
      "de-.yaml": "",
      "pt_PT.yaml": "",
      "de.yaml": "payTitle: x\n",
      "de-AT.yaml": "payTo: Geld an\n",
    });
    const missing = (lang: string) => [
      `dir in F/${lang}.yaml:1 is missing: write ltr or rtl`,
      `name in F/${lang}.yaml:1 is missing: write the language's name in the language itself`,
    ];
    const tag =
      ":1 must be named by the tag of a language and .yaml, such as nl.yaml or pt-BR.yaml";
    expect(problems.map((each) => each.replaceAll(folder, "F"))).to.have.members([
      missing("fa")[1],
      ...[...missing("fa-AF"), ...missing("nl-BE"), ...missing("sr-Latn")],
      ...[`F/de-.yaml${tag}`, `F/pt_PT.yaml${tag}`],
      "payTitle in F/de.yaml:1 must have the placeholders {amount}, {merchant}, as in English, not none",
    ]);
    const { purpose } = shippedLanguages.textsOf("de");
    expect(languages.textsOf("de-AT")).to.include({ payTo: "Geld an", purpose });
  });

  it("is not missed by a language whose shipped texts have a sibling of another region or script", () => {
    const languages = opened({
      "pt-PT.yaml": "dir: ltr\nname: Português (Portugal)\n",
      "zh-Hant.yaml": "dir: ltr\nname: 繁體中文\n",
    });
    for (const [header, lang] of [
      ["pt-PT,pt;q=0.9", "pt-PT"],
      ["pt-BR", "pt-BR"],
      ["pt", "pt-BR"],
      ["pt-AO", "pt-BR"],
      ["zh-TW,en;q=0.5", "zh-Hant"],
      ["zh-Hant-HK", "zh-Hant"],
      ["zh", "zh-Hans"],
      ["zh-CN", "zh-Hans"],
    ] as const) {
      expect(chooseLanguage(languages, header), header).to.equal(lang);
    }
  });

  it("leaves each payer the nearest language: a region's or script's file serves no others", () => {
    const files = (...langs: string[]) =>
      Object.fromEntries(langs.map((lang) => [`${lang}.yaml`, "dir: ltr\nname: x\n"]));
    const region = opened(
      files(
        ...[
          "en-AU",
          "pt-PT",
          "sr",
          "sr-Latn",
          "nl-NL",
          "nl-BE",
          "zh-Hant",
          "zh-HK",
          "zh-Hans-SG",
          "he",
        ],
      ),
    );
    for (const [tag, lang] of [
      ["en-US", "en"],
      ["en-GB", "en"],
      ["en", "en"],
      ["en-AU", "en-AU"],
      ["en-AU-oxendict", "en-AU"],
      ["sr-RS", "sr"],
      ["sr-Cyrl-RS", "sr"],
      ["sr-Latn-RS", "sr-Latn"],
      ["pt", "pt-BR"],
      ["pt-AO", "pt-BR"],
      ["pt-PT", "pt-PT"],
      ["nl", "nl-BE"],
      ["nl-SR", "nl-BE"],
      ["nl-NL", "nl-NL"],
      ["in-ID", "id"],
      ["he-IL", "he"],
      ["iw", "he"],
      ["iw-IL", "he"],
      ["zh", "zh-Hans"],
      ["zh-CN", "zh-Hans"],
      ["zh-Hans-HK", "zh-Hans"],
      ["zh-Hans-SG", "zh-Hans-SG"],
      ["zh-Hant", "zh-Hant"],
      ["zh-TW", "zh-Hant"],
      ["zh-MO", "zh-Hant"],
      ["zh-Hant-HK", "zh-Hant"],
      ["zh-yue-HK", "zh-Hant"],
      ["zh-HK", "zh-HK"],
    ] as const) {
      expect(chooseLanguage(region, tag), tag).to.equal(lang);
    }
    expect(chooseLanguage(region, "zh-Hans-HK,en;q=0.5")).to.equal("zh-Hans");
    rmSync(join(folder, "zh-Hant.yaml"));
    expect(chooseLanguage(opened(files("zh-TW")), "zh-Hant")).to.equal("zh-HK");
    rmSync(join(folder, "zh-HK.yaml"));
    expect(chooseLanguage(opened({}), "zh-HK,en;q=0.5")).to.equal("zh-TW");
    expect(problems).to.deep.equal([]);
  });

  it("costs a payer's page a few look-ups, whatever the browser asks for", () => {
    let count = 0;
    const { byTag } = shippedLanguages;
    const get = (tag: string) => ((count += 1), byTag.get(tag));
    const languages: Languages = {
      byTag: { get },
      textsOf: () => expect.fail(),
      get offered() {
        return expect.fail("each language is compared");
      },
    };
    for (const [header, most] of [
      ["de,en;q=0.5", 2],
      ["xx-yy,".repeat(2_500), 100],
      ["x-".repeat(7_500), 8],
      [`${"x-".repeat(7_500)},`.repeat(100), 400],
    ] as const) {
      count = 0;
      chooseLanguage(languages, header);
      expect(count, header.slice(0, 12)).to.be.within(1, most);
    }
    expect(chooseLanguage(languages, `${"xx,".repeat(49)}de`)).to.equal("de");
    expect(chooseLanguage(languages, `${"xx,".repeat(50)}de`)).to.equal("en");
  });

  it("gives a counted number the form of the language", () => {
    const form = (name: string) => `"${name}: {current} {required}"`;
    const languages = opened({
      "ru.yaml": `confirmationCount: { one: ${form("one")}, few: ${form("few")}, other: ${form("other")} }`,
    });
    const said = (text: Catalogue, required: number) =>
      fillCounted(text, "confirmationCount", { current: "0", required: String(required) });
    const russian = languages.textsOf("ru");
    expect([1, 2, 5, 21].map((required) => said(russian, required))).to.deep.equal([
      ...["one: 0 1", "few: 0 2", "other: 0 5", "one: 0 21"],
    ]);
    expect(said(en, 1)).to.equal("Confirmations: 0 of 1");
  });

  it("gives pages that say they are English as long as it has no text, in which a choice is kept", async () => {
    writeFileSync(join(folder, "fa.yaml"), "dir: rtl\nname: فارسی\n");
    const lab = await openLab("ethereum", { languagesFolder: folder });
    try {
      const html = await (await fetch(`${lab.page}?lang=fa`)).text();
      expect(html).to.contain('<html lang="en" dir="ltr">').and.to.contain("فارسی");
      const { headers } = await fetch(`${lab.page}/transactions?lang=fa`, {
        method: "POST",
        body: new URLSearchParams({ transactionHash: aHash("a") }),
        redirect: "manual",
      });
      expect(headers.get("location")).to.contain("lang=fa");
    } finally {
      await lab.close();
    }
  });

  describe("with texts that look like markup", () => {
    const evil = `<script>evil()</script>"'</textarea>$&$1\\`;
    const hostileName = `<b title="'">&amp;`;
    const said = (key: TextKey) => {
      const names = [...new Set(english[key].match(/\{\w+\}/g) ?? [])];
      return `${key} ${evil} ${[...names, ...names].join(" ")}`;
    };
    const texts = Object.keys(english)
      .filter((key) => !["lang", "dir", "name"].includes(key))
      .map((key) => [key, said(key as TextKey)] as const);
    const sourceOf = (html: unknown) => String(html);
    const unescaped = (html: string) =>
      html
        .replaceAll("&lt;", "<")
        .replaceAll("&gt;", ">")
        .replaceAll("&quot;", '"')
        .replaceAll("&#39;", "'")
        .replaceAll("&amp;", "&");
    let lab: Lab;
    let text: Catalogue;

    beforeEach(async () => {
      const file = { lang: "nl", dir: "ltr", name: hostileName, ...Object.fromEntries(texts) };
      text = opened({ "nl.yaml": JSON.stringify(file) }).textsOf("nl");
      expect(problems).to.deep.equal([]);
      lab = await openLab("ethereum", { languagesFolder: folder });
      lab.world.contactEmail = "help@example.com";
    });
    afterEach(() => lab.close());

    /** Every text is between tags or in an attribute with double quotes, where it ends nothing. */
    function expectText(html: string, about: string): void {
      expect(html, about).not.to.contain("evil()</script>").and.not.to.contain("</textarea>$");
      expect(html, about).not.to.contain("<b title").and.not.to.contain(`"'`);
      expect(html, about).not.to.match(/<script>/);
    }

    it("shows them as they are on each page of a payment, and gives them to its script", async () => {
      const { world } = lab;
      const scenes: Readonly<Record<string, () => void>> = {
        awaiting: () => undefined,
        confirming() {
          world.invoice = anInvoice("ethereum", { status: "confirming" });
          world.payments = [aPayment({ status: "confirming" })];
        },
        paid() {
          world.invoice = anInvoice("ethereum", { status: "paid", paidAt: world.at });
        },
        expired() {
          world.invoice = anInvoice("ethereum", { status: "expired" });
        },
        canceled() {
          world.invoice = anInvoice("ethereum", { status: "canceled" });
        },
      };
      for (const [name, play] of Object.entries(scenes)) {
        play();
        lab.change({});
        const html = await (await fetch(`${lab.page}?lang=nl`)).text();
        expect(html, name).to.contain('<html lang="nl" dir="ltr">');
        expectText(html, name);
        const title = /<title>(.*)<\/title>/.exec(html)?.[1] ?? "";
        expect(unescaped(title), name).to.contain(evil);
        expect(unescaped(html), name).to.contain(said("language"));
        const given = /data-time-left="([^"]*)"/.exec(html)?.[1] ?? "";
        expect(unescaped(given), name).to.equal(said("timeLeft"));
        const mail = /href="(mailto:[^"]*)"/.exec(html)?.[1] ?? "";
        expect(new URL(unescaped(mail)).searchParams.get("subject"), name).to.contain(evil);
        expect(unescaped(html), name).to.contain(hostileName);
      }
    });

    it("fills each placeholder of them, once for each time that it stands there, with nothing else", () => {
      expect(fill(text.payTitle, { amount: "{merchant}$&", merchant: "M" })).to.equal(
        `payTitle ${evil} {merchant}$& M {merchant}$& M`,
      );
      expect(Object.keys(counted)).to.deep.equal(["confirmationCount"]);
      expect(fillCounted(text, "confirmationCount", { current: "1", required: "2" })).to.equal(
        `confirmationCount ${evil} 1 2 1 2`,
      );
    });

    it("shows them as they are on the other pages", async () => {
      const refused = await fetch(`${lab.page}/transactions?lang=nl`, {
        method: "POST",
        body: new URLSearchParams({ transactionHash: aHash("x") }),
      });
      const link = {
        id: "lnk_1",
        url: "https://pay.example/link/lnk_1",
        amount: null,
        minAmount: "1.00",
        maxAmount: "5.00",
        currency: "EUR",
        description: null,
        tokenSymbol: null,
        network: null,
        options: [],
      };
      const merchant = { name: "M", accentColor: null, logoPath: null };
      const context = { basePath: "", text, languageQuery: "", link, merchant };
      const shown = { basePath: "", text, languageQuery: "", given: "", lengthMax: 100 };
      const pages: Readonly<Record<string, string>> = {
        home: await (await lab.get("/?lang=nl")).text(),
        "the payment is not found": await (await lab.get("/pay/nothing?lang=nl")).text(),
        "a form is refused": await refused.text(),
        link: sourceOf(makeLinkPage({ ...context, failure: "amount" }).html),
        poster: sourceOf(makePosterPage(context).html),
        verify: sourceOf(
          makeVerifyPage({ ...shown, result: { outcome: "changed", claims: {} } }).html,
        ),
      };
      for (const [name, html] of Object.entries(pages)) {
        expect(unescaped(html), name).to.contain(evil);
        expectText(html, name);
      }
    });

    it("leaves the session of the API as it is", async () => {
      const session = await lab.get(`/v1/checkout/${checkoutId}?lang=nl`, {
        "Accept-Language": "nl",
      });
      expect(await session.text()).not.to.contain("evil()");
      expect(
        (await lab.get(`/v1/checkout/nothing?lang=nl`)).headers.get("content-type"),
      ).to.contain("application/problem+json");
    });
  });
});
