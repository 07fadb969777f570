import { bind, type Bound } from "../../../kernel/bind.ts";
import type { Clock, Instant } from "../../../kernel/clock.ts";
import { NotFound } from "../../../kernel/errors.ts";
import type { Progress } from "../../../platform/progress.ts";
import type { Journal } from "../../../platform/journal/index.ts";
import {
  acknowledgedKinds,
  type Alarm,
  type ChainAlarms,
} from "../../../platform/chain/state/alarms.ts";
import {
  endAlarms,
  openAlarms,
  storedProviders,
} from "../../../platform/chain/state/provider-store.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { ProviderError } from "../../../platform/chain/providers/error.ts";
import type { ProviderHealth } from "../../../platform/chain/state/provider-health.ts";
import type { ProviderPool } from "../../../platform/chain/providers/pool.ts";
import {
  contiguousRanges,
  coverageOf,
  type Coverage,
  type ReadRange,
} from "../../../platform/chain/state/reading-ranges.ts";
import { readingsOf } from "../../../platform/chain/state/readings.ts";
import {
  networkState,
  networkStates,
  type NetworkState,
} from "../../../platform/chain/state/network-state.ts";
import type { Database, Reader, WriteContext } from "../../../platform/database/index.ts";
import { heldLeases } from "../../../platform/jobs/leases.ts";
import {
  AlarmNotAcknowledged,
  NetworkNotReached,
  NotScanned,
  ProviderUnusable,
} from "../errors.ts";
import { watchWorkerName } from "../worker.ts";
import { summarize, type ReadingSummary } from "../watcher/readings/reading-plan.ts";
import type { Scanner, ScanReport } from "../watcher/readings/rescanner.ts";
import type { BlockRange } from "../ledger/chain-diff.ts";

export interface NetworkStatus {
  readonly network: Network;
  /** Null if the network was never reached. */
  readonly state: NetworkState | null;
  /** True if a server is reading the network now. */
  readonly isWatched: boolean;
  /** The newest block that any provider reported, at the last scan or in this probe. */
  readonly headHeight: number | null;
  /** The age of the newest scanned block by its own time, in milliseconds. */
  readonly lagMs: number | null;
  readonly providers: readonly ProviderHealth[];
  /** When the providers' health was determined; null if never. */
  readonly providersAt: Instant | null;
  readonly alarms: readonly Alarm[];
}

export interface AuditReport extends Coverage, BlockRange {
  readonly network: Network;
  /** The last final block that was read. */
  readonly cursorHeight: number;
  /** The blocks that were read, as contiguous ranges. */
  readonly ranges: readonly ReadRange[];
  /** The number of readings of the range's final blocks, with their providers. */
  readonly readings: readonly ReadingSummary[];
  /** The last final block that two providers read; null if two providers have read no block. */
  readonly witnessedTo: number | null;
}

export type ChainService = Bound<typeof methods>;

/** A network's providers and scanner. A network without a provider has no entry. */
interface Access {
  readonly network: string;
  readonly pool: ProviderPool;
  readonly alarms: ChainAlarms;
  readonly scanner: Scanner;
}

interface Deps {
  readonly db: Database;
  readonly clock: Clock;
  /** The enabled networks by id. */
  readonly enabled: ReadonlyMap<string, Network>;
  /** The ids of all enabled networks. `enabled.get` may throw for one that a command does not know. */
  readonly enabledIds: readonly string[];
  readonly access: readonly Access[];
  readonly journal: Journal;
}

const methods = { status, scan, audit, acknowledge };

export function makeChainService(deps: Deps): ChainService {
  return bind(deps, methods);
}

/** Returns the status of every enabled network: with `isLive` by asking the providers, otherwise as stored. */
async function status(
  deps: Deps,
  { isLive }: { readonly isLive: boolean },
): Promise<readonly NetworkStatus[]> {
  const { db, clock, access, enabledIds } = deps;
  const networks = enabledIds.map((id) => find(deps, id));
  const states = await networkStates(db);
  const held = await heldLeases(db, clock.now());
  const stored = await storedProviders(db);
  const alarms = await openAlarms(db);
  return Promise.all(
    networks.map(async (network): Promise<NetworkStatus> => {
      const own = isLive ? access.find((each) => each.network === network.id) : undefined;
      const rows = stored.filter((row) => row.network === network.id);
      const live = own === undefined ? null : await probe(own);
      const state = states.get(network.id) ?? null;
      const tips = (live ?? []).map(({ tipHeight }) => tipHeight ?? 0);
      const probed = own?.alarms.open() ?? [];
      const known = alarms.filter((alarm) => alarm.network === network.id);
      const news = probed.filter(
        ({ kind, subject }) =>
          !known.some((alarm) => alarm.kind === kind && alarm.subject === subject),
      );
      return {
        network,
        state,
        isWatched: held.has(watchWorkerName(network.id)),
        headHeight: highest([...tips, state?.headHeight ?? 0]),
        lagMs: state === null ? null : Math.max(0, clock.now() - state.tipTime),
        providers: live ?? rows.map(({ health }) => health),
        providersAt: live === null ? (rows[0]?.writtenAt ?? null) : clock.now(),
        alarms: [...known, ...news],
      };
    }),
  );
}

