// npm run prove:pages: opens sixty payment pages in Chromium behind one address, straight at a server and through nginx and
// Caddy with the files of docs/operating/deploy, and then as many streams of changes as a server allows. It counts
// whatever a payer would see as an error, and measures how soon a page shows a payment and what a stream costs.
import { fork, spawn, type ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { chromium } from "playwright-core";
import { streamLimits } from "../../src/features/checkout/live.ts";
import { compiledProgram } from "../support/programs/built.ts";
import { freePort } from "../support/programs/free-port.ts";
import { deployFolder, startNginx, started, type Proxy } from "../support/programs/proxy.ts";
import { until } from "../support/until.ts";
import { cpuSeconds, openShop, pay, quantile, residentMib, type Shop } from "./shop.ts";

const seconds = Number(process.env["PROVE_SECONDS"] ?? "120");
const parts = (process.env["PROVE_PARTS"] ?? "direct,nginx,caddy,streams").split(",");
const pageCount = 60;
/** The number of streams: PROVE_STREAMS, or as many as a server allows. */
const streamCount = Number(process.env["PROVE_STREAMS"] ?? String(streamLimits.total));
/** The number of streams whose checkouts are paid, one after another. */
const paidStreams = Math.min(100, streamCount);
/** Time for opening all streams, in milliseconds. */
const streamsMsMax = 120_000;
/** From the time at which the server has found a payment to the page that shows it, in milliseconds. */
const targets = { shownMs: 1_000 };

/** Starts Caddy with the shipped file, and a certificate of its own authority. */
async function startCaddy(folder: string, upstreamPort: number, port: number): Promise<Proxy> {
  const shipped = readFileSync(new URL("Caddyfile", deployFolder), "utf8");
  const file = join(folder, "Caddyfile");
  const url = `https://127.0.0.1:${String(port)}`;
  const own = "admin off\nskip_install_trust\nauto_https disable_redirects\nlocal_certs";
  await writeFile(file, `{\n${own}\n}\n${shipped}`);
  const child = spawn("caddy", ["run", "--config", file], {
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: folder,
      XDG_DATA_HOME: folder,
      TILL_DOMAIN: url,
      TILL_UPSTREAMS: `127.0.0.1:${String(upstreamPort)}`,
    },
  });
  return started(child, url);
}

function say(what: string, isMet: boolean): void {
  console.log(`${what}${isMet ? "" : "  (missed)"}  load ${(loadavg()[0] ?? 0).toFixed(1)}`);
  if (!isMet) process.exitCode = 1;
}

/** Returns the time at which the server recorded the payment of a checkout. */
async function foundTime({ server, path, key }: Shop, checkoutId: string): Promise<number> {
  const headers = { "X-Service-Key": key };
  const session = await fetch(`${server.url}/v1/checkout/${checkoutId}`);
  const { transactions } = (await session.json()) as {
    transactions: { transactionHash: string }[];
  };
  const listed = await fetch(`${server.url}${path}/payments?limit=100`, { headers });
  const { data } = (await listed.json()) as {
    data: { transactionHash: string; createdAt: string }[];
  };
  const hash = transactions[0]?.transactionHash;
  const payment = data.find(({ transactionHash }) => transactionHash === hash);
  if (payment === undefined) throw new Error(`${checkoutId} has no payment`);
  return Date.parse(payment.createdAt);
}

/** Sorts times in milliseconds, and describes them. */
function spread(times: number[]): string {
  times.sort((one, other) => one - other);
  return `${quantile(times, 0.5).toFixed(0)} ms (median), ${quantile(times, 0.99).toFixed(0)} ms (p99 of ${String(times.length)})`;
}

