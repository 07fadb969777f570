// Unit tests of the options of an invoice: their stored quotes, the option in force, and money in several tokens.
import { expect } from "chai";
import {
  askedUntilNow,
  columnsOf,
  followMoney,
  putInForce,
} from "../../../../src/features/invoices/settlement/terms-to-pay.ts";
import {
  addShare,
  excessOf,
  noShare,
  optionsOf,
  paidShare,
  quoteFor,
  quotesOf,
  roundingSlack,
  storedOptions,
  storedQuotesOf,
  tokensOf,
  worthOf,
  type Quote,
  type StoredOption,
} from "../../../../src/features/invoices/options/quotes.ts";
import type { PaymentTotals } from "../../../../src/features/invoices/rules.ts";
import type { InvoiceRow } from "../../../../src/features/invoices/store.ts";
import { aQuote } from "../../../support/quotes.ts";

/** The option in force; the other one asks for 40 units where it asks for 100. */
const inForce = aQuote({ payableAmount: 100n, remainingAmount: 50n, seen: 50n, confirmed: 20n });
const other = aQuote({ payableAmount: 40n, network: "bsc", tokenSymbol: "USDC" });
const unchosen: StoredOption = {
  network: "tron",
  tokenSymbol: "USDT",
  walletId: null,
  quote: null,
};

const single = (changes: Partial<InvoiceRow> = {}) =>
  ({
    id: "inv_1",
    amount: 1_000n,
    underpaymentTolerance: "0",
    network: "ethereum",
    tokenSymbol: "USDT",
    tokenDecimals: 6,
    requiredConfirmations: 3,
    exchangeRate: "1",
    walletId: null,
    walletAddress: "0x0",
    addressIndex: null,
    payableAmount: 100n,
    askedAmount: null,
    dustAmount: null,
    remainingAmount: 50n,
    seenAmount: 50n,
    confirmedAmount: 20n,
    paidAmount: null,
    latestBlock: 7,
    paymentOptions: null,
    ...changes,
  }) as InvoiceRow;

/** An invoice with holds of several options, of which one is in force. */
function several(quotes: readonly Quote[] = [inForce, other], changes: Partial<InvoiceRow> = {}) {
  const options = quotes.map(({ network, tokenSymbol }) => ({ ...unchosen, network, tokenSymbol }));
  const paymentOptions = storedOptions(
    single({ paymentOptions: [...options, unchosen] }),
    quotes.length < 2 ? [] : quotes,
  );
  return single({ paymentOptions, ...changes });
}

describe("The quotes of an invoice", () => {
  const alone = { ...inForce, remainingAfter: 50n, latestBlock: 7 };

  it("are none before it is issued", () => {
    for (const missing of ["payableAmount", "walletAddress", "exchangeRate"] as const) {
      expect(quotesOf(single({ [missing]: null })), missing).to.deep.equal([]);
    }
  });

  it("are as its columns say, if it has had the hold of one option only", () => {
    expect(quotesOf(single())).to.deep.equal([alone]);
    expect(quotesOf(several([inForce]))).to.deep.equal([alone]);
    const [paid] = quotesOf(single({ remainingAmount: null, askedAmount: 110n }));
    expect(paid).to.deep.equal({ ...alone, remainingAmount: 0n, askedAmount: 110n });
  });

  it("keep their order and sums if it has had several, and that in force is as the columns say", () => {
    const stored = [other, { ...inForce, seen: 30n, confirmed: 10n, payableAmount: 1n }];
    expect(quotesOf(several(stored))).to.deep.equal([
      other,
      { ...alone, seen: 30n, confirmed: 10n, latestBlock: null },
    ]);
    const gone = several(stored, { network: "base" });
    expect(quotesOf(gone)).to.deep.equal([{ ...alone, network: "base" }]);
  });

  it("are stored without loss, and not before there are two", () => {
    const asked = { ...other, askedAmount: 41n, remainingAfter: 2n, seen: 3n, confirmed: 1n };
    const row = several();
    const paymentOptions = storedOptions(row, [inForce, asked]);
    expect(storedQuotesOf({ paymentOptions })).to.deep.equal([inForce, asked]);
    expect(paymentOptions?.at(-1)).to.deep.equal(unchosen);
    expect(JSON.parse(JSON.stringify(paymentOptions))).to.deep.equal(paymentOptions);
    expect(storedOptions(row, [inForce])).to.equal(row.paymentOptions);
    expect(storedOptions(single(), [inForce, other])).to.equal(null);
    expect(optionsOf(row)).to.equal(row.paymentOptions);
    expect(optionsOf(single())).to.deep.equal([single()]);
  });

  it("are found by network and token", () => {
    const quotes = [inForce, other];
    expect(quoteFor(quotes, { network: "bsc", token: "USDC" })).to.equal(other);
    expect(quoteFor(quotes, { network: "bsc", token: "USDT" })).to.equal(undefined);
    expect(quoteFor(quotes, { network: "ethereum", token: "USDC" })).to.equal(undefined);
  });
});

