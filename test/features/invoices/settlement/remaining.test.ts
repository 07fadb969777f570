import { expect } from "chai";
import { remainingAmount } from "../../../../src/features/invoices/settlement/remaining.ts";
import type { InvoiceRow } from "../../../../src/features/invoices/store.ts";
import type { Tx } from "../../../../src/platform/database/index.ts";
import { createIds } from "../../../../src/kernel/id.ts";
import { systemRandom } from "../../../../src/platform/secrets/random.ts";
import { testNetworks } from "../../../support/merchants.ts";

/** Holding an amount would fail. */
const tx = undefined as unknown as Tx;
const ids = createIds(systemRandom);

/** An invoice at a shared address, of whose 10.00 USDT 4.00 have come. */
const partly = {
  id: "inv_1",
  status: "partially_paid",
  network: "sandbox",
  tokenSymbol: "USDT",
  tokenDecimals: 6,
  walletAddress: `0x${"7".repeat(40)}`,
  addressIndex: null,
  payableAmount: 10_000_000n,
  seenAmount: 4_000_000n,
  remainingAmount: 6_000_000n,
  paymentOptions: null,
  underpaymentTolerance: "0",
  issuedAt: 1,
  expiresAt: 2,
  lateUntil: 3,
  canceledAt: null,
} as Partial<InvoiceRow> as InvoiceRow;
const before = { ...partly, seenAmount: 0n, remainingAmount: 10_000_000n };

const remaining = (changes: Partial<InvoiceRow>, enabled: readonly string[] = ["sandbox"]) => {
  const networks = testNetworks(...enabled);
  const deps = { ids, randomBytes: systemRandom, networks };
  return remainingAmount(tx, deps, before, { ...partly, ...changes }, 1);
};

describe("The amount that remains to be paid", () => {
  it("is the rest without a hold if no payment of it could be recognized", async () => {
    for (const [why, changes, enabled] of [
      ["the network is no longer configured", {}, ["ethereum"]],
      ["the token is no longer configured", { tokenSymbol: "GONE" }, ["sandbox"]],
      ["the rest is dust", { seenAmount: 9_999_999n }, ["sandbox"]],
      ["it has no address", { walletAddress: null }, ["sandbox"]],
      ["it has no late window", { lateUntil: null }, ["sandbox"]],
    ] as const) {
      const rest = 10_000_000n - ("seenAmount" in changes ? changes.seenAmount : 4_000_000n);
      expect(await remaining(changes, enabled), why).to.equal(rest);
    }
    // The control: it holds an amount otherwise.
    const held: unknown = await remaining({}).catch((error: unknown) => error);
    expect(held).to.be.instanceOf(TypeError);
  });

  it("is unknown for a draft, the price for an open invoice, and nothing once it is paid or canceled", async () => {
    expect(await remaining({ status: "draft", payableAmount: null })).to.equal(null);
    expect(await remaining({ status: "open" })).to.equal(10_000_000n);
    for (const status of ["confirming", "paid", "canceled"] as const) {
      expect(await remaining({ status }), status).to.equal(0n);
    }
  });

  it("is what it was if nothing more has come, and the rest after the deadline or at an address of its own", async () => {
    const known = { seenAmount: 0n, remainingAmount: 1n };
    expect(await remaining(known)).to.equal(10_000_000n);
    expect(await remaining({ status: "expired" })).to.equal(6_000_000n);
    expect(await remaining({ addressIndex: 5 })).to.equal(6_000_000n);
  });
});
