import * as z from "zod";
import { limitParameter } from "../../api/declare/list.ts";
import { instant } from "../../api/declare/record.ts";
import { findCurrency, tokenAsset, type Asset } from "../../kernel/money/asset.ts";
import { day, type Instant } from "../../kernel/clock.ts";
import { invalidFields, type FieldError } from "../../kernel/errors.ts";
import { findToken, type Network } from "../../platform/chain/networks.ts";
import { intervals, type Period } from "./periods.ts";

/** Currency of the volume unless a plan or a query names another. */
export const defaultCurrency = "USD";

/** Query parameters common to all statistics. */
export const figuresQuery = {
  from: instant().optional().meta({
    description: "Start of the period, inclusive. Default: 30 days before `to`.",
  }),
  to: instant().optional().meta({ description: "End of the period, exclusive. Default: now." }),
  currency: z.string().optional().meta({
    description:
      "The settlement currency: an ISO 4217 code, or a token's symbol. Invoices in other currencies are left out. Default: `USD`.",
  }),
};
export const chartsQuery = {
  ...figuresQuery,
  interval: z
    .enum(intervals)
    .optional()
    .meta({ description: "The length of one point of the series. Default: `day`." }),
};
export const topQuery = { ...figuresQuery, limit: limitParameter };

export const SummaryQuery = z.strictObject(figuresQuery);
export const ChartsQuery = z.strictObject(chartsQuery);
export const TopQuery = z.strictObject(topQuery);

export type FiguresQuery = z.output<typeof SummaryQuery>;
export type ChartsInput = z.output<typeof ChartsQuery>;
export type TopInput = z.output<typeof TopQuery>;

export interface AnalyticsQuery {
  readonly period: Period;
  readonly currency: Asset;
}

const defaultLength = 30 * day;

/**
 * Reads the requested period and currency. Defaults: the 30 days until `to` or now, and USD. An empty period or an
 * unknown currency is a 400.
 */
export function readAnalyticsQuery(
  query: FiguresQuery,
  networks: ReadonlyMap<string, Network>,
  now: Instant,
): AnalyticsQuery {
  // The end is exclusive, so now + 1 includes the current millisecond.
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
      "must be an ISO 4217 currency code such as USD, in capital letters, or a token symbol";
    errors.push({ parameter: "currency", code: "unknown_currency", message });
  }
  if (currency === null || errors.length > 0) throw invalidFields(errors);
  return { period: { from, to }, currency };
}

/** Finds a settlement currency. A token has the most decimals that any network gives it. */
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
