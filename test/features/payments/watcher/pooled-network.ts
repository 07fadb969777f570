import { makeBlockTimes } from "../../../../src/features/payments/watcher/block-times.ts";
import {
  makeChainService,
  type ChainService,
} from "../../../../src/features/payments/networks/service.ts";
import { makeClaimExaminer } from "../../../../src/features/payments/hash-claims/examiner.ts";
import { makeMonitor } from "../../../../src/features/payments/watcher/provider-monitor.ts";
import { makeRecorder } from "../../../../src/features/payments/watcher/recorder.ts";
import {
  makeScanner,
  type Scanner,
} from "../../../../src/features/payments/watcher/readings/rescanner.ts";
import { makeWalletReader } from "../../../../src/features/payments/watcher/readings/wallet-reading.ts";
import { makeWatcher, type Watcher } from "../../../../src/features/payments/watcher/watcher.ts";
import { makeProviderCrossCheck } from "../../../../src/features/payments/watcher/provider-cross-check.ts";
import { makeWatchWorkers } from "../../../../src/features/payments/worker.ts";
import {
  payments,
  transfers,
  type PaymentRow,
  type TransferRow,
} from "../../../../src/features/payments/table.ts";
import { systemActor } from "../../../../src/kernel/actor.ts";
import { second } from "../../../../src/kernel/clock.ts";
import { createIds } from "../../../../src/kernel/id.ts";
import { createJournal } from "../../../../src/platform/journal/index.ts";
import {
  createAlarms,
  type AlarmKind,
  type ChainAlarms,
} from "../../../../src/platform/chain/state/alarms.ts";
import { createJsonRpcClient } from "../../../../src/platform/chain/evm/client.ts";
import type { Network } from "../../../../src/platform/chain/networks.ts";
import {
  makeBudget,
  type BudgetLimits,
  type ProviderBudget,
} from "../../../../src/platform/chain/providers/budget.ts";
import {
  makeProviderPool,
  type ProviderPool,
} from "../../../../src/platform/chain/providers/pool.ts";
import {
  networkState,
  type NetworkStateRow,
} from "../../../../src/platform/chain/state/network-state.ts";
import type { Database } from "../../../../src/platform/database/database.ts";
import { createLeases } from "../../../../src/platform/jobs/leases.ts";
import { silentLogger, type Logger } from "../../../../src/platform/logger/index.ts";
import { systemRandom } from "../../../../src/platform/secrets/random.ts";
import {
  makeFakeChain,
  startFakeNode,
  type FakeChain,
  type FakeNode,
} from "../../../support/chain/fake-node.ts";
import { testNetworks } from "../../../support/merchants.ts";
import { askingInvoices, noRefunds, startAt, type AskingInvoices } from "./watched-network.ts";
import { patienceMs } from "../../../support/until.ts";

/** A network that is read from several nodes over HTTP, as in `till serve`. */
export interface PooledNetwork {
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
  readonly service: ChainService;
  readonly scanner: Scanner;
  readonly recorder: ReturnType<typeof makeRecorder>;
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
  };
  const alarms = createAlarms({ clock, logger });
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
  const pool = makeProviderPool({ network, members, clock, random: () => 0.5, alarms });
  const ids = createIds(systemRandom);
  const invoices = askingInvoices(ids);
  const { client, providers } = pool;
  const times = makeBlockTimes({ clock, providers, alarms, pool });
  const reading = {
    db,
    clock,
    ids,
    network,
    invoices,
    pool,
    alarms,
    client,
    providers,
    times,
    refunds: noRefunds,
    journal: createJournal({ ids, wake: () => undefined }),
    logger: silentLogger,
  };
  const scanner = makeScanner(reading);
  const watcher = makeWatcher(reading);
  const monitor = makeMonitor({
    ...reading,
    crossCheck: makeProviderCrossCheck({ ...reading, scanner }),
    wallets: makeWalletReader({ ...reading, scanner }),
  });
  const leases = createLeases({ db, clock, ids, actor: systemActor("test") });
  const claimableTerms = () => Promise.resolve(null);
  const [worker] = makeWatchWorkers({
    db,
    clock,
    leases,
    invoices,
    watchers: [watcher],
    examiners: [
      makeClaimExaminer({
        ...reading,
        claimableTerms,
        claimableNetworks: () => Promise.resolve([]),
        examined: new Set<string>(),
        unread: [],
        nudge: () => undefined,
      }),
    ],
    monitors: new Map([[network.id, monitor]]),
  });
  const recorder = makeRecorder(reading);
  const access = [{ network: network.id, pool, alarms, scanner, recorder }];
  const service = makeChainService({
    ...reading,
    enabled: new Map([[network.id, network]]),
    enabledIds: [network.id],
    access,
  });

  async function look(): Promise<void> {
    for (let runs = 0; runs < runsMax; runs += 1) {
      now += 2 * second;
      if ((await worker?.run(new AbortController().signal)) !== true) return;
    }
    throw new Error("the worker never comes to an end");
  }

  const alarmKinds = async () => {
    const [status] = await service.status({ isLive: false });
    return (status?.alarms ?? []).map(({ kind }) => kind);
  };
  const harness: PooledNetwork = {
    db,
    chain,
    nodes,
    network,
    invoices,
    pool,
    alarms,
    loggedAlarms,
    watcher,
    service,
    scanner,
    recorder,
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
