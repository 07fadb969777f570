import { day, toIso, type Clock, type Instant } from "../../../kernel/clock.ts";
import type { Database, Reader, WriteContext } from "../../../platform/database/database.ts";
import { serverProbes } from "../table.ts";
import { freshFor, type Report, type ServerSettings } from "./report.ts";

// Imported by commands that must start fast, so this file imports little.

export interface KnownServer {
  /** Its name, unique per process start. */
  readonly server: string;
  readonly settings: ServerSettings;
  /** False for a server that ended or has not reported for a minute. */
  readonly isRunning: boolean;
}

/** How long the row of a server that reports no more is kept. */
const keptFor = 7 * day;

/**
 * Records that a server runs, with its settings; its status worker then keeps the row fresh.
 * @param isAlone true if the store has only one server at a time: then all others have ended
 */
export async function recordServer(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  context: WriteContext,
  server: string,
  settings: ServerSettings,
  isAlone: boolean,
): Promise<void> {
  const now = clock.now();
  await db.write(context, async (tx) => {
    await tx.run("DELETE FROM server_probes WHERE checked_at < $1", [now - keptFor]);
    if (isAlone) await tx.update(serverProbes, { endedAt: now }, "WHERE ended_at IS NULL");
    const report = { checks: {}, providers: [] };
    await tx.insert(serverProbes, { server, checkedAt: now, report, settings, endedAt: null });
  });
}

/** Stores a server's check results, for processes that cannot run the checks, in the row that `recordServer` has made. */
export async function recordReport(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  context: WriteContext,
  server: string,
  report: Report,
): Promise<void> {
  const checkedAt = clock.now();
  await db.write(context, async (tx) => {
    const where = "WHERE server = $1";
    if ((await tx.update(serverProbes, { checkedAt, report }, where, [server])) > 0) return;
    const unknown = { settings: null, endedAt: null };
    await tx.insertIfAbsent(serverProbes, { server, checkedAt, report, ...unknown });
  });
}

/** Records that a server ended in order. */
export async function recordEnd(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  context: WriteContext,
  server: string,
): Promise<void> {
  await db.write(context, (tx) =>
    tx.update(serverProbes, { endedAt: clock.now() }, "WHERE server = $1", [server]),
  );
}

/** Returns the servers that recorded their settings: running ones first, then the latest start first. */
export async function knownServers(reader: Reader, now: Instant): Promise<KnownServer[]> {
  const rows = await reader.find(serverProbes, "WHERE settings IS NOT NULL");
  return rows
    .flatMap(({ server, settings, endedAt, checkedAt }) =>
      settings === null
        ? []
        : [{ server, settings, isRunning: endedAt === null && now - checkedAt <= freshFor }],
    )
    .sort(
      (one, other) =>
        Number(other.isRunning) - Number(one.isRunning) ||
        other.settings.startedAt - one.settings.startedAt,
    );
}

/** A setting in which a process differs from a running server. */
export interface SettingDifference {
  /** The environment variable, or `version`. */
  readonly setting: string;
  readonly own: string;
  readonly server: string;
  /** The start of that server. */
  readonly serverStartedAt: string;
}

/** Lists what differs between a process and each running server. An unset base URL depends on the port, so two are equal. */
export function differencesTo(
  own: Omit<ServerSettings, "startedAt">,
  servers: readonly KnownServer[],
): SettingDifference[] {
  return servers
    .filter(({ isRunning }) => isRunning)
    .flatMap(({ settings }) => {
      const its = compared(settings);
      const serverStartedAt = toIso(settings.startedAt);
      return Object.entries(compared(own)).flatMap(([setting, value]) => {
        const server = its[setting] ?? "";
        return server === value ? [] : [{ setting, own: value, server, serverStartedAt }];
      });
    });
}

/** Returns the compared settings as text, by name. */
function compared(settings: Omit<ServerSettings, "startedAt">): Readonly<Record<string, string>> {
  const { baseUrl, isBaseUrlSet, networks, version } = settings;
  return {
    TILL_BASE_URL: isBaseUrlSet ? baseUrl : "not set",
    TILL_NETWORKS: [...networks].sort().join(","),
    version,
  };
}

/** Words a difference for `subject`, such as `this server`. */
export function wordDifference(
  { setting, own, server, serverStartedAt }: SettingDifference,
  subject: string,
): string {
  const name = setting === "version" ? "the version" : setting;
  return `The server that has run since ${serverStartedAt} differs in ${name}: ${server} there, ${own} in ${subject}.`;
}
