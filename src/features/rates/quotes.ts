import { perApp } from "../../app.ts";
import { second, type Clock, type Instant } from "../../kernel/clock.ts";
import { invertRate, type Rate } from "../../kernel/money/ratio.ts";
import type { Reader } from "../../platform/database/database.ts";
import type { RatePair, RatesPlan } from "../../platform/rates/plan.ts";
import { isFresh, pollIntervalMs, sourceSeparator, unknownPair, type PairState } from "./rules.ts";
import { readBook, type Book } from "./store.ts";

/** `missing`: no pair connects the currencies. `stale`: a pair does, but its sources gave no recent rate. */
type Quote =
  | { readonly ok: true; readonly rate: Rate }
  | { readonly ok: false; readonly reason: "missing" }
  | { readonly ok: false; readonly reason: "stale"; readonly retryAfterMs: number };

interface Quotes {
  /**
   * Finds the rate between any of `from` and any of `to`, each in order of preference, using one pair in either
   * direction. The rate is between the codes found; the caller's configuration treats them as equal to the requested
   * ones.
   */
  find(reader: Reader, from: readonly string[], to: readonly string[], at: Instant): Promise<Quote>;
  /**
   * Returns the codes that a configured pair connects to one of `to`, in either direction, with or without a current
   * quote.
   */
  leadingTo(to: readonly string[]): readonly string[];
}

/** Creates a quote reader that caches the stored rates for `ageMaxMs`. Issuing an invoice never queries a source. */
export function createQuotes(deps: {
  readonly plan: RatesPlan;
  readonly clock: Clock;
  readonly ageMaxMs: number;
}): Quotes {
  const { plan, clock, ageMaxMs } = deps;
  let recent: { readonly book: Book; readonly readAt: Instant } | null = null;

  async function recentBook(reader: Reader): Promise<Book> {
    const now = clock.now();
    if (recent !== null && now - recent.readAt < ageMaxMs) return recent.book;
    recent = { book: await readBook(reader), readAt: now };
    return recent.book;
  }

  async function quoteOf(reader: Reader, pair: RatePair, at: Instant): Promise<Quote> {
    const { from, to, fixed } = pair;
    if (fixed !== null) return { ok: true, rate: { ...fixed, from, to, source: "fixed", at } };
    const state = (await recentBook(reader)).get(pair.name) ?? unknownPair;
    const { accepted } = state;
    if (accepted === null || !isFresh(accepted, plan.maxAgeMs, at)) {
      return { ok: false, reason: "stale", retryAfterMs: retryAfter(state, at) };
    }
    const source = accepted.sources.join(sourceSeparator);
    return { ok: true, rate: { ...accepted.rate, from, to, source, at: accepted.at } };
  }

  return {
    async find(reader, from, to, at) {
      const found = findPair(plan, from, to);
      if (found === null) return { ok: false, reason: "missing" };
      const quote = await quoteOf(reader, found.pair, at);
      return quote.ok && found.isInverted ? { ok: true, rate: invertRate(quote.rate) } : quote;
    },
    leadingTo: (to) =>
      plan.pairs.flatMap((pair) => [
        ...(to.includes(pair.to) ? [pair.from] : []),
        ...(to.includes(pair.from) ? [pair.to] : []),
      ]),
  };
}

/** The rates between settlement currencies and tokens that are not pegged to them, at most a second old. */
export const rateQuotesOf = perApp(({ config, clock }) =>
  createQuotes({ plan: config.rates, clock, ageMaxMs: second }),
);

/** Returns the time until the next query of the pair's sources, plus time for their responses. */
function retryAfter({ nextAt }: PairState, at: Instant): number {
  return Math.max(nextAt === null ? 0 : nextAt - at, 0) + pollIntervalMs;
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