/** Reads a range again. Throws NotFound, NetworkNotReached, NotScanned, ProviderUnusable or ScanInterrupted. */
async function scan(
  deps: Deps,
  context: WriteContext,
  id: string,
  { from, to }: BlockRange,
  progress?: Progress,
): Promise<ScanReport & { readonly network: Network }> {
  const { access } = deps;
  const network = find(deps, id);
  const state = await reached(deps, network);
  const own = access.find((each) => each.network === id);
  if (own === undefined) {
    throw new ProviderUnusable(`${network.title} has no provider. Configure one and try again.`);
  }
  if (from > to)
    throw new NotScanned("The range ends before it begins. Swap its first and last block.");
  if (to > state.tipHeight) {
    throw new NotScanned(
      `Block ${String(state.tipHeight)} is the newest block that was read. ` +
        "Scan up to that block; till serve reads the blocks above it.",
    );
  }
  try {
    return { network, ...(await own.scanner.scan(context, { from, to }, progress)) };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    throw new ProviderUnusable(`${error.message}. Check till chain status --probe.`, {
      cause: error,
    });
  }
}

/**
 * Reports which blocks were read; by default from the first contact to the newest block. Throws NotFound or
 * NetworkNotReached.
 */
async function audit(deps: Deps, id: string, range: Partial<BlockRange>): Promise<AuditReport> {
  const { db } = deps;
  const network = find(deps, id);
  const state = await reached(deps, network);
  const rows = await readingsOf(db, id);
  const ranges = contiguousRanges(rows);
  const { cursorHeight } = state;
  const from = range.from ?? rows[0]?.fromHeight ?? cursorHeight + 1;
  const to = range.to ?? state.tipHeight;
  const coverage: Coverage = from > to ? { gaps: [], seams: [] } : coverageOf(rows, from, to);
  const readings = summarize(rows, { from, to: Math.min(to, cursorHeight) });
  const witnessed = readings.filter(({ providers }) => providers.length > 1);
  return {
    network,
    from,
    to,
    ranges,
    readings,
    cursorHeight,
    ...coverage,
    witnessedTo: witnessed.at(-1)?.to ?? null,
  };
}

/**
 * Acknowledges alarms, all of the network or only those about a subject, of the kinds that stay open until then. A
 * server that reads the network notices within seconds. Throws NotFound or AlarmNotAcknowledged.
 */
function acknowledge(
  deps: Deps,
  context: WriteContext,
  id: string,
  subject: string | null,
): Promise<{ readonly network: Network; readonly ended: readonly Alarm[] }> {
  const { db, clock, journal } = deps;
  const network = find(deps, id);
  const which = { network: id, kinds: acknowledgedKinds, subject };
  return db.write(context, async (tx) => {
    const at = clock.now();
    const ended = await endAlarms(tx, which, at);
    if (ended.length === 0) throw await notAcknowledged(tx, id, subject);
    for (const alarm of ended) {
      journal.record(tx, at, {
        action: "chain.alarm_acknowledged",
        organizationId: null,
        subjectType: "network",
        subjectId: id,
        changes: { kind: alarm.kind, subject: alarm.subject },
      });
    }
    return { network, ended };
  });
}

function find({ enabled, enabledIds }: Deps, id: string): Network {
  const network = enabled.get(id);
  if (network !== undefined) return network;
  throw new NotFound(
    `There is no enabled network ${id}. Enabled networks: ${enabledIds.join(", ")}.`,
  );
}

async function reached({ db }: Deps, network: Network): Promise<NetworkState> {
  const state = await networkState(db, network.id);
  if (state !== null) return state;
  throw new NetworkNotReached(
    `${network.title} was never read. Start till serve, and check till chain status --probe.`,
  );
}

/** Asks every provider now. Failures show in its health. */
async function probe({ pool }: Access): Promise<readonly ProviderHealth[]> {
  await Promise.all(
    pool.providers.map((provider) => provider.heads().then(() => undefined, ignoreFailure)),
  );
  return pool.health();
}

async function notAcknowledged(
  reader: Reader,
  network: string,
  subject: string | null,
): Promise<Error> {
  const open = await openAlarms(reader, network);
  const asked = subject === null ? open : open.filter((alarm) => alarm.subject === subject);
  const kinds = [...new Set(asked.map(({ kind }) => kind))].join(", ");
  return new AlarmNotAcknowledged(
    asked.length === 0
      ? "No such alarm is open. Check till chain status."
      : `These alarms end when their cause does and cannot be acknowledged: ${kinds}. Check till chain status.`,
  );
}

function highest(heights: readonly number[]): number | null {
  const most = Math.max(0, ...heights);
  return most === 0 ? null : most;
}

function ignoreFailure(error: unknown): void {
  if (!(error instanceof ProviderError)) throw error;
}
