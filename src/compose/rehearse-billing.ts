import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  countLive,
  rehearsedEvents,
  rehearsedFailures,
  rehearsedInvoices,
  type RehearsedEvent,
  type RehearsedFailure,
  type RehearsedInvoice,
} from "../features/billing/rehearsal/report.ts";
import { rehearse, type RehearsalPlan } from "../features/billing/rehearsal/rehearsal.ts";
import type { Clock, Instant } from "../kernel/clock.ts";
import { Defect } from "../kernel/errors.ts";
import type { RandomBytes } from "../kernel/id.ts";
import type { Config } from "../platform/config/config.ts";
import type { Database } from "../platform/database/database.ts";
import { openDatabase } from "../platform/database/open.ts";
import {
  fillStore,
  openSnapshot,
  readTables,
  shapesOf,
  tablesAt,
} from "../platform/database/transfer/rows.ts";
import type { Logger } from "../platform/logger/index.ts";
import { noMetrics } from "../platform/metrics/metrics.ts";
import { counted, type Progress } from "../platform/progress.ts";
import { passwordCost } from "../platform/secrets/passwords.ts";
import type { ServerSecret } from "../platform/secrets/server-secret.ts";
import type { App } from "../app.ts";
import { makeApp } from "../make-app.ts";
import { addressOfStore } from "./backup/fill.ts";
import { describe, until } from "./backup/make-backup.ts";
import { requireStoreFile, storeBehind, type StoreLocation } from "./store-location.ts";

interface RehearsalOptions {
  /** The settings of the store, of which only the location, the plans, the networks and the rates matter. */
  readonly config: Config;
  readonly secret: ServerSecret;
  readonly randomBytes: RandomBytes;
  readonly logger: Logger;
  /** Ends the rehearsal; nothing is left behind. */
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

/** The result of a rehearsal, which is read from the copy while it exists. */
export interface Rehearsal {
  readonly from: Instant;
  readonly to: Instant;
  /** Subscriptions that were not canceled when the rehearsal began. */
  readonly subscriptions: number;
  invoices(): AsyncIterable<RehearsedInvoice>;
  events(): AsyncIterable<RehearsedEvent>;
  failures(): AsyncIterable<RehearsedFailure>;
}

/**
 * Runs billing through future months on a private copy of the store, which is removed after `report`. The store is only
 * read; no event of the copy is delivered, and no provider or source of rates is asked.
 */
export async function rehearseBilling<T>(
  options: RehearsalOptions,
  plan: RehearsalPlan,
  report: (rehearsal: Rehearsal) => Promise<T>,
): Promise<T> {
  const { config, signal, progress } = options;
  let now = plan.from;
  const clock = {
    now: () => now,
    moveTo(time: Instant) {
      now = time;
    },
  };
  // Nobody else may enter the folder.
  const folder = await mkdtemp(join(tmpdir(), "till-rehearsal-"));
  try {
    const file = join(folder, "till.db");
    const db = await openScratchCopy(config, file, { ...options, clock });
    try {
      const subscriptions = await countLive(db, plan);
      const app = copiedApp(options, db, clock);
      const to = await rehearse(app, clock, plan, signal, progress);
      return await report({
        from: plan.from,
        to,
        subscriptions,
        invoices: () => rehearsedInvoices(db, plan),
        events: () => rehearsedEvents(db, plan),
        failures: () => rehearsedFailures(db, plan),
      });
    } finally {
      await db.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Makes the app of a copy, without workers, deliveries or providers. */
function copiedApp(
  { config, secret, randomBytes, logger }: RehearsalOptions,
  db: Database,
  clock: App["clock"],
): App {
  const baseUrl = () => config.baseUrl ?? "";
  return makeApp({
    // The last rate of each pair is taken for all that follow.
    config: { ...config, rates: { ...config.rates, maxAgeMs: Number.MAX_SAFE_INTEGER } },
    db,
    secret,
    clock,
    randomBytes,
    logger,
    metrics: noMetrics,
    passwordCost,
    baseUrl,
    listening: baseUrl,
    providersOf: () => [],
  });
}

/**
 * The tables that billing reads. Logs, payments and everything with which somebody could log in stay out of the copy.
 */
const copied = [
  ...["schema_versions", "meta", "organizations", "wallets", "wallet_claims", "invoices", "holds"],
  ...["half_full_bands", "network_states", "rate_book", "billing_state", "subscriptions"],
  ...["platform_invoices", "platform_invoice_lines", "platform_invoice_twins", "adjustments"],
  ...["credits", "credit_applications", "discounts", "discount_uses"],
];

/**
 * Copies what billing needs of a store, which may be in use, to a new SQLite file, and opens that. The store is only
 * read. Commits to the copy do not wait for the disk.
 * @throws StoreBehind, or WrongSecret
 */
async function openScratchCopy(
  location: StoreLocation,
  file: string,
  given: {
    readonly secret: ServerSecret;
    readonly clock: Clock;
    readonly signal: AbortSignal;
    readonly progress: Progress;
  },
): Promise<Database> {
  const { secret, clock, signal, progress } = given;
  await requireStoreFile(location);
  const store = await openSnapshot(addressOfStore(location));
  try {
    const { migration: level } = await describe(store, location, secret);
    if (store.pending.length > 0) throw storeBehind(location, store.pending.length);
    const tables = await shapesOf(store, tablesAt(level));
    const wanted = tables.filter(({ name }) => copied.includes(name));
    if (wanted.length < copied.length) throw new Defect("billing reads a table that is missing");
    const rows = until(signal, readTables(store, wanted));
    const parts = counted(rows, progress, "Copying rows", null, (part) => part.rows);
    const db = await openDatabase({ sqliteFile: file, isScratch: true });
    try {
      await fillStore(db, clock, level, { tables, parts });
      return db;
    } catch (error) {
      await db.close();
      throw error;
    }
  } finally {
    await store.close();
  }
}
