import { readFileSync } from "node:fs";
import { expect } from "chai";
import { proofs } from "./proofs.ts";

const others = ["simulate", "simulate:without", "mutate", "bench"];

describe("the list of proofs", () => {
  it("has every script of package.json that proves something, each once", () => {
    const { scripts } = JSON.parse(
      readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
    ) as { scripts: Record<string, string> };
    const proving = Object.keys(scripts).filter((name) => name.startsWith("prove:"));
    expect(proofs.map(({ script }) => script)).to.have.members([...proving, ...others]);
    expect(Object.keys(scripts)).to.include.members(others);
  });
});
