import { minute, second, type Instant } from "../../kernel/clock.ts";
import {
  compareRatios,
  formatRate,
  magnitude,
  ratio,
  type Ratio,
} from "../../kernel/money/ratio.ts";
import type { RatePair, RatesPlan } from "../../platform/rates/plan.ts";
import type { SourceReply } from "../../platform/rates/source.ts";

/** A rate that the sources agreed on at a given time. */
export interface QuotedRate {
  readonly rate: Ratio;
  /** Names of the sources that agreed; empty for a fixed rate from the settings. */
  readonly sources: readonly string[];
  readonly at: Instant;
}

/** State of a pair. */
export interface PairState {
  /** The rate for invoices, unless it is stale. */
  readonly accepted: QuotedRate | null;
  /** A reading too far from the accepted one, pending confirmation. */
  readonly pending: QuotedRate | null;
  readonly checkedAt: Instant | null;
  /** Time of the next query of its sources; null if unknown. */
  readonly nextAt: Instant | null;
  /** Why the last check gave no quote or lacked some sources; null if all is well. */
  readonly problem: string | null;
}

export const unknownPair: PairState = {
  accepted: null,
  pending: null,
  checkedAt: null,
  nextAt: null,
  problem: null,
};

/** An earlier second reading is probably the same cached response and confirms nothing. */
const confirmAfterMs = 10 * second;
/** How often the worker checks whether a source is due, in milliseconds. */
export const pollIntervalMs = 10 * second;
/** Tolerated clock difference between processes; quotes further in the future are ignored. */
const aheadMax = minute;

/** Whether `one` differs from `base` by more than the fraction `most` of `base`. */
export function differs(one: Ratio, base: Ratio, most: Ratio): boolean {
  const change = magnitude(one.numerator * base.denominator - base.numerator * one.denominator);
  return change * most.denominator > most.numerator * base.numerator * one.denominator;
}

/** Returns the exact median: the middle value, or the mean of the middle two. Requires at least one value. */
export function median(rates: readonly Ratio[]): Ratio {
  const sorted = [...rates].sort(compareRatios);
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  const upper = sorted[Math.floor(sorted.length / 2)];
  if (lower === undefined || upper === undefined) throw new RangeError("a median of nothing");
  return ratio(
    lower.numerator * upper.denominator + upper.numerator * lower.denominator,
    2n * lower.denominator * upper.denominator,
  );
}

/**
 * Combines the sources' responses: the median of the rates, if at least half of all sources responded and most of the
 * rates are near the median. `problem` names every source that failed or deviates.
 */
export function combine(
  replies: readonly SourceReply[],
  pair: Pick<RatePair, "maxSpread">,
  at: Instant,
): { readonly quote: QuotedRate | null; readonly problem: string | null } {
  const given = replies.flatMap((reply) => ("rate" in reply ? [reply] : []));
  const faults = replies.flatMap((reply) =>
    "fault" in reply ? [`${reply.source}: ${reply.fault}`] : [],
  );
  if (given.length === 0 || given.length * 2 < replies.length) {
    return { quote: null, problem: [...faults, "too few sources responded"].join("; ") };
  }
  const middle = median(given.map(({ rate }) => rate));
  const far = given.filter(({ rate }) => differs(rate, middle, pair.maxSpread));
  const notes = far.map(
    ({ source, rate }) => `${source}: ${formatRate(rate)} is far from the others`,
  );
  const problem = [...faults, ...notes].join("; ");
  if ((given.length - far.length) * 2 <= given.length) {
    return { quote: null, problem: `${problem}; the sources disagree` };
  }
  const near = given.filter((one) => !far.includes(one));
  const quote = {
    rate: median(near.map(({ rate }) => rate)),
    sources: near.map(({ source }) => source),
    at,
  };
  return { quote, problem: problem === "" ? null : problem };
}

/**
 * Returns a pair's state after a check. A reading far from the accepted rate stays pending, and the accepted one stays
 * in force until it is stale: a source's glitch has no effect, and a real change is confirmed by the next check.
 */
export function afterCheck(
  before: PairState,
  { quote, problem }: ReturnType<typeof combine>,
  plan: Pick<RatesPlan, "maxJump" | "jumpWindowMs">,
  at: Instant,
  nextAt: Instant | null = null,
): PairState {
  const checked = { ...before, checkedAt: at, nextAt, problem };
  if (quote === null) return checked;
  const { accepted, pending } = before;
  const isComparable = accepted !== null && at - accepted.at <= plan.jumpWindowMs;
  const isJump = isComparable && differs(quote.rate, accepted.rate, plan.maxJump);
  if (!isJump) return { ...checked, accepted: quote, pending: null };
  const agrees = pending !== null && !differs(quote.rate, pending.rate, plan.maxJump);
  if (agrees && at - pending.at >= confirmAfterMs) {
    return { ...checked, accepted: quote, pending: null };
  }
  const jump = `a jump from ${formatRate(accepted.rate)} to ${formatRate(quote.rate)} is pending confirmation`;
  return {
    ...checked,
    pending: agrees ? pending : quote,
    problem: problem === null ? jump : `${problem}; ${jump}`,
  };
}

/** Whether a quote may be used at a given time. */
export function isFresh(quote: QuotedRate, maxAgeMs: number, at: Instant): boolean {
  return at - quote.at <= maxAgeMs && quote.at - at <= aheadMax;
}

/** Never part of a source's name. */
export const sourceSeparator = ", ";

/** A rate in the store, with the exact ratio. */
export interface StoredRate {
  readonly numerator: string;
  readonly denominator: string;
  /** Names of the sources that agreed, joined by `sourceSeparator`. */
  readonly source: string;
  readonly at: Instant;
}

export function storedRate({ rate, sources, at }: QuotedRate): StoredRate {
  const source = sources.join(sourceSeparator);
  return { numerator: String(rate.numerator), denominator: String(rate.denominator), source, at };
}

export function quotedRateOf({ numerator, denominator, source, at }: StoredRate): QuotedRate {
  const rate = ratio(BigInt(numerator), BigInt(denominator));
  return { rate, sources: source.split(sourceSeparator), at };
}
