import type { Instant } from "../../../kernel/clock.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { PaymentRefunded } from "../errors.ts";
import { assignTransfer } from "../hash-claims/store.ts";
import { noteDecisions } from "../inbox/store.ts";
import { dispositionAfter } from "../ledger/payment-rules.ts";
import { markVerified } from "../ledger/store.ts";
import { overRefunded } from "../ledger/surplus.ts";
import type { LedgerDeps, PaymentChange, TermsOf } from "../ledger/types.ts";
import { writePayments } from "../ledger/write-payments.ts";
import type { PaymentRow } from "../table.ts";
import type { LockedCase } from "./locked-case.ts";

/** The changes that a decision makes. */
export interface Ruling {
  readonly decision: "accepted" | "rejected" | "reversed";
  /** The changed payments, beginning with the one that was decided on. Other payments stay unchanged. */
  readonly payments: readonly [PaymentRow, ...PaymentRow[]];
  /** The payment of the same transfer that takes the place of the decided one, for another invoice. */
  readonly moved?: PaymentRow | null;
}

/**
 * Stores a ruling with its effects on the transfer and the invoices, and returns the changed payments. 409
 * `payment_refunded` if more of an invoice's payments would be refunded than it does not need.
 */
export async function applyRuling(
  tx: Tx,
  deps: LedgerDeps,
  found: LockedCase,
  ruling: Ruling,
  at: Instant,
): Promise<readonly PaymentChange[]> {
  const { payment, transfer, others, network, state, terms, stored } = found;
  const ruled = new Map(ruling.payments.map((row) => [row.id, row]));
  const opened = ruling.moved == null ? [] : [ruling.moved];
  const ledger = stored.map((row) => ruled.get(row.id) ?? row);
  requireRefundsCovered(terms, [...ledger, ...opened]);
  const isLeft = ruling.decision === "rejected" && transfer.disposition === "ignored";
  const after = [...[payment, ...others].map((row) => ruled.get(row.id) ?? row), ...opened];
  const disposition = dispositionAfter(transfer, after, isLeft ? "ignored" : "unmatched");
  await assignTransfer(tx, transfer.id, disposition);
  // The confirmation proved the transfer, and the payment's status no longer says so.
  if (payment.status === "confirmed") await markVerified(tx, [transfer]);
  const [first, ...rest] = ruling.payments;
  await noteDecisions(tx, deps.ids, at, ruling.decision, [first]);
  await noteDecisions(tx, deps.ids, at, "rejected", rest);
  await noteDecisions(tx, deps.ids, at, "allocated", opened);
  return writePayments(
    tx,
    deps,
    { network, state, at },
    terms,
    [
      ...stored.map((before): PaymentChange => ({ before, after: ruled.get(before.id) ?? before })),
      ...opened.map((row): PaymentChange => ({ before: null, after: row })),
    ],
    new Map([[transfer.id, transfer]]),
  );
}

/** Throws if a decision would make an invoice need money that was refunded. */
function requireRefundsCovered(terms: TermsOf, ledger: readonly PaymentRow[]): void {
  for (const [invoiceId, asked] of terms) {
    const own = ledger.filter((row) => row.invoiceId === invoiceId);
    const [paymentId] = overRefunded({ terms: asked, ledger: own });
    if (paymentId === undefined) continue;
    throw new PaymentRefunded(
      `${invoiceId} would need ${paymentId}, of which a part was refunded. Reverse that payment first.`,
    );
  }
}
