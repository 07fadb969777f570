import { expect } from "chai";
import type { PayableTerms } from "../../../../src/features/invoices/settlement/terms-to-pay.ts";
import {
  isPaidBesideRefunds,
  compareToRefund,
  freeOf,
  freeSurplus,
  isPayable,
  mayBeRequested,
  overRefunded,
  surplusInTime,
  surplusOf,
  type PayerSurplusPayment,
  type SurplusInputs,
  type SurplusPayment,
} from "../../../../src/features/payments/ledger/surplus.ts";
import { aQuote } from "../../../support/quotes.ts";

/** Returns the surplus of each payment of a paid invoice. */
function surplusesOf(terms: SurplusInputs["terms"], ledger: readonly SurplusPayment[]) {
  return ledger.map((each) =>
    surplusOf(
      each,
      { status: "paid", terms, ledger },
      { transfer: { amount: 10n, status: "seen" }, payments: [each] },
    ),
  );
}

const quotesOn = (...networks: readonly string[]) =>
  networks.map((network) => ({
    network,
    tokenSymbol: "USDT",
    payableAmount: 10n,
  })) as unknown as PayableTerms["quotes"];
const terms = {
  askedAmount: 10n,
  excessSlack: 0n,
  payableAmount: 10n,
  quotes: quotesOn("one", "two"),
  managedBy: null,
};
const payment = (place: number, network: string, blockHeight: number, blockTime: number) =>
  ({
    id: `pay_${String(place)}`,
    network,
    token: "USDT",
    amount: 10n,
    status: "confirmed",
    statusWhenBack: null,
    refundRequested: 0n,
    refunded: 0n,
    blockHeight,
    blockTime,
  }) as SurplusPayment;

describe("the surplus of an invoice that is paid on two networks", () => {
  it("is the excess, although a block time that nobody confirmed contradicts the heights", () => {
    const ledger = [
      payment(1, "one", 5, 250),
      payment(2, "one", 6, 200),
      payment(3, "two", 900, 220),
    ];
    expect(surplusesOf(terms, ledger)).to.deep.equal([10n, 0n, 10n]);
  });

  it("takes nothing from a confirmed payment for one that is not confirmed, and may never have happened", () => {
    const single = { ...terms, quotes: [] };
    const [early, late] = [payment(1, "one", 5, 100), payment(2, "one", 6, 200)];
    const unconfirmed = { ...early, status: "confirming" } as SurplusPayment;
    for (const each of [terms, single]) {
      expect(surplusesOf(each, [unconfirmed, late])).to.deep.equal([0n, 0n]);
      expect(surplusesOf(each, [early, late])).to.deep.equal([0n, 10n]);
    }
  });

  it("is nothing while the invoice waits for its payments, or if another feature keeps it", () => {
    const counted = payment(1, "one", 5, 100);
    const inReview = { ...counted, status: "review" } as SurplusPayment;
    const of = (each: SurplusPayment, inputs: Partial<SurplusInputs>) =>
      surplusOf(
        each,
        { status: "paid", terms: { ...terms, askedAmount: 4n }, ledger: [each], ...inputs },
        { transfer: { amount: 10n, status: "seen" }, payments: [each] },
      );
    expect(of(counted, {})).to.equal(6n);
    expect(of(counted, { terms: { ...terms, managedBy: "billing" } })).to.equal(0n);
    for (const status of ["open", "partially_paid", "confirming"] as const) {
      expect(of(counted, { status }), status).to.equal(0n);
      expect(of(inReview, { status }), status).to.equal(0n);
    }
    for (const status of ["expired", "canceled"] as const) {
      expect(of(counted, { status }), status).to.equal(10n);
      expect(of(inReview, { status }), status).to.equal(10n);
    }
    expect(of({ ...counted, status: "rejected" }, { status: "open" })).to.equal(10n);
  });

  it("is nothing for a payment in a token that the invoice does not ask for", () => {
    const foreign = { ...payment(1, "one", 5, 100), token: "USDC" };
    expect(surplusesOf({ ...terms, askedAmount: 1n }, [foreign])).to.deep.equal([0n]);
  });
});

