import { RateLimited } from "../../http/declare/problems.ts";
import { day, hour, second, type Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import type { Database, Reader, Tx, WriteContext } from "../../platform/database/database.ts";
import { listed } from "../../platform/database/query/json-rows.ts";
import { integer, table, text, time } from "../../platform/database/schema/table.ts";

/** Anything that a payer, who has no credential, can do again and again at a checkout, and that leaves rows. */
type PayerAct = "option" | "hash" | "refund";

/** Counts of what payers did lately. A count is forgotten a day after it started. */
export const payerActs = table(
  "payer_acts",
  {
    /** The id of the invoice, the payment link or the organization that the acts burden. */
    subject: text(),
    act: text<PayerAct>(),
    /** The start of the period: the time of the first act that is counted. */
    startedAt: time(),
    count: integer(),
  },
  {
    primaryKey: ["subject", "act"],
    indexes: [{ name: "payer_acts_started", columns: ["startedAt"] }],
  },
);

interface ActLimits {
  /**
   * The acts of a checkout that count only for itself, so that strangers at other checkouts of a link or an organization
   * never take an ordinary payer's.
   */
  readonly ofItsOwn: number;
  /** The acts of one checkout in a day. */
  readonly perCheckout: number;
  /** The further acts of all checkouts of a payment link in an hour. */
  readonly perLink: number;
  /** The further acts of all checkouts of an organization in an hour. */
  readonly perOrganization: number;
}

/**
 * The limits of payers' acts that change something, by whom they burden; rate limits count them by sender. A payer who
 * changes the option 20 times, and a shop with 10,000 payers in an hour, stay far below them. The number of checkouts of a
 * link is limited too, see `linkPaymentsPerHour`.
 */
export const payerLimits = {
  option: { ofItsOwn: 3, perCheckout: 60, perLink: 200, perOrganization: 10_000 },
  hash: { ofItsOwn: 2, perCheckout: 30, perLink: 100, perOrganization: 2_000 },
  refund: { ofItsOwn: 1, perCheckout: 20, perLink: 60, perOrganization: 1_000 },
} as const satisfies Record<PayerAct, ActLimits>;

const checkoutPeriodMs = day;
const commonPeriodMs = hour;
/** Counts deleted in one transaction. */
const pruneBatch = 1_000;

/** The invoice of a checkout, with those whom its acts burden too. */
export interface ActedOn {
  readonly id: Id<"invoice">;
  readonly organizationId: Id<"organization">;
  readonly startedAtLink: Id<"paymentLink"> | null;
}

interface Count {
  readonly count: number;
  readonly startedAt: Instant;
}

interface Limit {
  readonly subject: string;
  readonly most: number;
  readonly periodMs: number;
}

function limitsOf(act: PayerAct, { id, organizationId, startedAtLink }: ActedOn) {
  const { perCheckout, perLink, perOrganization } = payerLimits[act];
  const common = (subject: string, most: number) => ({ subject, most, periodMs: commonPeriodMs });
  const link = startedAtLink === null ? [] : [common(startedAtLink, perLink)];
  return {
    own: { subject: id, most: perCheckout, periodMs: checkoutPeriodMs },
    // In the order in which they are locked.
    shared: [...link, common(organizationId, perOrganization)],
  };
}

/** SQL for whether a period has ended; a start far ahead is from a clock that was set back since. */
const hasEnded = `(payer_acts.started_at <= $3 - $4 OR payer_acts.started_at > $3 + $4)`;

/**
 * Counts an act that changed something in the transaction that changes it. The counts stay locked until its end, so that
 * any number of callers and servers get exactly the limit. 429 at a limit.
 */
export async function countAct(
  tx: Tx,
  act: PayerAct,
  invoice: ActedOn,
  at: Instant,
): Promise<void> {
  const { own, shared } = limitsOf(act, invoice);
  const count = await add(tx, act, own, at);
  if (count <= payerLimits[act].ofItsOwn) return;
  // Two at most, locked one after the other: every transaction in the same order.
  for (const limit of shared) await add(tx, act, limit, at);
}

async function add(tx: Tx, act: PayerAct, limit: Limit, at: Instant): Promise<number> {
  const [counted] = await tx.all<Count>(
    `INSERT INTO payer_acts (subject, act, started_at, count) VALUES ($1, $2, $3, 1)
     ON CONFLICT (subject, act) DO UPDATE SET
       count = CASE WHEN ${hasEnded} THEN 1 ELSE payer_acts.count + 1 END,
       started_at = CASE WHEN ${hasEnded} THEN $3 ELSE payer_acts.started_at END
     RETURNING count AS "count", started_at AS "startedAt"`,
    [limit.subject, act, at, limit.periodMs],
  );
  if (counted !== undefined && counted.count > limit.most) throw limited(limit, counted, at);
  return counted?.count ?? 0;
}

/** Throws 429 if an act would pass a limit, before its transaction does work that is rolled back then. */
export async function requireRoomForAct(
  reader: Pick<Reader, "dialect" | "find">,
  act: PayerAct,
  invoice: ActedOn,
  at: Instant,
): Promise<void> {
  const { own, shared } = limitsOf(act, invoice);
  const limits = [own, ...shared];
  const rows = await reader.find(
    payerActs,
    `WHERE subject IN ${listed(reader.dialect, 1)} AND act = $2`,
    [JSON.stringify(limits.map(({ subject }) => subject)), act],
  );
  const counts = limits.map((limit) => {
    const row = rows.find(({ subject }) => subject === limit.subject);
    const isOver = row === undefined || Math.abs(at - row.startedAt) >= limit.periodMs;
    return { limit, row: isOver ? null : row };
  });
  const acts = counts[0]?.row?.count ?? 0;
  const counting = acts < payerLimits[act].ofItsOwn ? counts.slice(0, 1) : counts;
  for (const { limit, row } of counting) {
    if (row !== null && row.count >= limit.most) throw limited(limit, row, at);
  }
}

/** A payer's limit is reached; the payment itself works. The page says so in the form, and not that the page is busy. */
export class PayerLimitReached extends RateLimited {}

function limited({ most, periodMs }: Limit, { startedAt }: Count, at: Instant): Error {
  const seconds = Math.max(1, Math.ceil((startedAt + periodMs - at) / second));
  const period = periodMs === day ? "a day at this checkout" : "an hour at checkouts like this one";
  return new PayerLimitReached(
    `Only ${String(most)} changes of this kind are accepted in ${period}. Wait ${String(seconds)} seconds before the next one; the payment itself is found meanwhile.`,
    { retryAfterSeconds: seconds },
  );
}

/** Deletes a batch of counts whose periods have ended; returns true if more are left. */
export async function prunePayerActs(
  db: Database,
  now: Instant,
  context: WriteContext,
): Promise<boolean> {
  const before = now - Math.max(checkoutPeriodMs, commonPeriodMs);
  const due = await db.all<{ startedAt: Instant }>(
    `SELECT started_at AS "startedAt" FROM payer_acts
     WHERE started_at < $1 ORDER BY started_at LIMIT ${String(pruneBatch)}`,
    [before],
  );
  const last = due.at(-1);
  if (last === undefined) return false;
  await db.write(context, (tx) =>
    tx.run("DELETE FROM payer_acts WHERE started_at <= $1 AND started_at < $2", [
      last.startedAt,
      before,
    ]),
  );
  return due.length === pruneBatch;
}
