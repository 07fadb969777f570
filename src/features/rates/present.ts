import { toIso } from "../../kernel/clock.ts";
import { formatRate } from "../../kernel/rate.ts";
import type { Reading } from "./rules.ts";
import type { RateView } from "./service.ts";

const reading = (one: Reading | null) =>
  one === null ? null : { rate: formatRate(one.rate), source: one.source, at: toIso(one.at) };

/** A pair's rate as operators are shown it. */
export function presentRate({ pair, status, accepted, pending, checkedAt, problem }: RateView) {
  return {
    pair: pair.name,
    status,
    quote: reading(accepted),
    pending: reading(pending),
    checkedAt: checkedAt === null ? null : toIso(checkedAt),
    problem,
  };
}

export function presentRates(views: readonly RateView[]) {
  return { data: views.map(presentRate), nextCursor: null };
}