describe("the payments of an invoice of which some were refunded", () => {
  const single = { ...terms, quotes: [] };
  const [early, late] = [payment(1, "one", 5, 100), payment(2, "one", 6, 200)];
  const refunded = (one: SurplusPayment, amount: bigint) => ({ ...one, refunded: amount });

  it("have no excess that was refunded of an older one, in one token or in several", () => {
    for (const each of [single, terms]) {
      expect(surplusesOf(each, [refunded(early, 10n), late])).to.deep.equal([0n, 0n]);
      expect(surplusesOf(each, [refunded(early, 4n), late])).to.deep.equal([0n, 6n]);
      expect(surplusesOf(each, [early, refunded(late, 10n)])).to.deep.equal([0n, 10n]);
    }
  });

  it("pay what was asked for while what is left of those that count, or would again, is worth it", () => {
    const lost = { status: "reverted", statusWhenBack: "confirming" } as const;
    for (const each of [single, terms]) {
      const isPaid = (...ledger: readonly SurplusPayment[]) =>
        isPaidBesideRefunds({ terms: each, ledger });
      expect(isPaid(refunded(early, 10n), late)).to.equal(true);
      expect(isPaid(refunded(early, 1n), refunded(late, 9n))).to.equal(true);
      expect(isPaid(refunded(early, 10n), refunded(late, 1n))).to.equal(false);
      expect(isPaid({ ...early, ...lost }, refunded(late, 10n))).to.equal(true);
      expect(isPaid({ ...early, status: "rejected" }, refunded(late, 1n))).to.equal(false);
    }
    // Another token, of which twice as much is asked for.
    const [one, two] = quotesOn("one", "two");
    const quotes = [one, { ...two, payableAmount: 20n }] as SurplusInputs["terms"]["quotes"];
    const double = { ...payment(3, "two", 6, 200), amount: 20n };
    for (const [amount, isWorthIt] of [
      [0n, true],
      [1n, false],
    ] as const) {
      const ledger = [refunded(early, 10n), refunded(double, amount)];
      expect(isPaidBesideRefunds({ terms: { ...terms, quotes }, ledger })).to.equal(isWorthIt);
    }
  });
});

