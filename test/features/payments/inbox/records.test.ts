import { expect } from "chai";
import { presentTransfer } from "../../../../src/features/payments/inbox/records.ts";
import { transferView } from "./transfer-view.ts";

const shown = (...given: Parameters<typeof transferView>) =>
  presentTransfer(transferView(...given));

describe("A transfer as its organization sees it", () => {
  it("has its confirmations and its standing, and none of them once it is off the chain", () => {
    expect(shown()).to.include({ status: "unmatched", confirmations: 11 });
    const matched = { disposition: "matched" } as const;
    expect(shown({ transfer: matched })).to.include({ status: "matched", confirmations: 11 });
    const gone = { ...matched, status: "orphaned" } as const;
    expect(shown({ transfer: gone })).to.include({ status: "reverted", confirmations: 0 });
  });

  it("is verified if its providers agree on it, or if a payment of it was confirmed", () => {
    const verified = { transfer: { verification: "verified" } } as const;
    const pending = { payments: [{ status: "rejected" }, { status: "confirming" }] } as const;
    const confirmed = { payments: [{ status: "rejected" }, { status: "confirmed" }] } as const;
    expect([verified, confirmed].map((given) => shown(given).isVerified)).to.deep.equal([
      true,
      true,
    ]);
    expect([{}, pending].map((given) => shown(given).isVerified)).to.deep.equal([false, false]);
  });

  it("says why it waits, until a part of it is allocated or it leaves the inbox", () => {
    const waiting = { waitingReason: "own_wallet" } as const;
    const reason = (...given: Parameters<typeof transferView>) => shown(...given).waitingReason;
    expect(reason()).to.equal(null);
    expect(reason({ transfer: waiting })).to.equal("own_wallet");
    expect(reason({ transfer: waiting, payments: [{ status: "review" }] })).to.equal("own_wallet");
    expect(reason({ transfer: waiting, payments: [{ status: "rejected" }] })).to.equal(
      "own_wallet",
    );
    expect(reason({ transfer: waiting, payments: [{ status: "confirming" }] })).to.equal(null);
    expect(reason({ transfer: { ...waiting, disposition: "ignored" } })).to.equal(null);
    expect(reason({ transfer: { ...waiting, status: "orphaned" } })).to.equal(null);
  });

  it("has less left for every payment that takes of it, and shows only its own payments and decisions", () => {
    const foreign = { organizationId: "org_2" } as const;
    const view = shown({
      payments: [{ status: "confirmed" }, { status: "rejected" }, foreign],
      decisions: [{ paymentId: "pay_1" }, { ...foreign, paymentId: "pay_3" }],
    });
    expect(view).to.include({ amount: "25.00", unallocatedAmount: "5.00" });
    expect(view.allocations.map(({ paymentId }) => paymentId)).to.deep.equal(["pay_1", "pay_2"]);
    expect(view.decisions.map(({ paymentId }) => paymentId)).to.deep.equal(["pay_1"]);
  });
});
