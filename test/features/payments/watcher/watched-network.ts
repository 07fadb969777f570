import { aQuote } from "../../../support/quotes.ts";
import type { HoldMatch } from "../../../../src/features/invoices/holds/matching.ts";
import type { PayableTerms } from "../../../../src/features/invoices/settlement/terms-to-pay.ts";
import type { PaymentTotals } from "../../../../src/features/invoices/rules.ts";
import type {
  Invoices,
  WatchTimes,
} from "../../../../src/features/payments/ledger/invoices-port.ts";
import {
  payments,
  transfers,
  type PaymentRow,
  type TransferRow,
} from "../../../../src/features/payments/table.ts";
import { makeBlockTimes } from "../../../../src/features/payments/watcher/block-times.ts";
import {
  makeWatcher,
  type Watcher,
  type WatcherDeps,
} from "../../../../src/features/payments/watcher/watcher.ts";
import { second } from "../../../../src/kernel/clock.ts";
import { createIds, type Id, type IdSource } from "../../../../src/kernel/id.ts";
import { createJournal } from "../../../../src/platform/journal/index.ts";
import { createAlarms } from "../../../../src/platform/chain/state/alarms.ts";
import type { Address, ChainClient } from "../../../../src/platform/chain/client.ts";
import type { Network } from "../../../../src/platform/chain/networks.ts";
import {
  networkState,
  type NetworkStateRow,
} from "../../../../src/platform/chain/state/network-state.ts";
import type { Database } from "../../../../src/platform/database/database.ts";
import { silentLogger, type Logger } from "../../../../src/platform/logger/index.ts";
import { testNetworks } from "../../../support/merchants.ts";
import { scriptChain, type ScriptedChain } from "./scripted-chain.ts";
import type { Unsound } from "../../../support/store/expect-store-is-consistent.ts";

export const startAt = Date.UTC(2026, 10, 2);
export const blockMs = 12 * second;
export const token = (amount: number): bigint => BigInt(Math.round(amount * 1_000_000));

/** An invoice as payments see it: its hold and its terms. */
interface AskedInvoice {
  readonly id: Id<"invoice">;
  readonly address: Address;
  /** Null if the address is exclusive to this invoice. */
  readonly exactAmount: bigint | null;
  terms: PayableTerms;
  isWatched: boolean;
}

export interface AskedFor {
  readonly address: Address;
  readonly exactAmount?: bigint;
  readonly terms?: Partial<PayableTerms>;
}

/** A stand-in for the invoices, which keeps the totals that it receives. */
export interface AskingInvoices extends Invoices, WatchTimes {
  ask(asked: AskedFor): AskedInvoice;
  readonly totals: Map<Id<"invoice">, PaymentTotals>;
  /** Called in the transaction before it commits: a test throws here to simulate a kill. */
  onSettle: () => void;
}

/** No payer asks for a refund. */
export const noRefunds = { withdraw: () => Promise.resolve() };

/** The consistency checks that fail on a store whose invoices are stand-ins without rows. */
export const standInInvoices: Unsound = {
  checks: ["payments.invoice", "figures.facts"],
  because: "payments are found for invoices that a test asks for and nobody stores",
};

/** Makes stand-in invoices without a store. */
export function askingInvoices(ids: IdSource): AskingInvoices {
  const asked = new Map<Id<"invoice">, AskedInvoice>();
  const organizationId = ids.next("organization", startAt);
  const totals = new Map<Id<"invoice">, PaymentTotals>();
  const watched = () => [...asked.values()].filter(({ isWatched }) => isWatched);

  return {
    totals,
    onSettle: () => undefined,
    cancelInvoice: () => Promise.reject(new Error("stand-in invoices are not canceled")),
    ask({ address, exactAmount, terms }) {
      const invoice: AskedInvoice = {
        id: ids.next("invoice", startAt),
        address,
        exactAmount: exactAmount ?? null,
        isWatched: true,
        terms: {
          organizationId:
            terms?.latePolicy === "review" ? ids.next("organization", startAt) : organizationId,
          walletId: null,
          customerId: null,
          amount: 2_500n,
          settlementCurrency: "USD",
          settlementDecimals: 2,
          network: "ethereum",
          tokenSymbol: "USDT",
          quotes: [aQuote({ payableAmount: terms?.payableAmount ?? exactAmount ?? token(25) })],
          tolerance: { numerator: 0n, denominator: 1n },
          issuedAt: startAt,
          payableAmount: exactAmount ?? token(25),
          askedAmount: exactAmount ?? token(25),
          excessSlack: 0n,
          rounding: { numerator: 0n, denominator: 1n },
          dueAmount: exactAmount ?? token(25),
          wholeAmount: exactAmount ?? token(25),
          seenAmount: 0n,
          remainingAmount: exactAmount ?? token(25),
          expiresAt: startAt + 1_000_000 * blockMs,
          lateUntil: startAt + 2_000_000 * blockMs,
          isCanceled: false,
          managedBy: null,
          latePolicy: "accept",
          ...terms,
        },
      };
      asked.set(invoice.id, invoice);
      return invoice;
    },
    watchedAddresses: (_reader, _network, limit) =>
      Promise.resolve([...new Set(watched().map(({ address }) => address))].slice(0, limit)),
    watchedAmong: (_reader, _network, addresses) => {
      const held = new Set(watched().map(({ address }) => address));
      return Promise.resolve(addresses.filter((address) => held.has(address)));
    },
    watchedSince: (_reader, _network, addresses) =>
      Promise.resolve(
        new Map(
          watched()
            .filter(({ address }) => addresses.includes(address))
            .map(({ address, terms }) => [address, { startsAt: terms.issuedAt, markHeight: null }]),
        ),
      ),
    oldestHold: () =>
      Promise.resolve(
        watched().reduce<number | null>(
          (oldest, { terms }) => Math.min(oldest ?? terms.issuedAt, terms.issuedAt),
          null,
        ),
      ),
    matchHolds: (_tx, _network, candidates) =>
      Promise.resolve(
        new Map(
          candidates.flatMap(({ key, address, amount }): [string, HoldMatch][] => {
            const own = watched().filter((invoice) => invoice.address === address);
            const found = own.find(
              ({ exactAmount }) => exactAmount === null || exactAmount === amount,
            );
            if (found === undefined) return [];
            const rule = found.exactAmount === null ? "exclusive_address" : "exact_amount";
            return [
              [key, { invoiceId: found.id, organizationId: found.terms.organizationId, rule }],
            ];
          }),
        ),
      ),
    lockTerms: (_tx, invoiceIds) =>
      Promise.resolve(
        new Map(
          invoiceIds.flatMap((id) => {
            const invoice = asked.get(id);
            if (invoice === undefined) return [];
            return [[id, { ...invoice.terms, invoice: undefined as never }] as const];
          }),
        ),
      ),
    settleInvoices(_tx, _network, _locked, settled) {
      this.onSettle();
      for (const [id, each] of settled) totals.set(id, each);
      return Promise.resolve();
    },
    sweepDeadlines: () => Promise.resolve(0),
    lateReviewers: () =>
      Promise.resolve(
        new Set(
          [...asked.values()]
            .filter(({ terms }) => terms.latePolicy === "review")
            .map(({ terms }) => terms.organizationId),
        ),
      ),
  };
}

