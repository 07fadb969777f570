// Unit tests of the rules of payments: counted amounts, allocated amounts, and the effects of reorganizations.
import { expect } from "chai";
import { addShare, noShare } from "../../../../src/features/invoices/options/quotes.ts";
import type { PayableTerms } from "../../../../src/features/invoices/settlement/terms-to-pay.ts";
import {
  asksFor,
  acceptedMatches,
} from "../../../../src/features/payments/ledger/match-transfers.ts";
import type { Match } from "../../../../src/features/payments/ledger/types.ts";
import {
  acceptedPayment,
  confirmPayment,
  eventOf,
  firstStatus,
  movePayment,
  openPayment,
  rejectedPayment,
  revertPayment,
  computeLedger,
  dispositionAfter,
  takenOf,
} from "../../../../src/features/payments/ledger/payment-rules.ts";
import { changedTransfers } from "../../../../src/features/payments/ledger/transfer-rules.ts";
import type { MatchRule } from "../../../../src/features/payments/payment-status.ts";
import type { PaymentRow, TransferRow } from "../../../../src/features/payments/table.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import { aQuote } from "../../../support/quotes.ts";

const issuedAt = 1_000;
const expiresAt = 9_000;

const quote = aQuote({ payableAmount: 25_000_100n });
const terms: PayableTerms = {
  organizationId: "org_1",
  walletId: null,
  customerId: null,
  managedBy: null,
  amount: 2_500n,
  settlementCurrency: "USD",
  settlementDecimals: 2,
  network: "ethereum",
  tokenSymbol: "USDT",
  quotes: [quote],
  payableAmount: 25_000_100n,
  askedAmount: 25_000_100n,
  excessSlack: 0n,
  rounding: { numerator: 0n, denominator: 1n },
  dueAmount: 24_750_099n,
  wholeAmount: 25_000_100n,
  tolerance: { numerator: 1n, denominator: 100n },
  remainingAmount: 25_000_100n,
  seenAmount: 0n,
  issuedAt,
  expiresAt,
  lateUntil: expiresAt,
  isCanceled: false,
  latePolicy: "accept",
};

const transfer: TransferRow = {
  id: "trf_1",
  network: "ethereum",
  transactionHash: "aa".repeat(32),
  logIndex: 0,
  ordinal: 0,
  blockHeight: 10,
  blockHash: "b1",
  blockTime: 5_000,
  contract: "cc".repeat(20),
  token: "USDT",
  tokenDecimals: 6,
  fromAddress: "f",
  toAddress: "t",
  amount: 30_000_000n,
  status: "seen",
  isFinal: false,
  organizationId: "org_1",
  invoiceId: null,
  disposition: "unmatched",
  waitingReason: null,
  verification: "open",
  createdAt: 5_000,
};

function payment(
  rule: MatchRule,
  amount = 10_000_000n,
  more: Partial<TransferRow> & { readonly payment?: string; readonly invoice?: string } = {},
): PaymentRow {
  const { payment: number = "1", invoice = "1", ...placed } = more;
  return openPayment({
    id: `pay_${number}`,
    transfer: { ...transfer, ...placed },
    match: { invoiceId: `inv_${invoice}`, organizationId: "org_1", rule },
    terms,
    source: rule === "manual" ? "operator" : "detected",
    amount,
    at: 6_000,
  });
}
const review = (one: PaymentRow): PaymentRow => ({ ...one, status: "review" });
const paid = (amount: bigint) => addShare(noShare, amount, quote.payableAmount);
const totals = (...payments: readonly PaymentRow[]) => computeLedger(payments, terms).totals;

