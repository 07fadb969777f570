import { z } from "zod";
import { limitParameter } from "../../api/list.ts";
import { instant } from "../../api/record.ts";
import { findCurrency, tokenAsset, type Asset } from "../../kernel/asset.ts";
import { day, type Instant } from "../../kernel/clock.ts";
import { invalidFields, type FieldError } from "../../kernel/errors.ts";
import { findToken, type Network } from "../../platform/chain/networks.ts";
import { defaultCurrency, type Period } from "../usage/index.ts";
import { intervals } from "./buckets.ts";

/** What every reading of figures may be asked. */
export const figuresQuery = {
  from: instant().optional(),
  to: instant().optional(),
  currency: z.string().optional(),
};
export const chartsQuery = { ...figuresQuery, interval: z.enum(intervals).optional() };
export const topQuery = { ...figuresQuery, limit: limitParameter };

export const SummaryQuery = z.strictObject(figuresQuery);
export const ChartsQuery = z.strictObject(chartsQuery);
export const TopQuery = z.strictObject(topQuery);

export interface FiguresQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly currency?: string | undefined;
}

export interface Question {
  readonly period: Period;
  readonly currency: Asset;
}

const defaultLength = 30 * day;

/**
 * Reads which period and currency are asked for: by default the 30 days until now, or until `to`, and USD. A period
 * that ends before it begins, and a currency that nothing is settled in, are a 400.
 */
export function readQuestion(
  query: FiguresQuery,
  networks: ReadonlyMap<string, Network>,
  now: Instant,
): Question {
  // The end is not part of a period, and what happens right now is.
  const to = query.to === undefined ? now + 1 : Date.parse(query.to);
  const from = query.from === undefined ? to - defaultLength : Date.parse(query.from);
  const currency = findSettlementCurrency(networks, query.currency ?? defaultCurrency);
  const errors: FieldError[] = [];
  if (from >= to) {
    const parameter = query.from === undefined ? "to" : "from";
    errors.push({ parameter, code: "empty_period", message: "from must be before to" });
  }
  if (currency === null) {
    const message =
      "must be a currency of ISO 4217 such as USD, in capital letters, or the symbol of a token";
    errors.push({ parameter: "currency", code: "unknown_currency", message });
  }
  if (currency === null || errors.length > 0) throw invalidFields(errors);
  return { period: { from, to }, currency };
}

/** A token is counted as by the network that counts it finest. */
function findSettlementCurrency(
  networks: ReadonlyMap<string, Network>,
  code: string,
): Asset | null {
  const currency = findCurrency(code);
  if (currency !== null) return currency;
  const decimals = [...networks.values()].flatMap(
    (network) => findToken(network, code)?.decimals ?? [],
  );
  if (decimals.length === 0) return null;
  return tokenAsset(code, Math.max(...decimals));
}
