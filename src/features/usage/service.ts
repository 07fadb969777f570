import type { Clock, Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import { money, zero, type Money } from "../../kernel/money/money.ts";

/** From `from`, inclusive, to `to`, exclusive. */
export interface Period {
  readonly from: Instant;
  readonly to: Instant;
}

/** The parts of an organization's plan that concern usage. */
export interface PlanInUse {
  readonly id: string;
  readonly period: Period;
  /** Null for an unlimited number. */
  readonly invoicesIncluded: number | null;
  /** Price of each further invoice in this period; zero if free. Its asset is the plan's currency. */
  readonly overagePrice: Money;
}

export interface Usage {
  readonly organizationId: Id<"organization">;
  /** Null without a subscription. */
  readonly plan: PlanInUse | null;
  readonly period: Period;
  /** Amount due for invoices beyond those included. */
  readonly overage: Money;
  readonly invoicesCreated: number;
  /** The number of invoices that count against the plan. */
  readonly invoicesCounted: number;
  readonly paymentsConfirmed: number;
  /** Volume in the currency of its asset. */
  readonly processedVolume: Money;
}

/** Counts the usage of a period from the figures. Implemented by analytics. */
export type UsageCounter = (
  organizationId: Id<"organization">,
  period: Period,
  currency: string,
) => Promise<
  Pick<Usage, "invoicesCreated" | "invoicesCounted" | "paymentsConfirmed" | "processedVolume">
>;

export interface UsageService {
  /**
   * Returns an organization's usage in the current period: its subscription's or, without one, the calendar month in
   * UTC.
   */
  get(organizationId: Id<"organization">): Promise<Usage>;
}

/** Currency of the volume unless a plan names another. */
export const defaultCurrency = "USD";

export function makeUsageService(deps: {
  readonly clock: Clock;
  readonly count: UsageCounter;
  /** Returns an organization's plan. Set by compose, because billing depends on usage. */
  readonly planOf: (organizationId: Id<"organization">) => Promise<PlanInUse | null>;
}): UsageService {
  const { clock, count, planOf } = deps;
  return {
    async get(organizationId) {
      const plan = await planOf(organizationId);
      const period = plan?.period ?? monthAt(clock.now());
      const currency = plan?.overagePrice.asset.code ?? defaultCurrency;
      const counted = await count(organizationId, period, currency);
      const { asset } = counted.processedVolume;
      const overage = plan === null ? zero(asset) : overageOf(plan, counted.invoicesCounted);
      return { organizationId, plan, period, overage, ...counted };
    },
  };
}

function overageOf({ invoicesIncluded, overagePrice }: PlanInUse, counted: number): Money {
  if (invoicesIncluded === null) return zero(overagePrice.asset);
  const beyond = BigInt(Math.max(0, counted - invoicesIncluded));
  return money(beyond * overagePrice.units, overagePrice.asset);
}

/** Returns the calendar month of a moment, in UTC. */
export function monthAt(at: Instant): Period {
  const date = new Date(at);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { from: Date.UTC(year, month), to: Date.UTC(year, month + 1) };
}
