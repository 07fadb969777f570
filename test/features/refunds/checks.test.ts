import { expect } from "chai";
import { invoices } from "../../../src/features/invoices/table.ts";
import { payments, transfers, type PaymentRow } from "../../../src/features/payments/table.ts";
import { refundChecks } from "../../../src/features/refunds/checks.ts";
import { refunds, type RefundRow } from "../../../src/features/refunds/table.ts";
import type { Reader } from "../../../src/platform/database/index.ts";

/** A payment of 10 units, of a transfer of its own. */
const paymentWith = (number: number, changes: Partial<PaymentRow> = {}) =>
  ({
    id: `pay_${String(number)}`,
    invoiceId: "inv_1",
    transferId: `trf_${String(number)}`,
    network: "base",
    token: "USDT",
    status: "confirmed",
    statusWhenBack: null,
    amount: 10n,
    refundRequested: 0n,
    refunded: 0n,
    blockHeight: 5 + number,
    ...changes,
  }) as PaymentRow;

const refundOf = (number: number, status: RefundRow["status"], amount: bigint) =>
  ({ paymentId: `pay_${String(number)}`, status, amount }) as RefundRow;

/** Verifies the refunds of payments of an invoice of 10 units. Returns the faults by payment. */
async function faultsOf(status: string, rows: readonly PaymentRow[], given: readonly RefundRow[]) {
  const stored = given.map((row, place) => ({ ...row, id: `rfd_${String(place + 1)}` }));
  const invoice = {
    id: "inv_1",
    status,
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
  const reader = {
    dialect: "sqlite",
    find(table: unknown, sql: string, [value]: readonly string[]) {
      if (table === refunds && sql.includes("id >")) {
        return Promise.resolve(value === "" ? stored : []);
      }
      if (table === invoices) return Promise.resolve([invoice]);
      const ids = JSON.parse(value ?? "[]") as readonly string[];
      if (table === refunds) {
        return Promise.resolve(
          stored.filter((row) => ids.includes(row.paymentId) && row.status !== "rejected"),
        );
      }
      if (table === transfers) {
        return Promise.resolve(ids.map((id) => ({ id, amount: 10n, status: "seen" })));
      }
      expect(table).to.equal(payments);
      const column = (row: PaymentRow) =>
        sql.includes("WHERE id")
          ? row.id
          : sql.includes("WHERE invoice_id")
            ? row.invoiceId
            : row.transferId;
      return Promise.resolve(rows.filter((row) => ids.includes(column(row))));
    },
  };
  const check = refundChecks.find(({ name }) => name === "refunds.surplus");
  const found = await check?.run(reader as unknown as Reader);
  return found?.map(({ row, fault }) => `${row}: ${fault}`);
}

describe("The check of refunds against their payments", () => {
  const differ = (id: string) => `${id}: Its sums of refunds differ from its refunds.`;
  const exceeds = (id: string, total: number, surplus: number) =>
    `${id}: ${String(total)} units of it are refunded, of a surplus of ${String(surplus)}.`;

  it("finds sums that differ from the refunds of the payment, requested and sent apart", async () => {
    const given = [
      refundOf(1, "requested", 2n),
      refundOf(1, "sent", 3n),
      refundOf(1, "confirmed", 1n),
      refundOf(1, "rejected", 9n),
      refundOf(2, "confirmed", 5n),
    ];
    const other = paymentWith(2, { refunded: 5n });
    const faults = (refundRequested: bigint, refunded: bigint) =>
      faultsOf("expired", [paymentWith(1, { refundRequested, refunded }), other], given);
    expect(await faults(2n, 4n)).to.deep.equal([]);
    for (const [requested, refunded] of [
      [1n, 4n],
      [2n, 5n],
      [0n, 6n],
      [4n, 2n],
    ] as const) {
      expect(await faults(requested, refunded)).to.deep.equal([differ("pay_1")]);
    }
  });

  it("finds refunds of a payment that does not exist", async () => {
    const found = await faultsOf("expired", [], [refundOf(1, "confirmed", 5n)]);
    expect(found).to.deep.equal(["pay_1: It has refunds but does not exist."]);
  });

  it("finds refunds above the surplus, of which requests count once the invoice is over", async () => {
    const faults = (status: string, refundRequested: bigint, refunded: bigint) =>
      faultsOf(
        status,
        [paymentWith(1, { refundRequested, refunded })],
        [refundOf(1, "requested", refundRequested), refundOf(1, "sent", refunded)],
      );
    expect(await faults("expired", 6n, 4n)).to.deep.equal([]);
    expect(await faults("expired", 7n, 4n)).to.deep.equal([exceeds("pay_1", 11, 10)]);
    expect(await faults("partially_paid", 7n, 0n)).to.deep.equal([]);
    expect(await faults("partially_paid", 0n, 1n)).to.deep.equal([exceeds("pay_1", 1, 0)]);
    expect(await faults("paid", 0n, 1n)).to.deep.equal([exceeds("pay_1", 1, 0)]);
  });

  it("allows what was refunded before a reorganization removed another payment of the invoice", async () => {
    const faults = (status: PaymentRow["status"], refunded: bigint) =>
      faultsOf(
        "partially_paid",
        [paymentWith(1, { refunded }), paymentWith(2, { status })],
        [refundOf(1, "confirmed", refunded)],
      );
    expect(await faults("reverted", 10n)).to.deep.equal([]);
    expect(await faults("reverted", 11n)).to.deep.equal([exceeds("pay_1", 11, 0)]);
    expect(await faults("confirmed", 10n)).to.deep.equal([exceeds("pay_1", 10, 0)]);
  });
});
