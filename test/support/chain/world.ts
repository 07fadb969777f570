// A watched network on a store, on a fake chain: `watchNetwork` opens its watcher alone, on providers in the process;
// `openPool` opens all that reads a network in `till serve`, on nodes with JSON-RPC.
import type { App } from "../../../src/app.ts";
import { listNetworkStatuses } from "../../../src/features/payments/networks/chain.ts";
import { networkReadersOf } from "../../../src/features/payments/networks/readers.ts";
import {
  payments,
  transfers,
  type PaymentRow,
  type TransferRow,
} from "../../../src/features/payments/table.ts";
import { makeBlockTimes } from "../../../src/features/payments/watcher/block-times.ts";
import type { Scanner } from "../../../src/features/payments/watcher/readings/rescanner.ts";
import {
  makeWatcher,
  type Watcher,
  type WatcherDeps,
} from "../../../src/features/payments/watcher/watcher.ts";
import { makeWatchWorkers } from "../../../src/features/payments/worker.ts";
import { hooks } from "../../../src/hooks.ts";
import { second, type Clock } from "../../../src/kernel/clock.ts";
import { createIds, type IdSource } from "../../../src/kernel/id.ts";
import { createJsonRpcClient } from "../../../src/platform/chain/evm/client.ts";
import type { Address, ChainClient } from "../../../src/platform/chain/client.ts";
import type { Network } from "../../../src/platform/chain/networks.ts";
import {
  makeBudget,
  type BudgetLimits,
  type ProviderBudget,
} from "../../../src/platform/chain/providers/limits.ts";
import type { ProviderPool } from "../../../src/platform/chain/providers/pool.ts";
import {
  createAlarms,
  type AlarmKind,
  type ChainAlarms,
} from "../../../src/platform/chain/state/alarms.ts";
import {
  networkState,
  type NetworkStateRow,
} from "../../../src/platform/chain/state/network-state.ts";
import type { Config, ConfiguredNetwork } from "../../../src/platform/config/config.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { createJournal } from "../../../src/platform/journal.ts";
import { silentLogger, type Logger } from "../../../src/platform/logger/index.ts";
import { noRates } from "../../../src/platform/rates/plan.ts";
import { systemRandom } from "../../../src/platform/secrets/tokens.ts";
import { appOf } from "../context.ts";
import { testNetworks } from "../merchants.ts";
import { patienceMs } from "../until.ts";
import { askingInvoices, blockMs, startAt, type AskingInvoices } from "./asked-invoices.ts";
import { makeFakeChain, type FakeChain } from "./fake-chain.ts";
import { startFakeNode, type FakeNode } from "./fake-node.ts";

/** A network on a store, its chain, and the invoices that are paid on it. */
interface ChainWorld {
  readonly db: Database;
  readonly chain: FakeChain;
  readonly network: Network;
  readonly invoices: AskingInvoices;
  /** Moves the clock alone: the times of the blocks that are mined next are as far behind it. */
  advance(milliseconds: number): void;
  state(): Promise<NetworkStateRow>;
  payments(): Promise<PaymentRow[]>;
  transfers(): Promise<TransferRow[]>;
}

/** A network with a watcher alone. */
export interface WatchedNetwork extends ChainWorld {
  readonly contract: Address;
  readonly watcher: Watcher;
  readonly alarms: Record<string, unknown>[];
  /** The other messages in the log, but for those that explain a dropped scan. */
  readonly logged: unknown[];
  /** The heights below which block times were forgotten. */
  readonly forgotten: readonly number[];
  /** Makes a watcher of another process on the same store. */
  another(): Watcher;
  /** Scans until no work is due, and advances the clock a little each time. */
  look(): Promise<void>;
  /** Returns the types of the events of payments and transfers, in order. */
  events(): Promise<string[]>;
}

/** A network that is read from several nodes with JSON-RPC, as in `till serve`. */
export interface PooledNetwork extends ChainWorld {
  readonly app: App;
  readonly nodes: readonly FakeNode[];
  readonly pool: ProviderPool;
  readonly alarms: ChainAlarms;
  /** The kinds of the alarms in the log, in order. */
  readonly loggedAlarms: readonly AlarmKind[];
  readonly watcher: Watcher;
  readonly scanner: Scanner;
  readonly budgets: readonly ProviderBudget[];
  /** Mines until the newest block's time is the clock's. */
  keepPace(): void;
  /** Runs the network's worker until no work is due, one poll interval later each time. */
  look(): Promise<void>;
  /** Mines and lets the time of the blocks pass without a scan. */
  pass(blocks: number): void;
  /** Mines, lets the time of the blocks pass, and scans. */
  mine(blocks: number): Promise<void>;
  /** Returns the kinds of the open alarms in the store, without the one that `advance` causes. */
  storedAlarms(): Promise<string[]>;
  /** Returns whether `chain_time_lags` is open in the store: so it is after `advance`, until the blocks keep pace. */
  isLagAlarmed(): Promise<boolean>;
  /** Simulates that the process reads the network again after another one did. */
  takeOver(): Promise<void>;
  stop(): Promise<void>;
}

