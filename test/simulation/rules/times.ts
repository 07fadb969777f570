import type { holds } from "../../../src/features/invoices/table.ts";
import { payments } from "../../../src/features/payments/table.ts";
import { hour, toIso, type Instant } from "../../../src/kernel/clock.ts";
import { events } from "../../../src/platform/events/outbox.ts";
import type { RowOf } from "../../../src/platform/database/schema/table.ts";
import type { Invoice } from "../deeds.ts";
import type { World } from "../world.ts";

/** Every final block is read twice more, the last time an hour after the time before: only then holds are released. */
const readingsMs = hour;

/** Deadlines and holds end by true times, whatever a provider said meanwhile. */
export async function timeFaults(
  { db, deeds, chain }: Pick<World, "db" | "deeds" | "chain">,
  rows: readonly Invoice[],
  held: readonly RowOf<typeof holds>[],
): Promise<string[]> {
  const [told, assigned] = await Promise.all([
    db.find(events, "WHERE type IN ('invoice.expired', 'invoice.paid_late') ORDER BY id"),
    db.find(payments, "ORDER BY id"),
  ]);
  const faults: string[] = [];
  const rowOf = new Map<string, Invoice>(rows.map((row) => [row.id, row]));

  // Two providers must agree on the time of a block by which holds are released; a single one may be wrong.
  const patienceMs = deeds.isOnlyTimeFalse ? 0 : readingsMs;
  for (const { invoiceId, endsAt, releasedAt, recycledAt } of held) {
    if (releasedAt === null || recycledAt !== null || releasedAt > endsAt + patienceMs) continue;
    faults.push(`a hold of ${invoiceId} was released at ${toIso(releasedAt)}, too early`);
  }

  for (const { type, objectId, occurredAt } of told) {
    const row = rowOf.get(objectId);
    if (row?.managedBy !== null) continue;
    const deadline = row.expiresAt ?? 0;
    if (type === "invoice.expired" && occurredAt <= deadline) {
      faults.push(`${row.id} was said to be expired at ${toIso(occurredAt)}, before its deadline`);
    }
    if (type === "invoice.paid_late" && row.canceledAt === null && !mayBeLate(row, deadline)) {
      faults.push(`${row.id} was said to be paid late, and every payment of it was in time`);
    }
  }
  return faults;

  /** True if a payment of the invoice was ever in a block after its deadline, or may have got such a time from the only provider. */
  function mayBeLate({ id }: Invoice, deadline: Instant): boolean {
    const hashes = new Set(
      assigned.filter(({ invoiceId }) => invoiceId === id).map((one) => one.transactionHash),
    );
    return chain.past.some(
      ({ transactionHash: hash, blockTime }) =>
        hashes.has(hash) && ((blockTime ?? 0) > deadline || deeds.mistimed.has(hash)),
    );
  }
}
