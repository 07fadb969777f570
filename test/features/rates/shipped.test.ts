// The file of rates that comes with Till, from its three sources to invoices: what happens when some fail or lie.
import { expect } from "chai";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  approvedMerchant,
  expectStatus,
  startApp,
  order,
  type Answer,
  type Merchant,
  type TestApp,
} from "../../support/app.ts";
import type { App } from "../../../src/app.ts";
import {
  listRates,
  ratesHealth,
  refreshDueRates,
  refreshRates,
} from "../../../src/features/rates/rates.ts";
import { silentLogger, type Logger } from "../../../src/platform/logger/index.ts";
import { appOf } from "../../support/context.ts";
import { xpubs } from "../../support/merchants.ts";
import { kinds, sample, startRateSources, type RateSources } from "../../support/rate-sources.ts";
import { testContext } from "../../support/store/stores.ts";
import { until } from "../../support/until.ts";

const second = 1_000;
const minute = 60 * second;

describe("the shipped exchange rates", () => {
  let folder: string;
  let sources: RateSources;
  let app: TestApp;
  let shop: Merchant;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "till rates "));
    sources = await startRateSources(() => app.clock.now());
    const ratesFile = join(folder, "rates.yaml");
    await writeFile(ratesFile, await sources.file());
    app = await startApp({
      settings: {
        TILL_RATES: "on",
        TILL_RATES_FILE: ratesFile,
        TILL_SANDBOX_BLOCK_MS: "0",
      },
    });
    shop = await approvedMerchant(app);
    await shop.addWallet({ xpub: xpubs.first });
    // Once the first rates and blocks were read.
    await shop.issue({ settlementCurrency: "EUR" });
  });
  after(async () => {
    await app.stop();
    await sources.stop();
    await rm(folder, { recursive: true });
  });
  beforeEach(async () => {
    for (const kind of kinds) sources.set(kind, {});
    await refreshRates(app.app, testContext);
    app.clock.advance(second);
  });

  function create(settlementCurrency: string, more: Record<string, unknown> = {}): Promise<Answer> {
    return shop.post("/invoices", { ...order, amount: "100", settlementCurrency, ...more });
  }
  const today = () => new Date(app.clock.now()).toISOString().slice(0, 10);
  const rateOf = async (code: string) => {
    const answer = await expectStatus(create(code), 201);
    return Number(answer.body["exchangeRate"]);
  };
  const euro = async () => (await listRates(app.app)).find(({ pair }) => pair.name === "EUR/USD");
  async function refresh() {
    await refreshRates(app.app, testContext);
    app.clock.advance(second);
  }

  /** The app of another process on the same store. */
  function anotherApp(logger: Logger): App {
    const { config, db, clock } = app.app;
    return appOf({ config, db, clock, logger });
  }

  it("quote all ten currencies, and fix the rate in the invoice", async () => {
    const invoice = await expectStatus(create("EUR"), 201);
    // 100 × (1 ÷ 0.867528), rounded up to four decimals
    expect(invoice.body).to.include({
      exchangeRate: "1.152700546841",
      payableAmount: "115.2701",
    });
    for (const [code, near] of [
      ["AUD", 0.6467],
      ["BRL", 0.1873],
      ["CAD", 0.7094],
      ["CHF", 1.2373],
      ["GBP", 1.3102],
      ["INR", 0.01118],
      ["JPY", 0.00638],
      ["MXN", 0.05418],
      ["TRY", 0.02356],
    ] as const) {
      expect(await rateOf(code), code).to.be.closeTo(near, near / 1_000);
    }
    const state = await euro();
    expect(state?.accepted?.sources).to.deep.equal([...kinds]);
    expect(await ratesHealth(app.app)).to.deep.include({ status: "ok", problems: [] });
  });

  it("refuse a currency without a pair, issued or drafted, and list those that have one", async () => {
    for (const answer of [await create("ZAR"), await create("ZAR", { draft: true })]) {
      expect(answer.status).to.equal(422);
      expect(answer.body["code"]).to.equal("unsupported_currency");
      expect(answer.body["detail"]).to.equal(
        'No exchange rate leads from "ZAR" to USDT. Settle in one of: AUD, BRL, CAD, CHF, EUR, GBP, INR, JPY, MXN, TRY, USD, USDT.',
      );
      expect(answer.headers.get("Retry-After")).to.equal(null);
    }
  });

  it("log a new problem once for all its pairs, and once that all have quotes again", async () => {
    const lines: unknown[][] = [];
    const note = (...line: unknown[]) => void lines.push(line.slice(0, 2));
    const other = anotherApp({ ...silentLogger, warn: note, info: note });
    const logged = async () => {
      for (let time = 0; time < 2; time += 1) await refreshRates(other, testContext);
      return lines.splice(0);
    };
    expect(await logged()).to.deep.equal([]);
    sources.set("coinbase", { status: 500 });
    const problem = "coinbase: it answered HTTP 500";
    const [[warning] = [], ...more] = await logged();
    expect(more).to.deep.equal([]);
    expect(warning).to.deep.include({ alarm: "rate_problem", problem });
    expect(warning).to.have.property("pairs").that.includes("EUR/USD").and.has.length(10);
    sources.set("coinbase", {});
    expect(await logged()).to.deep.equal([["all exchange rates have quotes again"]]);
    for (const kind of kinds) sources.set(kind, { body: sample(kind, today(), 1.4) });
    const [[jump] = []] = await logged();
    expect(jump).to.deep.include({ alarm: "rate_jump", pairs: ["EUR/USD"] });
  });

  it("work with one source down, and report it once for all pairs", async () => {
    sources.set("coinbase", { status: 500 });
    await refresh();
    expect((await euro())?.accepted?.sources).to.deep.equal(["ecb", "er-api"]);
    const { status, problems } = await ratesHealth(app.app);
    expect(status).to.equal("degraded");
    expect(problems).to.have.length(1);
    expect(problems[0]).to.match(/^AUD\/USD, .*TRY\/USD: coinbase: it answered HTTP 500$/);
    expect(await rateOf("EUR")).to.be.closeTo(1.1527, 0.0001);
  });

  it("stay in force with two sources down until they are stale; then 503 says when to retry", async () => {
    sources.set("coinbase", { status: 500 });
    sources.set("ecb", { status: 429, headers: { "retry-after": "600" } });
    await refresh();
    expect((await euro())?.problem).to.include("too few sources responded");
    expect(await rateOf("EUR")).to.be.closeTo(1.1527, 0.0001);
    app.clock.advance(61 * minute);
    await refresh();
    const refused = await expectStatus(create("EUR"), 503);
    expect(refused.body["code"]).to.equal("rate_unavailable");
    const nextAt = (await euro())?.nextAt ?? 0;
    const waitSeconds = (nextAt - app.clock.now()) / second;
    const retryAfter = Number(refused.headers.get("Retry-After"));
    expect(retryAfter).to.be.within(Math.floor(waitSeconds), Math.ceil(waitSeconds) + 11);
    const { body } = await expectStatus(create("USD"), 201);
    expect(body["exchangeRate"]).to.equal("1");
    for (const kind of kinds) sources.set(kind, {});
    app.clock.advance(retryAfter * second);
    await until(
      "the rate, by the time that Retry-After said",
      () => create("EUR"),
      ({ status }) => status === 201,
    );
  });

  it("omit one source that deviates, and fail if no two agree", async () => {
    sources.set("er-api", { body: sample("er-api", today(), 1.7) });
    await refresh();
    const state = await euro();
    expect(state?.accepted?.sources).to.deep.equal(["coinbase", "ecb"]);
    expect(state?.problem).to.match(/^er-api: 1\.7\d* is far from the others$/);
    expect(await rateOf("EUR")).to.be.closeTo(1.1527, 0.0001);
    const before = state?.accepted?.at;
    sources.set("coinbase", { status: 500 });
    await refresh();
    expect((await euro())?.problem).to.include("the sources disagree");
    expect((await euro())?.accepted?.at).to.equal(before);
    // The currencies that the liar is honest about go on.
    const pound = (await listRates(app.app)).find(({ pair }) => pair.name === "GBP/USD");
    expect(pound?.accepted?.sources).to.deep.equal(["ecb", "er-api"]);
  });

  it("follow a jump of all sources only after a second reading", async () => {
    for (const kind of kinds) sources.set(kind, { body: sample(kind, today(), 1.4) });
    await refresh();
    expect(await rateOf("EUR")).to.be.closeTo(1.1527, 0.0001);
    expect((await euro())?.problem).to.include("is pending confirmation");
  });

  it("use Friday's rates all weekend, and never ones older than a week", async () => {
    const of = (days: number) =>
      new Date(app.clock.now() - days * 24 * 60 * minute).toISOString().slice(0, 10);
    sources.set("ecb", { body: sample("ecb", of(3)) });
    await refresh();
    expect((await euro())?.accepted?.sources).to.deep.equal([...kinds]);
    sources.set("ecb", { body: sample("ecb", of(9)) });
    await refresh();
    expect((await euro())?.accepted?.sources).to.deep.equal(["coinbase", "er-api"]);
    expect((await euro())?.problem).to.include("too far from today");
  });

  it("are queried only in the background, however many invoices are created at once", async () => {
    const asked = () => kinds.reduce((sum, kind) => sum + sources.asked(kind), 0);
    const before = asked();
    const answers = await Promise.all(Array.from({ length: 64 }, () => create("EUR")));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(64).fill(201));
    expect(asked()).to.equal(before);
  });

  it("are not queried again at once after a restart", async () => {
    const asked = () => kinds.map((kind) => sources.asked(kind));
    const before = asked();
    const restarted = anotherApp(silentLogger);
    const look = () => refreshDueRates(restarted, testContext, () => Promise.resolve());
    await look();
    expect(asked()).to.deep.equal(before);
    app.clock.advance(5 * minute);
    await look();
    expect(asked().every((count, place) => count > (before[place] ?? 0))).to.equal(true);
  });
});
