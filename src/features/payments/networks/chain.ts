import type { App } from "../../../app.ts";
import type { Instant } from "../../../kernel/clock.ts";
import { NotFound } from "../../../kernel/errors.ts";
import type { Progress } from "../../../platform/progress.ts";
import { acknowledgedKinds, type Alarm } from "../../../platform/chain/state/alarms.ts";
import type { ChainClient } from "../../../platform/chain/client.ts";
import {
  acceptGaps,
  contiguousRanges,
  coverageOf,
  gapsOf,
  isUnread,
  lockGaps,
  rangeOfGap,
  without,
  type Coverage,
  type GapRow,
  type ReadRange,
} from "../../../platform/chain/state/reading-ranges.ts";
import {
  endAlarms,
  openAlarms,
  storedProviders,
  type ProviderHealth,
} from "../../../platform/chain/state/provider-health.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { ProviderError } from "../../../platform/chain/providers/error.ts";
import { readingsOf } from "../../../platform/chain/state/readings.ts";
import {
  networkState,
  networkStates,
  type NetworkState,
} from "../../../platform/chain/state/network-state.ts";
import type { Reader, WriteContext } from "../../../platform/database/database.ts";
import { heldLeases } from "../../../platform/jobs/leases.ts";
import {
  AlarmNotAcknowledged,
  GapNotAccepted,
  NetworkNotReached,
  NotScanned,
  ProviderUnusable,
} from "../errors.ts";
import {
  acceptedAfterMs,
  acceptedBlocksMax,
  acceptedWithinMs,
  refusalsOf,
} from "../watcher/gaps.ts";
import { watchWorkerName } from "../wake.ts";
import { networkReadersOf, type NetworkReader } from "./readers.ts";
import { summarize, type ReadingSummary } from "../watcher/readings/reading-plan.ts";
import type { ScanReport } from "../watcher/readings/rescanner.ts";
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
  /** The ranges that providers refuse to read, and those that an operator accepted as unread. */
  readonly refused: readonly GapRow[];
}

/** A range that an operator gives up, with the refusals of its parts. */
export interface AskedGap extends BlockRange {
  readonly network: Network;
  readonly parts: readonly GapRow[];
}

