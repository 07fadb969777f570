// Invoices in currencies that no token is pegged to, from the source's answer to what the merchant gets.
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mineBlocks } from "../../../src/features/payments/sandbox/sandbox.ts";
import { createQuotes } from "../../../src/features/rates/quotes.ts";
import { ratesMetrics } from "../../../src/features/rates/api.ts";
import { presentRates } from "../../../src/features/rates/commands.ts";
import {
  acceptRate,
  listRates,
  ratesHealth,
  refreshRates,
} from "../../../src/features/rates/rates.ts";
import { formatRate } from "../../../src/kernel/money/ratio.ts";
import type { Id } from "../../../src/kernel/id.ts";
import {
  approvedMerchant,
  expectStatus,
  startApp,
  type Answer,
  type Merchant,
  type TestApp,
} from "../../support/app.ts";
import { appOf } from "../../support/context.ts";
import { xpubs } from "../../support/merchants.ts";
import { payInvoice } from "../../support/sandbox.ts";
import { anyStore, testContext } from "../../support/store/stores.ts";
import { until } from "../../support/until.ts";

const minuteMs = 60_000;

/** Starts a server for the sources: a price per path, 404 without one. */
async function startSources() {
  const prices = new Map<string, string>();
  const server: Server = createServer((request, response) => {
    const body = prices.get(request.url ?? "");
    response.writeHead(body === undefined ? 404 : 200).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return { url, prices, server };
}

async function writeFiles(folder: string, url: string) {
  const table = await readFile(new URL("../../../config/networks.yaml", import.meta.url), "utf8");
  const usdc = '        contract: "0x4e4707DE5c8431f59Fa45A904854551c692C04f9"\n';
  const wbtc = `      WBTC:
        title: Wrapped Bitcoin (test)
        contract: "0x3333333333333333333333333333333333333333"
        decimals: 8
        pegs: []
        dust: "0.00000001"
`;
  const place = table.indexOf(usdc);
  const start = table.lastIndexOf("      USDC:", place);
  await writeFile(join(folder, "networks.yaml"), table.slice(0, start) + wbtc + table.slice(start));
  await writeFile(
    join(folder, "rates.yaml"),
    `refreshSeconds: 60
maxAgeSeconds: 900
pairs:
  EUR/USD:
    sources:
      - { name: one, url: "${url}/one", value: /price }
      - { name: two, url: "${url}/two", value: /price }
  WBTC/JPY: { fixed: "15000000.5" }
  WBTC/USD: { fixed: "100000.01" }
  USD/CHF: { fixed: "0.8" }
`,
  );
}

anyStore("an invoice at an exchange rate", function (store) {
  let app: TestApp;
  let folder: string;
  let sources: Awaited<ReturnType<typeof startSources>>;
  let shop: Merchant;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "till rates "));
    sources = await startSources();
    await writeFiles(folder, sources.url);
    app = await startApp({
      place: await store.place("migrated"),
      settings: {
        TILL_SANDBOX_BLOCK_MS: "0",
        TILL_RATES: "on",
        TILL_NETWORKS_FILE: join(folder, "networks.yaml"),
        TILL_RATES_FILE: join(folder, "rates.yaml"),
      },
    });
    shop = await approvedMerchant(app);
    await shop.addWallet({ xpub: xpubs.first });
    await shop.issue();
  });
  after(async () => {
    await app.stop();
    sources.server.closeAllConnections();
    sources.server.close();
    await rm(folder, { recursive: true });
  });

  const request = (method: string, path: string, body?: unknown): Promise<Answer> =>
    app.request(method, shop.path + path, { key: shop.key, body });

  function create(more: Readonly<Record<string, unknown>>): Promise<Answer> {
    const body = { amount: "25", settlementCurrency: "EUR", tokenSymbol: "USDT", ...more };
    return request("POST", "/invoices", { network: "sandbox", ...body });
  }

  /** Sets the sources' prices and refreshes; after one second requests see the result. */
  async function quoted(one: string | null, two: string | null = one) {
    for (const [path, price] of [
      ["/one", one],
      ["/two", two],
    ] as const) {
      if (price === null) sources.prices.delete(path);
      else sources.prices.set(path, price);
    }
    const views = await refreshRates(app.app, testContext);
    app.clock.advance(1_000);
    return views.find(({ pair }) => pair.name === "EUR/USD");
  }
  const price = (text: string) => `{"price":${text}}`;

  async function pay(invoice: Answer, units: bigint): Promise<Answer> {
    const id = invoice.body["id"] as Id<"invoice">;
    await payInvoice(app, id, units);
    await mineBlocks(app.app, testContext, 3);
    return until(
      "a paid invoice",
      () => request("GET", `/invoices/${id}`),
      ({ body }) => body["status"] === "paid",
    );
  }

  async function isRefused(answering: Promise<Answer>): Promise<void> {
    const answer = await expectStatus(answering, 503);
    expect(answer.body["code"], answer.text).to.equal("rate_unavailable");
    // Sources at fault are asked again within the hour.
    expect(Number(answer.headers.get("Retry-After"))).to.be.within(1, 3_610);
  }

  /** Returns the pair with sources as operators see it, and its metrics. */
  async function shown(at: number) {
    const { db, config } = app.app;
    const metrics = ratesMetrics(appOf({ db, config, clock: { now: () => at } }));
    const { data } = presentRates(await listRates(app.app));
    return { metrics: await metrics.read(), pair: data.find(({ pair }) => pair === "EUR/USD") };
  }
  const labels = { pair: "EUR/USD" };

  it("is refused without a rate, and quoted when a draft is issued later", async () => {
    const before = await shown(0);
    expect(before.metrics).to.deep.equal({
      till_rates_age_seconds: [],
      till_rates_sources: [{ labels, value: 0 }],
    });
    expect(before.pair).to.include({ status: "missing", quote: null, pending: null, sources: 2 });
    await isRefused(create({}));
    const draft = await expectStatus(create({ draft: true }), 201);
    expect(draft.body["exchangeRate"]).to.equal(null);
    const issue = () =>
      request("PATCH", `/invoices/${String(draft.body["id"])}`, { status: "open" });
    await isRefused(issue());
    await quoted(price("1.0834"));
    const issued = await expectStatus(issue(), 200);
    expect(issued.body).to.include({ exchangeRate: "1.0834", payableAmount: "27.085" });
  });

  it("is quoted by one pair in either direction, from what was stored at most so long ago", async () => {
    await quoted(price("1.1"));
    const { db, config } = app.app;
    const euro = async () => (await listRates(app.app))[0];
    const quotedAt = (await euro())?.accepted?.at ?? 0;
    let now = quotedAt + 1_500;
    const clock = { now: () => now };
    const quotes = createQuotes({ plan: config.rates, clock, ageMaxMs: 1_000 });
    const find = async (from: string[], to: string[], at = now) => {
      const quote = await quotes.find(db, from, to, at);
      return quote.ok ? `${quote.rate.from} ${formatRate(quote.rate)} ${quote.rate.source}` : quote;
    };
    expect(await find(["EUR"], ["USD"])).to.equal("EUR 1.1 one, two");
    expect(await find(["USD"], ["EUR"])).to.equal("USD 0.909090909091 one, two");
    expect(await find(["CHF", "EUR"], ["USD"])).to.equal("CHF 1.25 fixed");
    expect(await find(["EUR"], ["JPY", "USD"])).to.equal("EUR 1.1 one, two");
    for (const [from, to] of [
      ["EUR", "JPY"],
      ["USD", "USD"],
      ["XXX", "USD"],
    ] as const) {
      expect(await find([from], [to]), `${from} ${to}`).to.deep.equal({
        ok: false,
        reason: "missing",
      });
    }
    expect(quotes.leadingTo(["USD"])).to.deep.equal(["EUR", "WBTC", "CHF"]);
    expect(quotes.leadingTo(["CHF"])).to.deep.equal(["USD"]);
    expect(quotes.leadingTo(["XXX"])).to.deep.equal([]);

    const { metrics, pair } = await shown(now);
    expect(metrics).to.deep.equal({
      till_rates_age_seconds: [{ labels, value: 1.5 }],
      till_rates_sources: [{ labels, value: 2 }],
    });
    expect(pair).to.deep.include({ status: "fresh", pending: null, problem: null });
    expect(pair?.quote).to.include({ rate: "1.1", source: "one, two", sources: 2 });
    const fixed = presentRates(await listRates(app.app)).data.find((one) => one.pair === "USD/CHF");
    expect(fixed).to.deep.include({ status: "fixed", checkedAt: null, sources: 0 });
    expect(fixed?.quote).to.include({ rate: "0.8", source: "fixed", sources: 0 });

    await quoted(price("1.2"));
    now += 999;
    expect(await find(["EUR"], ["USD"])).to.equal("EUR 1.1 one, two");
    now += 1;
    expect(await find(["EUR"], ["USD"])).to.equal("EUR 1.2 one, two");
    const { accepted, nextAt } = (await euro()) ?? {};
    const late = (accepted?.at ?? 0) + config.rates.maxAgeMs;
    expect(await find(["EUR"], ["USD"], late)).to.equal("EUR 1.2 one, two");
    // Some seconds for the answers of the sources, after the time at which they are queried.
    const stale = { ok: false, reason: "stale" };
    expect(await find(["EUR"], ["USD"], late + 1)).to.deep.equal({
      ...stale,
      retryAfterMs: 10_000,
    });
    const strict = createQuotes({ plan: { ...config.rates, maxAgeMs: -1 }, clock, ageMaxMs: 0 });
    expect(await strict.find(db, ["EUR"], ["USD"], (nextAt ?? 0) - 5_000)).to.deep.equal({
      ...stale,
      retryAfterMs: 15_000,
    });
  });

  it("asks for the equivalent in tokens, and settles its exact amount when that is paid", async () => {
    await quoted(price("1.0834"));
    const invoice = await expectStatus(create({ amount: "19.99" }), 201);
    // 19.99 × 1.0834 = 21.657166, rounded up to four decimals
    expect(invoice.body).to.include({ payableAmount: "21.6572", exchangeRate: "1.0834" });
    // The quote is locked: what comes later changes nothing.
    await quoted(price("1.10"));
    const paid = await pay(invoice, 21_657_200n);
    expect(paid.body).to.include({ paidAmount: "19.99", exception: "none" });
    expect(paid.body).to.include({ paidTokenAmount: "21.6572", exchangeRate: "1.0834" });
  });

  it("uses the median of its sources, and rounds in the merchant's favor", async () => {
    await quoted(price("1.0833333333333333"), price('"1.0833333333333334"'));
    const invoice = await expectStatus(create({ amount: "0.10" }), 201);
    // 0.10 × 1.08333333333333335 = 0.108333333333333335
    expect(invoice.body["payableAmount"]).to.equal("0.1084");
    expect((await pay(invoice, 108_400n)).body["paidAmount"]).to.equal("0.10");
  });

  it("converts yen without decimals to coins with eight", async () => {
    const invoice = await expectStatus(
      create({ amount: "1000", settlementCurrency: "JPY", tokenSymbol: "WBTC" }),
      201,
    );
    // 1000 ÷ 15000000.5 = 0.0000666666644…
    expect(invoice.body["payableAmount"]).to.equal("0.00006667");
    expect(invoice.body["exchangeRate"]).to.equal("0.0000000666666644444");
    const paid = await pay(invoice, 6_667n);
    expect(paid.body).to.include({ paidAmount: "1000", exception: "none" });
  });

  it("settles in a coin with eight decimals, and by a pair in the other direction", async () => {
    const coin = { amount: "0.00010001", settlementCurrency: "WBTC" };
    // 0.00010001 × 100000.01 = 10.0010010001 → up
    const invoice = await expectStatus(create(coin), 201);
    expect(invoice.body).to.include({ payableAmount: "10.0011", exchangeRate: "100000.01" });
    expect((await pay(invoice, 10_001_100n)).body["paidAmount"]).to.equal("0.00010001");
    const francs = await expectStatus(create({ amount: "10", settlementCurrency: "CHF" }), 201);
    expect(francs.body).to.include({ payableAmount: "12.50", exchangeRate: "1.25" });
  });

  it("is issued with one of two sources, and refused when the quote is stale", async () => {
    await quoted(price("1.0834"), "<!doctype html>");
    const [known] = (await ratesHealth(app.app)).problems;
    expect(known).to.equal("EUR/USD: two: its answer is HTML");
    expect(await ratesHealth(app.app)).to.include({ status: "degraded" });
    await expectStatus(create({}), 201);
    await quoted("<!doctype html>");
    app.clock.advance(14 * minuteMs);
    await expectStatus(create({}), 201);
    app.clock.advance(minuteMs);
    await isRefused(create({}));
    expect(await ratesHealth(app.app)).to.include({ status: "down" });
    expect((await listRates(app.app))[0]?.status).to.equal("stale");
  });

  it("ignores a jump until the next check or the operator confirms it", async () => {
    await quoted(price("1.0834"));
    const jumped = await quoted(price("10.834"));
    expect(jumped?.problem).to.include("a jump from 1.0834 to 10.834 is pending");
    expect((await expectStatus(create({}), 201)).body["exchangeRate"]).to.equal("1.0834");
    app.clock.advance(minuteMs);
    await quoted(price("10.9"));
    expect((await expectStatus(create({}), 201)).body["exchangeRate"]).to.equal("10.9");
    await quoted(price("1.0834"));
    const accepted = await acceptRate(app.app, testContext, "EUR/USD");
    expect(accepted).to.deep.include({ status: "fresh", pending: null, problem: null });
    app.clock.advance(1_000);
    expect((await expectStatus(create({}), 201)).body["exchangeRate"]).to.equal("1.0834");
  });
});
