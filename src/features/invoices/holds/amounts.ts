import type { RandomBytes } from "../../../kernel/id.ts";
import { powerOfTen } from "../../../kernel/money/ratio.ts";

/** The decimals of a surcharge, coarsest first: people mistype short amounts less often. */
const surchargeDecimals = [4, 5, 6] as const;
/** The number of decimals to which payers and their exchanges round. */
const roundDecimals = 2;
/** The number of smallest surcharges that are tried before random ones. */
const smallestSteps = 4;
/** The number of random picks for each size of steps. */
const picksPerLevel = 4;

/**
 * The amounts that may represent one price on one address: the price itself, or the price plus a surcharge up to the
 * cap.
 */
export interface AmountRange {
  /** The price, in the token's smallest unit. */
  readonly base: bigint;
  /** The largest surcharge: the smaller of 1 % and 0.99, in the token's smallest unit. */
  readonly cap: bigint;
  /** The sizes of surcharge steps, coarsest first; each is a multiple of the next. */
  readonly steps: readonly bigint[];
  /** A hundredth of a token, in its smallest unit; null for a token without finer amounts. */
  readonly roundTo: bigint | null;
}

export function amountRange(base: bigint, tokenDecimals: number): AmountRange {
  const ninetyNineCents = (99n * powerOfTen(tokenDecimals)) / 100n;
  const onePercent = base / 100n;
  const cap = onePercent < ninetyNineCents ? onePercent : ninetyNineCents;
  const steps = surchargeDecimals
    .filter((decimals) => decimals <= tokenDecimals)
    .map((decimals) => powerOfTen(tokenDecimals - decimals));
  // A token with fewer decimals is surcharged in its own smallest unit.
  return {
    base,
    cap,
    steps: steps.length > 0 ? steps : [1n],
    roundTo: tokenDecimals > roundDecimals ? powerOfTen(tokenDecimals - roundDecimals) : null,
  };
}

/**
 * Returns the range in which another invoice's hold prevents the bare price: as far below the price as above it, since
 * payers also round up and the ranges of different prices overlap. A range of a single amount has no alternative, so
 * only that amount itself prevents it.
 */
export function nearBase(range: AmountRange): readonly [least: bigint, most: bigint] {
  const { base, cap } = range;
  return placesIn(range) === 1n ? [base, base] : [base - cap, base + cap];
}

/**
 * The number of leading digits that identify the region of an amount, together with its number of digits. A region is
 * at least 1 % wide.
 */
const regionDigits = 2;

/**
 * Returns the sorted names of the regions that `nearBase` touches: two prices of which one is near the other share a
 * region. The range is at most 2 % wide, so its ends and its middle touch all of its regions.
 */
export function regionsNear(range: AmountRange): readonly string[] {
  const [least, most] = nearBase(range);
  const regionOf = (amount: bigint) => {
    const digits = amount.toString();
    return `${String(digits.length)}:${digits.slice(0, regionDigits)}`;
  };
  return [...new Set([least, range.base, most].map(regionOf))].sort();
}

/** True if a payer who rounds another amount may send this one. */
function isRound({ roundTo }: AmountRange, amount: bigint): boolean {
  return roundTo !== null && amount % roundTo === 0n;
}

/** Returns the finest step, of which every surcharge is a multiple. */
export function finestStep(range: AmountRange): bigint {
  return range.steps.at(-1) ?? 1n;
}

/** Returns the number of amounts in the range. */
export function placesIn(range: AmountRange): bigint {
  return range.cap / finestStep(range) + 1n;
}

/** The average number of holds that may be counted per invoice. */
const countedMax = 4_096n;

/**
 * True if a hold of this amount is an occasion to count the holds of its range: always in a range of fewer than
 * `countedMax` amounts, and for a sample of the amounts in a larger one.
 */
export function isOccasionToCount(range: AmountRange, amount: bigint): boolean {
  const every = placesIn(range) / countedMax + 1n;
  return ((amount - range.base) / finestStep(range)) % every === 0n;
}

/**
 * Returns amounts to try, best first: the price itself, the smallest surcharges, then random ones for each size of
 * steps, coarse before fine. Their number does not depend on how many amounts are taken, and each size of steps offers
 * room when the one before is full. An amount with a surcharge is never round.
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

/** Returns random amounts only, so that concurrent writers that lost the same amount are unlikely to collide again. */
export function furtherCandidates(range: AmountRange, randomBytes: RandomBytes): bigint[] {
  return surcharged(range, [...new Set(picks(range, randomBytes))]);
}

function surcharged(range: AmountRange, surcharges: readonly bigint[]): bigint[] {
  return surcharges
    .map((surcharge) => range.base + surcharge)
    .filter((amount) => !isRound(range, amount));
}

/** Returns random multiples of each step, from one step to the cap. */
function picks({ steps, cap }: AmountRange, randomBytes: RandomBytes): bigint[] {
  // Four random bytes for at most a million multiples: the modulo bias is negligible.
  const bytes = randomBytes(4 * picksPerLevel * steps.length);
  const chance = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return steps.flatMap((step, level) => {
    const places = Number(cap / step);
    if (places === 0) return [];
    return Array.from({ length: picksPerLevel }, (_, pick) => {
      const drawn = chance.getUint32(4 * (level * picksPerLevel + pick));
      return BigInt((drawn % places) + 1) * step;
    });
  });
}
