// npm run prove:endurance: an hour of mixed load at 50 requests per second on each database: invoices, checkouts, lists,
// payments with webhooks, and reorganizations. It samples memory, files, the log of SQLite, handles and what waits, and at
// the end checks the store and that every payment was credited and told.
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { readdirSync } from "node:fs";
import { memorySettings } from "../support/programs/memory-settings.ts";
import { startPostgres } from "../support/store/postgres.ts";
import { startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { cpuSeconds, openShop, pay, quantile, residentMib, type Shop } from "./shop.ts";

const minutes = Number(process.env["PROVE_MINUTES"] ?? "60");
const perSecond = Number(process.env["PROVE_RATE"] ?? "50");
const stores = (process.env["PROVE_STORES"] ?? "sqlite,postgres").split(",");
const sampleMs = 60_000;
/** Requests that wait for an answer; more are not sent, and counted as left out. */
const pendingMax = 200;
/** The share of the time after which memory must not grow any more. */
const settledShare = 1 / 3;
const targets = { residentMib: 250, growthMibPerHour: 20, errors: 0 };

interface Load {
  readonly checkouts: string[];
  readonly paid: Set<string>;
  readonly waits: Map<string, number[]>;
  readonly errors: Map<string, number>;
  pending: number;
  leftOut: number;
}

/** A request that was measured under its name. */
async function measured(
  load: Load,
  name: string,
  request: () => Promise<Response>,
): Promise<string> {
  const startedAt = performance.now();
  load.pending += 1;
  try {
    const answer = await request();
    const text = await answer.text();
    if (answer.status >= 400) throw new Error(`${name} ${String(answer.status)}`);
    const waits = load.waits.get(name) ?? [];
    load.waits.set(name, [...waits.slice(-20_000), performance.now() - startedAt]);
    return text;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    load.errors.set(message, (load.errors.get(message) ?? 0) + 1);
    return "{}";
  } finally {
    load.pending -= 1;
  }
}

/** Sends the n-th request: of ten, five create an invoice and one pays the checkout of an earlier one. */
async function sendOne(shop: Shop, load: Load, n: number): Promise<void> {
  const { server, path, key } = shop;
  const headers = { "X-Service-Key": key, "Content-Type": "application/json" };
  const known = load.checkouts[Math.floor((n * 7_919) % Math.max(1, load.checkouts.length))];
  const turn = n % 10;
  if (turn < 5 || known === undefined) {
    const body = {
      amount: `${String(10 + (n % 90))}.00`,
      settlementCurrency: "USD",
      tokenSymbol: "USDT",
      network: "sandbox",
    };
    const made = await measured(load, "create", () =>
      fetch(server.url + path + "/invoices", {
        method: "POST",
        headers: { ...headers, "Idempotency-Key": `endurance-${String(n)}` },
        body: JSON.stringify(body),
      }),
    );
    const { checkoutId } = JSON.parse(made) as { checkoutId?: string };
    if (checkoutId !== undefined) load.checkouts.push(checkoutId);
  } else if (turn < 7) {
    await measured(load, "checkout", () => fetch(`${server.url}/v1/checkout/${known}`));
  } else if (turn === 7) {
    await measured(load, "list", () =>
      fetch(`${server.url}${path}/invoices?limit=20`, { headers }),
    );
  } else if (turn === 8) {
    await measured(load, "page", () => fetch(`${server.url}/pay/${known}`));
  } else {
    const fresh = load.checkouts.find((id) => !load.paid.has(id)) ?? known;
    load.paid.add(fresh);
    try {
      await pay(server, fresh);
    } catch (error) {
      const message = `pay ${String(error)}`;
      load.errors.set(message, (load.errors.get(message) ?? 0) + 1);
    }
  }
}

/** Returns the size of all files below a folder whose names end so, in MiB. */
async function sizeMib(folder: string, end: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(
    names
      .filter((name) => name.endsWith(end))
      .map(async (name) => {
        try {
          return (await stat(join(folder, name))).size;
        } catch {
          // It was deleted meanwhile.
          return 0;
        }
      }),
  );
  return sizes.reduce((sum, size) => sum + size, 0) / 1_048_576;
}

interface Sample {
  readonly minute: number;
  readonly rss: number;
  readonly line: string;
}

async function sample(
  shop: Shop,
  load: Load,
  startedAt: number,
  cpuAtStart: number,
): Promise<Sample> {
  const { server, installation } = shop;
  const rss = await residentMib(server);
  const minute = (Date.now() - startedAt) / 60_000;
  const handles = readdirSync(`/proc/${String(server.child.pid)}/fd`).length;
  const wal = await sizeMib(installation.folder, "till.db-wal");
  const store = await sizeMib(installation.folder, "till.db");
  const cpu = (await cpuSeconds(server)) - cpuAtStart;
  const failures = [...load.errors.values()].reduce((sum, count) => sum + count, 0);
  const parts = [
    `minute ${minute.toFixed(1)}: ${rss.toFixed(0)} MiB`,
    `${String(handles)} handles`,
    `WAL ${wal.toFixed(1)} MiB`,
    `store ${store.toFixed(0)} MiB`,
    `${String(load.checkouts.length)} invoices`,
    `${String(load.paid.size)} paid`,
    `CPU ${cpu.toFixed(0)} s`,
    `${String(load.pending)} pending`,
    `${String(failures)} errors`,
  ];
  return { minute, rss, line: parts.join(", ") };
}

/** Returns the growth of a straight line through the samples, in MiB per hour. */
function growthOf(samples: readonly Sample[]): number {
  const mean = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0) / numbers.length;
  const x = mean(samples.map(({ minute }) => minute));
  const y = mean(samples.map(({ rss }) => rss));
  const above = samples.reduce((sum, { minute, rss }) => sum + (minute - x) * (rss - y), 0);
  const below = samples.reduce((sum, { minute }) => sum + (minute - x) ** 2, 0);
  return below === 0 ? 0 : (above / below) * 60;
}