describe("Money in several tokens", () => {
  it("adds up to the unit, in any order", () => {
    const third = addShare(addShare(noShare, 1n, 3n), 1n, 3n);
    expect(worthOf(third, 999n)).to.equal(666n);
    for (const share of [
      addShare(third, 10n, 30n),
      addShare(addShare(noShare, 10n, 30n), 2n, 3n),
    ]) {
      expect(worthOf(share, 1_000n)).to.equal(1_000n);
    }
    expect(worthOf(addShare(addShare(noShare, 1n, 4n), 1n, 2n), 100n)).to.equal(75n);
    expect(paidShare([inForce, { ...other, seen: 10n }])).to.satisfy(
      (share: typeof noShare) => worthOf(share, 100n) === 75n,
    );
    const confirmed = paidShare([inForce, other], (quote) => quote.confirmed);
    expect(worthOf(confirmed, 100n)).to.equal(20n);
  });

  it("is rounded down in a token, unless its exact share is all that is due", () => {
    const tolerance = { numerator: 1n, denominator: 40n };
    const tolerant = { payableAmount: 100n, tolerance, rounding: noShare };
    const tokens = (numerator: bigint, denominator = 1_000n) =>
      tokensOf({ numerator, denominator }, tolerant);
    expect([974n, 975n, 980n, 999n, 1_500n].map((each) => tokens(each))).to.deep.equal([
      ...[97n, 98n, 98n, 99n, 150n],
    ]);
  });

  it("leaves no excess within the rounding between options", () => {
    expect(excessOf(single({ payableAmount: null, seenAmount: 500n }))).to.equal(0n);
    expect(excessOf(single({ seenAmount: 99n }))).to.equal(0n);
    expect(excessOf(single({ seenAmount: 101n }))).to.equal(1n);
    expect(excessOf(single({ seenAmount: 101n, askedAmount: 101n }))).to.equal(0n);
    expect(excessOf(single({ seenAmount: 105n, askedAmount: 101n }))).to.equal(4n);
    // Nobody can send back less than dust; from the dust on, all of the excess is one.
    expect(excessOf(single({ seenAmount: 109n, dustAmount: 10n }))).to.equal(0n);
    expect(excessOf(single({ seenAmount: 110n, dustAmount: 10n }))).to.equal(10n);
    expect(excessOf(single({ seenAmount: 113n, dustAmount: 10n, askedAmount: 104n }))).to.equal(0n);
    expect(excessOf(single({ seenAmount: 101n, dustAmount: 0n }))).to.equal(1n);
    // One unit of the other token is worth 2.5 units of that in force.
    const slack = 4n;
    expect(roundingSlack([inForce, other], inForce)).to.equal(slack);
    expect(excessOf(several([inForce, other], { seenAmount: 100n + slack }))).to.equal(0n);
    expect(excessOf(several([inForce, other], { seenAmount: 101n + slack }))).to.equal(1n + slack);
  });

  it("is rounded once for each other option", () => {
    const half = { ...other, payableAmount: 50n };
    expect(roundingSlack([inForce], inForce)).to.equal(0n);
    expect(roundingSlack([inForce, other], undefined)).to.equal(0n);
    expect(roundingSlack([half, inForce], inForce)).to.equal(3n);
    expect(roundingSlack([half, inForce, other], inForce)).to.equal(7n);
    expect(roundingSlack([half, inForce], half)).to.equal(2n);
  });
});