interface WorldOptions {
  /** The number of blocks before the first scan. */
  readonly blocks?: number;
  readonly finalityLag?: number;
  readonly maxLogRange?: number;
}

export interface WatchOptions extends WorldOptions {
  readonly windowBlocks?: number;
  /** The source of random ids; by default the same at each opening. */
  readonly randomBytes?: (length: number) => Uint8Array;
  /** Returns the providers that are asked for receipts. */
  readonly providers?: (chain: FakeChain) => readonly ChainClient[];
  readonly pool?: Partial<NonNullable<WatcherDeps["pool"]>>;
}

export interface PooledOptions extends WorldOptions {
  readonly nodes?: number;
  readonly limits?: BudgetLimits;
  /** The request timeout in milliseconds: long, unless a test's provider does not answer. */
  readonly timeoutMs?: number;
  /** True to send all requests over sockets; by default only those that meet a fault of RpcFront. */
  readonly usesSockets?: boolean;
  /** Called before the first scan. */
  readonly onNodes?: (nodes: readonly FakeNode[]) => void;
}

const looksMax = 200;
const runsMax = 2_000;

/** The parts of a network that both ways to open it share. */
interface OpenedWorld {
  readonly world: ChainWorld;
  readonly clock: Clock;
  /** The parts of an app that settles the invoices of the network. */
  readonly parts: Pick<App, "db" | "clock" | "ids" | "hooks" | "config" | "networks">;
}

async function openWorld(
  db: Database,
  network: Network,
  chain: FakeChain,
  { begin, ids }: { readonly begin: number; readonly ids: IdSource },
): Promise<OpenedWorld> {
  let now = begin;
  const clock = { now: () => now };
  const invoices = await askingInvoices(db, network);
  const networks = new Map([[network.id, network as ConfiguredNetwork]]);
  const config = { rates: noRates, walletsPerOrganization: 1_000 } as Config;
  return {
    clock,
    parts: {
      db: invoices.db,
      clock,
      ids,
      hooks,
      config,
      networks: { enabled: networks, known: networks, enabledIds: [network.id] },
    },
    world: {
      db,
      chain,
      network,
      invoices,
      advance(milliseconds) {
        now += milliseconds;
      },
      async state() {
        const state = await networkState(db, network.id);
        if (state === null) throw new Error("the network was never reached");
        return state;
      },
      payments: () => db.find(payments, "ORDER BY id"),
      transfers: () => db.find(transfers, "ORDER BY id"),
    },
  };
}

/** Returns the settings of Ethereum with USDT first, on which all of these networks are. */
function ethereum(): Network & { readonly contract: Address } {
  const network = testNetworks("ethereum").get("ethereum");
  const contract = network?.tokens[0]?.contract;
  if (network === undefined || contract === undefined) throw new Error("no network");
  return { ...network, contract };
}

/** Does what reads the network once the invoices are stored that the test has asked for. */
async function reading<T>(invoices: AskingInvoices, read: () => Promise<T>): Promise<T> {
  await invoices.store();
  try {
    return await read();
  } finally {
    await invoices.read();
  }
}

export async function watchNetwork(
  db: Database,
  options: WatchOptions = {},
): Promise<WatchedNetwork> {
  const { windowBlocks = 256, maxLogRange = 1_000, finalityLag = 10, blocks = 40 } = options;
  const { contract, ...configured } = ethereum();
  const network: Network = { ...configured, windowBlocks, maxLogRange };
  const { chainId } = network;
  const chain = makeFakeChain({ startAt, blockMs, finalityLag, chainId });
  chain.mine([], blocks);
  let seed = 0;
  const same = (length: number) => Uint8Array.from({ length }, () => (seed = (seed * 7 + 3) % 256));
  const ids = createIds(options.randomBytes ?? same);
  const { world, clock, parts } = await openWorld(db, network, chain, {
    begin: startAt + second,
    ids,
  });

  const alarms: Record<string, unknown>[] = [];
  const logged: unknown[] = [];
  const logger: Logger = {
    ...silentLogger,
    warn: (...words: unknown[]) => void logged.push(words.at(-1)),
    info: (...words: unknown[]) => void logged.push(words.at(-1)),
    error: (first: object | string) => {
      if (typeof first === "object") alarms.push(first as Record<string, unknown>);
    },
    child: () => logger,
  };
  const providers = options.providers?.(chain) ?? [chain.client];
  const known = makeBlockTimes({ clock, providers, alarms: createAlarms({ clock, logger }) });
  const forgotten: number[] = [];
  const times: typeof known = {
    ...known,
    forgetBelow(height) {
      forgotten.push(height);
      known.forgetBelow(height);
    },
  };
  const app = appOf({ ...parts, journal: createJournal({ ids, wake: () => undefined }) });
  const pool = options.pool as WatcherDeps["pool"];

  function another(): Watcher {
    const { client } = chain;
    const read = { app, db, clock, providers, times, logger, network, client };
    const watcher = makeWatcher({ ...read, ...(pool === undefined ? {} : { pool }) });
    return { ...watcher, scan: (guard) => reading(world.invoices, () => watcher.scan(guard)) };
  }
  const watcher = another();

  async function look(): Promise<void> {
    for (let looks = 0; looks < looksMax; looks += 1) {
      world.advance(1_500);
      if (!(await watcher.scan(() => Promise.resolve()))) return;
    }
    throw new Error("the watcher never comes to an end");
  }

  await look();
  return {
    ...world,
    contract,
    watcher,
    alarms,
    logged,
    forgotten,
    another,
    look,
    async events() {
      const rows = await db.all<{ type: string }>("SELECT type FROM events ORDER BY id");
      return rows.map(({ type }) => type).filter((type) => !type.startsWith("invoice."));
    },
  };
}

