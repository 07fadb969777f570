import {
  getSandboxBill,
  mineBlocks,
  payOnSandbox,
} from "../../src/features/payments/sandbox/sandbox.ts";
import { createWallet } from "../../src/features/wallets/wallets.ts";
import { getInvoice } from "../../src/features/invoices/invoices.ts";
import { createInvoice } from "../../src/features/invoices/issuing/create.ts";
import type { Program } from "../../src/compose/app.ts";
import type { Id } from "../../src/kernel/id.ts";
import { order } from "../support/app.ts";
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
    await openShop(app, organizationId, { xpub: xpubs.first });
    const terms = { amount: "24.00", externalId: "order 7" };
    const invoiceId = await issue(app, organizationId, terms);
    const { remaining } = await getSandboxBill(app, invoiceId);
    await payOnSandbox(app, context, invoiceId, remaining);
    await mineBlocks(app, context, 3);
    await until(
      "payment",
      () => getInvoice(app, organizationId, invoiceId),
      ({ status }) => status === "paid",
    );
    return { organizationId, invoiceId };
  });
}

/** Starts the background work of a store's program, and registers a wallet on the sandbox. */
export async function openShop(
  app: Program,
  organizationId: Id<"organization">,
  receiver: { readonly xpub: string } | { readonly address: string },
): Promise<void> {
  await app.start();
  const wallet = { label: "Till", network: "sandbox", ...receiver };
  await createWallet(app, context, organizationId, wallet);
}

/** Issues an invoice in USDT on the sandbox, once that was read. */
export async function issue(
  app: Program,
  organizationId: Id<"organization">,
  terms: { readonly amount: string; readonly externalId?: string },
): Promise<Id<"invoice">> {
  const made = await until(
    "issuing",
    () => createInvoice(app, context, organizationId, { ...order, ...terms }).catch(() => null),
    (created) => created !== null,
  );
  if (made === null) throw new Error("no invoice was issued");
  return made.invoice.id;
}
