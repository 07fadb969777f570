import { readFileSync } from "node:fs";
import { expect } from "chai";

const root = new URL("../../", import.meta.url);
const row = /^\| (.+?) +\| `(test\/\S+)` +\| (.+?) +\|$/gm;
/** A test in the last column of a row. */
const named = /`(test\/\S+?)`: ([^|;]+?)(?=;| +\|)/g;

/** Whether a file contains a test's title. */
function isTest(file: string, title: string): boolean {
  const text = readFileSync(new URL(file, root), "utf8");
  return ['"', "`"].some((quote) => text.includes(`${quote}${title}${quote}`));
}

describe("the page of attacks", () => {
  it("names tests that exist", () => {
    const page = readFileSync(new URL("docs/design/attacks.md", root), "utf8");
    const rows = [...page.matchAll(row)];
    expect(rows).to.have.length.above(50);
    expect(page.match(/`test\/\S+\.ts` +\|/g)).to.have.length(rows.length);
    const missing = rows.filter(([, , file = "", title = ""]) => !isTest(file, title));
    expect(missing.map(([line]) => line)).to.deep.equal([]);
  });
});

describe("the page of burdens", () => {
  it("names for every row whom it burdens, a limit, and tests that exist", () => {
    const page = readFileSync(new URL("docs/design/burdens.md", root), "utf8");
    const rows = page.match(/^\| .*\|$/gm) ?? [];
    const burdens = rows.filter((line) => !/^\| (burden that |-+ )/.test(line));
    expect(burdens).to.have.length.above(5);
    for (const line of burdens) {
      const cells = line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim());
      expect(cells, line).to.have.length(4);
      expect(cells, line).not.to.include("");
      const tests = [...line.matchAll(named)];
      expect(tests, line).not.to.have.length(0);
      const missing = tests.filter(([, file = "", title = ""]) => !isTest(file, title));
      expect(missing.map(([test]) => test)).to.deep.equal([]);
    }
  });
});
