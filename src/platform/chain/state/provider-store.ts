import { day, type Instant } from "../../../kernel/clock.ts";
import {
  integer,
  json,
  table,
  text,
  time,
  type Reader,
  type RowOf,
  type Tx,
} from "../../database/index.ts";
import { givenRows, listed } from "../../database/query/json-rows.ts";
import type { Alarm, AlarmKind } from "./alarms.ts";
import type { ProviderHealth } from "./provider-health.ts";

/** The health of a network's providers, as the network's watcher last stored it. */
export const providerTable = table(
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

export type StoredProvider = RowOf<typeof providerTable>;
export type StoredAlarm = RowOf<typeof alarmTable>;

/** The providers of every network, in order of preference. */
export function storedProviders(reader: Reader): Promise<StoredProvider[]> {
  return reader.find(providerTable, "ORDER BY network, place");
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
  await putAlarms(tx, network, ended);
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
  await putAlarms(tx, network, alarms);
  await tx.run("DELETE FROM network_alarms WHERE network = $1 AND ended_at < $2", [
    network,
    at - keptMs,
  ]);
}

async function putAlarms(tx: Tx, network: string, alarms: readonly Alarm[]): Promise<void> {
  if (alarms.length === 0) return;
  await tx.run(
    `INSERT INTO network_alarms (network, kind, subject, message, raised_at, ended_at)
     SELECT $2, given.value ->> 0, given.value ->> 1, given.value ->> 2,
       CAST(given.value ->> 3 AS BIGINT), CAST(given.value ->> 4 AS BIGINT)
     FROM ${givenRows[tx.dialect]} WHERE true
     ON CONFLICT (network, kind, subject) DO UPDATE SET message = excluded.message,
       raised_at = excluded.raised_at, ended_at = excluded.ended_at`,
    [
      JSON.stringify(
        alarms.map(({ kind, subject, message, raisedAt, endedAt }) => [
          ...[kind, subject, message, raisedAt, endedAt],
        ]),
      ),
      network,
    ],
  );
}
