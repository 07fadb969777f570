// Unit tests of the rules of suggestions; suggestions.test.ts tests them through the inbox.
import { aQuote } from "../../../support/quotes.ts";
import { expect } from "chai";
import type { InvoiceCandidate } from "../../../../src/features/invoices/settlement/candidates.ts";
import type { StoredQuote } from "../../../../src/features/invoices/options/quotes.ts";
import {
  openPayment,
  rejectedPayment,
  revertPayment,
} from "../../../../src/features/payments/ledger/payment-rules.ts";
import { suggest, suggestionsMax } from "../../../../src/features/payments/inbox/suggestions.ts";
import type { PaymentRow, TransferRow } from "../../../../src/features/payments/table.ts";
import { minute } from "../../../../src/kernel/clock.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import { formatAddress } from "../../../../src/platform/chain/evm/addresses.ts";
import { evmKind } from "../../../../src/platform/chain/evm/kind.ts";

const [issuedAt, expiresAt] = [10 * minute, 70 * minute];
const [shop, elsewhere] = ["a1".repeat(20), "b2".repeat(20)];

const transfer: TransferRow = {
  id: "trf_1",
  network: "ethereum",
  transactionHash: "aa".repeat(32),
  logIndex: 0,
  ordinal: 0,
  blockHeight: 10,
  blockHash: "b1",
  blockTime: expiresAt,
  contract: "cc".repeat(20),
  token: "USDT",
  tokenDecimals: 6,
  fromAddress: elsewhere,
  toAddress: shop,
  amount: 1_000n,
  status: "seen",
  isFinal: false,
  organizationId: "org_1",
  invoiceId: null,
  disposition: "unmatched",
  waitingReason: null,
  verification: "open",
  createdAt: expiresAt,
};

type Changes = Partial<InvoiceCandidate["invoice"]>;

/** An invoice that asks for 1,000 units at the transfer's address. */
function candidate(id: string, changes: Changes = {}, ...heldAmounts: bigint[]): InvoiceCandidate {
  const invoice = {
    id: `inv_${id}`,
    network: "ethereum",
    tokenSymbol: "USDT",
    status: "open",
    payableAmount: 1_000n,
    dustAmount: null,
    seenAmount: 0n,
    remainingAmount: null,
    customerId: null,
    walletAddress: formatAddress(shop),
    addressIndex: null,
    issuedAt,
    expiresAt,
    ...changes,
  };
  return { invoice: invoice as InvoiceCandidate["invoice"], heldAmounts, marks: [] };
}

const asking = (id: string, payableAmount: bigint, changes: Changes = {}) =>
  candidate(id, { payableAmount, ...changes });

function payment(invoice: string, amount: bigint): PaymentRow {
  return openPayment({
    id: "pay_1",
    transfer,
    amount,
    source: "operator",
    at: 0,
    match: { invoiceId: `inv_${invoice}`, organizationId: "org_1", rule: "manual" },
    terms: {
      organizationId: "org_1",
      walletId: null,
      customerId: null,
      managedBy: null,
      amount: 1n,
      settlementCurrency: "USD",
      settlementDecimals: 2,
      network: "ethereum",
      tokenSymbol: "USDT",
      payableAmount: 1n,
      askedAmount: 1n,
      excessSlack: 0n,
      quotes: [aQuote({ payableAmount: 1n })],
      tolerance: { numerator: 0n, denominator: 1n },
      rounding: { numerator: 0n, denominator: 1n },
      dueAmount: 1n,
      wholeAmount: 1n,
      remainingAmount: 0n,
      seenAmount: 0n,
      issuedAt,
      expiresAt,
      lateUntil: expiresAt,
      isCanceled: false,
      latePolicy: "accept",
    },
  });
}

interface Given {
  readonly of?: Partial<TransferRow>;
  readonly payments?: readonly PaymentRow[];
  readonly customers?: readonly Id<"customer">[];
  /** The invoices at whose own address the transfer arrived. */
  readonly owners?: readonly {
    readonly id: Id<"invoice">;
    readonly customerId: Id<"customer"> | null;
  }[];
}

