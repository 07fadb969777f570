import { readFileSync } from "node:fs";
import { expect } from "chai";

const root = new URL("../../", import.meta.url);
const row = /^\| (.+?) +\| `(test\/\S+)` +\| (.+?) +\|$/gm;

describe("the page of attacks", () => {
  it("names tests that exist", () => {
    const page = readFileSync(new URL("docs/design/attacks.md", root), "utf8");
    const rows = [...page.matchAll(row)];
    expect(rows).to.have.length.above(50);
    expect(page.match(/`test\/\S+\.ts` +\|/g)).to.have.length(rows.length);
    const missing = rows.filter(([, , file = "", title = ""]) => {
      const text = readFileSync(new URL(file, root), "utf8");
      return !['"', "`"].some((quote) => text.includes(`${quote}${title}${quote}`));
    });
    expect(missing.map(([line]) => line)).to.deep.equal([]);
  });
});
