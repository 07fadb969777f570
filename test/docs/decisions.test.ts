import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";

const folder = new URL("../../docs/decisions/", import.meta.url);

describe("the decisions", () => {
  it("have numbers of their own, which their titles repeat", () => {
    const files = readdirSync(folder).sort();
    const numbers = files.map((file) => file.slice(0, 4));
    const shared = files.filter((_, place) => numbers.indexOf(numbers[place] ?? "") !== place);
    expect(shared, "take the next free number").to.deep.equal([]);
    for (const file of files) {
      const title = readFileSync(new URL(file, folder), "utf8").split("\n")[0];
      expect(title, file).to.match(new RegExp(`^# ${String(Number(file.slice(0, 4)))}\\. `));
    }
  });
});
