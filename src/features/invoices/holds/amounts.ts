import type { RandomBytes } from "../../../kernel/id.ts";
import { divideRounded, powerOfTen } from "../../../kernel/money/ratio.ts";
import type { NetworkToken } from "../../../platform/chain/networks.ts";

/** A token by the properties that its amounts follow from. */
export type AmountToken = Pick<NetworkToken, "decimals" | "amountDecimals" | "pegs">;

/**
 * The least number of decimals of a price, if its token has as many. The steps between a price's amounts have the
 * token's most decimals, one fewer, and two fewer, but not less than these, because people mistype short amounts less
 * often: decimals 4 to 6 of a pegged token.
 */
const pricedDecimals = 4;
/** The number of decimals to which payers and their exchanges round. */
const roundDecimals = 2;
/** The number of random picks for each size of steps. */
const picksPerLevel = 4;
/** The number of random picks of the coarsest size in a wide band, by which its use is judged. */
const sampledPicks = 24;
/** The number of random picks among the lowest surcharges of a wide band, by which their use is judged. */
const lowPicks = 12;
/**
 * The share of a sample that must be held for other digits, in fifths. Where less than half is held, a sample reaches it
 * rarely.
 */
const crowdedFifths = 3;
/**
 * The least number of amounts of a band whose coarsest steps suffice until half of them are held. The lowest ones of this
 * number are preferred, so that digits that nobody foresees cost payers little.
 */
export const wideBandLeast = 1_000n;
/** The inverse of the largest share of a price that rounding it up may add, for a token without a peg: 0.1 %. */
const roundedShare = 1_000n;
/** The largest part of a payment that an exchange is expected to keep, in percent of it; at least one pegged token. */
const feePercent = 5n;

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
  /**
   * The range of bare prices that prevent this one from being bare, because a payment of the higher one from which an
   * exchange keeps a fee may equal the lower one.
   */
  readonly bare: readonly [least: bigint, most: bigint];
}

export function amountRange(base: bigint, token: AmountToken): AmountRange {
  const ninetyNineCents = (99n * powerOfTen(token.decimals)) / 100n;
  const onePercent = base / 100n;
  return {
    base,
    cap: onePercent < ninetyNineCents ? onePercent : ninetyNineCents,
    steps: stepsOf(token),
    roundTo: token.decimals > roundDecimals ? powerOfTen(token.decimals - roundDecimals) : null,
    bare: [base - feeOf(base, token), withFee(base, token)],
  };
}

/** Returns the sizes of the steps between amounts, coarsest first. */
function stepsOf({ decimals, amountDecimals }: AmountToken): readonly bigint[] {
  const coarsest = Math.min(amountDecimals, Math.max(amountDecimals - 2, pricedDecimals));
  return Array.from({ length: amountDecimals - coarsest + 1 }, (_, finer) =>
    powerOfTen(decimals - coarsest - finer),
  );
}

/** Returns the largest amount that a payment may have been before an exchange kept its fee. */
export function withFee(amount: bigint, token: Pick<AmountToken, "decimals" | "pegs">): bigint {
  const percent = (amount * feePercent) / 100n;
  const unit = token.pegs.length > 0 ? powerOfTen(token.decimals) : 0n;
  return amount + (percent > unit ? percent : unit);
}

/**
 * Returns the least amount that a wallet of two decimals rounds up to an amount: less than 0.01 below it if it is round,
 * else the amount itself.
 */
export function roundedUpFrom(amount: bigint, token: Pick<AmountToken, "decimals">): bigint {
  const hundredth = powerOfTen(Math.max(0, token.decimals - roundDecimals));
  return amount % hundredth === 0n && amount >= hundredth ? amount - hundredth + 1n : amount;
}

/** Returns the most that an exchange may keep of an amount: the inverse of `withFee`. */
function feeOf(amount: bigint, { decimals, pegs }: AmountToken): bigint {
  const percent = amount - divideRounded(amount * 100n, 100n + feePercent, "up");
  const unit = pegs.length > 0 ? powerOfTen(decimals) : 0n;
  const fee = percent > unit ? percent : unit;
  return fee < amount ? fee : amount;
}

