import type { InTx } from "../../../app.ts";
import { findCurrency, tokenAsset, type Asset } from "../../../kernel/money/asset.ts";
import { second, type Instant } from "../../../kernel/clock.ts";
import { Defect, type Problem } from "../../../kernel/errors.ts";
import { parseMoneyField, type Money } from "../../../kernel/money/money.ts";
import {
  formatPercent,
  maxTolerancePercent,
  parsePercentField,
} from "../../../kernel/money/percent.ts";
import { parRate, type Rate } from "../../../kernel/money/rate.ts";
import { powerOfTen, type Ratio } from "../../../kernel/money/ratio.ts";
import { findToken, type Network, type NetworkToken } from "../../../platform/chain/networks.ts";
import type { Reader } from "../../../platform/database/database.ts";
import { rateQuotesOf } from "../../rates/quotes.ts";
import { NetworkNotEnabled } from "../../wallets/errors.ts";
import {
  AmountTooLarge,
  RateUnavailable,
  TokenNotEnabled,
  UnsupportedCurrency,
} from "../errors.ts";
import type { EntryPlace } from "../table.ts";

/** The number of characters of an unknown currency code that an error message repeats. */
const shownCodeLengthMax = 20;
/** The largest amount of an invoice, in whole units of the settlement currency. */
const largestAmount = 10n ** 12n;

export type Networks = ReadonlyMap<string, Network>;

/** The money fields of an invoice, as a request states them. */
export interface TermsInput {
  readonly amount: string;
  readonly settlementCurrency: string;
  readonly tokenSymbol: string;
  readonly network: string;
  /** In percent; absent: none. */
  readonly underpaymentTolerance?: string | undefined;
  /** The place at which a payer without a credential entered the amount; absent: the merchant stated it. */
  readonly enteredAtLink?: EntryPlace | null | undefined;
}

/** The parsed and validated terms of a request. */
export interface InvoiceTerms {
  readonly network: Network;
  readonly token: NetworkToken;
  readonly tokenAsset: Asset;
  /** In the settlement currency. */
  readonly amount: Money;
  readonly tolerance: Ratio;
  /** In percent, in its shortest notation. */
  readonly underpaymentTolerance: string;
  readonly enteredAtLink: EntryPlace | null;
}

/** Parses the terms of a request. A malformed field is a 400, an unavailable network, token or currency a 422. */
export function readTerms(app: InTx, input: TermsInput): InvoiceTerms {
  const { enabled: networks } = app.networks;
  const tolerance = parsePercentField(
    "/underpaymentTolerance",
    input.underpaymentTolerance ?? "0",
    maxTolerancePercent,
  );
  const network = networks.get(input.network);
  if (network === undefined) {
    throw new NetworkNotEnabled(
      `Choose one of the enabled networks: ${[...networks.keys()].join(", ")}.`,
    );
  }
  const token = findToken(network, input.tokenSymbol);
  if (token === null) throw tokenNotEnabled(network);
  const settlement = findAsset(networks, network, input.settlementCurrency);
  if (settlement === null) throw unsupportedCurrency(app, token, input.settlementCurrency);
  const amount = parseMoneyField("/amount", input.amount, settlement);
  requireRoute(app, token, settlement.code);
  if (amount.units > largestAmount * powerOfTen(settlement.decimals)) {
    throw new AmountTooLarge(
      `The largest amount of an invoice is ${String(largestAmount)} ${settlement.code}. Split it into several invoices.`,
    );
  }
  return {
    network,
    token,
    tokenAsset: tokenAsset(token.symbol, token.decimals),
    amount,
    tolerance,
    underpaymentTolerance: formatPercent(tolerance),
    enteredAtLink: input.enteredAtLink ?? null,
  };
}

export function tokenNotEnabled(network: Network): InstanceType<typeof TokenNotEnabled> {
  const symbols = network.tokens.map(({ symbol }) => symbol).join(", ");
  return new TokenNotEnabled(`Choose a token that is enabled on ${network.title}: ${symbols}.`);
}

