import { statfs } from "node:fs/promises";
import type { App } from "../../../app.ts";
import { hour, minute, second, toIso, type Instant } from "../../../kernel/clock.ts";
import { Problem } from "../../../kernel/errors.ts";
import { formatMoney, money, tokenAsset } from "../../../kernel/money/money.ts";
import type { SealKey } from "../../../platform/audit/chain.ts";
import {
  unverifiedHead,
  headBroken,
  oldestUnsealed,
  readHead,
} from "../../../platform/audit/head.ts";
import { readBackupRecord, type BackupRecord } from "../../../platform/backup/history.ts";
import { networkStates } from "../../../platform/chain/state/network-state.ts";
import { countOpenAlarms, storedProviders } from "../../../platform/chain/state/provider-health.ts";
import {
  probeWrite,
  systemContext,
  type Database,
  type WriteContext,
} from "../../../platform/database/database.ts";
import { StatementFailed } from "../../../platform/database/errors.ts";
import { pendingMigrations } from "../../../platform/database/schema.ts";
import { oldestWaitingEvent } from "../../../platform/events/outbox.ts";
import type { Worker } from "../../../platform/jobs/background.ts";
import { intervalOf, lastTime } from "../../../platform/jobs/cron-line.ts";
import { lastRuns, type CronTask } from "../../../platform/jobs/cron.ts";
import { heldLeases } from "../../../platform/jobs/leases.ts";
import { sealKey } from "../../audit-logs/audit-logs.ts";
import { readHoldUse, shareOf, type HoldUse } from "../../invoices/capacity/capacity.ts";
import { networkReadersOf } from "../../payments/networks/readers.ts";
import { watchWorkerName } from "../../payments/wake.ts";
import type { Watcher } from "../../payments/watcher/watcher.ts";
import { ratesHealth, type RatesHealth } from "../../rates/rates.ts";
import { down, graded, networkHealth, providerHealth, type Check } from "./health.ts";
import { certificateCheckOf, clockCheck } from "./outside-checks.ts";
import {
  overall,
  probeEveryMs,
  recordReport,
  type ProviderStatus,
  type Report,
} from "./servers.ts";
import { readBacklogs, type OperationsStatus } from "./stored-status.ts";

/** The calls of the status to the parts of the program that depend on all features. src/hooks.ts assigns them. */
export interface StatusHooks {
  /** Returns the tasks that every server runs by its schedule. */
  maintenanceTasks(): Promise<readonly Pick<CronTask, "name" | "line">[]>;
}

const mebibyte = 1_024 ** 2;
/** In milliseconds, except for the disk: free bytes, negated because there a low value is bad. */
const bounds = {
  write: { degradedAbove: 1 * second, downAbove: 15 * second },
  tick: { degradedAbove: 5 * second, downAbove: 15 * second },
  outbox: { degradedAbove: 30 * second, downAbove: 10 * minute },
  // Percent of a price's payment amounts in use; degraded from half on. A full price refuses invoices, others continue.
  wallets: { degradedAbove: 49, downAbove: Infinity },
  disk: { degradedAbove: -1_024 * mebibyte, downAbove: -64 * mebibyte },
};

/** Runs the checks now, and adds the current backlogs. The context is that of the test write to the store. */
export async function readOperationsStatus(
  app: App,
  context: WriteContext,
): Promise<OperationsStatus> {
  const report = await runChecks(app, context);
  const checkedAt = app.clock.now();
  const backlogs = await readBacklogs(app.db, checkedAt);
  const auditHead = await unverifiedHead(app.db);
  return { ...report, ...backlogs, auditHead, checkedAt, infrastructure: overall(report) };
}

/** Creates the worker that runs the checks periodically and stores the results under the name of the server. */
export function statusWorker(app: App, server: string): Worker {
  const context = systemContext("probes");
  return {
    name: "probes",
    everyMs: probeEveryMs,
    async run() {
      await recordReport(app, context, server, await runChecks(app, context));
      return false;
    },
  };
}

/** Runs the checks now. The context is that of the test write to the store. */
export async function runChecks(app: App, context: WriteContext): Promise<Report> {
  const { db, clock, config, networks } = app;
  const held = await heldLeases(db, clock.now());
  const isRunning = (app.running?.lastTickAt() ?? null) !== null || held.size > 0;
  const tasks = await app.hooks.maintenanceTasks();
  const hasSources = config.rates.pairs.some(({ fixed }) => fixed === null);
  const checks = {
    database: await database(app, context),
    migrations: await migrations(app),
    scheduler: scheduler(app, held),
    outbox: await outbox(app),
    audit: await auditCheck(db, sealKey(app), clock.now()),
    cron: await cronCheck(db, clock.now(), tasks, isRunning),
    wallets: walletsCheck(await readHoldUse(app)),
    backup: await backup(app, clock.now()),
    ...named("rates", hasSources ? ratesCheck(await ratesHealth(app)) : null),
    ...named("disk", await disk(app)),
    ...named("certificate", await certificateCheckOf(app)()),
    ...named("clock", await clockCheck(db, [...networks.enabled.values()])),
  };
  return { checks, providers: await readProviderStatuses(app) };
}

