import type { App } from "../app.ts";
import type { CheckoutSandbox } from "../features/checkout/ports.ts";
import { findPayerInvoice } from "../features/invoices/invoices.ts";
import {
  expireOnSandbox,
  getSandboxBill,
  mineBlocks,
  payOnSandbox,
  reorganizeSandbox,
} from "../features/payments/sandbox/sandbox.ts";
import { notFound } from "../kernel/errors.ts";
import type { Id } from "../kernel/id.ts";
import { SandboxRefused } from "../platform/chain/sandbox/chain.ts";
import { systemContext } from "../platform/database/system-context.ts";

const payer = systemContext("checkout");

/** Creates the actions of the checkout's test panel. */
export function makeCheckoutSandbox(app: App): CheckoutSandbox {
  async function idOf(checkoutId: string): Promise<Id<"invoice">> {
    const invoice = await findPayerInvoice(app.db, app, checkoutId);
    if (invoice === null) throw notFound();
    return invoice.id;
  }

  return {
    async pay(checkoutId, how) {
      const bill = await getSandboxBill(app, await idOf(checkoutId));
      const { invoiceId, remaining, tokenDecimals } = bill;
      const one = 10n ** BigInt(tokenDecimals);
      const amount = { exact: remaining, under: (remaining + 1n) / 2n, over: remaining + one }[how];
      await payOnSandbox(app, payer, invoiceId, amount);
    },
    async mine(blocks) {
      await mineBlocks(app, payer, blocks);
    },
    async reorganize(checkoutId) {
      try {
        await reorganizeSandbox(app, payer, await idOf(checkoutId), { drop: true });
        return true;
      } catch (error) {
        if (error instanceof SandboxRefused) return false;
        throw error;
      }
    },
    async expire(checkoutId) {
      await expireOnSandbox(app, payer, await idOf(checkoutId));
    },
  };
}
