import type { Instant } from "../../../kernel/clock.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { payments } from "../table.ts";
import { readSurpluses } from "../ledger/read-surpluses.ts";
import type { LedgerDeps, PaymentChange } from "../ledger/types.ts";

/**
 * Withdraws the requested refunds that a change of payments leaves without a surplus: the invoice needs the money after
 * all, or a reorganization removed it. Refunds that were sent stay. Reads nothing unless a refund is requested.
 */
export async function withdrawRequests(
  tx: Tx,
  { refunds }: Pick<LedgerDeps, "refunds">,
  given: readonly PaymentChange[],
  at: Instant,
): Promise<void> {
  const asking = given.filter(({ after }) => after.refundRequested > 0n);
  if (asking.length === 0) return;
  const found = await readSurpluses(
    tx,
    asking.map(({ after }) => after.id),
  );
  const uncovered = [...found.values()]
    .filter(({ payment, surplus }) => payment.refundRequested + payment.refunded > surplus)
    .map(({ payment }) => payment.id);
  if (uncovered.length === 0) return;
  await tx.updateMany(
    payments,
    uncovered.map((id) => ({ where: { id }, set: { refundRequested: 0n } })),
  );
  await refunds.withdraw(tx, uncovered, at);
}
