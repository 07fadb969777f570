// Which payment a payer asks to have refunded, without a store.
import { expect } from "chai";
import { invoices } from "../../../src/features/invoices/table.ts";
import type { RefundablePayment } from "../../../src/features/payments/index.ts";
import { transfers, type PaymentRow } from "../../../src/features/payments/table.ts";
import { makePayerRefunds } from "../../../src/features/refunds/index.ts";
import { refunds } from "../../../src/features/refunds/table.ts";
import { createIds } from "../../../src/kernel/id.ts";
import type { Tx } from "../../../src/platform/database/index.ts";
import { systemRandom } from "../../../src/platform/secrets/random.ts";
import { stillClock } from "../../support/app.ts";
import { refusal } from "../../support/invoice-services-fixture.ts";
import { testNetworks } from "../../support/merchants.ts";
import { testContext } from "../../support/store/stores.ts";

const networks = testNetworks("ethereum");
const [network] = networks.values();
const hash = "aa".repeat(32);
const address = `0x${"5".repeat(40)}`;

/** A payment of 10 units of a canceled invoice, which does not count. */
const paymentWith = (number: number, changes: Partial<PaymentRow> = {}) =>
  ({
    id: `pay_${String(number)}`,
    organizationId: "org_1",
    invoiceId: "inv_1",
    transferId: `trf_${String(number)}`,
    network: "ethereum",
    token: "USDT",
    tokenDecimals: 6,
    status: "review",
    statusWhenBack: null,
    rule: "exact_amount",
    amount: 10_000_000n,
    refundRequested: 0n,
    refunded: 0n,
    requiredConfirmations: 3,
    blockHeight: 5,
    transactionHash: hash,
    ...changes,
  }) as PaymentRow;

interface Given {
  readonly payments: readonly PaymentRow[];
  /** The payments of which a refund is open, and those whose next refund only the merchant may create. */
  readonly open?: readonly string[];
  readonly left?: readonly string[];
  readonly found?: Partial<RefundablePayment>;
}

function payerWith({ payments, open = [], left = [], found = {} }: Given) {
  const asked: string[] = [];
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
    network: "ethereum",
    tokenSymbol: "USDT",
    exchangeRate: "1",
    amount: 10n,
    seenAmount: 0n,
    confirmedAmount: 0n,
    remainingAmount: null,
    managedBy: null,
  };
  const openRefund = (_table: unknown, _sql: string, [id]: readonly string[]) =>
    Promise.resolve(open.includes(id ?? "") ? { id: "rfd_1", status: "requested" } : null);
  const tx = {
    dialect: "sqlite",
    find(table: unknown, sql: string, [value]: readonly string[]) {
      if (table === invoices) return Promise.resolve([invoice]);
      const ids = value?.startsWith("[") === true ? (JSON.parse(value) as string[]) : [value];
      if (table === transfers) {
        return Promise.resolve(ids.map((id) => ({ id, amount: 10_000_000n, status: "seen" })));
      }
      const column = (row: PaymentRow) =>
        sql.includes("invoice_id")
          ? row.invoiceId
          : sql.includes("transfer_id")
            ? row.transferId
            : row.id;
      return Promise.resolve(payments.filter((row) => ids.includes(column(row))));
    },
    findOne: openRefund,
    lockOne: openRefund,
    all: (sql: string, [id]: readonly string[]) =>
      Promise.resolve(sql.includes("rejected") && left.includes(id ?? "") ? [{}] : []),
    insert(table: unknown, row: { readonly paymentId: string; readonly source: string }) {
      expect(table).to.equal(refunds);
      asked.push(`${row.paymentId} by the ${row.source}`);
      return Promise.resolve();
    },
  } as unknown as Tx;
  const payer = makePayerRefunds({
    db: { write: (_context: unknown, fn: (in_: Tx) => unknown) => fn(tx) },
    clock: stillClock(7),
    ids: createIds(systemRandom),
    networks,
    journal: { record: () => [] },
    payments: {
      lock: (_tx: unknown, _owner: unknown, id: string) =>
        Promise.resolve({
          payment: payments.find((payment) => payment.id === id),
          transfer: { toAddress: "7".repeat(40), fromAddress: "6".repeat(40) },
          network,
          state: { tipHeight: 9 },
          free: 10_000_000n,
          isConfirmed: true,
          isVerified: true,
          ...found,
        }),
      request: () => Promise.resolve(),
    },
  } as unknown as Parameters<typeof makePayerRefunds>[0]);
  const invoiceOf = { id: "inv_1", organizationId: "org_1" } as const;
  return {
    asked,
    request: (input: { readonly transactionHash?: string; readonly amount?: string } = {}) =>
      payer.request(tx, invoiceOf, { transactionHash: hash, address, ...input }),
    offer: () => payer.offer(testContext, invoiceOf, { transactionHash: hash, address }),
  };
}

