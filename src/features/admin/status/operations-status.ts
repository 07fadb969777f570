import { tokenAsset } from "../../../kernel/money/asset.ts";
import { minute, second, type Clock } from "../../../kernel/clock.ts";
import { Problem } from "../../../kernel/errors.ts";
import { formatMoney, money } from "../../../kernel/money/money.ts";
import { pendingMigrations } from "../../../platform/database/schema.ts";
import { StatementFailed } from "../../../platform/database/errors.ts";
import type { Database, WriteContext } from "../../../platform/database/database.ts";
import { claimedHead } from "../../../platform/audit/head.ts";
import { readBackupRecord } from "../../../platform/backup/record.ts";
import { probeWrite } from "../../../platform/database/probe.ts";
import { oldestWaitingEvent } from "../../../platform/events/relay.ts";
import { heldLeases } from "../../../platform/jobs/leases.ts";
import { shareOf } from "../../invoices/capacity/capacity.ts";
import { deliveryBacklog } from "../../webhooks/delivery/backlog.ts";
import { down, graded, type Check } from "./health.ts";
import type { OperationsStatus } from "../read-only.ts";
import type { Worker } from "../../../platform/jobs/background.ts";
import { makeProber, readBacklogs } from "./probes.ts";
import { clockCheck } from "./outside-checks.ts";
import { providerStatuses } from "./provider-statuses.ts";
import { auditCheck, backupCheck, cronCheck, ratesCheck } from "./work-checks.ts";
import { overall, type ProviderStatus, type Report } from "./report.ts";
import type { StatusSources } from "./status-sources.ts";

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

/** Runs the checks now. The context is that of the test write to the store. */
export type StatusReader = (context: WriteContext) => Promise<Report>;

type StatusDependencies = { readonly db: Database; readonly clock: Clock } & StatusSources;

export function makeStatusReader(deps: StatusDependencies): StatusReader {
  const { db, clock } = deps;
  return async (context) => {
    const held = await heldLeases(db, clock.now());
    const isRunning = deps.lastTickAt() !== null || held.size > 0;
    const checks = {
      database: await database(deps, context),
      migrations: await migrations(deps),
      scheduler: scheduler(deps, held),
      outbox: await outbox(deps),
      audit: await auditCheck(db, deps.auditKey, clock.now()),
      cron: await cronCheck(db, clock.now(), deps.schedule, isRunning),
      wallets: await wallets(deps),
      backup: backupCheck(await readBackupRecord(db), deps.backupDueAt(clock.now()), clock.now()),
      ...(deps.rates === null ? {} : { rates: ratesCheck(await deps.rates()) }),
      ...(await disk(deps)),
      ...named("certificate", await deps.certificate()),
      ...named("clock", await clockCheck(db, deps.networks)),
    };
    return { checks, providers: await providerStatuses(deps) };
  };
}

async function database({ db, clock }: StatusDependencies, context: WriteContext): Promise<Check> {
  try {
    const took = await probeWrite(db, clock, context);
    return graded(took, bounds.write, `A write took ${String(took)} ms.`);
  } catch (error) {
    if (error instanceof Problem) return down(error.message);
    if (error instanceof StatementFailed) return down(`A write failed: ${error.code}.`);
    throw error;
  }
}

async function migrations({ db }: StatusDependencies): Promise<Check> {
  const { length } = await pendingMigrations(db);
  if (length > 0) return down(`${String(length)} migrations are pending. Run till db migrate.`);
  return { status: "ok", message: "The store is up to date." };
}

function scheduler({ clock, lastTickAt }: StatusDependencies, held: ReadonlySet<string>): Check {
  const tick = lastTickAt();
  if (tick !== null) {
    const silence = Math.max(0, clock.now() - tick);
    return graded(silence, bounds.tick, `It last ran ${String(silence)} ms ago.`);
  }
  return held.size > 0
    ? { status: "ok", message: "A server is running on this store." }
    : { status: "unknown", message: "No server seems to be running on this store." };
}

async function outbox({ db, clock }: StatusDependencies): Promise<Check> {
  const oldest = await oldestWaitingEvent(db);
  if (oldest === null) return { status: "ok", message: "No event is waiting." };
  const age = Math.max(0, clock.now() - oldest);
  return graded(age, bounds.outbox, `The oldest event has waited ${String(age)} ms.`);
}

async function wallets({ holdUse }: StatusDependencies): Promise<Check> {
  const uses = await holdUse();
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

async function disk({ freeBytes }: StatusDependencies): Promise<Readonly<Record<string, Check>>> {
  const free = await freeBytes();
  if (free === null) return {};
  const message = `${String(Math.floor(free / mebibyte))} MiB free.`;
  return { disk: graded(-free, bounds.disk, message) };
}

/** Returns a check under its name; an empty record without one. */
function named(name: string, check: Check | null): Readonly<Record<string, Check>> {
  return check === null ? {} : { [name]: check };
}

/** The status of the installation. */
export interface StatusService {
  /** Returns the status of every configured provider as recorded in the store. */
  providers(): Promise<readonly ProviderStatus[]>;
  /** Runs the checks now, and adds the current backlogs. The context is that of the test write to the store. */
  status(context: WriteContext): Promise<OperationsStatus>;
  /** Returns a worker that runs the checks periodically and stores the results. */
  prober(server: string, context: WriteContext): Worker;
}

export function makeStatusService(deps: StatusDependencies): StatusService {
  const { db, clock } = deps;
  const look = makeStatusReader(deps);
  return {
    providers: () => providerStatuses(deps),
    async status(context) {
      const report = await look(context);
      const checkedAt = clock.now();
      const backlogs = await readBacklogs(db, checkedAt, deliveryBacklog);
      const auditHead = await claimedHead(db);
      return { ...report, ...backlogs, auditHead, checkedAt, infrastructure: overall(report) };
    },
    prober: (server, context) => makeProber({ db, clock, server, context, look }),
  };
}
