import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { readRatio, ratio } from "../../../src/kernel/money/ratio.ts";
import {
  loadReply,
  parseExactJson,
  readReply,
  SourceFault,
  type RateFetch,
} from "../../../src/platform/rates/source.ts";
import type { RatePair, RateSource } from "../../../src/platform/rates/plan.ts";

const at = Date.parse("2026-11-22T10:00:00Z");

const pair: RatePair = {
  name: "EUR/USD",
  from: "EUR",
  to: "USD",
  fixed: null,
  sources: [],
  least: readRatio("0.5"),
  most: readRatio("2"),
  maxSpread: ratio(1n, 50n),
};
const source: RateSource = {
  name: "one",
  url: "https://rates.example/?key=hidden",
  value: "/rates/USD",
  isInverted: false,
  dated: null,
  refreshMs: 300_000,
};

function answering(
  body: string | Uint8Array,
  status = 200,
  headers: Record<string, string> = {},
): RateFetch {
  return () =>
    Promise.resolve({
      status,
      headers: new Headers(headers),
      body: (async function* () {
        await Promise.resolve();
        yield typeof body === "string" ? Buffer.from(body) : body;
      })(),
    });
}

async function ask(fetch: RateFetch, of: RateSource = source, about = pair) {
  const signal = new AbortController().signal;
  return readReply(await loadReply(of.url, at, { fetch, signal }), of, about, at);
}

async function fault(fetch: RateFetch, of = source): Promise<string> {
  try {
    await ask(fetch, of);
  } catch (error) {
    if (error instanceof SourceFault) return error.message;
    throw error;
  }
  throw new Error("it was believed");
}

describe("a source of rates", () => {
  it("is read no further than its limit, however small the compressed answer is", async () => {
    const bomb = gzipSync(Buffer.alloc(16 * 1_024 ** 2, 32));
    const server = createServer((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
    }).listen(0, "127.0.0.1");
    try {
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      const url = `http://127.0.0.1:${String(port)}/`;
      expect(bomb.byteLength).to.be.lessThan(262_144);
      expect(await fault(fetch, { ...source, url })).to.include("longer than");
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it("is read exactly by a pointer, as a number or as text", async () => {
    const exact = "1.083412345678901234567890123";
    for (const written of [exact, `"${exact}"`]) {
      const rate = await ask(answering(`{"base":"EUR","rates":{"USD":${written}}}`));
      expect(rate).to.deep.equal(readRatio(exact));
    }
    // JSON allows exponents.
    for (const [written, plain] of [
      ["1.08e0", "1.08"],
      ["108E-2", "1.08"],
      ["0.108e+1", "1.08"],
      ["1e0", "1"],
      ["0.000108e4", "1.08"],
    ] as const) {
      const rate = await ask(answering(`{"rates":{"USD":${written}}}`));
      expect(rate, written).to.deep.equal(readRatio(plain));
    }
    const nested = { ...source, value: "/result/a~1b/c/0" };
    const listed = answering('{"result":{"a/b":{"c":["1.25000","9"]}}}');
    expect(await ask(listed, nested)).to.deep.equal(ratio(5n, 4n));
    const inverted = { ...source, isInverted: true };
    expect(await ask(answering('{"rates":{"USD":0.8}}'), inverted)).to.deep.equal(ratio(5n, 4n));
  });

  it("is rejected if its response has no rate, and its URL is never revealed", async () => {
    const rate = (text: string) => answering(`{"rates":{"USD":${text}}}`);
    const cases: readonly (readonly [RateFetch, string])[] = [
      [answering("<!doctype html><p>Just a moment"), "HTML"],
      [answering('{"rates":{"USD":1.0'), "not JSON"],
      [answering(""), "not JSON"],
      [rate("0"), '"0", not a plain decimal'],
      [rate("-1.08"), '"-1.08", not a plain decimal'],
      [rate('"1.08e"'), "not a plain decimal"],
      [rate("0e5"), "not a plain decimal"],
      [rate("1.08e999"), "not a plain decimal"],
      [rate('"1,08"'), "not a plain decimal"],
      [rate('"NaN"'), "not a plain decimal"],
      [rate("null"), "its rate is null, not a number"],
      [rate('{"a":1}'), "not a number"],
      [rate("123456"), "outside the plausible range"],
      [rate("0.0001"), "outside the plausible range"],
      [rate("1".repeat(30)), "not a plain decimal"],
      [answering('{"rates":{}}'), "nothing at /rates/USD"],
      [answering("[]"), "nothing at /rates/USD"],
      [answering("{}", 500), "HTTP 500"],
      [answering("{}", 429), "HTTP 429"],
      [answering("", 302), "redirect"],
      [answering(new Uint8Array(300_000)), "longer than"],
      [() => Promise.reject(new Error("ECONNREFUSED key=hidden")), "cannot be reached"],
    ];
    for (const [fetch, expected] of cases) {
      const message = await fault(fetch);
      expect(message).to.include(expected);
      expect(message).not.to.include("hidden");
    }
  });

  it("is rejected if its rate is implausibly large or small", async () => {
    const free = { ...pair, least: null, most: null };
    const huge = answering('{"rates":{"USD":1000000000001}}');
    const tried = ask(huge, source, free).catch((error: unknown) => error);
    expect(await tried).to.be.instanceOf(SourceFault);
    expect(await ask(answering('{"rates":{"USD":15000000}}'), source, free)).to.deep.equal(
      readRatio("15000000"),
    );
  });
});

describe("the day of a source's rate", () => {
  const dated = { ...source, dated: "/date" };
  const of = (date: string) => ask(answering(`{"date":${date},"rates":{"USD":1.1}}`), dated);
  const days = (count: number) => new Date(at + count * 86_400_000).toISOString();

  it("may be the last working day before a long weekend, as a date or Unix time", async () => {
    for (const date of [days(0), days(-5), days(-6), days(0.5)]) {
      expect(await of(`"${date.slice(0, 10)}"`), date).to.deep.equal(readRatio("1.1"));
    }
    expect(await of(String(at))).to.deep.equal(readRatio("1.1"));
    expect(await of(`"${String(at / 1_000)}.5"`)).to.deep.equal(readRatio("1.1"));
    for (const seconds of [0, -500_000, 80_000]) {
      expect(await of(String(at / 1_000 + seconds))).to.deep.equal(readRatio("1.1"));
    }
  });

  it("is rejected if the source stopped publishing or gives no date", async () => {
    for (const date of [days(-8), days(-400), days(2), days(400)]) {
      const message = await fault(answering(`{"date":"${date}","rates":{"USD":1.1}}`), dated);
      expect(message).to.include(date.slice(0, 10)).and.include("too far from today");
    }
    for (const date of ['"soon"', "null", "{}", "17", '"2026-99-99"']) {
      const body = `{"date":${date},"rates":{"USD":1.1}}`;
      expect(await fault(answering(body), dated)).to.include("not a date");
    }
    expect(await fault(answering('{"rates":{"USD":1.1}}'), dated)).to.include("nothing at /date");
  });
});

describe("exact JSON", () => {
  it("keeps every digit of numbers and leaves strings alone", () => {
    const text = '{ "a": [1.10, -2, 3E+5], "b 1.5": "x \\"7\\" 8", "c": true, "d": null }';
    expect(parseExactJson(text)).to.deep.equal({
      a: ["1.10", "-2", "3E+5"],
      "b 1.5": 'x "7" 8',
      c: true,
      d: null,
    });
    expect(() => parseExactJson("{a:1}")).to.throw(SyntaxError);
  });
});