/** Creates the error for a token of the table whose contract does not report the configured decimals. */
export function tokenDisabled(network: Network, symbol: string): Problem {
  return new TokenNotEnabled(
    `${symbol} on ${network.title} is disabled for now, because its contract does not report the configured decimals. Choose another token, or ask the operator to look at the network's alarms.`,
  );
}

/** Finds an ISO 4217 currency, or an enabled token; a token of the invoice's own network comes first. */
function findAsset(networks: Networks, network: Network, code: string): Asset | null {
  const currency = findCurrency(code);
  if (currency !== null) return currency;
  for (const each of [network, ...networks.values()]) {
    const token = findToken(each, code);
    if (token !== null) return tokenAsset(token.symbol, token.decimals);
  }
  return null;
}

/** Rejects a currency that neither a peg nor a configured pair connects with the token: 422. */
function requireRoute(app: InTx, token: NetworkToken, code: string): void {
  const { enabled: networks } = app.networks;
  if (isPar(networks, token, code)) return;
  const leading = rateQuotesOf(app).leadingTo([token.symbol, ...token.pegs]);
  const isQuoted = [code, ...worths(networks, code)].some((each) => leading.includes(each));
  if (!isQuoted) throw unsupportedCurrency(app, token, code);
}

/** Creates the error, with the currencies in which an invoice in this token can settle. */
function unsupportedCurrency(app: InTx, token: NetworkToken, code: string) {
  const leading = rateQuotesOf(app).leadingTo([token.symbol, ...token.pegs]);
  const offered = [...new Set([...leading, ...token.pegs, token.symbol])].sort();
  return new UnsupportedCurrency(
    `No exchange rate leads from ${JSON.stringify(code.slice(0, shownCodeLengthMax))} to ${token.symbol}. Settle in one of: ${offered.join(", ")}.`,
  );
}

/**
 * Finds the rate from the settlement currency to the token: 1 if both are the same or pegged to each other by
 * configuration; otherwise the quote between them, or between the currencies to which they are pegged. An invoice is
 * never issued at an outdated rate: if no source has returned one lately, this throws a 503 with the time until the
 * next poll.
 */
export async function quoteTerms(
  reader: Reader,
  app: InTx,
  terms: InvoiceTerms,
  at: Instant,
): Promise<Rate> {
  const { enabled: networks } = app.networks;
  const { token, amount } = terms;
  const { code } = amount.asset;
  const asked = { from: code, to: token.symbol };
  if (isPar(networks, token, code)) return parRate({ ...asked, source: "configuration", at });
  const found = await rateQuotesOf(app).find(
    reader,
    [...new Set([code, ...worths(networks, code)])],
    [token.symbol, ...token.pegs],
    at,
  );
  if (found.ok) return { ...found.rate, ...asked };
  if (found.reason === "missing") {
    throw new Defect(`terms in ${code} were accepted, but no pair leads to ${token.symbol}`);
  }
  const settled = [...token.pegs, token.symbol].join(" or ");
  throw new RateUnavailable(
    `No source has returned an exchange rate from ${code} to ${token.symbol} lately. Try again shortly, or settle in ${settled}.`,
    { retryAfterSeconds: Math.ceil(found.retryAfterMs / second) },
  );
}

/** True if one unit of the currency counts as one token by configuration. */
function isPar(networks: Networks, token: NetworkToken, code: string): boolean {
  return code === token.symbol || worths(networks, code).some((each) => token.pegs.includes(each));
}

/** Returns the currencies of which one unit counts as one unit of this one. */
function worths(networks: Networks, code: string): readonly string[] {
  if (findCurrency(code) !== null) return [code];
  return [...networks.values()].flatMap((network) => findToken(network, code)?.pegs ?? []);
}
