import type { Clock, Instant } from "../../kernel/clock.ts";
import { invertRate, type Rate } from "../../kernel/rate.ts";
import type { Reader } from "../../platform/database/index.ts";
import type { RatePair, RatesPlan } from "../../platform/rates/plan.ts";
import { isFresh } from "./rules.ts";
import { readBook, type Book } from "./store.ts";

/** `missing`: no pair leads from the one to the other. `stale`: one does, and nobody gave its rate lately. */
export type Quote =
  | { readonly ok: true; readonly rate: Rate }
  | { readonly ok: false; readonly reason: "missing" | "stale"; readonly retryAfterMs: number };

/**
 * The rate between any of `from` and any of `to`, each in order of preference, by one pair in either direction. It
 * leads from what was found to what was found: equals of what was asked for by configuration.
 */
export type FindQuote = (
  reader: Reader,
  from: readonly string[],
  to: readonly string[],
  at: Instant,
) => Promise<Quote>;

/** Remembers the book for `ageMaxMs`: a request that issues reads it at most so often, and asks nobody else. */
export function createQuotes(deps: {
  readonly plan: RatesPlan;
  readonly clock: Clock;
  readonly ageMaxMs: number;
}): FindQuote {
  const { plan, clock, ageMaxMs } = deps;
  let recent: { readonly book: Book; readonly readAt: Instant } | null = null;

  async function recentBook(reader: Reader): Promise<Book> {
    const now = clock.now();
    if (recent !== null && now - recent.readAt < ageMaxMs) return recent.book;
    recent = { book: await readBook(reader), readAt: now };
    return recent.book;
  }

  async function rateOf(reader: Reader, pair: RatePair, at: Instant): Promise<Rate | null> {
    const { from, to, fixed } = pair;
    if (fixed !== null) return { ...fixed, from, to, source: "fixed", at };
    const accepted = (await recentBook(reader)).get(pair.name)?.accepted ?? null;
    if (accepted === null || !isFresh(accepted, plan.maxAgeMs, at)) return null;
    return { ...accepted.rate, from, to, source: accepted.source, at: accepted.at };
  }

  return async (reader, from, to, at) => {
    const found = findPair(plan, from, to);
    const retryAfterMs = plan.refreshMs;
    if (found === null) return { ok: false, reason: "missing", retryAfterMs };
    const rate = await rateOf(reader, found.pair, at);
    if (rate === null) return { ok: false, reason: "stale", retryAfterMs };
    return { ok: true, rate: found.isInverted ? invertRate(rate) : rate };
  };
}

function findPair(
  { pairs }: RatesPlan,
  from: readonly string[],
  to: readonly string[],
): { readonly pair: RatePair; readonly isInverted: boolean } | null {
  for (const one of from) {
    for (const other of to) {
      for (const pair of pairs) {
        if (pair.from === one && pair.to === other) return { pair, isInverted: false };
        if (pair.from === other && pair.to === one) return { pair, isInverted: true };
      }
    }
  }
  return null;
}
