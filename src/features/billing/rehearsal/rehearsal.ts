import type { App } from "../../../app.ts";
import { day, second, type Clock, type Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import {
  createState,
  networkState,
  networkStates,
} from "../../../platform/chain/state/network-state.ts";
import { systemContext, type Database } from "../../../platform/database/database.ts";
import { batchesOf } from "../../../platform/database/query/lists.ts";
import type { Progress } from "../../../platform/progress.ts";
import { noPayments } from "../../invoices/rules.ts";
import { lockTerms, settleInvoices, sweepDeadlines } from "../../invoices/settlement/settlement.ts";
import { invoicesById, type InvoiceRow } from "../../invoices/store.ts";
import { runBilling, runBillingBatch } from "../lifecycle/worker.ts";
import { boundary } from "../periods.ts";
import { billingState, platformInvoices } from "../table.ts";
import type { PaymentHabit } from "./habits.ts";

/** The longest rehearsal, in months. */
export const rehearsalMonthsMax = 36;

/** The clock of a rehearsal. It stands still until the rehearsal moves it. */
interface RehearsalClock extends Clock {
  moveTo(time: Instant): void;
}

export interface RehearsalPlan {
  /** The current time, at which the rehearsal begins. */
  readonly from: Instant;
  /** 1 to `rehearsalMonthsMax`. */
  readonly months: number;
  readonly payments: PaymentHabit;
  /** The organization to rehearse; null: all. */
  readonly organizationId: Id<"organization"> | null;
}

/** The least time between two billing runs: that of a server, in milliseconds. */
const runEvery = 5 * second;
/** How often payers pay and deadlines pass, in milliseconds. */
const roundEvery = 1 * day;
/** Failed attempts in a row, over about a day, after which a subscription is no longer tried. */
const attemptsMax = 12;

const context = systemContext("rehearsal");

/** Returns the end of a rehearsal, exclusive. */
export function rehearsalEnd({ from, months }: Pick<RehearsalPlan, "from" | "months">): Instant {
  return boundary(from, "month", months);
}

/**
 * Runs billing through the months of a plan as a server would that never stops, on networks that never stall: moves the
 * clock to each next action, performs what is due then, and pays as the plan says. The app is that of a copy of a store,
 * on which no server works and whose clock only the rehearsal moves.
 */
export async function rehearse(
  app: App,
  clock: RehearsalClock,
  plan: RehearsalPlan,
  signal: AbortSignal,
  progress: Progress,
): Promise<void> {
  const { db } = app;
  const { from, organizationId } = plan;
  const end = rehearsalEnd(plan);
  clock.moveTo(from);
  await readyNetworks(app);
  if (organizationId !== null) await leaveOut(db, organizationId);
  // A server that starts now extends due dates if none has run for a while.
  await runBilling(app, signal);
  await confirmCollected(app, organizationId);
  await beatUntil(db, end);
  let roundAt = from;
  for (let now = from; now < end;) {
    signal.throwIfAborted();
    clock.moveTo(now);
    progress("Rehearsing", now - from, end - from);
    if (now >= roundAt) {
      await giveUp(db);
      await passRound(app, now, signal);
      await payInvoices(app, plan.payments, organizationId);
      roundAt += roundEvery;
    }
    while (await runBillingBatch(app, signal));
    const next = Math.min((await nextAction(db)) ?? roundAt, roundAt);
    now = Math.max(next, now + runEvery);
  }
  clock.moveTo(end);
}

/** Makes every enabled network one on which invoices can be issued, even if no server has reached it yet. */
async function readyNetworks({ db, clock, networks }: App): Promise<void> {
  const known = await networkStates(db);
  const at = clock.now();
  const block = { cursorHeight: 0, cursorHash: "", tipHeight: 0, tipHash: "", headHeight: 0 };
  await db.write(context, async (tx) => {
    for (const { id, chainId } of networks.enabled.values()) {
      if (known.has(id)) continue;
      const times = { cursorTime: at, tipTime: at, tipSeenAt: at, scannedAt: at, usualLagMs: 0 };
      await createState(tx, {
        network: id,
        chainId,
        ...block,
        ...times,
        disabledTokens: [],
        version: 1,
      });
    }
  });
}

/** Takes the subscriptions of all other organizations out of the billing run. */
async function leaveOut(db: Database, organizationId: Id<"organization">): Promise<void> {
  await db.write(context, (tx) =>
    tx.run("UPDATE subscriptions SET next_action_at = NULL WHERE organization_id <> $1", [
      organizationId,
    ]),
  );
}

/** Stores a heartbeat at the end of the rehearsal, so that billing sees no downtime when the clock moves. */
async function beatUntil(db: Database, end: Instant): Promise<void> {
  await db.write(context, (tx) =>
    tx.update(billingState, { heartbeatAt: end }, "WHERE id = 'billing'"),
  );
}

/** Lets the networks advance to a time, and expires the invoices and releases the amounts whose deadlines passed. */
async function passRound(app: App, now: Instant, signal: AbortSignal): Promise<void> {
  const { db, networks } = app;
  await db.write(context, (tx) =>
    tx.run("UPDATE network_states SET cursor_time = $1, tip_time = $1, scanned_at = $1", [now]),
  );
  const states = await networkStates(db);
  for (const { id } of networks.enabled.values()) {
    const state = states.get(id);
    if (state === undefined) continue;
    const finalTime = () => Promise.resolve(now);
    while ((await sweepDeadlines(app, now, id, state, finalTime)) > 0) {
      signal.throwIfAborted();
    }
  }
}

/** Takes subscriptions that failed too often out of the billing run. Servers would go on trying, without another result. */
async function giveUp(db: Database): Promise<void> {
  await db.write(context, (tx) =>
    tx.run(
      "UPDATE subscriptions SET next_action_at = NULL WHERE parked_at IS NOT NULL AND park_count >= $1",
      [attemptsMax],
    ),
  );
}

async function nextAction(db: Database): Promise<Instant | null> {
  const [next] = await db.all<{ at: Instant }>(
    `SELECT next_action_at AS "at" FROM subscriptions WHERE next_action_at IS NOT NULL
     ORDER BY next_action_at LIMIT 1`,
  );
  return next?.at ?? null;
}

/**
 * How long before its due date an invoice is paid, in milliseconds: in the last daily round before it, or three days
 * after it; null: never.
 */
const paidBefore: Readonly<Record<PaymentHabit, number | null>> = {
  "on-time": 1 * day,
  late: -3 * day,
  never: null,
};

/** Platform invoices that are paid in one transaction. */
const batchMax = 100;

/** The organization whose invoices are paid; null: all. */
type Scope = Id<"organization"> | null;

/**
 * Pays the unpaid platform invoices for which it is time, in full and with all confirmations: settles their collection
 * invoices as the watcher does when it finds payments on the chain.
 */
async function payInvoices(app: App, habit: PaymentHabit, organizationId: Scope): Promise<void> {
  const before = paidBefore[habit];
  if (before === null) return;
  const { db, clock } = app;
  const read = (after: string) =>
    db.find(
      platformInvoices,
      `WHERE status IN ('open', 'past_due') AND due_at <= $1 AND twin_id IS NOT NULL AND id > $2
         ${organizationId === null ? "" : "AND organization_id = $3"}
       ORDER BY id LIMIT ${String(batchMax)}`,
      [clock.now() + before, after, ...(organizationId === null ? [] : [organizationId])],
    );
  for await (const owed of batchesOf(batchMax, read, ({ id }) => id)) {
    const twinIds = owed.flatMap(({ twinId }) => twinId ?? []);
    await settleReceived(app, twinIds, ({ payableAmount, seenAmount }) => {
      const whole = payableAmount ?? 0n;
      return seenAmount > whole ? seenAmount : whole;
    });
  }
}

/** Confirms the payments of platform invoices that were on the chain already when the rehearsal began. */
async function confirmCollected(app: App, organizationId: Scope): Promise<void> {
  const read = (after: string) =>
    app.db.all<{ id: Id<"invoice"> }>(
      `SELECT i.id AS "id" FROM invoices i
         JOIN platform_invoice_twins t ON t.twin_id = i.id
         JOIN platform_invoices p ON p.id = t.platform_invoice_id
       WHERE i.seen_amount <> i.confirmed_amount AND i.id > $1
         ${organizationId === null ? "" : "AND p.organization_id = $2"}
       ORDER BY i.id LIMIT ${String(batchMax)}`,
      [after, ...(organizationId === null ? [] : [organizationId])],
    );
  for await (const seen of batchesOf(batchMax, read, ({ id }) => id)) {
    await settleReceived(
      app,
      seen.map(({ id }) => id),
      ({ seenAmount }) => seenAmount,
    );
  }
}

/** Settles collection invoices of which `receivedOf` has been received and confirmed, in the token's smallest unit. */
async function settleReceived(
  app: App,
  ids: readonly Id<"invoice">[],
  receivedOf: (invoice: InvoiceRow) => bigint,
): Promise<void> {
  const { db, clock } = app;
  const rows = await invoicesById(db, ids);
  for (const network of new Set(rows.map((row) => row.network))) {
    await db.write(context, async (tx) => {
      const state = await networkState(tx, network);
      if (state === null) return;
      const own = rows.filter((row) => row.network === network).map(({ id }) => id);
      const locked = await lockTerms(tx, own);
      const at: Instant = clock.now();
      const totals = new Map(
        [...locked].map(([id, { invoice }]) => {
          const received = receivedOf(invoice);
          const { isLate, isReverted } = invoice;
          const money = { seen: received, confirmed: received, completedAt: at };
          return [
            id,
            { ...noPayments, ...money, isLate, isReverted, latestBlock: state.tipHeight },
          ];
        }),
      );
      await settleInvoices(tx, app, at, network, locked, totals, state);
    });
  }
}
