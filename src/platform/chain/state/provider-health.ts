import { day, type Instant } from "../../../kernel/clock.ts";
import type { Reader, Tx } from "../../database/database.ts";
import { listed } from "../../database/query/json-rows.ts";
import { integer, json, table, text, time, type RowOf } from "../../database/schema/table.ts";
import type { Address, DroppedPart } from "../client.ts";
import type { ProviderFault } from "../providers/error.ts";
import type { LearnedLimit } from "../providers/limits.ts";
import type { Alarm, AlarmKind } from "./alarms.ts";

/**
 * The condition of a provider:
 * - `ok`: in use, or usable
 * - `unknown`: no request has been sent yet
 * - `waiting`: it failed, and gets no requests during its backoff
 * - `behind`: other providers have newer blocks, or its responses contradict each other; the others are preferred
 * - `wrong_chain`: it serves another chain, and is not used
 * - `silent_logs`: its logs omit transfers, and it is not used
 */
export type ProviderCondition =
  | "ok"
  | "unknown"
  | "waiting"
  | "behind"
  | "wrong_chain"
  | "silent_logs";

/** A transfer that a provider's logs omit although its receipts contain it. */
export interface OmittedTransfer {
  readonly transactionHash: string;
  readonly to: Address;
}

export interface ProviderFailure {
  readonly kind: ProviderFault;
  readonly message: string;
  readonly at: Instant;
}

export interface ProviderHealth {
  /** Its position in the order of preference, from 0. */
  readonly place: number;
  /** Its origin, with its number if several providers share that origin. */
  readonly provider: string;
  readonly condition: ProviderCondition;
  /** True while the watcher reads the network from it. */
  readonly isInUse: boolean;
  /** Smoothed latency of its responses, in milliseconds; null before the first. */
  readonly latencyMs: number | null;
  readonly tipHeight: number | null;
  /** Blocks by which its tip is below the best tip of all providers; null if it has reported no tip. */
  readonly lagBlocks: number | null;
  /** Percentage of failures among its last hundred calls. A request to wait, because of a rate limit, is none. */
  readonly errorPercent: number;
  readonly requestsToday: number;
  /** The day of `requestsToday`: its midnight in UTC. */
  readonly budgetDay: Instant;
  /** Its daily request limit; null: unlimited. */
  readonly requestsPerDay: number | null;
  readonly lastError: ProviderFailure | null;
  /** The end of its backoff; null: it may be called. */
  readonly retryAt: Instant | null;
  /** The time of its last successful response. */
  readonly answeredAt: Instant | null;
  /**
   * The time of its first failure, or of its exclusion, since its last successful response; null while it responds.
   * Missing in rows that earlier versions stored.
   */
  readonly unusableSince?: Instant | null;
  /**
   * The time at which a probe last found every transfer of the receipts in its logs; null: never. Missing in rows that
   * earlier versions stored.
   */
  readonly provenAt?: Instant | null;
  /**
   * The transfer for which it is excluded; null if it is not excluded for one. Missing in rows that earlier versions
   * stored.
   */
  readonly omitted?: OmittedTransfer | null;
  /**
   * The time from which it is checked or used again; null if it is used, or if its check is due. Missing in rows that
   * earlier versions stored.
   */
  readonly againAt?: Instant | null;
  /** When the failures of a simulated provider were last ended; 0: never. Missing in rows that earlier versions stored. */
  readonly healedAt?: Instant;
  /**
   * The parts of its answers that were dropped, counted since the process began that reads the network. Missing in rows
   * that earlier versions stored.
   */
  readonly dropped?: DroppedCounts;
  /** The limits that its refusals showed. Missing in rows that earlier versions stored. */
  readonly limits?: readonly LearnedLimit[];
}

type DroppedCounts = Readonly<Partial<Record<DroppedPart, number>>>;

/** Counts since the process began, for metrics. */
export interface ProviderCounts {
  readonly provider: string;
  readonly calls: number;
  readonly failures: Readonly<Partial<Record<ProviderFault, number>>>;
  readonly dropped: DroppedCounts;
}

const recentMax = 100;
/** The weight of the newest latency in the moving average. */
const smoothing = 0.2;

