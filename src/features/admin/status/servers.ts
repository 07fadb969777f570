import { day, second, toIso, type Clock, type Instant } from "../../../kernel/clock.ts";
import type { Database, Reader, WriteContext } from "../../../platform/database/database.ts";
import { json, table, text, time } from "../../../platform/database/schema/table.ts";
import { healths, worst, type Check, type Health } from "./health.ts";

/** The settings and last check results of each server. */
export const serverProbes = table(
  "server_probes",
  {
    /** Name of the server, unique per process start. */
    server: text(),
    checkedAt: time(),
    /** Without checks until the first ones have run. */
    report: json<Report>(),
    /** Null for servers of earlier releases. */
    settings: json<ServerSettings>().nullable(),
    /** When the server ended; null while it runs, or if it was killed. */
    endedAt: time().nullable(),
  },
  { primaryKey: ["server"] },
);

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

export interface ProviderStatus extends Check {
  readonly network: string;
  readonly provider: string;
}

/** The results of one run of the checks, without the backlogs, which any process can count in the store. */
export interface Report {
  readonly checks: Readonly<Record<string, Check>>;
  readonly providers: readonly ProviderStatus[];
}

/** The settings of a server that commands and other servers on the same store compare with their own. */
export interface ServerSettings {
  readonly startedAt: Instant;
  readonly version: string;
  /** The URL with which its links begin, without a trailing slash. */
  readonly baseUrl: string;
  /** False if it is only the address on which the server listens. */
  readonly isBaseUrlSet: boolean;
  /** The ids of its enabled networks. */
  readonly networks: readonly string[];
}

/** A stored report of one server. */
export interface Probe {
  readonly checkedAt: Instant;
  readonly report: Report;
}

/** How often a server runs the checks. */
export const probeEveryMs = 10 * second;
/** Older results say nothing about the present. */
const freshFor = 6 * probeEveryMs;

/**
 * Merges the servers' reports: the worst status of each check, with its age. If all are stale, checks are `unknown`.
 */
export function lastReport(probes: readonly Probe[], now: Instant): Report {
  const fresh = probes.filter(({ checkedAt }) => now - checkedAt <= freshFor);
  if (fresh.length > 0) return mergeReports(fresh, now);
  const [last] = probes.toSorted((one, other) => other.checkedAt - one.checkedAt);
  const scheduler: Check = {
    status: "unknown",
    message:
      last === undefined
        ? "No server has run on this store yet."
        : `No server is running on this store; the last one ran its checks ${ago(last, now)}.`,
  };
  if (last === undefined) return { checks: { scheduler }, providers: [] };
  const faded = <C extends Check>(check: C): C => ({
    ...check,
    status: "unknown",
    message: `${check.message} (as of ${ago(last, now)})`,
  });
  const { checks, providers } = last.report;
  const others = Object.entries(checks).map(([name, check]) => [name, faded(check)] as const);
  return { checks: { ...Object.fromEntries(others), scheduler }, providers: providers.map(faded) };
}

function mergeReports(probes: readonly Probe[], now: Instant): Report {
  const checks = new Map<string, Check>();
  const providers = new Map<string, ProviderStatus>();
  for (const probe of probes) {
    const dated = <C extends Check>(check: C): C => ({
      ...check,
      message: `${check.message} (${ago(probe, now)})`,
    });
    for (const [name, check] of Object.entries(probe.report.checks)) {
      const known = checks.get(name);
      if (known === undefined || isWorse(check, known)) checks.set(name, dated(check));
    }
    for (const provider of probe.report.providers) {
      // Only the server that reads a network knows its status; the others see only that it is being read.
      const key = `${provider.network} ${provider.provider}`;
      const known = providers.get(key);
      if (known === undefined || isWorse(provider, known)) providers.set(key, dated(provider));
    }
  }
  return { checks: Object.fromEntries(checks), providers: [...providers.values()] };
}

/** Returns the overall status. A failing provider or network degrades the installation but does not take it down. */
export function overall({ checks, providers }: Report): Health {
  const found = worst(Object.values(checks));
  const isAnyBad = providers.some(({ status }) => status === "down" || status === "degraded");
  return isAnyBad && found !== "down" ? "degraded" : found;
}

function isWorse(one: Check, other: Check): boolean {
  return healths.indexOf(one.status) > healths.indexOf(other.status);
}

function ago({ checkedAt }: Probe, now: Instant): string {
  return `${String(Math.round(Math.max(0, now - checkedAt) / second))} s ago`;
}