async function database({ db, clock }: App, context: WriteContext): Promise<Check> {
  try {
    const took = await probeWrite(db, clock, context);
    return graded(took, bounds.write, `A write took ${String(took)} ms.`);
  } catch (error) {
    if (error instanceof Problem) return down(error.message);
    if (error instanceof StatementFailed) return down(`A write failed: ${error.code}.`);
    throw error;
  }
}

async function migrations({ db }: App): Promise<Check> {
  const { length } = await pendingMigrations(db);
  if (length > 0) return down(`${String(length)} migrations are pending. Run till db migrate.`);
  return { status: "ok", message: "The store is up to date." };
}

function scheduler({ clock, running }: App, held: ReadonlySet<string>): Check {
  const tick = running?.lastTickAt() ?? null;
  if (tick !== null) {
    const silence = Math.max(0, clock.now() - tick);
    return graded(silence, bounds.tick, `It last ran ${String(silence)} ms ago.`);
  }
  return held.size > 0
    ? { status: "ok", message: "A server is running on this store." }
    : { status: "unknown", message: "No server seems to be running on this store." };
}

async function outbox({ db, clock }: App): Promise<Check> {
  const oldest = await oldestWaitingEvent(db);
  if (oldest === null) return { status: "ok", message: "No event is waiting." };
  const age = Math.max(0, clock.now() - oldest);
  return graded(age, bounds.outbox, `The oldest event has waited ${String(age)} ms.`);
}

/** `now` is the time up to which a backup is due by the schedule. */
async function backup({ db, config }: App, now: Instant): Promise<Check> {
  const dueAt = config.backupSchedule === null ? null : lastTime(config.backupSchedule, now);
  return backupCheck(await readBackupRecord(db), dueAt, now);
}

/** Checks the price with the largest used share of its payment amounts. */
export function walletsCheck(uses: readonly HoldUse[]): Check {
  const [use] = uses.toSorted((one, other) => shareOf(other) - shareOf(one));
  if (use === undefined) return { status: "ok", message: "No payment amounts are reserved." };
  const percent = Math.floor(shareOf(use) * 100);
  const price = formatMoney(money(use.price, tokenAsset(use.token.symbol, use.token.decimals)));
  return graded(
    percent,
    bounds.wallets,
    `The busiest address uses ${String(percent)} % of its payment amounts near ${price} ${use.token.symbol} on ${use.network}.`,
  );
}

/** Checks the store's disk; null for PostgreSQL, which may be on another machine. */
async function disk({ config }: App): Promise<Check | null> {
  if (config.databaseUrl !== null) return null;
  const { bavail, bsize } = await statfs(config.dataDir);
  return diskCheck(bavail * bsize);
}

/** Checks the number of free bytes. */
export function diskCheck(free: number): Check {
  return graded(-free, bounds.disk, `${String(Math.floor(free / mebibyte))} MiB free.`);
}

/** Returns a check under its name; an empty record without one. */
function named(name: string, check: Check | null): Readonly<Record<string, Check>> {
  return check === null ? {} : { [name]: check };
}

/** The parts of a watcher that the status reads. */
type ProviderWatcher = Pick<Watcher, "network" | "providers" | "health">;

/** Returns the status of every configured provider as recorded in the store. */
export function readProviderStatuses(app: App): Promise<ProviderStatus[]> {
  const watchers = Array.from(networkReadersOf(app).values(), ({ watcher }) => watcher);
  return providerStatuses(app, watchers);
}

/**
 * Returns the status of every configured provider, by network and in order of preference. The provider in use has the
 * status of the network's reading. A network without a provider has one entry named `none`.
 */