/** Counts the outcomes of calls. */
export function makeTally() {
  const recent: boolean[] = [];
  const failures: Partial<Record<ProviderFault, number>> = {};
  let calls = 0;
  let latencyMs: number | null = null;

  function note(hasFailed: boolean): void {
    calls += 1;
    recent.push(hasFailed);
    if (recent.length > recentMax) recent.shift();
  }

  return {
    answered(tookMs: number) {
      note(false);
      latencyMs = latencyMs === null ? tookMs : latencyMs + (tookMs - latencyMs) * smoothing;
    },
    failed(kind: ProviderFault) {
      note(kind !== "rate_limited");
      failures[kind] = (failures[kind] ?? 0) + 1;
    },
    latencyMs: () => (latencyMs === null ? null : Math.round(latencyMs)),
    errorPercent: () =>
      recent.length === 0 ? 0 : Math.round((recent.filter(Boolean).length / recent.length) * 100),
    counts: () => ({ calls, failures: { ...failures } }),
  };
}

/** The health of a network's providers, as the network's watcher last stored it. */
const providerTable = table(
  "network_providers",
  {
    network: text(),
    place: integer(),
    health: json<ProviderHealth>(),
    writtenAt: time(),
  },
  { primaryKey: ["network", "place"] },
);

export const alarmTable = table(
  "network_alarms",
  {
    network: text(),
    kind: text<AlarmKind>(),
    subject: text(),
    message: text(),
    raisedAt: time(),
    endedAt: time().nullable(),
  },
  {
    primaryKey: ["network", "kind", "subject"],
    indexes: [
      {
        name: "network_alarms_open",
        columns: ["network", "raisedAt"],
        where: "ended_at IS NULL",
      },
    ],
  },
);

type StoredProvider = RowOf<typeof providerTable>;
type StoredAlarm = RowOf<typeof alarmTable>;

/** Returns the providers of one network or of all, in order of preference. */
export function storedProviders(
  reader: Reader,
  network: string | null = null,
): Promise<StoredProvider[]> {
  const order = "ORDER BY network, place";
  return network === null
    ? reader.find(providerTable, order)
    : reader.find(providerTable, `WHERE network = $1 ${order}`, [network]);
}

/** Returns the open alarms of one network or of all, the oldest first. */
export function openAlarms(reader: Reader, network: string | null = null): Promise<StoredAlarm[]> {
  const which = "WHERE ended_at IS NULL";
  const order = "ORDER BY network, raised_at, kind, subject";
  return network === null
    ? reader.find(alarmTable, `${which} ${order}`)
    : reader.find(alarmTable, `${which} AND network = $1 ${order}`, [network]);
}

export async function writeProviders(
  tx: Tx,
  network: string,
  providers: readonly ProviderHealth[],
  at: Instant,
): Promise<void> {
  await tx.run("DELETE FROM network_providers WHERE network = $1", [network]);
  await tx.insertMany(
    providerTable,
    providers.map((health) => ({ network, place: health.place, health, writtenAt: at })),
  );
}

/** Returns the number of open alarms of every network that has any. */
export async function countOpenAlarms(reader: Reader): Promise<ReadonlyMap<string, number>> {
  const rows = await reader.all<{ network: string; open: number }>(
    "SELECT network, count(*) AS open FROM network_alarms WHERE ended_at IS NULL GROUP BY network",
  );
  return new Map(rows.map(({ network, open }) => [network, open]));
}

/** Ends a network's open alarms of these kinds; only those about `subject`, unless it is null. */
export async function endAlarms(
  tx: Tx,
  which: {
    readonly network: string;
    readonly kinds: readonly AlarmKind[];
    readonly subject: string | null;
  },
  at: Instant,
): Promise<StoredAlarm[]> {
  const { network, kinds, subject } = which;
  const open = await tx.lock(
    alarmTable,
    `WHERE network = $1 AND ended_at IS NULL AND kind IN ${listed(tx.dialect, 2)}
       AND ($3 = '' OR subject = $3) ORDER BY kind, subject`,
    [network, JSON.stringify(kinds), subject ?? ""],
  );
  const ended = open.map((alarm) => ({ ...alarm, endedAt: at }));
  await tx.upsertMany(alarmTable, ended);
  return ended;
}

/** Retention of ended alarms. */
const keptMs = 30 * day;

export async function writeAlarms(
  tx: Tx,
  network: string,
  alarms: readonly Alarm[],
  at: Instant,
): Promise<void> {
  await tx.upsertMany(
    alarmTable,
    alarms.map((alarm) => ({ network, ...alarm })),
  );
  await tx.run("DELETE FROM network_alarms WHERE network = $1 AND ended_at < $2", [
    network,
    at - keptMs,
  ]);
}
