// Which payments can be refunded, and which refunds can be sent, without a store.
import { expect } from "chai";
import { makeRefundService } from "../../../src/features/refunds/index.ts";
import { refunds, type RefundRow } from "../../../src/features/refunds/table.ts";
import type { RefundablePayment } from "../../../src/features/payments/index.ts";
import type { PaymentRow } from "../../../src/features/payments/table.ts";
import { createIds } from "../../../src/kernel/id.ts";
import { systemRandom } from "../../../src/platform/secrets/random.ts";
import { stillClock } from "../../support/app.ts";
import { refusal } from "../../support/invoice-services-fixture.ts";
import { testNetworks } from "../../support/merchants.ts";
import { testContext } from "../../support/store/stores.ts";

const networks = testNetworks("ethereum");
const [network] = networks.values();
const [payer, wallet] = ["5".repeat(40), "7".repeat(40)];

const paymentWith = (changes: Partial<PaymentRow> = {}) =>
  ({
    id: "pay_1",
    organizationId: "org_1",
    invoiceId: "inv_1",
    status: "confirmed",
    statusWhenBack: null,
    rule: "exact_amount",
    network: "ethereum",
    token: "USDT",
    tokenDecimals: 6,
    amount: 25_000_000n,
    refundRequested: 0n,
    refunded: 0n,
    requiredConfirmations: 3,
    blockHeight: 101,
    transactionHash: "aa".repeat(32),
    ...changes,
  }) as PaymentRow;

/** Another payment, by default of the same invoice. */
const other = (status: PaymentRow["status"], changes: Partial<PaymentRow> = {}) =>
  paymentWith({ id: "pay_2", status, ...changes });

interface Given {
  readonly payment?: Partial<PaymentRow>;
  readonly transfer?: object;
  readonly others?: readonly PaymentRow[];
  /** Confirmations of the payment. */
  readonly has?: number;
  readonly changes?: Partial<RefundablePayment>;
}

/** A payment of which 5 units of USDT are surplus, by default confirmed and verified. */
function foundWith({
  payment: own = {},
  transfer = {},
  others = [],
  has = 3,
  changes = {},
}: Given) {
  const payment = paymentWith(own);
  const [surplus, surplusInTime] = [5_000_000n, 5_000_000n];
  return {
    payment,
    transfer: {
      status: "seen",
      isFinal: true,
      toAddress: wallet,
      fromAddress: payer,
      ...transfer,
    },
    network,
    state: { tipHeight: 100 + has },
    stored: [payment, ...others],
    free: surplus,
    surplus,
    surplusInTime,
    isConfirmed: true,
    isVerified: true,
    ...changes,
  } as unknown as RefundablePayment;
}

const refundWith = (changes: Partial<RefundRow> = {}) =>
  ({
    id: "rfd_1",
    organizationId: "org_1",
    invoiceId: "inv_1",
    paymentId: "pay_1",
    status: "requested",
    source: "payer",
    network: "ethereum",
    token: "USDT",
    tokenDecimals: 6,
    amount: 5_000_000n,
    address: payer,
    fromAddress: payer,
    paymentHash: "aa".repeat(32),
    paymentRule: "exact_amount",
    transactionHash: null,
    blockHeight: null,
    blockHash: null,
    refusal: null,
    refusedHash: null,
    reason: null,
    version: 1,
    createdAt: 1,
    updatedAt: 1,
    sentAt: null,
    confirmedAt: null,
    ...changes,
  }) as RefundRow;

