import { expect } from "chai";
import {
  makeRefundLedger,
  type RefundablePayment,
} from "../../../../src/features/payments/refunds/refundable.ts";
import {
  payments,
  transfers,
  type PaymentRow,
  type TransferRow,
} from "../../../../src/features/payments/table.ts";
import { refusal } from "../../../support/invoice-services-fixture.ts";

type Changes = Partial<PaymentRow>;

/** A payment of 10 units, of a transfer of 10. */
const paymentWith = (changes: Changes = {}) =>
  ({
    id: "pay_1",
    invoiceId: "inv_1",
    transferId: "trf_1",
    network: "base",
    token: "USDT",
    status: "confirmed",
    statusWhenBack: null,
    amount: 10n,
    refundRequested: 0n,
    refunded: 0n,
    blockHeight: 5,
    ...changes,
  }) as PaymentRow;
const transferWith = (changes: Partial<TransferRow> = {}) =>
  ({
    id: "trf_1",
    amount: 10n,
    status: "seen",
    isFinal: true,
    verification: "open",
    disposition: "unmatched",
    invoiceId: null,
    ...changes,
  }) as TransferRow;

describe("A payment that is refunded", () => {
  /** Locks a payment of an invoice that asks for 4 units. */
  async function locked(
    status: string,
    changes: Changes = {},
    transfer: Partial<TransferRow> = {},
    managedBy: string | null = null,
  ) {
    const row = paymentWith(changes);
    const tx = {
      dialect: "sqlite",
      findOne: (table: unknown) => Promise.resolve(table === payments ? row : { tipHeight: 9 }),
      lockOne: () => Promise.resolve(transferWith(transfer)),
      find: () => Promise.resolve([row]),
      lock: () => Promise.resolve([row]),
    };
    const terms = {
      invoice: { status },
      managedBy,
      askedAmount: 4n,
      payableAmount: 4n,
      roundingSlack: 0n,
      quotes: [],
    };
    const ledger = makeRefundLedger({
      networks: new Map([["base", { id: "base" }]]),
      invoices: { lockTerms: () => Promise.resolve(new Map([["inv_1", terms]])) },
    } as never);
    return ledger.lock(tx as never, "org_1", "pay_1");
  }

  it("has the part of its surplus to give that is neither requested nor refunded", async () => {
    const free = async (changes: Changes) => {
      const found = await locked("paid", changes);
      return [found.surplus, found.free];
    };
    expect(await free({})).to.deep.equal([6n, 6n]);
    expect(await free({ refundRequested: 1n })).to.deep.equal([6n, 5n]);
    expect(await free({ refunded: 2n })).to.deep.equal([6n, 4n]);
    expect(await free({ refundRequested: 1n, refunded: 5n })).to.deep.equal([6n, 0n]);
    expect(await free({ refundRequested: 3n, refunded: 5n })).to.deep.equal([6n, 0n]);
  });

  it("is confirmed if it counts and is confirmed, or if its transfer is final, and only on the chain", async () => {
    const isConfirmed = async (changes: Changes, transfer: Partial<TransferRow> = {}) =>
      (await locked("expired", changes, transfer)).isConfirmed;
    expect(await isConfirmed({}, { isFinal: false })).to.equal(true);
    expect(await isConfirmed({ status: "confirming" })).to.equal(false);
    for (const status of ["review", "rejected"] as const) {
      expect(await isConfirmed({ status }), status).to.equal(true);
      expect(await isConfirmed({ status }, { isFinal: false }), status).to.equal(false);
      expect(await isConfirmed({ status }, { status: "orphaned" }), status).to.equal(false);
    }
  });

  it("has a surplus in time that waiting alone makes possible", async () => {
    const { surplus, surplusInTime } = await locked("confirming", { status: "confirming" });
    expect([surplus, surplusInTime]).to.deep.equal([0n, 6n]);
  });

  it("has reserved what is requested, until that is rejected", async () => {
    const saved: unknown[] = [];
    const tx = {
      update: (_table: unknown, to: object, _where: string, [id]: readonly string[]) =>
        Promise.resolve(void saved.push([id, to])),
    };
    const found = {
      payment: paymentWith({ refundRequested: 3n, refunded: 1n }),
    } as RefundablePayment;
    const ledger = makeRefundLedger({} as never);
    await ledger.request(tx as never, found, 4n);
    await ledger.cancel(tx as never, found, 2n);
    expect(saved).to.deep.equal([
      ["pay_1", { refundRequested: 7n, refunded: 1n }],
      ["pay_1", { refundRequested: 1n, refunded: 1n }],
    ]);
  });

  it("is found by the operator, whoever has it", async () => {
    const row = paymentWith();
    const ledgerOf = (found: PaymentRow | null) =>
      makeRefundLedger({ db: { findOne: () => Promise.resolve(found) } } as never);
    expect(await ledgerOf(row).find("pay_1")).to.equal(row);
    expect((await refusal(ledgerOf(null).find("pay_1"))).code).to.equal("not_found");
  });

  it("is none that another feature manages", async () => {
    expect((await refusal(locked("paid", {}, {}, "billing"))).code).to.equal("managed_by_billing");
  });
});