function say(what: string, isMet: boolean): void {
  console.log(`${what}${isMet ? "" : "  (missed)"}`);
  if (!isMet) process.exitCode = 1;
}

async function endure(name: string, url: string | null): Promise<void> {
  const receiver = await startReceiver();
  const settings = {
    ...memorySettings,
    TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32",
    TILL_WEBHOOK_RATE_PER_SECOND: "0",
  };
  const shop = await openShop(settings, url === null ? undefined : { url });
  const { server } = shop;
  await shop.run(["webhook", "add", receiver.url, "--event-types", "invoice.paid"]);
  await shop.issue(1);
  const load: Load = {
    checkouts: [],
    paid: new Set(),
    waits: new Map(),
    errors: new Map(),
    pending: 0,
    leftOut: 0,
  };
  const startedAt = Date.now();
  const cpuAtStart = await cpuSeconds(server);
  const samples: Sample[] = [];
  let sent = 0;
  let sampledAt = startedAt;
  while (Date.now() - startedAt < minutes * 60_000) {
    const due = Math.floor(((Date.now() - startedAt) / 1_000) * perSecond);
    for (; sent < due; sent += 1) {
      if (load.pending >= pendingMax) load.leftOut += 1;
      else void sendOne(shop, load, sent);
    }
    if (Date.now() - sampledAt >= sampleMs) {
      sampledAt += sampleMs;
      const taken = await sample(shop, load, startedAt, cpuAtStart);
      samples.push(taken);
      console.log(`  ${name}: ${taken.line}`);
      await shop.run(["sandbox", "reorg", "--blocks", "2"]);
    }
    await delay(20);
  }
  await until(
    "the last answers",
    () => load.pending,
    (pending) => pending === 0,
  );
  const told = () =>
    new Set(receiver.requests.map(({ body }) => body.match(/"checkoutId":"(\w+)"/)?.[1]));
  await until(
    "the last webhooks",
    told,
    (ids) => [...load.paid].every((id) => ids.has(id)),
    300_000,
  );
  for (const kind of load.waits.keys()) {
    const waits = (load.waits.get(kind) ?? []).toSorted((a, b) => a - b);
    console.log(
      `  ${name} ${kind}: p50 ${quantile(waits, 0.5).toFixed(0)} ms, p99 ${quantile(waits, 0.99).toFixed(0)} ms`,
    );
  }
  for (const [message, count] of load.errors)
    console.log(`  ${name}: ${String(count)} × ${message}`);
  const verified = await shop.installation.run(["db", "verify"]);
  const audited = await shop.installation.run(["audit", "verify"]);
  const settled = samples.filter(({ minute }) => minute >= minutes * settledShare);
  const growth = growthOf(settled);
  const most = Math.max(...samples.map(({ rss }) => rss));
  await shop.end();
  await receiver.close();
  say(
    `${name}: ${String(sent)} requests in ${String(minutes)} minutes, ${String(load.leftOut)} left out; ${String(load.checkouts.length)} invoices, ${String(load.paid.size)} paid and told; db verify ${String(verified.status)}, audit verify ${String(audited.status)}; at most ${most.toFixed(0)} MiB, ${growth.toFixed(1)} MiB per hour`,
    verified.status === 0 &&
      audited.status === 0 &&
      load.errors.size === targets.errors &&
      most < targets.residentMib &&
      growth < targets.growthMibPerHour,
  );
}

for (const name of stores) {
  const postgres = name === "postgres" ? await startPostgres({ fsync: true }) : null;
  try {
    await endure(name, postgres?.url("postgres") ?? null);
  } finally {
    await postgres?.stop();
  }
}