/** A service whose store has this payment, and perhaps a refund of it and one that has the named transaction. */
function serviceWith(
  given: Given,
  { refund = null, namesake = null }: Record<string, RefundRow | null> = {},
) {
  const done: string[] = [];
  const committed: (() => void)[] = [];
  const note =
    (what: string) =>
    (_tx: unknown, _found: unknown, amount?: bigint): Promise<void> => {
      done.push(amount === undefined ? what : `${what} ${String(amount)}`);
      return Promise.resolve();
    };
  const tx = {
    dialect: "sqlite",
    all: () => Promise.resolve([]),
    find: () => Promise.resolve([]),
    findOne: (_table: unknown, sql: string) =>
      Promise.resolve(sql.includes("transaction_hash") ? namesake : refund),
    lockOne: () => Promise.resolve(refund),
    insert: (table: unknown) => note(table === refunds ? "inserted" : "?")(null, null),
    update: (_table: unknown, { status }: Partial<RefundRow>) =>
      note(`saved ${String(status)}`)(null, null),
    afterCommit: (action: () => void) => committed.push(action),
  };
  const service = makeRefundService({
    db: {
      async write(_context: unknown, fn: (in_: typeof tx) => unknown) {
        const result: unknown = await fn(tx);
        for (const action of committed.splice(0)) action();
        return result;
      },
    },
    clock: stillClock(7),
    ids: createIds(systemRandom),
    networks,
    journal: {
      record: (_tx: unknown, _at: unknown, { action }: { readonly action: string }) =>
        void done.push(action),
    },
    payments: {
      lock: () => Promise.resolve(foundWith(given)),
      request: note("reserved"),
      send: note("paid"),
      cancel: note("released"),
      cancelSent: note("returned"),
    },
    wake: (id: string) => void done.push(`woke ${id}`),
  } as unknown as Parameters<typeof makeRefundService>[0]);
  return { service, done };
}

