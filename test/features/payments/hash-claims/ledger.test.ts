// Unit tests of what is entered for a submitted transaction, and what becomes of it, with a store in memory.
import { expect } from "chai";
import type { HoldMatch } from "../../../../src/features/invoices/index.ts";
import {
  recordClaimedTransfers,
  settleClaim,
} from "../../../../src/features/payments/hash-claims/ledger.ts";
import type { TimedLog } from "../../../../src/features/payments/ledger/chain-diff.ts";
import {
  payments as paymentTable,
  type ClaimRow,
  type PaymentRow,
  type TransferRow,
} from "../../../../src/features/payments/table.ts";
import { Defect } from "../../../../src/kernel/errors.ts";
import { aQuote } from "../../../support/quotes.ts";

const log: TimedLog = {
  transactionHash: "aa",
  logIndex: 0,
  blockHeight: 7,
  blockHash: "b7",
  blockTime: 5,
  contract: "usdt",
  from: "payer",
  to: "shop",
  amount: 25n,
  isTimeAgreed: true,
};
const claim: Partial<ClaimRow> = {
  invoiceId: "inv_1",
  organizationId: "org_1",
  transactionHash: "aa",
};
const network = {
  id: "ethereum",
  addressFamily: "evm",
  kind: { formatAddress: String, formatTransactionHash: String },
  tokens: [{ symbol: "USDT", contract: "usdt", decimals: 6, dust: 1n }],
};

const transferAt = (place: number, changes: Partial<TransferRow> = {}) => ({
  id: `trf_${String(place + 1)}`,
  network: "ethereum",
  logIndex: place,
  blockHeight: 7,
  blockHash: "b7",
  blockTime: 5,
  contract: "usdt",
  token: "USDT",
  fromAddress: "payer",
  toAddress: "shop",
  amount: 25n,
  status: "seen",
  verification: "open",
  organizationId: "org_1",
  invoiceId: null,
  disposition: "unmatched",
  ...changes,
});

interface Given {
  /** Changes of the stored transfers; by default one, of the transaction's only log. */
  readonly stored?: readonly Partial<TransferRow>[];
  readonly logs?: readonly TimedLog[];
  /** The payments of the transfers, by default of the first one. */
  readonly payments?: readonly Partial<PaymentRow>[];
  readonly matches?: Readonly<Record<string, Partial<HoldMatch>>>;
  /** The amount that the other invoice still asks for; null if its terms are unknown. */
  readonly asked?: { readonly payableAmount: bigint; readonly network?: string } | null;
}

/** The transaction's transfers in a store whose newest final block is 9. */
function open({
  stored = [{}],
  logs = [log],
  payments = [],
  matches = {},
  asked = { payableAmount: 25n },
}: Given) {
  const did: unknown[] = [];
  const rows = payments.map((changes) => ({
    transferId: "trf_1",
    invoiceId: "inv_1",
    amount: 25n,
    refunded: 0n,
    statusWhenBack: null,
    ...changes,
  }));
  const tx = {
    dialect: "sqlite",
    findOne: () => Promise.resolve({ cursorHeight: 9, tipHeight: 12, disabledTokens: [] }),
    find: (table: unknown, _sql: string, [id]: readonly unknown[]) =>
      Promise.resolve(
        table === paymentTable ? rows.filter(({ transferId }) => transferId === id) : [],
      ),
    all: () => Promise.resolve([]),
    lock: (table: unknown) =>
      Promise.resolve(
        table === paymentTable ? [] : stored.map((changes, place) => transferAt(place, changes)),
      ),
    insertMany: () => Promise.resolve(),
    run(sql: string) {
      if (sql.includes("is_final = 1")) did.push("final");
      return Promise.resolve();
    },
  };
  const quotes = [
    aQuote({ payableAmount: asked?.payableAmount ?? 0n, network: asked?.network ?? "ethereum" }),
  ];
  const terms = {
    quotes,
    payableAmount: asked?.payableAmount,
    dueAmount: asked?.payableAmount,
    remainingAmount: asked?.payableAmount,
    tolerance: { numerator: 0n, denominator: 1n },
    network: "ethereum",
    tokenSymbol: "USDT",
  };
  const deps = {
    ids: { next: (kind: string) => kind },
    journal: { record: () => [] },
    invoices: {
      matchHolds: (_tx: unknown, _network: unknown, found: readonly { readonly key: string }[]) => {
        did.push(found.map(({ key }) => key));
        return Promise.resolve(new Map(Object.entries(matches)));
      },
      lockTerms: () => Promise.resolve(new Map(asked === null ? [] : [["inv_2", terms]])),
    },
  };
  const given = [tx, deps, network, claim, logs, 100] as unknown as Parameters<typeof settleClaim>;
  return { did, given };
}

