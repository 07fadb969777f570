import { findCurrency, tokenAsset, type Asset } from "../../kernel/asset.ts";
import { second, type Instant } from "../../kernel/clock.ts";
import { parseMoneyField, type Money } from "../../kernel/money.ts";
import { formatPercent, maxTolerancePercent, parsePercentField } from "../../kernel/percent.ts";
import { parRate, type Rate } from "../../kernel/rate.ts";
import { powerOfTen, type Ratio } from "../../kernel/ratio.ts";
import { findToken, type Network, type NetworkToken } from "../../platform/chain/networks.ts";
import type { Reader } from "../../platform/database/index.ts";
import type { FindQuote } from "../rates/index.ts";
import { NetworkNotEnabled } from "../wallets/index.ts";
import { AmountTooLarge, RateUnavailable, TokenNotEnabled, UnsupportedCurrency } from "./errors.ts";

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

/** Reads a request's terms: what is malformed is a 400, what is not offered here a 422. */
export function readTerms(networks: Networks, input: TermsInput): InvoiceTerms {
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
  const settlement = findSettlementAsset(networks, network, input.settlementCurrency);
  const amount = parseMoneyField("/amount", input.amount, settlement);
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

/** A currency of ISO 4217, or an enabled token: counted as on the invoice's own network where it is there. */
function findSettlementAsset(networks: Networks, network: Network, code: string): Asset {
  const currency = findCurrency(code);
  if (currency !== null) return currency;
  for (const each of [network, ...networks.values()]) {
    const token = findToken(each, code);
    if (token !== null) return tokenAsset(token.symbol, token.decimals);
  }
  throw new UnsupportedCurrency(
    "Settle in a currency of ISO 4217 such as USD, in capital letters, or in an enabled token.",
  );
}

/**
 * The rate from the settlement currency to the token: one, where they are the same or worth the same by configuration;
 * else what is quoted now between them, or between what they are worth. An invoice is never issued at a rate that
 * nobody gave, or gave too long ago: 503.
 */
export async function quote(
  reader: Reader,
  { networks, findQuote }: { readonly networks: Networks; readonly findQuote: FindQuote },
  terms: InvoiceTerms,
  at: Instant,
): Promise<Rate> {
  const { token, amount } = terms;
  const { code } = amount.asset;
  const asked = { from: code, to: token.symbol };
  const worth = worths(networks, code);
  if (code === token.symbol || worth.some((each) => token.pegs.includes(each))) {
    return parRate({ ...asked, source: "configuration", at });
  }
  const found = await findQuote(
    reader,
    [...new Set([code, ...worth])],
    [token.symbol, ...token.pegs],
    at,
  );
  if (found.ok) return { ...found.rate, ...asked };
  const settled = [...token.pegs, token.symbol].join(" or ");
  const detail =
    found.reason === "missing"
      ? `There is no exchange rate from ${code} to ${token.symbol}. Settle in ${settled}.`
      : `The exchange rate from ${code} to ${token.symbol} is not known at the moment. Try again shortly, or settle in ${settled}.`;
  throw new RateUnavailable(detail, { retryAfterSeconds: Math.ceil(found.retryAfterMs / second) });
}

/** The currencies of which one counts as one of this. */
function worths(networks: Networks, code: string): readonly string[] {
  if (findCurrency(code) !== null) return [code];
  return [...networks.values()].flatMap((network) => findToken(network, code)?.pegs ?? []);
}
