// npm run prove:rates: measures the deliveries per second of a server, the delay from an event to its receiver, and the
// effect of a receiver that never answers on another, on both databases. Server, receivers and load run in separate
// processes.
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { send, type AppOptions } from "../../support/app.ts";
import { compiledProgram } from "../../support/programs/built.ts";
import { startPostgres } from "../../support/store/postgres.ts";
import type { Done, Order } from "./rates-server.ts";
import type { Seen } from "./rates-sink.ts";

const stores = (process.env["PROVE_STORES"] ?? "sqlite,postgres").split(",");
const parts = (process.env["PROVE_PARTS"] ?? "sustained,first,hole").split(",");
/** Node options for the servers, such as `--cpu-prof`. */
const nodeArgs = (process.env["PROVE_NODE_ARGS"] ?? "").split(" ").filter((word) => word !== "");

const perShop = Number(process.env["PROVE_PER_SHOP"] ?? "100");
const perSecond = 100;
const seconds = Number(process.env["PROVE_SECONDS"] ?? "5");
/** The number of turns of one second on each of three servers. */
const turns = Number(process.env["PROVE_TURNS"] ?? "30");
const pendingAtHole = 10_000;

const targets = { sustained: 1_000, firstMs: 250, holeShare: 0.1 };

/** A process that answers each message with one message. */
interface Helper<Message, Answer> {
  readonly ready: Answer;
  ask(message: Message): Promise<Answer>;
  end(): Promise<void>;
}

async function startHelper<Message extends Order | string, Answer>(
  file: string,
  args: readonly string[] = [],
  execArgv: readonly string[] = [],
): Promise<Helper<Message, Answer>> {
  const path = compiledProgram(new URL(file, import.meta.url));
  const child: ChildProcess = fork(path, args, { execArgv: [...execArgv] });
  const next = async () => ((await once(child, "message")) as [Answer])[0];
  return {
    ready: await next(),
    ask(message) {
      child.send(message);
      return next();
    },
    async end() {
      const gone = once(child, "exit");
      child.disconnect();
      await gone;
    },
  };
}

type Server = Helper<Order, Done>;
type Receivers = Helper<"count" | "take", Seen> & {
  readonly ready: { readonly sinks: readonly number[]; readonly hole: number };
};

const startServer = (options: AppOptions): Promise<Server> =>
  startHelper("rates-server.ts", [JSON.stringify(options)], nodeArgs);

async function startReceivers(): Promise<Receivers> {
  return (await startHelper("rates-sink.ts")) as Receivers;
}

const settings = (perEndpoint: number) => ({
  TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32",
  TILL_WEBHOOK_RATE_PER_SECOND: String(perEndpoint),
});

function say(what: string, isMet: boolean): void {
  console.log(`${what}${isMet ? "" : "  (missed)"}  load ${(loadavg()[0] ?? 0).toFixed(1)}`);
  if (!isMet) process.exitCode = 1;
}

/**
 * Measures the time from the first written event to the last delivery, for events of many merchants with one endpoint
 * each.
 */
async function sustained(name: string, options: AppOptions, perEndpoint: number): Promise<void> {
  const receivers = await startReceivers();
  const server = await startServer({ ...options, settings: settings(perEndpoint) });
  const { organizationIds } = await server.ask({ do: "shops", ports: receivers.ready.sinks });
  const shops = organizationIds.length;
  const burst = async (each: number) => {
    await receivers.ask("take");
    const before = await server.ask({ do: "unfinished" });
    const startedAt = Date.now();
    await server.ask({ do: "emit", organizationIds, each, type: "invoice.paid" });
    let seen = await receivers.ask("count");
    for (; seen.count < shops * each; seen = await receivers.ask("count")) await delay(20);
    let after = await server.ask({ do: "unfinished" });
    for (; after.count > 0; after = await server.ask({ do: "unfinished" })) await delay(20);
    return {
      rate: (seen.count * 1_000) / (seen.lastAt - startedAt),
      cpuMs: (after.cpuMs - before.cpuMs) / seen.count,
      twice: seen.count - shops * each,
    };
  };
  await burst(10);
  const { rate, cpuMs, twice } = await burst(perShop);
  await server.end();
  await receivers.end();
  const pace = perEndpoint === 0 ? "without a pace" : `${String(perEndpoint)} a second each`;
  say(
    `${name}: ${rate.toFixed(0)} deliveries a second to ${String(shops)} endpoints, ${pace}; ${cpuMs.toFixed(2)} ms of a processor each, with its event; ${String(twice)} twice`,
    rate >= targets.sustained,
  );
}

interface Shop {
  readonly server: Server;
  readonly path: string;
  readonly key: string;
  readonly organizationId: string;
}

async function openShop(options: AppOptions, port: number): Promise<Shop> {
  const server = await startServer({ ...options, settings: settings(0) });
  const { organizationIds, key } = await server.ask({ do: "merchant" });
  const [organizationId = ""] = organizationIds;
  await server.ask({ do: "endpoint", organizationId, port, type: "customer.created" });
  return { server, path: `/v1/organizations/${organizationId}`, key, organizationId };
}