describe("the surplus of a payment", () => {
  const single = { ...terms, quotes: quotesOn("one") };
  const [early, late] = [payment(1, "one", 5, 100), payment(2, "one", 6, 200)];

  it("is the excess of the newest payments, by height and then by id", () => {
    const asking = (askedAmount: bigint) => ({ ...single, askedAmount });
    expect(surplusesOf(asking(20n), [early, late])).to.deep.equal([0n, 0n]);
    expect(surplusesOf(asking(15n), [early, late])).to.deep.equal([0n, 5n]);
    expect(surplusesOf(asking(5n), [early, late])).to.deep.equal([5n, 10n]);
    const inOneBlock = [payment(1, "one", 5, 100), payment(2, "one", 5, 100)];
    expect(surplusesOf(asking(15n), inOneBlock)).to.deep.equal([0n, 5n]);
    // The order of ids, or of times that nobody confirmed, does not matter for different heights.
    const crossed = [payment(1, "one", 6, 100), payment(2, "one", 5, 200)];
    expect(surplusesOf(asking(15n), crossed)).to.deep.equal([5n, 0n]);
    const onTwo = { ...terms, askedAmount: 15n };
    expect(surplusesOf(onTwo, inOneBlock)).to.deep.equal([0n, 5n]);
    expect(surplusesOf(onTwo, crossed)).to.deep.equal([0n, 5n]);
  });

  it("is in its own token at the invoice's rates, and whole if rounding cannot have made it", () => {
    const [one, two] = quotesOn("one", "two");
    if (one === undefined || two === undefined) throw new Error("there are no two quotes");
    const quotes = [one, { ...two, payableAmount: 25n }];
    const both = [payment(1, "one", 5, 100), { ...payment(2, "two", 900, 200), amount: 8n }];
    // 8 of 25 are worth 3.2 of 10.
    expect(surplusesOf({ ...terms, quotes }, both)).to.deep.equal([0n, 8n]);
    expect(surplusesOf({ ...terms, quotes, askedAmount: 12n }, both)).to.deep.equal([0n, 3n]);
    const slack = (askedAmount: bigint) => ({ ...terms, askedAmount, excessSlack: 2n });
    const parts = [early, { ...payment(2, "two", 900, 200), amount: 3n }];
    expect(surplusesOf(slack(11n), parts)).to.deep.equal([0n, 0n]);
    expect(surplusesOf(slack(10n), parts)).to.deep.equal([0n, 3n]);
  });

  it("is none up to the slack of its invoice, and the excess of the sum decides, not that of each payment", () => {
    const asking = (askedAmount: bigint) => ({ ...single, askedAmount, excessSlack: 4n });
    const parts = [10n, 10n, 3n, 3n].map((amount, place) => ({
      ...payment(place + 1, "one", 5 + place, 100),
      amount,
    }));
    expect(surplusesOf(asking(22n), parts)).to.deep.equal([0n, 0n, 0n, 0n]);
    expect(surplusesOf(asking(21n), parts)).to.deep.equal([0n, 0n, 0n, 3n]);
    expect(surplusesOf(asking(18n), parts)).to.deep.equal([0n, 0n, 3n, 3n]);
  });

  it("is free as far as no refund takes it, and a part of a payment below dust never is", () => {
    const quotes = [
      aQuote({ network: "one", tokenSymbol: "USDT", payableAmount: 10n, dustAmount: 4n }),
    ];
    const free = (surplus: bigint, changes: Partial<SurplusPayment>) =>
      freeOf(surplus, { ...early, token: "USDT", amount: 10n, ...changes }, { quotes });
    expect(free(10n, { refunded: 6n })).to.equal(4n);
    expect(free(10n, { refunded: 7n })).to.equal(0n);
    expect(free(10n, { refundRequested: 3n, refunded: 4n })).to.equal(0n);
    expect(free(3n, { amount: 3n })).to.equal(3n);
    expect(free(3n, { refunded: 4n })).to.equal(0n);
    expect(freeOf(3n, { ...early, refunded: 0n }, { quotes: [] })).to.equal(3n);
  });

  it("that does not count is what other payments leave of its transfer", () => {
    const rejected = { ...early, status: "rejected" } as SurplusPayment;
    const of = (
      each: SurplusPayment,
      claiming: readonly SurplusPayment[],
      transfer: { readonly amount: bigint; readonly status: "seen" | "orphaned" },
      status: SurplusInputs["status"] = "open",
    ) =>
      surplusOf(each, { status, terms: single, ledger: [each] }, { transfer, payments: claiming });
    const seen = (amount: bigint) => ({ amount, status: "seen" }) as const;
    expect(of(rejected, [rejected], seen(10n))).to.equal(10n);
    expect(of(rejected, [rejected], seen(30n))).to.equal(10n);
    expect(of(rejected, [rejected, { ...late, amount: 7n }], seen(10n))).to.equal(3n);
    expect(of(rejected, [rejected, late], seen(10n))).to.equal(0n);
    expect(of(rejected, [rejected, late, payment(3, "one", 7, 1)], seen(10n))).to.equal(0n);
    const refunded = { ...rejected, refunded: 4n };
    expect(of(refunded, [refunded], seen(10n))).to.equal(10n);
    expect(of(rejected, [rejected], { amount: 10n, status: "orphaned" })).to.equal(0n);
    const reverted = { ...early, status: "reverted" } as SurplusPayment;
    expect(of(reverted, [reverted], seen(10n), "expired")).to.equal(0n);
    const waiting = { ...early, status: "review" } as SurplusPayment;
    expect(of(waiting, [waiting], seen(10n), "paid")).to.equal(10n);
  });

  it("waits while its invoice is open, partly paid or not confirmed", () => {
    const statuses = [
      ...(["draft", "open", "partially_paid", "confirming"] as const),
      ...(["paid", "expired", "canceled"] as const),
    ];
    expect(statuses.filter(isPayable)).to.deep.equal(["open", "partially_paid", "confirming"]);
  });
});

