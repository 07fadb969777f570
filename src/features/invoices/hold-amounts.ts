import type { RandomBytes } from "../../kernel/id.ts";
import { powerOfTen } from "../../kernel/ratio.ts";

/** The decimals of a surcharge, coarsest first: people type the coarse ones with fewer mistakes. */
const surchargeDecimals = [4, 5, 6] as const;
/** Payers and their exchanges round to so many decimals. */
const roundDecimals = 2;
/** How many of the smallest surcharges are looked at before chance picks. */
const smallestSteps = 4;
/** How many picks of chance there are for each level of steps. */
const picksPerLevel = 4;

/** The amounts that may stand for one price on one address: the price and surcharges, never more than the cap. */
export interface AmountRange {
  /** The price, in the token's smallest unit. */
  readonly base: bigint;
  /** The largest surcharge: the smaller of 1 % and 0.99, in the token's smallest unit. */
  readonly cap: bigint;
  /** The sizes of surcharge steps, coarsest first; each is a multiple of the next. */
  readonly steps: readonly bigint[];
  /** A hundredth of a token, in its smallest unit; null for a token that has no finer amounts. */
  readonly roundTo: bigint | null;
}

export function amountRange(base: bigint, tokenDecimals: number): AmountRange {
  const ninetyNineCents = (99n * powerOfTen(tokenDecimals)) / 100n;
  const onePercent = base / 100n;
  const cap = onePercent < ninetyNineCents ? onePercent : ninetyNineCents;
  const steps = surchargeDecimals
    .filter((decimals) => decimals <= tokenDecimals)
    .map((decimals) => powerOfTen(tokenDecimals - decimals));
  // A token with fewer decimals is surcharged by its own smallest unit.
  return {
    ...{ base, cap, steps: steps.length > 0 ? steps : [1n] },
    roundTo: tokenDecimals > roundDecimals ? powerOfTen(tokenDecimals - roundDecimals) : null,
  };
}

/**
 * The least and the most amount that keep the bare price from being given: as far below the price as above it, since
 * payers round up too and the ranges of different prices overlap. A range of one amount has nothing to give instead, so
 * nothing but that amount keeps it.
 */
export function nearBase(range: AmountRange): readonly [least: bigint, most: bigint] {
  const { base, cap } = range;
  return placesIn(range) === 1n ? [base, base] : [base - cap, base + cap];
}

/** The first digits of an amount that name its region, with the number of its digits: a region is at least 1 % wide. */
const regionDigits = 2;

/**
 * Names the regions of amounts that `nearBase` touches, in order: two prices of which one is near the other share one.
 * The range is at most 2 % wide, so that its ends and its middle touch all of them.
 */
export function regionsNear(range: AmountRange): readonly string[] {
  const [least, most] = nearBase(range);
  const regionOf = (amount: bigint) => {
    const digits = amount.toString();
    return `${String(digits.length)}:${digits.slice(0, regionDigits)}`;
  };
  return [...new Set([least, range.base, most].map(regionOf))].sort();
}

/** Whether a payer who rounds another amount may send this one. */
function isRound({ roundTo }: AmountRange, amount: bigint): boolean {
  return roundTo !== null && amount % roundTo === 0n;
}

/** The step of the finest level: every amount that a hold may have lies this far apart. */
export function finestStep(range: AmountRange): bigint {
  return range.steps.at(-1) ?? 1n;
}

/** How many amounts the range has. */
export function placesIn(range: AmountRange): bigint {
  return range.cap / finestStep(range) + 1n;
}

/** How many holds an invoice may cost to count its range, on average. */
const countedMax = 4_096n;

/**
 * Whether a hold of this amount is the occasion to count those of its range: every one in a range of up to `countedMax`
 * amounts, and one in so many in a larger range.
 */
export function isOccasionToCount(range: AmountRange, amount: bigint): boolean {
  const every = placesIn(range) / countedMax + 1n;
  return ((amount - range.base) / finestStep(range)) % every === 0n;
}

/**
 * Amounts to try, best first: the price itself, the smallest surcharges, then chance at each level, coarse before
 * fine. Their number does not depend on how many are taken, and each level has room where the one before is full. An
 * amount with a surcharge is never a round one.
 */
export function firstCandidates(range: AmountRange, randomBytes: RandomBytes): bigint[] {
  const { base, cap, steps } = range;
  const surcharges = new Set<bigint>();
  const coarsest = steps[0] ?? 1n;
  for (let step = 1n; step <= BigInt(smallestSteps); step += 1n) surcharges.add(step * coarsest);
  for (const surcharge of picks(range, randomBytes)) surcharges.add(surcharge);
  return [
    base,
    ...surcharged(
      range,
      [...surcharges].filter((surcharge) => surcharge <= cap),
    ),
  ];
}

/** Amounts of chance alone: writers that lost the same amount to one another do not meet again. */
export function furtherCandidates(range: AmountRange, randomBytes: RandomBytes): bigint[] {
  return surcharged(range, [...new Set(picks(range, randomBytes))]);
}

function surcharged(range: AmountRange, surcharges: readonly bigint[]): bigint[] {
  return surcharges
    .map((surcharge) => range.base + surcharge)
    .filter((amount) => !isRound(range, amount));
}

/** Multiples of each step from one to the cap, in the order that chance gave. */
function picks({ steps, cap }: AmountRange, randomBytes: RandomBytes): bigint[] {
  // Eight bytes for a few million places: none is likelier than another by anything that shows.
  const chance = new DataView(
    Uint8Array.from(randomBytes(8 * picksPerLevel * steps.length)).buffer,
  );
  return steps.flatMap((step, level) => {
    const places = cap / step;
    if (places === 0n) return [];
    return Array.from({ length: picksPerLevel }, (_, pick) => {
      const drawn = chance.getBigUint64(8 * (level * picksPerLevel + pick));
      return ((drawn % places) + 1n) * step;
    });
  });
}
