import type { App } from "../app.ts";
import type { CheckoutSandbox } from "../features/checkout/ports.ts";
import { findPayerInvoice } from "../features/invoices/invoices.ts";
import type { SandboxService } from "../features/payments/sandbox/service.ts";
import { notFound } from "../kernel/errors.ts";
import type { Id } from "../kernel/id.ts";
import { SandboxRefused } from "../platform/chain/sandbox/chain.ts";
import { systemContext } from "../platform/database/system-context.ts";

const payer = systemContext("checkout");

/** Creates the actions of the checkout's test panel. */
export function makeCheckoutSandbox(app: App, sandbox: SandboxService): CheckoutSandbox {
  async function idOf(checkoutId: string): Promise<Id<"invoice">> {
    const invoice = await findPayerInvoice(app.db, app, checkoutId);
    if (invoice === null) throw notFound();
    return invoice.id;
  }

  return {
    async pay(checkoutId, how) {
      const { invoiceId, remaining, tokenDecimals } = await sandbox.bill(await idOf(checkoutId));
      const one = 10n ** BigInt(tokenDecimals);
      const amount = { exact: remaining, under: (remaining + 1n) / 2n, over: remaining + one }[how];
      await sandbox.pay(payer, invoiceId, amount);
    },
    async mine(blocks) {
      await sandbox.mine(payer, blocks);
    },
    async reorganize(checkoutId) {
      try {
        await sandbox.reorganize(payer, await idOf(checkoutId), { drop: true });
        return true;
      } catch (error) {
        if (error instanceof SandboxRefused) return false;
        throw error;
      }
    },
    async expire(checkoutId) {
      await sandbox.expire(payer, await idOf(checkoutId));
    },
  };
}