/** Returns the suggested invoices, each with its amount and reasons as one text. */
function suggested(candidates: readonly InvoiceCandidate[], given: Given = {}): string[] {
  return suggest({
    transfer: { ...transfer, ...given.of },
    notation: evmKind,
    payments: given.payments ?? [],
    candidates,
    customers: new Set(given.customers),
    owners: given.owners ?? [],
  }).map(({ invoice, amount, reasons }) =>
    [invoice.id.slice(4), String(amount), ...reasons].join(" "),
  );
}

describe("The rules of suggestions", () => {
  it("suggest invoices with the same amount, and those at most 5 % off", () => {
    const close = "close_amount in_time";
    expect(suggested([asking("1", 1_000n)])).to.deep.equal(["1 1000 same_amount in_time"]);
    // 1,000 is 50 more than 950, which is 5.3 %, and 50 less than 1,050, which is 4.8 %.
    expect(suggested([asking("1", 950n)])).to.deep.equal([]);
    expect(suggested([asking("1", 953n)])).to.deep.equal([`1 1000 ${close}`]);
    expect(suggested([asking("1", 1_052n)])).to.deep.equal([`1 1000 ${close}`]);
    expect(suggested([asking("1", 1_053n)])).to.deep.equal(["1 1000 possible_part in_time"]);
    const exactly = { of: { amount: 1_050n } };
    expect(suggested([asking("1", 1_000n)], exactly)).to.deep.equal([`1 1050 ${close}`]);
  });

  it("tell what a wallet or its payer has rounded to two decimals", () => {
    const reason = (asked: bigint, amount: bigint) =>
      suggested([asking("1", asked)], { of: { amount } })[0]?.split(" ")[2];
    // 25.0034 and 24.9966 asked for, and 25.00 sent: off by less than 0.01.
    expect(reason(25_003_400n, 25_000_000n)).to.equal("rounded_amount");
    expect(reason(24_996_600n, 25_000_000n)).to.equal("rounded_amount");
    // 25.01 and 24.99 are round themselves, and so is 25.10: nobody rounds them.
    for (const asked of [25_010_000n, 24_990_000n, 25_100_000n]) {
      expect(reason(asked, 25_000_000n), String(asked)).to.equal("close_amount");
    }
    // The digits of 25.2601 left out are exactly 1 % of 25.01, and those of 25.2602 more.
    expect(reason(25_260_100n, 25_010_000n)).to.equal("rounded_amount");
    expect(reason(25_260_200n, 25_010_000n)).to.equal("close_amount");
    // The digits of 1,000.9999 are less than a token, and those of 1,001.0001 more.
    expect(reason(1_000_999_900n, 1_000_000_000n)).to.equal("rounded_amount");
    expect(reason(1_001_000_100n, 1_000_000_000n)).to.equal("close_amount");
    // Nobody leaves out digits by paying more, or by paying 25.0001.
    expect(reason(24_880_100n, 25_000_000n)).to.equal("close_amount");
    expect(reason(25_003_400n, 25_000_100n)).to.equal("close_amount");
  });

  it("suggest no other customer's invoice where an address belongs to one invoice", () => {
    const own = { addressIndex: 7, walletAddress: formatAddress(elsewhere) };
    const [anna, bert] = ["cus_anna", "cus_bert"] as const;
    const candidates = [
      asking("1", 1_000n, { ...own, customerId: anna }),
      asking("2", 1_000n, { ...own, customerId: bert }),
      asking("3", 1_000n, own),
      asking("4", 1_000n),
    ];
    const found = (given: Given) => suggested(candidates, given).map((text) => text.slice(0, 1));
    // At a shared address, an invoice with its own address is possible only if the sender is known.
    expect(found({})).to.deep.equal(["4"]);
    expect(found({ customers: [anna] }).sort()).to.deep.equal(["1", "4"]);
    // At the address of one invoice, the money is its payer's.
    expect(found({ owners: [{ id: "inv_3", customerId: null }] })).to.deep.equal(["3"]);
    expect(found({ owners: [{ id: "inv_9", customerId: bert }] })).to.deep.equal(["2"]);
    expect(found({ owners: [{ id: "inv_9", customerId: null }] })).to.deep.equal([]);
    // A payer who submitted the hash for an invoice knows more.
    const review: PaymentRow = { ...payment("2", 1_000n), status: "review" };
    expect(found({ payments: [review] })).to.deep.equal(["2", "4"]);
  });

  it("suggest a partial payment only at the invoice's address and before its deadline", () => {
    const part = (changes: Changes, blockTime = expiresAt) =>
      suggested([asking("1", 5_000n, changes)], { of: { blockTime } });
    expect(part({})).to.deep.equal(["1 1000 possible_part in_time"]);
    expect(part({}, issuedAt - minute)).to.have.length(1);
    expect(part({}, issuedAt - minute - 1)).to.deep.equal([]);
    expect(part({}, expiresAt + 1)).to.deep.equal([]);
    expect(part({ walletAddress: formatAddress(elsewhere) })).to.deep.equal([]);
    expect(part({ issuedAt: null })).to.deep.equal([]);
    expect(part({ expiresAt: null })).to.deep.equal([]);
  });

  it("compare the transfer's unallocated amount with the invoice's remaining amount", () => {
    const rest = { status: "partially_paid", seenAmount: 400n } as const;
    const of = { amount: 600n };
    expect(suggested([candidate("1", rest)], { of })).to.deep.equal(["1 600 same_amount in_time"]);
    const held = { ...rest, remainingAmount: 601n };
    expect(suggested([candidate("1", held)], { of })).to.deep.equal(["1 600 close_amount in_time"]);
    // The full price counts as the same amount too; the allocation is capped at the remaining amount.
    expect(suggested([candidate("1", rest)])).to.deep.equal(["1 600 same_amount in_time"]);

    const other = payment("2", 300n);
    const split = { payments: [other] };
    expect(suggested([asking("1", 700n)], split)).to.deep.equal(["1 700 same_amount in_time"]);
    expect(suggested([asking("1", 700n)], { payments: [rejectedPayment(other)] })).to.deep.equal(
      [],
    );
    expect(suggested([asking("2", 700n)], split)).to.deep.equal([]);
    expect(suggested([asking("2", 700n)], { payments: [revertPayment(other)] })).to.deep.equal([]);
  });

  it("never suggest the invoice whose payment of the transfer was rejected or reversed, unless one is in review again", () => {
    const rejected = rejectedPayment(payment("1", 1_000n));
    const review: PaymentRow = { ...payment("1", 1_000n), id: "pay_2", status: "review" };
    const invoices = [asking("1", 1_000n), asking("2", 1_000n)];
    expect(suggested(invoices, { payments: [rejected] })).to.deep.equal([
      "2 1000 same_amount in_time",
    ]);
    const owners: Given["owners"] = [{ id: "inv_1", customerId: null }];
    expect(suggested(invoices, { payments: [rejected], owners })).to.deep.equal([]);
    expect(suggested(invoices, { payments: [rejected, review], owners })).to.deep.equal([
      "1 1000 in_review same_amount in_time",
    ]);
  });

  it("suggest the invoice again whose payment in review left the chain", () => {
    const gone = revertPayment({ ...payment("1", 1_000n), status: "review" });
    expect(suggested([asking("1", 1_000n)], { payments: [gone] })).to.deep.equal([
      "1 1000 same_amount in_time",
    ]);
  });

  it("suggest each invoice at whose own address the transfer arrived, if there are several", () => {
    const owners: Given["owners"] = [
      { id: "inv_1", customerId: null },
      { id: "inv_2", customerId: null },
    ];
    const invoices = ["1", "2", "3"].map((id) => asking(id, 1_000n));
    const inOrder = suggested(invoices, { owners }).map((text) => text.charAt(0));
    expect(inOrder).to.deep.equal(["2", "1"]);
  });

  it("put an invoice with a payment in review first, then the closest and the newest ones", () => {
    const review: PaymentRow = { ...payment("1", 1_000n), status: "review" };
    const invoices = [
      asking("1", 200n),
      asking("2", 1_003n),
      asking("3", 998n),
      asking("4", 1_002n),
      asking("5", 1_000n),
    ];
    const inOrder = suggested(invoices, { payments: [review] }).map((text) => text.charAt(0));
    expect(inOrder).to.deep.equal(["1", "5", "4", "3", "2"]);
  });

  it("prefer a customer whose invoices the sender paid before", () => {
    const theirs = asking("1", 1_040n, { customerId: "cus_1" });
    const invoices = [asking("2", 1_001n, { customerId: "cus_2" }), theirs, asking("3", 1_002n)];
    const inOrder = suggested(invoices, { customers: ["cus_1"] }).map((text) => text.charAt(0));
    expect(inOrder).to.deep.equal(["1", "2", "3"]);
    // A known sender is a reason even if the amount is not.
    const far = asking("1", 100n, { customerId: "cus_1" });
    expect(suggested([far], { customers: ["cus_1"] })).to.deep.equal([
      "1 100 same_customer in_time",
    ]);
    expect(suggested([far])).to.deep.equal([]);
  });

  it("leave out other networks and tokens", () => {
    const others = [candidate("1", { network: "tron" }), candidate("2", { tokenSymbol: "USDC" })];
    expect(suggested(others)).to.deep.equal([]);
  });

  it("compare a transfer in another option with what remains in its token", () => {
    const quote = (payableAmount: bigint, given: Partial<StoredQuote> = {}): StoredQuote => ({
      tokenDecimals: 6,
      requiredConfirmations: 3,
      exchangeRate: "1",
      walletId: null,
      walletAddress: formatAddress(shop),
      addressIndex: null,
      payableAmount: String(payableAmount),
      askedAmount: null,
      remainingAmount: String(payableAmount),
      remainingAfter: "0",
      seen: "0",
      confirmed: "0",
      latestBlock: null,
      ...given,
    });
    const option = { network: "ethereum", walletId: null };
    /** Half of an invoice of 2,000 USDC or 1,000 USDT is paid in USDC, which is in force. */
    const half = (usdt: Partial<StoredQuote>, remainingAmount = 1_000n) =>
      candidate("1", {
        status: "partially_paid",
        amount: 100n,
        underpaymentTolerance: "0",
        tokenSymbol: "USDC",
        exchangeRate: "2",
        payableAmount: 2_000n,
        askedAmount: null,
        seenAmount: 1_000n,
        confirmedAmount: 0n,
        remainingAmount,
        latestBlock: null,
        paymentOptions: [
          { ...option, tokenSymbol: "USDC", quote: quote(2_000n, { seen: "1000" }) },
          { ...option, tokenSymbol: "USDT", quote: quote(1_000n, usdt) },
        ],
      });
    const sent = (amount: bigint, ...given: Parameters<typeof half>) =>
      suggested([half(...given)], { of: { amount } });
    // The amount that is held for the rest.
    const held = { remainingAmount: "507", remainingAfter: "500" };
    expect(sent(507n, held)).to.deep.equal(["1 507 same_amount in_time"]);
    // Half came in USDC since the amount in USDT was held, so the rest is half of the price.
    expect(sent(500n, {})).to.deep.equal(["1 500 same_amount in_time"]);
    expect(sent(400n, {})).to.deep.equal(["1 400 possible_part in_time"]);
    // The invoice asks for nothing more.
    expect(sent(500n, {}, 0n)).to.deep.equal([]);
    expect(sent(500n, held, 0n)).to.deep.equal([]);
  });

  it("suggest an invoice that was issued after the transfer last, and say so, whatever fits it", () => {
    const slack = 60 * 1_000;
    const at = (blockTime: number) => ({ of: { blockTime } });
    // Within the difference of clocks, it may have been issued before.
    expect(suggested([asking("1", 1_000n)], at(issuedAt - slack))).to.deep.equal([
      "1 1000 same_amount in_time",
    ]);
    const late = { issuedAt: expiresAt + slack + 1, expiresAt: expiresAt * 2 };
    // A draft was not issued, so not too late either.
    expect(
      suggested([asking("1", 1_000n, { issuedAt: null })], at(issuedAt - slack - 1)),
    ).to.deep.equal(["1 1000 same_amount"]);
    const own = { customerId: "cus_1" as const };
    const found = suggested(
      [
        asking("1", 1_000n, { ...late, ...own }),
        asking("2", 1_053n),
        candidate("3", { status: "paid" }, 1_000n),
        candidate("4", { status: "paid", ...late }, 1_000n),
        asking("5", 1_060n, late),
      ],
      { customers: ["cus_1"] },
    );
    expect(found).to.deep.equal([
      "2 1000 possible_part in_time",
      "3 1000 already_paid",
      "1 1000 same_amount same_customer issued_afterwards",
      "4 1000 already_paid issued_afterwards",
    ]);
  });

  it("tell by the order of the chain and the record what was issued after the transfer, and by times only otherwise", () => {
    const old = { blockTime: issuedAt - 30 * minute, blockHeight: 10 };
    const isAfterwards = (height: number, isRecent: boolean, of: Partial<TransferRow> = {}) => {
      const marks = [{ network: "ethereum", height, isRecent }];
      const [found] = suggested([{ ...asking("1", 1_000n), marks }], { of: { ...old, ...of } });
      return found?.includes("issued_afterwards") === true;
    };
    expect(isAfterwards(9, true)).to.equal(false);
    expect(isAfterwards(10, true)).to.equal(true);
    expect(isAfterwards(9, false)).to.equal(true);
    expect(isAfterwards(9, true, { createdAt: issuedAt - 1 })).to.equal(true);
    expect(isAfterwards(9, false, { blockTime: issuedAt })).to.equal(false);
    expect(isAfterwards(10, true, { blockTime: issuedAt })).to.equal(true);
  });

  it("are not crowded out by invoices that were issued after the transfer", () => {
    const many = Array.from({ length: suggestionsMax + 1 }, (_, place) =>
      asking(`late${String(place)}`, 1_000n, { issuedAt: expiresAt + 2 * minute }),
    );
    const found = suggested([...many, asking("1", 1_053n)]);
    expect(found).to.have.length(suggestionsMax);
    expect(found[0]).to.equal("1 1000 possible_part in_time");
  });

  it("suggest a paid invoice last, and only for the amount that it held at the same address", () => {
    const paid = (id: string, changes: Changes, ...held: bigint[]) =>
      candidate(id, { status: "paid", ...changes }, ...held);
    const twice = paid("9", {}, 999n, 1_000n);
    const many = Array.from({ length: suggestionsMax + 1 }, (_, place) =>
      asking(String(place), 1_000n),
    );
    expect(suggested([twice, ...many])).to.have.length(suggestionsMax);
    expect(suggested([twice, ...many]).at(-1)).to.equal("9 1000 already_paid");
    expect(suggested([paid("9", { status: "confirming" }, 1_000n)])).to.have.length(1);
    expect(suggested([paid("9", {}, 999n)])).to.deep.equal([]);
    const away = { walletAddress: formatAddress(elsewhere) };
    expect(suggested([paid("9", away, 1_000n)])).to.deep.equal([]);
  });

  it("suggest a canceled invoice only for an amount that it held, with its missing amount", () => {
    const canceled = { status: "canceled", seenAmount: 200n, remainingAmount: 0n } as const;
    expect(suggested([candidate("1", canceled)])).to.deep.equal([]);
    expect(suggested([candidate("1", canceled, 1_000n)])).to.deep.equal([
      "1 800 same_amount in_time",
    ]);
  });
});
