import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { readRules, root, withoutRule } from "./rules.ts";

describe("The rules that the simulation notices the lack of", () => {
  it("are each in the source that rules.yaml names, once", () => {
    const rules = readRules();
    for (const { rule, changes } of rules) {
      expect(changes.length, rule).to.be.at.least(1);
      for (const change of changes) {
        const source = readFileSync(join(root, change.file), "utf8");
        expect(withoutRule(source, change), rule).to.not.equal(source);
      }
    }
    expect(new Set(rules.map(({ rule }) => rule)).size).to.equal(rules.length);
  });
});
