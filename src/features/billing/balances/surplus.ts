import type { InTx } from "../../../app.ts";
import type { Instant } from "../../../kernel/clock.ts";
import type { Tx } from "../../../platform/database/database.ts";
import type { InvoiceRow } from "../../invoices/store.ts";
import { presentPayment } from "../../payments/present-payment.ts";
import { readPaymentsOf } from "../../payments/payments.ts";
import type { Balances } from "./balances.ts";
import { savePlatformInvoice } from "../store.ts";
import type { PlatformInvoiceRow } from "../table.ts";

/**
 * Grants the surplus of a locked platform invoice as a credit: the amount confirmed above its total, or all of it if
 * the invoice is void. Takes the credit back if a reorganization removed the payment. `collectionInvoices` are the collection
 * invoices that were paid. Returns the updated platform invoice; repeating the call changes nothing.
 */
export type CreditSurplus = (
  tx: Tx,
  at: Instant,
  invoice: PlatformInvoiceRow,
  collectionInvoices: readonly InvoiceRow[],
  confirmed: bigint,
) => Promise<PlatformInvoiceRow>;

export function makeCreditSurplus(deps: {
  readonly app: InTx;
  readonly balances: Pick<Balances, "grantCredit" | "takeBack">;
}): CreditSurplus {
  const { app, balances } = deps;
  return async (tx, at, invoice, collectionInvoices, confirmed) => {
    const { total, status, paidSurplus, number } = invoice;
    const above = confirmed - (status === "void" ? 0n : total);
    const surplus = above > 0n ? above : 0n;
    if (surplus === paidSurplus) return invoice;
    const saved = await savePlatformInvoice(tx, at, invoice, { paidSurplus: surplus });
    if (surplus < paidSurplus) {
      await balances.takeBack(tx, at, saved, paidSurplus - surplus);
      return saved;
    }
    const { organizationId, currency, decimals, id } = invoice;
    const hash = await newestTransaction(tx, app, collectionInvoices, id);
    const by = hash === null ? "" : ` by transaction ${hash}`;
    await balances.grantCredit(tx, at, {
      organizationId,
      currency,
      decimals,
      amount: surplus - paidSurplus,
      reason:
        status === "void"
          ? `Payment of void invoice ${number}${by}`
          : `Overpayment of ${number}${by}`,
      expiresAt: null,
      createdBy: "system",
      sourceInvoiceId: id,
    });
    return saved;
  };
}

/** Returns the hash of the newest confirmed payment of a platform invoice; null if none of `collectionInvoices` has one. */
async function newestTransaction(
  tx: Tx,
  app: InTx,
  collectionInvoices: readonly InvoiceRow[],
  platformInvoiceId: string,
): Promise<string | null> {
  const collectionInvoice = collectionInvoices.find(
    ({ metadata }) => metadata["platformInvoiceId"] === platformInvoiceId,
  );
  if (collectionInvoice === undefined) return null;
  const counted = (await readPaymentsOf(tx, app, collectionInvoice.id)).map(presentPayment);
  const confirmed = counted.filter(({ status }) => status === "confirmed");
  return confirmed.at(-1)?.transactionHash ?? null;
}
