import { openReadOnlyStore, type ReadOnlyStore } from "../../compose/read-only-store.ts";
import { comparedSettings } from "../../compose/servers.ts";
import { storeName } from "../../compose/store-location.ts";
import { requireSecretOf, secretFor } from "../../compose/store-secret.ts";
import {
  differencesTo,
  wordDifference,
  type KnownServer,
} from "../../features/admin/status/servers.ts";
import { hour, second, systemClock, toIso, within, type Instant } from "../../kernel/clock.ts";
import { readBackupRecord } from "../../platform/backup/history.ts";
import type { Config } from "../../platform/config/config.ts";
import { databaseVersion } from "../../platform/database/open.ts";
import { currentVersion } from "../../platform/database/schema/migrate.ts";
import { databaseNames, type Reader } from "../../platform/database/database.ts";
import {
  durabilityThatIsOff,
  type DurabilitySetting,
} from "../../platform/database/postgres/durability.ts";
import { lastTime } from "../../platform/jobs/cron-line.ts";
import { redactText } from "../../platform/logger/redact.ts";
import { systemRandom } from "../../platform/secrets/tokens.ts";
import { ok, problem, reasonOf, skipped, warning, type Finding } from "./finding.ts";

/** How long the database may check its own structure, in milliseconds. */
const structureMs = 10 * second;
/** Age of the newest backup from which on it is a warning, in milliseconds. */
const backupAgeMax = 48 * hour;
/** Time that a scheduled backup may be late, in milliseconds. */
const backupLateMax = 1 * hour;

/** The number of keys with the scope `write` that are named. */
const keysNamed = 5;

/** The findings about a store, and its records of servers. */
export interface StoreChecks {
  readonly findings: readonly Finding[];
  /** The servers of the store; the one that commands follow first. */
  readonly servers: readonly KnownServer[];
  /** The status that the servers recorded, for the report; null if the store cannot be read. */
  readonly status: unknown;
  /** For the report; null unless it was asked for. */
  readonly contents: StoreContents | null;
}

/** Checks the store without changing it. An unreadable store is a problem, and the other checks go on. */
export async function checkStore(config: Config, isReporting: boolean): Promise<StoreChecks> {
  let store: ReadOnlyStore;
  try {
    store = await openReadOnlyStore(config, systemClock);
  } catch (error) {
    const found = problem("store", reasonOf(error), "See docs/operating, or till help");
    return { findings: [found], servers: [], status: null, contents: null };
  }
  try {
    const servers = await store.servers();
    const findings = [
      await describe(store, config),
      await checkStructure(store, config),
      await checkDurability(store),
      await checkSecret(store, config),
      await checkBackup(store, config, systemClock.now()),
      ...(await checkKeys(store, systemClock.now())),
      ...(await checkDefaultWallets(store, config)),
      ...compareServers(config, servers),
    ];
    const contents = isReporting ? await readContents(store.reader) : null;
    return { findings, servers, status: await store.operationsStatus(), contents };
  } finally {
    await store.close();
  }
}

/** Reads, after a request through the base URL, whether it came through a proxy that the server does not trust. */
export async function checkProxy(config: Config): Promise<Finding[]> {
  const store = await openReadOnlyStore(config, systemClock).catch(() => null);
  if (store === null) return [];
  try {
    const warnings = await store.proxyWarnings(config);
    if (warnings.length === 0) return [ok("proxy", "No forwarding headers of an unnamed proxy.")];
    const remedy =
      "Set TILL_TRUST_PROXY to the proxy's address, for the server and for this command";
    return warnings.map((message) => warning("proxy", message, remedy));
  } finally {
    await store.close();
  }
}

/** The finding about proxies while no server runs: the setting alone. */
export function describeProxy({ trustProxy }: Pick<Config, "trustProxy">): Finding {
  return trustProxy.length === 0
    ? skipped(
        "proxy",
        "TILL_TRUST_PROXY names none: the address of a connection is the client's.",
        "If a proxy is in front of the server, set TILL_TRUST_PROXY to its address",
      )
    : skipped("proxy", `TILL_TRUST_PROXY names ${trustProxy.join(", ")}.`);
}

async function describe({ reader }: ReadOnlyStore, config: Config): Promise<Finding> {
  const version = String(await currentVersion(reader));
  return ok(
    "store",
    `${databaseNames[reader.dialect]}, ${storeName(config)}, at migration ${version}.`,
  );
}

