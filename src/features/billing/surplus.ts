import type { Instant } from "../../kernel/clock.ts";
import type { Tx } from "../../platform/database/index.ts";
import type { InvoiceRow } from "../invoices/index.ts";
import { presentPayment, type PaymentService } from "../payments/index.ts";
import type { Ledger } from "./ledger.ts";
import { savePlatformInvoice } from "./subscription-store.ts";
import type { PlatformInvoiceRow } from "./table.ts";

/**
 * Keeps what was confirmed for a locked platform invoice above its total, or at all for a void one, as a credit; takes
 * the credit back where a reorganisation took the payment. `twins` are the invoices that the payments came for. Gives the
 * invoice as it is then; the same again changes nothing.
 */
export type SettleSurplus = (
  tx: Tx,
  at: Instant,
  invoice: PlatformInvoiceRow,
  twins: readonly InvoiceRow[],
  confirmed: bigint,
) => Promise<PlatformInvoiceRow>;

export function makeSettleSurplus(deps: {
  readonly payments: Pick<PaymentService, "ofInvoice">;
  readonly ledger: Pick<Ledger, "grantCredit" | "takeBack">;
}): SettleSurplus {
  const { payments, ledger } = deps;
  return async (tx, at, invoice, twins, confirmed) => {
    const { total, status, paidSurplus, number } = invoice;
    const above = confirmed - (status === "void" ? 0n : total);
    const surplus = above > 0n ? above : 0n;
    if (surplus === paidSurplus) return invoice;
    const saved = await savePlatformInvoice(tx, at, invoice, { paidSurplus: surplus });
    if (surplus < paidSurplus) {
      await ledger.takeBack(tx, at, saved, paidSurplus - surplus);
      return saved;
    }
    const { organizationId, currency, decimals, id } = invoice;
    const hash = await newestTransaction(tx, payments, twins, id);
    const by = hash === null ? "" : ` by transaction ${hash}`;
    await ledger.grantCredit(tx, at, {
      ...{ organizationId, currency, decimals },
      amount: surplus - paidSurplus,
      reason:
        status === "void" ? `Paid${by} for ${number}, which was void` : `Paid above ${number}${by}`,
      expiresAt: null,
      createdBy: "system",
      sourceInvoiceId: id,
    });
    return saved;
  };
}

/** The transaction of the newest confirmed payment for a platform invoice. */
async function newestTransaction(
  tx: Tx,
  payments: Pick<PaymentService, "ofInvoice">,
  twins: readonly InvoiceRow[],
  platformInvoiceId: string,
): Promise<string | null> {
  const twin = twins.find(({ metadata }) => metadata["platformInvoiceId"] === platformInvoiceId);
  if (twin === undefined) return null;
  const counted = (await payments.ofInvoice(tx, twin.id)).map(presentPayment);
  const confirmed = counted.filter(({ status }) => status === "confirmed");
  return confirmed.at(-1)?.transactionHash ?? null;
}
