import type { App } from "../../src/app.ts";
import { existsSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addOrganization as addOrganizationTo } from "../../src/features/organizations/organizations.ts";
import { createIds, type Id } from "../../src/kernel/id.ts";
import { minute, type Instant } from "../../src/kernel/clock.ts";
import { makeApp } from "../../src/make-app.ts";
import { setReceiveWallet } from "../../src/features/billing/invoices/receive-wallet.ts";
import { selectPlan } from "../../src/features/billing/subscriptions/subscriptions.ts";
import { makeWorkers } from "../../src/compose/workers.ts";
import { createWallet } from "../../src/features/wallets/wallets.ts";
import { delivererOf } from "../../src/features/webhooks/delivery/deliverer.ts";
import { loadConfig } from "../../src/platform/config/load.ts";
import type { Config, ConfiguredNetwork } from "../../src/platform/config/config.ts";
import { migrate } from "../../src/platform/database/schema.ts";
import { openDatabase } from "../../src/platform/database/open.ts";
import type { Database, Tx } from "../../src/platform/database/database.ts";
import type { Worker } from "../../src/platform/jobs/background.ts";
import { endJobLeases } from "../../src/platform/jobs/queue-worker.ts";
import { silentLogger } from "../../src/platform/logger/index.ts";
import { noMetrics } from "../../src/platform/metrics/metrics.ts";
import type { ServerSecret } from "../../src/platform/secrets/server-secret.ts";
import { plansFile } from "../features/billing/billing-fleet.ts";
import { beginChain } from "../../src/platform/audit/head.ts";
import { addOrganization, xpubOf } from "../support/merchants.ts";
import { auditKey, secret as secretText, serverSecret as secret } from "../support/secret.ts";
import { testContext } from "../support/store/stores.ts";
import {
  makeChain,
  type ProviderTraits,
  type SimulatedChain,
  type SimulatedTime,
} from "./chain.ts";
import { limitsOf, noLimits } from "./node.ts";
import { chanceOf, type Chance } from "./steps.ts";

/** The address of a wallet of the first merchant at which no invoice is ever payable. */
export const idleAddress = "9".repeat(40);
export const networkId = "ethereum";
export const confirmations = 3;
export const finalityLag = 6;
export const blockMs = 12_000;
/** 10 January 2026, 10:00 UTC. */
export const startAt: Instant = Date.UTC(2026, 0, 10, 10);
/** Blocks that are there before a history begins. */
const firstBlocks = 12;

const plans = {
  free: { price: "0.00", includedInvoices: null },
  small: { price: "0.00", includedInvoices: 4 },
  trial: { price: "49.00", trialDays: 5, includedInvoices: 2, overagePrice: "0.35" },
  plain: { price: "10.00", includedInvoices: 3, overagePrice: "1.25" },
};
/** How many invoices the plan of the second organization includes in a month. */
export const includedInvoices = plans.small.includedInvoices;
/** Plans that are selected in a history. */
export const paidPlans = ["trial", "plain"] as const;

/** The composed app of one process, with its workers. */
export interface Process {
  readonly app: App;
  readonly workers: ReadonlyMap<string, Worker>;
}

/** The organizations and wallets that exist when a history begins. */
export interface Cast {
  readonly organizations: readonly Id<"organization">[];
  /** Of each organization: the wallet of one address, and that of an extended key. */
  readonly wallets: readonly {
    readonly shared: Id<"wallet">;
    readonly own: Id<"wallet">;
  }[];
}

/** The start of every history of a process. */
export interface Stage {
  readonly cast: Cast;
  readonly network: ConfiguredNetwork;
  newChain(chance: Chance, time: SimulatedTime): SimulatedChain;
  /** The store as it is when a history begins, whatever the one before it left. */
  freshStore(): Promise<Database>;
  compose(deps: ComposeDeps): Promise<Process>;
  dispose(): Promise<void>;
}