describe("The rules of payments", () => {
  describe("in a reorganization", () => {
    it("mark an invoice as reverted when a counted payment leaves the chain", () => {
      for (const counted of [payment("exact_amount"), confirmPayment(payment("manual"), 7_000)]) {
        expect(totals(counted)).to.include({ isReverted: false, seen: 10_000_000n });
        const lost = revertPayment(counted);
        expect(lost).to.include({
          status: "reverted",
          statusWhenBack: "confirming",
          confirmedAt: null,
        });
        expect(totals(lost)).to.include({ isReverted: true, seen: 0n, confirmed: 0n });
      }
    });

    it("never mark an invoice as reverted for a hash claim that was not accepted", () => {
      const lost = revertPayment(review(payment("submitted_hash")));
      expect(lost).to.include({ status: "reverted", statusWhenBack: "review" });
      expect(totals(lost)).to.include({ isReverted: false, isLate: false, seen: 0n });
      expect(totals(lost, revertPayment(payment("exact_amount", 1n, { payment: "2" })))).to.include(
        { isReverted: true },
      );
    });

    it("mark an invoice as reverted for a hash claim that the merchant had accepted", () => {
      const accepted = acceptedPayment(review(payment("submitted_hash")));
      expect(totals(revertPayment(accepted))).to.include({ isReverted: true });
    });

    it("restore the status of a payment, whose confirmations start over", () => {
      const block = { blockHeight: 20, blockHash: "b2", blockTime: 8_000 };
      const moved = { ...block, confirmsAtHeight: 22, confirmedAt: null, statusWhenBack: null };
      const counted = confirmPayment(payment("exact_amount"), 7_000);
      expect(movePayment(revertPayment(counted), block)).to.include({
        ...moved,
        status: "confirming",
      });
      expect(movePayment(counted, block)).to.include({ ...moved, status: "confirming" });
      const waiting = review(payment("submitted_hash"));
      expect(movePayment(revertPayment(waiting), block)).to.include({
        ...moved,
        status: "review",
      });
      expect(movePayment(waiting, block)).to.include({ ...moved, status: "review" });
    });

    it("count the confirmations of a payment again that came back without a status to return to", () => {
      const gone = {
        ...payment("exact_amount"),
        status: "reverted",
        statusWhenBack: null,
      } as const;
      const block = { blockHeight: 12, blockHash: "b3", blockTime: 6_000 };
      expect(movePayment(gone, block)).to.include({ status: "confirming", blockHeight: 12 });
    });

    it("verify a transfer again that is in another block", () => {
      const moved = (blockHash: string, verification: TransferRow["verification"]) => {
        const known = { ...transfer, verification };
        const log = { ...transfer, blockHash, isTimeAgreed: true };
        const difference = { fresh: [], orphaned: [], moved: [{ transfer: known, log }] };
        const network = { findToken: () => null, tokens: [] };
        const input = { network, state: { disabledTokens: [] }, difference, verified: [] };
        const { moved: rows } = changedTransfers({} as never, input as never);
        return rows[0]?.verification;
      };
      expect(moved("b1", "verified")).to.equal("verified");
      expect(moved("b2", "verified")).to.equal("open");
      expect(moved("b2", "mismatched" as never)).to.equal("mismatched");
    });

    it("leave rejected payments rejected, and reverted ones unchanged", () => {
      const rejected = rejectedPayment(confirmPayment(payment("manual"), 7_000));
      expect(rejected).to.include({ status: "rejected", confirmedAt: null });
      expect(revertPayment(rejected)).to.equal(rejected);
      expect(movePayment(rejected, transfer)).to.include({ status: "rejected" });
      const lost = revertPayment(payment("manual"));
      expect(revertPayment(lost)).to.equal(lost);
      expect(totals(rejected)).to.include({ isReverted: false, seen: 0n });
      expect(rejectedPayment(lost)).to.include({ status: "rejected", statusWhenBack: null });
    });
  });

  describe("for an invoice's payments", () => {
    const rows = (...payments: readonly PaymentRow[]) => computeLedger(payments, terms).payments;
    const worths = (...payments: readonly PaymentRow[]) =>
      rows(...payments).map(({ id, settlementAmount }) => [id, settlementAmount]);
    const late = { blockTime: expiresAt + 1 };

    it("value each payment by the difference that it makes, oldest first", () => {
      const first = payment("manual", 10_000_000n);
      const second = payment("manual", 10_000_000n, { payment: "2" });
      const third = payment("manual", 5_000_100n, { payment: "3" });
      // 25.0001 tokens are worth 25.00: 10 of them are 9.99, and the rounded parts still sum up to 25.00.
      expect(worths(third, first, second)).to.deep.equal([
        ["pay_1", 999n],
        ["pay_2", 1_000n],
        ["pay_3", 501n],
      ]);
    });

    it("value a payment in review by what it would add, and keep the value of one that does not count", () => {
      const waiting = review(payment("submitted_hash", 5_000_100n, { payment: "0" }));
      const lost = {
        ...revertPayment(payment("manual")),
        id: "pay_2",
        settlementAmount: 7n,
      } as const;
      expect(worths(waiting, payment("manual"), lost)).to.deep.equal([
        ["pay_0", 501n],
        ["pay_1", 999n],
        ["pay_2", 7n],
      ]);
    });

    it("sum up counted payments, and confirmed ones separately", () => {
      const confirmed = confirmPayment(payment("manual", 10n), 7_000);
      const confirming = payment("manual", 5n, { payment: "2", blockHeight: 14 });
      expect(totals(confirmed, confirming)).to.include({
        seen: 15n,
        confirmed: 10n,
        latestBlock: 14,
      });
      expect(totals(rejectedPayment(confirmed))).to.include({ seen: 0n, latestBlock: null });
    });

    it("complete an invoice with the payment that reaches the due amount, in the order of the chain", () => {
      expect(totals(payment("manual", terms.dueAmount)).completedAt).to.equal(5_000);
      expect(totals(payment("manual", terms.dueAmount - 1n)).completedAt).to.equal(null);
      const [later, earlier] = [
        payment("manual", 20_000_000n, { blockHeight: 12, blockTime: 5_200 }),
        payment("manual", 10_000_000n, { payment: "2", blockHeight: 11, blockTime: 5_100 }),
      ];
      expect(totals(later, earlier).completedAt).to.equal(5_200);
      // Heights decide on one network, even if a time that nobody confirmed contradicts them.
      const misdated = payment("manual", 10_000_000n, {
        payment: "2",
        blockHeight: 11,
        blockTime: 5_300,
      });
      expect(totals(later, misdated).completedAt).to.equal(5_200);
      const inOneBlock = payment("manual", 10_000_000n, { payment: "2", blockTime: 5_001 });
      expect(totals(payment("manual", 20_000_000n), inOneBlock).completedAt).to.equal(5_001);
    });

    it("complete an invoice of several networks by the time of blocks, not by their heights", () => {
      const elsewhere = aQuote({ network: "tron", payableAmount: 25_000_100n });
      const several = { ...terms, quotes: [quote, elsewhere] };
      const completedAt = (...payments: readonly PaymentRow[]) =>
        computeLedger(payments, several).totals.completedAt;
      const [half, rest] = [12_500_050n, 12_500_050n];
      const low = {
        ...payment("manual", half, { blockHeight: 1, blockTime: 7_000 }),
        network: "tron",
      };
      const high = payment("manual", rest, { payment: "2", blockHeight: 900, blockTime: 6_000 });
      expect(completedAt(low, high)).to.equal(7_000);
      // At one time the lower block comes first, whatever the order of ids: it completes the invoice alone.
      const whole = payment("manual", 25_000_100n, { payment: "9", blockHeight: 1 });
      const more = payment("manual", 25_000_100n, {
        payment: "1",
        blockHeight: 2,
        blockTime: 5_000,
      });
      expect(computeLedger([more, whole], several).totals.several?.paidAmount).to.equal(5_000n);
      expect(completedAt(more, whole)).to.equal(5_000);
    });

    it("have their newest block on the invoice's own network, and on each of its others separately", () => {
      const elsewhere = aQuote({ network: "tron", payableAmount: 25_000_100n });
      const several = { ...terms, quotes: [quote, elsewhere] };
      const here = payment("manual", 1n, { blockHeight: 12 });
      const there = {
        ...payment("manual", 1n, { payment: "2", blockHeight: 900 }),
        network: "tron",
      };
      const { latestBlock, ...found } = computeLedger([here, there], several).totals;
      expect(latestBlock).to.equal(12);
      expect(found.several?.quotes.map((each) => each.latestBlock)).to.deep.equal([12, 900]);
      expect(computeLedger([there], several).totals).to.include({ latestBlock: null });
    });

    it("add nothing for a token that the invoice has no rate for", () => {
      const foreign = { ...payment("manual", 25_000_100n), token: "USDC" };
      expect(totals(foreign)).to.deep.include({ seen: 0n, confirmed: 0n, completedAt: null });
    });

    it("mark an invoice as late for a payment after its deadline, unless it was fully paid before", () => {
      const whole = payment("manual", terms.payableAmount);
      const more = payment("manual", 1n, { payment: "2", blockHeight: 11, ...late });
      expect(totals(whole, more)).to.include({ isLate: false });
      expect(totals(payment("manual", 1n), more)).to.include({ isLate: true });
      expect(totals(payment("manual", terms.payableAmount, late))).to.include({ isLate: true });
      expect(totals(payment("manual", 1n, { blockTime: expiresAt }))).to.include({ isLate: false });
      const canceled = { ...terms, isCanceled: true };
      expect(computeLedger([whole], canceled).totals).to.include({ isLate: true });
    });

    it("list each transaction of counted payments once", () => {
      const of = (number: string, transactionHash: string) =>
        payment("manual", 1n, { payment: number, transactionHash });
      const ledger = [of("3", "bb"), of("1", "aa"), of("2", "aa"), revertPayment(of("4", "cc"))];
      expect(totals(...ledger).transactionHashes).to.deep.equal(["aa", "bb"]);
    });

    it("keep the confirmations of a payment when only its block's time is corrected", () => {
      const confirmed = confirmPayment(payment("manual"), 7_000);
      const block = { blockHeight: 10, blockHash: "b1", blockTime: 4_999 };
      expect(movePayment(confirmed, block)).to.deep.equal({ ...confirmed, blockTime: 4_999 });
      expect(movePayment(revertPayment(confirmed), block)).to.include({
        status: "confirming",
        statusWhenBack: null,
        blockTime: 4_999,
      });
    });
  });

  describe("for the allocated amount of a transfer", () => {
    it("include counted payments, and exclude those in review or rejected", () => {
      const counted = payment("manual", 10n);
      expect(takenOf([])).to.equal(0n);
      expect(takenOf([counted, confirmPayment(payment("manual", 5n), 7_000)])).to.equal(15n);
      expect(takenOf([review(counted), rejectedPayment(counted)])).to.equal(0n);
    });

    it("include a reverted payment that will count again when its transfer is back", () => {
      const lost = revertPayment(payment("manual", 10n));
      expect(takenOf([lost])).to.equal(10n);
      expect(takenOf([lost, payment("manual", 5n)])).to.equal(15n);
      expect(takenOf([rejectedPayment(lost)])).to.equal(0n);
    });

    it("exclude a reverted hash claim that was not accepted", () => {
      expect(takenOf([revertPayment(review(payment("submitted_hash", 10n)))])).to.equal(0n);
    });

    it("mark a transfer as matched when all of it is allocated, including reverted parts", () => {
      const [half, rest] = [
        payment("manual", 20_000_000n),
        payment("manual", 10_000_000n, { payment: "2", invoice: "2" }),
      ];
      expect(dispositionAfter(transfer, [half], "unmatched")).to.deep.equal({
        invoiceId: "inv_1",
        disposition: "unmatched",
      });
      for (const all of [
        [half, rest],
        [revertPayment(half), rest],
        [half, revertPayment(rest)],
      ]) {
        expect(dispositionAfter(transfer, all, "unmatched")).to.deep.equal({
          invoiceId: "inv_1",
          disposition: "matched",
        });
      }
      expect(dispositionAfter(transfer, [rejectedPayment(half), rest], "ignored")).to.deep.equal({
        invoiceId: "inv_2",
        disposition: "ignored",
      });
      expect(dispositionAfter(transfer, [rejectedPayment(half)], "unmatched")).to.deep.equal({
        invoiceId: null,
        disposition: "unmatched",
      });
    });
  });

  it("name the event of a payment by its new status, and by its acceptance if it was in review", () => {
    const one = payment("manual");
    const lost = revertPayment(one);
    expect(eventOf(null, one)).to.equal("payment.detected");
    expect(eventOf(lost, one)).to.equal("payment.detected");
    expect(eventOf(review(one), one)).to.equal("payment.accepted");
    expect(eventOf(one, confirmPayment(one, 7_000))).to.equal("payment.confirmed");
    expect(eventOf(one, lost)).to.equal("payment.reverted");
    expect(eventOf(review(one), rejectedPayment(one))).to.equal("payment.rejected");
    expect(eventOf(null, review(one))).to.equal("payment.needs_review");
  });

  it("keep a transfer with its invoice while that has a payment that is not rejected", () => {
    const assigned = { ...transfer, invoiceId: "inv_1" } as const;
    const [own, other] = [
      payment("manual", 1n),
      payment("manual", 1n, { payment: "2", invoice: "2" }),
    ];
    const invoiceOf = (...payments: readonly PaymentRow[]) =>
      dispositionAfter(assigned, payments, "unmatched").invoiceId;
    expect(invoiceOf(other, own)).to.equal("inv_1");
    expect(invoiceOf(other, review(own))).to.equal("inv_1");
    expect(invoiceOf(rejectedPayment(own), other)).to.equal("inv_2");
  });

  describe("for late payments", () => {
    it("count or review them by policy, and review payments for a canceled invoice", () => {
      const asking = { ...terms, latePolicy: "review" as const };
      expect(firstStatus(expiresAt, asking)).to.equal("confirming");
      expect(firstStatus(expiresAt + 1, asking)).to.equal("review");
      expect(firstStatus(expiresAt + 1, terms)).to.equal("confirming");
      expect(firstStatus(expiresAt, { ...terms, isCanceled: true })).to.equal("review");
      const managed = { ...asking, isCanceled: true, managedBy: "billing" as const };
      expect(firstStatus(expiresAt + 1, managed)).to.equal("confirming");
    });

    it("never mark an invoice as late for a submitted hash", () => {
      const late = { blockTime: expiresAt + 1 };
      expect(totals(review(payment("exact_amount", 1n, late)))).to.include({ isLate: true });
      expect(totals(review(payment("submitted_hash", 1n, late)))).to.include({ isLate: false });
    });
  });

  describe("for the amounts that an invoice still asks for", () => {
    it("accept at most the missing part, or the amount that its hold reserves", () => {
      expect(asksFor(terms, paid(0n), quote, 25_000_100n)).to.equal(true);
      expect(asksFor(terms, paid(0n), quote, 25_000_101n)).to.equal(false);
      const part = { ...terms, remainingAmount: 15_000_200n };
      expect(asksFor(part, paid(10_000_000n), quote, 15_000_100n)).to.equal(true);
      expect(asksFor(part, paid(10_000_000n), quote, 15_000_200n)).to.equal(true);
      expect(asksFor(part, paid(10_000_000n), quote, 15_000_150n)).to.equal(false);
      expect(asksFor(part, paid(10_000_000n), quote, 25_000_100n)).to.equal(false);
    });

    it("accept in another token or on another network the amount that was held there, if nothing has come since", () => {
      const held = { payableAmount: 50_000_000n, remainingAmount: 50_000_900n };
      for (const place of [
        { network: "ethereum", tokenSymbol: "USDC" },
        { network: "tron", tokenSymbol: "USDT" },
      ]) {
        const there = aQuote({ ...held, ...place });
        expect(asksFor(terms, paid(0n), there, 50_000_900n)).to.equal(true);
        expect(asksFor(terms, paid(0n), there, 50_000_800n)).to.equal(false);
        const before = { ...there, remainingAfter: 1n };
        expect(asksFor(terms, paid(0n), before, 50_000_900n)).to.equal(false);
        expect(asksFor(terms, paid(0n), before, 50_000_000n)).to.equal(true);
      }
    });

    it("accept nothing once the due amount is paid", () => {
      expect(asksFor(terms, paid(terms.dueAmount - 1n), quote, 250_001n)).to.equal(true);
      expect(asksFor(terms, paid(terms.dueAmount), quote, 1n)).to.equal(false);
      expect(asksFor({ ...terms, remainingAmount: 5n }, paid(terms.dueAmount), quote, 5n)).to.equal(
        false,
      );
    });

    it("say why a match pays nothing: own money first, whatever the rule, then an earlier invoice's amount", () => {
      const match = { invoiceId: "inv_1", organizationId: "org_1" } as const;
      const decided = (given: Omit<Match, "invoiceId" | "organizationId">, ...own: "trf_1"[]) => {
        const row = { ...transfer, amount: 25_000_101n };
        const proposed = new Map([["trf_1" as const, { ...match, ...given }]]);
        const asked = new Map([["inv_1" as const, terms]]);
        const { matches, withheld } = acceptedMatches(
          { fresh: [row], moved: [] },
          proposed,
          new Set(own),
          asked,
          [],
        );
        return matches.has("trf_1") ? "paid" : withheld.get("trf_1");
      };
      expect(decided({ rule: "exclusive_address" })).to.equal("paid");
      expect(decided({ rule: "exclusive_address" }, "trf_1")).to.equal("own_wallet");
      expect(decided({ rule: "exact_amount" })).to.equal("not_asked");
      expect(decided({ rule: "exact_amount", objection: "ambiguous_amount" })).to.equal(
        "ambiguous_amount",
      );
      expect(decided({ rule: "exact_amount", objection: "ambiguous_amount" }, "trf_1")).to.equal(
        "own_wallet",
      );
    });

    it("match only the first on the chain of equal transfers in one scan, whatever their order in the input", () => {
      const row = (id: string, blockHeight: number, logIndex: number): TransferRow => ({
        ...transfer,
        id: id as Id<"transfer">,
        blockHeight,
        logIndex,
        amount: 25_000_100n,
      });
      const fresh = [row("trf_3", 12, 0), row("trf_2", 11, 5)];
      const moved = [row("trf_4", 11, 6)];
      const decide = (rule: MatchRule, payments: readonly PaymentRow[] = [], asked = terms) => {
        const match = { invoiceId: "inv_1" as const, organizationId: "org_1" as const, rule };
        const matches = new Map([...fresh, ...moved].map(({ id }) => [id, match]));
        return [
          ...acceptedMatches(
            { fresh, moved },
            matches,
            new Set(),
            new Map([["inv_1", asked]]),
            payments,
          ).matches.keys(),
        ];
      };
      expect(decide("exact_amount")).to.deep.equal(["trf_2"]);
      expect(decide("exclusive_address")).to.deep.equal(["trf_2", "trf_4", "trf_3"]);
      expect(decide("exact_amount", [payment("manual", 24_750_099n)])).to.deep.equal([]);
      expect(
        decide("exact_amount", [revertPayment(payment("manual", 24_750_099n))]),
      ).to.have.length(1);
      // Payments in review do not count yet.
      expect(decide("exact_amount", [], { ...terms, isCanceled: true })).to.have.length(3);
      expect(
        decide("exclusive_address", [], {
          ...terms,
          quotes: [{ ...quote, tokenSymbol: "USDC" }],
        }),
      ).to.deep.equal([]);
    });
  });
});
