import {
  getSandboxBill,
  mineBlocks,
  payOnSandbox,
} from "../../src/features/payments/sandbox/sandbox.ts";
import { createWallet } from "../../src/features/wallets/wallets.ts";
import { getInvoice } from "../../src/features/invoices/invoices.ts";
import { createInvoice } from "../../src/features/invoices/issuing/create.ts";
import type { Id } from "../../src/kernel/id.ts";
import { until } from "../support/until.ts";
import { xpubs } from "../support/merchants.ts";
import { context, type DeskStore } from "./billing-operator.ts";

/** The sandbox at work on a store: the platform's own organization has issued an invoice of 24.00 USD, which is paid. */
export async function openMarket(store: DeskStore): Promise<{
  readonly organizationId: Id<"organization">;
  readonly invoiceId: Id<"invoice">;
}> {
  const organizationId = await store.platformId();
  return store.withApp(async (app) => {
    await app.start();
    await createWallet(app, context, organizationId, {
      label: "Till",
      network: "sandbox",
      xpub: xpubs.first,
    });
    const invoice = await until(
      "issuing",
      async () => {
        try {
          return (await createInvoice(app, context, organizationId, order)).invoice;
        } catch {
          return null;
        }
      },
      (made) => made !== null,
    );
    if (invoice === null) throw new Error("no invoice was issued");
    const { remaining } = await getSandboxBill(app, invoice.id);
    await payOnSandbox(app, context, invoice.id, remaining);
    await mineBlocks(app, context, 3);
    await until(
      "payment",
      () => getInvoice(app, organizationId, invoice.id),
      ({ status }) => status === "paid",
    );
    return { organizationId, invoiceId: invoice.id };
  });
}

const order = {
  amount: "24.00",
  settlementCurrency: "USD",
  tokenSymbol: "USDT",
  network: "sandbox",
  externalId: "order 7",
};