describe("a refund", () => {
  const single = { ...terms, quotes: quotesOn("one") };
  const inputs = { status: "paid", terms: { ...single, askedAmount: 4n }, ledger: [] } as const;
  const payer = (changes: Partial<PayerSurplusPayment> = {}): PayerSurplusPayment => ({
    ...payment(1, "one", 5, 100),
    rule: "exact_amount",
    isSpare: false,
    ...changes,
  });
  const isOffered = (changes: Partial<PayerSurplusPayment>, more: Partial<SurplusInputs> = {}) => {
    const each = payer(changes);
    return freeSurplus(each, { ...inputs, ledger: [each], ...more }) > 0n;
  };

  it("may be asked for by the payer, except of a rejected payment that no rule had matched", () => {
    for (const rule of ["submitted_hash", "manual", "exact_amount", "exclusive_address"] as const) {
      const isOfRule = rule !== "submitted_hash" && rule !== "manual";
      expect(mayBeRequested({ status: "rejected", rule }), rule).to.equal(isOfRule);
      expect(mayBeRequested({ status: "review", rule }), rule).to.equal(true);
      const given = { status: "rejected", rule, isSpare: true } as const;
      expect(isOffered(given), rule).to.equal(isOfRule);
    }
  });

  it("is offered of a confirmed surplus that no refund takes, once the invoice cannot become paid", () => {
    expect(isOffered({})).to.equal(true);
    expect(isOffered({ status: "confirming" })).to.equal(false);
    expect(isOffered({}, { status: "confirming" })).to.equal(false);
    expect(isOffered({}, { terms: single })).to.equal(false);
    expect(isOffered({ refunded: 2n, refundRequested: 3n })).to.equal(true);
    expect(isOffered({ refunded: 2n, refundRequested: 4n })).to.equal(false);
    const inReview = { status: "review" } as const;
    expect(isOffered(inReview)).to.equal(false);
    expect(isOffered({ ...inReview, isSpare: true })).to.equal(true);
    expect(isOffered({ ...inReview, isSpare: true, refunded: 10n })).to.equal(false);
    expect(isOffered({ ...inReview, isSpare: true }, { status: "open" })).to.equal(false);
  });

  it("is offered of the newest payment first, and last of those whose hash was submitted", () => {
    const of = (id: number, rule: PayerSurplusPayment["rule"]) =>
      ({ id: `pay_${String(id)}`, rule }) as const;
    const given = [
      of(1, "submitted_hash"),
      of(2, "exact_amount"),
      of(3, "manual"),
      of(4, "submitted_hash"),
    ];
    for (const inOrder of [given, given.toReversed()]) {
      const offered = inOrder.toSorted(compareToRefund).map(({ id }) => id);
      expect(offered).to.deep.equal(["pay_3", "pay_2", "pay_4", "pay_1"]);
    }
  });

  it("is never possible by waiting alone if the invoice needs the payment, or the merchant decides about it", () => {
    const inTime = (
      status: SurplusInputs["status"],
      changes: Partial<SurplusPayment> = {},
      askedAmount = 10n,
      others: readonly SurplusPayment[] = [],
    ) => {
      const each = { ...payment(1, "one", 5, 100), ...changes };
      const claimed = {
        transfer: { amount: 10n, status: "orphaned" },
        payments: [each, ...others],
      } as const;
      const given = { status, terms: { ...single, askedAmount }, ledger: [each, ...others] };
      return surplusInTime(each, given, claimed);
    };
    const young = { status: "confirming" } as const;
    const gone = { status: "reverted", statusWhenBack: "confirming" } as const;
    const heldGone = { status: "reverted", statusWhenBack: "review" } as const;
    for (const status of ["open", "partially_paid", "confirming", "paid"] as const) {
      for (const changes of [young, gone]) {
        expect(inTime(status, changes), status).to.equal(0n);
        expect(inTime(status, changes, 4n), status).to.equal(6n);
      }
    }
    expect([inTime("expired", young), inTime("canceled", gone)]).to.deep.equal([10n, 10n]);
    // The newest payments have the excess, whether an older one is confirmed or not.
    for (const [height, surplus] of [
      [4, 10n],
      [6, 0n],
    ] as const) {
      const other = { ...payment(2, "one", height, 90), ...young };
      expect(inTime("confirming", young, 10n, [other]), String(height)).to.equal(surplus);
    }
    for (const held of [heldGone, { status: "review" } as const]) {
      expect([inTime("open", held), inTime("expired", held)]).to.deep.equal([0n, 10n]);
    }
    expect(inTime("open", { status: "rejected" })).to.equal(10n);
    const managed = { ...inputs, terms: { ...single, managedBy: "billing" as const } };
    const [each] = [payment(1, "one", 5, 100)];
    const claimed = { transfer: { amount: 10n, status: "seen" }, payments: [each] } as const;
    expect(surplusInTime(each, managed, claimed)).to.equal(0n);
  });

  it("is too much if a counted payment has less surplus than was refunded once the invoice is paid", () => {
    const over = (askedAmount: bigint, ...ledger: readonly SurplusPayment[]) =>
      overRefunded({ terms: { ...single, askedAmount }, ledger });
    const [early, late] = [payment(1, "one", 5, 100), payment(2, "one", 6, 200)];
    const refunded = { ...late, refunded: 5n };
    expect(over(15n, early, refunded)).to.deep.equal([]);
    expect(over(16n, early, refunded)).to.deep.equal(["pay_2"]);
    expect(over(16n, { ...early, refunded: 1n }, refunded)).to.deep.equal(["pay_1", "pay_2"]);
    // Payments that are not confirmed count, and those that do not count need no surplus.
    const confirming = { ...early, status: "confirming" } as SurplusPayment;
    expect(over(15n, confirming, refunded)).to.deep.equal([]);
    expect(over(16n, early, { ...refunded, status: "rejected" })).to.deep.equal([]);
    expect(over(20n, early, late)).to.deep.equal([]);
  });
});
