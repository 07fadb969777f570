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
} from "../../features/billing/rehearsal/report.ts";
import {
  rehearse,
  rehearsalEnd,
  type RehearsalPlan,
} from "../../features/billing/rehearsal/rehearsal.ts";
import type { Instant } from "../../kernel/clock.ts";
import type { RandomBytes } from "../../kernel/id.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/logger/index.ts";
import { noMetrics } from "../../platform/metrics/metrics.ts";
import type { Progress } from "../../platform/progress.ts";
import { passwordCost } from "../../platform/secrets/passwords.ts";
import type { ServerSecret } from "../../platform/secrets/server-secret.ts";
import type { App } from "../../app.ts";
import { makeApp } from "../../make-app.ts";
import { openScratchCopy } from "./scratch-copy.ts";

export interface RehearsalOptions {
  /** The settings of the store, of which only the place, the plans, the networks and the rates matter. */
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
      await rehearse(app, clock, plan, signal, progress);
      return await report({
        from: plan.from,
        to: rehearsalEnd(plan),
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
