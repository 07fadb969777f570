import type { App } from "../../../app.ts";
import { day, second, type Clock, type Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import {
  createState,
  networkState,
  networkStates,
} from "../../../platform/chain/state/network-state.ts";
import { systemContext } from "../../../platform/database/database.ts";
import { batchesOf } from "../../../platform/database/query/lists.ts";
import type { SqlValue } from "../../../platform/database/schema/table.ts";
import type { Progress } from "../../../platform/progress.ts";
import { noPayments } from "../../invoices/rules.ts";
import { lockTerms, settleInvoices, sweepDeadlines } from "../../invoices/settlement/settlement.ts";
import { invoicesById, type InvoiceRow } from "../../invoices/store.ts";
import { runBilling, runBillingBatch } from "../lifecycle/worker.ts";
import { boundary } from "../periods.ts";
import type { PaymentHabit } from "../status.ts";
import { billingState } from "../table.ts";

// A rehearsal runs the billing of the servers on a copy of a store (decision 50), which is always SQLite: there a
// parameter that is null leaves a condition on the organization out.

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
/** Collection invoices that are settled in one transaction. */
const batchMax = 100;

/**
 * How long before its due date an invoice is paid, in milliseconds: in the last daily round before it, or three days
 * after it; null: never.
 */
const paidBefore: Readonly<Record<PaymentHabit, number | null>> = {
  "on-time": 1 * day,
  late: -3 * day,
  never: null,
};

const context = systemContext("rehearsal");

/**
 * Runs billing through the months of a plan as a server would that never stops, on networks that never stall: moves the
 * clock to each next action, performs what is due then, and pays as the plan says. The app is that of a copy of a store,
 * on which no server works and whose clock only the rehearsal moves. Returns the end of the rehearsal, exclusive.
 */
export async function rehearse(
  app: App,
  clock: RehearsalClock,
  { from, months, payments, organizationId }: RehearsalPlan,
  signal: AbortSignal,
  progress: Progress,
): Promise<Instant> {
  const { db } = app;
  const end = boundary(from, "month", months);
  clock.moveTo(from);
  await readyNetworks(app);
  await db.write(context, (tx) =>
    tx.run("UPDATE subscriptions SET next_action_at = NULL WHERE organization_id <> $1", [
      organizationId,
    ]),
  );
  // A server that starts now extends due dates if none has run for a while.
  await runBilling(app, signal);
  // Payments that were on the chain already when the rehearsal began are confirmed.
  await settleEach(
    app,
    `SELECT i.id AS "id", i.id AS "place" FROM invoices i
       JOIN platform_invoice_twins t ON t.twin_id = i.id
       JOIN platform_invoices p ON p.id = t.platform_invoice_id
     WHERE i.seen_amount <> i.confirmed_amount AND i.id > $1
       AND ($2 IS NULL OR p.organization_id = $2) ORDER BY i.id`,
    [organizationId],
    ({ seenAmount }) => seenAmount,
  );
  // A heartbeat at its end, so that billing sees no downtime when the clock moves.
  await db.write(context, (tx) =>
    tx.update(billingState, { heartbeatAt: end }, "WHERE id = 'billing'"),
  );
  const before = paidBefore[payments];
  let roundAt = from;
  for (let now = from; now < end;) {
    signal.throwIfAborted();
    clock.moveTo(now);
    progress("Rehearsing", now - from, end - from);
    if (now >= roundAt) {
      await passDeadlines(app, now, signal);
      if (before !== null) await payInvoices(app, now + before, organizationId);
      roundAt += roundEvery;
    }
    while (await runBillingBatch(app, signal));
    const [next] = await db.all<{ at: Instant }>(
      `SELECT next_action_at AS "at" FROM subscriptions WHERE next_action_at IS NOT NULL
       ORDER BY next_action_at LIMIT 1`,
    );
    now = Math.max(Math.min(next?.at ?? roundAt, roundAt), now + runEvery);
  }
  clock.moveTo(end);
  return end;
}

/** Makes every enabled network one on which invoices can be issued, even if no server has reached it yet. */
async function readyNetworks({ db, clock, networks }: App): Promise<void> {
  const known = await networkStates(db);
  const at = clock.now();
  const block = { cursorHeight: 0, cursorHash: "", tipHeight: 0, tipHash: "", headHeight: 0 };
  const times = { cursorTime: at, tipTime: at, tipSeenAt: at, scannedAt: at, usualLagMs: 0 };
  await db.write(context, async (tx) => {
    for (const { id: network, chainId } of networks.enabled.values()) {
      if (known.has(network)) continue;
      const kept = { disabledTokens: [], version: 1 };
      await createState(tx, { network, chainId, ...block, ...times, ...kept });
    }
  });
}

/**
 * Lets the networks advance to a time, expires the invoices and releases the amounts whose deadlines passed, and gives
 * up subscriptions that failed too often: servers would go on trying, without another result.
 */
async function passDeadlines(app: App, now: Instant, signal: AbortSignal): Promise<void> {
  const { db, networks } = app;
  await db.write(context, async (tx) => {
    await tx.run(
      "UPDATE subscriptions SET next_action_at = NULL WHERE parked_at IS NOT NULL AND park_count >= $1",
      [attemptsMax],
    );
    await tx.run("UPDATE network_states SET cursor_time = $1, tip_time = $1, scanned_at = $1", [
      now,
    ]);
  });
  const states = await networkStates(db);
  for (const { id } of networks.enabled.values()) {
    const state = states.get(id);
    if (state === undefined) continue;
    while ((await sweepDeadlines(app, now, id, state, () => Promise.resolve(now))) > 0) {
      signal.throwIfAborted();
    }
  }
}

/** Pays the unpaid platform invoices that are due by a time, in full. */
function payInvoices(
  app: App,
  dueBy: Instant,
  organizationId: RehearsalPlan["organizationId"],
): Promise<void> {
  return settleEach(
    app,
    `SELECT twin_id AS "id", id AS "place" FROM platform_invoices
     WHERE status IN ('open', 'past_due') AND twin_id IS NOT NULL AND id > $1
       AND ($2 IS NULL OR organization_id = $2) AND due_at <= $3 ORDER BY platform_invoices.id`,
    [organizationId, dueBy],
    ({ payableAmount, seenAmount }) =>
      seenAmount > (payableAmount ?? 0n) ? seenAmount : (payableAmount ?? 0n),
  );
}

/**
 * Settles the collection invoices that a query finds, as the watcher does when it finds payments on the chain: of each,
 * `receivedOf` has been received and confirmed, in the token's smallest unit. `$1` of the query is the place to start after.
 */
async function settleEach(
  app: App,
  query: string,
  values: readonly SqlValue[],
  receivedOf: (invoice: InvoiceRow) => bigint,
): Promise<void> {
  const { db, clock } = app;
  const read = (after: string) =>
    db.all<{ id: Id<"invoice">; place: string }>(`${query} LIMIT ${String(batchMax)}`, [
      after,
      ...values,
    ]);
  for await (const found of batchesOf(batchMax, read, ({ place }) => place)) {
    const rows = await invoicesById(
      db,
      found.map(({ id }) => id),
    );
    for (const network of new Set(rows.map((row) => row.network))) {
      const own = rows.filter((row) => row.network === network).map(({ id }) => id);
      await db.write(context, async (tx) => {
        const state = await networkState(tx, network);
        if (state === null) return;
        const locked = await lockTerms(tx, own);
        const at = clock.now();
        const totals = new Map(
          [...locked].map(([id, { invoice }]) => {
            const received = receivedOf(invoice);
            const { isLate, isReverted } = invoice;
            const money = { seen: received, confirmed: received, completedAt: at };
            const block = { latestBlock: state.tipHeight };
            return [id, { ...noPayments, ...money, isLate, isReverted, ...block }];
          }),
        );
        await settleInvoices(tx, app, at, network, locked, totals, state);
      });
    }
  }
}
