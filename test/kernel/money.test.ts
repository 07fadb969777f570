import { expect } from "chai";
import fc from "fast-check";
import {
  add,
  currencyDecimals,
  findCurrency,
  formatMoney,
  isSameAsset,
  money,
  moneyPattern,
  MoneyTextError,
  parseMoney,
  parseMoneyField,
  parseSignedMoney,
  signedMoneyPattern,
  subtract,
  sum,
  tokenAsset,
  zero,
  type Asset,
  type Money,
} from "../../src/kernel/money/money.ts";
import { Defect, Problem } from "../../src/kernel/errors.ts";
import type { Rounding } from "../../src/kernel/money/ratio.ts";
import { divideRounded } from "../../src/kernel/money/ratio.ts";
import { cpuMs } from "../support/cpu-time.ts";

const usdt = tokenAsset("USDT", 6);
const wei = tokenAsset("USDT", 18);
const usd: Asset = { code: "USD", decimals: 2, displayDecimals: 2 };
const jpy: Asset = { code: "JPY", decimals: 0, displayDecimals: 0 };

const assets = fc.integer({ min: 0, max: 36 }).map((decimals) => tokenAsset("TOK", decimals));
/** An asset and an amount of its units below 10^18 whole units. */
const amounts = assets.chain((asset) =>
  fc
    .bigInt({ min: 0n, max: 10n ** BigInt(18 + asset.decimals) - 1n })
    .map((units) => money(units, asset)),
);
const signedAmounts = amounts.chain((amount) =>
  fc.boolean().map((isNegative) => (isNegative ? money(-amount.units, amount.asset) : amount)),
);
const roundings = fc.constantFrom<Rounding[]>("down", "up", "half_even");
const bigs = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n });

/** Returns the reason for which a text is refused. */
function refusal(read: () => Money): string {
  try {
    return `accepted as ${formatMoney(read())}`;
  } catch (error) {
    if (error instanceof MoneyTextError) return error.reason;
    throw error;
  }
}

describe("assets", () => {
  it("have the decimals of ISO 4217 for currencies", () => {
    const decimals = ["USD", "EUR", "JPY", "KWD", "CLF", "IQD", "HUF"].map(
      (code) => findCurrency(code)?.decimals,
    );
    expect(decimals).to.deep.equal([2, 2, 0, 3, 4, 3, 2]);
    expect([...currencyDecimals.keys()].every((code) => /^[A-Z]{3}$/.test(code))).to.equal(true);
    expect(currencyDecimals.size).to.equal(165);
  });

  it("exclude codes without a minor unit, withdrawn codes and other spellings", () => {
    for (const code of ["XAU", "XTS", "XXX", "DEM", "HRK", "BGN", "usd", "US", "", "constructor"]) {
      expect(findCurrency(code), code).to.equal(null);
    }
  });

  it("of a token display two decimals, or fewer if it has fewer", () => {
    expect(tokenAsset("USDT", 6).displayDecimals).to.equal(2);
    expect(tokenAsset("ONE", 1).displayDecimals).to.equal(1);
    for (const decimals of [-1, 1.5, 37, Number.NaN]) {
      expect(() => tokenAsset("BAD", decimals)).to.throw(RangeError);
    }
  });

  it("are equal only with the same code and decimals", () => {
    expect(isSameAsset(usdt, tokenAsset("USDT", 6))).to.equal(true);
    expect(isSameAsset(usdt, wei)).to.equal(false);
    expect(isSameAsset(usdt, tokenAsset("USDC", 6))).to.equal(false);
  });
});

