import { expect } from "chai";
import { canonicalJson } from "../../src/kernel/digest.ts";
import { day, hour, minute, second, toIso, toIsoOrNull } from "../../src/kernel/clock.ts";

describe("a time", () => {
  it("is counted in milliseconds", () => {
    expect([second, minute, hour, day]).to.deep.equal([1_000, 60_000, 3_600_000, 86_400_000]);
  });

  it("is formatted as ISO 8601 with milliseconds and Z, and null stays null", () => {
    expect(toIso(0)).to.equal("1970-01-01T00:00:00.000Z");
    expect(toIsoOrNull(1)).to.equal("1970-01-01T00:00:00.001Z");
    expect(toIsoOrNull(null)).to.equal(null);
  });
});

describe("canonical JSON", () => {
  it("does not depend on the order of fields at any depth", () => {
    const written = '{"a":[{"x":null,"y":1},"b"],"b":{"c":2,"d":true}}';
    expect(canonicalJson({ b: { d: true, c: 2 }, a: [{ y: 1, x: null }, "b"] })).to.equal(written);
    expect(canonicalJson({ a: [{ x: null, y: 1 }, "b"], b: { c: 2, d: true } })).to.equal(written);
  });

  it("keeps the order of lists and leaves single values unchanged", () => {
    expect(canonicalJson({ b: undefined, 10: 1, 9: [undefined] })).to.equal('{"9":[null],"10":1}');
    expect(canonicalJson([3, 1, 2])).to.equal("[3,1,2]");
    expect(canonicalJson("text")).to.equal('"text"');
    expect(canonicalJson(null)).to.equal("null");
  });
});
