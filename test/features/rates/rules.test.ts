import { expect } from "chai";
import { formatRate, ratio, readRatio } from "../../../src/kernel/money/ratio.ts";
import {
  afterCheck,
  combine,
  differs,
  isFresh,
  median,
  unknownPair,
  type PairState,
} from "../../../src/features/rates/rules.ts";
import { noRates } from "../../../src/platform/rates/plan.ts";
import type { SourceReply } from "../../../src/platform/rates/source.ts";

const at = 1_800_000_000_000;
const pair = { maxSpread: ratio(1n, 50n) };
const given = (...texts: readonly string[]): SourceReply[] =>
  texts.map((text, place) => ({ source: `s${String(place)}`, rate: readRatio(text) }));
const failing = (source: string): SourceReply => ({ source, fault: "its answer is HTML" });
const rateOf = ({ accepted }: PairState) => (accepted === null ? null : formatRate(accepted.rate));

function check(before: PairState, text: string, now: number): PairState {
  return afterCheck(before, combine(given(text), pair, now), noRates, now);
}

describe("rates from several sources", () => {
  it("are combined to their exact median", () => {
    expect(median([readRatio("1.09")])).to.deep.equal(readRatio("1.09"));
    expect(median(["1.10", "1.08", "1.081"].map(readRatio))).to.deep.equal(readRatio("1.081"));
    expect(median(["1.0801", "1.0802"].map(readRatio))).to.deep.equal(readRatio("1.08015"));
    const thirds = [ratio(1n, 3n), ratio(2n, 3n)];
    expect(median(thirds)).to.deep.equal(ratio(1n, 2n));
  });

  it("require half of the sources, most of them close together", () => {
    const one = combine([...given("1.08"), failing("dead")], pair, at);
    expect(one.quote?.sources).to.deep.equal(["s0"]);
    expect(one.problem).to.equal("dead: its answer is HTML");
    const few = combine([...given("1.08"), failing("dead"), failing("gone")], pair, at);
    expect(few.quote).to.equal(null);
    expect(few.problem).to.match(/dead.*gone.*too few/);
    const liar = combine(given("1.08", "1.081", "9.9"), pair, at);
    expect(liar.quote).to.deep.include({ sources: ["s0", "s1"], rate: readRatio("1.0805") });
    expect(liar.problem).to.equal("s2: 9.9 is far from the others");
    const split = combine(given("1.00", "1.50"), pair, at);
    expect(split.quote).to.equal(null);
    expect(split.problem).to.include("disagree");
    expect(combine([failing("dead")], pair, at).quote).to.equal(null);
    expect(combine([], pair, at)).to.deep.equal({
      quote: null,
      problem: "too few sources responded",
    });
    const half = combine([...given("1.08", "1.08"), failing("dead"), failing("gone")], pair, at);
    expect(half.quote?.sources).to.deep.equal(["s0", "s1"]);
    const even = combine(given("1.00", "1.00", "1.50", "1.50"), pair, at);
    expect([even.quote, even.problem?.split("; ").length]).to.deep.equal([null, 5]);
    const around = ["0.50", "1.00", "1.00", "1.50"];
    expect(combine(given(...around), pair, at).quote).to.equal(null);
    const most = combine(given(...around, "1.00"), pair, at);
    expect(most.quote?.rate).to.deep.equal(readRatio("1.00"));
    expect(combine(given("1.08", "1.08"), pair, at)).to.deep.equal({
      quote: { rate: readRatio("1.08"), sources: ["s0", "s1"], at },
      problem: null,
    });
  });
});

describe("a rate jump", () => {
  it("is a change beyond the limit in either direction, to the last digit", () => {
    const tenth = ratio(1n, 10n);
    expect(differs(readRatio("1.1"), readRatio("1"), tenth)).to.equal(false);
    expect(differs(readRatio("1.100000000000000001"), readRatio("1"), tenth)).to.equal(true);
    expect(differs(readRatio("0.9"), readRatio("1"), tenth)).to.equal(false);
    expect(differs(readRatio("0.899999999999999999"), readRatio("1"), tenth)).to.equal(true);
  });

  it("awaits a second reading, while the old rate stays in force", () => {
    const first = check(unknownPair, "1.08", at);
    const jumped = check(first, "1.30", at + 60_000);
    expect(rateOf(jumped)).to.equal("1.08");
    expect(jumped.problem).to.include("a jump from 1.08 to 1.3");
    const sooner = check(jumped, "1.30", at + 69_999);
    expect(rateOf(sooner)).to.equal("1.08");
    expect(sooner.pending?.at).to.equal(at + 60_000);
    const confirmed = check(sooner, "1.31", at + 70_000);
    expect(rateOf(confirmed)).to.equal("1.31");
    expect(confirmed).to.include({ pending: null, problem: null });
  });

  it("is forgotten if it was a glitch, and another glitch does not confirm it", () => {
    const jumped = check(check(unknownPair, "1.08", at), "108", at + 60_000);
    const back = check(jumped, "1.09", at + 120_000);
    expect(rateOf(back)).to.equal("1.09");
    expect(back).to.include({ pending: null, problem: null });
    const other = check(jumped, "0.0108", at + 120_000);
    expect(rateOf(other)).to.equal("1.08");
    expect(other.pending).to.deep.include({ rate: readRatio("0.0108"), at: at + 120_000 });
  });

  it("adds to what is wrong with the sources, and keeps the time of the next query", () => {
    const combined = combine([...given("1.30", "1.30"), failing("dead")], pair, at + 60_000);
    const jumped = afterCheck(check(unknownPair, "1.08", at), combined, noRates, at + 60_000, 7);
    expect(jumped.problem).to.equal(
      "dead: its answer is HTML; a jump from 1.08 to 1.3 is pending confirmation",
    );
    expect(jumped).to.include({ checkedAt: at + 60_000, nextAt: 7 });
    expect(check(jumped, "1.08", at + 120_000)).to.include({ nextAt: null, problem: null });
  });

  it("is not detected against a very old quote", () => {
    const first = check(unknownPair, "1.08", at);
    expect(rateOf(check(first, "1.30", at + noRates.jumpWindowMs))).to.equal("1.08");
    const later = check(first, "1.30", at + noRates.jumpWindowMs + 1);
    expect(rateOf(later)).to.equal("1.3");
  });

  it("keeps the accepted rate without new readings, until it is stale", () => {
    const first = check(unknownPair, "1.08", at);
    const failed = afterCheck(
      first,
      combine([failing("dead")], pair, at + 60_000),
      noRates,
      at + 60_000,
    );
    expect(failed).to.deep.include({ accepted: first.accepted, checkedAt: at + 60_000 });
    expect(failed.problem).to.include("HTML");
    const quote = first.accepted;
    if (quote === null) throw new Error("nothing was accepted");
    expect(isFresh(quote, noRates.maxAgeMs, at + noRates.maxAgeMs)).to.equal(true);
    expect(isFresh(quote, noRates.maxAgeMs, at + noRates.maxAgeMs + 1)).to.equal(false);
    // The clocks of processes may differ by a minute.
    expect(isFresh(quote, noRates.maxAgeMs, at - 60_000)).to.equal(true);
    expect(isFresh(quote, noRates.maxAgeMs, at - 60_001)).to.equal(false);
  });
});