/** SQLite checks its file's structure; PostgreSQL has checksums of its own, and answering is enough. */
async function checkStructure({ reader }: ReadOnlyStore, config: Config): Promise<Finding> {
  const check = "structure";
  if (config.databaseUrl !== null) {
    await reader.all("SELECT 1");
    return ok(check, "The database answers; till db verify checks every row.");
  }
  const work = reader.all<{ quick_check: string }>("PRAGMA quick_check(1)");
  try {
    const rows = await within(structureMs, work, () => null);
    if (rows === null)
      return skipped(check, "The store is too large to check in 10 s.", "till db verify");
    const [found] = rows;
    return found?.quick_check === "ok"
      ? ok(check, "The file is intact; till db verify checks every row.")
      : problem(
          check,
          `The file is damaged: ${found?.quick_check ?? ""}.`,
          "Restore a backup: till restore",
        );
  } catch (error) {
    return problem(
      check,
      `The file cannot be read: ${reasonOf(error)}.`,
      "Restore a backup: till restore",
    );
  }
}

/** The consequence of each setting of PostgreSQL that is off. */
const consequences: Readonly<Record<DurabilitySetting, string>> = {
  fsync: "a power cut may lose acknowledged payments and damage the store",
  full_page_writes: "a power cut may damage the store",
  synchronous_commit:
    "a crash of the database loses the last commits of other programs; Till turns it on for its own",
};

/** Whether what is acknowledged survives a power cut; a SQLite store is always opened so that it does. */
async function checkDurability({ reader }: ReadOnlyStore): Promise<Finding> {
  const check = "durability";
  const off = await durabilityThatIsOff(reader);
  if (off.length === 0)
    return ok(check, "Each commit is flushed to disk before it is acknowledged.");
  const found = off.map((name) => `${name} is off: ${consequences[name]}`);
  const isOnlyOfSession = off.every((name) => name === "synchronous_commit");
  const remedy = isOnlyOfSession
    ? "ALTER ROLE … RESET synchronous_commit, or the same for the database or in postgresql.conf"
    : `Turn ${off.join(" and ")} on in postgresql.conf, and reload PostgreSQL`;
  return warning(check, `${found.join("; ")}.`, remedy);
}

async function checkSecret({ reader }: ReadOnlyStore, config: Config): Promise<Finding> {
  try {
    await requireSecretOf(reader, config, await secretFor(config, false, systemRandom));
    return ok("secret", "It belongs to the store.");
  } catch (error) {
    return problem(
      "secret",
      reasonOf(error),
      "Set TILL_SECRET_FILE, or restore the file of the secret",
    );
  }
}

async function checkBackup(
  { reader }: ReadOnlyStore,
  config: Config,
  now: Instant,
): Promise<Finding> {
  const { made, failure } = await readBackupRecord(reader);
  const check = "backup";
  const dueAt = config.backupSchedule === null ? null : lastTime(config.backupSchedule, now);
  const hint = dueAt === null ? "till backup, and set TILL_BACKUP_SCHEDULE" : "till backup";
  if (failure !== null) {
    return problem(check, `The last one failed on ${toIso(failure.at)}: ${failure.message}`, hint);
  }
  if (made === null) return warning(check, "None has been made.", hint);
  const hours = Math.floor(Math.max(0, now - made.at) / hour);
  const message = `The newest is ${String(hours)} h old: ${made.path}.`;
  const isLate = dueAt !== null && made.at < dueAt && now - dueAt > backupLateMax;
  return isLate || now - made.at > backupAgeMax
    ? warning(check, message, hint)
    : ok(check, message);
}

/**
 * Warns of each active key with the scope `write`, the least recently created first. Till cannot know which of them a shop
 * uses: those that the operator's own programs need are named too.
 */
async function checkKeys({ reader }: ReadOnlyStore, now: Instant): Promise<Finding[]> {
  const check = "keys";
  const found = await reader.all<{ readonly id: string; readonly organizationId: string }>(
    `SELECT id AS "id", organization_id AS "organizationId" FROM api_keys
     WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1)
       AND scopes LIKE '%"write"%'
     ORDER BY id LIMIT $2`,
    [now, keysNamed + 1],
  );
  if (found.length === 0) return [ok(check, "No active API key has the scope write.")];
  const named = found
    .slice(0, keysNamed)
    .map(({ id, organizationId }) =>
      warning(
        check,
        `${id} has the scope write: whoever steals it may register wallets, change webhooks and decide on payments. A shop needs only the scope shop.`,
        `If a shop uses ${id}, give the shop another key, till key create --organization ${organizationId} --name shop --scopes shop, and then till key revoke ${id}`,
      ),
    );
  return found.length === named.length
    ? named
    : [
        ...named,
        warning(
          check,
          "More keys have the scope write.",
          "till key list shows the keys of an organization",
        ),
      ];
}

async function checkDefaultWallets(store: ReadOnlyStore, config: Config): Promise<Finding[]> {
  const warnings = await store.walletWarnings(config);
  const check = "wallets";
  if (warnings.length === 0) {
    return [ok(check, "Every network on which an organization has wallets has a default wallet.")];
  }
  const remedy = "An owner or the operator chooses the default: till wallet default";
  return warnings.map((message) => warning(check, message, remedy));
}

