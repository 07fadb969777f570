import { expect } from "chai";
import fc from "fast-check";
import { systemRandom } from "../../../../src/platform/secrets/tokens.ts";
import {
  amountRange,
  bareNear,
  belowHundredth,
  enteredCandidates,
  finestStep,
  isCrowded,
  payablePrice,
  withFee,
  isOccasionToCount,
  type AmountRange,
  firstCandidates,
  furtherCandidates,
  nearBase,
  amountsIn,
  regionsNear,
  roundBetween,
  roundedUpFrom,
} from "../../../../src/features/invoices/holds/amounts.ts";

import { counting, peggedToken } from "../../../support/amounts.ts";

describe("the amounts that distinguish invoices of one price", () => {
  it("are the price, then a sample of the lowest 1,000 steps of 0.0001, then one of all such steps", () => {
    const range = amountRange(100_000_000n, peggedToken(6));
    const { amounts, samples } = firstCandidates(range, systemRandom);
    const [low = [], all = []] = samples;
    expect(amounts).to.deep.equal([...new Set([100_000_000n, ...low, ...all])]);
    expect(low.length).to.be.within(6, 12);
    expect(all.length).to.be.within(15, 24);
    expect(low.filter((amount) => amount > 100_100_000n)).to.deep.equal([]);
    expect(all.filter((amount) => amount > 100_100_000n).length).to.be.above(5);
    expect(amounts.filter((amount) => amount % 100n !== 0n)).to.deep.equal([]);
    expect(range.steps).to.deep.equal([100n, 10n, 1n]);
  });

  it("have digits at decimals 5 and 6 too if there are fewer than 1,000 at decimal 4", () => {
    const finest = (price: bigint, candidates = firstCandidates) =>
      candidates(amountRange(price, peggedToken(6)), counting)
        .amounts.map((amount) => (amount % 100n === 0n ? 4 : amount % 10n === 0n ? 5 : 6))
        .reduce((most, each) => Math.max(most, each), 0);
    // 1 % of 10.10 are 1,010 steps of 0.0001, of which 10 are round; 1 % of 10.09 are 1,009 with 10 round ones.
    expect([finest(10_100_000n), finest(10_090_000n)]).to.deep.equal([4, 6]);
    expect([finest(25_000_000n, furtherCandidates), finest(1_000_000n)]).to.deep.equal([6, 6]);
  });

  it("are judged by a sample: finer digits from three fifths of it on", () => {
    const sample = [1n, 2n, 3n, 4n, 5n];
    expect(isCrowded(sample, (amount) => amount <= 2n)).to.equal(false);
    expect(isCrowded(sample, (amount) => amount <= 3n)).to.equal(true);
    expect(isCrowded([], () => true)).to.equal(false);
  });

  it("use separate random bytes for each step size, and reach the whole range", () => {
    const surcharges = (price: bigint, candidates: typeof furtherCandidates) =>
      candidates(amountRange(price, peggedToken(6)), counting).amounts.map((amount) =>
        Number(amount - price),
      );
    expect(surcharges(100_000_000n, furtherCandidates)).to.deep.equal([
      ...[10, 20, 30, 40, 50, 60, 70, 80],
      ...[1, 2, 3, 4, 5, 6, 7, 8],
      ...[100, 200, 300, 400, 500, 600, 700, 800],
    ]);
    // 1 % of 0.04 is 0.0004: four steps of 0.0001.
    expect(surcharges(40_000n, firstCandidates)).to.deep.equal([
      ...[0, 100, 200, 300, 400, 10, 20, 30, 40, 1, 2, 3, 4],
    ]);
    expect(Math.max(...surcharges(30_000n, firstCandidates))).to.equal(300);
  });

  it("are each equally likely among the lowest 1,000 of a wide band, and the same in a narrow one", () => {
    const tally = (
      price: bigint,
      rounds: number,
      pick: (range: AmountRange) => readonly bigint[],
    ) => {
      const range = amountRange(price, peggedToken(6));
      const drawn = new Map<bigint, number>();
      for (let round = 0; round < rounds; round += 1) {
        for (const amount of pick(range)) drawn.set(amount, (drawn.get(amount) ?? 0) + 1);
      }
      return drawn;
    };
    const low = tally(24_000_000n, 2_000, (range) => {
      return firstCandidates(range, systemRandom).samples[0] ?? [];
    });
    // 1,000 steps, of which 10 are round; each is drawn about 24 times.
    expect(low.size).to.equal(990);
    expect(Math.max(...low.values())).to.be.below(60);
    // 0.0001 to 0.01, of which one is round; each is drawn about 40 times.
    const narrow = tally(1_000_000n, 1_000, (range) =>
      firstCandidates(range, systemRandom)
        .amounts.slice(1, 5)
        .filter((amount) => amount % 100n === 0n),
    );
    expect(narrow.size).to.equal(99);
    expect(Math.max(...narrow.values())).to.be.below(90);
  });

  it("of a price that a payer entered are random ones alone, never the price, and each is equally likely", () => {
    const range = amountRange(24_000_000n, peggedToken(6));
    const drawn = new Map<bigint, number>();
    for (let round = 0; round < 2_000; round += 1) {
      for (const amount of enteredCandidates(range, false, systemRandom).amounts) {
        drawn.set(amount, (drawn.get(amount) ?? 0) + 1);
      }
    }
    // 2,400 steps of 0.0001, without 24 round ones; each is drawn about 20 times.
    expect(drawn.size).to.equal(2_376);
    expect([...drawn.keys()].filter((amount) => amount % 10_000n === 0n)).to.deep.equal([]);
    expect(Math.max(...drawn.values())).to.be.below(60);
    const small = enteredCandidates(amountRange(1_000_000n, peggedToken(6)), false, counting);
    expect(small.amounts.slice(0, 3)).to.deep.equal([1_000_001n, 1_000_002n, 1_000_003n]);
    const further = enteredCandidates(range, true, counting);
    expect(further.amounts.slice(0, 3)).to.deep.equal([24_000_001n, 24_000_002n, 24_000_003n]);
    expect([small.samples, further.samples]).to.deep.equal([[], []]);
  });

  it("are drawn from all amounts of a band that 32 random bits do not number evenly", () => {
    // 0.99 of a token in steps of 10^-10: 9.9 thousand million amounts, of which the last can be drawn.
    const range = amountRange(10n ** 12n, { decimals: 10, amountDecimals: 10, pegs: [] });
    const places = range.cap;
    const last = (length: number) => counting(length, 2n ** 20n * places + places - 2n);
    const { amounts } = enteredCandidates(range, true, last);
    expect(amounts).to.include(range.base + places - 1n);
  });

  it("cost a payer at most 1 %, and less than a whole token", () => {
    expect(amountRange(1_000_000n, peggedToken(6)).cap).to.equal(10_000n);
    expect(amountRange(10_000_000_000n, peggedToken(6)).cap).to.equal(990_000n);
    expect(amountRange(10n ** 22n, peggedToken(18)).cap).to.equal(99n * 10n ** 16n);
  });

  it("of a token with few decimals differ by its smallest unit", () => {
    expect(amountRange(10_000n, peggedToken(2)).steps).to.deep.equal([1n]);
    expect(amountRange(1_000_000n, peggedToken(5)).steps).to.deep.equal([10n, 1n]);
    const single = { base: 50n, cap: 0n, steps: [1n], roundTo: null };
    expect(amountRange(50n, peggedToken(2))).to.deep.include(single);
    const { amounts } = firstCandidates(amountRange(50n, peggedToken(2)), systemRandom);
    expect(amounts).to.deep.equal([50n]);
  });

  it("are never round with a surcharge, because the payer of another amount may round to them", () => {
    // 24.9999 plus the smallest surcharge of 0.0001 is 25.00.
    const first = amountRange(24_999_900n, peggedToken(6));
    expect(firstCandidates(first, counting).amounts.slice(0, 3)).to.deep.equal([
      ...[24_999_900n, 25_000_100n, 25_000_200n],
    ]);
    // One in a hundred multiples of 0.0001 is a multiple of 0.01.
    const all = (fill: number) => (length: number) => new Uint8Array(length).fill(fill);
    for (let fill = 0; fill < 256; fill += 1) {
      const range = amountRange(100_000_000n, peggedToken(6));
      for (const { amounts } of [
        firstCandidates(range, all(fill)),
        furtherCandidates(range, all(fill)),
        enteredCandidates(range, false, all(fill)),
      ]) {
        expect(amounts).not.to.include(100_010_000n);
      }
    }
  });

  it("prevent the bare price from as far below as above it, unless there is no alternative", () => {
    expect(nearBase(amountRange(25_000_000n, peggedToken(6)))).to.deep.equal([
      24_750_000n,
      25_250_000n,
    ]);
    expect(nearBase(amountRange(5_000n, peggedToken(8)))).to.deep.equal([5_000n, 5_000n]);
  });

  it("never leave their range or their grid, for any price and token", () => {
    const prices = fc.bigInt(1n, 10n ** 30n);
    fc.assert(
      fc.property(prices, fc.integer({ min: 0, max: 18 }), (price, decimals) => {
        const range = amountRange(price, peggedToken(decimals));
        const candidates = [
          ...firstCandidates(range, systemRandom).amounts,
          ...furtherCandidates(range, systemRandom).amounts,
          ...enteredCandidates(range, false, systemRandom).amounts,
        ];
        expect(candidates[0]).to.equal(price);
        expect(firstCandidates(range, systemRandom).amounts.length).to.be.at.most(37);
        for (const amount of candidates) {
          const surcharge = amount - price;
          expect(surcharge >= 0n && surcharge <= range.cap).to.equal(true);
          expect(surcharge * 100n <= price).to.equal(true);
          expect(surcharge % finestStep(range)).to.equal(0n);
          const isRound = range.roundTo !== null && amount % range.roundTo === 0n;
          expect(surcharge > 0n && isRound).to.equal(false);
        }
        expect(amountsIn(range) >= 1n).to.equal(true);
      }),
    );
  });

  it("are counted at every hold of a small range, and at a sample of a large one", () => {
    const occasions = (base: bigint) => {
      const range = amountRange(base, peggedToken(6));
      const amounts = Array.from(
        { length: Number(amountsIn(range)) },
        (_, at) => base + BigInt(at),
      );
      return amounts.filter((amount) => isOccasionToCount(range, amount)).length;
    };
    expect(occasions(100_000n)).to.equal(1_001);
    expect(occasions(25_000_000n)).to.be.within(4_000, 4_096);
    // The price itself is one, whatever it is, and not the amount of the next step.
    for (const base of [25_000_000n, 25_000_001n, 25_000_003n]) {
      const range = amountRange(base, peggedToken(6));
      const step = finestStep(range);
      expect([base, base + step].map((amount) => isOccasionToCount(range, amount))).to.deep.equal([
        true,
        false,
      ]);
    }
    // Steps of more than one unit.
    const large = amountRange(10n ** 24n, peggedToken(18));
    const every = amountsIn(large) / 4_096n + 1n;
    const at = (places: bigint) => large.base + places * finestStep(large);
    expect(isOccasionToCount(large, at(every))).to.equal(true);
    expect(isOccasionToCount(large, at(every + 1n))).to.equal(false);
    expect(isOccasionToCount(large, at(every / 2n))).to.equal(false);
  });

  it("of a bare price are not a little below or above another one", () => {
    const bare = (base: bigint, token = peggedToken(6)) => amountRange(base, token).bare;
    // 5 % above 25.00 is 26.25, and 25.00 is 5 % above 23.809524; one token is more for small prices.
    expect(bare(25_000_000n)).to.deep.equal([23_809_524n, 26_250_000n]);
    expect(bare(10_000_000n)).to.deep.equal([9_000_000n, 11_000_000n]);
    expect(bare(500_000n)).to.deep.equal([0n, 1_500_000n]);
    expect(bare(10_000n, { decimals: 8, amountDecimals: 8, pegs: [] })).to.deep.equal([
      ...[9_524n, 10_500n],
    ]);
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 12n), fc.bigInt(1n, 10n ** 12n), (one, other) => {
        const isNear = (base: bigint, amount: bigint) => {
          const [least, most] = amountRange(base, peggedToken(6)).bare;
          return amount >= least && amount <= most;
        };
        expect(isNear(one, other)).to.equal(isNear(other, one));
        if (other <= one) return;
        expect(isNear(one, other)).to.equal(other <= withFee(one, peggedToken(6)));
      }),
    );
  });

  it("share a region with those of every nearby price", () => {
    const near = fc
      .tuple(fc.bigInt(1n, 10n ** 9n), fc.constantFrom(2, 6, 18))
      .chain(([base, decimals]) => {
        const [least, most] = bareNear(amountRange(base, peggedToken(decimals)));
        // No price is below a thousandth of the range: it would be dust.
        const lowest = [1n, most / 1_000n].reduce((one, each) => (each > one ? each : one), least);
        return fc.record({
          base: fc.constant(base),
          decimals: fc.constant(decimals),
          other: fc.bigInt(lowest, most),
        });
      });
    fc.assert(
      fc.property(near, ({ base, decimals, other }) => {
        const regionsOf = (each: bigint) => regionsNear(amountRange(each, peggedToken(decimals)));
        expect(regionsOf(other)).to.include.oneOf([...regionsOf(base)]);
      }),
    );
  });
});

