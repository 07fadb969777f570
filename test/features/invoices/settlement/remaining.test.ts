import { expect } from "chai";
import { remainingAmount } from "../../../../src/features/invoices/settlement/remaining.ts";
import { findInvoice, type InvoiceRow } from "../../../../src/features/invoices/store.ts";
import { appOf } from "../../../support/context.ts";
import { openLedger, type Ledger } from "../../../support/ledger.ts";
import { testNetworks } from "../../../support/merchants.ts";
import { expectDigits } from "../../../support/amounts.ts";
import { anyStore, whileBroken } from "../../../support/store/stores.ts";

anyStore("The amount that remains to be paid", (store) => {
  let shop: Ledger;
  /** An invoice of 10.00 USDT at an address that also holds 6.00 and 0.01 for others, and the same with 4.00 paid. */
  let unpaid: InvoiceRow;
  let partly: InvoiceRow;

  before(async () => {
    shop = await openLedger(await store.open(), "sandbox");
    await shop.scan("sandbox");
    await shop.addWallet("sandbox", { address: `0x${"7".repeat(40)}` });
    const issue = (amount: string) => shop.create({ network: "sandbox", amount });
    const { id } = await issue("10.00");
    for (const amount of ["6.00", "0.01"]) await issue(amount);
    const row = await findInvoice(shop.db, shop.organizationId, id);
    if (row === null) throw new Error("the invoice is gone");
    unpaid = row;
    partly = { ...row, status: "partially_paid", seenAmount: 4_000_000n };
  });

  /** Returns the remaining amount after changes of the partly paid invoice, without keeping what it holds. */
  async function remaining(
    changes: Partial<InvoiceRow>,
    { before = unpaid, networks = shop.networks } = {},
  ): Promise<bigint | null> {
    const { enabled, enabledIds } = shop.app.networks;
    const app = appOf({
      db: shop.db,
      ids: shop.ids,
      networks: { enabled, known: networks, enabledIds },
    });
    let found: bigint | null = null;
    return whileBroken(
      shop.db,
      async (tx) => {
        found = await remainingAmount(tx, app, shop.now(), before, { ...partly, ...changes });
      },
      () => Promise.resolve(found),
    );
  }

  it("is the rest, with a surcharge if that is not free, from the token's dust on", async () => {
    expectDigits(await remaining({}), 6_000_000n);
    expect(await remaining({ seenAmount: 9_990_000n })).to.equal(10_100n);
    expect(await remaining({ seenAmount: 7_500_000n })).to.equal(2_500_000n);
    // Up to a token below the price of 6.00, of which an exchange may keep a fee.
    expectDigits(await remaining({ seenAmount: 5_000_000n }), 5_000_000n);
    // A smaller rest than dust cannot be sent: 0.01 is asked for, which another invoice holds.
    expect(await remaining({ seenAmount: 9_990_001n })).to.equal(10_100n);
    // Near the price that it holds for itself.
    expect(await remaining({ seenAmount: 50_000n })).to.equal(9_950_000n);
    // It asked for nothing before, so nothing of the rest is held.
    const settled = { ...partly, remainingAmount: 0n };
    expectDigits(await remaining({}, { before: settled }), 6_000_000n);
  });

  it("is the bare rest if no payment of it could be recognized", async () => {
    for (const [why, changes, rest] of [
      ["the token is no longer configured", { tokenSymbol: "GONE" }, 6_000_000n],
      [
        "so is that of an invoice from before the dust was kept",
        { tokenSymbol: "GONE", dustAmount: null },
        6_000_000n,
      ],
      ["it has no address", { walletAddress: null }, 6_000_000n],
      ["its address is malformed", { walletAddress: "0x7" }, 6_000_000n],
      ["it has no late window", { lateUntil: null }, 6_000_000n],
    ] as const) {
      expect(await remaining(changes), why).to.equal(rest);
    }
    const networks = testNetworks("ethereum");
    expect(await remaining({}, { networks }), "no longer configured").to.equal(6_000_000n);
  });

  it("is unknown for a draft, the price for an open invoice, and nothing once it is paid or canceled", async () => {
    expect(await remaining({ status: "draft", payableAmount: null })).to.equal(null);
    expect(await remaining({ status: "open" })).to.equal(10_000_000n);
    for (const status of ["confirming", "paid", "canceled"] as const) {
      expect(await remaining({ status }), status).to.equal(0n);
    }
  });

  it("stays if nothing more has come, and is the bare rest after the deadline or at an address of its own", async () => {
    const known = { before: { ...partly, remainingAmount: 6_000_200n } };
    expect(await remaining({}, known)).to.equal(6_000_200n);
    expect(await remaining({ status: "expired" }, known)).to.equal(6_000_200n);
    expect(await remaining({ status: "expired" })).to.equal(6_000_000n);
    expect(await remaining({ addressIndex: 5 })).to.equal(6_000_000n);
  });
});
