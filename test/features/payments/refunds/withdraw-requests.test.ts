import { expect } from "chai";
import { invoices } from "../../../../src/features/invoices/table.ts";
import { withdrawRequests } from "../../../../src/features/payments/refunds/withdraw-requests.ts";
import { payments, transfers, type PaymentRow } from "../../../../src/features/payments/table.ts";

/** A rejected payment of 10 units, of a transfer of its own, for an invoice that is canceled. */
const paymentWith = (number: number, changes: Partial<PaymentRow>) =>
  ({
    id: `pay_${String(number)}`,
    invoiceId: "inv_1",
    transferId: `trf_${String(number)}`,
    status: "rejected",
    statusWhenBack: null,
    amount: 10n,
    refundRequested: 0n,
    refunded: 0n,
    ...changes,
  }) as PaymentRow;

/** Withdraws requests after a change of payments. Returns the withdrawn payments, and how many statements were read. */
async function withdrawn(...changes: readonly Partial<PaymentRow>[]) {
  const rows = changes.map((each, place) => paymentWith(place + 1, each));
  const saved: unknown[] = [];
  const told: unknown[] = [];
  let reads = 0;
  const invoice = {
    id: "inv_1",
    status: "canceled",
    payableAmount: 10n,
    askedAmount: null,
    issuedAt: 1,
    expiresAt: 2,
    lateUntil: 3,
    canceledAt: 2,
    underpaymentTolerance: "0",
    paymentOptions: null,
    network: "base",
    tokenSymbol: "USDT",
    exchangeRate: "1",
    amount: 10n,
    seenAmount: 0n,
    confirmedAmount: 0n,
    remainingAmount: null,
    managedBy: null,
  };
  const tx = {
    dialect: "sqlite",
    find(table: unknown, sql: string, [given]: readonly string[]) {
      reads += 1;
      const ids = JSON.parse(given ?? "[]") as readonly string[];
      if (table === invoices) return Promise.resolve([invoice]);
      if (table === transfers) {
        return Promise.resolve(ids.map((id) => ({ id, amount: 10n, status: "seen" })));
      }
      const own = (row: PaymentRow) =>
        sql.includes("WHERE id")
          ? row.id
          : sql.includes("WHERE invoice_id")
            ? row.invoiceId
            : row.transferId;
      return Promise.resolve(rows.filter((row) => ids.includes(own(row))));
    },
    updateMany(table: unknown, given: unknown) {
      expect(table).to.equal(payments);
      saved.push(given);
      return Promise.resolve();
    },
  };
  const refunds = {
    withdraw: (_tx: unknown, ids: unknown, at: unknown) =>
      Promise.resolve(void told.push([ids, at])),
  };
  const given = rows.map((row) => ({ before: row, after: row }));
  await withdrawRequests(tx as never, { refunds }, given, 7);
  return { saved, told, reads };
}

describe("Requested refunds after a change of payments", () => {
  const nothing = { saved: [], told: [] };

  it("stay while the surplus covers them with what was refunded", async () => {
    const stay = { refundRequested: 6n, refunded: 4n };
    expect(await withdrawn(stay, { refundRequested: 10n })).to.deep.include(nothing);
  });

  it("are withdrawn if it does not, and those of other payments stay", async () => {
    const uncovered = { refundRequested: 7n, refunded: 4n };
    const found = await withdrawn({ refundRequested: 1n }, uncovered, { refundRequested: 11n });
    const ids = ["pay_2", "pay_3"];
    expect(found).to.deep.include({
      saved: [ids.map((id) => ({ where: { id }, set: { refundRequested: 0n } }))],
      told: [[ids, 7]],
    });
  });

  it("are withdrawn if another payment has the transfer now", async () => {
    const taking = { status: "confirming", transferId: "trf_1", invoiceId: "inv_2" } as const;
    const found = await withdrawn({ refundRequested: 4n }, { ...taking, amount: 7n });
    expect(found.told).to.deep.equal([[["pay_1"], 7]]);
    expect(await withdrawn({ refundRequested: 3n }, { ...taking, amount: 7n })).to.deep.include(
      nothing,
    );
  });

  it("are looked at only if there are some, and a refund that was sent is left alone", async () => {
    expect(await withdrawn({}, { refunded: 11n })).to.deep.equal({ ...nothing, reads: 0 });
  });
});
