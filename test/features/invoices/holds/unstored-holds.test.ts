import { expect } from "chai";
import {
  makeUnstoredHolds,
  searchAmount,
  type HoldTarget,
} from "../../../../src/features/invoices/holds/amount-search.ts";
import { peggedToken, stated } from "../../../support/amounts.ts";

const place: HoldTarget = {
  organizationId: "org_1",
  network: "ethereum",
  address: "a",
  token: "USDT",
};
/** The price of one token; amounts up to 1 % from it are near. */
const price = 1_000_000n;

const zeros = (length: number) => new Uint8Array(length);
/** A search for the amount of a price at the place. */
const searchOf = (base: bigint, at: HoldTarget = place, holder: "inv_1" | null = null) =>
  searchAmount(at, base, peggedToken(6), { ...stated, holder }, zeros);

describe("The holds of a commit that are not stored yet", () => {
  it("are at their network, address and token, for every organization", () => {
    const held = makeUnstoredHolds();
    expect(held.has(place, price)).to.equal(false);
    held.add(searchOf(price), price, "inv_1");
    held.add(searchOf(price), price + 1n, "inv_2");
    expect([price, price + 1n, price + 2n].map((each) => held.has(place, each))).to.deep.equal([
      ...[true, true, false],
    ]);
    expect(held.has({ ...place, organizationId: "org_2" }, price)).to.equal(true);
    for (const other of [{ network: "bsc" }, { address: "b" }, { token: "USDC" }]) {
      expect(held.has({ ...place, ...other }, price), JSON.stringify(other)).to.equal(false);
    }
  });

  it("are near a bare price up to 1 % from it, unless they are the invoice's own", () => {
    const search = searchOf(price, place, "inv_1");
    const isNear = (amount: bigint, holder: "inv_1" | "inv_2" = "inv_2") => {
      const held = makeUnstoredHolds();
      held.add(searchOf(1n), amount, holder);
      return held.isNear(search);
    };
    expect(makeUnstoredHolds().isNear(search)).to.equal(false);
    expect([989_999n, 990_000n, 1_010_000n, 1_010_001n].map((each) => isNear(each))).to.deep.equal([
      ...[false, true, true, false],
    ]);
    expect(isNear(price, "inv_1")).to.equal(false);
  });

  it("are counted on the grid of a step, both ends included", () => {
    const held = makeUnstoredHolds();
    for (const amount of [90n, 100n, 105n, 110n, 120n, 130n])
      held.add(searchOf(1n), amount, "inv_1");
    expect(held.count(searchOf(1n), 100n, 120n, 10n)).to.equal(3n);
    expect(held.count(searchOf(1n), 101n, 119n, 1n)).to.equal(2n);
    expect(held.count(searchOf(1n), 95n, 130n, 10n)).to.equal(1n);
    expect(held.count(searchOf(1n), 103n, 130n, 7n)).to.equal(1n);
    expect(held.count(searchOf(1n, { ...place, token: "USDC" }), 100n, 120n, 10n)).to.equal(0n);
  });
});