/** Opens pages for `seconds`, of which half are paid one after another. */
async function openPages(name: string): Promise<void> {
  const port = name === "direct" ? 0 : await freePort();
  const base = name === "direct" ? {} : { TILL_BASE_URL: `https://127.0.0.1:${String(port)}` };
  const shop = await openShop(base);
  const folder = await mkdtemp(join(tmpdir(), "till-proxy-"));
  const upstream = Number(new URL(shop.server.url).port);
  const proxies = { nginx: startNginx, caddy: startCaddy } as const;
  const proxy =
    name === "nginx" || name === "caddy" ? await proxies[name](folder, upstream, port) : null;
  const url = proxy?.url ?? shop.server.url;
  const browser = await chromium.launch({
    executablePath: process.env["TILL_TEST_CHROMIUM"] ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-background-networking", "--disable-gpu"],
  });
  const errors: string[] = [];
  const shown: number[] = [];
  const found: number[] = [];
  const drawn: number[] = [];
  try {
    const checkouts = await shop.issue(pageCount);
    const pages = [];
    let isClosing = false;
    for (const id of checkouts) {
      // Each payer has a browser: one would open at most six connections to a host.
      const context = await browser.newContext({ ignoreHTTPSErrors: true });
      const page = await context.newPage();
      page.on("response", (answer) => {
        if (answer.status() >= 400) errors.push(`${String(answer.status())} ${answer.url()}`);
      });
      page.on("requestfailed", (request) => {
        const { errorText = "" } = request.failure() ?? {};
        // A page aborts a poll when it starts a newer one.
        if (!isClosing && errorText !== "net::ERR_ABORTED") {
          errors.push(`${errorText} ${request.url()}`);
        }
      });
      page.on("console", (message) => {
        if (message.type() === "error") errors.push(message.text());
      });
      await page.goto(`${url}/pay/${id}`);
      pages.push({ id, page });
    }
    const paid = pages.filter((_, place) => place % 2 === 0);
    const pauseMs = (seconds * 1_000) / paid.length;
    for (const { id, page } of paid) {
      const nextAt = performance.now() + pauseMs;
      await pay(shop.server, id);
      const paidAt = Date.now();
      await page.waitForSelector("#checkout:not([data-state=awaiting])");
      const shownAt = Date.now();
      const foundAt = await foundTime(shop, id);
      shown.push(shownAt - paidAt);
      found.push(foundAt - paidAt);
      drawn.push(shownAt - foundAt);
      await delay(Math.max(0, nextAt - performance.now()));
    }
    const states = await Promise.all(
      pages.map(({ page }) => page.locator("#checkout").getAttribute("data-state")),
    );
    const unpaid = states.filter((state) => state === "awaiting").length;
    const warned = await Promise.all(
      pages.map(({ page }) => page.locator("#connection").isVisible()),
    );
    if (unpaid !== pageCount - paid.length) errors.push(`${String(unpaid)} pages are not paid`);
    errors.push(...warned.filter(Boolean).map(() => "a page says that its server is unreachable"));
    isClosing = true;
  } finally {
    await browser.close();
    await proxy?.stop();
    await shop.end();
    await rm(folder, { recursive: true, force: true });
  }
  for (const error of new Set(errors)) console.log(`  ${error}`);
  say(
    `${name}: ${String(pageCount)} pages for ${String(seconds)} s: ${String(errors.length)} errors; a payment was shown after ${spread(shown)}: until the sandbox's block had it and was read ${spread(found)}, from there to the page ${spread(drawn)}`,
    errors.length === 0 && quantile(drawn, 0.99) < targets.shownMs,
  );
}

/** The reports of the process of the streams. */
interface StreamsReport {
  /** The number of streams that the server refused; null until all are open. */
  refused: number | null;
  /** The times at which each checkout's stream reported a change. */
  readonly changes: Map<string, number[]>;
}

/**
 * Collects the messages of the process of the streams from its start: several can arrive between two looks, as a payment
 * changes its checkout with each confirmation.
 */
function reportsOf(client: ChildProcess): StreamsReport {
  const report: StreamsReport = { refused: null, changes: new Map() };
  client.on("message", (message: number | { checkoutId: string; at: number }) => {
    if (typeof message === "number") {
      report.refused = message;
      return;
    }
    const known = report.changes.get(message.checkoutId) ?? [];
    report.changes.set(message.checkoutId, [...known, message.at]);
  });
  return report;
}

/** Opens as many streams as a server allows, and pays some of their checkouts. */
async function openStreams(): Promise<void> {
  const shop = await openShop();
  const { server } = shop;
  const checkouts = await shop.issue(streamCount);
  console.log(`${String(checkouts.length)} invoices are issued`);
  // A session is read before its stream is opened, as a page does.
  await delay(5_000);
  const before = await residentMib(server);
  const client = fork(compiledProgram(new URL("pages-streams.ts", import.meta.url)), [
    JSON.stringify({ url: server.url, checkouts, perAddress: streamLimits.perAddress }),
  ]);
  const report = reportsOf(client);
  try {
    await until(
      "open streams",
      () => report.refused,
      (refused) => refused !== null,
      streamsMsMax,
    );
    console.log(`the streams are open, ${String(report.refused)} refused`);
    await delay(10_000);
    const after = await residentMib(server);
    const cpuBefore = await cpuSeconds(server);
    await delay(10_000);
    const idleShare = ((await cpuSeconds(server)) - cpuBefore) / 10;
    const waits: number[] = [];
    for (const id of checkouts.slice(0, paidStreams)) {
      await pay(server, id);
      const paidAt = Date.now();
      const [at = paidAt] = await until(
        `a change of ${id}`,
        () => report.changes.get(id) ?? [],
        ({ length }) => length > 0,
      );
      waits.push(Math.max(0, at - paidAt));
    }
    const rest = await residentMib(server);
    waits.sort((one, other) => one - other);
    const p99 = quantile(waits, 0.99);
    const kibEach = ((after - before) * 1_024) / streamCount;
    say(
      `${String(streamCount)} streams on one server, ${String(report.refused)} refused: ${kibEach.toFixed(1)} KiB of memory each (${before.toFixed(0)} to ${after.toFixed(0)} MiB, ${rest.toFixed(0)} after the payments); ${(idleShare * 100).toFixed(1)} % of a core while nothing changes; an update after ${quantile(waits, 0.5).toFixed(0)} ms (median), ${p99.toFixed(0)} ms (p99 of ${String(paidStreams)})`,
      report.refused === 0 && p99 < targets.shownMs,
    );
  } finally {
    client.kill();
    await shop.end();
  }
}

for (const part of parts) {
  if (part === "streams") await openStreams();
  else if (part !== "direct" && !existsSync(`/usr/sbin/${part}`) && !existsSync(`/usr/bin/${part}`))
    console.log(`${part}: not installed`);
  else await openPages(part);
}