describe("money as text", () => {
  it("is parsed and formatted exactly", () => {
    const written = (text: string, asset: Asset): string => formatMoney(parseMoney(text, asset));
    expect(written("25", usdt)).to.equal("25.00");
    expect(written("25.000000", usdt)).to.equal("25.00");
    expect(written("0.100000", usdt)).to.equal("0.10");
    expect(written("0.1000001", wei)).to.equal("0.1000001");
    expect(written("999999999999999999.999999999999999999", wei)).to.equal(
      "999999999999999999.999999999999999999",
    );
    expect(written("1000", jpy)).to.equal("1000");
    expect(parseMoney("0.000001", usdt).units).to.equal(1n);
    expect(parseMoney("1.0000000000000000001".slice(0, 20), wei).units).to.equal(10n ** 18n);
    expect(formatMoney(parseSignedMoney("-0.5", usd))).to.equal("-0.50");
  });

  it("survives formatting and parsing unchanged", () => {
    fc.assert(
      fc.property(signedAmounts, (amount) => {
        const text = formatMoney(amount);
        expect(text).to.match(signedMoneyPattern);
        expect(parseSignedMoney(text, amount.asset)).to.deep.equal(amount);
        if (amount.units >= 0n) expect(parseMoney(text, amount.asset)).to.deep.equal(amount);
      }),
    );
  });

  it("has exactly one canonical form", () => {
    fc.assert(
      fc.property(amounts, (amount) => {
        const text = formatMoney(amount);
        const { displayDecimals } = amount.asset;
        const fraction = text.split(".")[1] ?? "";
        expect(fraction.length).to.be.at.least(displayDecimals);
        if (fraction.length > displayDecimals) expect(fraction.endsWith("0")).to.equal(false);
        expect(formatMoney(parseMoney(text, amount.asset))).to.equal(text);
      }),
    );
  });

  it("is refused unless it is plain decimal text", () => {
    const refused = [
      ["0x10", "0b11", "0o7", "1e3", "1E3", "1e-3", "Infinity", "-Infinity", "NaN", "1n", "1_000"],
      ["", " ", " 1", "1 ", "\t1", "1\n", "\n1", "1\r\n", "1\u00a0", "\ufeff1", "1\0", "\0"],
      ["+1", "-1", "--1", "-0", "- 1", "−1", "1,5", "1,000", "1.000,00", "1'000", "$1", "1 USD"],
      [".5", "5.", ".", "1..2", "1.2.3", "00", "01", "00.1", "١", "１", "1.２", "½", "一", "true"],
      ["[]", "null", "undefined", "{}", "__proto__", "9".repeat(19), "9".repeat(40), "1/2", "1%"],
    ].flat();
    for (const text of refused) {
      expect(
        refusal(() => parseMoney(text, usdt)),
        JSON.stringify(text),
      ).to.equal("not_decimal");
      expect(moneyPattern.test(text), JSON.stringify(text)).to.equal(false);
    }
    for (const text of ["-", "--1", "-0", "-0.00", "-01", "-.5", "+-1", "- 1", "-1e3"]) {
      expect(
        refusal(() => parseSignedMoney(text, usdt)),
        text,
      ).to.equal("not_decimal");
    }
  });

  it("is refused with more decimals than its asset has", () => {
    expect(refusal(() => parseMoney("0.0000001", usdt))).to.equal("too_many_decimals");
    expect(refusal(() => parseMoney("0.0000000", usdt))).to.equal("too_many_decimals");
    expect(refusal(() => parseMoney("1.0", jpy))).to.equal("too_many_decimals");
    expect(refusal(() => parseSignedMoney("-1.001", usd))).to.equal("too_many_decimals");
    expect(() => parseMoney("1.001", usd)).to.throw("USD has at most 2 decimals");
    expect(() => parseMoney("1.0", jpy)).to.throw("JPY has no decimals");
    expect(() => parseMoney("1,0", jpy)).to.throw('such as "25"');
    expect(() => parseMoney("1,0", usd)).to.throw('such as "25.00"');
  });

  it("from arbitrary input is refused or parsed to the same value", () => {
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.stringMatching(/^[-+ 0-9.,eExX_]{0,24}$/),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const outcome = refusal(() => parseMoney(text, usdt));
        const isAmount = /^(0|[1-9]\d{0,17})(\.\d{1,6})?$/.test(text);
        expect(outcome.startsWith("accepted")).to.equal(isAmount);
      }),
      { numRuns: 500 },
    );
  });

  it("of a million characters is refused with 100 ms of processor time", () => {
    const times = Array.from({ length: 5 }, () => {
      const before = cpuMs();
      refusal(() => parseMoney("1".repeat(1_000_000), usdt));
      refusal(() => parseMoney(`1.${"0".repeat(1_000_000)}x`, usdt));
      return cpuMs() - before;
    });
    // The minimum counts, because the first ones are compiled meanwhile.
    expect(Math.min(...times)).to.be.below(100);
  });
});