function compareServers(config: Config, servers: readonly KnownServer[]): Finding[] {
  const running = servers.filter(({ isRunning }) => isRunning);
  const [last] = servers;
  if (last === undefined) return [skipped("servers", "None has run on this store.", "till serve")];
  if (running.length === 0) {
    const { startedAt, version } = last.settings;
    const message = `None is running; the last one, of version ${version}, started ${toIso(startedAt)}.`;
    return [warning("servers", message, "Start it: till serve")];
  }
  const differences = differencesTo(comparedSettings(config, config.baseUrl ?? ""), servers);
  const names = running.map(
    ({ settings }) => `${settings.version} since ${toIso(settings.startedAt)}`,
  );
  return [
    ok("servers", `Running: ${names.join(", ")}.`),
    ...differences.map((difference) => {
      const remedy =
        difference.setting === "version"
          ? "Run the same version of till everywhere"
          : "Put the setting into till.yaml, which every command and server reads, and start the server again";
      return warning("settings", wordDifference(difference, "this command"), remedy);
    }),
  ];
}

/** Rows of one table up to which they are counted, so that a large store is not read as a whole. */
const countMax = 100_000;
/** The number of failed jobs and alarms in a report. */
const failuresMax = 20;

/** The most organizations whose names are replaced in messages. */
const namesMax = 1_000;

const countedTables = [
  "organizations",
  "users",
  "wallets",
  "invoices",
  "payments",
  "transfers",
  "refunds",
  "webhook_endpoints",
  "payment_links",
  "subscriptions",
] as const;

/** The contents of a store that help to understand a fault. */
interface StoreContents {
  readonly database: string;
  readonly migration: number;
  /** The number of rows by table; at most `countMax`, written as `100000 or more`. */
  readonly counts: Readonly<Record<string, number | string>>;
  /** The latest failures of background work. */
  readonly failures: readonly Failure[];
  /** The open alarms about networks, latest first. */
  readonly alarms: readonly unknown[];
  /** Names of organizations, which may occur in the messages of failures and alarms. */
  readonly organizationNames: readonly string[];
}

interface Failure {
  readonly queue: string;
  readonly name: string;
  readonly attempts: number;
  readonly failedAt: string;
  readonly reason: string;
}

/** Reads the contents of a store for a report. */
async function readContents(reader: Reader): Promise<StoreContents> {
  const counted = countedTables
    .map(
      (table) =>
        `(SELECT COUNT(*) FROM (SELECT 1 FROM ${table} LIMIT ${String(countMax)}) AS some_${table}) AS "${table}"`,
    )
    .join(", ");
  const [[counts = {}], jobs, alarms, names, migration, version] = await Promise.all([
    reader.all<Readonly<Record<string, number>>>(`SELECT ${counted}`),
    reader.all<Omit<Failure, "failedAt"> & { readonly failedAt: number }>(
      `SELECT queue AS "queue", name AS "name", attempts AS "attempts", failed_at AS "failedAt",
         COALESCE(failed_reason, '') AS "reason"
       FROM jobs WHERE state = 'failed' ORDER BY failed_at DESC LIMIT $1`,
      [failuresMax],
    ),
    reader.all<{ readonly raisedAt: number; readonly message: string }>(
      `SELECT network AS "network", kind AS "kind", message AS "message", raised_at AS "raisedAt"
       FROM network_alarms WHERE ended_at IS NULL ORDER BY raised_at DESC LIMIT $1`,
      [failuresMax],
    ),
    reader.all<{ readonly name: string; readonly displayName: string }>(
      `SELECT name AS "name", display_name AS "displayName" FROM organizations
       WHERE id IN (SELECT organization_id FROM jobs WHERE state = 'failed')
       ORDER BY id LIMIT $1`,
      [namesMax],
    ),
    currentVersion(reader),
    databaseVersion(reader),
  ]);
  const shown = Object.entries(counts).map(([name, count]) => [
    name,
    count < countMax ? count : `${String(countMax)} or more`,
  ]);
  return {
    database: `${databaseNames[reader.dialect]} ${version}`,
    migration,
    counts: Object.fromEntries(shown) as StoreContents["counts"],
    failures: jobs.map((job) => ({
      ...job,
      failedAt: toIso(job.failedAt),
      reason: redactText(job.reason),
    })),
    alarms: alarms.map((alarm) => ({
      ...alarm,
      message: redactText(alarm.message),
      raisedAt: toIso(alarm.raisedAt),
    })),
    organizationNames: names.flatMap(({ name, displayName }) => [name, displayName]),
  };
}
