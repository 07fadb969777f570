// Whatever an invoice asks for can be sent from a wallet of six decimals, and is credited when it is.
import { expect } from "chai";
import fc from "fast-check";
import type { InTx } from "../../../../src/app.ts";
import { powerOfTen, ratio } from "../../../../src/kernel/money/ratio.ts";
import { payablePrice } from "../../../../src/features/invoices/holds/amounts.ts";
import {
  askedUntilNow,
  columnsOf,
  followMoney,
  paidAmountOf,
  payableTerms,
  putInForce,
  statusTerms,
} from "../../../../src/features/invoices/settlement/terms-to-pay.ts";
import {
  dueOf,
  roundedShare,
  roundingOf,
  settlementOf,
  worthOf,
  type Quote,
} from "../../../../src/features/invoices/options/quotes.ts";
import { invoiceStateOf } from "../../../../src/features/invoices/rules.ts";
import { remainingAmount } from "../../../../src/features/invoices/settlement/remaining.ts";
import type { InvoiceRow } from "../../../../src/features/invoices/store.ts";
import { computeLedger } from "../../../../src/features/payments/ledger/payment-rules.ts";
import { isWorthless } from "../../../../src/features/payments/ledger/transfer-rules.ts";
import type { PaymentRow } from "../../../../src/features/payments/table.ts";
import type { Network } from "../../../../src/platform/chain/networks.ts";
import type { Tx } from "../../../../src/platform/database/database.ts";
import { aQuote } from "../../../support/quotes.ts";

/** The decimals that every wallet takes. */
const walletDecimals = 6;
const networkIds = ["one", "two", "three"];

/** A token with the exact price of the invoice in it, in units; its dust may be larger than the smallest typed amount. */
const anyToken = fc.integer({ min: 0, max: 18 }).chain((decimals) =>
  fc.record({
    decimals: fc.constant(decimals),
    exact: fc.bigInt(1n, 500n * powerOfTen(decimals)),
    dust: fc.oneof(
      fc.bigInt(0n, powerOfTen(decimals) / 5n + 1n),
      fc.constant(powerOfTen(Math.max(0, decimals - 2))),
    ),
  }),
);
type AnyToken = typeof anyToken extends fc.Arbitrary<infer T> ? T : never;

/** A payment of a share of what is asked for, in thousandths, or of all of it but a few of the token's smallest units. */
const anyPart = fc.record({
  option: fc.integer({ min: 0, max: networkIds.length - 1 }),
  thousandths: fc.bigInt(1n, 999n),
  isNearlyAll: fc.boolean(),
  missing: fc.bigInt(0n, 12_000n),
});
type AnyPart = typeof anyPart extends fc.Arbitrary<infer T> ? T : never;

/** Whole tokens, of which 35 of 36 parts are paid: in the second one, the 5 % that may be missing are less than a token. */
const wholeTokens: [AnyToken[], bigint, string, AnyPart[]] = [
  [
    { decimals: 0, exact: 8n, dust: 0n },
    { decimals: 0, exact: 9n, dust: 1n },
  ],
  1n,
  "5",
  [
    { option: 0, thousandths: 125n, isNearlyAll: false, missing: 0n },
    { option: 0, thousandths: 715n, isNearlyAll: false, missing: 0n },
    { option: 1, thousandths: 667n, isNearlyAll: false, missing: 0n },
  ],
];

function tokenOf({ decimals, dust }: AnyToken) {
  const amountDecimals = Math.min(decimals, walletDecimals);
  return { symbol: "USDT", decimals, dust, amountDecimals, pegs: ["USD"] };
}

/** Returns the quotes of an invoice that asks for each token's price at addresses of its own. */
function quotesFor(tokens: readonly AnyToken[]): Quote[] {
  return tokens.map((token, place) =>
    aQuote({
      network: networkIds[place] ?? "",
      tokenDecimals: token.decimals,
      payableAmount: payablePrice(token.exact, tokenOf(token), false),
      dustAmount: token.dust,
      addressIndex: place,
    }),
  );
}

function openInvoice(amount: bigint, quotes: readonly Quote[], tolerance: string): InvoiceRow {
  const [first] = quotes;
  if (first === undefined) throw new Error("there is no option");
  return {
    ...first,
    id: "inv_1",
    status: "open",
    exception: "none",
    amount,
    askedAmount: null,
    remainingAmount: first.payableAmount,
    seenAmount: 0n,
    confirmedAmount: 0n,
    paidAmount: null,
    underpaymentTolerance: tolerance,
    paymentOptions:
      quotes.length === 1
        ? null
        : quotes.map(({ network, tokenSymbol }) => ({
            network,
            tokenSymbol,
            walletId: null,
            quote: null,
          })),
    issuedAt: 0,
    expiresAt: 1_000,
    lateUntil: 2_000,
    canceledAt: null,
    managedBy: null,
    aside: null,
    isLate: false,
    isReverted: false,
    completedAt: null,
    transactionHashes: [],
  } as unknown as InvoiceRow;
}