describe("a money field", () => {
  function problem(read: () => Money): {
    status: number;
    pointer: string | undefined;
    code: string;
  } {
    try {
      read();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const [first] = error.errors;
      if (first === undefined) throw error;
      return { status: error.status, pointer: first.pointer, code: first.code };
    }
    throw new Error("it was accepted");
  }

  it("is a 400 problem with the pointer and the reason if invalid", () => {
    const at = (text: string, range?: "positive" | "not_negative" | "signed") =>
      problem(() => parseMoneyField("/amount", text, usd, range));
    const refused = (code: string) => ({ status: 400, pointer: "/amount", code });
    expect(at("1e3")).to.deep.equal(refused("not_decimal"));
    expect(at("1.001")).to.deep.equal(refused("too_many_decimals"));
    expect(at("0.00")).to.deep.equal(refused("not_positive"));
    expect(at("-1", "not_negative")).to.deep.equal(refused("not_decimal"));
    expect(at("-0", "signed")).to.deep.equal(refused("not_decimal"));
  });

  it("accepts amounts in its range", () => {
    expect(parseMoneyField("/amount", "0.01", usd).units).to.equal(1n);
    expect(parseMoneyField("/amount", "0", usd, "not_negative").units).to.equal(0n);
    expect(parseMoneyField("/amount", "-0.01", usd, "signed").units).to.equal(-1n);
  });
});

describe("arithmetic on money", () => {
  it("adds and subtracts exactly", () => {
    const three = add(parseMoney("0.1", usdt), parseMoney("0.2", usdt));
    expect(formatMoney(three)).to.equal("0.30");
    fc.assert(
      fc.property(bigs, bigs, bigs, (one, other, third) => {
        const [a, b, c] = [money(one, usdt), money(other, usdt), money(third, usdt)];
        expect(subtract(add(a, b), b)).to.deep.equal(a);
        expect(sum([a, b, c], usdt)).to.deep.equal(add(c, add(b, a)));
        expect(subtract(a, a)).to.deep.equal(zero(usdt));
      }),
    );
    expect(sum([], usd)).to.deep.equal(zero(usd));
  });

  it("refuses to mix assets, or different decimals of one code", () => {
    const foreign = [money(1n, wei), money(1n, tokenAsset("USDC", 6))];
    for (const other of foreign) {
      for (const operation of [add, subtract]) {
        expect(() => operation(money(1n, usdt), other)).to.throw(Defect, "met one in");
      }
      expect(() => sum([other], usdt)).to.throw(Defect);
    }
  });

  it("rounds by the named mode, and negative amounts like their absolute values", () => {
    const halves = [5n, 15n, 25n, -5n, -15n, 14n, 16n].map((units) => ({
      down: divideRounded(units, 10n, "down"),
      up: divideRounded(units, 10n, "up"),
      half_even: divideRounded(units, 10n, "half_even"),
      half_away: divideRounded(units, 10n, "half_away"),
    }));
    expect(halves).to.deep.equal([
      { down: 0n, up: 1n, half_even: 0n, half_away: 1n },
      { down: 1n, up: 2n, half_even: 2n, half_away: 2n },
      { down: 2n, up: 3n, half_even: 2n, half_away: 3n },
      { down: 0n, up: -1n, half_even: 0n, half_away: -1n },
      { down: -1n, up: -2n, half_even: -2n, half_away: -2n },
      { down: 1n, up: 2n, half_even: 1n, half_away: 1n },
      { down: 1n, up: 2n, half_even: 2n, half_away: 2n },
    ]);
    expect(() => divideRounded(1n, 0n, "down")).to.throw(RangeError);
  });

  it("rounds by less than one unit, in the named direction", () => {
    const divisors = bigs.filter((divisor) => divisor !== 0n);
    fc.assert(
      fc.property(bigs, divisors, roundings, (dividend, divisor, rounding) => {
        const quotient = divideRounded(dividend, divisor, rounding);
        const error = absolute(quotient * divisor) - absolute(dividend);
        const limit = absolute(divisor);
        if (rounding === "down") expect(error <= 0n && error > -limit).to.equal(true);
        if (rounding === "up") expect(error >= 0n && error < limit).to.equal(true);
        if (rounding === "half_even") expect(absolute(error) * 2n <= limit).to.equal(true);
        expect(divideRounded(-dividend, divisor, rounding)).to.equal(-quotient);
      }),
    );
  });
});

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}
