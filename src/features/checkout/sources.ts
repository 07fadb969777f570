import { Defect } from "../../kernel/errors.ts";
import { networkState } from "../../platform/chain/state/network-state.ts";
import type { Reader } from "../../platform/database/index.ts";
import type { InvoiceService } from "../invoices/index.ts";
import { findOrganization } from "../organizations/index.ts";
import { submittedTransactions, type PaymentService } from "../payments/index.ts";
import type { CheckoutSources } from "./ports.ts";

/** Creates checkout's access to the other features. */
export function makeCheckoutSources(deps: {
  readonly db: Reader;
  readonly invoices: Pick<InvoiceService, "bySessionId">;
  readonly payments: Pick<PaymentService, "ofInvoice">;
}): CheckoutSources {
  const { db, invoices, payments } = deps;
  return {
    invoiceOf: (checkoutId) => invoices.bySessionId(db, checkoutId),

    async paymentsOf(invoiceId) {
      const views = await payments.ofInvoice(db, invoiceId);
      return views.map(({ payment, transfer }) => ({
        transactionHash: transfer.transactionHash,
        status: payment.status,
        isExpectedBack: payment.statusWhenBack !== null,
        blockHeight: payment.blockHeight,
        blockTime: payment.blockTime,
      }));
    },

    submittedFor: (invoiceId, tx) => submittedTransactions(tx ?? db, invoiceId),

    async merchantName(organizationId) {
      const organization = await findOrganization(db, organizationId);
      if (organization === null) throw new Defect("the organization of an invoice does not exist");
      return organization.displayName;
    },

    networkState: (network) => networkState(db, network),
  };
}
