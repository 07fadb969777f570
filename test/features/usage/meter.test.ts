// The sums that a write adds to the figures of invoices and payments.
import { expect } from "chai";
import {
  figureChanges,
  makeMeter,
  type MeteredInvoice,
  type MeteredPayment,
} from "../../../src/features/usage/meter.ts";
import { hour } from "../../../src/kernel/clock.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { newIds } from "../../support/context.ts";
import { anyStore, testContext } from "../../support/store/stores.ts";

const noon = Date.UTC(2031, 0, 31, 12);
/** Of an amount in hundredths, in figures. */
const scale = 10n ** 34n;

anyStore("the meter of a write", (store) => {
  const ids = newIds();
  let db: Database;
  before(async () => {
    db = await store.open();
  });

  const invoice = (changes: Partial<MeteredInvoice> = {}): MeteredInvoice => ({
    organizationId: "org_1",
    managedBy: null,
    status: "open",
    issuedAt: noon + 1,
    amount: 2_500n,
    settlementCurrency: "USD",
    settlementDecimals: 2,
    ...changes,
  });
  const payment = (changes: Partial<MeteredPayment> = {}): MeteredPayment => ({
    organizationId: "org_1",
    status: "confirmed",
    blockTime: noon + hour - 1,
    settlementAmount: 700n,
    settlementCurrency: "USD",
    settlementDecimals: 2,
    ...changes,
  });
  const nobody = { walletId: null, customerId: null, managedBy: null };

  /** Returns the rows that a meter appends, as `measure:subject items ±amount`, and removes them. */
  async function appended(meter: ReturnType<typeof makeMeter>): Promise<string[]> {
    await db.write(testContext, (tx) => {
      meter.append(tx, noon);
      return Promise.resolve();
    });
    const rows = await db.find(figureChanges, "ORDER BY id");
    await db.write(testContext, (tx) => tx.run("DELETE FROM figure_changes"));
    for (const { happenedAt } of rows) expect(happenedAt, "the start of the hour").to.equal(noon);
    return rows.map(
      ({ measure, subject, items, sign, amount }) =>
        `${measure}:${subject} ${String(items)} ${sign < 0 ? "-" : "+"}${String(amount / scale)}`,
    );
  }
  const after = (use: (meter: ReturnType<typeof makeMeter>) => void): Promise<string[]> => {
    const meter = makeMeter(ids);
    use(meter);
    return appended(meter);
  };

  it("sums the issued invoices of an hour, once", async () => {
    const meter = makeMeter(ids);
    meter.invoice(null, invoice());
    meter.invoice(null, invoice({ issuedAt: noon + hour - 1, amount: 100n }));
    meter.invoice(null, invoice({ issuedAt: null }));
    meter.invoice(null, invoice({ managedBy: "billing" }));
    expect(await appended(meter)).to.deep.equal(["invoices:open 2 +2600"]);
    expect(await appended(meter)).to.deep.equal([]);
  });

  it("moves an invoice between statuses, and changes its amount", async () => {
    const paid = invoice({ status: "paid" });
    expect(
      await after((meter) => {
        meter.invoice(invoice(), paid);
      }),
    ).to.deep.equal(["invoices:open -1 -2500", "invoices:paid 1 +2500"]);
    const less = invoice({ amount: 2_400n });
    expect(
      await after((meter) => {
        meter.invoice(invoice(), less);
      }),
    ).to.deep.equal(["invoices:open 0 -100"]);
    expect(
      await after((meter) => {
        meter.invoice(invoice(), invoice());
      }),
    ).to.deep.equal([]);
    const free = invoice({ amount: 0n });
    expect(
      await after((meter) => {
        meter.invoice(null, free);
      }),
    ).to.deep.equal(["invoices:open 1 +0"]);
  });

  it("counts confirmed payments, and for the wallet and the customer that they have", async () => {
    const whole = { walletId: "wal_1", customerId: "cus_1", managedBy: null } as const;
    expect(
      await after((meter) => {
        meter.payment(whole, null, payment());
      }),
    ).to.deep.equal(["volume: 1 +700", "wallet:wal_1 1 +700", "customer:cus_1 1 +700"]);
    const reverted = payment({ status: "reverted" });
    expect(
      await after((meter) => {
        meter.payment(nobody, payment(), reverted);
      }),
    ).to.deep.equal(["volume: -1 -700"]);
    const managed = { ...nobody, managedBy: "billing" };
    for (const [subjects, of] of [
      [managed, payment()],
      [nobody, reverted],
    ] as const) {
      expect(
        await after((meter) => {
          meter.payment(subjects, null, of);
        }),
      ).to.deep.equal([]);
    }
  });
});
