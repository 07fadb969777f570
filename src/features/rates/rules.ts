import { minute, second, type Instant } from "../../kernel/clock.ts";
import { compareRatios, magnitude, ratio, type Ratio } from "../../kernel/ratio.ts";
import { formatRate } from "../../kernel/rate.ts";
import type { RatePair, RatesPlan } from "../../platform/rates/plan.ts";
import type { SourceAnswer } from "../../platform/rates/source.ts";

/** A rate that sources agreed on at a moment. */
export interface Reading {
  readonly rate: Ratio;
  /** The names of the sources that agreed; none where the operator wrote the rate down. */
  readonly sources: readonly string[];
  readonly at: Instant;
}

/** What is known of a pair. */
export interface PairState {
  /** What invoices are issued at, while it is not stale. */
  readonly accepted: Reading | null;
  /** A reading too far from the accepted one, which waits to be confirmed. */
  readonly pending: Reading | null;
  readonly checkedAt: Instant | null;
  /** When its sources are asked next; null: not known. */
  readonly nextAt: Instant | null;
  /** Why the last check brought no quote, or only a part of its sources; null: all is well. */
  readonly problem: string | null;
}

export const unknownPair: PairState = {
  accepted: null,
  pending: null,
  checkedAt: null,
  nextAt: null,
  problem: null,
};

/** A second reading sooner than this is likely the same answer from a cache, and confirms nothing. */
export const confirmAfterMs = 10 * second;
/** How often the worker looks whether a source is due, in milliseconds. */
export const lookEveryMs = 10 * second;
/** Clocks of processes may differ by so much: a quote from further ahead is none. */
const aheadMax = minute;

/** Whether `one` differs from `base` by more than a fraction of `base`. */
export function differs(one: Ratio, base: Ratio, most: Ratio): boolean {
  const change = magnitude(one.numerator * base.denominator - base.numerator * one.denominator);
  return change * most.denominator > most.numerator * base.numerator * one.denominator;
}

/** The middle of them, or the mean of the middle two, exactly. There is at least one. */
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
 * What the sources say together: the median of those that answered, where at least half of all did and most of them
 * are near it. `problem` tells of every source that failed or stands apart.
 */
export function combine(
  answers: readonly SourceAnswer[],
  pair: Pick<RatePair, "maxSpread">,
  at: Instant,
): { readonly reading: Reading | null; readonly problem: string | null } {
  const given = answers.flatMap((answer) => ("rate" in answer ? [answer] : []));
  const faults = answers.flatMap((answer) =>
    "fault" in answer ? [`${answer.source}: ${answer.fault}`] : [],
  );
  if (given.length === 0 || given.length * 2 < answers.length) {
    return { reading: null, problem: [...faults, "too few sources answered"].join("; ") };
  }
  const middle = median(given.map(({ rate }) => rate));
  const far = given.filter(({ rate }) => differs(rate, middle, pair.maxSpread));
  const notes = far.map(
    ({ source, rate }) => `${source}: ${formatRate(rate)} is far from the others`,
  );
  const problem = [...faults, ...notes].join("; ");
  if (far.length > 0 && (given.length - far.length) * 2 <= given.length) {
    return { reading: null, problem: `${problem}; the sources disagree` };
  }
  const near = given.filter((one) => !far.includes(one));
  const reading = {
    rate: median(near.map(({ rate }) => rate)),
    sources: near.map(({ source }) => source),
    at,
  };
  return { reading, problem: problem === "" ? null : problem };
}

/**
 * What is known of a pair after a check. A reading far from the accepted quote waits, while the accepted one stays in
 * force until it is stale: a glitch of a source has no effect, and what is true is confirmed by the next check.
 */
export function afterCheck(
  before: PairState,
  { reading, problem }: ReturnType<typeof combine>,
  plan: Pick<RatesPlan, "maxJump" | "jumpWindowMs">,
  at: Instant,
  nextAt: Instant | null = null,
): PairState {
  const checked = { ...before, checkedAt: at, nextAt, problem };
  if (reading === null) return checked;
  const { accepted, pending } = before;
  const isComparable = accepted !== null && at - accepted.at <= plan.jumpWindowMs;
  const isJump = isComparable && differs(reading.rate, accepted.rate, plan.maxJump);
  if (!isJump) return { ...checked, accepted: reading, pending: null };
  const agrees = pending !== null && !differs(reading.rate, pending.rate, plan.maxJump);
  if (agrees && at - pending.at >= confirmAfterMs) {
    return { ...checked, accepted: reading, pending: null };
  }
  const jump = `a jump from ${formatRate(accepted.rate)} to ${formatRate(reading.rate)} waits to be confirmed`;
  return {
    ...checked,
    pending: agrees ? pending : reading,
    problem: problem === null ? jump : `${problem}; ${jump}`,
  };
}

/** Whether a quote may be used at a moment. */
export function isFresh(quote: Reading, maxAgeMs: number, at: Instant): boolean {
  return at - quote.at <= maxAgeMs && quote.at - at <= aheadMax;
}

/** No name of a source holds it. */
export const sourceSeparator = ", ";

/** How readings are kept in the store: exactly. */
export interface StoredReading {
  readonly numerator: string;
  readonly denominator: string;
  /** The names of the sources that agreed. */
  readonly source: string;
  readonly at: Instant;
}

export function storedReading({ rate, sources, at }: Reading): StoredReading {
  const source = sources.join(sourceSeparator);
  return { numerator: String(rate.numerator), denominator: String(rate.denominator), source, at };
}

export function readingOf({ numerator, denominator, source, at }: StoredReading): Reading {
  const rate = ratio(BigInt(numerator), BigInt(denominator));
  return { rate, sources: source.split(sourceSeparator), at };
}
