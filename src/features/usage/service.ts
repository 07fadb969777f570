import type { Clock, Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import { money, zero, type Money } from "../../kernel/money.ts";

/** From `from` on, before `to`. */
export interface Period {
  readonly from: Instant;
  readonly to: Instant;
}

/** The plan that an organization has, as far as its usage goes. */
export interface PlanInUse {
  readonly id: string;
  readonly period: Period;
  /** Null: any number. */
  readonly invoicesIncluded: number | null;
  /** What each further one costs in this period; zero where nothing is charged for it. Its asset is the plan's currency. */
  readonly overagePrice: Money;
}

export interface Usage {
  readonly organizationId: Id<"organization">;
  /** Null without a subscription. */
  readonly plan: PlanInUse | null;
  readonly period: Period;
  /** What is to be paid for the invoices beyond those included. */
  readonly overage: Money;
  readonly invoicesCreated: number;
  readonly paymentsConfirmed: number;
  /** Its asset's code is the currency. */
  readonly processedVolume: Money;
}

/** How much was done in a period. It is read from the figures; analytics, which reads them, fills this. */
export type UsageCounter = (
  organizationId: Id<"organization">,
  period: Period,
  currency: string,
) => Promise<Pick<Usage, "invoicesCreated" | "paymentsConfirmed" | "processedVolume">>;

export interface UsageService {
  /** What an organization has used in the current period: its subscription's, or else the calendar month in UTC. */
  get(organizationId: Id<"organization">): Promise<Usage>;
}

/** The currency that volume is told in where nothing names another. */
export const defaultCurrency = "USD";

export function makeUsageService(deps: {
  readonly clock: Clock;
  readonly count: UsageCounter;
  /** The plan of an organization that has one. Filled by compose, since billing stands behind usage. */
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
      const overage = plan === null ? zero(asset) : overageOf(plan, counted.invoicesCreated);
      return { organizationId, plan, period, overage, ...counted };
    },
  };
}

function overageOf({ invoicesIncluded, overagePrice }: PlanInUse, created: number): Money {
  if (invoicesIncluded === null) return zero(overagePrice.asset);
  const beyond = BigInt(Math.max(0, created - invoicesIncluded));
  return money(beyond * overagePrice.units, overagePrice.asset);
}

/** The calendar month of a moment, in UTC. */
export function monthAt(at: Instant): Period {
  const date = new Date(at);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { from: Date.UTC(year, month), to: Date.UTC(year, month + 1) };
}