describe("The transfers of a submitted transaction", () => {
  const entered = async (given: Given) => {
    const opened = open(given);
    await recordClaimedTransfers(...opened.given);
    return opened.did;
  };

  it("are left to the rules if they are not on record, or without an invoice, and are final at once", async () => {
    expect(await entered({ stored: [] })).to.deep.equal([["transfer"], "final"]);
    expect(await entered({})).to.deep.equal([["trf_1"], "final"]);
    const second = { ...log, logIndex: 1, amount: 26n };
    expect(await entered({ logs: [log, second] })).to.deep.equal([["transfer", "trf_1"], "final"]);
  });

  it("are left alone if they have an invoice or a payment, or if the watcher is not there yet", async () => {
    expect(await entered({ stored: [{ invoiceId: "inv_2" }] })).to.deep.equal([]);
    expect(await entered({ payments: [{ status: "rejected" }] })).to.deep.equal([]);
    const above = { ...log, logIndex: 1, blockHeight: 10 };
    expect(await entered({ logs: [log, above] })).to.deep.equal([]);
    expect(await entered({ stored: [{ status: "orphaned" }] })).to.deep.equal([]);
  });
});

describe("The result of a submitted transaction", () => {
  /** Returns `free` if a payment is opened, which waits for the merchant. */
  const settled = async (given: Given) => {
    try {
      const outcome = await settleClaim(...open(given).given);
      return outcome === null ? "waits" : (outcome.reason ?? outcome.state);
    } catch (error) {
      // The claim's own invoice has no terms here, without which no payment is opened.
      if (error instanceof Defect && error.message.includes("a draft")) return "free";
      throw error;
    }
  };

  it("waits until the chain has progressed", async () => {
    expect(await settled({ stored: [] })).to.equal("waits");
    expect(await settled({ stored: [{ status: "orphaned" }] })).to.equal("waits");
  });

  it("is that of the invoice's own payment by it, whatever other ones there were", async () => {
    const own = (...statuses: readonly PaymentRow["status"][]) =>
      settled({ payments: statuses.map((status) => ({ status })) });
    expect(await own("confirming")).to.equal("credited");
    expect(await own("rejected", "confirmed")).to.equal("credited");
    expect(await own("review")).to.equal("review");
    expect(await own("reverted")).to.equal("review");
    expect(await own("rejected")).to.equal("rejected");
    expect(await own()).to.equal("free");
  });

  it("is a refusal if the money counts or was returned for another invoice, or is another organization's", async () => {
    const of = (payment: Partial<PaymentRow>) =>
      settled({ payments: [{ invoiceId: "inv_2", ...payment }] });
    expect(await of({ status: "confirmed" })).to.equal("taken");
    expect(await of({ status: "rejected", refunded: 1n })).to.equal("taken");
    expect(await of({ status: "rejected" })).to.equal("free");
    expect(await of({ status: "review" })).to.equal("free");
    expect(await settled({ stored: [{ invoiceId: "inv_2" }] })).to.equal("taken");
    expect(await settled({ stored: [{ organizationId: "org_2" }] })).to.equal("taken");
    expect(await settled({ stored: [{ organizationId: null }] })).to.equal("free");
  });

  it("is a refusal if another invoice asks for exactly this transfer", async () => {
    const held = (match: Partial<HoldMatch>, asked?: Given["asked"]) =>
      settled({
        matches: { trf_1: { invoiceId: "inv_2", rule: "exact_amount", ...match } },
        ...(asked === undefined ? {} : { asked }),
      });
    expect(await held({})).to.equal("taken");
    expect(await held({ rule: "within_tolerance" })).to.equal("free");
    expect(await held({ isAmbiguous: true })).to.equal("free");
    expect(await held({ invoiceId: "inv_1" })).to.equal("free");
    const less = { payableAmount: 24n };
    expect(await held({}, less)).to.equal("free");
    expect(await held({ rule: "exclusive_address" }, less)).to.equal("taken");
    expect(await held({}, { payableAmount: 25n, network: "base" })).to.equal("free");
    expect(await held({}, null)).to.equal("free");
  });

  it("is the best of its transfers", async () => {
    const logs = [log, { ...log, logIndex: 1 }];
    const both = (stored: readonly Partial<TransferRow>[], payments: Given["payments"] = []) =>
      settled({ logs, stored, payments });
    const taken = { invoiceId: "inv_2" } as const;
    expect(await both([taken, taken])).to.equal("taken");
    expect(await both([taken, {}], [{ transferId: "trf_2", status: "rejected" }])).to.equal(
      "taken",
    );
    expect(await both([taken, {}], [{ transferId: "trf_2", status: "review" }])).to.equal("review");
    expect(
      await both([{}, {}], [{ status: "review" }, { transferId: "trf_2", status: "confirming" }]),
    ).to.equal("credited");
    expect(await both([taken, {}])).to.equal("free");
  });
});