describe("round amounts", () => {
  it("are what a wallet of two decimals sends for an amount that is less than 0.01 below", () => {
    const rounded = (amount: bigint, decimals = 6) => roundedUpFrom(amount, { decimals });
    // 24.990001 is sent as 25.00, and 24.99 as itself.
    expect(rounded(25_000_000n)).to.equal(24_990_001n);
    expect(rounded(24_990_000n)).to.equal(24_980_001n);
    expect(rounded(10_000n)).to.equal(1n);
    expect(rounded(25n * 10n ** 18n, 18)).to.equal(2_499n * 10n ** 16n + 1n);
    // Nobody rounds to 24.995, 25.0001 or 0.005, and nothing is rounded up to 0.
    for (const amount of [24_995_000n, 25_000_100n, 5_000n, 0n]) {
      expect(rounded(amount)).to.equal(amount);
    }
    // Amounts of two decimals or fewer cannot be rounded to two.
    for (const decimals of [2, 1, 0]) expect(rounded(2_500n, decimals)).to.equal(2_500n);
  });

  it("are counted from one amount to another, both included", () => {
    const range = amountRange(25_000_000n, peggedToken(6));
    const between = (least: bigint, most: bigint) => roundBetween(range, 100n, least, most);
    // 25.01 to 25.02, 25.0001 to 25.0099, and single amounts.
    expect(between(25_010_000n, 25_020_000n)).to.equal(2n);
    expect(between(25_000_100n, 25_009_900n)).to.equal(0n);
    expect(between(25_009_900n, 25_010_000n)).to.equal(1n);
    expect(between(25_010_000n, 25_010_000n)).to.equal(1n);
    expect(between(25_010_100n, 25_010_100n)).to.equal(0n);
    expect(between(25_020_000n, 25_010_000n)).to.equal(0n);
  });

  it("are more than a rest ever adds: the digits of a rest are below 0.01", () => {
    const rest = (price: bigint, decimals = 6) => amountRange(price, peggedToken(decimals));
    const capOf = (price: bigint, decimals?: number) => belowHundredth(rest(price, decimals)).cap;
    // Digits of a price of 25.00 go up to 0.25, and of one of 1.00 up to 0.01.
    expect(belowHundredth(rest(25_000_000n))).to.deep.equal({ ...rest(25_000_000n), cap: 9_999n });
    expect(capOf(1_000_000n)).to.equal(9_999n);
    // 1 % of 0.99 or of 0.50 is less anyway, and 25.00 of a token of two decimals has no other digits than these.
    expect([capOf(990_000n), capOf(500_000n)]).to.deep.equal([9_900n, 5_000n]);
    expect(capOf(2_500n, 2)).to.equal(25n);
  });
});