/**
 * Rounds an amount up to one that payers can enter. An amount that the merchant gave in the token keeps its digits as far
 * as the token's amounts go. A converted one has two fewer, so that digits below tell it apart from others; for a
 * token without a peg more, if rounding would otherwise add more than 0.1 %.
 */
export function payablePrice(exact: bigint, token: AmountToken, isGivenInToken: boolean): bigint {
  const steps = stepsOf(token);
  const finest = finestOf(steps);
  const isFine = (step: bigint) => token.pegs.length > 0 || step * roundedShare <= exact;
  const step = isGivenInToken ? finest : (steps.find(isFine) ?? finest);
  return divideRounded(exact, step, "up") * step;
}

/**
 * Returns the range in which another invoice's hold prevents the bare price: as far below the price as above it, since
 * payers also round up and the ranges of different prices overlap. A range of a single amount has no alternative, so
 * only that amount itself prevents it.
 */
export function nearBase(range: AmountRange): readonly [least: bigint, most: bigint] {
  const { base, cap } = range;
  return hasAlternative(range) ? [base - cap, base + cap] : [base, base];
}

/** Returns the range in which a bare price of another unpaid invoice prevents this one. */
export function bareNear(range: AmountRange): readonly [least: bigint, most: bigint] {
  return hasAlternative(range) ? range.bare : [range.base, range.base];
}

function hasAlternative(range: AmountRange): boolean {
  return amountsIn(range) > 1n;
}

/** The inverse of the part of a price below which no other price near it is looked for: fewer regions to lock. */
const farBelow = 1_000n;

/**
 * Returns the names of the regions that `bareNear` touches, in ascending order: two prices of which one is near the other
 * share a region. A region has the amounts with one leading digit and one number of digits.
 */
export function regionsNear(range: AmountRange): readonly string[] {
  const [least, most] = bareNear(range);
  const names: string[] = [];
  const nearest = most / farBelow;
  let from = least > nearest ? least : nearest;
  // The price has its own region in any case.
  if (from > range.base) from = range.base;
  if (from === 0n) from = 1n;
  while (from <= most) {
    const digits = from.toString();
    const size = powerOfTen(digits.length - 1);
    names.push(`${String(digits.length).padStart(2, "0")}:${digits.slice(0, 1)}`);
    from = (from / size + 1n) * size;
  }
  return names;
}

/** True if a payer who rounds another amount may send this one. */
function isRound({ roundTo }: AmountRange, amount: bigint): boolean {
  return roundTo !== null && amount % roundTo === 0n;
}

/** Returns the finest step, of which every surcharge is a multiple. */
export function finestStep(range: AmountRange): bigint {
  return finestOf(range.steps);
}

function finestOf(steps: readonly bigint[]): bigint {
  /* c8 ignore next: the compiler demands a default, but every token has a step. */
  return steps.at(-1) ?? 1n;
}

function coarsestOf(steps: readonly bigint[]): bigint {
  /* c8 ignore next: the compiler demands a default, but every token has a step. */
  return steps[0] ?? 1n;
}

/** Returns the number of round amounts between two amounts, both included, of those that are `step` apart. */
export function roundBetween(
  { base, roundTo }: AmountRange,
  step: bigint,
  least: bigint,
  most: bigint,
): bigint {
  if (roundTo === null || base % step !== 0n || least > most) return 0n;
  return most / roundTo - (least - 1n) / roundTo;
}

/** Returns the number of amounts in the range: the price, and those with a surcharge, which are never round. */
export function amountsIn(range: AmountRange): bigint {
  return 1n + surchargesIn(range, finestStep(range));
}

/** Returns the number of amounts with a surcharge of a size of steps. */
function surchargesIn(range: AmountRange, step: bigint): bigint {
  const { base, cap } = range;
  return cap / step - roundBetween(range, step, base + 1n, base + cap);
}

/** True if the coarsest steps suffice until half of their amounts are held. */
function isWide(range: AmountRange): boolean {
  return surchargesIn(range, coarsestOf(range.steps)) >= wideBandLeast;
}

/** The average number of holds that may be counted per invoice. */
const countedMax = 4_096n;

