import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
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
import { parseLanguage } from "../../../src/features/checkout/page/language-file.ts";
import {
  chooseLanguage,
  openLanguages,
  type Languages,
} from "../../../src/features/checkout/page/languages.ts";
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
    expect(languages.textsOf("ja")).to.include({ lang: "ja", purpose });
    expect(languages.offered).to.deep.equal(shippedLanguages.offered);
    const said = problems.map((each) => each.replaceAll(folder, "F"));
    expect(said[0]).to.equal("F/en.yaml:1 is larger than 256 KiB");
    expect(said[1]).to.match(/^F\/de\.yaml:\d is not valid YAML/);
    expect(said.at(-1)).to.equal("F/ja.yaml:1 cannot be read (ENOENT)");
    // Told once, not with each page.
    expect(languages.textsOf("ja")).to.include({ purpose });
    expect(problems).to.have.length(said.length);
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