interface ComposeDeps {
  readonly db: Database;
  readonly now: () => Instant;
  readonly chance: Chance;
  readonly chain: SimulatedChain;
}

/** Two tokens of the shipped table, one whose prices have few amounts, and one with more decimals than wallets take. */
function simulated(network: ConfiguredNetwork): ConfiguredNetwork {
  const [first] = network.tokens;
  if (first === undefined) throw new Error("the network has no tokens");
  const cent = { symbol: "CENT", title: "Cents", contract: "ce".repeat(20), decimals: 2 };
  const wide = { symbol: "WIDE", title: "Wide", contract: "1d".repeat(20), decimals: 18 };
  return {
    ...network,
    blockTimeMs: blockMs,
    confirmations,
    windowBlocks: 10,
    finality: { tag: "finalized", lagBlocks: finalityLag },
    tokens: [
      ...network.tokens,
      { ...first, ...cent, amountDecimals: 2, dust: 1n },
      { ...first, ...wide, amountDecimals: 6, dust: 10n ** 16n },
    ],
  };
}

export async function openStage(): Promise<Stage> {
  const folder = await mkdtemp(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "till-sim-"));
  const loaded = await loadConfig({
    mode: "serve",
    env: {
      TILL_NETWORKS: networkId,
      TILL_DATA_DIR: folder,
      TILL_SECRET: secretText,
      TILL_BILLING: "on",
      TILL_VERIFICATION: "off",
      TILL_PLANS_FILE: plansFile(plans),
      TILL_RATES_FILE: join(import.meta.dirname, "../../config/rates.demo.yaml"),
    },
  });
  const networks = loaded.config.networks.map(simulated);
  const [network] = networks;
  if (network === undefined) throw new Error("there is no network");
  const config: Config = { ...loaded.config, networks };
  const simulatedNetwork = network;

  function newChain(providers: readonly ProviderTraits[], time: SimulatedTime): SimulatedChain {
    const chain = makeChain({ network: simulatedNetwork, finalityLag, startAt, providers, time });
    for (let block = 1; block < firstBlocks; block += 1) chain.mine(startAt + block * 1_000, []);
    return chain;
  }
  const compose = (deps: ComposeDeps) => start(config, secret, deps);

  const db = await openDatabase({ sqliteFile: join(folder, "till.db") });
  const now = startAt + minute;
  const time: SimulatedTime = { now: () => now, pass: () => undefined, lagMs: 0 };
  await migrate(db, time);
  await db.write(testContext, (tx) => beginChain(tx, auditKey));
  const chance = chanceOf(1);
  const process = await compose({
    db,
    now: time.now,
    chance,
    chain: newChain([{ hasBlockReceipts: true, limits: noLimits }], time),
  });
  const cast = await settleIn(process, db, chance, now);
  const reset = await makeReset(db);

  return {
    cast,
    network,
    compose,
    newChain: (given, itsTime) =>
      newChain(
        Array.from({ length: given.pick([1, 1, 2, 2, 3]) }, () => ({
          hasBlockReceipts: given.below(2) === 0,
          limits: limitsOf(given),
        })),
        itsTime,
      ),
    async freshStore() {
      await db.write(testContext, reset);
      return db;
    },
    async dispose() {
      await db.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns a function that restores every table: a tenth of the cost of a new file, which prepares every statement again. */
async function makeReset(db: Database): Promise<(tx: Tx) => Promise<void>> {
  // They refuse the deletion of rows that never change.
  const triggers = await db.all<{ name: string }>(
    "SELECT name FROM sqlite_master WHERE type = 'trigger'",
  );
  await db.write(testContext, async (tx) => {
    for (const { name } of triggers) await tx.run(`DROP TRIGGER ${name}`);
  });
  const tables = await db.all<{ name: string }>(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
  );
  const kept: { readonly sql: string; readonly rows: string }[] = [];
  for (const { name } of tables) {
    const rows = await db.all(`SELECT * FROM ${name}`);
    const [first] = rows;
    if (first === undefined) continue;
    const columns = Object.keys(first);
    const values = columns.map((_, place) => `value ->> ${String(place)}`).join(", ");
    kept.push({
      sql: `INSERT INTO ${name} (${columns.join(", ")}) SELECT ${values} FROM json_each($1)`,
      rows: JSON.stringify(rows.map((row) => columns.map((column) => row[column]))),
    });
  }
  return async (tx) => {
    await tx.run("PRAGMA defer_foreign_keys = ON");
    for (const { name } of tables) await tx.run(`DELETE FROM ${name}`);
    for (const { sql, rows } of kept) await tx.run(sql, [rows]);
  };
}

/** One process: what a crash throws away, and what begins with nothing but the store. */
async function start(
  config: Config,
  secret: ServerSecret,
  { db, now, chance, chain }: ComposeDeps,
): Promise<Process> {
  const clock = { now };
  const randomBytes = (length: number) => chance.bytes(length);
  const baseUrl = () => "https://till.example";
  const app = makeApp({
    config,
    db,
    secret,
    clock,
    randomBytes,
    logger: silentLogger,
    metrics: noMetrics,
    passwordCost: { memoryCost: 8, timeCost: 1, parallelism: 1 },
    baseUrl,
    listening: baseUrl,
    providersOf: () => chain.providers.map((provider) => provider.connect()),
  });
  const workers = makeWorkers(app);
  // As a server does on a SQLite store: what a dead process held is free at once.
  await app.leases.endAll();
  await delivererOf(app).takeOver();
  await db.write(testContext, (tx) => endJobLeases(tx, now()));
  return { app, workers: new Map(workers.map((worker) => [worker.name, worker])) };
}

/** Four merchants, the first two with a plan already, and the platform. */
async function settleIn(
  { app, workers }: Process,
  db: Database,
  chance: Chance,
  now: Instant,
): Promise<Cast> {
  const ids = createIds((length) => chance.bytes(length));
  await run(workers, `watch ${networkId}`);
  for (const name of workers.keys()) if (name.startsWith("rates")) await run(workers, name);
  const platform = await db.write(testContext, (tx) =>
    addOrganizationTo(tx, app, now, { name: "Platform", ownerId: null, isPlatform: true }),
  );
  const add = (owner: Id<"organization">, receiver: { address: string } | { xpub: string }) =>
    createWallet(app, testContext, owner, { label: "W", network: networkId, ...receiver });
  const receiving = await add(platform.id, { xpub: xpubOf(9) });
  await setReceiveWallet(app, testContext, {
    walletId: receiving.id,
    tokenSymbol: "USDT",
  });
  const organizations: Id<"organization">[] = [];
  const wallets: { shared: Id<"wallet">; own: Id<"wallet"> }[] = [];
  for (let place = 0; place < 4; place += 1) {
    const owner = await addOrganization(db, ids, now);
    const own = await add(owner, { xpub: xpubOf(place) });
    const shared = await add(owner, { address: `0x${String(place + 1).repeat(40)}` });
    organizations.push(owner);
    wallets.push({ shared: shared.id, own: own.id });
  }
  const [first, second] = organizations;
  if (first === undefined || second === undefined) throw new Error("there are fewer merchants");
  await add(first, { address: `0x${idleAddress}` });
  await selectPlan(app, testContext, first, "free");
  await selectPlan(app, testContext, second, "small");
  await app.leases.releaseAll();
  return { organizations, wallets };
}

async function run(workers: Process["workers"], name: string): Promise<void> {
  const worker = workers.get(name);
  if (worker === undefined) throw new Error(`there is no worker ${name}`);
  for (let runs = 0; runs < 20; runs += 1) {
    if (!(await worker.run(new AbortController().signal))) return;
  }
  throw new Error(`${name} never comes to an end`);
}
