import type { InTx } from "../../app.ts";
import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import type { Tx } from "../../platform/database/database.ts";
import type { EventType } from "../../platform/events/catalogue.ts";
import { difference } from "../../platform/journal.ts";
import { presentRefund, viewOf } from "./records.ts";
import { insertRefund, lockRequested, saveRefund, type RefundRow } from "./store.ts";

type RefundEvent = Extract<EventType, `refund.${string}`>;

/** Stores a new refund, or the changes of one, with its audit entry and its event. Returns the stored row. */
export async function writeRefund(
  tx: Tx,
  { journal, networks }: InTx,
  before: RefundRow | null,
  after: RefundRow,
  type: RefundEvent,
): Promise<RefundRow> {
  const row = before === null ? after : { ...after, version: before.version + 1 };
  await (before === null ? insertRefund(tx, row) : saveRefund(tx, row));
  const record = presentRefund(viewOf(row, networks.known));
  const past = before === null ? {} : presentRefund(viewOf(before, networks.known));
  journal.record(tx, row.updatedAt, {
    action: type,
    organizationId: row.organizationId,
    subjectType: "refund",
    subjectId: row.id,
    changes: difference(past, record),
    events: {
      types: [type],
      version: row.version,
      data: before === null ? record : { ...record, previousStatus: before.status },
    },
  });
  return row;
}

/** Rejects the requested refunds of payments that no longer have the surplus for them. */
export async function withdrawRefunds(
  tx: Tx,
  app: InTx,
  at: Instant,
  paymentIds: readonly Id<"payment">[],
): Promise<void> {
  for (const before of await lockRequested(tx, paymentIds)) {
    await writeRefund(tx, app, before, withdrawn(before, at), "refund.rejected");
  }
}

/** Returns a refund that Till rejects because its payment has no surplus left. */
export function withdrawn(refund: RefundRow, at: Instant): RefundRow {
  return {
    ...refund,
    status: "rejected",
    transactionHash: null,
    refusal: "surplus_gone",
    updatedAt: at,
  };
}