describe("The request of a payer for a refund", () => {
  const [newest, older] = [paymentWith(2), paymentWith(1)];

  it("is for the newest payment by the transaction that has something left", async () => {
    for (const [given, expected] of [
      [{ payments: [older, newest] }, "pay_2"],
      [{ payments: [newest, older], open: ["pay_2"] }, "pay_1"],
      [{ payments: [newest, older], left: ["pay_2"] }, "pay_1"],
      [{ payments: [paymentWith(2, { refunded: 10_000_000n }), older] }, "pay_1"],
      [
        {
          payments: [paymentWith(2, { refundRequested: 4_000_000n, refunded: 6_000_000n }), older],
        },
        "pay_1",
      ],
      [
        {
          payments: [paymentWith(2, { refundRequested: 4_000_000n, refunded: 5_999_999n }), older],
        },
        "pay_2",
      ],
      // Somebody else may have submitted the hash.
      [{ payments: [paymentWith(2, { rule: "submitted_hash" }), older] }, "pay_1"],
      [{ payments: [paymentWith(2, { transactionHash: "bb".repeat(32) }), older] }, "pay_1"],
      [{ payments: [paymentWith(2, { status: "reverted" }), older] }, "pay_1"],
      [
        { payments: [paymentWith(2, { status: "rejected", rule: "submitted_hash" }), older] },
        "pay_1",
      ],
    ] as const) {
      const { request, asked } = payerWith(given);
      expect(await request()).to.equal("requested");
      expect(asked).to.deep.equal([`${expected} by the payer`]);
    }
  });

  it("finds the open refund, and stores nothing, if each payment has one", async () => {
    const { request, offer, asked } = payerWith({
      payments: [newest, older],
      open: ["pay_1", "pay_2"],
    });
    expect(await request()).to.equal("open");
    expect(await offer()).to.equal(null);
    expect(asked).to.deep.equal([]);
  });

  it("is refused if there is nothing, too early, or left to the merchant", async () => {
    const submitted = paymentWith(1, { rule: "submitted_hash" });
    for (const [given, code, words] of [
      [{ payments: [] }, "not_refundable", "no confirmed payment"],
      [{ payments: [paymentWith(1, { transactionHash: "bb".repeat(32) })] }, "not_refundable", ""],
      [
        { payments: [paymentWith(1, { status: "rejected", rule: "manual" })] },
        "not_refundable",
        "",
      ],
      [{ payments: [older], found: { free: 0n } }, "not_refundable", "no confirmed payment"],
      [{ payments: [older], left: ["pay_1"] }, "too_many_refund_requests", "rejected 3 requests"],
      [{ payments: [submitted], left: ["pay_1"] }, "not_refundable", "no confirmed payment"],
      [
        { payments: [older], found: { isConfirmed: false } },
        "refund_too_early",
        "its block can still be replaced, and has 5 of about",
      ],
      [{ payments: [older], found: { isVerified: false } }, "refund_too_early", "certain yet"],
      [
        {
          payments: [paymentWith(1, { status: "confirmed", requiredConfirmations: 5 })],
          found: { isVerified: false },
        },
        "refund_too_early",
        "the network is asked about it once more",
      ],
    ] as const) {
      const { request, offer, asked } = payerWith(given);
      for (const refused of [request(), offer()]) {
        const problem = await refusal(refused);
        expect(problem.code).to.equal(code);
        expect(problem.message).to.contain(words);
      }
      expect(asked).to.deep.equal([]);
    }
    const { errors } = await refusal(
      payerWith({ payments: [older] }).request({ transactionHash: "12" }),
    );
    expect(errors[0]).to.include({ pointer: "/transactionHash" });
  });

  it("is stored only if the amount is the one that was seen", async () => {
    const { request, offer, asked } = payerWith({ payments: [older] });
    expect(await offer()).to.include({ amount: "10.00", tokenSymbol: "USDT", network });
    expect(asked).to.deep.equal([]);
    expect(await request({ amount: "9.99" })).to.equal("changed");
    expect(asked).to.deep.equal([]);
    expect(await request({ amount: "10.00" })).to.equal("requested");
    expect(asked).to.have.length(1);
  });
});