export async function openPool(db: Database, options: PooledOptions = {}): Promise<PooledNetwork> {
  const { blocks = 60, finalityLag = 10, timeoutMs = patienceMs, maxLogRange = 1_000 } = options;
  const { contract, ...configured } = ethereum();
  const network: Network = { ...configured, maxLogRange, tokens: configured.tokens.slice(0, 1) };
  const chain = makeFakeChain({ chainId: 1, contract, startAt, blockMs, finalityLag });
  chain.mine([], blocks);
  const { world, clock, parts } = await openWorld(db, network, chain, {
    begin: chain.tip().time + second,
    ids: createIds(systemRandom),
  });
  const nodes = await Promise.all(
    Array.from({ length: options.nodes ?? 2 }, () => startFakeNode(chain)),
  );
  options.onNodes?.(nodes);

  const loggedAlarms: AlarmKind[] = [];
  const logger: Logger = {
    ...silentLogger,
    error: (fields: object | string) => {
      if (typeof fields === "object" && "alarm" in fields) {
        loggedAlarms.push(fields.alarm as AlarmKind);
      }
    },
    child: () => logger,
  };
  const members = nodes.map((node) => {
    const { url } = node;
    const fetch = options.usesSockets === true ? globalThis.fetch : node.fetch;
    const budget = makeBudget({
      limits: options.limits ?? { requestsPerSecond: 1_000, requestsPerDay: null },
      clock,
      provider: new URL(url).origin,
      delay(milliseconds) {
        world.advance(milliseconds);
        return Promise.resolve();
      },
    });
    const beforeRequest = () => budget.take();
    return {
      budget,
      client: createJsonRpcClient({ network, url, fetch, timeoutMs, beforeRequest }),
    };
  });
  const app = appOf({
    ...parts,
    logger,
    providersOf: () => members,
    // The pool draws the middle of what is random.
    randomBytes: (length) => new Uint8Array(length).fill(128),
  });
  const reader = networkReadersOf(app).get(network.id);
  if (reader === undefined) throw new Error("the network has no provider");
  const { pool, alarms, watcher, scanner, monitor } = reader;
  const [worker] = makeWatchWorkers(app);

  async function look(): Promise<void> {
    for (let runs = 0; runs < runsMax; runs += 1) {
      world.advance(2 * second);
      const run = () => worker?.run(new AbortController().signal);
      if ((await reading(world.invoices, async () => run())) !== true) return;
    }
    throw new Error("the worker never comes to an end");
  }

  function pass(count: number): void {
    chain.mine([], count);
    world.advance(count * blockMs);
  }

  const alarmKinds = async () => {
    const [status] = await listNetworkStatuses(app, { isLive: false });
    return (status?.alarms ?? []).map(({ kind }) => kind);
  };
  await look();
  return {
    ...world,
    app,
    nodes,
    pool,
    alarms,
    loggedAlarms,
    watcher,
    scanner,
    budgets: members.map(({ budget }) => budget),
    look,
    keepPace() {
      const behindMs = clock.now() - chain.tip().time;
      if (behindMs >= blockMs) chain.mine([], Math.floor(behindMs / blockMs));
    },
    pass,
    async mine(count) {
      pass(count);
      await look();
    },
    async storedAlarms() {
      return (await alarmKinds()).filter((kind) => kind !== "chain_time_lags");
    },
    async isLagAlarmed() {
      return (await alarmKinds()).includes("chain_time_lags");
    },
    takeOver: () => monitor.resume(),
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}