/** Returns the status of every enabled network: with `isLive` by asking the providers, otherwise as stored. */
export async function listNetworkStatuses(
  app: App,
  { isLive }: { readonly isLive: boolean },
): Promise<readonly NetworkStatus[]> {
  const { db, clock } = app;
  const networks = app.networks.enabledIds.map((id) => enabledNetwork(app, id));
  const readers = isLive ? networkReadersOf(app) : null;
  const states = await networkStates(db);
  const held = await heldLeases(db, clock.now());
  const stored = await storedProviders(db);
  const alarms = await openAlarms(db);
  return Promise.all(
    networks.map(async (network): Promise<NetworkStatus> => {
      const own = readers?.get(network.id);
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
export async function scanBlocks(
  app: App,
  context: WriteContext,
  id: string,
  { from, to }: BlockRange,
  progress?: Progress,
): Promise<ScanReport & { readonly network: Network }> {
  const network = enabledNetwork(app, id);
  const state = await reached(app.db, network);
  const { scanner } = readerOf(app, network);
  if (from > to)
    throw new NotScanned("The range ends before it begins. Swap its first and last block.");
  if (to > state.tipHeight) {
    throw new NotScanned(
      `Block ${String(state.tipHeight)} is the newest block that was read. ` +
        "Scan up to that block; till serve reads the blocks above it.",
    );
  }
  try {
    return { network, ...(await scanner.scan(context, { from, to }, progress)) };
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
export async function auditBlocks(
  app: App,
  id: string,
  range: Partial<BlockRange>,
): Promise<AuditReport> {
  const { db } = app;
  const network = enabledNetwork(app, id);
  const state = await reached(app.db, network);
  const rows = await readingsOf(db, id);
  const ranges = contiguousRanges(rows.filter((row) => !isUnread(row)));
  const { cursorHeight } = state;
  const from = range.from ?? rows[0]?.fromHeight ?? cursorHeight + 1;
  const to = range.to ?? state.tipHeight;
  const refused = await gapsOf(db, id);
  const accepted = refused.filter(({ acceptedAt }) => acceptedAt !== null).map(rangeOfGap);
  const read = rows.filter((row) => !isUnread(row));
  const { gaps, seams }: Coverage =
    from > to ? { gaps: [], seams: [] } : coverageOf(read, from, to);
  const readings = summarize(rows, { from, to: Math.min(to, cursorHeight) });
  const witnessed = readings.filter(({ providers }) => providers.length > 1);
  return {
    network,
    from,
    to,
    ranges,
    readings,
    cursorHeight,
    gaps: gaps.flatMap((gap) => without(gap, accepted)),
    seams,
    refused: refused.filter(({ fromHeight, toHeight }) => fromHeight <= to && toHeight >= from),
    witnessedTo: witnessed.at(-1)?.to ?? null,
  };
}

/**
 * Acknowledges alarms, all of the network or only those about a subject, of the kinds that stay open until then. A
 * server that reads the network notices within seconds. Throws NotFound or AlarmNotAcknowledged.
 */
export function acknowledgeAlarms(
  app: App,
  context: WriteContext,
  id: string,
  subject: string | null,
): Promise<{ readonly network: Network; readonly ended: readonly Alarm[] }> {
  const { db, clock, journal } = app;
  const network = enabledNetwork(app, id);
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

/** Returns the refused parts of a range. Throws NotFound, NetworkNotReached or GapNotAccepted. */
export async function findRefusedGap(
  app: App,
  id: string,
  range: BlockRange,
  reader: Reader = app.db,
): Promise<AskedGap> {
  const network = enabledNetwork(app, id);
  const { cursorHeight } = await reached(reader, network);
  const { from, to } = range;
  if (from > to) {
    throw new GapNotAccepted("The range ends before it begins. Swap its first and last block.");
  }
  if (to - from >= acceptedBlocksMax) {
    const most = String(acceptedBlocksMax);
    throw new GapNotAccepted(
      `A command accepts at most ${most} blocks. Accept the range in parts.`,
    );
  }
  if (to > cursorHeight) {
    throw new GapNotAccepted(
      `Block ${String(cursorHeight)} is the newest final block that was read. Blocks above it are never given up.`,
    );
  }
  const gaps = await gapsOf(reader, id);
  const parts = gaps.filter(
    ({ fromHeight, toHeight, acceptedAt }) =>
      acceptedAt === null && fromHeight <= to && toHeight >= from,
  );
  const [other] = without(range, parts.map(rangeOfGap));
  if (other === undefined) return { network, from, to, parts };
  throw new GapNotAccepted(
    `Blocks ${String(other.from)} to ${String(other.to)} are not on record as refused, or are accepted already. ` +
      `Check till chain audit --network ${id}, and read blocks with till chain scan.`,
  );
}

/**
 * Accepts that a range stays unread, because every configured provider refuses it: its payments are not seen, it keeps no
 * hold any longer, and nobody is asked for it again. Transactions that payers submit are still examined. Throws NotFound,
 * NetworkNotReached, ProviderUnusable or GapNotAccepted.
 */
export async function acceptGap(
  app: App,
  context: WriteContext,
  id: string,
  range: BlockRange,
  reason: string,
): Promise<AskedGap> {
  const { db, clock, journal } = app;
  const network = enabledNetwork(app, id);
  const { pool } = readerOf(app, network);
  await findRefusedGap(app, id, range);
  for (const client of pool.providers) await assertStillRefused(network, client, range);
  return db.write(context, async (tx) => {
    const at = clock.now();
    // Readers of the network write alarms before gaps too.
    for (const gap of (await findRefusedGap(app, id, range, tx)).parts) {
      const subject = `blocks ${String(gap.fromHeight)} to ${String(gap.toHeight)}`;
      await endAlarms(tx, { network: id, kinds: ["blocks_refused"], subject }, at);
    }
    await lockGaps(tx, id, range);
    const asked = await findRefusedGap(app, id, range, tx);
    const { parts } = asked;
    for (const { provider } of pool.providers) {
      if (parts.every((gap) => hasRefusedLong(gap, provider, at))) continue;
      throw new GapNotAccepted(
        `${provider} has not refused the whole range for 10 minutes and within the last day. While till serve runs, ` +
          "providers are asked again from time to time. Wait, or remove a provider that never answers.",
      );
    }
    await acceptGaps(tx, id, range, { at, reason });
    const { from, to } = range;
    journal.record(tx, at, {
      action: "chain.gap_accepted",
      organizationId: null,
      subjectType: "network",
      subjectId: id,
      changes: { from, to, reason, refusals: parts.flatMap(({ refusals }) => refusals) },
    });
    return asked;
  });
}

/** Asks a provider for the ends and the middle of a range now. Throws GapNotAccepted unless it refuses each of them. */
async function assertStillRefused(
  network: Network,
  client: ChainClient,
  { from, to }: BlockRange,
): Promise<void> {
  for (const height of new Set([to, Math.floor((from + to) / 2), from])) {
    const reply = await refusalsOf({ network, providers: [client] }, { from: height, to: height });
    const { provider } = client;
    if (typeof reply === "string") {
      throw new GapNotAccepted(
        `${provider} does not answer now, so it may have the blocks. Check till chain status --probe. Wait, or remove ` +
          "a provider that never answers.",
      );
    }
    if (reply.length > 0) continue;
    throw new GapNotAccepted(
      `${provider} reads block ${String(height)} now. While till serve runs, it reads what it has of the range within ` +
        `6 hours; till chain scan --network ${network.id} --from ${String(height)} --to ${String(height)} does so at once.`,
    );
  }
}

/** Returns true if a provider refused a gap for long enough, and recently enough, that an operator may give it up. */
function hasRefusedLong({ refusals }: GapRow, provider: string, now: Instant): boolean {
  return refusals.some(
    ({ provider: refusing, since, at }) =>
      refusing === provider && at - since >= acceptedAfterMs && now - at <= acceptedWithinMs,
  );
}

/** Throws ProviderUnusable for a network without a provider. */
export function readerOf(app: App, network: Network): NetworkReader {
  const reader = networkReadersOf(app).get(network.id);
  if (reader !== undefined) return reader;
  throw new ProviderUnusable(`${network.title} has no provider. Configure one and try again.`);
}

/** Throws NotFound. `enabled.get` may throw for a network that a command does not know. */
export function enabledNetwork({ networks: { enabled, enabledIds } }: App, id: string): Network {
  const network = enabled.get(id);
  if (network !== undefined) return network;
  throw new NotFound(
    `There is no enabled network ${id}. Enabled networks: ${enabledIds.join(", ")}.`,
  );
}

async function reached(reader: Reader, network: Network): Promise<NetworkState> {
  const state = await networkState(reader, network.id);
  if (state !== null) return state;
  throw new NetworkNotReached(
    `${network.title} was never read. Start till serve, and check till chain status --probe.`,
  );
}

/** Asks every provider now. Failures show in its health. */
async function probe({ pool }: NetworkReader): Promise<readonly ProviderHealth[]> {
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
