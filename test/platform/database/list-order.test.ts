import { expect } from "chai";
import {
  byAmount,
  byId,
  byTime,
  keyAt,
  positionOf,
} from "../../../src/platform/database/query/lists.ts";

describe("the position of a row in a list", () => {
  it("is parsed to the key from which it was built", () => {
    expect(keyAt(byId, positionOf(byId, null, "inv_7"))).to.eql(["inv_7"]);
    expect(
      keyAt(byTime("paid_at"), positionOf(byTime("paid_at"), 1_700_000_000_000, "inv_7")),
    ).to.eql([1_700_000_000_000, "inv_7"]);
    const most = 2n ** 256n - 1n;
    expect(keyAt(byAmount("amount"), positionOf(byAmount("amount"), most, "pay_7"))).to.eql([
      most.toString(),
      "pay_7",
    ]);
  });

  for (const [what, position] of [
    ["a time that no column holds", `${"9".repeat(16)}.inv_7`],
    ["a time in 78 digits", `${"9".repeat(78)}.inv_7`],
    ["no value", ".inv_7"],
    ["a value below zero", "-1.inv_7"],
    ["no id", "1700000000000."],
    ["a statement in place of an id", "1700000000000.inv_7' OR 1=1"],
  ] as const) {
    it(`is refused with ${what}`, () => {
      expect(() => keyAt(byTime("paid_at"), position)).to.throw("nextCursor of this list");
    });
  }

  it("is refused if its amount has more digits than the column", () => {
    expect(() => keyAt(byAmount("amount"), `${"1".repeat(79)}.pay_7`)).to.throw("nextCursor");
  });
});
