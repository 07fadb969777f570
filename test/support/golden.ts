import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";

const isWriting = process.env["TILL_GOLDEN"] === "write";

/**
 * Compares a text with its golden copy, a file beside the test. `TILL_GOLDEN=write` writes the copy, for a change of
 * the text that is wanted.
 */
export function expectGolden(file: URL, text: string): void {
  if (isWriting) writeFileSync(file, text);
  const copy = existsSync(file) ? readFileSync(file, "utf8") : "";
  if (text === copy) return;
  const [lines, wanted] = [text.split("\n"), copy.split("\n")];
  const first = lines.findIndex((line, index) => line !== wanted[index]);
  const at = first < 0 ? lines.length : first;
  expect.fail(
    `line ${String(at + 1)} of ${file.pathname} is\n${wanted[at] ?? "missing"}\nand now would be\n${lines[at] ?? "missing"}\nIf the change is wanted, run this test with TILL_GOLDEN=write.`,
  );
}

/** Random texts. Their first group is kept, and the rest is numbered. */
const random: readonly RegExp[] = [
  // Wrapped in a narrow terminal.
  /\b(0x)[0-9a-f]{50,63}\n +[0-9a-f]{1,14}\b/g,
  /\b([a-z]{3,4}_)[0-9a-hjkmnp-tv-z]{10,40}\n +[0-9a-hjkmnp-tv-z]{1,15}\b/g,
  /\b([a-z]{3,4}_)[0-9a-hjkmnp-tv-z]{20,60}\b/g,
  /\b(0x)[0-9a-fA-F]{64}\b/g,
  /\b(0x)[0-9a-fA-F]{40}\b/g,
  /\b(till_(?:test|live)_)\w{4}\b/g,
  /\b()[0-9a-f]{64}\b/g,
  /\b()[0-9A-HJKMNP-TV-Z]{4}(?:-[0-9A-HJKMNP-TV-Z]{4}){1,2}\b/g,
];
/** The control sequence that erases a line of a terminal. */
const eraseLine = String.raw`\u001b\[2K`;

/** Texts that differ, with what replaces them. */
const different: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "2031-01-31T00:00:00.000Z"],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "2031-01-31T00:00:00Z"],
  [/\b\d{4}-\d\d-\d\d\b(?!T)/g, "2031-01-31"],
  [/\d+ \w+ ago/g, "… ago"],
  // Wrapped in a narrow terminal.
  [/\(in \d+\s+\w+\)/g, "(in …)"],
  [/"latencyMs":\d+/g, '"latencyMs":0'],
  // The progress of long work, which is shown if it lasts long enough.
  [new RegExp(`\\r?${eraseLine}[^\\n]*${eraseLine}`, "g"), ""],
];

/**
 * Returns a text without what differs between runs: random texts are numbered in the order in which they first occur,
 * and keep their lengths, so that tables stay as wide as they are. All times are the same.
 */
export function withoutChance(text: string): string {
  const numbers = new Map<string, string>();
  let stable = text;
  for (const [pattern, fixed] of different) stable = stable.replaceAll(pattern, fixed);
  for (const pattern of random) {
    stable = stable.replaceAll(pattern, (found: string, start: string) => {
      let name = numbers.get(found);
      if (name === undefined) {
        name = start + String(numbers.size).padStart(found.length - start.length, "0");
        numbers.set(found, name);
      }
      return name;
    });
  }
  return stable;
}
