import { day, type Instant } from "../../../kernel/clock.ts";
import { integer, json, table, text, time, type RowOf } from "../../database/schema/table.ts";
import type { Reader, Tx } from "../../database/database.ts";
import { listed } from "../../database/query/json-rows.ts";
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
