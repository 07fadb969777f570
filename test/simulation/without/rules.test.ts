import { expect } from "chai";
import { readSource } from "../../mutation/areas.ts";
import { readRules, withoutRule } from "./rules.ts";

describe("The rules that the simulation notices the lack of", () => {
  it("are each in the source that rules.yaml names, once", () => {
    const rules = readRules();
    for (const { rule, changes } of rules) {
      expect(changes.length, rule).to.be.at.least(1);
      for (const change of changes) {
        const source = readSource(change.file);
        expect(withoutRule(source, change), rule).to.not.equal(source);
      }
    }
    expect(new Set(rules.map(({ rule }) => rule)).size).to.equal(rules.length);
  });
});
