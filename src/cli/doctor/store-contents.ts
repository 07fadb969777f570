import { toIso } from "../../kernel/clock.ts";
import { currentVersion } from "../../platform/database/schema/migrate.ts";
import { databaseNames, type Reader } from "../../platform/database/database.ts";
import { databaseVersion } from "../../platform/database/open.ts";
import { redactText } from "../../platform/logger/redact.ts";

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
export interface StoreContents {
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
export async function readContents(reader: Reader): Promise<StoreContents> {
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
