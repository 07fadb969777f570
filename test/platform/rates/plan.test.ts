import { expect } from "chai";
import { readFileSync } from "node:fs";
import { compareRatios, ratio, readRatio } from "../../../src/kernel/money/ratio.ts";
import {
  noRates,
  parseRates,
  withoutSources,
  type RatesPlan,
} from "../../../src/platform/rates/plan.ts";

const symbols = new Set(["USDT", "WBTC"]);

function plan(text: string): RatesPlan {
  const parsed = parseRates(text, symbols);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.value;
}

function problems(text: string): string[] {
  const parsed = parseRates(text, symbols);
  return parsed.ok
    ? []
    : parsed.problems.map(
        ({ path, line, message }) => `${path || `line ${String(line)}`}: ${message}`,
      );
}

const ask = (more: string, name = "one") =>
  `{ name: ${name}, url: "https://rates.example/{from}-{to}", value: "/rates/{to}"${more} }`;

describe("the rates file", () => {
  it("ships three independent sources for ten currencies, and a valid example", () => {
    const text = readFileSync(new URL("../../../config/rates.yaml", import.meta.url), "utf8");
    const shipped = plan(text);
    expect(shipped).to.include({ refreshMs: 300_000, maxAgeMs: 3_600_000 });
    const codes = ["AUD", "BRL", "CAD", "CHF", "EUR", "GBP", "INR", "JPY", "MXN", "TRY"];
    expect(shipped.pairs.map(({ name }) => name)).to.deep.equal(codes.map((code) => `${code}/USD`));
    for (const { name, sources, least, most } of shipped.pairs) {
      const hosts = sources.map(({ url }) => new URL(url).host);
      expect(new Set(hosts).size, name).to.equal(3);
      expect(sources.map(({ url }) => new URL(url).protocol)).to.deep.equal(
        Array(3).fill("https:"),
      );
      expect([least, most], name).not.to.include(null);
    }
    // One request per provider serves all pairs.
    expect(
      new Set(shipped.pairs.flatMap(({ sources }) => sources.map(({ url }) => url))).size,
    ).to.equal(3);
    const lines = text.split("\n");
    const start = lines.findIndex((line) => line.startsWith("# An example")) + 2;
    const example = lines
      .slice(start, lines.indexOf("", start))
      .map((line) => line.slice(4))
      .join("\n");
    const sources = 'sources: { ecb: { url: "https://ecb.example", value: "/rates/{from}" } }';
    expect(plan(`${sources}\n${example}`).pairs.map(({ name }) => name)).to.deep.equal([
      "EUR/USD",
      "AED/USD",
    ]);
  });

  it("ships fixed sample rates for the same currencies for the demo", () => {
    const demo = readFileSync(new URL("../../../config/rates.demo.yaml", import.meta.url), "utf8");
    const real = readFileSync(new URL("../../../config/rates.yaml", import.meta.url), "utf8");
    const { pairs } = plan(demo);
    expect(pairs.map(({ name }) => name)).to.deep.equal(plan(real).pairs.map(({ name }) => name));
    expect(pairs.every(({ fixed }) => fixed !== null)).to.equal(true);
    for (const { name, least, most } of plan(real).pairs) {
      const { fixed = null } = pairs.find((pair) => pair.name === name) ?? {};
      if (fixed === null || least === null || most === null)
        throw new Error(`${name} lacks a rate`);
      expect(compareRatios(least, fixed) < 0 && compareRatios(fixed, most) < 0, name).to.equal(
        true,
      );
    }
  });

  it("resolves the sources that pairs name, each with its own interval", () => {
    const { pairs } = plan(
      `{ refreshSeconds: 60, maxSpreadPercent: "1",
         sources: { day: { url: "https://a.example/?c={from}", value: "/{from}", dated: /d, refreshSeconds: 7200 } },
         pairs: { EUR/USD: { sources: [day, ${ask("")}] }, TRY/USD: { maxSpreadPercent: "5", sources: [day] } } }`,
    );
    const [euro, lira] = pairs;
    expect(euro?.sources).to.deep.equal([
      {
        name: "day",
        url: "https://a.example/?c=EUR",
        value: "/EUR",
        isInverted: false,
        dated: "/d",
        refreshMs: 7_200_000,
      },
      {
        name: "one",
        url: "https://rates.example/EUR-USD",
        value: "/rates/USD",
        isInverted: false,
        dated: null,
        refreshMs: 60_000,
      },
    ]);
    expect([euro?.maxSpread, lira?.maxSpread]).to.deep.equal([ratio(1n, 100n), ratio(1n, 20n)]);
    expect(withoutSources({ ...noRates, pairs }).pairs).to.deep.equal([]);
  });

  it("parses sources and fixed rates exactly", () => {
    const { pairs, maxJump } = plan(
      `{ maxJumpPercent: "12.5", pairs: { EUR/USDT: { least: "0.5", sources: [${ask(", inverted: true")}] },
         JPY/USD: { fixed: "0.0066" } } }`,
    );
    expect(maxJump).to.deep.equal({ numerator: 1n, denominator: 8n });
    expect(pairs[0]).to.deep.include({
      name: "EUR/USDT",
      from: "EUR",
      to: "USDT",
      fixed: null,
      most: null,
      least: readRatio("0.5"),
      sources: [
        {
          name: "one",
          url: "https://rates.example/EUR-USDT",
          value: "/rates/USDT",
          isInverted: true,
          dated: null,
          refreshMs: 300_000,
        },
      ],
    });
    expect(pairs[1]?.fixed).to.deep.equal(readRatio("0.0066"));
  });

  it("reports all problems at once", () => {
    const wrong: readonly (readonly [string, string])[] = [
      ["pairs: { EURUSD: { fixed: '1' } }", "pairs.EURUSD: must be named by two codes"],
      ["pairs: { EUR/XYZ: { fixed: '1' } }", "names XYZ, which is neither an ISO 4217 currency"],
      ["pairs: { EUR/EUR: { fixed: '1' } }", "must be between two different codes"],
      ["pairs: { EUR/USD: { fixed: '1' }, USD/EUR: { fixed: '1' } }", "keep one"],
      ["pairs: { EUR/USD: { fixed: 1.08 } }", "write it in quotes"],
      ["pairs: { EUR/USD: { fixed: '0' } }", "must be a decimal number above 0"],
      ["pairs: { EUR/USD: { fixed: '1e3' } }", "must be a decimal number above 0"],
      ["pairs: { EUR/USD: {} }", "either a fixed rate or sources"],
      [`pairs: { EUR/USD: { fixed: '1', sources: [${ask("")}] } }`, "either a fixed rate or"],
      [`pairs: { EUR/USD: { sources: [${ask("")}, ${ask("")}] } }`, "names a source twice"],
      ["pairs: { EUR/USD: { sources: [{ name: a, url: 'file:///x', value: '/a' }] } }", "http:"],
      ["pairs: { EUR/USD: { sources: [{ name: a, url: 'https://a', value: a }] } }", "Pointer"],
      ["pairs: { EUR/USD: { sources: [a] } }", "names a, which is not a source of the file"],
      ["pairs: { EUR/USD: { sources: [5] } }", "must be the name of a source"],
      ["pairs: { EUR/USD: { sources: [{ name: a, url: 'https://a' }] } }", "needs both a url"],
      [`sources: { a: ${ask("")} }`, "name"],
      ["sources: { a: { url: 'https://a', value: /a, dated: b } }", "JSON Pointer"],
      ["sources: { a: { url: 'https://a', value: /a, refreshSeconds: 1 } }", "refreshSeconds"],
      ["maxJumpPercent: '0'", "maxJumpPercent: must be a percentage above 0"],
      ["maxAgeSeconds: 30", "maxAgeSeconds: must not be less than refreshSeconds"],
      ["pair: {}", "pair: is not a known entry; did you mean pairs?"],
      ["pairs: [", "line 1"],
    ];
    for (const [text, expected] of wrong) {
      expect(problems(text).join("\n"), text).to.include(expected);
    }
  });
});
