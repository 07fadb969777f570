import { day, type Instant } from "../../kernel/clock.ts";
import {
  integer,
  json,
  table,
  text,
  time,
  type Reader,
  type RowOf,
  type Tx,
} from "../database/index.ts";
import type { Alarm, AlarmKind } from "./alarms.ts";
import type { ProviderHealth } from "./provider-health.ts";

/** How a network's providers did when the process that reads the network last wrote it down. */
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
  { primaryKey: ["network", "kind", "subject"] },
);

export type StoredProvider = RowOf<typeof providerTable>;
export type StoredAlarm = RowOf<typeof alarmTable>;

/** The providers of every network, in order of preference. */
export function storedProviders(reader: Reader): Promise<StoredProvider[]> {
  return reader.find(providerTable, "ORDER BY network, place");
}

/** The alarms that hold, of one network or of all, the oldest first. */
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

/** Alarms that ended are kept so long. */
const keptMs = 30 * day;

export async function writeAlarms(
  tx: Tx,
  network: string,
  alarms: readonly Alarm[],
  at: Instant,
): Promise<void> {
  for (const alarm of alarms) {
    await tx.run(
      `INSERT INTO network_alarms (network, kind, subject, message, raised_at, ended_at)
       VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (network, kind, subject) DO UPDATE SET message = excluded.message,
         raised_at = excluded.raised_at, ended_at = excluded.ended_at`,
      [network, alarm.kind, alarm.subject, alarm.message, alarm.raisedAt, alarm.endedAt],
    );
  }
  await tx.run("DELETE FROM network_alarms WHERE network = $1 AND ended_at < $2", [
    network,
    at - keptMs,
  ]);
}