/** Makes changes through the API at a given rate; returns the ages of their events on arrival. */
async function ages(
  shop: Shop,
  receivers: Receivers,
  during = seconds,
): Promise<readonly number[]> {
  await receivers.ask("take");
  const startedAt = Date.now();
  const asked: Promise<number>[] = [];
  for (let count = 0; count < during * perSecond; count += 1) {
    const options = { key: shop.key, body: { name: `customer ${String(count)}` } };
    asked.push(
      send(shop.server.ready.url, "POST", `${shop.path}/customers`, options).then(
        ({ status }) => status,
      ),
    );
    const due = startedAt + ((count + 1) * 1_000) / perSecond;
    if (due > Date.now()) await delay(due - Date.now());
  }
  const statuses = await Promise.all(asked);
  if (statuses.some((status) => status !== 201)) throw new Error("a change was refused");
  while ((await receivers.ask("count")).count < asked.length) await delay(20);
  return (await receivers.ask("take")).ages;
}

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
const median = (numbers: readonly number[]): number =>
  at(
    numbers.toSorted((one, other) => one - other),
    0.5,
  );

async function first(name: string, options: AppOptions): Promise<void> {
  const receivers = await startReceivers();
  const shop = await openShop(options, receivers.ready.sinks[0] ?? 0);
  await ages(shop, receivers);
  const p99s: number[] = [];
  const p50s: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const sorted = await ages(shop, receivers);
    p99s.push(at(sorted, 0.99));
    p50s.push(at(sorted, 0.5));
  }
  await shop.server.end();
  await receivers.end();
  say(
    `${name}: first attempt ${String(median(p50s))} ms p50, ${p99s.join(", ")} ms p99 at ${String(perSecond)} events a second`,
    median(p99s) < targets.firstMs,
  );
}

/**
 * Runs three equal servers in turns, one of them with a receiver that never answers. Other load on the machine affects
 * all three, and the difference between the two normal ones shows how much of the third's difference is noise.
 */
async function hole(name: string, fresh: () => Promise<AppOptions>): Promise<void> {
  const receivers = await startReceivers();
  const open = async () => openShop(await fresh(), receivers.ready.sinks[0] ?? 0);
  const [alone, likewise, beside] = [await open(), await open(), await open()];
  const { organizationId } = beside;
  const waiting = { organizationId, port: receivers.ready.hole, type: "invoice.paid" } as const;
  await beside.server.ask({ do: "endpoint", ...waiting });
  const organizationIds = [organizationId];
  await beside.server.ask({
    do: "emit",
    organizationIds,
    each: pendingAtHole,
    type: "invoice.paid",
  });
  const isWaiting = async () => (await beside.server.ask({ do: "unfinished" })).count;
  while ((await isWaiting()) < pendingAtHole) await delay(100);
  const shops = [alone, likewise, beside];
  const seen: number[][] = shops.map(() => []);
  for (const shop of shops) await ages(shop, receivers);
  for (let turn = 0; turn < turns * shops.length; turn += 1) {
    // Each server follows each of the others equally often.
    const place = (turn + Math.floor(turn / shops.length)) % shops.length;
    const shop = shops[place];
    if (shop !== undefined) seen[place]?.push(...(await ages(shop, receivers, 1)));
  }
  const left = await isWaiting();
  for (const { server } of shops) await server.end();
  await receivers.end();
  const shares = [0.5, 0.9, 0.99];
  const [one = [], same = [], other = []] = seen.map((each) => {
    const sorted = each.toSorted((a, b) => a - b);
    return shares.map((share) => at(sorted, share));
  });
  const p99 = (figures: readonly number[]) => figures[2] ?? NaN;
  const moved = p99(other) / ((p99(one) + p99(same)) / 2) - 1;
  say(
    `${name}: p50, p90 and p99 ${one.join(", ")} ms alone, ${same.join(", ")} ms on another server likewise; ${other.join(", ")} ms beside ${String(left)} that wait for a black hole: p99 moved by ${(100 * moved).toFixed(0)} %, of ${String(turns * perSecond)} events each`,
    moved < targets.holeShare,
  );
}

const folder = await mkdtemp(join(tmpdir(), "till-rates-"));
for (const store of stores) {
  const postgres = store === "postgres" ? await startPostgres({ fsync: true }) : null;
  let databases = 0;
  const fresh = async (): Promise<AppOptions> => {
    databases += 1;
    if (postgres === null)
      return { place: { sqliteFile: join(folder, String(databases), "till.db") } };
    const name = `rates${String(databases)}`;
    const client = new pg.Client({ connectionString: postgres.url("postgres") });
    await client.connect();
    await client.query(`CREATE DATABASE ${name} TEMPLATE template0`);
    await client.end();
    return { place: { url: postgres.url(name) } };
  };
  if (parts.includes("sustained")) {
    await sustained(store, await fresh(), 0);
    await sustained(store, await fresh(), 20);
  }
  if (parts.includes("first")) await first(store, await fresh());
  if (parts.includes("hole")) await hole(store, fresh);
  await postgres?.stop();
}
await rm(folder, { recursive: true, force: true });