describe("A refund that is sent", () => {
  type Ledger = ReturnType<typeof makeRefundLedger>;

  /** Does something to a refund of 4 units of a payment. Returns its result, and what is stored. */
  async function after(
    act: (ledger: Ledger, tx: never, found: RefundablePayment) => Promise<unknown>,
    surplus: bigint,
    changes: Changes,
    disposition = "unmatched",
  ) {
    const saved: unknown[] = [];
    const assigned: unknown[] = [];
    const settled: unknown[] = [];
    const tx = {
      dialect: "sqlite",
      update(table: unknown, to: object) {
        (table === transfers ? assigned : saved).push(to);
        return Promise.resolve();
      },
      run: () => Promise.resolve(),
      find: () => Promise.resolve([]),
      all: () => Promise.resolve([]),
    };
    const invoices = {
      settleInvoices: (...given: unknown[]) => Promise.resolve(void settled.push(given)),
    };
    const payment = paymentWith(changes);
    const found = {
      payment,
      transfer: transferWith({ disposition } as Partial<TransferRow>),
      others: [],
      surplus,
      network: { id: "base" },
      terms: new Map(),
      stored: [payment],
    };
    const ledger = makeRefundLedger({ invoices } as never);
    const result = await act(ledger, tx as never, found as unknown as RefundablePayment);
    expect(settled).to.have.length(1);
    return { result, saved, assigned };
  }

  /** Takes a sent refund back. Returns whether it is requested again, and what is stored. */
  async function takenBack(...given: readonly [bigint, Changes, string?]) {
    const { result, ...stored } = await after(
      (ledger, tx, found) => ledger.takeBack(tx, found, 4n, 0),
      ...given,
    );
    return { isRequested: result, ...stored };
  }

  it("moves its amount from what is requested to what was refunded, and back if it was not sent", async () => {
    const send = (ledger: Ledger, tx: never, found: RefundablePayment) =>
      ledger.send(tx, found, 4n, 0);
    const requested = { refundRequested: 5n, refunded: 2n };
    const rejected = await after(send, 10n, { ...requested, status: "rejected" });
    expect(rejected.saved).to.deep.equal([{ refundRequested: 1n, refunded: 6n }]);
    const canceled = await after((ledger, tx, found) => ledger.cancelSent(tx, found, 4n, 0), 10n, {
      refundRequested: 1n,
      refunded: 6n,
    });
    expect(canceled.saved).to.deep.equal([{ refundRequested: 1n, refunded: 2n }]);
  });

  it("is requested again if nothing proves it, and the surplus covers it with the payment's other refunds", async () => {
    const again = (refundRequested: bigint, refunded: bigint) => ({
      isRequested: true,
      saved: [{ refundRequested, refunded }],
      assigned: [],
    });
    expect(await takenBack(4n, { refunded: 4n })).to.deep.equal(again(4n, 0n));
    const more = { refundRequested: 3n, refunded: 6n };
    expect(await takenBack(9n, more)).to.deep.equal(again(7n, 2n));
  });

  it("is not requested again once the surplus is gone, or others are requested or were sent of it", async () => {
    const gone = (refundRequested: bigint, refunded: bigint) => ({
      isRequested: false,
      saved: [{ refundRequested, refunded }],
      assigned: [],
    });
    expect(await takenBack(0n, { refunded: 4n })).to.deep.equal(gone(0n, 0n));
    expect(await takenBack(3n, { refunded: 4n })).to.deep.equal(gone(0n, 0n));
    const requested = { refundRequested: 3n, refunded: 4n };
    expect(await takenBack(4n, requested)).to.deep.equal(gone(3n, 0n));
    const more = { refundRequested: 3n, refunded: 6n };
    expect(await takenBack(8n, more)).to.deep.equal(gone(3n, 2n));
  });

  it("leaves the transfer's amount to allocate again if the payment does not count, unless it is ignored", async () => {
    const rejected = { status: "rejected", refunded: 4n } as const;
    for (const [before, after] of [
      ["matched", "unmatched"],
      ["unmatched", "unmatched"],
      ["ignored", "ignored"],
    ] as const) {
      const { assigned } = await takenBack(10n, rejected, before);
      expect(assigned, before).to.deep.equal([{ invoiceId: null, disposition: after }]);
    }
  });
});