/**
 * True if a hold of this amount is an occasion to count the holds of its range: always in a range of fewer than
 * `countedMax` amounts, and for a sample of the amounts in a larger one.
 */
export function isOccasionToCount(range: AmountRange, amount: bigint): boolean {
  const every = amountsIn(range) / countedMax + 1n;
  return ((amount - range.base) / finestStep(range)) % every === 0n;
}

/** Returns the range for a rest: its surcharge counts as money that was paid, and must not show in the settlement. */
export function belowHundredth(range: AmountRange): AmountRange {
  const { cap, roundTo } = range;
  return roundTo !== null && cap >= roundTo ? { ...range, cap: roundTo - 1n } : range;
}

/** Amounts to try, best first. */
export interface Candidates {
  readonly amounts: readonly bigint[];
  /** The random amounts among them by which the use of a part of a wide band is judged; none are used if it is crowded. */
  readonly samples: readonly (readonly bigint[])[];
}

/**
 * Returns amounts to try: the price itself, then random ones, so that nobody can foresee the digits
 * (docs/decisions/0056). In a wide band these have the coarsest steps only: first the lowest surcharges, then any. In a
 * narrow one they have each size of steps, coarse before fine. Their number does not depend on how many amounts are
 * taken. An amount with a surcharge is never round.
 */
export function firstCandidates(range: AmountRange, randomBytes: RandomBytes): Candidates {
  const { base, steps } = range;
  const [coarsest = 1n] = steps;
  if (!isWide(range)) {
    const picks = steps.flatMap((step) => drawn(range, step, picksPerLevel, randomBytes));
    return { amounts: [...new Set([base, ...picks])], samples: [] };
  }
  const lowest = { ...range, cap: wideBandLeast * coarsest };
  const samples = [
    drawn(lowest, coarsest, lowPicks, randomBytes),
    drawn(range, coarsest, sampledPicks, randomBytes),
  ];
  return { amounts: [...new Set([base, ...samples.flat()])], samples };
}

/**
 * Returns random amounts of all sizes of steps, for a band whose coarsest steps are half held or narrow. Concurrent
 * writers that lost the same amount are unlikely to collide again.
 */
export function furtherCandidates(range: AmountRange, randomBytes: RandomBytes): Candidates {
  const [coarsest = 1n, ...finer] = range.steps;
  const order = isWide(range) ? [...finer, coarsest] : range.steps;
  const picks = order.flatMap((step) => drawn(range, step, picksPerLevel * 2, randomBytes));
  return { amounts: [...new Set(picks)], samples: [] };
}

/**
 * Returns random amounts for an invoice whose amount a payer without a credential entered: each amount of the band is
 * equally likely, so that nobody can ask for a certain one (docs/decisions/0056).
 */
export function enteredCandidates(
  range: AmountRange,
  isFurther: boolean,
  randomBytes: RandomBytes,
): Candidates {
  const isCoarse = isWide(range) && !isFurther;
  const step = isCoarse ? coarsestOf(range.steps) : finestStep(range);
  const amounts = drawn(range, step, sampledPicks, randomBytes);
  return { amounts, samples: isCoarse ? [amounts] : [] };
}

/** True if so many amounts of a sample are held that more than half of those it was drawn from probably are. */
export function isCrowded(sample: readonly bigint[], isHeld: (amount: bigint) => boolean): boolean {
  return sample.length > 0 && sample.filter(isHeld).length * 5 >= sample.length * crowdedFifths;
}

/** Returns different random amounts whose surcharges are multiples of a step, from one step to the cap. */
function drawn(
  range: AmountRange,
  step: bigint,
  count: number,
  randomBytes: RandomBytes,
): bigint[] {
  const amountCount = range.cap / step;
  if (amountCount === 0n) return [];
  // Eight random bytes for at most 10^8 multiples, since amounts have at most eight decimals: the modulo bias is
  // below 10^-11.
  const bytes = randomBytes(8 * count);
  const chance = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const picks = Array.from(
    { length: count },
    (_, pick) => range.base + ((chance.getBigUint64(8 * pick) % amountCount) + 1n) * step,
  );
  return [...new Set(picks)].filter((amount) => !isRound(range, amount));
}
