import { toIso, toIsoOrNull } from "../../kernel/clock.ts";
import { formatRate } from "../../kernel/money/rate.ts";
import { sourceSeparator, type Reading } from "./rules.ts";
import type { RateView } from "./service.ts";

const reading = (one: Reading | null) =>
  one === null
    ? null
    : {
        rate: formatRate(one.rate),
        source: one.sources.length === 0 ? "fixed" : one.sources.join(sourceSeparator),
        /** Number of sources that agreed. */
        sources: one.sources.length,
        at: toIso(one.at),
      };

/** Presents a pair's rate for the operator. */
export function presentRate(view: RateView) {
  const { pair, status, accepted, pending, checkedAt, nextAt, problem } = view;
  return {
    pair: pair.name,
    status,
    quote: reading(accepted),
    pending: reading(pending),
    /** Number of sources queried; `quote.sources` of them agreed. */
    sources: pair.sources.length,
    checkedAt: toIsoOrNull(checkedAt),
    nextAt: toIsoOrNull(nextAt),
    problem,
  };
}

export function presentRates(views: readonly RateView[]) {
  return { data: views.map(presentRate), nextCursor: null };
}
