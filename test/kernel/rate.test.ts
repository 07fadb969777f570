import { expect } from "chai";
import fc from "fast-check";
import { formatMoney, money, parseMoney, tokenAsset } from "../../src/kernel/money/money.ts";
import { Defect, Problem } from "../../src/kernel/errors.ts";
import {
  compareRatios,
  convert,
  formatPercent,
  formatRate,
  formatRatio,
  invertRate,
  maxTolerancePercent,
  parRate,
  parsePercent,
  parsePercentField,
  ratio,
  readRatio,
  type Rate,
  type Ratio,
  type Rounding,
} from "../../src/kernel/money/ratio.ts";

const eur = { code: "EUR", decimals: 2, displayDecimals: 2 };
const jpy = { code: "JPY", decimals: 0, displayDecimals: 0 };
const usdt = tokenAsset("USDT", 6);

/** Returns the rate that a decimal text gives. */
function parseRate(text: string, of: Omit<Rate, keyof Ratio>): Rate {
  return { ...of, ...readRatio(text) };
}

const of = { from: "EUR", to: "USDT", source: "test", at: 1_700_000_000_000 };

describe("a rate", () => {
  it("converts without rounding if the result is a whole number of units", () => {
    const rate = parseRate("1.0834", of);
    expect(formatMoney(convert(parseMoney("25.00", eur), rate, usdt, "up"))).to.equal("27.085");
    const back = invertRate(rate);
    expect(formatMoney(convert(parseMoney("27.085", usdt), back, eur, "down"))).to.equal("25.00");
    expect(rate).to.deep.equal({ ...of, numerator: 5417n, denominator: 5000n });
  });

  it("rounds by the named mode otherwise", () => {
    const rate = parseRate("3", { ...of, from: "USDT", to: "EUR" });
    const toTokens = (rounding: Rounding) =>
      formatMoney(convert(parseMoney("1", eur), invertRate(rate), usdt, rounding));
    expect(toTokens("down")).to.equal("0.333333");
    expect(toTokens("up")).to.equal("0.333334");
    expect(toTokens("half_even")).to.equal("0.333333");
    const yen = parRate({ ...of, to: "JPY" });
    expect(formatMoney(convert(parseMoney("2.50", eur), yen, jpy, "half_even"))).to.equal("2");
  });

  it("rounds by less than one unit in the named direction, and its inverse restores the amount", () => {
    const units = fc.bigInt({ min: 0n, max: 10n ** 30n });
    const parts = fc.bigInt({ min: 1n, max: 10n ** 24n });
    const decimals = fc.integer({ min: 0, max: 18 });
    fc.assert(
      fc.property(units, parts, parts, decimals, decimals, (count, up, down, fromD, toD) => {
        const [from, to] = [tokenAsset("EUR", fromD), tokenAsset("USDT", toD)];
        const rate = { ...of, ...ratio(up, down) };
        const exactly = count * rate.numerator * 10n ** BigInt(toD);
        const divisor = rate.denominator * 10n ** BigInt(fromD);
        const floor = convert(money(count, from), rate, to, "down").units;
        const ceiling = convert(money(count, from), rate, to, "up").units;
        const nearest = convert(money(count, from), rate, to, "half_even").units;
        expect(floor * divisor <= exactly && (floor + 1n) * divisor > exactly).to.equal(true);
        expect(ceiling - floor).to.equal(exactly % divisor === 0n ? 0n : 1n);
        expect(nearest === floor || nearest === ceiling).to.equal(true);
        const returned = convert(money(ceiling, to), invertRate(rate), from, "down").units;
        expect(returned >= count).to.equal(true);
      }),
    );
  });

  it("refuses to convert assets other than its own", () => {
    const rate = parseRate("1.1", of);
    expect(() => convert(parseMoney("1", jpy), rate, usdt, "up")).to.throw(Defect, "EUR to USDT");
    expect(() => convert(parseMoney("1", eur), rate, jpy, "up")).to.throw(Defect);
    expect(() => convert(parseMoney("1", usdt), rate, eur, "up")).to.throw(Defect);
  });

  it("is parsed only from positive plain decimal text", () => {
    for (const text of [
      "0",
      "0.000",
      "-1",
      "1e3",
      "",
      " 1",
      "1,1",
      ".5",
      "NaN",
      "Infinity",
      "1.",
    ]) {
      expect(() => parseRate(text, of), text).to.throw(RangeError);
    }
  });

  it("is displayed without an exponent", () => {
    expect(formatRate(parRate(of))).to.equal("1");
    expect(formatRate(parseRate("1.0800", of))).to.equal("1.08");
    expect(formatRate(invertRate(parseRate("3", of)))).to.equal("0.333333333333");
    expect(formatRate(invertRate(parseRate("15000000.5", of)))).to.equal("0.0000000666666644444");
  });
});

describe("a percentage", () => {
  it("is an exact fraction", () => {
    expect(parsePercent("2.5")).to.deep.equal({ numerator: 1n, denominator: 40n });
    expect(parsePercent("0")).to.deep.equal({ numerator: 0n, denominator: 1n });
    expect(parsePercent("100")).to.deep.equal({ numerator: 1n, denominator: 1n });
    expect(parsePercent("0.0001")).to.deep.equal({ numerator: 1n, denominator: 1_000_000n });
  });

  it("is formatted in its shortest form", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000 }), (tenThousandths) => {
        const text = formatPercent(ratio(BigInt(tenThousandths), 1_000_000n));
        expect(parsePercent(text)).to.deep.equal(ratio(BigInt(tenThousandths), 1_000_000n));
        expect(text).not.to.match(/\.\d*0$|\.$/);
      }),
    );
  });

  it("is refused in any other form or above its limit", () => {
    const refused = ["", "2.5%", "-1", "+1", "1e1", ".5", "5.", "01", "1.00001", "100.0001", "١"];
    for (const text of [...refused, "101", "1000", " 1", "1 "]) {
      expect(parsePercent(text), text).to.equal(null);
    }
    expect(parsePercent("5", maxTolerancePercent)).not.to.equal(null);
    expect(parsePercent("5.0001", maxTolerancePercent)).to.equal(null);
  });

  it("is a 400 problem with the pointer if a field is invalid", () => {
    expect(parsePercentField("/value", "50")).to.deep.equal(ratio(1n, 2n));
    expect(() => parsePercentField("/underpaymentTolerance", "6", maxTolerancePercent))
      .to.throw(Problem, "from 0 to 5")
      .that.deep.includes({ status: 400 })
      .and.has.nested.property("errors[0].pointer", "/underpaymentTolerance");
  });
});

describe("a ratio", () => {
  it("is ordered by value, also if not in lowest terms", () => {
    const [third, half] = [ratio(1n, 3n), ratio(2n, 4n)];
    expect(compareRatios(third, half)).to.equal(-1);
    expect(compareRatios(half, third)).to.equal(1);
    expect(compareRatios(half, { numerator: 3n, denominator: 6n })).to.equal(0);
    expect(compareRatios(ratio(-1n, 2n), third)).to.equal(-1);
  });

  it("is reduced to lowest terms with a positive denominator", () => {
    expect(ratio(-6n, 4n)).to.deep.equal({ numerator: -3n, denominator: 2n });
    expect(() => ratio(1n, 0n)).to.throw(RangeError);
    expect(() => ratio(1n, -1n)).to.throw(RangeError);
    expect(formatRatio(ratio(-1n, 3n), 4, "half_even")).to.equal("-0.3333");
  });
});