/** Plays an invoice with addresses of its own, as the settlement changes it. */
function play(tokens: readonly AnyToken[], amount: bigint, tolerance: string) {
  const quotes = quotesFor(tokens);
  const networks = new Map(
    tokens.map((token, place) => {
      const id = networkIds[place] ?? "";
      return [id, { id, tokens: [tokenOf(token)] } as unknown as Network];
    }),
  );
  const app = { networks: { known: networks } } as unknown as InTx;
  const noStore = null as unknown as Tx;
  const payments: PaymentRow[] = [];
  let row = openInvoice(amount, quotes, tolerance);

  return {
    get row() {
      return row;
    },
    payments,
    tokenInForce() {
      const token = tokens[networkIds.indexOf(row.network)];
      if (token === undefined) throw new Error("the option in force is not offered");
      return token;
    },
    async choose(place: number) {
      const quote = quotes[place % quotes.length];
      if (quote === undefined || quote.network === row.network) return;
      const current = putInForce(row, quote);
      const remaining = await remainingAmount(noStore, app, 0, current, current);
      row = { ...current, remainingAmount: remaining };
    },
    async pay(units: bigint) {
      const id = `pay_${String(payments.length).padStart(3, "0")}`;
      const { network, tokenSymbol: token } = row;
      const place = { blockHeight: payments.length, blockTime: payments.length };
      const counted = { status: "confirmed", statusWhenBack: null, transactionHash: id };
      const given = { id, network, token, amount: units, ...place, ...counted, roundingAmount: 0n };
      payments.push(given as unknown as PaymentRow);
      const terms = payableTerms(row);
      if (terms === null) throw new Error("the invoice is a draft");
      const { totals, payments: settled } = computeLedger(payments, terms);
      payments.splice(0, payments.length, ...settled);
      const before = followMoney(row, totals);
      const askedAmount = askedUntilNow(before);
      const columns = columnsOf(before, totals);
      const sums = { ...totals, seen: columns.seenAmount, confirmed: columns.confirmedAmount };
      const state = invoiceStateOf(statusTerms({ ...before, askedAmount }), sums, 0);
      const after: InvoiceRow = { ...before, ...state, ...columns, askedAmount };
      row = { ...after, remainingAmount: await remainingAmount(noStore, app, 0, before, after) };
    },
  };
}

describe("Whatever an invoice asks for", () => {
  it("can be sent from a wallet of six decimals, and is credited when it is", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyToken, { minLength: 1, maxLength: networkIds.length }),
        fc.bigInt(1n, 1_000_000n),
        fc.constantFrom("0", "0.5", "5"),
        fc.array(anyPart, { maxLength: 6 }),
        async (tokens, amount, tolerance, parts) => {
          // An invoice below the dust is refused.
          fc.pre(
            quotesFor(tokens).every((quote) => quote.payableAmount >= (quote.dustAmount ?? 0n)),
          );
          const invoice = play(tokens, amount, tolerance);
          const requireSendable = () => {
            const token = invoice.tokenInForce();
            const asked = invoice.row.remainingAmount ?? 0n;
            const typed = powerOfTen(Math.max(0, token.decimals - walletDecimals));
            expect(asked % typed, "more decimals than a wallet takes").to.equal(0n);
            const transfer = { amount: asked, from: "a", to: "b" };
            expect(asked > 0n && !isWorthless(tokenOf(token), transfer), "dust").to.equal(true);
          };
          for (const { option, thousandths, isNearlyAll, missing } of parts) {
            await invoice.choose(option);
            requireSendable();
            const asked = invoice.row.remainingAmount ?? 0n;
            const part = isNearlyAll ? asked - missing : (asked * thousandths) / 1_000n;
            if (part <= 0n || part < invoice.tokenInForce().dust) continue;
            await invoice.pay(part);
            if (invoice.row.status !== "partially_paid") break;
          }
          if (invoice.row.status === "open" || invoice.row.status === "partially_paid") {
            requireSendable();
            await invoice.pay(invoice.row.remainingAmount ?? 0n);
          }
          const { status, exception } = invoice.row;
          expect(status).to.equal("paid");
          expect(exception).to.not.equal("overpaid");
          if (exception === "none") {
            expect(paidAmountOf(invoice.row) >= amount, "paid in full").to.equal(true);
          }
          const worth = invoice.payments.reduce((sum, one) => sum + one.settlementAmount, 0n);
          expect(worth).to.equal(paidAmountOf(invoice.row));
        },
      ),
      { numRuns: 500, examples: [wholeTokens] },
    );
  });
});

describe("The rule of rounding", () => {
  const units = fc.oneof(fc.bigInt(1n, 10n ** 24n), fc.bigInt(1n, 1_000n));

  it("is the same for the worth of an invoice, for what is due, and as decision 55 has it", () => {
    fc.assert(
      fc.property(units, units, units, fc.integer({ min: 0, max: 3_000 }), (...given) => {
        const [amount, payable, dust, part] = given;
        const short = (dust * BigInt(part)) / 1_000n;
        const seen = short < payable ? payable - short : payable;
        const quote = { payableAmount: payable, dustAmount: dust };
        const rounding = roundingOf([quote]);
        const missing = payable - seen;
        const isRounded = missing > 0n && missing < dust && missing * 100n <= payable;
        const expected = isRounded ? amount : (seen * amount) / payable;
        expect(settlementOf(seen, { amount, ...quote })).to.equal(expected);
        const share = roundedShare({ numerator: seen, denominator: payable }, rounding);
        expect(worthOf(share, amount)).to.equal(expected);
        const due = dueOf({ payableAmount: payable, tolerance: ratio(0n, 1n), rounding });
        expect(seen >= due).to.equal(isRounded || seen >= payable);
      }),
    );
  });
});
