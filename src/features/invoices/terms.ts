import { findCurrency, tokenAsset, type Asset } from "../../kernel/asset.ts";
import { second, type Instant } from "../../kernel/clock.ts";
import { Defect } from "../../kernel/errors.ts";
import { parseMoneyField, type Money } from "../../kernel/money.ts";
import { formatPercent, maxTolerancePercent, parsePercentField } from "../../kernel/percent.ts";
import { parRate, type Rate } from "../../kernel/rate.ts";
import { powerOfTen, type Ratio } from "../../kernel/ratio.ts";
import { findToken, type Network, type NetworkToken } from "../../platform/chain/networks.ts";
import type { Reader } from "../../platform/database/index.ts";
import type { Quotes } from "../rates/index.ts";
import { NetworkNotEnabled } from "../wallets/index.ts";
import { AmountTooLarge, RateUnavailable, TokenNotEnabled, UnsupportedCurrency } from "./errors.ts";

/** How much of an unknown currency a problem repeats. */
const shownCodeLengthMax = 20;
/** The largest amount of an invoice, in whole units of the settlement currency. */
const largestAmount = 10n ** 12n;

export type Networks = ReadonlyMap<string, Network>;

/** What an invoice is asked to say about money, as it stands in a request. */
export interface TermsInput {
  readonly amount: string;
  readonly settlementCurrency: string;
  readonly tokenSymbol: string;
  readonly network: string;
  /** In percent; none when absent. */
  readonly underpaymentTolerance?: string | undefined;
}

/** The same, understood. */
export interface InvoiceTerms {
  readonly network: Network;
  readonly token: NetworkToken;
  readonly tokenAsset: Asset;
  /** In the settlement currency. */
  readonly amount: Money;
  readonly tolerance: Ratio;
  /** In percent, in its shortest text. */
  readonly underpaymentTolerance: string;
}

/** What terms are read and quoted by. */
export interface TermsDependencies {
  readonly networks: Networks;
  /** Rates between settlement currencies and tokens that are not pegged to them. */
  readonly quotes: Quotes;
}

/** Reads a request's terms: what is malformed is a 400, what is not offered here a 422. */
export function readTerms(deps: TermsDependencies, input: TermsInput): InvoiceTerms {
  const { networks } = deps;
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
  if (settlement === null) throw unsupportedCurrency(deps, token, input.settlementCurrency);
  const amount = parseMoneyField("/amount", input.amount, settlement);
  requireRoute(deps, token, settlement.code);
  if (amount.units > largestAmount * powerOfTen(settlement.decimals)) {
    throw new AmountTooLarge(
      `An invoice asks for at most ${String(largestAmount)} ${settlement.code}. Split it.`,
    );
  }
  return {
    network,
    token,
    tokenAsset: tokenAsset(token.symbol, token.decimals),
    amount,
    tolerance,
    underpaymentTolerance: formatPercent(tolerance),
  };
}

export function tokenNotEnabled(network: Network): InstanceType<typeof TokenNotEnabled> {
  const symbols = network.tokens.map(({ symbol }) => symbol).join(", ");
  return new TokenNotEnabled(`Choose a token that ${network.title} is enabled for: ${symbols}.`);
}

/** Finds a currency of ISO 4217, or an enabled token: as on the invoice's own network, where it is there. */
function findAsset(networks: Networks, network: Network, code: string): Asset | null {
  const currency = findCurrency(code);
  if (currency !== null) return currency;
  for (const each of [network, ...networks.values()]) {
    const token = findToken(each, code);
    if (token !== null) return tokenAsset(token.symbol, token.decimals);
  }
  return null;
}

/** Refuses a currency that no peg and no configured pair connects with the token: 422. */
function requireRoute(deps: TermsDependencies, token: NetworkToken, code: string): void {
  const { networks, quotes } = deps;
  if (isPar(networks, token, code)) return;
  const leading = quotes.leadingTo([token.symbol, ...token.pegs]);
  const isQuoted = [code, ...worths(networks, code)].some((each) => leading.includes(each));
  if (!isQuoted) throw unsupportedCurrency(deps, token, code);
}

/** Names the currencies that an invoice in the token can settle in. */
function unsupportedCurrency({ quotes }: TermsDependencies, token: NetworkToken, code: string) {
  const leading = quotes.leadingTo([token.symbol, ...token.pegs]);
  const offered = [...new Set([...leading, ...token.pegs, token.symbol])].sort();
  return new UnsupportedCurrency(
    `No exchange rate leads from ${JSON.stringify(code.slice(0, shownCodeLengthMax))} to ${token.symbol}. Settle in one of: ${offered.join(", ")}.`,
  );
}

/**
 * Finds the rate from the settlement currency to the token: one, where they are the same or worth the same by
 * configuration; else the quote between them, or between what they are worth. An invoice is never issued at a rate that
 * no source gave lately: 503 with the time until the sources are asked again.
 */
export async function quote(
  reader: Reader,
  { networks, quotes }: TermsDependencies,
  terms: InvoiceTerms,
  at: Instant,
): Promise<Rate> {
  const { token, amount } = terms;
  const { code } = amount.asset;
  const asked = { from: code, to: token.symbol };
  if (isPar(networks, token, code)) return parRate({ ...asked, source: "configuration", at });
  const found = await quotes.find(
    reader,
    [...new Set([code, ...worths(networks, code)])],
    [token.symbol, ...token.pegs],
    at,
  );
  if (found.ok) return { ...found.rate, ...asked };
  if (found.reason === "missing") {
    throw new Defect(`terms in ${code} were read, and no pair leads to ${token.symbol}`);
  }
  const settled = [...token.pegs, token.symbol].join(" or ");
  throw new RateUnavailable(
    `The sources of the exchange rate from ${code} to ${token.symbol} gave none lately. Try again shortly, or settle in ${settled}.`,
    { retryAfterSeconds: Math.ceil(found.retryAfterMs / second) },
  );
}

/** Whether one of the currency is one of the token, by configuration. */
function isPar(networks: Networks, token: NetworkToken, code: string): boolean {
  return code === token.symbol || worths(networks, code).some((each) => token.pegs.includes(each));
}

/** The currencies of which one counts as one of this. */
function worths(networks: Networks, code: string): readonly string[] {
  if (findCurrency(code) !== null) return [code];
  return [...networks.values()].flatMap((network) => findToken(network, code)?.pegs ?? []);
}