describe("A refund that a merchant records", () => {
  const create = (given: Given, amount = "5.00", refund: RefundRow | null = null) => {
    const { service, done } = serviceWith(given, { refund });
    const input = { paymentId: "pay_1", amount, address: `0x${payer}` } as const;
    return { made: service.create(testContext, "org_1", input), done };
  };

  it("reserves its amount, and is at most the surplus that no other refund takes", async () => {
    for (const [amount, units] of [
      ["5.00", "5000000"],
      ["0.000001", "1"],
    ] as const) {
      const { made, done } = create({}, amount);
      const { refund } = await made;
      expect(refund).to.include({ status: "requested", source: "merchant", amount: BigInt(units) });
      expect(done).to.deep.equal([`reserved ${units}`, "inserted", "refund.requested"]);
    }
    const { made, done } = create({}, "5.000001");
    const { code, message } = await refusal(made);
    expect(code).to.equal("refund_too_large");
    expect(message).to.contain("5.00 USDT of this payment");
    expect(done).to.deep.equal([]);
  });

  it("is one at a time for a payment", async () => {
    for (const [status, remedy] of [
      ["requested", "Send or reject it first."],
      ["sent", "Wait until it is confirmed."],
    ] as const) {
      const { made } = create({}, "1.00", refundWith({ status }));
      const { code, message } = await refusal(made);
      expect(code).to.equal("refund_open");
      expect(message).to.equal(`rfd_1 is ${status}. ${remedy}`);
    }
  });

  const nothing = { free: 0n, surplus: 0n, surplusInTime: 0n };
  const needed = /^Its invoice needs all of pay_1\. To return/;
  const elsewhere = /^Its invoice needs all of pay_1\. If the invoice has an excess/;
  const gone = /^All of the surplus of pay_1 is refunded already/;
  const inReview = /^pay_1 is in review/;
  const disagreed = /^The network's providers have not agreed/;
  /** Whether others of an invoice are not confirmed, so that this payment has no surplus yet. */
  const later = { free: 0n, surplus: 0n };
  const refused: readonly (readonly [string, Given, string, RegExp])[] = [
    ["that the invoice needs", { changes: nothing }, "not_refundable", needed],
    [
      "if the invoice has another one that counts",
      { others: [other("confirming")], changes: nothing },
      "not_refundable",
      elsewhere,
    ],
    [
      "if the invoice has two others, of which one counts",
      {
        others: [other("rejected"), other("confirmed", { id: "pay_3" })],
        changes: nothing,
      },
      "not_refundable",
      elsewhere,
    ],
    [
      "if its transfer pays another invoice too",
      { others: [other("confirmed", { invoiceId: "inv_2" })], changes: nothing },
      "not_refundable",
      needed,
    ],
    [
      "if the invoice has another one that does not count",
      { others: [other("review")], changes: nothing },
      "not_refundable",
      needed,
    ],
    ["in review", { payment: { status: "review" }, changes: nothing }, "not_refundable", inReview],
    [
      "that returns to review",
      { payment: { status: "reverted", statusWhenBack: "review" }, changes: nothing },
      "not_refundable",
      inReview,
    ],
    [
      "that is rejected",
      { payment: { status: "rejected" }, changes: nothing },
      "not_refundable",
      gone,
    ],
    [
      "after its surplus was refunded",
      { payment: { refunded: 5_000_000n }, changes: { free: 0n } },
      "not_refundable",
      gone,
    ],
    [
      "after its surplus was refunded, also if it is not certain any more",
      { payment: { refunded: 5_000_000n }, changes: { free: 0n, isVerified: false } },
      "not_refundable",
      gone,
    ],
    [
      "while the invoice waits for another one",
      { others: [other("confirmed", { id: "pay_3" }), other("confirming")], changes: later },
      "refund_too_early",
      /^pay_2 of the same invoice is not confirmed/,
    ],
    [
      "that waits for a payment of another invoice",
      { others: [other("confirming", { invoiceId: "inv_2" })], changes: later },
      "not_refundable",
      gone,
    ],
    [
      "after its surplus was refunded, while the invoice waits for another one",
      {
        payment: { refunded: 3_000_000n },
        others: [other("confirming")],
        changes: { free: 0n, surplus: 3_000_000n },
      },
      "not_refundable",
      gone,
    ],
    [
      "if the invoice waits for none",
      { others: [other("reverted")], changes: later },
      "not_refundable",
      gone,
    ],
    [
      "that has too few confirmations",
      { payment: { status: "confirming" }, has: 2, changes: { isConfirmed: false } },
      "refund_too_early",
      /^pay_1 has 2 of its 3 confirmations/,
    ],
    [
      "that has its confirmations, but is not verified",
      { payment: { status: "confirming" }, changes: { isConfirmed: false } },
      "refund_too_early",
      disagreed,
    ],
    ["that is not verified", { changes: { isVerified: false } }, "refund_too_early", disagreed],
    [
      "that does not count, and is not final",
      {
        payment: { status: "rejected" },
        transfer: { isFinal: false },
        changes: { isConfirmed: false },
      },
      "refund_too_early",
      /its block must be final before it is refunded: at about \d+ confirmations\. It has 3\./,
    ],
    [
      "that does not count, and is final, but not verified",
      { payment: { status: "rejected" }, changes: { isVerified: false } },
      "refund_too_early",
      disagreed,
    ],
    [
      "that is not on the chain",
      { transfer: { status: "orphaned" }, changes: { isConfirmed: false } },
      "refund_too_early",
      /^pay_1 is not on the chain/,
    ],
  ];
  for (const [what, given, code, words] of refused) {
    it(`is not of a payment ${what}`, async () => {
      const { made, done } = create(given, "1.00");
      const problem = await refusal(made);
      expect(problem.code).to.equal(code);
      expect(problem.message).to.match(words);
      expect(done).to.deep.equal([]);
    });
  }
});

