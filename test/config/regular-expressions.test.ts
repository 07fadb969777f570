// A text of a stranger that takes a regular expression seconds stops the whole server, which has one thread.
import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import ts from "typescript";
import { hostileForms, textOf } from "./hostile-texts.ts";
import { cpuMs } from "../support/cpu-time.ts";

const src = new URL("../../src/", import.meta.url);

/** Longer than every text that reaches a regular expression unchecked, apart from those of the list below. */
const longest = 20_000;
/** A linear match takes less than a millisecond; one of quadratic time at least 70 ms. */
const matchMsMax = 20;
/** A length at which quadratic time exceeds the limit many times, also on a fast machine. */
const controlLength = 16_000;
/** Lengths at which only exponential time exceeds the limit. */
const shortLengths = [16, 20, 24, 32, 64];
const shortMsMax = 5;
/** A length at which quadratic time takes about 0.3 ms and linear time a few microseconds. */
const suspectLength = 600;
const suspectMs = 0.08;

/** Expressions of quadratic time, each with the length of the longest text that it is applied to, and the reason. */
const bounded: Readonly<Record<string, readonly [longest: number, why: string]>> = {
  "\\/+$": [2_048, "a URL that the operator sets"],
  "[\\w.+-]+@(?:[\\w-]+\\.)+[a-z]{2,}\\b": [1_000, "a word of the operator's own report"],
  "(?<![\\w:])[0-9a-f:]*:[0-9a-f:.]*(?![\\w:])": [1_000, "a word of the operator's own report"],
  "[<[]([^>\\]]+)[>\\]]": [100, "a flag that Till declares"],
  "\\beyJ[\\w-]{8,}\\.[\\w-]+\\.[\\w-]*": [4_096, "the logger cuts texts"],
  "\\b([a-z][a-z0-9+.-]*:\\/\\/)[^\\s/?#@]+@": [4_096, "the logger cuts texts"],
  '"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"|-?[0-9][0-9.eE+-]*': [0, "valid JSON ends every string"],
  "#.*$": [200, "a path of the manual"],
  "\\]\\([^)]*\\)|<[^>]+>": [2_000, "a line of the manual"],
  "UNIQUE constraint failed: (.+)$": [1_000, "a message of SQLite, which names columns"],
};

/** Files that build an expression from a text, and the reason why the text cannot make it slow. */
const built: Readonly<Record<string, string>> = {
  "platform/secrets/tokens.ts": "two lengths",
  "http/declare/list.ts": "declared values, each at most once",
  "kernel/id.ts": "a length",
  "features/checkout/pages/scripts/checkout/1-wallets.js": "a declared form in the payer's browser",
  "cli/doctor/report.ts": "an escaped text",
  "cli/terminal/drawing/sparkline.ts": "one character and a length",
};

interface Found {
  readonly place: string;
  readonly form: RegExp;
}

/** Returns the regular expressions of the program, each once, and the files that build one. */
function walk(): { readonly found: readonly Found[]; readonly builders: readonly string[] } {
  const found = new Map<string, Found>();
  const builders = new Set<string>();
  for (const file of readdirSync(src, { recursive: true, encoding: "utf8" }).sort()) {
    if (!/\.(ts|js)$/.test(file)) continue;
    const text = readFileSync(new URL(file, src), "utf8");
    const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) {
        const end = node.text.lastIndexOf("/");
        const line = tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
        const form = new RegExp(node.text.slice(1, end), node.text.slice(end + 1));
        found.set(node.text, { place: `${file}:${String(line)}`, form });
      }
      if (
        (ts.isNewExpression(node) || ts.isCallExpression(node)) &&
        node.expression.getText(tree) === "RegExp"
      ) {
        builders.add(file);
      }
      ts.forEachChild(node, visit);
    };
    visit(tree);
  }
  return { found: [...found.values()], builders: [...builders] };
}

/** Returns the least processor time of several matches of the text, in milliseconds, if it is above the limit. */
function matchMs(form: RegExp, text: string, limitMs: number): number {
  let least = Infinity;
  // One of them is undisturbed by the garbage collector.
  for (let count = 0; count < 3 && least > limitMs; count += 1) {
    form.lastIndex = 0;
    const before = cpuMs();
    if (form.global) text.replace(form, "");
    else form.test(text);
    least = Math.min(least, cpuMs() - before);
  }
  return least;
}

/** Returns the beginning of a text on which the expression takes more than linear time; null if none was found. */
function slowOn(form: RegExp, length = longest): string | null {
  for (const hostile of hostileForms(form)) {
    // From short to long, because exponential time would not end on a long text.
    const isExponential = shortLengths.some(
      (size) => matchMs(form, textOf(hostile, size), shortMsMax) > shortMsMax,
    );
    const isSlow =
      isExponential ||
      (matchMs(form, textOf(hostile, suspectLength), suspectMs) > suspectMs &&
        matchMs(form, textOf(hostile, length), matchMsMax) > matchMsMax);
    if (isSlow) return JSON.stringify(textOf(hostile, 20));
  }
  return null;
}

describe("the regular expressions of the program", () => {
  const { found, builders } = walk();

  it("match hostile texts in linear time, or are applied to short texts only", () => {
    const slow = found.flatMap(({ place, form }) => {
      const text = slowOn(form, bounded[form.source]?.[0]);
      return text === null ? [] : [`${place}: /${form.source}/ on ${text}`];
    });
    expect(found).to.have.length.above(200);
    expect(slow).to.deep.equal([]);
  });

  it("are built from a text only where the text cannot make them slow", () => {
    expect([...builders].sort()).to.deep.equal(Object.keys(built).sort());
    const sources = new Set(found.map(({ form }) => form.source));
    expect(Object.keys(bounded).filter((source) => !sources.has(source))).to.deep.equal([]);
  });

  it("are found by the check if they take quadratic or exponential time", () => {
    const evil = [/^(a+)+$/, /^(a|aa)+$/, /\s+$/, /^x=[a-z]*[a-z]*$/];
    expect(evil.filter((form) => slowOn(form, controlLength) === null).map(String)).to.deep.equal(
      [],
    );
    const good = [/^(?:a|b)+$/, /^[a-z]+(?:-[a-z]+)*$/, /^a{1,100}b$/, /^\S+ \S+$/];
    expect(good.filter((form) => slowOn(form) !== null).map(String)).to.deep.equal([]);
  });
});
