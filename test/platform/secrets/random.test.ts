import { expect } from "chai";
import { systemRandom } from "../../../src/platform/secrets/tokens.ts";

describe("the system's randomness", () => {
  it("returns the requested number of bytes, never the same ones twice", () => {
    const seen = new Set<string>();
    // More draws than the pool holds, of lengths that do not divide it.
    for (let draw = 0; draw < 2_000; draw += 1) {
      const length = [16, 17, 31, 64, 65, 100][draw % 6] ?? 16;
      const bytes = systemRandom(length);
      expect(bytes).to.have.length(length);
      seen.add(Buffer.from(bytes.slice(0, 16)).toString("hex"));
    }
    expect(seen.size).to.equal(2_000);
  });

  it("does not change bytes that it has returned", () => {
    const first = systemRandom(32);
    const copy = Buffer.from(first).toString("hex");
    for (let draw = 0; draw < 500; draw += 1) systemRandom(32);
    expect(Buffer.from(first).toString("hex")).to.equal(copy);
  });
});
