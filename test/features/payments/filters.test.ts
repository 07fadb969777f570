import { expect } from "chai";
import {
  boundsOf,
  positionIn,
  sortOf,
  type PaymentFilters,
} from "../../../src/features/payments/filters.ts";
import type { PaymentRow } from "../../../src/features/payments/table.ts";
import { Problem } from "../../../src/kernel/errors.ts";

/** The sort order of filters, or the code of their refusal. */
function sorted(filters: PaymentFilters): string {
  try {
    return sortOf(filters);
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
}

describe("The order of a list of payments", () => {
  const own = { organizationId: "org_1" } as const;
  const token = { network: "base", tokenSymbol: "USDT" };

  it("is the newest first, by block time if either end of it is given", () => {
    expect(sorted({})).to.equal("-createdAt");
    expect(sorted(own)).to.equal("-createdAt");
    for (const paid of [{ paidFrom: 1 }, { paidTo: 2 }, { paidFrom: 1, paidTo: 2 }]) {
      expect(sorted({ ...own, ...paid })).to.equal("-blockTime");
      expect(sorted({ ...own, ...paid, sort: "blockTime" })).to.equal("blockTime");
      expect(sorted({ ...own, ...token, ...paid, sort: "amount" })).to.equal("amount");
      for (const sort of ["createdAt", "-createdAt"] as const) {
        expect(sorted({ ...own, ...paid, sort })).to.equal("invalid_request");
      }
      expect(sorted(paid)).to.equal("invalid_request");
    }
  });

  it("is by amount for one token of one organization only, and by block time for one organization", () => {
    for (const sort of ["amount", "-amount"] as const) {
      expect(sorted({ ...own, ...token, sort })).to.equal(sort);
      expect(sorted({ ...token, sort })).to.equal("invalid_request");
      expect(sorted({ ...own, network: "base", sort })).to.equal("invalid_request");
      expect(sorted({ ...own, tokenSymbol: "USDT", sort })).to.equal("invalid_request");
    }
    expect(sorted({ ...own, sort: "-blockTime" })).to.equal("-blockTime");
    expect(sorted({ sort: "-blockTime" })).to.equal("invalid_request");
  });

  it("continues after the block time, the amount or the id, within the bounds of its own field", () => {
    const row = { id: "pay_1", blockTime: 5, amount: 7n } as unknown as PaymentRow;
    const positions = (["blockTime", "amount", "createdAt"] as const).map((sort) =>
      positionIn(sort, row),
    );
    expect(new Set(positions)).to.have.property("size", 3);
    expect(positions[0]).to.match(/5/).and.not.match(/7/);
    expect(positions[1]).to.match(/7/).and.not.match(/5/);
    const filters = { createdFrom: 1, paidFrom: 2 };
    const counts = (["createdAt", "blockTime", "amount"] as const).map(
      (field) => boundsOf(field, filters).length,
    );
    expect(counts).to.deep.equal([1, 1, 0]);
  });
});
