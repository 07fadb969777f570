// Figures on the command line: the same as the API gives.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import {
  getMerchantCharts,
  getMerchantSummary,
  getPlatformCharts,
  getPlatformSummary,
  listTopOrganizations,
  listTopWallets,
} from "../../../src/features/analytics/analytics.ts";
import { day } from "../../../src/kernel/clock.ts";
import {
  presentMerchantCharts,
  presentMerchantSummary,
  presentPlatformCharts,
  presentPlatformSummary,
  presentTopOrganizations,
  presentTopWallets,
} from "../../../src/features/analytics/records.ts";
import { patienceMs } from "../../support/until.ts";
import { makeDesk } from "../billing-operator.ts";
import { openMarket } from "../market.ts";

describe("till analytics", () => {
  const desk = makeDesk({ TILL_NETWORKS: "sandbox" });

  it("prints the API's statistics, of one organization and of all", async () => {
    await untilDayLasts();
    const store = await desk.store();
    const { organizationId } = await openMarket(store);
    const period = { from: dayAt(-2), to: dayAt(1) };
    const flags = ["--from", period.from, "--to", period.to];
    const own = ["--organization", organizationId];
    const api = await store.withApp(async (app) => ({
      summary: presentMerchantSummary(await getMerchantSummary(app, organizationId, period)),
      all: presentPlatformSummary(await getPlatformSummary(app, period)),
      charts: presentMerchantCharts(await getMerchantCharts(app, organizationId, period)),
      allCharts: presentPlatformCharts(
        await getPlatformCharts(app, { ...period, interval: "month" }),
      ),
      wallets: presentTopWallets(await listTopWallets(app, organizationId, period)),
      organizations: presentTopOrganizations(await listTopOrganizations(app, period)),
    }));
    expect(api.summary).to.include({ processedVolume: "24.00", paidInvoiceCount: 1 });
    const run = (...words: string[]) => store.json(["analytics", ...words, ...flags]);
    expect(await run("summary", ...own)).to.deep.equal(api.summary);
    expect(await run("summary")).to.deep.equal(api.all);
    expect(await run("charts", ...own)).to.deep.equal(api.charts);
    expect(await run("charts", "--interval", "month")).to.deep.equal(api.allCharts);
    expect(await run("top", "wallets", ...own)).to.deep.equal(api.wallets);
    expect(await run("top", "organizations")).to.deep.equal(api.organizations);
    expect(await run("top", "customers", ...own)).to.deep.equal({ data: [], nextCursor: null });
    // The only organization of the store is meant.
    expect(await run("top", "wallets")).to.deep.equal(api.wallets);

    const people = (...words: string[]) => store.till(["analytics", ...words, ...flags]);
    const summary = await people("summary", ...own);
    expect(summary.stdout)
      .to.match(/^Processed volume +24\.00 USD$/m)
      .and.to.match(/^OUTSTANDING +CUSTOMERS$/m);
    const charts = await people("charts", ...own);
    expect(charts.stdout).to.match(/^Volume {2}▁▁█$/m);
    expect(charts.stdout).to.match(/^\d{4}-\d\d-\d\d +1 +24\.00 +█{30}$/m);
    expect(charts.stdout).to.match(/^paid +1 +24\.00 +█{30}$/m);
    expect((await people("charts")).stdout).to.match(/^Organizations {2}▁▁█$/m);
    const top = await people("top", "wallets", ...own);
    expect(top.stdout).to.match(/^wal_\w+ +Till +1 +24\.00 +█{30}$/m);
    const file = join(store.folder, "report.html");
    const month = { from: monthAt(0), to: monthAt(1) };
    const report = ["analytics", "report", "--html", file, "--month", month.from.slice(0, 7)];
    const written = await store.json([...report, ...own]);
    const shown = await store.withApp(async (app) =>
      presentMerchantSummary(await getMerchantSummary(app, organizationId, month)),
    );
    expect(written).to.deep.include({ file, organizationName: "Shop", ...pick(shown) });
    const page = await readFile(file, "utf8");
    expect(page).to.include("<h1>Shop</h1>").and.to.include(`${shown.processedVolume} USD`);
    expect((await store.till(report)).stderr).to.include("--yes");
    expect((await store.till([...report, "--yes"])).code).to.equal(0);
    expect(await readFile(file, "utf8")).to.include("<h1>All organizations</h1>");
    expect((await store.till([...report, "--month", "2031-13"])).stderr).to.include("--month");

    // A dash is standard output, which then gets the page alone.
    const dash = ["analytics", "report", "--html", "-", "--month", month.from.slice(0, 7), ...own];
    const printed = await store.till(dash);
    expect(printed.code, printed.stderr).to.equal(0);
    const madeAt = /Made at [^<]+/;
    expect(printed.stdout.replace(madeAt, "")).to.equal(page.replace(madeAt, ""));
    for (const form of ["--json", "-q"]) {
      const both = await store.till([...dash, form]);
      expect(both).to.include({ code: 2, stdout: "" });
      expect(both.stderr).to.include("leave out --json and --quiet");
    }

    const quiet = await people("top", "organizations", "-q");
    expect(quiet.stdout).to.equal(`${organizationId}\n`);
  });

  it("refuses wrong input", async () => {
    const store = await desk.store();
    const wrong: readonly (readonly [readonly string[], number, string])[] = [
      [["summary", "--from", "yesterday"], 2, "--from"],
      [["summary", "--currency", "EURO"], 2, "--currency"],
      [["charts", "--interval", "hour"], 2, "--interval"],
      [["charts", "--from", "2001-01-01T00:00:00.000Z"], 1, "at most 400 points"],
      [["summary", "--organization", "org_nothing"], 5, "Not found"],
      [["top", "invoices"], 2, "customers, wallets, organizations"],
      [["top", "organizations", "--organization", await store.platformId()], 2, "--organization"],
      [["top", "organizations", "--limit", "0"], 2, "--limit"],
      [["top"], 2, "of"],
    ];
    for (const [words, code, hint] of wrong) {
      const outcome = await store.till(["analytics", ...words]);
      expect(outcome.code, words.join(" ")).to.equal(code);
      expect(outcome.stderr).to.include(hint);
      expect(outcome.stdout).to.equal("");
    }
  });
});

/** Waits where the day ends so soon that the figures would be those of two. */
async function untilDayLasts(): Promise<void> {
  const left = day - (Date.now() % day);
  if (left < patienceMs) await delay(left);
}

/** The start of a month in UTC, counted from the current one. */
function monthAt(months: number): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months)).toISOString();
}

/** The figures that the output of the report repeats. */
function pick({ from, to, currency, processedVolume, paymentCount }: Summary) {
  return { from, to, currency, processedVolume, paymentCount };
}

type Summary = ReturnType<typeof presentMerchantSummary>;

/** Midnight in UTC, so many days from today. */
function dayAt(days: number): string {
  return new Date((Math.floor(Date.now() / day) + days) * day).toISOString();
}