export async function providerStatuses(
  app: App,
  watchers: readonly ProviderWatcher[],
): Promise<ProviderStatus[]> {
  const { db, clock, networks, leases } = app;
  const now = clock.now();
  const held = await heldLeases(db, now);
  const states = await networkStates(db);
  const alarms = await countOpenAlarms(db);
  const stored = await storedProviders(db);
  return [...networks.enabled.values()].flatMap((network): ProviderStatus[] => {
    const { id } = network;
    const watcher = watchers.find((each) => each.network.id === id);
    const lease = watchWorkerName(id);
    const rows = stored.filter((row) => row.network === id);
    const names = watcher?.providers ?? [];
    const inUse = rows.find(({ health }) => health.isInUse)?.health.provider;
    const [first = "none"] = names;
    const read = inUse !== undefined && names.includes(inUse) ? inUse : first;
    const isWatched = held.has(lease);
    const health = networkHealth(
      {
        network,
        provider: watcher === undefined ? null : read,
        state: states.get(id) ?? null,
        isWatched,
        alarms: alarms.get(id) ?? 0,
        own: leases.holds(lease) ? (watcher?.health() ?? null) : null,
      },
      now,
    );
    if (watcher === undefined) return [{ network: id, provider: read, ...health }];
    return names.map((provider) => {
      if (provider === read) return { network: id, provider, ...health };
      const row = rows.find(({ health }) => health.provider === provider) ?? null;
      return { network: id, provider, ...providerHealth(row, isWatched, now) };
    });
  });
}

/** A running server seals audit entries within seconds. */
const unsealedMax = 1 * minute;
/** Number of intervals without a run after which a task counts as late; a missed run is made up by the next one. */
const intervalsMax = 2;
/** Time that a scheduled backup may take before it counts as overdue. */
const backupLateAfter = 1 * hour;

/** Checks that audit entries are being added to the hash chain. */
export async function auditCheck(db: Database, key: SealKey, now: Instant): Promise<Check> {
  if ((await readHead(db, key)) === null) {
    return { status: "degraded", message: `${headBroken} Run till audit verify.` };
  }
  const oldest = await oldestUnsealed(db);
  if (oldest === null) return { status: "ok", message: "All entries are sealed." };
  const age = Math.max(0, now - oldest);
  const message = `The oldest unsealed entry is ${String(age)} ms old.`;
  return { status: age > unsealedMax ? "degraded" : "ok", message };
}

/** Checks that each scheduled task runs on time. Without a running server, none is due. */
export async function cronCheck(
  db: Database,
  now: Instant,
  tasks: readonly Pick<CronTask, "name" | "line">[],
  isServed: boolean,
): Promise<Check> {
  const last = await lastRuns(db);
  const late = tasks.filter(({ name, line }) => {
    const at = last.get(name);
    return at !== undefined && now - at > intervalsMax * intervalOf(line);
  });
  const unseen = tasks.filter(({ name }) => !last.has(name));
  const names = (some: typeof tasks) => some.map(({ name }) => name).join(", ");
  if (!isServed) {
    return { status: "unknown", message: "No server seems to be running on this store." };
  }
  if (late.length > 0) {
    return { status: "degraded", message: `Overdue tasks: ${names(late)}.` };
  }
  if (unseen.length > 0) {
    return { status: "unknown", message: `Tasks that have not run yet: ${names(unseen)}.` };
  }
  return { status: "ok", message: "All scheduled tasks run on time." };
}

/**
 * Checks that the configured pairs have quotes. At worst degraded, because only invoices in other currencies are
 * affected.
 */
export function ratesCheck({ status, problems }: Pick<RatesHealth, "status" | "problems">): Check {
  if (status === "ok") return { status, message: "All pairs have quotes." };
  return {
    status: "degraded",
    message: `${problems.join("; ")}. See till rates list. TILL_RATES=off disables rate sources.`,
  };
}

/**
 * Checks that scheduled backups are made. Without a schedule, the age of the newest backup is only shown.
 * @param dueAt the latest time of the schedule; null without one
 */
export function backupCheck(
  { made, failure }: BackupRecord,
  dueAt: Instant | null,
  now: Instant,
): Check {
  const newest =
    made === null
      ? "No backup has been made."
      : `The newest backup is ${String(Math.floor(Math.max(0, now - made.at) / hour))} h old.`;
  if (failure !== null) {
    const message = `The backup of ${toIso(failure.at)} failed: ${failure.message} ${newest}`;
    return { status: "degraded", message };
  }
  if (dueAt === null) {
    const advice = made === null ? " Set TILL_BACKUP_SCHEDULE, or run till backup." : "";
    return { status: "ok", message: newest + advice };
  }
  if (made !== null && made.at >= dueAt) return { status: "ok", message: newest };
  const isLate = now - dueAt > backupLateAfter;
  if (made === null && !isLate)
    return { status: "unknown", message: `${newest} The first is due.` };
  return {
    status: isLate ? "degraded" : "ok",
    message: `${newest} One is due since ${toIso(dueAt)}.`,
  };
}
