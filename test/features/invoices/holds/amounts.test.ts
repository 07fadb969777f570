import { expect } from "chai";
import fc from "fast-check";
import { systemRandom } from "../../../../src/platform/secrets/random.ts";
import {
  amountRange,
  finestStep,
  isOccasionToCount,
  firstCandidates,
  furtherCandidates,
  nearBase,
  placesIn,
  regionsNear,
} from "../../../../src/features/invoices/holds/amounts.ts";

describe("the amounts that distinguish invoices of one price", () => {
  it("are the price, then the smallest steps of 0.0001, then random ones of each step size", () => {
    const range = amountRange(100_000_000n, 6);
    const candidates = firstCandidates(range, systemRandom);
    const steps = Array.from({ length: 5 }, (_, step) => 100_000_000n + BigInt(step) * 100n);
    expect(candidates.slice(0, 5)).to.deep.equal(steps);
    expect(candidates.length).to.be.within(10, 17);
    expect(range.steps).to.deep.equal([100n, 10n, 1n]);
  });

  it("use separate random bytes for each step size, and reach the whole range", () => {
    /** The nth group of 4 bytes is the number n. */
    const counting = (length: number) => {
      const words = new DataView(new ArrayBuffer(length));
      for (let n = 0; n < length / 4; n += 1) words.setUint32(4 * n, n);
      return new Uint8Array(words.buffer);
    };
    const surcharges = (price: bigint, candidates: typeof furtherCandidates) =>
      candidates(amountRange(price, 6), counting).map((amount) => Number(amount - price));
    expect(surcharges(100_000_000n, furtherCandidates)).to.deep.equal([
      ...[100, 200, 300, 400, 50, 60, 70, 80, 9, 10, 11, 12],
    ]);
    // 1 % of 0.04 is 0.0004, which is the fourth and last of the smallest steps.
    expect(surcharges(40_000n, firstCandidates)).to.deep.equal([
      ...[0, 100, 200, 300, 400, 50, 60, 70, 80, 9, 10, 11, 12],
    ]);
    expect(Math.max(...surcharges(30_000n, firstCandidates))).to.equal(300);
  });

  it("cost a payer at most 1 %, and less than a whole token", () => {
    expect(amountRange(1_000_000n, 6).cap).to.equal(10_000n);
    expect(amountRange(10_000_000_000n, 6).cap).to.equal(990_000n);
    expect(amountRange(10n ** 22n, 18).cap).to.equal(99n * 10n ** 16n);
  });

  it("of a token with few decimals differ by its smallest unit", () => {
    expect(amountRange(10_000n, 2).steps).to.deep.equal([1n]);
    expect(amountRange(1_000_000n, 5).steps).to.deep.equal([10n, 1n]);
    expect(amountRange(50n, 2)).to.deep.equal({ base: 50n, cap: 0n, steps: [1n], roundTo: null });
    expect(firstCandidates(amountRange(50n, 2), systemRandom)).to.deep.equal([50n]);
  });

  it("are never round with a surcharge, because the payer of another amount may round to them", () => {
    // 24.9999 plus the first surcharge of 0.0001 is 25.00.
    const range = amountRange(24_999_900n, 6);
    expect(firstCandidates(range, systemRandom).slice(0, 3)).to.deep.equal([
      ...[24_999_900n, 25_000_100n, 25_000_200n],
    ]);
    // One in a hundred multiples of 0.0001 is a multiple of 0.01.
    const all = (fill: number) => (length: number) => new Uint8Array(length).fill(fill);
    for (let fill = 0; fill < 256; fill += 1) {
      expect(furtherCandidates(amountRange(100_000_000n, 6), all(fill))).not.to.include(
        100_010_000n,
      );
    }
  });

  it("prevent the bare price from as far below as above it, unless there is no alternative", () => {
    expect(nearBase(amountRange(25_000_000n, 6))).to.deep.equal([24_750_000n, 25_250_000n]);
    expect(nearBase(amountRange(5_000n, 8))).to.deep.equal([5_000n, 5_000n]);
  });

  it("never leave their range or their grid, for any price and token", () => {
    const prices = fc.bigInt(1n, 10n ** 30n);
    fc.assert(
      fc.property(prices, fc.integer({ min: 0, max: 18 }), (price, decimals) => {
        const range = amountRange(price, decimals);
        const candidates = [
          ...firstCandidates(range, systemRandom),
          ...furtherCandidates(range, systemRandom),
        ];
        expect(candidates[0]).to.equal(price);
        expect(firstCandidates(range, systemRandom).length).to.be.at.most(17);
        for (const amount of candidates) {
          const surcharge = amount - price;
          expect(surcharge >= 0n && surcharge <= range.cap).to.equal(true);
          expect(surcharge * 100n <= price).to.equal(true);
          expect(surcharge % finestStep(range)).to.equal(0n);
          const isRound = range.roundTo !== null && amount % range.roundTo === 0n;
          expect(surcharge > 0n && isRound).to.equal(false);
        }
        expect(placesIn(range) >= 1n).to.equal(true);
      }),
    );
  });

  it("are counted at every hold of a small range, and at a sample of a large one", () => {
    const occasions = (base: bigint) => {
      const range = amountRange(base, 6);
      const amounts = Array.from({ length: Number(placesIn(range)) }, (_, at) => base + BigInt(at));
      return amounts.filter((amount) => isOccasionToCount(range, amount)).length;
    };
    expect(occasions(100_000n)).to.equal(1_001);
    expect(occasions(25_000_000n)).to.be.within(4_000, 4_096);
    // The price itself is one, whatever it is, and not the amount of the next step.
    for (const base of [25_000_000n, 25_000_001n, 25_000_003n]) {
      const range = amountRange(base, 6);
      const step = finestStep(range);
      expect([base, base + step].map((amount) => isOccasionToCount(range, amount))).to.deep.equal([
        true,
        false,
      ]);
    }
    // Steps of more than one unit.
    const large = amountRange(10n ** 24n, 18);
    const every = placesIn(large) / 4_096n + 1n;
    const at = (places: bigint) => large.base + places * finestStep(large);
    expect(isOccasionToCount(large, at(every))).to.equal(true);
    expect(isOccasionToCount(large, at(every + 1n))).to.equal(false);
    expect(isOccasionToCount(large, at(every / 2n))).to.equal(false);
  });

  it("share a region with those of every nearby price", () => {
    const near = fc
      .tuple(fc.bigInt(1n, 10n ** 9n), fc.constantFrom(2, 6, 18))
      .chain(([base, decimals]) => {
        const [least, most] = nearBase(amountRange(base, decimals));
        return fc.record({
          base: fc.constant(base),
          decimals: fc.constant(decimals),
          other: fc.bigInt(least, most),
        });
      });
    fc.assert(
      fc.property(near, ({ base, decimals, other }) => {
        const ours = regionsNear(amountRange(base, decimals));
        const theirs = regionsNear(amountRange(other, decimals));
        expect(ours.some((region) => theirs.includes(region))).to.equal(true);
        expect(ours.length).to.be.within(1, 3);
      }),
    );
  });
});
