import type { App } from "../../../../src/app.ts";
import { listNetworkStatuses } from "../../../../src/features/payments/networks/chain.ts";
import { networkReadersOf } from "../../../../src/features/payments/networks/readers.ts";
import type { Scanner } from "../../../../src/features/payments/watcher/readings/rescanner.ts";
import type { Watcher } from "../../../../src/features/payments/watcher/watcher.ts";
import { makeWatchWorkers } from "../../../../src/features/payments/worker.ts";
import {
  payments,
  transfers,
  type PaymentRow,
  type TransferRow,
} from "../../../../src/features/payments/table.ts";
import { second } from "../../../../src/kernel/clock.ts";
import { createIds } from "../../../../src/kernel/id.ts";
import { hooks } from "../../../../src/hooks.ts";
import type { AlarmKind, ChainAlarms } from "../../../../src/platform/chain/state/alarms.ts";
import { createJsonRpcClient } from "../../../../src/platform/chain/evm/client.ts";
import type { Network } from "../../../../src/platform/chain/networks.ts";
import {
  makeBudget,
  type BudgetLimits,
  type ProviderBudget,
} from "../../../../src/platform/chain/providers/limits.ts";
import type { ProviderPool } from "../../../../src/platform/chain/providers/pool.ts";
import {
  networkState,
  type NetworkStateRow,
} from "../../../../src/platform/chain/state/network-state.ts";
import type { ConfiguredNetwork } from "../../../../src/platform/config/config.ts";
import type { Database } from "../../../../src/platform/database/database.ts";
import { silentLogger, type Logger } from "../../../../src/platform/logger/index.ts";
import { systemRandom } from "../../../../src/platform/secrets/tokens.ts";
import {
  makeFakeChain,
  startFakeNode,
  type FakeChain,
  type FakeNode,
} from "../../../support/chain/fake-node.ts";
import { appOf } from "../../../support/context.ts";
import { testNetworks } from "../../../support/merchants.ts";
import { askingInvoices, settlingConfig, startAt, type AskingInvoices } from "./watched-network.ts";
import { patienceMs } from "../../../support/until.ts";

/** A network that is read from several nodes over HTTP, as in `till serve`. */
export interface PooledNetwork {
  readonly app: App;
  readonly db: Database;
  readonly chain: FakeChain;
  readonly nodes: readonly FakeNode[];
  readonly network: Network;
  readonly invoices: AskingInvoices;
  readonly pool: ProviderPool;
  readonly alarms: ChainAlarms;
  /** The kinds of the alarms in the log, in order. */
  readonly loggedAlarms: readonly AlarmKind[];
  readonly watcher: Watcher;
  readonly scanner: Scanner;
  readonly budgets: readonly ProviderBudget[];
  /** Moves the clock alone: the times of the blocks that are mined next are as far behind it. */
  advance(milliseconds: number): void;
  /** Mines until the newest block's time is the clock's. */
  keepPace(): void;
  /** Runs the network's worker until no work is due, one poll interval later each time. */
  look(): Promise<void>;
  /** Mines and lets the time of the blocks pass without a scan. */
  pass(blocks: number): void;
  /** Mines, lets the time of the blocks pass, and scans. */
  mine(blocks: number): Promise<void>;
  state(): Promise<NetworkStateRow>;
  payments(): Promise<PaymentRow[]>;
  transfers(): Promise<TransferRow[]>;
  /** Returns the kinds of the open alarms in the store, without the one that `advance` causes. */
  storedAlarms(): Promise<string[]>;
  /** Returns whether `chain_time_lags` is open in the store: so it is after `advance`, until the blocks keep pace. */
  isLagAlarmed(): Promise<boolean>;
  /** Simulates that the process reads the network again after another one did. */
  takeOver(): Promise<void>;
  stop(): Promise<void>;
}

export interface PooledOptions {
  readonly nodes?: number;
  readonly blocks?: number;
  readonly finalityLag?: number;
  readonly limits?: BudgetLimits;
  readonly maxLogRange?: number;
  /** The request timeout in milliseconds: long, unless a test's provider does not answer. */
  readonly timeoutMs?: number;
  /** Called before the first scan. */
  readonly onNodes?: (nodes: readonly FakeNode[]) => void;
}

const runsMax = 2_000;
export const poolBlockMs = 12 * second;

export async function openPool(db: Database, options: PooledOptions = {}): Promise<PooledNetwork> {
  const configured = testNetworks("ethereum").get("ethereum");
  const contract = configured?.tokens[0]?.contract;
  if (configured === undefined || contract === undefined) throw new Error("no network");
  const { blocks = 60, finalityLag = 10, timeoutMs = patienceMs, maxLogRange = 1_000 } = options;
  const network: Network = {
    ...configured,
    maxLogRange,
    tokens: configured.tokens.slice(0, 1),
  };
  const chain = makeFakeChain({ chainId: 1, contract, startAt, blockMs: poolBlockMs });
  chain.mine(blocks);
  let now = startAt + chain.height() * poolBlockMs + second;
  const clock = { now: () => now };
  const nodes = await Promise.all(
    Array.from({ length: options.nodes ?? 2 }, () => startFakeNode(chain, {}, finalityLag)),
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
  const budgets: ProviderBudget[] = [];
  const members = nodes.map(({ url }) => {
    const budget = makeBudget({
      limits: options.limits ?? { requestsPerSecond: 1_000, requestsPerDay: null },
      clock,
      provider: new URL(url).origin,
      delay(milliseconds) {
        now += milliseconds;
        return Promise.resolve();
      },
    });
    budgets.push(budget);
    const beforeRequest = () => budget.take();
    return { budget, client: createJsonRpcClient({ network, url, timeoutMs, beforeRequest }) };
  });
  const ids = createIds(systemRandom);
  const invoices = await askingInvoices(db, network);
  const networks = new Map([[network.id, network as ConfiguredNetwork]]);
  const app = appOf({
    db: invoices.db,
    clock,
    ids,
    logger,
    hooks,
    config: settlingConfig,
    networks: { enabled: networks, known: networks, enabledIds: [network.id] },
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
      now += 2 * second;
      await invoices.store();
      try {
        if ((await worker?.run(new AbortController().signal)) !== true) return;
      } finally {
        await invoices.read();
      }
    }
    throw new Error("the worker never comes to an end");
  }

  const alarmKinds = async () => {
    const [status] = await listNetworkStatuses(app, { isLive: false });
    return (status?.alarms ?? []).map(({ kind }) => kind);
  };
  const harness: PooledNetwork = {
    app,
    db,
    chain,
    nodes,
    network,
    invoices,
    pool,
    alarms,
    loggedAlarms,
    watcher,
    scanner,
    budgets,
    look,
    advance(milliseconds) {
      now += milliseconds;
    },
    keepPace() {
      const behindMs = now - chain.block(chain.height()).time;
      if (behindMs >= poolBlockMs) chain.mine(Math.floor(behindMs / poolBlockMs));
    },
    pass(count) {
      chain.mine(count);
      now += count * poolBlockMs;
    },
    async mine(count) {
      harness.pass(count);
      await look();
    },
    async state() {
      const state = await networkState(db, network.id);
      if (state === null) throw new Error("the network was never reached");
      return state;
    },
    payments: () => db.find(payments, "ORDER BY id"),
    transfers: () => db.find(transfers, "ORDER BY id"),
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
  await look();
  return harness;
}
