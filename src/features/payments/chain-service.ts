import type { Clock, Instant } from "../../kernel/clock.ts";
import { NotFound } from "../../kernel/errors.ts";
import type { Auditor } from "../../platform/audit/index.ts";
import { acknowledgedKinds, type Alarm, type ChainAlarms } from "../../platform/chain/alarms.ts";
import { endAlarms, openAlarms, storedProviders } from "../../platform/chain/monitor-store.ts";
import type { Network } from "../../platform/chain/networks.ts";
import { ProviderError } from "../../platform/chain/provider-error.ts";
import type { ProviderCounts, ProviderHealth } from "../../platform/chain/provider-health.ts";
import type { ProviderPool } from "../../platform/chain/provider-pool.ts";
import {
  contiguousRanges,
  coverageOf,
  type Coverage,
  type ReadRange,
} from "../../platform/chain/reading-ranges.ts";
import { readingsOf } from "../../platform/chain/readings.ts";
import { networkState, networkStates, type NetworkState } from "../../platform/chain/state.ts";
import type { Database, Reader, WriteContext } from "../../platform/database/index.ts";
import { heldLeases } from "../../platform/jobs/leases.ts";
import { AlarmNotAcknowledged, NetworkNotReached, NotScanned, ProviderUnusable } from "./errors.ts";
import { watchWorkerName } from "./jobs.ts";
import { summarize, type ReadingSummary } from "./reading-plan.ts";
import type { Scanner, ScanReport } from "./scanner.ts";
import type { BlockRange } from "./window.ts";

export interface NetworkStatus {
  readonly network: Network;
  /** Null: it was never reached. */
  readonly state: NetworkState | null;
  /** A server reads it now. */
  readonly isWatched: boolean;
  /** The newest block that any provider told of, as of the last look or of the probe. */
  readonly headHeight: number | null;
  /** How old the newest scanned block is, by its own time. */
  readonly lagMs: number | null;
  readonly providers: readonly ProviderHealth[];
  /** When the providers were looked at; null: never. */
  readonly providersAt: Instant | null;
  readonly alarms: readonly Alarm[];
}

export interface AuditReport extends Coverage, BlockRange {
  readonly network: Network;
  /** Everything up to here is final. */
  readonly cursorHeight: number;
  /** The blocks that were read, as contiguous ranges. */
  readonly ranges: readonly ReadRange[];
  /** How often the final blocks of the range were read, and by which providers. */
  readonly readings: readonly ReadingSummary[];
  /** The last final block that two providers read; null: there is none. */
  readonly witnessedTo: number | null;
}

/** What metrics count of a network's reading, since the process began. */
export interface ChainCounts {
  readonly network: string;
  readonly providers: readonly ProviderCounts[];
  /** How many alarms were raised, by kind. */
  readonly alarmsRaised: ReturnType<ChainAlarms["raised"]>;
  readonly alarmsOpen: number;
}

export interface ChainService {
  /** How every network that is on is read; with `isLive` the providers are asked now, else what was stored is told. */
  status(options: { readonly isLive: boolean }): Promise<readonly NetworkStatus[]>;
  /** Reads a range again. Errors: NotFound, NetworkNotReached, NotScanned, ProviderUnusable, ScanInterrupted. */
  scan(
    context: WriteContext,
    network: string,
    range: BlockRange,
  ): Promise<ScanReport & { readonly network: Network }>;
  /**
   * Which blocks were read; without heights, from the first contact to the newest. Errors: NotFound, NetworkNotReached.
   */
  audit(network: string, range: Partial<BlockRange>): Promise<AuditReport>;
  /**
   * Ends alarms that do not end by themselves: every one of the network, or the one about a subject. A server that reads
   * the network finds out within seconds. Errors: NotFound, AlarmNotAcknowledged.
   */
  acknowledge(
    context: WriteContext,
    network: string,
    subject: string | null,
  ): Promise<{ readonly network: Network; readonly ended: readonly Alarm[] }>;
  counts(): readonly ChainCounts[];
}

/** A network's providers and what reads it again; absent where it has no provider. */
interface Access {
  readonly network: string;
  readonly pool: ProviderPool;
  readonly alarms: ChainAlarms;
  readonly scanner: Scanner;
}

