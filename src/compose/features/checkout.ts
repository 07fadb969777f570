import type { CheckoutSandbox } from "../../features/checkout/index.ts";
import type { InvoiceService } from "../../features/invoices/index.ts";
import type { SandboxDesk } from "../../features/payments/index.ts";
import { notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import type { Reader } from "../../platform/database/index.ts";
import { systemContext } from "../../platform/database/system-context.ts";

const payer = systemContext("checkout");

/** Creates the actions of the checkout's test panel. */
export function makeCheckoutSandbox(deps: {
  readonly db: Reader;
  readonly invoices: InvoiceService;
  readonly desk: SandboxDesk;
}): CheckoutSandbox {
  const { db, invoices, desk } = deps;

  async function idOf(checkoutId: string): Promise<Id<"invoice">> {
    const invoice = await invoices.bySessionId(db, checkoutId);
    if (invoice === null) throw notFound();
    return invoice.id;
  }

  return {
    async pay(checkoutId, how) {
      const { invoiceId, remaining, tokenDecimals } = await desk.bill(await idOf(checkoutId));
      const one = 10n ** BigInt(tokenDecimals);
      const amount = { exact: remaining, under: (remaining + 1n) / 2n, over: remaining + one }[how];
      await desk.pay(payer, invoiceId, amount);
    },
    async mine(blocks) {
      await desk.mine(payer, blocks);
    },
    async reorganise(depth) {
      await desk.reorganise(payer, depth, { drop: true });
    },
    async expire(checkoutId) {
      await desk.expire(payer, await idOf(checkoutId));
    },
  };
}
