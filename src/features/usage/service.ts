import type { Clock, Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import type { Money } from "../../kernel/money.ts";

/** From `from` on, before `to`. */
export interface Period {
  readonly from: Instant;
  readonly to: Instant;
}

export interface Usage {
  readonly organizationId: Id<"organization">;
  readonly period: Period;
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
  /** What an organization has used in the current period: the calendar month, in UTC. */
  get(organizationId: Id<"organization">): Promise<Usage>;
}

/** The currency that volume is told in where nothing names another. */
export const defaultCurrency = "USD";

export function makeUsageService(deps: {
  readonly clock: Clock;
  readonly count: UsageCounter;
}): UsageService {
  const { clock, count } = deps;
  return {
    async get(organizationId) {
      const period = monthAt(clock.now());
      const counted = await count(organizationId, period, defaultCurrency);
      return { organizationId, period, ...counted };
    },
  };
}

/** The calendar month of a moment, in UTC. */
export function monthAt(at: Instant): Period {
  const date = new Date(at);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { from: Date.UTC(year, month), to: Date.UTC(year, month + 1) };
}