export function makeChainService(deps: {
  readonly db: Database;
  readonly clock: Clock;
  /** The networks that are on. */
  readonly networks: readonly Network[];
  readonly access: readonly Access[];
  readonly auditor: Auditor;
}): ChainService {
  const { db, clock, networks, access, auditor } = deps;

  function find(id: string): Network {
    const network = networks.find((each) => each.id === id);
    if (network !== undefined) return network;
    const known = networks.map((each) => each.id).join(", ");
    throw new NotFound(`There is no network ${id} here. Those that are on: ${known}.`);
  }

  async function reached(network: Network): Promise<NetworkState> {
    const state = await networkState(db, network.id);
    if (state !== null) return state;
    throw new NetworkNotReached(
      `${network.title} was never read. Start till serve, and see till chain status --probe.`,
    );
  }

  /** Asks every provider now. What fails is in its health. */
  async function probe({ pool }: Access): Promise<readonly ProviderHealth[]> {
    await Promise.all(
      pool.providers.map((provider) => provider.heads().then(() => undefined, ignoreFailure)),
    );
    return pool.health();
  }

  return {
    async status({ isLive }) {
      const states = await networkStates(db);
      const held = await heldLeases(db, clock.now());
      const stored = await storedProviders(db);
      const alarms = await openAlarms(db);
      return Promise.all(
        networks.map(async (network): Promise<NetworkStatus> => {
          const own = access.find((each) => each.network === network.id);
          const rows = stored.filter((row) => row.network === network.id);
          const live = isLive && own !== undefined ? await probe(own) : null;
          const state = states.get(network.id) ?? null;
          const tips = (live ?? []).map(({ tipHeight }) => tipHeight ?? 0);
          const probed = isLive ? (own?.alarms.open() ?? []) : [];
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
    },

    async scan(context, id, { from, to }) {
      const network = find(id);
      const state = await reached(network);
      const own = access.find((each) => each.network === id);
      if (own === undefined) {
        throw new ProviderUnusable(`${network.title} has no provider. Set one and try again.`);
      }
      if (from > to) throw new NotScanned("The range ends before it begins.");
      if (to > state.tipHeight) {
        throw new NotScanned(
          `Block ${String(state.tipHeight)} is the newest that was read. ` +
            "What is above is read by till serve itself; scan up to that block.",
        );
      }
      try {
        return { network, ...(await own.scanner.scan(context, { from, to })) };
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        throw new ProviderUnusable(`${error.message}. See till chain status --probe.`, {
          cause: error,
        });
      }
    },

    async audit(id, range) {
      const network = find(id);
      const state = await reached(network);
      const rows = await readingsOf(db, id);
      const ranges = contiguousRanges(rows);
      const { cursorHeight } = state;
      const from = range.from ?? rows[0]?.fromHeight ?? cursorHeight + 1;
      const to = range.to ?? state.tipHeight;
      const coverage: Coverage = from > to ? { gaps: [], seams: [] } : coverageOf(rows, from, to);
      const readings = summarize(rows, { from, to: Math.min(to, cursorHeight) });
      const witnessed = readings.filter(({ providers }) => providers.length > 1);
      return {
        ...{ network, from, to, ranges, readings, cursorHeight },
        ...coverage,
        witnessedTo: witnessed.at(-1)?.to ?? null,
      };
    },

    acknowledge(context, id, subject) {
      const network = find(id);
      const which = { network: id, kinds: acknowledgedKinds, subject };
      return db.write(context, async (tx) => {
        const at = clock.now();
        const ended = await endAlarms(tx, which, at);
        if (ended.length === 0) throw await notAcknowledged(tx, id, subject);
        for (const alarm of ended) {
          auditor.record(tx, at, {
            action: "chain.alarm_acknowledged",
            organizationId: null,
            targetType: "network",
            targetId: id,
            changes: { kind: alarm.kind, subject: alarm.subject },
          });
        }
        return { network, ended };
      });
    },

    counts: () =>
      access.map(({ network, pool, alarms }) => ({
        network,
        providers: pool.counts(),
        alarmsRaised: alarms.raised(),
        alarmsOpen: alarms.open().length,
      })),
  };
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
      ? "No such alarm holds. See till chain status."
      : `What holds ends by itself, when what it tells of does: ${kinds}. See till chain status.`,
  );
}

function highest(heights: readonly number[]): number | null {
  const most = Math.max(0, ...heights);
  return most === 0 ? null : most;
}

function ignoreFailure(error: unknown): void {
  if (!(error instanceof ProviderError)) throw error;
}