describe("the regions near a price", () => {
  it("begin with its own if a fee could come from a price a thousand times as high, and never at zero", () => {
    expect(regionsNear(amountRange(100n, peggedToken(6)))[0]).to.equal("03:1");
    expect(regionsNear(amountRange(100n, peggedToken(2)))[0]).to.equal("01:1");
  });
});

describe("the price that a payer is asked for", () => {
  const usdt18 = peggedToken(18);
  it("is rounded up to four decimals, whatever the precision of the contract", () => {
    // 24.99 EUR at a rate that is quoted the other way round.
    expect(payablePrice(27_112_943_474_015_406_315n, usdt18, false)).to.equal(
      27_113_000_000_000_000_000n,
    );
    expect(payablePrice(27_112_944n, peggedToken(6), false)).to.equal(27_113_000n);
    expect(payablePrice(27_113_000n, peggedToken(6), false)).to.equal(27_113_000n);
    expect(payablePrice(2_711n, peggedToken(2), false)).to.equal(2_711n);
    expect(payablePrice(12_345n, peggedToken(3), false)).to.equal(12_345n);
  });

  it("keeps up to six decimals of an amount that the merchant gave in the token", () => {
    expect(payablePrice(12_345_678n, peggedToken(6), true)).to.equal(12_345_678n);
    expect(payablePrice(1_000_000_000_000_000_001n, usdt18, true)).to.equal(
      10n ** 18n + 10n ** 12n,
    );
  });

  it("in a token without a peg has as many decimals as keep its rounding at 0.1 %", () => {
    const wbtc = { decimals: 8, amountDecimals: 8, pegs: [] };
    // 0.00031234: at six decimals rounding would add 0.2 %, at seven 0.02 %.
    expect(payablePrice(31_234n, wbtc, false)).to.equal(31_240n);
    expect(payablePrice(3_123_456n, wbtc, false)).to.equal(3_123_500n);
    const token = fc
      .record({ decimals: fc.integer({ min: 0, max: 18 }), extra: fc.integer({ min: 0, max: 18 }) })
      .map(({ decimals, extra }) => ({
        token: { decimals, amountDecimals: Math.max(0, decimals - extra), pegs: [] },
      }));
    fc.assert(
      fc.property(token, fc.bigInt(1n, 10n ** 30n), ({ token }, exact) => {
        const price = payablePrice(exact, token, false);
        const finest = 10n ** BigInt(token.decimals - token.amountDecimals);
        expect(price >= exact && price % finest === 0n).to.equal(true);
        if (exact >= 1_000n * finest) expect((price - exact) * 1_000n <= exact).to.equal(true);
      }),
    );
  });
});