describe("The option in force", () => {
  it("gives the invoice its terms, and the sums of all payments in its token", () => {
    const chosen = { ...other, tokenDecimals: 18, requiredConfirmations: 9, addressIndex: 4 };
    const quote = { ...chosen, exchangeRate: "2", walletAddress: "0x1", latestBlock: 30 };
    const stored = [
      { ...inForce, seen: 50n, latestBlock: 70 },
      { ...quote, seen: 10n },
    ];
    const row = putInForce(several(stored), { ...quote, seen: 10n, confirmed: 4n });
    expect(row).to.include({
      network: "bsc",
      tokenSymbol: "USDC",
      tokenDecimals: 18,
      requiredConfirmations: 9,
      exchangeRate: "2",
      walletAddress: "0x1",
      addressIndex: 4,
      payableAmount: 40n,
      seenAmount: 30n,
      confirmedAmount: 8n,
      paidAmount: 750n,
      latestBlock: 30,
    });
    expect(quotesOf(row).map(({ network, seen }) => [network, seen])).to.deep.equal([
      ["ethereum", 50n],
      ["bsc", 10n],
    ]);
    // The option is new: it had no hold before.
    const taken = putInForce(several([inForce]), quote);
    expect(taken).to.include({ seenAmount: 20n, confirmedAmount: 8n, paidAmount: 500n });
    expect(taken.latestBlock).to.equal(30);
    expect(putInForce(several([inForce]), other).latestBlock).to.equal(null);
  });

  it("asks for the whole price before a payment, for a known rest, or for one that must be held first", () => {
    const remaining = (quote: Quote, changes: Partial<InvoiceRow> = {}) =>
      putInForce(several([inForce, other], changes), quote).remainingAmount;
    const unpaid = { ...inForce, seen: 0n, confirmed: 0n };
    const nothing = putInForce(several([unpaid, other], { seenAmount: 0n }), other);
    expect(nothing.remainingAmount).to.equal(40n);
    expect(remaining({ ...other, remainingAfter: 20n, remainingAmount: 21n })).to.equal(21n);
    expect(remaining({ ...other, remainingAfter: 19n, remainingAmount: 21n })).to.equal(0n);
  });

  it("never asks for less in total than before", () => {
    const asked = (changes: Partial<InvoiceRow>, askedAmount: bigint | null = null) =>
      putInForce(several([inForce, other], changes), { ...other, askedAmount }).askedAmount;
    expect(asked({})).to.equal(null);
    expect(asked({ askedAmount: 105n })).to.equal(42n);
    expect(asked({ askedAmount: 102n })).to.equal(null);
    expect(asked({ askedAmount: 105n }, 41n)).to.equal(42n);
    expect(asked({ askedAmount: 105n }, 45n)).to.equal(45n);
    expect(asked({}, 45n)).to.equal(45n);
    expect(asked({}, 40n)).to.equal(null);
    expect(asked({ remainingAmount: 60n })).to.equal(44n);
  });

  it("has asked for the payments and the rest, if that is more than before", () => {
    const until = (changes: Partial<InvoiceRow>) => askedUntilNow(single(changes));
    expect(until({})).to.equal(null);
    expect(until({ remainingAmount: 51n })).to.equal(101n);
    expect(until({ remainingAmount: 51n, askedAmount: 101n })).to.equal(101n);
    expect(until({ remainingAmount: 51n, askedAmount: 103n })).to.equal(103n);
    expect(until({ seenAmount: 110n, remainingAmount: 0n })).to.equal(null);
    expect(until({ seenAmount: 110n, remainingAmount: 0n, askedAmount: 102n })).to.equal(102n);
    expect(until({ remainingAmount: null, askedAmount: 102n })).to.equal(102n);
    expect(until({ payableAmount: null })).to.equal(null);
  });

  const totals = (seen: readonly [inForce: bigint, other: bigint]): PaymentTotals => ({
    seen: 1n,
    confirmed: 2n,
    isLate: false,
    isReverted: false,
    latestBlock: 8,
    completedAt: null,
    transactionHashes: [],
    aside: [],
    several: {
      paidAmount: 123n,
      quotes: [inForce, other].map(({ network, tokenSymbol }, place) => ({
        network,
        tokenSymbol,
        confirmed: seen[place] ?? 0n,
        latestBlock: 60 - 10 * place,
        seen: seen[place] ?? 0n,
      })),
    },
  });

  it("becomes the one in which new money has come, unless money came in it too", () => {
    const row = several();
    expect(followMoney(row, totals([50n, 1n])).network).to.equal("bsc");
    for (const seen of [
      [50n, 0n],
      [51n, 1n],
      [51n, 0n],
      [49n, 0n],
      [0n, 0n],
    ] as const) {
      expect(followMoney(row, totals(seen)), String(seen)).to.equal(row);
    }
    const { several: _, ...ofOne } = totals([50n, 1n]);
    expect(followMoney(row, ofOne)).to.equal(row);
    const foreign = totals([50n, 1n]);
    expect(followMoney(single(), foreign).network).to.equal("ethereum");
  });

  it("has the sums of all payments in its token, and the newest block of its network", () => {
    const columns = columnsOf(several(), totals([50n, 10n]));
    expect(columns).to.include({ seenAmount: 75n, confirmedAmount: 75n, paidAmount: 123n });
    expect(columns.latestBlock).to.equal(60);
    expect(storedQuotesOf(columns).map(({ seen }) => seen)).to.deep.equal([50n, 10n]);
    const sameNetwork = { ...other, network: "ethereum", latestBlock: 99 };
    expect(columnsOf(several([inForce, sameNetwork]), totals([50n, 0n])).latestBlock).to.equal(99);
    const { several: _, ...ofOne } = totals([50n, 1n]);
    const row = several([inForce, other], { paidAmount: 5n });
    expect(columnsOf(row, ofOne)).to.deep.equal({
      seenAmount: 1n,
      confirmedAmount: 2n,
      latestBlock: 8,
      paidAmount: 5n,
      paymentOptions: row.paymentOptions,
    });
  });
});
