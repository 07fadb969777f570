import { expect } from "chai";
import { readFileSync } from "node:fs";
import { readRatio } from "../../../src/kernel/ratio.ts";
import { parseRates, type RatesPlan } from "../../../src/platform/rates/plan.ts";

const symbols = new Set(["USDT", "WBTC"]);

function plan(text: string): RatesPlan {
  const parsed = parseRates(text, symbols);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.plan;
}

function problems(text: string): string[] {
  const parsed = parseRates(text, symbols);
  return parsed.ok ? [] : parsed.problems.map(({ path, message }) => `${path}: ${message}`);
}

const ask = (more: string, name = "one") =>
  `{ name: ${name}, url: "https://rates.example/{from}-{to}", value: "/rates/{to}"${more} }`;

describe("the file of rates", () => {
  it("comes with no pair, and its example is right", () => {
    const text = readFileSync(new URL("../../../config/rates.yaml", import.meta.url), "utf8");
    expect(plan(text)).to.deep.include({ refreshMs: 60_000, maxAgeMs: 900_000, pairs: [] });
    const lines = text.split("\n");
    const example = lines
      .slice(lines.indexOf("# Such as:") + 1)
      .filter((line) => line.startsWith("#"))
      .map((line) => line.slice(4))
      .join("\n");
    expect(plan(example).pairs.map(({ name }) => name)).to.deep.equal(["EUR/USD", "AED/USD"]);
  });

  it("names sources and fixed rates, exactly", () => {
    const { pairs, maxJump } = plan(
      `{ maxJumpPercent: "12.5", pairs: { EUR/USDT: { least: "0.5", sources: [${ask(", inverted: true")}] },
         JPY/USD: { fixed: "0.0066" } } }`,
    );
    expect(maxJump).to.deep.equal({ numerator: 1n, denominator: 8n });
    expect(pairs[0]).to.deep.include({
      ...{ name: "EUR/USDT", from: "EUR", to: "USDT", fixed: null, most: null },
      least: readRatio("0.5"),
      sources: [
        {
          name: "one",
          url: "https://rates.example/EUR-USDT",
          value: "/rates/USDT",
          isInverted: true,
        },
      ],
    });
    expect(pairs[1]?.fixed).to.deep.equal(readRatio("0.0066"));
  });

  it("tells all that is wrong", () => {
    const wrong: readonly (readonly [string, string])[] = [
      ["pairs: { EURUSD: { fixed: '1' } }", "pairs.EURUSD: must be named by two codes"],
      ["pairs: { EUR/XYZ: { fixed: '1' } }", "names XYZ, which is no currency"],
      ["pairs: { EUR/EUR: { fixed: '1' } }", "must be between two kinds"],
      ["pairs: { EUR/USD: { fixed: '1' }, USD/EUR: { fixed: '1' } }", "keep one"],
      ["pairs: { EUR/USD: { fixed: 1.08 } }", "write it in quotes"],
      ["pairs: { EUR/USD: { fixed: '0' } }", "must be a decimal number above 0"],
      ["pairs: { EUR/USD: { fixed: '1e3' } }", "must be a decimal number above 0"],
      ["pairs: { EUR/USD: {} }", "either a fixed rate or sources"],
      [`pairs: { EUR/USD: { fixed: '1', sources: [${ask("")}] } }`, "either a fixed rate or"],
      [`pairs: { EUR/USD: { sources: [${ask("")}, ${ask("")}] } }`, "names a source twice"],
      ["pairs: { EUR/USD: { sources: [{ name: a, url: 'file:///x', value: '/a' }] } }", "http:"],
      ["pairs: { EUR/USD: { sources: [{ name: a, url: 'https://a', value: a }] } }", "Pointer"],
      ["maxJumpPercent: '0'", "maxJumpPercent: must be a percentage above 0"],
      ["maxAgeSeconds: 30", "maxAgeSeconds: must not be less than refreshSeconds"],
      ["pears: {}", "pears"],
      ["pairs: [", "line 1"],
    ];
    for (const [text, expected] of wrong) {
      expect(problems(text).join("\n"), text).to.include(expected);
    }
  });
});
