import { assert, notFound } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { networkState, type NetworkState } from "../../../platform/chain/state/network-state.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { findPayment, lockTransfer, paymentsOfTransfer } from "../hash-claims/store.ts";
import { listedNetwork } from "../inbox/listed-network.ts";
import { lockPayments } from "../ledger/store.ts";
import type { LedgerDeps, TermsOf } from "../ledger/types.ts";
import type { PaymentRow, TransferRow } from "../table.ts";

/** A locked payment with everything that a decision on it may change. */
export interface LockedCase {
  readonly payment: PaymentRow;
  readonly transfer: TransferRow;
  /** The other payments of the transfer. */
  readonly others: readonly PaymentRow[];
  readonly network: Network;
  readonly state: NetworkState;
  /** The terms of the locked invoices, and all payments of these invoices. */
  readonly terms: TermsOf;
  readonly stored: readonly PaymentRow[];
}

/**
 * Locks a payment in the ledger's order: its transfer, the invoices of the transfer's payments and `alsoLocked`, their
 * payments. 404 if the organization has no such payment.
 */
export async function lockCase(
  tx: Tx,
  deps: Pick<LedgerDeps, "invoices"> & {
    /** Every configured network by id, including disabled ones. */
    readonly networks: ReadonlyMap<string, Network>;
  },
  organizationId: Id<"organization">,
  paymentId: Id<"payment">,
  alsoLocked?: Id<"invoice">,
): Promise<LockedCase> {
  const named = await findPayment(tx, organizationId, paymentId);
  if (named === null) throw notFound();
  const transfer = await lockTransfer(tx, named.transferId);
  const network = listedNetwork(deps.networks, named.network);
  const state = await networkState(tx, named.network);
  assert(transfer !== null && state !== null, `the chain of ${paymentId} was never read`);
  const claiming = await paymentsOfTransfer(tx, transfer.id);
  const invoiceIds = invoicesToLock(claiming, alsoLocked);
  const terms = await deps.invoices.lockTerms(tx, invoiceIds);
  const stored = await lockPayments(tx, invoiceIds);
  const payment = stored.find(({ id }) => id === paymentId);
  assert(payment !== undefined, `${paymentId} is not among its invoice's payments`);
  const others = stored.filter(
    ({ id, transferId }) => id !== paymentId && transferId === transfer.id,
  );
  return { payment, transfer, others, network, state, terms, stored };
}

/** Returns the invoices of payments and another one, each once, in the order in which every transaction locks them. */
export function invoicesToLock(
  claiming: readonly Pick<PaymentRow, "invoiceId">[],
  alsoLocked?: Id<"invoice">,
): Id<"invoice">[] {
  const affected = claiming.map(({ invoiceId }) => invoiceId);
  if (alsoLocked !== undefined) affected.push(alsoLocked);
  return [...new Set(affected)].sort();
}
