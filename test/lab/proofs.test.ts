import { readFileSync } from "node:fs";
import { expect } from "chai";
import { proofs, shortProofs } from "./proofs.ts";

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

  it("has for the nightly run those of at most five minutes, and no others", () => {
    const long = proofs.filter((proof) => !shortProofs.includes(proof));
    expect(shortProofs.map(({ script }) => script)).to.include.members(["simulate", "prove:queue"]);
    expect(Math.max(...shortProofs.map(({ minutes }) => minutes))).to.equal(5);
    expect(Math.min(...long.map(({ minutes }) => minutes))).to.be.greaterThan(5);
  });
});
