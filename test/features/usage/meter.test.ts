import { expect } from "chai";
import {
  makeMeter,
  type MeteredInvoice,
  type MeteredPayment,
} from "../../../src/features/usage/meter.ts";
import { hour } from "../../../src/kernel/clock.ts";
import { createIds } from "../../../src/kernel/id.ts";
import type { Tx } from "../../../src/platform/database/index.ts";
import { systemRandom } from "../../../src/platform/secrets/random.ts";

const noon = Date.UTC(2031, 0, 31, 12);
/** Of an amount in hundredths, in figures. */
const scale = 10n ** 34n;

interface Row {
  readonly measure: string;
  readonly happenedAt: number;
  readonly subject: string;
  readonly items: number;
  readonly sign: number;
  readonly amount: bigint;
}

describe("the meter of a write", () => {
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

  /** Returns the rows that a meter appends, as `measure:subject items ±amount`. */
  function appended(meter: ReturnType<typeof makeMeter>): string[] {
    const rows: Row[] = [];
    const tx = { append: (_table: unknown, row: Row) => rows.push(row) } as unknown as Tx;
    meter.append(tx, noon);
    for (const { happenedAt } of rows) expect(happenedAt, "the start of the hour").to.equal(noon);
    return rows.map(
      ({ measure, subject, items, sign, amount }) =>
        `${measure}:${subject} ${String(items)} ${sign < 0 ? "-" : "+"}${String(amount / scale)}`,
    );
  }
  const after = (use: (meter: ReturnType<typeof makeMeter>) => void): string[] => {
    const meter = makeMeter(createIds(systemRandom));
    use(meter);
    return appended(meter);
  };

  it("sums the issued invoices of an hour, once", () => {
    const meter = makeMeter(createIds(systemRandom));
    meter.invoice(null, invoice());
    meter.invoice(null, invoice({ issuedAt: noon + hour - 1, amount: 100n }));
    meter.invoice(null, invoice({ issuedAt: null }));
    meter.invoice(null, invoice({ managedBy: "billing" }));
    expect(appended(meter)).to.deep.equal(["invoices:open 2 +2600"]);
    expect(appended(meter)).to.deep.equal([]);
  });

  it("moves an invoice between statuses, and changes its amount", () => {
    const paid = invoice({ status: "paid" });
    expect(
      after((meter) => {
        meter.invoice(invoice(), paid);
      }),
    ).to.deep.equal(["invoices:open -1 -2500", "invoices:paid 1 +2500"]);
    const less = invoice({ amount: 2_400n });
    expect(
      after((meter) => {
        meter.invoice(invoice(), less);
      }),
    ).to.deep.equal(["invoices:open 0 -100"]);
    expect(
      after((meter) => {
        meter.invoice(invoice(), invoice());
      }),
    ).to.deep.equal([]);
    const free = invoice({ amount: 0n });
    expect(
      after((meter) => {
        meter.invoice(null, free);
      }),
    ).to.deep.equal(["invoices:open 1 +0"]);
  });

  it("counts confirmed payments, and for the wallet and the customer that they have", () => {
    const whole = { walletId: "wal_1", customerId: "cus_1", managedBy: null } as const;
    expect(
      after((meter) => {
        meter.payment(whole, null, payment());
      }),
    ).to.deep.equal(["volume: 1 +700", "wallet:wal_1 1 +700", "customer:cus_1 1 +700"]);
    const reverted = payment({ status: "reverted" });
    expect(
      after((meter) => {
        meter.payment(nobody, payment(), reverted);
      }),
    ).to.deep.equal(["volume: -1 -700"]);
    const managed = { ...nobody, managedBy: "billing" };
    for (const [subjects, of] of [
      [managed, payment()],
      [nobody, reverted],
    ] as const) {
      expect(
        after((meter) => {
          meter.payment(subjects, null, of);
        }),
      ).to.deep.equal([]);
    }
  });
});