/** A watched network on a scripted chain. */
export interface WatchedNetwork {
  readonly db: Database;
  readonly chain: ScriptedChain;
  readonly invoices: AskingInvoices;
  readonly network: Network;
  readonly contract: Address;
  readonly watcher: Watcher;
  readonly alarms: Record<string, unknown>[];
  /** The other messages in the log, but for those that explain a dropped scan. */
  readonly logged: unknown[];
  /** The heights below which block times were forgotten. */
  readonly forgotten: readonly number[];
  /** Makes a watcher of another process on the same store. */
  another(): Watcher;
  advance(milliseconds: number): void;
  /** Scans until no work is due, and advances the clock a little each time. */
  look(): Promise<void>;
  state(): Promise<NetworkStateRow>;
  payments(): Promise<PaymentRow[]>;
  transfers(): Promise<TransferRow[]>;
  /** Returns the types of the payments' events, in order. */
  events(): Promise<string[]>;
}

export interface WatchOptions {
  readonly finalityLag?: number;
  readonly windowBlocks?: number;
  readonly maxLogRange?: number;
  /** The number of blocks before the first scan. */
  readonly blocks?: number;
  /** The source of random ids; by default the same at each opening. */
  readonly randomBytes?: (length: number) => Uint8Array;
  /** Returns the providers that are asked for receipts. */
  readonly providers?: (chain: ScriptedChain) => readonly ChainClient[];
  readonly pool?: Partial<NonNullable<WatcherDeps["pool"]>>;
}

const looksMax = 200;

export async function watchNetwork(
  db: Database,
  options: WatchOptions = {},
): Promise<WatchedNetwork> {
  const configured = testNetworks("ethereum").get("ethereum");
  const contract = configured?.tokens[0]?.contract;
  if (configured === undefined || contract === undefined) throw new Error("no network");
  const { windowBlocks = 256, maxLogRange = 1_000, finalityLag = 10, blocks = 40 } = options;
  const network: Network = { ...configured, windowBlocks, maxLogRange };

  let now = startAt + 1_000;
  let seed = 0;
  const same = (length: number) => Uint8Array.from({ length }, () => (seed = (seed * 7 + 3) % 256));
  const ids = createIds(options.randomBytes ?? same);
  const { chainId } = network;
  const chain = scriptChain({ startAt, blockMs, finalityLag, chainId });
  chain.mine([], blocks);
  const invoices = askingInvoices(ids);
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
  const clock = { now: () => now };
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
  const another = () =>
    makeWatcher({
      db,
      clock,
      providers,
      times,
      ids,
      journal: createJournal({ ids, wake: () => undefined }),
      invoices,
      refunds: noRefunds,
      logger,
      network,
      client: chain.client,
      ...(options.pool === undefined
        ? {}
        : { pool: options.pool as NonNullable<WatcherDeps["pool"]> }),
    });
  const watcher = another();

  const harness: WatchedNetwork = {
    db,
    chain,
    invoices,
    network,
    contract,
    watcher,
    alarms,
    logged,
    forgotten,
    another,
    advance(milliseconds) {
      now += milliseconds;
    },
    async look() {
      for (let looks = 0; looks < looksMax; looks += 1) {
        now += 1_500;
        if (!(await watcher.look(() => Promise.resolve()))) return;
      }
      throw new Error("the watcher never comes to an end");
    },
    async state() {
      const state = await networkState(db, network.id);
      if (state === null) throw new Error("the network was never reached");
      return state;
    },
    payments: () => db.find(payments, "ORDER BY id"),
    transfers: () => db.find(transfers, "ORDER BY id"),
    async events() {
      const rows = await db.all<{ type: string }>("SELECT type FROM events ORDER BY id");
      return rows.map(({ type }) => type);
    },
  };
  await harness.look();
  return harness;
}
