import type { RatesPlan } from "./plan.ts";

/** Removes the pairs that have sources, for installations that fetch no rates. */
export function withoutSources(plan: RatesPlan): RatesPlan {
  return { ...plan, pairs: plan.pairs.filter(({ fixed }) => fixed !== null) };
}