describe("The transaction of a refund", () => {
  const hash = "bb".repeat(32);
  const send = (
    refund: RefundRow,
    given: Given = {},
    namesake: RefundRow | null = null,
    text = hash,
  ) => {
    const { service, done } = serviceWith(
      { payment: { refundRequested: refund.amount }, ...given },
      { refund, namesake },
    );
    return { sent: service.send(testContext, "org_1", "rfd_1", text), done };
  };

  it("is named once the payment is certain, and its network's worker examines it", async () => {
    const { sent, done } = send(refundWith());
    expect((await sent).refund).to.include({ status: "sent", transactionHash: hash, sentAt: 7 });
    expect(done).to.deep.equal(["paid 5000000", "saved sent", "refund.sent", "woke ethereum"]);
  });

  it("can be replaced until it is in a block, without another payment", async () => {
    const { sent, done } = send(refundWith({ status: "sent", transactionHash: "cc".repeat(32) }));
    expect((await sent).refund).to.include({ status: "sent", transactionHash: hash });
    expect(done).to.deep.equal(["saved sent", "refund.sent", "woke ethereum"]);
    // The same again changes nothing.
    const again = send(refundWith({ status: "sent", transactionHash: hash, blockHash: "dd" }));
    await again.sent;
    expect(again.done).to.deep.equal([]);
    for (const changes of [
      { status: "sent", transactionHash: "cc".repeat(32), blockHash: "dd" },
      { status: "confirmed", transactionHash: "cc".repeat(32), blockHash: "dd" },
      { status: "rejected" },
    ] as const) {
      const late = send(refundWith(changes));
      expect((await refusal(late.sent)).code, changes.status).to.equal("refund_not_requested");
      expect(late.done).to.deep.equal([]);
    }
  });

  it("is a transaction of its own", async () => {
    const other = refundWith({ id: "rfd_2", transactionHash: hash });
    expect((await refusal(send(refundWith(), {}, other).sent)).message).to.contain("pays rfd_2");
    const paid = send(refundWith(), {}, null, "aa".repeat(32));
    expect((await refusal(paid.sent)).message).to.contain("the transaction of the payment");
    expect((await refusal(send(refundWith(), {}, null, "12").sent)).status).to.equal(400);
  });

  it("is not named while the surplus is gone, or not certain", async () => {
    const refunded = { payment: { refundRequested: 5_000_000n, refunded: 5_000_000n } };
    const surplus = (units: bigint) => ({ surplus: units, surplusInTime: units });
    for (const [given, code] of [
      [{ ...refunded, changes: surplus(10_000_000n) }, null],
      [{ ...refunded, changes: surplus(9_999_999n) }, "not_refundable"],
      [{ changes: { isVerified: false } }, "refund_too_early"],
      [{ changes: { isConfirmed: false } }, "refund_too_early"],
      // Waiting does not bring it back.
      [{ changes: { ...surplus(4_999_999n), isConfirmed: false } }, "not_refundable"],
      [{ changes: { surplus: 0n } }, "not_refundable"],
    ] as const) {
      const { sent, done } = send(refundWith(), given);
      if (code === null) await sent;
      else expect((await refusal(sent)).code).to.equal(code);
      expect(done.length > 0).to.equal(code === null);
    }
  });
});

describe("A refund that is rejected", () => {
  it("releases its amount, or returns what was noted as sent", async () => {
    for (const [changes, effect] of [
      [{}, "released 5000000"],
      [{ status: "sent", transactionHash: "cc".repeat(32) }, "returned 5000000"],
    ] as const) {
      const { service, done } = serviceWith({}, { refund: refundWith(changes) });
      const { refund } = await service.reject(testContext, "org_1", "rfd_1", "Not yours");
      const rejected = {
        status: "rejected",
        reason: "Not yours",
        transactionHash: null,
        version: 2,
      };
      expect(refund).to.include(rejected);
      expect(done).to.deep.equal([effect, "saved rejected", "refund.rejected"]);
    }
    const { service } = serviceWith({}, { refund: refundWith({ status: "rejected" }) });
    const again = service.reject(testContext, "org_1", "rfd_1", "Not yours");
    expect((await refusal(again)).code).to.equal("refund_not_requested");
  });
});
